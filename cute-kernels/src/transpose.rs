//! D[n, m] = S[m, n]: a tiled transpose that accesses global memory by TMA and has no bank conflicts in shared memory.

use cute_runtime::{Device, Grid, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{extent, is_empty};
use crate::tma::can_store_by_tma;

/// D = Sᵀ for S of shape (M, N) and D of shape (N, M), both with their last mode contiguous.
///
/// M and N are arbitrary, up to 2³¹ − 1. The rows of S must start at multiples of 16 bytes, as TMA demands. The transpose is
/// fastest if the rows of D start at multiples of 16 bytes and are multiples of 16 bytes long. On a GPU the call returns
/// before the transpose is complete.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let s = Tensor::from_slice(&device, &[0f32, 1., 2., 3., 4., 5., 6., 7.], [2, 4])?;
/// let mut d = Tensor::<f32, 2>::zeros(&device, [4, 2])?;
/// cute_kernels::transpose(&device, &s.view(), &mut d.view_mut())?;
/// assert_eq!(d.download()?, [0., 4., 1., 5., 2., 6., 3., 7.]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes do not fit together, an extent is larger than 2³¹ − 1, or TMA cannot address an argument. The
/// error names the argument and the rule that it breaks, and nothing has been launched.
pub fn transpose<T: Transpose>(
    device: &Device,
    source: &TensorView<'_, T, 2>,
    destination: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    let [m, n] = source.shape();
    if destination.shape() != [n, m] {
        let found = [
            ("source", &source.shape()[..]),
            ("destination", &destination.shape()),
        ];
        let needs = "a source of shape (M, N) and a destination of (N, M)";
        return Err(Error::shapes("transpose", needs, &found));
    }
    if is_empty(&destination.shape()) {
        return Ok(());
    }
    let (m, n) = (extent(m)?, extent(n)?);
    // The rows of a tile are 128 bytes long.
    let tile = 128 / size_of::<T>() as u32;
    let grid = Grid::folded(n.div_ceil(tile), m.div_ceil(tile));
    match can_store_by_tma(&destination.as_view()) {
        true => kernels::transpose::launch(device, grid, source, destination)?,
        false => kernels::transpose_unaligned::launch(device, grid, source, destination)?,
    }
    Ok(())
}

/// Element types of [`fn@transpose`]: `bf16`, `f16`, `f32` and `u32`.
pub trait Transpose: kernels::transpose_types + kernels::transpose_unaligned_types {}

impl<T: kernels::transpose_types + kernels::transpose_unaligned_types> Transpose for T {}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// Each CTA transposes one square tile, whose rows are 128 bytes long, and stores it by TMA.
    #[kernel(threads = 64)]
    #[instances(cfg(feature = "core"), T in [bf16, f16, f32, u32])]
    pub fn transpose<T: Element>(src: TmaLoad<T, 2>, dst: TmaStore<T, 2>) {
        let output = tile::<T>();
        let (m, n) = place();
        transpose_tile(src, output, m, n);
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            tma_store(output, dst, (n * side::<T>(), m * side::<T>()));
            tma_commit();
            tma_wait_read(0);
        }
    }

    /// The same, but the destination is stored element by element, where the element lies inside it: its rows may have any
    /// stride, alignment and length.
    #[kernel(threads = 64)]
    #[instances(cfg(feature = "core"), T in [bf16, f16, f32, u32])]
    pub fn transpose_unaligned<T: Element>(src: TmaLoad<T, 2>, dst: Global<T, 2>) {
        let output = tile::<T>();
        let (m, n) = place();
        transpose_tile(src, output, m, n);
        sync_threads();
        // The threads of a warp store neighbouring elements of a row of the destination.
        let side = side::<T>();
        let (rows, count) = (64 / side, side * side / 64);
        let held = layout!(((side,rows),count):((side,1),rows));
        let moved = fragment::<T>(composition(make_identity_layout((side, side)), held));
        copy(output, moved);
        copy_inside(moved, local_tile(dst, (side, side), (n, m)));
    }

    /// The tile of this CTA, in the source. It may be outside: nothing is loaded or stored there.
    fn place() -> (u32, u32) {
        let (n, row, fold) = block_idx();
        (fold * grid_dim().1 + row, n)
    }

    /// The elements of 128 bytes.
    fn side<T: Element>() -> u32 {
        1024 / bits::<T>()
    }

    /// A square tile whose rows are 128 bytes long.
    fn tile<T: Element>() -> Tensor {
        smem::<T>(tile_to_shape(
            smem_atom::<T>(K, SW128),
            (side::<T>(), side::<T>()),
        ))
    }

    /// Loads tile (m, n) and writes its transpose to `output`. The caller must then synchronise the threads.
    ///
    /// Each thread moves one block of v × v elements, where v elements are 16 bytes: it reads v vectors along the rows of the
    /// input tile and writes v vectors along the rows of the output tile. In between, the transpose only renames registers.
    fn transpose_tile<T: Element>(src: TmaLoad<T, 2>, output: Tensor, m: u32, n: u32) {
        let v = 128 / bits::<T>();
        let input = tile::<T>();
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(input));
            tma_load(src, (m * side::<T>(), n * side::<T>()), input, ready[0]);
        }

        // Thread c + 8k takes the block in row c ^ k and column c. The eight threads that access shared memory in one
        // phase have different block rows and different block columns, so neither their reads nor their writes share a
        // bank.
        let block = layout!(Sw<3,0,3> o (8,8):(8,1)).at(thread());
        let x = fragment::<T>((v, v));
        wait(ready[0], 0);
        copy(zipped_divide(input, (v, v))[(_, block)], x);
        copy(x, zipped_divide(select(output, 1, 0), (v, v))[(_, block)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_runtime::Tensor;

    /// Three rows of tiles by two CTAs along the second axis and two along the third, of which the last has no tile.
    #[test]
    fn a_folded_grid_has_all_tiles() -> Result<(), Error> {
        let device = Device::emulator();
        let data: Vec<f32> = (0..96 * 4).map(|i| i as f32).collect();
        let s = Tensor::from_slice(&device, &data, [96, 4])?;
        let mut d = Tensor::<f32, 2>::zeros(&device, [4, 96])?;
        kernels::transpose::launch(&device, (1, 2, 2), &s.view(), &mut d.view_mut())?;
        let expected: Vec<f32> = (0..4 * 96).map(|i| (i % 96 * 4 + i / 96) as f32).collect();
        assert_eq!(d.download()?, expected);
        let mut d = Tensor::<f32, 2>::zeros(&device, [4, 96])?;
        kernels::transpose_unaligned::launch(&device, (1, 2, 2), &s.view(), &mut d.view_mut())?;
        assert_eq!(d.download()?, expected);
        Ok(())
    }
}
