//! The folders of this crate are features or layers: none names what it does without.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder, and the words that its code does not have.
const LAYERS: [(&str, &[&str]); 5] = [
    (
        "layout",
        &["crate::host", "crate::device", "Device", "Tensor"],
    ),
    (
        "host",
        &["crate::device", "Device", "TensorView", "libloading"],
    ),
    // Backends, memory and handles stand on the order of work, and not the other way round.
    (
        "device/order",
        &[
            "crate::device::backend",
            "crate::device::memory",
            "Backend",
            "Memory",
            "Device",
        ],
    ),
    ("device/cuda", &["cute_emulator", "device::emulator"]),
    ("device/emulator", &["libloading", "device::cuda"]),
];

#[test]
fn no_feature_names_what_it_does_without() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (folder, words) in LAYERS {
        let mut files = Vec::new();
        collect(source.join(folder), &mut files);
        assert!(files.len() > 2, "{folder}");
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            let code = text.split("\nmod tests {").next().unwrap_or("");
            let mut lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
            let names = |line: &&str| {
                let mut found = line.split(|c| !is_word(c));
                found.any(|word| {
                    words
                        .iter()
                        .any(|it| word == *it || word.starts_with(&format!("{it}::")))
                })
            };
            assert_eq!(lines.find(names), None, "{}", file.display());
        }
    }
}

/// The source files in a folder.
fn collect(path: PathBuf, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder");
        entries.for_each(|entry| collect(entry.expect("an entry").path(), files));
    } else {
        files.push(path);
    }
}
