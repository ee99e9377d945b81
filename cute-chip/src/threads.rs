//! Threads and their groups, and the limits of a launch.

/// Number of threads of a warp.
pub const WARP: u32 = 32;

/// Number of warps of a warpgroup (PTX ISA 9.0, "Warpgroup").
pub const WARPGROUP_WARPS: u32 = 4;

/// Number of threads of a warpgroup.
pub const WARPGROUP: u32 = WARPGROUP_WARPS * WARP;

/// Most CTAs of a grid along x, y and z (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_GRID: [u32; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// Most bytes of all parameters of a kernel before PTX 8.1 (PTX ISA 9.0, "Kernel Function Parameters").
pub const MAX_PARAMETER_BYTES: u32 = 4096;

/// Most bytes of all parameters of a kernel since PTX 8.1.
pub const MAX_PARAMETER_BYTES_8_1: u32 = 32_764;
