//! The claims in a module's comments, about addresses and about paths through the kernel.
//!
//! The comment at the end of a line gives the tensor element at each address of the instruction. A different address is a fault, and
//! so is a coordinate outside the tensor.
//!
//! | operand | claim |
//! |---|---|
//! | `[%rd5+16]` | `x[%r1, %r2 + 4]`: this element of a tensor in global memory, which a comment of the module describes |
//! | `[%d1, {%r1, %r0}]` | `x[%r0, %r1]`: the box that begins at this element |
//! | `[%rd5+16]`, `[%d1, {%r1, %r0}]` | `x[%i][%r0, %r1]`: the same of tensor `%i` of a list, which a comment of the module describes |
//! | `[%rd6]` | `item %i of x_ptr`: the bytes that item `%i` of a list has of this parameter |
//! | `[%r3]` | `tile[%r0 < 8, %r1 < 32] at %r2 in 0..1024`: byte `%r2` of dynamic shared memory, where the tensor has bytes 0 to 1023, and the coordinates must be below these extents |
//! | `[%r4+8]` | `tile at 0 + Sw<3,4,3>(%r2 + 8) in 0..1024`: a byte that the swizzle gives |
//!
//! An instruction with several addresses has a claim for each, in order. `_` claims nothing.
//!
//! Comments also claim which threads reach or execute an instruction. The conditions use the numbers from which guards are computed:
//!
//! | comment | claim |
//! |---|---|
//! | `if %i < %n`, at the end of the line of an instruction, behind what it says of addresses | of the threads that get there, it is executed by those in which this holds, and by no others |
//! | `adds if %i > 0`, at the end of the line of a wgmma | this holds where it adds to D, and where it replaces D it does not |
//! | `where %i < %n`, on a line of its own | this holds in all threads that get there |
//!
//! A condition is a comparison, several joined by `&&`, or several joined by `||`. Its numbers are unsigned; `s32` makes them signed.
//!
//! `uniform %r5 in warp`, on a line of its own, claims that `%r5` is equal in all threads of the warp that get there. With
//! `in warpgroup` or `in CTA`, it is also equal in all warps of the group, at each visit of the whole group.

use crate::error::Group;
use std::ops::Range;

/// The index of a row of the register file.
type Row = u32;

/// The claim for an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The name of the tensor; empty if it has none.
    pub(crate) tensor: String,
    /// The item, if the tensor is one of a list.
    pub(crate) item: Option<Item>,
    /// The coordinate of the element.
    pub(crate) coordinate: Box<[Sum]>,
    pub(crate) place: Place,
}

/// An item of a list of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The number of the list in [`Arguments::lists`].
    pub(crate) list: usize,
    pub(crate) index: Sum,
}

/// The memory that the claim is about, and the operand to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A tensor of global memory, by its number in [`Arguments::views`].
    Global { address: Sum, view: usize },
    /// A box of a tensor map. The coordinates have the innermost mode first.
    Box { map: Sum, coordinates: Box<[Row]> },
    /// The part with this number of the item.
    Item { address: Sum, part: usize },
    /// In shared memory.
    Shared {
        address: Sum,
        /// The extents of the modes of the coordinate. They may be left out.
        extents: Box<[u64]>,
        /// The number added to the swizzled offset, in bytes of dynamic shared memory.
        base: i64,
        swizzle: Swizzle,
        offset: Sum,
        /// The bytes of the tensor.
        bytes: Range<u64>,
    },
}

/// A condition of registers that is claimed to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// The text in the comment.
    pub(crate) text: String,
    /// Whether one true comparison suffices (`||`).
    pub(crate) any: bool,
    pub(crate) comparisons: Box<[Comparison]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) left: Sum,
    pub(crate) order: Order,
    pub(crate) right: Sum,
}

/// The order of the two sides of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Order {
    /// Each order with its symbol.
    pub(crate) const ALL: [(&str, Order); 6] = [
        ("==", Order::Equal),
        ("!=", Order::Different),
        ("<", Order::Less),
        ("<=", Order::LessOrEqual),
        (">", Order::Greater),
        (">=", Order::GreaterOrEqual),
    ];

    pub(crate) fn symbol(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, order)| *order == self);
        found.map_or("", |(symbol, _)| symbol)
    }
}

/// The claims about the threads at an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ways {
    /// Conditions that hold in all threads that get there.
    pub(crate) here: Vec<Condition>,
    /// The condition that holds in exactly the arriving threads that execute the instruction.
    pub(crate) executed: Option<Condition>,
    /// The condition that holds exactly where a wgmma adds to D.
    pub(crate) adds: Option<Condition>,
    /// Conditions that hold in the threads that continue with the next line.
    pub(crate) next: Vec<Condition>,
}

/// A register claimed to be equal in all threads of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) register: Row,
    pub(crate) group: Group,
}

/// The sum of a number and, if there is one, a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) register: Option<Row>,
    /// Whether the register is a signed number of 32 bits.
    pub(crate) signed: bool,
    pub(crate) number: i64,
}

/// A permutation of offsets: bits from `base` on are XORed with the bits `shift` higher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Swizzle {
    pub(crate) bits: u32,
    pub(crate) base: u32,
    pub(crate) shift: i32,
}

impl Sum {
    /// The value of the sum for this value of the register.
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

/// The comments' descriptions of an entry's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) views: Vec<View>,
    pub(crate) lists: Vec<List>,
}

/// A list of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) name: String,
    /// The offset of the parameter that holds the number of items.
    pub(crate) length: u32,
    /// The parameters that hold the items.
    pub(crate) parts: Box<[Part]>,
}

/// An array parameter with a number or a tensor map for each item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// The offset of the parameter.
    pub(crate) start: u32,
    /// Bytes of an item.
    pub(crate) bytes: u64,
}

/// A tensor in global memory, or a list of them, described by the parameters of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) name: String,
    /// Bytes of an element.
    pub(crate) bytes: u64,
    /// The offset of the parameter that holds the address of the first element.
    pub(crate) pointer: u32,
    /// The strides in elements.
    pub(crate) strides: Box<[Stride]>,
    /// The number of the list with this name. The parameters then hold one number for each item.
    pub(crate) list: Option<usize>,
}

/// A stride in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stride {
    Known(u64),
    /// The stride is in the parameter at this offset.
    Parameter(u32),
}
