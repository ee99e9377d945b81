//! Sums of rows and of arrays.

use cute_runtime::{Device, Tensor, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{Zeros, extent, is_empty};
use crate::row::kernels::ROW_8192;
use crate::row::{fitting, is_aligned, longest};

/// `sums[i] = Σⱼ x[i, j]`, computed in f32, for `bf16`, `f16` and `f32`. The same arguments give the same bits.
///
/// x has up to 2³¹ − 1 rows and columns, and its last mode is contiguous. It is fastest if rows start at multiples of 16 bytes and are
/// multiples of 8 elements long. On a GPU the call returns before the result is complete.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let x = Tensor::from_slice(&device, &[1f32, 2., 3., 4., 5., 6.], [2, 3])?;
/// let mut sums = Tensor::<f32, 1>::zeros(&device, [2])?;
/// cute_kernels::sum_rows(&device, &x.view(), &mut sums.view_mut())?;
/// assert_eq!(sums.download()?, [6.0, 15.0]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// The kernels need the feature `rows`.
///
/// # Errors
///
/// If the shapes do not fit together, or an extent is larger than 2³¹ − 1. Nothing has been launched then.
pub fn sum_rows<T: kernels::sum_rows_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    sums: &mut TensorViewMut<'_, f32, 1>,
) -> Result<(), Error> {
    let [rows, columns] = x.shape();
    if sums.shape() != [rows] {
        let found = [("x", &x.shape()[..]), ("sums", &sums.shape())];
        let needs = "x of shape (M, N) and sums of (M)";
        return Err(Error::shapes("sum_rows", needs, &found));
    }
    if is_empty(&sums.shape()) {
        return Ok(());
    }
    if columns == 0 {
        return sum_rows(device, &Zeros::vector(device)?.like(x)?, sums);
    }
    let aligned = is_aligned(x);
    // Longer rows are summed up tile by tile.
    let (config, grid) = match fitting(x, aligned)? {
        Some(fitting) => fitting,
        None => (longest(aligned), extent(rows)?),
    };
    kernels::sum_rows::launch(config, device, grid, x, sums)?;
    Ok(())
}

/// `total[0] = Σᵢ x[i]`, computed in f32, for `bf16`, `f16` and `f32`. The same arguments give the same bits on one device.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let x = Tensor::from_slice(&device, &[0.5f32; 30_000], [30_000])?;
/// let mut total = Tensor::<f32, 1>::zeros(&device, [1])?;
/// cute_kernels::sum(&device, &x.view(), &mut total.view_mut())?;
/// assert_eq!(total.download()?, [15_000.0]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// The kernels need the feature `rows`.
///
/// # Errors
///
/// If x has more than 2³¹ − 1 elements, or the total is not one element. Nothing has been launched then.
pub fn sum<T: kernels::sum_types>(
    device: &Device,
    x: &TensorView<'_, T, 1>,
    total: &mut TensorViewMut<'_, f32, 1>,
) -> Result<(), Error>
where
    f32: kernels::sum_types,
{
    if total.shape() != [1] {
        let found = [("x", &x.shape()[..]), ("total", &total.shape())];
        return Err(Error::shapes("sum", "total of one element", &found));
    }
    if is_empty(&x.shape()) {
        return sum(device, &Zeros::vector(device)?.like(x)?, total);
    }
    let tiles = extent(x.shape()[0])?.div_ceil(ROW_8192.longest);
    let grid = tiles.min(4 * device.multiprocessor_count());
    if grid == 1 {
        return launch(device, 1, x, total);
    }
    let mut sums = Tensor::<f32, 1>::zeros(device, [grid as usize])?;
    launch(device, grid, x, &mut sums.view_mut())?;
    launch(device, 1, &sums.view(), total)
}

fn launch<T: kernels::sum_types>(
    device: &Device,
    grid: u32,
    x: &TensorView<'_, T, 1>,
    sums: &mut TensorViewMut<'_, f32, 1>,
) -> Result<(), Error> {
    let vectors = x.address().is_multiple_of(16) && x.shape()[0].is_multiple_of(8);
    kernels::sum::launch(longest(vectors), device, grid, x, sums, grid)?;
    Ok(())
}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::row::kernels::{ANY_1017, ANY_6137, ROW_1024, ROW_2048, ROW_4096, ROW_8192, Rows};

    /// The sums of rows that are multiples of `CFG.unit` elements long, of any length.
    #[kernel(threads = CFG.threads)]
    #[instances(cfg(feature = "rows"), T in [bf16, #[cfg(feature = "f16")] f16, f32], CFG in [ROW_1024, ROW_2048, ROW_4096, ROW_8192, ANY_1017, ANY_6137])]
    pub fn sum_rows<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0)] x: Global<T, 2>,
        #[facts(extent(sums, 0) == extent(x, 0))] sums: Global<f32, 1>,
    ) {
        let (held, row) = (fragment::<T>(CFG.held()), block_idx().0);
        let skipped = CFG.skipped(CFG.tile(x, (row, 0), 0), held);
        let mut total = fragment::<f32>(held, 2);
        fill(total, 0.0);
        for i in 0..CFG.tiles(extent(x, 1)) {
            copy_or(CFG.tile(x, (row, i), skipped), held, 0.0);
            total += reduce(convert::<f32>(held), 2, add);
        }
        let rows = CFG.rows();
        let column = composition(local_tile(sums, rows, row), layout!((rows,1,1):(1,0,0)));
        copy_inside(reduce(total, 1, add), column);
    }

    /// Each of `ctas` CTAs sums up every `ctas`-th tile of x. The length of x is a multiple of `CFG.unit`.
    #[kernel(threads = CFG.threads)]
    #[instances(cfg(feature = "rows"), T in [bf16, #[cfg(feature = "f16")] f16, f32], CFG in [ROW_8192, ANY_6137])]
    pub fn sum<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 0) % CFG.unit == 0)] x: Global<T, 1>,
        #[facts(extent(sums, 0) == ctas)] sums: Global<f32, 1>,
        ctas: u32,
    ) {
        let held = fragment::<T>(CFG.held());
        let skipped = CFG.skipped(CFG.vector(x, 0, 0), held);
        let mut total = fragment::<f32>(held, 2);
        fill(total, 0.0);
        let mut i = block_idx().0;
        while i < CFG.tiles(extent(x, 0)) {
            copy_or(CFG.vector(x, i, skipped), held, 0.0);
            total += reduce(convert::<f32>(held), 2, add);
            i += ctas;
        }
        let element = composition(local_tile(sums, 1, block_idx().0), layout!((1,1,1):(0,0,0)));
        copy_inside(reduce(total, 1, add), element);
    }
}
