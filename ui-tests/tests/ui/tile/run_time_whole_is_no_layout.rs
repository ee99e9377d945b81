//! The dividend of `tile!` must be a layout, and the divisor a tiler.

use cute_runtime::tile;

tile! {
    A = (m,4):(1@0,1@1) / <4,4>;
    B = (m,4):(4,1) / (m,4,2):(1,1,1);
    C = (m,4):(4,1) / <4,4,4>;
    D = (m,(n,2*n)):(1,(m,m*n)) / <_,<1,1,1>>;
}

fn main() {}
