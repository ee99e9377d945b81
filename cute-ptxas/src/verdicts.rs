//! What the assembler said about modules that it accepted without a complaint, kept in files from run to run.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::Report;

/// Where `.ci/install-ptxas` puts the assembler. Nothing is kept for another one, since the folders around that are not ours.
const INSTALLED: &str = "target/ptxas/bin/ptxas";

/// What each assembler says of its version, since it takes a process to ask.
static VERSIONS: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// A folder with a file for each module that was accepted.
#[derive(Clone, Debug)]
pub(crate) struct Verdicts {
    folder: PathBuf,
    version: String,
}

impl Verdicts {
    /// Those of an assembler in `target/ptxas/bin`, in `target/ptxas/verdicts`; `None` for an assembler elsewhere, or if it does not
    /// tell its version.
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

    /// What the assembler printed about a module when it accepted that with these options. A file that is damaged, or that holds a
    /// complaint, counts for nothing.
    pub(crate) fn get(&self, ptx: &str, options: &[String]) -> Option<String> {
        let kept = fs::read_to_string(self.place(ptx, options)).ok()?;
        let (hash, printed) = kept.split_once('\n')?;
        let report = Report::read(printed);
        let is_whole = hash == hash_of(&printed) && report.complaints().is_empty();
        is_whole.then(|| printed.to_owned())
    }

    /// Keeps what the assembler printed about a module that it accepted without a complaint.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn keep(&self, ptx: &str, options: &[String], printed: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        // Under another name at first, so that nobody reads half of it.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        write!(file, "{}\n{printed}", hash_of(&printed))?;
        file.persist(self.place(ptx, options))?;
        Ok(())
    }

    /// The file of a module. Another version of the assembler, another option and another text have another one.
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

    /// A script in place of an assembler. It prints what the file `says` holds, and adds a line to the file `runs`.
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

        /// What the assembler reports, and how often it was started.
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
        // The second time, the answer is the same, numbers included.
        for _ in 0..2 {
            assert_eq!(fake.assemble("a", "sm_90a")?, (good.clone(), 1));
        }
        // Another text, another target and another version are others.
        assert_eq!(fake.assemble("b", "sm_90a")?.1, 2);
        assert_eq!(fake.assemble("a", "sm_90")?.1, 3);
        fake.set("version", "V2")?;
        assert_eq!(fake.assemble("a", "sm_90a")?.1, 4);
        assert_eq!(fake.assemble("a", "sm_90a")?.1, 4);

        // What is damaged is asked again, and kept again.
        assert_eq!(fake.files()?.len(), 4);
        let damages: [fn(&str) -> String; 4] = [
            |_| String::new(),
            |kept| kept.replace("90 registers", "91 registers"),
            |kept| kept[..kept.len().saturating_sub(1)].to_owned(),
            // A complaint with the right hash.
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

        // Neither an error nor a complaint is kept.
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
