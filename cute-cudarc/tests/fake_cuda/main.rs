//! A guest on a fake driver: which events are recorded and waited for, where. `Record` also holds the calls of both libraries against its
//! rules: what is copied, cleared or freed is in the order of events with all other work on it.

#![cfg(all(target_os = "linux", feature = "cudarc-0-19"))]

#[path = "../../../cute-runtime/tests/fake_cuda/fake.rs"]
#[allow(dead_code, reason = "the tests of cute-runtime need more of it")]
mod fake;
#[path = "../../../cute-runtime/tests/fake_cuda/record.rs"]
#[allow(dead_code, reason = "as above")]
mod record;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use cudarc::driver::{CudaContext, CudaStream};
use cute_cudarc::{Error, Guest, cudarc, device};
use cute_runtime::{Device, Tensor, kernels};
use fake::{Fake, Run, child};

#[kernels]
mod ours {
    /// y = x.
    #[kernel(threads = 256)]
    pub fn copy(x: Global<f32, 1>, #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            y[i] = x[i];
        }
    }
}

const N: usize = 100;
/// Events are not reached before the host has waited. The parameters are those of `copy`.
const SETTINGS: &[(&str, &str)] = &[
    ("FAKE_CUDA_BUSY", "1000000"),
    ("FAKE_CUDA_PARAMETERS", "8,4,8"),
];

fn guest(stream: &Arc<CudaStream>) -> Guest {
    // SAFETY: nothing is captured or forgotten.
    unsafe { Guest::new(stream).unwrap() }
}

/// Two streams of cudarc's, A and B.
fn streams(tracked: bool) -> (Arc<CudaContext>, Arc<CudaStream>, Arc<CudaStream>) {
    let context = CudaContext::new(0).unwrap();
    if !tracked {
        // SAFETY: the fake driver has no order to keep.
        unsafe { context.disable_event_tracking() };
    }
    let (a, b) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    (context, a, b)
}

/// What both libraries do with events, streams and memory, a call a line. Streams are A, B, … and events 1, 2, … in their order here.
fn steps(run: &Run) -> String {
    let (mut streams, mut events) = (BTreeMap::new(), BTreeMap::new());
    let mut text = String::new();
    for call in &run.record.calls {
        let mut stream = |place| {
            let (next, handle) = (streams.len() as u8, call.hexadecimal(place));
            *streams.entry(handle).or_insert((b'A' + next) as char)
        };
        let next = events.len() + 1;
        let mut event = || *events.entry(call.handle).or_insert(next);
        let line = match &*call.function {
            "cuMemAllocFromPoolAsync" => format!("{} allocates", stream(1)),
            "cuMemsetD8Async" | "cuMemcpyHtoDAsync_v2" => format!("{} fills", stream(1)),
            "cuMemcpyDtoHAsync_v2" => format!("{} reads", stream(1)),
            "cuMemFreeAsync" => format!("{} frees", stream(0)),
            "cuLaunchKernelEx" => format!("{} launches", stream(0)),
            "cuGraphLaunch" => format!("{} launches a graph", stream(0)),
            "cuEventRecord" => format!("{} records {}", stream(0), event()),
            "cuStreamWaitEvent" => format!("{} waits for {}", stream(0), event()),
            _ => continue,
        };
        text += &line;
        text += "\n";
    }
    text
}

/// The part of the steps from one line on.
fn from<'a>(steps: &'a str, line: &str) -> &'a str {
    let at = steps
        .find(line)
        .unwrap_or_else(|| panic!("no {line} in\n{steps}"));
    &steps[at..]
}

/// Steps, a line each.
fn lines(steps: &[&str]) -> String {
    steps.join(", ").replace(", ", "\n") + "\n"
}

fn run(test: &str) -> Option<Run> {
    Some(Fake::build()?.run(test, SETTINGS))
}

#[test]
fn a_slice_is_read_and_written_on_another_stream() {
    child(|| {
        let (_context, a, b) = streams(true);
        let on_b = guest(&b);
        let x = a.alloc_zeros::<f32>(N).unwrap();
        let mut y = a.alloc_zeros::<f32>(N).unwrap();
        let read = on_b.read(x.as_view(), [N], [1]).unwrap();
        let mut write = on_b.write(y.as_view_mut(), [N], [1]).unwrap();
        ours::copy::launch(on_b.device(), 1, &read.view(), &mut write.view_mut()).unwrap();
        let third = on_b.device().new_stream().unwrap();
        let third = on_b.device().on(&third).unwrap();
        ours::copy::launch(&third, 1, &read.view(), &mut write.view_mut()).unwrap();
        drop((read, write));
        // cudarc's own order: A waits for what B has done before it frees the slices.
        drop((x, y));
        String::new()
    });
    let Some(run) = run("a_slice_is_read_and_written_on_another_stream") else {
        return;
    };
    // The events of the reads and the writes of x are 1 and 2, those of y are 3 and 4. B waits for our stream C before it records.
    let expected = [
        "B waits for 2, B waits for 3, B waits for 4, B launches, B records 5",
        "C waits for 5, C launches, C records 6",
        "B waits for 6, B records 7, B records 1, B records 8, B records 4",
        "A waits for 1, A waits for 2, A frees, A waits for 3, A waits for 4, A frees",
    ];
    assert_eq!(from(&steps(&run), "B waits"), lines(&expected));
}

/// Without tracking, cudarc waits for nothing and records nothing, and so does a guest on the same stream.
#[test]
fn without_tracking_there_are_no_events() {
    child(|| {
        let (_context, a, _) = streams(true);
        let on_a = guest(&a);
        let x = a.alloc_zeros::<f32>(N).unwrap();
        // SAFETY: all work is on one stream. The slice has events, which are stale from here on.
        unsafe { a.context().disable_event_tracking() };
        let mut y = a.alloc_zeros::<f32>(N).unwrap();
        let read = on_a.read(x.as_view(), [N], [1]).unwrap();
        let mut write = on_a.write(y.as_view_mut(), [N], [1]).unwrap();
        ours::copy::launch(on_a.device(), 1, &read.view(), &mut write.view_mut()).unwrap();
        drop((read, write));
        drop((x, y));
        String::new()
    });
    let Some(run) = run("without_tracking_there_are_no_events") else {
        return;
    };
    assert_eq!(
        from(&steps(&run), "A launches"),
        "A launches\nA frees\nA frees\nA records 3\n"
    );
}

/// A tensor of ours that a third stream uses is lent to cudarc on A, which uses it on B: each waits for the one before.
#[test]
fn a_tensor_is_lent_to_two_streams_of_cudarc() {
    child(|| {
        let (_context, a, b) = streams(true);
        let on_a = guest(&a);
        let own = on_a
            .device()
            .on(&on_a.device().new_stream().unwrap())
            .unwrap();
        let mut x = Tensor::<f32, 1>::zeros(&own, [N]).unwrap();
        let mut lent = on_a.lend_mut(&mut x).unwrap();
        b.memset_zeros(&mut lent.view_mut()).unwrap();
        drop(lent);
        let lent = on_a.lend(x.buffer()).unwrap();
        let mut elements = [1.0; N];
        b.memcpy_dtoh(&lent.view(), &mut elements).unwrap();
        drop(lent);
        drop(x);
        String::new()
    });
    let Some(run) = run("a_tensor_is_lent_to_two_streams_of_cudarc") else {
        return;
    };
    // A is our stream, B and C are those of cudarc. The slices have the events 3 and 4, and 7 and 8, for their reads and writes.
    let expected = [
        "A allocates, A fills, A records 1",
        "B waits for 1, B records 2, B waits for 3, B waits for 4, B records 4",
        "C waits for 3, C waits for 4, C fills, C records 4",
        "B waits for 3, B waits for 4, B records 5",
        "B records 6, B waits for 7, B waits for 8, B records 8",
        "C waits for 8, C reads, C records 7",
        "B waits for 7, B waits for 8, B records 9",
        "A waits for 5, A waits for 9, A frees, A records 10",
    ];
    assert_eq!(steps(&run), lines(&expected));
}

/// A tensor that keeps a slice is dropped on a thread that has not used the driver, after a graph of ours.
#[test]
fn a_kept_slice_is_freed_behind_the_graphs_that_use_it() {
    child(|| {
        let (_context, a, b) = streams(true);
        let on_b = guest(&b);
        let x = a.alloc_zeros::<f32>(N).unwrap();
        let shared = Arc::new(a.alloc_zeros::<f32>(N).unwrap());
        let mut x = on_b.keep(x, [N], [1]).unwrap();
        let y = on_b.share(&shared, [N], [1]).unwrap();
        let graph = on_b
            .device()
            .capture(|| ours::copy::launch(on_b.device(), 1, &y.view(), &mut x.view_mut()));
        let graph = graph.unwrap();
        drop((x, y));
        graph.launch().unwrap();
        assert_eq!(Arc::strong_count(&shared), 2);
        thread::spawn(move || drop(graph)).join().unwrap();
        assert_eq!(Arc::strong_count(&shared), 1);
        String::new()
    });
    let Some(run) = run("a_kept_slice_is_freed_behind_the_graphs_that_use_it") else {
        return;
    };
    // `x` has the events 1 and 2, `shared` has 3 and 4.
    assert_eq!(
        from(&steps(&run), "B launches a graph"),
        "B launches a graph\nB waits for 4\nB records 3\nB waits for 1\nB waits for 2\nB records 2\n\
         A waits for 1\nA waits for 2\nA frees\nA waits for 3\nA waits for 4\nA frees\nB records 5\n"
    );
}

#[test]
fn what_would_break_a_capture_is_refused_before_it_does() {
    child(|| {
        let (_context, a, _) = streams(true);
        let x = a.alloc_zeros::<f32>(N).unwrap();
        let on_a = guest(&a);
        let tracked = on_a.read::<_, f32, 1>(x.as_view(), [N], [1]).unwrap_err();
        assert!(matches!(tracked, Error::TrackedCapture), "{tracked}");
        // SAFETY: as above.
        unsafe { a.context().disable_event_tracking() };
        // A stream of ours has ended, and its last event is asked for.
        let device = Device::cuda(0).unwrap();
        let ended = device.on(&device.new_stream().unwrap()).unwrap();
        drop((Tensor::<f32, 1>::zeros(&ended, [N]).unwrap(), ended));
        assert!(on_a.read::<_, f32, 1>(x.as_view(), [N], [1]).is_ok());
        String::new()
    });
    let Some(fake) = Fake::build() else { return };
    let settings = [("FAKE_CUDA_CAPTURING", "1")];
    let run = fake.run(
        "what_would_break_a_capture_is_refused_before_it_does",
        &settings,
    );
    let asked: Vec<u32> = run.record.of("cuEventQuery").map(|it| it.result).collect();
    assert_eq!(asked, [0]);
}

#[test]
fn bad_input_is_refused() {
    child(|| {
        let (context, a, b) = streams(true);
        let on_a = guest(&a);
        let mut x = a.alloc_zeros::<f32>(N).unwrap();
        let bounds = on_a.read::<_, f32, 1>(x.slice(1..), [N], [1]).unwrap_err();
        let says = "a tensor of the extents [100] and the strides [1] needs 100 elements, and the slice has 99";
        assert_eq!(bounds.to_string(), says);
        let overlap = on_a.write::<_, f32, 2>(x.as_view_mut(), [10, 10], [1, 1]);
        assert!(matches!(overlap.unwrap_err(), Error::Cute(_)));
        let bytes = a.alloc_zeros::<u8>(N).unwrap();
        // SAFETY: there are as many elements.
        let odd = unsafe { bytes.slice(1..).transmute::<f32>(10).unwrap() };
        let odd = on_a.read::<_, f32, 1>(odd, [10], [1]).unwrap_err();
        assert!(
            odd.to_string()
                .contains("no multiple of the 4 bytes of f32"),
            "{odd}"
        );

        // SAFETY: the fake driver's other context of device 0.
        let other = unsafe {
            let raw = context.cu_ctx().byte_add(8);
            CudaContext::from_raw_context(0, context.cu_device(), raw).unwrap()
        };
        let theirs = other.default_stream().alloc_zeros::<f32>(N).unwrap();
        let error = on_a
            .read::<_, f32, 1>(theirs.as_view(), [N], [1])
            .unwrap_err();
        assert!(
            matches!(
                error,
                Error::OtherContext {
                    slice: 0,
                    stream: 0
                }
            ),
            "{error}"
        );
        std::mem::forget((theirs, other));

        // An error that cudarc could not return before.
        context.record_err::<()>(Err(cudarc::driver::DriverError(
            cudarc::driver::sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        )));
        let earlier = on_a.read::<_, f32, 1>(x.as_view(), [N], [1]).unwrap_err();
        assert!(
            earlier.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"),
            "{earlier}"
        );
        assert!(on_a.read::<_, f32, 1>(x.as_view(), [N], [1]).is_ok());
        drop((x, b));
        String::new()
    });
    let Some(fake) = Fake::build() else { return };
    fake.run("bad_input_is_refused", &[]);
}

/// The per-thread default stream has one number for all threads, and is another stream in each.
#[test]
fn threads_of_the_per_thread_stream_wait_for_each_other() {
    child(|| {
        let on = guest(&CudaContext::new(0).unwrap().per_thread_stream());
        let x = Tensor::<f32, 1>::zeros(on.device(), [N]).unwrap();
        let mut y = Tensor::<f32, 1>::zeros(on.device(), [N]).unwrap();
        let mut launch = || ours::copy::launch(on.device(), 1, &x.view(), &mut y.view_mut());
        launch().unwrap();
        thread::scope(|scope| scope.spawn(launch).join().unwrap()).unwrap();
        String::new()
    });
    let Some(run) = run("threads_of_the_per_thread_stream_wait_for_each_other") else {
        return;
    };
    let steps = steps(&run);
    let (_, between) = steps.split_once("A launches\n").unwrap();
    let (between, _) = between.split_once("A launches\n").unwrap();
    assert!(between.contains("A waits for "), "{steps}");
}

/// The default streams of both libraries are the same, and so are their devices.
#[test]
fn handles_are_those_of_the_driver() {
    child(|| {
        let (context, a, _) = streams(true);
        assert_eq!(device(&context).unwrap(), Device::cuda(0).unwrap());
        let default = guest(&context.default_stream());
        assert!(default.device().stream() == Device::cuda(0).unwrap().stream());
        let thread = guest(&context.per_thread_stream());
        assert!(thread.device().stream() == Device::cuda(0).unwrap().per_thread_stream());
        assert_eq!(guest(&a).device().stream().as_raw(), a.cu_stream().cast());
        // A guest keeps the stream.
        let kept = guest(&a);
        assert!(Arc::strong_count(&a) > 2);
        drop(kept);
        assert_eq!(Arc::strong_count(&a), 1);
        String::new()
    });
    let Some(fake) = Fake::build() else { return };
    fake.run("handles_are_those_of_the_driver", &[]);
}
