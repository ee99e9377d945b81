//! wgmma: the shapes of its products, and the matrix descriptors of operands in shared memory.
//!
//! The source is the PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions".

use crate::{ElementType, SwizzleMode, WgmmaInput};
use core::ops::RangeInclusive;

/// M of one instruction: number of rows of A and of D.
pub const M: u32 = 64;

/// N of one instruction, in steps of [`N_STEP`]: number of columns of D.
pub const N: RangeInclusive<u32> = 8..=256;

/// The difference between two neighbouring N.
pub const N_STEP: u32 = 8;

/// Bytes of K in one instruction.
pub const K_BYTES: u32 = 32;

/// K of one instruction, in elements of this type.
pub const fn k(element: ElementType) -> u32 {
    8 * K_BYTES / element.bits()
}

/// Whether wgmma multiplies elements of some type of this width.
pub fn has_width(bits: u32) -> bool {
    inputs_of(bits).next().is_some()
}

/// Whether some type of this width can be contiguous along M or N in shared memory (MN-major).
pub fn may_be_mn_major(bits: u32) -> bool {
    inputs_of(bits).any(|input| input.mn_major)
}

fn inputs_of(bits: u32) -> impl Iterator<Item = WgmmaInput> {
    let elements = ElementType::ALL
        .iter()
        .filter(move |element| element.bits() == bits);
    elements.filter_map(|element| element.wgmma())
}

/// Number of rows of a core matrix. Operands in shared memory consist of core matrices of 8 × 16 bytes.
pub const CORE_ROWS: u32 = 8;

/// Bytes of a row of a core matrix. Swizzles keep these together.
pub const CORE_BYTES: u32 = 16;

/// Largest operand of `wgmma.wait_group`: the number of groups still pending.
pub const MAX_PENDING_GROUPS: u32 = 7;

/// Registers per thread for a wgmma, besides the accumulators. ptxas reports an error if the kernel starts with
/// fewer, even if `setmaxnreg` adds some. Measured: message C7602 of ptxas 13.0.
pub const REGISTERS_BESIDE_ACCUMULATORS: u32 = 26;

/// Whether wgmma has this N. For integers, N above 24 must be a multiple of 16.
pub const fn has_n(n: u32, integers: bool) -> bool {
    let step = if integers && n > 24 { 16 } else { N_STEP };
    *N.start() <= n && n <= *N.end() && n.is_multiple_of(step)
}

/// A matrix descriptor: the place of a wgmma operand in shared memory. Address and offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the operand, a multiple of [`DESCRIPTOR_UNIT`].
    pub address: u64,
    /// Leading dimension byte offset, at most [`MAX_OFFSET`].
    pub leading: u64,
    /// Stride dimension byte offset, at most [`MAX_OFFSET`].
    pub stride: u64,
    /// Number of rows from the last multiple of the swizzle's atom to the start of the operand's pattern: 0 to 7.
    pub base_offset: u64,
    /// The swizzle of the operand.
    pub swizzle: SwizzleMode,
}

/// Unit of addresses and offsets in a descriptor, in bytes.
pub const DESCRIPTOR_UNIT: u64 = 16;

/// Mask of a field for an address or an offset.
const FIELD: u64 = 0x3fff;

/// Largest offset in a descriptor, in bytes.
pub const MAX_OFFSET: u64 = FIELD * DESCRIPTOR_UNIT;

/// Bytes as the value of a field.
const fn field(bytes: u64) -> u64 {
    (bytes / DESCRIPTOR_UNIT) & FIELD
}

impl Descriptor {
    /// The 64 bits of the descriptor. Bits of a number that do not fit its field are dropped.
    pub const fn encode(self) -> u64 {
        let address = field(self.address);
        let (leading, stride) = (field(self.leading), field(self.stride));
        let (base_offset, swizzle) = (self.base_offset & 7, self.swizzle.descriptor_field());
        address | leading << 16 | stride << 32 | base_offset << 49 | swizzle << 62
    }

    /// The descriptor encoded in these 64 bits.
    pub const fn decode(bits: u64) -> Self {
        Self {
            address: (bits & FIELD) * DESCRIPTOR_UNIT,
            leading: (bits >> 16 & FIELD) * DESCRIPTOR_UNIT,
            stride: (bits >> 32 & FIELD) * DESCRIPTOR_UNIT,
            base_offset: bits >> 49 & 7,
            swizzle: SwizzleMode::from_descriptor_field(bits >> 62),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_come_back() {
        for swizzle in SwizzleMode::ALL {
            let descriptor = Descriptor {
                address: 0x2_fff0,
                leading: 16,
                stride: MAX_OFFSET,
                base_offset: 5,
                swizzle,
            };
            assert_eq!(Descriptor::decode(descriptor.encode()), descriptor);
        }
    }

    /// The K of each element type in PTX ISA 9.0, "wgmma.mma_async".
    #[test]
    fn k_by_type() {
        let inputs = ElementType::ALL
            .iter()
            .filter(|element| element.wgmma().is_some());
        for &element in inputs {
            let expected = match element {
                ElementType::TF32 => 8,
                ElementType::F16 | ElementType::BF16 => 16,
                _ => 32,
            };
            assert_eq!(k(element), expected, "{element}");
        }
    }

    #[test]
    fn widths_of_inputs() {
        let have = |has: fn(u32) -> bool| [4, 8, 16, 32, 64].map(has);
        assert_eq!(have(has_width), [false, true, true, true, false]);
        assert_eq!(have(may_be_mn_major), [false, false, true, false, false]);
    }

    #[test]
    fn integers_have_fewer_n() {
        assert!(has_n(40, false) && !has_n(40, true));
        assert!(has_n(24, true) && has_n(256, true) && has_n(240, true));
        assert!(!has_n(0, false) && !has_n(264, false) && !has_n(12, false));
    }
}
