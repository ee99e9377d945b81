//! Threads and their groups, and the limits of a launch.

/// Number of threads of a warp.
pub const WARP: u32 = 32;

/// Number of warps of a warpgroup (PTX ISA 9.0, "Warpgroup").
pub const WARPGROUP_WARPS: u32 = 4;

/// Number of threads of a warpgroup.
pub const WARPGROUP: u32 = WARPGROUP_WARPS * WARP;

/// Most threads of a CTA (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_CTA: u32 = 1024;

/// Most resident warps and CTAs of a multiprocessor (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_RESIDENT: (u32, u32) = (64, 32);

/// Most CTAs of a portable cluster (CUDA C++ Programming Guide, "Thread Block Clusters").
pub const MAX_CLUSTER: u32 = 8;

/// Most CTAs of a cluster if the launch allows non-portable sizes (CUDA driver API,
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`; 16 on an H100).
pub const MAX_NON_PORTABLE_CLUSTER: u32 = 16;

/// Most CTAs of a grid along x, y and z (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_GRID: [u32; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// Most bytes of all parameters of a kernel before PTX 8.1 (PTX ISA 9.0, "Kernel Function Parameters").
pub const MAX_PARAMETER_BYTES: u32 = 4096;

/// Most bytes of all parameters of a kernel since PTX 8.1.
pub const MAX_PARAMETER_BYTES_8_1: u32 = 32_764;
