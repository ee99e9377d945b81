//! Runs PTX modules on the CPU, as strictly as the memory model allows.
//!
//! The emulator reads the same PTX text that the driver gets. It models warps and divergence, shared memory and clusters,
//! mbarriers, TMA, `wgmma` with the tensor cores' published numerics, and the async proxy. It keeps the order of events, so that a
//! missing wait or fence is an error under every [`Schedule`]; the error names the line of the PTX, the place in the source and
//! the tensor if the PTX says them, and the schedule. Equal schedules give equal runs.
//!
//! # What is reported
//!
//! [`FaultKind`] is the list: accesses out of bounds or misaligned, accesses that are not of the tensor that the PTX names, reads of memory that nobody wrote, races in shared and in
//! global memory between threads, those of a warp included, uses of data that a copy is still writing, writes of data that a wgmma, a bulk store or a copy is still reading,
//! a CTA that ends before those, reads by the async proxy of generic writes without a proxy fence, uses of registers that a wgmma
//! still uses, a missing `wgmma.fence`, mbarriers that are initialised twice, used as data, or counted wrongly, lanes and warps that do not execute
//! together what they have to, and uses of values that PTX leaves undefined.
//! [`EmulatorError::Deadlock`] says what each thread waits for.
//!
//! # What is not modelled
//!
//! - An instruction that is not modelled is an error when the module is loaded; `tests/emulator/not_modelled.txt` lists
//!   them. im2col copies are among them.
//! - Matrix descriptors with a base offset are refused.
//! - `ex2`, `lg2`, `sin`, `cos`, `tanh` and the other approximations are rounded correctly; the hardware's are not.
//! - Of the functions that the driver defines there are `vprintf`, `__assertfail`, `malloc` and `free`. What kernels print is in
//!   [`GlobalMemory::take_output`].
//! - Clocks count warp instructions; they do not measure speed.
//!
//! # What a module cannot do
//!
//! Whatever the module and the launch are, the emulator returns a result or an error. It does not panic, and [`Limits`]
//! bounds the time and the memory that it takes on the host.
//!
//! ```
//! use cute_emulator::{GlobalMemory, Launch, Program};
//!
//! let ptx = "
//! .version 8.0
//! .target sm_90a
//! .address_size 64
//! .visible .entry increment(
//!     .param .u64 data
//! )
//! {
//!     .reg .b32 %r<3>;
//!     .reg .b64 %rd<3>;
//!     ld.param.u64 %rd0, [data];
//!     mov.u32 %r0, %tid.x;
//!     mul.wide.u32 %rd1, %r0, 4;
//!     add.u64 %rd2, %rd0, %rd1;
//!     ld.global.u32 %r1, [%rd2];
//!     add.u32 %r2, %r1, 1;
//!     st.global.u32 [%rd2], %r2;
//!     ret;
//! }
//! ";
//! let mut memory = GlobalMemory::new();
//! let data = memory.alloc(32 * 4, 16)?;
//! memory.write(data, &[7; 128])?;
//!
//! let program = Program::load(ptx)?;
//! let launch = Launch { block: [32, 1, 1], args: &[data.to_le_bytes().to_vec()], ..Launch::default() };
//! program.launch(&mut memory, "increment", &launch)?;
//!
//! let mut bytes = [0; 128];
//! memory.read(data, &mut bytes)?;
//! assert_eq!(bytes[..4], [8, 7, 7, 7]);
//! # Ok::<(), cute_emulator::EmulatorError>(())
//! ```

#![forbid(unsafe_code)]

mod arithmetic;
mod claim;
mod counts;
mod decode;
mod error;
mod exec;
mod launch;
mod limits;
mod memory;
mod numerics;
mod observed;
mod op;
mod program;
mod source;
mod special;
mod tensor_map;
mod trace;
mod variables;
mod windows;

pub use counts::{ByClass, Class, Counts, GlobalTraffic, SharedTraffic, Waits};
pub use error::{
    Absence, AllocError, Assertion, Disagreement, Earlier, EmulatorError, Endless, Fault,
    FaultKind, FreeError, GridRace, Inactive, LaunchProblem, Loop, MemberMask, MemoryError,
    Nearest, NotTogether, Other, OtherBox, OtherRegisters, OutsideTensor, Setmaxnreg, Site, Stuck,
    Thread, UndefinedValue,
};
pub use launch::{Checks, Extents, Launch, Policy, Schedule};
pub use limits::{Limits, OutOfHostMemory, OverLimit};
pub use memory::GlobalMemory;
pub use observed::Observed;
pub use program::{EntryInfo, Program};
pub use source::{Element, Place};
pub use tensor_map::{decode_tensor_map, encode_tensor_map};
pub use trace::Trace;
