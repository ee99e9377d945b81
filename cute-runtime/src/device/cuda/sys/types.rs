//! The driver's types that the [functions](super::functions) take, as `cuda.h` declares them, and the [constants](super::constants).
//!
//! A handle points to a type of its own. An enumeration of C is a number in a type of its own: a driver can return values that are newer
//! than this crate. The names are the driver's own.

use super::constants::driver_constants;
use std::ffi::{c_char, c_int, c_uint, c_ushort, c_void};

/// The handles and the enumerations, a table for a macro.
macro_rules! driver_types {
    ($with:ident) => {
        $with! {
            handles { CUcontext CUevent CUfunction CUgraph CUgraphExec CUlibrary CUmemoryPool CUmodule CUstream }
            enumerations {
                CUdevice_attribute CUevent_flags CUfunction_attribute CUjit_option CUlaunchAttributeID CUlibraryOption CUmemAllocationType
                CUmemLocationType CUmemPool_attribute CUmemorytype CUpointer_attribute CUresult CUstreamCaptureMode
                CUstreamCaptureStatus CUstream_flags
                CUtensorMapDataType CUtensorMapFloatOOBfill CUtensorMapInterleave CUtensorMapL2promotion CUtensorMapSwizzle
            }
        }
    };
}

macro_rules! declare {
    (handles { $($handle:ident)* } enumerations { $($enumeration:ident)* }) => {
        $(pub(crate) type $handle = *mut pointed::$handle;)*

        /// What handles point to, which only the driver knows.
        mod pointed {
            $(
                #[repr(C)]
                pub(crate) struct $handle {
                    _private: [u8; 0],
                }
            )*
        }

        $(
            #[repr(transparent)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub(crate) struct $enumeration(pub(crate) c_uint);
        )*
    };
}

driver_types! { declare }

pub(crate) type CUdevice = c_int;
pub(crate) type CUdeviceptr = u64;

macro_rules! constants {
    ($($ty:ident { $($name:ident = $value:literal),* $(,)? })*) => {
        $($(pub(crate) const $name: $ty = $ty($value);)*)*
    };
}

driver_constants! { constants }

/// A flag of `cuMemHostAlloc`, by a `#define`: every context knows the memory.
pub(crate) const CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;
/// A flag of `cuMemHostAlloc`, by a `#define`: the device knows the memory, too.
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

/// What a pool of memory is of.
#[repr(C)]
pub(crate) struct CUmemPoolProps {
    pub(crate) allocType: CUmemAllocationType,
    pub(crate) handleTypes: c_uint,
    pub(crate) location: CUmemLocation,
    pub(crate) win32SecurityAttributes: *mut c_void,
    pub(crate) maxSize: usize,
    pub(crate) usage: c_ushort,
    pub(crate) reserved: [u8; 54],
}

#[repr(C)]
pub(crate) struct CUmemLocation {
    pub(crate) r#type: CUmemLocationType,
    pub(crate) id: c_int,
}

/// A tensor map in the hardware's encoding.
#[repr(C, align(128))]
pub(crate) struct CUtensorMap {
    pub(crate) opaque: [u64; 16],
}
