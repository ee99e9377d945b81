//! Common layouts and vectors, alignment, and the distribution of a count over a shape.

use crate::coalesce::{coalesce, coalesced, filter_zeros_in};
use crate::composed::ComposedLayout;
use crate::domain::{Domain, Numbers, Question, overflow, product, quotient};
use crate::error::{LayoutError, Place};
use crate::integer::Integer;
use crate::inverse::{contiguous, contiguous_inverse};
use crate::layout::Layout;
use crate::tuple::{Shape, Tuple};
use alloc::vec::Vec;

/// The largest layout C of coordinates with `A(C(i)) = B(C(i)) = i` for every i. It is `1:0` where no coordinate
/// but 0 has this property.
/// ```
/// use cute_algebra::{Layout, max_common_layout};
/// let a = Layout::new([4, 8, 2], [8, 1, 32])?;
/// let b = Layout::new([4, 8, 2], [8, 1, 64])?;
/// assert_eq!(max_common_layout(&a, &b)?.to_string(), "(8,4):(4,1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn max_common_layout(a: &Layout, b: &Layout) -> Result<Layout, LayoutError> {
    common(&Numbers, a, b)
}

/// The size of [`max_common_layout`]: how many elements can be copied at once from A to B.
/// ```
/// use cute_algebra::{Layout, max_common_vector};
/// let a: Layout = "(4,8):(8,1)".parse()?;
/// let b: Layout = "(4,8):(16,1)".parse()?;
/// assert_eq!(max_common_vector(&a, &b)?, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_common_vector(a: &Layout, b: &Layout) -> Result<i64, LayoutError> {
    Ok(max_common_layout(a, b)?.size())
}

/// The first coordinates of the largest common layout of the layouts underneath: as many as both swizzles and offsets leave
/// contiguous, wherever they begin.
/// ```
/// use cute_algebra::{ComposedLayout, max_common_layout_swizzled};
/// let a: ComposedLayout = "Sw<2,2,3> o (8,32):(32,1)".parse()?;
/// let b: ComposedLayout = "Sw<1,3,3> o (8,32):(32,1)".parse()?;
/// assert_eq!(max_common_layout_swizzled(&a, &b)?.to_string(), "4:8");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_common_layout_swizzled(
    a: &ComposedLayout,
    b: &ComposedLayout,
) -> Result<Layout, LayoutError> {
    max_common_layout_in(&mut Numbers, a, b)
}

/// The size of [`max_common_layout_swizzled`]: how many elements can be copied at once from A to B.
pub fn max_common_vector_swizzled(
    a: &ComposedLayout,
    b: &ComposedLayout,
) -> Result<i64, LayoutError> {
    max_common_vector_in(&mut Numbers, a, b)
}

/// How many contiguous, aligned elements begin at each value: the gcd of the size of the contiguous part and the
/// other strides.
/// ```
/// use cute_algebra::{Layout, max_alignment};
/// let a: Layout = "(4,6):(12,1)".parse()?;
/// assert_eq!(max_alignment(&a)?, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_alignment(a: &Layout) -> Result<i64, LayoutError> {
    alignment_of(&Numbers, a)
}

/// The same of a swizzled layout: the swizzle and the offset leave as many together.
/// ```
/// use cute_algebra::{ComposedLayout, max_alignment_swizzled};
/// let a: ComposedLayout = "Sw<3,3,3> o (8,64):(64,1)".parse()?;
/// assert_eq!(max_alignment_swizzled(&a)?, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_alignment_swizzled(a: &ComposedLayout) -> Result<i64, LayoutError> {
    max_alignment_in(&mut Numbers, a)
}

/// The layout that distributes `count` over the leaves of a shape from left to right: each leaf takes the gcd of its
/// extent and the rest of the count.
/// ```
/// use cute_algebra::{Shape, domain_distribute};
/// assert_eq!(domain_distribute(&Shape::from([6, 4]), 8)?.to_string(), "(2,4):(1,6)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn domain_distribute(shape: &Shape, count: i64) -> Result<Layout, LayoutError> {
    domain_distribute_in(&mut Numbers, shape, &count)
}

pub(crate) fn max_common_layout_in<D: Domain>(
    d: &mut D,
    a: &ComposedLayout<D::Int>,
    b: &ComposedLayout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let common = common(d, a.layout(), b.layout())?;
    let mut vector = common.shape().product().ok_or_else(overflow)?;
    let whole = vector.clone();
    for swizzled in [a, b] {
        vector = swizzled.whole(d, &vector)?;
    }
    match vector == whole {
        true => Ok(common),
        false => first(d, &common, vector),
    }
}

/// The first `count` coordinates, or fewer if `count` coordinates form no layout.
fn first<D: Domain>(
    d: &D,
    layout: &Layout<D::Int>,
    mut count: D::Int,
) -> Result<Layout<D::Int>, LayoutError> {
    let mut modes = Vec::new();
    for (extent, stride) in layout.leaves() {
        let share = common_divisor(d, extent, &count)?;
        count = quotient(&count, &share)?;
        if !share.is_one() {
            modes.push((share.clone(), stride.clone()));
        }
        if share != *extent {
            break;
        }
    }
    Ok(Layout::from_flat(modes))
}

fn common<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let a = contiguous_inverse(d, a)?;
    let b = contiguous_inverse(d, b).map_err(|error| error.blame(1))?;
    let mut common = Vec::new();
    // The modes of both are coalesced, so the two layouts agree until the first pair of modes with different
    // strides or extents. Of a pair with one stride and two extents, the smaller extent is common.
    for ((a, stride), (b, other)) in a.leaves().zip(b.leaves()) {
        let place = Place::operand(1);
        if !d.decide(Question::Equal(&stride.value(), &other.value()), &place)? {
            break;
        }
        let shorter = match d.precedes(a, b, &place)? {
            true => a,
            false => b,
        };
        common.push((shorter.clone(), stride.clone()));
        if !d.decide(Question::Equal(a, b), &place)? {
            break;
        }
    }
    Ok(Layout::from_flat(common))
}

pub(crate) fn max_common_vector_in<D: Domain>(
    d: &mut D,
    a: &ComposedLayout<D::Int>,
    b: &ComposedLayout<D::Int>,
) -> Result<D::Int, LayoutError> {
    let common = max_common_layout_in(d, a, b)?;
    common.shape().product().ok_or_else(overflow)
}

pub(crate) fn max_alignment_in<D: Domain>(
    d: &mut D,
    a: &ComposedLayout<D::Int>,
) -> Result<D::Int, LayoutError> {
    let block = alignment_of(d, a.layout())?;
    a.whole(d, &block)
}

fn alignment_of<D: Domain>(d: &D, a: &Layout<D::Int>) -> Result<D::Int, LayoutError> {
    let (contiguous, others) = contiguous(d, &coalesce(&filter_zeros_in(d, a)?))?;
    let block = contiguous
        .iter()
        .try_fold(D::Int::ONE, |block, step| product(&block, &step.extent))?;
    let rest = others.iter().try_fold(D::Int::ZERO, |rest, step| {
        common_divisor(d, &rest, &step.stride)
    })?;
    common_divisor(d, &block, &rest)
}

pub(crate) fn domain_distribute_in<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    count: &D::Int,
) -> Result<Layout<D::Int>, LayoutError> {
    d.require_shape(shape)?;
    d.require_extent(count, &Place::operand(1))?;
    let (mut left, mut weight, mut modes) = (count.clone(), D::Int::ONE, Vec::new());
    for extent in shape.leaves() {
        let share = common_divisor(d, extent, &left)?;
        left = quotient(&left, &share)?;
        modes.push((share, weight.clone().into()));
        weight = product(&weight, extent)?;
    }
    Ok(coalesced(modes))
}

/// The greatest common divisor of two numbers, or of two integers if the facts say that one divides the other.
pub(crate) fn common_divisor<D: Domain>(
    d: &D,
    a: &D::Int,
    b: &D::Int,
) -> Result<D::Int, LayoutError> {
    if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
        return Ok(gcd(a, b).into());
    }
    let place = Place::operand(0);
    let magnitude =
        |value: &D::Int| match d.decide(Question::AtMost(&D::Int::ZERO, value), &place)? {
            true => Ok(value.clone()),
            false => product(value, &(-1).into()),
        };
    let (a, b) = (magnitude(a)?, magnitude(b)?);
    if a.is_zero() || d.is_known(Question::Divides(&b, &a)) {
        return Ok(b);
    }
    if b.is_zero() || a.is_one() || d.is_known(Question::Divides(&a, &b)) {
        return Ok(a);
    }
    Err(d.undecided(Question::Divides(&a, &b), &place))
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

impl Layout {
    /// The largest v such that every v consecutive coordinates that begin at a multiple of v have v consecutive
    /// values that begin at a multiple of v. It is 1 for a layout into a coordinate space.
    /// ```
    /// use cute_algebra::Layout;
    /// assert_eq!(Layout::new([4, 8], [1, 6])?.vector_width(), 2);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn vector_width(&self) -> i64 {
        vector_width_in(&Numbers, self).unwrap_or(1)
    }

    /// The largest number that divides every value; 0 where all values are 0. For a layout into a coordinate space
    /// it divides every component of the values.
    /// ```
    /// use cute_algebra::Layout;
    /// assert_eq!(Layout::new([4, 8], [12, 16])?.alignment(), 4);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn alignment(&self) -> i64 {
        alignment_in(&Numbers, self).unwrap_or(1)
    }
}

impl ComposedLayout {
    /// A vector width with the property of [`Layout::vector_width`]. It divides the offset and, if there is a
    /// swizzle, `1 << base` of it, so it can be smaller than the largest such width.
    /// ```
    /// use cute_algebra::{ComposedLayout, Layout, Swizzle};
    /// let tile = ComposedLayout::new(Swizzle::new(3, 3, 3)?, 0, Layout::new([64, 8], [1, 64])?)?;
    /// assert_eq!(tile.vector_width(), 8);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn vector_width(&self) -> i64 {
        let width = self.layout().vector_width();
        self.whole(&mut Numbers, &width).unwrap_or(1)
    }

    /// A number that divides every value. It divides the offset and, if there is a swizzle, `1 << base` of it, so
    /// it can be smaller than the largest such number.
    pub fn alignment(&self) -> i64 {
        let alignment = self.layout().alignment();
        self.whole(&mut Numbers, &alignment).unwrap_or(1)
    }
}

impl<I: Integer> ComposedLayout<I> {
    /// The largest common divisor of `block`, the offset and `1 << base`, the block of elements moved as one by the
    /// swizzle.
    pub(crate) fn whole<D: Domain<Int = I>>(&self, d: &mut D, block: &I) -> Result<I, LayoutError> {
        if self.as_layout().is_some() {
            return Ok(block.clone());
        }
        let offset = d.integer(&self.offset())?;
        let whole = common_divisor(d, block, &offset)?;
        match self.swizzle().is_identity() {
            true => Ok(whole),
            false => common_divisor(d, &whole, &(1i64 << self.swizzle().base()).into()),
        }
    }
}

pub(crate) fn vector_width_in<D: Domain>(d: &D, a: &Layout<D::Int>) -> Result<D::Int, LayoutError> {
    let coalesced = coalesce(a);
    let mut modes = coalesced.leaves();
    let place = Place::operand(0);
    match modes.next().filter(|_| coalesced.is_integral()) {
        // Later strides must be multiples of the vector: a vector then ends at each end of the first mode.
        Some((extent, stride))
            if d.decide(Question::Equal(&stride.value(), &D::Int::ONE), &place)? =>
        {
            modes.try_fold(extent.clone(), |vector, (_, stride)| {
                common_divisor(d, &vector, &stride.value())
            })
        }
        _ => Ok(D::Int::ONE),
    }
}

pub(crate) fn alignment_in<D: Domain>(d: &D, a: &Layout<D::Int>) -> Result<D::Int, LayoutError> {
    let mut moving = a.leaves().filter(|(extent, _)| !extent.is_one());
    moving.try_fold(D::Int::ZERO, |divisor, (_, stride)| {
        common_divisor(d, &divisor, &stride.value())
    })
}
