//! A layout followed by a swizzle.

use crate::composition::{ENUMERATION_LIMIT, compose_by, composition};
use crate::coordinate::{cosize_in, crd2idx_in};
use crate::domain::{Domain, Numbers, Question, Sum, overflow, product};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::from_table::from_table;
use crate::integer::{Integer, Leaf};
use crate::inverse::{left_inverse, right_inverse};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::recast::{Cast, downcast_in, recast_factor, upcast_in};
use crate::slice::slice_in;
use crate::swizzle::Swizzle;
use crate::swizzled_cosize::{COSIZE_STEPS, SwizzledLeaves, swizzled_cosize};
use crate::tiler::Tiler;
use crate::tuple::{Coord, Tuple};
use crate::xor_map::XorMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

/// `Sw o offset o layout`: the value at `c` is `Sw(offset + layout(c))`.
///
/// Composition on the right, division and slicing act on coordinates, so they act on the layout underneath.
/// ```
/// use cute_algebra::{ComposedLayout, Coord, Layout, Swizzle};
/// let tile = ComposedLayout::new(Swizzle::new(3, 3, 3)?, 0, Layout::new([8, 64], [64, 1])?)?;
/// assert_eq!(tile.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
/// assert_eq!(tile.crd2idx(&Coord::from([Some(1), Some(0)]))?, 72);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
///
/// The picture colours each element by its bank of shared memory:
///
#[doc = include_str!("../docs/composed_layout.svg")]
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComposedLayout<I: Integer = i64> {
    swizzle: Swizzle,
    offset: I::Sum,
    layout: Layout<I>,
}

/// A domain whose integers can be swizzled.
pub(crate) trait Swizzling: Domain {
    /// The swizzled value.
    fn swizzled(&mut self, swizzle: Swizzle, index: &Sum<Self>) -> Result<Sum<Self>, LayoutError>;

    /// The quotient of a sum. A remainder is refused with the given error.
    fn divided(
        &mut self,
        sum: &Sum<Self>,
        divisor: &Self::Int,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<Sum<Self>, LayoutError>;
}

impl Swizzling for Numbers {
    fn swizzled(&mut self, swizzle: Swizzle, index: &i64) -> Result<i64, LayoutError> {
        Ok(swizzle.apply(*index))
    }

    fn divided(
        &mut self,
        sum: &i64,
        divisor: &i64,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<i64, LayoutError> {
        self.require(Question::Divides(divisor, sum), &Place::operand(0), refusal)?;
        Ok(sum / divisor)
    }
}

impl<I: Integer> ComposedLayout<I> {
    /// The layout `Sw o offset o layout`. Refused for a layout into a coordinate space, and where offset and span
    /// together do not fit 64 bits.
    pub fn new(swizzle: Swizzle, offset: I::Sum, layout: Layout<I>) -> Result<Self, LayoutError> {
        layout.require_integral(0)?;
        let fits = layout.span().is_some_and(|span| {
            let below = I::multiply(&span, &(-1).into());
            I::plus(&offset, &span).is_some()
                && below.is_some_and(|below| I::plus(&offset, &below).is_some())
        });
        match fits {
            true => Ok(Self::assembled(swizzle, offset, layout)),
            false => Err(ErrorKind::Overflow { quantity: "offset" }.at(Place::default())),
        }
    }

    /// [`new`](Self::new) for parts that are known to fit.
    pub(crate) fn assembled(swizzle: Swizzle, offset: I::Sum, layout: Layout<I>) -> Self {
        Self {
            swizzle,
            offset,
            layout,
        }
    }

    /// The layout without a swizzle and with offset 0.
    pub(crate) fn plain(layout: Layout<I>) -> Result<Self, LayoutError> {
        Self::new(Swizzle::IDENTITY, 0.into(), layout)
    }

    /// The swizzle, which acts on the sum of offset and layout.
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// The offset, added to the layout's value before the swizzle.
    pub fn offset(&self) -> I::Sum {
        self.offset.clone()
    }

    /// The layout underneath.
    pub fn layout(&self) -> &Layout<I> {
        &self.layout
    }

    /// The layout underneath, if there is neither a swizzle nor an offset.
    pub fn as_layout(&self) -> Option<&Layout<I>> {
        (self.swizzle.is_identity() && self.offset == 0.into()).then_some(&self.layout)
    }

    /// The same swizzle and offset, with `layout` applied to the layout underneath.
    pub(crate) fn map(
        &self,
        layout: impl FnOnce(&Layout<I>) -> Result<Layout<I>, LayoutError>,
    ) -> Result<Self, LayoutError> {
        Self::new(self.swizzle, self.offset.clone(), layout(&self.layout)?)
    }

    /// The value at a coordinate.
    pub(crate) fn crd2idx_in<D: Swizzling<Int = I>>(
        &self,
        d: &mut D,
        coord: &Tuple<Option<I::Sum>>,
        overhang: Overhang,
    ) -> Result<I::Sum, LayoutError> {
        let index = crd2idx_in(d, coord, &self.layout, overhang)?;
        d.swizzled(self.swizzle, &self.shifted(&index, 0)?)
    }

    /// The modes where `coord` has `_`, with the value of the other modes added to the offset.
    pub(crate) fn slice_in<D: Domain<Int = I>>(
        &self,
        d: &mut D,
        coord: &Tuple<Option<I::Sum>>,
    ) -> Result<Self, LayoutError> {
        let (layout, offset) = slice_in(d, &self.layout, coord)?;
        Self::new(self.swizzle, self.shifted(&offset, 1)?, layout)
    }

    /// The offset plus a value of the layout underneath. `coord` is the operand that an error names.
    fn shifted(&self, index: &Tuple<I::Sum>, coord: usize) -> Result<I::Sum, LayoutError> {
        let shifted = match index {
            Tuple::Leaf(index) => I::plus(index, &self.offset),
            Tuple::Node(_) => None,
        };
        shifted.ok_or_else(|| ErrorKind::Overflow { quantity: "index" }.at(Place::operand(coord)))
    }

    /// [`cosize`](ComposedLayout::cosize) for any domain. With a swizzle, all integers must be known numbers.
    pub(crate) fn cosize_in<D: Domain<Int = I>>(&self, d: &mut D) -> Result<I::Sum, LayoutError> {
        if let Some((shape, stride, offset)) = self.known_leaves() {
            let leaves = SwizzledLeaves {
                shape: &shape,
                stride: &stride,
                offset,
                source_mask: self.swizzle.source_mask(),
                shift: self.swizzle.shift(),
            };
            let cosize = swizzled_cosize(&leaves, COSIZE_STEPS).map(I::Sum::from);
            return cosize.ok_or_else(|| {
                let limit = COSIZE_STEPS;
                ErrorKind::CosizeLimit { limit }.at(Place::operand(0))
            });
        }
        if !self.swizzle.is_identity() {
            let what = "the cosize of a swizzled layout";
            return Err(ErrorKind::Unsupported { what }.at(Place::operand(0)));
        }
        I::plus(&cosize_in(d, &self.layout)?, &self.offset).ok_or_else(overflow)
    }

    /// The extents, the strides and the offset; `None` where one of them is known only at run time.
    fn known_leaves(&self) -> Option<(Vec<i64>, Vec<i64>, i64)> {
        let leaves = self.layout.leaves();
        let leaves = leaves
            .map(|(extent, stride)| Some((extent.as_constant()?, stride.value().as_constant()?)));
        let (shape, stride) = leaves.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some((shape, stride, I::number(&self.offset)?))
    }

    /// [`cosize_bound`](ComposedLayout::cosize_bound) for any domain: the swizzle permutes blocks of a power of
    /// two, and the span is rounded up to a multiple of that.
    pub(crate) fn cosize_bound_in<D: Domain<Int = I>>(
        &self,
        d: &mut D,
    ) -> Result<I::Sum, LayoutError> {
        let (offset, has_negative) = match I::number(&self.offset) {
            Some(offset) if offset < 0 => (offset.checked_neg().ok_or_else(overflow)?.into(), true),
            _ => (self.offset.clone(), self.has_negative_stride(d)?),
        };
        let cosize = I::plus(&cosize_in(d, &self.layout)?, &offset).ok_or_else(overflow)?;
        let span = d.integer(&cosize)?;
        let place = Place::operand(0);
        let mut bits = None;
        for (source, target) in self.swizzle.pairs() {
            let least = I::from((1i64 << source) + 1);
            // A negative number has all high bits set.
            if has_negative || d.decide(Question::AtMost(&least, &span), &place)? {
                bits = bits.max(Some(source.max(target) + 1));
            }
        }
        let Some(bits) = bits else {
            return Ok(cosize);
        };
        let block = 1i64.checked_shl(bits).filter(|&block| block > 0);
        let block = I::from(block.ok_or_else(overflow)?);
        let blocks = d.ceiling(&span, &block, &place)?;
        let bound = product(&blocks, &block)?.into();
        // The span can begin inside one block below 0 and end inside another one above: one block more.
        match has_negative {
            true => I::plus(&bound, &block.into()).ok_or_else(overflow),
            false => Ok(bound),
        }
    }

    fn has_negative_stride<D: Domain<Int = I>>(&self, d: &D) -> Result<bool, LayoutError> {
        for ((extent, stride), path) in self.layout.leaves().zip(self.layout.shape().leaf_paths()) {
            let place = Place::operand(0).mode(path).stride();
            let is_still = extent.is_one() || stride.is_zero();
            if !is_still && !d.decide(Question::AtMost(&I::ZERO, &stride.value()), &place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The layout in larger or smaller units: see [`upcast`](crate::upcast) and [`downcast`](crate::downcast).
    pub(crate) fn cast<D: Swizzling<Int = I>>(
        &self,
        d: &mut D,
        cast: Cast<I>,
        overhang: Overhang,
    ) -> Result<Self, LayoutError> {
        let number = |factor: &I| {
            let what = "the factor of a swizzle's recast";
            let unsupported = ErrorKind::Unsupported { what }.at(Place::operand(1));
            factor.as_constant().ok_or(unsupported)
        };
        match cast {
            Cast::Up(factor) => {
                let layout = upcast_in(d, &self.layout, &factor, overhang)?;
                let refusal = || {
                    let offset = self.offset.to_string();
                    let factor = factor.as_constant()?;
                    Some(ErrorKind::Offset { offset, factor })
                };
                let offset = d.divided(&self.offset, &factor, &refusal)?;
                Self::new(self.swizzle.upcast(number(&factor)?)?, offset, layout)
            }
            Cast::Down(factor) => {
                let layout = downcast_in(d, &self.layout, &factor)?;
                let offset = I::multiply(&self.offset, &factor.clone().into());
                let overflow = || ErrorKind::Overflow { quantity: "offset" }.at(Place::operand(0));
                let offset = offset.ok_or_else(overflow)?;
                Self::new(self.swizzle.downcast(number(&factor)?)?, offset, layout)
            }
        }
    }
}

impl ComposedLayout {
    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.layout.size()
    }

    /// The smallest number of consecutive elements that contains index 0 and all values: one more than the largest
    /// value, where no value is negative. `None` where it does not fit 64 bits, or where finding it takes more than
    /// [`COSIZE_STEPS`].
    /// ```
    /// use cute_algebra::ComposedLayout;
    /// let a: ComposedLayout = "Sw<3,4,3> o 0 o 129:1".parse()?;
    /// assert_eq!((a.cosize(), a.cosize_bound()), (Some(145), Some(256)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cosize(&self) -> Option<i64> {
        self.cosize_in(&mut Numbers).ok()
    }

    /// An upper bound of the cosize that is fast to compute: the cosize of the layout underneath plus the offset,
    /// rounded up to the blocks that the swizzle permutes. `None` where it does not fit 64 bits.
    pub fn cosize_bound(&self) -> Option<i64> {
        self.cosize_bound_in(&mut Numbers).ok()
    }

    /// The value at a coordinate, which is refused where [`Layout::crd2idx`] refuses it.
    pub fn crd2idx(&self, coord: &Coord) -> Result<i64, LayoutError> {
        self.crd2idx_in(&mut Numbers, coord, Overhang::Strict)
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

    /// `(Sw o A) o B = Sw o (A o B)`.
    pub fn composition(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.map(|layout| compose_by(&mut Numbers, layout, tiler, Overhang::Strict))
    }

    /// `self(b(x))`. Refused unless the swizzle of B can be moved to the left of `self`'s layout and joined with
    /// the swizzle there, and for layouts with offsets.
    pub fn after(&self, b: &ComposedLayout) -> Result<Self, LayoutError> {
        let moved = conjugate(
            &self.layout,
            b.swizzle,
            b.cosize_bound().unwrap_or(i64::MAX),
        )?;
        if self.offset != 0 || b.offset != 0 {
            return Err(not_a_swizzle("a composition of swizzles with offsets"));
        }
        let layout = composition(&self.layout, &b.layout)?;
        Self::new(moved, 0, layout)?.swizzled_by(self.swizzle)
    }

    /// `outer(self(x))`. Refused unless both swizzles are one for the values of the layout underneath.
    pub(crate) fn swizzled_by(&self, outer: Swizzle) -> Result<Self, LayoutError> {
        let swizzle = outer.after_on(self.swizzle, self.bits())?;
        Self::new(swizzle, self.offset, self.layout.clone())
    }

    /// All bits set in some value before the swizzle, and maybe others.
    pub(crate) fn bits(&self) -> u64 {
        let map = XorMap::of(Swizzle::IDENTITY, self.offset, &self.layout);
        let mut parts = self.layout.stride().leaves().map(|stride| stride.value());
        let is_negative = self.offset < 0 || parts.any(|stride| stride < 0);
        let below = || match self.layout.cosize().checked_add(self.offset) {
            Some(end) if !is_negative => (end as u64).next_power_of_two() - 1,
            _ => u64::MAX,
        };
        map.map_or_else(below, |map| map.support())
    }

    /// The swizzle without the pairs whose read bit is 0 in all values, if the other pairs are a swizzle.
    pub(crate) fn read_part(&self) -> Swizzle {
        let bits = self.bits();
        let read = self
            .swizzle
            .pairs()
            .filter(|(source, _)| bits >> source & 1 == 1);
        Swizzle::from_pairs(read.collect()).unwrap_or(self.swizzle)
    }

    /// R with `A(R(i)) = i` for every `i < size(R)`. Refused if A has an offset, if the swizzle leaves `0..size(R)`, or unless the
    /// inverse of the layout underneath maps bits to bits and keeps the bits of the swizzle together.
    /// ```
    /// use cute_algebra::ComposedLayout;
    /// // Three stages of a tile.
    /// let a: ComposedLayout = "Sw<3,3,3> o (8,64,3):(64,1,512)".parse()?;
    /// assert_eq!(a.right_inverse()?.to_string(), "Sw<3,0,-6> o 0 o (64,8,3):(8,1,512)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn right_inverse(&self) -> Result<Self, LayoutError> {
        if self.offset != 0 {
            return Err(not_a_swizzle("the inverse of a layout with an offset"));
        }
        let inverse = right_inverse(&self.layout)?;
        let swizzle = conjugate(&inverse, self.swizzle, inverse.size())?;
        Self::new(swizzle, 0, inverse)
    }

    /// L with `L(A(i)) = i`. There are three cases. If A is a bijection, L is its right inverse. If the swizzle maps
    /// each value of the layout underneath to a value of the same layout, L is the left inverse of that layout after
    /// a swizzle. If A [decays](Self::decay) to a plain layout and has the value 0 at 0, L is that layout's left
    /// inverse.
    /// ```
    /// use cute_algebra::ComposedLayout;
    /// // The rows are 64 apart, and the swizzle stays within them.
    /// let a: ComposedLayout = "Sw<1,0,6> o (8,4):(1,64)".parse()?;
    /// assert_eq!(a.left_inverse()?.to_string(), "Sw<1,0,3> o 0 o (64,4):(1,8)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn left_inverse(&self) -> Result<Self, LayoutError> {
        if let Ok(inverse) = self.right_inverse()
            && inverse.size() == self.size()
        {
            return Ok(inverse);
        }
        if self.offset == 0
            && let Some(swizzle) = self.swizzle_of_coordinates()
        {
            return Self::new(swizzle, 0, left_inverse(&self.layout)?);
        }
        let first = self.swizzle.apply(self.offset);
        match self.decay() {
            Some(plain) if first == 0 => Self::plain(left_inverse(&plain)?),
            _ => Err(not_a_swizzle(
                "the left inverse of a layout whose swizzle leaves its values",
            )),
        }
    }

    /// `Sw'` with `Sw o L = L o Sw'`, if L has one bit of its coordinate for each bit of its values. `Sw'` is its
    /// own inverse.
    fn swizzle_of_coordinates(&self) -> Option<Swizzle> {
        let map = XorMap::from_layout(&self.layout)?;
        let columns = map.bit_columns()?;
        let place = |bit: u32| {
            let column = columns.iter().position(|&column| column == 1 << bit)?;
            u32::try_from(column).ok()
        };
        let is_single = |column: &u64| column.is_power_of_two();
        let mut pairs = Vec::new();
        for (source, target) in self.swizzle.pairs() {
            // A bit that is 0 in all values changes nothing.
            if columns.iter().any(|column| column >> source & 1 == 1) {
                pairs.push((place(source)?, place(target)?));
            }
        }
        let size = self.size();
        let within = |&(_, target): &(u32, u32)| target < size.trailing_zeros();
        let stays = pairs.iter().all(within);
        let swizzle = Swizzle::from_pairs(pairs)?;
        let stays = stays
            || size <= ENUMERATION_LIMIT && (0..size).all(|index| swizzle.apply(index) < size);
        (columns.iter().all(is_single) && stays).then_some(swizzle)
    }

    /// The modes where `coord` has `_`. The value of the other modes is added to the offset, before the swizzle.
    pub fn slice(&self, coord: &Coord) -> Result<Self, LayoutError> {
        self.slice_in(&mut Numbers, coord)
    }

    /// The slice as a plain layout and its value at 0, if strides can express the swizzle. They cannot if both bits
    /// of a combined pair vary in the slice. Then the swizzled slice, with the offset inside it and 0 beside it.
    pub fn slice_and_offset(&self, coord: &Coord) -> Result<(Slice, i64), LayoutError> {
        let sliced = self.slice(coord)?;
        match sliced.decay() {
            Some(layout) => Ok((Slice::Layout(layout), self.swizzle.apply(sliced.offset))),
            None => Ok((Slice::Composed(sliced), 0)),
        }
    }

    /// The plain layout of the differences to the value at 0, if they form one. This is decided by the bits of the
    /// swizzle; where sums carry, by comparing all values of a layout of at most [`ENUMERATION_LIMIT`] coordinates.
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

    /// The layout in units of `factor` elements: see [`upcast`](crate::upcast).
    pub fn upcast(&self, factor: i64) -> Result<Self, LayoutError> {
        self.cast(&mut Numbers, Cast::Up(factor), Overhang::Strict)
    }

    /// The layout in units of a `factor`-th of an element: see [`downcast`](crate::downcast).
    pub fn downcast(&self, factor: i64) -> Result<Self, LayoutError> {
        self.cast(&mut Numbers, Cast::Down(factor), Overhang::Strict)
    }

    /// The layout in elements of `new` bits instead of `old`: see [`recast`](crate::recast()).
    pub fn recast(&self, old: i64, new: i64) -> Result<Self, LayoutError> {
        self.cast(&mut Numbers, recast_factor(old, new)?, Overhang::Strict)
    }
}

impl XorMap {
    /// The swizzled layout as a map of bits. It is one if its sums have no carries, or if it has at most
    /// [`ENUMERATION_LIMIT`] coordinates and all values agree with the map's.
    pub fn from_composed(composed: &ComposedLayout) -> Option<Self> {
        Self::of(composed.swizzle, composed.offset, &composed.layout)
    }
}

/// A swizzled layout with some coordinates fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slice {
    /// The swizzle could be expressed by strides.
    Layout(Layout),
    /// The swizzle remains.
    Composed(ComposedLayout),
}

/// `Sw'` with `L o Sw = Sw' o L` on `0..reach`. L must map the bits of the swizzle to bits there.
pub(crate) fn conjugate(
    layout: &Layout,
    swizzle: Swizzle,
    reach: i64,
) -> Result<Swizzle, LayoutError> {
    let refused = || not_a_swizzle("the layout with its swizzle on the other side");
    let reach = reach.min(layout.size());
    let read = swizzle.pairs().filter(|(source, _)| reach > 1i64 << source);
    // How many bits of an index below `reach` the swizzle reads or changes.
    let Some(moved_bits) = read.map(|(source, target)| source.max(target) + 1).max() else {
        return Ok(Swizzle::IDENTITY);
    };
    if !swizzle.keeps(reach, layout.size()) {
        return Err(refused());
    }
    let bits = 64 - (reach - 1).leading_zeros();
    let as_map = |layout: &Layout| XorMap::from_layout(layout)?.widened();
    // If the whole layout is no map of bits, the first modes suffice: the swizzle moves only their bits.
    let of_all = as_map(layout).map(|inner| (inner, Vec::new()));
    let of_first = || {
        let (low, high) = split(layout, moved_bits)?;
        Some((as_map(&low)?, high))
    };
    let (inner, high) = of_all.or_else(of_first).ok_or_else(refused)?;
    let outer = inner.after(&XorMap::from_swizzle(swizzle, bits.min(inner.bits())));
    let moved = outer.and_then(|outer| inner.to_swizzle_before(&outer));
    let moved = moved.ok_or_else(refused)?;
    // The other modes must add multiples of `block`, so that they leave the moved bits alone.
    let changed = moved.pairs().map(|(source, target)| source.max(target) + 1);
    let block = 1i64 << changed.max().unwrap_or(0);
    match high.iter().all(|stride| stride % block == 0) {
        true => Ok(moved),
        false => Err(refused()),
    }
}

/// The first modes of a layout, with `bits` bits of its coordinates, and the strides of the others. `None` where an extent of the
/// first modes is no power of two.
fn split(layout: &Layout, bits: u32) -> Option<(Layout, Vec<i64>)> {
    let mut modes = layout.flat_modes();
    let (mut count, mut found) = (0, 0);
    while found < bits && count < modes.len() {
        let extent = modes[count].0;
        if extent & (extent - 1) != 0 {
            return None;
        }
        found += extent.trailing_zeros();
        count += 1;
    }
    let high = modes.split_off(count).into_iter();
    let strides = high.filter(|(extent, _)| *extent > 1);
    let strides = strides.map(|(_, stride)| stride.value()).collect();
    Some((Layout::from_flat(modes), strides))
}

pub(crate) fn not_a_swizzle(what: &'static str) -> LayoutError {
    ErrorKind::NotASwizzle { what }.at(Place::operand(0))
}

/// The layout under the swizzle that changes nothing; refused for a layout into a coordinate space.
impl TryFrom<Layout> for ComposedLayout {
    type Error = LayoutError;

    fn try_from(layout: Layout) -> Result<Self, LayoutError> {
        Self::plain(layout)
    }
}

impl<I: Integer> fmt::Display for ComposedLayout<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} o ", self.swizzle)?;
        self.offset.fmt_operand(f)?;
        write!(f, " o {}", self.layout)
    }
}
