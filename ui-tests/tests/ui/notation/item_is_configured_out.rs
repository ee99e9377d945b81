//! What an item declares, its name for other layouts included, is there only if its `cfg` holds.

use cute_runtime::layout;

layout! {
    #[cfg(any())]
    pub A = 4:1;
    #[cfg(any())]
    pub B = (4,8):(1,4,2);
    #[cfg(any())]
    pub C = NOWHERE o 4:1;
}

layout! {
    pub D = A o 2:1;
}

fn main() {}
