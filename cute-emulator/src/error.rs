//! Errors, with the numbers and the place in the PTX text.

use crate::launch::Schedule;
use crate::limits::{OutOfHostMemory, OverLimit};
use crate::source::{Element, Place};
use crate::windows::{RANK_SHIFT, WINDOW_BYTES};
use cute_ptx::ParseError;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// Why a module could not be loaded or a launch did not finish.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmulatorError {
    /// The text does not parse as PTX.
    #[error("the module does not parse: {0}")]
    Parse(ParseError),
    /// The text parses, but validation refuses it.
    #[error("{}{}: {problem}\n    {text}", entry.as_deref().unwrap_or("the module"), at_line(*line))]
    Invalid {
        /// The entry that is not valid; `None` if the problem is outside all entries.
        entry: Option<String>,
        /// The line of the PTX text, from 1; 0 if the problem is not in one line.
        line: u32,
        /// The instruction or declaration, as it is printed.
        text: String,
        /// What is wrong with it.
        problem: Box<cute_ptx::validate::Problem>,
    },
    /// The module has more text, entries or instructions than [`Limits`](crate::Limits) allows.
    #[error(transparent)]
    OverLimit(#[from] OverLimit),
    /// The host cannot allocate the memory that the launch needs.
    #[error(transparent)]
    OutOfHostMemory(#[from] OutOfHostMemory),
    /// An instruction, operand or directive that the emulator does not model.
    #[error("{entry}{}: {message}\n    {text}", at_line(*line))]
    Unsupported {
        /// The entry that contains it.
        entry: String,
        /// The line of the PTX text, from 1; 0 if the problem is not in one line of the entry.
        line: u32,
        /// The instruction or declaration, as it is printed.
        text: String,
        /// What is not modelled.
        message: String,
    },
    /// The module has no entry of this name.
    #[error("the module has no entry `{name}`; {}", listed(available))]
    NoEntry {
        /// The name in the launch.
        name: String,
        /// The names of the module's entries, in order.
        available: Vec<String>,
    },
    /// The launch is refused before any thread runs.
    #[error("{entry} cannot be launched: {problem}")]
    Launch {
        /// The name of the entry.
        entry: String,
        /// Why it is refused.
        problem: LaunchProblem,
    },
    /// The host accessed device memory that it had not allocated.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The host freed device memory that it had not allocated.
    #[error(transparent)]
    Free(#[from] FreeError),
    /// Device memory could not be allocated.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// The kernel did something whose result PTX does not define, or executed `trap`.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// Every thread that has not ended waits for something that cannot happen.
    #[error("{entry} is deadlocked:{}\n    under {schedule}", lines(threads))]
    Deadlock {
        /// The name of the entry.
        entry: String,
        /// What every thread that has not ended waits for.
        threads: Vec<Stuck>,
        /// The schedule, under which it happens again.
        schedule: Schedule,
        /// How many warp instructions the launch had executed.
        steps: u64,
    },
    /// The kernel ran for longer than [`Limits::steps`](crate::Limits::steps) allows.
    #[error(
        "{entry} did not end within {limit} warp instructions, the limit `Limits::steps`:{}\n    under {schedule}",
        lines(threads)
    )]
    StepLimit {
        /// The name of the entry.
        entry: String,
        /// The limit, in warp instructions.
        limit: u64,
        /// At which instruction every thread that has not ended is.
        threads: Vec<Stuck>,
        /// The schedule, under which it happens again.
        schedule: Schedule,
    },
    /// The kernel seems to be in an endless loop.
    #[error(
        "{entry} does not end: {why}{}:{}\n    under {schedule}",
        loops.iter().map(|it| format!("; {it}")).collect::<String>(),
        lines(threads)
    )]
    EndlessLoop {
        /// The name of the entry.
        entry: String,
        /// Why it counts as endless.
        why: Box<Endless>,
        /// The loops in which threads are, the outermost of those that have gone on since.
        loops: Box<[Loop]>,
        /// At which instruction every thread that has not ended is.
        threads: Vec<Stuck>,
        /// The schedule, under which it happens again.
        schedule: Schedule,
        /// How many warp instructions the launch had executed.
        steps: u64,
    },
}

// Not `#[from]`, which would make it the source, too: its text is a part of this error's.
impl From<ParseError> for EmulatorError {
    fn from(error: ParseError) -> EmulatorError {
        EmulatorError::Parse(error)
    }
}

impl EmulatorError {
    /// How many warp instructions the launch had executed; 0 if it did not begin.
    pub fn steps(&self) -> u64 {
        match self {
            EmulatorError::Fault(fault) => fault.steps,
            EmulatorError::Deadlock { steps, .. } | EmulatorError::EndlessLoop { steps, .. } => {
                *steps
            }
            EmulatorError::StepLimit { limit, .. } => *limit,
            _ => 0,
        }
    }
}

/// Why device memory could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// All allocations together would exceed [`Limits::memory_bytes`](crate::Limits::memory_bytes).
    #[error("cannot allocate {bytes} bytes of global memory: {free} of {limit} bytes are free")]
    Full {
        /// The size of the requested allocation.
        bytes: u64,
        /// How many bytes are not allocated.
        free: u64,
        /// [`Limits::memory_bytes`](crate::Limits::memory_bytes).
        limit: u64,
    },
    /// No unused address with the alignment is left. Addresses are not used again after [`free`](crate::GlobalMemory::free).
    #[error("cannot allocate {bytes} bytes at a multiple of {align}: no address is left")]
    NoAddress {
        /// The size of the requested allocation.
        bytes: u64,
        /// The requested alignment in bytes.
        align: u64,
    },
    /// The host cannot allocate memory for it.
    #[error(transparent)]
    OutOfHostMemory(#[from] OutOfHostMemory),
}

/// Why a launch is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchProblem {
    /// A dimension of the grid, the block or the cluster is zero.
    #[error("{what} {value:?} has a dimension of 0; each must be at least 1")]
    Zero {
        /// `grid`, `block` or `cluster`.
        what: &'static str,
        /// Its x, y and z dimension.
        value: [u32; 3],
    },
    /// A number of threads, CTAs or bytes is over its limit.
    #[error("{value} {what} are over the limit of {limit}")]
    TooLarge {
        /// What was counted, such as "threads per block".
        what: &'static str,
        /// The number.
        value: u64,
        /// The largest allowed number.
        limit: u64,
    },
    /// The block differs from the entry's `.reqntid`.
    #[error("block {block:?} differs from {required:?}, which the entry's .reqntid requires")]
    Block {
        /// The block of the launch.
        block: [u32; 3],
        /// The value of `.reqntid`.
        required: [u32; 3],
    },
    /// The cluster differs from the entry's `.reqnctapercluster`.
    #[error(
        "cluster {cluster:?} differs from {required:?}, which the entry's .reqnctapercluster requires"
    )]
    Cluster {
        /// The cluster of the launch.
        cluster: [u32; 3],
        /// The value of `.reqnctapercluster`.
        required: [u32; 3],
    },
    /// A dimension of the grid is not a multiple of that of the cluster.
    #[error("grid {grid:?} is not a multiple of cluster {cluster:?}")]
    Grid {
        /// CTAs in the grid.
        grid: [u32; 3],
        /// CTAs in a cluster.
        cluster: [u32; 3],
    },
    /// The number of arguments differs from the number of parameters.
    #[error("the launch gives {given} argument{}, but the entry has {expected} parameter{}", plural(*given), plural(*expected))]
    Arguments {
        /// The number of arguments.
        given: usize,
        /// The number of parameters.
        expected: usize,
    },
    /// An argument has another size than its parameter.
    #[error("argument {index} (`{name}`) has {given} bytes, but its parameter has {expected}")]
    Argument {
        /// The index of the argument, from 0.
        index: usize,
        /// The parameter's name.
        name: String,
        /// The size of the argument in bytes.
        given: usize,
        /// The size of the parameter in bytes.
        expected: usize,
    },
}

/// An access to global memory that is not inside one allocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at global address {address:#x} are not inside one allocation{}", nearest.map(|n| n.to_string()).unwrap_or_default())]
pub struct MemoryError {
    /// The address of the access's first byte.
    pub address: u64,
    /// The length of the access in bytes.
    pub bytes: u64,
    /// The allocation with the least distance to `address`; `None` if there are no allocations.
    pub nearest: Option<Nearest>,
}

/// An address that cannot be freed, since no allocation begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("global address {address:#x} cannot be freed: no allocation begins there")]
pub struct FreeError {
    /// The address.
    pub address: u64,
}

/// The allocation that is nearest to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The address of the allocation's first byte.
    pub base: u64,
    /// The length of the allocation in bytes.
    pub bytes: u64,
    /// The access's address minus `base`: negative before the allocation, `bytes` or more after its end.
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

/// The instruction, CTA and warp at which something happened in a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The name of the entry.
    pub entry: String,
    /// The line of the PTX text, from 1.
    pub line: u32,
    /// The place in the source that the instruction comes from; `None` if the PTX does not say it.
    pub place: Option<Arc<Place>>,
    /// The instruction, as it is printed.
    pub text: String,
    /// `%ctaid` of the CTA.
    pub cta: [u32; 3],
    /// The warp's number in its CTA.
    pub warp: u32,
    /// The lane that caused it; `None` if the whole warp did.
    pub lane: Option<u32>,
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(
                f,
                "{place} in {} (line {} of the PTX)",
                self.entry, self.line
            )?,
            None => write!(f, "{}, line {}", self.entry, self.line)?,
        }
        let Site {
            cta, warp, lane, ..
        } = *self;
        write!(f, ", {}", Thread { cta, warp, lane })
    }
}

/// What a kernel did wrong, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{site}: {kind}\n    {}{}\n    under {schedule}", of(elements), site.text, described(elements))]
pub struct Fault {
    /// The instruction and the warp that did it. For asynchronous work, the instruction that started the work.
    pub site: Site,
    /// What was wrong.
    pub kind: FaultKind,
    /// The elements of tensors at which it happened, if the PTX names tensors: several where tensors take turns. Tensors in
    /// global memory are named by whoever knows what the arguments of the launch are.
    pub elements: Vec<Element>,
    /// The schedule, under which it happens again.
    pub schedule: Schedule,
    /// How many warp instructions the launch had executed.
    pub steps: u64,
}

/// Why a kernel counts as endless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Endless {
    /// Each warp that can run is in a state in which it has been before.
    #[error(
        "in the last {idle} steps it has changed nothing but registers, and every warp that can run repeats itself"
    )]
    Repeats {
        /// How many steps have changed nothing but registers.
        idle: u64,
    },
    /// It does nothing but compute.
    #[error(
        "in the last {idle} steps it has changed nothing but registers, more than the limit `Limits::idle_steps` of {limit}"
    )]
    Idle {
        /// How many steps have changed nothing but registers.
        idle: u64,
        /// [`Limits::idle_steps`](crate::Limits::idle_steps).
        limit: u64,
    },
    /// It goes on for too long.
    #[error(
        "in the last {steps} steps no cluster has ended, and no global memory has been accessed for the first time, more than the \
         limit `Limits::cluster_steps` of {limit}"
    )]
    Long {
        /// The steps since a cluster ended, or new global memory was accessed.
        steps: u64,
        /// [`Limits::cluster_steps`](crate::Limits::cluster_steps).
        limit: u64,
    },
}

/// A loop: from an instruction to the branch that leads back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its first instruction.
    pub first: Other,
    /// The branch.
    pub branch: Other,
    /// How often warps have taken the branch since it was noticed that they might not leave the loop.
    pub times: u64,
}

impl Display for Loop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Loop {
            first,
            branch,
            times,
        } = self;
        write!(f, "the loop ")?;
        match first.place.as_ref().or(branch.place.as_ref()) {
            Some(place) => write!(
                f,
                "at {place} (lines {} to {} of the PTX)",
                first.line, branch.line
            )?,
            None => write!(f, "in lines {} to {}", first.line, branch.line)?,
        }
        write!(f, " has gone on for {times} rounds")
    }
}

/// Threads of one warp that are at the same instruction and cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The instruction at which they are.
    pub site: Site,
    /// The lanes, one bit for each.
    pub lanes: u32,
    /// What they wait for, such as "waits at barrier 3: 64 of 96 threads have arrived".
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

fn of(elements: &[Element]) -> String {
    let elements: Vec<String> = elements.iter().map(Element::to_string).collect();
    match &elements[..] {
        [] => String::new(),
        elements => format!("{} of ", elements.join(" or ")),
    }
}

fn described(elements: &[Element]) -> String {
    let line = |element: &Element| format!("\n    {}: {}", element.tensor, element.description);
    elements.iter().map(line).collect()
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

/// `shared address 0x440`, with the rank of the CTA if the address says one.
fn shared(address: u64) -> String {
    let offset = address & ((1 << RANK_SHIFT) - 1);
    match (address % WINDOW_BYTES) >> RANK_SHIFT {
        0 => format!("shared address {address:#x}"),
        rank => format!("shared address {offset:#x} of CTA rank {}", rank - 1),
    }
}

/// The shared address of the same variable in the CTA of this rank, as `mapa` gives it.
fn in_cta(address: u64, rank: usize) -> u64 {
    (rank as u64 + 1) << RANK_SHIFT | address & ((1 << RANK_SHIFT) - 1)
}

/// `(3, 4)`, or `3` for one number.
pub(crate) fn tuple(numbers: &[impl Display]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match &numbers[..] {
        [number] => number.clone(),
        numbers => format!("({})", numbers.join(", ")),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A report lists at most this many groups of threads: more do not help to see what happened.
const LISTED: usize = 32;

/// One line for each group of consecutive warps that wait at the same instruction for the same reason.
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
        let line = match &first.site.place {
            Some(place) => format!("{place} (line {} of the PTX)", first.site.line),
            None => format!("line {}", first.site.line),
        };
        text += &format!("\n    {line}, CTA ({x}, {y}, {z}), {warps}");
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

/// A second instruction that a message about the first one names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The line of the PTX text, from 1.
    pub line: u32,
    /// The place in the source that it comes from; `None` if the PTX does not say it.
    pub place: Option<Arc<Place>>,
    /// The instruction, as it is printed.
    pub text: String,
}

impl Display for Other {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place} (line {}: `{}`)", self.line, self.text),
            None => write!(f, "line {} (`{}`)", self.line, self.text),
        }
    }
}

/// An `assert` that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("assertion `{condition}` failed in {function}, {file}:{line}")]
pub struct Assertion {
    /// The condition, as it is written in the source.
    pub condition: String,
    /// The file of the source.
    pub file: String,
    /// The line in the file.
    pub line: u32,
    /// The function that contains it.
    pub function: String,
}

/// A thread of a launch, or a warp of which several lanes did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// `%ctaid` of the CTA.
    pub cta: [u32; 3],
    /// The warp's number in its CTA.
    pub warp: u32,
    /// The lane; `None` if several did it.
    pub lane: Option<u32>,
}

/// `CTA (1, 0, 0), warp 2, lane 3`.
impl Display for Thread {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.cta;
        write!(f, "CTA ({x}, {y}, {z}), warp {}", self.warp)?;
        match self.lane {
            Some(lane) => write!(f, ", lane {lane}"),
            None => Ok(()),
        }
    }
}

/// An earlier access that a message about a later one names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Its instruction.
    pub instruction: Other,
    /// The thread that executed it.
    pub by: Thread,
}

impl Display for Earlier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.instruction, self.by)
    }
}

/// An access to an element that a tensor does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{tensor}[{}] is outside of {tensor} of shape {}",
    tuple(coordinate),
    tuple(extents)
)]
pub struct OutsideTensor {
    /// The name of the tensor.
    pub tensor: String,
    /// The coordinate, as the PTX says it.
    pub coordinate: Vec<i64>,
    /// The extent of each mode.
    pub extents: Vec<u64>,
}

/// A copy of another box of a tensor than the PTX names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "copies the box of {tensor} that begins at {}, but the PTX names the one at {}",
    tuple(coordinate),
    tuple(expected)
)]
pub struct OtherBox {
    /// The name of the tensor.
    pub tensor: String,
    /// The coordinate of the box.
    pub coordinate: Vec<i64>,
    /// The coordinate that the PTX says.
    pub expected: Vec<i64>,
}

/// A thread that takes another way through the kernel than the PTX says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{way} threads with `{condition}`, but this one has {numbers}")]
pub struct OtherWay {
    /// What the thread does.
    pub way: Way,
    /// The condition, in registers of the PTX: `%i < %n`.
    pub condition: String,
    /// The condition with the numbers of the thread: `9 < 8`.
    pub numbers: String,
}

/// What a thread does that the PTX says of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// It executes the instruction, or the guard of a branch lets it jump.
    Executes,
    /// The guard of the instruction excludes it.
    Skips,
    /// Its wgmma adds to D.
    Adds,
    /// Its wgmma does not add to D.
    Replaces,
    /// It gets to the line.
    Arrives,
    /// It goes on to the next line.
    GoesOn,
}

/// The beginning of a sentence that ends with the threads of which it is true.
impl Display for Way {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Executes => "executes what the PTX says is for",
            Way::Skips => "skips what the PTX says is for",
            Way::Adds => "adds to D, which the PTX says is for",
            Way::Replaces => "does not add to D, which the PTX says is for",
            Way::Arrives => "gets to a line that the PTX says is for",
            Way::GoesOn => "goes on to a line that the PTX says is for",
        })
    }
}

/// Lanes of a warp that do not execute an instruction with the other ones that have to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "lanes {lanes:#010x} of the warp are here, but lanes {missing:#010x} {absence}; {}",
    if *aligned {
        "all threads of a warp have to execute an .aligned instruction together"
    } else {
        "the instruction is for all lanes of the member mask"
    }
)]
pub struct NotTogether {
    /// The lanes at the instruction, one bit for each.
    pub lanes: u32,
    /// The lanes that do not come.
    pub missing: u32,
    /// What they do.
    pub absence: Absence,
    /// Whether the instruction is `.aligned`; else a mask, or a barrier for the lanes that have not ended, needs them.
    pub aligned: bool,
}

/// What lanes do that do not come to an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Absence {
    /// They have ended.
    #[error("have ended at {0}")]
    Ended(Other),
    /// The guard of the instruction excludes them.
    #[error("skip it, since its guard does not hold in them")]
    Skipped,
    /// They have taken another way to a place to which the lanes at the instruction get later.
    #[error("have gone past it to {now} on another way from {parted}")]
    Passed {
        /// The instruction at which their way parted from that of the others.
        parted: Other,
        /// Where they are.
        now: Other,
    },
    /// They wait at another instruction for lanes of the same warp.
    #[error("wait for lanes of the warp, too, at {0}")]
    Waiting(Other),
}

/// A `setmaxnreg` that not all warps of a warpgroup execute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", match what {
    Setmaxnreg::Differs(other) => format!("warp {warp} of the warpgroup has executed {other} in its place; all warps of a warpgroup have to execute the same setmaxnreg"),
    Setmaxnreg::Ended => format!("warp {warp} of the warpgroup has ended without it; all warps of a warpgroup have to execute the same setmaxnreg"),
    Setmaxnreg::EndsWithout(other) => format!("the warp ends without {other}, which warp {warp} of its warpgroup has executed; all warps of a warpgroup have to execute the same setmaxnreg"),
    Setmaxnreg::NotOrdered(last) => format!("nothing orders it after {last} of warp {warp} of the warpgroup; put a barrier of the warpgroup between the two"),
})]
pub struct OtherRegisters {
    /// The number of another warp of the warpgroup in the CTA.
    pub warp: u32,
    /// What that warp has done.
    pub what: Setmaxnreg,
}

/// What a warp of a warpgroup has done with `setmaxnreg` that another warp has not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setmaxnreg {
    /// It has executed this one in place of the other warp's.
    Differs(Other),
    /// It has ended without one.
    Ended,
    /// It has executed this one, and the other warp has ended without it.
    EndsWithout(Other),
    /// It may not have executed this one, which is before that of the other warp.
    NotOrdered(Other),
}

/// A value that a shuffle has read from a lane that does not take part in it, or that was computed from one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "uses register {register}, whose value is undefined: {shuffle} has read it from lane {lane}, which {why}"
)]
pub struct UndefinedValue {
    /// The register.
    pub register: String,
    /// The shuffle.
    pub shuffle: Other,
    /// The lane from which it has read.
    pub lane: u32,
    /// Why that lane does not take part.
    pub why: Inactive,
}

/// Why a lane does not take part in a shuffle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Inactive {
    /// It is not in the member mask.
    #[error("is not in the member mask")]
    NoMember,
    /// It has ended.
    #[error("has ended at {0}")]
    Ended(Other),
    /// The last warp of the CTA has fewer threads.
    #[error("the CTA does not have")]
    NotLaunched,
}

/// A member mask that is not that of the lanes that execute an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemberMask {
    /// A lane is not in its own mask.
    #[error("the member mask of lane {lane} is {mask:#010x}, which does not have the lane itself")]
    WithoutItself {
        /// The lane.
        lane: u32,
        /// Its mask.
        mask: u32,
    },
    /// A lane is in the mask of another one, and has another mask.
    #[error(
        "the member mask of lane {lane} is {mask:#010x}, but that of lane {other}, which is in it, is {others:#010x}; the lanes of \
         a mask have to execute the instruction with the same mask"
    )]
    Differs {
        /// A lane.
        lane: u32,
        /// Its mask.
        mask: u32,
        /// A lane of this mask.
        other: u32,
        /// The mask of that lane.
        others: u32,
    },
}

/// An access to global memory of a launch that began while an earlier one, which accesses the byte as well, may still run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "may access global address {address:#x} at the same time as {other} of {entry}, {}: {}",
    launched(*before),
    match waited {
        true => "the grids in between do not wait for it, so that griddepcontrol.wait does not either",
        false => "the thread does not know that griddepcontrol.wait has been executed",
    }
)]
pub struct GridRace {
    /// The global address of the byte.
    pub address: u64,
    /// The entry of the earlier launch.
    pub entry: String,
    /// How many launches it was before this one; 1 is the last one before.
    pub before: usize,
    /// Its access.
    pub other: Other,
    /// Whether the thread knows of a wait for the launch before.
    pub waited: bool,
}

fn launched(before: usize) -> String {
    match before {
        1 => "the launch before".to_owned(),
        before => format!("launched {before} launches before"),
    }
}

/// A number that is not the same in threads of which the PTX says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("has {value} in {register}, which the PTX says is the same in the whole {group}, but {other} {}", match turn {
    None => format!("has {other_value}"),
    Some(turn) => format!("had {other_value} when it came here as often, {turn} time{}", plural(*turn as usize)),
})]
pub struct Disagreement {
    /// The register of the PTX.
    pub register: String,
    /// The threads in which the PTX says that it is the same.
    pub group: Group,
    /// The number in this thread.
    pub value: u64,
    /// The thread or warp with another number: `lane 3`, `warp 2`.
    pub other: String,
    /// The number there.
    pub other_value: u64,
    /// If it is another warp, how often the two have come to the line.
    pub turn: Option<u64>,
}

/// Threads of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Group {
    /// The lanes of a warp.
    Warp,
    /// The threads of a warpgroup.
    Warpgroup,
    /// The threads of a CTA.
    Cta,
}

impl Group {
    /// Each, as it is written.
    pub(crate) const ALL: [(&str, Group); 3] = [
        ("warp", Group::Warp),
        ("warpgroup", Group::Warpgroup),
        ("CTA", Group::Cta),
    ];
}

impl Display for Group {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let found = Self::ALL.iter().find(|(_, group)| group == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

/// What a kernel can do wrong. Shared addresses are those of the `.shared` window, as `mapa` computes them for another CTA than
/// that of the thread.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A quotient or a remainder of integers by 0, which PTX does not define.
    #[error("divides an integer by 0")]
    DivisionByZero,
    /// A quotient or a remainder of the smallest integer by -1.
    #[error("divides {dividend} by -1, and the type of the two does not have the quotient")]
    DivisionOverflow {
        /// The smallest integer of the type.
        dividend: i64,
    },
    /// An access to global memory that was not allocated.
    #[error("{0}")]
    Global(MemoryError),
    /// An access outside the CTA's shared memory.
    #[error("{bytes} bytes at {} are outside the CTA's shared memory, {:#x}..{:#x}", shared(*address), available.0, available.1)]
    Shared {
        /// The first shared address of the access.
        address: u64,
        /// The length of the access in bytes.
        bytes: u64,
        /// The first address of the CTA's shared memory, and one past the last.
        available: (u64, u64),
    },
    /// An access to an element that the tensor does not have.
    #[error(transparent)]
    OutsideTensor(Box<OutsideTensor>),
    /// An access to bytes of shared memory that the tensor does not have.
    #[error(
        "{bytes} byte{} at {} are outside of {tensor}, which has {:#x}..{:#x}",
        plural(*bytes as usize),
        shared(*address),
        available.0,
        available.1
    )]
    OutsideBytes {
        /// The name of the tensor.
        tensor: String,
        /// The first shared address of the access.
        address: u64,
        /// The length of the access in bytes.
        bytes: u64,
        /// The first address of the tensor, and one past the last.
        available: (u64, u64),
    },
    /// An access elsewhere than at the element that the PTX names.
    #[error(
        "accesses {space} address {address:#x}, but the PTX names {element}, which is at {expected:#x}"
    )]
    OtherElement {
        /// The element, such as `x[(3, 4)]`, or the tensor.
        element: String,
        /// `shared`, `global` or `parameter`.
        space: &'static str,
        /// The address of the access.
        address: u64,
        /// The address of the element.
        expected: u64,
    },
    /// A copy of another box than the PTX names.
    #[error(transparent)]
    OtherBox(Box<OtherBox>),
    /// A thread that takes another way through the kernel than the PTX says.
    #[error(transparent)]
    OtherWay(Box<OtherWay>),
    /// An address whose base and offset have a sum that is no number of the base's width.
    #[error("the address {base:#x}{offset:+} is no number of {bits} bits")]
    AddressOverflow {
        /// The base.
        base: u64,
        /// The offset in bytes.
        offset: i64,
        /// The width of the base.
        bits: u32,
    },
    /// Lanes of a warp that do not execute an instruction with the other ones.
    #[error(transparent)]
    NotTogether(Box<NotTogether>),
    /// A `setmaxnreg` that not all warps of a warpgroup execute.
    #[error(transparent)]
    OtherRegisters(Box<OtherRegisters>),
    /// A use of the shared memory of another CTA of the cluster, which may not have started.
    #[error(
        "uses {}, which may not have begun to run; put a barrier of the cluster (barrier.cluster.arrive and \
         barrier.cluster.wait) before its first use",
        shared(in_cta(*address, *rank as usize))
    )]
    NotStarted {
        /// The shared address.
        address: u64,
        /// The rank in the cluster of the other CTA.
        rank: u32,
    },
    /// A use of an undefined value.
    #[error(transparent)]
    UndefinedValue(Box<UndefinedValue>),
    /// Member masks that are not those of the lanes that execute an instruction.
    #[error(transparent)]
    MemberMask(MemberMask),

    /// A number that is not the same in threads of which the PTX says so.
    #[error(transparent)]
    Disagreement(Box<Disagreement>),
    /// An address that is not a multiple of what the access needs.
    #[error("address {address:#x} is not a multiple of {align}")]
    Misaligned {
        /// The address, global or shared.
        address: u64,
        /// The alignment in bytes that the access requires.
        align: u64,
    },
    /// A read of shared memory that nobody has written, and that no other warp of the cluster writes soon after it, which would be
    /// a race.
    #[error("reads {}, which nobody has written", shared(*address))]
    Uninitialised {
        /// The shared address of the first such byte.
        address: u64,
    },
    /// Two warps access the same byte with no barrier between them, and at least one of them writes.
    #[error(
        "races at {} with {other} of CTA rank {rank}, warp {warp}: no barrier orders the two",
        shared(*address)
    )]
    Race {
        /// The shared address of the byte.
        address: u64,
        /// The other access, which the emulator executed earlier, unless this one reads what nobody had written.
        other: Other,
        /// The rank in the cluster of the CTA that executed it.
        rank: u32,
        /// The warp in that CTA.
        warp: u32,
    },
    /// Two lanes of a warp access the same byte of shared memory, they have not synchronised in between, and at least one of them
    /// writes.
    #[error(
        "races at shared address {address:#x} with {other} of {} of the same warp: no bar.warp.sync orders the two",
        lane.map_or("other lanes".to_owned(), |lane| format!("lane {lane}"))
    )]
    LaneRace {
        /// The shared address of the byte.
        address: u64,
        /// The other access, which the emulator executed earlier, unless this one reads what nobody had written.
        other: Other,
        /// The lane that executed it; `None` if several did.
        lane: Option<u32>,
    },
    /// A read of global memory that neither the host nor a kernel has written, and that no other warp of the launch writes soon
    /// after it, which would be a race.
    #[error("reads global address {address:#x}, which neither the host nor a kernel has written")]
    GlobalUninitialised {
        /// The global address of the first such byte.
        address: u64,
    },
    /// An access to global memory that an earlier launch accesses, which may not have ended.
    #[error(transparent)]
    GridRace(Box<GridRace>),
    /// Two threads access the same byte of global memory, nothing orders the two, and at least one of them writes.
    #[error("races at global address {address:#x} with {earlier}: {advice}")]
    GlobalRace {
        /// The global address of the byte.
        address: u64,
        /// The other access, which the emulator executed earlier, unless this one reads what nobody had written.
        earlier: Box<Earlier>,
        /// What would order the two.
        advice: &'static str,
    },
    /// The async proxy (TMA, bulk copies) reads global memory that the generic proxy wrote, with no proxy fence in between.
    #[error(
        "reads global address {address:#x} through the async proxy; {earlier} wrote it through the generic proxy, and no \
         fence.proxy.async or fence.proxy.async.global lies between"
    )]
    GlobalProxyFence {
        /// The global address of the byte.
        address: u64,
        /// The write.
        earlier: Box<Earlier>,
    },
    /// A copy reads a tensor map that a thread has written in this launch, with no proxy fence for the map in between.
    #[error(
        "reads the tensor map that has global address {address:#x} among its bytes; {earlier} wrote it in this launch, and no \
         fence.proxy.tensormap::generic.acquire of the map lies between"
    )]
    MapProxyFence {
        /// The global address of the byte.
        address: u64,
        /// The write.
        earlier: Box<Earlier>,
    },
    /// A read of global memory through the read-only cache after a write of the same launch.
    #[error(
        "reads global address {address:#x} through the read-only cache, which may not have what {earlier} wrote in this \
         launch; use ld without .nc"
    )]
    ReadOnly {
        /// The global address of the byte.
        address: u64,
        /// The write.
        earlier: Box<Earlier>,
    },
    /// An access to global memory that a bulk store may still be writing.
    #[error(
        "uses global address {address:#x}, which the bulk store of {earlier} may still be writing; wait for it with \
         cp.async.bulk.wait_group, without .read, in the thread that started it, and order this access after the wait"
    )]
    TargetInFlight {
        /// The global address of the byte.
        address: u64,
        /// The store.
        earlier: Box<Earlier>,
    },
    /// A write to global memory that an asynchronous copy may still be reading.
    #[error(
        "writes global address {address:#x}, which the copy of {earlier} may still be reading; wait for the copy, and \
         order this write after the wait"
    )]
    GlobalSourceInFlight {
        /// The global address of the byte.
        address: u64,
        /// The copy.
        earlier: Box<Earlier>,
    },
    /// The async proxy (TMA, bulk copies, wgmma) reads or overwrites what the generic proxy wrote, with no proxy fence in between.
    #[error(
        "accesses {} through the async proxy; {other} of CTA rank {rank}, warp {warp}, wrote it through the generic proxy, and no \
         fence.proxy.async followed by a barrier lies between",
        shared(*address)
    )]
    MissingProxyFence {
        /// The shared address of the byte.
        address: u64,
        /// The instruction that wrote it.
        other: Other,
        /// The rank in the cluster of the CTA that wrote it.
        rank: u32,
        /// The warp in that CTA.
        warp: u32,
    },
    /// An access to shared memory that an asynchronous copy may still be writing.
    #[error(
        "uses {}, which the copy of {other} may still be writing; first wait for {}",
        shared(*address),
        if *of_lanes { "it with cp.async.wait_group" } else { "the mbarrier on which it completes" }
    )]
    CopyInFlight {
        /// The shared address of the byte.
        address: u64,
        /// The instruction that started the copy.
        other: Other,
        /// Whether it is a `cp.async`, and not a bulk copy.
        of_lanes: bool,
    },
    /// A write to shared memory that a bulk store may still be reading.
    #[error(
        "writes {}, which the bulk store of {other} may still be reading; wait for it with \
         cp.async.bulk.wait_group.read in the thread that started it, and put a barrier between the wait and this write",
        shared(*address)
    )]
    StoreInFlight {
        /// The shared address of the byte.
        address: u64,
        /// The instruction that started the store.
        other: Other,
    },
    /// A write to shared memory that a wgmma may still be reading.
    #[error(
        "writes {}, which the wgmma of {other} may still be reading; wait for it with \
         wgmma.wait_group, and put an mbarrier or another barrier between the wait and this write",
        shared(*address)
    )]
    WgmmaInFlight {
        /// The shared address of the byte.
        address: u64,
        /// The wgmma.
        other: Other,
    },
    /// A write to shared memory that a copy to another CTA may still be reading.
    #[error(
        "writes {}, which the copy of {other} may still be reading; wait for the mbarrier on which \
         it completes, and put a barrier between the wait and this write",
        shared(*address)
    )]
    SourceInFlight {
        /// The shared address of the byte.
        address: u64,
        /// The instruction that started the copy.
        other: Other,
    },
    /// A CTA ends while another CTA may still be using its shared memory.
    #[error(
        "the CTA ends while {other} of CTA rank {rank}, warp {warp}, may still be using its shared memory; put a cluster \
         barrier before its end"
    )]
    ExitWithVisitor {
        /// The access.
        other: Other,
        /// The rank in the cluster of the CTA that executed it.
        rank: u32,
        /// The warp in that CTA.
        warp: u32,
    },
    /// A CTA ends while a wgmma may still be reading its shared memory.
    #[error(
        "the CTA ends while the wgmma of {other} may still be reading its shared memory; wait with wgmma.wait_group first"
    )]
    ExitWithWgmma {
        /// The wgmma.
        other: Other,
    },
    /// An access to the bytes of an mbarrier that is no operation on mbarriers.
    #[error(
        "accesses {} as data, where {other} has initialised an mbarrier; only mbarrier operations may until mbarrier.inval",
        shared(*address)
    )]
    MbarrierAsData {
        /// The shared address of the byte.
        address: u64,
        /// The instruction that initialised the mbarrier.
        other: Other,
    },
    /// A CTA ends while a bulk store may still be reading its shared memory.
    #[error(
        "the CTA ends while the bulk store of {other} may still be reading its shared memory; \
         wait with cp.async.bulk.wait_group.read first"
    )]
    ExitWithStore {
        /// The instruction that started the store.
        other: Other,
    },
    /// A CTA ends while an asynchronous copy may still be writing its shared memory.
    #[error(
        "the CTA ends while the copy of {other} may still be writing its shared memory; wait for the copy first"
    )]
    ExitWithCopy {
        /// The instruction that started the copy.
        other: Other,
    },
    /// An access to the shared memory of another CTA of the cluster, which has ended.
    #[error(
        "uses {}, which has ended; put a cluster barrier before its end",
        shared(in_cta(*address, *rank as usize))
    )]
    Ended {
        /// The shared address.
        address: u64,
        /// The rank in the cluster of the CTA that has ended.
        rank: u32,
    },
    /// A read of a register that the thread has not written.
    #[error("reads register {register}, which the thread has not written")]
    UnwrittenRegister {
        /// The name of the register.
        register: String,
    },
    /// A use of a register that a wgmma may still be using.
    #[error(
        "uses register {register} while the wgmma of {other} may still use it; wait with wgmma.wait_group first"
    )]
    RegisterInFlight {
        /// The name of the register.
        register: String,
        /// The wgmma that uses the register.
        other: Other,
    },
    /// A wgmma one of whose registers another instruction used since the last `wgmma.fence`.
    #[error(
        "another instruction used register {register} since the last wgmma.fence; put a wgmma.fence before this wgmma"
    )]
    MissingWgmmaFence {
        /// The name of the register.
        register: String,
    },
    /// A warp that arrives at a named barrier a second time before the barrier is complete.
    #[error(
        "the warp has already arrived at barrier {id}, at {other}, and the barrier has not been completed since"
    )]
    ArrivesTwice {
        /// The number of the barrier.
        id: usize,
        /// The first arrival.
        other: Other,
    },
    /// An arrival at a named barrier that may count among the arrivals before.
    #[error(
        "arrives at barrier {id}, which was completed by the arrival of {other} and others, but this arrival is not in the order of \
         events after that one: under another schedule it counts among those. Give each group of warps a barrier of its own, or \
         synchronise them in between"
    )]
    BarrierShared {
        /// The number of the barrier.
        id: usize,
        /// One of the arrivals by which it was completed.
        other: Other,
    },
    /// An mbarrier operation at an address where no mbarrier was initialised, or where it was invalidated.
    #[error("no mbarrier has been initialised at {}", shared(*address))]
    NoBarrier {
        /// The shared address of the operand.
        address: u64,
    },
    /// An mbarrier whose count is not legal, or that is used before the fence that must follow its initialisation.
    #[error("mbarrier at {}: {problem}", shared(*address))]
    Barrier {
        /// The shared address of the mbarrier.
        address: u64,
        /// What is wrong, with the numbers.
        problem: String,
    },
    /// An arrival that completes a phase of an mbarrier while a thread may still have to wait for the phase before it.
    #[error(
        "mbarrier at {}: this completes phase {phase}, but that the wait of {other} has succeeded, for the phase before it, is not in \
         the order of events before its arrivals: under another schedule the phase is complete before that wait, which then waits \
         for the next one. Who has waited has to arrive at a barrier for which those who arrive here wait",
        shared(*address)
    )]
    PhaseOverrun {
        /// The shared address of the mbarrier.
        address: u64,
        /// The number of the phase, from 0.
        phase: u64,
        /// The wait.
        other: Other,
    },
    /// A matrix descriptor, tensor map, barrier number or another operand whose value is not legal.
    #[error("{0}")]
    Operand(String),
    /// The launch needs more of something than [`Limits`](crate::Limits) allows.
    #[error(transparent)]
    OverLimit(#[from] OverLimit),
    /// A thread found the condition of an `assert` false.
    #[error(transparent)]
    Assertion(Box<Assertion>),
    /// The kernel executed `trap`.
    #[error("trap")]
    Trap,
}

impl FaultKind {
    /// Whether it is a read of memory that nobody has written.
    pub(crate) fn is_unwritten(&self) -> bool {
        matches!(
            self,
            FaultKind::Uninitialised { .. } | FaultKind::GlobalUninitialised { .. }
        )
    }

    /// Whether it may be a race of a write with this read, of memory that nobody had written.
    pub(crate) fn may_race_with(&self, read: &FaultKind) -> bool {
        matches!(
            (self, read),
            (
                FaultKind::GlobalRace { .. },
                FaultKind::GlobalUninitialised { .. }
            ) | (FaultKind::Race { .. }, FaultKind::Uninitialised { .. })
        )
    }

    /// The address in global memory at which it happened.
    pub fn global_address(&self) -> Option<u64> {
        match self {
            FaultKind::Global(error) => Some(error.address),
            FaultKind::GlobalUninitialised { address }
            | FaultKind::GlobalRace { address, .. }
            | FaultKind::GlobalProxyFence { address, .. }
            | FaultKind::MapProxyFence { address, .. }
            | FaultKind::ReadOnly { address, .. }
            | FaultKind::TargetInFlight { address, .. }
            | FaultKind::GlobalSourceInFlight { address, .. } => Some(*address),
            FaultKind::GridRace(race) => Some(race.address),
            FaultKind::Misaligned { address, .. } => Some(*address),
            _ => None,
        }
    }

    /// The address in shared memory at which it happened.
    pub fn shared_address(&self) -> Option<u64> {
        self.clone().shared_address_mut().copied()
    }

    /// The same of an address in the shared memory of the CTA of rank `rank`, for a thread of the CTA of rank `own`.
    pub(crate) fn seen_from(mut self, own: usize, rank: usize) -> FaultKind {
        if let Some(address) = self.shared_address_mut()
            && own != rank
        {
            *address = in_cta(*address, rank);
        }
        self
    }

    fn shared_address_mut(&mut self) -> Option<&mut u64> {
        match self {
            FaultKind::Shared { address, .. }
            | FaultKind::OutsideBytes { address, .. }
            | FaultKind::Misaligned { address, .. }
            | FaultKind::Uninitialised { address }
            | FaultKind::Race { address, .. }
            | FaultKind::LaneRace { address, .. }
            | FaultKind::MissingProxyFence { address, .. }
            | FaultKind::CopyInFlight { address, .. }
            | FaultKind::StoreInFlight { address, .. }
            | FaultKind::WgmmaInFlight { address, .. }
            | FaultKind::SourceInFlight { address, .. }
            | FaultKind::MbarrierAsData { address, .. }
            | FaultKind::Ended { address, .. }
            | FaultKind::NotStarted { address, .. }
            | FaultKind::NoBarrier { address }
            | FaultKind::PhaseOverrun { address, .. }
            | FaultKind::Barrier { address, .. } => Some(address),
            _ => None,
        }
    }
}
