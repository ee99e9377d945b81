//! Tensor maps in memory: the emulator's encoding of them, and the boxes that TMA copies.

use cute_chip::tma::{self, L2Promotion, MAP_BYTES, MAX_RANK, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode, wgmma};
use cute_ptx::ast::Type;
use std::ops::Range;

/// Marks the 128 bytes as the emulator's encoding. The driver's encoding is different and unpublished.
const MAGIC: [u8; 4] = *b"TMAP";
/// A swizzle permutes pieces of this size.
pub(crate) const CHUNK_BYTES: usize = wgmma::CORE_BYTES as usize;

/// The 128 bytes that a kernel gets as its `.param .align 64 .b8 map[128]`; the reason if the map is not legal.
///
/// The bytes do not contain the L2 promotion, since the emulator has no L2 cache.
pub fn encode_tensor_map(map: &TensorMap) -> Result<[u8; MAP_BYTES], String> {
    match map.problem() {
        Some(problem) => Err(problem),
        None => bytes_of(map),
    }
}

/// The bytes of a map, legal or not.
fn bytes_of(map: &TensorMap) -> Result<[u8; MAP_BYTES], String> {
    let element = map.element.tensor_map();
    let element =
        element.ok_or_else(|| format!("no tensor map has elements of `{}`", map.element))?;
    let mut bytes = Vec::with_capacity(MAP_BYTES);
    bytes.extend(MAGIC);
    bytes.extend([
        map.rank() as u8,
        element as u8,
        map.swizzle.tensor_map() as u8,
        u8::from(map.fill == OobFill::Nan),
    ]);
    bytes.extend(map.address.to_le_bytes());
    map.extents
        .iter()
        .for_each(|extent| bytes.extend(extent.to_le_bytes()));
    map.strides
        .iter()
        .for_each(|stride| bytes.extend((*stride >> 4).to_le_bytes()[..5].iter()));
    map.box_extents
        .iter()
        .for_each(|extent| bytes.extend((*extent as u16).to_le_bytes()));
    map.element_strides
        .iter()
        .for_each(|stride| bytes.push(*stride as u8));
    bytes.resize(MAP_BYTES, 0);
    bytes
        .try_into()
        .map_err(|_| format!("a tensor map is longer than {MAP_BYTES} bytes"))
}

/// Decodes the bytes of [`encode_tensor_map`]. If several element types have one name in tensor maps, the first is returned.
pub fn decode_tensor_map(bytes: &[u8]) -> Option<TensorMap> {
    fields(bytes).filter(|map| map.problem().is_none())
}

/// A field for `tensormap.replace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Address,
    Rank,
    Box(usize),
    Extent(usize),
    Stride(usize),
    ElementStride(usize),
    Element,
    Interleave,
    Swizzle,
    Fill,
}

/// Changes a field. The map can be illegal before and after, since fields are changed one by one. The error is the reason if the bytes
/// are no tensor map or the field cannot have the value (PTX ISA 9.0, `tensormap.replace`).
pub(crate) fn replace(bytes: &[u8], field: Field, value: u64) -> Result<[u8; MAP_BYTES], String> {
    let mut map = fields(bytes).ok_or("the operand is not the address of a tensor map")?;
    let wrong = || format!("{value} is not a value of this field of a tensor map");
    let narrow = u32::try_from(value).map_err(|_| wrong());
    let rank = map.rank();
    fn place<T>(values: &mut [T], i: usize, rank: usize) -> Result<&mut T, String> {
        let found = values.get_mut(i);
        found.ok_or_else(|| format!("dimension {i} is not one of a tensor map of rank {rank}"))
    }
    match field {
        Field::Address => map.address = value,
        Field::Rank => {
            let rank = usize::try_from(value)
                .unwrap_or(usize::MAX)
                .saturating_add(1);
            if rank > MAX_RANK {
                return Err(wrong());
            }
            map.extents.resize(rank, 1);
            map.strides.resize(rank - 1, 0);
            map.box_extents.resize(rank, 1);
            map.element_strides.resize(rank, 1);
        }
        Field::Box(i) => *place(&mut map.box_extents, i, rank)? = narrow?,
        Field::Extent(i) => *place(&mut map.extents, i, rank)? = value,
        Field::Stride(i) => *place(&mut map.strides, i, rank)? = value,
        Field::ElementStride(i) => *place(&mut map.element_strides, i, rank)? = narrow?,
        Field::Element => {
            // PTX's numbers of the element types, indexed by the driver's.
            const OF_DRIVER: [u32; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11];
            let number = OF_DRIVER.get(value as usize).ok_or_else(wrong)?;
            map.element = ElementType::from_tensor_map(*number).ok_or_else(wrong)?;
        }
        Field::Interleave if value == 0 => {}
        Field::Interleave => return Err("interleaved tensor maps are not modelled".to_owned()),
        Field::Swizzle => map.swizzle = SwizzleMode::from_tensor_map(narrow?).ok_or_else(wrong)?,
        Field::Fill if value > 1 => return Err(wrong()),
        Field::Fill => map.fill = [OobFill::Zero, OobFill::Nan][value as usize],
    }
    bytes_of(&map)
}

/// The fields, even if they are not legal together.
fn fields(bytes: &[u8]) -> Option<TensorMap> {
    let mut rest = Reader {
        bytes: bytes.get(..MAP_BYTES)?,
    };
    if rest.take(4)? != MAGIC {
        return None;
    }
    let rank = usize::from(rest.take(1)?[0]);
    if rank == 0 || rank > MAX_RANK {
        return None;
    }
    Some(TensorMap {
        element: ElementType::from_tensor_map(rest.take(1)?[0].into())?,
        swizzle: SwizzleMode::from_tensor_map(rest.take(1)?[0].into())?,
        fill: match rest.take(1)?[0] {
            0 => OobFill::Zero,
            1 => OobFill::Nan,
            _ => return None,
        },
        address: rest.number(8)?,
        extents: (0..rank).map(|_| rest.number(8)).collect::<Option<_>>()?,
        strides: (1..rank)
            .map(|_| rest.number(5).map(|stride| stride << 4))
            .collect::<Option<_>>()?,
        box_extents: (0..rank)
            .map(|_| rest.number(2).map(|extent| extent as u32))
            .collect::<Option<_>>()?,
        element_strides: (0..rank)
            .map(|_| rest.number(1).map(|stride| stride as u32))
            .collect::<Option<_>>()?,
        l2: L2Promotion::default(),
    })
}

/// PTX's type for arithmetic on elements of a tensor map. TMA adds tf32 numbers as f32.
pub(crate) fn computed_as(element: ElementType) -> Type {
    match element {
        ElementType::TF32 => Type::F32,
        element => Type::of(element),
    }
}

/// The bits of a missing element.
fn fill_bits(element: ElementType, fill: OobFill) -> u64 {
    match (fill, element) {
        (OobFill::Nan, ElementType::F16 | ElementType::BF16) => 0x7fff,
        (OobFill::Nan, ElementType::F32 | ElementType::TF32) => 0x7fff_ffff,
        (OobFill::Nan, ElementType::F64) => 0x7fff_ffff_ffff_ffff,
        _ => 0,
    }
}

/// Sixteen bytes outside the tensor.
pub(crate) fn fill_pattern(map: &TensorMap) -> [u8; CHUNK_BYTES] {
    let size = element_bytes(map);
    let element = fill_bits(map.element, map.fill).to_le_bytes();
    std::array::from_fn(|i| element[i % size])
}

/// Calls a function for every 16 bytes of the box at `coords`, in the order of shared memory.
pub(crate) fn chunks<E>(
    map: &TensorMap,
    coords: &[i64],
    mut f: impl FnMut(Chunk) -> Result<(), E>,
) -> Result<(), E> {
    let size = element_bytes(map);
    let inner = map.box_len(0) as usize;
    let rows: u64 = (1..map.rank())
        .map(|dim| u64::from(map.box_len(dim)))
        .product();
    for row in 0..rows {
        let base = row_address(map, coords, row);
        for first in (0..inner).step_by(CHUNK_BYTES / size) {
            let offset = (row * inner as u64 + first as u64) * size as u64;
            let parts =
                base.map_or_else(Vec::new, |base| parts(map, coords[0], base, first, inner));
            f(Chunk { offset, parts })?;
        }
    }
    Ok(())
}

/// Rounds the innermost extent up to whole store units: a store clips a row only there.
pub(crate) fn end_rows_at_whole_units(map: &mut TensorMap) {
    let unit = tma::STORE_UNIT as usize / element_bytes(map);
    map.extents[0] = map.extents[0].next_multiple_of(unit as u64);
}

/// Bytes of an element. No tensor map in memory has elements that are parts of bytes, since those have no number there.
pub(crate) fn element_bytes(map: &TensorMap) -> usize {
    map.element.bits().div_ceil(8) as usize
}

/// The address of the innermost coordinate 0 in a row of the box; `None` if the row is outside the tensor.
fn row_address(map: &TensorMap, coords: &[i64], row: u64) -> Option<u64> {
    let (mut rest, mut address) = (row, map.address);
    for (dim, start) in coords.iter().enumerate().skip(1) {
        let len = u64::from(map.box_len(dim));
        let coord = start + (rest % len) as i64 * i64::from(map.element_strides[dim]);
        rest /= len;
        let coord = u64::try_from(coord)
            .ok()
            .filter(|coord| *coord < map.extents[dim])?;
        address = address.wrapping_add(coord.wrapping_mul(map.strides[dim - 1]));
    }
    Some(address)
}

/// The parts of a chunk inside the tensor. Contiguous elements are one part.
fn parts(
    map: &TensorMap,
    start: i64,
    base: u64,
    first: usize,
    inner: usize,
) -> Vec<(Range<usize>, u64)> {
    let size = element_bytes(map);
    let mut parts: Vec<(Range<usize>, u64)> = Vec::with_capacity(1);
    for element in 0..(CHUNK_BYTES / size).min(inner - first) {
        let coord = start + (first + element) as i64 * i64::from(map.element_strides[0]);
        let Some(coord) = u64::try_from(coord)
            .ok()
            .filter(|coord| *coord < map.extents[0])
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

/// Sixteen bytes of a box: the unit of a swizzle.
pub(crate) struct Chunk {
    /// Offset in the box, before the swizzle.
    pub(crate) offset: u64,
    /// The parts inside the tensor: ranges of the chunk, with their addresses.
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
