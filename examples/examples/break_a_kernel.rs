//! Testing a kernel on the emulator: under many schedules, and with mistakes made on purpose to see that they are noticed.
//!
//! ```text
//! cargo run --release --example break_a_kernel
//! ```

use cute_runtime::{Device, EmulatorOptions, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    /// Reverses 64 numbers by way of shared memory.
    #[kernel(threads = 64)]
    #[instance(right: BARRIER = true)]
    #[instance(wrong: BARRIER = false)]
    pub fn reverse<const BARRIER: bool>(#[facts(extent(x, 0) == 64)] x: Global<u32, 1>) {
        let kept = smem::<u32>(64);
        kept[thread()] = x[thread()];
        // Without the barrier, a warp may read what the other one has not written yet.
        if BARRIER {
            sync_threads();
        }
        x[thread()] = kept[63 - thread()];
    }
}

/// The property of a right kernel on any device.
fn reverses(
    device: &Device,
    launch: impl Fn(&Device, &mut Tensor<u32, 1>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut x = Tensor::from_slice(device, &(0..64).collect::<Vec<u32>>(), [64])?;
    launch(device, &mut x)?;
    assert!((0..64).rev().eq(x.download()?));
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The right kernel passes under 20 schedules, which differ in which warp runs next and when copies arrive.
    let right = |device: &Device, x: &mut Tensor<u32, 1>| {
        kernels::right::launch(device, 1, &mut x.view_mut())
    };
    Device::under_schedules(20, |device| reverses(device, right))?;
    println!("device    emulator");
    println!("computed  64 numbers of u32 in reverse order, by two warps through shared memory");
    println!("right     passes under 20 of 20 schedules");

    // The wrong one fails under every schedule, even where the order of the warps happens to give the right result: the emulator
    // checks whether the two accesses are ordered.
    let wrong = |device: &Device, x: &mut Tensor<u32, 1>| {
        kernels::wrong::launch(device, 1, &mut x.view_mut())
    };
    let Err(failure) = Device::under_schedules(20, |device| reverses(device, wrong)) else {
        return Err("the race was not noticed".into());
    };
    assert_eq!((failure.failed, failure.schedules), (20, 20));
    println!(
        "wrong     has no barrier in its source, and fails under {} of {} schedules:\n\n{}\n",
        failure.failed, failure.schedules, failure.error
    );

    // Without a change of the source: the device runs the PTX that a function returns.
    let unsynchronised = |ptx: &str| ptx.replace("bar.sync 0;", "");
    let device = Device::emulator_rewriting(EmulatorOptions::default(), unsynchronised);
    match reverses(&device, right) {
        Err(error @ Error::Emulator { .. }) if error.to_string().contains("races at") => {
            println!(
                "rewritten without the barrier in its PTX, the right one fails, too:\n\n{error}"
            )
        }
        other => return Err(format!("the race was not noticed: {other:?}").into()),
    }
    Ok(())
}
