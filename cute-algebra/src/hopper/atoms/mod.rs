//! Thread-value layouts of hardware operations, and their repetition over threads and tiles.
//!
//! An atom is one operation of the hardware. Its TV layout, from (thread, value) to the elements of an operand,
//! says which thread holds which element. Tables list the operations; a few numbers in each row determine the TV
//! layouts.

mod copy;
mod mma;
mod smem;
#[cfg(test)]
mod tests;
mod tiled_copy;
mod tiled_mma;

pub use copy::{CopyAtom, CopySide};
pub use mma::{MmaAtom, MmaOperand};
pub use smem::{smem_atom, smem_tile_to_shape};
pub use tiled_copy::TiledCopy;
pub use tiled_mma::TiledMma;

use crate::composed::ComposedLayout;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::tuple::{IntTuple, Tuple};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;

/// The name and the parameters of an operation: `UniversalCopy` and `uint128_t` of `UniversalCopy<uint128_t>`.
fn split_name(name: &str) -> (&str, Vec<&str>) {
    match name.strip_suffix('>').and_then(|open| open.split_once('<')) {
        Some((base, parameters)) => (base, parameters.split(',').map(str::trim).collect()),
        None => (name, Vec::new()),
    }
}

/// Extent and stride of a mode.
type Mode = (i64, i64);

/// The modes of the threads, and the modes of the values.
type Tv = (&'static [Mode], &'static [Mode]);

/// The layout from (thread, value) to elements or bits.
fn tv(threads: &[Mode], values: &[Mode]) -> Result<Layout, LayoutError> {
    let side = |modes: &[Mode]| match modes {
        [] => Ok(Layout::unit()),
        [(extent, stride)] => Layout::new(*extent, *stride),
        _ => Layout::concat(
            modes
                .iter()
                .map(|&(extent, stride)| Layout::leaf(extent, stride)),
        ),
    };
    Layout::concat([side(threads)?, side(values)?])
}

/// The error for an unknown name, with the names in the table.
fn not_one_of<'a>(
    what: &'static str,
    found: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> LayoutError {
    let mut listed: Vec<&str> = Vec::new();
    for name in names {
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    ErrorKind::NotOneOf {
        what,
        found: found.to_owned(),
        names: listed.join(", "),
    }
    .at(Place::operand(0))
}

/// The part of a tensor in one thread: a layout of its values, and the offset of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The values of the thread. The first mode has the values of one atom; then each mode of the data has one mode.
    pub layout: Layout,
    /// The value of the data at the thread's first element. It is added to each value of `layout`.
    pub offset: IntTuple,
}

impl Partition {
    /// The same partition of swizzled data, where `self` is a partition of the layout under the swizzle of `data`.
    pub fn swizzled(&self, data: &ComposedLayout) -> Result<ComposedLayout, LayoutError> {
        let overflow = || ErrorKind::Overflow { quantity: "offset" }.at(Place::operand(0));
        match &self.offset {
            Tuple::Leaf(offset) => ComposedLayout::new(
                data.swizzle(),
                data.offset().checked_add(*offset).ok_or_else(overflow)?,
                self.layout.clone(),
            ),
            Tuple::Node(_) => Err(overflow()),
        }
    }
}
