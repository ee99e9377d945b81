//! The launch of an `unsafe` kernel is unsafe.

use cute_runtime::{Device, Error, TensorViewMut};

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub unsafe fn write(out: Global<u64, 1>, at: u64, value: u64) {
        if thread() == 0 {
            out[at] = value;
        }
    }
}

fn poke(device: &Device, out: &mut TensorViewMut<'_, u64, 1>) -> Result<(), Error> {
    kernels::write::launch(device, 1, out, 1 << 40, 7)
}

fn main() {
    let _ = poke;
}
