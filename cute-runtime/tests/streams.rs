//! Streams, events and memory of others, on the emulator.

#![cfg(feature = "emulator")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cute_runtime::{
    Device, EmulatorOptions, Error, Event, HostBuffer, Stream, Tensor, ViewError, kernels,
};

/// Kernels that change every element.
#[kernels]
mod steps {
    /// x[i] += by.
    #[kernel(threads = 64)]
    pub fn add(x: Global<i32, 1>, by: i32) {
        let i = block_idx().0 * 64 + thread();
        if i < extent(x, 0) {
            x[i] = x[i] + by;
        }
    }

    /// y[i] = 2·x[i].
    #[kernel(threads = 64)]
    pub fn double(x: Global<i32, 1>, #[facts(extent(y, 0) == extent(x, 0))] y: Global<i32, 1>) {
        let i = block_idx().0 * 64 + thread();
        if i < extent(x, 0) {
            y[i] = 2 * x[i];
        }
    }
}

/// A device with two handles, each on a stream of its own.
fn two_streams() -> (Device, Device, Device) {
    let device = Device::emulator();
    let on = || device.on(&device.new_stream().unwrap()).unwrap();
    let (a, b) = (on(), on());
    (device, a, b)
}

/// Every order of uses of a tensor on two streams is kept without an event of the program's: the emulator would report a race.
#[test]
fn tensors_order_the_streams_that_use_them() -> Result<(), Error> {
    let (device, a, b) = two_streams();
    let mut x = Tensor::from_slice(&a, &[1; 100], [100])?;
    let mut y = Tensor::<i32, 1>::zeros(&b, [100])?;
    // A write after a write, and after one on a third stream.
    steps::add::launch(&b, 2, &mut x.view_mut(), 1)?;
    steps::add::launch(&device, 2, &mut x.view_mut(), 1)?;
    // Reads on two streams, a write after both, and a read after that.
    steps::double::launch(&a, 2, &x.view(), &mut y.view_mut())?;
    let mut z = Tensor::<i32, 1>::zeros(&device, [100])?;
    steps::double::launch(&b, 2, &x.view(), &mut z.view_mut())?;
    steps::add::launch(&device, 2, &mut x.view_mut(), 10)?;
    assert_eq!(x.download()?, [13; 100]);
    assert_eq!(y.download()?, [6; 100]);
    assert_eq!(z.download()?, [6; 100]);
    Ok(())
}

/// Memory is freed on its home stream behind the work on others, and reused by none of them before.
#[test]
fn tensors_are_dropped_behind_the_work_of_all_streams() -> Result<(), Error> {
    let (_, a, b) = two_streams();
    for _ in 0..20 {
        let mut x = Tensor::from_slice(&a, &[1; 100], [100])?;
        let mut y = Tensor::<i32, 1>::zeros(&b, [100])?;
        steps::double::launch(&b, 2, &x.view(), &mut y.view_mut())?;
        steps::add::launch(&a, 2, &mut x.view_mut(), 1)?;
        drop(x);
        assert_eq!(y.download()?, [2; 100]);
    }
    Ok(())
}

#[test]
fn a_stream_ends_before_the_tensors_that_were_used_on_it() -> Result<(), Error> {
    let device = Device::emulator();
    let mut x = Tensor::from_slice(&device, &[1; 100], [100])?;
    for _ in 0..5 {
        let on = device.on(&device.new_stream()?)?;
        steps::add::launch(&on, 2, &mut x.view_mut(), 1)?;
    }
    assert_eq!(x.download()?, [6; 100]);
    Ok(())
}

#[test]
fn each_thread_has_its_default_stream() -> Result<(), Error> {
    let device = Device::emulator();
    let own = device.on(&device.per_thread_stream())?;
    let mut x = Tensor::from_slice(&own, &[1; 100], [100])?;
    for _ in 0..3 {
        std::thread::scope(|scope| {
            let launch = || steps::add::launch(&own, 2, &mut x.view_mut(), 1);
            scope.spawn(launch).join().expect("no panic")
        })?;
        steps::add::launch(&own, 2, &mut x.view_mut(), 1)?;
    }
    assert_eq!(x.download()?, [7; 100]);
    Ok(())
}

/// Two tensors over the same memory of others: the program says that its streams are in order, and they are not.
#[test]
fn a_missing_wait_for_memory_of_others_is_reported_with_both_launches() -> Result<(), Error> {
    let (_, a, b) = two_streams();
    let mut memory = [1; 100];
    let pointer = memory.as_mut_ptr();
    // SAFETY: `memory` lives longer. That the streams are not in order is what the emulator reports.
    let mut x = unsafe { Tensor::from_raw_parts_mut(pointer, [100], [1], &a, ())? };
    // SAFETY: as above.
    let other = unsafe { Tensor::from_raw_parts(pointer, [100], [1], &b, ())? };
    let mut y = Tensor::<i32, 1>::zeros(&b, [100])?;
    steps::add::launch(&a, 2, &mut x.view_mut(), 1)?;
    let read =
        |y: &mut Tensor<i32, 1>| steps::double::launch(&b, 2, &other.view(), &mut y.view_mut());
    let error = read(&mut y).unwrap_err().to_string();
    for part in ["add", "double", "no event orders the two"] {
        assert!(error.contains(part), "{error}");
    }
    // With the event, there is none.
    b.stream().wait(&a.stream().record()?)?;
    read(&mut y)?;
    assert_eq!(y.download()?, [4; 100]);
    Ok(())
}

/// Others work on the same memory, before and after a launch, in the order of events.
#[test]
fn work_of_others_is_in_the_order_of_streams() -> Result<(), Error> {
    let (_, ours, theirs) = two_streams();
    let mut memory = [1; 100];
    let pointer = memory.as_mut_ptr();
    // SAFETY: `memory` lives longer, and is used by `emulate_others` alone.
    let mut x = unsafe { Tensor::from_raw_parts_mut(pointer, [100], [1], &ours, ())? };
    // SAFETY: as above.
    let add = |by| unsafe {
        theirs.emulate_others(pointer, 100, |memory| {
            memory.iter_mut().for_each(|it| *it += by)
        })
    };
    let order = |first: &Device, then: &Device| then.stream().wait(&first.stream().record()?);
    add(1)?;
    order(&theirs, &ours)?;
    steps::add::launch(&ours, 2, &mut x.view_mut(), 10)?;
    let error = add(100).unwrap_err().to_string();
    for part in [
        "work of others races",
        "of add on stream",
        "no event orders the two",
    ] {
        assert!(error.contains(part), "{error}");
    }
    order(&ours, &theirs)?;
    add(100)?;
    // In memory of which there is no tensor, nothing is recorded.
    let mut elsewhere = [0u8; 4];
    // SAFETY: nobody else has the memory.
    unsafe { theirs.emulate_others(elsewhere.as_mut_ptr(), 4, |it| it.fill(1))? };
    assert_eq!(elsewhere, [1; 4]);
    order(&theirs, &ours)?;
    assert_eq!(x.download()?, [112; 100]);
    Ok(())
}

/// Others read and write a tensor of ours on a stream of theirs: each of the two calls is needed.
#[test]
fn work_of_others_is_ordered_with_a_buffer() -> Result<(), Error> {
    let runs = |before: bool, behind: bool| -> Result<Vec<i32>, Error> {
        let (_, ours, theirs) = two_streams();
        let mut memory = [1; 100];
        let pointer = memory.as_mut_ptr();
        // SAFETY: `memory` lives longer, and is used by `emulate_others` alone.
        let mut x = unsafe { Tensor::from_raw_parts_mut(pointer, [100], [1], &ours, ())? };
        steps::add::launch(&ours, 2, &mut x.view_mut(), 1)?;
        if before {
            x.buffer().order_write(&theirs.stream())?;
        }
        // SAFETY: as above.
        unsafe { theirs.emulate_others(pointer, 100, |it| it.fill(5))? };
        if behind {
            x.buffer().order_write(&theirs.stream())?;
        }
        steps::add::launch(&ours, 2, &mut x.view_mut(), 1)?;
        x.download()
    };
    assert_eq!(runs(true, true)?, [6; 100]);
    for (before, behind) in [(false, true), (true, false)] {
        let error = runs(before, behind).unwrap_err().to_string();
        assert!(error.contains("no event orders the two"), "{error}");
    }
    Ok(())
}

/// Work of others that only reads waits for no other that reads: a second tensor in the same memory, on their stream, plays it.
#[test]
fn reads_of_others_are_ordered_with_writes() -> Result<(), Error> {
    let runs = |before: bool, behind: bool| -> Result<Vec<i32>, Error> {
        let (_, ours, theirs) = two_streams();
        let mut memory = [1; 100];
        let pointer = memory.as_mut_ptr();
        // SAFETY: `memory` lives longer. That the streams are in order is what is tested.
        let mut x = unsafe { Tensor::from_raw_parts_mut(pointer, [100], [1], &ours, ())? };
        // SAFETY: as above.
        let read = unsafe { Tensor::from_raw_parts(pointer, [100], [1], &theirs, ())? };
        let mut y = Tensor::<i32, 1>::zeros(&theirs, [100])?;
        steps::add::launch(&ours, 2, &mut x.view_mut(), 1)?;
        if before {
            x.buffer().order_read(&theirs.stream())?;
        }
        steps::double::launch(&theirs, 2, &read.view(), &mut y.view_mut())?;
        if behind {
            x.buffer().order_read(&theirs.stream())?;
        }
        steps::add::launch(&ours, 2, &mut x.view_mut(), 1)?;
        y.download()
    };
    assert_eq!(runs(true, true)?, [4; 100]);
    for (before, behind) in [(false, true), (true, false)] {
        let error = runs(before, behind).unwrap_err().to_string();
        assert!(error.contains("no event orders the two"), "{error}");
    }
    Ok(())
}

#[test]
fn memory_of_others_is_read_written_and_given_back() -> Result<(), Error> {
    let (device, a, _) = two_streams();
    let mut memory = vec![5; 130];
    let guard = Arc::new(());
    // SAFETY: `memory` is used only where the host has waited.
    let mut x = unsafe {
        Tensor::from_raw_parts_mut(
            memory[30..].as_mut_ptr(),
            [100],
            [1],
            &device,
            guard.clone(),
        )?
    };
    steps::add::launch(&device, 2, &mut x.view_mut(), 1)?;
    // The host has not waited, and finds what was there before.
    assert_eq!(memory[30], 5);
    device.synchronize()?;
    assert_eq!(memory, [vec![5; 30], vec![6; 100]].concat());
    // What the host writes is found by the next launch.
    memory[30..].fill(20);
    steps::add::launch(&device, 2, &mut x.view_mut(), 1)?;
    assert_eq!(x.download()?, [21; 100]);
    // On another stream; the drop of the guard comes behind that, too.
    steps::add::launch(&a, 2, &mut x.view_mut(), 1)?;
    assert_eq!(Arc::strong_count(&guard), 2);
    drop(x);
    assert_eq!(Arc::strong_count(&guard), 1);
    assert_eq!(memory[30..], [22; 100]);
    Ok(())
}

#[test]
fn bad_memory_of_others_is_refused() {
    let device = Device::emulator();
    // SAFETY: nothing is made.
    let made = |pointer: usize, strides| unsafe {
        Tensor::<i32, 2>::from_raw_parts_mut(
            std::ptr::without_provenance_mut(pointer),
            [10, 10],
            strides,
            &device,
            (),
        )
        .expect_err("a bad tensor")
        .to_string()
    };
    assert_eq!(
        made(0, [10, 1]),
        "memory of others at 0x0: it is null, and the tensor has 100 elements"
    );
    assert_eq!(
        made(0x1002, [10, 1]),
        "memory of others at 0x1002: it is no multiple of the 4 bytes of i32"
    );
    // SAFETY: as above.
    let overlapping = unsafe {
        Tensor::<i32, 2>::from_raw_parts_mut(
            std::ptr::without_provenance_mut(0x1000),
            [10, 10],
            [0, 1],
            &device,
            (),
        )
    };
    assert!(matches!(
        overlapping,
        Err(Error::View(ViewError::Overlap { .. }))
    ));
    // A tensor without elements has no memory.
    // SAFETY: there are no bytes.
    let empty =
        unsafe { Tensor::<i32, 1>::from_raw_parts(std::ptr::null(), [0], [1], &device, ()) };
    assert_eq!(empty.unwrap().download().unwrap(), []);
}

/// Tensors in the same memory of others are one memory on the device.
#[test]
fn tensors_share_memory_of_others() -> Result<(), Error> {
    let device = Device::emulator();
    let mut memory = [0; 100];
    let pointer = memory.as_mut_ptr();
    // SAFETY: `memory` lives longer, and the launches are on one stream.
    let whole = unsafe { Tensor::from_raw_parts(pointer, [100], [1], &device, ())? };
    // SAFETY: as above; the pointer is inside of `memory`.
    let mut part = unsafe { Tensor::from_raw_parts_mut(pointer.add(50), [50], [1], &device, ())? };
    steps::add::launch(&device, 1, &mut part.view_mut(), 3)?;
    assert_eq!(whole.download()?, [[0; 50], [3; 50]].concat());
    drop(whole);
    steps::add::launch(&device, 1, &mut part.view_mut(), 3)?;
    drop(part);
    assert_eq!(memory[50..], [6; 50]);
    // SAFETY: as above.
    let first = unsafe { Tensor::from_raw_parts(memory.as_ptr(), [60], [1], &device, ())? };
    // SAFETY: as above.
    let across = unsafe { Tensor::from_raw_parts(memory[50..].as_ptr(), [50], [1], &device, ()) };
    let error = across.unwrap_err().to_string();
    assert!(error.contains("its 200 bytes lie partly in"), "{error}");
    drop(first);
    Ok(())
}

/// Memory whose rows overlap may be read.
#[test]
fn shared_memory_of_others_may_overlap() -> Result<(), Error> {
    let device = Device::emulator();
    let memory = [1, 2, 3, 4];
    // SAFETY: `memory` is not written.
    let windows = unsafe { Tensor::from_raw_parts(memory.as_ptr(), [3, 2], [1, 1], &device, ())? };
    assert_eq!(windows.download()?, [1, 2, 2, 3, 3, 4]);
    assert_eq!((windows.shape(), windows.strides()), ([3, 2], [1, 1]));
    Ok(())
}

#[test]
fn streams_and_events_of_other_devices_are_refused() -> Result<(), Error> {
    let (device, other) = (Device::emulator(), Device::emulator());
    let stream = other.new_stream()?;
    let expected = "the stream is one of emulator, not of emulator";
    assert_eq!(device.on(&stream).unwrap_err().to_string(), expected);
    let event = stream.record()?;
    let error = device.stream().wait(&event).unwrap_err();
    assert_eq!(error.to_string(), expected.replace("stream", "event"));
    let untimed = event.elapsed_since(&stream.record_timed()?);
    assert!(matches!(untimed, Err(Error::Untimed)));
    // SAFETY: the emulator looks at no pointer.
    let foreign = unsafe { Event::from_raw(&device, std::ptr::null_mut(), Arc::new(())) };
    assert!(matches!(foreign, Err(Error::NoForeignEvents)));
    let x = Tensor::<i32, 1>::zeros(&device, [1])?;
    let elsewhere = x.buffer().order_read(&stream).unwrap_err();
    assert_eq!(elsewhere.to_string(), expected);
    Ok(())
}

/// The numbers by which the driver knows its default streams are those streams, also if others pass them.
#[test]
fn the_default_streams_of_others_are_those_of_the_device() -> Result<(), Error> {
    let device = Device::emulator();
    let named = |number| {
        let number = std::ptr::without_provenance_mut(number);
        // SAFETY: the emulator looks at no pointer.
        unsafe { Stream::from_raw(&device, number, Arc::new(())) }
    };
    assert!(named(0)? == device.stream() && named(1)? == device.stream());
    // Each thread has its own stream of that number.
    let own = device.on(&named(2)?)?;
    assert!(own.stream() == device.per_thread_stream());
    let mut x = Tensor::from_slice(&own, &[1; 100], [100])?;
    std::thread::scope(|scope| {
        let launch = || steps::add::launch(&own, 2, &mut x.view_mut(), 1);
        scope.spawn(launch).join().expect("no panic")
    })?;
    assert_eq!(x.download()?, [2; 100]);
    Ok(())
}

/// A stream of others is the same stream however often it is named, and keeps its owner as long as it is named.
#[test]
fn a_stream_of_others_keeps_its_owner() -> Result<(), Error> {
    let device = Device::emulator();
    let owner: Arc<AtomicU32> = Arc::default();
    let number = std::ptr::without_provenance_mut(0x1230);
    // SAFETY: the emulator's streams are numbers.
    let named = || unsafe { Stream::from_raw(&device, number, owner.clone()) };
    let (first, second) = (named()?, named()?);
    assert!(first == second && first != device.stream());
    assert_eq!(first.as_raw(), number);
    let x = Tensor::from_slice(&device.on(&first)?, &[1; 100], [100])?;
    drop(first);
    assert_eq!(Arc::strong_count(&owner), 3);
    drop((x, second));
    assert_eq!(Arc::strong_count(&owner), 1);
    owner.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[test]
fn a_graph_runs_on_any_stream() -> Result<(), Error> {
    let (device, a, b) = two_streams();
    let mut x = Tensor::from_slice(&a, &[1; 100], [100])?;
    let graph = device.capture(|| {
        steps::add::launch(&device, 2, &mut x.view_mut(), 1)?;
        steps::add::launch(&device, 2, &mut x.view_mut(), 2)
    })?;
    steps::add::launch(&b, 2, &mut x.view_mut(), 10)?;
    graph.launch_on(&a.stream())?;
    graph.launch()?;
    steps::add::launch(&b, 2, &mut x.view_mut(), 10)?;
    assert_eq!(x.download()?, [27; 100]);
    Ok(())
}

#[test]
fn buffers_of_the_host_are_copied_in_the_order_of_streams() -> Result<(), Error> {
    let (device, a, b) = two_streams();
    let mut staged = HostBuffer::<i32>::zeros(&device, 100)?;
    staged.write()?.fill(1);
    let mut x = Tensor::<i32, 1>::zeros(&a, [100])?.into_buffer();
    x.copy_from_host(&staged)?;
    steps::add::launch(&b, 2, &mut x.view_mut(0, [100], [1])?, 4)?;
    x.copy_to_host(&mut staged)?;
    assert_eq!(staged.read()?, [5; 100]);
    assert!(HostBuffer::<f32>::zeros(&device, 0)?.read()?.is_empty());

    let other = HostBuffer::<i32>::zeros(&Device::emulator(), 100)?;
    assert!(x.copy_from_host(&other).is_err());
    let error = x
        .copy_to_host(&mut HostBuffer::zeros(&device, 9)?)
        .unwrap_err();
    let expected = "`copy_to_host` takes 100 elements, those of the whole buffer, and got 9";
    assert_eq!(error.to_string(), expected);
    Ok(())
}

#[test]
fn what_is_held_is_counted_until_it_is_dropped() -> Result<(), Error> {
    let device = Device::emulator();
    let on = device.on(&device.new_stream()?)?;
    let (x, line) = (Tensor::<u8, 1>::zeros(&on, [1000])?, line!());
    let y: Vec<_> = (0..3).map(|_| device.zeros::<u16>(8)).collect();
    let held = device.memory_held();
    assert_eq!((held.bytes, held.allocations, held.limit), (1048, 4, None));
    let place = |index: usize| {
        let place = &held.places[index];
        (place.line, place.bytes, place.allocations)
    };
    assert_eq!([place(0), place(1)], [(line, 1000, 1), (line + 1, 48, 3)]);
    device.set_memory_limit(Some(1100));
    let error = device.zeros::<u8>(53).unwrap_err().to_string();
    let start = "53 bytes more than the 1048 that are held would exceed the limit of 1100 bytes; 1048 bytes are held in 4 allocations: \
                 1000 bytes in 1 of ";
    assert!(error.starts_with(start), "{error}");
    assert!(device.zeros::<u8>(52).is_ok());
    drop((x, y));
    assert_eq!(device.memory_held().bytes, 0);
    device.trim_memory(0)
}

/// What waits is waited for: the clock of events goes forward, and a handle's stream is the one that it was given.
#[test]
fn events_have_times() -> Result<(), Error> {
    let (device, a, _) = two_streams();
    let start = a.stream().record_timed()?;
    let mut x = Tensor::from_slice(&a, &[1; 100], [100])?;
    steps::add::launch(&a, 2, &mut x.view_mut(), 1)?;
    let end = a.stream().record_timed()?;
    assert!(end.is_reached()? && end.elapsed_since(&start)?.as_nanos() > 0);
    assert!(a == device && a.stream() != device.stream());
    let seeds = Device::emulator_with(EmulatorOptions::from_seed(3));
    assert!(seeds.on(&a.stream()).is_err());
    Ok(())
}
