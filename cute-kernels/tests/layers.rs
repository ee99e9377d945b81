//! The folders of this crate are layers: parts of kernels know nothing of what products share, and that nothing of a function.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder, and the modules that its files do not name.
const LAYERS: [(&str, &[&str]); 2] = [
    ("parts", &["crate::product", "crate::gemm", "crate::row"]),
    ("product", &["crate::gemm", "crate::row"]),
];

#[test]
fn no_import_goes_up() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (folder, above) in LAYERS {
        let mut files = Vec::new();
        collect(source.join(folder), &mut files);
        assert!(files.len() > 5, "{folder}");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let up = code
                .clone()
                .find(|line| above.iter().any(|name| line.contains(name)));
            assert_eq!(up, None, "{}", file.display());
        }
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
