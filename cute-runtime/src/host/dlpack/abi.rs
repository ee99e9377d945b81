//! The structs of DLPack, as its header `dlpack/dlpack.h` declares them for C. Their names are the header's.
//!
//! DLPack's structs are written down here, 60 lines that do not change. A crate for them has 11 000 lines and a public interface that
//! breaks with each minor version. Only layouts of one stride a mode are exchanged, as a `Strided`; a view of `ndarray` with gaps is
//! refused, since other code may have borrowed the memory between the elements.

use std::ffi::c_void;
use std::fmt;

use crate::ElementType;

/// Where a tensor's memory is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// The kind of device: 1 is the host, 2 a GPU of CUDA.
    pub device_type: i32,
    /// The number of the device; 0 for the host.
    pub device_id: i32,
}

/// The type of a tensor's elements.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// The kind of number: 0 signed, 1 unsigned, 2 floating point, 4 bfloat16, 10 and 12 e4m3 and e5m2, 17 e2m1.
    pub code: u8,
    /// Bits of a number.
    pub bits: u8,
    /// Numbers of an element, 1 except for vectors.
    pub lanes: u16,
}

/// A tensor that somebody else owns.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// The memory. Element 0 is `byte_offset` bytes from here.
    pub data: *mut c_void,
    /// Where the memory is.
    pub device: DLDevice,
    /// Number of axes.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// `ndim` extents.
    pub shape: *mut i64,
    /// `ndim` strides, in elements. Null before DLPack 1.2 if the last axis is contiguous and no element is left out.
    pub strides: *mut i64,
    /// Bytes from `data` to element 0.
    pub byte_offset: u64,
}

/// A tensor with the function that frees it.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The owner's data, for the function that frees the tensor.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and this struct. Called once.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

impl DLDevice {
    /// Memory of the host.
    pub const CPU: Self = Self {
        device_type: 1,
        device_id: 0,
    };
}

impl DLDataType {
    /// The type of DLPack for elements of this type.
    /// ```
    /// use cute_runtime::{ElementType, dlpack::DLDataType};
    /// let bf16 = DLDataType { code: 4, bits: 16, lanes: 1 };
    /// assert_eq!(DLDataType::of(ElementType::BF16), bf16);
    /// let e2m1 = DLDataType { code: 17, bits: 4, lanes: 1 };
    /// assert_eq!(DLDataType::of(ElementType::E2M1), e2m1);
    /// ```
    pub const fn of(element: ElementType) -> Self {
        use ElementType::*;
        let code = match element {
            I4 | I8 | I16 | I32 | I64 => 0,
            U4 | U8 | U16 | U32 | U64 => 1,
            F16 | F32 | F64 | TF32 => 2,
            BF16 => 4,
            E4M3 => 10,
            E5M2 => 12,
            E2M1 => 17,
        };
        Self {
            code,
            bits: element.bits() as u8,
            lanes: 1,
        }
    }
}

/// The name of the type, such as `bf16`, if it is an element type of this crate; else its three numbers.
impl fmt::Display for DLDataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ElementType::ALL.iter().find(|&&ty| Self::of(ty) == *self) {
            Some(ty) => f.write_str(ty.name()),
            None => write!(
                f,
                "{} of {} bits with the code {}",
                self.lanes, self.bits, self.code
            ),
        }
    }
}

// The sizes of the structs in C where pointers have 64 bits.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    size_of::<DLTensor>() == 48
        && size_of::<DLManagedTensor>() == 64
        && std::mem::offset_of!(DLTensor, dtype) == 20
        && std::mem::offset_of!(DLTensor, byte_offset) == 40
);
