//! The fake driver: the system's C compiler builds it, and each run loads it in a process of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::{env, fs};

use tempfile::TempDir;

use crate::record::Record;

/// Environment variable with the path of a child process's report. A process in which it is set is a child.
const REPORT: &str = "FAKE_CUDA_REPORT";
/// Environment variable with the path of the fake driver's record.
const RECORD: &str = "FAKE_CUDA_RECORD";

/// A folder with a `libcuda.so.1`, removed when dropped.
pub(crate) struct Fake {
    folder: TempDir,
}

/// The results of a child process.
pub(crate) struct Run {
    /// The text that its body returned.
    pub(crate) report: String,
    /// The calls that it made to the driver.
    pub(crate) record: Record,
}

/// Each test calls this first. In a child process it runs the body and ends the process; else it returns.
pub(crate) fn child(body: fn() -> String) {
    if let Some(path) = env::var_os(REPORT) {
        fs::write(path, body()).unwrap();
        process::exit(0);
    }
}

/// Writes to the record of a child process that a step has ended: no call to the driver is running.
pub(crate) fn end_of_step() {
    use std::io::Write;
    if let Ok(mut record) = fs::File::options()
        .append(true)
        .open(env::var_os(RECORD).unwrap())
    {
        writeln!(record, "{}", Record::END_OF_STEP).unwrap();
    }
}

impl Fake {
    /// Builds the fake driver. `None`, with a printed note, if there is no C compiler; with `CUTE_REQUIRE_CC=1`, that is a
    /// failure.
    pub(crate) fn build() -> Option<Self> {
        Fake::build_with(&[])
    }

    /// Builds it without one of its functions.
    pub(crate) fn build_without(function: &str) -> Option<Self> {
        Fake::build_with(&[format!("-D{function}=left_out")])
    }

    /// A folder of files that have the names of the driver's library but are not libraries.
    pub(crate) fn nothing() -> Self {
        let fake = Fake {
            folder: tempfile::tempdir().unwrap(),
        };
        for file in ["libcuda.so.1", "libcuda.so"] {
            fs::write(fake.folder.path().join(file), "not a library").unwrap();
        }
        fake
    }

    fn build_with(options: &[String]) -> Option<Self> {
        let compiler = env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(&compiler)
            .args(["-shared", "-fPIC", "-pthread", "-Wall", "-Wextra"])
            .args(options)
            .arg("-o")
            .arg(folder.path().join("libcuda.so.1"))
            .arg(source())
            .output();
        match output {
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{errors}");
                Some(Fake { folder })
            }
            Err(error) => {
                let note = format!("{} does not start: {error}", compiler.display());
                let required = env::var_os("CUTE_REQUIRE_CC").is_some_and(|value| value == "1");
                assert!(!required, "CUTE_REQUIRE_CC=1, but {note}");
                eprintln!("skipped: {note}");
                None
            }
        }
    }

    /// Runs the child's part of a test on the fake driver with these environment variables, and checks its record against the
    /// rules of `Record`.
    pub(crate) fn run(&self, test: &str, settings: &[(&str, &str)]) -> Run {
        let files = tempfile::tempdir().unwrap();
        let (report, record) = (files.path().join("report"), files.path().join("record"));
        fs::write(&record, "").unwrap();
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env("LD_LIBRARY_PATH", self.folder.path())
            .env(REPORT, &report)
            .env(RECORD, &record)
            .envs(settings.iter().copied())
            .output()
            .unwrap();
        let report = fs::read_to_string(&report);
        assert!(
            output.status.success() && report.is_ok(),
            "{test} with {settings:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Run {
            report: report.unwrap(),
            record: Record::new(&fs::read_to_string(&record).unwrap()),
        }
    }
}

/// The functions that the fake driver has.
pub(crate) fn functions() -> Vec<String> {
    let source = fs::read_to_string(source()).unwrap();
    let definitions = source
        .lines()
        .filter_map(|line| line.strip_prefix("CUresult "));
    let names = definitions.filter_map(|rest| rest.split_once('(').map(|(name, _)| name));
    names.map(str::to_string).collect()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_cuda/libcuda.c")
}
