//! Tensors: an address, a layout, an element type.

use super::element::Element;
use super::global::TensorId;
use super::num::{Num, Scalar};
use cute_algebra::ComposedLayout;
use cute_chip::PartialByte;
use cute_ptx::table::choice::Accessible;

/// A tile of shared memory. Its element at c is at byte `base + Sw(dynamic + bytes · (offset + layout(c)))`, with the swizzle and the
/// offset of the layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The type of its elements.
    pub element: Element,
    /// The first byte in the kernel's shared memory.
    pub base: u32,
    /// The layout from coordinates to offsets in elements, as far as they are known at expansion.
    pub layout: ComposedLayout,
    /// The offset that run-time coordinates add, in bytes.
    pub dynamic: Num,
    /// The base of shared memory, if it is another CTA's in the cluster.
    pub peer: Option<Scalar>,
}

/// A tensor parameter for TMA, or an item of a list of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TmaTensor(pub TensorId);

impl Tensor {
    /// Calls `f` on every register in the tensor.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        if let Num::Reg(scalar) = &mut self.dynamic {
            f(scalar);
        }
        if let Some(peer) = &mut self.peer {
            f(peer);
        }
    }

    /// The state space of its addresses.
    pub fn space(&self) -> Accessible {
        match self.peer {
            Some(_) => Accessible::SharedCluster,
            None => Accessible::Shared,
        }
    }

    /// Bytes of an element.
    pub fn width(&self) -> Result<i64, PartialByte> {
        self.element.bytes().map(i64::from)
    }

    /// The known part of the byte offset of the element at `index`, a value of the layout.
    pub fn byte(&self, index: i64) -> Result<i64, PartialByte> {
        let bytes = self.element.bytes_of((self.layout.offset() + index).into());
        // The bytes of shared memory are few.
        bytes.map(|bytes| bytes as i64)
    }
}
