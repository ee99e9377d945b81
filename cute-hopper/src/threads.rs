//! Threads, how they are grouped, and what a launch hands them.

/// Threads of a warp.
pub const WARP: u32 = 32;

/// Warps of a warpgroup (PTX ISA 9.0, "Warpgroup").
pub const WARPGROUP_WARPS: u32 = 4;

/// Threads of a warpgroup.
pub const WARPGROUP: u32 = WARPGROUP_WARPS * WARP;

/// Most threads of a CTA (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_CTA: u32 = 1024;

/// Most CTAs of a cluster that every device of the architecture can place (CUDA C++ Programming Guide, "Thread Block
/// Clusters").
pub const MAX_CLUSTER: u32 = 8;

/// Most CTAs of a cluster for which the launch allows sizes that are not portable (CUDA driver API,
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`; 16 on an H100).
pub const MAX_NON_PORTABLE_CLUSTER: u32 = 16;

/// Most CTAs of a grid along x, y and z (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_GRID: [u32; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// Most bytes of a kernel's parameters before PTX 8.1 (PTX ISA 9.0, "Kernel Function Parameters").
pub const MAX_PARAMETER_BYTES: u32 = 4096;

/// Most bytes of a kernel's parameters since PTX 8.1.
pub const MAX_PARAMETER_BYTES_8_1: u32 = 32_764;
