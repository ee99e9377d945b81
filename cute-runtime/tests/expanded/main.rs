//! What `cargo expand` shows of a kernel: its PTX as a raw string, with each instruction on a line of its own.

mod kernel;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The file of the kernel, as rustc names it in this workspace.
const SOURCE: &str = "cute-runtime/tests/expanded/kernel.rs";

#[test]
fn the_expansion_holds_the_ptx_as_it_is() {
    let expanded = expanded();
    let kernels = kernel::kernels::KERNELS;
    assert_eq!(kernels.len(), 2);
    for (name, ptx) in kernels {
        assert!(ptx.contains("\n    ld.global"), "{ptx}");
        assert!(ptx.contains(&format!(".file 1 \"{SOURCE}\"")), "{ptx}");
        let shown = format!("r#\"{ptx}\"#");
        assert!(expanded.contains(&shown), "{name} is not in\n{expanded}");
    }
    // A text stands once: the list of all kernels names it.
    assert_eq!(expanded.matches(".visible .entry").count(), 2);
}

/// What rustc prints of the file after expansion, which is what `cargo expand` shows.
fn expanded() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut mistakes = Vec::new();
    for library in libraries() {
        let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["-Zunpretty=expanded", "--edition=2024", "--crate-type=lib"])
            .arg("--extern")
            .arg(format!("cute_runtime={}", library.display()))
            .arg(format!("-Ldependency={}", folder().display()))
            .arg(SOURCE)
            .current_dir(root)
            .output()
            .expect("rustc");
        if output.status.success() {
            return String::from_utf8(output.stdout).expect("UTF-8");
        }
        mistakes.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    panic!("no library of cute-runtime can be used: {mistakes:#?}");
}

/// The builds of this crate beside the test, the latest first: an older one may be of another toolchain or lack the kernels.
fn libraries() -> Vec<PathBuf> {
    let mut libraries: Vec<_> = std::fs::read_dir(folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            name.starts_with("libcute_runtime-") && name.ends_with(".rlib")
        })
        .collect();
    libraries.sort_by_key(|path| {
        std::cmp::Reverse(
            path.metadata()
                .and_then(|it| it.modified())
                .expect("a time"),
        )
    });
    libraries
}

/// Where cargo has put this test and the libraries that it is linked with.
fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this program");
    test.parent().expect("a folder").to_owned()
}
