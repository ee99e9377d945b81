//! Tensors in global memory, and parts of them.

use super::element::Element;
use super::num::{Num, Scalar};
use cute_algebra::Layout;

/// The tensor: a parameter, or an item of a parameter that is a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TensorId {
    /// The index of the parameter.
    pub param: usize,
    /// The index of the item among all items that the kernel has picked.
    pub item: Option<usize>,
}

/// A tensor parameter, or a part of it. Elements have coordinates in the parameter, which determine their addresses and whether they are
/// inside of the tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// The type of its elements.
    pub element: Element,
    /// The index of the parameter.
    pub param: usize,
    /// The index of the item, if the parameter is a list.
    pub item: Option<usize>,
    /// For each mode of the parameter, the first coordinate of the part: a `u32`, or a `u64` where the kernel gives one. A coordinate that
    /// would not fit is replaced by a number above all extents.
    pub origin: Vec<Num>,
    /// For each mode of the parameter, numbers with known factors. Their sum is exactly the first coordinate of the part.
    pub terms: Vec<Vec<(Num, i64)>>,
    /// For each mode of the parameter, the coordinates of the part if a range gives them; `None` for all coordinates of the tensor.
    pub ranges: Vec<Option<Coordinates>>,
    /// For each mode of the parameter, whether the origin may be below 0, as a wrapped number: the kernel chooses the start of a moved
    /// part.
    pub is_moved: Vec<bool>,
    /// The modes of the part.
    pub modes: Modes,
}

/// Coordinates along a mode of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    /// The first coordinate, if there is one: a `u32`, or a `u64` where the kernel gives one.
    pub first: Num,
    /// The coordinate after the last one: a `u32` of at most the extent.
    pub end: Num,
}

/// The modes of a part of a tensor in global memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Modes {
    /// These whole modes of the parameter, with extents known at run time.
    Whole(Vec<usize>),
    /// A tile: the layout from its coordinates to coordinates in the parameter, relative to the origin.
    Tile(Layout),
}

impl From<usize> for TensorId {
    /// The parameter with this index, which is no list.
    fn from(param: usize) -> Self {
        Self { param, item: None }
    }
}

impl Global {
    /// A whole tensor of this rank.
    pub fn whole(element: Element, TensorId { param, item }: TensorId, rank: usize) -> Self {
        Self {
            element,
            param,
            item,
            origin: vec![Num::Const(0); rank],
            terms: vec![Vec::new(); rank],
            ranges: vec![None; rank],
            is_moved: vec![false; rank],
            modes: Modes::Whole((0..rank).collect()),
        }
    }

    /// The tensor that this is a part of.
    pub fn id(&self) -> TensorId {
        TensorId {
            param: self.param,
            item: self.item,
        }
    }

    /// The layout of a tile.
    pub fn tile(&self) -> Option<&Layout> {
        match &self.modes {
            Modes::Tile(layout) => Some(layout),
            Modes::Whole(_) => None,
        }
    }

    /// Calls `f` on every register in the tensor.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        let ranges = self.ranges.iter_mut().flatten();
        let ranges = ranges.flat_map(|range| [&mut range.first, &mut range.end]);
        let terms = self.terms.iter_mut().flatten().map(|(number, _)| number);
        for coordinate in self.origin.iter_mut().chain(terms).chain(ranges) {
            if let Num::Reg(scalar) = coordinate {
                f(scalar);
            }
        }
    }
}
