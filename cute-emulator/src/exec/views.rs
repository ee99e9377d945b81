//! The tensors in global memory of a launch.

use crate::claim::{Arguments, List, Stride};
use crate::launch::Launch;

/// A tensor in global memory, as the arguments of a launch describe it.
pub(crate) struct Launched {
    /// The address of the first element.
    pub(crate) pointer: u64,
    /// Bytes of an element.
    pub(crate) bytes: u64,
    /// In elements.
    pub(crate) strides: Box<[u64]>,
    /// `None` if the launch does not give them.
    pub(crate) extents: Option<Box<[u64]>>,
}

/// The tensors of a launch with these bytes of parameters: one for each view or, for a list, one for each item.
pub(super) fn launched(
    Arguments { views, lists }: &Arguments,
    params: &[u8],
    launch: &Launch<'_>,
) -> Vec<Box<[Launched]>> {
    let parameter = |offset: u32, item: u64| {
        let offset = u64::from(offset) + item * size_of::<u64>() as u64;
        let bytes = params.get(offset as usize..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let launched = views.iter().map(|view| {
        let one = |item: u64, name: &str| {
            let strides = view.strides.iter().map(|stride| match stride {
                Stride::Known(stride) => *stride,
                Stride::Parameter(offset) => parameter(*offset, item),
            });
            let known = launch.extents.iter().find(|known| known.tensor == name);
            let known = known.filter(|known| known.extents.len() == view.strides.len());
            Launched {
                pointer: parameter(view.pointer, item),
                bytes: view.bytes,
                strides: strides.collect(),
                extents: known.map(|known| known.extents.as_slice().into()),
            }
        };
        match view.list {
            None => [one(0, &view.name)].into(),
            Some(list) => (0..length(&lists[list], params))
                .map(|item| one(item, &format!("{}[{item}]", view.name)))
                .collect(),
        }
    });
    launched.collect()
}

/// How many items a list has in a launch with these bytes of parameters; at most the number of bytes.
pub(super) fn length(list: &List, params: &[u8]) -> u64 {
    let bytes = params.get(list.length as usize..);
    let bytes = bytes.and_then(<[u8]>::first_chunk);
    let length = bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes).into());
    length.min(params.len() as u64)
}
