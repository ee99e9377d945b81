//! Matrices of 8-bit numbers with a scale for each row.

use cute_runtime::{Device, Element, Tensor, TensorView, TensorViewMut, e4m3, e5m2};

use crate::Error;
use crate::extent::{Zeros, extent, is_empty};
use kernels::quantise_rows_types;

/// Element types of 8 bits to which [`quantise_rows`] rounds.
pub trait Quantised: Element {
    /// The number that stands for the largest absolute value of a row.
    const LARGEST: f32;
}

impl Quantised for e4m3 {
    const LARGEST: f32 = 448.0;
}

impl Quantised for e5m2 {
    const LARGEST: f32 = 57_344.0;
}

impl Quantised for i8 {
    const LARGEST: f32 = 127.0;
}

/// `scales[i] = largest[i] / LARGEST` and `y[i, j] = x[i, j] / scales[i]`, rounded to the nearest. `largest[i]` is the largest
/// absolute value of row i, and [`LARGEST`](Quantised::LARGEST) is 448 for y of `e4m3`, 57,344 for `e5m2`, and 127 for `i8`. So
/// `scales[i] · y[i, j]` is about `x[i, j]`, and y with its scales is an operand of [`gemm_scaled`](crate::gemm_scaled).
///
/// x is of `bf16`, `f16` or `f32`. An element beyond the largest value of its row becomes this value; rounding of x after `largest` was
/// found can give one. If the largest value is 0, or so small that the scale is 0, the row is 0. A NaN becomes a NaN, or 0 in `i8`. x and y
/// have up to 2³¹ − 1 rows and columns, and their last mode is contiguous. On a GPU the call returns before the result is complete.
///
/// A product finds the largest values of its rows while it still has them in registers, by
/// [`absmax_of_rows`](crate::lib) in its epilogue. Here is a layer whose output is the input of the next, in two launches:
///
/// ```
/// use cute_kernels::{gemm_scaled, quantise_rows};
/// use cute_runtime::{Device, Tensor, bf16, e4m3};
///
/// #[cute_runtime::kernels]
/// mod kernels {
///     use cute_kernels::lib::{SQUARE, absmax_of_rows, multiply, relu, store_by_tma, tiles};
///
///     /// D = ReLU(A · Bᵀ), and the largest values of its rows.
///     #[kernel(threads = 384)]
///     pub fn layer(
///         a: TmaLoad<bf16, 2>,
///         b: TmaLoad<bf16, 2>,
///         d: TmaStore<bf16, 2>,
///         #[facts(extent(largest, 0) == m)] largest: Global<f32, 1>,
///         m: u32,
///         n: u32,
///         k: u32,
///     ) {
///         let tiles = tiles::<SQUARE>(1, m, n);
///         multiply::<_, _, _, SQUARE>(a, b, tiles, k, |acc, consumer, (batch, row, column), _| {
///             let result = map(acc, relu);
///             absmax_of_rows(result, largest, (row, column), n);
///             store_by_tma(result, d, consumer, (batch, row, column));
///         });
///         tma_wait_read(0);
///     }
/// }
///
/// let device = Device::emulator();
/// // Row i of D has the elements 16 · (i + 1).
/// let rows = [1.0, 2.0, 3.0].map(|x| [bf16::from_f32(x); 16]);
/// let a = Tensor::from_slice(&device, rows.as_flattened(), [3, 16])?;
/// let b = Tensor::from_slice(&device, &[bf16::ONE; 8 * 16], [8, 16])?;
/// let mut d = Tensor::<bf16, 2>::zeros(&device, [3, 8])?;
/// let mut largest = Tensor::<f32, 1>::zeros(&device, [3])?;
/// kernels::layer::launch(
///     &device, 1, &a.view(), &b.view(), &mut d.view_mut(), &mut largest.view_mut(), 3, 8, 16,
/// )?;
/// assert_eq!(largest.download()?, [16.0, 32.0, 48.0]);
///
/// let mut y = Tensor::<e4m3, 2>::zeros(&device, [3, 8])?;
/// let mut scales = Tensor::<f32, 1>::zeros(&device, [3])?;
/// quantise_rows(&device, &d.view(), &largest.view(), &mut y.view_mut(), &mut scales.view_mut())?;
/// assert_eq!(y.download()?, [e4m3::MAX; 3 * 8]);
///
/// // The next layer, whose weights have one scale.
/// let weights = Tensor::from_slice(&device, &[e4m3::from_f32(0.25); 8 * 8], [8, 8])?;
/// let one = Tensor::from_slice(&device, &[1f32], [1])?;
/// let mut next = Tensor::<bf16, 2>::zeros(&device, [3, 8])?;
/// gemm_scaled(&device, &y.view(), &scales.view(), &weights.view(), &one.view(), &mut next.view_mut())?;
/// assert_eq!(next.download()?[8], bf16::from_f32(8.0 * 32.0 * 0.25));
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// The kernels need the feature `f8-i8`.
///
/// # Errors
///
/// If the shapes do not fit together, or an extent is larger than 2³¹ − 1. Nothing has been launched then.
pub fn quantise_rows<X: quantise_rows_types<Y>, Y: Quantised>(
    device: &Device,
    x: &TensorView<'_, X, 2>,
    largest: &TensorView<'_, f32, 1>,
    y: &mut TensorViewMut<'_, Y, 2>,
    scales: &mut TensorViewMut<'_, f32, 1>,
) -> Result<(), Error> {
    let [rows, columns] = x.shape();
    if y.shape() != x.shape() || [largest.shape(), scales.shape()] != [[rows]; 2] {
        let found = [
            ("x", &x.shape()[..]),
            ("largest", &largest.shape()),
            ("y", &y.shape()),
            ("scales", &scales.shape()),
        ];
        let needs = "y of the shape of x, (M, N), and largest and scales of (M)";
        return Err(Error::shapes("quantise_rows", needs, &found));
    }
    if is_empty(&scales.shape()) {
        return Ok(());
    }
    if is_empty(&y.shape()) {
        // Rows without elements have scales all the same.
        let mut y = Tensor::zeros(device, [rows, 1])?;
        let zeros = Zeros::new(device, 1)?;
        return quantise_rows::<X, Y>(device, &zeros.like(x)?, largest, &mut y.view_mut(), scales);
    }
    let tiles = u64::from(extent(rows)?.div_ceil(kernels::ROWS))
        * u64::from(extent(columns)?.div_ceil(kernels::COLUMNS));
    let grid = tiles.clamp(1, 16 * u64::from(device.multiprocessor_count())) as u32;
    // Each type of y has one instance: whether its elements are integers.
    let whole = match X::INSTANCES.first() {
        Some(whole) => *whole,
        None => {
            return Err(Error::Features {
                function: "quantise_rows",
                types: vec![X::TYPE, Y::TYPE],
                missing: X::MISSING,
            });
        }
    };
    kernels::quantise_rows::launch(whole, device, grid, x, largest, y, scales, Y::LARGEST)?;
    Ok(())
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// Rows of the tile of a CTA: a warp has one.
    pub const ROWS: u32 = 8;
    /// Columns of the tile of a CTA.
    pub const COLUMNS: u32 = 1024;

    /// scales = largest / most, and y = x / scales, as the nearest integer if `WHOLE`. Rows of x and y may have any stride and any
    /// alignment.
    #[kernel(threads = 256)]
    #[instances(
        cfg(feature = "f8-i8"),
        (X, Y) in [
            (bf16, e4m3),
            #[cfg(feature = "f16")] (f16, e4m3),
            (f32, e4m3),
            #[cfg(feature = "mixed")] (bf16, e5m2),
            #[cfg(all(feature = "mixed", feature = "f16"))] (f16, e5m2),
            #[cfg(feature = "mixed")] (f32, e5m2),
        ],
        WHOLE in [false],
    )]
    #[instances(
        cfg(feature = "f8-i8"),
        (X, Y) in [(bf16, i8), #[cfg(feature = "f16")] (f16, i8), (f32, i8)],
        WHOLE in [true],
    )]
    pub fn quantise_rows<X: Element, Y: Element, const WHOLE: bool>(
        x: Global<X, 2>,
        #[facts(extent(largest, 0) == extent(x, 0))] largest: Global<f32, 1>,
        #[facts(extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))] y: Global<Y, 2>,
        #[facts(extent(scales, 0) == extent(x, 0))] scales: Global<f32, 1>,
        most: f32,
    ) {
        let (high, wide) = (
            ceil_div(extent(y, 0), ROWS),
            ceil_div(extent(y, 1), COLUMNS),
        );
        // A warp holds a row: each thread 16 consecutive elements, twice.
        let held = layout!(((32,8),(16,2)):((128,1),(8,4096)));
        let held = fragment::<X>(composition(make_identity_layout((ROWS, COLUMNS)), held));
        let mut tile = block_idx().0 as u64;
        while tile < high as u64 * wide as u64 {
            let (i, j) = ((tile / wide as u64) as u32, (tile % wide as u64) as u32);
            let row = i * ROWS + warp();
            let scale = largest[min(row, extent(largest, 0) - 1)] / most;
            if j == 0 && lane() == 0 && row < extent(scales, 0) {
                scales[row] = scale;
            }
            // Rows begin anywhere, so each thread finds out how its vectors are aligned.
            let (first, right) = ((i, 0), (0, j * COLUMNS));
            let from = domain_offset(right, local_tile(x, (ROWS, COLUMNS), first));
            copy_or(from, held, 0.0);
            let quotient = map(convert::<f32>(held), |x| {
                let quotient = if scale > 0.0 { x / scale } else { 0.0 };
                if WHOLE {
                    clamp(round_ties_even(quotient), -most, most)
                } else {
                    quotient
                }
            });
            let to = domain_offset(right, local_tile(y, (ROWS, COLUMNS), first));
            copy_inside(convert::<Y>(quotient), to);
            tile += grid_dim().0 as u64;
        }
    }
}
