//! What the module claims of the addresses of an instruction, in the comment at the end of its line: which element of which
//! tensor each of them is. An address that is not where the claim says, or a coordinate that is not inside of the tensor, is a
//! fault.
//!
//! | operand | claim |
//! |---|---|
//! | `[%rd5+16]` | `x[%r1, %r2 + 4]`: this element of a tensor in global memory, which a comment of the module describes |
//! | `[%d1, {%r1, %r0}]` | `x[%r0, %r1]`: the box that begins at this element |
//! | `[%r3]` | `tile[%r0 < 8, %r1 < 32] at %r2 in 0..1024`: byte `%r2` of dynamic shared memory, where the tensor has bytes 0 to 1023, and the coordinates must be below these extents |
//! | `[%r4+8]` | `tile at 0 + Sw<3,4,3>(%r2 + 8) in 0..1024`: a byte that the swizzle gives |
//!
//! An instruction with several addresses has a claim for each, in their order, with `_` where nothing is claimed.

use std::ops::Range;

/// The index of a row of the register file.
type Row = u32;

/// What is claimed of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The name of the tensor; empty if it has none.
    pub(crate) tensor: String,
    /// The coordinate of the element.
    pub(crate) coordinate: Box<[Sum]>,
    pub(crate) place: Place,
}

/// Where the claimed element is, and the operand that should say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a tensor of global memory, by its number in [`Code::views`](crate::op::Code::views).
    Global { address: Sum, view: usize },
    /// A box of a tensor map, whose coordinates have the innermost mode first.
    Box { coordinates: Box<[Row]> },
    /// In shared memory.
    Shared {
        address: Sum,
        /// The extents of the modes of the coordinate, which may be left out.
        extents: Box<[u64]>,
        /// What is added to the swizzled offset, in bytes of dynamic shared memory.
        base: i64,
        swizzle: Swizzle,
        offset: Sum,
        /// The bytes that the tensor has.
        bytes: Range<u64>,
    },
}

/// The sum of a register, if there is one, and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) register: Option<Row>,
    /// Whether the register is a signed number of 32 bits.
    pub(crate) signed: bool,
    pub(crate) number: i64,
}

/// A permutation of offsets: bits from `base` on are combined with those `shift` higher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Swizzle {
    pub(crate) bits: u32,
    pub(crate) base: u32,
    pub(crate) shift: i32,
}

impl Sum {
    /// Its value where the register has this one.
    pub(crate) fn value(&self, register: u64) -> i64 {
        let register = match self.signed {
            true => i64::from(register as i32),
            false => register as i64,
        };
        register.wrapping_add(self.number)
    }
}

impl Swizzle {
    pub(crate) fn apply(self, offset: u64) -> u64 {
        let bits = (1_u64 << self.bits) - 1;
        let distance = self.shift.unsigned_abs();
        match self.shift >= 0 {
            true => offset ^ (offset >> distance & bits << self.base),
            false => offset ^ (offset & bits << self.base) << distance,
        }
    }
}

/// A tensor in global memory, by the parameters of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) name: String,
    /// Bytes of an element.
    pub(crate) bytes: u64,
    /// The offset of the parameter that holds the address of the first element.
    pub(crate) pointer: u32,
    /// The strides in elements.
    pub(crate) strides: Box<[Stride]>,
}

/// A stride in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stride {
    Known(u64),
    /// In the parameter at this offset.
    Parameter(u32),
}
