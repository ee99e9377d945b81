//! Modules are layers: a file imports from its own folder and from what is below it.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate, from below.
const CRATE: [&str; 20] = [
    "windows",
    "variables",
    "limits",
    "numerics",
    "special",
    "source",
    "tensor_map",
    "trace",
    "launch",
    "error",
    "claim",
    "op",
    "access",
    "memory",
    "arithmetic",
    "counts",
    "observed",
    "decode",
    "exec",
    "program",
];

/// The modules of `exec`, from below.
const EXEC: [&str; 11] = [
    "random",
    "passes",
    "views",
    "state",
    "order",
    "watch",
    "step",
    "together",
    "instructions",
    "machine",
    "run",
];

#[test]
fn modules_import_downwards() {
    check("", "crate", &CRATE);
}

#[test]
fn the_parts_of_a_launch_import_downwards() {
    check("exec", "exec", &EXEC);
}

/// Checks that no file of a layer names a layer above it.
fn check(folder: &str, module: &str, layers: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(folder);
    for (height, layer) in layers.iter().enumerate() {
        let mut files = Vec::new();
        collect(source.join(layer), &mut files);
        collect(source.join(layer).with_extension("rs"), &mut files);
        assert!(!files.is_empty(), "{layer}");
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let code: String = lines.collect::<Vec<_>>().join("\n");
            for above in &layers[height + 1..] {
                let is_parent = file.parent() == Some(&source);
                let parents = [Some(module), is_parent.then_some("super")];
                for parent in parents.into_iter().flatten() {
                    let name = format!("{parent}::{above}");
                    let mut places = code.match_indices(&name);
                    let ends = [':', ';', ',', '}'];
                    let found = places.any(|(at, _)| code[at + name.len()..].starts_with(ends));
                    assert!(!found, "{} names {name}", file.display());
                }
            }
        }
    }
}

/// The source files at a path, a file or a folder, without those of unit tests.
fn collect(path: PathBuf, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder");
        entries.for_each(|entry| collect(entry.expect("an entry").path(), files));
    } else if path.exists() && !path.ends_with("tests.rs") {
        files.push(path);
    }
}
