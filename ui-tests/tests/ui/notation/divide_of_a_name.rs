//! The error shows the layout that the name stands for, and finds the extent by its mode.

use cute_runtime::{Layout, layout};

layout! {
    A = (8,(2,6)):(1,(8,16));
}

const L: Layout = layout!(zipped_divide(A, <4,(2,4)>));

fn main() {
    println!("{A}");
}
