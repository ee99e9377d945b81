//! What is logged, and the PTX that a program can have: each test runs itself in a process of its own, with other environment
//! variables.

use cute_runtime::{Device, Kernel, Tensor, kernels};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

#[kernels]
mod double {
    #[kernel(threads = 32)]
    #[instance(double_i32: T = i32)]
    pub fn double<T: Element>(x: Global<T, 1>) {
        let i = thread();
        if i < extent(x, 0) {
            x[i] = x[i] + x[i];
        }
    }
}

/// Set in the child process.
const CHILD: &str = "CUTE_LOGGING_CHILD";

/// Launches a kernel twice on the emulator, in a process with these variables. Returns what the process writes to standard error.
fn logged(test: &str, variables: &[(&str, &str)]) -> String {
    if env::var_os(CHILD).is_some() {
        let device = Device::emulator();
        let mut x = Tensor::from_slice(&device, &[1, 2, 3, 4, 5], [5]).unwrap();
        for _ in 0..2 {
            double::double_i32::launch(&device, 1, &mut x.view_mut()).unwrap();
        }
        assert_eq!(x.download().unwrap(), [4, 8, 12, 16, 20]);
        std::process::exit(0);
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env_remove("CUTE_LOG")
        .env_remove("CUTE_DUMP_PTX")
        .env(CHILD, "")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn nothing_is_logged_unasked() {
    assert_eq!(logged("nothing_is_logged_unasked", &[]), "");
    assert_eq!(
        logged("nothing_is_logged_unasked", &[("CUTE_LOG", "warn")]),
        ""
    );
}

#[test]
fn a_compilation_is_logged_once() {
    let text = logged("a_compilation_is_logged_once", &[("CUTE_LOG", "info")]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(
        lines[0].starts_with("cute: compiling `double_i32` took "),
        "{text}"
    );
    assert!(lines[0].ends_with(" ms: for the emulator"), "{text}");
}

#[test]
fn an_unknown_level_shows_warnings() {
    let text = logged("an_unknown_level_shows_warnings", &[("CUTE_LOG", "loud")]);
    let expected = "cute: warnings are shown, since CUTE_LOG is `loud` and not off, error, warn, info, debug or trace\n";
    assert_eq!(text, expected);
}

#[test]
fn ptx_is_written_to_a_folder() {
    let test = "ptx_is_written_to_a_folder";
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    let dump = |folder: &Path| logged(test, &[("CUTE_DUMP_PTX", folder.to_str().unwrap())]);
    assert_eq!(dump(&inner), "");
    // The same text has the same file.
    assert_eq!(dump(&inner), "");
    let files: Vec<_> = fs::read_dir(&inner)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1);
    let name = files[0].file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("double_i32-") && name.ends_with(".ptx"),
        "{name}"
    );
    assert_eq!(
        fs::read_to_string(&files[0]).unwrap(),
        double::double_i32::PTX
    );

    // A kernel runs without a folder, too.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let variables = [
        ("CUTE_DUMP_PTX", file.to_str().unwrap()),
        ("CUTE_LOG", "warn"),
    ];
    let text = logged(test, &variables);
    assert!(
        text.starts_with("cute: `double_i32` is not written to "),
        "{text}"
    );
}
