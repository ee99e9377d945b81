//! Layer norm and RMS norm of rows.

use cute_runtime::{Device, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::is_empty;
use crate::row::{fitting, is_aligned, long};

/// `y[i, j] = (x[i, j] − mean) / √(variance + epsilon) · gamma[j] + beta[j]`, with the mean and the variance of row i, computed in f32,
/// for `bf16`, `f16` and `f32`.
///
/// x and y have the same shape, of up to 2³¹ − 1 rows and columns, and their last mode is contiguous. It is fastest if everything
/// starts at multiples of 16 bytes, and rows are multiples of 8 elements long. On a GPU the call returns before
/// the result is complete.
///
/// As in PyTorch, a row with a NaN or an infinity is NaN. If the squared differences from the mean have an infinite sum in f32,
/// the row is `beta`. If a difference, or the sum of the differences from the first number, is infinite in f32, it is NaN.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let x = Tensor::from_slice(&device, &[1f32, 3., 5., 7.], [2, 2])?;
/// let gamma = Tensor::from_slice(&device, &[1f32, 10.], [2])?;
/// let beta = Tensor::from_slice(&device, &[0f32, 1.], [2])?;
/// let mut y = Tensor::<f32, 2>::zeros(&device, [2, 2])?;
/// cute_kernels::layer_norm(&device, &x.view(), &gamma.view(), &beta.view(), 0.0, &mut y.view_mut())?;
/// assert_eq!(y.download()?, [-1.0, 11.0, -1.0, 11.0]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes do not fit together, or an extent is larger than 2³¹ − 1. Nothing has been launched then.
pub fn layer_norm<T: kernels::layer_norm_types + kernels::layer_norm_long_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    gamma: &TensorView<'_, T, 1>,
    beta: &TensorView<'_, T, 1>,
    epsilon: f32,
    y: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    let [_, columns] = x.shape();
    if y.shape() != x.shape() || [gamma.shape(), beta.shape()] != [[columns]; 2] {
        let found = [
            ("x", &x.shape()[..]),
            ("gamma", &gamma.shape()),
            ("beta", &beta.shape()),
            ("y", &y.shape()),
        ];
        let needs = "y of the shape of x, (M, N), and gamma and beta of (N)";
        return Err(Error::shapes("layer_norm", needs, &found));
    }
    if is_empty(&y.shape()) {
        return Ok(());
    }
    let weights = [gamma, beta].iter().all(|w| w.address().is_multiple_of(16));
    let aligned = weights && is_aligned(x) && is_aligned(&y.as_view());
    if let Some((config, grid)) = fitting(x, aligned)? {
        kernels::layer_norm::launch(config, device, grid, x, gamma, beta, y, epsilon)?;
    } else {
        let (config, grid) = long(device, x, aligned)?;
        kernels::layer_norm_long::launch(config, device, grid, x, gamma, beta, y, epsilon)?;
    }
    Ok(())
}

/// `y[i, j] = x[i, j] / √(mean of the squares of row i + epsilon) · gamma[j]`. All else is as in [`layer_norm`].
///
/// As in PyTorch, a row with a NaN is NaN. If its squares have an infinite sum in f32, it is 0, but NaN where it is infinite itself.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let x = Tensor::from_slice(&device, &[1f32, 7., -5., 5.], [2, 2])?;
/// let gamma = Tensor::from_slice(&device, &[5f32, 10.], [2])?;
/// let mut y = Tensor::<f32, 2>::zeros(&device, [2, 2])?;
/// cute_kernels::rms_norm(&device, &x.view(), &gamma.view(), 0.0, &mut y.view_mut())?;
/// assert_eq!(y.download()?, [1.0, 14.0, -5.0, 10.0]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`layer_norm`].
pub fn rms_norm<T: kernels::rms_norm_types + kernels::rms_norm_long_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    gamma: &TensorView<'_, T, 1>,
    epsilon: f32,
    y: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    if y.shape() != x.shape() || gamma.shape() != x.shape()[1..] {
        let found = [
            ("x", &x.shape()[..]),
            ("gamma", &gamma.shape()),
            ("y", &y.shape()),
        ];
        let needs = "y of the shape of x, (M, N), and gamma of (N)";
        return Err(Error::shapes("rms_norm", needs, &found));
    }
    if is_empty(&y.shape()) {
        return Ok(());
    }
    let weights = gamma.address().is_multiple_of(16);
    let aligned = weights && is_aligned(x) && is_aligned(&y.as_view());
    if let Some((config, grid)) = fitting(x, aligned)? {
        kernels::rms_norm::launch(config, device, grid, x, gamma, y, epsilon)?;
    } else {
        let (config, grid) = long(device, x, aligned)?;
        kernels::rms_norm_long::launch(config, device, grid, x, gamma, y, epsilon)?;
    }
    Ok(())
}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::row::kernels::{HELD, LONG, Rows, Stream};

    /// Layer norm of rows that are multiples of `CFG.unit` elements long, of at most `CFG.longest`.
    #[kernel(threads = CFG.threads, resident = CFG.resident(bits::<T>()))]
    #[instances(
        T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32],
        CFG in HELD,
    )]
    pub fn layer_norm<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0, extent(x, 1) <= CFG.longest)]
        x: Global<T, 2>,
        #[facts(aligned(gamma, 2 * CFG.unit), extent(gamma, 0) == extent(x, 1))] gamma: Global<
            T,
            1,
        >,
        #[facts(aligned(beta, 2 * CFG.unit), extent(beta, 0) == extent(x, 1))] beta: Global<T, 1>,
        #[facts(aligned(y, 2 * CFG.unit), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
        epsilon: f32,
    ) {
        let (held, at, n) = (
            fragment::<T>(CFG.held()),
            (block_idx().0, 0),
            extent(x, 1) as f32,
        );
        let skipped = CFG.skipped(CFG.tile(y, at, 0), held);
        copy_or(CFG.tile(x, at, skipped), held, 0.0);
        let row = at.0 * CFG.rows() + thread() / CFG.lanes;
        let sum = reduce(reduce(convert::<f32>(held), 2, add), 1, add);
        let d = convert::<f32>(held) - centre(div_fast(sum, n), x, row);
        fill_outside(d, CFG.tile(x, at, skipped), 0.0);
        let (rest, scale) = rest_and_scale(reduce(d, 2, add), reduce(d * d, 2, add), n, epsilon);
        let normal = (d - rest) * scale;
        let gamma = weights(CFG.vector(gamma, 0, skipped), held);
        let beta = weights(CFG.vector(beta, 0, skipped), held);
        let result = fma(normal, convert::<f32>(gamma), convert::<f32>(beta));
        copy_inside(convert::<T>(result), CFG.tile(y, at, skipped));
    }

    /// Layer norm of rows of any length that are multiples of `CFG.unit` elements long.
    #[kernel(threads = CFG.threads)]
    #[instances(T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32], CFG in LONG)]
    pub fn layer_norm_long<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0)] x: Global<T, 2>,
        #[facts(aligned(gamma, 2 * CFG.unit), extent(gamma, 0) == extent(x, 1))] gamma: Global<
            T,
            1,
        >,
        #[facts(aligned(beta, 2 * CFG.unit), extent(beta, 0) == extent(x, 1))] beta: Global<T, 1>,
        #[facts(aligned(y, 2 * CFG.unit), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
        epsilon: f32,
    ) {
        let (held, n) = (fragment::<T>(CFG.held()), extent(x, 1) as f32);
        let tiles = CFG.tiles(extent(x, 1));
        let mut stream = Stream::<CFG>::new::<T>(x);
        let mut row = block_idx().0;
        while row < extent(x, 0) {
            let skipped = CFG.skipped(CFG.tile(y, (row, 0), 0), held);
            // The mean of the first tile: sums of differences from it lose no digits.
            stream.read(x, (row, 0), skipped, true, held);
            let count = min(extent(x, 1), CFG.columns() - skipped) as f32;
            let values = convert::<f32>(held);
            fill_outside(values, CFG.tile(x, (row, 0), skipped), 0.0);
            let near = div_fast(reduce(reduce(values, 2, add), 1, add), count);
            let near = centre(near, x, row);
            let (mut sum, mut squares) = (fragment::<f32>(held, 2), fragment::<f32>(held, 2));
            fill(sum, 0.0);
            fill(squares, 0.0);
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, false, held);
                let d = convert::<f32>(held) - near;
                fill_outside(d, CFG.tile(x, (row, i), skipped), 0.0);
                sum += reduce(d, 2, add);
                squares += reduce(d * d, 2, add);
            }
            let (rest, scale) = rest_and_scale(sum, squares, n, epsilon);
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, true, held);
                let normal = (convert::<f32>(held) - near - rest) * scale;
                let gamma = weights(CFG.vector(gamma, i, skipped), held);
                let beta = weights(CFG.vector(beta, i, skipped), held);
                let result = fma(normal, convert::<f32>(gamma), convert::<f32>(beta));
                copy_inside(convert::<T>(result), CFG.tile(y, (row, i), skipped));
                stream.release(x, i);
            }
            stream.advance();
            row += grid_dim().0;
        }
        stream.end();
    }

    /// RMS norm of rows that are multiples of `CFG.unit` elements long, of at most `CFG.longest`.
    #[kernel(threads = CFG.threads)]
    #[instances(
        T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32],
        CFG in HELD,
    )]
    pub fn rms_norm<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0, extent(x, 1) <= CFG.longest)]
        x: Global<T, 2>,
        #[facts(aligned(gamma, 2 * CFG.unit), extent(gamma, 0) == extent(x, 1))] gamma: Global<
            T,
            1,
        >,
        #[facts(aligned(y, 2 * CFG.unit), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
        epsilon: f32,
    ) {
        let (held, at, n) = (
            fragment::<T>(CFG.held()),
            (block_idx().0, 0),
            extent(x, 1) as f32,
        );
        let skipped = CFG.skipped(CFG.tile(y, at, 0), held);
        copy_or(CFG.tile(x, at, skipped), held, 0.0);
        let x = convert::<f32>(held);
        let scale = rsqrt(div_fast(reduce(reduce(x * x, 2, add), 1, add), n) + epsilon);
        let gamma = weights(CFG.vector(gamma, 0, skipped), held);
        let result = x * scale * convert::<f32>(gamma);
        copy_inside(convert::<T>(result), CFG.tile(y, at, skipped));
    }

    /// RMS norm of rows of any length that are multiples of `CFG.unit` elements long.
    #[kernel(threads = CFG.threads)]
    #[instances(T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32], CFG in LONG)]
    pub fn rms_norm_long<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0)] x: Global<T, 2>,
        #[facts(aligned(gamma, 2 * CFG.unit), extent(gamma, 0) == extent(x, 1))] gamma: Global<
            T,
            1,
        >,
        #[facts(aligned(y, 2 * CFG.unit), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
        epsilon: f32,
    ) {
        let (held, n) = (fragment::<T>(CFG.held()), extent(x, 1) as f32);
        let tiles = CFG.tiles(extent(x, 1));
        let mut stream = Stream::<CFG>::new::<T>(x);
        let mut row = block_idx().0;
        while row < extent(x, 0) {
            let skipped = CFG.skipped(CFG.tile(y, (row, 0), 0), held);
            let mut squares = fragment::<f32>(held, 2);
            fill(squares, 0.0);
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, false, held);
                let values = convert::<f32>(held);
                squares += reduce(values * values, 2, add);
            }
            let scale = rsqrt(div_fast(reduce(squares, 1, add), n) + epsilon);
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, true, held);
                let gamma = weights(CFG.vector(gamma, i, skipped), held);
                let result = convert::<f32>(held) * scale * convert::<f32>(gamma);
                copy_inside(convert::<T>(result), CFG.tile(y, (row, i), skipped));
                stream.release(x, i);
            }
            stream.advance();
            row += grid_dim().0;
        }
        stream.end();
    }

    /// The mean of a row, or of the known part of it. If the sum is infinite, it is the first number of the row.
    fn centre<T: Element>(mean: Fragment, x: Global<T, 2>, row: u32) -> Fragment {
        map(mean, |mean| {
            if abs(mean) <= f32::MAX {
                mean
            } else {
                convert::<f32>(x[(min(row, extent(x, 0) - 1), 0)])
            }
        })
    }

    /// The mean of n differences d from about their mean, and 1 / √(their variance + epsilon), from the thread's sums of d and of d².
    /// Where all numbers are large and nearly equal, the mean of d is as large as d. In such rows, the variance may come out below 0 by
    /// a rounding.
    fn rest_and_scale(
        d: Fragment,
        squares: Fragment,
        n: f32,
        epsilon: f32,
    ) -> (Fragment, Fragment) {
        let rest = div_fast(reduce(d, 1, add), n);
        let squares = div_fast(reduce(squares, 1, add), n);
        // The square of the mean is not rounded, and so not infinite.
        let variance = fma(-rest, rest, squares);
        let variance = map(variance, |x| if x < 0.0 { 0.0 } else { x });
        (rest, rsqrt(variance + epsilon))
    }

    /// A tile of the weights of columns, held as one row of `like`. They stay elements of `T` until they are used, which takes fewer
    /// registers.
    fn weights<T: Element>(tile: Global<T, 1>, like: Fragment) -> Fragment {
        let held = fragment::<T>(like, 0);
        copy_or(tile, held, 0.0);
        held
    }
}
