//! What can go wrong, with the numbers and the place.

use crate::limits::{OutOfHostMemory, OverLimit};
use cute_ptx::ParseError;
use std::fmt::{self, Display, Formatter};

/// Why a module could not be loaded or a launch did not finish.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmulatorError {
    /// The text is not PTX.
    #[error("the module does not parse: {0}")]
    Parse(#[from] ParseError),
    /// The text is PTX, but not a valid module.
    #[error("{}{}: {problem}\n    {text}", entry.as_deref().unwrap_or("the module"), at_line(*line))]
    Invalid {
        /// The entry that is not valid; none for the module itself.
        entry: Option<String>,
        /// The line of the PTX text, from 1; 0 where it is not one line.
        line: u32,
        /// The instruction or declaration.
        text: String,
        /// What is wrong with it.
        problem: Box<cute_ptx::validate::Problem>,
    },
    /// The module holds more than [`Limits`](crate::Limits) allow.
    #[error(transparent)]
    OverLimit(#[from] OverLimit),
    /// The host has no memory for the launch.
    #[error(transparent)]
    OutOfHostMemory(#[from] OutOfHostMemory),
    /// An instruction, operand or directive that the emulator does not model.
    #[error("{entry}{}: {message}\n    {text}", at_line(*line))]
    Unsupported {
        /// The entry that contains it.
        entry: String,
        /// The line of the PTX text, from 1.
        line: u32,
        /// The instruction.
        text: String,
        /// What is not understood.
        message: String,
    },
    /// The module has no entry of this name.
    #[error("the module has no entry `{name}`; {}", listed(available))]
    NoEntry {
        /// The name asked for.
        name: String,
        /// The names that exist.
        available: Vec<String>,
    },
    /// The launch itself is not possible.
    #[error("{entry} cannot be launched: {problem}")]
    Launch {
        /// The entry.
        entry: String,
        /// What does not fit.
        problem: LaunchProblem,
    },
    /// The host touched device memory that it did not allocate.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Device memory could not be allocated.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// The kernel did something undefined.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// No thread can go on.
    #[error("{entry} is deadlocked:{}", lines(threads))]
    Deadlock {
        /// The entry.
        entry: String,
        /// What every thread that has not ended waits for.
        threads: Vec<Stuck>,
    },
    /// The kernel ran for longer than [`Limits::steps`](crate::Limits::steps) allows.
    #[error(
        "{entry} did not end within {limit} warp instructions, the limit `Limits::steps`:{}",
        lines(threads)
    )]
    StepLimit {
        /// The entry.
        entry: String,
        /// The limit, in warp instructions.
        limit: u64,
        /// Where every thread that has not ended stands.
        threads: Vec<Stuck>,
    },
}

/// Why device memory could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// More than [`Limits::memory_bytes`](crate::Limits::memory_bytes) at a time.
    #[error("cannot allocate {bytes} bytes of global memory: {free} of {limit} bytes are free")]
    Full {
        /// How many bytes were asked for.
        bytes: u64,
        /// How many are not allocated.
        free: u64,
        /// How many there are.
        limit: u64,
    },
    /// No address is left that is such a multiple.
    #[error("cannot allocate {bytes} bytes at a multiple of {align}: no address is left")]
    NoAddress {
        /// How many bytes were asked for.
        bytes: u64,
        /// The alignment that was asked for.
        align: u64,
    },
    /// The host has no memory for it.
    #[error(transparent)]
    OutOfHostMemory(#[from] OutOfHostMemory),
}

/// What does not fit in a launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchProblem {
    /// A dimension is zero.
    #[error("{what} {value:?} has a dimension of 0; each must be at least 1")]
    Zero {
        /// `grid`, `block` or `cluster`.
        what: &'static str,
        /// Its value.
        value: [u32; 3],
    },
    /// A dimension is over its limit.
    #[error("{value} {what} are over the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest legal value.
        limit: u64,
    },
    /// The block differs from the entry's `.reqntid`.
    #[error("block {block:?} differs from {required:?}, which the entry's .reqntid requires")]
    Block {
        /// The block of the launch.
        block: [u32; 3],
        /// What the entry demands.
        required: [u32; 3],
    },
    /// The cluster differs from the entry's `.reqnctapercluster`.
    #[error(
        "cluster {cluster:?} differs from {required:?}, which the entry's .reqnctapercluster requires"
    )]
    Cluster {
        /// The cluster of the launch.
        cluster: [u32; 3],
        /// What the entry demands.
        required: [u32; 3],
    },
    /// The grid is not a whole number of clusters.
    #[error("grid {grid:?} is not a multiple of cluster {cluster:?}")]
    Grid {
        /// The grid.
        grid: [u32; 3],
        /// The cluster.
        cluster: [u32; 3],
    },
    /// The number of arguments differs from the number of parameters.
    #[error("the launch gives {given} argument{}, but the entry has {expected} parameter{}", plural(*given), plural(*expected))]
    Arguments {
        /// How many were given.
        given: usize,
        /// How many the entry has.
        expected: usize,
    },
    /// An argument has another size than its parameter.
    #[error("argument {index} (`{name}`) has {given} bytes, but its parameter has {expected}")]
    Argument {
        /// Its index.
        index: usize,
        /// The parameter's name.
        name: String,
        /// Bytes given.
        given: usize,
        /// Bytes of the parameter.
        expected: usize,
    },
}

/// An access to global memory that no allocation covers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at global address {address:#x} are not inside one allocation{}", nearest.map(|n| n.to_string()).unwrap_or_default())]
pub struct MemoryError {
    /// The first byte of the access.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
    /// The allocation next to it.
    pub nearest: Option<Nearest>,
}

/// An allocation near an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// First byte of the allocation.
    pub base: u64,
    /// Its length.
    pub bytes: u64,
    /// The access minus the base: negative before it, at least `bytes` past its end.
    pub offset: i64,
}

impl Display for Nearest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "; the nearest allocation has {} bytes at {:#x}, and the access begins at its offset {}",
            self.bytes, self.base, self.offset
        )
    }
}

/// Where in a launch something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The entry.
    pub entry: String,
    /// The line of the PTX text, from 1.
    pub line: u32,
    /// The instruction.
    pub text: String,
    /// `%ctaid`.
    pub cta: [u32; 3],
    /// The warp in its CTA.
    pub warp: u32,
    /// The lane, where one lane is to blame.
    pub lane: Option<u32>,
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.cta;
        write!(
            f,
            "{}, line {}, CTA ({x}, {y}, {z}), warp {}",
            self.entry, self.line, self.warp
        )?;
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        Ok(())
    }
}

/// Something undefined that a kernel did.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{site}: {kind}\n    {}", site.text)]
pub struct Fault {
    /// Where.
    pub site: Site,
    /// What.
    pub kind: FaultKind,
}

/// A thread, or several of one warp, that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Where it stands.
    pub site: Site,
    /// Its lanes, bit by bit.
    pub lanes: u32,
    /// What it waits for.
    pub waits_for: String,
}

impl Display for Stuck {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, lanes {:#010x}: {}\n        {}",
            self.site, self.lanes, self.waits_for, self.site.text
        )
    }
}

/// The place in a message, unless the line is 0: then the error is not in one line.
fn at_line(line: u32) -> String {
    match line {
        0 => String::new(),
        line => format!(", line {line}"),
    }
}

fn listed(entries: &[String]) -> String {
    match entries {
        [] => "it has none".to_owned(),
        entries => format!("its entries are {}", entries.join(", ")),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A report lists at most this many groups of threads: more do not help to see what happened.
const LISTED: usize = 32;

/// A line for each place and reason, and the warps that it holds for.
fn lines(threads: &[Stuck]) -> String {
    let alike = |a: &Stuck, b: &Stuck| {
        (a.site.line, a.site.cta, a.lanes, &a.waits_for)
            == (b.site.line, b.site.cta, b.lanes, &b.waits_for)
    };
    let groups: Vec<&[Stuck]> = threads.chunk_by(alike).collect();
    let mut text = String::new();
    for group in groups.iter().take(LISTED) {
        let (first, [x, y, z]) = (&group[0], group[0].site.cta);
        let warps = match group {
            [only] => format!("warp {}", only.site.warp),
            [.., last] => format!("warps {} to {}", first.site.warp, last.site.warp),
            [] => continue,
        };
        text += &format!(
            "\n    line {}, CTA ({x}, {y}, {z}), {warps}",
            first.site.line
        );
        if first.lanes != u32::MAX {
            text += &format!(", lanes {:#010x}", first.lanes);
        }
        text += &format!(": {}\n        {}", first.waits_for, first.site.text);
    }
    if groups.len() > LISTED {
        text += &format!("\n    and {} more", groups.len() - LISTED);
    }
    text
}

/// An instruction named by its line, in a message about another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its line.
    pub line: u32,
    /// Its text.
    pub text: String,
}

impl Display for Other {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (`{}`)", self.line, self.text)
    }
}

/// The ways to be undefined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// Global memory that was not allocated.
    #[error("{0}")]
    Global(MemoryError),
    /// Shared memory that the CTA does not have.
    #[error("{bytes} bytes at shared address {address:#x} are outside the CTA's shared memory, {:#x}..{:#x}", available.0, available.1)]
    Shared {
        /// The address.
        address: u64,
        /// Length of the access.
        bytes: u64,
        /// First address of the CTA's shared memory, and one past its last.
        available: (u64, u64),
    },
    /// An address that is not a multiple of what the access needs.
    #[error("address {address:#x} is not a multiple of {align}")]
    Misaligned {
        /// The address.
        address: u64,
        /// What it should be a multiple of.
        align: u64,
    },
    /// Shared memory that nobody wrote.
    #[error("reads shared address {address:#x}, which nobody has written")]
    Uninitialised {
        /// The address.
        address: u64,
    },
    /// Two warps use the same byte with no barrier between them, and one of them writes.
    #[error(
        "races at shared address {address:#x} with {other} of CTA rank {rank}, warp {warp}: no barrier orders the two"
    )]
    Race {
        /// The address.
        address: u64,
        /// The earlier access.
        other: Other,
        /// The rank of its CTA in the cluster.
        rank: u32,
        /// Its warp.
        warp: u32,
    },
    /// The asynchronous proxy reads what the generic proxy wrote, with no proxy fence in between.
    #[error(
        "reads shared address {address:#x} through the async proxy; {other} of CTA rank {rank}, warp {warp}, wrote it through \
         the generic proxy, and no fence.proxy.async followed by a barrier lies between"
    )]
    MissingProxyFence {
        /// The address.
        address: u64,
        /// The write.
        other: Other,
        /// The rank of the writer's CTA in the cluster.
        rank: u32,
        /// The writer's warp.
        warp: u32,
    },
    /// Shared memory that an asynchronous copy is still writing.
    #[error(
        "uses shared address {address:#x}, which the copy of {other} may still be writing; wait for the copy first"
    )]
    CopyInFlight {
        /// The address.
        address: u64,
        /// The copy.
        other: Other,
    },
    /// Shared memory that an asynchronous store is still reading.
    #[error(
        "writes shared address {address:#x}, which the bulk store of {other} may still be reading; \
         wait with cp.async.bulk.wait_group.read first"
    )]
    StoreInFlight {
        /// The address.
        address: u64,
        /// The store.
        other: Other,
    },
    /// The CTA ends and its shared memory with it, while a store is still reading it.
    #[error(
        "the CTA ends while the bulk store of {other} may still be reading its shared memory; \
         wait with cp.async.bulk.wait_group.read first"
    )]
    ExitWithStore {
        /// The store.
        other: Other,
    },
    /// The CTA ends and its shared memory with it, while a copy is still writing it.
    #[error(
        "the CTA ends while the copy of {other} may still be writing its shared memory; wait for the copy first"
    )]
    ExitWithCopy {
        /// The copy.
        other: Other,
    },
    /// Shared memory of a CTA of the cluster that has ended.
    #[error(
        "uses shared address {address:#x} of CTA rank {rank}, which has ended; put a cluster barrier before its end"
    )]
    Ended {
        /// The address.
        address: u64,
        /// The rank of the CTA in the cluster.
        rank: u32,
    },
    /// A register that a wgmma is still using.
    #[error(
        "uses register {register} while the wgmma of {other} may still use it; wait with wgmma.wait_group first"
    )]
    RegisterInFlight {
        /// The register.
        register: String,
        /// The wgmma.
        other: Other,
    },
    /// A wgmma whose registers were used by other instructions since the last `wgmma.fence`.
    #[error(
        "another instruction used register {register} since the last wgmma.fence; put a wgmma.fence before this wgmma"
    )]
    MissingWgmmaFence {
        /// The register.
        register: String,
    },
    /// An mbarrier operation on something else.
    #[error("no mbarrier has been initialised at shared address {address:#x}")]
    NoBarrier {
        /// The address.
        address: u64,
    },
    /// An mbarrier whose counts cannot be.
    #[error("mbarrier at shared address {address:#x}: {problem}")]
    Barrier {
        /// Its address.
        address: u64,
        /// What is wrong.
        problem: String,
    },
    /// A matrix descriptor, tensor map or another operand whose value is not legal.
    #[error("{0}")]
    Operand(String),
    /// More than [`Limits`](crate::Limits) allow.
    #[error(transparent)]
    OverLimit(#[from] OverLimit),
    /// `trap`.
    #[error("trap")]
    Trap,
}
