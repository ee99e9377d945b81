//! Copies of tiles by threads, as a library has them.

use crate::device;
use cute_runtime::{Tensor, bf16};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::TiledCopy;

    /// y = x, a tile of 64 × 64 at a time: to shared memory by `cp.async`, and on by registers.
    #[kernel(threads = 128)]
    pub fn copied(
        #[facts(aligned(x, 16), extent(x, 1) % 8 == 0)] x: Global<bf16, 2>,
        #[facts(aligned(y, 16), extent(y, 0) % 64 == 0, extent(y, 1) % 64 == 0)] y: Global<bf16, 2>,
    ) {
        let (i, j) = (block_idx().0, block_idx().1);
        let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        // 16 × 8 threads, each with eight elements of a row.
        let copies = TiledCopy::<bf16>::new(
            UniversalCopy::<u128>,
            layout!((16,8):row),
            layout!((1,8):row),
        );
        copies.copy_async(local_tile(x, (64, 64), (i, j)), tile);
        cp_async_commit();
        cp_async_wait(0);
        sync_threads();
        if 64 * i < extent(y, 0) && 64 * j < extent(y, 1) {
            copies.copy(tile, local_tile(y, (64, 64), (i, j)));
        }
    }

    /// y = xᵀ for a tile of 32 × 32: read along rows, and written along columns.
    #[kernel(threads = 32)]
    pub fn transposed(
        #[facts(extent(x, 0) == 32, extent(x, 1) == 32)] x: Global<f32, 2>,
        #[facts(extent(y, 0) == 32, extent(y, 1) == 32)] y: Global<f32, 2>,
    ) {
        let along_rows =
            TiledCopy::<f32>::new(UniversalCopy::<u32>, layout!((4,8):row), layout!((1,4):row));
        let part = along_rows.partition_s(local_tile(x, (32, 32), (0, 0)), thread());
        let held = fragment::<f32>(shape(part));
        copy(part, held);
        let turned = select(local_tile(y, (32, 32), (0, 0)), 1, 0);
        copy(held, along_rows.partition_d(turned, thread()));
    }
}

#[test]
fn tiles_go_through_shared_memory() -> Result<(), cute_runtime::Error> {
    let device = device();
    // x is smaller than y, which becomes 0 there.
    let ([rows, columns], [height, width]) = ([100, 136], [128, 192]);
    let number = |at: usize| bf16::from_f32((at % 251) as f32);
    let data: Vec<bf16> = (0..rows * columns).map(number).collect();
    let x = Tensor::from_slice(&device, &data, [rows, columns])?;
    let mut y = Tensor::from_slice(&device, &vec![bf16::ONE; height * width], [height, width])?;
    kernels::copied::launch(&device, (3, 3), &x.view(), &mut y.view_mut())?;
    for (at, found) in y.download()?.into_iter().enumerate() {
        let (i, j) = (at / width, at % width);
        let expected = match i < rows && j < columns {
            true => data[i * columns + j],
            false => bf16::ZERO,
        };
        assert_eq!(found, expected, "({i}, {j})");
    }
    let ptx = <kernels::copied as cute_runtime::Kernel>::PTX;
    // 64 · 64 elements of 128 threads are four vectors of eight for each.
    for instruction in [
        "cp.async.cg.shared.global",
        "ld.shared.v4.b32",
        "st.global.v4.b32",
    ] {
        assert_eq!(ptx.matches(instruction).count(), 4, "{instruction}");
    }
    Ok(())
}

#[test]
fn partitions_of_registers() -> Result<(), cute_runtime::Error> {
    let device = device();
    let data: Vec<f32> = (0..32 * 32).map(|at| at as f32).collect();
    let x = Tensor::from_slice(&device, &data, [32, 32])?;
    let mut y = Tensor::<f32, 2>::zeros(&device, [32, 32])?;
    kernels::transposed::launch(&device, 1, &x.view(), &mut y.view_mut())?;
    for (at, found) in y.download()?.into_iter().enumerate() {
        assert_eq!(found, data[at % 32 * 32 + at / 32], "{at}");
    }
    Ok(())
}
