//! Mbarriers in shared memory.

use super::num::{Num, Scalar};

/// Several mbarriers, 8 bytes apart.
#[derive(Clone, Debug)]
pub struct Barriers {
    /// Where the first lies in the kernel's shared memory, in bytes.
    pub base: u32,
    /// How many.
    pub count: u32,
}

/// One mbarrier.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// Where the first of its kind lies in the kernel's shared memory, in bytes.
    pub base: u32,
    /// How many bytes it lies behind that one.
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
