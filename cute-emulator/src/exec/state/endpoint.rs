//! The other side of a copy: what is not the shared memory of the CTA that the copy belongs to.

use super::knowledge::Knowledge;
use crate::tensor_map::{CHUNK_BYTES, chunks};
use cute_hopper::tma::TensorMap;
use std::ops::Range;

/// The other side of a copy.
pub(crate) enum Endpoint {
    Tile {
        map: Box<TensorMap>,
        coords: Vec<i64>,
    },
    Bytes {
        address: u64,
        len: u64,
    },
    /// In the shared memory of the CTA of this rank.
    Shared {
        rank: usize,
        address: u64,
        len: u64,
        knowledge: Knowledge,
    },
    Values(Vec<u8>),
}

impl Endpoint {
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Endpoint::Tile { map, .. } => map.box_bytes(),
            Endpoint::Bytes { len, .. } | Endpoint::Shared { len, .. } => *len,
            Endpoint::Values(values) => values.len() as u64,
        }
    }

    pub(crate) fn knowledge(&self) -> Option<&Knowledge> {
        match self {
            Endpoint::Shared { knowledge, .. } => Some(knowledge),
            _ => None,
        }
    }

    /// Calls a function for every piece: its offset in the data, its shared address, and its parts that exist on the
    /// other side, each as a range of the piece and an address.
    pub(crate) fn pieces<E>(
        &self,
        shared: u64,
        mut f: impl FnMut(&Piece) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            Endpoint::Values(values) => f(&Piece {
                offset: 0,
                len: values.len(),
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

/// Up to 16 bytes of a copy.
pub(crate) struct Piece {
    pub(crate) offset: usize,
    pub(crate) len: usize,
    pub(crate) shared: u64,
    pub(crate) parts: Vec<(Range<usize>, u64)>,
}
