//! Coordinates of a shape, conversions between them, and the order of shapes.

use crate::ascending::steps;
use crate::coalesce::endless_modes;
use crate::complement::complement_in;
use crate::domain::{Answer, Domain, Numbers, Question, Sum, overflow};
use crate::error::{During, ErrorKind, LayoutError, ModePath, Place};
use crate::integer::{Integer, Leaf};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::stride::add;
use crate::tiler::Tiler;
use crate::tuple::{Coord, IntTuple, Shape, Tuple};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::convert::Infallible;

impl Layout {
    /// The value at a coordinate: an integer for the whole or for any mode, or a tuple for its modes.
    ///
    /// An integer that is below 0 or not below the size of its mode is refused; [`ragged::crd2idx`](crate::ragged::crd2idx)
    /// goes on past the end, as CuTe does.
    /// ```
    /// use cute_algebra::{Coord, Layout};
    /// let a: Layout = "(4,(2,4)):(8,(1,2))".parse()?;
    /// assert_eq!(a.crd2idx(&Coord::from([Some(3), Some(5)]))?.to_string(), "29");
    /// assert!(a.crd2idx(&Coord::from([Some(4), Some(0)])).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn crd2idx(&self, coord: &Coord) -> Result<IntTuple, LayoutError> {
        crd2idx_in(&mut Numbers, coord, self, Overhang::Strict).during("crd2idx", [coord, self])
    }
}

/// The natural coordinate in `shape` of an integer, or of a tuple of coordinates of its modes. The leftmost mode
/// varies fastest. An integer that is below 0 or not below the size of its mode is refused;
/// [`ragged::idx2crd`](crate::ragged::idx2crd) goes on past the end, as CuTe does. The operands are in CuTe's order.
/// ```
/// use cute_algebra::{IntTuple, Shape, Tuple, idx2crd};
/// let shape: Shape = [3.into(), [2, 3].into()].into_iter().collect();
/// assert_eq!(idx2crd(&16.into(), &shape)?.to_string(), "(1,(1,2))");
/// assert_eq!(idx2crd(&IntTuple::from([1, 5]), &shape)?.to_string(), "(1,(1,2))");
/// assert!(idx2crd(&18.into(), &shape).is_err());
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn idx2crd(coord: &IntTuple, shape: &Shape) -> Result<IntTuple, LayoutError> {
    idx2crd_in(&mut Numbers, coord, shape, Overhang::Strict).during("idx2crd", [coord, shape])
}

/// The natural coordinate with value `index` under a compact layout: each leaf is `index / stride % extent`.
///
/// An index that is below 0 or not below the cosize is refused. If the layout is not compact, the coordinate can have
/// another value.
/// ```
/// use cute_algebra::{Layout, idx2crd_stride};
/// let a: Layout = "(3,(2,3)):(6,(3,1))".parse()?;
/// assert_eq!(idx2crd_stride(11, &a)?.to_string(), "(1,(1,2))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn idx2crd_stride(index: i64, a: &Layout) -> Result<IntTuple, LayoutError> {
    idx2crd_stride_in(&mut Numbers, &index, a, Overhang::Strict)
}

/// The coordinate of `target` with the same 1-D coordinate. Where all three operands are tuples, this is done mode
/// by mode.
///
/// Refused where the coordinate does not nest as `source` does, and where it is outside of `source` or of `target`.
/// ```
/// use cute_algebra::{Shape, crd2crd};
/// let (source, target) = (Shape::from([24]), Shape::from([4, 6]));
/// assert_eq!(crd2crd(&13.into(), &24.into(), &target)?.to_string(), "(1,3)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn crd2crd(coord: &IntTuple, source: &Shape, target: &Shape) -> Result<IntTuple, LayoutError> {
    crd2crd_in(&mut Numbers, coord, source, target, Overhang::Strict)
        .during("crd2crd", [coord, source, target])
}

/// Whether both shapes have the same nesting.
/// ```
/// use cute_algebra::{Shape, congruent};
/// assert!(congruent(&Shape::from([4, 6]), &Shape::from([8, 1])));
/// assert!(!congruent(&Shape::from([24]), &24.into()));
/// ```
pub fn congruent<I: Integer>(a: &Tuple<I>, b: &Tuple<I>) -> bool {
    a.is_congruent(b)
}

/// Whether A is B with some subtrees replaced by integers of any value.
/// ```
/// use cute_algebra::{Shape, weakly_congruent};
/// assert!(weakly_congruent(&24.into(), &Shape::from([8, 1])));
/// assert!(!weakly_congruent(&Shape::from([8, 1]), &24.into()));
/// ```
pub fn weakly_congruent<I: Integer>(a: &Tuple<I>, b: &Tuple<I>) -> bool {
    let Ok(refines) = refines(a, b, &mut |_, _| Ok::<_, Infallible>(true));
    refines
}

/// Whether A is B with some subtrees replaced by their sizes. Then every coordinate of A is one of B.
/// ```
/// use cute_algebra::{Shape, compatible};
/// assert!(compatible(&24.into(), &Shape::from([4, 6])));
/// assert!(!compatible(&Shape::from([24]), &Shape::from([4, 6])));
/// ```
pub fn compatible(a: &Shape, b: &Shape) -> bool {
    let is_size =
        |&extent: &i64, shape: &Shape| Ok::<_, Infallible>(shape.product() == Some(extent));
    let Ok(refines) = refines(a, b, &mut { is_size });
    refines
}

/// Whether each mode of `tiler` divides its mode of `shape` without a remainder: the mode has a complement in that
/// size.
/// ```
/// use cute_algebra::{Shape, evenly_divides};
/// let shape = Shape::from([8, 6]);
/// assert!(evenly_divides(&shape, &"<4,3>".parse()?));
/// assert!(!evenly_divides(&shape, &"<4,4>".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evenly_divides(shape: &Shape, tiler: &Tiler) -> bool {
    evenly_divides_in(&mut Numbers, shape, tiler) == Ok(true)
}

pub(crate) fn crd2idx_in<D: Domain>(
    d: &mut D,
    coord: &Tuple<Option<Sum<D>>>,
    a: &Layout<D::Int>,
    overhang: Overhang,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    coord.check_limits()?;
    if overhang == Overhang::Strict {
        require_inside(d, coord, a.shape(), &ModePath::default())?;
    }
    let Some(coord) = coord.to_int_tuple() else {
        let mut leaves = coord.leaves().zip(coord.leaf_paths());
        let path = leaves.find_map(|(leaf, path)| leaf.is_none().then_some(path));
        let place = Place::operand(0).mode(path.unwrap_or_default());
        return Err(ErrorKind::Underscore.at(place));
    };
    let goes_below = coord.leaves().any(is_negative::<D::Int>);
    let coord = match goes_below {
        true => along_one_leaf(a, &coord),
        false => coord,
    };
    let digits = split(d, a.shape(), &coord, &ModePath::default())?;
    let overflow = || ErrorKind::Overflow { quantity: "index" }.at(Place::operand(0));
    let mut sum = Tuple::Leaf(0.into());
    for (stride, digit) in a.stride().leaves().zip(digits.leaves()) {
        let term = D::Int::multiply(digit, &stride.value().into()).ok_or_else(overflow)?;
        sum = add::<D::Int>(&sum, &stride.place(term)).ok_or_else(overflow)?;
    }
    Ok(sum)
}

fn is_negative<I: Integer>(sum: &I::Sum) -> bool {
    I::number(sum).is_some_and(|number| number < 0)
}

/// Moves a coordinate below 0 in a mode that coalesces to one leaf: it goes to the first leaf of the mode with an
/// extent above 1. All other coordinates stay.
fn along_one_leaf<I: Integer>(a: &Layout<I>, coord: &Tuple<I::Sum>) -> Tuple<I::Sum> {
    match coord {
        Tuple::Leaf(index) if is_negative::<I>(index) && endless_modes(a).len() == 1 => {
            let first = a.shape().leaves().position(|extent| !extent.is_one());
            let first = first.unwrap_or(a.shape().leaf_count().saturating_sub(1));
            let mut leaf = 0..;
            a.shape().map(|_| match leaf.next() == Some(first) {
                true => index.clone(),
                false => 0.into(),
            })
        }
        Tuple::Node(coords) if coords.len() == a.rank() && !a.shape().is_leaf() => {
            let modes = a.modes();
            let pairs = modes.iter().zip(coords);
            pairs
                .map(|(mode, coord)| along_one_leaf(mode, coord))
                .collect()
        }
        _ => coord.clone(),
    }
}

pub(crate) fn idx2crd_in<D: Domain>(
    d: &mut D,
    coord: &Tuple<Sum<D>>,
    shape: &Tuple<D::Int>,
    overhang: Overhang,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    coord.check_limits()?;
    d.require_shape(shape)
        .map_err(|error| error.inside(1, &[]))?;
    if overhang == Overhang::Strict {
        require_inside(d, &coord.to_coord(), shape, &ModePath::default())?;
    }
    split(d, shape, coord, &ModePath::default())
}

pub(crate) fn idx2crd_stride_in<D: Domain>(
    d: &mut D,
    index: &Sum<D>,
    a: &Layout<D::Int>,
    overhang: Overhang,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    let in_layout = |error: LayoutError| error.inside(1, &[]);
    match overhang {
        Overhang::Ragged => d.require_natural(index, &Place::operand(0))?,
        Overhang::Strict => {
            let cosize = cosize_in(d, a).map_err(in_layout)?;
            let cosize = d.integer(&cosize).map_err(in_layout)?;
            d.require_index("index", index, &cosize, &Place::operand(0))?;
        }
    }
    let mut coords = Vec::new();
    for step in steps(a).map_err(in_layout)? {
        let is_still = d.is_zero(&step.stride, &step.place).map_err(in_layout)?;
        coords.push(match is_still {
            true => 0.into(),
            false => {
                let (quotient, _) = d.div_rem(index, &step.stride)?;
                let (_, digit) = d.div_rem(&quotient, &step.extent)?;
                digit
            }
        });
    }
    let mut coords = coords.into_iter();
    Ok(a.shape().map(|_| coords.next().unwrap_or_else(|| 0.into())))
}

pub(crate) fn crd2crd_in<D: Domain>(
    d: &mut D,
    coord: &Tuple<Sum<D>>,
    source: &Tuple<D::Int>,
    target: &Tuple<D::Int>,
    overhang: Overhang,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    coord.check_limits()?;
    d.require_shape(source).map_err(|error| error.blame(1))?;
    d.require_shape(target).map_err(|error| error.blame(2))?;
    if overhang == Overhang::Strict {
        require_inside(d, &coord.to_coord(), source, &ModePath::default())?;
    }
    convert(d, coord, source, target, &ModePath::default(), overhang)
}

/// Makes sure that the integers of a coordinate are inside of their modes, as far as the coordinate nests as the shape does.
pub(crate) fn require_inside<D: Domain>(
    d: &mut D,
    coord: &Tuple<Option<Sum<D>>>,
    shape: &Tuple<D::Int>,
    path: &ModePath,
) -> Result<(), LayoutError> {
    match (coord, shape) {
        (Tuple::Leaf(None), _) | (Tuple::Node(_), Tuple::Leaf(_)) => Ok(()),
        (Tuple::Leaf(Some(index)), shape) => {
            let size = shape.product().ok_or_else(overflow)?;
            let place = Place::operand(0).mode(path.0.clone());
            d.require_index("coordinate", index, &size, &place)
        }
        (Tuple::Node(coords), Tuple::Node(modes)) => {
            let pairs = coords.iter().zip(modes).enumerate();
            pairs
                .into_iter()
                .try_for_each(|(i, (coord, mode))| require_inside(d, coord, mode, &path.child(i)))
        }
    }
}

/// The number of consecutive values from the smallest to the largest along each coordinate. It is an integer where
/// the values are integers.
pub(crate) fn coshape_in<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    let mut last = Tuple::Leaf(0.into());
    for ((extent, stride), path) in a.leaves().zip(a.shape().leaf_paths()) {
        let value = stride.value();
        let is_still = extent.is_one() || stride.is_zero();
        let place = Place::operand(0).mode(path).stride();
        let sign = match is_still || d.decide(Question::AtMost(&D::Int::ZERO, &value), &place)? {
            true => 1,
            false => -1,
        };
        let steps = D::Int::plus(&extent.clone().into(), &(-1).into());
        let step = D::Int::multiply(&value.into(), &sign.into());
        let reach = steps
            .zip(step)
            .and_then(|(steps, step)| D::Int::multiply(&steps, &step));
        let reach = stride.place(reach.ok_or_else(overflow)?);
        last = add::<D::Int>(&last, &reach).ok_or_else(overflow)?;
    }
    last.try_map(|reach| D::Int::plus(reach, &1.into()).ok_or_else(overflow))
}

/// The product of the leaves of the coshape.
pub(crate) fn cosize_in<D: Domain>(d: &D, a: &Layout<D::Int>) -> Result<Sum<D>, LayoutError> {
    let spans = coshape_in(d, a)?;
    let mut spans = spans.leaves();
    let product = spans.try_fold(1.into(), |product, span| D::Int::multiply(&product, span));
    product.ok_or_else(overflow)
}

pub(crate) fn compatible_in<D: Domain>(
    d: &mut D,
    a: &Tuple<D::Int>,
    b: &Tuple<D::Int>,
) -> Result<bool, LayoutError> {
    refines(a, b, &mut |extent, shape| {
        let size = shape.product().ok_or_else(overflow)?;
        let question = Question::Equal(extent, &size);
        match d.answer(question) {
            Answer::Always => Ok(true),
            Answer::Never => Ok(false),
            Answer::Maybe => {
                let condition = question.to_string();
                Err(ErrorKind::Open { condition }.at(Place::default()))
            }
        }
    })
}

pub(crate) fn evenly_divides_in<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    tiler: &Tiler<D::Int>,
) -> Result<bool, LayoutError> {
    match tiler {
        Tiler::Keep => Ok(true),
        Tiler::Layout(tile) => {
            let size = shape.product().ok_or_else(overflow)?;
            let divides =
                d.succeeds(|d| complement_in(d, tile, &size, Overhang::Strict).map(drop))?;
            // A mode that proves to have extent 1 at run time could change the answer.
            let extents = tile.shape().leaves();
            for extent in extents.filter(|extent| !divides && !extent.is_one()) {
                d.decide(Question::AtMost(&2.into(), extent), &Place::operand(1))?;
            }
            Ok(divides)
        }
        Tiler::Modes(tilers) => {
            let modes = shape.modes();
            let each = modes.iter().zip(tilers);
            let each = each.map(|(mode, tiler)| evenly_divides_in(d, mode, tiler));
            match tilers.len() <= modes.len() {
                true => all(each),
                false => Ok(false),
            }
        }
    }
}

/// Whether an integer of one shape agrees with the subtree of the other in its place.
type Agree<'a, I, E> = dyn FnMut(&I, &Tuple<I>) -> Result<bool, E> + 'a;

/// Whether A is B with some subtrees replaced by integers that agree with them.
fn refines<I: Integer, E>(
    a: &Tuple<I>,
    b: &Tuple<I>,
    agree: &mut Agree<'_, I, E>,
) -> Result<bool, E> {
    match (a, b) {
        (Tuple::Leaf(extent), b) => agree(extent, b),
        (Tuple::Node(a), Tuple::Node(b)) if a.len() == b.len() => {
            all(a.iter().zip(b).map(|(a, b)| refines(a, b, agree)))
        }
        _ => Ok(false),
    }
}

/// Whether all answers are yes. A no decides, even where another answer is an error.
fn all<E>(answers: impl Iterator<Item = Result<bool, E>>) -> Result<bool, E> {
    let mut all = Ok(true);
    for answer in answers {
        match answer {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(open) => all = Err(open),
        }
    }
    all
}

/// Splits a coordinate down to the leaves of a shape.
pub(crate) fn split<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    coord: &Tuple<Sum<D>>,
    path: &ModePath,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    match (shape, coord) {
        (Tuple::Leaf(_), Tuple::Leaf(_)) => Ok(coord.clone()),
        (Tuple::Node(modes), Tuple::Leaf(index)) => {
            let mut rest = index.clone();
            let mut coords = Vec::new();
            for (i, mode) in modes.iter().enumerate() {
                // The last mode continues past its end.
                let digit = if i + 1 == modes.len() {
                    rest.clone()
                } else {
                    d.require_natural(&rest, &Place::operand(0).mode(path.0.clone()))?;
                    let size = mode.product().ok_or_else(overflow)?;
                    let (quotient, digit) = d.div_rem(&rest, &size)?;
                    rest = quotient;
                    digit
                };
                coords.push(split(d, mode, &Tuple::Leaf(digit), &path.child(i))?);
            }
            Ok(Tuple::Node(coords))
        }
        (Tuple::Node(modes), Tuple::Node(coords)) if modes.len() == coords.len() => {
            let pairs = modes.iter().zip(coords).enumerate();
            pairs
                .map(|(i, (mode, coord))| split(d, mode, coord, &path.child(i)))
                .collect()
        }
        _ => Err(profile(shape, coord, 0, path)),
    }
}

/// The coordinate of `target` with the 1-D coordinate that `coord` has in `source`.
pub(crate) fn convert<D: Domain>(
    d: &mut D,
    coord: &Tuple<Sum<D>>,
    source: &Tuple<D::Int>,
    target: &Tuple<D::Int>,
    path: &ModePath,
    overhang: Overhang,
) -> Result<Tuple<Sum<D>>, LayoutError> {
    match (coord, source, target) {
        (Tuple::Node(coords), Tuple::Node(sources), Tuple::Node(targets)) => {
            if coords.len() != sources.len() {
                return Err(profile(source, coord, 0, path));
            }
            if targets.len() != sources.len() {
                return Err(profile(source, target, 2, path));
            }
            let triples = coords.iter().zip(sources).zip(targets).enumerate();
            triples
                .map(|(i, ((coord, source), target))| {
                    convert(d, coord, source, target, &path.child(i), overhang)
                })
                .collect()
        }
        _ => {
            let index = linear::<D::Int>(coord, source, path)?;
            if overhang == Overhang::Strict {
                let size = target.product().ok_or_else(overflow)?;
                let place = Place::operand(0).mode(path.0.clone());
                d.require_index("coordinate", &index, &size, &place)?;
            }
            split(d, target, &Tuple::Leaf(index), path)
        }
    }
}

/// The 1-D coordinate in `shape` of a coordinate.
fn linear<I: Integer>(
    coord: &Tuple<I::Sum>,
    shape: &Tuple<I>,
    path: &ModePath,
) -> Result<I::Sum, LayoutError> {
    match (coord, shape) {
        (Tuple::Leaf(index), _) => Ok(index.clone()),
        (Tuple::Node(coords), Tuple::Node(modes)) if coords.len() == modes.len() => {
            let mut sum = 0.into();
            let mut weight: I::Sum = 1.into();
            let overflow = || {
                let quantity = "coordinate";
                ErrorKind::Overflow { quantity }.at(Place::operand(0).mode(path.0.clone()))
            };
            for (i, (coord, mode)) in coords.iter().zip(modes).enumerate() {
                let index = linear::<I>(coord, mode, &path.child(i))?;
                let term = I::multiply(&index, &weight).ok_or_else(overflow)?;
                sum = I::plus(&sum, &term).ok_or_else(overflow)?;
                let size = mode.product().ok_or_else(overflow)?;
                weight = I::multiply(&weight, &size.into()).ok_or_else(overflow)?;
            }
            Ok(sum)
        }
        _ => Err(profile(shape, coord, 0, path)),
    }
}

fn profile<A: Leaf, B: Leaf>(
    expected: &Tuple<A>,
    found: &Tuple<B>,
    operand: usize,
    path: &ModePath,
) -> LayoutError {
    let (expected, found) = (expected.to_string(), found.to_string());
    ErrorKind::Profile { expected, found }.at(Place::operand(operand).mode(path.0.clone()))
}
