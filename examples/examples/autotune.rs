//! Autotuning: the sizes of a kernel are values, so that a program measures several and takes the fastest.

use cute_runtime::{Device, Error, Grid, Instantiate, Tensor};
use kernels::{Sizes, saxpy};

/// A kernel whose sizes are values.
#[cute_runtime::kernels]
pub mod kernels {
    /// How a kernel divides a vector.
    pub struct Sizes {
        /// Threads of a CTA.
        pub threads: u32,
        /// Elements of a thread.
        pub each: u32,
    }

    /// y = a · x + y.
    #[kernel(threads = SIZES.threads)]
    #[instance(saxpy: SIZES = _)]
    pub fn saxpy_in<const SIZES: Sizes>(
        x: Global<f32, 1>,
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
        a: f32,
    ) {
        for i in 0..SIZES.each {
            let at = (block_idx().0 * SIZES.each + i) * SIZES.threads + thread();
            if at < extent(x, 0) {
                y[at] = a * x[at] + y[at];
            }
        }
    }
}

fn main() -> Result<(), Error> {
    let device = Device::default();
    let n: u32 = if device.is_emulator() {
        10_000
    } else {
        1 << 26
    };
    let x = Tensor::from_slice(&device, &vec![2.0f32; n as usize], [n as usize])?;
    let mut y = Tensor::from_slice(&device, &vec![1.0f32; n as usize], [n as usize])?;

    println!("device    {}", device.name());
    println!("computed  y = 10 · x + y for {n} numbers of f32, by 16 kernels, twice by each");
    if device.is_emulator() {
        println!("note      times of the emulator say nothing about a GPU");
    }
    println!("threads  elements of a thread       time     rate  registers");
    let (mut launches, mut measured) = (0, Vec::new());
    for threads in [64, 128, 256, 512] {
        for each in [1, 2, 4, 8] {
            let kernel = saxpy {
                SIZES: Sizes { threads, each },
            };
            let grid = Grid::from(n.div_ceil(threads * each));
            let registers = kernel.compile(&device)?.registers;
            let mut launch = || kernel.launch(&device, grid, &x.view(), &mut y.view_mut(), 10.0);
            // The first launch warms the caches up.
            launch()?;
            let time = device.time(launch)?;
            launches += 2;
            let registers = registers.map_or("unknown".into(), |registers| registers.to_string());
            // x and y are read, and y is written.
            let rate = 12.0 * f64::from(n) / time.as_secs_f64() / 1e9;
            let micros = time.as_secs_f64() * 1e6;
            println!("{threads:7}  {each:20} {micros:7.0} µs {rate:6.1} GB/s  {registers:>9}");
            measured.push((time, kernel));
        }
    }
    let expected = 1.0 + 20.0 * launches as f32;
    let wrong = y.download()?.iter().filter(|y| **y != expected).count();
    println!("error     {wrong} of {n} results are not {expected}");
    assert_eq!(wrong, 0);
    if let Some((time, kernel)) = measured.iter().min_by_key(|(time, _)| *time) {
        let Sizes { threads, each } = kernel.SIZES;
        println!("fastest   {threads} threads with {each} elements each: {time:.1?}");
    }
    Ok(())
}
