//! Modules are layers: a file imports from its own folder and from the folders below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of `kernel`, from below.
const KERNEL: [&str; 11] = [
    "syntax",
    "ir",
    "value",
    "emit",
    "access",
    "builtins",
    "interp",
    "lower",
    "expand",
    "instantiate",
    "file",
];

/// The modules of `notation`, from below.
const NOTATION: [&str; 8] = [
    "tokens", "input", "literal", "carrier", "fixed", "dynamic", "seen", "fold",
];

#[test]
fn the_kernel_language_imports_downwards() {
    check("kernel", &KERNEL);
}

#[test]
fn the_notation_imports_downwards() {
    check("notation", &NOTATION);
}

#[test]
fn the_notation_does_not_know_the_kernel_language() {
    for file in files(&source("notation")) {
        assert!(!code(&file).contains("kernel::"), "{}", file.display());
    }
}

/// The files of `kernel/emit` that the builder is made of: values that know nothing of it.
#[test]
fn the_values_of_the_builder_do_not_know_it() {
    let folder = source("kernel/emit");
    let imports = "use crate::kernel::emit::";
    let builder = code(&folder.join("builder.rs"));
    let imported = |code: &str| {
        let lines = code.lines().filter_map(|line| line.strip_prefix(imports));
        let names = lines.filter_map(|line| Some(line.split("::").next()?.to_owned()));
        names.collect::<Vec<_>>()
    };
    let mut open = imported(&builder);
    assert!(open.len() > 10, "{open:?}");
    // What a value imports is below the builder, too.
    let mut seen = BTreeSet::new();
    while let Some(value) = open.pop() {
        if !seen.insert(value.clone()) {
            continue;
        }
        let path = folder.join(value);
        let files = match path.is_dir() {
            true => files(&path),
            false => vec![path.with_extension("rs")],
        };
        for file in files {
            let code = code(&file);
            assert!(!code.contains("emit::builder"), "{}", file.display());
            open.extend(imported(&code));
        }
    }
}

/// Checks that no file of a layer names a layer above it.
fn check(module: &str, layers: &[&str]) {
    for (height, layer) in layers.iter().enumerate() {
        let path = source(&format!("{module}/{layer}"));
        let files = match path.is_dir() {
            true => files(&path),
            false => vec![path.with_extension("rs")],
        };
        assert!(!files.is_empty(), "{layer}");
        for file in files {
            let code = code(&file);
            for above in &layers[height + 1..] {
                let names = [module, "super"].map(|parent| format!("{parent}::{above}"));
                let found = names.iter().find(|name| {
                    let mut places = code.match_indices(*name);
                    places.any(|(at, _)| code[at + name.len()..].starts_with([':', ';', ',', '}']))
                });
                assert_eq!(found, None, "{}", file.display());
            }
        }
    }
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

/// The source files in a folder, without those that are compiled for unit tests only.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.ends_with("tests.rs") && !path.ends_with("simulate.rs") {
            found.push(path);
        }
    }
    found
}

/// The code of a file, without comments and unit tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a source file");
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}
