//! TMA: what a tensor map says, and the limits of what it can say.
//!
//! Unless they name another, the limits are those of `cuTensorMapEncodeTiled` (CUDA driver API, "Tensor Map Object
//! Management"), without interleaving.

use crate::{ElementType, SwizzleMode};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 5;

/// Largest extent that the driver encodes.
pub const MAX_EXTENT: u64 = 1 << 32;

/// Largest extent of which coordinates reach every element: they are signed 32-bit numbers (PTX ISA 9.0,
/// `cp.async.bulk.tensor`).
pub const MAX_REACHED_EXTENT: u64 = 1 << 31;

/// The smallest stride in bytes that is too large.
pub const STRIDE_END: u64 = 1 << 40;

/// What the address of a tensor, its strides and the rows of a box are multiples of, in bytes.
pub const GLOBAL_ALIGN: u32 = 16;

/// What the address of a box in shared memory is a multiple of, in bytes (PTX ISA 9.0, `cp.async.bulk.tensor`).
pub const SHARED_ALIGN: u32 = 128;

/// Largest extent of a box.
pub const MAX_BOX: u32 = 256;

/// Largest step from one element of a box to the next.
pub const MAX_ELEMENT_STRIDE: u32 = 8;

/// Bytes at whose multiples a store ends the rows of a tensor: it overwrites up to 15 bytes behind them. Measured on an H100,
/// for elements of 1, 2 and 4 bytes, with and without swizzle.
pub const STORE_UNIT: u32 = 16;

/// What the addresses and the length of a bulk copy without a tensor map are multiples of, in bytes (PTX ISA 9.0,
/// `cp.async.bulk`).
pub const BULK_ALIGN: u32 = 16;

/// Bytes of a tensor map: `.param .align 64 .b8 map[128]`.
pub const MAP_BYTES: usize = 128;

/// What the address of a tensor map is a multiple of, in bytes.
pub const MAP_ALIGN: u32 = 64;

/// How much more than it was asked for the L2 cache fetches of what TMA reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum L2Promotion {
    /// Sectors as requested.
    None,
    /// 64 bytes.
    B64,
    /// 128 bytes.
    #[default]
    B128,
    /// 256 bytes.
    B256,
}

/// What TMA delivers for elements outside the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OobFill {
    /// Zero.
    #[default]
    Zero,
    /// A special NaN; floating-point elements only.
    Nan,
}

/// The arguments of `cuTensorMapEncodeTiled`: what TMA is told of a tensor in global memory, and of the boxes that it copies.
/// The innermost dimension, whose elements are neighbours, comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Element type.
    pub element: ElementType,
    /// Address of the tensor.
    pub address: u64,
    /// Extents of the tensor, in elements.
    pub extents: Vec<u64>,
    /// Strides of all dimensions but the innermost, in bytes.
    pub strides: Vec<u64>,
    /// Extents of the box, in elements.
    pub box_extents: Vec<u32>,
    /// Steps from one element of the box to the next, in elements; all 1 for a dense box.
    pub element_strides: Vec<u32>,
    /// The swizzle of the box in shared memory.
    pub swizzle: SwizzleMode,
    /// How much the L2 cache fetches.
    pub l2: L2Promotion,
    /// What elements outside the tensor read as.
    pub fill: OobFill,
}

impl TensorMap {
    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// Elements of the box along a dimension that are copied: with an element stride, fewer than its extent.
    pub fn box_len(&self, dimension: usize) -> u32 {
        self.box_extents[dimension].div_ceil(self.element_strides[dimension])
    }

    /// Bytes of the box in shared memory.
    pub fn box_bytes(&self) -> u64 {
        let elements = (0..self.rank()).map(|dimension| u64::from(self.box_len(dimension)));
        elements.product::<u64>() * u64::from(self.element.bytes())
    }

    /// A rule of the driver that this map breaks, as a sentence; `None` if it is legal.
    pub fn problem(&self) -> Option<String> {
        let (rank, align) = (self.rank(), u64::from(GLOBAL_ALIGN));
        if rank == 0 || rank > MAX_RANK {
            return Some(format!("rank {rank} is not 1 to {MAX_RANK}"));
        }
        if (
            self.strides.len(),
            self.box_extents.len(),
            self.element_strides.len(),
        ) != (rank - 1, rank, rank)
        {
            return Some(format!(
                "rank {rank} with {} strides, {} box sizes and {} element strides",
                self.strides.len(),
                self.box_extents.len(),
                self.element_strides.len()
            ));
        }
        if !self.address.is_multiple_of(align) {
            return Some(format!(
                "address {:#x} is not a multiple of {align}",
                self.address
            ));
        }
        if let Some(extent) = self
            .extents
            .iter()
            .find(|extent| !(1..=MAX_EXTENT).contains(extent))
        {
            return Some(format!(
                "size {extent} is not 1 to 2^{}",
                MAX_EXTENT.ilog2()
            ));
        }
        let is_stride = |stride: &u64| stride.is_multiple_of(align) && *stride < STRIDE_END;
        if let Some(stride) = self.strides.iter().find(|stride| !is_stride(stride)) {
            return Some(format!(
                "stride of {stride} bytes is not a multiple of {align} below 2^{}",
                STRIDE_END.ilog2()
            ));
        }
        if let Some(extent) = self
            .box_extents
            .iter()
            .find(|extent| !(1..=MAX_BOX).contains(extent))
        {
            return Some(format!("box size {extent} is not 1 to {MAX_BOX}"));
        }
        let is_step = |stride: &u32| (1..=MAX_ELEMENT_STRIDE).contains(stride);
        if let Some(stride) = self.element_strides.iter().find(|stride| !is_step(stride)) {
            return Some(format!(
                "element stride {stride} is not 1 to {MAX_ELEMENT_STRIDE}"
            ));
        }
        let row = u64::from(self.box_len(0)) * u64::from(self.element.bytes());
        if !row.is_multiple_of(align) {
            return Some(format!(
                "box rows of {row} bytes are not a multiple of {align}"
            ));
        }
        let span = self.swizzle.span() as u64;
        if self.swizzle != SwizzleMode::None && row > span {
            return Some(format!(
                "box rows of {row} bytes are longer than the swizzle's {span}"
            ));
        }
        None
    }
}
