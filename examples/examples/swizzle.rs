//! Designing a swizzle: which one makes two ways to access a tile free of bank conflicts, and a kernel that shows it.
//!
//! ```text
//! cargo run --release --example swizzle
//! ```

use cute_runtime::{Device, Error, Tensor, layout};

layout! {
    /// A tile of f32 in rows. The elements of a column are 32 words apart, in one bank.
    ROWS = (32,32):(32,1);
    /// Thread t accesses (0, t): the 1-D coordinates of a row are 32 apart.
    ALONG_ROW = 32:32;
    /// Thread t accesses (t, 0).
    ALONG_COLUMN = 32:1;
    /// The same tile with the swizzle for which both accesses have the fewest conflicts, of all swizzles.
    SWIZZLED = best_swizzle(ROWS, 32, ALONG_ROW, ALONG_COLUMN);
}

// The bank conflicts of the hardware, computed at compile time.
const _: () = assert!(layout!(bank_conflicts(ROWS, 32, ALONG_COLUMN)) == 32);
const _: () = assert!(layout!(bank_conflicts(SWIZZLED, 32, ALONG_ROW)) == 1);
const _: () = assert!(layout!(bank_conflicts(SWIZZLED, 32, ALONG_COLUMN)) == 1);

#[cute_runtime::kernels]
mod kernels {
    /// y[i] = Σⱼ x[i, j]: a warp writes rows of a tile, and then each thread reads one row, so that the warp reads columns.
    #[kernel(threads = 32)]
    #[instances(SWIZZLE in [true, false])]
    pub fn sums<const SWIZZLE: bool>(
        #[facts(extent(x, 0) == 32, extent(x, 1) == 32)] x: Global<f32, 2>,
        #[facts(extent(y, 0) == 32)] y: Global<f32, 1>,
    ) {
        // The kernel's other lines are the same for both: the layout decides where an element is.
        let tile = smem::<f32>(if SWIZZLE {
            layout!(SWIZZLED)
        } else {
            layout!(ROWS)
        });
        for i in 0..32 {
            tile[(i, thread())] = x[(i, thread())];
        }
        sync_threads();
        let mut sum = 0.0;
        for j in 0..32 {
            sum += tile[(thread(), j)];
        }
        y[thread()] = sum;
    }
}

fn main() -> Result<(), Error> {
    // The emulator counts the passes through the banks in addition to those that the bytes need.
    let device = Device::emulator();
    let numbers: Vec<f32> = (0..32 * 32).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&device, &numbers, [32, 32])?;
    let mut y = Tensor::<f32, 1>::zeros(&device, [32])?;
    println!("device    {}", device.name());
    println!(
        "computed  the sums of 32 rows of 32 numbers of f32: a warp writes a tile by rows and reads it by columns"
    );
    for (layout, choice, conflicts) in [
        (ROWS.to_string(), kernels::sums_SWIZZLE::_false, 32 * 31),
        (SWIZZLED.to_string(), kernels::sums_SWIZZLE::_true, 0),
    ] {
        kernels::sums::launch(choice, &device, 1, &x.view(), &mut y.view_mut())?;
        let sums = numbers.chunks(32).map(|row| row.iter().sum::<f32>());
        assert!(sums.eq(y.download()?));
        let counted = device
            .take_counts()
            .map(|counts| counts.shared.bank_conflicts);
        assert_eq!(counted, Some(conflicts));
        println!(
            "tile      {layout}: right sums, and {conflicts} passes through the banks more than the bytes need"
        );
    }
    Ok(())
}
