//! The assembler's output for modules accepted without a complaint, kept in files across runs.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::Report;

/// The path at which `.ci/install-ptxas` installs the assembler. Nothing is kept for other assemblers: their folders belong to others.
const INSTALLED: &str = "target/ptxas/bin/ptxas";

/// The version of each assembler. It is cached, since asking for it starts a process.
static VERSIONS: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// A folder with a file for each accepted module.
#[derive(Clone, Debug)]
pub(crate) struct Verdicts {
    folder: PathBuf,
    version: String,
}

impl Verdicts {
    /// The folder `target/ptxas/verdicts` for an assembler in `target/ptxas/bin`; `None` for an assembler elsewhere or without a version.
    pub(crate) fn of(ptxas: &Path) -> Option<Verdicts> {
        if !ptxas.ends_with(INSTALLED) {
            return None;
        }
        let folder = ptxas.parent()?.parent()?.join("verdicts");
        let mut versions = VERSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        if !versions.contains_key(ptxas) {
            let output = Command::new(ptxas).arg("--version").output().ok()?;
            let version = String::from_utf8(output.stdout).ok()?;
            if !output.status.success() || version.is_empty() {
                return None;
            }
            versions.insert(ptxas.to_owned(), version);
        }
        let version = versions.get(ptxas)?.clone();
        Some(Verdicts { folder, version })
    }

    /// The kept output for a module that was accepted with these options. `None` also if the file is damaged or contains a complaint.
    pub(crate) fn get(&self, ptx: &str, options: &[String]) -> Option<String> {
        let kept = fs::read_to_string(self.place(ptx, options)).ok()?;
        let (hash, printed) = kept.split_once('\n')?;
        let report = Report::read(printed);
        let is_whole = hash == hash_of(&printed) && report.complaints().is_empty();
        is_whole.then(|| printed.to_owned())
    }

    /// Keeps the assembler's output for a module accepted without a complaint.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn keep(&self, ptx: &str, options: &[String], printed: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        // Written under another name first, so that no reader sees half of it.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        write!(file, "{}\n{printed}", hash_of(&printed))?;
        file.persist(self.place(ptx, options))?;
        Ok(())
    }

    /// The file of a module. It depends on the version of the assembler, the options and the text.
    fn place(&self, ptx: &str, options: &[String]) -> PathBuf {
        self.folder.join(hash_of(&(&self.version, options, ptx)))
    }
}

/// 128 bits as text: two hashes of 64 bits, the second of the value after the first.
fn hash_of(value: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    let first = hasher.finish();
    let mut hasher = DefaultHasher::new();
    (first, value).hash(&mut hasher);
    format!("{first:016x}{:016x}", hasher.finish())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::Ptxas;

    const GOOD: &str = "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n\
                        ptxas info    : Used 90 registers\n";
    const SERIALISED: &str = "ptxas info    : (C7510) Potential Performance Loss\n";

    /// A script in place of an assembler. It prints the contents of the file `says`, and adds a line to the file `runs`.
    struct Fake(tempfile::TempDir);

    impl Fake {
        fn new() -> io::Result<Fake> {
            let fake = Fake(tempfile::tempdir()?);
            let program = fake.0.path().join(INSTALLED);
            fs::create_dir_all(program.parent().unwrap_or(&program))?;
            let script = "#!/bin/sh\n\
                          cd \"$(dirname \"$0\")\"\n\
                          if [ \"$1\" = --version ]; then cat version; exit; fi\n\
                          echo run >> runs\n\
                          cat says >&2\n\
                          exit $(cat status)\n";
            fs::write(&program, script)?;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
            fake.set("version", "V1")?;
            fake.set("runs", "")?;
            fake.set("status", "0")?;
            fake.set("says", GOOD)?;
            Ok(fake)
        }

        fn set(&self, name: &str, text: &str) -> io::Result<()> {
            fs::write(self.0.path().join("target/ptxas/bin").join(name), text)
        }

        /// The report of the assembler, and how often it was started.
        fn assemble(&self, ptx: &str, target: &str) -> io::Result<(Report, usize)> {
            VERSIONS
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clear();
            let ptxas = Ptxas::keeping(self.0.path().join(INSTALLED));
            let report = ptxas.assemble(ptx, target)?;
            let runs = fs::read_to_string(self.0.path().join("target/ptxas/bin/runs"))?;
            Ok((report, runs.lines().count()))
        }

        fn files(&self) -> io::Result<Vec<PathBuf>> {
            let files = fs::read_dir(self.0.path().join("target/ptxas/verdicts"))?;
            files.map(|file| Ok(file?.path())).collect()
        }
    }

    #[test]
    fn what_was_accepted_is_not_asked_again() -> io::Result<()> {
        let fake = Fake::new()?;
        let good = Report::read(GOOD);
        assert_eq!(good.entries[0].registers, 90);
        // The second answer is the same, including the numbers.
        for _ in 0..2 {
            assert_eq!(fake.assemble("a", "sm_90a")?, (good.clone(), 1));
        }
        // Another text, another target and another version are not kept yet.
        assert_eq!(fake.assemble("b", "sm_90a")?.1, 2);
        assert_eq!(fake.assemble("a", "sm_90")?.1, 3);
        fake.set("version", "V2")?;
        assert_eq!(fake.assemble("a", "sm_90a")?.1, 4);
        assert_eq!(fake.assemble("a", "sm_90a")?.1, 4);

        // For a damaged file, the assembler runs again and its output is kept again.
        assert_eq!(fake.files()?.len(), 4);
        let damages: [fn(&str) -> String; 4] = [
            |_| String::new(),
            |kept| kept.replace("90 registers", "91 registers"),
            |kept| kept[..kept.len().saturating_sub(1)].to_owned(),
            // A complaint with a valid hash.
            |_| format!("{}\n{SERIALISED}", hash_of(&SERIALISED)),
        ];
        for (i, damage) in damages.into_iter().enumerate() {
            for file in fake.files()? {
                let kept = fs::read_to_string(&file)?;
                fs::write(file, damage(&kept))?;
            }
            assert_eq!(fake.assemble("a", "sm_90a")?, (good.clone(), 5 + i));
            assert_eq!(fake.assemble("a", "sm_90a")?, (good.clone(), 5 + i));
        }

        // Neither errors nor complaints are kept.
        let refused = "ptxas k.ptx, line 8; error   : Arguments mismatch\n";
        let spills = "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n\
                      0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n";
        for (says, status) in [(refused, "1"), (SERIALISED, "0"), (spills, "0"), ("", "1")] {
            fake.set("says", says)?;
            fake.set("status", status)?;
            let (report, runs) = fake.assemble("c", "sm_90a")?;
            assert!(!report.complaints().is_empty(), "{says}");
            assert_eq!(fake.assemble("c", "sm_90a")?, (report, runs + 1));
        }
        Ok(())
    }

    #[test]
    fn nothing_is_kept_beside_another_assembler() {
        assert!(Verdicts::of(Path::new("/usr/local/cuda/bin/ptxas")).is_none());
    }
}
