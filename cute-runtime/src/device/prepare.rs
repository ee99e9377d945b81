//! Kernels that are compiled before their first launch, several at the same time.

use std::fmt;
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::device::compiled::Compiled;
use crate::device::image::Image;
use crate::{Device, Error, Kernel};

/// Bytes of the stack of each thread: what a program's first thread has on most systems, for which compilers are made.
const STACK_BYTES: usize = 8 << 20;

/// An instance of a kernel as an element of a list, whose elements may be instances of several kernels: what [`Device::prepare`]
/// compiles.
#[derive(Clone)]
pub struct Instance(pub(crate) Image);

impl Instance {
    /// The instance that the type `K` is.
    pub fn of<K: Kernel>() -> Self {
        Instance(Image::of::<K>())
    }

    /// Name of the instance.
    pub fn name(&self) -> &'static str {
        self.0.name
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instance({})", self.name())
    }
}

impl Device {
    /// Compiles these instances for the device, as their first launches do, and returns the compiler's reports in the same order.
    /// The instances are compiled by as many threads as the machine runs at the same time. One that is compiled already takes no
    /// time.
    ///
    /// A program that does this when it starts does not wait at its first launches. A GPU's driver also keeps what it has compiled
    /// on disk, so that later processes get the same code in about a millisecond ([`Compiled::from_cache`]).
    ///
    /// ```
    /// use cute_runtime::{Device, Error, Instance, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod vectors {
    ///     /// x[i] *= by.
    ///     #[kernel(threads = 64)]
    ///     #[instance(scale_f32: T = f32)]
    ///     #[instance(scale_i32: T = i32)]
    ///     pub fn scale<T: Element>(x: Global<T, 1>, by: i32) {
    ///         let i = block_idx().0 * 64 + thread();
    ///         if i < extent(x, 0) {
    ///             x[i] = x[i] * convert::<T>(by);
    ///         }
    ///     }
    /// }
    /// use vectors::{scale_f32, scale_i32};
    ///
    /// let device = Device::default();
    /// let kernels = [Instance::of::<scale_f32>(), Instance::of::<scale_i32>()];
    /// for (kernel, compiled) in kernels.iter().zip(device.prepare(&kernels)?) {
    ///     println!("{}: {compiled}", kernel.name());
    /// }
    /// // This launch compiles nothing.
    /// let mut x = Tensor::from_slice(&device, &[5; 100], [100])?;
    /// scale_i32::launch(&device, 2, &mut x.view_mut(), 3)?;
    /// assert_eq!(x.download()?, [15; 100]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the first instance of the list that has one, with its name: that of the compiler, or that of the limit of the
    /// chip that it exceeds, or [`Error::Uncompiled`]. Instances that are compiled before that stay compiled.
    pub fn prepare(&self, instances: &[Instance]) -> Result<Vec<Compiled>, Error> {
        in_parallel(instances, |Instance(image)| {
            self.compile_image(image)
                .map_err(|error| named(image.name, error))
        })
    }
}

/// The error of a kernel, with the name of the kernel.
fn named(kernel: &'static str, error: Error) -> Error {
    match error {
        Error::Driver(_) | Error::Capability { .. } => Error::Uncompiled {
            kernel,
            error: Box::new(error),
        },
        error => error,
    }
}

/// What `make` returns for each item, in their order, or the error of the first item that has one. `make` is called by several
/// threads, of which the calling one is one.
fn in_parallel<T: Sync, R: Send + Sync>(
    items: &[T],
    make: impl Fn(&T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let made: Vec<OnceLock<Result<R, Error>>> = items.iter().map(|_| OnceLock::new()).collect();
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Items are begun in their order and what is begun is ended, so that none before the first error is left out.
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = made[index].get_or_init(|| make(item));
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            // If the system starts no thread, the others do its work.
            let _ = thread.spawn_scoped(scope, work);
        }
        work();
    });
    made.into_iter().map_while(OnceLock::into_inner).collect()
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;

    fn refusal(ctas: u32) -> Error {
        Error::ClusterSize { ctas, limit: 8 }
    }

    #[test]
    fn results_are_in_order() {
        let items: Vec<u32> = (0..1000).collect();
        let made = in_parallel(&items, |item| Ok(item * 2)).unwrap();
        assert!(made.iter().copied().eq((0..1000).map(|item| item * 2)));
        assert!(in_parallel(&[], |item: &u32| Ok(*item)).unwrap().is_empty());
    }

    #[test]
    fn the_first_error_of_the_list_is_returned_and_little_is_begun_after_it() {
        let items: Vec<u32> = (0..10_000).collect();
        for _ in 0..20 {
            let begun = AtomicUsize::new(0);
            let error = in_parallel(&items, |&item| {
                begun.fetch_add(1, Ordering::Relaxed);
                match item {
                    // The first error ends last.
                    100 => {
                        thread::sleep(std::time::Duration::from_millis(2));
                        Err(refusal(item))
                    }
                    101.. => Err(refusal(item)),
                    _ => Ok(item),
                }
            });
            assert_eq!(error.unwrap_err().to_string(), refusal(100).to_string());
            let threads = thread::available_parallelism().map_or(1, NonZero::get);
            assert!(begun.into_inner() <= 100 + threads);
        }
    }
}
