//! The description of a kernel for launches: PTX, parameters, facts and reports.

use std::fmt;

use cute_chip::threads::MAX_GRID;
use cute_chip::tma::MAP_BYTES;

use crate::{Comparison, ElementType, Fact, L2Promotion, OobFill, SwizzleMode, Term};

/// A kernel as PTX, with the data that a launch needs.
///
/// `#[kernels]` declares a type for each instance of a kernel and implements this trait for it. The function `launch` of the type
/// takes the device, the grid and the kernel's arguments: a view of a tensor to read, a mutable view of a tensor to write,
/// numbers by value, and slices of these for lists.
///
/// ```
/// use cute_runtime::{Device, Error, Kernel, Tensor, kernels};
///
/// #[kernels]
/// mod scaling {
///     /// x[i] *= by.
///     #[kernel(threads = 64)]
///     #[instance(scale_f32: T = f32)]
///     #[instance(scale_i32: T = i32)]
///     pub fn scale<T: Element>(x: Global<T, 1>, by: i32) {
///         let i = block_idx().0 * 64 + thread();
///         if i < extent(x, 0) {
///             x[i] = x[i] * convert::<T>(by);
///         }
///     }
/// }
///
/// use scaling::scale_i32;
/// assert_eq!((scale_i32::NAME, scale_i32::THREADS, scale_i32::SMEM_BYTES), ("scale_i32", 64, 0));
/// assert!(scale_i32::PTX.contains(".visible .entry scale_i32("));
///
/// let device = Device::emulator();
/// let mut x = Tensor::from_slice(&device, &[5; 100], [100])?;
/// scale_i32::launch(&device, 2, &mut x.view_mut(), 3)?;
/// assert_eq!(x.download()?, [15; 100]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Safety
///
/// The driver compiles the PTX, and the GPU runs it with access to all device memory of this process. An implementation
/// promises:
///
/// - [`PTX`](Kernel::PTX) has an entry called [`NAME`](Kernel::NAME), and [`PARAMS`](Kernel::PARAMS) describe its parameters, in
///   order.
/// - The entry accesses global memory only through these parameters. It writes only to tensors that are `TmaStore`, or
///   `Global` with `written`.
/// - The PTX contains no constant wgmma matrix descriptor, on which the JIT compiler of CUDA 13.0's driver crashes.
/// - If [`IS_SAFE`](Kernel::IS_SAFE), the entry stays inside of its tensors with every grid and all arguments that the launch accepts.
pub unsafe trait Kernel: 'static {
    /// Name of the entry in the PTX.
    const NAME: &'static str;
    /// The PTX module as text. Its `.target` is the chip that the kernel is for.
    const PTX: &'static str;
    /// Threads of a CTA, all along x: 1 to 1024.
    const THREADS: u32;
    /// CTAs of a cluster along x, y and z, at most 8 together, and only on chips with clusters; `[1, 1, 1]` launches
    /// without clusters.
    const CLUSTER: [u32; 3];
    /// Dynamic shared memory of a CTA in bytes: at most 232,448, and for `sm_80` 166,912.
    const SMEM_BYTES: u32;
    /// The parameters, in the order of the arguments.
    const PARAMS: &'static [Param];
    /// The facts about the arguments of a launch on which the PTX relies.
    const FACTS: &'static [Fact] = &[];
    /// The statements that report to the host at run time: `print!`, and `assert!` of run-time conditions. If there are any, the
    /// entry has one more parameter, a `.u64`: the address of the buffer for reports.
    const REPORTS: &'static [Report] = &[];
    /// Whether safe code may launch the kernel: it is no `unsafe fn`.
    const IS_SAFE: bool = false;
    /// The types of the constants, a second time. `#[kernels]` names the types by a path from the program, and rustc compares
    /// them with the types of this crate. So no other `ElementType::F32` can replace that of this crate.
    #[doc(hidden)]
    const TYPES: Types = [];
}

/// The values of a constant for which a kernel has instances, such as `gemm_CFG`: the enums that `#[instances(…)]` makes implement it, if
/// host code can have the type of the constant. Generic host functions choose one of them by what it is.
pub trait Constant: Copy + 'static {
    /// The type of the constant.
    type Value;
    /// All values, in the order of `#[instances(…)]`.
    const ALL: &'static [Self];

    /// What the constant is.
    fn value(self) -> Self::Value;
}

/// The types that the constants of a [`Kernel`] name.
pub type Types = [(
    Param,
    TmaRecipe,
    ElementType,
    SwizzleMode,
    L2Promotion,
    OobFill,
    Fact,
    Comparison,
    Term,
    Report,
    Piece,
); 0];

/// A statement of a kernel that reports to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The source file; empty if it is not known.
    pub file: &'static str,
    /// The line in it, from 1; 0 if it is not known.
    pub line: u32,
    /// Whether the statement is an `assert!`, whose failure ends the kernel.
    pub fails: bool,
    /// The parts of its message.
    pub pieces: &'static [Piece],
}

/// A part of a [`Report`]'s message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(&'static str),
    /// A truth value that the kernel writes.
    Bool,
    /// A number of this type that the kernel writes.
    Number(ElementType),
}

/// A parameter of a kernel, and the PTX parameters that its argument becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A tensor that the kernel reads by TMA. It becomes one parameter, a tensor map of 128 bytes.
    TmaLoad(TmaRecipe),
    /// A tensor that the kernel writes by TMA. It becomes one parameter, a tensor map of 128 bytes.
    TmaStore(TmaRecipe),
    /// A tensor that the kernel accesses by loads and stores. The last mode is contiguous. The tensor becomes `rank` parameters
    /// of type `.u64`: the address, then the strides in elements of all modes but the last. With `extents`, `rank` parameters of
    /// type `.u32` follow: the extents of all modes, each at most 2³¹.
    Global {
        /// Name of the argument.
        name: &'static str,
        /// Element type of the tensor.
        element: ElementType,
        /// Number of modes of the tensor.
        rank: usize,
        /// Whether the kernel writes the tensor. If so, the argument must be a mutable view.
        written: bool,
        /// Whether the extents are parameters of the PTX, too.
        extents: bool,
    },
    /// A number. It becomes one parameter of its type.
    Scalar {
        /// Name of the argument.
        name: &'static str,
        /// Type of the number.
        ty: ElementType,
    },
    /// A list. It becomes the parameters of one item, each as an array of `most` entries, and then the length as a `.u32`. A
    /// `Global` in a list has extents.
    List {
        /// The parameter of each item.
        each: &'static Param,
        /// The largest number of items.
        most: u32,
    },
}

impl Param {
    /// Name of the argument.
    pub const fn name(&self) -> &'static str {
        match self {
            Param::TmaLoad(recipe) | Param::TmaStore(recipe) => recipe.name,
            Param::Global { name, .. } | Param::Scalar { name, .. } => name,
            Param::List { each, .. } => each.name(),
        }
    }

    /// Whether the kernel writes the tensors of the argument.
    pub(crate) const fn writes(&self) -> bool {
        match self {
            Param::TmaStore(_) => true,
            Param::Global { written, .. } => *written,
            Param::TmaLoad(_) | Param::Scalar { .. } => false,
            Param::List { each, .. } => each.writes(),
        }
    }

    /// The bytes of each PTX parameter of the argument, or of one item of a list.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        match self {
            Param::TmaLoad(_) | Param::TmaStore(_) => vec![MAP_BYTES],
            Param::Global { rank, extents, .. } => {
                let mut sizes = vec![size_of::<u64>(); *rank];
                sizes.resize(rank + if *extents { *rank } else { 0 }, size_of::<u32>());
                sizes
            }
            Param::Scalar { ty, .. } => vec![ty.bits().div_ceil(8) as usize],
            Param::List { each, .. } => each.sizes(),
        }
    }
}

/// The part of a tensor map that the kernel fixes: the box of one TMA instruction, and the order of its bytes in shared memory.
/// The tensor of the launch gives the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TmaRecipe {
    /// Name of the argument.
    pub name: &'static str,
    /// Element type of the tensor.
    pub element: ElementType,
    /// Extents of the box in the order of the tensor's modes: 1 to 5 extents of 1 to 256 elements. The last mode is contiguous,
    /// and its extent is a multiple of 16 bytes.
    pub box_shape: &'static [u32],
    /// How the 16-byte units of the box are permuted in shared memory.
    pub swizzle: SwizzleMode,
    /// How many bytes the L2 cache fetches at a time.
    pub l2: L2Promotion,
    /// The value that a load writes to shared memory for elements outside the tensor.
    pub fill: OobFill,
}

/// Number of CTAs of a launch along x, y and z: 1 to 2³¹ − 1 along x, and 1 to 65,535 along y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// CTAs along x.
    pub x: u32,
    /// CTAs along y.
    pub y: u32,
    /// CTAs along z.
    pub z: u32,
}

impl Grid {
    /// At least x × y CTAs, for y above the limit of the second axis: the rows continue along the third axis. CTA (i, j, k) is in
    /// column i and row `j + k * grid_dim().1`. At the end, up to z - 1 rows may be beyond y.
    ///
    /// ```
    /// use cute_runtime::Grid;
    /// assert_eq!(Grid::folded(8, 1000), (8, 1000).into());
    /// assert_eq!(Grid::folded(8, 200_001), (8, 50_001, 4).into());
    /// ```
    pub fn folded(x: u32, y: u32) -> Self {
        let z = y.div_ceil(MAX_GRID[1]).max(1);
        Grid {
            x,
            y: y.div_ceil(z),
            z,
        }
    }
}

impl From<u32> for Grid {
    fn from(x: u32) -> Self {
        Grid { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Grid {
    fn from((x, y): (u32, u32)) -> Self {
        Grid { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Grid {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Grid { x, y, z }
    }
}

impl From<Grid> for [u32; 3] {
    fn from(grid: Grid) -> Self {
        [grid.x, grid.y, grid.z]
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}
