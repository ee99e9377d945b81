//! Every kernel against a reference, on the emulator; with `CUTE_GPU=1` on the GPU, which must then be there. And every
//! instance's PTX against NVIDIA's assembler and a reader's eye.

mod gemm;
mod ptx;
mod transpose;

use cute_runtime::Device;

/// The GPU where the environment asks for it, else the emulator.
fn device() -> Device {
    if std::env::var_os("CUTE_GPU").is_some_and(|value| value == "1") {
        Device::cuda(0).expect("CUTE_GPU=1 asks for a GPU")
    } else {
        Device::emulator()
    }
}
