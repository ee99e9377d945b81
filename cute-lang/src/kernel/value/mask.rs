//! Fragments of truth values: the results of comparing fragments.

use super::fragment::Fragment;
use super::option::Truth;

/// A truth value for each value of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    /// A fragment with the same layout, without registers.
    pub held: Fragment,
    /// The truth values. No `let mut` variable is one.
    pub truths: Vec<Truth>,
}
