//! A layout of constants is checked when the program is compiled.

use cute_runtime::layout;

layout! {
    pub TILES = logical_divide((m,8):(8,1), <4,_>);
}

const M: i64 = 10;
const TILED: TILES = TILES::new(M);

fn main() {
    println!("{TILED}");
}
