//! A launch to run under many schedules, and its outcome.

use cute_emulator::EmulatorError;
use cute_runtime::{Counts, EmulatorOptions, Trace};

/// A launch that can be repeated.
pub(super) struct Case {
    pub(super) kernel: String,
    /// The shape of the problem, such as `520 x 200 x 384`.
    pub(super) shape: String,
    pub(super) run: Run,
}

/// Runs it on a device with these options.
pub(super) type Run = Box<dyn Fn(EmulatorOptions) -> Outcome + Send + Sync>;

/// The outcome of a run.
pub(super) struct Outcome {
    /// The bytes of the result.
    pub(super) result: Result<Vec<u8>, Failure>,
    pub(super) counts: Counts,
    pub(super) trace: Option<Trace>,
}

/// The failure of a run.
pub(super) struct Failure {
    /// Equal for failures that differ only in the thread and the schedule.
    pub(super) key: String,
    pub(super) message: String,
}

impl Failure {
    /// A failure. `error` is its reason, if there is one.
    pub(super) fn new(message: String, error: Option<&EmulatorError>) -> Failure {
        let key = match error {
            Some(EmulatorError::Fault(fault)) => {
                let kind = std::mem::discriminant(&fault.kind);
                format!("line {} {kind:?}", fault.site.line)
            }
            Some(EmulatorError::Deadlock { .. }) => "deadlock".to_owned(),
            _ => message.clone(),
        };
        Failure { key, message }
    }
}
