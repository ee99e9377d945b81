//! A layout whose values are coordinates has a type only if these are flat and not too long.

use cute_runtime::layout;

layout! {
    NESTED = (m,n):(1@0@1,1@0);
    LONG = (m,n):(1@0,1@1000000000);
}

fn main() {}
