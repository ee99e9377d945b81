//! Functions of arrays, element by element.

use cute_runtime::{Device, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{extent, is_empty};

/// `y[i] = a · x[i] + y[i]`, rounded once.
///
/// x and y have the same length, up to 2³¹ − 1. On a GPU the call returns before the result is complete.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let x = Tensor::from_slice(&device, &[1f32, 2., 3.], [3])?;
/// let mut y = Tensor::from_slice(&device, &[10f32, 10., 10.], [3])?;
/// cute_kernels::saxpy(&device, 2.0, &x.view(), &mut y.view_mut())?;
/// assert_eq!(y.download()?, [12.0, 14.0, 16.0]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the lengths differ, or are larger than 2³¹ − 1. Nothing has been launched then.
pub fn saxpy(
    device: &Device,
    a: f32,
    x: &TensorView<'_, f32, 1>,
    y: &mut TensorViewMut<'_, f32, 1>,
) -> Result<(), Error> {
    if y.shape() != x.shape() {
        let found = [("x", &x.shape()[..]), ("y", &y.shape())];
        return Err(Error::shapes("saxpy", "y of the shape of x", &found));
    }
    if is_empty(&y.shape()) {
        return Ok(());
    }
    let grid = extent(x.shape()[0])?.div_ceil(kernels::TILE);
    let vectors = [x.address(), y.address()]
        .iter()
        .all(|n| n.is_multiple_of(16));
    let v = match vectors && x.shape()[0].is_multiple_of(4) {
        true => kernels::saxpy_V::_4,
        false => kernels::saxpy_V::_1,
    };
    kernels::saxpy::launch(v, device, grid, x, y, a)?;
    Ok(())
}

/// The kernel, its instances, and the parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// Elements of the tile of a CTA of 256 threads.
    pub const TILE: u32 = 2048;

    /// y = a · x + y.
    #[kernel(threads = 256)]
    #[instances(cfg(feature = "core"), V in [4, 1])]
    pub fn saxpy<const V: u32>(
        #[facts(aligned(x, 4 * V), extent(x, 0) % V == 0)] x: Global<f32, 1>,
        #[facts(aligned(y, 4 * V), extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
        a: f32,
    ) {
        update::<_, V>(x, y, |x, y| fma(x, a, y));
    }

    /// y = `f`(x, y) element by element, for the tile of each CTA of 256 threads. A thread moves V consecutive elements at a time.
    pub fn update<T: Element, const V: u32>(
        x: Global<T, 1>,
        y: Global<T, 1>,
        f: impl Fn(Fragment, Fragment) -> Fragment,
    ) {
        let (old_x, old_y) = (load::<_, V>(x), load::<_, V>(y));
        store(f(old_x, old_y), y);
    }

    /// y = `f`(x) element by element, for the tile of each CTA of 256 threads. A thread moves V consecutive elements at a time.
    pub fn apply<T: Element, D: Element, const V: u32>(
        x: Global<T, 1>,
        y: Global<D, 1>,
        f: impl Fn(Fragment) -> Fragment,
    ) {
        store(f(load::<_, V>(x)), y);
    }

    /// The tile of the CTA, as numbers of f32.
    pub fn load<T: Element, const V: u32>(x: Global<T, 1>) -> Fragment {
        let (step, steps) = (256 * V, 8 / V);
        let held = layout!((256,(V,steps)):(V,(1,step)));
        let held = fragment::<T>(composition(make_identity_layout((TILE,)), held));
        copy_or(local_tile(x, TILE, block_idx().0), held, 0.0);
        convert::<f32>(held)
    }

    /// Rounds the tile of the CTA to elements of y, and stores it.
    pub fn store<T: Element>(held: Fragment, y: Global<T, 1>) {
        copy_inside(convert::<T>(held), local_tile(y, TILE, block_idx().0));
    }
}
