//! The devices on which every test runs.

use cute_runtime::Device;

/// Emulators with the first seeds, and with `CUTE_GPU=1` the first GPU; then a missing GPU is a failure.
pub(crate) fn devices(seeds: u64) -> Vec<Device> {
    let mut devices: Vec<Device> = (0..seeds).map(Device::emulator_with_seed).collect();
    if std::env::var("CUTE_GPU").is_ok_and(|value| value == "1") {
        devices.push(Device::cuda(0).expect("CUTE_GPU=1 asks for a GPU"));
    }
    devices
}
