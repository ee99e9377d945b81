//! The index of a static layout costs no more than the expression that one would write by hand. rustc makes the same
//! machine code of both, or shorter code of the index where its form avoids remainders. The cost model of the form is
//! for a GPU, and the results hold on this CPU, too.

use cute_lang::notation::{self, Reader};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use syn::{ImplItem, Item};

/// Layouts and their index written by hand. Extents that are powers of two take shifts and masks.
const INDICES: &[(&str, &str)] = &[
    ("24:1", "coord"),
    ("24:3", "3 * coord"),
    ("(4,8):col", "coord"),
    ("(4,8):row", "(coord & 3) * 8 + (coord >> 2)"),
    (
        "(2,(2,2)):(4,(2,1))",
        "((coord & 1) << 2) + (coord & 2) + (coord >> 2)",
    ),
    ("(30,10):(16,1)", "((coord % 30) << 4) + coord / 30"),
    ("(4,8):(0,1)", "coord >> 2"),
    (
        "(6,2):(8,2) o (4,3):(3,1)",
        "(coord & 1) * 24 + (coord & 2) + (coord >> 2) * 8",
    ),
    (
        "zipped_divide((8,64):(64,1), <4,8>)",
        "(coord & 3) * 64 + ((coord >> 2) & 7) + ((coord >> 5) & 1) * 256 + (coord >> 6) * 8",
    ),
    ("(7,12):(1,8)", "coord % 7 + coord / 7 * 8"),
    (
        "Sw<3,3,3> o (8,64):(64,1)",
        "{ let offset = ((coord & 7) << 6) + (coord >> 3); offset ^ ((offset >> 3) & 56) }",
    ),
];

/// Layouts and their index by digits. The form of the index saves the remainders, which rustc does not find by itself.
const JUMPS: &[(&str, &str)] = &[
    (
        "(7,3,5):(1,8,40)",
        "coord % 7 + coord / 7 % 3 * 8 + coord / 21 * 40",
    ),
    (
        "(6,2,3):(2,13,50)",
        "coord % 6 * 2 + coord / 6 % 2 * 13 + coord / 12 * 50",
    ),
    ("(32,4):(1,40)", "(coord & 31) + (coord >> 5) * 40"),
    (
        "(30,4,5):(16,1,4)",
        "coord % 30 * 16 + coord / 30 % 4 + coord / 120 * 4",
    ),
    (
        "(5,3,7):(1,6,19)",
        "coord % 5 + coord / 5 % 3 * 6 + coord / 15 * 19",
    ),
    (
        "(5,4,7):(1,6,31)",
        "coord % 5 + coord / 5 % 4 * 6 + coord / 20 * 31",
    ),
    (
        "(8,3,5):(1,9,30)",
        "coord % 8 + coord / 8 % 3 * 9 + coord / 24 * 30",
    ),
    (
        "blocked_product((2,5):(5,1), (3,4):(1,3))",
        "coord % 6 * 5 + coord / 6 % 5 + coord / 30 * 30",
    ),
];

#[test]
fn machine_code_is_that_of_the_expression_by_hand() {
    for (layout, mut ours, mut theirs) in compared(INDICES) {
        // Two instructions that do not depend on each other may be exchanged.
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{layout}");
    }
}

#[test]
fn jumps_are_shorter_than_digits() {
    for (layout, ours, theirs) in compared(JUMPS) {
        assert!(
            ours.len() < theirs.len(),
            "{layout}: {ours:#?} against {theirs:#?}"
        );
    }
}

/// For each layout, the machine code of its index and of the expression.
fn compared(
    rows: &[(&'static str, &str)],
) -> impl Iterator<Item = (&'static str, Vec<String>, Vec<String>)> {
    let mut source = String::new();
    for (i, (layout, by_hand)) in rows.iter().enumerate() {
        let expanded = index(layout);
        let signature = "(coord: i64) -> i64";
        let _ = writeln!(
            source,
            "#[unsafe(no_mangle)] pub fn layout_{i}{signature} {expanded}"
        );
        let _ = writeln!(
            source,
            "#[unsafe(no_mangle)] pub fn by_hand_{i}{signature} {{ {by_hand} }}"
        );
    }
    let mut functions = machine_code(&source);
    let layouts: Vec<_> = rows.iter().map(|(layout, _)| *layout).collect();
    layouts.into_iter().enumerate().map(move |(i, layout)| {
        let mut take = |name: &str| functions.remove(&format!("{name}_{i}")).expect(layout);
        (layout, take("layout"), take("by_hand"))
    })
}

/// The body of `index` in the expansion of `layout!`.
fn index(layout: &str) -> String {
    let input = format!("[::facade] L = {layout};").parse().expect(layout);
    let file: syn::File = syn::parse2(notation::layout(input, Reader::Compiler)).expect(layout);
    let body = file.items.iter().find_map(|item| match item {
        Item::Impl(block) => block.items.iter().find_map(|item| match item {
            ImplItem::Fn(function) if function.sig.ident == "index" => Some(&function.block),
            _ => None,
        }),
        _ => None,
    });
    let body = body.expect(layout);
    quote::quote!(#body).to_string()
}

/// The optimised instructions of each function. If two functions are the same, LLVM may write `a = b`.
fn machine_code(source: &str) -> HashMap<String, Vec<String>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("index-{}", source.len()));
    std::fs::create_dir_all(&folder).unwrap();
    let (input, output) = (folder.join("index.rs"), folder.join("index.s"));
    std::fs::write(&input, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args([
            "--edition=2024",
            "--crate-type=lib",
            "--emit=asm",
            "-Copt-level=3",
            "-Aunused",
        ])
        .arg("-o")
        .args([&output, &input])
        .status()
        .unwrap();
    assert!(status.success());
    let mut functions: HashMap<String, Vec<String>> = HashMap::new();
    let (mut name, mut aliases) = (String::new(), Vec::new());
    for line in std::fs::read_to_string(&output).unwrap().lines() {
        match (line.strip_suffix(':'), line.split_once(" = ")) {
            (Some(label), _) if !label.starts_with('.') => label.clone_into(&mut name),
            (_, Some((alias, function))) => aliases.push((alias.to_owned(), function.to_owned())),
            // Directives, labels and comments are not instructions.
            _ if !line.starts_with('\t') || line.starts_with("\t.") => {}
            _ => functions
                .entry(name.clone())
                .or_default()
                .push(line.trim().to_owned()),
        }
    }
    for (alias, function) in aliases {
        functions.insert(alias, functions[&function].clone());
    }
    functions
}
