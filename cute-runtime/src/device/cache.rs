//! A cache with one entry for each kernel: the value made for it, or the error of the attempt.
//!
//! A kernel is compiled once, and refused once: errors are cached as well, except for passing ones, such as full memory.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::Error;
use crate::device::lock::lock;

/// The key of a kernel in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id {
    /// The Rust type of the kernel.
    pub(crate) ty: TypeId,
    /// The values that it gets at run time; `None` for a [`Kernel`](crate::Kernel), which gets none. A type may be both.
    pub(crate) values: Option<String>,
}

impl Id {
    /// A kernel that gets no values at run time.
    pub(crate) fn of<K: 'static>() -> Self {
        Id {
            ty: TypeId::of::<K>(),
            values: None,
        }
    }
}

/// One value of type `T` for each kernel that was asked for.
pub(crate) struct Cache<T> {
    slots: Mutex<HashMap<Id, Arc<Slot<T>>>>,
}

/// The result for one kernel: `None` until the first attempt ends. Each slot has its own lock, so that a kernel does not wait
/// while another one is being made.
type Slot<T> = Mutex<Option<Result<Arc<T>, Error>>>;

impl<T> Cache<T> {
    pub(crate) fn new() -> Self {
        Cache {
            slots: Mutex::default(),
        }
    }

    /// The result kept for this kernel, if there is one. A call waits while another thread makes it.
    pub(crate) fn kept(&self, kernel: &Id) -> Option<Result<Arc<T>, Error>> {
        let slot = lock(&self.slots).get(kernel)?.clone();
        let kept = lock(&slot);
        kept.clone()
    }

    /// The value that `make` returned at the first call for this kernel. Other threads that ask for the kernel wait for that call.
    /// An error is kept like a value, unless its cause [may pass](Error::may_pass): then the next call runs `make` again.
    pub(crate) fn get(
        &self,
        kernel: &Id,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let slot = lock(&self.slots).entry(kernel.clone()).or_default().clone();
        let mut kept = lock(&slot);
        if let Some(made) = &*kept {
            return made.clone();
        }
        let made = make().map(Arc::new);
        if !made.as_ref().is_err_and(Error::may_pass) {
            *kept = Some(made.clone());
        }
        made
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use std::cell::Cell;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::DriverError;

    fn failure((name, code): (&str, u32)) -> Error {
        Error::Driver(DriverError {
            call: "cuModuleGetFunction",
            code,
            name: name.into(),
            text: String::new(),
        })
    }

    /// How many of three calls run `make`, where `make` always returns `result`.
    fn attempts(result: &Result<u32, Error>) -> u32 {
        let (cache, count) = (Cache::new(), Cell::new(0));
        for _ in 0..3 {
            let answer = cache.get(&Id::of::<()>(), || {
                count.set(count.get() + 1);
                result.clone()
            });
            let answer = answer
                .map(|value| *value)
                .map_err(|error| error.to_string());
            assert_eq!(answer, result.clone().map_err(|error| error.to_string()));
        }
        count.get()
    }

    #[test]
    fn values_and_errors_are_kept_and_what_may_pass_is_not() {
        for (result, expected) in [
            (Ok(7), 1),
            (Err(Error::NoDriver), 1),
            (Err(failure(("CUDA_ERROR_INVALID_PTX", 218))), 1),
            (Err(failure(("CUDA_ERROR_NOT_FOUND", 500))), 1),
            (Err(failure(("CUDA_ERROR_OUT_OF_MEMORY", 2))), 3),
            (Err(failure(("CUDA_ERROR_OPERATING_SYSTEM", 304))), 3),
            (
                Err(failure(("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", 900))),
                3,
            ),
        ] {
            assert_eq!(attempts(&result), expected, "{result:?}");
        }
    }

    #[test]
    fn threads_make_a_value_once() {
        let (cache, count, start) = (Cache::new(), AtomicUsize::new(0), Barrier::new(8));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let make = || Ok(count.fetch_add(1, Ordering::Relaxed));
                    assert_eq!(*cache.get(&Id::of::<()>(), make).unwrap(), 0);
                });
            }
        });
        assert_eq!(count.into_inner(), 1);
    }

    #[test]
    fn a_kernel_does_not_wait_for_another() {
        let cache = Cache::new();
        let outer = cache.get(&Id::of::<u8>(), || {
            // With one lock for all kernels, this inner call would deadlock.
            Ok(*cache.get(&Id::of::<u16>(), || Ok(1))? + 1)
        });
        assert_eq!(*outer.unwrap(), 2);
    }

    #[test]
    fn a_panic_leaves_the_slot_empty() {
        let cache = Cache::new();
        let panicking = || cache.get(&Id::of::<()>(), || panic!("while making"));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking));
        assert!(panicked.is_err());
        assert_eq!(*cache.get(&Id::of::<()>(), || Ok(5)).unwrap(), 5);
    }
}
