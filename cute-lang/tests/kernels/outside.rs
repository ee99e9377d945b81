//! What `kernel-language.md` lists as outside of the language: each row with a syntax is refused by an error that says what to write.

use cute_lang::kernel::expand::kernels;
use cute_lang::notation::Reader;

/// The text of the reference.
const REFERENCE: &str = include_str!("../../../cute-runtime/docs/kernel-language.md");

/// The start of a row, items of a module, the body of a kernel, and what the error says.
const ROWS: &[(&str, &str, &str, &str)] = &[
    (
        "enums with data",
        "enum Shape { Round(f32), Flat }",
        "",
        "a struct holds it beside a variant",
    ),
    (
        "enums with data",
        "fn f(x: Result<u32, u32>) -> u32 { 1 }",
        "",
        "`Option`",
    ),
    (
        "traits",
        "trait Scale { fn scale(self) -> f32; }",
        "",
        "`impl Name { … }`",
    ),
    (
        "traits",
        "struct Two { a: f32 } impl Add for Two { fn add(self, other: Two) -> Two { self } }",
        "",
        "`impl Name { … }`",
    ),
    (
        "traits",
        "struct Two { a: f32 } impl Two { const N: u32 = 3; }",
        "",
        "`const`",
    ),
    (
        "trait objects",
        "fn f(g: &dyn Fn(f32) -> f32) -> f32 { g(1.0) }",
        "",
        "`impl Fn(…) -> …`",
    ),
    (
        "recursion",
        "fn f(x: u32) -> u32 { if x > 3 { f(x - 1) } else { x } }",
        "f(n);",
        "cannot recurse: write a loop",
    ),
    (
        "the heap",
        "",
        "let v = Vec::new();",
        "An array, a fragment or a tensor in shared memory",
    ),
    ("the heap", "", "let v = vec![1, 2];", "[0.0; 4]"),
    (
        "the heap",
        "fn f(x: Box<f32>) -> f32 { 1.0 }",
        "",
        "kernels have no heap",
    ),
    (
        "references that are stored or returned",
        "struct Held<'a> { value: &'a u32 }",
        "",
        "a field holds the value itself",
    ),
    (
        "references that are stored or returned",
        "fn f(x: &mut u32) -> &mut u32 { x }",
        "",
        "a function returns the value itself",
    ),
    ("slices", "fn f(x: &[f32]) -> f32 { 1.0 }", "", "`[f32; N]`"),
    ("slices", "fn f(x: &mut [f32]) {}", "", "`[f32; N]`"),
    (
        "`?`",
        "fn f(x: Option<u32>) -> Option<u32> { Some(x? + 1) }",
        "",
        "`let Some(x) = … else { return None; };`",
    ),
    (
        "`panic!`",
        "",
        "panic!(\"wrong\");",
        "`assert!(condition, \"message\")`",
    ),
    (
        "`panic!`",
        "",
        "let x = Some(n).unwrap();",
        "`let Some(x) = … else { … };`",
    ),
    (
        "strings and characters",
        "",
        "let c = 'c';",
        "a number, a truth value or a string",
    ),
    (
        "strings and characters",
        "fn f(x: &str) -> u32 { 1 }",
        "",
        "`print!`",
    ),
    (
        "`unsafe` blocks and pointers",
        "",
        "let y = unsafe { n };",
        "a kernel as a whole is an `unsafe fn`",
    ),
    (
        "`unsafe` blocks and pointers",
        "fn f(x: *const f32) -> f32 { 1.0 }",
        "",
        "`Global<f32, 1>`",
    ),
    ("`static`", "static COUNT: u32 = 0;", "", "`const`"),
    ("`asm!`", "", "asm!(\"nop\");", "`ptx!(u32: "),
    (
        "macros of one's own",
        "macro_rules! twice { ($x:expr) => { $x * 2 } }",
        "",
        "a function or a closure",
    ),
    (
        "macros of one's own",
        "",
        "twice!(n);",
        "there are `layout!`, `ptx!`",
    ),
    ("`async`", "", "let y = async { 1 };", "use barriers"),
    (
        "items in functions",
        "",
        "fn inner() {}",
        "an item belongs into the kernel module",
    ),
    (
        "items in functions",
        "mod inner { }",
        "",
        "a module of kernels of its own",
    ),
    (
        "`let x;` without a value",
        "",
        "let x; if n > 3 { x = 1; } else { x = 2; }",
        "`let x = if … { … } else { … };`",
    ),
    (
        "names in alternatives",
        "",
        "match (n, 3) { (0, x) | (x, 0) => x, _ => 1 };",
        "write an arm for each",
    ),
    (
        "`let` in a longer condition",
        "",
        "if let Some(x) = Some(n) && x > 3 { }",
        "an `if` inside of it",
    ),
    (
        "guards of what is known at run time",
        "",
        "match n { 0 if n > 2 => 1, _ => 2 };",
        "write the condition as an `if` in the arm",
    ),
    (
        "`..=` with an end that is known at run time",
        "",
        "for i in 0..=n { }",
        "write `a..b + 1`",
    ),
    (
        "open ranges in a `for` loop",
        "",
        "for i in 0.. { }",
        "`a..b`",
    ),
    (
        "`usize` in registers",
        "",
        "let mut i: usize = 0;",
        "`u32` or `u64`",
    ),
    (
        "`i128`, `u128` and `char`",
        "fn f(x: u128) -> u32 { 1 }",
        "",
        "cannot find the type `u128`",
    ),
    (
        "methods of iterators",
        "",
        "let s = (0..n).map(|i| i);",
        "a `for` loop",
    ),
    (
        "methods of iterators",
        "",
        "for i in (0..n).step_by(2) { }",
        "`for i in 0..ceil_div(n, 2)` and `2 * i` go by 2",
    ),
    (
        "methods of iterators",
        "",
        "for x in [1, 2].iter() { }",
        "`for x in array`",
    ),
    (
        "launches from a kernel",
        "",
        "launch(n);",
        "cannot find function `launch`",
    ),
];

/// The starts of rows that are habits of CUDA C++, CuTe and Triton, and no words of Rust.
const HABITS: &[&str] = &[
    "waiting for the whole grid",
    "shared memory of a size",
    "layouts of shared memory and fragments",
    "`goto`",
    "`volatile`",
    "textures",
    "pointers with masks",
    "stages",
];

/// The rows of the section.
fn rows() -> Vec<(String, String)> {
    let (_, section) = REFERENCE
        .split_once("## What is outside of the language\n")
        .expect("the section");
    let section = section.split("\n## ").next().expect("an end");
    let rows = section.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        match cells[..] {
            [name, instead] if line.starts_with('|') => Some((name.into(), instead.into())),
            _ => None,
        }
    });
    rows.filter(|(name, _): &(String, String)| {
        !name.starts_with("---") && name != "not in the language"
    })
    .collect()
}

/// The errors of a module with these items and a kernel with this body.
fn errors(items: &str, body: &str) -> String {
    let module =
        format!("mod kernels {{ {items} #[kernel(threads = 32)] fn k(n: u32) {{ {body} }} }}");
    let tokens = kernels(
        Default::default(),
        module.parse().expect("tokens"),
        Reader::Compiler,
    );
    let text = tokens.to_string();
    let errors = text.split("compile_error ! {").skip(1);
    let errors = errors.filter_map(|it| Some(it.split_once("\" }")?.0.to_string()));
    errors.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_outside_is_refused_with_what_to_write() {
    let rows = rows();
    let mut wrong = Vec::new();
    for (row, instead) in &rows {
        let is_tried = ROWS.iter().any(|(name, ..)| row.starts_with(name));
        let is_habit = HABITS.iter().any(|name| row.starts_with(name));
        if is_tried == is_habit || instead.is_empty() {
            wrong.push(format!("nothing tries {row}"));
        }
    }
    for (name, items, body, expected) in ROWS {
        if !rows.iter().any(|(row, _)| row.starts_with(name)) {
            wrong.push(format!("no row for {name}"));
        }
        let errors = errors(items, body);
        if !errors.replace("\\\"", "\"").contains(expected) {
            wrong.push(format!("{items} {body}: {expected}\n    {errors}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
