//! The resources that a kernel needs of a multiprocessor.

use std::fmt;

#[cfg(feature = "emulator")]
use cute_chip::{Chip, registers, shared, threads};
use cute_ptxas::Usage;

#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::device::image::Image;

/// The compiler's report about a kernel: the result of [`Device::compile`](crate::Device::compile).
///
/// On a GPU, the report comes from the driver. On the emulator, it comes from `ptxas`, if there is one at the path in the
/// environment variable `CUTE_PTXAS` or in a folder of `PATH`; else most is unknown. `Display` writes one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compiled {
    /// The compiler's information log. Empty where there is no compiler, and where the driver took the code from its cache.
    pub log: String,
    /// Whether the driver took the code from its cache on disk: it compiles nothing then, and there is no log.
    pub from_cache: bool,
    /// Registers of each thread when the kernel starts; `None` if that is unknown.
    pub registers: Option<u32>,
    /// Bytes of local memory of each thread, where registers spill to; `None` if that is unknown.
    pub local_bytes: Option<u32>,
    /// Bytes of local memory that each thread stores for lack of registers; `None` if that is unknown.
    pub spilled_bytes: Option<u32>,
    /// Bytes of shared memory of each CTA.
    pub shared_bytes: u32,
    /// Number of CTAs that a multiprocessor can hold at the same time; `None` if that is unknown.
    pub ctas_per_multiprocessor: Option<u32>,
}

impl Compiled {
    /// The driver's report. The spills come from the log, since only it has them.
    #[cfg(feature = "cuda")]
    pub(crate) fn by_driver(
        image: &Image,
        log: String,
        registers: u32,
        local_bytes: u32,
        ctas_per_multiprocessor: u32,
    ) -> Self {
        // Without local memory, nothing spills.
        let spilled = usage(&log).map(|usage| usage.spill_stores);
        Compiled {
            // The driver is asked for a verbose log, which is never empty if it compiles.
            from_cache: log.is_empty(),
            log,
            registers: Some(registers),
            local_bytes: Some(local_bytes),
            spilled_bytes: spilled.or((local_bytes == 0).then_some(0)),
            shared_bytes: image.smem_bytes,
            ctas_per_multiprocessor: Some(ctas_per_multiprocessor),
        }
    }

    /// The report of `ptxas`, if there is a `ptxas`.
    #[cfg(feature = "emulator")]
    pub(crate) fn by_ptxas(image: &Image) -> Self {
        let unknown = Compiled {
            shared_bytes: image.smem_bytes,
            ..Compiled::default()
        };
        let Some(ptxas) = cute_ptxas::Ptxas::installed() else {
            return unknown;
        };
        let target = image.target().unwrap_or(Chip::DEFAULT.target);
        let log = match ptxas.log(image.ptx, &target.to_string()) {
            Ok(log) => log,
            Err(error) => format!("{} does not start: {error}", ptxas.path().display()),
        };
        let Some(usage) = usage(&log) else {
            return Compiled { log, ..unknown };
        };
        Compiled {
            log,
            registers: Some(usage.registers),
            local_bytes: Some(usage.stack),
            spilled_bytes: Some(usage.spill_stores),
            ctas_per_multiprocessor: Some(residents(image, usage.registers)),
            ..unknown
        }
    }
}

/// The usage in the log, which is about one kernel.
fn usage(log: &str) -> Option<Usage> {
    let usage = cute_ptxas::Report::read(log).entries.pop()?;
    (usage.registers > 0).then_some(usage)
}

/// Number of CTAs that a multiprocessor can hold, by its registers, its warps and its shared memory.
#[cfg(feature = "emulator")]
fn residents(image: &Image, registers: u32) -> u32 {
    let warps = image.threads.div_ceil(threads::WARP);
    let warp_registers = (registers * threads::WARP).next_multiple_of(registers::WARP_UNIT);
    let chip = image.chip();
    let shared_bytes = image.smem_bytes + chip.reserved_shared_bytes;
    let shared_bytes = shared_bytes.next_multiple_of(shared::UNIT);
    // Each quarter of a multiprocessor has a quarter of its registers, and runs every fourth warp.
    let quarters = threads::WARPGROUP_WARPS;
    let by_registers = chip.registers / quarters / warp_registers * quarters / warps;
    by_registers
        .min(chip.resident_ctas_of(image.threads))
        .min(chip.multiprocessor_shared_bytes / shared_bytes)
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: Option<u32>| match number {
            Some(number) => number.to_string(),
            None => "unknown".to_string(),
        };
        write!(
            f,
            "registers of a thread: {}, bytes spilled: {}, bytes of local memory: {}, bytes of shared memory: {}, \
             CTAs on a multiprocessor: {}",
            count(self.registers),
            count(self.spilled_bytes),
            count(self.local_bytes),
            self.shared_bytes,
            count(self.ctas_per_multiprocessor)
        )?;
        match self.from_cache {
            true => f.write_str("; the code is from the driver's cache"),
            false => Ok(()),
        }
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::device::cache::Id;

    #[test]
    fn ctas_share_a_multiprocessor() {
        let (hopper, ampere) = (".target sm_90a", ".target sm_80");
        // Threads, registers of each, bytes of shared memory; then what the occupancy calculator of CUDA gives.
        for (ptx, threads, registers, smem_bytes, ctas) in [
            (hopper, 384, 168, 197_672, 1),
            (hopper, 256, 32, 0, 8),
            (hopper, 256, 64, 0, 4),
            (hopper, 128, 40, 0, 12),
            (hopper, 32, 16, 0, 32),
            (hopper, 32, 255, 0, 8),
            (hopper, 128, 32, 100_000, 2),
            (hopper, 1024, 64, 0, 1),
            (ampere, 128, 32, 100_000, 1),
            (ampere, 128, 32, 80_000, 2),
        ] {
            let image = Image {
                id: Id::of::<()>(),
                name: "k",
                ptx,
                threads,
                cluster: [1, 1, 1],
                smem_bytes,
                params: &[],
                facts: &[],
                reports: &[],
                is_safe: true,
            };
            assert_eq!(
                residents(&image, registers),
                ctas,
                "{threads} {registers} {smem_bytes}"
            );
        }
    }
}
