//! An instance with an error still has a `launch`, so only the error itself is reported.

use cute_runtime::{Device, Error, TensorView};

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    #[instance(read: T = f32)]
    pub fn k<T: Element, const N: u32>(a: TmaLoad<T, 2>, x: &u32) {}
}

fn launch(device: &Device, a: &TensorView<'_, f32, 2>) -> Result<(), Error> {
    kernels::read::launch(device, (1, 2), a, &7)
}

fn main() {
    let _ = launch;
}
