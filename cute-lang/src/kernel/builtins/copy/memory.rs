//! Where the values of a fragment lie in a tensor.

use crate::kernel::access::address::Addresses;
use crate::kernel::builtins::copy::options::Options;
use crate::kernel::builtins::copy::part::Part;
use crate::kernel::builtins::copy::partition::{check_elements, partition};
use crate::kernel::builtins::copy::vector::WIDEST;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Fragment, Tensor};

use syn::Result;

/// The values of a fragment in memory.
#[derive(Clone)]
pub(super) enum Memory {
    /// In shared memory: the tensor, its addresses, the bytes of an element, and the value of its layout for each value.
    Shared(Tensor, Addresses, i64, Vec<i64>),
    /// In global memory.
    Global(Part),
}

impl Memory {
    pub(super) fn shared(b: &mut Builder, tensor: &Tensor, fragment: &Fragment) -> Result<Self> {
        check_elements(b, tensor.element, fragment.element)?;
        let (tensor, indices) = of_thread(b, tensor, fragment)?;
        let addresses = b.whole(tensor.addresses())?;
        let width = b.whole(tensor.width())?;
        Ok(Memory::Shared(tensor, addresses, width, indices))
    }

    /// The options of the copy.
    pub(super) fn options(&self) -> Options {
        match self {
            Memory::Shared(tensor, ..) => Options::of(tensor.space()),
            Memory::Global(part) => part.options,
        }
    }

    /// The address of a value.
    pub(super) fn operand(&mut self, b: &mut Builder, value: usize) -> Result<Operand> {
        match self {
            Memory::Shared(tensor, addresses, _, indices) => {
                let byte = b.whole(tensor.byte(indices[value]))?;
                addresses.operand(b, byte)
            }
            Memory::Global(part) => part.operand(b, value),
        }
    }

    /// The place of each value: a row, and an index in it. Values at consecutive indices of a row are consecutive in memory.
    pub(super) fn places(&self) -> Vec<(Vec<i64>, i64)> {
        match self {
            Memory::Shared(tensor, _, _, indices) => {
                let offset = tensor.layout.offset();
                indices
                    .iter()
                    .map(|index| (Vec::new(), offset + index))
                    .collect()
            }
            Memory::Global(part) => part.places(),
        }
    }

    /// The greatest number n of elements such that, for every thread, an index that is a multiple of n has an address that is a multiple of
    /// the bytes of n elements, and one access can move n elements.
    pub(super) fn lanes(&self, b: &Builder) -> i64 {
        match self {
            Memory::Shared(tensor, _, width, _) => {
                // The run-time offset is a multiple of this many bytes.
                let dynamic = 1i64
                    << b.known
                        .possible_bits(&tensor.dynamic)
                        .trailing_zeros()
                        .min(4);
                let swizzle = tensor.layout.swizzle();
                let chunk = match swizzle.is_identity() {
                    true => WIDEST,
                    false => WIDEST.min(width << swizzle.base().min(4)),
                };
                WIDEST.min(dynamic).min(chunk) / width
            }
            Memory::Global(part) => part.lanes(b),
        }
    }
}

/// The tensor at the coordinate of the thread, and the value of its layout for each value of the fragment.
pub(super) fn of_thread(
    b: &mut Builder,
    tensor: &Tensor,
    fragment: &Fragment,
) -> Result<(Tensor, Vec<i64>)> {
    let layout = tensor.layout.layout();
    let (offset, indices) = partition(b, layout, fragment, b.whole(tensor.width())?)?;
    let dynamic = b.add(&tensor.dynamic, &offset)?;
    let tensor = Tensor {
        dynamic,
        ..tensor.clone()
    };
    Ok((tensor, indices))
}
