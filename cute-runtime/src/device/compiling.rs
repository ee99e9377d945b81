//! What is done beside compiling a kernel: its PTX is written to the folder that the environment variable `CUTE_DUMP_PTX` names, and how
//! long it took is [logged](super::logging).

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::logging::{Level, log};

/// The environment variable.
const DUMP: &str = "CUTE_DUMP_PTX";

/// The target of what is logged.
const TARGET: &str = "cute_runtime::compile";

/// A kernel that is being compiled. What is logged of it is logged by [`ended`](Self::ended), which the caller calls without a lock: a
/// logger is code of the user's, and may launch kernels.
#[derive(Default)]
pub(super) struct Compiling {
    time: Option<Duration>,
    not_written: Option<String>,
}

impl Compiling {
    /// Writes the PTX of a kernel to the folder, and calls `compile`.
    pub(super) fn run<T>(&mut self, name: &str, ptx: &str, compile: impl FnOnce() -> T) -> T {
        static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
        let folder = FOLDER.get_or_init(|| std::env::var_os(DUMP).map(PathBuf::from));
        if let Some(folder) = folder
            && let Err(error) = write(folder, name, ptx)
        {
            self.not_written = Some(format!(
                "`{name}` is not written to {}: {error}",
                folder.display()
            ));
        }
        let start = Instant::now();
        let compiled = compile();
        self.time = Some(start.elapsed());
        compiled
    }

    /// Logs what was done: nothing, if the kernel was compiled before. `report` is about its code, or says why it has none.
    pub(super) fn ended(self, name: &str, report: &dyn fmt::Display) {
        if let Some(problem) = self.not_written {
            log(Level::Warn, TARGET, format_args!("{problem}"));
        }
        if let Some(time) = self.time {
            let milliseconds = time.as_secs_f64() * 1e3;
            let line = format_args!("compiling `{name}` took {milliseconds:.1} ms: {report}");
            log(Level::Info, TARGET, line);
        }
    }
}

/// Writes the PTX to a file that is named after the kernel and, since instances share names, after the text.
fn write(folder: &Path, name: &str, ptx: &str) -> io::Result<()> {
    let mut hash = DefaultHasher::new();
    ptx.hash(&mut hash);
    fs::create_dir_all(folder)?;
    fs::write(
        folder.join(format!("{name}-{:016x}.ptx", hash.finish())),
        ptx,
    )
}
