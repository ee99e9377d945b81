//! The facade.
// Devices, memory, launches.
mod cuda;
mod device;
mod element;
mod emulator;
mod error;
mod kernel;
mod launch;
mod memory;
mod tensor;
mod tensor_map;

pub use cute_algebra::SwizzleMode;
pub use device::{Compiled, Device};
pub use element::{Element, ElementType, bf16, f16};
pub use error::{ArgumentRule, DriverError, Error, LaunchRule, ViewError};
pub use kernel::{Grid, Kernel, L2Promotion, OobFill, Param, TmaRecipe};
pub use memory::Buffer;
pub use tensor::{Tensor, TensorView, TensorViewMut};

/// What expansions name. No part of the public interface: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::launch::{Argument, launch};
}
