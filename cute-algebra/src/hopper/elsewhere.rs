//! How many elements at once an access has at other places of the memory.

use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// An access that is narrower at other places of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrower {
    /// The elements at once that hold at all places; a power of two.
    pub vector: i64,
    /// Why they are not more.
    pub reason: Narrowing,
}

/// What breaks the alignment of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Narrowing {
    /// A stride of the memory that is not a multiple of the vector.
    Stride {
        /// The stride, in elements.
        stride: i64,
        /// The elements of the vector.
        vector: i64,
    },
    /// A swizzle that moves smaller blocks than the vector.
    Swizzle(Swizzle),
}

/// Whether an access that has `vector` elements at once has fewer at other places of the memory; `None` where it has as many. `access`
/// maps (thread, value) to 1-D coordinates of the memory.
///
/// A kernel repeats an access at other coordinates, in another row or another tile. There its vectors are aligned only if the strides
/// between these places are multiples of the vector. Modes along which the elements of a vector lie do not count.
/// ```
/// use cute_algebra::{Layout, global_access, vector_elsewhere};
/// // 512 elements of row 0 of 37 rows, four by each thread.
/// let access: Layout = "(128,4):(148,37)".parse()?;
/// let memory = Layout::right([37, 1002])?.try_into()?;
/// assert_eq!(global_access(&memory, 32, &access)?.vector, 4);
/// let elsewhere = vector_elsewhere(&memory, &access, 4);
/// assert_eq!(elsewhere.map(|narrower| narrower.vector), Some(2));
/// let memory = Layout::right([37, 1004])?.try_into()?;
/// assert_eq!(vector_elsewhere(&memory, &access, 4), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn vector_elsewhere(memory: &ComposedLayout, access: &Layout, vector: i64) -> Option<Narrower> {
    let leaves = memory.layout().leaves();
    let leaves = leaves.map(|(extent, stride)| (*extent, stride.value()));
    let (extents, strides): (Vec<i64>, Vec<i64>) = leaves.unzip();
    let along = along_vectors(&extents, access, vector.max(1) as usize);
    let (mut least, mut reason) = (vector.max(1), None);
    for ((extent, stride), is_along) in extents.into_iter().zip(strides).zip(along) {
        let before = least;
        while extent > 1 && !is_along && stride % least != 0 {
            least /= 2;
            reason = Some(Narrowing::Stride {
                stride,
                vector: before,
            });
        }
    }
    let swizzle = memory.swizzle();
    while !swizzle.is_identity() && least.ilog2() > swizzle.base() {
        least /= 2;
        reason = Some(Narrowing::Swizzle(swizzle));
    }
    reason.map(|reason| Narrower {
        vector: least,
        reason,
    })
}

/// For each leaf of the shape, whether the elements of a vector differ in its coordinate.
fn along_vectors(extents: &[i64], access: &Layout, vector: usize) -> Vec<bool> {
    let coordinates: Vec<i64> = access.values().collect();
    let threads = access.mode(0).map_or(1, |mode| mode.size()) as usize;
    let mut along = vec![false; extents.len()];
    for (position, &coordinate) in coordinates.iter().enumerate() {
        let (thread, value) = (position % threads, position / threads);
        let mut here = coordinate;
        let mut first = coordinates[thread + value / vector * vector * threads];
        for (extent, along) in extents.iter().zip(&mut along) {
            *along |= here % extent != first % extent;
            (here, first) = (here / extent, first / extent);
        }
    }
    along
}

impl fmt::Display for Narrowing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stride { stride, vector } => write!(
                f,
                "stride {stride} of the memory is not a multiple of {vector} elements"
            ),
            Self::Swizzle(swizzle) => write!(
                f,
                "{swizzle} moves blocks of {} elements",
                1i64 << swizzle.base()
            ),
        }
    }
}
