//! How much a module and a launch may ask of the host.

/// What a module may hold and a launch may use. What exceeds a limit is an error that names it with both numbers, so that
/// no module, however written, exhausts the host.
///
/// The defaults are far above what kernels need, and low enough that a host with a few GiB of memory bears them.
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
    /// Bytes of a module's text. What is made of it takes up to two hundred times as many.
    pub text_bytes: u64,
    /// Entries of a module.
    pub entries: u64,
    /// Instructions of an entry; never more than 2²², as which a byte of shared memory knows its last writer.
    pub instructions: u64,
    /// Registers of an entry that its instructions name, with its constants and special registers.
    pub registers: u64,
    /// Bytes of global memory that are allocated at a time.
    pub memory_bytes: u64,
    /// CTAs of a grid.
    pub ctas: u64,
    /// Bytes that the registers and the shared memory of the clusters that run at a time take on the host: of a register 8 for
    /// each lane, of shared memory 17 for each byte. Fewer clusters run at a time where all would be over it.
    pub state_bytes: u64,
    /// Bytes that the asynchronous operations under way take on the host: copies, stores that have not read their source,
    /// arrivals, and tensor-core instructions that nobody has waited for.
    pub pending_bytes: u64,
    /// mbarriers of a CTA.
    pub mbarriers: u64,
    /// Warp instructions of a launch, after which it is given up; never more than 2³¹ - 1, as far as a warp's clock counts.
    /// What takes as long as several counts as several: the start of a CTA by its state, a copy by its bytes, a tensor-core
    /// instruction by its columns.
    pub steps: u64,
}

/// Instructions have numbers of 22 bits.
const MOST_INSTRUCTIONS: u64 = 1 << 22;
/// Clocks have 31 bits.
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
            mbarriers: 1024,
            steps: 1 << 30,
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

/// Holds a number against a limit.
pub(crate) fn hold(what: &'static str, found: u64, limit: u64) -> Result<(), OverLimit> {
    if found <= limit {
        Ok(())
    } else {
        Err(OverLimit { what, found, limit })
    }
}

/// So many equal values, if the host has memory for them.
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
    /// What was counted.
    pub what: &'static str,
    /// How many there are.
    pub found: u64,
    /// How many there may be.
    pub limit: u64,
}

/// The host has no memory of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host cannot allocate {bytes} bytes of memory")]
pub struct OutOfHostMemory {
    /// How many bytes were asked for.
    pub bytes: u64,
}
