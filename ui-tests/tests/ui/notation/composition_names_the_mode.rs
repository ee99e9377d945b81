//! The error shows the layout that a named operand stands for, and the mode that is wrong.

use cute_runtime::{Layout, layout};

layout! {
    A = (5,3):(1,10);
    B = (2,6):(1,2);
}

const L: Layout = layout!(A o B);

fn main() {
    println!("{A} {B}");
}
