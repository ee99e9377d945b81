//! The index of a static layout costs what the expression costs that a careful hand writes: rustc makes the same
//! machine code of both.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use syn::{ImplItem, Item};

/// A layout, and its index by hand: shifts and masks, where extents are powers of two.
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
    (
        "blocked_product((2,5):(5,1), (3,4):(1,3))",
        "coord % 6 * 5 + coord / 6 % 5 + coord / 30 * 30",
    ),
    (
        "Sw<3,3,3> o (8,64):(64,1)",
        "{ let offset = ((coord & 7) << 6) + (coord >> 3); offset ^ ((offset >> 3) & 56) }",
    ),
];

#[test]
fn machine_code_is_that_of_the_expression_by_hand() {
    let mut source = String::new();
    for (i, (layout, by_hand)) in INDICES.iter().enumerate() {
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
    let functions = machine_code(&source);
    for (i, (layout, by_hand)) in INDICES.iter().enumerate() {
        let (ours, theirs) = (
            &functions[&format!("layout_{i}")],
            &functions[&format!("by_hand_{i}")],
        );
        assert!(!ours.is_empty());
        assert_eq!(ours, theirs, "{layout} against {by_hand}");
    }
}

/// The body of `index` in the expansion of `layout!`.
fn index(layout: &str) -> String {
    let input = format!("[::facade] L = {layout};").parse().expect(layout);
    let file: syn::File = syn::parse2(cute_lang::notation::layout(input)).expect(layout);
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

/// The instructions of each function, optimised. LLVM may see that two functions are the same, and write `a = b`.
fn machine_code(source: &str) -> HashMap<String, Vec<String>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("index");
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
            // Directives, labels and comments are no instructions.
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
