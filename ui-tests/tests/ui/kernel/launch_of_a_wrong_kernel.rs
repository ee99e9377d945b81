//! A kernel with an error still has a `launch`, so only the error itself is reported.

use cute_runtime::{Device, Error, Kernel, TensorView, TensorViewMut};

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    #[instance(add_f32: T = f32)]
    pub unsafe fn add<T: Element>(a: Global<T, 1>, out: Global<T, 1>, n: u32) {
        out[thread()] = a[thread()] + unknown;
    }
}

fn launch(device: &Device, a: &TensorView<'_, f32, 1>, out: &mut TensorViewMut<'_, f32, 1>) -> Result<(), Error> {
    unsafe { kernels::add_f32::launch(device, 1, a, out, 5) }
}

fn main() {
    let _ = launch;
    println!("{}", kernels::add_f32::NAME);
}
