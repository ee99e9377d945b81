//! Every kernel is compared with a reference on the emulator; with `CUTE_GPU=1` on the GPU, and then a missing GPU is a failure.
//! The PTX of every instance is checked for the instructions it should have, and by NVIDIA's assembler.

mod attention;
mod copy;
mod covering;
mod epilogue;
mod exchange;
mod gemm;
mod grouped;
mod linear;
mod list;
mod mma;
mod number;
mod ptx;
mod quantise;
mod refusals;
mod rows;
mod scaled;
mod transpose;
mod types;

use cute_runtime::Device;

/// The first GPU if `CUTE_GPU=1`, else the emulator.
fn device() -> Device {
    if std::env::var_os("CUTE_GPU").is_some_and(|value| value == "1") {
        Device::cuda(0).expect("CUTE_GPU=1 asks for a GPU")
    } else {
        Device::emulator()
    }
}
