//! Divisions of shapes: leaf by leaf, or from the left until the divisor is used up.

use crate::domain::{Domain, Numbers, Question, Sum, overflow, quotient};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::tuple::{IntTuple, Shape, Tuple};
use alloc::string::ToString;
use alloc::vec::Vec;

/// How a division treats a remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// It rounds the quotient up.
    Ceil,
    /// It rounds the quotient down.
    Floor,
    /// It is refused.
    Exact,
}

/// The extents that remain when `divisor` is divided out from the left: each leaf takes as much of the divisor as
/// it can, and the rest of the divisor goes to the next leaf.
///
/// At each leaf, the extent must divide the remaining divisor or be a multiple of it.
/// ```
/// use cute_algebra::{Shape, shape_div};
/// let shape: Shape = "(3,6,2,8)".parse()?;
/// assert_eq!(shape_div(&shape, 9)?.to_string(), "(1,2,2,8)");
/// assert!(shape_div(&shape, 4).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shape_div(shape: &Shape, divisor: i64) -> Result<Shape, LayoutError> {
    let split = from_the_left(&mut Numbers, shape, &divisor);
    Ok(split
        .during("shape_div", [shape, &Tuple::Leaf(divisor)])?
        .rest)
}

/// The extents of the first `count` elements from the left: each leaf keeps its extent or the remaining count,
/// whichever is smaller, and the count is divided by it.
///
/// At each leaf, the extent must divide the remaining count or be a multiple of it.
/// ```
/// use cute_algebra::{Shape, shape_mod};
/// let shape: Shape = "(3,6,2,8)".parse()?;
/// assert_eq!(shape_mod(&shape, 9)?.to_string(), "(3,3,1,1)");
/// assert!(shape_mod(&shape, 4).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shape_mod(shape: &Shape, count: i64) -> Result<Shape, LayoutError> {
    let split = from_the_left(&mut Numbers, shape, &count);
    Ok(split
        .during("shape_mod", [shape, &Tuple::Leaf(count)])?
        .first)
}

/// Each extent divided by the divisor. A divisor that nests as the shape does divides leaf by leaf.
/// ```
/// use cute_algebra::{Rounding, Shape, elementwise_div};
/// let (shape, divisor): (Shape, Shape) = ("(10,(4,8))".parse()?, "4".parse()?);
/// assert_eq!(elementwise_div(&shape, &divisor, Rounding::Ceil)?.to_string(), "(3,(1,2))");
/// assert_eq!(elementwise_div(&shape, &divisor, Rounding::Floor)?.to_string(), "(2,(1,2))");
/// assert!(elementwise_div(&shape, &divisor, Rounding::Exact).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn elementwise_div(
    shape: &Shape,
    divisor: &Shape,
    rounding: Rounding,
) -> Result<IntTuple, LayoutError> {
    elementwise(&mut Numbers, shape, divisor, rounding).during("shape_div", [shape, divisor])
}

/// A shape that is cut after a number of elements.
pub(crate) struct Split<I> {
    /// The extents before the cut.
    pub(crate) first: Tuple<I>,
    /// The extents after the cut.
    pub(crate) rest: Tuple<I>,
}

/// Cuts a shape after its first `count` elements from the left.
pub(crate) fn from_the_left<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    count: &D::Int,
) -> Result<Split<D::Int>, LayoutError> {
    check(d, shape, &Tuple::Leaf(count.clone()))?;
    let (mut left, mut paths) = (count.clone(), shape.leaf_paths().into_iter());
    let cut = shape.try_map(|extent| {
        let place = Place::operand(0).mode(paths.next().unwrap_or_default());
        let is_within = Question::Divides(&left, extent);
        let is_beyond = Question::Divides(extent, &left);
        let ends_here = d.is_known(is_within)
            || !d.is_known(is_beyond) && d.decide(Question::AtMost(&left, extent), &place)?;
        let (required, dividend, divisor) = match ends_here {
            true => (is_within, extent, &left),
            false => (is_beyond, &left, extent),
        };
        d.require(required, &place, &|| Some(indivisible(dividend, divisor)))?;
        let (first, next) = match ends_here {
            true => (left.clone(), D::Int::ONE),
            false => (extent.clone(), quotient(&left, extent)?),
        };
        left = next;
        let rest = quotient(extent, &first)?;
        Ok::<_, LayoutError>((first, rest))
    })?;
    Ok(Split {
        first: cut.map(|(first, _)| first.clone()),
        rest: cut.map(|(_, rest)| rest.clone()),
    })
}

/// The extents that remain, as CuTe's `shape_div`: a divisor that is an integer is divided out from the left, and a tuple of
/// divisors mode by mode, or as its product where the shape is an integer.
pub(crate) fn remaining<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    divisor: &Tuple<D::Int>,
) -> Result<Tuple<D::Int>, LayoutError> {
    match (shape, divisor) {
        (Tuple::Node(modes), Tuple::Node(divisors)) if modes.len() == divisors.len() => {
            let pairs = modes.iter().zip(divisors).enumerate();
            let quotients = pairs.map(|(i, (mode, divisor))| {
                remaining(d, mode, divisor).map_err(|error| error.in_mode(i))
            });
            quotients.collect::<Result<Vec<_>, _>>().map(Tuple::Node)
        }
        (Tuple::Node(_), Tuple::Node(_)) => {
            let (expected, found) = (shape.to_string(), divisor.to_string());
            Err(ErrorKind::Profile { expected, found }.at(Place::operand(1)))
        }
        _ => {
            let divisor = divisor.product().ok_or_else(overflow)?;
            Ok(from_the_left(d, shape, &divisor)?.rest)
        }
    }
}

/// Divides each leaf by the divisor, or by the divisor's leaf in its place.
pub(crate) fn elementwise<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    divisor: &Tuple<D::Int>,
    rounding: Rounding,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    check(d, shape, divisor)?;
    if !divisor.is_leaf() && !shape.is_congruent(divisor) {
        let (expected, found) = (shape.to_string(), divisor.to_string());
        return Err(ErrorKind::Profile { expected, found }.at(Place::operand(1)));
    }
    let divisors: Vec<_> = divisor.leaves().collect();
    let mut divisors = divisors.into_iter().cycle();
    let mut paths = shape.leaf_paths().into_iter();
    shape.try_map(|extent| {
        let place = Place::operand(0).mode(paths.next().unwrap_or_default());
        let Some(divisor) = divisors.next() else {
            return Ok(extent.clone().into());
        };
        Ok(match rounding {
            Rounding::Ceil => d.ceiling(extent, divisor, &place)?.into(),
            Rounding::Floor => d.div_rem(&extent.clone().into(), divisor)?.0,
            Rounding::Exact => {
                let refusal = || Some(indivisible(extent, divisor));
                d.require(Question::Divides(divisor, extent), &place, &refusal)?;
                quotient(extent, divisor)?.into()
            }
        })
    })
}

pub(crate) fn indivisible<I: Integer>(dividend: &I, divisor: &I) -> ErrorKind {
    ErrorKind::Indivisible {
        dividend: dividend.to_string(),
        divisor: divisor.to_string(),
    }
}

/// Refuses extents and divisors below 1.
fn check<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    divisor: &Tuple<D::Int>,
) -> Result<(), LayoutError> {
    d.require_shape(shape)?;
    d.require_shape(divisor).map_err(|error| error.blame(1))
}
