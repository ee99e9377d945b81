//! A launch: what the host says, and what it is told afterwards.

use crate::limits::Limits;

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// CTAs in the grid.
    pub grid: [u32; 3],
    /// Threads in a CTA.
    pub block: [u32; 3],
    /// CTAs in a cluster.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
    /// The bytes of each argument, one for each parameter.
    pub args: &'a [Vec<u8>],
    /// The order of events.
    pub schedule: Schedule,
    /// How much it may use.
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

/// The order of events, of which the hardware promises little. Equal schedules give equal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Picks the order of warps and, with [`Delay::Random`], the moments at which asynchronous work happens.
    pub seed: u64,
    /// How long asynchronous work waits.
    pub delay: Delay,
    /// How many clusters run at a time: fewer where [`Limits::state_bytes`] has no room for them, but at least one.
    pub resident_clusters: usize,
}

/// How long asynchronous work (copies, stores, wgmma) waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Until somebody waits for it: what is not waited for does not happen before the end.
    Latest,
    /// A random time.
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
    /// A schedule for each seed: the default one for 0, random delays for the others.
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

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Warp instructions executed.
    pub steps: u64,
    /// Tensor-core instructions among them, one for each warp.
    pub wgmma: u64,
    /// Bytes that TMA and other bulk copies brought into shared memory.
    pub copied_in: u64,
    /// Bytes that TMA and other bulk copies wrote to global memory.
    pub copied_out: u64,
}
