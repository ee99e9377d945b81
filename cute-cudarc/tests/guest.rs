//! A guest on a GPU, with `CUTE_GPU=1`; then a missing GPU is a failure. The example also runs without.
//!
//! Kernels take long here, so that a wait that is missing gives wrong numbers.

#[path = "../examples/guest.rs"]
mod example;

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, sys};
use cute_cudarc::{Error as GuestError, Guest, cudarc, device};
use cute_runtime::{Device, Instance, Tensor, bf16, e4m3, kernels};
use example::{ours, scale, theirs};

type Outcome = Result<(), Box<dyn Error>>;

#[kernels]
mod types {
    /// y = x.
    #[kernel(threads = 256)]
    #[instance(copy_bf16: T = bf16)]
    #[instance(copy_i64: T = i64)]
    pub fn copy<T: Element>(
        x: Global<T, 1>,
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<T, 1>,
    ) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            y[i] = x[i];
        }
    }
}

/// 64 MB of f32, which a kernel reads or writes in about 20 microseconds.
const N: usize = 1 << 24;
const GRID: u32 = N as u32 / 256;

/// A context of cudarc's, or none without `CUTE_GPU=1`. It is of one test at a time: cudarc waits for the whole context when it makes the
/// first stream, which the capture of another test forbids.
fn context() -> Result<Option<(Arc<CudaContext>, impl Drop)>, Box<dyn Error>> {
    static ONE: Mutex<()> = Mutex::new(());
    match std::env::var("CUTE_GPU").is_ok_and(|value| value == "1") {
        true => {
            let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
            // A missing driver is an error here, and a panic in cudarc.
            Device::cuda(0)?;
            Ok(Some((CudaContext::new(0)?, alone)))
        }
        false => Ok(None),
    }
}

fn guest(stream: &Arc<CudaStream>) -> Result<Guest, GuestError> {
    // SAFETY: nothing is forgotten, and graphs are launched while their slices are alive.
    unsafe { Guest::new(stream) }
}

/// Theirs: `times` times x = x + 1. The function is loaded before, since the end of its module would wait for the device.
fn count(
    function: &CudaFunction,
    stream: &Arc<CudaStream>,
    x: &mut CudaSlice<f32>,
    times: usize,
) -> Outcome {
    (0..times).try_for_each(|_| scale(function, stream, &mut x.as_view_mut(), 1.0, 1.0))
}

#[test]
fn the_example_computes_what_it_says() -> Outcome {
    example::main()
}

/// Each step uses what the one before has made on another stream.
#[test]
fn two_streams_wait_for_each_other() -> Outcome {
    let Some((context, _alone)) = context()? else {
        return Ok(());
    };
    let (a, b) = (context.new_stream()?, context.new_stream()?);
    let (on_a, on_b) = (guest(&a)?, guest(&b)?);
    let function = theirs(&context)?;
    let mut x = a.alloc_zeros::<f32>(N)?;
    let mut y = b.alloc_zeros::<f32>(N)?;
    for round in 1..=5 {
        count(&function, &a, &mut x, 20)?;
        {
            let read = on_b.read(x.as_view(), [N], [1])?;
            let mut write = on_b.write(y.as_view_mut(), [N], [1])?;
            ours::add::launch(on_b.device(), GRID, &read.view(), &mut write.view_mut())?;
        }
        count(&function, &b, &mut y, 20)?;
        {
            let read = on_a.read(y.as_view(), [N], [1])?;
            let mut write = on_a.write(x.as_view_mut(), [N], [1])?;
            ours::add::launch(on_a.device(), GRID, &read.view(), &mut write.view_mut())?;
        }
        let (mut wanted_x, mut wanted_y) = (0.0, 0.0);
        for _ in 0..round {
            wanted_x += 20.0;
            wanted_y += wanted_x + 20.0;
            wanted_x += wanted_y;
        }
        let found = [a.clone_dtoh(&x)?, b.clone_dtoh(&y)?];
        assert!(
            found[0].iter().all(|&it| it == wanted_x),
            "{:?} {wanted_x}",
            &found[0][..4]
        );
        assert!(
            found[1].iter().all(|&it| it == wanted_y),
            "{:?} {wanted_y}",
            &found[1][..4]
        );
    }
    Ok(())
}

/// The slice is freed, and its memory is filled again, while ours may still read it on another stream.
#[test]
fn a_slice_is_freed_behind_our_work() -> Outcome {
    let Some((context, _alone)) = context()? else {
        return Ok(());
    };
    let (a, b) = (context.new_stream()?, context.new_stream()?);
    let on_b = guest(&b)?;
    let function = theirs(&context)?;
    let mut sum = Tensor::<f32, 1>::zeros(on_b.device(), [N])?;
    let ones = vec![1.0f32; N];
    for round in 1..=5 {
        let x = a.clone_htod(&ones)?;
        let read = on_b.read(x.as_view(), [N], [1])?;
        for _ in 0..20 {
            ours::add::launch(on_b.device(), GRID, &read.view(), &mut sum.view_mut())?;
        }
        drop(read);
        drop(x);
        let mut again = a.alloc_zeros::<f32>(N)?;
        count(&function, &a, &mut again, 1)?;
        scale(&function, &a, &mut again.as_view_mut(), 0.0, 7.0)?;
        let found = sum.download()?;
        assert!(
            found.iter().all(|&it| it == (round * 20) as f32),
            "{round} {:?}",
            &found[..4]
        );
    }
    Ok(())
}

/// Ours on two streams of ours, theirs on two of theirs, in one tensor of ours.
#[test]
fn a_tensor_is_lent_between_four_streams() -> Outcome {
    let Some((context, _alone)) = context()? else {
        return Ok(());
    };
    let (a, b) = (context.new_stream()?, context.new_stream()?);
    let on_a = guest(&a)?;
    let function = theirs(&context)?;
    let device = on_a.device();
    let (c, d) = (
        device.on(&device.new_stream()?)?,
        device.on(&device.new_stream()?)?,
    );
    let one = Tensor::from_slice(&c, &vec![1.0f32; N], [N])?;
    let mut x = Tensor::<f32, 1>::zeros(&c, [N])?;
    for round in 1..=5 {
        for _ in 0..10 {
            ours::add::launch(&d, GRID, &one.view(), &mut x.view_mut())?;
        }
        let mut lent = on_a.lend_mut(&mut x)?;
        for _ in 0..10 {
            scale(&function, &b, &mut lent.view_mut(), 1.0, 1.0)?;
        }
        for _ in 0..10 {
            scale(&function, &a, &mut lent.view_mut(), 1.0, 1.0)?;
        }
        drop(lent);
        for _ in 0..10 {
            ours::add::launch(&c, GRID, &one.view(), &mut x.view_mut())?;
        }
        let mut copy = b.alloc_zeros::<f32>(N)?;
        let lent = on_a.lend(x.buffer())?;
        b.memcpy_dtod(&lent.view(), &mut copy)?;
        drop(lent);
        let found = [x.download()?, b.clone_dtoh(&copy)?];
        let wanted = (round * 40) as f32;
        for found in found {
            assert!(
                found.iter().all(|&it| it == wanted),
                "{round} {:?}",
                &found[..4]
            );
        }
    }
    Ok(())
}

/// A graph of cudarc's has launches of both libraries; with event tracking it is refused, and the capture goes on.
#[test]
fn a_graph_has_launches_of_both() -> Outcome {
    let Some((context, _alone)) = context()? else {
        return Ok(());
    };
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let stream = context.new_stream()?;
    let on = guest(&stream)?;
    let function = theirs(&context)?;
    on.device().prepare(&[Instance::of::<ours::add>()])?;
    let mut x = stream.alloc_zeros::<f32>(N)?;
    stream.begin_capture(mode)?;
    let error = on.read::<_, f32, 1>(x.as_view(), [N], [1]).unwrap_err();
    assert!(matches!(error, GuestError::TrackedCapture), "{error}");
    // SAFETY: all work is on one stream from here on. The events of `x` are stale.
    unsafe { context.disable_event_tracking() };
    stream.end_capture(sys::CUgraphInstantiate_flags(0))?;

    let mut y = stream.alloc_zeros::<f32>(N)?;
    stream.begin_capture(mode)?;
    scale(&function, &stream, &mut x.as_view_mut(), 1.0, 1.0)?;
    let read = on.read(x.as_view(), [N], [1])?;
    let mut write = on.write(y.as_view_mut(), [N], [1])?;
    ours::add::launch(on.device(), GRID, &read.view(), &mut write.view_mut())?;
    // What a capture forbids is an error, and does not end it.
    assert!(Tensor::<f32, 1>::zeros(on.device(), [4]).is_err());
    assert!(on.device().synchronize().is_err());
    drop((read, write));
    scale(&function, &stream, &mut y.as_view_mut(), 2.0, 0.0)?;
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0))?;
    let graph = graph.ok_or("no graph")?;
    let (mut wanted_x, mut wanted_y) = (0.0, 0.0);
    for _ in 0..3 {
        graph.launch()?;
        wanted_x += 1.0;
        wanted_y = 2.0 * (wanted_y + wanted_x);
    }
    let found = stream.clone_dtoh(&y)?;
    assert!(
        found.iter().all(|&it| it == wanted_y),
        "{:?} {wanted_y}",
        &found[..4]
    );
    // The stale events are not waited for, and the stream is as before.
    let mut write = on.write(x.as_view_mut(), [N], [1])?;
    ours::add::launch(
        on.device(),
        GRID,
        &on.read(y.as_view(), [N], [1])?.view(),
        &mut write.view_mut(),
    )?;
    drop(write);
    drop((graph, y));
    assert_eq!(stream.clone_dtoh(&x.slice(..1))?, [wanted_x + wanted_y]);
    Ok(())
}

/// Tensors that keep their slices, a graph of ours over them, and the last drop on a thread that has not used the driver.
#[test]
fn kept_slices_outlive_their_graph() -> Outcome {
    let Some((context, _alone)) = context()? else {
        return Ok(());
    };
    let (a, b) = (context.new_stream()?, context.new_stream()?);
    let on_b = guest(&b)?;
    let function = theirs(&context)?;
    let one = Arc::new(a.clone_htod(&vec![1.0f32; N])?);
    let mut x = a.alloc_zeros::<f32>(N)?;
    count(&function, &a, &mut x, 20)?;
    let mut x = on_b.keep(x, [N], [1])?;
    let shared = on_b.share(&one, [N], [1])?;
    let add = |x: &mut Tensor<f32, 1>| {
        ours::add::launch(on_b.device(), GRID, &shared.view(), &mut x.view_mut())
    };
    let graph = on_b
        .device()
        .capture(|| (0..10).try_for_each(|_| add(&mut x)))?;
    graph.launch()?;
    graph.launch()?;
    let found = x.download()?;
    assert!(found.iter().all(|&it| it == 40.0), "{:?}", &found[..4]);
    drop((x, shared));
    graph.launch()?;
    thread::spawn(move || drop(graph))
        .join()
        .map_err(|_| "a panic")?;
    assert_eq!(Arc::strong_count(&one), 1);
    a.synchronize()?;
    context.check_err()?;
    Ok(())
}

#[test]
fn contexts_and_streams_of_every_kind() -> Outcome {
    let Some((context, _alone)) = context()? else {
        return Ok(());
    };
    assert_eq!(device(&context)?, Device::cuda(0)?);
    let other = CudaContext::new_non_primary(0, 0)?;
    assert_ne!(device(&other)?, Device::cuda(0)?);
    for context in [&context, &other] {
        let function = theirs(context)?;
        let streams = [
            context.default_stream(),
            context.per_thread_stream(),
            context.new_stream()?,
            context.default_stream(),
        ];
        for stream in &streams {
            let on = guest(stream)?;
            let mut x = stream.alloc_zeros::<f32>(N)?;
            count(&function, stream, &mut x, 20)?;
            let mut y = Tensor::<f32, 1>::zeros(on.device(), [N])?;
            let read = on.read(x.as_view(), [N], [1])?;
            ours::squares::launch(on.device(), GRID, &read.view(), &mut y.view_mut())?;
            drop(read);
            count(&function, stream, &mut x, 20)?;
            let found = y.download()?;
            assert!(found.iter().all(|&it| it == 400.0), "{:?}", &found[..4]);
            assert_eq!(stream.clone_dtoh(&x.slice(N - 1..))?, [40.0]);
        }
        context.check_err()?;
    }
    let foreign = other.new_stream()?.alloc_zeros::<f32>(4)?;
    let stream = context.new_stream()?;
    let error = guest(&stream)?
        .read::<_, f32, 1>(foreign.as_view(), [4], [1])
        .unwrap_err();
    assert!(matches!(error, GuestError::OtherContext { .. }), "{error}");
    Ok(())
}

/// Views, strides, and types that cudarc does not have.
#[test]
fn elements_are_those_of_the_slice() -> Outcome {
    let Some((context, _alone)) = context()? else {
        return Ok(());
    };
    let stream = context.new_stream()?;
    let on = guest(&stream)?;
    let bits: Vec<u16> = (0..600)
        .map(|i| bf16::from_f32(i as f32).to_bits())
        .collect();
    let x = stream.clone_htod(&bits)?;
    // Rows 1 to 3 of a matrix with rows of 100 elements, without their last 10.
    let rows = on.read::<_, bf16, 2>(x.slice(100..400), [3, 90], [100, 1])?;
    let found: Vec<f32> = rows.download()?.iter().map(|it| it.to_f32()).collect();
    let wanted: Vec<f32> = (0..270)
        .map(|i| bf16::from_f32((100 + i / 90 * 100 + i % 90) as f32).to_f32())
        .collect();
    assert_eq!(found, wanted);
    drop(rows);
    let mut y = stream.alloc_zeros::<u16>(600)?;
    let read = on.read(x.as_view(), [600], [1])?;
    let mut write = on.write(y.as_view_mut(), [600], [1])?;
    types::copy_bf16::launch(on.device(), 3, &read.view(), &mut write.view_mut())?;
    drop((read, write));
    assert_eq!(stream.clone_dtoh(&y)?, bits);
    let x = stream.clone_htod(&[0x38u8, 0xb8])?;
    let read = on.read::<_, e4m3, 1>(x.as_view(), [2], [1])?;
    let found: Vec<f32> = read.download()?.iter().map(|it| it.to_f32()).collect();
    assert_eq!(found, [1.0, -1.0]);
    drop(read);
    let x = stream.clone_htod(&[-1isize, 1, 2])?;
    let mut y = stream.alloc_zeros::<i64>(3)?;
    let read = on.read(x.as_view(), [3], [1])?;
    let mut write = on.write(y.as_view_mut(), [3], [1])?;
    types::copy_i64::launch(on.device(), 1, &read.view(), &mut write.view_mut())?;
    drop((read, write));
    assert_eq!(stream.clone_dtoh(&y)?, [-1, 1, 2]);
    let x = stream.clone_htod(&[usize::MAX, 1, 2])?;
    assert_eq!(
        on.read(x.as_view(), [3], [1])?.download()?,
        [u64::MAX, 1, 2]
    );
    Ok(())
}
