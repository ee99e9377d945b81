//! The softmax of rows.

use cute_runtime::{Device, TensorView, TensorViewMut};

use crate::Error;
use crate::row::{choose, has_vectors};

/// `y[i, j] = exp(x[i, j]) / Σₖ exp(x[i, k])`, computed in f32, for `bf16`, `f16` and `f32`.
///
/// x and y have the same shape, of up to 2³¹ − 1 rows and columns, and their last mode is contiguous. It is fastest if rows start at
/// multiples of 16 bytes and are multiples of 8 elements long, at most 8192. On a GPU the call returns before the result is
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
pub fn softmax<T: kernels::softmax_types>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    y: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    use kernels::{softmax_CFG as Config, softmax_V as V};
    let vectors = has_vectors(x) && has_vectors(&y.as_view());
    let (config, v, grid) = choose(x, vectors, Config::ALL, V::ALL)?;
    kernels::softmax::launch(config, v, device, grid, x, y)?;
    Ok(())
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::row::kernels::{ROW_1024, ROW_2048, ROW_4096, ROW_8192, ROW_ANY, Rows};

    const LOG2_E: f32 = 1.44269504;

    /// The softmax of rows of at most `CFG.longest` elements, of which a thread holds V consecutive ones at a time.
    #[kernel(threads = CFG.threads)]
    #[instances(T in [bf16, f16, f32], CFG in [ROW_1024, ROW_2048, ROW_4096, ROW_8192, ROW_ANY], V in [8, 1])]
    pub fn softmax<T: Element, const CFG: Rows, const V: u32>(
        #[facts(aligned(x, 2 * V), extent(x, 1) % V == 0, extent(x, 1) <= CFG.longest)] x: Global<
            T,
            2,
        >,
        #[facts(aligned(y, 2 * V), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<T, 2>,
    ) {
        let rows = block_idx().0;
        let held = fragment::<T>(CFG.held(V));
        // `sum` is of exp(x - top), where `top` is the largest x so far.
        let (mut top, mut sum) = (f32::NEG_INFINITY, 0.0f32);
        for i in 0..CFG.tiles(extent(x, 1)) {
            copy_or(
                local_tile(x, CFG.tile(), (rows, i)),
                held,
                f32::NEG_INFINITY,
            );
            let x = convert::<f32>(held);
            let largest = max(top, reduce(x, 1, max)[0]);
            let e = map((x - largest) * LOG2_E, exp2_fast);
            sum = sum * exp2_fast((top - largest) * LOG2_E) + reduce(e, 1, add)[0];
            top = largest;
        }
        let scale = rcp(sum);
        for i in 0..CFG.tiles(extent(x, 1)) {
            if !CFG.is_whole() {
                copy_or(
                    local_tile(x, CFG.tile(), (rows, i)),
                    held,
                    f32::NEG_INFINITY,
                );
            }
            let e = map((convert::<f32>(held) - top) * LOG2_E, exp2_fast);
            copy_inside(
                convert::<T>(e * scale),
                local_tile(y, CFG.tile(), (rows, i)),
            );
        }
    }
}
