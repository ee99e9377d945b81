//! The softmax of rows, each held by one warp: reductions along a mode, and arithmetic of whole fragments.
//!
//! ```text
//! cargo run --release --example softmax
//! ```

use cute_runtime::{Device, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    /// y[i, j] = exp(x[i, j]) / Σₖ exp(x[i, k]), for rows of at most 256 elements.
    #[kernel(threads = 128)]
    pub fn softmax(
        #[facts(extent(x, 1) <= 256)] x: Global<f32, 2>,
        #[facts(extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))] y: Global<f32, 2>,
    ) {
        // Warp w holds row w of the tile, and each lane eight of its elements: mode 0 of the coordinate is the row.
        let row = fragment::<f32>(layout!(((32,4),8):((1@1,1@0),32@1)));
        let place = (block_idx().0, 0);
        // Elements outside of x are -∞, and their exponential is 0.
        copy_or(local_tile(x, (4, 256), place), row, f32::NEG_INFINITY);
        // `reduce` along mode 1 leaves one number a row, which fits every element of the row.
        let largest = reduce(row, 1, max);
        // The difference comes first, so that large numbers lose no digits.
        let e = exp_fast(row - largest);
        copy_inside(
            e * rcp_fast(reduce(e, 1, add)),
            local_tile(y, (4, 256), place),
        );
    }
}

fn main() -> Result<(), Error> {
    let device = Device::default();
    let (m, n) = (10, 200);
    let numbers: Vec<f32> = (0..m * n).map(|i| (i * 37 % 101) as f32 / 10.0).collect();
    let x = Tensor::from_slice(&device, &numbers, [m, n])?;
    let mut y = Tensor::<f32, 2>::zeros(&device, [m, n])?;
    let grid = m.div_ceil(4) as u32;
    kernels::softmax::launch(&device, grid, &x.view(), &mut y.view_mut())?;

    let mut worst = 0.0_f64;
    for (x, y) in numbers.chunks(n).zip(y.download()?.chunks(n)) {
        let exp = |x: &f32| f64::from(*x).exp();
        let sum: f64 = x.iter().map(exp).sum();
        for (x, y) in x.iter().zip(y) {
            let exact = exp(x) / sum;
            assert!(!y.is_nan());
            worst = worst.max((f64::from(*y) - exact).abs() / exact);
        }
    }
    // In units of the last place of f32, for numbers from 0 to 10: the difference 5 and `exp_fast` 13, twice, since the sum has these
    // errors, too; the sum 7, `rcp_fast` 1, the product 1.
    let allowed = 45.0 * f64::from(f32::EPSILON);
    println!("device    {}", device.name());
    println!(
        "computed  the softmax of {m} rows of {n} numbers of f32, by {grid} CTAs of 128 threads"
    );
    println!(
        "error     {worst:.1e} relative, the largest of {} against float64; rounding allows {allowed:.1e}",
        m * n
    );
    assert!(worst <= allowed);
    Ok(())
}
