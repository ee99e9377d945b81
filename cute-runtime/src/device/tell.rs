//! What a program may want to know of what happens here: which device was chosen and why, what was compiled and for how long, which plan
//! a product has, what was copied first. It is told in one place: to the `log` facade, and to standard error if the environment
//! variable `CUTE_LOG` is a level of it.

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

pub use log::Level;
use log::LevelFilter;

/// The environment variable with the level from which on standard error is told.
const LOG: &str = "CUTE_LOG";

/// Tells it. The target is a name for filters of logs, which does not follow the modules.
pub fn tell(level: Level, target: &str, what: fmt::Arguments<'_>) {
    log::log!(target: target, level, "{what}");
    if level <= shown() {
        // A program goes on without standard error.
        let _ = writeln!(io::stderr(), "cute: {what}");
    }
}

/// Whether anybody is told.
pub fn is_told(level: Level, target: &str) -> bool {
    level <= shown() || log::log_enabled!(target: target, level)
}

/// The level that the environment demands.
fn shown() -> LevelFilter {
    static SHOWN: OnceLock<LevelFilter> = OnceLock::new();
    *SHOWN.get_or_init(|| {
        let Ok(text) = std::env::var(LOG) else {
            return LevelFilter::Off;
        };
        text.parse().unwrap_or_else(|_| {
            let _ = writeln!(
                io::stderr(),
                "cute: {LOG} is off, error, warn, info, debug or trace, not `{text}`"
            );
            LevelFilter::Warn
        })
    })
}
