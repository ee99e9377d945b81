//! Runs every program of the `examples` folder on the emulator. cargo builds them before this test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The arguments of programs that need some, or that would take long without.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("gemm", &["--m=128", "--n=64", "--k=64"]),
    ("sanitize", &["--schedules=2", "--shape=1000", "histogram"]),
];

#[test]
fn every_program_runs() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = std::fs::read_dir(sources)
        .unwrap()
        .map(|entry| stem(&entry.unwrap().path()))
        .collect();
    names.sort();
    assert!(names.len() > 15, "{names:?}");

    let programs = programs();
    for name in names {
        let arguments = ARGUMENTS.iter().find(|(program, _)| *program == name);
        let program = programs
            .join(&name)
            .with_extension(std::env::consts::EXE_EXTENSION);
        let output = Command::new(&program)
            .args(arguments.map_or(&[][..], |(_, arguments)| arguments))
            .output()
            .unwrap_or_else(|error| {
                panic!(
                    "{}: {error}; `cargo test -p examples` builds it",
                    program.display()
                )
            });
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{name}: {}\n{text}{errors}",
            output.status
        );
        assert!(!text.is_empty(), "{name} prints nothing");
    }
}

/// The folder with the programs: beside that of this test.
fn programs() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    profile.join("examples")
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}
