//! Functions of the program that a device calls: receivers of what kernels print, and functions that rewrite PTX. They may use the
//! device, and what they must not do is an error.
#![cfg(feature = "emulator")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use cute_runtime::{Device, EmulatorOptions, Error, LaunchRule, Tensor};

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn say(n: u32) {
        if thread() == 0 {
            println!("{n}");
        }
    }

    #[kernel(threads = 32)]
    pub fn fill(#[facts(extent(x, 0) == 32)] x: Global<u32, 1>, by: u32) {
        x[thread()] = by;
    }
}

use kernels::{fill, say};

/// Texts that were received.
#[derive(Clone, Default)]
struct Texts(Arc<Mutex<Vec<String>>>);

impl Texts {
    fn add(&self, text: &str) {
        self.0.lock().unwrap().push(text.trim_end().to_owned());
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[test]
fn a_receiver_may_launch_what_prints() -> Result<(), Error> {
    let (device, texts) = (Device::emulator(), Texts::default());
    let (again, copy) = (device.clone(), texts.clone());
    device.print_to(move |text| {
        copy.add(text);
        let n: u32 = text.trim().parse().unwrap();
        if n > 0 {
            say::launch(&again, 1, n - 1).unwrap();
            copy.add("launched");
        }
    });
    say::launch(&device, 1, 3)?;
    let expected = ["3", "launched", "2", "launched", "1", "launched", "0"];
    assert_eq!(texts.taken(), expected);
    Ok(())
}

#[test]
fn a_receiver_may_wait_for_a_thread_that_prints() -> Result<(), Error> {
    let (device, texts) = (Device::emulator(), Texts::default());
    let (again, copy) = (device.clone(), texts.clone());
    device.print_to(move |text| {
        copy.add(text);
        let device = again.clone();
        if text.trim() == "7" {
            thread::spawn(move || say::launch(&device, 1, 8))
                .join()
                .unwrap()
                .unwrap();
        }
    });
    say::launch(&device, 1, 7)?;
    assert_eq!(texts.taken(), ["7", "8"]);
    Ok(())
}

/// Prints when it is dropped.
struct Prints(Device);

impl Drop for Prints {
    fn drop(&mut self) {
        say::launch(&self.0, 1, 99).unwrap();
    }
}

#[test]
fn a_receiver_may_set_another_one() -> Result<(), Error> {
    let (device, texts) = (Device::emulator(), Texts::default());
    let (again, copy) = (device.clone(), texts.clone());
    let held = Prints(device.clone());
    device.print_to(move |text| {
        let _ = &held;
        copy.add(text);
        let copy = copy.clone();
        again.print_to(move |text| copy.add(&format!("second {text}")));
        say::launch(&again, 1, 2).unwrap();
    });
    say::launch(&device, 1, 1)?;
    assert_eq!(texts.taken(), ["1", "second 2", "second 99"]);
    Ok(())
}

#[test]
fn a_receiver_that_panics_is_called_again() -> Result<(), Error> {
    let (device, texts) = (Device::emulator(), Texts::default());
    let copy = texts.clone();
    device.print_to(move |text| {
        copy.add(text);
        assert!(text.trim() != "1", "on purpose");
    });
    let launch = || say::launch(&device, 1, 1);
    assert!(catch_unwind(AssertUnwindSafe(launch)).is_err());
    say::launch(&device, 1, 2)?;
    assert_eq!(texts.taken(), ["1", "2"]);
    Ok(())
}

#[test]
fn a_receiver_may_use_memory_and_drop_the_device() -> Result<(), Error> {
    let (device, texts) = (Device::emulator(), Texts::default());
    let copy = texts.clone();
    let mut last = Some(device.clone());
    device.print_to(move |text| {
        let Some(device) = last.take() else { return };
        let mut x = Tensor::<u32, 1>::zeros(&device, [32]).unwrap();
        fill::launch(&device, 1, &mut x.view_mut(), 5).unwrap();
        assert_eq!(x.download().unwrap(), [5; 32]);
        copy.add(text);
    });
    say::launch(&device, 1, 1)?;
    drop(device);
    assert_eq!(texts.taken(), ["1"]);
    Ok(())
}

#[test]
fn texts_of_many_threads_come_one_by_one() -> Result<(), Error> {
    let (device, texts) = (Device::emulator(), Texts::default());
    let (copy, inside) = (texts.clone(), Mutex::new(()));
    device.print_to(move |text| {
        let _alone = inside.try_lock().expect("one call at a time");
        copy.add(text);
    });
    thread::scope(|scope| {
        for n in 0..4 {
            let device = &device;
            scope.spawn(move || (0..20).try_for_each(|i| say::launch(device, 1, 20 * n + i)));
        }
    });
    let mut numbers: Vec<u32> = texts.taken().iter().map(|it| it.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..80).collect::<Vec<u32>>());
    Ok(())
}

/// An emulator whose rewriting function gets the device.
fn rewriting(rewrite: impl Fn(&Device, &str) -> String + Send + Sync + 'static) -> Device {
    let slot: Arc<OnceLock<Device>> = Arc::default();
    let inner = slot.clone();
    let device = Device::emulator_rewriting(EmulatorOptions::default(), move |ptx| {
        rewrite(inner.get().expect("it is set"), ptx)
    });
    slot.set(device.clone()).expect("it is set once");
    device
}

#[test]
fn a_function_that_rewrites_may_launch() -> Result<(), Error> {
    let device = rewriting(|device, ptx| {
        if ptx.contains(".entry say(") {
            let mut x = Tensor::<u32, 1>::zeros(device, [32]).unwrap();
            fill::launch(device, 1, &mut x.view_mut(), 6).unwrap();
            assert_eq!(x.download().unwrap(), [6; 32]);
        }
        ptx.to_owned()
    });
    let texts = Texts::default();
    let copy = texts.clone();
    device.print_to(move |text| copy.add(text));
    say::launch(&device, 1, 1)?;
    say::launch(&device, 1, 2)?;
    assert_eq!(texts.taken(), ["1", "2"]);
    Ok(())
}

#[test]
fn a_function_that_launches_what_it_rewrites_gets_an_error() -> Result<(), Error> {
    let errors: Arc<Mutex<Vec<Error>>> = Arc::default();
    let copy = errors.clone();
    let device = rewriting(move |device, ptx| {
        let mut x = Tensor::<u32, 1>::zeros(device, [32]).unwrap();
        let launched = match ptx.contains(".entry say(") {
            true => fill::launch(device, 1, &mut x.view_mut(), 6),
            false => say::launch(device, 1, 1),
        };
        copy.lock().unwrap().extend(launched.err());
        ptx.to_owned()
    });
    device.print_to(|_| {});
    say::launch(&device, 1, 1)?;
    let errors = std::mem::take(&mut *errors.lock().unwrap());
    // `say` is rewritten, launches `fill`, which is rewritten, and launches `say`.
    let [
        Error::Launch {
            kernel: "say",
            rule: LaunchRule::Rewriting,
        },
    ] = &errors[..]
    else {
        panic!("{errors:?}");
    };
    // The function that panics leaves the device as it was.
    let device = rewriting(|_, ptx| {
        assert!(!ptx.contains(".entry say("), "on purpose");
        ptx.to_owned()
    });
    for _ in 0..2 {
        let launch = || say::launch(&device, 1, 1);
        assert!(catch_unwind(AssertUnwindSafe(launch)).is_err());
    }
    let mut x = Tensor::<u32, 1>::zeros(&device, [32])?;
    fill::launch(&device, 1, &mut x.view_mut(), 6)
}
