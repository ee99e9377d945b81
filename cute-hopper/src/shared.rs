//! Shared memory.

/// Most shared memory of a CTA, in bytes: 227 KiB (CUDA C++ Programming Guide, "Compute Capabilities").
pub const MAX_BYTES: u32 = 227 * 1024;

/// Most shared memory of a CTA that a module can declare with a size, in bytes: more is `.extern` and asked for at the launch
/// (CUDA C++ Programming Guide, "Compute Capability 9.0").
pub const MAX_STATIC_BYTES: u32 = 48 * 1024;

/// Bytes that the system keeps at the start of the shared memory of each CTA (CUDA C++ Programming Guide, "Compute
/// Capability 9.0").
pub const RESERVED_BYTES: u32 = 1024;

/// Addresses of shared memory are below this, so that 14 bits hold one in units of 16 bytes (PTX ISA 9.0, "Matrix Descriptor
/// Format").
pub const ADDRESS_END: u32 = 1 << 18;

/// Banks, each of which delivers one word at a time (CUDA C++ Programming Guide, "Shared Memory").
pub const BANKS: u32 = 32;

/// Bytes of a bank's word.
pub const BANK_BYTES: u32 = 4;

/// Most bytes that a thread reads or writes at once: `.v4.b32` (PTX ISA 9.0, "ld").
pub const WIDEST_ACCESS: u32 = 16;

/// Rows of a matrix of `ldmatrix` and `stmatrix` (PTX ISA 9.0, "ldmatrix").
pub const MATRIX_ROWS: u32 = 8;

/// Bytes of a row of such a matrix.
pub const MATRIX_ROW_BYTES: u32 = 16;
