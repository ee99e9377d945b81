//! A host matrix transposed by tiles, on all cores: `cargo run --release --example host_tiles`.
//!
//! The tiles of the result are scattered through one slice, and each thread writes its own. Nothing checks at run time that
//! they do not overlap, and nothing here is unsafe: `mut` before the name of the tiling has that proved when the program is
//! compiled. The extents are no multiples of the tile's, so the last tiles are cut off at the edge.

use std::time::Instant;

use cute_runtime::{HostError, HostTensor, HostTensorMut, Static, StaticLayout, layout, tile};
use rayon::iter::ParallelIterator;

layout! {
    /// 3000 rows of 5000, rightmost mode fastest.
    SOURCE = (3000,5000):row;
    /// The same coordinates in the transpose's memory: its rows are the source's columns.
    TRANSPOSED = (3000,5000):col;
}

tile! {
    /// Blocks of 32 by 32, of the source's coordinates.
    mut BLOCKS = ragged TRANSPOSED / <32,32>;
}

fn main() -> Result<(), HostError> {
    let source: Vec<u32> = (0..SOURCE::SIZE as u32).collect();
    let mut transposed = vec![0; source.len()];

    let naive = time("element by element", || {
        for row in 0..3000 {
            for column in 0..5000 {
                transposed[column * 3000 + row] = source[row * 5000 + column];
            }
        }
    });
    let expected = std::mem::replace(&mut transposed, vec![0; source.len()]);

    let from = HostTensor::new(&source, Static::<SOURCE>::new())?;
    let mut to = HostTensorMut::new(&mut transposed, TRANSPOSED)?;
    let blocks = to.par_tiles_mut::<BLOCKS>()?;
    let tiled = time("by tiles, in parallel", || {
        blocks.for_each(|mut block| {
            for (coordinate, element) in block.iter_mut::<2>() {
                *element = from[coordinate];
            }
        });
    });
    assert_eq!(transposed, expected);
    println!("{:.1} times as fast", naive / tiled);
    Ok(())
}

fn time(what: &str, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    let seconds = start.elapsed().as_secs_f64();
    println!("{what}: {:.1} ms", seconds * 1e3);
    seconds
}
