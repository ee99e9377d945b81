//! Decoded instructions. The register file of a warp has rows of 32 values, one for each lane. Every operand is a row. Constants,
//! special registers and addresses of variables are rows too; they are filled when a warp starts.

use crate::claim::{Agreement, Arguments, Claim, Ways};
use crate::error::Other;
use crate::numerics::Format;
use crate::source::{Element, Place, Tensor};
use crate::tensor_map::Field;
use crate::windows::{RANK_SHIFT, WINDOW_BYTES};
use cute_chip::Chip;
use cute_ptx::special::Register;
use cute_ptx::table::{Class, Mnemonic, Modifier};
use std::ops::Range;
use std::sync::Arc;

/// The index of a row of the register file.
pub(crate) type Reg = u32;

/// The state that `mbarrier.arrive` returns has the phase number below this bit, and the pending count from this bit on.
pub(crate) const PENDING_SHIFT: u32 = 40;

/// An entry, decoded.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) name: String,
    /// The chip whose limits hold for a launch.
    pub(crate) chip: &'static Chip,
    pub(crate) instructions: Vec<Instruction>,
    /// The registers named by each instruction.
    pub(crate) uses: Vec<Uses>,
    /// The name of each row of the register file, for messages.
    pub(crate) registers: Vec<String>,
    /// Rows that hold the same constant in every lane, with the constant.
    pub(crate) constants: Vec<(Reg, u64)>,
    /// Rows that hold the address of a variable of the module, with the variable's offset in the module's image.
    pub(crate) globals: Vec<(Reg, u64)>,
    /// The row that holds the generic address of the routine's frame; `None` if no routine has one.
    pub(crate) frame: Option<Reg>,
    /// The bytes of the entry's frame in local memory.
    pub(crate) frame_bytes: u32,
    /// The functions of the module, by their numbers; `None` if the entry cannot call them.
    pub(crate) functions: Vec<Option<Subroutine>>,
    /// Rows that hold a special register, or one component of it: 0 to 2 for x to z.
    pub(crate) specials: Vec<(Reg, Register, usize)>,
    /// Bytes of static shared memory. Dynamic shared memory begins after them.
    pub(crate) static_shared: u32,
    /// The offset of each parameter in bytes.
    pub(crate) param_offsets: Vec<u32>,
    /// The size of all parameters together.
    pub(crate) param_bytes: u32,
    /// The tensors in dynamic shared memory that the module names.
    pub(crate) tensors: Vec<Tensor>,
    /// The tensors in global memory and the lists that the module names.
    pub(crate) arguments: Arguments,
    /// The shared address at which dynamic shared memory begins.
    pub(crate) dynamic_shared: u64,
}

/// A function, decoded.
#[derive(Debug)]
pub(crate) struct Subroutine {
    pub(crate) name: String,
    /// The index of the function's first instruction.
    pub(crate) start: usize,
    /// The bytes of the function's frame in local memory: parameters, results, variables, and arguments of calls.
    pub(crate) frame_bytes: u32,
    /// The slots of its parameters, and of its results.
    pub(crate) params: Box<[Slot]>,
    pub(crate) returns: Box<[Slot]>,
    /// The function's rows. Some of them never change.
    pub(crate) rows: Range<Reg>,
}

/// A place in the frame of a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

/// `call`.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    /// The bytes of the caller's frame. The callee's frame begins after it.
    pub(crate) frame_bytes: u32,
    /// The slots of the arguments and of the results in the caller's frame.
    pub(crate) args: Box<[Slot]>,
    pub(crate) results: Box<[Slot]>,
}

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// The function of this number.
    Function(usize),
    /// The function at the address in this row.
    Address(Reg),
    System(SystemCall),
}

/// The functions that the driver defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// `vprintf(format, arguments)`.
    Print,
    /// `__assertfail(condition, file, line, function, size of a character)`.
    AssertFail,
    /// `malloc(bytes)`.
    Allocate,
    /// `free(address)`.
    Free,
}

impl SystemCall {
    /// Each function: its name, the sizes of its parameters, and the sizes of its results.
    const ALL: [(&str, SystemCall, &[u32], &[u32]); 4] = [
        ("vprintf", SystemCall::Print, &[8, 8], &[4]),
        (
            "__assertfail",
            SystemCall::AssertFail,
            &[8, 8, 4, 8, 8],
            &[],
        ),
        ("malloc", SystemCall::Allocate, &[8], &[8]),
        ("free", SystemCall::Free, &[8], &[]),
    ];

    /// The function of this name, if its parameters and results have these sizes.
    pub(crate) fn find(name: &str, args: &[Slot], results: &[Slot]) -> Option<SystemCall> {
        let sizes = |slots: &[Slot]| -> Vec<u32> { slots.iter().map(|slot| slot.bytes).collect() };
        let (args, results) = (sizes(args), sizes(results));
        let found = SystemCall::ALL.iter().find(|(known, ..)| *known == name);
        found
            .filter(|(.., takes, gives)| args == *takes && results == *gives)
            .map(|(_, call, ..)| *call)
    }
}

impl Code {
    /// The instruction with this index, for a message about another one.
    pub(crate) fn other(&self, instruction: usize) -> Other {
        let index = instruction.min(self.instructions.len() - 1);
        let found = &self.instructions[index];
        Other {
            index: index as u32,
            line: found.line,
            place: found.place.clone(),
            text: found.text.clone(),
        }
    }

    /// The name of the mbarrier at a shared address: `mbarrier full[1]`, or `mbarrier at 0x408` if the module does not name it.
    pub(crate) fn mbarrier(&self, address: u64) -> String {
        let elements = self.elements(address);
        let names: Vec<String> = elements.iter().map(Element::to_string).collect();
        match &names[..] {
            [] => format!("mbarrier at {address:#x}"),
            names => format!("mbarrier {}", names.join(" or ")),
        }
    }

    /// The elements of named tensors at a shared address, in this CTA or in another one. Several tensors can share a place at different
    /// times; all of them are returned.
    pub(crate) fn elements(&self, address: u64) -> Vec<Element> {
        let offset = (address & ((1 << RANK_SHIFT) - 1)).checked_sub(self.dynamic_shared);
        let byte = offset.filter(|_| address < WINDOW_BYTES);
        let mut elements = Vec::new();
        for tensor in &self.tensors {
            // A tensor that shares its place with others can have several entries.
            let element = byte.and_then(|byte| tensor.element(byte));
            elements.extend(element.filter(|element| !elements.contains(element)));
        }
        elements
    }
}

#[derive(Debug)]
pub(crate) struct Instruction {
    /// The row of the guard predicate, and whether the guard is negated (`@!%p`).
    pub(crate) guard: Option<(Reg, bool)>,
    pub(crate) op: Op,
    /// The class as which it counts.
    pub(crate) class: Class,
    /// Whether other warps may wait for it.
    pub(crate) signals: bool,
    pub(crate) convergence: Convergence,
    /// For an instruction that lanes may execute together from several places: its rows.
    pub(crate) exchanged: Option<Box<Exchanged>>,
    /// `None` if the text has no instruction here, as at the end of a routine.
    pub(crate) mnemonic: Option<Mnemonic>,
    /// The instruction where all divergent paths from here meet again, if the routine has one.
    pub(crate) meets: Option<usize>,
    /// Whether registers, addresses or threads are checked before the instruction.
    pub(crate) is_checked: bool,
    /// `None` if there is nothing to check.
    pub(crate) bounds: Option<Box<Bounds>>,
    /// The rows of its operands that some wgmma of the entry uses as D or A.
    pub(crate) matrix_registers: Box<[Reg]>,
    /// Registers that may be read before they are written; `None` if the instruction uses none of them.
    pub(crate) followed: Option<Box<Followed>>,
    /// The module's claims about its addresses.
    pub(crate) claims: Box<[Claim]>,
    /// The module's claims about the threads at the instruction; `None` if there are none.
    pub(crate) ways: Option<Box<Ways>>,
    pub(crate) line: u32,
    /// The source location, if the module gives it.
    pub(crate) place: Option<Arc<Place>>,
    pub(crate) text: String,
}

/// The registers that an instruction names.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub(crate) reads: Box<[Reg]>,
    pub(crate) writes: Box<[Reg]>,
    pub(crate) values: Values,
}

/// How an instruction uses the values that it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Values {
    /// They affect memory, an address, or the path of a thread.
    #[default]
    Used,
    /// They affect only the destinations.
    Computed,
    /// They are moved, and do not count as read until the destination is read. For example, writing one half of a register repacks
    /// the other half.
    Moved,
    /// `and` and `or`.
    Bitwise,
    /// `selp`: moves one of two values.
    Selected,
    /// `shfl`: moves the value of another lane.
    Exchanged,
    /// A store to the thread's local memory.
    Stored,
}

/// Registers of an instruction that some path reads before it writes them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    /// The guard, if it may be unwritten.
    pub(crate) guard: Option<Reg>,
    /// The source registers that may be unwritten.
    pub(crate) reads: Box<[Reg]>,
    /// The condition of a `selp`, and each of its two operands that may be unwritten.
    pub(crate) selected: Option<(Reg, [Option<Reg>; 2])>,
    /// D of a wgmma, if it may be unwritten, and the predicate that decides whether D is read.
    pub(crate) sum: Option<(Reg, Box<[Reg]>)>,
    /// The destination registers that may be read before they are written, anywhere in the entry.
    pub(crate) writes: Box<[Reg]>,
}

/// The lanes that must have reached an instruction before it executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Convergence {
    /// Each lane executes the instruction as soon as it reaches it.
    No,
    /// All lanes of the warp (`.aligned`), including ended ones: "the .aligned modifier indicates that all threads in the warp must
    /// execute the same instruction" (PTX ISA, for each of these instructions). For tensor core and matrix instructions, "the behavior
    /// is undefined if any thread in the warp has exited".
    Warp,
    /// All lanes of the warp that have not ended (`barrier.sync` without `.aligned`).
    Alive,
    /// The lanes of the member mask in this row.
    Members(Reg),
}

/// The rows that an exchange between lanes, or a barrier, reads and writes, in the order of its operands.
#[derive(Debug)]
pub(crate) struct Exchanged {
    pub(crate) reads: Box<[Reg]>,
    pub(crate) writes: Box<[Reg]>,
}

/// A function of one to four operands of a lane, on raw bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    F1(Unary),
    F2(Binary),
    F3(fn(u64, u64, u64) -> u64),
    F4(fn(u64, u64, u64, u64) -> u64),
}

/// A function of one operand of a lane, on raw bits.
pub(crate) type Unary = fn(u64) -> u64;

/// A function of two operands of a lane, on raw bits.
pub(crate) type Binary = fn(u64, u64) -> u64;

/// The state space of an address operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    Param,
    Local,
}

/// An address operand: the value of the base plus an offset in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Reg,
    pub(crate) offset: i64,
    /// Whether the base is a 32-bit register. The sum then has 32 bits, too.
    pub(crate) narrow: bool,
}

/// Facts about the addresses of an instruction before it runs.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// The addresses with an offset. Their sums may overflow.
    pub(crate) sums: Box<[Address]>,
    /// The address computed from the name of a single variable, this variable, and the bytes that each lane accesses there.
    pub(crate) variable: Option<(Address, Arc<Variable>, u64)>,
}

/// A variable in shared memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The addresses of the variable. The module does not know the end of dynamic shared memory.
    pub(crate) range: Range<u64>,
}

/// How a load, store or atomic accesses memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    /// Bytes of an element of the vector.
    pub(crate) bytes: u8,
    /// Whether a load extends the sign to the width of the register.
    pub(crate) signed: bool,
    /// The semantics of a strong operation in PTX's memory model: `.volatile`, `.relaxed`, `.acquire` or `.release`.
    pub(crate) strong: Option<Strong>,
    /// Whether it reads through the read-only cache (`.nc`).
    pub(crate) read_only: bool,
}

/// The threads that a strong access or a fence orders. Each scope includes the smaller ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Cta,
    Cluster,
    /// `.gpu`, and `.sys` as well, since there is one device.
    Gpu,
}

impl Scope {
    pub(crate) const COUNT: usize = 3;
}

/// The semantics of a strong access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strong {
    pub(crate) scope: Scope,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
}

/// The effect of `atom` or `red` on the value in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AtomicOperation {
    Update(Binary),
    CompareAndSwap,
}

/// The mode of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// The mode of `vote` and, except for `Uniform`, of `bar.red`. There, `Ballot` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    Any,
    All,
    Uniform,
    Ballot,
}

/// An arrival at an mbarrier: adds `expect` bytes to the transaction count, then arrives with `count`. Without `count` there is no
/// arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) state: Option<Reg>,
    pub(crate) count: Option<Reg>,
    /// `arrive_drop`: the expected count of later phases decreases by `count`.
    pub(crate) drop: bool,
    pub(crate) expect: Option<Reg>,
    /// The scope is `.cta`: it releases nothing to other CTAs.
    pub(crate) own_cta: bool,
    /// It orders only releases of earlier fences.
    pub(crate) relaxed: bool,
}

/// The ordering of a wait for an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acquire {
    /// The scope is `.cta`: only arrivals of the own CTA are acquired.
    pub(crate) own_cta: bool,
    /// It orders nothing until the next fence.
    pub(crate) relaxed: bool,
}

/// The phase of `mbarrier.test_wait` and `try_wait`: by its parity, or by the state that an arrival returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Parity(Reg),
    State(Reg),
}

/// One side of a bulk copy. The other side is the shared memory that the copy writes or reads.
#[derive(Clone, Debug)]
pub(crate) enum Region {
    /// A box of a tensor: the address of its tensor map and the box's coordinates, innermost first.
    Tile { map: Address, coords: Box<[Reg]> },
    /// The source in shared memory, and its size in bytes.
    Shared { address: Address, bytes: Reg },
    /// The values that `st.async` stores, of `bytes` bytes each, or the value with which `red.async` updates memory.
    Values {
        src: Box<[Reg]>,
        bytes: usize,
        update: Option<Binary>,
    },
    /// Bytes in global memory, and their number.
    Bytes { address: Address, bytes: Reg },
}

/// The reduction of `cp.reduce.async.bulk`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    /// A function of the old and the new element, and the bytes of an element.
    Typed { update: Binary, bytes: usize },
    /// An operation such as `.add`; the tensor map gives the element type when the copy executes.
    ByElement(Modifier),
}

/// `wgmma.mma_async`: D = A·B or D = A·B + D, of 64 rows and `n` columns.
#[derive(Debug)]
pub(crate) struct Wgmma {
    pub(crate) n: usize,
    pub(crate) inputs: Inputs,
    pub(crate) output: Output,
    pub(crate) d: Box<[Reg]>,
    pub(crate) a: MatrixA,
    /// The row of B's matrix descriptor.
    pub(crate) b: Reg,
    /// The predicate `scale-d`: whether D is added.
    pub(crate) scale_d: Reg,
    pub(crate) negate_a: bool,
    pub(crate) negate_b: bool,
    pub(crate) transpose_a: bool,
    pub(crate) transpose_b: bool,
}

/// `mma.sync`: D = A·B + C, of 16 rows and 8 columns, in the registers of a warp.
#[derive(Debug)]
pub(crate) struct Mma {
    pub(crate) inputs: Inputs,
    pub(crate) output: Output,
    pub(crate) d: Box<[Reg]>,
    pub(crate) a: Box<[Reg]>,
    pub(crate) b: Box<[Reg]>,
    pub(crate) c: Box<[Reg]>,
}

/// A matrix of `wmma` in the registers of a warp. PTX does not specify which lane holds which element. Here the elements, row by row,
/// are dealt to the lanes in equal numbers. If the registers have room for more, the elements are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Bytes of an element.
    pub(crate) bytes: usize,
}

impl Fragment {
    /// How many elements a lane holds.
    pub(crate) fn per_lane(self) -> usize {
        self.rows * self.columns / 32
    }

    /// How many elements a register holds.
    pub(crate) fn per_register(self) -> usize {
        4 / self.bytes
    }
}

/// `wmma.load` or `wmma.store`.
#[derive(Debug)]
pub(crate) struct WmmaAccess {
    pub(crate) space: Space,
    pub(crate) fragment: Fragment,
    pub(crate) registers: Box<[Reg]>,
    pub(crate) address: Address,
    /// The distance in elements from one row to the next or, with `by_column`, from one column to the next.
    pub(crate) stride: Reg,
    pub(crate) by_column: bool,
}

/// `wmma.mma`: D = A·B + C.
#[derive(Debug)]
pub(crate) struct TileProduct {
    pub(crate) inputs: Inputs,
    pub(crate) saturate: bool,
    pub(crate) a: (Fragment, Box<[Reg]>),
    pub(crate) b: (Fragment, Box<[Reg]>),
    pub(crate) c: (Fragment, Box<[Reg]>),
    pub(crate) d: (Fragment, Box<[Reg]>),
}

/// The element types of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inputs {
    Float(Format, Format),
    /// 8-bit integers. The flags tell whether A and B are signed.
    Int(bool, bool),
}

impl Inputs {
    /// Bytes of an element of A or B; both have the same size.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Inputs::Float(format, _) => format.bytes(),
            Inputs::Int(..) => 1,
        }
    }
}

/// The element type of D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    F32,
    F16,
    S32 { saturate: bool },
}

/// The place of A: shared memory, or registers as a fragment.
#[derive(Clone, Debug)]
pub(crate) enum MatrixA {
    Descriptor(Reg),
    Registers([Reg; 4]),
}

/// The function that `.ftz` applies to subnormal numbers: each becomes a zero of the same sign.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flush {
    pub(crate) sources: Option<Unary>,
    pub(crate) result: Option<Unary>,
}

/// dst = function(src…).
#[derive(Clone, Debug)]
pub(crate) struct Compute {
    pub(crate) function: Function,
    pub(crate) dst: Reg,
    pub(crate) src: [Reg; 4],
    pub(crate) flush: Flush,
    /// Clamps the result to 0 to 1.
    pub(crate) saturate: Option<Unary>,
    /// For a quotient or a remainder of integers: their type.
    pub(crate) divides: Option<Integers>,
}

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integers {
    pub(crate) bits: u32,
    pub(crate) is_signed: bool,
}

/// `setp`: p = compare(a, b) and q = !compare(a, b), each combined with the predicate c if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Compare {
    pub(crate) compare: Binary,
    pub(crate) flush: Option<Unary>,
    pub(crate) combine: Option<(Binary, Reg)>,
    pub(crate) p: Reg,
    pub(crate) q: Option<Reg>,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
}

/// `shfl.sync`: each lane reads `src` of another lane.
#[derive(Clone, Debug)]
pub(crate) struct Shuffle {
    pub(crate) mode: ShuffleMode,
    pub(crate) dst: Reg,
    /// The predicate for a source lane in range.
    pub(crate) valid: Option<Reg>,
    pub(crate) src: Reg,
    pub(crate) lane: Reg,
    pub(crate) clamp: Reg,
}

/// `atom` or `red`. `dst` receives the old value; `swap` is the new value of a compare-and-swap.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) access: Access,
    pub(crate) op: AtomicOperation,
    pub(crate) dst: Option<Box<[Reg]>>,
    pub(crate) address: Address,
    pub(crate) src: Box<[Reg]>,
    pub(crate) swap: Option<Reg>,
}

/// A function of extended-precision arithmetic. From three operands and the carry flag it computes the result and the new flag. After
/// a subtraction, a set flag means no borrow, as in an adder.
pub(crate) type Extended = fn([u64; 3], bool) -> (u64, bool);

/// The operation of an instruction.
#[derive(Debug)]
pub(crate) enum Op {
    Compute(Compute),
    Compare(Compare),
    /// dst = function(src…, carry flag). With `writes`, it also writes the flag.
    Extended {
        function: Extended,
        dst: Reg,
        src: [Reg; 3],
        carry: Reg,
        writes: bool,
    },
    /// dst = the parts of `bits` bits each, the first in the lowest bits.
    Pack {
        dst: Reg,
        parts: Box<[Reg]>,
        bits: u32,
    },
    /// The parts = src, the lowest `bits` bits in the first.
    Unpack {
        parts: Box<[Reg]>,
        src: Reg,
        bits: u32,
    },
    Branch {
        target: usize,
    },
    /// `brx.idx`: branches to the target of this index.
    BranchIndexed {
        index: Reg,
        targets: Box<[usize]>,
    },
    Call(Box<Call>),
    /// Returns from a function.
    Return,
    Exit,
    Trap,
    /// `griddepcontrol.wait`.
    WaitForGrid,
    Nop,
    /// A comment claims that a register is the same in several threads.
    Agree(Agreement),
    /// dst = the warp instructions that the launch has executed. Every register that counts time has this value.
    Clock {
        dst: Reg,
    },
    Load {
        access: Access,
        /// The destinations, each with a mask of the register's bits.
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
    /// `match.any`: dst = the lanes with the same value as this one. `match.all`: if all lanes have the same value, dst = all lanes
    /// and `same` is true; otherwise dst = 0.
    Match {
        all: bool,
        dst: Reg,
        same: Option<Reg>,
        src: Reg,
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
    /// `bar.warp.sync`.
    WarpSync {
        members: Reg,
    },
    /// `bar.sync` and, without `wait`, `bar.arrive`. Without `threads`, all threads of the CTA take part.
    Barrier {
        id: Reg,
        threads: Option<Reg>,
        wait: bool,
    },
    /// `bar.red`: dst = the reduction of the predicate over all threads that take part.
    BarrierReduce {
        id: Reg,
        threads: Option<Reg>,
        op: Vote,
        dst: Reg,
        predicate: Reg,
    },
    /// `movmatrix`: transposes a matrix of eight rows of eight elements of 16 bits.
    MoveMatrix {
        dst: Reg,
        src: Reg,
    },
    ClusterArrive {
        /// Whether it orders only releases of earlier fences.
        relaxed: bool,
    },
    ClusterWait,
    MbarrierInit {
        address: Address,
        count: Reg,
    },
    MbarrierInval {
        address: Address,
    },
    MbarrierArrive {
        address: Address,
        arrival: Arrival,
    },
    MbarrierCompleteTx {
        address: Address,
        bytes: Reg,
    },
    MbarrierWait {
        address: Address,
        done: Reg,
        acquire: Acquire,
        phase: Phase,
    },
    /// `getctarank`: the rank of the CTA whose shared memory contains the address.
    RankOf {
        dst: Reg,
        address: Reg,
        generic: bool,
    },
    /// `mapa`: the address of the same variable in the shared memory of the CTA of this rank.
    MapRank {
        dst: Reg,
        address: Reg,
        rank: Reg,
        generic: bool,
    },
    /// `fence.proxy.async`, for shared memory, for global memory or for both.
    ProxyFence {
        shared: bool,
        global: bool,
    },
    /// `fence` and `membar`.
    Fence {
        scope: Scope,
        /// `fence.sc` and `membar`. All of them are in one total order.
        sequential: bool,
    },
    /// `fence.mbarrier_init`.
    InitFence,
    /// `fence.proxy.tensormap::generic.acquire`.
    AcquireMap {
        address: Address,
    },
    /// `prefetch.tensormap`.
    PrefetchMap {
        space: Space,
        address: Address,
    },
    /// `tensormap.replace`: changes a field of a tensor map in memory.
    ReplaceInMap {
        space: Space,
        address: Address,
        field: Field,
        value: Reg,
    },
    /// `tensormap.cp_fenceproxy`: copies a tensor map.
    CopyMap {
        to: Address,
        from: Address,
    },
    /// Copies a region into shared memory, then completes the number of bytes on the mbarrier. `multicast` is the mask of
    /// the CTA ranks that receive the copy.
    CopyIn {
        to: Address,
        region: Region,
        barrier: Address,
        multicast: Option<Reg>,
    },
    /// Copies shared memory into a region, or reduces it there.
    CopyOut {
        region: Region,
        from: Address,
        reduction: Option<Reduction>,
    },
    BulkCommit,
    /// Waits until all but the last `pending` bulk groups of the thread are complete or, with `read`, have read their
    /// source.
    BulkWait {
        pending: u64,
        read: bool,
    },
    /// `cp.async` of 4, 8 or 16 bytes. The bytes after the first `source_bytes` are zeros.
    CopyAsync {
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Option<Reg>,
    },
    CopyAsyncCommit,
    /// Waits until all but the last `pending` groups of the thread's `cp.async` are complete; `None` waits for all of them,
    /// committed to a group or not.
    CopyAsyncWait {
        pending: Option<u64>,
    },
    /// `cp.async.mbarrier.arrive`: arrives when the thread's earlier `cp.async` are complete.
    CopyAsyncArrive {
        address: Address,
        /// Without `.noinc`: the pending count increases by one first.
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
    Mma(Box<Mma>),
    WmmaLoad(Box<WmmaAccess>),
    WmmaStore(Box<WmmaAccess>),
    Wmma(Box<TileProduct>),
    Wgmma(Box<Wgmma>),
    WgmmaFence,
    WgmmaCommit,
    /// Waits until all but the last `pending` wgmma groups of the warp are complete.
    WgmmaWait {
        pending: u64,
    },
}
