//! Fragments of truth values, which comparisons of fragments give.

use super::fragment::Fragment;
use super::option::Truth;

/// A truth value for each value of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    /// A fragment that is held in the same way, without registers.
    pub held: Fragment,
    /// The truth values. No `let mut` variable is one.
    pub truths: Vec<Truth>,
}
