//! The table of the CUDA driver's functions that `cute-runtime` calls, beside cudarc's bindings, which are made of `cuda.h`. It is
//! compared here since this crate's benches and examples need cudarc, and no library does.

#![allow(
    non_camel_case_types,
    non_snake_case,
    dead_code,
    reason = "the names are the driver's own"
)]

#[path = "../../cute-runtime/src/device/cuda/sys/constants.rs"]
mod constants;
#[path = "../../cute-runtime/src/device/cuda/sys/functions.rs"]
mod functions;
#[macro_use]
#[path = "../../cute-runtime/src/device/cuda/sys/types.rs"]
mod types;

use cudarc::driver::sys;
use cute_runtime::{ElementType, SwizzleMode};
use std::mem::offset_of;

/// Each function has cudarc's signature, or this does not compile.
mod signatures {
    use cudarc::driver::sys::*;
    use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};

    macro_rules! same {
        ($($name:ident($($argument:ident: $ty:ty),*) since $since:literal;)*) => {
            $(const _: unsafe fn($($ty),*) -> CUresult = $name;)*
        };
    }

    super::functions::driver_functions! { same }
}

#[test]
fn constants_have_the_values_of_the_bindings() {
    macro_rules! same {
        ($($ty:ident { $($name:ident = $value:literal),* $(,)? })*) => {
            $($(assert_eq!(types::$name.0, sys::$ty::$name as u32, stringify!($name));)*)*
        };
    }
    constants::driver_constants! { same }
    assert_eq!(
        types::CU_MEMHOSTALLOC_PORTABLE,
        sys::CU_MEMHOSTALLOC_PORTABLE
    );
    assert_eq!(
        types::CU_MEMHOSTALLOC_DEVICEMAP,
        sys::CU_MEMHOSTALLOC_DEVICEMAP
    );
}

#[test]
fn types_have_the_layouts_of_the_bindings() {
    macro_rules! same {
        ($($name:ident { $($field:ident)* })*) => { $(
            assert_eq!(size_of::<types::$name>(), size_of::<sys::$name>(), stringify!($name));
            assert_eq!(align_of::<types::$name>(), align_of::<sys::$name>(), stringify!($name));
            $(assert_eq!(
                offset_of!(types::$name, $field),
                offset_of!(sys::$name, $field),
                concat!(stringify!($name), "::", stringify!($field))
            );)*
        )* };
    }
    same! {
        CUlaunchConfig {
            gridDimX gridDimY gridDimZ blockDimX blockDimY blockDimZ sharedMemBytes hStream attrs numAttrs
        }
        CUlaunchAttribute { id pad value }
        CUlaunchAttributeValue { clusterDim programmaticStreamSerializationAllowed }
        CUmemPoolProps { allocType handleTypes location win32SecurityAttributes maxSize usage reserved }
        CUmemLocation { id }
        CUtensorMap { opaque }
        CUdevice {}
        CUdeviceptr {}
    }
    macro_rules! same_size {
        ($($kind:ident { $($name:ident)* })*) => {
            same! { $($($name {})*)* }
        };
    }
    driver_types! { same_size }
}

/// The tables of chips have the driver's numbers of element types and of swizzles.
#[test]
fn tensor_maps_have_the_numbers_of_the_bindings() {
    use sys::CUtensorMapDataType::*;
    use sys::CUtensorMapSwizzle::*;
    let name = |element: &ElementType| {
        Some(match element.name() {
            "u8" | "i8" | "e4m3" | "e5m2" => CU_TENSOR_MAP_DATA_TYPE_UINT8,
            "u16" | "i16" => CU_TENSOR_MAP_DATA_TYPE_UINT16,
            "u32" => CU_TENSOR_MAP_DATA_TYPE_UINT32,
            "i32" => CU_TENSOR_MAP_DATA_TYPE_INT32,
            "u64" => CU_TENSOR_MAP_DATA_TYPE_UINT64,
            "i64" => CU_TENSOR_MAP_DATA_TYPE_INT64,
            "f16" => CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            "bf16" => CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            "f32" => CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            "tf32" => CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
            "f64" => CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
            _ => return None,
        })
    };
    for element in ElementType::ALL {
        let expected = name(element).map(|it| it as u32);
        assert_eq!(element.tensor_map(), expected, "{element}");
    }
    let swizzles = [
        (SwizzleMode::None, CU_TENSOR_MAP_SWIZZLE_NONE),
        (SwizzleMode::B32, CU_TENSOR_MAP_SWIZZLE_32B),
        (SwizzleMode::B64, CU_TENSOR_MAP_SWIZZLE_64B),
        (SwizzleMode::B128, CU_TENSOR_MAP_SWIZZLE_128B),
    ];
    for (mode, number) in swizzles {
        assert_eq!(mode.tensor_map(), number as u32, "{mode:?}");
    }
}
