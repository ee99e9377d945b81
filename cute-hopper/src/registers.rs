//! Registers.

use core::ops::RangeInclusive;

/// Registers of a multiprocessor, 32 bits each (CUDA C++ Programming Guide, "Compute Capabilities").
pub const FILE: u32 = 65_536;

/// Most registers of a thread (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX: u32 = 255;

/// Registers of a thread come in multiples of this. Measured: ptxas gives a thread of 384 in a CTA 168,
/// where 170 would fit.
pub const UNIT: u32 = 8;

/// What `setmaxnreg` sets, in steps of [`UNIT`] (PTX ISA 9.0, "setmaxnreg").
pub const SETMAXNREG: RangeInclusive<u32> = 24..=256;

/// Registers that each thread of a CTA has at its start, if the CTA takes all there are.
pub const fn at_launch(threads: u32) -> u32 {
    let threads = if threads == 0 { 1 } else { threads };
    let share = FILE / threads / UNIT * UNIT;
    if share < MAX { share } else { MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_file() {
        assert_eq!([128, 384, 512, 1024].map(at_launch), [255, 168, 128, 64]);
    }
}
