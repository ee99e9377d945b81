//! Counts how often an operation gives a result. A law about results would not test an operation that is always an error.

use std::sync::atomic::{AtomicU32, Ordering};

/// The result of an operation on random operands; `None` for an error. Of the first 100 calls at this place in the test,
/// at least `$least` must give a result.
macro_rules! accepted {
    ($least:literal of 100, $result:expr) => {{
        static ACCEPTANCE: crate::acceptance::Acceptance =
            crate::acceptance::Acceptance::new(stringify!($result), $least);
        ACCEPTANCE.count($result.ok())
    }};
}

pub(crate) use accepted;

/// The counts of calls and results at one place in a test.
pub(crate) struct Acceptance {
    operation: &'static str,
    least: u32,
    tried: AtomicU32,
    given: AtomicU32,
}

impl Acceptance {
    pub(crate) const fn new(operation: &'static str, least: u32) -> Self {
        Self {
            operation,
            least,
            tried: AtomicU32::new(0),
            given: AtomicU32::new(0),
        }
    }

    pub(crate) fn count<T>(&self, result: Option<T>) -> Option<T> {
        let given = self
            .given
            .fetch_add(u32::from(result.is_some()), Ordering::Relaxed)
            + u32::from(result.is_some());
        if self.tried.fetch_add(1, Ordering::Relaxed) == 99 {
            let Self {
                operation, least, ..
            } = self;
            assert!(
                given >= *least,
                "{operation} gives {given} results of 100, not {least}"
            );
        }
        result
    }
}
