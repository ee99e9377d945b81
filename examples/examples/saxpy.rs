//! y = a · x + y by a kernel of one line: the tiles, their edges and their copies are a part of `cute-kernels`.

use cute_runtime::{Device, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::update;

    /// y = a · x + y, by tiles of 2048 elements.
    #[kernel(threads = 256)]
    pub fn saxpy(
        x: Global<f32, 1>,
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
        a: f32,
    ) {
        update::<_, 1>(x, y, |x, y| a * x + y);
    }
}

fn main() -> Result<(), Error> {
    let device = Device::default();
    let n = 10_000;
    let x = Tensor::from_slice(&device, &vec![2.0; n], [n])?;
    let mut y = Tensor::from_slice(&device, &vec![1.0; n], [n])?;
    let grid = n.div_ceil(2048) as u32;
    kernels::saxpy::launch(&device, grid, &x.view(), &mut y.view_mut(), 10.0)?;
    let y = y.download()?;
    let wrong = y.iter().filter(|y| **y != 21.0).count();
    println!("device    {}", device.name());
    println!("computed  y = 10 · x + y for {n} numbers of f32, by {grid} CTAs of 256 threads");
    println!("result    10 · 2 + 1 = {}", y[0]);
    println!("error     {wrong} of {n} results are not 21");
    assert_eq!(wrong, 0);
    Ok(())
}
