//! The driver's library: whether it is there, and what its answers mean.

use std::ffi::CStr;

use cudarc::driver::sys::{self, CUresult};

use crate::{DriverError, Error};

/// Every driver function that this crate calls. cudarc panics at the call of one that the library lacks; looked up here
/// beforehand, it is an error.
const SYMBOLS: &[&str] = &[
    "cuCtxPopCurrent_v2",
    "cuCtxPushCurrent_v2",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRetain",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncGetParamInfo",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernelEx",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoD_v2",
    "cuMemsetD8_v2",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuTensorMapEncodeTiled",
];

/// Loads and initialises the driver. To be called, with success, before any other driver function.
pub(super) fn init() -> Result<(), Error> {
    // SAFETY: opens libcuda and closes it again; its initialisers are those of the CUDA driver.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    // SAFETY: the library was there a moment ago, so that this does not panic; it stays loaded for good.
    let library = unsafe { sys::culib() };
    for &symbol in SYMBOLS {
        // SAFETY: the symbol is only looked up, never called through this pointer.
        if unsafe { library.get::<*const ()>(symbol.as_bytes()) }.is_err() {
            return Err(Error::DriverSymbol { symbol });
        }
    }
    // SAFETY: takes no pointers, and may be called any number of times.
    check("cuInit", unsafe { sys::cuInit(0) })?;
    Ok(())
}

/// A driver call's answer as a `Result`.
pub(super) fn check(call: &'static str, code: CUresult) -> Result<(), DriverError> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut name = std::ptr::null();
    // SAFETY: the pointer is written before the call returns.
    let named = unsafe { sys::cuGetErrorName(code, &raw mut name) };
    let mut text = std::ptr::null();
    // SAFETY: as above.
    let described = unsafe { sys::cuGetErrorString(code, &raw mut text) };
    let string = |answer: CUresult, pointer: *const std::ffi::c_char| {
        if answer != CUresult::CUDA_SUCCESS || pointer.is_null() {
            return "unknown".to_string();
        }
        // SAFETY: on success the driver points to a NUL-terminated string of static lifetime.
        unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned()
    };
    Err(DriverError {
        call,
        code: code as u32,
        name: string(named, name),
        text: string(described, text),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_driver_function_called_is_looked_up_beforehand() {
        let sources = [
            include_str!("mod.rs"),
            include_str!("context.rs"),
            include_str!("driver.rs"),
            include_str!("event.rs"),
            include_str!("function.rs"),
            include_str!("memory.rs"),
            include_str!("module.rs"),
            include_str!("tensor_map.rs"),
        ];
        let called: BTreeSet<&str> = sources
            .iter()
            .flat_map(|source| source.split("sys::").skip(1))
            .filter(|rest| rest.starts_with("cu") && rest.as_bytes()[2].is_ascii_uppercase())
            .filter_map(|rest| rest.split_once('(').map(|(name, _)| name))
            .collect();
        assert_eq!(called, super::SYMBOLS.iter().copied().collect());
    }
}
