//! Errors, with the numbers and the place in the PTX text.

use crate::launch::Schedule;
use crate::limits::{OutOfHostMemory, OverLimit};
use crate::source::{Element, Place};
use crate::windows::{RANK_SHIFT, WINDOW_BYTES};
use cute_ptx::ParseError;
use cute_ptx::claims::Group;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// What is missing between accesses of two lanes of a warp, which may be the only one of its CTA. The barrier of the warp is named second:
/// where other warps access the bytes too, it would only lead to the next race.
pub(crate) fn between_lanes(is_only_warp: bool) -> &'static str {
    match is_only_warp {
        true => "neither sync_threads() (bar.sync) nor sync_warp() (bar.warp.sync) orders the two",
        false => {
            "neither sync_threads() (bar.sync) nor sync_warp() (bar.warp.sync) orders the two; sync_warp() is enough only if no other \
             warp accesses these bytes"
        }
    }
}

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
        /// The problem.
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
        /// The feature that is not modelled.
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
        /// The reason for the refusal.
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
    /// A copy of the host, or a free, that nothing orders after the work of another stream.
    #[error("{work} {race}")]
    StreamRace {
        /// What the host does.
        work: HostWork,
        /// The race.
        race: Box<StreamRace>,
    },
    /// Every thread that has not ended waits for something that cannot happen.
    #[error("{entry} is deadlocked:{}\n    under {schedule}", lines(threads))]
    Deadlock {
        /// The name of the entry.
        entry: String,
        /// Every thread that has not ended, with the reason why it waits.
        threads: Vec<Stuck>,
        /// The schedule. The error repeats under it.
        schedule: Schedule,
        /// How many warp instructions the launch had executed.
        steps: u64,
    },
    /// The kernel ran for longer than [`Limits::steps`](crate::Limits::steps) allows.
    #[error(
        "{entry} did not end within {limit} warp instructions, the limit `Limits::steps`, where slow work counts as several:{}\n    under {schedule}",
        lines(threads)
    )]
    StepLimit {
        /// The name of the entry.
        entry: String,
        /// The limit, in warp instructions.
        limit: u64,
        /// Every thread that has not ended, with its instruction.
        threads: Vec<Stuck>,
        /// The schedule. The error repeats under it.
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
        /// The reason why it counts as endless.
        why: Box<Endless>,
        /// The loops of the threads: for each, the outermost loop that has run on since.
        loops: Box<[Loop]>,
        /// Every thread that has not ended, with its instruction.
        threads: Vec<Stuck>,
        /// The schedule. The error repeats under it.
        schedule: Schedule,
        /// How many warp instructions the launch had executed.
        steps: u64,
    },
}

// Not `#[from]`: it would make the error the source too, and its text is already part of this error's text.
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
    /// No unused address with the alignment is left. An address is never reused after [`free`](crate::GlobalMemory::free).
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
        /// The x, y and z dimensions.
        value: [u32; 3],
    },
    /// A number of threads, CTAs or bytes is over its limit.
    #[error("{value} {what} are over the limit of {limit}")]
    TooLarge {
        /// The quantity, such as "threads per block".
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
    /// A dimension of the grid is not a multiple of the cluster's.
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
    /// The size of an argument differs from its parameter's.
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
    /// The allocation nearest to `address`; `None` if there are no allocations.
    pub nearest: Option<Nearest>,
}

/// An address that cannot be freed: no allocation begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("global address {address:#x} cannot be freed: no allocation begins there")]
pub struct FreeError {
    /// The address.
    pub address: u64,
}

/// The allocation nearest to an access.
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

/// The instruction, CTA and warp of an event in a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The name of the entry.
    pub entry: String,
    /// The line of the PTX text, from 1.
    pub line: u32,
    /// The source location of the instruction; `None` if the PTX does not give it.
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

/// An error of a kernel, and its site.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{}{site}:\n    {kind}{}{}{}\n    under {schedule}",
    at(elements),
    in_next_pass(*later),
    quoted(site, kind),
    described(elements)
)]
pub struct Fault {
    /// The instruction and the warp that did it. For asynchronous work, the instruction that started the work.
    pub site: Site,
    /// The kind of fault.
    pub kind: FaultKind,
    /// For a race, the access that is of a later pass of a loop than the other, although a barrier stands between the two lines; `None`
    /// if that is not known.
    pub later: Option<Later>,
    /// The tensor elements at the address of the fault, if the PTX names tensors. There can be several, since tensors can share memory.
    /// The emulator's caller adds the tensors in global memory, since it knows the launch's arguments.
    pub elements: Vec<Element>,
    /// The schedule. The fault repeats under it.
    pub schedule: Schedule,
    /// How many warp instructions the launch had executed.
    pub steps: u64,
}

/// The reason why a kernel counts as endless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Endless {
    /// Each warp that can run has repeated a state.
    #[error(
        "in the last {idle} steps it has changed nothing but registers, and every warp that can run repeats itself"
    )]
    Repeats {
        /// How many steps have changed nothing but registers.
        idle: u64,
    },
    /// It only computes, for more steps than the limit.
    #[error(
        "in the last {idle} steps it has changed nothing but registers, more than the limit `Limits::idle_steps` of {limit}"
    )]
    Idle {
        /// How many steps have changed nothing but registers.
        idle: u64,
        /// [`Limits::idle_steps`](crate::Limits::idle_steps).
        limit: u64,
    },
    /// It runs for more steps than the limit without ending a cluster or accessing new global memory.
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

/// A loop: an instruction, and the branch back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The first instruction.
    pub first: Other,
    /// The branch.
    pub branch: Other,
    /// How often warps have taken the branch since the launch was first suspected to be endless.
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
    /// The instruction of the threads.
    pub site: Site,
    /// The lanes, one bit for each.
    pub lanes: u32,
    /// The reason, such as "waits at barrier 3: 64 of 96 threads have arrived".
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

fn at(elements: &[Element]) -> String {
    let elements: Vec<String> = elements.iter().map(Element::to_string).collect();
    match &elements[..] {
        [] => String::new(),
        elements => format!("{} at ", elements.join(" or ")),
    }
}

/// A line with each instruction that the message names by a line of the PTX.
fn quoted(site: &Site, kind: &FaultKind) -> String {
    let mut quoted = format!("\n    line {}: {}", site.line, site.text);
    for Other { line, text, .. } in kind.others().filter(|other| other.place.is_some()) {
        quoted += &format!("\n    line {line}: {text}");
    }
    quoted
}

fn described(elements: &[Element]) -> String {
    let line = |element: &Element| format!("\n    {}: {}", element.tensor, element.description);
    elements.iter().map(line).collect()
}

/// The place in a message. Empty if the line is 0: the error is not in one line.
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

/// `shared address 0x440`, with the CTA's rank if the address contains one.
fn shared(address: u64) -> String {
    let offset = address & ((1 << RANK_SHIFT) - 1);
    match (address % WINDOW_BYTES) >> RANK_SHIFT {
        0 => format!("shared address {address:#x}"),
        rank => format!("shared address {offset:#x} of CTA rank {}", rank - 1),
    }
}

/// The shared address of the same variable in the CTA of this rank, as `mapa` computes it.
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

/// The most groups of threads in a report. More do not help the reader.
const LISTED: usize = 32;

/// One line for each group of consecutive warps with the same instruction and the same reason to wait.
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

/// A second instruction, named in a message about the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The line of the PTX text, from 1.
    pub line: u32,
    /// The source location; `None` if the PTX does not give it.
    pub place: Option<Arc<Place>>,
    /// The instruction, as it is printed.
    pub text: String,
    /// Its index in the code.
    pub(crate) index: u32,
}

impl Display for Other {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.place {
            // The message quotes the instruction in a line of its own.
            Some(place) => write!(f, "{place} (line {} of the PTX)", self.line),
            None => write!(f, "line {} (`{}`)", self.line, self.text),
        }
    }
}

/// One of two racing accesses of a loop: the one that belongs to the later pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Later {
    /// The access at which the fault is reported.
    This,
    /// The other access.
    Other,
}

/// What explains a race in spite of a barrier between the two lines.
fn in_next_pass(later: Option<Later>) -> String {
    let access = match later {
        None => return String::new(),
        Some(Later::This) => "this access",
        Some(Later::Other) => "the other access",
    };
    format!(
        ". A barrier stands between the two lines, but {access} is that of the next pass of the loop, which needs a second barrier"
    )
}

/// A failed `assert`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("assertion `{condition}` failed in {function}, {file}:{line}")]
pub struct Assertion {
    /// The condition, as written in the source.
    pub condition: String,
    /// The file of the source.
    pub file: String,
    /// The line in the file.
    pub line: u32,
    /// The function that contains the `assert`.
    pub function: String,
}

/// A thread of a launch, or a warp if several of its lanes are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// `%ctaid` of the CTA.
    pub cta: [u32; 3],
    /// The warp's number in its CTA.
    pub warp: u32,
    /// The lane; `None` if there are several.
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

/// An earlier access, named in a message about a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The instruction of the access.
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
    /// The coordinate, as given in the PTX.
    pub coordinate: Vec<i64>,
    /// The extent of each mode.
    pub extents: Vec<u64>,
}

/// A tensor copy of another box than the PTX claims.
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
    /// The coordinate claimed in the PTX.
    pub expected: Vec<i64>,
}

/// A thread that takes another path through the kernel than the PTX claims.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{way} threads with `{condition}`, but this one has {numbers}")]
pub struct OtherWay {
    /// The action of the thread.
    pub way: Way,
    /// The condition, in registers of the PTX: `%i < %n`.
    pub condition: String,
    /// The condition with the numbers of the thread: `9 < 8`.
    pub numbers: String,
}

/// An action of a thread that contradicts the PTX's claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// It executes the instruction, or takes the branch.
    Executes,
    /// The guard of the instruction excludes it.
    Skips,
    /// A wgmma of the thread adds to D.
    Adds,
    /// A wgmma of the thread does not add to D.
    Replaces,
    /// It reaches the line.
    Arrives,
    /// It continues with the next line.
    GoesOn,
}

/// The beginning of a sentence. The condition on threads follows.
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

/// Lanes of a warp that are missing at an instruction that lanes must execute together.
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
    /// The missing lanes.
    pub missing: u32,
    /// The reason why they are missing.
    pub absence: Absence,
    /// Whether the instruction is `.aligned`. Otherwise a member mask, or a barrier for all live lanes, needs the missing lanes.
    pub aligned: bool,
}

/// The reason why lanes are missing at an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Absence {
    /// They have ended.
    #[error("have ended at {0}")]
    Ended(Other),
    /// The guard of the instruction excludes them.
    #[error("skip it, since its guard does not hold in them")]
    Skipped,
    /// They have taken another path, and are past a place that the lanes at the instruction reach later.
    #[error("have gone past it to {now} on another way from {parted}")]
    Passed {
        /// The instruction at which the paths parted.
        parted: Other,
        /// The instruction that they have reached.
        now: Other,
    },
    /// They wait at another instruction for lanes of the same warp.
    #[error("wait for lanes of the warp, too, at {0}")]
    Waiting(Other),
}

/// A `setmaxnreg` that some warps of a warpgroup do not execute.
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
    /// The other warp's action.
    pub what: Setmaxnreg,
}

/// The `setmaxnreg` of one warp of a warpgroup that differs from another warp's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setmaxnreg {
    /// The warp has executed this one in place of the other warp's.
    Differs(Other),
    /// The warp has ended without one.
    Ended,
    /// The warp has executed this one, and the other warp has ended without it.
    EndsWithout(Other),
    /// The warp may not have executed this one, which comes before the other warp's.
    NotOrdered(Other),
}

/// A value that a shuffle has read from a lane that does not take part, or a value computed from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "uses register {register}, whose value is undefined: {shuffle} has read it from lane {lane}, which {why}"
)]
pub struct UndefinedValue {
    /// The register.
    pub register: String,
    /// The shuffle.
    pub shuffle: Other,
    /// The source lane.
    pub lane: u32,
    /// The reason why that lane does not take part.
    pub why: Inactive,
}

/// The reason why a lane does not take part in a shuffle.
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

/// A member mask that differs from the lanes that execute an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemberMask {
    /// A lane is not in its own mask.
    #[error("the member mask of lane {lane} is {mask:#010x}, which does not have the lane itself")]
    WithoutItself {
        /// The lane.
        lane: u32,
        /// The mask of the lane.
        mask: u32,
    },
    /// A lane is in the mask of another lane, and has a different mask.
    #[error(
        "the member mask of lane {lane} is {mask:#010x}, but that of lane {other}, which is in it, is {others:#010x}; the lanes of \
         a mask have to execute the instruction with the same mask"
    )]
    Differs {
        /// A lane.
        lane: u32,
        /// The mask of the lane.
        mask: u32,
        /// A lane of this mask.
        other: u32,
        /// The mask of that lane.
        others: u32,
    },
}

/// An access to global memory of a launch that began early: a previous launch that accesses the byte may still run.
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
    /// How many launches before this one the other was; 1 is the previous one.
    pub before: usize,
    /// The access of the earlier launch.
    pub other: Other,
    /// Whether the thread knows of a wait for the previous launch.
    pub waited: bool,
}

fn launched(before: usize) -> String {
    match before {
        1 => "the launch before".to_owned(),
        before => format!("launched {before} launches before"),
    }
}

/// An access to global memory that conflicts with an access of an earlier launch or copy on another stream. Nothing orders the two.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "races at global address {address:#x} with {other} on stream {other_stream}: this is on stream {stream}, and no event orders the \
     two; stream {stream} has to wait first for an event that stream {other_stream} records after that"
)]
pub struct StreamRace {
    /// The global address of the byte.
    pub address: u64,
    /// The stream of this access.
    pub stream: u64,
    /// The earlier access.
    pub other: Work,
    /// The stream of the earlier access.
    pub other_stream: u64,
}

/// An access of a stream's work to global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// An access of a launch.
    Kernel {
        /// The entry of the launch.
        entry: String,
        /// The access.
        instruction: Other,
    },
    /// An access of the host.
    Host(HostWork),
}

impl Display for Work {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Work::Kernel { entry, instruction } => write!(f, "{instruction} of {entry}"),
            Work::Host(work) => work.fmt(f),
        }
    }
}

/// What the host does with global memory on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostWork {
    /// [`GlobalMemory::read_on`](crate::GlobalMemory::read_on).
    CopyToHost,
    /// [`GlobalMemory::write_on`](crate::GlobalMemory::write_on).
    CopyFromHost,
    /// [`GlobalMemory::others_on`](crate::GlobalMemory::others_on).
    Others,
    /// [`GlobalMemory::free_on`](crate::GlobalMemory::free_on).
    Free,
}

impl Display for HostWork {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HostWork::CopyToHost => "a copy to the host",
            HostWork::CopyFromHost => "a copy from the host",
            HostWork::Others => "work of others",
            HostWork::Free => "a free",
        })
    }
}

/// A number that differs between threads, although the PTX claims that it is equal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("has {value} in {register}, which the PTX says is the same in the whole {group}, but {other} {}", match turn {
    None => format!("has {other_value}"),
    Some(turn) => format!("had {other_value} when it came here as often, {turn} time{}", plural(*turn as usize)),
})]
pub struct Disagreement {
    /// The register of the PTX.
    pub register: String,
    /// The threads with equal numbers, according to the PTX.
    pub group: Group,
    /// The number in this thread.
    pub value: u64,
    /// The thread or warp with another number: `lane 3`, `warp 2`.
    pub other: String,
    /// The number there.
    pub other_value: u64,
    /// For another warp, the number of the visit to the line.
    pub turn: Option<u64>,
}

/// The kinds of faults. Shared addresses are in the `.shared` window; for another CTA's memory, they are as `mapa` computes them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A quotient or a remainder of integers by 0. PTX leaves the result undefined.
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
    /// An access at another address than that of the element in the PTX's claim.
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
    /// A tensor copy of another box than the PTX claims.
    #[error(transparent)]
    OtherBox(Box<OtherBox>),
    /// A thread that takes another path through the kernel than the PTX claims.
    #[error(transparent)]
    OtherWay(Box<OtherWay>),
    /// An address whose sum of base and offset overflows the base's width.
    #[error("the address {base:#x}{offset:+} is no number of {bits} bits")]
    AddressOverflow {
        /// The base.
        base: u64,
        /// The offset in bytes.
        offset: i64,
        /// The width of the base.
        bits: u32,
    },
    /// Lanes of a warp that are missing at an instruction that lanes must execute together.
    #[error(transparent)]
    NotTogether(Box<NotTogether>),
    /// A `setmaxnreg` that some warps of a warpgroup do not execute.
    #[error(transparent)]
    OtherRegisters(Box<OtherRegisters>),
    /// A use of the shared memory of another CTA of the cluster that may not have started.
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
    /// Member masks that differ from the lanes that execute an instruction.
    #[error(transparent)]
    MemberMask(MemberMask),

    /// A number that differs between threads, although the PTX claims that it is equal.
    #[error(transparent)]
    Disagreement(Box<Disagreement>),
    /// An address that is not a multiple of the access's alignment.
    #[error("address {address:#x} is not a multiple of {align}")]
    Misaligned {
        /// The address, global or shared.
        address: u64,
        /// The alignment in bytes that the access requires.
        align: u64,
    },
    /// A read of shared memory that was never written. If another warp of the cluster writes the byte soon after, the fault is a race
    /// instead.
    #[error("reads {}, which nobody has written", shared(*address))]
    Uninitialised {
        /// The shared address of the first unwritten byte.
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
        /// The other access. It came earlier, unless this one reads an unwritten byte.
        other: Other,
        /// The rank in the cluster of the CTA that executed it.
        rank: u32,
        /// The warp in that CTA.
        warp: u32,
    },
    /// Two lanes of a warp access the same byte of shared memory without synchronising in between, and at least one of them writes.
    #[error(
        "races at shared address {address:#x} with {other} of {} of the same warp: {}",
        lane.map_or("other lanes".to_owned(), |lane| format!("lane {lane}")),
        between_lanes(*is_only_warp)
    )]
    LaneRace {
        /// The shared address of the byte.
        address: u64,
        /// The other access. It came earlier, unless this one reads an unwritten byte.
        other: Other,
        /// The lane of the other access, 0 to 31; `None` if there are several.
        lane: Option<u8>,
        /// Whether the CTA has no other warp.
        is_only_warp: bool,
    },
    /// A read of global memory that neither the host nor a kernel has written. If another warp of the launch writes the byte soon after,
    /// the fault is a race instead.
    #[error("reads global address {address:#x}, which neither the host nor a kernel has written")]
    GlobalUninitialised {
        /// The global address of the first unwritten byte.
        address: u64,
    },
    /// An access to global memory that an earlier launch also accesses. That launch may not have ended.
    #[error(transparent)]
    GridRace(Box<GridRace>),
    /// An access to global memory that a launch or copy on another stream also accesses. No event orders the two.
    #[error(transparent)]
    StreamRace(Box<StreamRace>),
    /// Two threads access the same byte of global memory, nothing orders the two, and at least one of them writes.
    #[error("races at global address {address:#x} with {earlier}: {advice}")]
    GlobalRace {
        /// The global address of the byte.
        address: u64,
        /// The other access. It came earlier, unless this one reads an unwritten byte.
        earlier: Box<Earlier>,
        /// Advice on how to order the two.
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
    /// The async proxy (TMA, bulk copies, wgmma) reads or overwrites bytes written by the generic proxy, without a proxy fence in between.
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
        /// Whether it is a `cp.async`. Otherwise it is a bulk copy.
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
    /// An access to the bytes of an mbarrier by an instruction that is no mbarrier operation.
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
    /// An access to the shared memory of another CTA of the cluster that has ended.
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
    /// A wgmma with a register that another instruction has used since the last `wgmma.fence`.
    #[error(
        "another instruction used register {register} since the last wgmma.fence; put a wgmma.fence before this wgmma"
    )]
    MissingWgmmaFence {
        /// The name of the register.
        register: String,
    },
    /// A second arrival of a warp at a named barrier before the barrier is complete.
    #[error(
        "the warp has already arrived at barrier {id}, at {other}, and the barrier has not been completed since"
    )]
    ArrivesTwice {
        /// The number of the barrier.
        id: usize,
        /// The first arrival.
        other: Other,
    },
    /// An arrival at a named barrier that may count for the previous completion.
    #[error(
        "arrives at barrier {id}, which was completed by the arrival of {other} and others, but this arrival is not in the order of \
         events after that one: under another schedule it counts among those. Give each group of warps a barrier of its own, or \
         synchronise them in between"
    )]
    BarrierShared {
        /// The number of the barrier.
        id: usize,
        /// One of the arrivals that completed it.
        other: Other,
    },
    /// An mbarrier operation at an address where no mbarrier was initialised, or where it was invalidated.
    #[error("no mbarrier has been initialised at {}", shared(*address))]
    NoBarrier {
        /// The shared address of the operand.
        address: u64,
    },
    /// An mbarrier with an illegal count, or used before the fence that must follow its initialisation.
    #[error("mbarrier at {}: {problem}", shared(*address))]
    Barrier {
        /// The shared address of the mbarrier.
        address: u64,
        /// The problem, with the numbers.
        problem: String,
    },
    /// An arrival that completes a phase of an mbarrier while a thread may still wait for the previous phase.
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
    /// An illegal value of a matrix descriptor, tensor map, barrier number or another operand.
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
    /// Whether it is a read of memory that was never written.
    pub(crate) fn is_unwritten(&self) -> bool {
        matches!(
            self,
            FaultKind::Uninitialised { .. } | FaultKind::GlobalUninitialised { .. }
        )
    }

    /// Whether it may be the race of a write with `read`, a read of unwritten memory.
    pub(crate) fn may_race_with(&self, read: &FaultKind) -> bool {
        matches!(
            (self, read),
            (
                FaultKind::GlobalRace { .. },
                FaultKind::GlobalUninitialised { .. }
            ) | (FaultKind::Race { .. }, FaultKind::Uninitialised { .. })
        )
    }

    /// The other instructions that the message names.
    fn others(&self) -> impl Iterator<Item = &Other> {
        let (first, second) = match self {
            FaultKind::Race { other, .. }
            | FaultKind::LaneRace { other, .. }
            | FaultKind::MissingProxyFence { other, .. }
            | FaultKind::CopyInFlight { other, .. }
            | FaultKind::StoreInFlight { other, .. }
            | FaultKind::WgmmaInFlight { other, .. }
            | FaultKind::SourceInFlight { other, .. }
            | FaultKind::ExitWithVisitor { other, .. }
            | FaultKind::ExitWithWgmma { other }
            | FaultKind::MbarrierAsData { other, .. }
            | FaultKind::ExitWithStore { other }
            | FaultKind::ExitWithCopy { other }
            | FaultKind::RegisterInFlight { other, .. }
            | FaultKind::ArrivesTwice { other, .. }
            | FaultKind::BarrierShared { other, .. }
            | FaultKind::PhaseOverrun { other, .. } => (Some(other), None),
            FaultKind::GlobalRace { earlier, .. }
            | FaultKind::GlobalProxyFence { earlier, .. }
            | FaultKind::MapProxyFence { earlier, .. }
            | FaultKind::ReadOnly { earlier, .. }
            | FaultKind::TargetInFlight { earlier, .. }
            | FaultKind::GlobalSourceInFlight { earlier, .. } => (Some(&earlier.instruction), None),
            FaultKind::GridRace(race) => (Some(&race.other), None),
            FaultKind::StreamRace(race) => match &race.other {
                Work::Kernel { instruction, .. } => (Some(instruction), None),
                Work::Host(_) => (None, None),
            },
            FaultKind::NotTogether(missing) => match &missing.absence {
                Absence::Ended(other) | Absence::Waiting(other) => (Some(other), None),
                Absence::Passed { parted, now } => (Some(now), Some(parted)),
                Absence::Skipped => (None, None),
            },
            FaultKind::OtherRegisters(registers) => match &registers.what {
                Setmaxnreg::Differs(other)
                | Setmaxnreg::EndsWithout(other)
                | Setmaxnreg::NotOrdered(other) => (Some(other), None),
                Setmaxnreg::Ended => (None, None),
            },
            FaultKind::UndefinedValue(value) => match &value.why {
                Inactive::Ended(other) => (Some(&value.shuffle), Some(other)),
                Inactive::NoMember | Inactive::NotLaunched => (Some(&value.shuffle), None),
            },
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The global address of the fault.
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
            FaultKind::StreamRace(race) => Some(race.address),
            FaultKind::Misaligned { address, .. } => Some(*address),
            _ => None,
        }
    }

    /// The shared address of the fault.
    pub fn shared_address(&self) -> Option<u64> {
        self.clone().shared_address_mut().copied()
    }

    /// The fault with addresses as a thread of the CTA of rank `own` sees them. They are in the shared memory of the CTA of rank `rank`.
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
