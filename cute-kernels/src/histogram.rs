//! The histogram of bytes.

use cute_runtime::{Device, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{extent, is_empty};

/// Adds to `counts[b]`, for each byte value b, how often it occurs in `data`.
///
/// `data` has up to 2³¹ − 1 bytes, and `counts` has 256 elements. On a GPU the call returns before the result is complete.
///
/// ```
/// use cute_runtime::{Device, Tensor};
/// let device = Device::emulator();
/// let data = Tensor::from_slice(&device, b"cute", [4])?;
/// let mut counts = Tensor::<u32, 1>::zeros(&device, [256])?;
/// cute_kernels::histogram(&device, &data.view(), &mut counts.view_mut())?;
/// assert_eq!(counts.download()?[b'u' as usize], 1);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// The kernel needs the feature `rows`.
///
/// # Errors
///
/// If `data` has more than 2³¹ − 1 bytes, or `counts` has another length. Nothing has been launched then.
pub fn histogram(
    device: &Device,
    data: &TensorView<'_, u8, 1>,
    counts: &mut TensorViewMut<'_, u32, 1>,
) -> Result<(), Error> {
    if counts.shape() != [256] {
        let found = [("data", &data.shape()[..]), ("counts", &counts.shape())];
        return Err(Error::shapes("histogram", "256 counts", &found));
    }
    if is_empty(&data.shape()) {
        return Ok(());
    }
    let tiles = extent(data.shape()[0])?.div_ceil(kernels::TILE);
    let grid = tiles.min(4 * device.multiprocessor_count());
    let vectors = data.address().is_multiple_of(16) && data.shape()[0].is_multiple_of(16);
    let v = match vectors {
        true => kernels::histogram_V::_16,
        false => kernels::histogram_V::_1,
    };
    kernels::histogram::launch(v, device, grid, data, counts)?;
    Ok(())
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// Bytes that a CTA reads at a time: 16 for each thread.
    pub const TILE: u32 = 4096;

    /// Each CTA counts in shared memory, and adds its counts to those of the others at the end.
    #[kernel(threads = 256)]
    #[instances(cfg(feature = "rows"), V in [16, 1])]
    pub fn histogram<const V: u32>(
        #[facts(aligned(data, V), extent(data, 0) % V == 0)] data: Global<u8, 1>,
        #[facts(extent(counts, 0) == 256)] counts: Global<u32, 1>,
    ) {
        let bins = smem::<u32>(256);
        bins[thread()] = 0;
        sync_threads();
        let (step, steps) = (256 * V, 16 / V);
        let held = layout!((256,(V,steps)):(V,(1,step)));
        let bytes = fragment::<u8>(composition(make_identity_layout((TILE,)), held));
        let mut i = block_idx().0;
        while i < ceil_div(extent(data, 0), TILE) {
            copy_or(local_tile(data, TILE, i), bytes, 0);
            for v in 0..size(bytes) {
                if i * TILE + bytes.coordinate(v).0 < extent(data, 0) {
                    atomic_add(bins, bytes[v] as u32, 1, RELAXED, CTA);
                }
            }
            i += grid_dim().0;
        }
        sync_threads();
        atomic_add(counts, thread(), bins[thread()]);
    }
}
