//! The tensors in global memory of a launch.

use crate::claim::{Stride, View};
use crate::launch::Launch;

/// A tensor in global memory, as the arguments of a launch describe it.
pub(crate) struct Launched {
    /// The address of the first element.
    pub(crate) pointer: u64,
    /// Bytes of an element.
    pub(crate) bytes: u64,
    /// In elements.
    pub(crate) strides: Box<[u64]>,
    /// `None` if the launch does not say them.
    pub(crate) extents: Option<Box<[u64]>>,
}

/// The tensors of a launch with these bytes of parameters.
pub(super) fn launched(views: &[View], params: &[u8], launch: &Launch<'_>) -> Vec<Launched> {
    let parameter = |offset: u32| {
        let bytes = params.get(offset as usize..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let launched = views.iter().map(|view| {
        let strides = view.strides.iter().map(|stride| match stride {
            Stride::Known(stride) => *stride,
            Stride::Parameter(offset) => parameter(*offset),
        });
        let known = launch
            .extents
            .iter()
            .find(|known| known.tensor == view.name);
        let known = known.filter(|known| known.extents.len() == view.strides.len());
        Launched {
            pointer: parameter(view.pointer),
            bytes: view.bytes,
            strides: strides.collect(),
            extents: known.map(|known| known.extents.as_slice().into()),
        }
    });
    launched.collect()
}
