//! Emulated devices with options, and tests under many schedules.

mod code;

use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub use cute_emulator::{Checks, Policy};
use cute_emulator::{Limits, Schedule};

use crate::Device;

/// How an emulated device runs kernels.
///
/// ```
/// use cute_runtime::{Device, EmulatorOptions, Policy};
///
/// let options = EmulatorOptions { schedule: Policy::Starvation, seed: 7, ..EmulatorOptions::default() };
/// assert!(Device::emulator_with(options).is_emulator());
/// ```
///
/// `Display` writes the fields that differ from the default, as code that can be pasted into a program.
///
/// ```
/// # use cute_runtime::{EmulatorOptions, Policy};
/// # let options = EmulatorOptions { schedule: Policy::Starvation, seed: 7, ..EmulatorOptions::default() };
/// let code = "EmulatorOptions { schedule: Policy::Starvation, seed: 7, ..EmulatorOptions::default() }";
/// assert_eq!(options.to_string(), code);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatorOptions {
    /// Which warp runs next, and when asynchronous work happens.
    pub schedule: Policy,
    /// Seeds the random choices of the schedule. Equal seeds give equal runs.
    pub seed: u64,
    /// A launch fails if it needs more warp instructions than this.
    pub step_limit: u64,
    /// A launch fails if, in more warp instructions in a row than this, no cluster ends and no new address of global memory is
    /// accessed: it is probably in an endless loop. A slow instruction counts as several, here and for the other limits.
    pub cluster_limit: u64,
    /// A launch fails if it changes only registers in more warp instructions in a row than this.
    pub idle_limit: u64,
    /// How many clusters run at a time, at most.
    pub resident_clusters: usize,
    /// The mistakes to look for.
    pub checks: Checks,
    /// Whether to record a trace for [`Device::take_trace`].
    pub trace: bool,
}

impl Default for EmulatorOptions {
    fn default() -> Self {
        EmulatorOptions::from_seed(0)
    }
}

impl EmulatorOptions {
    /// The options of [`Device::emulator_with_seed`]: seeds take turns with the schedules.
    pub fn from_seed(seed: u64) -> Self {
        let Schedule {
            seed,
            policy,
            resident_clusters,
        } = Schedule::from_seed(seed);
        EmulatorOptions {
            schedule: policy,
            seed,
            step_limit: Limits::default().steps,
            cluster_limit: Limits::default().cluster_steps,
            idle_limit: Limits::default().idle_steps,
            resident_clusters,
            checks: Checks::default(),
            trace: false,
        }
    }
}

/// The failure of a test under a schedule: the one after the fewest warp instructions, of all schedules tried.
///
/// `{:?}`, which `unwrap` and a `main` that returns it print, is the same text as `{}`.
pub struct ScheduleFailure<E> {
    /// The error that the test returned.
    pub error: E,
    /// The options of the device.
    pub options: EmulatorOptions,
    /// How many warp instructions the device had executed.
    pub steps: u64,
    /// The number of schedules under which the test failed.
    pub failed: u64,
    /// The number of schedules tried.
    pub schedules: u64,
}

impl<E: Display> Display for ScheduleFailure<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ScheduleFailure {
            error,
            options,
            steps,
            failed,
            schedules,
        } = self;
        write!(
            f,
            "{error}\nfails under {failed} of {schedules} schedules. This device repeats the shortest failure, after {steps} warp \
             instructions:\n    Device::emulator_with({options})"
        )
    }
}

impl<E: Display> fmt::Debug for ScheduleFailure<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl<E: Display> std::error::Error for ScheduleFailure<E> {}

impl Device {
    /// Runs a test on `schedules` emulated devices with different schedules: the seeds from 0 on.
    ///
    /// ```
    /// use cute_runtime::{Device, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod negation {
    ///     #[kernel(threads = 32)]
    ///     pub fn negate(x: Global<f32, 1>) {
    ///         if thread() < extent(x, 0) {
    ///             x[thread()] = -x[thread()];
    ///         }
    ///     }
    /// }
    ///
    /// Device::under_schedules(10, |device| {
    ///     let mut x = Tensor::from_slice(device, &[1.0_f32; 32], [32])?;
    ///     negation::negate::launch(device, 1, &mut x.view_mut())?;
    ///     assert_eq!(x.download()?, [-1.0; 32]);
    ///     Ok::<(), Error>(())
    /// })?;
    /// # Ok::<(), cute_runtime::ScheduleFailure<Error>>(())
    /// ```
    ///
    /// # Errors
    /// The failure after the fewest warp instructions, if the test fails under any schedule. Each failing schedule is also tried
    /// with one cluster at a time, for a shorter run.
    ///
    /// # Panics
    /// If the test panics, for example by a failed `assert!`: with what it panicked with, at the first schedule under which it
    /// does. Before that, the number of the schedule and the device that repeats the panic are printed to stderr:
    /// ```text
    /// panics under schedule 3 of 20. This device repeats the panic, after 27 warp instructions:
    ///     Device::emulator_with(EmulatorOptions { seed: 2, ..EmulatorOptions::default() })
    /// ```
    pub fn under_schedules<E>(
        schedules: u64,
        mut test: impl FnMut(&Device) -> Result<(), E>,
    ) -> Result<(), ScheduleFailure<E>> {
        let mut shortest: Option<ScheduleFailure<E>> = None;
        let mut failed = 0;
        let mut attempt = |number: u64,
                           options: EmulatorOptions,
                           shortest: &mut Option<ScheduleFailure<E>>| {
            let device = Device::emulator_with(options);
            let result = catch_unwind(AssertUnwindSafe(|| test(&device)));
            let steps = device.backend().steps();
            let Err(error) = result.unwrap_or_else(|panic| {
                eprintln!(
                    "panics under schedule {number} of {schedules}. This device repeats the panic, after {steps} warp instructions:\n    \
                     Device::emulator_with({options})"
                );
                resume_unwind(panic)
            }) else {
                return false;
            };
            if shortest.as_ref().is_none_or(|other| steps < other.steps) {
                *shortest = Some(ScheduleFailure {
                    error,
                    options,
                    steps,
                    failed: 0,
                    schedules,
                });
            }
            true
        };
        for seed in 0..schedules {
            let (number, options) = (seed + 1, EmulatorOptions::from_seed(seed));
            if attempt(number, options, &mut shortest) {
                failed += 1;
                let alone = EmulatorOptions {
                    resident_clusters: 1,
                    ..options
                };
                attempt(number, alone, &mut shortest);
            }
        }
        match shortest {
            None => Ok(()),
            Some(failure) => Err(ScheduleFailure { failed, ..failure }),
        }
    }
}
