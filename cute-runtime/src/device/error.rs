//! The errors of devices, buffers, views and launches, each with the numbers that explain it.

use std::fmt;

#[cfg(feature = "emulator")]
use cute_emulator::EmulatorError;

use crate::{ElementType, Grid, MemoryHeld, Named};
use cute_chip::Target;
use cute_chip::threads::WARP;

/// Why a device, a buffer, a view or a launch was refused or failed.
///
/// Errors are values with the numbers. A launch that breaks a rule is refused before anything runs, on every kind of device:
/// ```
/// use cute_runtime::{ArgumentRule, Device, Error, LaunchRule, Tensor, kernels};
///
/// #[kernels]
/// mod example {
///     #[kernel(threads = 32)]
///     pub fn load(x: TmaLoad<f32, 2>, #[facts(extent(y, 0) % 4 == 0)] y: Global<f32, 1>) {
///         let (tile, ready) = (smem::<f32>(layout!((8,32):(32,1))), mbarriers(1, 1));
///         if thread() == 0 {
///             expect_tx(ready[0], bytes(tile));
///             tma_load(x, (0, 0), tile, ready[0]);
///         }
///         wait(ready[0], 0);
///         if thread() < extent(y, 0) {
///             y[thread()] = tile[(0, thread())];
///         }
///     }
/// }
///
/// let device = Device::emulator();
/// let mut y = Tensor::<f32, 1>::zeros(&device, [4])?;
/// // Rows of 5 elements do not start at multiples of 16 bytes.
/// let x = Tensor::<f32, 2>::zeros(&device, [3, 5])?;
/// match example::load::launch(&device, 1, &x.view(), &mut y.view_mut()) {
///     Err(Error::Argument { argument: "x", rule: ArgumentRule::Stride { bytes: 20, nearest: 8, .. }, .. }) => {}
///     other => panic!("{other:?}"),
/// }
/// // A fact that does not hold.
/// let x = Tensor::<f32, 2>::zeros_strided(&device, [3, 5], [8, 1])?;
/// let mut y = Tensor::<f32, 1>::zeros(&device, [5])?;
/// match example::load::launch(&device, 1, &x.view(), &mut y.view_mut()) {
///     Err(Error::Launch { rule: LaunchRule::Fact { fact, .. }, .. }) => assert_eq!(fact, "extent(y, 0) % 4 == 0"),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
/// An error while a kernel runs is [`Error::Emulator`] or [`Error::Assertion`]. On a GPU, the first call that waits for the kernel
/// returns it, such as [`Device::synchronize`](crate::Device::synchronize).
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library is not on this machine, or the system's loader refuses it.
    #[error(
        "no CUDA driver: this machine has no libcuda that loads; `Device::emulator()` needs none"
    )]
    NoDriver,
    /// The driver lacks a function that this crate calls, usually because it is too old.
    #[error(
        "the CUDA driver has no {symbol}, which CUDA {since} added: a driver of CUDA 12.8 or later is needed"
    )]
    DriverSymbol {
        /// Name of the missing function.
        symbol: &'static str,
        /// The first version of CUDA whose driver has it.
        since: &'static str,
    },
    /// There is no such device.
    #[error("CUDA device {ordinal} does not exist: the driver lists {count} devices")]
    NoDevice {
        /// The requested device, counted from 0.
        ordinal: usize,
        /// Number of devices that the driver lists.
        count: usize,
    },
    /// The device cannot run code for this target.
    #[error(
        "{device} has compute capability {major}.{minor}: {target} code runs on {}",
        devices(*target)
    )]
    Capability {
        /// The target of the kernel. Of a device that [`Device::default`](crate::Device::default) considered, `sm_90a`.
        target: Target,
        /// Name of the device.
        device: String,
        /// Major number of its compute capability.
        major: u32,
        /// Minor number of its compute capability.
        minor: u32,
    },
    /// None of the driver's devices can be used.
    #[error("no CUDA device can be used: {}", refused(refusals))]
    NoUsableDevice {
        /// The error of each device, in the driver's order; empty if the driver lists no device.
        refusals: Vec<Error>,
    },
    /// A driver call failed. The GPU runs asynchronously: the cause may be an earlier launch.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The driver's compiler refused a kernel.
    #[error("kernel {kernel} does not compile: {error}\n{log}")]
    Jit {
        /// Name of the kernel.
        kernel: &'static str,
        /// The error that `cuLibraryLoadData` or `cuLibraryGetModule` returned.
        error: DriverError,
        /// The compiler's error log, then its information log.
        log: String,
    },
    /// A kernel of a list was not compiled, by an error that does not name it: [`Error::Driver`] or [`Error::Capability`].
    #[error("kernel {kernel} is not compiled: {error}")]
    Uncompiled {
        /// Name of the kernel.
        kernel: &'static str,
        /// The error.
        error: Box<Error>,
    },
    /// The emulator refused a kernel or found a fault in its run.
    #[cfg(feature = "emulator")]
    #[error("kernel {kernel} on the emulator: {error}")]
    Emulator {
        /// Name of the kernel.
        kernel: &'static str,
        /// The emulator's error, which names the instruction and the thread where there is one.
        error: EmulatorError,
    },
    /// A cluster that has more CTAs than every device can place, or none.
    #[error("a cluster has 1 to {limit} CTAs, not {ctas}")]
    ClusterSize {
        /// CTAs of a cluster.
        ctas: u32,
        /// The largest legal number.
        limit: u32,
    },
    /// An assertion of a kernel failed while it ran. On a GPU, the device can do nothing more in this process.
    #[error(transparent)]
    Assertion(#[from] AssertionFailure),
    /// A call that needs the results of launches, or another capture, while the thread captures launches of a device for a
    /// [`Graph`](crate::Graph).
    #[error(
        "the thread captures launches, which run later: until that ends, it cannot wait for a stream, copy from or into a tensor that exists, take the time, launch a graph, or capture another"
    )]
    Capturing,
    /// What is forbidden while the owner of a borrowed stream captures it into a graph.
    #[error(
        "the stream is captured into a graph by its owner, which forbids {what}: do it before the capture, or on another stream"
    )]
    StreamCaptured {
        /// What was asked, such as `to allocate memory`.
        what: &'static str,
    },
    /// A stream or an event of another device, or of another context of the device.
    #[error("the {what} is one of {found}, not of {expected}")]
    OtherStream {
        /// `stream`, `event` or `buffer of the host`.
        what: &'static str,
        /// The device that it is of.
        found: String,
        /// The device that is used.
        expected: String,
    },
    /// The time between events of which one has none.
    #[error("an event without a time: `Stream::record_timed` makes events that have one")]
    Untimed,
    /// An event of others on the emulator, which has none.
    #[error("the emulator has no events of others: record one on a stream of the emulated device")]
    NoForeignEvents,
    /// Work of others that is emulated, on a GPU.
    #[cfg(feature = "emulator")]
    #[error("`emulate_others` is for the emulator: on a GPU, others enqueue their work themselves")]
    NotEmulated,
    /// The device or its driver has no stream-ordered memory (`CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`).
    #[error(
        "{device} has no stream-ordered memory, in which this crate allocates: its driver says that memory pools are not supported"
    )]
    NoMemoryPools {
        /// Name of the device.
        device: String,
    },
    /// A context that cannot be the device's.
    #[error("the context is one of CUDA device {found}, not of {expected}")]
    OtherContext {
        /// The ordinal of the context's device.
        found: i32,
        /// The ordinal that was given.
        expected: usize,
    },
    /// Memory of others that cannot be a tensor of the device.
    #[error("memory of others at {address:#x}: {rule}")]
    Foreign {
        /// The address that was given.
        address: u64,
        /// The rule that it breaks.
        rule: ForeignRule,
    },
    /// The emulator's memory refused an operation.
    #[cfg(feature = "emulator")]
    #[error("emulator memory: {error}")]
    EmulatorMemory {
        /// The emulator's error.
        error: EmulatorError,
    },
    /// A tensor map keeps every rule of [`ArgumentRule`], but breaks another rule of the driver.
    #[error("tensor map: {rule}")]
    TensorMap {
        /// The rule, as a sentence.
        rule: String,
    },
    /// The memory of the device is full, or what may be held of it.
    #[error("{}", out_of_memory(*bytes, reason.as_deref(), held))]
    OutOfMemory {
        /// Requested bytes.
        bytes: usize,
        /// Why there is none, such as the driver's error; `None` if the [limit](crate::Device::set_memory_limit) is reached.
        reason: Option<String>,
        /// What is held, and by whom.
        held: Box<MemoryHeld>,
    },
    /// A size in bytes that overflows `usize`, or that the host could not allocate.
    #[error("{len} elements of {element} do not fit in memory")]
    TooLarge {
        /// Number of elements.
        len: usize,
        /// Type of the elements.
        element: ElementType,
    },
    /// The length of a slice of the host is not the number of elements to write.
    #[error("`{function}` takes {expected} elements, those of {destination}, and got {found}")]
    Length {
        /// Name of the function that the slice was passed to.
        function: &'static str,
        /// What the elements are for: `the extents [2, 4]`.
        destination: String,
        /// Elements of the destination.
        expected: usize,
        /// Elements of the slice.
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
        /// The rule that it breaks.
        rule: ArgumentRule,
    },
    /// A kernel has no instance with the values that are given at run time.
    #[cfg(feature = "instantiate")]
    #[error("kernel {kernel} with {values}: {}", lines(mistakes))]
    Instance {
        /// Name of the instance.
        kernel: &'static str,
        /// The values, as `THREADS = 128, EACH = 4`.
        values: String,
        /// The mistakes, at least one.
        mistakes: Vec<Mistake>,
    },
    /// The launch as a whole breaks a rule.
    #[error("kernel {kernel}: {rule}")]
    Launch {
        /// Name of the kernel.
        kernel: &'static str,
        /// The rule that it breaks.
        rule: LaunchRule,
    },
}

/// The sentence of the error, which `unwrap` and a `main` that returns it print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Whether the same call may succeed later, for example after `CUDA_ERROR_OUT_OF_MEMORY`.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Error::Driver(error) | Error::Jit { error, .. } => PASSING.contains(&error.code),
            _ => false,
        }
    }
}

/// Driver errors with a temporary cause outside of the failed call: full memory, a failed system call, a stream capture of another
/// library. Errors that corrupt the context are permanent, so they are not listed.
const PASSING: [u32; 3] = [
    2,   // CUDA_ERROR_OUT_OF_MEMORY
    304, // CUDA_ERROR_OPERATING_SYSTEM
    900, // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
];

fn out_of_memory(bytes: usize, reason: Option<&str>, held: &MemoryHeld) -> String {
    match (reason, held.limit) {
        (None, Some(limit)) => format!(
            "{bytes} bytes more than the {} that are held would exceed the limit of {limit} bytes; {held}",
            held.bytes
        ),
        (reason, _) => format!(
            "no memory for {bytes} bytes: {}; {held}",
            reason.unwrap_or("the device has none")
        ),
    }
}

/// The compute capabilities that run code for a target.
fn devices(target: Target) -> String {
    let (major, minor) = target.capability();
    let others = if target.specific { "only" } else { "and later" };
    format!("{major}.{minor} {others}")
}

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

/// An `assert!` of a kernel that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionFailure {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// The source file; empty if it is not known.
    pub file: &'static str,
    /// The line in it, from 1; 0 if it is not known.
    pub line: u32,
    /// Index of the CTA in the grid, along x, y and z.
    pub block: [u32; 3],
    /// Index of the thread in its CTA.
    pub thread: u32,
    /// The message, with its values.
    pub message: String,
}

impl std::error::Error for AssertionFailure {}

impl fmt::Display for AssertionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: assertion failed", self.kernel)?;
        if self.line > 0 {
            write!(f, " at {}:{}", self.file, self.line)?;
        }
        let [x, y, z] = self.block;
        let (warp, lane) = (self.thread / WARP, self.thread % WARP);
        write!(
            f,
            " in CTA ({x}, {y}, {z}), warp {warp}, lane {lane}: {}",
            self.message
        )
    }
}

/// A mistake in an instance that is made at run time.
#[cfg(feature = "instantiate")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The source file; empty if the mistake is in the values themselves.
    pub file: String,
    /// The line in it, from 1; 0 without a file.
    pub line: u32,
    /// The column in it, from 1; 0 without a file.
    pub column: u32,
    /// The description of the mistake.
    pub message: String,
}

#[cfg(feature = "instantiate")]
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        }
        f.write_str(&self.message)
    }
}

/// The mistakes on a line each.
#[cfg(feature = "instantiate")]
fn lines(mistakes: &[Mistake]) -> String {
    let mistakes: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
    mistakes.join("\n")
}

/// The numbers with commas between them.
fn list(numbers: &[Named]) -> String {
    let numbers: Vec<String> = numbers.iter().map(Named::to_string).collect();
    numbers.join(", ")
}

/// The end of a message about an instance: the missing features of the crate, or nothing if none are missing.
fn features(package: &str, missing: &[&str]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let listed: Vec<String> = missing.iter().map(|it| format!("`{it}`")).collect();
    let noun = if missing.len() == 1 {
        "the feature"
    } else {
        "the features"
    };
    format!(
        ": it is built with {noun} {} of {package}",
        listed.join(", ")
    )
}

/// A driver call that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {name} ({code}): {text}")]
pub struct DriverError {
    /// Name of the driver function, such as `cuMemAlloc`.
    pub call: &'static str,
    /// The `CUresult` that it returned.
    pub code: u32,
    /// Name of the code, such as `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// The driver's description of the code.
    pub text: String,
}

/// The rules of memory that others own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignRule {
    /// The address is 0, and the tensor has elements.
    #[error("it is null, and the tensor has {elements} elements")]
    Null {
        /// Elements of the tensor, gaps included.
        elements: usize,
    },
    /// The address is not a multiple of the size of an element.
    #[error("it is no multiple of the {bytes} bytes of {element}")]
    Misaligned {
        /// Type of the elements.
        element: ElementType,
        /// Bytes of an element.
        bytes: usize,
    },
    /// It is no memory that the driver knows: memory of the host, in most cases.
    #[error("the driver knows no such memory: is it memory of the host?")]
    Unknown,
    /// It is memory of the host that the driver knows, but not of a device.
    #[error("it is memory of the host, and the tensor is one of {device}")]
    Host {
        /// Name of the device.
        device: String,
    },
    /// On the emulator: it begins or ends within memory of which there is a tensor already, so that no copy has all of both.
    #[error(
        "its {bytes} bytes lie partly in memory of which the emulated device has a tensor already, {of} bytes from {start:#x} on; make \
         the larger tensor first, and views of it"
    )]
    Across {
        /// Bytes of the new tensor.
        bytes: usize,
        /// Where the other memory begins.
        start: u64,
        /// Bytes of the other memory.
        of: usize,
    },
    /// It is memory of another device.
    #[error("it is memory of CUDA device {found}, and the tensor is one of {device}")]
    OtherDevice {
        /// The ordinal of the memory's device.
        found: i32,
        /// Name of the tensor's device.
        device: String,
    },
}

/// Why a tensor or view was refused. Extents, strides and offsets are in elements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The last element lies outside the buffer.
    #[error(
        "shape {shape:?} with strides {strides:?} at offset {offset} reaches element {last}, but the buffer has {len} elements"
    )]
    OutOfBounds {
        /// Extents.
        shape: Vec<usize>,
        /// Strides in elements.
        strides: Vec<usize>,
        /// Index in the buffer of the first element.
        offset: usize,
        /// Index in the buffer of the last element.
        last: usize,
        /// Elements in the buffer.
        len: usize,
    },
    /// The number of elements, a stride or the index of the last element overflows `usize`.
    #[error("shape {shape:?} with strides {strides:?} at offset {offset} overflows 64 bits")]
    Overflow {
        /// Extents.
        shape: Vec<usize>,
        /// Strides in elements; empty where they were to be computed from the shape.
        strides: Vec<usize>,
        /// Index in the buffer of the first element.
        offset: usize,
    },
    /// In a writable tensor or view, a mode has a stride below the span of the modes with smaller strides. Two coordinates could
    /// then name one element.
    #[error(
        "shape {shape:?} with strides {strides:?} is not writable: the stride of mode {mode} is {stride}, but must be at \
         least {span}, the span of the modes with smaller strides"
    )]
    Overlap {
        /// Extents.
        shape: Vec<usize>,
        /// Strides in elements.
        strides: Vec<usize>,
        /// The mode whose stride is too small.
        mode: usize,
        /// The stride of the mode.
        stride: usize,
        /// The smallest legal stride: the span of the modes with smaller strides.
        span: usize,
    },
    /// A range of coordinates that ends past the extent of its mode, or before its own start.
    #[error("{start}..{end} is not a range of mode {mode}, whose extent is {extent}")]
    Range {
        /// The mode, counted from 0.
        mode: usize,
        /// Start of the range.
        start: usize,
        /// End of the range, exclusive.
        end: usize,
        /// Extent of the mode.
        extent: usize,
    },
    /// A mode that does not exist, or one that is named twice.
    #[error("modes {order:?}: each must be in 0..{rank}, and none may repeat")]
    Modes {
        /// The requested modes.
        order: Vec<usize>,
        /// Number of modes of the tensor.
        rank: usize,
    },
}

/// A rule that a launch argument must keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentRule {
    /// The buffer belongs to another device.
    #[error("the tensor is on {found}, but the launch is on {expected}")]
    OtherDevice {
        /// Name of the launch's device.
        expected: String,
        /// Name of the buffer's device.
        found: String,
    },
    /// A number where a tensor belongs, or the reverse.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// The kind of argument that the parameter takes.
        expected: &'static str,
        /// The kind of the given argument.
        found: &'static str,
    },
    /// More items than a list of the kernel has room for.
    #[error("the list has {found} items, and the kernel takes at most {most}")]
    List {
        /// How many items the argument has.
        found: usize,
        /// How many the parameter can have.
        most: u32,
    },
    /// An item of a list breaks a rule.
    #[error("item {index}: {rule}")]
    Item {
        /// The index of the item.
        index: usize,
        /// The rule.
        rule: Box<ArgumentRule>,
    },
    /// A read-only view for a parameter that the kernel writes.
    #[error("the kernel writes this tensor, so it needs a `&mut TensorViewMut`")]
    ReadOnly,
    /// The argument has another element type than the parameter.
    #[error("expected element type {expected}, found {found}")]
    Element {
        /// Element type of the parameter.
        expected: ElementType,
        /// Element type of the argument.
        found: ElementType,
    },
    /// The argument has another number of modes than the parameter.
    #[error("expected rank {expected}, found {found}")]
    Rank {
        /// Rank of the parameter.
        expected: usize,
        /// Rank of the argument.
        found: usize,
    },
    /// The tensor has no elements.
    #[error("the extent of mode {mode} is 0, but must be at least 1")]
    ZeroExtent {
        /// The first mode whose extent is 0.
        mode: usize,
    },
    /// The last mode has more than one element and a stride other than 1.
    #[error("the stride of mode {mode}, the last one, is {stride} elements, but must be 1")]
    NotContiguous {
        /// The last mode.
        mode: usize,
        /// The stride of the mode in elements.
        stride: usize,
    },
    /// The address of the first element is not a multiple of 16 bytes, which TMA needs.
    #[error(
        "the address of the first element is {excess} bytes past a multiple of {align}: TMA needs a multiple of {align}"
    )]
    Address {
        /// Bytes past the last aligned address.
        excess: u64,
        /// The alignment in bytes.
        align: u64,
    },
    /// A stride, other than that of the last mode, is not a multiple of 16 bytes, which TMA needs.
    #[error(
        "the stride of mode {mode} is {bytes} bytes: TMA needs a multiple of {align}; the nearest larger legal stride is {nearest} elements"
    )]
    Stride {
        /// The mode.
        mode: usize,
        /// The stride of the mode in bytes.
        bytes: u64,
        /// The alignment in bytes.
        align: u64,
        /// The nearest larger stride that TMA takes, in elements.
        nearest: u64,
    },
    /// The rows of a TMA store's destination are not whole units of 16 bytes. TMA would write the last unit in full, past
    /// the end of the row.
    #[error(
        "rows along mode {mode} are {bytes} bytes long: a TMA store writes whole units of {unit} bytes, so their length must be a multiple of {unit}"
    )]
    RowLength {
        /// The last mode.
        mode: usize,
        /// The extent of the mode in bytes.
        bytes: u64,
        /// Bytes of a unit.
        unit: u64,
    },
    /// A stride in bytes that does not fit TMA's 40 bits.
    #[error("the stride of mode {mode} is {bytes} bytes: TMA needs less than {limit}")]
    StrideTooLarge {
        /// The mode.
        mode: usize,
        /// The stride of the mode in bytes.
        bytes: u64,
        /// The first stride in bytes that is too large.
        limit: u64,
    },
    /// An extent that is larger than TMA takes.
    #[error("the extent of mode {mode} is {extent}: TMA takes at most {limit}")]
    ExtentTooLarge {
        /// The mode.
        mode: usize,
        /// The extent of the mode.
        extent: u64,
        /// The largest legal extent.
        limit: u64,
    },
    /// An extent that is too large for a kernel that reads the extents of the tensor.
    #[error("the extent of mode {mode} is {extent}: the kernel takes at most {limit}")]
    ExtentBeyond {
        /// The mode.
        mode: usize,
        /// The extent of the mode.
        extent: u64,
        /// The largest legal extent.
        limit: u64,
    },
    /// The box of the kernel's [`TmaRecipe`](crate::TmaRecipe) has a rank that TMA does not take.
    #[error("the kernel's box has rank {rank}: TMA takes 1 to {limit}")]
    BoxRank {
        /// Rank of the box.
        rank: usize,
        /// The largest legal rank.
        limit: usize,
    },
    /// The box of the kernel's recipe has an extent that TMA does not take.
    #[error("the kernel's box has extent {extent} along mode {mode}: TMA takes 1 to {limit}")]
    BoxExtent {
        /// The mode.
        mode: usize,
        /// Extent of the box.
        extent: u32,
        /// The largest legal extent.
        limit: u32,
    },
    /// The elements of the recipe are parts of bytes.
    #[error(
        "the kernel's tensor map has elements of `{element}`, which have {bits} bits: TMA copies whole bytes"
    )]
    ElementBits {
        /// Element type of the recipe.
        element: ElementType,
        /// Bits of an element.
        bits: u32,
    },
    /// The rows of the recipe's box are not whole units of 16 bytes.
    #[error("the kernel's box has rows of {bytes} bytes: TMA needs a multiple of {align}")]
    BoxRow {
        /// Bytes of a row.
        bytes: u32,
        /// Bytes of a unit.
        align: u32,
    },
    /// The rows of the recipe's box are longer than the span of its swizzle.
    #[error("the kernel's box has rows of {bytes} bytes: its swizzle takes at most {span}")]
    BoxSpan {
        /// Bytes of a row.
        bytes: u32,
        /// Bytes of the swizzle's span: 32, 64 or 128.
        span: i64,
    },
    /// The recipe asks for NaN outside the tensor, and its elements are integers.
    #[error("the kernel fills with NaN outside the tensor, but {element} has no NaN")]
    Fill {
        /// Element type of the recipe.
        element: ElementType,
    },
}

/// A rule that a launch must keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchRule {
    /// A grid with an extent that the hardware does not take.
    #[error("grid {grid} must have 1 to {limit} CTAs along {axis}")]
    Grid {
        /// The grid of the launch.
        grid: Grid,
        /// `x`, `y` or `z`.
        axis: char,
        /// The largest legal extent along that axis.
        limit: u32,
    },
    /// A kernel that reports, in a launch that is captured: each launch needs a buffer of its own for what it reports.
    #[error(
        "a kernel that prints, or asserts what is known when it runs, cannot be captured into a graph"
    )]
    Captured,
    /// A kernel that is launched by the function which rewrites its PTX, on an emulator that rewrites.
    #[error(
        "the function of `Device::emulator_rewriting` that makes the kernel's PTX launches the kernel, which needs that PTX"
    )]
    Rewriting,
    /// A kernel that is an `unsafe fn`, launched by safe code.
    #[error("the kernel is an `unsafe fn`, so that its launch is one, too")]
    Unsafe,
    /// A grid that whole clusters do not cover.
    #[error(
        "grid {grid} is not a multiple of the cluster's extent {cluster} along {axis}: the nearest larger multiple is {nearest}"
    )]
    Cluster {
        /// The grid of the launch.
        grid: Grid,
        /// `x`, `y` or `z`.
        axis: char,
        /// Extent of the cluster along that axis.
        cluster: u32,
        /// The nearest larger legal extent of the grid along that axis.
        nearest: u64,
    },
    /// A kernel whose clusters have more CTAs than every device can place, or none.
    #[error("the kernel's clusters have {cluster} CTAs: 1 to {limit} are possible")]
    ClusterSize {
        /// CTAs of a cluster.
        cluster: u64,
        /// The largest legal number.
        limit: u64,
    },
    /// A kernel whose CTAs have more threads than the hardware takes, or none.
    #[error("the kernel's CTAs have {threads} threads: 1 to {limit} are possible")]
    Threads {
        /// Threads of a CTA.
        threads: u32,
        /// The largest legal number.
        limit: u32,
    },
    /// A kernel that needs more shared memory than a CTA can have.
    #[error("the kernel needs {bytes} bytes of shared memory: a CTA has at most {limit}")]
    SharedMemory {
        /// Bytes that a CTA needs.
        bytes: u32,
        /// Bytes that a CTA can have.
        limit: u32,
    },
    /// No instance of the kernel has these types and constants together, though it has instances for each of them; or the instance
    /// needs features of the kernel's crate that are off.
    #[error(
        "the kernel has no instance with {values}{}",
        features(package, missing)
    )]
    Instance {
        /// The types and constants: `T = f16, CFG = SMALL`.
        values: String,
        /// The crate of the kernel.
        package: &'static str,
        /// The features of the crate that are off and that the instance needs; none if no features give the instance.
        missing: &'static [&'static str],
    },
    /// A fact of the kernel's parameters that does not hold for the arguments.
    #[error("`{fact}` does not hold: {}", list(numbers))]
    Fact {
        /// The fact as the kernel gives it.
        fact: &'static str,
        /// The numbers of the launch on which it depends.
        numbers: Vec<Named>,
    },
    /// Too few or too many arguments.
    #[error("expected {expected} arguments, found {found}")]
    Arguments {
        /// Number of the kernel's parameters.
        expected: usize,
        /// Number of arguments of the launch.
        found: usize,
    },
    /// A kernel whose [`PARAMS`](crate::Kernel::PARAMS) do not agree with its PTX.
    #[error(
        "the parameters of the PTX entry have {expected:?} bytes, but those that the kernel describes have {found:?}"
    )]
    Parameters {
        /// Bytes of each parameter of the PTX entry.
        expected: Vec<usize>,
        /// Bytes of each parameter that the arguments became.
        found: Vec<usize>,
    },
    /// A kernel whose PTX or name contains a NUL byte, where the driver would stop reading.
    #[error("the kernel's PTX or name contains a NUL byte at offset {offset}")]
    Nul {
        /// Offset of the byte.
        offset: usize,
    },
}
