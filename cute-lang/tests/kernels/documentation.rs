//! The reference has the signature of every function of the language.

use cute_lang::kernel::builtins;

#[test]
fn every_function_is_in_the_reference() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernel-language.md");
    let text = std::fs::read_to_string(path).expect("the reference");
    let missing: Vec<&str> = builtins::signatures()
        .filter(|signature| !text.contains(&format!("`{signature}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
