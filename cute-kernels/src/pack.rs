//! Copies of matrices to rows that TMA can load.

use std::any::Any;

use cute_runtime::{Device, Tensor, TensorView};

use crate::Error;

/// Element types of matrices that can be copied to aligned rows.
pub trait Pack: kernels::pack_types {}

impl<T: kernels::pack_types> Pack for T {}

/// The memory of a copy that may be used again: a `Tensor<T, 3>` for some `T`.
pub(crate) type Kept = Option<Box<dyn Any + Send>>;

/// A copy of matrices (batch, row, column) that are contiguous along their columns, or along their rows if `mn`. In the copy, each
/// row is contiguous and begins at a multiple of 128 bytes, and zeros follow it up to the end of the copy's last mode. The copy
/// uses the kept memory if it fits.
pub(crate) fn pack<T: Pack>(
    device: &Device,
    x: TensorView<'_, T, 3>,
    mn: bool,
    kept: &mut Kept,
) -> Result<Box<Tensor<T, 3>>, Error> {
    let [batches, rows, columns] = x.shape();
    let line = 64.max(128 / size_of::<T>());
    let shape = [batches, rows, columns.next_multiple_of(line)];
    let kept: Option<Box<Tensor<T, 3>>> = kept.take().and_then(|kept| kept.downcast().ok());
    let mut copy = match kept {
        Some(kept) if kept.shape() == shape && kept.buffer().device() == device => kept,
        _ => Box::new(Tensor::zeros(device, shape)?),
    };
    let (way, x) = match mn {
        true => (kernels::pack_MN::_true, x.select([0, 2, 1])?),
        false => (kernels::pack_MN::_false, x),
    };
    let grid = grid::<T>(device, [batches, rows, columns]);
    kernels::pack::launch(way, device, grid, &x, &mut copy.view_mut())?;
    Ok(copy)
}

/// A CTA of 256 threads for each 8 KiB, up to 16 CTAs a multiprocessor. These then take several tiles.
fn grid<T>(device: &Device, shape: [usize; 3]) -> u32 {
    let bytes = shape.iter().product::<usize>() * size_of::<T>();
    let most = 16 * device.multiprocessor_count() as usize;
    bytes.div_ceil(8192).clamp(1, most) as u32
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// y = x, with zeros where y is larger. x is contiguous along its last mode, which is the last mode of y, too, or, if `MN`, the
    /// one before. Its rows may have any stride and any alignment.
    #[kernel(threads = 256)]
    #[instances(
        T in [
            #[cfg(feature = "core")] bf16,
            #[cfg(feature = "f16")] f16,
            #[cfg(feature = "f32")] f32,
            #[cfg(feature = "f8-i8")] e4m3,
            #[cfg(feature = "mixed")] e5m2,
            #[cfg(feature = "f8-i8")] i8,
            #[cfg(feature = "mixed")] u8,
        ],
        MN in [false, true],
    )]
    pub fn pack<T: Element, const MN: bool>(
        x: Global<T, 3>,
        #[facts(aligned(y, 16), extent(y, 2) % 64 == 0)] y: Global<T, 3>,
    ) {
        // Elements in 16 bytes, which a thread moves together.
        let v = 128 / bits::<T>();
        let (rows, columns) = if MN { (64, 64) } else { (8, 128 * v) };
        // The zero of the type.
        let zero = if bits::<T>() == 8 { 0 } else { 0.0 };
        let (high, wide) = (
            ceil_div(extent(y, 1), rows),
            ceil_div(extent(y, 2), columns),
        );
        let mut tile = block_idx().0;
        while tile < extent(y, 0) * high * wide {
            let (batch, row, column) = (tile / wide / high, tile / wide % high, tile % wide);
            let (from, to) = (x[(batch, _, _)], y[(batch, _, _)]);
            let to = local_tile(to, (rows, columns), (row, column));
            // Rows of x begin anywhere, so each thread finds out how its vectors are aligned.
            if MN {
                // Four threads hold a row of 64 elements.
                let each = 64 / v / 4;
                let (lane, vector) = (64 * v * each, 64 * v);
                let held = layout!(((4,64),(v,each)):((lane,1),(64,vector)));
                let held = composition(make_identity_layout((64, 64)), held);
                let read = fragment::<T>(held);
                let from = local_tile(from, (64, 64), (column, 0));
                copy_or(domain_offset((0, row * 64), from), read, zero);
                let turned = smem::<T>(layout!((64,64):(64 + v,1)));
                copy(read, select(turned, 1, 0));
                sync_threads();
                let written = fragment::<T>(held);
                copy(turned, written);
                copy_inside(written, to);
                // The next tile takes the same bytes.
                sync_threads();
            } else {
                // A warp holds a row.
                let (lane, vector) = (8 * v, 256 * v);
                let held = layout!(((32,8),(v,4)):((lane,1),(8,vector)));
                let held = fragment::<T>(composition(make_identity_layout((8, columns)), held));
                let from = local_tile(from, (8, columns), (row, 0));
                copy_or(domain_offset((0, column * columns), from), held, zero);
                copy_inside(held, to);
            }
            tile += grid_dim().0;
        }
    }
}
