//! A facade in which `==` of a fact is `<=`, in a crate that calls itself `cute_runtime`.

extern crate self as cute_runtime;

pub use real::*;
use ui_tests::real;

pub struct Comparison;

#[allow(non_upper_case_globals)]
impl Comparison {
    pub const Eq: real::Comparison = real::Comparison::Le;
}

#[kernels]
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
