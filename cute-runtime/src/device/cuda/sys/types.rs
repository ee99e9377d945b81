//! The driver's types that the [functions](super::functions) take, as `cuda.h` declares them, and the [constants](super::constants).
//!
//! An enumeration of C is a number here: a driver can return values that are newer than this crate. The names are the driver's own.

use super::constants::driver_constants;
use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! handles {
    ($($name:ident),*) => { $(
        #[doc = concat!("A `", stringify!($name), "` of the driver.")]
        pub(crate) type $name = *mut c_void;
    )* };
}

handles! { CUcontext, CUevent, CUfunction, CUgraph, CUgraphExec, CUmodule, CUstream }

pub(crate) type CUdevice = c_int;
pub(crate) type CUdeviceptr = u64;
pub(crate) type CUdevice_attribute = c_uint;
pub(crate) type CUfunction_attribute = c_uint;
pub(crate) type CUjit_option = c_uint;
pub(crate) type CUlaunchAttributeID = c_uint;
pub(crate) type CUresult = c_uint;
pub(crate) type CUstreamCaptureMode = c_uint;
pub(crate) type CUstream_flags = c_uint;
pub(crate) type CUtensorMapDataType = c_uint;
pub(crate) type CUtensorMapFloatOOBfill = c_uint;
pub(crate) type CUtensorMapInterleave = c_uint;
pub(crate) type CUtensorMapL2promotion = c_uint;
pub(crate) type CUtensorMapSwizzle = c_uint;

macro_rules! constants {
    ($($ty:ident { $($name:ident = $value:literal),* $(,)? })*) => {
        $($(pub(crate) const $name: $ty = $value;)*)*
    };
}

driver_constants! { constants }

/// A flag of `cuMemHostAlloc`: the device knows the memory, too.
pub(crate) const CU_MEMHOSTALLOC_DEVICEMAP: c_uint = 2;

/// What `cuLaunchKernelEx` is told of a launch.
#[repr(C)]
pub(crate) struct CUlaunchConfig {
    pub(crate) gridDimX: c_uint,
    pub(crate) gridDimY: c_uint,
    pub(crate) gridDimZ: c_uint,
    pub(crate) blockDimX: c_uint,
    pub(crate) blockDimY: c_uint,
    pub(crate) blockDimZ: c_uint,
    pub(crate) sharedMemBytes: c_uint,
    pub(crate) hStream: CUstream,
    pub(crate) attrs: *mut CUlaunchAttribute,
    pub(crate) numAttrs: c_uint,
}

/// An attribute of a launch.
#[repr(C)]
pub(crate) struct CUlaunchAttribute {
    pub(crate) id: CUlaunchAttributeID,
    pub(crate) pad: [c_char; 4],
    pub(crate) value: CUlaunchAttributeValue,
}

/// The value of an attribute. The driver reads the field that the attribute's number selects.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union CUlaunchAttributeValue {
    /// The size of the union in C. It is aligned to 8 bytes there, as pointers in other attributes are.
    pub(crate) pad: [u64; 8],
    pub(crate) clusterDim: [c_uint; 3],
    pub(crate) programmaticStreamSerializationAllowed: c_int,
}

/// A tensor map in the hardware's encoding.
#[repr(C, align(128))]
pub(crate) struct CUtensorMap {
    pub(crate) opaque: [u64; 16],
}
