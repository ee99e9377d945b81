//! Host tensors as [DLPack](https://dmlc.github.io/dlpack/latest/) has them, in which NumPy, PyTorch, JAX and others exchange
//! tensors without a copy. With the feature `dlpack`.
//!
//! A [`Dlpack`] owns its elements: a `Vec` that is handed to another library ([`Dlpack::into_raw`]), or a tensor that another library
//! has handed over ([`Dlpack::from_raw`]). [`HostTensor::with_dlpack`] lends a tensor for the time of a call.
//! ```
//! use cute_runtime::dlpack::Dlpack;
//! use cute_runtime::{Strided, layout};
//!
//! let data: Vec<f32> = (0..12u8).map(f32::from).collect();
//! let ours = Dlpack::new(data, Strided::<2>::of(&layout!((3,4):(4,1)))?)?;
//!
//! // What a Python capsule of the name "dltensor" holds, until somebody takes it.
//! let handed_over = ours.into_raw();
//!
//! // SAFETY: it was made above, and is used only here.
//! let theirs = unsafe { Dlpack::from_raw(handed_over) }?;
//! let matrix = theirs.tensor::<f32, 2>()?;
//! assert_eq!(matrix[[1, 2]], 6.0);
//! assert!(theirs.tensor::<i32, 2>().is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod abi;

pub use abi::{DLDataType, DLDevice, DLManagedTensor, DLTensor};

use std::fmt;
use std::ptr::{self, NonNull};
use std::slice;

use super::bounds::check_bounds;
use super::{HostError, HostLayout, HostTensor, HostTensorMut, Strided};
use crate::{Element, ElementType};

/// A tensor of DLPack on the host that owns its elements, and frees them when it is dropped.
pub struct Dlpack(NonNull<DLManagedTensor>);

/// Why a tensor of DLPack is no host tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DlpackError {
    /// A null pointer.
    #[error("the pointer to {what} is null")]
    Null {
        /// The missing target of the pointer.
        what: &'static str,
    },
    /// The elements are not in the host's memory.
    #[error("the tensor is on a device of type {device_type}, and the host's type is 1")]
    OtherDevice {
        /// The number that DLPack has for the kind of device.
        device_type: i32,
    },
    /// The elements are of another type.
    #[error("the elements are {found}, not {}", .asked.name())]
    OtherElement {
        /// The type of the tensor's elements.
        found: DLDataType,
        /// The type that was asked for.
        asked: ElementType,
    },
    /// The tensor has another number of axes.
    #[error("the tensor has {found} axes, not {asked}")]
    OtherRank {
        /// Axes of the tensor.
        found: i32,
        /// The number that was asked for.
        asked: usize,
    },
    /// Element 0 is not where the host can read an element of its type.
    #[error("element 0 is at address {address:#x}, which is no multiple of {align}")]
    Misaligned {
        /// The address.
        address: usize,
        /// The required alignment.
        align: usize,
    },
    /// The elements take more bytes than any memory has.
    #[error("{elements} elements of {bytes} bytes are more than memory has")]
    TooLarge {
        /// Elements from the first to the last in memory.
        elements: i64,
        /// Bytes of an element.
        bytes: usize,
    },
    /// The extents and strides are no layout.
    #[error(transparent)]
    Layout(#[from] HostError),
}

/// The target of a `Dlpack` that was made here: the tensor, and the memory of its extents and elements.
struct Owner<E> {
    managed: DLManagedTensor,
    _axes: Vec<i64>,
    _data: Vec<E>,
}

impl Dlpack {
    /// A tensor of the elements of a `Vec`.
    ///
    /// # Errors
    /// If a value of the layout is not an index of the elements ([`HostError::OutOfBounds`]).
    pub fn new<E: Element, const N: usize>(
        mut data: Vec<E>,
        layout: Strided<N>,
    ) -> Result<Self, HostError> {
        check_bounds(&layout, data.len())?;
        let mut axes = [layout.shape(), layout.stride()].concat();
        let dl_tensor = describe(data.as_mut_ptr(), &layout, axes.as_mut_ptr());
        let owner = Box::into_raw(Box::new(Owner {
            managed: DLManagedTensor {
                dl_tensor,
                manager_ctx: ptr::null_mut(),
                deleter: Some(delete::<E>),
            },
            _axes: axes,
            _data: data,
        }));
        // SAFETY: the box was just made, and nothing else points to it.
        let managed = unsafe {
            (*owner).managed.manager_ctx = owner.cast();
            NonNull::from(&mut (*owner).managed)
        };
        Ok(Self(managed))
    }

    /// Takes over a tensor that another library has made, and frees it when this value is dropped.
    ///
    /// # Safety
    /// `tensor` is null, or points to a tensor that is as DLPack demands, and that nobody else frees. From its first element in
    /// memory to its last, all memory is initialised, nobody writes to it while this value lives, and nobody reads it
    /// while a result of [`tensor_mut`](Self::tensor_mut) lives.
    ///
    /// # Errors
    /// [`DlpackError::Null`] if the pointer is null.
    pub unsafe fn from_raw(tensor: *mut DLManagedTensor) -> Result<Self, DlpackError> {
        let tensor = NonNull::new(tensor);
        tensor
            .map(Self)
            .ok_or(DlpackError::Null { what: "the tensor" })
    }

    /// Hands the tensor over, to somebody who calls its `deleter` once.
    pub fn into_raw(self) -> *mut DLManagedTensor {
        let tensor = self.0.as_ptr();
        std::mem::forget(self);
        tensor
    }

    /// The elements, to read.
    ///
    /// # Errors
    /// If the elements are not on the host, not of type `E`, or have no `N` axes, and [`HostError::Layout`] if there are none.
    pub fn tensor<E: Element, const N: usize>(
        &self,
    ) -> Result<HostTensor<'_, E, Strided<N>>, DlpackError> {
        let (first, len, layout) = self.elements::<E, N>()?;
        // SAFETY: `from_raw` demands that these elements are there, and `E` has a value for all bits.
        let data = unsafe { slice::from_raw_parts(first, len) };
        Ok(HostTensor::new(data, layout)?)
    }

    /// The elements, to write.
    ///
    /// # Errors
    /// The errors of [`tensor`](Self::tensor).
    pub fn tensor_mut<E: Element, const N: usize>(
        &mut self,
    ) -> Result<HostTensorMut<'_, E, Strided<N>>, DlpackError> {
        let (first, len, layout) = self.elements::<E, N>()?;
        // SAFETY: as above, and `self` is borrowed mutably, so that no other result is alive.
        let data = unsafe { slice::from_raw_parts_mut(first, len) };
        Ok(HostTensorMut::new(data, layout)?)
    }

    /// The first element in memory, the number of elements from there to the last, and the layout of coordinates in them.
    fn elements<E: Element, const N: usize>(
        &self,
    ) -> Result<(*mut E, usize, Strided<N>), DlpackError> {
        // SAFETY: `from_raw` demands that it points to a tensor.
        let tensor = unsafe { &self.0.as_ref().dl_tensor };
        if tensor.device.device_type != DLDevice::CPU.device_type {
            let device_type = tensor.device.device_type;
            return Err(DlpackError::OtherDevice { device_type });
        }
        if tensor.dtype != DLDataType::of(E::TYPE) {
            return Err(DlpackError::OtherElement {
                found: tensor.dtype,
                asked: E::TYPE,
            });
        }
        let (shape, strides) = axes(tensor)?;
        let at_zero = Strided::new(shape, strides, 0)?;
        let lowest = at_zero.lowest();
        let layout = Strided::new(shape, strides, -lowest)?;
        let elements = layout.highest() + 1;

        let bytes = size_of::<E>();
        let room = isize::MAX as i64 / bytes as i64;
        if elements > room {
            return Err(DlpackError::TooLarge { elements, bytes });
        }
        if tensor.data.is_null() {
            return Err(DlpackError::Null {
                what: "the elements",
            });
        }
        let zero = tensor
            .data
            .wrapping_byte_add(tensor.byte_offset as usize)
            .cast::<E>();
        if !zero.is_aligned() {
            return Err(DlpackError::Misaligned {
                address: zero.addr(),
                align: align_of::<E>(),
            });
        }
        Ok((
            zero.wrapping_offset(lowest as isize),
            elements as usize,
            layout,
        ))
    }
}

impl<E: Element, L: HostLayout> HostTensor<'_, E, L> {
    /// Calls a function with this tensor as a DLPack tensor, with an axis for each top-level mode. The tensor and its axes live
    /// until the function returns.
    ///
    /// With the feature `dlpack`.
    /// ```
    /// use cute_runtime::{HostTensor, layout};
    /// let data = [1.5f32; 12];
    /// let columns = HostTensor::new(&data, layout!((3,4):(1,3)))?;
    /// let axes = columns.with_dlpack::<2, _>(|tensor| (tensor.ndim, tensor.dtype.to_string()))?;
    /// assert_eq!(axes, (2, "f32".to_owned()));
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Strided::of`].
    pub fn with_dlpack<const N: usize, R>(
        &self,
        call: impl FnOnce(&DLTensor) -> R,
    ) -> Result<R, HostError> {
        let layout = Strided::<N>::of(&self.layout())?;
        check_bounds(&layout, self.data().len())?;
        let mut axes = [layout.shape(), layout.stride()];
        let data = self.data().as_ptr().cast_mut();
        Ok(call(&describe(data, &layout, axes.as_mut_ptr().cast())))
    }
}

/// The tensor at `data`. The array at `axes` has its extents, then its strides.
fn describe<E: Element, const N: usize>(
    data: *mut E,
    layout: &Strided<N>,
    axes: *mut i64,
) -> DLTensor {
    DLTensor {
        data: data.cast(),
        device: DLDevice::CPU,
        ndim: N as i32,
        dtype: DLDataType::of(E::TYPE),
        shape: axes,
        strides: axes.wrapping_add(N),
        byte_offset: layout.offset() as u64 * size_of::<E>() as u64,
    }
}

/// Extents and strides of a tensor. Without strides, its rows are one after the other.
fn axes<const N: usize>(tensor: &DLTensor) -> Result<([i64; N], [i64; N]), DlpackError> {
    if usize::try_from(tensor.ndim) != Ok(N) {
        return Err(DlpackError::OtherRank {
            found: tensor.ndim,
            asked: N,
        });
    }
    let Some(shape) = NonNull::new(tensor.shape) else {
        return Err(DlpackError::Null {
            what: "the extents",
        });
    };
    // SAFETY: `from_raw` demands that a tensor has as many extents as axes.
    let shape = unsafe { shape.cast::<[i64; N]>().read() };
    if let Some(strides) = NonNull::new(tensor.strides) {
        // SAFETY: `from_raw` demands as many strides as axes, if there are strides.
        return Ok((shape, unsafe { strides.cast::<[i64; N]>().read() }));
    }
    let mut strides = [1; N];
    for axis in (1..N).rev() {
        strides[axis - 1] = i64::saturating_mul(strides[axis], shape[axis]);
    }
    Ok((shape, strides))
}

/// Frees a tensor that `Dlpack::new` has made.
unsafe extern "C" fn delete<E>(tensor: *mut DLManagedTensor) {
    // SAFETY: the tensor is a field of an owner of elements of this type, and its context points to this owner.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Owner<E>>()) });
}

impl Drop for Dlpack {
    fn drop(&mut self) {
        let tensor = self.0.as_ptr();
        // SAFETY: `from_raw` demands that nobody else frees it.
        unsafe {
            if let Some(deleter) = (*tensor).deleter {
                deleter(tensor);
            }
        }
    }
}

impl fmt::Debug for Dlpack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: `from_raw` demands that it points to a tensor.
        unsafe { self.0.as_ref() }.dl_tensor.fmt(f)
    }
}
