//! The table of operations, a file for each group.

use super::operation::Group;

/// Compiles one closure for numbers and for run-time integers.
macro_rules! both {
    ($run:expr) => {
        crate::operations::operation::Run::Both($run, $run)
    };
}

mod ask;
mod compare;
mod compose;
mod construct;
mod coordinates;
mod divide;
mod elements;
mod hardware;
mod modes;
mod product;
mod swizzle;
mod threads;

/// The upper end of the range of counts for an operand that may be repeated.
const MANY: usize = usize::MAX;

/// All operations by groups, from simple to special.
pub static GROUPS: &[Group] = &[
    Group {
        name: "construct",
        doc: "make layouts from shapes, from other layouts, and from values",
        operations: construct::OPERATIONS,
    },
    Group {
        name: "ask",
        doc: "read numbers off a layout",
        operations: ask::OPERATIONS,
    },
    Group {
        name: "compare",
        doc: "compare shapes and layouts, and require what a layout must be",
        operations: compare::OPERATIONS,
    },
    Group {
        name: "coordinates",
        doc: "go from coordinates to values, and back",
        operations: coordinates::OPERATIONS,
    },
    Group {
        name: "modes",
        doc: "slice layouts, and select, group and order their modes",
        operations: modes::OPERATIONS,
    },
    Group {
        name: "compose",
        doc: "simplify, compose, complement and invert",
        operations: compose::OPERATIONS,
    },
    Group {
        name: "divide",
        doc: "cut a layout into tiles, and shapes into quotient and remainder",
        operations: divide::OPERATIONS,
    },
    Group {
        name: "product",
        doc: "repeat a layout",
        operations: product::OPERATIONS,
    },
    Group {
        name: "elements",
        doc: "see the same memory as elements of another size",
        operations: elements::OPERATIONS,
    },
    Group {
        name: "swizzle",
        doc: "count bank conflicts, and find swizzles without them",
        operations: swizzle::OPERATIONS,
    },
    Group {
        name: "threads",
        doc: "say which thread holds which values: operations of tensor cores, and copies",
        operations: threads::OPERATIONS,
    },
    Group {
        name: "hardware",
        doc: "describe tiles for TMA, ldmatrix and wgmma",
        operations: hardware::OPERATIONS,
    },
];
