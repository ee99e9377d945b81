//! A swizzle after a layout.

use crate::error::LayoutError;
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use crate::tuple::Coord;
use std::fmt;

/// `Sw o offset o layout`: the value at `c` is `Sw(offset + layout(c))`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ComposedLayout {
    swizzle: Swizzle,
    offset: i64,
    layout: Layout,
}

impl ComposedLayout {
    /// Puts a swizzle and an offset after a layout of integers.
    pub fn new(swizzle: Swizzle, offset: i64, layout: Layout) -> Result<Self, LayoutError> {
        layout.require_integral(0)?;
        Ok(Self {
            swizzle,
            offset,
            layout,
        })
    }

    /// The swizzle.
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// What is added before the swizzle.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The layout underneath.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The value at a coordinate.
    pub fn crd2idx(&self, coord: &Coord) -> Result<i64, LayoutError> {
        let inner = self.layout.crd2idx(coord)?;
        let crate::Tuple::Leaf(index) = inner else {
            unreachable!("the layout is integral")
        };
        let index = index.checked_add(self.offset).ok_or_else(|| {
            crate::ErrorKind::Overflow { quantity: "index" }.at(crate::Place::operand(0))
        })?;
        Ok(self.swizzle.apply(index))
    }
}

impl fmt::Display for ComposedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} o {} o {}", self.swizzle, self.offset, self.layout)
    }
}
