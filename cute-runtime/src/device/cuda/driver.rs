//! Loading the driver's library, and turning its error codes into errors.

use std::ffi::CStr;

use cudarc::driver::sys::{self, CUresult};

use crate::{DriverError, Error};

/// Every driver function that this crate calls. cudarc panics when a function that the library lacks is called, so `init` looks
/// each of them up first and returns an error for a missing one.
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
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuInit",
    "cuLaunchKernelEx",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostGetDevicePointer_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoD_v2",
    "cuMemsetD8_v2",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuOccupancyMaxActiveClusters",
    "cuStreamBeginCapture_v2",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamEndCapture",
    "cuTensorMapEncodeTiled",
];

/// Loads and initialises the driver. It must have succeeded before any other driver function is called.
pub(super) fn init() -> Result<(), Error> {
    // SAFETY: the call opens libcuda and closes it again. That runs the library's initialisers, which are NVIDIA's own and have
    // no requirements.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    // SAFETY: the library was loadable a moment ago, so the call does not panic. The library is never unloaded, so the
    // reference stays valid.
    let library = unsafe { sys::culib() };
    for &symbol in SYMBOLS {
        // SAFETY: the symbol is only looked up. The pointer is not used, so its type does not matter.
        if unsafe { library.get::<*const ()>(symbol.as_bytes()) }.is_err() {
            return Err(Error::DriverSymbol { symbol });
        }
    }
    // SAFETY: the call takes no pointers, and may be made any number of times.
    check("cuInit", unsafe { sys::cuInit(0) })?;
    Ok(())
}

/// Turns the result code of the driver function `call` into a `Result`.
pub(super) fn check(call: &'static str, code: CUresult) -> Result<(), DriverError> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut name = std::ptr::null();
    // SAFETY: `name` is valid for the write of a pointer.
    let named = unsafe { sys::cuGetErrorName(code, &raw mut name) };
    let mut text = std::ptr::null();
    // SAFETY: `text` is valid for the write of a pointer.
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
            include_str!("clusters.rs"),
            include_str!("context.rs"),
            include_str!("driver.rs"),
            include_str!("event.rs"),
            include_str!("function.rs"),
            include_str!("graph.rs"),
            include_str!("memory.rs"),
            include_str!("module.rs"),
            include_str!("report.rs"),
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
