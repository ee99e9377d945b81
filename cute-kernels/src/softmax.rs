//! The softmax of rows.

use cute_runtime::{Device, TensorView, TensorViewMut};

use crate::Error;
use crate::row::{HELD, fitting, is_aligned, long};

/// `y[i, j] = exp(x[i, j]) / Σₖ exp(x[i, k])`, computed in f32, for `bf16`, `f16` and `f32`.
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
/// If the shapes differ, or an extent is 0 or larger than 2³¹ − 1. Nothing has been launched then.
pub fn softmax<T: kernels::softmax_types + kernels::softmax_long_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    y: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    use kernels::{softmax_CFG as Config, softmax_long_CFG as Long};
    let aligned = is_aligned(x) && is_aligned(&y.as_view());
    if let Some((config, grid)) = fitting(x, aligned, HELD, Config::ALL)? {
        kernels::softmax::launch(config, device, grid, x, y)?;
    } else {
        let (config, grid) = long(device, x, aligned, Long::ALL)?;
        kernels::softmax_long::launch(config, device, grid, x, y)?;
    }
    Ok(())
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::row::kernels::{
        ANY_1017, ANY_2041, ANY_6137, ANY_12281, ANY_LONG, ROW_1024, ROW_1536, ROW_2048, ROW_3072,
        ROW_4096, ROW_6144, ROW_8192, ROW_12288, ROW_16384, ROW_LONG, Rows, Stream,
    };

    /// The softmax of rows that are multiples of `CFG.unit` elements long, of at most `CFG.longest`.
    #[kernel(threads = CFG.threads)]
    #[instances(
        T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32],
        CFG in [
            ROW_1024, ROW_1536, ROW_2048, ROW_3072, ROW_4096, ROW_6144, ROW_8192, ROW_12288, ROW_16384,
            ANY_1017, ANY_2041, ANY_6137, ANY_12281,
        ],
    )]
    pub fn softmax<T: Element, const CFG: Rows>(
        #[facts(aligned(x, 2 * CFG.unit), extent(x, 1) % CFG.unit == 0, extent(x, 1) <= CFG.longest)]
        x: Global<T, 2>,
        #[facts(aligned(y, 2 * CFG.unit), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
    ) {
        let (held, at) = (fragment::<T>(CFG.held()), (block_idx().0, 0));
        let skipped = CFG.skipped(CFG.tile(y, at, 0), held);
        copy_or(CFG.tile(x, at, skipped), held, f32::NEG_INFINITY);
        let e = exp_above(convert::<f32>(held), reduce(reduce(held, 2, max), 1, max));
        let scale = rcp_fast(reduce(reduce(e, 2, add), 1, add));
        copy_inside(convert::<T>(e * scale), CFG.tile(y, at, skipped));
    }

    /// The softmax of rows of any length that are multiples of `CFG.unit` elements long.
    #[kernel(threads = CFG.threads)]
    #[instances(T in [#[cfg(feature = "core")] bf16, #[cfg(feature = "f16")] f16, #[cfg(feature = "core")] f32], CFG in [ROW_LONG, ANY_LONG])]
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
            // `sum` is of exp(x - top), where `top` is the thread's largest x so far.
            let (mut top, mut sum) = (fragment::<f32>(held, 2), fragment::<f32>(held, 2));
            fill(top, f32::MIN);
            fill(sum, 0.0);
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, false, held);
                let values = convert::<f32>(held);
                fill_outside(values, CFG.tile(x, (row, i), skipped), f32::NEG_INFINITY);
                let largest = max(top, reduce(values, 2, max));
                let e = exp_above(values, largest);
                sum = sum * exp_above(top, largest) + reduce(e, 2, add);
                top = largest;
            }
            let largest = reduce(top, 1, max);
            let scale = rcp_fast(reduce(sum * exp_above(top, largest), 1, add));
            for i in 0..tiles {
                stream.read(x, (row, i), skipped, true, held);
                let e = exp_above(convert::<f32>(held), largest);
                copy_inside(convert::<T>(e * scale), CFG.tile(y, (row, i), skipped));
                stream.release(x, i);
            }
            stream.advance();
            row += grid_dim().0;
        }
    }

    /// exp(x - top), by one fma and one exp2. From 2^127 on, where top * log2(e) is infinite, numbers differ by 2^103 at least, so
    /// that any scale gives 0 for those below top.
    fn exp_above(x: Fragment, top: Fragment) -> Fragment {
        let scale = map(top, |top| if abs(top) < 1.7e38 { 1.442695 } else { 1.0 });
        exp2_fast(fma(x, scale, -(top * scale)))
    }
}
