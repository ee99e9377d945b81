//! Calls of the functions of `Device::emulator_rewriting`, which may launch kernels themselves.

use std::cell::RefCell;

use crate::device::cache::Id;
use crate::device::image::Image;
use crate::{Error, LaunchRule};

thread_local! {
    /// The kernels whose PTX this thread is rewriting, the innermost last.
    static KERNELS: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// While this value lives, its thread rewrites the PTX of a kernel.
pub(super) struct Rewriting(());

impl Rewriting {
    /// An error if the rewriting function of the kernel launches or compiles this kernel: that would need the function's result.
    pub(super) fn begin(image: &Image) -> Result<Self, Error> {
        KERNELS.with_borrow_mut(|kernels| {
            if kernels.contains(&image.id) {
                return Err(Error::Launch {
                    kernel: image.name,
                    rule: LaunchRule::Rewriting,
                });
            }
            kernels.push(image.id.clone());
            Ok(Rewriting(()))
        })
    }

    pub(super) fn result_of<T>(self, rewrite: impl FnOnce() -> T) -> T {
        rewrite()
    }
}

impl Drop for Rewriting {
    fn drop(&mut self) {
        KERNELS.with_borrow_mut(Vec::pop);
    }
}
