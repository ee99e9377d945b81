//! Kernels as values: what an instance of the kernel language expands to, and what a launch needs to know of it.

use std::fmt;

use crate::{ElementType, L2Promotion, OobFill, SwizzleMode};

/// A compiled kernel: its PTX and what a launch must agree with.
///
/// `#[kernels]` implements it for the type that it makes of each instance.
///
/// # Safety
///
/// The driver compiles the PTX and the GPU runs it, in the address space of this process. An implementation vouches for it:
///
/// - [`PTX`](Kernel::PTX) has an entry called [`NAME`](Kernel::NAME) whose parameters are what [`PARAMS`](Kernel::PARAMS)
///   become.
/// - The entry accesses global memory only through those parameters. It writes no tensor but `TmaStore` ones, and `Global` ones
///   that say `written`.
/// - It has no constant wgmma matrix descriptor, on which the JIT compiler of CUDA 13.0's driver crashes.
pub unsafe trait Kernel: 'static {
    /// Name of the entry in the PTX.
    const NAME: &'static str;
    /// The PTX module.
    const PTX: &'static str;
    /// Threads of a CTA.
    const THREADS: u32;
    /// CTAs of a cluster along x, y and z; `[1, 1, 1]` launches without clusters.
    const CLUSTER: [u32; 3];
    /// Dynamic shared memory of a CTA, in bytes.
    const SMEM_BYTES: u32;
    /// The arguments in order.
    const PARAMS: &'static [Param];
}

/// A parameter of a kernel, and the PTX parameters it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A tensor that is read by TMA: a 128-byte tensor map.
    TmaLoad(TmaRecipe),
    /// A tensor that is written by TMA: a 128-byte tensor map.
    TmaStore(TmaRecipe),
    /// A tensor in global memory whose last mode is contiguous: the address as `.u64`, then the strides of all modes but
    /// the last as `.u64`, in elements.
    Global {
        /// Name of the argument.
        name: &'static str,
        /// Its element type.
        element: ElementType,
        /// Number of modes.
        rank: usize,
        /// Whether the kernel writes it, so that a launch takes a mutable view.
        written: bool,
    },
    /// A number.
    Scalar {
        /// Name of the argument.
        name: &'static str,
        /// Its type.
        ty: ElementType,
    },
}

impl Param {
    /// Name of the argument.
    pub const fn name(&self) -> &'static str {
        match self {
            Param::TmaLoad(recipe) | Param::TmaStore(recipe) => recipe.name,
            Param::Global { name, .. } | Param::Scalar { name, .. } => name,
        }
    }
}

/// How a kernel wants its tensor map: the box that one TMA instruction moves, and where the box's bytes lie in shared
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TmaRecipe {
    /// Name of the argument.
    pub name: &'static str,
    /// Element type.
    pub element: ElementType,
    /// Extents of the box, in the order of the tensor's modes: the last mode is the contiguous one.
    pub box_shape: &'static [u32],
    /// Swizzle of the box in shared memory.
    pub swizzle: SwizzleMode,
    /// How much of a line the L2 cache fetches.
    pub l2: L2Promotion,
    /// What a load delivers outside the tensor.
    pub fill: OobFill,
}

/// CTAs of a launch along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// CTAs along x.
    pub x: u32,
    /// CTAs along y.
    pub y: u32,
    /// CTAs along z.
    pub z: u32,
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
