//! The arguments of a launch, and what is seen of it.

use crate::limits::Limits;
use std::fmt::{self, Display, Formatter};

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
    /// The extents of tensors in global memory that the PTX names, as far as they are known. An access by coordinates outside of
    /// these is a fault.
    pub extents: &'a [Extents],
    /// Whether it may begin while earlier launches run, as with the attribute for programmatic stream serialization of the CUDA driver:
    /// what threads access before `griddepcontrol.wait` must not depend on these. Other launches begin when all earlier ones have ended.
    pub overlaps: bool,
    /// In which order warps run and asynchronous work happens.
    pub schedule: Schedule,
    /// Which mistakes are looked for.
    pub checks: Checks,
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
    /// The name by which the PTX names the tensor.
    pub tensor: String,
    /// The extent of each mode.
    pub extents: Vec<u64>,
}

/// In which order warps run and asynchronous work happens. The hardware promises little about this order, so a correct
/// kernel gives the same result under every schedule. Equal schedules give equal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Seeds the random choices.
    pub seed: u64,
    /// What is chosen at random, and what is not.
    pub policy: Policy,
    /// How many clusters run at a time. Fewer run if their state would exceed [`Limits::state_bytes`], but at least one.
    pub resident_clusters: usize,
}

/// When asynchronous work (copies, bulk stores, wgmma) happens, and which warp runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// Asynchronous work happens as late as the kernel permits: when a thread waits for it, or when no thread can continue
    /// without it. Warps run in a random order.
    Latest,
    /// Asynchronous work happens at a random moment before that.
    Random,
    /// Asynchronous work happens as soon as it is started.
    Earliest,
    /// Each warp has a random priority, and loses it at random moments (probabilistic concurrency testing). Asynchronous work
    /// happens at random moments.
    Priorities,
    /// One warp of each cluster runs only if no other can, but for rare exceptions. Asynchronous work happens at random
    /// moments.
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
    /// The schedule for a seed: seeds take turns with the policies, and 0 has the default one.
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

/// Which mistakes are looked for that a run may survive. By default all are; PTX of others may make one on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Reads of registers that the thread has not written.
    pub registers: bool,
    /// Uses of what was read from shared memory that nobody has written.
    pub uninitialised: bool,
    /// The order of events in shared memory: races, uses of what a copy or a wgmma still uses, missing proxy fences, and CTAs
    /// that end before these.
    pub order: bool,
    /// Races in global memory, and reads of global memory that nobody has written. Without these checks, accesses to global
    /// memory are faster, and take no memory of the host for records.
    pub global: bool,
    /// Accesses that are not where the PTX says, in the comments of its instructions, and accesses outside of the tensors that it
    /// names there.
    pub tensors: bool,
    /// Threads that take another way through the kernel than the PTX says, in its comments.
    pub ways: bool,
    /// Quotients and remainders of integers by 0, and of the smallest integer by -1.
    pub division: bool,
    /// What the PTX ISA does not allow to the letter, but PTX of other compilers relies on, since GPUs do it: lanes that have ended count
    /// as having executed `bar.warp.sync` and `elect.sync`, and a barrier of the CTA orders the initialisation of an mbarrier before the
    /// copies of the CTA that use it, without `fence.mbarrier_init` or a proxy fence.
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
