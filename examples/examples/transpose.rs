//! y = xᵀ by tiles in shared memory, with rows that are padded so that neither side has bank conflicts.
//!
//! The `transpose` of `cute-kernels` moves tiles by TMA and pads nothing: it uses a swizzle. This one shows the idea.
//!
//! ```text
//! cargo run --release --example transpose
//! ```

use cute_runtime::{Device, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    /// y[j, i] = x[i, j], a tile of 32 × 32 for each CTA.
    #[kernel(threads = 128)]
    pub fn transpose(
        x: Global<f32, 2>,
        #[facts(extent(y, 0) == extent(x, 1), extent(y, 1) == extent(x, 0))] y: Global<f32, 2>,
    ) {
        let (i, j) = (block_idx().0, block_idx().1);
        // Rows are 33 elements apart. With 32, all elements of a column would be in one bank.
        let tile = smem::<f32>(layout!((32,32):(33,1)));
        // 32 lanes access a row, whose 1-D coordinates are 32 apart, or a column. Both are checked when this is compiled.
        assert!(
            bank_conflicts(tile, layout!(32:32)) == 1,
            "a row has bank conflicts"
        );
        assert!(
            bank_conflicts(tile, layout!(32:1)) == 1,
            "a column has bank conflicts"
        );

        // Lane l of warp w holds column l of the rows w, w + 4, w + 8, …
        let held = layout!(((32,4),8):((1@1,1@0),4@0));
        let row = fragment::<f32>(held);
        copy_or(local_tile(x, (32, 32), (i, j)), row, 0.0);
        copy(row, tile);
        sync_threads();
        // The transpose exchanges the modes of the tile. Elements outside of y are not written.
        let column = fragment::<f32>(held);
        copy(select(tile, 1, 0), column);
        copy_inside(column, local_tile(y, (32, 32), (j, i)));
    }
}

fn main() -> Result<(), Error> {
    let device = Device::default();
    let (m, n) = (100, 70);
    let numbers: Vec<f32> = (0..m * n).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&device, &numbers, [m, n])?;
    let mut y = Tensor::<f32, 2>::zeros(&device, [n, m])?;
    let grid = (m.div_ceil(32) as u32, n.div_ceil(32) as u32);
    kernels::transpose::launch(&device, grid, &x.view(), &mut y.view_mut())?;

    let transposed = (0..n).flat_map(|j| (0..m).map(move |i| (i * n + j) as f32));
    let wrong = transposed
        .zip(y.download()?)
        .filter(|(expected, found)| expected != found)
        .count();
    println!("device    {}", device.name());
    println!(
        "computed  y = xᵀ for x of {m} × {n} numbers of f32, by {} × {} CTAs of 128 threads",
        grid.0, grid.1
    );
    println!("error     {wrong} of {} elements are wrong", m * n);
    assert_eq!(wrong, 0);
    // The emulator counts what a launch did.
    if let Some(counts) = device.take_counts() {
        let conflicts = counts.shared.bank_conflicts;
        println!("conflicts {conflicts} passes through the banks more than the bytes need");
        assert_eq!(conflicts, 0);
    }
    Ok(())
}
