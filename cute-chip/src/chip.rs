//! Chips: one row for each, with the limits that may differ between them.

use crate::Target;
use crate::registers;
use crate::threads::WARP;

/// A chip that kernels are compiled for: a target of PTX, and the limits of its multiprocessors.
///
/// ```
/// use cute_chip::Chip;
///
/// let chip = Chip::from_name("sm_80").unwrap();
/// assert_eq!((chip.cta_shared_bytes, chip.cluster_ctas), (163 * 1024, 1));
/// assert_eq!(Chip::DEFAULT.to_string(), "sm_90a");
/// assert_eq!(Chip::from_name("sm_75"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// The target. It has the name, the compute capabilities of the devices that run the code, and the first PTX version.
    pub target: Target,
    /// Most shared memory of a CTA, in bytes.
    pub cta_shared_bytes: u32,
    /// Shared memory of a multiprocessor, in bytes.
    pub multiprocessor_shared_bytes: u32,
    /// Bytes reserved for the system at the start of each CTA's shared memory.
    pub reserved_shared_bytes: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// Most threads of a CTA.
    pub cta_threads: u32,
    /// Most resident warps of a multiprocessor.
    pub resident_warps: u32,
    /// Most resident CTAs of a multiprocessor.
    pub resident_ctas: u32,
    /// Most CTAs of a cluster that every device of the target can place; 1 where there are no clusters.
    pub cluster_ctas: u32,
    /// Most CTAs of a cluster if the launch allows non-portable sizes (CUDA driver API,
    /// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`).
    pub non_portable_cluster_ctas: u32,
}

/// The target `sm_90` or the like.
const fn sm(sm: u32) -> Target {
    Target {
        sm,
        specific: false,
    }
}

/// The target `sm_90a` or the like.
const fn sm_a(sm: u32) -> Target {
    Target { sm, specific: true }
}

const KIB: u32 = 1024;

// The columns are those of the struct, in order.
macro_rules! chips {
    ($($target:expr, $cta_shared:expr, $shared:expr, $reserved:expr, $registers:literal, $threads:literal, $warps:literal,
       $ctas:literal, $cluster:literal, $non_portable:literal;)*) => {
        const CHIPS: &[Chip] = &[$(Chip {
            target: $target,
            cta_shared_bytes: $cta_shared,
            multiprocessor_shared_bytes: $shared,
            reserved_shared_bytes: $reserved,
            registers: $registers,
            cta_threads: $threads,
            resident_warps: $warps,
            resident_ctas: $ctas,
            cluster_ctas: $cluster,
            non_portable_cluster_ctas: $non_portable,
        },)*];
    };
}

// Sources: CUDA C++ Programming Guide 13.0, "Compute Capabilities", "Shared Memory" of 8.x and 9.0, and "Thread Block
// Clusters"; the 16 CTAs of a non-portable cluster are those of an H100.
#[rustfmt::skip] // A table is read by its rows.
chips! {
    // Target, shared memory of a CTA and of a multiprocessor, reserved, registers, threads, warps, CTAs, clusters.
    sm_a(90), 227 * KIB, 228 * KIB, KIB, 65_536, 1024, 64, 32, 8, 16;
    sm(90),   227 * KIB, 228 * KIB, KIB, 65_536, 1024, 64, 32, 8, 16;
    sm(80),   163 * KIB, 164 * KIB, KIB, 65_536, 1024, 64, 32, 1, 1;
}

impl Chip {
    /// Every chip. The first is the default.
    pub const ALL: &[Self] = CHIPS;

    /// The chip of a kernel that names none, `sm_90a`.
    pub const DEFAULT: &Self = &CHIPS[0];

    /// The chip of a target; `None` if there is no row for it.
    pub fn of(target: Target) -> Option<&'static Self> {
        Self::ALL.iter().find(|chip| chip.target == target)
    }

    /// The chip with this name of its target, such as `sm_80`.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        Self::of(Target::from_name(name)?)
    }

    /// The chip whose limits hold for code of a target: the default, if the target is not known or has no row.
    pub fn or_default(target: Option<Target>) -> &'static Self {
        target.and_then(Self::of).unwrap_or(Self::DEFAULT)
    }

    /// Whether it has clusters of several CTAs.
    pub const fn has_clusters(&self) -> bool {
        self.cluster_ctas > 1
    }

    /// Registers of each thread at launch, if one CTA takes all registers of the multiprocessor: a multiple of
    /// [`registers::UNIT`], at most [`registers::MAX`].
    pub const fn registers_at_launch(&self, threads: u32) -> u32 {
        let threads = if threads == 0 { 1 } else { threads };
        let share = self.registers / threads / registers::UNIT * registers::UNIT;
        if share < registers::MAX {
            share
        } else {
            registers::MAX
        }
    }

    /// Most resident CTAs of this many threads, by their warps alone.
    pub const fn resident_ctas_of(&self, threads: u32) -> u32 {
        let by_warps = self.resident_warps / threads.div_ceil(WARP);
        if by_warps < self.resident_ctas {
            by_warps
        } else {
            self.resident_ctas
        }
    }
}

impl core::fmt::Display for Chip {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.target.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared;

    #[test]
    fn shares_of_the_registers() {
        let shares =
            [128, 384, 512, 1024].map(|threads| Chip::DEFAULT.registers_at_launch(threads));
        assert_eq!(shares, [255, 168, 128, 64]);
    }

    #[test]
    fn names_are_those_of_one_row() {
        for chip in Chip::ALL {
            let named = |other: &&Chip| other.target == chip.target;
            assert_eq!(Chip::ALL.iter().filter(named).count(), 1, "{chip}");
        }
    }

    #[test]
    fn a_cta_leaves_room_for_the_reserved_bytes_and_addresses_reach_all() {
        for chip in Chip::ALL {
            let all = chip.cta_shared_bytes + chip.reserved_shared_bytes;
            assert_eq!(all, chip.multiprocessor_shared_bytes, "{chip}");
            assert!(all <= shared::ADDRESS_END, "{chip}");
        }
    }
}
