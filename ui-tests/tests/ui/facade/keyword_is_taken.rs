//! A facade whose macro takes the keyword `unsafe` from what the expansion passes to it.

use cute_runtime::kernels;

mod facade {
    pub use cute_runtime::*;

    pub mod __private {
        pub use crate::taken as instantiable;
        pub use cute_runtime::__private::*;
    }
}

#[macro_export]
macro_rules! taken {
    ([] [$($text:tt)*]) => {};
    ([$($stub:tt)*] [$keyword:tt impl $($rest:tt)*]) => {
        pub fn null() -> u8 {
            $keyword { ::core::ptr::null::<u8>().read() }
        }
    };
}

#[kernels(crate = crate::facade)]
mod filling {
    #[kernel(threads = 32)]
    #[instance(fill_with: EACH = _)]
    pub fn fill<const EACH: u32>(x: Global<u32, 1>) {
        if thread() < extent(x, 0) {
            x[thread()] = EACH;
        }
    }
}

fn main() {
    filling::null();
}
