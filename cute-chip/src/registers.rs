//! Registers of threads: how many one can have, and how they are allocated.

use core::ops::RangeInclusive;

/// Most registers of a thread (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX: u32 = 255;

/// A warp takes registers in multiples of this (CUDA occupancy calculator, "Register allocation unit size", with
/// granularity "warp").
pub const WARP_UNIT: u32 = 256;

/// The number of registers of a thread is a multiple of this. Measured: in a CTA of 384 threads, ptxas gives each
/// thread 168 registers, where 170 would fit.
pub const UNIT: u32 = 8;

/// Register counts of `setmaxnreg`, in steps of [`UNIT`] (PTX ISA 9.0, "setmaxnreg").
pub const SETMAXNREG: RangeInclusive<u32> = 24..=256;

/// Registers allocated for a thread with `registers` registers: the next multiple of [`UNIT`].
pub const fn allocated(registers: u32) -> u32 {
    registers.div_ceil(UNIT) * UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_allocated_in_units() {
        assert_eq!([24, 168, 255, 256].map(allocated), [24, 168, 256, 256]);
    }
}
