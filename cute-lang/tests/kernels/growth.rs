//! Sources that grow: the time to expand them grows with their length, or a limit refuses them and names what is too long.
//! What a compiler has for macros is a thread with 8 MiB of stack.

use cute_lang::kernel::expand::kernels;
use cute_lang::notation::Reader;
use proc_macro2::TokenStream;
use std::time::{Duration, Instant};

/// A kind of source of a length.
struct Row {
    name: &'static str,
    source: fn(usize) -> String,
}

/// A kernel with this body.
fn kernel(body: &str) -> String {
    format!("#[kernel(threads = 32, checked)] pub fn k(x: Global<u32, 1>, n: u32) {{ {body} }}")
}

/// One text for each number.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

const ROWS: &[Row] = &[
    Row {
        name: "checked stores",
        source: |n| kernel(&each(n, |i| format!("x[n + {i}] = {i}; "))),
    },
    Row {
        name: "proven stores",
        source: |n| {
            kernel(&format!(
                "if n < extent(x, 0) {{ {} }}",
                each(n, |i| format!("x[n] = {i}; "))
            ))
        },
    },
    Row {
        name: "early returns",
        source: |n| kernel(&each(n, |i| format!("if n == {i} {{ return; }} "))),
    },
    Row {
        name: "returns after stores",
        source: |n| {
            kernel(&each(n, |i| {
                format!("if n == {i} {{ x[n] = 1; return; }} ")
            }))
        },
    },
    Row {
        name: "arms of a match",
        source: |n| {
            kernel(&format!(
                "let v = match n {{ {} _ => 0 }}; x[0] = v;",
                each(n, |i| format!("{i} => {}, ", i * 7))
            ))
        },
    },
    Row {
        name: "arms of a match that store",
        source: |n| {
            kernel(&format!(
                "match n {{ {} _ => {{}} }}",
                each(n, |i| format!("{i} => {{ x[{i}] = n; }} "))
            ))
        },
    },
    Row {
        name: "arms of known matches",
        source: |n| {
            kernel(&format!(
                "let v = match 5 {{ {} _ => 0 }}; x[0] = v;",
                each(n, |i| format!("{} => {}, ", i + 6, i * 7))
            ))
        },
    },
    Row {
        name: "alternatives of a pattern",
        source: |n| {
            kernel(&format!(
                "let v = match n {{ {} => 1, _ => 0 }}; x[0] = v;",
                (0..n + 1)
                    .map(|i| i.to_string())
                    .collect::<Vec<_>>()
                    .join(" | ")
            ))
        },
    },
    Row {
        name: "nested matches",
        source: |n| {
            kernel(&format!(
                "let v = {} n {}; x[0] = v;",
                each(n / 20, |_| format!(
                    "match n {{ {} _ => ",
                    each(19, |i| format!("{i} => {i}, "))
                )),
                "}".repeat(n / 20)
            ))
        },
    },
    Row {
        name: "nested matches in first arms",
        source: |n| {
            kernel(&format!(
                "let v = {} n {}; x[0] = v;",
                "match n { 0 => ".repeat(n / 20),
                format!(
                    ", {} _ => 9 }}",
                    each(18, |i| format!("{} => {i}, ", i + 1))
                )
                .repeat(n / 20)
            ))
        },
    },
    Row {
        name: "matches",
        source: |n| {
            kernel(&each(n, |i| {
                format!("x[n] = match n {{ 1 => {i}, 2 => 4, _ => 0 }}; ")
            }))
        },
    },
    Row {
        name: "else if",
        source: |n| {
            kernel(&format!(
                "{} {{ x[0] = 1; }}",
                each(n, |i| format!("if n == {i} {{ x[n] = 2; }} else "))
            ))
        },
    },
    Row {
        name: "nested ifs",
        source: |n| {
            kernel(&format!(
                "{} {}",
                each(n, |i| format!("if n > {i} {{ ")),
                "}".repeat(n)
            ))
        },
    },
    Row {
        name: "nested blocks",
        source: |n| kernel(&format!("{} {}", "{".repeat(n), "}".repeat(n))),
    },
    Row {
        name: "and",
        source: |n| {
            kernel(&format!(
                "if n > 1 {} {{ x[0] = 1; }}",
                each(n, |i| format!("&& n < {i} "))
            ))
        },
    },
    Row {
        name: "or of stores",
        source: |n| {
            kernel(&format!(
                "if n > 1 {} {{ x[0] = 1; }}",
                each(n, |i| format!("|| x[n] < {i} "))
            ))
        },
    },
    Row {
        name: "sums",
        source: |n| kernel(&format!("x[0] = n {};", each(n, |i| format!("+ n * {i} ")))),
    },
    Row {
        name: "lets",
        source: |n| {
            kernel(&format!(
                "{} x[0] = a0;",
                each(n, |i| format!("let a{i} = n + {i}; "))
            ))
        },
    },
    Row {
        name: "lets of one name",
        source: |n| {
            kernel(&format!(
                "let a = n; {} x[0] = a;",
                each(n, |i| format!("let a = a * n + {i}; "))
            ))
        },
    },
    Row {
        name: "variables",
        source: |n| {
            kernel(&each(n, |i| {
                format!("let mut a{i} = n + {i}; a{i} += 1; x[n] = a{i}; ")
            }))
        },
    },
    Row {
        name: "assignments",
        source: |n| {
            kernel(&format!(
                "let mut a = n; {} x[0] = a;",
                each(n, |i| format!("a += n * {i}; "))
            ))
        },
    },
    Row {
        name: "assignments under ifs",
        source: |n| {
            kernel(&format!(
                "let mut a = n; {} x[0] = a;",
                each(n, |i| format!("if n > {i} {{ a += {i}; }} "))
            ))
        },
    },
    Row {
        name: "values of ifs",
        source: |n| {
            kernel(&format!(
                "let a = n; {} x[0] = a;",
                each(n, |i| format!(
                    "let a = if a > {i} {{ a * 3 }} else {{ n }}; "
                ))
            ))
        },
    },
    Row {
        name: "stores under ifs",
        source: |n| {
            kernel(&each(n, |i| {
                format!("if n + {i} < extent(x, 0) {{ x[n + {i}] = 1; }} ")
            }))
        },
    },
    Row {
        name: "shared tensors",
        source: |n| {
            kernel(&each(n, |i| {
                format!("let t{i} = smem::<u8>(16); t{i}[0] = 1; ")
            }))
        },
    },
    Row {
        name: "shared tensors in blocks",
        source: |n| kernel(&"{ let t = smem::<u32>(64); t[thread()] = 1; }".repeat(n)),
    },
    Row {
        name: "barriers",
        source: |n| {
            kernel(&each(n, |i| {
                format!("let b{i} = mbarriers(1, 1); mbarrier_arrive(b{i}[0]); ")
            }))
        },
    },
    Row {
        name: "fragments",
        source: |n| {
            kernel(&each(n, |i| {
                format!("let f{i} = fragment::<f32>(4); fill(f{i}, 1.0); ")
            }))
        },
    },
    Row {
        name: "copies",
        source: |n| {
            kernel(&format!(
                "let f = fragment::<u32>(4); {}",
                "copy_or(local_tile(x, 4, n), f, 0); copy_inside(f, local_tile(x, 4, n)); "
                    .repeat(n)
            ))
        },
    },
    Row {
        name: "loops",
        source: |n| kernel(&each(n, |i| format!("for i in 0..n {{ x[i] = {i}; }} "))),
    },
    Row {
        name: "while loops",
        source: |n| {
            kernel(&format!(
                "let mut a = n; {}",
                "while a > 3 { a -= 1; x[a] = a; } ".repeat(n)
            ))
        },
    },
    Row {
        name: "nested loops",
        source: |n| {
            kernel(&format!(
                "{} x[0] = 1; {}",
                each(n, |i| format!("for i{i} in 0..n {{ ")),
                "}".repeat(n)
            ))
        },
    },
    Row {
        name: "labelled loops",
        source: |n| {
            kernel(&each(n, |i| {
                format!("'a{i}: loop {{ if n == {i} {{ break 'a{i}; }} x[n] = 1; }} ")
            }))
        },
    },
    Row {
        name: "unrolled loops",
        source: |n| kernel(&format!("for i in 0..{n} {{ x[n + i] = i; }}")),
    },
    Row {
        name: "unrolled loops of breaks",
        source: |n| {
            kernel(&format!(
                "for i in 0..{n} {{ if x[n] == i {{ break; }} x[n + i] = i; }}"
            ))
        },
    },
    Row {
        name: "assertions",
        source: |n| kernel(&each(n, |i| format!("assert!(n > {i}); "))),
    },
    Row {
        name: "prints",
        source: |n| kernel(&each(n, |i| format!("print!(\"{i} {{}}\", n); "))),
    },
    Row {
        name: "facts",
        source: |n| {
            format!(
                "#[kernel(threads = 32)] pub fn k(#[facts({})] x: Global<u32, 1>, n: u32) {{ if n < extent(x, 0) {{ x[n] = 1; }} }}",
                each(n, |i| format!("extent(x, 0) != {}, ", i + 1))
            )
        },
    },
    Row {
        name: "facts of equality",
        source: |n| {
            format!(
                "#[kernel(threads = 32)] pub fn k(x: Global<u32, 1> {}) {{ x[0] = 1; }}",
                each(n, |i| format!(
                    ", #[facts(extent(x{i}, 0) == extent(x, 0))] x{i}: Global<u32, 1>"
                ))
            )
        },
    },
    Row {
        name: "structs",
        source: |n| {
            format!(
                "{} {}",
                each(n, |i| format!("struct S{i} {{ a: u32 }} ")),
                kernel(&each(n, |i| format!("let s{i} = S{i} {{ a: n }}; ")))
            )
        },
    },
    Row {
        name: "fields",
        source: |n| {
            format!(
                "struct S {{ {} }} {}",
                each(n, |i| format!("a{i}: u32, ")),
                kernel(&format!(
                    "let mut s = S {{ {} }}; s.a0 += 1; x[0] = s.a0;",
                    each(n, |i| format!("a{i}: n, "))
                ))
            )
        },
    },
    Row {
        name: "tuples",
        source: |n| {
            kernel(&format!(
                "let t = ({}); x[0] = t.0;",
                each(n, |i| format!("n + {i}, "))
            ))
        },
    },
    Row {
        name: "arrays",
        source: |n| {
            kernel(&format!(
                "let mut t = [{}]; t[0] = 1; x[0] = t[0];",
                each(n, |i| format!("n + {i}, "))
            ))
        },
    },
    Row {
        name: "arrays of one value",
        source: |n| kernel(&format!("let mut t = [n; {n}]; t[0] = 1; x[0] = t[0];")),
    },
    Row {
        name: "functions",
        source: |n| {
            format!(
                "{} {}",
                each(n, |i| format!("fn f{i}(a: u32) -> u32 {{ a * {i} }} ")),
                kernel(&each(n, |i| format!("x[n] = f{i}(n); ")))
            )
        },
    },
    Row {
        name: "calls that return early",
        source: |n| {
            format!(
                "fn f(a: u32) -> u32 {{ if a > 7 {{ return 3; }} a * 2 }} {}",
                kernel(&"x[n] = f(n); ".repeat(n))
            )
        },
    },
    Row {
        name: "chains of functions",
        source: |n| {
            format!(
                "fn f0(a: u32) -> u32 {{ a }} {} {}",
                each(n, |i| format!(
                    "fn f{}(a: u32) -> u32 {{ f{i}(a) }} ",
                    i + 1
                )),
                kernel(&format!("x[0] = f{n}(n);"))
            )
        },
    },
    Row {
        name: "nested calls",
        source: |n| {
            kernel(&format!(
                "x[0] = {} n {};",
                "min(n, ".repeat(n),
                ")".repeat(n)
            ))
        },
    },
    Row {
        name: "closures",
        source: |n| {
            kernel(&each(n, |i| {
                format!("let f{i} = |a| a + {i}; x[n] = f{i}(n); ")
            }))
        },
    },
    Row {
        name: "closures of closures",
        source: |n| {
            kernel(&format!(
                "let f0 = |a: u32| a; {} x[0] = f{n}(n);",
                each(n, |i| format!("let f{} = |a: u32| f{i}(a) + 1; ", i + 1))
            ))
        },
    },
    Row {
        name: "constants",
        source: |n| {
            format!(
                "{} {}",
                each(n, |i| format!("const C{i}: u32 = {i}; ")),
                kernel(&each(n, |i| format!("x[n] = C{i}; ")))
            )
        },
    },
    Row {
        name: "constants of constants",
        source: |n| {
            format!(
                "const C0: u32 = 1; {} {}",
                each(n, |i| format!("const C{}: u32 = C{i} + 1; ", i + 1)),
                kernel(&format!("x[0] = C{n};"))
            )
        },
    },
    Row {
        name: "parameters",
        source: |n| {
            format!(
                "#[kernel(threads = 32)] pub fn k(x: Global<u32, 1> {}) {{ x[0] = n0; }}",
                each(n, |i| format!(", n{i}: u32"))
            )
        },
    },
    Row {
        name: "kernels",
        source: |n| {
            each(n, |i| {
                format!("#[kernel(threads = 32)] pub fn k{i}(x: Global<u32, 1>) {{ x[0] = {i}; }} ")
            })
        },
    },
    Row {
        name: "instances",
        source: |n| {
            format!(
                "#[kernel(threads = 32)] {} pub fn k<const N: u32>(x: Global<u32, 1>) {{ x[0] = N; }}",
                each(n, |i| format!("#[instance(k{i}: N = {i})] "))
            )
        },
    },
    Row {
        name: "errors",
        source: |n| kernel(&each(n, |i| format!("let a{i} = b{i}; "))),
    },
    Row {
        name: "comments",
        source: |n| format!("{} {}", each(n, |i| format!("/// Line {i}.\n")), kernel("")),
    },
    Row {
        name: "layouts",
        source: |n| {
            kernel(&each(n, |i| {
                format!("let l{i} = layout!((8,{}):(1,8)); ", i + 1)
            }))
        },
    },
    Row {
        name: "instructions",
        source: |n| {
            kernel(&each(n, |i| {
                format!("let a{i} = ptx!(u32: \"add.u32\", n, {i}); ")
            }))
        },
    },
    Row {
        name: "layout of many modes",
        source: |n| kernel(&format!("let l = layout!(({}1)); ", "1,".repeat(n))),
    },
];

/// What the expansion of a source takes, and whether it has an error.
fn expand(source: String) -> (Duration, String) {
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    let expanded = thread.spawn(move || {
        let module: TokenStream = format!("pub mod kernels {{ {source} }}")
            .parse()
            .expect("tokens");
        let start = Instant::now();
        let tokens = kernels(TokenStream::new(), module, Reader::Compiler);
        let time = start.elapsed();
        let text = tokens.to_string();
        let error = text.split("compile_error ! {").nth(1).unwrap_or_default();
        (time, error.chars().take(200).collect())
    });
    expanded.expect("a thread").join().expect("an expansion")
}

#[test]
#[ignore]
fn measure() {
    let only = std::env::var("ROW").unwrap_or_default();
    let base: usize = std::env::var("N").map_or(500, |n| n.parse().unwrap());
    for row in ROWS {
        if !row.name.contains(&only) {
            continue;
        }
        print!("{:32}", row.name);
        for n in [base, 2 * base, 4 * base] {
            eprint!("{} {n}\r", row.name);
            let (time, error) = expand((row.source)(n));
            print!(
                " {:7.3}{}",
                time.as_secs_f64(),
                if error.is_empty() { " " } else { "E" }
            );
            if n == 4 * base {
                print!(" {error}");
            }
        }
        println!();
    }
}

#[test]
#[ignore]
fn stack() {
    let deep: Vec<(&str, String)> = vec![
        ("match arms", kernel(&format!("let v = match n {{ {} _ => 0 }}; x[0] = v;", each(180, |i| format!("{i} => {}, ", i * 7))))),
        ("match arms stores", kernel(&format!("match n {{ {} _ => {{}} }}", each(180, |i| format!("{i} => {{ x[{i}] = n; }} "))))),
        ("nested matches", kernel(&format!("let v = {} n {}; x[0] = v;", each(8, |_| format!("match n {{ {} _ => ", each(19, |i| format!("{i} => {i}, ")))), "}".repeat(8)))),
        ("nested matches of 2", kernel(&format!("let v = {} n {}; x[0] = v;", each(60, |_| "match n { 1 => 2, _ => ".into()), "}".repeat(60)))),
        ("parens", kernel(&format!("let v = {}n{}; x[0] = v;", "(".repeat(240), ")".repeat(240)))),
        ("nots", kernel(&format!("let v = {}n; x[0] = v;", "!".repeat(240)))),
        ("sums", kernel(&format!("let v = n{}; x[0] = v;", " + n".repeat(240)))),
        ("blocks", kernel(&format!("let v = {}n{}; x[0] = v;", "{".repeat(110), "}".repeat(110)))),
        ("ifs", kernel(&format!("{}x[0] = n;{}", "if n > 1 { ".repeat(60), "}".repeat(60)))),
        ("else ifs", kernel(&format!("let v = {} {{ n }}; x[0] = v;", "if n == 0 { n } else ".repeat(55)))),
        ("loops", kernel(&format!("{}x[0] = n;{}", "for i in 0..n { ".repeat(60), "}".repeat(60)))),
        ("unrolled loops", kernel(&format!("{}x[0] = n;{}", "for i in 0..1 { ".repeat(60), "}".repeat(60)))),
        ("while", kernel(&format!("{}x[0] = n;{}", "while n > 0 { ".repeat(60), "}".repeat(60)))),
        ("calls", kernel(&format!("x[0] = {}n{};", "min(n, ".repeat(120), ")".repeat(120)))),
        ("functions", format!("fn f0(a: u32) -> u32 {{ a }} {} {}", each(31, |i| format!("fn f{}(a: u32) -> u32 {{ if a > 0 {{ {{ f{i}(a) }} }} else {{ 1 }} }} ", i + 1)), kernel("x[0] = f31(n);"))),
        ("closures", kernel(&format!("let f0 = |a: u32| a; {} x[0] = f31(n);", each(31, |i| format!("let f{} = |a: u32| {{ if a > 0 {{ f{i}(a) }} else {{ 1 }} }}; ", i + 1))))),
        ("tuples", kernel(&format!("let v = {}n{}; x[0] = n;", "(".repeat(60), ",)".repeat(60)))),
        ("and", kernel(&format!("if n > 0 {} {{ x[0] = 1; }}", "&& n < 9 ".repeat(60)))),
        ("or stores", kernel(&format!("if n > 0 {} {{ x[0] = 1; }}", "|| x[n] < 9 ".repeat(60)))),
        ("methods", kernel(&format!("x[0] = n{};", ".min(n)".repeat(60)))),
        ("casts", kernel(&format!("x[0] = n{};", " as u32".repeat(80)))),
        ("layouts", kernel(&format!("let l = layout!({}8:1{}); ", "(".repeat(60), ")".repeat(60)))),
        ("alternatives", kernel(&format!("x[0] = match n {{ {} => 1, _ => 0 }};", (0..100).map(|i| i.to_string()).collect::<Vec<_>>().join(" | ")))),
    ];
    let only = std::env::var("ROW").unwrap_or_default();
    let kib: usize = std::env::var("KIB").map_or(8192, |n| n.parse().unwrap());
    for (name, source) in deep {
        if !name.contains(&only) { continue; }
        let thread = std::thread::Builder::new().stack_size(kib << 10);
        eprint!("{name} ");
        let text = thread.spawn(move || {
            let module: TokenStream = format!("pub mod kernels {{ {source} }}").parse().expect("tokens");
            kernels(TokenStream::new(), module, Reader::Compiler).to_string()
        }).unwrap().join().unwrap();
        eprintln!("{}", text.split("compile_error ! {").nth(1).unwrap_or("ok").chars().take(90).collect::<String>());
    }
}
