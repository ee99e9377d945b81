//! How many elements at once an access has at other places of the memory.
//!
//! A kernel repeats an access at other coordinates: in another row, in another tile. There its vectors begin at other places,
//! and they are aligned only if the strides between these places are multiples of the vector.

use cute_algebra::{ComposedLayout, Layout};

/// The elements at once that hold at all places of the memory, and why they are fewer than `vector`, those of `access` alone; `None`
/// where they are as many. `access` maps (thread, value) to 1-D coordinates of the memory.
pub(super) fn elsewhere(
    memory: &ComposedLayout,
    access: &Layout,
    vector: i64,
) -> Option<(i64, String)> {
    let leaves = memory.layout().leaves();
    let leaves = leaves.map(|(extent, stride)| (*extent, stride.value()));
    let (extents, strides): (Vec<i64>, Vec<i64>) = leaves.unzip();
    let along = along_vectors(&extents, access, vector as usize);
    let mut least = (vector, String::new());
    for ((extent, stride), is_along) in extents.into_iter().zip(strides).zip(along) {
        if extent > 1 && !is_along {
            narrow(&mut least, |vector| stride % vector == 0, &|vector| {
                format!("stride {stride} of the memory is not a multiple of {vector} elements")
            });
        }
    }
    let swizzle = memory.swizzle();
    if !swizzle.is_identity() {
        // Blocks of 2^base elements are moved as one.
        narrow(
            &mut least,
            |vector| vector.ilog2() <= swizzle.base(),
            &|_| {
                format!(
                    "{swizzle} moves blocks of {} elements",
                    1i64 << swizzle.base()
                )
            },
        );
    }
    (least.0 < vector).then_some(least)
}

/// Halves the vector until it fits, and keeps the reason.
fn narrow(least: &mut (i64, String), fits: impl Fn(i64) -> bool, why: &dyn Fn(i64) -> String) {
    let (before, mut fitting) = (least.0, least.0);
    while !fits(fitting) {
        fitting /= 2;
    }
    if fitting < before {
        *least = (fitting, why(before));
    }
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
