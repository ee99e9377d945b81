//! Shared memory: addresses, accesses and banks.

/// A CTA takes shared memory in multiples of this many bytes (CUDA occupancy calculator, "Shared memory allocation unit
/// size").
pub const UNIT: u32 = 128;

/// Most static shared memory of a CTA, in bytes. More must be declared `.extern` and requested at the launch (CUDA
/// C++ Programming Guide, "Compute Capabilities").
pub const MAX_STATIC_BYTES: u32 = 48 * 1024;

/// Shared-memory addresses are below this, so an address in units of 16 bytes takes 14 bits (PTX ISA 9.0, "Matrix
/// Descriptor Format").
pub const ADDRESS_END: u32 = 1 << 18;

/// Number of banks. Each delivers one word at a time (CUDA C++ Programming Guide, "Shared Memory").
pub const BANKS: u32 = 32;

/// Bytes of one word of a bank.
pub const BANK_BYTES: u32 = 4;

/// Widest load or store of one thread, in bytes: `.v4.b32` (PTX ISA 9.0, "ld").
pub const WIDEST_ACCESS: u32 = 16;

/// Number of rows of a matrix of `ldmatrix` and `stmatrix` (PTX ISA 9.0, "ldmatrix").
pub const MATRIX_ROWS: u32 = 8;

/// Bytes of a row of a matrix of `ldmatrix` and `stmatrix`.
pub const MATRIX_ROW_BYTES: u32 = 16;
