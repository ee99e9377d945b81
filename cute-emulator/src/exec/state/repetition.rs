//! Notices when something repeats itself.

/// Whether the states of a loop repeat, by Brent's algorithm: each state is compared with one earlier state, which is replaced
/// after 1, 2, 4, 8 … states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repetition {
    earlier: Option<u64>,
    since: u64,
    until: u64,
    found: bool,
}

impl Repetition {
    /// Adds a state. Returns whether a state has occurred twice. A repetition with period p is found after at most 3p states.
    pub(crate) fn add(&mut self, state: u64) -> bool {
        self.found |= self.earlier == Some(state);
        if self.since == self.until {
            self.earlier = Some(state);
            self.until = (2 * self.until).max(1);
            self.since = 0;
        }
        self.since += 1;
        self.found
    }

    /// Whether a state has occurred twice.
    pub(crate) fn found(&self) -> bool {
        self.found
    }
}
