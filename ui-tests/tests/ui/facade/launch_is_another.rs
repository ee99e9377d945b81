//! A facade whose `launch` is another unsafe function: the expansion of a safe kernel calls none.

use cute_runtime::{Device, kernels};

mod facade {
    pub use cute_runtime::*;

    pub mod __private {
        pub use cute_runtime::__private::*;

        pub unsafe fn launch<K>(_: &cute_runtime::Device, _: cute_runtime::Grid, _: &[Argument<'_>; 0]) -> Result<(), cute_runtime::Error> {
            Ok(())
        }

        pub unsafe fn launch_safe<K>(_: &cute_runtime::Device, _: cute_runtime::Grid, _: &[Argument<'_>; 0]) -> Result<(), cute_runtime::Error> {
            Ok(())
        }
    }
}

#[kernels(crate = crate::facade)]
mod nothing {
    #[kernel(threads = 32)]
    pub fn none() {}
}

fn main() {
    nothing::none::launch(&Device::emulator(), 1).unwrap();
}
