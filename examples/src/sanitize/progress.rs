//! The progress of the runs: a bar on a terminal, else a line for each case that fails for the first time.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};

use super::case::{Case, Outcome};

pub(super) struct Progress {
    /// `None` if standard error is no terminal.
    bar: Option<ProgressBar>,
    /// The cases that have failed.
    failed: Mutex<HashSet<String>>,
}

impl Progress {
    pub(super) fn new(runs: u64) -> Progress {
        let style = ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {msg}{eta} left");
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(runs).with_style(style)
        });
        if bar.is_none() {
            eprintln!("{runs} runs");
        }
        Progress {
            bar,
            failed: Mutex::default(),
        }
    }

    pub(super) fn ran(&self, case: &Case, outcome: &Outcome) {
        let name = format!("{} {}", case.kernel, case.shape);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = outcome.result.is_err() && failed.insert(name.clone());
        match &self.bar {
            Some(bar) => {
                if is_news {
                    bar.set_message(format!("{} cases with faults, ", failed.len()));
                }
                bar.inc(1);
                if bar.position() == bar.length().unwrap_or(0) {
                    bar.finish_and_clear();
                }
            }
            None if is_news => eprintln!("{name} has a fault"),
            None => {}
        }
    }
}
