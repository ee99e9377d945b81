//! Arrays of other libraries, without a copy: `cargo run --release --features arrays --example arrays`.
//!
//! A matrix of `ndarray` is written by tiles on all cores, read by `ndarray` along a layout of ours, and at last handed to DLPack,
//! the format in which NumPy and PyTorch take tensors. A layout without axes, or an array with gaps, is an error.

use cute_runtime::dlpack::Dlpack;
use cute_runtime::{HostTensor, HostTensorMut, layout, tile};
use ndarray::Array2;
use rayon::iter::ParallelIterator;
use std::error::Error;

layout! {
    /// The elements of `Array2::zeros((60, 80))`.
    MATRIX = (60,80):row;
    /// The same elements as 6 × 8 blocks of 10 × 10.
    BLOCKED = ((10,10),(6,8)):((80,1),(800,10));
}

tile! { mut BLOCKS = MATRIX / <10,10>; }

fn main() -> Result<(), Box<dyn Error>> {
    let mut array = Array2::<f32>::zeros((60, 80));
    let mut matrix = HostTensorMut::from_ndarray(array.view_mut())?;
    let layout = matrix.layout();
    matrix.par_tiles_mut::<BLOCKS>()?.for_each(|mut block| {
        let number = block.number() as f32;
        block
            .iter_mut::<2>()
            .for_each(|(_, element)| *element = number);
    });
    println!(
        "device    the host, {} threads",
        rayon::current_num_threads()
    );
    println!(
        "computed  for each of 60 × 80 elements of f32 the number of its tile, in an array of ndarray:"
    );
    println!("{array:4}");

    // Each block is one value. A mode of two strides is no axis, but its parts are.
    let (data, _) = array.into_raw_vec_and_offset();
    let blocked = HostTensor::new(&data, BLOCKED)?;
    println!(
        "refused   {}",
        blocked.to_ndarray::<2>().expect_err("two strides")
    );
    let first = blocked.slice([Some(0), None])?;
    println!("firsts    of the tiles: {first}");

    let handed_over = Dlpack::new(data, layout)?;
    let last = handed_over.tensor::<f32, 2>()?[[59, 79]];
    println!("DLPack    has the elements now, and the last one is {last}");
    assert_eq!(last, 47.0);
    Ok(())
}
