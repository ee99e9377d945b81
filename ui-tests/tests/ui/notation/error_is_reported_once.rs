//! A layout that uses a wrong layout adds no error of its own.

use cute_runtime::{Layout, layout};

layout! {
    pub A = (4,8):(1,4,2);
    pub B = A o 4:1;
}

const C: Layout = layout!(coalesce(B));

fn main() {
    println!("{} {}", A.size(), C);
}
