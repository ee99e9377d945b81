//! Loading the driver's library, and turning its error codes into errors.

use std::ffi::CStr;

use super::sys::{self, CUDA_SUCCESS, CUresult};
use crate::{DriverError, Error};

/// Loads and initialises the driver. It must have succeeded before any other driver function is called.
pub(super) fn init() -> Result<(), Error> {
    sys::load()?;
    // SAFETY: the call takes no pointers, and may be made any number of times.
    check("cuInit", unsafe { sys::cuInit(0) })?;
    Ok(())
}

/// Turns the result code of the driver function `call` into a `Result`.
pub(super) fn check(call: &'static str, code: CUresult) -> Result<(), DriverError> {
    if code == CUDA_SUCCESS {
        return Ok(());
    }
    let mut name = std::ptr::null();
    // SAFETY: `name` is valid for the write of a pointer.
    let named = unsafe { sys::cuGetErrorName(code, &raw mut name) };
    let mut text = std::ptr::null();
    // SAFETY: `text` is valid for the write of a pointer.
    let described = unsafe { sys::cuGetErrorString(code, &raw mut text) };
    let string = |answer: CUresult, pointer: *const std::ffi::c_char| {
        if answer != CUDA_SUCCESS || pointer.is_null() {
            return "unknown".to_string();
        }
        // SAFETY: on success the driver points to a NUL-terminated string of static lifetime.
        unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned()
    };
    Err(DriverError {
        call,
        code: code.0,
        name: string(named, name),
        text: string(described, text),
    })
}
