//! TMA: the contents of a tensor map, and their limits.
//!
//! Limits without a source come from `cuTensorMapEncodeTiled` without interleaving (CUDA driver API, "Tensor Map
//! Object Management").

use crate::{ElementType, SwizzleMode};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 5;

/// Largest extent of a tensor accepted by the driver.
pub const MAX_EXTENT: u64 = 1 << 32;

/// Largest extent at which TMA reaches every element: coordinates are signed 32-bit integers (PTX ISA 9.0,
/// `cp.async.bulk.tensor`).
pub const MAX_REACHED_EXTENT: u64 = 1 << 31;

/// Strides of a tensor are below this, in bytes.
pub const STRIDE_END: u64 = 1 << 40;

/// Alignment of a tensor's address, of its strides and of the rows of a box, in bytes.
pub const GLOBAL_ALIGN: u32 = 16;

/// Alignment of a box in shared memory, in bytes (PTX ISA 9.0, `cp.async.bulk.tensor`).
pub const SHARED_ALIGN: u32 = 128;

/// Largest extent of a box in elements, along every dimension.
pub const MAX_BOX: u32 = 256;

/// Largest step from one element of a box to the next, in elements of the tensor.
pub const MAX_ELEMENT_STRIDE: u32 = 8;

/// A store ends the rows of a tensor at multiples of this many bytes, so it overwrites up to 15 bytes after a row.
/// Measured on an H100, for elements of 1, 2 and 4 bytes, with and without swizzle.
pub const STORE_UNIT: u32 = 16;

/// Alignment of the start of a box along the innermost dimension, in bytes. Measured on an H200, for elements of 2 and 4 bytes:
/// other starts of loads, stores and reductions end with an illegal instruction.
pub const START_ALIGN: u32 = 16;

/// Why a box may not start at `start` along a dimension, as a sentence; `None` if it may. Dimension 0 is the innermost. `writes` is
/// true for stores and reductions: they must not start below 0 (measured on an H200).
pub fn start_problem(
    element: ElementType,
    dimension: usize,
    start: i64,
    writes: bool,
) -> Option<String> {
    let bytes = match element.bytes() {
        Ok(bytes) => i64::from(bytes),
        Err(error) => return Some(error.to_string()),
    };
    if dimension == 0 && start.wrapping_mul(bytes) % i64::from(START_ALIGN) != 0 {
        return Some(format!(
            "a box starts at element {start} of the innermost mode, whose elements have {bytes} bytes; it must start at a \
             multiple of {START_ALIGN} bytes"
        ));
    }
    (writes && start < 0).then(|| format!("a box that is written starts at {start}, below 0"))
}

/// Alignment of both addresses and of the length of a bulk copy without a tensor map, in bytes (PTX ISA 9.0,
/// `cp.async.bulk`).
pub const BULK_ALIGN: u32 = 16;

/// Size of a tensor map in bytes: `.param .align 64 .b8 map[128]`.
pub const MAP_BYTES: usize = 128;

/// Alignment of a tensor map, in bytes.
pub const MAP_ALIGN: u32 = 64;

/// Granularity of L2 promotion: the L2 cache enlarges TMA reads to this size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum L2Promotion {
    /// Only the requested sectors.
    None,
    /// Multiples of 64 bytes.
    B64,
    /// Multiples of 128 bytes.
    #[default]
    B128,
    /// Multiples of 256 bytes.
    B256,
}

/// Fill value of TMA loads for elements outside the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OobFill {
    /// Zeros.
    #[default]
    Zero,
    /// NaNs with a special bit pattern; only for floating-point elements.
    Nan,
}

/// The arguments of `cuTensorMapEncodeTiled`: a tensor in global memory, and the copied boxes. The innermost
/// dimension comes first; its elements are contiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Type of the tensor's elements.
    pub element: ElementType,
    /// Address of the tensor in global memory, a multiple of [`GLOBAL_ALIGN`].
    pub address: u64,
    /// Extents of the tensor, in elements; 1 to [`MAX_RANK`] of them.
    pub extents: Vec<u64>,
    /// Strides of all dimensions but the innermost, in bytes: multiples of [`GLOBAL_ALIGN`] below [`STRIDE_END`].
    pub strides: Vec<u64>,
    /// Extents of the box, in elements: at most [`MAX_BOX`].
    pub box_extents: Vec<u32>,
    /// Steps from one element of the box to the next, in elements; 1 for a dense box, at most
    /// [`MAX_ELEMENT_STRIDE`].
    pub element_strides: Vec<u32>,
    /// The swizzle of the box in shared memory.
    pub swizzle: SwizzleMode,
    /// Granularity of L2 promotion.
    pub l2: L2Promotion,
    /// Fill value for elements outside the tensor.
    pub fill: OobFill,
}

impl TensorMap {
    /// Number of dimensions of the tensor.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// Number of copied elements along a dimension of the box. This is the extent divided by the element stride,
    /// rounded up.
    pub fn box_len(&self, dimension: usize) -> u32 {
        self.box_extents[dimension].div_ceil(self.element_strides[dimension])
    }

    /// Size of the box in shared memory, in bytes.
    pub fn box_bytes(&self) -> u64 {
        let elements = (0..self.rank()).map(|dimension| u64::from(self.box_len(dimension)));
        let room = self.element.room_of(elements.product());
        room.unwrap_or(u64::MAX)
    }

    /// The first broken rule of the driver, as a sentence; `None` if the map is legal.
    pub fn problem(&self) -> Option<String> {
        let (rank, align) = (self.rank(), u64::from(GLOBAL_ALIGN));
        let (Some(_), Ok(bytes)) = (self.element.tensor_map(), self.element.bytes()) else {
            return Some(format!(
                "tensor maps have no elements of `{}`, which have {} bits",
                self.element,
                self.element.bits()
            ));
        };
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
        let row = u64::from(self.box_len(0)) * u64::from(bytes);
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn tensor_maps_have_elements_of_whole_bytes() {
        for &element in ElementType::ALL {
            let map = TensorMap {
                element,
                address: 0,
                extents: vec![256],
                strides: vec![],
                box_extents: vec![64],
                element_strides: vec![1],
                swizzle: SwizzleMode::None,
                l2: L2Promotion::None,
                fill: OobFill::Zero,
            };
            assert_eq!(8 * map.box_bytes(), 64 * u64::from(element.bits()));
            let start = start_problem(element, 0, 16, false);
            match element.bytes() {
                Ok(_) => assert_eq!((map.problem(), start), (None, None)),
                Err(error) => {
                    let problem =
                        format!("tensor maps have no elements of `{element}`, which have 4 bits");
                    assert_eq!(
                        (map.problem(), start),
                        (Some(problem), Some(error.to_string()))
                    );
                }
            }
        }
    }
}
