//! Layouts across crates: the names that a library declares are values, types, and parts of other layouts and of kernels.
//!
//! The library is `examples/src/layouts.rs`.
//!
//! ```text
//! cargo run --release --example shared_layouts
//! ```

use cute_examples::layouts::{PADDED, TILES};
use cute_runtime::{Device, Error, StaticLayout, StaticTiling, Tensor, layout};

layout! {
    /// Every second row of the library's layout. `PADDED` stands for its declaration.
    HALF = composition(PADDED, <16:2,_>);
}

#[cute_runtime::kernels]
mod kernels {
    // Kernels import layouts as Rust does.
    use cute_examples::layouts::PADDED;

    /// Writes 100 · row + column through a tile in shared memory.
    #[kernel(threads = 32)]
    pub fn through_tile(#[facts(extent(y, 0) == 32, extent(y, 1) == 32)] y: Global<u32, 2>) {
        let tile = smem::<u32>(layout!(PADDED));
        for row in 0..32 {
            tile[(row, thread())] = 100 * row + thread();
        }
        sync_threads();
        for row in 0..32 {
            y[(row, thread())] = tile[(row, thread())];
        }
    }
}

/// Works for every layout that has a name.
fn describe<L: StaticLayout>(name: &str) {
    println!(
        "{name:10}{}: {} elements in {} places",
        L::LAYOUT,
        L::SIZE,
        L::COSIZE
    );
}

fn main() -> Result<(), Error> {
    describe::<PADDED>("PADDED");
    describe::<HALF>("HALF");
    println!("TILES     of PADDED, each {}", TILES::TILING.tile());
    assert_eq!(HALF.to_string(), "(16,32):(66,1)");

    let device = Device::default();
    let mut y = Tensor::<u32, 2>::zeros(&device, [32, 32])?;
    kernels::through_tile::launch(&device, 1, &mut y.view_mut())?;
    let expected = (0..32).flat_map(|i| (0..32).map(move |j| 100 * i + j));
    let wrong = expected
        .zip(y.download()?)
        .filter(|(expected, found)| expected != found)
        .count();
    println!("device    {}", device.name());
    println!(
        "computed  100 · row + column for 32 × 32 numbers of u32, through a tile that lies as PADDED"
    );
    println!("error     {wrong} of 1024 elements are wrong");
    assert_eq!(wrong, 0);
    Ok(())
}
