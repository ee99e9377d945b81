//! Two items of a block have one name. Of two under `cfg`, one may be left out.

use cute_runtime::layout;

layout! {
    pub A = 4:1;
    pub B = A;
    pub A = 5:1;
    #[cfg(any())]
    pub C = NOWHERE o 6:1;
    #[cfg(not(any()))]
    pub C = 7:1;
}

fn main() {
    println!("{} {} {}", A, B, C);
}
