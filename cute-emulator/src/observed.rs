//! What is seen of launches.

use crate::counts::Counts;
use crate::trace::Trace;

/// What was seen of launches, also of those that failed.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// What they executed, moved and waited for.
    pub counts: Counts,
    /// What they did when; `None` if nobody wants to know.
    pub trace: Option<Trace>,
}
