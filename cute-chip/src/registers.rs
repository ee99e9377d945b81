//! Registers: how many there are, and how many a thread can have.

use core::ops::RangeInclusive;

/// Number of 32-bit registers of a multiprocessor (CUDA C++ Programming Guide, "Compute Capabilities").
pub const FILE: u32 = 65_536;

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

/// Registers of each thread at launch, if one CTA takes all registers of the multiprocessor: a multiple of [`UNIT`],
/// at most [`MAX`].
pub const fn at_launch(threads: u32) -> u32 {
    let threads = if threads == 0 { 1 } else { threads };
    let share = FILE / threads / UNIT * UNIT;
    if share < MAX { share } else { MAX }
}

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

    #[test]
    fn shares_of_the_file() {
        assert_eq!([128, 384, 512, 1024].map(at_launch), [255, 168, 128, 64]);
    }
}
