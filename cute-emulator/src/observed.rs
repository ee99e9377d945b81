//! Observations of launches.

use crate::counts::Counts;
use crate::trace::Trace;

/// Observations of launches, including failed ones.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Counts of instructions, traffic and waits.
    pub counts: Counts,
    /// The trace; `None` to record none.
    pub trace: Option<Trace>,
}
