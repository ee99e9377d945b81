//! The permutations of shared memory that TMA and wgmma know.

/// A swizzle of 16-byte chunks of shared memory: CuTe's `Sw<B,4,3>` on byte addresses.
///
/// It acts on absolute addresses: the B bits from bit 4 on are exclusive-ored with those from bit 7 on (PTX ISA 9.0,
/// "Swizzling Modes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SwizzleMode {
    /// No swizzle, CuTe's `INTER`.
    None,
    /// 16-byte chunks within 32 bytes.
    B32,
    /// 16-byte chunks within 64 bytes.
    B64,
    /// 16-byte chunks within 128 bytes.
    B128,
}

impl SwizzleMode {
    /// Every mode, the narrowest first.
    pub const ALL: [Self; 4] = [Self::None, Self::B32, Self::B64, Self::B128];

    /// CuTe's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "INTER",
            Self::B32 => "SW32",
            Self::B64 => "SW64",
            Self::B128 => "SW128",
        }
    }

    /// B of `Sw<B,4,3>`.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Bytes that the swizzle permutes among themselves: 16, 32, 64 or 128. Rows of a swizzled TMA box are at most as long
    /// (CUDA driver API, `cuTensorMapEncodeTiled`).
    pub const fn span(self) -> i64 {
        16 << self.bits()
    }

    /// Bytes after which the pattern repeats, and to which a tile is to be aligned.
    pub const fn atom(self) -> i64 {
        8 * self.span()
    }

    /// Where the byte of an address lies.
    pub const fn apply(self, address: u64) -> u64 {
        let mask = (1 << self.bits()) - 1;
        address ^ (address >> 7 & mask) << 4
    }

    /// Bits 62 and 63 of a matrix descriptor of wgmma (PTX ISA 9.0, "Matrix Descriptor Format").
    pub const fn descriptor_field(self) -> u64 {
        match self {
            Self::None => 0,
            Self::B128 => 1,
            Self::B64 => 2,
            Self::B32 => 3,
        }
    }

    /// The mode with these two bits in a matrix descriptor.
    pub const fn from_descriptor_field(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::None,
            1 => Self::B128,
            2 => Self::B64,
            _ => Self::B32,
        }
    }

    /// The `CUtensorMapSwizzle` of a tensor map (CUDA driver API, cuda.h).
    pub const fn tensor_map(self) -> u32 {
        match self {
            Self::None => 0,
            Self::B32 => 1,
            Self::B64 => 2,
            Self::B128 => 3,
        }
    }

    /// The mode of this `CUtensorMapSwizzle`.
    pub fn from_tensor_map(swizzle: u32) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.tensor_map() == swizzle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_come_back() {
        for mode in SwizzleMode::ALL {
            assert_eq!(
                SwizzleMode::from_descriptor_field(mode.descriptor_field()),
                mode
            );
            assert_eq!(SwizzleMode::from_tensor_map(mode.tensor_map()), Some(mode));
        }
    }

    #[test]
    fn chunks_are_permuted_within_the_span() {
        for mode in SwizzleMode::ALL {
            let (span, atom) = (mode.span() as u64, mode.atom() as u64);
            for address in 0..2 * atom {
                let moved = mode.apply(address);
                assert_eq!((moved / span, moved % 16), (address / span, address % 16));
                assert_eq!(mode.apply(moved), address);
                assert_eq!(mode.apply(address + 1024), moved + 1024);
            }
        }
    }
}
