//! Swizzles of elements as modes of the hardware, which swizzles bytes.

use crate::swizzle::Swizzle;
use cute_hopper::SwizzleMode;

impl Swizzle {
    /// A mode of TMA and wgmma as a swizzle of the indices of elements so wide; `None` of widths other than 8, 16, 32 and
    /// 64 bits.
    pub fn from_mode(mode: SwizzleMode, element_bits: u32) -> Option<Self> {
        match mode {
            SwizzleMode::None => Some(Self::IDENTITY),
            _ => Self::new(mode.bits(), chunk_bits(element_bits)?, 3).ok(),
        }
    }

    /// The mode of TMA and wgmma that this swizzle of the indices of elements so wide is, if it is one.
    pub fn mode(self, element_bits: u32) -> Option<SwizzleMode> {
        SwizzleMode::ALL.into_iter().find(|mode| {
            Self::from_mode(*mode, element_bits) == Some(self)
                || (*mode == SwizzleMode::None && self.is_identity())
        })
    }
}

/// log2 of the elements in 16 bytes.
fn chunk_bits(element_bits: u32) -> Option<u32> {
    matches!(element_bits, 8 | 16 | 32 | 64).then(|| 7 - element_bits.trailing_zeros())
}
