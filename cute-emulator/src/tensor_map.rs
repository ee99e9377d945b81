//! Tensor maps: how TMA sees a tensor in global memory.

use cute_ptx::ast::Type;
use std::ops::Range;

/// The size of a tensor map, as a parameter of a kernel.
pub const TENSOR_MAP_BYTES: usize = 128;
/// Marks the 128 bytes as ours: those of the driver have another, unpublished form.
const MAGIC: [u8; 4] = *b"TMAP";
/// A swizzle permutes pieces of this size.
pub(crate) const CHUNK_BYTES: usize = 16;
/// Most dimensions of a tensor map.
const MAX_RANK: usize = 5;
/// Most elements of a box along one dimension.
const MAX_BOX: u32 = 256;

/// A tensor map, as `cuTensorMapEncodeTiled` takes it: innermost dimension first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Element type.
    pub element: TensorElement,
    /// Address of the tensor.
    pub address: u64,
    /// Sizes in elements.
    pub dims: Vec<u64>,
    /// Strides in bytes of every dimension but the innermost.
    pub strides: Vec<u64>,
    /// Sizes of the box in elements.
    pub box_dims: Vec<u32>,
    /// Strides within the box in elements; all 1 for a dense box.
    pub element_strides: Vec<u32>,
    /// The swizzle of the box in shared memory.
    pub swizzle: TensorSwizzle,
    /// What elements outside the tensor read as.
    pub fill: TensorFill,
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            const ALL: &[$name] = &[$($name::$variant,)*];
        }
    };
}

named! {
    /// An element type of a tensor map.
    TensorElement {
        /// Unsigned bytes; also every 8-bit float.
        U8,
        /// 16-bit unsigned.
        U16,
        /// 32-bit unsigned.
        U32,
        /// 32-bit signed.
        S32,
        /// 64-bit unsigned.
        U64,
        /// 64-bit signed.
        S64,
        /// Half precision.
        F16,
        /// Single precision.
        F32,
        /// Double precision.
        F64,
        /// bfloat16.
        Bf16,
        /// Single precision rounded to tf32.
        Tf32,
    }
}

named! {
    /// The swizzle of a box in shared memory.
    TensorSwizzle {
        /// None.
        None,
        /// Within rows of 32 bytes.
        B32,
        /// Within rows of 64 bytes.
        B64,
        /// Within rows of 128 bytes.
        B128,
    }
}

named! {
    /// What elements outside the tensor read as.
    TensorFill {
        /// Zero.
        Zero,
        /// NaN, for floating-point elements.
        Nan,
    }
}

impl TensorElement {
    /// Size in bytes.
    pub const fn bytes(self) -> usize {
        use TensorElement::*;
        match self {
            U8 => 1,
            U16 | F16 | Bf16 => 2,
            U32 | S32 | F32 | Tf32 => 4,
            U64 | S64 | F64 => 8,
        }
    }

    /// The type by which PTX computes with the elements.
    pub(crate) fn ptx(self) -> Type {
        use TensorElement::*;
        match self {
            U8 => Type::U8,
            U16 => Type::U16,
            U32 => Type::U32,
            S32 => Type::S32,
            U64 => Type::U64,
            S64 => Type::S64,
            F16 => Type::F16,
            Bf16 => Type::Bf16,
            F32 | Tf32 => Type::F32,
            F64 => Type::F64,
        }
    }

    /// The bits of what a missing element reads as.
    pub(crate) fn fill(self, fill: TensorFill) -> u64 {
        use TensorElement::*;
        match (fill, self) {
            (TensorFill::Nan, F16) => 0x7fff,
            (TensorFill::Nan, Bf16) => 0x7fff,
            (TensorFill::Nan, F32 | Tf32) => 0x7fff_ffff,
            (TensorFill::Nan, F64) => 0x7fff_ffff_ffff_ffff,
            _ => 0,
        }
    }
}

impl TensorSwizzle {
    /// The permuted address: bits 4 and up are XORed with bits 7 and up.
    pub(crate) fn apply(self, address: u64) -> u64 {
        let mask = match self {
            TensorSwizzle::None => 0,
            TensorSwizzle::B32 => 1,
            TensorSwizzle::B64 => 3,
            TensorSwizzle::B128 => 7,
        };
        address ^ (((address >> 7) & mask) << 4)
    }

    /// Bytes of a row, within which the swizzle permutes; the box may not be wider.
    const fn span(self) -> Option<u64> {
        match self {
            TensorSwizzle::None => None,
            TensorSwizzle::B32 => Some(32),
            TensorSwizzle::B64 => Some(64),
            TensorSwizzle::B128 => Some(128),
        }
    }
}

impl TensorMap {
    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Elements of the box along `dim` that are copied: with an element stride, fewer than its size.
    pub(crate) fn box_len(&self, dim: usize) -> u32 {
        self.box_dims[dim].div_ceil(self.element_strides[dim])
    }

    /// Bytes of the box in shared memory.
    pub(crate) fn box_bytes(&self) -> u64 {
        (0..self.rank())
            .map(|dim| u64::from(self.box_len(dim)))
            .product::<u64>()
            * self.element.bytes() as u64
    }

    /// Every rule of the driver that this map breaks, as one sentence; `None` if it is legal.
    pub fn problem(&self) -> Option<String> {
        let (rank, size) = (self.rank(), self.element.bytes() as u64);
        if rank == 0 || rank > MAX_RANK {
            return Some(format!("rank {rank} is not 1 to {MAX_RANK}"));
        }
        if (
            self.strides.len(),
            self.box_dims.len(),
            self.element_strides.len(),
        ) != (rank - 1, rank, rank)
        {
            return Some(format!(
                "rank {rank} with {} strides, {} box sizes and {} element strides",
                self.strides.len(),
                self.box_dims.len(),
                self.element_strides.len()
            ));
        }
        if !self.address.is_multiple_of(16) {
            return Some(format!(
                "address {:#x} is not a multiple of 16",
                self.address
            ));
        }
        if let Some(dim) = self.dims.iter().find(|dim| **dim == 0 || **dim > 1 << 32) {
            return Some(format!("size {dim} is not 1 to 2^32"));
        }
        if let Some(stride) = self
            .strides
            .iter()
            .find(|stride| !stride.is_multiple_of(16) || **stride >= 1 << 40)
        {
            return Some(format!(
                "stride of {stride} bytes is not a multiple of 16 below 2^40"
            ));
        }
        if let Some(size) = self
            .box_dims
            .iter()
            .find(|size| **size == 0 || **size > MAX_BOX)
        {
            return Some(format!("box size {size} is not 1 to {MAX_BOX}"));
        }
        if let Some(stride) = self
            .element_strides
            .iter()
            .find(|stride| **stride == 0 || **stride > 8)
        {
            return Some(format!("element stride {stride} is not 1 to 8"));
        }
        let inner = u64::from(self.box_len(0)) * size;
        if !inner.is_multiple_of(16) {
            return Some(format!(
                "box rows of {inner} bytes are not a multiple of 16"
            ));
        }
        match self.swizzle.span() {
            Some(span) if inner > span => Some(format!(
                "box rows of {inner} bytes are longer than the swizzle's {span}"
            )),
            _ => None,
        }
    }

    /// The 128 bytes that a kernel gets as its `.param .align 64 .b8 map[128]`; the reason if the map is not legal.
    pub fn to_bytes(&self) -> Result<[u8; TENSOR_MAP_BYTES], String> {
        if let Some(problem) = self.problem() {
            return Err(problem);
        }
        let mut bytes = Vec::with_capacity(TENSOR_MAP_BYTES);
        bytes.extend(MAGIC);
        bytes.extend([
            self.rank() as u8,
            self.element as u8,
            self.swizzle as u8,
            self.fill as u8,
        ]);
        bytes.extend(self.address.to_le_bytes());
        self.dims
            .iter()
            .for_each(|dim| bytes.extend(dim.to_le_bytes()));
        self.strides
            .iter()
            .for_each(|stride| bytes.extend((*stride >> 4).to_le_bytes()[..5].iter()));
        self.box_dims
            .iter()
            .for_each(|size| bytes.extend((*size as u16).to_le_bytes()));
        self.element_strides
            .iter()
            .for_each(|stride| bytes.push(*stride as u8));
        bytes.resize(TENSOR_MAP_BYTES, 0);
        bytes
            .try_into()
            .map_err(|_| "a tensor map is longer than 128 bytes".to_owned())
    }

    /// Reads what [`TensorMap::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Option<TensorMap> {
        let mut rest = Reader {
            bytes: bytes.get(..TENSOR_MAP_BYTES)?,
        };
        if rest.take(4)? != MAGIC {
            return None;
        }
        let rank = usize::from(rest.take(1)?[0]);
        if rank == 0 || rank > MAX_RANK {
            return None;
        }
        let element = *TensorElement::ALL.get(usize::from(rest.take(1)?[0]))?;
        let swizzle = *TensorSwizzle::ALL.get(usize::from(rest.take(1)?[0]))?;
        let fill = *TensorFill::ALL.get(usize::from(rest.take(1)?[0]))?;
        let map = TensorMap {
            element,
            swizzle,
            fill,
            address: rest.number(8)?,
            dims: (0..rank).map(|_| rest.number(8)).collect::<Option<_>>()?,
            strides: (1..rank)
                .map(|_| rest.number(5).map(|stride| stride << 4))
                .collect::<Option<_>>()?,
            box_dims: (0..rank)
                .map(|_| rest.number(2).map(|size| size as u32))
                .collect::<Option<_>>()?,
            element_strides: (0..rank)
                .map(|_| rest.number(1).map(|stride| stride as u32))
                .collect::<Option<_>>()?,
        };
        map.problem().is_none().then_some(map)
    }

    /// Sixteen bytes of what is outside of the tensor.
    pub(crate) fn fill_pattern(&self) -> [u8; CHUNK_BYTES] {
        let size = self.element.bytes();
        let element = self.element.fill(self.fill).to_le_bytes();
        std::array::from_fn(|i| element[i % size])
    }

    /// Calls a function for every 16 bytes of the box at `coords`, in the order of shared memory.
    pub(crate) fn chunks<E>(
        &self,
        coords: &[i64],
        mut f: impl FnMut(Chunk) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = self.element.bytes();
        let inner = self.box_len(0) as usize;
        let rows: u64 = (1..self.rank())
            .map(|dim| u64::from(self.box_len(dim)))
            .product();
        for row in 0..rows {
            let base = self.row_address(coords, row);
            for first in (0..inner).step_by(CHUNK_BYTES / size) {
                let offset = (row * inner as u64 + first as u64) * size as u64;
                let parts =
                    base.map_or_else(Vec::new, |base| self.parts(coords[0], base, first, inner));
                f(Chunk { offset, parts })?;
            }
        }
        Ok(())
    }

    /// Makes rows end where a store clips them: at the next multiple of 16 bytes.
    ///
    /// Measured on an H100: a tile store writes the whole of a row's last 16 bytes, whatever the tensor's extent.
    pub(crate) fn end_rows_at_whole_units(&mut self) {
        self.dims[0] = self.dims[0].next_multiple_of((CHUNK_BYTES / self.element.bytes()) as u64);
    }

    /// The address of the innermost coordinate 0 in a row of the box; `None` if the row is outside of the tensor.
    fn row_address(&self, coords: &[i64], row: u64) -> Option<u64> {
        let (mut rest, mut address) = (row, self.address);
        for (dim, start) in coords.iter().enumerate().skip(1) {
            let len = u64::from(self.box_len(dim));
            let coord = start + (rest % len) as i64 * i64::from(self.element_strides[dim]);
            rest /= len;
            let coord = u64::try_from(coord)
                .ok()
                .filter(|coord| *coord < self.dims[dim])?;
            address = address.wrapping_add(coord.wrapping_mul(self.strides[dim - 1]));
        }
        Some(address)
    }

    /// The parts of a chunk that lie inside of the tensor: neighbours in memory are one part.
    fn parts(&self, start: i64, base: u64, first: usize, inner: usize) -> Vec<(Range<usize>, u64)> {
        let size = self.element.bytes();
        let mut parts: Vec<(Range<usize>, u64)> = Vec::with_capacity(1);
        for element in 0..(CHUNK_BYTES / size).min(inner - first) {
            let coord = start + (first + element) as i64 * i64::from(self.element_strides[0]);
            let Some(coord) = u64::try_from(coord)
                .ok()
                .filter(|coord| *coord < self.dims[0])
            else {
                continue;
            };
            let (offset, address) = (element * size, base.wrapping_add(coord * size as u64));
            match parts.last_mut() {
                Some((range, from))
                    if range.end == offset && from.wrapping_add(range.len() as u64) == address =>
                {
                    range.end += size
                }
                _ => parts.push((offset..offset + size, address)),
            }
        }
        parts
    }
}

/// Sixteen bytes of a box: the unit that a swizzle moves.
pub(crate) struct Chunk {
    /// Offset in the box, before the swizzle.
    pub(crate) offset: u64,
    /// What of it exists: ranges of the chunk and their addresses.
    pub(crate) parts: Vec<(Range<usize>, u64)>,
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }

    fn number(&mut self, len: usize) -> Option<u64> {
        Some(
            self.take(len)?
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u64::from(*byte)),
        )
    }
}
