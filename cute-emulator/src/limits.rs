//! Limits on the host memory and time of a module and a launch.

/// Limits on a module and on a launch, so that no module can exhaust the host. Exceeding a limit is an error with the number found
/// and the limit.
///
/// The defaults are far above what kernels need, and low enough for a host with a few GiB of memory.
///
/// ```
/// use cute_emulator::{Limits, Program};
///
/// let module = "
/// .version 8.0
/// .target sm_90a
/// .address_size 64
/// .visible .entry one() { ret; }
/// .visible .entry two() { ret; }
/// ";
/// let limits = Limits { entries: 1, ..Limits::default() };
/// let error = Program::load_within(module, &limits).unwrap_err();
/// assert_eq!(error.to_string(), "2 entries of the module are over the limit of 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a module's text. The loaded module takes up to two hundred times as many bytes on the host.
    pub text_bytes: u64,
    /// Entries (kernels) of a module.
    pub entries: u64,
    /// Instructions of an entry, including the functions that it calls. All entries together may have four times as many. A value above
    /// 2²¹ counts as 2²¹: the record of a byte's last writer has 21 bits for the instruction.
    pub instructions: u64,
    /// Registers of an entry: the registers that its instructions name, its distinct constants, and its special registers.
    pub registers: u64,
    /// Bytes of global memory that may be allocated at the same time.
    pub memory_bytes: u64,
    /// CTAs of a grid.
    pub ctas: u64,
    /// Bytes on the host for the registers and the shared memory of the clusters that run at the same time: 8 for each
    /// register of each lane, 20 for each byte of shared memory. If all resident clusters would exceed it, fewer run at a
    /// time.
    pub state_bytes: u64,
    /// Bytes on the host for asynchronous operations that are not complete: copies, bulk stores until the thread's wait without
    /// `.read`, arrivals after `cp.async`, and wgmma instructions until the warp's wait.
    pub pending_bytes: u64,
    /// Bytes of global memory with recorded accesses in a launch, in pages of 4 KiB. The records take as many bytes on the host, plus some
    /// for each access that is still needed. The records of earlier launches take at most as many again.
    pub recorded_bytes: u64,
    /// Bytes of local memory of a thread, for nested calls. A value above 2¹⁹ counts as 2¹⁹, the hardware's limit. These bytes also count
    /// as `pending_bytes`.
    pub local_bytes: u64,
    /// Bytes that kernels may print before the host takes the text. Further text is lost.
    pub output_bytes: u64,
    /// Initialised mbarriers of a CTA.
    pub mbarriers: u64,
    /// Warp instructions of a launch; a launch that needs more fails. A value above 2³¹ - 1 counts as 2³¹ - 1, since a
    /// warp's clock has 31 bits. Slow work counts as several instructions: the start of a cluster by the bytes of its state,
    /// a copy by its bytes, a wgmma by its columns, an atomic by its lanes, an access by the number of separate address ranges, a strong
    /// access by its releases and acquires. [`Counts`](crate::Counts) has both numbers of a launch, `steps` and `charged`.
    pub steps: u64,
    /// Warp instructions in a row, with slow work as above, in which no cluster ends and no new global memory is accessed. A launch
    /// that needs more fails, since it is probably in an endless loop. Without [`Checks::global`](crate::Checks::global), only the ends
    /// of clusters count.
    pub cluster_steps: u64,
    /// Warp instructions in a row, with slow work as above, that change only registers: no memory, no barrier and no asynchronous
    /// operation. A launch that needs more fails, too.
    pub idle_steps: u64,
}

/// The record of a byte's last writer has 21 bits for the number of the instruction.
const MOST_INSTRUCTIONS: u64 = 1 << 21;
/// The record of a byte's last writer has 31 bits for the warp's clock.
const MOST_STEPS: u64 = (1 << 31) - 1;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            text_bytes: 8 << 20,
            entries: 1 << 16,
            instructions: 1 << 20,
            registers: 1 << 20,
            memory_bytes: 8 << 30,
            ctas: 1 << 24,
            state_bytes: 1 << 30,
            pending_bytes: 256 << 20,
            recorded_bytes: 4 << 30,
            local_bytes: 64 << 10,
            output_bytes: 1 << 20,
            mbarriers: 1024,
            steps: 1 << 30,
            // The unoptimised emulator of tests takes seconds for this many steps.
            cluster_steps: 5 << 20,
            idle_steps: 1 << 22,
        }
    }
}

impl Limits {
    pub(crate) fn most_instructions(&self) -> u64 {
        self.instructions.min(MOST_INSTRUCTIONS)
    }

    pub(crate) fn most_steps(&self) -> u64 {
        self.steps.min(MOST_STEPS)
    }
}

/// An error if a number is over its limit.
pub(crate) fn hold(what: &'static str, found: u64, limit: u64) -> Result<(), OverLimit> {
    if found <= limit {
        Ok(())
    } else {
        Err(OverLimit { what, found, limit })
    }
}

/// A vector of `len` equal values, or an error if the host cannot allocate it.
pub(crate) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, OutOfHostMemory> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| OutOfHostMemory {
        bytes: len.saturating_mul(size_of::<T>()) as u64,
    })?;
    values.resize(len, value);
    Ok(values)
}

/// A number that is over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} {what} are over the limit of {limit}")]
pub struct OverLimit {
    /// The quantity, such as "entries of the module".
    pub what: &'static str,
    /// The number found.
    pub found: u64,
    /// The limit, which itself is allowed.
    pub limit: u64,
}

/// The host could not allocate memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host cannot allocate {bytes} bytes of memory")]
pub struct OutOfHostMemory {
    /// The size of the allocation that failed.
    pub bytes: u64,
}
