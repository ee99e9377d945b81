//! The programs that the child processes run.

use std::sync::{Arc, Mutex};

use cute_runtime::{
    Compiled, Device, Error, HostBuffer, Instance, Stream, Tensor, kernels, layout,
};

use crate::allocations::allocations;
use crate::fake::end_of_step;

layout! { pub TILE = (8,32):(32,1); }

/// Kernels to launch. The fake driver does not run them.
#[kernels]
pub mod scale {
    /// dst = factor·src in the first rows of each tile of 8 × 32, for a factor below 100.
    #[kernel(threads = 32)]
    #[instance(scale_all: ROWS = 8)]
    #[instance(scale_half: ROWS = 4)]
    pub fn scale<const ROWS: u32>(src: TmaLoad<f32, 2>, dst: TmaStore<f32, 2>, factor: f32) {
        assert!(factor < 100.0, "the factor {factor} is too large");
        let tile = smem::<f32>(layout!(TILE));
        let ready = mbarriers(1, 1);
        let origin = (block_idx().0 * 8, 0);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            tma_load(src, origin, tile, ready[0]);
        }
        wait(ready[0], 0);
        for row in 0..ROWS {
            tile[(row, thread())] = tile[(row, thread())] * factor;
        }
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            tma_store(tile, dst, origin);
            tma_commit();
            tma_wait(0);
        }
    }

    /// Moves a tile from one row to another. It reports nothing, and its parameters have as many bytes as those of `scale`.
    #[kernel(threads = 32)]
    pub fn shift(src: TmaLoad<f32, 2>, dst: TmaStore<f32, 2>, from: u32, to: i64) {
        let tile = smem::<f32>(layout!(TILE));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            tma_load(src, (from, 0), tile, ready[0]);
            wait(ready[0], 0);
            tma_store(tile, dst, (to as u32, 0));
            tma_commit();
            tma_wait(0);
        }
    }
}

/// Tells the fake driver the sizes of the kernels' parameters.
pub(crate) const PARAMETERS: &str = "128,128,4,8";

/// A tensor for the kernels: two tiles, one below the other.
fn matrix(device: &Device) -> Result<Tensor<f32, 2>, Error> {
    Tensor::from_slice(device, &[1.5f32; 16 * 32], [16, 32])
}

/// Makes every kind of call, each as a step, after which the thread's current context must be what it was before.
pub(crate) fn everything() -> String {
    fn steps() -> Result<(), Error> {
        let device = step(|| Device::cuda(0))?;
        let src = step(|| matrix(&device))?;
        let mut dst = step(|| Tensor::<f32, 2>::zeros(&device, [16, 32]))?;
        let mut launch =
            || scale::scale_all::launch(&device, 2, &src.view(), &mut dst.view_mut(), 3.0);
        step(&mut launch)?;
        step(&mut launch)?;
        let time = step(|| {
            device.time(|| {
                end_of_step();
                launch()
            })
        })?;
        assert_eq!(time.as_secs_f64(), 0.0025);
        step(|| device.synchronize())?;
        assert_eq!(step(|| src.download())?, [1.5; 16 * 32]);
        assert_eq!(step(|| dst.download())?, [0.0; 16 * 32]);
        let graph = step(|| {
            device.capture(|| {
                scale::shift::launch(&device, 2, &src.view(), &mut dst.view_mut(), 0, 8)
            })
        })?;
        step(|| graph.launch())?;
        assert_eq!(step(|| device.max_active_clusters(4))?, 30);
        step(|| drop(graph));
        step(|| on_two_streams(&device, &src, &mut dst))?;
        step(|| device.trim_memory(0))?;
        step(|| drop(src));
        step(|| drop(dst));
        Ok(())
    }
    outcome(steps())
}

/// Launches on two streams, one of which others have made, with events between, and uses memory of others.
fn on_two_streams(
    device: &Device,
    src: &Tensor<f32, 2>,
    dst: &mut Tensor<f32, 2>,
) -> Result<(), Error> {
    let stream = device.new_stream()?;
    let handle = stream.as_raw();
    // SAFETY: the stream is its own owner.
    let foreign = unsafe { Stream::from_raw(device, handle, Arc::new(stream))? };
    let there = device.on(&foreign)?;
    scale::shift::launch(&there, 2, &src.view(), &mut dst.view_mut(), 0, 8)?;
    scale::shift::launch(device, 2, &src.view(), &mut dst.view_mut(), 0, 8)?;
    let event = foreign.record()?;
    device.stream().wait(&event)?;
    assert!(event.is_reached()?);
    foreign.wait(&device.stream().record()?)?;
    let (pointer, shape) = (dst.view().address() as *mut f32, dst.shape());
    // SAFETY: the memory is that of a tensor, which is not used meanwhile. Its work comes before that of the stream.
    let guest = unsafe { Tensor::from_raw_parts(pointer, shape, [32, 1], &there, ())? };
    assert_eq!(guest.download()?, [0.0; 16 * 32]);
    // SAFETY: the context of a GPU lives until the process ends.
    let same = unsafe { Device::from_raw(0, context(), Arc::new(()))? };
    assert!(same == *device);
    let owner = Arc::new(());
    // SAFETY: the fake driver has another context of each device, 8 bytes behind the primary one.
    let other = unsafe { Device::from_raw(0, context().byte_add(8), owner.clone())? };
    assert!(other != *device && other == other.on(&other.new_stream()?)?);
    let x = Tensor::<u32, 1>::zeros(&other, [32])?;
    drop(other);
    assert_eq!((x.download()?, Arc::strong_count(&owner)), (vec![0; 32], 2));
    drop(x);
    assert_eq!(Arc::strong_count(&owner), 1);
    Ok(())
}

/// Allocates twice in one place, and then once more.
pub(crate) fn full_memory() -> String {
    let device = Device::cuda(0).expect("a device");
    let held: Vec<_> = (0..2).map(|_| matrix(&device)).collect();
    assert!(held.iter().all(Result::is_ok));
    outcome(device.zeros::<u32>(16).map(drop))
}

/// Copies from and to buffers of the host, and drops one of which a copy is under way.
pub(crate) fn buffers_of_the_host() -> String {
    fn copies() -> Result<(), Error> {
        let device = Device::cuda(0)?;
        let mut x = device.zeros::<u32>(100)?;
        let mut from = HostBuffer::zeros(&device, 100)?;
        from.write()?.fill(7);
        x.copy_from_host(&from)?;
        let mut to = HostBuffer::zeros(&device, 100)?;
        x.copy_to_host(&mut to)?;
        assert_eq!(to.read()?, [7; 100]);
        x.copy_from_host(&to)?;
        drop(to);
        drop(from);
        // Nothing uses it, so that it and what was left before are freed.
        drop(HostBuffer::<u32>::zeros(&device, 1)?);
        let short = HostBuffer::zeros(&device, 99)?;
        let error = x.copy_from_host(&short).unwrap_err().to_string();
        assert!(error.starts_with("`copy_from_host` takes 100 elements"));
        Ok(())
    }
    outcome(copies())
}

/// A tensor in memory of others.
pub(crate) fn memory_of_others() -> String {
    let guard = Arc::new(());
    let made = Device::cuda(0).and_then(|device| {
        // SAFETY: the fake driver's memory is the host's, and nothing uses this.
        unsafe {
            Tensor::<u32, 1>::from_raw_parts(0x1000 as *const u32, [4], [1], &device, guard.clone())
        }
    });
    let outcome = outcome(made.map(drop));
    assert_eq!(Arc::strong_count(&guard), 1);
    outcome
}

/// A stream of device 1 for device 0, and the context of device 0 for device 1.
pub(crate) fn of_another_device() -> String {
    let [device, other] = [0, 1].map(|ordinal| Device::cuda(ordinal).expect("a device"));
    let stream = other.new_stream().expect("a stream");
    // SAFETY: the stream outlives the call.
    let stream = unsafe { Stream::from_raw(&device, stream.as_raw(), Arc::new(())) };
    // SAFETY: the context of a GPU lives until the process ends.
    let context = unsafe { Device::from_raw(1, context(), Arc::new(())) };
    [outcome(stream.map(drop)), outcome(context.map(drop))].join("\n")
}

/// Two launches on each of two streams with one tensor, whose home is the first.
pub(crate) fn one_tensor_on_two_streams() -> String {
    fn launches() -> Result<(), Error> {
        let device = Device::cuda(0)?;
        let (a, b) = (device.new_stream()?, device.new_stream()?);
        let (a, b) = (device.on(&a)?, device.on(&b)?);
        let mut x = Tensor::<u32, 1>::zeros(&a, [32])?;
        for on in [&a, &a, &b, &b] {
            counting::count::launch(on, 1, &mut x.view_mut())?;
        }
        Ok(())
    }
    outcome(launches())
}

/// A launch on the default stream of the thread, and one with the same tensor on the default stream of the device.
pub(crate) fn on_the_stream_of_a_thread() -> String {
    fn launches() -> Result<(), Error> {
        let device = Device::cuda(0)?;
        let own = device.on(&device.per_thread_stream())?;
        let mut x = Tensor::<u32, 1>::zeros(&own, [32])?;
        counting::count::launch(&own, 1, &mut x.view_mut())?;
        let mut launch = || counting::count::launch(&device, 1, &mut x.view_mut());
        std::thread::scope(|scope| scope.spawn(&mut launch).join().unwrap())
    }
    outcome(launches())
}

/// What a stream that its owner captures takes and refuses.
pub(crate) fn on_a_captured_stream() -> String {
    fn outcomes() -> Result<[String; 7], Error> {
        let device = Device::cuda(0)?;
        device.compile::<counting::count>()?;
        let mut x = Tensor::<u32, 1>::zeros(&device, [32])?;
        let graph = device.capture(|| counting::count::launch(&device, 1, &mut x.view_mut()))?;
        let stream = device.new_stream()?;
        let _owned = Tensor::<u32, 1>::zeros(&device.on(&stream)?, [32])?;
        let handle = stream.as_raw();
        // SAFETY: the stream is its own owner.
        let stream = unsafe { Stream::from_raw(&device, handle, Arc::new(stream))? };
        let on = device.on(&stream)?;
        stream.wait(&device.stream().record()?)?;
        let pointer = x.view().address() as *mut u32;
        // SAFETY: the memory is that of `x`, which is not used meanwhile.
        let mut guest = unsafe { Tensor::from_raw_parts_mut(pointer, [32], [1], &on, ())? };
        Ok([
            outcome(Tensor::<u32, 1>::zeros(&on, [32]).map(drop)),
            outcome(guest.download().map(drop)),
            outcome(stream.synchronize()),
            outcome(on.time(|| Ok(())).map(drop)),
            outcome(graph.launch_on(&stream)),
            outcome(counting::count::launch(&on, 1, &mut guest.view_mut())),
            outcome(scale::shift::launch(
                &on,
                1,
                &matrix(&device)?.view(),
                &mut matrix(&device)?.view_mut(),
                0,
                8,
            )),
        ])
    }
    outcomes().map_or_else(|error| error.to_string(), |lines| lines.join("\n"))
}

/// The primary context of device 0.
fn context() -> *mut std::ffi::c_void {
    // SAFETY: the fake driver is loaded already, and has its contexts in an array of this name.
    unsafe {
        let library = libloading::Library::new("libcuda.so.1").unwrap();
        let contexts = library.get::<*mut std::ffi::c_void>(b"contexts").unwrap();
        contexts.try_as_raw_ptr().unwrap()
    }
}

/// Kernels that report nothing.
#[kernels]
pub mod counting {
    #[kernel(threads = 32)]
    pub fn count(#[facts(extent(x, 0) >= 32)] x: Global<u32, 1>) {
        x[thread()] = x[thread()] + 1;
    }

    /// Loads a tile of each tensor, and adds up one of their elements and the numbers.
    #[kernel(threads = 32)]
    pub fn add(
        x: TmaLoad<f32, 2>,
        y: TmaLoad<f32, 2>,
        #[facts(extent(z, 0) >= 32)] z: Global<f32, 1>,
        i: u32,
        j: u32,
    ) {
        let tiles = smem::<f32>(layout!((8,32,2):(32,1,256)));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tiles));
            tma_load(x, (i, j), tiles[(_, _, 0)], ready[0]);
            tma_load(y, (i, j), tiles[(_, _, 1)], ready[0]);
        }
        wait(ready[0], 0);
        z[thread()] = tiles[(0, thread(), 0)] + tiles[(0, thread(), 1)];
    }
}

/// Launches a kernel with three tensors and two numbers four times. Returns how often each launch allocated.
pub(crate) fn launches_with_the_same_arguments() -> String {
    fn launches() -> Result<Vec<usize>, Error> {
        let device = Device::cuda(0)?;
        let (x, y) = (matrix(&device)?, matrix(&device)?);
        let mut z = Tensor::<f32, 1>::zeros(&device, [32])?;
        let mut launch = || -> Result<usize, Error> {
            let before = allocations();
            counting::add::launch(&device, 1, &x.view(), &y.view(), &mut z.view_mut(), 0, 0)?;
            Ok(allocations() - before)
        };
        (0..4).map(|_| launch()).collect()
    }
    match launches() {
        Ok(counts) => format!("{counts:?}"),
        Err(error) => error.to_string(),
    }
}

/// Captures a launch, and drops its tensor before the graph; captures another, and fails; launches without a capture.
pub(crate) fn a_captured_launch() -> String {
    fn launches() -> Result<(), Error> {
        let device = Device::cuda(0)?;
        let vector = || Tensor::<u32, 1>::zeros(&device, [32]);
        let (mut x, mut other, mut last) = (vector()?, vector()?, vector()?);
        let graph = device.capture(|| counting::count::launch(&device, 1, &mut x.view_mut()))?;
        drop(x);
        graph.launch()?;
        graph.launch()?;
        device.synchronize()?;
        drop(graph);
        let refused = device.capture(|| {
            counting::count::launch(&device, 1, &mut other.view_mut())?;
            drop(other);
            device.synchronize()
        });
        assert!(matches!(refused, Err(Error::Capturing)), "{refused:?}");
        let empty = device.capture(|| Ok::<_, Error>(()))?;
        empty.launch()?;
        counting::count::launch(&device, 1, &mut last.view_mut())
    }
    outcome(launches())
}

/// Threads that capture, beside others that wait, copy, and free memory.
pub(crate) fn captures_beside_waits() -> String {
    fn rounds(number: usize) -> Result<(), Error> {
        let device = Device::cuda(0)?;
        for _ in 0..50 {
            let mut x = Tensor::<u32, 1>::zeros(&device, [32])?;
            if number.is_multiple_of(2) {
                x.download()?;
                device.synchronize()?;
                continue;
            }
            let graph = device.capture(|| {
                counting::count::launch(&device, 1, &mut x.view_mut())?;
                counting::count::launch(&device, 1, &mut x.view_mut())
            })?;
            graph.launch()?;
        }
        Ok(())
    }
    let outcomes = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || rounds(i))).collect();
        let threads = threads.into_iter().map(|thread| thread.join());
        threads
            .map(|it| outcome(it.expect("no panic")))
            .collect::<Vec<_>>()
    });
    outcomes.join(" ")
}

/// Launches a kernel whose assertion fails, and returns the errors of the calls that follow.
pub(crate) fn a_failing_launch() -> String {
    fn errors() -> Result<Vec<String>, Error> {
        let device = Device::cuda(0)?;
        let (src, mut dst) = (matrix(&device)?, matrix(&device)?);
        scale::scale_all::launch(&device, 2, &src.view(), &mut dst.view_mut(), 200.0)?;
        let waits = [
            device.synchronize(),
            src.download().map(|_| ()),
            device.time(|| Ok(())).map(|_| ()),
        ];
        Ok(waits.map(outcome).into())
    }
    match errors() {
        Ok(errors) => errors.join("\n"),
        Err(error) => error.to_string(),
    }
}

/// How many clusters of 1, 4, 8, 4 and 8 CTAs run at the same time; then the errors of 0 and of 9.
pub(crate) fn active_clusters() -> String {
    let device = Device::cuda(0).expect("a device");
    let answers = [1, 4, 8, 4, 8, 0, 9].map(|ctas| match device.max_active_clusters(ctas) {
        Ok(clusters) => clusters.to_string(),
        Err(error) => error.to_string(),
    });
    answers.join("\n")
}

/// Launches a kernel 101 times. Returns the results, where equal ones in a row are given once with their number.
pub(crate) fn a_hundred_and_one_launches() -> String {
    fn answers() -> Result<String, Error> {
        let device = Device::cuda(0)?;
        let src = matrix(&device)?;
        let mut dst = matrix(&device)?;
        let mut answers: Vec<(String, u32)> = Vec::new();
        for _ in 0..101 {
            let launch =
                scale::scale_all::launch(&device, 2, &src.view(), &mut dst.view_mut(), 3.0);
            let answer = outcome(launch);
            match answers.last_mut() {
                Some((last, count)) if *last == answer => *count += 1,
                _ => answers.push((answer, 1)),
            }
        }
        let lines = answers
            .into_iter()
            .map(|(answer, n)| format!("{n} × {answer}"));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }
    answers().unwrap_or_else(|error| error.to_string())
}

/// Eight threads launch two kernels at the same time.
pub(crate) fn launches_by_eight_threads() -> String {
    fn launches(device: &Device) -> Result<(), Error> {
        let (src, mut dst) = (matrix(device)?, matrix(device)?);
        scale::scale_all::launch(device, 2, &src.view(), &mut dst.view_mut(), 3.0)?;
        scale::scale_half::launch(device, 2, &src.view(), &mut dst.view_mut(), 3.0)?;
        device.synchronize()
    }
    let start = std::sync::Barrier::new(8);
    let outcomes = std::thread::scope(|scope| {
        let spawn = |_| {
            scope.spawn(|| {
                start.wait();
                outcome(Device::cuda(0).and_then(|device| launches(&device)))
            })
        };
        let threads: Vec<_> = (0..8).map(spawn).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, String>| thread.join().unwrap();
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    outcomes.join(" ")
}

/// Prepares kernels, one of them twice, and then all of them again.
pub(crate) fn prepared() -> String {
    fn reports() -> Result<Vec<String>, Error> {
        let device = Device::cuda(0)?;
        let kernels = [
            Instance::of::<scale::scale_all>(),
            Instance::of::<scale::scale_half>(),
            Instance::of::<scale::shift>(),
            Instance::of::<scale::scale_all>(),
        ];
        let compiled = device.prepare(&kernels)?;
        assert_eq!(device.prepare(&kernels)?, compiled);
        assert_eq!(compiled[3], compiled[0]);
        let reports = kernels.iter().zip(compiled).take(3);
        let report = |(kernel, compiled): (&Instance, Compiled)| {
            format!("{} {}", kernel.name(), compiled.shared_bytes)
        };
        Ok(reports.map(report).collect())
    }
    match reports() {
        Ok(reports) => reports.join("\n"),
        Err(error) => error.to_string(),
    }
}

/// Compiles a kernel. Returns what its report says of the cache and its log, or the error; and what was logged, without the time.
pub(crate) fn compiled_with_a_log() -> String {
    keep_log();
    let device = Device::cuda(0).expect("a device");
    let compiled = match device.compile::<scale::shift>() {
        Ok(Compiled {
            from_cache, log, ..
        }) => format!("{from_cache} [{log}]"),
        Err(error) => error.to_string(),
    };
    let logged = LOGGED.lock().unwrap().join("\n");
    let (before, rest) = logged.split_once(" took ").expect("a time");
    let (_, after) = rest.split_once(" ms: ").expect("milliseconds");
    let before = before.trim_start_matches("INFO cute_runtime::compile: ");
    format!("{compiled}\n{before} took _ ms: {after}")
}

static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps what is logged in `LOGGED`.
fn keep_log() {
    struct Logger;
    impl log::Log for Logger {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            true
        }
        fn log(&self, record: &log::Record<'_>) {
            let line = format!("{} {}: {}", record.level(), record.target(), record.args());
            LOGGED.lock().unwrap().push(line);
        }
        fn flush(&self) {}
    }
    log::set_logger(&Logger).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
}

/// Asks for the default device twice. Returns its name, the reason for the emulator, and what was logged.
pub(crate) fn the_default_device() -> String {
    keep_log();
    let device = Device::default();
    assert_eq!(device == Device::default(), !device.is_emulator());
    let reason = device.fallback_reason().map(ToString::to_string);
    assert_eq!(
        device.clone().fallback_reason().map(ToString::to_string),
        reason
    );
    assert!(Device::emulator().fallback_reason().is_none());
    let reason = reason.unwrap_or_else(|| "no reason".to_string());
    let logged = LOGGED.lock().unwrap().join("\n");
    format!("{}\n{reason}\n{logged}", device.name())
}

/// A kernel that more devices run than those of the default target.
#[kernels]
pub mod older {
    /// Nothing.
    #[kernel(threads = 32, target = "sm_80")]
    pub fn nothing() {}
}

/// The results of `Device::cuda` for 0, 1 and 2: the name, and whether the device runs a kernel for `sm_90a` and one for `sm_80`.
pub(crate) fn three_devices() -> String {
    let devices = (0..3).map(|ordinal| match Device::cuda(ordinal) {
        Ok(device) => {
            let compiled = [
                device.compile::<scale::shift>(),
                device.compile::<older::nothing>(),
            ];
            let [hopper, older] = compiled.map(|it| outcome(it.map(drop)));
            format!("{}: {hopper}; {older}", device.name())
        }
        Err(error) => error.to_string(),
    });
    devices.collect::<Vec<_>>().join("\n")
}

fn step<T>(work: impl FnOnce() -> T) -> T {
    let result = work();
    end_of_step();
    result
}

fn outcome(result: Result<(), Error>) -> String {
    match result {
        Ok(()) => "done".to_string(),
        Err(error) => error.to_string(),
    }
}
