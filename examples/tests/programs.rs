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
                    "{}: {error}; `cargo test -p examples --features all` builds it",
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

/// `gemm` lists its options, prints its kernel, and says on which device it ran, that the product was compared with float64, and how
/// long it took.
#[test]
fn gemm_says_what_it_does() {
    let run = |arguments: &[&str]| {
        let program = programs().join("gemm");
        let program = program.with_extension(std::env::consts::EXE_EXTENSION);
        let output = Command::new(program).args(arguments).output();
        let output = output.expect("`cargo test -p examples --features all` builds the program");
        assert!(output.status.success(), "{arguments:?}");
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).unwrap()
    };
    let help = run(&["--help"]);
    for option in ["--m", "--n", "--k", "--device", "--emit-ptx"] {
        assert!(help.contains(option), "no {option} in\n{help}");
    }
    let ptx = run(&["--emit-ptx"]);
    assert!(ptx.contains(".target sm_90a"), "{ptx}");
    assert!(ptx.contains("\n    wgmma.mma_async"), "{ptx}");

    let small = ["--m=128", "--n=64", "--k=64"];
    let product = run(&small);
    for part in ["against float64: rounding", "time    "] {
        assert!(product.contains(part), "no `{part}` in\n{product}");
    }
    let device = cute_runtime::Device::default();
    match device.fallback_reason() {
        Some(reason) => assert!(product.contains(&format!("on the emulator: {reason}"))),
        None => assert!(product.contains(device.name())),
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
