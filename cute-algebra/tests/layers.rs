//! The files of the algebra do not import the files about the hardware.

use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders that may use `hopper`: itself, the layers above it, and the crate root.
const MAY: [&str; 5] = ["hopper", "operations", "notation", "picture", "lib.rs"];

#[test]
fn the_algebra_imports_nothing_of_the_hardware() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        if !MAY.iter().any(|name| path.ends_with(name)) {
            collect(path, &mut files);
        }
    }
    assert!(files.len() > 30);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let names = |line: &&str| line.contains("hopper") && !line.trim_start().starts_with("//");
        assert_eq!(text.lines().find(names), None, "{}", file.display());
    }
}

fn collect(path: PathBuf, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        entries.for_each(|entry| collect(entry.unwrap().path(), files));
    } else {
        files.push(path);
    }
}
