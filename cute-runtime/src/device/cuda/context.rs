//! The context in which driver calls work: a guard makes it the thread's current context and restores the one before.
//!
//! A context is current while a guard lives, and driver calls that need a context take the guard. So a thread that uses CUDA in another
//! way has its own context back afterwards.

use std::marker::PhantomData;
use std::ptr;

use super::driver::check;
use super::sys::{self, CUcontext, CUdevice};
use crate::Error;

/// A context: the primary one of a device, which is never released, so that it is valid until the process ends, or one of others, which
/// lives as long as the owner that the GPU keeps. A copy is not used after the GPU.
#[derive(Clone, Copy)]
pub(super) struct Context(CUcontext);

// SAFETY: a CUcontext is a handle, and the driver allows any thread to use it.
unsafe impl Send for Context {}
// SAFETY: as above, and the driver's functions may be called from several threads at the same time.
unsafe impl Sync for Context {}

/// A guard: while it lives, `context` is the calling thread's current context. Its drop restores the one before.
///
/// Driver calls that need a current context are methods of this guard or take a reference to it.
pub(super) struct Entered {
    context: Context,
    /// Makes the guard neither `Send` nor `Sync`: the current context belongs to one thread.
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

    /// A context of others.
    ///
    /// # Safety
    /// It is alive as long as the value and its copies are used.
    pub(super) unsafe fn foreign(context: CUcontext) -> Self {
        Context(context)
    }

    /// Whether the primary context of a device is active.
    pub(super) fn is_primary_active(device: CUdevice) -> Result<bool, Error> {
        let (mut flags, mut active) = (0, 0);
        // SAFETY: the pointers are valid for the writes.
        check("cuDevicePrimaryCtxGetState", unsafe {
            sys::cuDevicePrimaryCtxGetState(device, &raw mut flags, &raw mut active)
        })?;
        Ok(active != 0)
    }

    /// Whether this is the context of the driver's handle.
    pub(super) fn is(self, context: CUcontext) -> bool {
        self.0 == context
    }

    pub(super) fn enter(self) -> Result<Entered, Error> {
        // SAFETY: the context is alive, as the type says.
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

    /// The device of the context.
    pub(super) fn device(&self) -> Result<CUdevice, Error> {
        let mut device = 0;
        // SAFETY: the pointer is valid for the write.
        check("cuCtxGetDevice", unsafe {
            sys::cuCtxGetDevice(&raw mut device)
        })?;
        Ok(device)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // Guards are dropped in the reverse order of their creation, so the top of the thread's stack is the context that this
        // guard pushed. A failure is ignored: a drop cannot return it, and no other call could undo the push.
        // SAFETY: the pointer is valid for the write.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}
