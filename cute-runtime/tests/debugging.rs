//! What a kernel says about itself: the lines of the source in its PTX, faults in the words of the source, `print!` and
//! `assert!`.
//!
//! What a GPU does as well runs there with `CUTE_GPU=1`; then a missing GPU is a failure.

mod devices;

use devices::devices;

use std::panic::catch_unwind;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, iter};

use cute_runtime::{Checks, Device, EmulatorOptions, Error, Kernel, Tensor, bf16};

#[cute_runtime::kernels]
mod kernels {
    /// Reads what nobody has written.
    #[kernel(threads = 32)]
    pub unsafe fn uninitialised(out: Global<f32, 1>) {
        let tile = smem::<f32>(layout!((4,8):(8,1)));
        let t = thread();
        if t < 29 {
            tile[(t / 8, t % 8)] = 1.0;
        }
        sync_threads();
        out[t] = tile[(t / 8, t % 8)];
    }

    pub struct Pair {
        pub left: Tensor,
        pub right: Tensor,
    }

    /// Two warps write the same element, and other values.
    #[kernel(threads = 64)]
    pub unsafe fn race(out: Global<f32, 1>) {
        let pair = Pair {
            left: smem::<f32>(layout!(64:1)),
            right: smem::<f32>(layout!(64:1)),
        };
        pair.left[thread()] = 1.0;
        pair.right[thread() % 32] = thread() as f32;
        sync_threads();
        out[thread()] = pair.left[thread()] + pair.right[thread()];
    }

    /// Waits for an arrival that never comes.
    #[kernel(threads = 32)]
    pub fn deadlock() {
        let ready = mbarriers(2, 1);
        wait(ready[1], 0);
    }

    /// Stores to column j of each row.
    #[kernel(threads = 4)]
    pub unsafe fn column(x: Global<f32, 2>, j: u32) {
        x[(thread(), j)] = 3.0;
    }

    /// Arrives at one of two barriers, behind which is another one.
    #[kernel(threads = 1)]
    pub fn arrive_at_one(n: u32) {
        let ready = mbarriers(2, 1);
        let other = mbarriers(1, 1);
        arrive(ready[n]);
        arrive(other[0]);
    }

    /// Stores to column j of a tile, behind which is another one.
    #[kernel(threads = 4)]
    pub fn column_of_tile(j: u32) {
        let tile = smem::<f32>(layout!((4,8):(8,1)));
        let other = smem::<f32>(layout!(8:1));
        tile[(thread(), j)] = 3.0;
        other[thread()] = 3.0;
    }

    /// Shows values of many kinds.
    #[kernel(threads = 32)]
    pub unsafe fn show(x: Global<f32, 1>, half: Global<bf16, 1>, n: u32, wide: i64) {
        let t = thread();
        let tile = smem::<f32>(layout!((2,3):(3,1)));
        if t < 6 {
            tile[(t / 3, t % 3)] = x[t];
        }
        sync_threads();
        if t == 1 {
            println!("{{{n}}} {} {} {} {}", wide, x[t], half[1], t < n);
            let pair = (t, [x[0], 0.5]);
            let mut held = fragment::<f32>(2);
            held[0] = x[2];
            held[1] = -x[2];
            print!("{pair} {} {held}", 7u8);
            println!();
            println!("{tile}");
        }
    }

    /// Prints a line for each thread.
    #[kernel(threads = 128)]
    pub fn chatter() {
        println!("{}", thread());
    }

    /// Gathers rows of x by numbers that may be wrong, and columns by way of shared memory.
    #[kernel(threads = 32, checked)]
    pub fn gather(rows: Global<i32, 1>, x: Global<f32, 2>, out: Global<f32, 1>, j: u32) {
        let t = thread();
        let tile = smem::<f32>(layout!((4,8):(8,1)));
        tile[(t / 8, t % 8)] = x[(rows[t], t / 8)];
        sync_threads();
        out[t] = tile[(t % 4, j)];
    }

    /// Copies a tile of four rows, and of four elements for each thread.
    #[kernel(threads = 32, checked)]
    pub fn copy_tile(x: Global<f32, 2>, out: Global<f32, 2>, row: u32) {
        let part = fragment::<f32>(layout!((32,(4,4)):(4@1,(1@0,1@1))));
        copy(local_tile(x, (4, 128), (row, 0)), part);
        copy(part, local_tile(out, (4, 128), (0, 0)));
    }

    /// Fails where x is at least `limit`.
    #[kernel(threads = 32)]
    pub unsafe fn bounded(x: Global<f32, 1>, limit: f32) {
        let i = block_idx().0 * 32 + thread();
        assert!(i < 1024 && 2 + 2 == 4);
        assert!(x[i] < limit, "x[{i}] is {}, not below {limit}", x[i]);
        x[i] = 0.0;
    }
}

/// The line of this file on which a text stands for the first time.
fn line(text: &str) -> usize {
    let lines = include_str!("debugging.rs").lines();
    1 + lines.take_while(|line| !line.contains(text)).count()
}

/// The message of the error of a launch on the emulator.
fn fault(result: Result<(), Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn ptx_names_the_lines_of_the_source() {
    let ptx = kernels::uninitialised::PTX;
    let (_, rest) = ptx.split_once(".file 1 \"").unwrap();
    let (file, _) = rest.split_once('"').unwrap();
    assert!(
        file.ends_with("tests/debugging.rs") && !file.starts_with('/'),
        "{file}"
    );
    assert!(!ptx.contains(env!("CARGO_MANIFEST_DIR")));
    let statement = "tile[(t / 8, t % 8)] = 1.0;";
    let comment = format!("    // {}\n", statement.trim_end_matches(';'));
    let (_, after) = ptx.split_once(&comment).unwrap();
    let place = format!(".loc 1 {} 13", line(statement));
    assert!(after.trim_start().starts_with(&place), "{place}\n{ptx}");
}

#[test]
fn faults_are_told_in_the_words_of_the_source() {
    let device = Device::emulator();
    let mut out = Tensor::<f32, 1>::zeros(&device, [64]).unwrap();
    // SAFETY: `out` has an element for each thread.
    let error = fault(unsafe { kernels::uninitialised::launch(&device, 1, &mut out.view_mut()) });
    let read = line("out[t] = tile[(t / 8, t % 8)];");
    for part in [
        "tile[(3, 5)] at ".to_string(),
        format!("debugging.rs:{read} in uninitialised (line "),
        "which nobody has written".to_string(),
        "\n    tile: f32 at (4,8):(8,1)".to_string(),
    ] {
        assert!(error.contains(&part), "{part}\n{error}");
    }

    // SAFETY: as above.
    let error = fault(unsafe { kernels::race::launch(&device, 1, &mut out.view_mut()) });
    let write = line("pair.right[thread() % 32] = thread() as f32;");
    assert!(
        error.contains("pair.right[") && error.contains("races at shared address"),
        "{error}"
    );
    assert_eq!(
        error.matches(&format!("debugging.rs:{write} ")).count(),
        2,
        "{error}"
    );

    let error = fault(kernels::deadlock::launch(&device, 1));
    let wait = line("wait(ready[1], 0);");
    assert!(
        error.contains("is deadlocked") && error.contains(&format!("debugging.rs:{wait} ")),
        "{error}"
    );

    // Without the checks of tensors, an access outside of the memory is told by the element that would be there.
    let unchecked = EmulatorOptions {
        checks: Checks {
            tensors: false,
            ..Checks::default()
        },
        ..EmulatorOptions::default()
    };
    let device = Device::emulator_with(unchecked);
    let mut x = Tensor::<f32, 2>::zeros(&device, [4, 8]).unwrap();
    // SAFETY: the emulator checks every access.
    let error = fault(unsafe { kernels::column::launch(&device, 1, &mut x.view_mut(), 25) });
    let store = line("x[(thread(), j)] = 3.0;");
    for part in [
        "x[(4, 1)] at ".to_string(),
        format!("debugging.rs:{store} in column"),
        "x: f32 of shape [4, 8] with strides [8, 1]".to_string(),
    ] {
        assert!(error.contains(&part), "{part}\n{error}");
    }
}

#[test]
fn accesses_outside_of_a_tensor_are_told_inside_of_the_memory() {
    let device = Device::emulator();
    let mut x = Tensor::<f32, 2>::zeros(&device, [5, 8]).unwrap();
    // SAFETY: the emulator checks every access.
    let mut column = |j| unsafe { kernels::column::launch(&device, 1, &mut x.view_mut(), j) };
    column(7).unwrap();
    let errors = [
        (
            column(8),
            "x[(thread(), j)] = 3.0;",
            "lane 0:\n    x[(0, 8)] is outside of x of shape (5, 8)",
        ),
        (
            kernels::arrive_at_one::launch(&device, 1, 2),
            "arrive(ready[n]);",
            "8 bytes at shared address 0x410 are outside of ready, which has 0x400..0x410",
        ),
        (
            kernels::column_of_tile::launch(&device, 1, 8),
            "tile[(thread(), j)] = 3.0;",
            "lane 0:\n    tile[(0, 8)] is outside of tile of shape (4, 8)",
        ),
    ];
    for (error, statement, message) in errors {
        let error = fault(error);
        let place = format!("debugging.rs:{} in ", line(statement));
        assert!(error.contains(&place), "{place}\n{error}");
        assert!(error.contains(message), "{message}\n{error}");
    }
    kernels::arrive_at_one::launch(&device, 1, 1).unwrap();
    kernels::column_of_tile::launch(&device, 1, 7).unwrap();
}

#[test]
fn causes_do_not_repeat_what_is_said() {
    let device = Device::emulator();
    let errors = [
        kernels::deadlock::launch(&device, 1).unwrap_err(),
        // A module that does not parse.
        {
            let broken = |ptx: &str| ptx.replace("ret;", "ret; what;");
            let device = Device::emulator_rewriting(EmulatorOptions::default(), broken);
            kernels::deadlock::launch(&device, 1).unwrap_err()
        },
    ];
    for error in errors {
        let mut said = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            assert!(!said.contains(&error.to_string()), "{said}: {error}");
            said = error.to_string();
            cause = error.source();
        }
    }
}

#[test]
fn of_the_failures_under_many_schedules_the_shortest_is_told() {
    let race = |device: &Device| {
        let mut out = Tensor::<f32, 1>::zeros(device, [64])?;
        // SAFETY: `out` has an element for each thread.
        unsafe { kernels::race::launch(device, 1, &mut out.view_mut()) }
    };
    let failure = Device::under_schedules(10, race).unwrap_err();
    assert_eq!((failure.failed, failure.schedules), (10, 10));
    let text = failure.to_string();
    for part in [
        "races at shared address".to_owned(),
        format!(
            "policy {:?}, seed {}",
            failure.options.schedule, failure.options.seed
        ),
        format!(
            "fails under 10 of 10 schedules. This device repeats the shortest failure, after {} warp instructions:\n    \
             Device::emulator_with({})",
            failure.steps, failure.options
        ),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
    // The options are those of a device on which the failure happens again.
    let again = fault(race(&Device::emulator_with(failure.options)));
    assert_eq!(again, failure.error.to_string());
    let shorter = EmulatorOptions {
        step_limit: failure.steps - 1,
        ..failure.options
    };
    let ended = fault(race(&Device::emulator_with(shorter)));
    assert!(ended.contains("did not end within"), "{ended}");
}

/// Under which schedule a test panics is told on stderr, and the panic goes on with what it began with.
#[test]
fn a_panic_under_a_schedule_names_the_device_that_repeats_it() {
    let third = || {
        let mut runs = 0;
        let _ = Device::under_schedules(5, |_| {
            runs += 1;
            assert!(runs < 3, "run {runs}");
            Ok::<(), Error>(())
        });
    };
    if env::var_os(CHILD).is_some() {
        third();
    }
    let panic = catch_unwind(third).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "run 3");

    let child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "a_panic_under_a_schedule_names_the_device_that_repeats_it",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(!child.status.success());
    let told = String::from_utf8_lossy(&child.stderr);
    let message = format!(
        "panics under schedule 3 of 5. This device repeats the panic, after 0 warp instructions:\n    Device::emulator_with({})\n",
        EmulatorOptions::from_seed(2)
    );
    assert!(told.contains(&message), "{told}");
}

/// A GPU prints to one place, also for tests that run at the same time.
static PRINTING: Mutex<()> = Mutex::new(());

/// What is printed on a device while `work` runs.
fn printed(device: &Device, work: impl FnOnce() -> Result<(), Error>) -> String {
    let _turn = PRINTING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = Arc::new(Mutex::new(String::new()));
    let (copy, again) = (text.clone(), device.clone());
    device.print_to(move |text| {
        // A receiver may use the device.
        let one = Tensor::from_slice(&again, &[1u32], [1]).unwrap();
        assert_eq!(one.download().unwrap(), [1]);
        copy.lock().unwrap().push_str(text);
    });
    work().unwrap();
    device.synchronize().unwrap();
    text.lock().unwrap().clone()
}

#[test]
fn kernels_print() {
    for device in devices(3) {
        let x = [0.0, 1.5, -2.25, 3.0, 4.0, 5.0f32];
        let x = Tensor::from_slice(&device, &x, [6]).unwrap();
        let half = [1.0, 0.15625].map(bf16::from_f32);
        let half = Tensor::from_slice(&device, &half, [2]).unwrap();
        // SAFETY: the kernel reads the first six elements of x and the second one of `half`.
        let text = printed(&device, || unsafe {
            kernels::show::launch(&device, 1, &x.view(), &half.view(), 3, -1 << 40)
        });
        assert_eq!(
            text,
            "{3} -1099511627776 1.5 0.15625 true\n\
             (1, [0, 0.5]) 7 [-2.25, 2.25]\n\
             [[0, 1.5, -2.25], [3, 4, 5]]\n",
            "{device:?}"
        );

        let text = printed(&device, || {
            (0..40).try_for_each(|_| kernels::chatter::launch(&device, 2))
        });
        let mut lines: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
        lines.sort();
        let expected = (0..128).flat_map(|thread| iter::repeat_n(thread, 80));
        assert!(lines.into_iter().eq(expected), "{device:?}");
    }
}

#[test]
fn lost_messages_are_counted() {
    for device in devices(3) {
        let text = printed(&device, || kernels::chatter::launch(&device, 1024));
        // A record has six words of the 2^18.
        let lost = 1024 * 128 - (1 << 18) / 6;
        let told = format!(
            "[{lost} more messages of kernel chatter are lost: the buffer of a launch holds 262144 words]\n"
        );
        assert!(text.ends_with(&told), "{device:?}");
        assert_eq!(text.lines().count(), (1 << 18) / 6 + 1);
    }
}

/// The environment variable of a process whose GPU may fail.
const CHILD: &str = "CUTE_FAILING_CHILD";

#[test]
fn a_failed_assertion_says_where_and_why() {
    let gpu = env::var("CUTE_GPU").is_ok_and(|value| value == "1");
    let device = match env::var_os(CHILD) {
        Some(_) => Device::cuda(0).expect("CUTE_GPU=1 asks for a GPU"),
        None => Device::emulator(),
    };
    let mut values = vec![1.0f32; 128];
    let mut x = Tensor::from_slice(&device, &values, [128]).unwrap();
    // SAFETY: x has an element for each thread.
    unsafe { kernels::bounded::launch(&device, 4, &mut x.view_mut(), 2.0).unwrap() };
    device.synchronize().unwrap();

    values[113] = 2.5;
    let mut x = Tensor::from_slice(&device, &values, [128]).unwrap();
    // SAFETY: as above.
    let launched = unsafe { kernels::bounded::launch(&device, 4, &mut x.view_mut(), 2.0) };
    let error = launched.and_then(|()| device.synchronize()).unwrap_err();
    let message = error.to_string();
    let place = format!(
        "debugging.rs:{} in CTA (3, 0, 0), warp 0, lane 17: ",
        line("assert!(x[i] < limit,")
    );
    assert!(
        message.starts_with("kernel bounded: assertion failed at "),
        "{message}"
    );
    assert!(
        message.ends_with(&format!("{place}x[113] is 2.5, not below 2")),
        "{message}"
    );
    if !device.is_emulator() {
        assert_eq!(device.synchronize().unwrap_err().to_string(), message);
        return;
    }

    if gpu {
        in_a_process_that_may_fail("a_failed_assertion_says_where_and_why");
    }
}

/// Runs a test of this file on a GPU: after a trap, a process cannot use the GPU again.
fn in_a_process_that_may_fail(test: &str) {
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(
        child.status.success(),
        "{}",
        String::from_utf8_lossy(&child.stderr)
    );
}

#[test]
fn a_checked_access_says_which_tensor_and_coordinate() {
    let gpu = env::var("CUTE_GPU").is_ok_and(|value| value == "1");
    let device = match env::var_os(CHILD) {
        Some(_) => Device::cuda(0).expect("CUTE_GPU=1 asks for a GPU"),
        None => Device::emulator(),
    };
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&device, &x, [16, 4]).unwrap();
    let mut out = Tensor::<f32, 1>::zeros(&device, [32]).unwrap();
    let mut gather = |rows: Vec<i32>, j| {
        let rows = Tensor::from_slice(&device, &rows, [rows.len()]).unwrap();
        let (rows, x) = (rows.view(), x.view());
        kernels::gather::launch(&device, 1, &rows, &x, &mut out.view_mut(), j)
            .and_then(|()| device.synchronize())
            .and_then(|()| out.download())
    };
    let rows: Vec<i32> = (0..32).map(|t| t / 2).collect();
    let gathered = gather(rows.clone(), 3).unwrap();
    let expected = (0..32).map(|t| (8 * (t % 4) + 3) / 2 * 4 + t % 4);
    assert!(gathered.iter().copied().eq(expected.map(|x| x as f32)));

    let mut wrong = rows.clone();
    wrong[19] = 16;
    let error = gather(wrong, 3).unwrap_err().to_string();
    let place = |text| {
        format!(
            "debugging.rs:{} in CTA (0, 0, 0), warp 0, lane ",
            line(text)
        )
    };
    let load = place("tile[(t / 8, t % 8)] = x[(rows[t]");
    for part in [
        "kernel gather: assertion failed at ",
        &format!("{load}19: x[(16, 2)] is outside of x of shape (16, 4)"),
    ] {
        assert!(error.contains(part), "{part}\n{error}");
    }
    if gpu && device.is_emulator() {
        in_a_process_that_may_fail("a_checked_access_says_which_tensor_and_coordinate");
    }
    if !device.is_emulator() {
        return;
    }

    // What is missing: rows, columns of the tile in shared memory, and the end of a tile in global memory.
    let error = gather(rows[..31].to_vec(), 3).unwrap_err().to_string();
    let expected = format!("{load}31: rows[31] is outside of rows of shape 31");
    assert!(error.ends_with(&expected), "{error}");
    let error = gather(rows, 8).unwrap_err().to_string();
    let read = place("out[t] = tile[(t % 4, j)];");
    let expected = ", 8)] is outside of tile of shape (4, 8)";
    assert!(
        error.contains(&read) && error.ends_with(expected),
        "{error}"
    );

    let x = Tensor::<f32, 2>::zeros(&device, [7, 128]).unwrap();
    let mut out = Tensor::<f32, 2>::zeros(&device, [4, 128]).unwrap();
    let mut tile =
        |row| kernels::copy_tile::launch(&device, 1, &x.view(), &mut out.view_mut(), row);
    tile(0).unwrap();
    let error = tile(1).unwrap_err().to_string();
    let expected = "] is outside of x of shape (7, 128)";
    assert!(
        error.contains(": x[(7, ") && error.ends_with(expected),
        "{error}"
    );
}

#[test]
fn kernels_that_report_nothing_have_no_buffer() {
    assert!(kernels::column::REPORTS.is_empty() && !kernels::column::PTX.contains("reports"));
    assert_eq!(kernels::bounded::REPORTS.len(), 2);
    assert!(kernels::bounded::PTX.contains(".param .u64 reports\n"));
}
