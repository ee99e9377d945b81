//! The softmax of rows.

use cute_runtime::{Device, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::is_empty;
use crate::row::{fitting, is_aligned, long};

/// `y[i, j] = exp(x[i, j]) / Σₖ exp(x[i, k])`, computed in f32, for `bf16`, `f16` and `f32`.
///
/// For a row of n finite numbers of any size, the relative error of each result is at most 2⁻²² · (32 + log₂ n), before it is
/// rounded to the type of y. An exponential below 2⁻¹²⁶ times the largest one of the row is 0. −∞ gives 0. As in PyTorch, a row
/// with NaN or +∞, or with nothing but −∞, is NaN.
///
/// x and y have the same shape, of up to 2³¹ − 1 rows and columns, and their last mode is contiguous. It is fastest if rows start at
/// multiples of 16 bytes and are multiples of 8 elements long. On a GPU the call returns before the result is
/// complete.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let x = Tensor::from_slice(&device, &[0f32, 0., 5., 5., 5., 5.], [3, 2])?;
/// let mut y = Tensor::<f32, 2>::zeros(&device, [3, 2])?;
/// cute_kernels::softmax(&device, &x.view(), &mut y.view_mut())?;
/// assert_eq!(y.download()?, [0.5; 6]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes differ, or an extent is larger than 2³¹ − 1. Nothing has been launched then.
pub fn softmax<T: kernels::softmax_types + kernels::softmax_long_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    y: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    if y.shape() != x.shape() {
        let found = [("x", &x.shape()[..]), ("y", &y.shape())];
        return Err(Error::shapes("softmax", "y of the shape of x", &found));
    }
    if is_empty(&y.shape()) {
        return Ok(());
    }
    let aligned = is_aligned(x) && is_aligned(&y.as_view());
    if let Some((config, grid)) = fitting(x, aligned)? {
        kernels::softmax::launch(config, device, grid, x, y)?;
    } else {
        let (config, grid) = long(device, x, aligned)?;
        kernels::softmax_long::launch(config, device, grid, x, y)?;
    }
    Ok(())
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::row::kernels::{HELD, LONG, Rows, Stream};

    /// The softmax of rows that are multiples of `CFG.unit` elements long, of at most `CFG.longest`.
    #[kernel(threads = CFG.threads)]
    #[instances(
        T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32],
        CFG in HELD,
    )]
    pub fn softmax<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0, extent(x, 1) <= CFG.longest)]
        x: Global<T, 2>,
        #[facts(aligned(y, 2 * CFG.unit), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
    ) {
        let (held, at) = (fragment::<T>(CFG.held()), (block_idx().0, 0));
        let skipped = CFG.skipped(CFG.tile(y, at, 0), held);
        copy_or(CFG.tile(x, at, skipped), held, T::NEG_INFINITY);
        // The difference comes first: it is 0 for the largest number, and rounded as a small number, however large x is.
        let e = exp_fast(convert::<f32>(held) - reduce(reduce(held, 2, max), 1, max));
        let scale = rcp_fast(reduce(reduce(e, 2, add), 1, add));
        copy_inside(convert::<T>(e * scale), CFG.tile(y, at, skipped));
    }

    /// The softmax of rows of any length that are multiples of `CFG.unit` elements long.
    #[kernel(threads = CFG.threads)]
    #[instances(T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32], CFG in LONG)]
    pub fn softmax_long<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0)] x: Global<T, 2>,
        #[facts(aligned(y, 2 * CFG.unit), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
    ) {
        let (held, tiles) = (fragment::<T>(CFG.held()), CFG.tiles(extent(x, 1)));
        let mut stream = Stream::<CFG>::new::<T>(x);
        let mut row = block_idx().0;
        while row < extent(x, 0) {
            let skipped = CFG.skipped(CFG.tile(y, (row, 0), 0), held);
            // `sum` is of exp(x - top), and `lost` what roundings have added to it. `top` is one of the thread's numbers, and
            // `largest` the largest so far. It is above `top` by 8 at most: each step of `top` rounds `sum` once more, and after two
            // such steps, what was summed up before them counts for nothing.
            let (top, mut largest) = (fragment::<f32>(held, 2), fragment::<f32>(held, 2));
            let (mut sum, mut lost) = (fragment::<f32>(held, 2), fragment::<f32>(held, 2));
            fill(top, f32::MIN);
            fill(largest, f32::MIN);
            fill(sum, 0.0);
            fill(lost, 0.0);
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, false, held);
                let values = convert::<f32>(held);
                fill_outside(values, CFG.tile(x, (row, i), skipped), f32::NEG_INFINITY);
                largest = max(largest, reduce(values, 2, max));
                if largest[0] > top[0] + 8.0 {
                    let factor = exp_fast(top - largest);
                    sum *= factor;
                    lost *= factor;
                    copy(largest, top);
                }
                // The sum of a long row by Kahan's method, since there may be 100,000 tiles.
                let part = reduce(exp_fast(values - top), 2, add) - lost;
                let next = sum + part;
                lost = (next - sum) - part;
                sum = next;
            }
            let largest = reduce(largest, 1, max);
            let scale = rcp_fast(reduce(sum * exp_fast(top - largest), 1, add));
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, true, held);
                let e = exp_fast(convert::<f32>(held) - largest);
                copy_inside(convert::<T>(e * scale), CFG.tile(y, (row, i), skipped));
                stream.release(x, i);
            }
            stream.advance();
            row += grid_dim().0;
        }
        stream.end();
    }
}
