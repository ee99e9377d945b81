//! Not every operation has a form for run-time integers.

use cute_runtime::layout;

layout! { INVERSE = right_inverse((m,n):(n,1)); }

fn main() {}
