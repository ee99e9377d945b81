//! Launches that do not end well: loops that never end, divisions that have no result, and grids that begin too early. The emulator
//! tells the line of the source.
#![cfg(feature = "emulator")]

use cute_runtime::{Device, EmulatorOptions, Error, Tensor};

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 64)]
    pub fn stores(#[facts(extent(x, 0) == 64)] x: Global<u32, 1>, bound: u32) {
        let mut i = 0;
        while i < bound {
            x[thread()] = i; // stored forever
            if i > 10 {
                i = 0;
            }
            i += 1;
        }
    }

    #[kernel(threads = 64)]
    pub fn nested(#[facts(extent(x, 0) == 64)] x: Global<u32, 1>, bound: u32) {
        for round in 0..4 {
            x[thread()] = round;
        }
        let mut j = 0;
        while j < bound {
            for i in 0..bound {
                x[thread()] = i;
            }
            j = 0;
        }
    }

    #[kernel(threads = 64)]
    pub fn barriers(bound: u32) {
        let mut k = 0;
        while k < bound {
            sync_threads();
            k = k % 7;
        }
    }

    #[kernel(threads = 64)]
    pub fn one_warp(#[facts(extent(x, 0) == 64)] x: Global<u32, 1>, bound: u32) {
        if warp() == 0 {
            let mut l = 0;
            while l < bound {
                x[thread()] = l;
                l = l % 7;
            }
        }
        sync_threads();
    }

    /// Adds one, after or before it waits for the grid before.
    #[kernel(threads = 64)]
    #[instance(in_time: LATE = false)]
    #[instance(too_early: LATE = true)]
    pub fn adds<const LATE: bool>(#[facts(extent(x, 0) == 64)] x: Global<u32, 1>) {
        griddepcontrol_launch_dependents();
        if !LATE {
            griddepcontrol_wait();
        }
        x[thread()] += 1; // added
        griddepcontrol_wait();
    }

    #[kernel(threads = 32)]
    pub fn divide_u32(#[facts(extent(x, 0) == 32)] x: Global<u32, 1>, by: u32) {
        x[thread()] = (x[thread()] + 7) / by; // u32
    }

    #[kernel(threads = 32)]
    pub fn remainder_u32(#[facts(extent(x, 0) == 32)] x: Global<u32, 1>, by: u32) {
        x[thread()] = (x[thread()] + 7) % by; // u32 remainder
    }

    #[kernel(threads = 32)]
    pub fn divide_i32(#[facts(extent(x, 0) == 32)] x: Global<i32, 1>, by: i32) {
        x[thread()] = (x[thread()] + i32::MIN) / by; // i32
    }

    #[kernel(threads = 32)]
    pub fn remainder_i32(#[facts(extent(x, 0) == 32)] x: Global<i32, 1>, by: i32) {
        x[thread()] = (x[thread()] + i32::MIN) % by; // i32 remainder
    }

    #[kernel(threads = 32)]
    pub fn divide_u64(#[facts(extent(x, 0) == 32)] x: Global<u64, 1>, by: u64) {
        x[thread()] = (x[thread()] + 7) / by; // u64
    }

    #[kernel(threads = 32)]
    pub fn divide_i64(#[facts(extent(x, 0) == 32)] x: Global<i64, 1>, by: i64) {
        x[thread()] = (x[thread()] + i64::MIN) / by; // i64
    }

    #[kernel(threads = 32)]
    pub fn divide_u8(#[facts(extent(x, 0) == 32)] x: Global<u8, 1>, by: u32) {
        x[thread()] = x[thread()] / (by as u8); // u8
    }

    #[kernel(threads = 32)]
    pub fn remainder_i16(#[facts(extent(x, 0) == 32)] x: Global<i16, 1>, by: i32) {
        x[thread()] = x[thread()] % (by as i16); // i16
    }

    #[kernel(threads = 32)]
    pub fn divide_itself(#[facts(extent(x, 0) == 32)] x: Global<u32, 1>, by: u32) {
        let n = by * x[thread()];
        x[thread()] = n / n; // itself
    }

    /// Divides where the divisor is not 0 alone.
    #[kernel(threads = 32)]
    pub fn guarded(#[facts(extent(x, 0) == 32)] x: Global<u32, 1>, by: u32, signed: i32) {
        let n = x[thread()] + 9;
        let by_lane = thread() % 4 * by;
        let mut sum = if by != 0 { n / by } else { 1 };
        if by != 0 && n % by == 3 {
            sum += 1;
        }
        if by == 0 || n / by > 3 {
            sum += 1;
        }
        sum += if by_lane > 0 { n / by_lane } else { 0 };
        sum += match by {
            0 => 5,
            _ => n % by,
        };
        for i in 0..by {
            sum += n / by + n / (i + 1);
        }
        while by_lane != 0 && n / by_lane < sum && sum > 100 {
            sum -= 1;
        }
        if signed != -1 && signed != 0 {
            sum += (i32::MIN / signed) as u32;
        }
        x[thread()] = sum;
    }
}

/// The error has all of the parts, and the line of the source with this text.
#[track_caller]
fn check(result: Result<(), Error>, text: &str, parts: &[&str]) {
    let error = result.expect_err(text).to_string();
    let source = include_str!("endings.rs");
    let line = source.lines().position(|line| line.contains(text));
    let place = format!("endings.rs:{}", line.expect(text) + 1);
    for part in parts.iter().copied().chain([&place[..]]) {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
}

#[test]
fn endless_loops_are_told_with_their_line() -> Result<(), Error> {
    let device = Device::emulator_with(EmulatorOptions {
        cluster_limit: 50_000,
        ..EmulatorOptions::default()
    });
    let mut x = Tensor::<u32, 1>::zeros(&device, [64])?;
    let says = [
        "does not end: in the last ",
        "`Limits::cluster_steps` of 50000",
        "the loop at ",
        "has gone on for ",
    ];
    let bound = 20;
    let view = &mut x.view_mut();
    check(
        kernels::stores::launch(&device, 1, view, bound),
        "while i < bound {",
        &says,
    );
    check(
        kernels::nested::launch(&device, 1, view, bound),
        "while j < bound {",
        &says,
    );
    check(
        kernels::barriers::launch(&device, 2, bound),
        "while k < bound {",
        &says,
    );
    check(
        kernels::one_warp::launch(&device, 1, view, bound),
        "while l < bound {",
        &says,
    );
    Ok(())
}

#[test]
fn divisions_without_a_result_are_told_with_their_line() -> Result<(), Error> {
    let device = Device::emulator();
    let zero = ["divides an integer by 0"];
    let overflow = ["by -1, and the type of the two does not have the quotient"];
    let mut x = Tensor::<u32, 1>::zeros(&device, [32])?;
    let x = &mut x.view_mut();
    check(
        kernels::divide_u32::launch(&device, 1, x, 0),
        "// u32",
        &zero,
    );
    check(
        kernels::remainder_u32::launch(&device, 1, x, 0),
        "// u32 remainder",
        &zero,
    );
    check(
        kernels::divide_itself::launch(&device, 1, x, 0),
        "// itself",
        &zero,
    );
    kernels::divide_u32::launch(&device, 1, x, u32::MAX)?;
    let mut x = Tensor::<i32, 1>::zeros(&device, [32])?;
    let x = &mut x.view_mut();
    for (by, says) in [(0, zero), (-1, overflow)] {
        check(
            kernels::divide_i32::launch(&device, 1, x, by),
            "// i32",
            &says,
        );
        check(
            kernels::remainder_i32::launch(&device, 1, x, by),
            "// i32 remainder",
            &says,
        );
    }
    kernels::divide_i32::launch(&device, 1, x, -2)?;
    let mut x = Tensor::<u64, 1>::zeros(&device, [32])?;
    let x = &mut x.view_mut();
    check(
        kernels::divide_u64::launch(&device, 1, x, 0),
        "// u64",
        &zero,
    );
    let mut x = Tensor::<i64, 1>::zeros(&device, [32])?;
    let x = &mut x.view_mut();
    check(
        kernels::divide_i64::launch(&device, 1, x, 0),
        "// i64",
        &zero,
    );
    check(
        kernels::divide_i64::launch(&device, 1, x, -1),
        "// i64",
        &overflow,
    );
    let mut x = Tensor::<u8, 1>::zeros(&device, [32])?;
    check(
        kernels::divide_u8::launch(&device, 1, &mut x.view_mut(), 256),
        "// u8",
        &zero,
    );
    let mut x = Tensor::<i16, 1>::zeros(&device, [32])?;
    check(
        kernels::remainder_i16::launch(&device, 1, &mut x.view_mut(), 1 << 16),
        "// i16",
        &zero,
    );
    Ok(())
}

/// What a branch guards is not computed before the branch.
#[test]
fn guarded_divisions_are_not_made() -> Result<(), Error> {
    for (by, signed) in [(0, 0), (0, -1), (3, 7)] {
        Device::under_schedules(4, |device| {
            let mut x = Tensor::<u32, 1>::zeros(device, [32])?;
            kernels::guarded::launch(device, 1, &mut x.view_mut(), by, signed)
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    }
    Ok(())
}

/// A kernel that waits for the grid before begins before that one has ended, on a GPU and here.
#[test]
fn grids_wait_for_what_they_use() -> Result<(), Error> {
    let device = Device::emulator();
    let mut x = Tensor::<u32, 1>::zeros(&device, [64])?;
    for _ in 0..3 {
        kernels::in_time::launch(&device, 1, &mut x.view_mut())?;
    }
    let early = |x: &mut Tensor<u32, 1>| kernels::too_early::launch(&device, 1, &mut x.view_mut());
    let parts = ["of in_time, the launch before", "griddepcontrol.wait"];
    check(early(&mut x), "// added", &parts);
    // The host has waited for all launches.
    assert_eq!(x.download()?, [3; 64]);
    early(&mut x)
}
