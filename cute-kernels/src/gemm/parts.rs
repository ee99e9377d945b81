//! Products whose K is divided into parts: the sums of each part lie in memory, and a second kernel adds them up.

use cute_runtime::{Buffer, Device, Element, TensorViewMut, bf16, e4m3, e5m2, f16};

use crate::Error;
use crate::pack::Kept;

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

/// Memory for the sums of all parts, and its tensors.
pub(super) struct Workspace<S: Element>(Box<Buffer<S>>);

impl<S: Element> Workspace<S> {
    /// Memory for `count` matrices of `m` × `n` sums: the kept memory, if that is large enough.
    pub(super) fn new(
        device: &Device,
        [count, m, n]: [usize; 3],
        kept: &mut Kept,
    ) -> Result<Self, Error> {
        let needed = count * m * row::<S>(n);
        let kept: Option<Box<Buffer<S>>> = kept.take().and_then(|kept| kept.downcast().ok());
        match kept {
            Some(kept) if kept.len() >= needed && kept.device() == device => Ok(Self(kept)),
            _ => Ok(Self(Box::new(device.zeros(needed)?))),
        }
    }

    /// The sums: (matrix and part, row, column). Rows begin at multiples of 16 bytes.
    pub(super) fn view_mut(
        &mut self,
        [count, m, n]: [usize; 3],
    ) -> Result<TensorViewMut<'_, S, 3>, Error> {
        let row = row::<S>(n);
        Ok(self.0.view_mut(0, [count, m, n], [m * row, row, 1])?)
    }

    /// The memory, to be kept.
    pub(super) fn keep(self) -> Kept {
        Some(self.0)
    }
}

/// Elements from one row of `n` sums to the next.
fn row<S>(n: usize) -> usize {
    n.next_multiple_of(16 / size_of::<S>())
}

/// D[i] = Σ of the sums of the `parts` parts of matrix i, in their order, so that the bits of D do not depend on time.
pub(super) fn add<S: kernels::add_parts_types<D>, D: Element>(
    device: &Device,
    sums: &mut TensorViewMut<'_, S, 3>,
    d: &mut TensorViewMut<'_, D, 3>,
    parts: u32,
) -> Result<(), Error> {
    let [batches, m, n] = d.shape();
    let tiles = m.div_ceil(kernels::ROWS as usize) * n.div_ceil(kernels::COLUMNS as usize);
    let grid = (batches * tiles) as u32;
    kernels::add_parts::launch(device, grid, &sums.as_view(), d, parts)?;
    Ok(())
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
        let held = layout!(((32,8),4):((32,1),8));
        let held = composition(make_identity_layout((ROWS, COLUMNS)), held);
        let (high, wide) = (
            ceil_div(extent(d, 1), ROWS),
            ceil_div(extent(d, 2), COLUMNS),
        );
        let (batch, tile) = (block_idx().0 / (high * wide), block_idx().0 % (high * wide));
        let at = (tile / wide, tile % wide);
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
        copy_inside(
            convert::<D>(total),
            local_tile(d[(batch, _, _)], (ROWS, COLUMNS), at),
        );
    }
}
