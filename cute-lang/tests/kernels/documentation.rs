//! The reference has the signature of every function of the language, and rustdoc's search finds it by its name.

use cute_lang::kernel::builtins;
use std::collections::BTreeSet;

fn file(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../cute-runtime/");
    std::fs::read_to_string(format!("{root}{path}")).expect("a file of cute-runtime")
}

#[test]
fn every_function_is_in_the_reference() {
    let text = file("docs/kernel-language.md");
    let missing: Vec<&str> = builtins::signatures()
        .filter(|signature| !text.contains(&format!("`{signature}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_function_is_an_alias_of_the_reference() {
    let text = file("src/kernel_language.rs");
    let found: BTreeSet<&str> = text
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|name| !name.ends_with(".md"))
        .collect();
    let names: BTreeSet<&str> = builtins::names().collect();
    let missing: Vec<_> = names.difference(&found).collect();
    let unknown: Vec<_> = found.difference(&names).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing {missing:?}, unknown {unknown:?}"
    );
}
