//! Mbarriers in shared memory.

use super::num::{Num, Scalar};

/// Several mbarriers, 8 bytes apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Barriers {
    /// Where the first lies in the kernel's shared memory, in bytes.
    pub base: u32,
    /// The number of barriers.
    pub count: u32,
}

/// One mbarrier.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// The byte of the first barrier of this `mbarriers(…)` in the kernel's shared memory.
    pub base: u32,
    /// The offset in bytes from `base`.
    pub offset: Num,
}

impl Barrier {
    /// Calls `f` on every register in it.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        if let Num::Reg(scalar) = &mut self.offset {
            f(scalar);
        }
    }
}
