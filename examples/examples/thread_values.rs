//! Partition by threads and values: a layout from (thread, value) to the elements of a tile, used by a kernel and by the host.
//!
//! ```text
//! cargo run --release --example thread_values
//! ```

use cute_runtime::{Device, Error, Tensor, layout};

layout! {
    /// The elements of each thread in a tile of 16 × 16. A warp is 8 rows of 4 threads, each with 4 neighbours of a row, and again
    /// 8 rows below. Values are 1-D coordinates of the tile, row + 16 · column.
    HELD = ((4,8),(4,2)):((64,1),(16,8));
}

// Every element is held exactly once. If it were not, this would be an error with a witness.
const _: () = assert!(layout!(is_bijective(HELD)));

#[cute_runtime::kernels]
mod kernels {
    /// Each thread writes 100 · thread + value to the elements that it holds.
    #[kernel(threads = 32)]
    pub fn label(y: Global<u32, 2>) {
        // The same layout with coordinates (row, column) in the place of the 1-D coordinate.
        let held = fragment::<u32>(composition(make_identity_layout((16, 16)), layout!(HELD)));
        for v in 0..size(held) {
            held[v] = 100 * thread() + v;
        }
        copy_inside(held, local_tile(y, (16, 16), (0, 0)));
    }
}

fn main() -> Result<(), Error> {
    let device = Device::default();
    let mut y = Tensor::<u32, 2>::zeros(&device, [16, 16])?;
    kernels::label::launch(&device, 1, &mut y.view_mut())?;

    let labels = y.download()?;
    let mut wrong = 0;
    for thread in 0..32 {
        for value in 0..8 {
            let element = HELD.crd2idx(&[thread, value]) as usize;
            let (row, column) = (element % 16, element / 16);
            wrong += usize::from(labels[16 * row + column] != (100 * thread + value) as u32);
        }
    }
    println!("device    {}", device.name());
    println!("computed  thread and value of each element of a tile of 16 × 16, by one warp");
    println!("layout    {HELD}, from (thread, value) to row + 16 · column");
    for row in labels.chunks(16) {
        let cell = |label: &u32| format!("{:>7}", format!("T{}V{}", label / 100, label % 100));
        println!("{}", row.iter().map(cell).collect::<String>());
    }
    println!("error     {wrong} of 256 elements are not where the layout says");
    assert_eq!(wrong, 0);
    Ok(())
}
