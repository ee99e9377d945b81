//! Emulated devices: constructors, and records of their launches.

use std::sync::Arc;

use super::Emulator;
use crate::device::lock::lock;
use crate::{Counts, Device, EmulatorOptions, Trace};

impl Device {
    /// A new emulated device on the CPU, with its own memory.
    pub fn emulator() -> Self {
        Device::emulator_with(EmulatorOptions::default())
    }

    /// A new emulated device whose schedule is chosen by `seed`: [`EmulatorOptions::from_seed`]. A correct kernel gives the
    /// same results under every seed; a kernel that does not wait where it must may not.
    pub fn emulator_with_seed(seed: u64) -> Self {
        Device::emulator_with(EmulatorOptions::from_seed(seed))
    }

    /// A new emulated device with these options.
    pub fn emulator_with(options: EmulatorOptions) -> Self {
        Device::new(Arc::new(Emulator::new(options, None)))
    }

    /// A new emulated device that runs the PTX returned by `rewrite` in place of each kernel's own PTX. With it a test breaks a
    /// kernel on purpose and sees whether anything notices. `rewrite` may be called more than once for a kernel. It may launch
    /// other kernels on the device, which are rewritten, too.
    ///
    /// ```
    /// use cute_runtime::{Device, EmulatorOptions, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod reversal {
    ///     #[kernel(threads = 64)]
    ///     pub fn reverse(#[facts(extent(x, 0) >= 64)] x: Global<u32, 1>) {
    ///         let kept = smem::<u32>(64);
    ///         kept[thread()] = x[thread()];
    ///         sync_threads();
    ///         x[thread()] = kept[63 - thread()];
    ///     }
    /// }
    ///
    /// let unsynchronised = |ptx: &str| ptx.replace("bar.sync 0;", "");
    /// let device = Device::emulator_rewriting(EmulatorOptions::default(), unsynchronised);
    /// let mut x = Tensor::<u32, 1>::zeros(&device, [64])?;
    /// let error = reversal::reverse::launch(&device, 1, &mut x.view_mut()).unwrap_err();
    /// assert!(error.to_string().contains("kept: u32 at 64:1"), "{error}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn emulator_rewriting(
        options: EmulatorOptions,
        rewrite: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        let emulator = Emulator::new(options, Some(Box::new(rewrite)));
        Device::new(Arc::new(emulator))
    }

    /// Counts of the instructions, memory traffic and waits of all launches on this emulator, failed ones included, since it was
    /// made or since the last call of this method. `None` on a GPU.
    ///
    /// ```
    /// use cute_runtime::{Class, Device, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod columns {
    ///     /// Each lane reads a row of its own, 128 bytes after that of the lane before.
    ///     #[kernel(threads = 32)]
    ///     pub fn sum_of_rows(#[facts(extent(sums, 0) == 32)] sums: Global<f32, 1>) {
    ///         let tile = smem::<f32>(layout!((32,32):(32,1)));
    ///         for j in 0..32 {
    ///             tile[(j, thread())] = 1.0;
    ///         }
    ///         sync_threads();
    ///         let mut sum = 0.0;
    ///         for j in 0..32 {
    ///             sum += tile[(thread(), j)];
    ///         }
    ///         sums[thread()] = sum;
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let mut sums = Tensor::<f32, 1>::zeros(&device, [32])?;
    /// columns::sum_of_rows::launch(&device, 1, &mut sums.view_mut())?;
    /// let counts = device.take_counts().unwrap();
    /// // Each of the 32 loads finds its 32 words in one bank; the stores and the barrier cost nothing in addition.
    /// assert_eq!(counts.shared.bank_conflicts, 32 * 31);
    /// assert_eq!((counts.global.written, counts.global.sectors), (128, 4));
    /// assert_eq!(counts.instructions[Class::Memory], 32 + 32 + 1 + 1);
    /// println!("{counts}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn take_counts(&self) -> Option<Counts> {
        let observed = self.backend().observed()?;
        Some(std::mem::take(&mut lock(observed).counts))
    }

    /// The timeline of the launches on this emulator, since it was made or since the last call of this method. `Display` writes it
    /// for <https://ui.perfetto.dev>. `None` unless [`EmulatorOptions::trace`] is set.
    ///
    /// ```
    /// use cute_runtime::{Device, EmulatorOptions, Error, kernels};
    ///
    /// #[kernels]
    /// mod meeting {
    ///     #[kernel(threads = 64)]
    ///     pub fn meet() {
    ///         sync_threads();
    ///     }
    /// }
    ///
    /// let device = Device::emulator_with(EmulatorOptions { trace: true, ..EmulatorOptions::default() });
    /// meeting::meet::launch(&device, 1)?;
    /// let json = device.take_trace().unwrap().to_string();
    /// assert!(json.contains("waits: barrier 0"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn take_trace(&self) -> Option<Trace> {
        let observed = self.backend().observed()?;
        lock(observed).trace.as_mut().map(std::mem::take)
    }
}
