//! The context that driver calls work in. Each thread has a current one, which a guard sets and puts back.

use std::marker::PhantomData;
use std::ptr;

use cudarc::driver::sys::{self, CUcontext, CUdevice};

use super::driver::check;
use crate::Error;

/// The primary context of a device. It is never released, so that a handle is valid as long as the process runs.
#[derive(Clone, Copy)]
pub(super) struct Context(CUcontext);

// SAFETY: a CUcontext is a handle which the driver lets any thread use.
unsafe impl Send for Context {}
// SAFETY: as above; the driver's functions are thread-safe.
unsafe impl Sync for Context {}

/// The calling thread's current context, until this is dropped: then the one before is current again.
///
/// Driver calls that need a context are methods of this guard or take a reference to it.
pub(super) struct Entered {
    context: Context,
    /// Current contexts are the thread's own: the guard stays on it.
    thread: PhantomData<*const ()>,
}

impl Context {
    pub(super) fn retain(device: CUdevice) -> Result<Self, Error> {
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is valid for the write.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&raw mut context, device)
        })?;
        Ok(Context(context))
    }

    pub(super) fn enter(self) -> Result<Entered, Error> {
        // SAFETY: the context is alive.
        check("cuCtxPushCurrent", unsafe {
            sys::cuCtxPushCurrent_v2(self.0)
        })?;
        Ok(Entered {
            context: self,
            thread: PhantomData,
        })
    }
}

impl Entered {
    pub(super) fn context(&self) -> Context {
        self.context
    }

    /// Waits for everything that was started in the context, on any stream and by any thread.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: takes no pointers.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })?;
        Ok(())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // Guards end in the reverse of their order, so the top of the thread's stack is what this one put there. A failure
        // has nobody to go to, and nothing else could undo the push.
        // SAFETY: the pointer is valid for the write.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}
