//! The log: which device was chosen and why, what was compiled and for how long, how a product is computed. It goes to the `log` facade,
//! and, if the environment variable `CUTE_LOG` has a level, from this level on also to standard error.

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

pub use log::Level;
use log::LevelFilter;

/// The environment variable with the level for standard error.
const VARIABLE: &str = "CUTE_LOG";

/// Logs a line. The target is a name for the filters of loggers, which does not follow the modules.
pub fn log(level: Level, target: &str, line: fmt::Arguments<'_>) {
    log::log!(target: target, level, "{line}");
    if level <= shown() {
        // A program goes on without standard error.
        let _ = writeln!(io::stderr(), "cute: {line}");
    }
}

/// The level for standard error.
fn shown() -> LevelFilter {
    static SHOWN: OnceLock<LevelFilter> = OnceLock::new();
    *SHOWN.get_or_init(|| {
        let text = std::env::var_os(VARIABLE).unwrap_or_default();
        let text = text.to_string_lossy();
        if text.is_empty() {
            return LevelFilter::Off;
        }
        text.parse().unwrap_or_else(|_| {
            let levels = "off, error, warn, info, debug or trace";
            let _ = writeln!(
                io::stderr(),
                "cute: warnings are shown, since {VARIABLE} is `{text}` and not {levels}"
            );
            LevelFilter::Warn
        })
    })
}
