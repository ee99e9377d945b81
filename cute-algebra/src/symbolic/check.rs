//! Conditions on run-time integers.

use super::term::{Sum, Term};

/// A condition that is checked when a layout is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// `dividend % divisor == 0`.
    Divides {
        /// The divisor.
        divisor: Term,
        /// The dividend.
        dividend: Term,
    },
    /// `left <= right`.
    AtMost {
        /// The smaller side.
        left: Sum,
        /// The larger side.
        right: Sum,
    },
}

impl Check {
    /// `dividend % divisor == 0`.
    pub(crate) fn divides(divisor: &Term, dividend: &Term) -> Self {
        Self::Divides {
            divisor: divisor.clone(),
            dividend: dividend.clone(),
        }
    }

    /// `left <= right`.
    pub(crate) fn at_most(left: &Term, right: &Term) -> Self {
        Self::AtMost {
            left: left.into(),
            right: right.into(),
        }
    }
}
