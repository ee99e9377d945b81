//! Tensor-core instructions that are under way, and the descriptors of their matrices.

use super::knowledge::Knowledge;
use super::origin::Origin;
use crate::error::FaultKind;
use cute_hopper::{SwizzleMode, wgmma};
use std::fmt::{self, Display, Formatter};

pub(crate) const CORE_BYTES: u64 = wgmma::CORE_BYTES as u64;
const CORE_ROWS: u64 = wgmma::CORE_ROWS as u64;

/// A tensor-core instruction that has not been waited for.
pub(crate) struct Pending {
    pub(crate) origin: Origin,
    pub(crate) a: Option<Descriptor>,
    pub(crate) b: Descriptor,
    pub(crate) accumulate: bool,
    pub(crate) knowledge: Knowledge,
    pub(crate) group: Option<u64>,
    /// How many the warp issued before.
    pub(crate) number: u64,
}

/// A matrix descriptor, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) start: u64,
    pub(crate) leading: u64,
    pub(crate) stride: u64,
    pub(crate) swizzle: SwizzleMode,
}

impl Descriptor {
    pub(crate) fn new(bits: u64) -> std::result::Result<Descriptor, FaultKind> {
        let wgmma::Descriptor {
            address: start,
            leading,
            stride,
            base_offset,
            swizzle,
        } = wgmma::Descriptor::decode(bits);
        if base_offset != 0 {
            let message = format!(
                "matrix descriptor {bits:#018x} has base offset {base_offset}; only 0 is modelled"
            );
            return Err(FaultKind::Operand(message));
        }
        Ok(Descriptor {
            start,
            leading,
            stride,
            swizzle,
        })
    }

    /// Bytes of a row of the swizzle's pattern.
    pub(crate) fn span(&self) -> u64 {
        self.swizzle.span() as u64
    }

    /// The address of 16 bytes along K, of a matrix whose rows along K are contiguous.
    pub(crate) fn k_major(&self, row: u64, k_byte: u64) -> u64 {
        let along_k = match self.swizzle {
            SwizzleMode::None => k_byte / CORE_BYTES * self.leading,
            _ => k_byte,
        };
        let within = row / CORE_ROWS * self.stride + row % CORE_ROWS * self.span();
        self.swizzle.apply(self.start + within + along_k)
    }

    /// The address of 16 bytes across K, of a matrix whose columns are contiguous.
    pub(crate) fn mn_major(&self, byte: u64, k: u64) -> u64 {
        let within = k % CORE_ROWS * self.span() + byte % self.span();
        let panel = byte / self.span();
        // Without a swizzle the two strides change their roles.
        let (panel_stride, k_stride) = match self.swizzle {
            SwizzleMode::None => (self.stride, self.leading),
            _ => (self.leading, self.stride),
        };
        self.swizzle
            .apply(self.start + panel * panel_stride + k / CORE_ROWS * k_stride + within)
    }
}

impl Display for Descriptor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at {:#x} (leading byte offset {}, stride byte offset {}, swizzle {:?})",
            self.start, self.leading, self.stride, self.swizzle
        )
    }
}
