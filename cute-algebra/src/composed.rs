//! A swizzle after a layout.

use crate::composition::{ENUMERATION_LIMIT, Overhang, compose_by};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::inverse::right_inverse;
use crate::layout::Layout;
use crate::recast::{Cast, downcast_modes, recast_factor, upcast_modes};
use crate::recover::from_table;
use crate::slice::slice_and_offset;
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;
use crate::tuple::{Coord, Tuple};
use crate::xor_map::XorMap;
use std::fmt;

/// `Sw o offset o layout`: the value at `c` is `Sw(offset + layout(c))`.
///
/// Operations on coordinates (composition on the right, division, slicing) act on the layout underneath.
/// ```
/// use cute_algebra::{ComposedLayout, Coord, Layout, Swizzle};
/// let tile = ComposedLayout::new(Swizzle::new(3, 3, 3)?, 0, Layout::new([8, 64], [64, 1])?)?;
/// assert_eq!(tile.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
/// assert_eq!(tile.crd2idx(&Coord::from([Some(1), Some(0)]))?, 72);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
///
/// Coloured by the banks of shared memory:
///
#[doc = include_str!("../docs/composed_layout.svg")]
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
        let span = layout.cosize();
        if offset.checked_add(span).is_none() || offset.checked_sub(span).is_none() {
            return Err(ErrorKind::Overflow { quantity: "offset" }.at(Place::default()));
        }
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

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.layout.size()
    }

    /// How many elements to reserve: the cosize of the layout underneath, rounded up to the blocks that the swizzle
    /// permutes within it. `None` where it does not fit.
    pub fn cosize(&self) -> Option<i64> {
        let cosize = self.layout.cosize().checked_add(self.offset)?;
        let reached = self
            .swizzle
            .pairs()
            .filter(|&(source, _)| cosize > 1 << source);
        let Some(bits) = reached.map(|(source, target)| source.max(target) + 1).max() else {
            return Some(cosize);
        };
        let block = 1i64.checked_shl(bits).filter(|&block| block > 0)?;
        ((cosize - 1) / block + 1).checked_mul(block)
    }

    /// The value at a coordinate.
    pub fn crd2idx(&self, coord: &Coord) -> Result<i64, LayoutError> {
        let overflow = || ErrorKind::Overflow { quantity: "index" }.at(Place::operand(1));
        match self.layout.crd2idx(coord)? {
            Tuple::Leaf(index) => Ok(self
                .swizzle
                .apply(index.checked_add(self.offset).ok_or_else(overflow)?)),
            Tuple::Node(_) => Err(overflow()),
        }
    }

    /// The value at a 1-D coordinate; `None` outside the domain.
    pub fn at(&self, index: i64) -> Option<i64> {
        Some(
            self.swizzle
                .apply(self.layout.at(index)?.checked_add(self.offset)?),
        )
    }

    /// The values at 0, 1, 2, ….
    pub fn values(&self) -> impl Iterator<Item = i64> + use<> {
        let (swizzle, offset) = (self.swizzle, self.offset);
        self.layout
            .values()
            .map(move |value| swizzle.apply(offset + value))
    }

    /// The same swizzle and offset after another layout.
    pub fn try_map<E: From<LayoutError>>(
        &self,
        layout: impl FnOnce(&Layout) -> Result<Layout, E>,
    ) -> Result<Self, E> {
        Ok(Self::new(self.swizzle, self.offset, layout(&self.layout)?)?)
    }

    /// The plain layout, where there is neither a swizzle nor an offset.
    pub fn as_layout(&self) -> Option<&Layout> {
        (self.swizzle.is_identity() && self.offset == 0).then_some(&self.layout)
    }

    /// `(Sw o A) o B = Sw o (A o B)`.
    pub fn composition(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.try_map(|layout| compose_by(layout, tiler, Overhang::Strict))
    }

    /// A after B, both swizzled, where the two swizzles are one over the layouts composed.
    pub fn after(&self, b: &ComposedLayout) -> Result<Self, LayoutError> {
        let moved = conjugate(&self.layout, b.swizzle, b.cosize().unwrap_or(i64::MAX))?;
        let swizzle = self.swizzle.after(moved)?;
        if self.offset != 0 || b.offset != 0 {
            return Err(not_a_swizzle("a composition of swizzles with offsets"));
        }
        Self::new(
            swizzle,
            0,
            crate::composition::composition(&self.layout, &b.layout)?,
        )
    }

    /// R with `A(R(i)) = i` for every `i < size(R)`. It exists in this form where the layout is a bijection on a
    /// power of two that moves the swizzled bits together.
    pub fn right_inverse(&self) -> Result<Self, LayoutError> {
        if self.offset != 0 {
            return Err(not_a_swizzle("the inverse of a layout with an offset"));
        }
        let inverse = right_inverse(&self.layout)?;
        let swizzle = conjugate(&inverse, self.swizzle, inverse.size())?;
        Self::new(swizzle, 0, inverse)
    }

    /// L with `L(A(i)) = i`, where A is a bijection: its right inverse.
    pub fn left_inverse(&self) -> Result<Self, LayoutError> {
        let inverse = self.right_inverse()?;
        if inverse.size() != self.size() {
            return Err(not_a_swizzle(
                "the left inverse of a layout that is not a bijection",
            ));
        }
        Ok(inverse)
    }

    /// The layout of the modes where `coord` has `_`, with the offset of the others inside, where the swizzle sees it.
    pub fn slice(&self, coord: &Coord) -> Result<Self, LayoutError> {
        let (layout, offset) = slice_and_offset(&self.layout, coord)?;
        let overflow = || ErrorKind::Overflow { quantity: "offset" }.at(Place::operand(1));
        match offset {
            Tuple::Leaf(offset) => Self::new(
                self.swizzle,
                self.offset.checked_add(offset).ok_or_else(overflow)?,
                layout,
            ),
            Tuple::Node(_) => Err(overflow()),
        }
    }

    /// The slice, as a layout and the value where it begins, where it is a layout: no pair of bits that the swizzle
    /// combines is in it. Else swizzled, with the offset inside.
    pub fn slice_and_offset(&self, coord: &Coord) -> Result<(Slice, i64), LayoutError> {
        let sliced = self.slice(coord)?;
        match sliced.decay() {
            Some(layout) => Ok((Slice::Layout(layout), self.swizzle.apply(sliced.offset))),
            None => Ok((Slice::Composed(sliced), 0)),
        }
    }

    /// The layout of the differences to the value at 0, if they are one: by the bits that are swizzled, or where sums
    /// carry, by all values as far as the size allows.
    pub fn decay(&self) -> Option<Layout> {
        if let Some(map) = XorMap::from_composed(self) {
            return map.to_layout();
        }
        if self.size() > ENUMERATION_LIMIT {
            return None;
        }
        let first = self.swizzle.apply(self.offset);
        let value = |index: i64| self.swizzle.apply(self.offset + index).checked_sub(first);
        let leaf = |(extent, stride): (i64, crate::ScaledBasis)| {
            let table: Option<Vec<_>> = (0..extent).map(|i| value(i * stride.value())).collect();
            from_table(&table?).ok()
        };
        let leaves = self
            .layout
            .flat_modes()
            .into_iter()
            .map(leaf)
            .collect::<Option<Vec<_>>>()?;
        let layout = Layout::replace_leaves(self.layout.shape(), leaves).ok()?;
        let agrees = layout
            .values()
            .zip(self.layout.values())
            .all(|(sum, index)| Some(sum) == value(index));
        agrees.then_some(layout)
    }

    /// In units of `factor` elements: see [`upcast`](crate::upcast).
    pub fn upcast(&self, factor: i64) -> Result<Self, LayoutError> {
        self.upcast_with(factor, Overhang::Strict)
    }

    /// In units of a `factor`-th of an element: see [`downcast`](crate::downcast).
    pub fn downcast(&self, factor: i64) -> Result<Self, LayoutError> {
        let offset = self.offset.checked_mul(factor);
        let offset = offset
            .ok_or_else(|| ErrorKind::Overflow { quantity: "offset" }.at(Place::operand(0)))?;
        Self::new(
            self.swizzle.downcast(factor)?,
            offset,
            downcast_modes(&self.layout, factor)?,
        )
    }

    /// In elements of `new` bits instead of `old`: see [`recast`](crate::recast()).
    pub fn recast(&self, old: i64, new: i64) -> Result<Self, LayoutError> {
        self.recast_with(old, new, Overhang::Strict)
    }

    pub(crate) fn recast_with(
        &self,
        old: i64,
        new: i64,
        overhang: Overhang,
    ) -> Result<Self, LayoutError> {
        match recast_factor(old, new)? {
            Cast::Up(factor) => self.upcast_with(factor, overhang),
            Cast::Down(factor) => self.downcast(factor),
        }
    }

    pub(crate) fn upcast_with(&self, factor: i64, overhang: Overhang) -> Result<Self, LayoutError> {
        let layout = upcast_modes(&self.layout, factor, overhang)?;
        if self.offset % factor != 0 {
            return Err(ErrorKind::Offset {
                offset: self.offset,
                factor,
            }
            .at(Place::operand(0)));
        }
        Self::new(self.swizzle.upcast(factor)?, self.offset / factor, layout)
    }
}

/// What is left of a swizzled layout when some coordinates are fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slice {
    /// The swizzle has become part of the strides.
    Layout(Layout),
    /// It has not.
    Composed(ComposedLayout),
}

/// `Sw'` with `L o Sw = Sw' o L` on `0..reach`, for a layout whose part there is a bijection on a power of two.
fn conjugate(layout: &Layout, swizzle: Swizzle, reach: i64) -> Result<Swizzle, LayoutError> {
    let refused = || not_a_swizzle("the layout with its swizzle on the other side");
    // Bits that no index has are not swizzled.
    if swizzle.pairs().all(|(source, _)| reach <= 1i64 << source) {
        return Ok(Swizzle::IDENTITY);
    }
    let inner = XorMap::from_layout(layout).ok_or_else(refused)?;
    let bits = 64 - (reach.min(layout.size()) - 1).leading_zeros();
    let outer = inner.after(&XorMap::from_swizzle(swizzle, bits));
    let moved = outer.and_then(|outer| inner.to_swizzle_before(&outer));
    moved.ok_or_else(refused)
}

fn not_a_swizzle(what: &'static str) -> LayoutError {
    ErrorKind::NotASwizzle { what }.at(Place::operand(0))
}

impl fmt::Display for ComposedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} o {} o {}", self.swizzle, self.offset, self.layout)
    }
}
