//! Transposes a matrix on the host by tiles, on all cores: `cargo run --release --example host_tiles`.
//!
//! The tiles of the result are scattered through one slice, and the threads write them at the same time. Nothing here is unsafe,
//! and nothing checks at run time that tiles do not overlap: `mut` before the name of the tiling demands a proof of that when
//! the program is compiled. The extents are not multiples of the tile's, so the last tiles end at the edge.

use cute_runtime::{HostError, HostTensor, HostTensorMut, Static, StaticLayout, layout, tile};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use std::time::Instant;

layout! {
    /// 3000 rows of 5000 elements, row-major.
    SOURCE = (3000,5000):row;
    /// The same coordinates in the memory of the transpose, whose rows are the columns of the source.
    TRANSPOSED = (3000,5000):col;
}

tile! {
    /// Blocks of 32 rows and 32 columns of the source.
    mut BLOCKS = ragged TRANSPOSED / <32,32>;
}

fn main() -> Result<(), HostError> {
    let source: Vec<u32> = (0..SOURCE::SIZE as u32).collect();
    let mut transposed = vec![0; source.len()];

    let from = HostTensor::new(&source, Static::<SOURCE>::new())?;
    let mut to = HostTensorMut::new(&mut transposed, TRANSPOSED)?;
    let blocks = to.par_tiles_mut::<BLOCKS>()?;
    println!(
        "device    the host, {} threads",
        rayon::current_num_threads()
    );
    println!(
        "computed  the transpose of 3000 × 5000 numbers of u32, by {} tiles of 32 × 32",
        blocks.len()
    );
    let start = Instant::now();
    blocks.for_each(|mut block| {
        let elements = block.iter_mut::<2>();
        elements.for_each(|(coordinate, element)| *element = from[coordinate]);
    });

    let time = start.elapsed().as_secs_f64();

    let columns = (0..5000).flat_map(|column| (0..3000).map(move |row| row * 5000 + column));
    let wrong = columns
        .zip(&transposed)
        .filter(|(expected, found)| expected != *found)
        .count();
    println!("error     {wrong} of {} elements are wrong", source.len());
    assert_eq!(wrong, 0);
    // Each number of four bytes is read and written.
    let rate = 8.0 * source.len() as f64 / time;
    println!("time      {:.1} ms, {:.1} GB/s", time * 1e3, rate / 1e9);
    Ok(())
}
