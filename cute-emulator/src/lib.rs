//! Runs PTX modules on the CPU, as strictly as the memory model allows.
//!
//! The emulator reads the same PTX text that the driver gets. It models warps and divergence, shared memory and clusters,
//! mbarriers, TMA, `wgmma` with the tensor cores' published numerics, and the async proxy. It tracks the order of events, so a
//! missing wait or fence is an error under every [`Schedule`]. The error names the line of the PTX and the schedule and, if the PTX
//! gives them, the source location and the tensor. Equal schedules give equal runs.
//!
//! # What is reported
//!
//! [`FaultKind`] is the full list. The main kinds are:
//!
//! - accesses out of bounds or misaligned, and accesses outside the tensor that the PTX names;
//! - reads of memory that was never written, and uses of values that PTX leaves undefined;
//! - races in shared and global memory between threads, also of one warp;
//! - accesses of launches and copies on two [streams](GlobalMemory::add_stream) that conflict and that no event orders;
//! - uses of bytes that a copy is still writing, and writes of bytes that a wgmma, a bulk store or a copy is still reading;
//! - a CTA that ends before such reads and writes;
//! - reads by the async proxy of generic writes without a proxy fence;
//! - uses of registers that a wgmma still uses, and a missing `wgmma.fence`;
//! - mbarriers that are initialised twice, used as data, or counted wrongly;
//! - lanes or warps that are missing at an instruction that they must execute together.
//!
//! [`EmulatorError::Deadlock`] gives the reason why each thread waits.
//!
//! # What is not modelled
//!
//! - An instruction that is not modelled is an error when the module is loaded; `tests/emulator/not_modelled.txt` lists
//!   them. im2col copies are among them.
//! - Matrix descriptors with a base offset are refused.
//! - `ex2`, `lg2`, `sin`, `cos`, `tanh` and the other approximations are rounded correctly, unlike on hardware.
//! - The modelled driver functions are `vprintf`, `__assertfail`, `malloc` and `free`. [`GlobalMemory::take_output`] returns the
//!   text that kernels print.
//! - Launches run one after the other, in the order of the calls. A kernel that waits for one that is launched later does not end.
//! - Clocks count warp instructions; they do not measure speed.
//!
//! # What a module cannot do
//!
//! For every module and launch, the emulator returns a result or an error. It does not panic, and [`Limits`] bounds the host's time
//! and memory.
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

mod access;
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

pub use access::clock::Point;
pub use counts::{ByClass, Counts, GlobalTraffic, SharedTraffic, Waits};
pub use cute_ptx::claims::Group;
pub use cute_ptx::table::Class;
pub use error::{
    Absence, AllocError, Assertion, Disagreement, Earlier, EmulatorError, Endless, Fault,
    FaultKind, FreeError, GridRace, HostWork, Inactive, Later, LaunchProblem, Loop, MemberMask,
    MemoryError, Nearest, NotTogether, Other, OtherBox, OtherRegisters, OutsideTensor, Setmaxnreg,
    Site, StreamRace, Stuck, Thread, UndefinedValue, Work,
};
pub use launch::{Checks, Extents, Launch, Policy, Schedule};
pub use limits::{Limits, OutOfHostMemory, OverLimit};
pub use memory::GlobalMemory;
pub use observed::Observed;
pub use program::{EntryInfo, Program};
pub use source::{Element, Place};
pub use tensor_map::{decode_tensor_map, encode_tensor_map};
pub use trace::Trace;
