//! Runs NVIDIA's assembler, `ptxas`, on a PTX module and parses its output.
//!
//! Nothing here is needed to build or to run a kernel. The report says whether PTX is accepted, how many registers it takes, whether
//! registers spill, and whether wgmma was serialised; `ptxas` reports the last only as a note.

#![forbid(unsafe_code)]

mod verdicts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, io};

use verdicts::Verdicts;

/// An executable of `ptxas`.
#[derive(Clone, Debug)]
pub struct Ptxas {
    path: PathBuf,
    /// The kept reports of earlier runs.
    verdicts: Option<Verdicts>,
}

/// The output of the assembler for a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The resources of each entry, in the order of compilation.
    pub entries: Vec<Usage>,
    /// The errors. Each has its line in the PTX, from 1, if `ptxas` names one.
    pub errors: Vec<(Option<u32>, String)>,
    /// The notes and warnings, as printed.
    pub notes: Vec<String>,
}

/// The registers and the stack of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Name of the entry.
    pub entry: String,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes that each thread stores to local memory for lack of registers.
    pub spill_stores: u32,
    /// Bytes that each thread loads from local memory for lack of registers.
    pub spill_loads: u32,
    /// Bytes of the stack frame of each thread.
    pub stack: u32,
}

impl Report {
    /// The notes with numbers `C75xx`: wgmma was serialised, or `setmaxnreg` was ignored.
    pub fn serialised(&self) -> impl Iterator<Item = &str> {
        self.notes
            .iter()
            .map(String::as_str)
            .filter(|note| note.contains("(C75"))
    }

    /// All problems that make the code wrong or slow: errors, notes `C75xx` and spills. Empty for good code.
    pub fn complaints(&self) -> Vec<String> {
        let errors = self.errors.iter().map(|(line, message)| match line {
            Some(line) => format!("line {line}: {message}"),
            None => message.clone(),
        });
        let spills = self
            .entries
            .iter()
            .filter(|usage| usage.spill_stores + usage.spill_loads > 0)
            .map(|usage| {
                format!(
                    "{}: spills {} bytes and reloads {} bytes",
                    usage.entry, usage.spill_stores, usage.spill_loads
                )
            });
        errors
            .chain(self.serialised().map(str::to_owned))
            .chain(spills)
            .collect()
    }
}

impl Ptxas {
    /// The assembler at the path in `CUTE_PTXAS`; `None` if there is no such file. In this workspace, cargo sets `CUTE_PTXAS` to
    /// the path where `.ci/install-ptxas` installs it.
    ///
    /// The output of that assembler, `target/ptxas/bin/ptxas`, is kept in `target/ptxas/verdicts` for each module without a complaint. It
    /// is not started again for the same module, target and version.
    ///
    /// # Panics
    ///
    /// If there is no assembler and `CUTE_REQUIRE_PTXAS=1`. With this variable, a test run cannot pass without an assembler.
    pub fn find() -> Option<Ptxas> {
        let path = PathBuf::from(env::var_os("CUTE_PTXAS").unwrap_or_default());
        if path.is_file() {
            return Some(Ptxas::keeping(path));
        }
        let required = env::var_os("CUTE_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(
            !required,
            "CUTE_REQUIRE_PTXAS=1, but CUTE_PTXAS is {path:?}, which is not a file: run .ci/install-ptxas"
        );
        eprintln!(
            "not checked by ptxas: CUTE_PTXAS is {path:?}, which is not a file; .ci/install-ptxas installs it"
        );
        None
    }

    /// The assembler at the path in `CUTE_PTXAS`, or the first one in the folders of `PATH`; `None` if there is none.
    pub fn installed() -> Option<Ptxas> {
        let named = env::var_os("CUTE_PTXAS").map(PathBuf::from);
        let folders = env::var_os("PATH").unwrap_or_default();
        let name = format!("ptxas{}", env::consts::EXE_SUFFIX);
        let found = env::split_paths(&folders).map(|folder| folder.join(&name));
        let path = named.into_iter().chain(found).find(|path| path.is_file())?;
        Some(Ptxas {
            path,
            verdicts: None,
        })
    }

    /// The assembler at a path. If `.ci/install-ptxas` installed it there, its output for accepted modules is kept.
    fn keeping(path: PathBuf) -> Ptxas {
        let verdicts = Verdicts::of(&path);
        Ptxas { path, verdicts }
    }

    /// The path of the executable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Assembles a module for a target such as `sm_90a`. If the assembler refuses the PTX, the report has errors.
    ///
    /// # Errors
    /// If the assembler could not be run.
    pub fn assemble(&self, ptx: &str, target: &str) -> io::Result<Report> {
        let options = options(target);
        let kept = self.verdicts.as_ref();
        if let Some(printed) = kept.and_then(|kept| kept.get(ptx, &options)) {
            return Ok(Report::read(&printed));
        }
        let output = self.run(ptx, target)?;
        let printed = String::from_utf8_lossy(&output.stderr);
        let mut report = Report::read(&printed);
        if !output.status.success() && report.errors.is_empty() {
            report
                .errors
                .push((None, format!("ptxas: {}", output.status)));
        }
        if let Some(verdicts) = &self.verdicts
            && report.complaints().is_empty()
        {
            // If the output cannot be kept, the assembler runs again next time.
            _ = verdicts.keep(ptx, &options, &printed);
        }
        Ok(report)
    }

    /// The output of the assembler for a module, as input for [`Report::read`].
    ///
    /// # Errors
    /// If the assembler could not be run.
    pub fn log(&self, ptx: &str, target: &str) -> io::Result<String> {
        let output = self.run(ptx, target)?;
        Ok(String::from_utf8_lossy(&output.stderr)
            .trim_end()
            .to_owned())
    }

    fn run(&self, ptx: &str, target: &str) -> io::Result<Output> {
        // A new folder that only this user can write to. It is removed when the function returns.
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("module.ptx");
        fs::write(&source, ptx)?;
        Command::new(&self.path)
            .args(options(target))
            .arg("-o")
            .args([folder.path().join("module.cubin"), source])
            .output()
    }
}

/// The options that affect the assembler's output.
fn options(target: &str) -> [String; 2] {
    [format!("-arch={target}"), "-v".to_owned()]
}

impl Report {
    /// Parses the output of `ptxas -v`.
    pub fn read(output: &str) -> Report {
        let mut report = Report::default();
        for line in output.lines() {
            let line = line.trim();
            if let Some(entry) = between(line, "Compiling entry function '", "'") {
                report.entries.push(Usage {
                    entry: entry.to_owned(),
                    ..Usage::default()
                });
            } else if let (Some(registers), Some(usage)) =
                (number_before(line, " registers"), report.entries.last_mut())
            {
                usage.registers = registers;
            } else if let (Some(stack), Some(usage)) = (
                number_before(line, " bytes stack frame"),
                report.entries.last_mut(),
            ) {
                usage.stack = stack;
                usage.spill_stores = number_before(line, " bytes spill stores").unwrap_or(0);
                usage.spill_loads = number_before(line, " bytes spill loads").unwrap_or(0);
            } else if let Some((at, message)) = split_error(line) {
                // The last line only says that there were errors.
                if !message.contains("assembly aborted due to errors") {
                    report
                        .errors
                        .push((number_after(at, "line "), message.to_owned()));
                }
            } else if line.contains("(C7") || line.contains("warning") {
                report.notes.push(line.to_owned());
            }
        }
        report
    }
}

/// Splits `ptxas file, line 3; error   : message` or `ptxas fatal   : message` at the colon into the prefix and the message.
fn split_error(line: &str) -> Option<(&str, &str)> {
    let (at, message) = line.split_once(" : ")?;
    let kind = at.trim_end();
    (kind.ends_with("error") || kind.ends_with("fatal")).then(|| (at, message.trim()))
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    line.split_once(before)?
        .1
        .split_once(after)
        .map(|(inside, _)| inside)
}

fn number_before(line: &str, unit: &str) -> Option<u32> {
    line.split_once(unit)?
        .0
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

fn number_after(line: &str, word: &str) -> Option<u32> {
    line.rsplit_once(word)?
        .1
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}
