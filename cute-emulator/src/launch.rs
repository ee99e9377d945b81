//! The arguments of a launch: its dimensions, its schedule and its checks.

use crate::limits::Limits;
use std::fmt::{self, Display, Formatter};

/// The dimensions, arguments and limits of a launch. The default has one CTA of one thread and no arguments.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// CTAs in the grid along x, y and z.
    pub grid: [u32; 3],
    /// Threads in a CTA along x, y and z; at most 1024 in all on every chip.
    pub block: [u32; 3],
    /// CTAs in a cluster along x, y and z; at most 16 in all, and 1 if the target of the module has no clusters. `[1; 3]` means the entry's `.reqnctapercluster`, if it has one.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory of each CTA; at most 227 KiB together with the static part, and 163 KiB if the module is for `sm_80`.
    pub dynamic_shared_bytes: u32,
    /// The little-endian bytes of each argument: one element for each parameter, of the parameter's size.
    pub args: &'a [Vec<u8>],
    /// The known extents of tensors in global memory that the PTX names. An access with coordinates outside them is a fault.
    pub extents: &'a [Extents],
    /// Whether the launch may begin while earlier launches of its stream run (programmatic stream serialization of the CUDA driver).
    /// Accesses before `griddepcontrol.wait` must then not depend on these. Other launches begin when all earlier ones of the stream
    /// have ended. [`Program::launch_on`](crate::Program::launch_on) takes the stream.
    pub overlaps: bool,
    /// The order of warps and of asynchronous work.
    pub schedule: Schedule,
    /// The mistakes to look for.
    pub checks: Checks,
    /// The host time and memory that the launch may use.
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
            extents: &[],
            overlaps: false,
            schedule: Schedule::default(),
            checks: Checks::default(),
            limits: Limits::default(),
        }
    }
}

/// The extents of a tensor in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents {
    /// The name of the tensor in the PTX.
    pub tensor: String,
    /// The extent of each mode.
    pub extents: Vec<u64>,
}

/// The order of warps and of asynchronous work. The hardware promises little about it, so a correct kernel gives the same result under
/// every schedule. Equal schedules give equal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Seeds the random choices.
    pub seed: u64,
    /// The rule for the order.
    pub policy: Policy,
    /// How many clusters run at a time. Fewer run if their state would exceed [`Limits::state_bytes`], but at least one.
    pub resident_clusters: usize,
}

/// The moment of asynchronous work (copies, bulk stores, wgmma), and the choice of the next warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// Asynchronous work happens as late as possible: when a thread waits for it, or when no thread can continue without it. Warps
    /// run in a random order.
    Latest,
    /// Asynchronous work happens at a random moment before that.
    Random,
    /// Asynchronous work happens as soon as it is started.
    Earliest,
    /// Each warp has a random priority, and loses it at random moments (probabilistic concurrency testing). Asynchronous work
    /// happens at random moments.
    Priorities,
    /// One warp of each cluster runs only if no other can, with rare exceptions. Asynchronous work happens at random moments.
    Starvation,
}

impl Policy {
    /// Each policy, in the order in which [`Schedule::from_seed`] takes turns with them.
    pub const ALL: [Policy; 5] = [
        Policy::Latest,
        Policy::Random,
        Policy::Earliest,
        Policy::Priorities,
        Policy::Starvation,
    ];
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            seed: 0,
            policy: Policy::Latest,
            resident_clusters: 8,
        }
    }
}

impl Schedule {
    /// The schedule for a seed. Successive seeds cycle through the policies; seed 0 gives the default schedule.
    pub fn from_seed(seed: u64) -> Schedule {
        Schedule {
            seed,
            policy: Policy::ALL[(seed % Policy::ALL.len() as u64) as usize],
            ..Schedule::default()
        }
    }
}

/// `policy Latest, seed 0, 8 resident clusters`.
impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Schedule {
            seed,
            policy,
            resident_clusters,
        } = self;
        write!(
            f,
            "policy {policy:?}, seed {seed}, {resident_clusters} resident clusters"
        )
    }
}

/// The mistakes to look for, even if the run could continue. All are on by default. PTX of other compilers may make one on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Reads of registers that the thread has not written.
    pub registers: bool,
    /// Uses of values read from shared memory that was never written.
    pub uninitialised: bool,
    /// The order of events in shared memory: races, uses of bytes that a copy or a wgmma still uses, missing proxy fences, and CTAs that
    /// end before such uses.
    pub order: bool,
    /// Races in global memory, and reads of global memory that was never written. Without these checks, accesses to global memory are
    /// faster and need no host memory for records.
    pub global: bool,
    /// Accesses at other addresses than the PTX's comments claim, and accesses outside the tensors that they name.
    pub tensors: bool,
    /// Threads that take another path through the kernel than the PTX's comments claim.
    pub ways: bool,
    /// Quotients and remainders of integers by 0, and of the smallest integer by -1.
    pub division: bool,
    /// Two uses that the PTX ISA does not allow, but that GPUs support and PTX of other compilers relies on. Lanes that have ended count
    /// as having executed `bar.warp.sync` and `elect.sync`. And a CTA barrier orders the initialisation of an mbarrier before the CTA's
    /// copies that use it, without `fence.mbarrier_init` or a proxy fence.
    pub strict: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Checks {
            registers: true,
            uninitialised: true,
            order: true,
            global: true,
            tensors: true,
            ways: true,
            division: true,
            strict: true,
        }
    }
}
