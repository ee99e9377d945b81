//! Values that warps exchange, on every device.

use crate::device;
use cute_runtime::Tensor;

#[cute_runtime::kernels]
mod kernels {
    /// Columns of a 64 × 32 tile, summed up from the top, from each number less the largest of its column. Two warpgroups do it.
    ///
    /// # Safety
    ///
    /// Both tensors have that shape.
    #[kernel(threads = 256)]
    pub unsafe fn columns(a: Global<f32, 2>, d: Global<f32, 2>) {
        let x = fragment::<f32>(wgmma_c(32));
        for v in 0..size(x) {
            x[v] = a[x.coordinate(v)];
        }
        let barrier = warpgroup() + 1;
        let mut m = reduce(x, 0, max, barrier);
        m = max(m, 0.0);
        let held = composition(make_identity_layout((64, 32)), layout!((128,16):(16,1)));
        let y = redistribute(scan(x - m, 0, add, barrier), held, barrier);
        for v in 0..size(y) {
            d[y.coordinate(v)] = y[v];
        }
    }
}

#[test]
fn warps_exchange_values() -> Result<(), cute_runtime::Error> {
    let device = device();
    let number = |i: usize, j: usize| ((i * 37 + j * 11) % 41) as f32 - 20.0;
    let numbers: Vec<f32> = (0..64 * 32).map(|at| number(at / 32, at % 32)).collect();
    let a = Tensor::from_slice(&device, &numbers, [64, 32])?;
    let mut d = Tensor::<f32, 2>::zeros(&device, [64, 32])?;
    // SAFETY: both tensors have the shape of the tile.
    unsafe { kernels::columns::launch(&device, 1, &a.view(), &mut d.view_mut())? };
    for (at, found) in d.download()?.into_iter().enumerate() {
        let (i, j) = (at / 32, at % 32);
        let most = (0..64).map(|i| number(i, j)).fold(0.0, f32::max);
        let expected: f32 = (0..=i).map(|i| number(i, j) - most).sum();
        assert_eq!(found, expected, "({i}, {j})");
    }
    Ok(())
}
