//! The claims in a module's comments, about addresses and about paths through the kernel, as the emulator checks them: names are rows of the
//! register file, and numbers of tensors and parameters. `cute_ptx::claims` has what the comments say.
//!
//! An address that is not the claimed element is a fault, and so is a coordinate outside of the tensor.

use cute_ptx::claims::{Group, Order, Swizzle};
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
        swizzle: Option<Swizzle>,
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

/// The offset with its bits permuted.
pub(crate) fn swizzled(swizzle: Option<Swizzle>, offset: u64) -> u64 {
    let Some(Swizzle { bits, base, shift }) = swizzle else {
        return offset;
    };
    let bits = (1_u64 << bits) - 1;
    let distance = shift.unsigned_abs();
    match shift >= 0 {
        true => offset ^ (offset >> distance & bits << base),
        false => offset ^ (offset & bits << base) << distance,
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
