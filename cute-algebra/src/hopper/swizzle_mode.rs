//! Conversions between swizzles of element indices and the hardware's modes, which swizzle byte addresses.

use crate::swizzle::Swizzle;
use cute_chip::SwizzleMode;

impl Swizzle {
    /// The swizzle of element indices for a mode of TMA and wgmma, a swizzle of byte addresses. `None` unless
    /// elements have 4, 8, 16, 32 or 64 bits.
    pub fn from_mode(mode: SwizzleMode, element_bits: u32) -> Option<Self> {
        match mode {
            SwizzleMode::None => Some(Self::IDENTITY),
            _ => Self::new(mode.bits(), chunk_bits(element_bits)?, 3).ok(),
        }
    }

    /// The mode of TMA and wgmma for this swizzle of indices of elements with `element_bits` bits, if there is one. A
    /// mode swizzles byte addresses.
    pub fn mode(self, element_bits: u32) -> Option<SwizzleMode> {
        SwizzleMode::ALL.into_iter().find(|mode| {
            Self::from_mode(*mode, element_bits) == Some(self)
                || (*mode == SwizzleMode::None && self.is_identity())
        })
    }
}

/// The base-2 logarithm of the number of elements in 16 bytes.
fn chunk_bits(element_bits: u32) -> Option<u32> {
    matches!(element_bits, 4 | 8 | 16 | 32 | 64).then(|| 7 - element_bits.trailing_zeros())
}
