//! Layer norm and RMS norm of rows.

use cute_runtime::{Device, TensorView, TensorViewMut};

use crate::Error;
use crate::row::{choose, has_vectors};

/// `y[i, j] = (x[i, j] − mean) / √(variance + epsilon) · gamma[j] + beta[j]`, with the mean and the variance of row i, computed in f32,
/// for `bf16`, `f16` and `f32`.
///
/// x and y have the same shape, of up to 2³¹ − 1 rows and columns, and their last mode is contiguous. It is fastest if everything
/// starts at multiples of 16 bytes, and rows are multiples of 8 elements long, at most 8192. On a GPU the call returns before
/// the result is complete.
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
/// If the shapes do not fit together, or an extent is 0 or larger than 2³¹ − 1. Nothing has been launched then.
pub fn layer_norm<T: kernels::layer_norm_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    gamma: &TensorView<'_, T, 1>,
    beta: &TensorView<'_, T, 1>,
    epsilon: f32,
    y: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    use kernels::{layer_norm_CFG as Config, layer_norm_V as V};
    let weights = [gamma, beta].iter().all(|w| w.address().is_multiple_of(16));
    let vectors = weights && has_vectors(x) && has_vectors(&y.as_view());
    let (config, v, grid) = choose(x, vectors, Config::ALL, V::ALL)?;
    kernels::layer_norm::launch(config, v, device, grid, x, gamma, beta, y, epsilon)?;
    Ok(())
}

/// `y[i, j] = x[i, j] / √(mean of the squares of row i + epsilon) · gamma[j]`. All else is as in [`layer_norm`].
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
/// Those of [`layer_norm`].
pub fn rms_norm<T: kernels::rms_norm_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    gamma: &TensorView<'_, T, 1>,
    epsilon: f32,
    y: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    use kernels::{rms_norm_CFG as Config, rms_norm_V as V};
    let weights = gamma.address().is_multiple_of(16);
    let vectors = weights && has_vectors(x) && has_vectors(&y.as_view());
    let (config, v, grid) = choose(x, vectors, Config::ALL, V::ALL)?;
    kernels::rms_norm::launch(config, v, device, grid, x, gamma, y, epsilon)?;
    Ok(())
}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::row::kernels::{ROW_1024, ROW_2048, ROW_4096, ROW_8192, ROW_ANY, Rows};

    /// Layer norm of rows of at most `CFG.longest` elements, of which a thread holds V consecutive ones at a time.
    #[kernel(threads = CFG.threads)]
    #[instances(T in [bf16, f16, f32], CFG in [ROW_1024, ROW_2048, ROW_4096, ROW_8192, ROW_ANY], V in [8, 1])]
    pub fn layer_norm<T: Element, const CFG: Rows, const V: u32>(
        #[facts(aligned(x, 2 * V), extent(x, 1) % V == 0, extent(x, 1) <= CFG.longest)] x: Global<
            T,
            2,
        >,
        #[facts(aligned(gamma, 2 * V), extent(gamma, 0) == extent(x, 1))] gamma: Global<T, 1>,
        #[facts(aligned(beta, 2 * V), extent(beta, 0) == extent(x, 1))] beta: Global<T, 1>,
        #[facts(aligned(y, 2 * V), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
        epsilon: f32,
    ) {
        let (rows, n) = (block_idx().0, extent(x, 1));
        let held = fragment::<T>(CFG.held(V));
        let mut sum = 0.0f32;
        for i in 0..CFG.tiles(n) {
            copy_or(local_tile(x, CFG.tile(), (rows, i)), held, 0.0);
            sum += reduce(convert::<f32>(held), 1, add)[0];
        }
        let mean = sum / (n as f32);
        let mut squares = 0.0f32;
        for i in 0..CFG.tiles(n) {
            if !CFG.is_whole() {
                copy_or(local_tile(x, CFG.tile(), (rows, i)), held, 0.0);
            }
            let d = map(convert::<f32>(held), |x, (_, j)| {
                if i * CFG.columns + j < n {
                    x - mean
                } else {
                    0.0
                }
            });
            squares += reduce(d * d, 1, add)[0];
        }
        let scale = rsqrt(squares / (n as f32) + epsilon);
        for i in 0..CFG.tiles(n) {
            if !CFG.is_whole() {
                copy_or(local_tile(x, CFG.tile(), (rows, i)), held, 0.0);
            }
            let normal = (convert::<f32>(held) - mean) * scale;
            let result = normal * weights(gamma, held, CFG, i) + weights(beta, held, CFG, i);
            copy_inside(convert::<T>(result), local_tile(y, CFG.tile(), (rows, i)));
        }
    }

    /// RMS norm of rows of at most `CFG.longest` elements, of which a thread holds V consecutive ones at a time.
    #[kernel(threads = CFG.threads)]
    #[instances(T in [bf16, f16, f32], CFG in [ROW_1024, ROW_2048, ROW_4096, ROW_8192, ROW_ANY], V in [8, 1])]
    pub fn rms_norm<T: Element, const CFG: Rows, const V: u32>(
        #[facts(aligned(x, 2 * V), extent(x, 1) % V == 0, extent(x, 1) <= CFG.longest)] x: Global<
            T,
            2,
        >,
        #[facts(aligned(gamma, 2 * V), extent(gamma, 0) == extent(x, 1))] gamma: Global<T, 1>,
        #[facts(aligned(y, 2 * V), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
        epsilon: f32,
    ) {
        let (rows, n) = (block_idx().0, extent(x, 1));
        let held = fragment::<T>(CFG.held(V));
        let mut squares = 0.0f32;
        for i in 0..CFG.tiles(n) {
            copy_or(local_tile(x, CFG.tile(), (rows, i)), held, 0.0);
            let x = convert::<f32>(held);
            squares += reduce(x * x, 1, add)[0];
        }
        let scale = rsqrt(squares / (n as f32) + epsilon);
        for i in 0..CFG.tiles(n) {
            if !CFG.is_whole() {
                copy_or(local_tile(x, CFG.tile(), (rows, i)), held, 0.0);
            }
            let result = convert::<f32>(held) * scale * weights(gamma, held, CFG, i);
            copy_inside(convert::<T>(result), local_tile(y, CFG.tile(), (rows, i)));
        }
    }

    /// Tile number `i` of the weights of columns, held as one row of `like`.
    fn weights<T: Element>(all: Global<T, 1>, like: Fragment, cfg: Rows, i: u32) -> Fragment {
        let held = fragment::<T>(like, 0);
        let columns = cfg.columns;
        let row = composition(local_tile(all, columns, i), layout!((1,columns):(0,1)));
        copy_or(row, held, 0.0);
        convert::<f32>(held)
    }
}
