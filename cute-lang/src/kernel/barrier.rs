//! Mbarriers.

use super::builtins::Builtin;
use super::value::{Num, Scalar};

/// The rows of the builtin table that make and use barriers.
pub(super) const ROWS: &[Builtin] = &[];

/// Several mbarriers, 8 bytes apart.
#[derive(Clone, Debug)]
pub struct Barriers {
    /// The shared-memory address of the first.
    pub address: Num,
    /// How many.
    pub count: u32,
}

/// One mbarrier.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// Its shared-memory address.
    pub address: Num,
}

impl Barriers {
    /// Calls `f` on every register in it.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        if let Num::Reg(scalar) = &mut self.address {
            f(scalar);
        }
    }
}

impl Barrier {
    /// Calls `f` on every register in it.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        if let Num::Reg(scalar) = &mut self.address {
            f(scalar);
        }
    }
}
