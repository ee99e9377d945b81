//! How wide the accesses of threads to a tile of shared memory are, and their bank conflicts.

use super::banks::{Conflict, WARP, busiest_bank};
use crate::composed::ComposedLayout;
use crate::composition::ENUMERATION_LIMIT;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use cute_chip::shared;

/// Widest load or store of one thread, in bits.
const WIDEST_ACCESS: i64 = 8 * shared::WIDEST_ACCESS as i64;

/// How the threads of a block access the elements of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    /// Elements per access of a thread; a power of two.
    pub vector: i64,
    /// Number of accesses of each thread.
    pub accesses: i64,
    /// The access with the highest degree of bank conflict.
    pub worst: Conflict,
    /// Index of the warp of that access.
    pub warp: i64,
    /// Index of that access among those of its threads.
    pub access: i64,
}

/// How threads access `tile`, where thread t of `tv` has the elements `tv(t, 0)`, `tv(t, 1)`, …. These are 1-D
/// coordinates of the tile, which starts at a multiple of 16 bytes. A `tv` of a single mode gives each thread one
/// element.
///
/// Elements that are neighbours for every thread are accessed together, up to 16 bytes at once.
/// ```
/// use cute_algebra::{ComposedLayout, Layout, Swizzle, shared_access};
/// // A warp reads a column of a 32 × 32 tile of f32.
/// let tile = |swizzle| ComposedLayout::new(swizzle, 0, Layout::new([32, 32], [32, 1])?);
/// let column = Layout::new(32, 1)?;
/// assert_eq!(shared_access(&tile(Swizzle::IDENTITY)?, 32, &column)?.worst.degree, 32);
/// assert_eq!(shared_access(&tile(Swizzle::new(5, 0, 5)?)?, 32, &column)?.worst.degree, 1);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn shared_access(
    tile: &ComposedLayout,
    element_bits: i64,
    tv: &Layout,
) -> Result<SharedAccess, LayoutError> {
    shared_access_of(&|index| tile.at(index), tile.size(), element_bits, tv)
}

/// [`shared_access`] for any tile, given as a function from coordinates to indices, of `size` elements.
pub(crate) fn shared_access_of(
    tile: &dyn Fn(i64) -> Option<i64>,
    size: i64,
    element_bits: i64,
    tv: &Layout,
) -> Result<SharedAccess, LayoutError> {
    let pattern = Pattern::new(tile, size, element_bits, tv)?;
    let mut found = SharedAccess {
        vector: pattern.vector as i64,
        accesses: pattern.accesses(),
        worst: Conflict::NONE,
        warp: 0,
        access: 0,
    };
    for (warp, access, offsets) in pattern.instructions() {
        let conflict = busiest_bank(pattern.bytes(), &offsets);
        if conflict.degree > found.worst.degree {
            (found.worst, found.warp, found.access) = (conflict, warp as i64, access as i64);
        }
    }
    Ok(found)
}

impl fmt::Display for SharedAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict {
            degree,
            bank,
            lanes,
        } = &self.worst;
        write!(
            f,
            "{degree} words of bank {bank} are needed at once, by lanes "
        )?;
        for (i, lane) in lanes.iter().enumerate() {
            write!(f, "{}{lane}", if i > 0 { ", " } else { "" })?;
        }
        let s = if self.vector == 1 { "" } else { "s" };
        write!(
            f,
            " of warp {} in access {}, of {} element{s} each",
            self.warp, self.access, self.vector
        )
    }
}

/// The elements that each thread accesses, and how many at once.
pub(super) struct Pattern {
    /// Indices of the elements in shared memory: all of thread 0, then all of thread 1, ….
    indices: Vec<i64>,
    /// Elements per thread.
    values: usize,
    /// Elements per access.
    pub(super) vector: usize,
    element_bits: i64,
}

impl Pattern {
    pub(super) fn new(
        tile: &dyn Fn(i64) -> Option<i64>,
        size: i64,
        element_bits: i64,
        tv: &Layout,
    ) -> Result<Self, LayoutError> {
        check_element_bits(element_bits)?;
        tv.require_integral(2)?;
        if tv.size() > ENUMERATION_LIMIT {
            let property = "an access pattern of so many elements";
            return Err(ErrorKind::Unproved { property }.at(Place::operand(2)));
        }
        let threads = tv.mode(0).map_or(1, |mode| mode.size());
        let values = tv.size() / threads;
        let mut indices = vec![0; tv.size() as usize];
        for (position, coordinate) in (0..).zip(tv.values()) {
            let index = tile(coordinate)
                .ok_or_else(|| ErrorKind::OutsideTile { coordinate, size }.at(Place::operand(2)))?;
            // `tv` lists the threads fastest, `indices` the values of a thread.
            let (thread, value) = (position % threads, position / threads);
            indices[(thread * values + value) as usize] = index;
        }
        let widest = (WIDEST_ACCESS / element_bits) as usize;
        let values = values as usize;
        let together = |vector: usize| {
            indices.chunks(vector).all(|chunk| {
                chunk[0] % vector as i64 == 0
                    && (chunk[0]..)
                        .zip(chunk)
                        .all(|(expected, index)| expected == *index)
            })
        };
        let mut vector = 1;
        while 2 * vector <= widest && values.is_multiple_of(2 * vector) && together(2 * vector) {
            vector *= 2;
        }
        Ok(Self {
            indices,
            values,
            vector,
            element_bits,
        })
    }

    /// Bytes that a thread accesses at once, at least 1.
    pub(super) fn bytes(&self) -> u32 {
        ((self.vector as i64 * self.element_bits).max(8) / 8) as u32
    }

    /// Number of accesses of a thread.
    pub(super) fn accesses(&self) -> i64 {
        (self.values / self.vector) as i64
    }

    pub(super) fn threads(&self) -> i64 {
        (self.indices.len() / self.values) as i64
    }

    /// For each instruction: the warp, the access, and the byte offset of each lane.
    pub(super) fn instructions(&self) -> impl Iterator<Item = (usize, usize, Vec<i64>)> {
        let warps = self.indices.chunks(self.values * WARP);
        warps.enumerate().flat_map(move |(warp, lanes)| {
            (0..self.values / self.vector).map(move |access| {
                let first = lanes.iter().skip(access * self.vector).step_by(self.values);
                let offsets = first.map(|index| index.saturating_mul(self.element_bits) / 8);
                (warp, access, offsets.collect())
            })
        })
    }

    /// The element indices of the lanes served together, each exclusive-ored with the first. Phases with equal sets
    /// have the same conflicts under every linear map of bits, so they count once.
    pub(super) fn phases(&self) -> BTreeSet<Vec<i64>> {
        let lanes = super::banks::lanes_of_a_phase(self.bytes());
        let mut phases = BTreeSet::new();
        for warp in self.indices.chunks(self.values * WARP) {
            for access in 0..self.values / self.vector {
                let first: Vec<i64> = warp
                    .iter()
                    .skip(access * self.vector)
                    .step_by(self.values)
                    .copied()
                    .collect();
                for phase in first.chunks(lanes) {
                    let mut shape: Vec<i64> = phase.iter().map(|index| index ^ phase[0]).collect();
                    shape.sort_unstable();
                    shape.dedup();
                    phases.insert(shape);
                }
            }
        }
        phases
    }
}

pub(super) fn check_element_bits(bits: i64) -> Result<(), LayoutError> {
    match bits {
        4 | 8 | 16 | 32 | 64 => Ok(()),
        _ => Err(ErrorKind::ElementBits { bits }.at(Place::operand(1))),
    }
}
