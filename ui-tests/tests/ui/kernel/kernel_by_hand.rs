//! To implement `Kernel` is unsafe, and so is the launch of a kernel with arguments of any type.

#![forbid(unsafe_code)]

use cute_runtime::{Device, Error, Kernel, Param};

struct Anything;

impl Kernel for Anything {
    const NAME: &'static str = "anything";
    const PTX: &'static str = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry anything() { ret; }";
    const THREADS: u32 = 32;
    const CLUSTER: [u32; 3] = [1, 1, 1];
    const SMEM_BYTES: u32 = 0;
    const PARAMS: &'static [Param] = &[];
}

fn launch<K: Kernel>(device: &Device) -> Result<(), Error> {
    cute_runtime::__private::launch::<K>(device, 1.into(), &[])
}

fn main() {
    let device = Device::emulator();
    let _ = device.compile::<Anything>();
    let _ = launch::<Anything>(&device);
}
