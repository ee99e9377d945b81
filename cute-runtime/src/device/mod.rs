//! Devices, memory and launches.

mod backend;
mod cache;
mod capture;
mod compiled;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod compiling;
#[cfg(feature = "cuda")]
mod cuda;
mod element;
#[cfg(feature = "emulator")]
mod emulator;
mod error;
mod fact;
mod float8;
mod foreign;
mod graph;
mod handle;
mod held;
mod host_buffer;
mod image;
#[cfg(feature = "instantiate")]
mod instantiate;
mod kernel;
mod launch;
mod lock;
#[doc(hidden)]
pub mod logging;
mod maps;
mod memory;
mod order;
mod parameters;
mod prepare;
mod report;
mod stream;
mod tensor;
mod tensor_map;

pub use compiled::Compiled;
pub use cute_chip::tma::{L2Promotion, OobFill};
pub use cute_chip::{SwizzleMode, Target};
/// Counts and traces of launches on the emulator.
#[cfg(feature = "emulator")]
pub use cute_emulator::{ByClass, Class, Counts, GlobalTraffic, SharedTraffic, Trace, Waits};
pub use element::{Element, ElementType, bf16, e4m3, e5m2, f16};
#[cfg(feature = "emulator")]
pub use emulator::{Checks, EmulatorOptions, Policy, ScheduleFailure};
pub use error::{
    ArgumentRule, AssertionFailure, DriverError, Error, ForeignRule, LaunchRule, ViewError,
};
pub use fact::{Comparison, Fact, Named, Term};
pub use foreign::SharedTensor;
pub use graph::Graph;
pub use handle::Device;
pub use held::{MemoryHeld, MemoryPlace};
pub use host_buffer::HostBuffer;
pub use kernel::{Constant, Grid, Kernel, Param, Piece, Report, TmaRecipe};
pub use memory::Buffer;
pub use prepare::Instance;
pub use stream::{Event, Stream};
pub use tensor::{Tensor, TensorView, TensorViewMut};
#[cfg(feature = "instantiate")]
pub use {error::Mistake, image::Image, instantiate::Instantiate};

/// The items that expansions of the macros use.
pub(crate) mod private {
    pub use super::image::Image;
    #[cfg(feature = "instantiate")]
    pub use super::instantiate::{
        Constant, Struct, Text, Values, launch_instance, launch_safe_instance,
    };
    pub use super::kernel::Types;
    pub use super::launch::{Argument, launch, launch_safe, no_instance};
}
