//! z = x + y, one element for each thread: the smallest kernel that is safe to launch.
//!
//! ```text
//! cargo run --release --example vector_add
//! ```

use cute_runtime::{Device, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    /// z[i] = x[i] + y[i].
    #[kernel(threads = 256)]
    pub fn vector_add(
        x: Global<f32, 1>,
        // Each launch checks these facts. So where `x[i]` is inside, `y[i]` and `z[i]` are, too.
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
        #[facts(extent(z, 0) == extent(x, 0))] z: Global<f32, 1>,
    ) {
        let i = block_idx().0 * 256 + thread();
        // Without this condition the kernel does not compile, since the last CTA has more threads than elements are left.
        if i < extent(x, 0) {
            z[i] = x[i] + y[i];
        }
    }
}

fn main() -> Result<(), Error> {
    // The first GPU that can be used, or else the emulator.
    let device = Device::default();
    let n = 1000;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y = vec![0.5; n];

    let (device_x, device_y) = (
        Tensor::from_slice(&device, &x, [n])?,
        Tensor::from_slice(&device, &y, [n])?,
    );
    let mut z = Tensor::<f32, 1>::zeros(&device, [n])?;
    // Four CTAs of 256 threads for 1000 elements.
    let grid = n.div_ceil(256) as u32;
    kernels::vector_add::launch(
        &device,
        grid,
        &device_x.view(),
        &device_y.view(),
        &mut z.view_mut(),
    )?;

    let z = z.download()?;
    let wrong = (0..n).filter(|&i| z[i] != x[i] + y[i]).count();
    println!("device    {}", device.name());
    println!("computed  z = x + y for {n} numbers of f32, by {grid} CTAs of 256 threads");
    println!("result    the last is {} + {} = {}", x[999], y[999], z[999]);
    println!("error     {wrong} of {n} sums differ from those of the host");
    assert_eq!(wrong, 0);
    Ok(())
}
