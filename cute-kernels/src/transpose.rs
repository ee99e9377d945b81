//! D[n, m] = S[m, n]: a tiled transpose that accesses global memory by TMA and has no bank conflicts in shared memory.

use cute_runtime::{Device, Element, TensorView, TensorViewMut, bf16, f16};

use crate::Error;
use crate::extent::extent;
use crate::store::can_store_by_tma;

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
/// If the shapes do not fit together, an extent is 0 or larger than 2³¹ − 1, or TMA cannot address an argument. The
/// error names the argument and the rule that it breaks, and nothing has been launched.
pub fn transpose<T: Transpose>(
    device: &Device,
    source: &TensorView<'_, T, 2>,
    destination: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    let [m, n] = source.shape();
    if destination.shape() != [n, m] {
        return Err(Error::TransposeShapes {
            from: source.shape(),
            to: destination.shape(),
        });
    }
    let (m, n) = (extent(m)?, extent(n)?);
    // The rows of a tile are 128 bytes long.
    let tile = 128 / size_of::<T>() as u32;
    let grid = (n.div_ceil(tile), m.div_ceil(tile));
    T::launch(device, grid, source, destination, [m, n])?;
    Ok(())
}

/// Element types of [`fn@transpose`]: `bf16`, `f16`, `f32` and `u32`.
pub trait Transpose: Element + sealed::Launch {}

mod sealed {
    use super::*;

    pub trait Launch: Sized + Element {
        fn launch(
            device: &Device,
            grid: (u32, u32),
            source: &TensorView<'_, Self, 2>,
            destination: &mut TensorViewMut<'_, Self, 2>,
            extents: [u32; 2],
        ) -> Result<(), cute_runtime::Error>;
    }
}

macro_rules! elements {
    ($($ty:ty: $tma:ident, $unaligned:ident;)*) => { $(
        impl Transpose for $ty {}

        impl sealed::Launch for $ty {
            fn launch(
                device: &Device,
                grid: (u32, u32),
                source: &TensorView<'_, Self, 2>,
                destination: &mut TensorViewMut<'_, Self, 2>,
                [m, n]: [u32; 2],
            ) -> Result<(), cute_runtime::Error> {
                if can_store_by_tma(destination) {
                    return kernels::$tma::launch(device, grid, source, destination);
                }
                // SAFETY: the kernel stores only elements of the destination in rows below n and columns below m. `transpose`
                // has checked that these are its extents, and that both are at most 2³¹ − 1.
                unsafe { kernels::$unaligned::launch(device, grid, source, destination, m, n) }
            }
        }
    )* };
}

elements! {
    bf16: transpose_bf16, transpose_bf16_unaligned;
    f16: transpose_f16, transpose_f16_unaligned;
    f32: transpose_f32, transpose_f32_unaligned;
    u32: transpose_u32, transpose_u32_unaligned;
}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// Each CTA transposes one tile of TILE × TILE elements, whose rows are 128 bytes long, and stores it by TMA.
    #[kernel(threads = 64)]
    #[instance(transpose_bf16: T = bf16, TILE = 64)]
    #[instance(transpose_f16: T = f16, TILE = 64)]
    #[instance(transpose_f32: T = f32, TILE = 32)]
    #[instance(transpose_u32: T = u32, TILE = 32)]
    pub fn transpose<T: Element, const TILE: u32>(src: TmaLoad<T, 2>, dst: TmaStore<T, 2>) {
        let output = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));
        let (m, n) = (block_idx().1 * TILE, block_idx().0 * TILE);
        transpose_tile::<T, TILE>(src, output, m, n);
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            tma_store(output, dst, (n, m));
            tma_commit();
            tma_wait_read(0);
        }
    }

    /// The same, but the destination is stored element by element, where the element lies inside it: its rows may have any
    /// stride, alignment and length. `rows` and `cols` are the extents of the source.
    ///
    /// # Safety
    ///
    /// The destination has at least `cols` rows and `rows` columns, and both are at most 2³¹ − 1.
    #[kernel(threads = 64)]
    #[instance(transpose_bf16_unaligned: T = bf16, TILE = 64)]
    #[instance(transpose_f16_unaligned: T = f16, TILE = 64)]
    #[instance(transpose_f32_unaligned: T = f32, TILE = 32)]
    #[instance(transpose_u32_unaligned: T = u32, TILE = 32)]
    pub unsafe fn transpose_unaligned<T: Element, const TILE: u32>(
        src: TmaLoad<T, 2>,
        dst: Global<T, 2>,
        rows: u32,
        cols: u32,
    ) {
        let output = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));
        let (m, n) = (block_idx().1 * TILE, block_idx().0 * TILE);
        transpose_tile::<T, TILE>(src, output, m, n);
        sync_threads();
        for i in 0..TILE * TILE / 64 {
            // The threads of a warp store neighbouring elements of a row of the destination.
            let at = i * 64 + thread();
            let (row, col) = (at / TILE, at % TILE);
            if n + row < cols && m + col < rows {
                dst[(n + row, m + col)] = output[(row, col)];
            }
        }
    }

    /// Loads the tile at (m, n) and writes its transpose to `output`. The caller must then synchronise the threads.
    ///
    /// Each thread moves one block of v × v elements, where v elements are 16 bytes: it reads v vectors along the rows of the
    /// input tile and writes v vectors along the rows of the output tile. In between, the transpose only renames registers.
    fn transpose_tile<T: Element, const TILE: u32>(
        src: TmaLoad<T, 2>,
        output: Tensor,
        m: u32,
        n: u32,
    ) {
        let v = 128 / bits::<T>();
        let input = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(input));
            tma_load(src, (m, n), input, ready[0]);
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
