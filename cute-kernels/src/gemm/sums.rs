//! Products whose K is divided into parts: the sums of each part lie in memory, and a second kernel adds them up.
//!
//! K is divided in memory by a batch of products and a second kernel, not by semaphores: part p of matrix i is matrix `i · parts + p` of
//! D, so the main loop has one more quotient, and nothing waits for another CTA.

use cute_runtime::{Buffer, Device, Element, TensorView, TensorViewMut, bf16, e4m3, e5m2, f16};

use crate::Error;
use crate::pack::Kept;
use crate::product::model::Product;

/// The elements in which products of these elements are summed up.
pub trait Sums: Element {
    /// f32 for floating-point numbers, and i32 for integers.
    type Sum: Element;
}

macro_rules! sums {
    ($($sum:ty: $($element:ty)*;)*) => { $($(
        impl Sums for $element {
            type Sum = $sum;
        }
    )*)* };
}

sums! {
    f32: bf16 f16 f32 e4m3 e5m2;
    i32: i8 u8;
}

/// Computes D in so many parts of K, as [`in_parts`] does, without an epilogue.
pub(super) fn added<S: kernels::add_parts_types<D>, D: Element>(
    device: &Device,
    d: &mut TensorViewMut<'_, D, 3>,
    parts: u32,
    kept: &mut Kept,
    product: impl FnOnce(&mut TensorViewMut<'_, S, 3>) -> Result<(), cute_runtime::Error>,
) -> Result<(), Error> {
    in_parts::<S>(device, d.shape(), parts, kept, product, |grid, sums| {
        kernels::add_parts::launch(device, grid, sums, d, parts)
    })
}

/// Computes D of this shape in so many parts of K: `product` computes the sums (matrix and part, row, column), and `add` adds them up. The
/// sums lie in the kept memory, if that is large enough.
pub(super) fn in_parts<S: Element>(
    device: &Device,
    [batches, m, n]: [usize; 3],
    parts: u32,
    kept: &mut Kept,
    product: impl FnOnce(&mut TensorViewMut<'_, S, 3>) -> Result<(), cute_runtime::Error>,
    add: impl FnOnce(u32, &TensorView<'_, S, 3>) -> Result<(), cute_runtime::Error>,
) -> Result<(), Error> {
    let count = batches * parts as usize;
    // TMA stores whole vectors of 16 bytes: what is computed beyond column n is 0, and is not read.
    let row = n.next_multiple_of(16 / size_of::<S>());
    let mut memory = match kept
        .take()
        .and_then(|kept| kept.downcast::<Buffer<S>>().ok())
    {
        Some(kept) if kept.len() >= count * m * row && kept.device() == device => kept,
        _ => Box::new(device.zeros(count * m * row)?),
    };
    let strides = [m * row, row, 1];
    product(&mut memory.view_mut(0, [count, m, row], strides)?)?;
    let tiles = m.div_ceil(kernels::ROWS as usize) * n.div_ceil(kernels::COLUMNS as usize);
    let grid = (batches * tiles) as u32;
    add(grid, &memory.view(0, [count, m, n], strides)?)?;
    *kept = Some(memory);
    Ok(())
}

/// The expected microseconds of the kernel that adds up so many parts.
pub(super) fn time(product: &Product, parts: u32) -> f64 {
    let [batches, m, n, _] = product.extents.map(f64::from);
    let bytes = batches * m * n * (4.0 * f64::from(parts) + product.bytes.1 as f64);
    let [start, group, speed] = product.gpu.chip.add;
    start + group * f64::from(parts.div_ceil(kernels::AT_ONCE)) + bytes / speed
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// The tile of a CTA.
    pub const ROWS: u32 = 8;
    /// The columns of the tile, four for each thread.
    pub const COLUMNS: u32 = 128;
    /// Parts that are loaded before the first of them is added.
    pub const AT_ONCE: u32 = 16;

    /// D[i, _, _] = Σₚ sums[i · parts + p, _, _].
    #[kernel(threads = 256)]
    #[instances((S, D) in [
        #[cfg(feature = "core")] (f32, bf16),
        #[cfg(feature = "f16")] (f32, f16),
        #[cfg(feature = "core")] (f32, f32),
        #[cfg(feature = "f8-i8")] (i32, i32),
    ])]
    pub fn add_parts<S: Element, D: Element>(sums: Global<S, 3>, d: Global<D, 3>, parts: u32) {
        let (batch, at) = place_in(d);
        store_sums(sum_of_parts(sums, batch, at, parts), d, batch, at);
    }

    /// The batch and the tile of D that the CTA computes.
    pub fn place_in<D: Element>(d: Global<D, 3>) -> (u32, (u32, u32)) {
        let (high, wide) = (
            ceil_div(extent(d, 1), ROWS),
            ceil_div(extent(d, 2), COLUMNS),
        );
        let (batch, tile) = (block_idx().0 / (high * wide), block_idx().0 % (high * wide));
        (batch, (tile / wide, tile % wide))
    }

    /// Stores a tile of D.
    pub fn store_sums<D: Element>(sum: Fragment, d: Global<D, 3>, batch: u32, at: (u32, u32)) {
        copy_inside(
            convert::<D>(sum),
            local_tile(d[(batch, _, _)], (ROWS, COLUMNS), at),
        );
    }

    /// The row and the column at which a tile begins.
    pub fn first_of(at: (u32, u32)) -> (u32, u32) {
        (at.0 * ROWS, at.1 * COLUMNS)
    }

    /// The sums of so many parts in a tile, in the order of the parts, so that their bits do not depend on time. A warp has a row.
    pub fn sum_of_parts<S: Element>(
        sums: Global<S, 3>,
        batch: u32,
        at: (u32, u32),
        parts: u32,
    ) -> Fragment {
        let held = layout!(((32,8),4):((32,1),8));
        let held = composition(make_identity_layout((ROWS, COLUMNS)), held);
        let total = fragment::<S>(held);
        fill(total, 0 as S);
        // The code above overlaps with the end of the previous grid.
        griddepcontrol_launch_dependents();
        griddepcontrol_wait();
        for group in 0..ceil_div(parts, AT_ONCE) {
            let loaded = [fragment::<S>(held); AT_ONCE];
            for i in 0..AT_ONCE {
                let part = group * AT_ONCE + i;
                fill(loaded[i], 0 as S);
                if part < parts {
                    let matrix = sums[(batch * parts + part, _, _)];
                    copy_or(local_tile(matrix, (ROWS, COLUMNS), at), loaded[i], 0 as S);
                }
            }
            for i in 0..AT_ONCE {
                total += loaded[i];
            }
        }
        total
    }
}
