//! A host matrix transposed by tiles, on all cores: `cargo run --release --example host_tiles`.
//!
//! The tiles of the result are scattered through one slice, and each thread writes its own. Nothing checks at run time that
//! they do not overlap, and nothing here is unsafe: `mut` before the name of the tiling has that proved when the program is
//! compiled. The extents are no multiples of the tile's, so the last tiles are cut off at the edge.

use cute_runtime::{HostError, HostTensor, HostTensorMut, Static, StaticLayout, layout, tile};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};

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

    let from = HostTensor::new(&source, Static::<SOURCE>::new())?;
    let mut to = HostTensorMut::new(&mut transposed, TRANSPOSED)?;
    let blocks = to.par_tiles_mut::<BLOCKS>()?;
    println!("{} blocks: {BLOCKS}", blocks.len());
    blocks.for_each(|mut block| {
        let elements = block.iter_mut::<2>();
        elements.for_each(|(coordinate, element)| *element = from[coordinate]);
    });

    let columns = (0..5000).flat_map(|column| (0..3000).map(move |row| row * 5000 + column));
    assert!(columns.eq(transposed));
    println!("transposed");
    Ok(())
}
