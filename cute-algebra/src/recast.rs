//! Recasting: the same memory as elements of another size.

use crate::coalesce::coalesced;
use crate::domain::{Answer, Domain, Numbers, Question, product, quotient};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::inverse::contiguous;
use crate::layout::Layout;
use crate::overhang::{Overhang, nearest_multiples};
use crate::stride::ScaledBasis;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The layout in units of `factor` elements. Its values are those of A divided by `factor`, and each group of
/// `factor` values of A with the same quotient becomes one coordinate.
///
/// Each stride must be a multiple of the factor or divide it, and the modes with strides below the factor must fill
/// its groups.
/// ```
/// use cute_algebra::{Layout, upcast};
/// assert_eq!(upcast(&Layout::new([8, 4], [1, 8])?, 4)?.to_string(), "(2,4):(1,2)");
/// assert!(upcast(&Layout::new([2, 8], [1, 4])?, 4).is_err()); // half of each group of 4 is absent
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn upcast(a: &Layout, factor: i64) -> Result<Layout, LayoutError> {
    upcast_in(&mut Numbers, a, &factor, Overhang::Strict).during("upcast", [a, &factor])
}

/// The layout in units of a `factor`-th of an element. The extent of a contiguous mode is multiplied by the factor,
/// and so are the strides of all other modes.
/// ```
/// use cute_algebra::{Layout, downcast};
/// assert_eq!(downcast(&Layout::new([2, 4], [1, 2])?, 4)?.to_string(), "(8,4):(1,8)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn downcast(a: &Layout, factor: i64) -> Result<Layout, LayoutError> {
    downcast_in(&mut Numbers, a, &factor).during("downcast", [a, &factor])
}

/// The layout of elements of `old` bits as one of elements of `new` bits: [`upcast`] or [`downcast`] by the
/// quotient of the two sizes.
///
/// One size must be a multiple of the other.
/// ```
/// use cute_algebra::{Layout, recast};
/// let a: Layout = "(8,4):(1,8)".parse()?;
/// assert_eq!(recast(&a, 8, 32)?.to_string(), "(2,4):(1,2)");
/// assert_eq!(recast(&a, 16, 8)?.to_string(), "(16,4):(1,16)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recast(a: &Layout, old: i64, new: i64) -> Result<Layout, LayoutError> {
    let cast = recast_factor(old, new);
    cast.and_then(|cast| match cast {
        Cast::Up(factor) => upcast_in(&mut Numbers, a, &factor, Overhang::Strict),
        Cast::Down(factor) => downcast_in(&mut Numbers, a, &factor),
    })
    .during("recast", [a, &old, &new])
}

/// A change to units of `Up` elements, or of a `Down`-th of an element.
pub(crate) enum Cast<I> {
    Up(I),
    Down(I),
}

impl Cast<i64> {
    /// The same cast with another type of integers.
    pub(crate) fn lift<I: Integer>(self) -> Cast<I> {
        match self {
            Self::Up(factor) => Cast::Up(factor.into()),
            Self::Down(factor) => Cast::Down(factor.into()),
        }
    }
}

pub(crate) fn recast_factor(old: i64, new: i64) -> Result<Cast<i64>, LayoutError> {
    check_factor(old)?;
    check_factor(new).map_err(|error| error.blame(2))?;
    match (new % old, old % new) {
        (0, _) => Ok(Cast::Up(new / old)),
        (_, 0) => Ok(Cast::Down(old / new)),
        _ => Err(ErrorKind::Bits { old, new }.at(Place::operand(2))),
    }
}

fn check_factor(factor: i64) -> Result<(), LayoutError> {
    if factor < 1 {
        Err(ErrorKind::Factor { factor }.at(Place::operand(1)))
    } else {
        Ok(())
    }
}

fn require_factor<D: Domain>(d: &mut D, factor: &D::Int) -> Result<(), LayoutError> {
    match factor.as_constant() {
        Some(factor) => check_factor(factor),
        None => d.require_extent(factor, &Place::operand(1)),
    }
}

pub(crate) fn upcast_in<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
    factor: &D::Int,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    require_factor(d, factor)?;
    a.require_integral(0)?;
    let (mut leaves, mut group) = (Vec::new(), Vec::new());
    for ((extent, stride), path) in a.leaves().zip(a.shape().leaf_paths()) {
        if !stride.sources().is_empty() {
            let (what, extent) = ("joined", extent.to_string());
            return Err(ErrorKind::RaggedEdge { what, extent }.at(Place::operand(0)));
        }
        let place = Place::operand(0).mode(path);
        let unit = Unit::of(d, extent, &stride.value(), factor, overhang, &place)?;
        leaves.push(Layout::leaf(unit.extent, unit.stride));
        group.extend(unit.inside);
    }
    if overhang == Overhang::Strict && !factor.is_one() {
        require_full(d, Layout::from_flat(group), factor)?;
    }
    Layout::replace_leaves(a.shape(), leaves)
}

/// A leaf in larger units.
struct Unit<I: Integer> {
    extent: I,
    stride: I,
    /// The part of the leaf whose steps stay within one unit, as a mode in elements; `None` if each step is a whole
    /// unit or more.
    inside: Option<(I, ScaledBasis<I>)>,
}

impl<I: Integer> Unit<I> {
    fn of<D: Domain<Int = I>>(
        d: &mut D,
        extent: &I,
        stride: &I,
        factor: &I,
        overhang: Overhang,
        place: &Place,
    ) -> Result<Self, LayoutError> {
        let at_stride = place.clone().stride();
        let [whole, part] = [
            Question::Divides(factor, stride),
            Question::Divides(stride, factor),
        ];
        // Where the facts leave it open, the stride must be a multiple of the factor, unless this is known to be
        // impossible.
        let is_multiple = match [d.answer(whole), d.answer(part)] {
            [Answer::Always, _] | [_, Answer::Never] | [Answer::Maybe, Answer::Maybe] => true,
            [_, Answer::Always] | [Answer::Never, Answer::Maybe] => false,
        };
        if is_multiple {
            let refusal = || {
                let (stride, factor) = (stride.as_constant()?, factor.as_constant()?);
                let nearest = nearest_parts(stride, factor);
                Some(ErrorKind::Recast {
                    stride,
                    factor,
                    nearest,
                })
            };
            d.require(whole, &at_stride, &refusal)?;
            return Ok(Self {
                extent: extent.clone(),
                stride: quotient(stride, factor)?,
                inside: None,
            });
        }
        let is_positive = d.decide(Question::AtMost(&I::ONE, stride), &at_stride)?;
        let sign = I::from(if is_positive { 1 } else { -1 });
        d.require(part, &at_stride, &|| None)?;
        let share = quotient(factor, &product(stride, &sign)?)?;
        let refusal = || {
            let (extent, share) = (extent.as_constant()?, share.as_constant()?);
            let nearest = match is_positive {
                true => nearest_parts(extent, share),
                false => Vec::new(),
            };
            Some(ErrorKind::RecastShare {
                extent,
                stride: stride.as_constant()?,
                factor: factor.as_constant()?,
                nearest,
            })
        };
        if !is_positive
            && overhang == Overhang::Strict
            && let Some(kind) = refusal()
        {
            return Err(kind.at(place.clone()));
        }
        let [fills, fits] = [
            Question::Divides(&share, extent),
            Question::Divides(extent, &share),
        ];
        // `inside` is the number of the leaf's elements in one unit, `units` the number of units that it reaches.
        let is_inside = d.is_known(fits) && !d.is_known(fills)
            || d.answer(fills) == Answer::Never && overhang == Overhang::Strict;
        let (inside, units) = if is_inside {
            d.require(fits, place, &refusal)?;
            (extent.clone(), I::ONE)
        } else if overhang == Overhang::Ragged && !d.is_known(fills) {
            let units = d.ceiling(extent, &share, place)?;
            (share.clone(), units)
        } else {
            d.require(fills, place, &refusal)?;
            (share.clone(), quotient(extent, &share)?)
        };
        Ok(Self {
            extent: units,
            stride: sign,
            inside: Some((inside, stride.clone().into())),
        })
    }
}

/// Requires that the modes inside a unit take each of its elements exactly once.
fn require_full<D: Domain>(
    d: &D,
    group: Layout<D::Int>,
    factor: &D::Int,
) -> Result<(), LayoutError> {
    let place = Place::operand(0);
    let (contiguous, others) = contiguous(d, &group)?;
    let block = contiguous
        .iter()
        .try_fold(D::Int::ONE, |block, step| product(&block, &step.extent))?;
    if others.is_empty() && d.decide(Question::Equal(&block, factor), &place)? {
        return Ok(());
    }
    let modes = contiguous.into_iter().chain(others);
    let modes = modes.map(|step| (step.extent, step.stride.into()));
    Err(ErrorKind::RecastHoles {
        group: coalesced(modes.collect()).to_string(),
        factor: factor.to_string(),
    }
    .at(place))
}

/// The numbers nearest to `value` that are multiples of `whole` or divide it. Divisors are searched in few steps
/// only.
fn nearest_parts(value: i64, whole: i64) -> Vec<i64> {
    const STEPS: i64 = 1 << 12;
    if value > whole {
        return nearest_multiples(value, whole).into();
    }
    let divides = |part: &i64| whole % part == 0;
    let below = (value.saturating_sub(STEPS).max(1)..value)
        .rev()
        .find(divides);
    let above = (value.max(0) + 1..=whole.min(value.saturating_add(STEPS))).find(divides);
    [below, above].into_iter().flatten().collect()
}

pub(crate) fn downcast_in<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
    factor: &D::Int,
) -> Result<Layout<D::Int>, LayoutError> {
    require_factor(d, factor)?;
    a.require_integral(0)?;
    let (mut leaves, mut contiguous) = (Vec::new(), 0);
    for ((extent, stride), path) in a.leaves().zip(a.shape().leaf_paths()) {
        let (value, place) = (stride.value(), Place::operand(0).mode(path).stride());
        let sources = stride.sources();
        let (extent, value) = if d.is_known(Question::Equal(&value, &D::Int::ONE)) {
            if !sources.is_empty() {
                let (what, extent) = ("split", extent.to_string());
                return Err(ErrorKind::RaggedEdge { what, extent }.at(place));
            }
            contiguous += 1;
            (product(extent, factor)?, value)
        } else {
            // Only one mode can have stride 1, and it is found. So any other stride must not be 1.
            if value.as_constant().is_none() && !factor.is_one() {
                d.require(Question::AtMost(&2.into(), &value), &place, &|| None)?;
            }
            (extent.clone(), product(&value, factor)?)
        };
        let stride = ScaledBasis::from(value).with_sources(sources.to_vec());
        leaves.push(Layout::leaf(extent, stride));
    }
    if contiguous != 1 && !factor.is_one() {
        let factor = factor.to_string();
        return Err(ErrorKind::NotContiguous { factor }.at(Place::operand(0).stride()));
    }
    Layout::replace_leaves(a.shape(), leaves)
}
