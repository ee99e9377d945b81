//! The far side of a bulk copy: the source of a copy into shared memory, the destination of a bulk store.

use crate::op::Binary;
use crate::tensor_map::{CHUNK_BYTES, chunks};
use cute_chip::tma::TensorMap;
use std::ops::Range;

/// The far side of a bulk copy. The near side is the shared memory that the copy writes or the store reads.
pub(crate) enum Endpoint {
    /// A box of a tensor in global memory, at these coordinates.
    Tile {
        map: Box<TensorMap>,
        coords: Vec<i64>,
    },
    /// Bytes in global memory.
    Bytes { address: u64, len: u64 },
    /// Bytes in the shared memory of the CTA of this rank.
    Shared { rank: usize, address: u64, len: u64 },
    /// The bytes of the values that `st.async` stores, or of the value with which `red.async` updates memory.
    Values {
        bytes: Vec<u8>,
        update: Option<Binary>,
    },
}

impl Endpoint {
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Endpoint::Tile { map, .. } => map.box_bytes(),
            Endpoint::Bytes { len, .. } | Endpoint::Shared { len, .. } => *len,
            Endpoint::Values { bytes, .. } => bytes.len() as u64,
        }
    }

    /// The function of the old and the new value, if it updates memory.
    pub(crate) fn update(&self) -> Option<Binary> {
        match self {
            Endpoint::Values { update, .. } => *update,
            _ => None,
        }
    }

    /// Splits a copy with the near side at the shared address `shared` into pieces, and calls a function for each.
    pub(crate) fn pieces<E>(
        &self,
        shared: u64,
        mut f: impl FnMut(&Piece) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            Endpoint::Values { bytes, .. } => f(&Piece {
                offset: 0,
                len: bytes.len(),
                shared,
                parts: Vec::new(),
            }),
            Endpoint::Bytes { address, len } | Endpoint::Shared { address, len, .. } => {
                (0..*len).step_by(CHUNK_BYTES).try_for_each(|offset| {
                    let range = 0..CHUNK_BYTES.min((len - offset) as usize);
                    f(&Piece {
                        offset: offset as usize,
                        len: range.end,
                        shared: shared.wrapping_add(offset),
                        parts: vec![(range, address.wrapping_add(offset))],
                    })
                })
            }
            Endpoint::Tile { map, coords } => chunks(map, coords, |chunk| {
                f(&Piece {
                    offset: chunk.offset as usize,
                    len: CHUNK_BYTES,
                    shared: map.swizzle.apply(shared + chunk.offset),
                    parts: chunk.parts,
                })
            }),
        }
    }
}

/// Up to 16 bytes of a copy, contiguous on the near side.
pub(crate) struct Piece {
    /// The offset in the data of the copy.
    pub(crate) offset: usize,
    pub(crate) len: usize,
    /// The shared address, swizzled.
    pub(crate) shared: u64,
    /// The parts that exist on the far side: a range of the piece's bytes and the address of its first byte. Bytes outside
    /// a tensor are in no part.
    pub(crate) parts: Vec<(Range<usize>, u64)>,
}
