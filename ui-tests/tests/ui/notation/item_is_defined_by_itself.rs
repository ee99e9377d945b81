//! An item cannot use its own name, and neither can two items use each other's. Uses of them give no errors of their own.

use cute_runtime::layout;

layout! {
    pub A = A o 4:1;
    pub B = C o 4:1;
    pub C = logical_divide(B, 2:1);
    pub D = coalesce(A);
}

fn main() {
    println!("{} {} {}", A, C, D);
}
