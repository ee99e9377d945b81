//! The arguments of a launch, and the counts that it returns.

use crate::limits::Limits;

/// The dimensions, arguments and limits of a launch. The default has one CTA of one thread and no arguments.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// CTAs in the grid along x, y and z.
    pub grid: [u32; 3],
    /// Threads in a CTA along x, y and z; at most 1024 in all.
    pub block: [u32; 3],
    /// CTAs in a cluster along x, y and z; at most 16 in all. `[1; 3]` means the entry's `.reqnctapercluster`, if it has
    /// one.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory of each CTA; at most 227 KiB together with the static part.
    pub dynamic_shared_bytes: u32,
    /// The little-endian bytes of each argument: one element for each parameter, of the parameter's size.
    pub args: &'a [Vec<u8>],
    /// In which order warps run and asynchronous work happens.
    pub schedule: Schedule,
    /// How much host time and memory the launch may use.
    pub limits: Limits,
}

impl Default for Launch<'_> {
    fn default() -> Self {
        Launch {
            grid: [1; 3],
            block: [1; 3],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            args: &[],
            schedule: Schedule::default(),
            limits: Limits::default(),
        }
    }
}

/// In which order warps run and asynchronous work happens. The hardware promises little about this order, so a correct
/// kernel gives the same result under every schedule. Equal schedules give equal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Seeds the random choice of the warp that runs next and, with [`Delay::Random`], of when asynchronous work happens.
    pub seed: u64,
    /// When asynchronous work happens.
    pub delay: Delay,
    /// How many clusters run at a time. Fewer run if their state would exceed [`Limits::state_bytes`], but at least one.
    pub resident_clusters: usize,
}

/// When asynchronous work (copies, bulk stores, wgmma) happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// As late as the kernel permits: when a thread waits for it, or when no thread can continue without it.
    Latest,
    /// At a random moment before that.
    Random,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            seed: 0,
            delay: Delay::Latest,
            resident_clusters: 8,
        }
    }
}

impl Schedule {
    /// The schedule for a seed: the default one for 0, one with random delays for every other seed.
    pub fn from_seed(seed: u64) -> Schedule {
        let delay = if seed == 0 {
            Delay::Latest
        } else {
            Delay::Random
        };
        Schedule {
            seed,
            delay,
            ..Schedule::default()
        }
    }
}

/// What a launch executed and copied, summed over all CTAs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Warp instructions executed. Instructions whose guard is false in all lanes do not count.
    pub steps: u64,
    /// `wgmma.mma_async` among them; one that a warpgroup issues counts four times, once for each warp.
    pub wgmma: u64,
    /// Bytes that TMA, other bulk copies and `st.async` wrote to shared memory; a multicast counts once for each CTA.
    pub copied_in: u64,
    /// Bytes that TMA and other bulk copies wrote or reduced to global memory.
    pub copied_out: u64,
}
