//! A ring of stages in shared memory: one thread fills them by TMA while 128 others empty them.
//!
//! Barrier `full[i]` says that stage i has been loaded, and `empty[i]` that it has been read. `Ring` of `cute_kernels::lib` is
//! this as a part that other kernels import.
//!
//! ```text
//! cargo run --release --example pipelined_copy
//! ```

use cute_runtime::{Device, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    /// y = 2 · x for matrices of 32 columns, 32 rows at a time, by one CTA.
    #[kernel(threads = 256)]
    #[instance(double: STAGES = 3)]
    pub fn double_in<const STAGES: u32>(
        x: TmaLoad<f32, 2>,
        #[facts(extent(y, 1) <= 32)] y: Global<f32, 2>,
    ) {
        let stages = smem::<f32>(layout!((32,32,STAGES):(32,1,1024)));
        // One thread announces the bytes of a stage; 128 threads read it.
        let (full, empty) = (mbarriers(STAGES, 1), mbarriers(STAGES, 128));
        let tiles = ceil_div(extent(y, 0), 32);
        // Both sides go around the ring. The parity of the barriers' phases flips after each round.
        let (mut stage, mut phase) = (0, 0);
        if warpgroup() == 1 {
            if warpgroup_thread() == 0 {
                for i in 0..tiles {
                    // On a fresh barrier, a wait for parity 1 returns at once: all stages are empty at first.
                    wait(empty[stage], phase ^ 1);
                    expect_tx(full[stage], bytes(stages[(_, _, 0)]));
                    tma_load(x, (32 * i, 0), stages[(_, _, stage)], full[stage]);
                    stage += 1;
                    if stage == STAGES {
                        stage = 0;
                        phase ^= 1;
                    }
                }
            }
        } else {
            let part = fragment::<f32>(layout!(((32,4),8):((1@1,1@0),4@0)));
            for i in 0..tiles {
                wait(full[stage], phase);
                copy(stages[(_, _, stage)], part);
                arrive(empty[stage]);
                copy_inside(part * 2.0, local_tile(y, (32, 32), (i, 0)));
                stage += 1;
                if stage == STAGES {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
    }
}

fn main() -> Result<(), Error> {
    let device = Device::default();
    let (m, n) = (300, 32);
    let numbers: Vec<f32> = (0..m * n).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&device, &numbers, [m, n])?;
    let mut y = Tensor::<f32, 2>::zeros(&device, [m, n])?;
    kernels::double::launch(&device, 1, &x.view(), &mut y.view_mut())?;

    let doubled = numbers.iter().map(|number| 2.0 * number);
    let wrong = doubled
        .zip(y.download()?)
        .filter(|(expected, found)| expected != found)
        .count();
    println!("device    {}", device.name());
    println!(
        "computed  y = 2 · x for x of {m} × {n} numbers of f32, by one CTA with a ring of 3 stages"
    );
    println!("error     {wrong} of {} elements are wrong", m * n);
    assert_eq!(wrong, 0);
    // On the emulator: how often each side waited for the other.
    if let Some(counts) = device.take_counts() {
        let waits = |barrier: &str| -> u64 {
            let waits = counts.waits.iter();
            let of_barrier = waits.filter(|(name, _)| name.contains(barrier));
            of_barrier.map(|(_, waits)| waits.count).sum()
        };
        println!("loaded    {} bytes by TMA", counts.copied_in);
        println!(
            "waits     the reading warps {} times for a full stage, the loading thread {} times for an empty one",
            waits("full"),
            waits("empty")
        );
    }
    Ok(())
}
