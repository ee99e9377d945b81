//! What can go wrong on the host: values with the numbers in them.

use cudarc::driver::sys::CUresult;
use cute_emulator::EmulatorError;

use crate::{ElementType, Grid};

/// Why a device, a buffer, a view or a launch was refused or failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library is not on this machine, or the system's loader refuses it.
    #[error(
        "no CUDA driver: no libcuda that loads is on this machine (`Device::emulator()` needs none)"
    )]
    NoDriver,
    /// The driver is older than the functions used here.
    #[error("the CUDA driver has no {symbol}: version 12.8 or later is needed")]
    DriverSymbol {
        /// The function it lacks.
        symbol: &'static str,
    },
    /// There is no such device.
    #[error("CUDA device {ordinal} does not exist: the driver lists {count}")]
    NoDevice {
        /// The device asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The device cannot run `sm_90a` code.
    #[error("{device} has compute capability {major}.{minor}: sm_90a code runs on 9.0 only")]
    Capability {
        /// Name of the device.
        device: String,
        /// Major version.
        major: i32,
        /// Minor version.
        minor: i32,
    },
    /// None of the driver's devices can be used.
    #[error("no CUDA device can be used: {}", refused(refusals))]
    NoUsableDevice {
        /// Why, for each device in the driver's order.
        refusals: Vec<Error>,
    },
    /// A driver call failed. The GPU runs asynchronously: the cause may be an earlier launch.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The driver's compiler refused a kernel.
    #[error("kernel {kernel} does not compile: {source}\n{log}")]
    Jit {
        /// Name of the kernel.
        kernel: &'static str,
        /// The driver's answer.
        source: DriverError,
        /// The compiler's error log, then its information log.
        log: String,
    },
    /// The emulator refused a kernel or found a fault in its run.
    #[error("kernel {kernel} on the emulator: {source}")]
    Emulator {
        /// Name of the kernel.
        kernel: &'static str,
        /// What it found, and where.
        source: EmulatorError,
    },
    /// The emulator's memory refused an operation.
    #[error("emulator memory: {source}")]
    EmulatorMemory {
        /// Why.
        source: EmulatorError,
    },
    /// A tensor map breaks a rule of the driver that is none of [`ArgumentRule`].
    #[error("tensor map: {rule}")]
    TensorMap {
        /// The rule, as a sentence.
        rule: String,
    },
    /// The emulated device's memory is full.
    #[error("{bytes} bytes asked of the emulator, which has {free} left")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes left.
        free: u64,
    },
    /// A size beyond the address space, or beyond the host.
    #[error("{len} elements of {element} are more than memory holds")]
    TooLarge {
        /// Number of elements.
        len: usize,
        /// Their type.
        element: ElementType,
    },
    /// A copy between places of different lengths.
    #[error("{found} elements given for {expected}")]
    Length {
        /// Elements of the destination.
        expected: usize,
        /// Elements given.
        found: usize,
    },
    /// A tensor or view does not fit its buffer.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A launch argument breaks a rule of the kernel's parameter.
    #[error("kernel {kernel}, argument {argument}: {rule}")]
    Argument {
        /// Name of the kernel.
        kernel: &'static str,
        /// Name of the argument.
        argument: &'static str,
        /// The rule, with the numbers.
        rule: ArgumentRule,
    },
    /// The launch as a whole breaks a rule.
    #[error("kernel {kernel}: {rule}")]
    Launch {
        /// Name of the kernel.
        kernel: &'static str,
        /// The rule, with the numbers.
        rule: LaunchRule,
    },
}

impl Error {
    /// Whether the same call may succeed later on, as it may after an `OUT_OF_MEMORY`.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Error::Driver(source) | Error::Jit { source, .. } => {
                PASSING.iter().any(|&code| code as u32 == source.code)
            }
            _ => false,
        }
    }
}

/// Driver errors that have causes outside of what was asked for, and which end: full memory, a system call that failed, a
/// stream of somebody else that is being captured. What corrupted a context stays.
const PASSING: [CUresult; 3] = [
    CUresult::CUDA_ERROR_OUT_OF_MEMORY,
    CUresult::CUDA_ERROR_OPERATING_SYSTEM,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
];

fn refused(refusals: &[Error]) -> String {
    if refusals.is_empty() {
        return "the driver lists none".to_string();
    }
    let refusals = refusals.iter().enumerate();
    let devices: Vec<String> = refusals
        .map(|(ordinal, refusal)| format!("device {ordinal}: {refusal}"))
        .collect();
    devices.join("; ")
}

/// A driver call that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {name} ({code}): {text}")]
pub struct DriverError {
    /// The driver function.
    pub call: &'static str,
    /// Its `CUresult`.
    pub code: u32,
    /// Name of the code, such as `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// The driver's sentence on it.
    pub text: String,
}

/// Why a tensor or view was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The last element lies outside the buffer.
    #[error(
        "shape {shape:?} with strides {strides:?} at offset {offset} reaches element {last}, and the buffer has {len}"
    )]
    OutOfBounds {
        /// Extents.
        shape: Vec<usize>,
        /// Strides in elements.
        strides: Vec<usize>,
        /// First element.
        offset: usize,
        /// Index of the last element.
        last: usize,
        /// Elements in the buffer.
        len: usize,
    },
    /// The last element's index overflows.
    #[error(
        "shape {shape:?} with strides {strides:?} at offset {offset} overflows the address space"
    )]
    Overflow {
        /// Extents.
        shape: Vec<usize>,
        /// Strides in elements.
        strides: Vec<usize>,
        /// First element.
        offset: usize,
    },
    /// Two coordinates of something writable name one element.
    #[error(
        "shape {shape:?} with strides {strides:?} is not writable: mode {mode} steps by {stride}, and the modes within it span \
         {span} elements"
    )]
    Overlap {
        /// Extents.
        shape: Vec<usize>,
        /// Strides in elements.
        strides: Vec<usize>,
        /// The mode whose stride is too small.
        mode: usize,
        /// That stride.
        stride: usize,
        /// What its stride must at least be.
        span: usize,
    },
    /// A slice reaches past its mode, or is reversed.
    #[error("{start}..{end} is not a range of mode {mode}, whose extent is {extent}")]
    Range {
        /// The mode.
        mode: usize,
        /// Start of the range.
        start: usize,
        /// End of the range.
        end: usize,
        /// Extent of the mode.
        extent: usize,
    },
    /// No such mode, or the same one twice.
    #[error("{order:?} is not an order of the modes 0..{rank}")]
    Modes {
        /// The modes asked for.
        order: Vec<usize>,
        /// Number of modes.
        rank: usize,
    },
}

/// A rule that a launch argument must keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentRule {
    /// The buffer belongs to another device.
    #[error("the tensor lies on {found}, and the launch is on {expected}")]
    OtherDevice {
        /// Device of the launch.
        expected: String,
        /// Device of the buffer.
        found: String,
    },
    /// A number where a tensor belongs, or the reverse.
    #[error("{expected} expected, {found} given")]
    Kind {
        /// What the parameter takes.
        expected: &'static str,
        /// What the argument is.
        found: &'static str,
    },
    /// A read-only view for a parameter that is written.
    #[error("the kernel writes it: a mutable view is needed")]
    ReadOnly,
    /// The element type differs.
    #[error("elements of {expected} expected, {found} given")]
    Element {
        /// The parameter's.
        expected: ElementType,
        /// The argument's.
        found: ElementType,
    },
    /// The number of modes differs.
    #[error("rank {expected} expected, {found} given")]
    Rank {
        /// The parameter's.
        expected: usize,
        /// The argument's.
        found: usize,
    },
    /// The tensor is empty.
    #[error("extent of mode {mode} is 0")]
    ZeroExtent {
        /// The mode.
        mode: usize,
    },
    /// The last mode is not contiguous.
    #[error("mode {mode}, the last, must be contiguous: its stride is {stride} elements, not 1")]
    NotContiguous {
        /// The last mode.
        mode: usize,
        /// Its stride.
        stride: usize,
    },
    /// TMA needs 16-byte alignment of the first element.
    #[error(
        "the first element lies {excess} bytes past a multiple of {align}: TMA needs an address that is a multiple of {align}"
    )]
    Address {
        /// Bytes past the last aligned address.
        excess: u64,
        /// The alignment.
        align: u64,
    },
    /// TMA needs strides that are multiples of 16 bytes.
    #[error(
        "stride of mode {mode} is {bytes} bytes: TMA needs a multiple of {align}; the nearest larger stride is {nearest} elements"
    )]
    Stride {
        /// The mode.
        mode: usize,
        /// Its stride in bytes.
        bytes: u64,
        /// The alignment.
        align: u64,
        /// The nearest larger stride that TMA takes, in elements.
        nearest: u64,
    },
    /// A TMA store writes whole units of 16 bytes, past the end of a row that is not made of them.
    #[error(
        "rows along mode {mode} are {bytes} bytes long: a TMA store writes whole units of {unit} bytes, so the length must be a multiple of it"
    )]
    RowLength {
        /// The last mode.
        mode: usize,
        /// Its extent in bytes.
        bytes: u64,
        /// The unit.
        unit: u64,
    },
    /// A stride beyond TMA's 40 bits.
    #[error("stride of mode {mode} is {bytes} bytes: TMA's limit is {limit}, exclusive")]
    StrideTooLarge {
        /// The mode.
        mode: usize,
        /// Its stride in bytes.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// An extent beyond what TMA coordinates reach.
    #[error("extent of mode {mode} is {extent}: TMA's limit is {limit}")]
    ExtentTooLarge {
        /// The mode.
        mode: usize,
        /// Its extent.
        extent: u64,
        /// The limit.
        limit: u64,
    },
    /// The kernel's recipe: a rank that TMA does not have.
    #[error("the kernel's box has rank {rank}: TMA takes 1 to {limit}")]
    BoxRank {
        /// The rank.
        rank: usize,
        /// The limit.
        limit: usize,
    },
    /// The kernel's recipe: a box extent outside TMA's range.
    #[error("the kernel's box extends {extent} along mode {mode}: TMA takes 1 to {limit}")]
    BoxExtent {
        /// The mode.
        mode: usize,
        /// The box's extent.
        extent: u32,
        /// The limit.
        limit: u32,
    },
    /// The kernel's recipe: box rows that TMA cannot move.
    #[error("the kernel's box has rows of {bytes} bytes: TMA needs a multiple of {align}")]
    BoxRow {
        /// Bytes of a row.
        bytes: u32,
        /// The alignment.
        align: u32,
    },
    /// The kernel's recipe: box rows wider than the swizzle.
    #[error("the kernel's box has rows of {bytes} bytes: its swizzle spans {span}")]
    BoxSpan {
        /// Bytes of a row.
        bytes: u32,
        /// Bytes of the swizzle's span.
        span: i64,
    },
    /// The kernel's recipe: NaN fill for integers.
    #[error("the kernel fills with NaN, which {element} has not")]
    Fill {
        /// The element type.
        element: ElementType,
    },
}

/// A rule that a launch must keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchRule {
    /// A grid outside the hardware's range.
    #[error("grid {grid} is outside 1 to {limit} along {axis}")]
    Grid {
        /// The grid.
        grid: Grid,
        /// `x`, `y` or `z`.
        axis: char,
        /// The largest legal extent.
        limit: u32,
    },
    /// A grid that whole clusters do not cover.
    #[error(
        "grid {grid} is not a multiple of the cluster's {cluster} along {axis}: the nearest larger is {nearest}"
    )]
    Cluster {
        /// The grid.
        grid: Grid,
        /// `x`, `y` or `z`.
        axis: char,
        /// Extent of the cluster along that axis.
        cluster: u32,
        /// The nearest larger extent of the grid.
        nearest: u64,
    },
    /// A cluster outside the hardware's range.
    #[error("clusters of {cluster} CTAs: 1 to {limit} are possible")]
    ClusterSize {
        /// CTAs of a cluster.
        cluster: u64,
        /// The limit.
        limit: u64,
    },
    /// A block outside the hardware's range.
    #[error("{threads} threads a CTA: 1 to {limit} are possible")]
    Threads {
        /// Threads of a CTA.
        threads: u32,
        /// The limit.
        limit: u32,
    },
    /// More shared memory than a CTA can have.
    #[error("{bytes} bytes of shared memory: a CTA has at most {limit}")]
    SharedMemory {
        /// Bytes asked for.
        bytes: u32,
        /// The limit.
        limit: u32,
    },
    /// Too few or too many arguments.
    #[error("{expected} arguments expected, {found} given")]
    Arguments {
        /// The kernel's parameters.
        expected: usize,
        /// The arguments given.
        found: usize,
    },
    /// A kernel whose description does not fit its PTX.
    #[error(
        "the PTX entry has parameters of {expected:?} bytes, and the kernel's description makes {found:?} of its arguments"
    )]
    Parameters {
        /// Sizes of the entry's parameters.
        expected: Vec<usize>,
        /// Sizes of what the arguments became.
        found: Vec<usize>,
    },
    /// A kernel whose PTX holds a NUL byte, where the driver would stop reading.
    #[error("the PTX has a NUL byte at offset {offset}")]
    Nul {
        /// Its place.
        offset: usize,
    },
}
