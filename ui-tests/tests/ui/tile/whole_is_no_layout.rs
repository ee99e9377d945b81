//! The dividend of `tile!` must be a layout of integers.

use cute_runtime::{Tiling, tile};

const T: Tiling = tile!((4,8):(1@0,1@1) / <2,2>);
const U: Tiling = tile!(Sw<3,3,3> / <2,2>);

fn main() {}
