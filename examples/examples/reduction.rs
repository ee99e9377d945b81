//! The sum of a vector: a layout gives the elements of each thread, and `reduce` follows from it.
//!
//! ```text
//! cargo run --release --example reduction
//! ```

use cute_runtime::{Device, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    /// Elements of a CTA's tile.
    pub const TILE: u32 = 2048;

    /// total[0] += Σ x[i].
    #[kernel(threads = 256)]
    pub fn sum(x: Global<f32, 1>, total: Global<f32, 1>) {
        // From (thread, value) to the coordinate: thread t holds elements t, t + 256, t + 512, …, so that the threads of a warp
        // read neighbours.
        let held = fragment::<f32>(layout!((256,8):(1@0,256@0)));
        // The last tile reaches past the end of x. There, this copy reads nothing and gives 0.
        copy_or(local_tile(x, TILE, block_idx().0), held, 0.0);
        // Each thread adds up its values, the lanes of a warp exchange theirs by shuffles, and the warps by shared memory.
        let sum = reduce(held, 0, add);
        if thread() == 0 {
            atomic_add(total, 0, sum[0]);
        }
    }
}

fn main() -> Result<(), Error> {
    let device = Device::default();
    // Small integers, whose sum is exact in any order.
    let numbers: Vec<f32> = (0..10_000).map(|i| (i % 7) as f32).collect();
    let x = Tensor::from_slice(&device, &numbers, [numbers.len()])?;
    let mut total = Tensor::<f32, 1>::zeros(&device, [1])?;
    let grid = (numbers.len() as u32).div_ceil(kernels::TILE);
    kernels::sum::launch(&device, grid, &x.view(), &mut total.view_mut())?;

    let sum = total.download()?[0];
    let error = f64::from(sum) - numbers.iter().map(|x| f64::from(*x)).sum::<f64>();
    println!("device    {}", device.name());
    println!(
        "computed  the sum of {} numbers of f32, by {grid} CTAs of 256 threads",
        numbers.len()
    );
    println!("result    {sum}");
    println!(
        "error     {error} against float64; rounding allows 0, since sums of small integers are exact"
    );
    assert_eq!(error, 0.0);
    Ok(())
}
