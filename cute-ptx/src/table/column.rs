//! What a row says of an instruction besides its text: the columns that rows have by their constructor, and those of a section.

use std::fmt::{self, Display, Formatter};

/// The effect of an instruction besides writing its destinations. An optimiser needs it to remove or move instructions. Faults
/// do not count: any access to an address that is not mapped or not aligned ends the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: its destinations depend only on its sources. It can be removed if they are not read, and it can be executed
    /// earlier than needed, or needlessly.
    None,
    /// It exchanges values between the lanes of a warp. It can be removed if its destinations are not read, but it must be
    /// executed by the same set of lanes.
    Exchanges,
    /// It reads memory that other threads may write. It must not be moved across an instruction that [`Acts`](Effect::Acts).
    Reads,
    /// It writes memory, waits, orders the accesses of other instructions, sets state such as the carry flag, or
    /// branches. It must not be removed, and no instruction that [`Reads`](Effect::Reads) or acts can be moved across it.
    Acts,
}

/// What the results of an instruction depend on. This tells in which threads they are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// Only on the thread's own operands.
    Computed,
    /// On the operands of all threads that execute it together. All of them get the same: a vote, a reduction.
    Gathered,
    /// On an operand of another lane, which the thread's own operands select.
    Shuffled,
    /// On its address: threads that read the same memory get the same.
    Loaded,
    /// On its operands and on what other threads have done by then. Threads that execute it at once with the same operands get the same.
    Polled,
    /// On the lane, on its place in a matrix, or on what other threads do meanwhile. Each thread has results of its own.
    Own,
}

/// A class of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Arithmetic, comparisons, conversions and moves.
    Arithmetic,
    /// Branches, calls, `exit`, `trap`, and instructions that only let time pass.
    Control,
    /// Exchanges between the lanes of a warp.
    Lanes,
    /// Loads, stores and atomics, `ldmatrix` and `stmatrix`.
    Memory,
    /// Barriers, mbarriers, fences and `setmaxnreg`.
    Synchronisation,
    /// Asynchronous copies, their groups and waits.
    Copy,
    /// wgmma, its fences, groups and waits, and `mma`.
    Matrix,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 7] = [
        Class::Arithmetic,
        Class::Control,
        Class::Lanes,
        Class::Memory,
        Class::Synchronisation,
        Class::Copy,
        Class::Matrix,
    ];
}

/// `arithmetic`, `control`, ….
impl Display for Class {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// The threads that all have to execute an instruction, if they are more than a warp. [`Together`](super::Together) tells which lanes of
/// a warp execute it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The threads of a warpgroup.
    Warpgroup,
    /// As many threads of the CTA as the instruction says after the number of its barrier; without this operand, all of them.
    Cta,
    /// The threads of the cluster.
    Cluster,
}
