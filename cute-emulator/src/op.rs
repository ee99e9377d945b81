//! Decoded instructions. Every operand is a row of the register file, one value for each lane; constants, special
//! registers and addresses of variables are rows too, filled when a warp starts.

use crate::error::Other;
use crate::numerics::Format;
use cute_hopper::shared;
use cute_ptx::special::Register;
use cute_ptx::table::Modifier;

/// A row of the register file.
pub(crate) type Reg = u32;

/// The addresses of shared memory begin here, as they do on the hardware, which keeps the first KiB.
pub(crate) const SHARED_BASE: u32 = shared::RESERVED_BYTES;
/// Shared memory that a CTA can have.
pub(crate) const MAX_SHARED_BYTES: u32 = shared::MAX_BYTES;
/// Generic addresses of shared memory: this plus the shared address.
pub(crate) const SHARED_WINDOW: u64 = 1 << 56;
/// Generic addresses of parameters: this plus the offset.
pub(crate) const PARAM_WINDOW: u64 = 1 << 57;
/// A window has this many addresses.
pub(crate) const WINDOW_BYTES: u64 = 1 << 32;
/// In a shared address, the rank of the CTA plus one stands above these bits; zero means one's own CTA.
pub(crate) const RANK_SHIFT: u32 = 24;

/// The state of an mbarrier is the number of its phase, and above these bits the arrivals that were pending.
pub(crate) const PENDING_SHIFT: u32 = 40;

/// An entry, decoded.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) instructions: Vec<Instruction>,
    /// The name of each row of the register file.
    pub(crate) registers: Vec<String>,
    /// Rows with a constant value.
    pub(crate) constants: Vec<(Reg, u64)>,
    /// Rows that hold a component of a special register.
    pub(crate) specials: Vec<(Reg, Register, usize)>,
    /// Bytes of static shared memory, after which the dynamic part begins.
    pub(crate) static_shared: u32,
    /// Offset of each parameter, and the bytes of all.
    pub(crate) param_offsets: Vec<u32>,
    pub(crate) param_bytes: u32,
}

impl Code {
    /// An instruction, for a message about another.
    pub(crate) fn other(&self, instruction: usize) -> Other {
        let found = &self.instructions[instruction.min(self.instructions.len() - 1)];
        Other {
            line: found.line,
            text: found.text.clone(),
        }
    }
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Instruction {
    /// The predicate row and whether it is negated.
    pub(crate) guard: Option<(Reg, bool)>,
    pub(crate) op: Op,
    pub(crate) convergence: Convergence,
    /// The rows among its operands that some wgmma uses as D or A.
    pub(crate) matrix_registers: Box<[Reg]>,
    pub(crate) line: u32,
    pub(crate) text: String,
}

/// The lanes that must stand at an instruction before it executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Convergence {
    /// Each goes on by itself.
    No,
    /// `.aligned`: all of the warp that have not ended.
    Warp,
    /// Those of the member mask.
    Members(Reg),
}

/// A function of one lane's operands, as raw bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    F1(fn(u64) -> u64),
    F2(Binary),
    F3(fn(u64, u64, u64) -> u64),
    F4(fn(u64, u64, u64, u64) -> u64),
}

/// A function of two operands.
pub(crate) type Binary = fn(u64, u64) -> u64;

/// Where an address points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    Param,
}

/// An address operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Reg,
    pub(crate) offset: i64,
}

/// How an element in memory becomes the value of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    /// Bytes of an element.
    pub(crate) bytes: u8,
    pub(crate) signed: bool,
    /// Orders other accesses: `.volatile`, `.relaxed`, `.acquire` or `.release`.
    pub(crate) strong: bool,
}

/// The operation of an atomic.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AtomicOperation {
    Update(Binary),
    CompareAndSwap,
}

/// A way to exchange values between lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    Any,
    All,
    Uniform,
    Ballot,
}

/// What a phase wait names its phase by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Parity(Reg),
    State(Reg),
}

/// A transfer between a tensor or a row of bytes in global memory and shared memory.
#[derive(Clone, Debug)]
pub(crate) enum Region {
    /// The tensor map's address and the coordinates, innermost first.
    Tile { map: Address, coords: Box<[Reg]> },
    /// The address in the CTA's own shared memory and the number of bytes.
    Shared { address: Address, bytes: Reg },
    /// No place but values, each of so many bytes.
    Values { src: Box<[Reg]>, bytes: usize },
    /// The global address and the number of bytes.
    Bytes { address: Address, bytes: Reg },
}

/// What a reducing copy makes of the old elements and the new.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    /// For elements of so many bytes.
    Typed { update: Binary, bytes: usize },
    /// This operation, for the element type of the tensor map.
    ByElement(Modifier),
}

/// A tensor-core instruction.
#[derive(Debug)]
pub(crate) struct Wgmma {
    pub(crate) n: usize,
    pub(crate) inputs: Inputs,
    pub(crate) output: Output,
    pub(crate) d: Box<[Reg]>,
    pub(crate) a: MatrixA,
    /// The descriptor of B.
    pub(crate) b: Reg,
    /// D is added to where this is not zero.
    pub(crate) scale_d: Reg,
    pub(crate) negate_a: bool,
    pub(crate) negate_b: bool,
    pub(crate) transpose_a: bool,
    pub(crate) transpose_b: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inputs {
    Float(Format, Format),
    /// Whether A and B are signed.
    Int(bool, bool),
}

impl Inputs {
    /// Bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Inputs::Float(format, _) => format.bytes(),
            Inputs::Int(..) => 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    F32,
    F16,
    S32 { saturate: bool },
}

#[derive(Clone, Debug)]
pub(crate) enum MatrixA {
    Descriptor(Reg),
    Registers([Reg; 4]),
}

/// dst = function(src…), with subnormal f32 operands and results flushed, and the result clamped to [0, 1].
#[derive(Clone, Debug)]
pub(crate) struct Compute {
    pub(crate) function: Function,
    pub(crate) dst: Reg,
    pub(crate) src: [Reg; 4],
    pub(crate) flush: bool,
    pub(crate) saturate: bool,
}

/// p = compare(a, b) combined with c; q = not compare(a, b) combined with c.
#[derive(Clone, Debug)]
pub(crate) struct Compare {
    pub(crate) compare: Binary,
    pub(crate) flush: bool,
    pub(crate) combine: Option<(Binary, Reg)>,
    pub(crate) p: Reg,
    pub(crate) q: Option<Reg>,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
}

/// Each lane takes the value of another.
#[derive(Clone, Debug)]
pub(crate) struct Shuffle {
    pub(crate) mode: ShuffleMode,
    pub(crate) dst: Reg,
    pub(crate) valid: Option<Reg>,
    pub(crate) src: Reg,
    pub(crate) lane: Reg,
    pub(crate) clamp: Reg,
}

/// Reads memory, writes what the operation makes of it, and gives the old value.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) access: Access,
    pub(crate) op: AtomicOperation,
    pub(crate) dst: Option<Box<[Reg]>>,
    pub(crate) address: Address,
    pub(crate) src: Box<[Reg]>,
    pub(crate) swap: Option<Reg>,
}

/// What an instruction does.
#[derive(Debug)]
pub(crate) enum Op {
    Compute(Compute),
    Compare(Compare),
    /// dst = the parts, each of so many bits, first lowest.
    Pack {
        dst: Reg,
        parts: Box<[Reg]>,
        bits: u32,
    },
    Unpack {
        parts: Box<[Reg]>,
        src: Reg,
        bits: u32,
    },
    Branch {
        target: usize,
    },
    Exit,
    Trap,
    Nop,
    /// A clock: warp instructions executed so far.
    Clock {
        dst: Reg,
    },
    Load {
        access: Access,
        dst: Box<[(Reg, u64)]>,
        address: Address,
    },
    Store {
        access: Access,
        src: Box<[Reg]>,
        address: Address,
    },
    Atomic(Atomic),
    Shuffle(Shuffle),
    Vote {
        mode: Vote,
        dst: Reg,
        predicate: Reg,
        members: Reg,
    },
    Reduce {
        op: Binary,
        dst: Reg,
        src: Reg,
    },
    Elect {
        dst: Reg,
        elected: Reg,
        members: Reg,
    },
    ActiveMask {
        dst: Reg,
    },
    WarpSync,
    /// `bar.sync` and `bar.arrive`.
    Barrier {
        id: Reg,
        threads: Option<Reg>,
        wait: bool,
    },
    ClusterArrive,
    ClusterWait,
    MbarrierInit {
        address: Address,
        count: Reg,
    },
    MbarrierInval {
        address: Address,
    },
    /// Expects so many bytes, then arrives so many times (`None`: not at all).
    MbarrierArrive {
        address: Address,
        state: Option<Reg>,
        count: Option<Reg>,
        /// The arrivals are missing from the next phases too.
        drop: bool,
        expect: Option<Reg>,
    },
    MbarrierCompleteTx {
        address: Address,
        bytes: Reg,
    },
    MbarrierWait {
        address: Address,
        done: Reg,
        phase: Phase,
    },
    /// The rank of the CTA that an address belongs to.
    RankOf {
        dst: Reg,
        address: Reg,
        generic: bool,
    },
    MapRank {
        dst: Reg,
        address: Reg,
        rank: Reg,
        generic: bool,
    },
    ProxyFence,
    /// `fence.mbarrier_init`.
    InitFence,
    /// Brings a region into shared memory, then completes its bytes on an mbarrier.
    CopyIn {
        to: Address,
        region: Region,
        barrier: Address,
        multicast: Option<Reg>,
    },
    /// Writes or reduces shared memory into a region.
    CopyOut {
        region: Region,
        from: Address,
        reduction: Option<Reduction>,
    },
    BulkCommit,
    /// Waits until at most so many of the thread's groups are pending; `read`: only until they have read their source.
    BulkWait {
        pending: u64,
        read: bool,
    },
    /// The older asynchronous copy of 4, 8 or 16 bytes.
    CopyAsync {
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Option<Reg>,
    },
    CopyAsyncCommit,
    CopyAsyncWait {
        pending: Option<u64>,
    },
    CopyAsyncArrive {
        address: Address,
        counted: bool,
    },
    LoadMatrix {
        dst: Box<[Reg]>,
        address: Address,
        transpose: bool,
    },
    StoreMatrix {
        src: Box<[Reg]>,
        address: Address,
        transpose: bool,
    },
    SetMaxRegisters {
        count: u32,
        increase: bool,
    },
    Wgmma(Box<Wgmma>),
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait {
        pending: u64,
    },
}
