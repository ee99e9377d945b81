//! A facade whose element types are others than they are called: the kernel would write 64 bytes to a tensor of 32.

use cute_runtime::{Device, Tensor, kernels};

mod facade {
    pub use cute_runtime::*;

    #[allow(non_camel_case_types)]
    pub type bf16 = u8;

    pub struct ElementType;

    impl ElementType {
        pub const BF16: cute_runtime::ElementType = cute_runtime::ElementType::U8;
    }
}

#[kernels(crate = crate::facade)]
mod filling {
    #[kernel(threads = 32)]
    pub fn fill(x: Global<bf16, 1>) {
        if thread() < extent(x, 0) {
            x[thread()] = 1.0;
        }
    }
}

fn main() {
    let device = Device::emulator();
    let mut x = Tensor::<u8, 1>::zeros(&device, [32]).unwrap();
    filling::fill::launch(&device, 1, &mut x.view_mut()).unwrap();
}
