//! Swizzle modes: the permutations of shared memory in TMA and wgmma.

/// A swizzle of 16-byte chunks of shared memory: CuTe's `Sw<B,4,3>` on byte addresses.
///
/// It acts on absolute addresses: the B bits from bit 4 on are exclusive-ored with the B bits from bit 7 on (PTX
/// ISA 9.0, "Swizzling Modes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SwizzleMode {
    /// No swizzle; CuTe's `INTER`.
    None,
    /// Permutes 16-byte chunks within 32 bytes.
    B32,
    /// Permutes 16-byte chunks within 64 bytes.
    B64,
    /// Permutes 16-byte chunks within 128 bytes.
    B128,
}

impl SwizzleMode {
    /// Every mode, in ascending order of span.
    pub const ALL: [Self; 4] = [Self::None, Self::B32, Self::B64, Self::B128];

    /// CuTe's name for it: `INTER`, `SW32`, `SW64` or `SW128`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "INTER",
            Self::B32 => "SW32",
            Self::B64 => "SW64",
            Self::B128 => "SW128",
        }
    }

    /// B of `Sw<B,4,3>`: 0 to 3.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Chunks are permuted within this many bytes: 16, 32, 64 or 128. The rows of a swizzled TMA box cannot be longer
    /// (CUDA driver API, `cuTensorMapEncodeTiled`).
    pub const fn span(self) -> i64 {
        16 << self.bits()
    }

    /// The permutation repeats after this many bytes. Tiles must be aligned to it.
    pub const fn atom(self) -> i64 {
        8 * self.span()
    }

    /// The swizzled address: the byte for `address` is stored there.
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

    /// The mode for the lowest two bits of `bits`, as in a matrix descriptor.
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

    /// The mode for this `CUtensorMapSwizzle`; `None` for other values.
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
