//! A facade whose facts always hold: the kernel would read past the end of its tensor.

use cute_runtime::{Device, Tensor, kernels};

mod facade {
    pub use cute_runtime::*;

    pub struct Term;

    #[allow(non_snake_case)]
    impl Term {
        pub const fn Number(_: i128) -> cute_runtime::Term {
            cute_runtime::Term::Number(0)
        }
        pub const fn Extent(_: usize, _: usize) -> cute_runtime::Term {
            cute_runtime::Term::Number(0)
        }
    }
}

#[kernels(crate = crate::facade)]
mod filling {
    #[kernel(threads = 32)]
    pub fn fill(#[facts(extent(x, 0) == 32)] x: Global<f32, 1>) {
        x[thread()] = 1.0;
    }
}

fn main() {
    let device = Device::emulator();
    let mut x = Tensor::<f32, 1>::zeros(&device, [1]).unwrap();
    filling::fill::launch(&device, 1, &mut x.view_mut()).unwrap();
}
