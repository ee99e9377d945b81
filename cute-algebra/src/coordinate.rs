//! Coordinates of shapes, and the orders on shapes.

use crate::complement::complement_in;
use crate::composition::Overhang;
use crate::error::{During, ErrorKind, LayoutError, ModePath, Place};
use crate::layout::{Layout, checked_shape};
use crate::stride::ScaledBasis;
use crate::tiler::Tiler;
use crate::tuple::{IntTuple, Shape, Tuple};

/// The natural coordinate of `shape` for an integer, or for a tuple of coordinates of its modes. The leftmost mode
/// runs fastest; past the end the last mode goes on.
/// ```
/// use cute_algebra::{IntTuple, Shape, Tuple, idx2crd};
/// let shape: Shape = [3.into(), [2, 3].into()].into_iter().collect();
/// assert_eq!(idx2crd(&shape, &16.into())?.to_string(), "(1,(1,2))");
/// assert_eq!(idx2crd(&shape, &IntTuple::from([1, 5]))?.to_string(), "(1,(1,2))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn idx2crd(shape: &Shape, coord: &IntTuple) -> Result<IntTuple, LayoutError> {
    let shape = checked_shape(shape.clone())?;
    coord.check_limits().map_err(|error| error.blame(1))?;
    split(&mut Numbers, &shape, coord, &ModePath::default()).during("idx2crd", [&shape, coord])
}

/// The natural coordinate with value `index` under a compact layout: each leaf is `index / stride % extent`.
///
/// Of a layout that is not compact the coordinate may have another value.
/// ```
/// use cute_algebra::{Layout, idx2crd_stride};
/// let a: Layout = "(3,(2,3)):(6,(3,1))".parse()?;
/// assert_eq!(idx2crd_stride(&a, 11)?.to_string(), "(1,(1,2))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn idx2crd_stride(a: &Layout, index: i64) -> Result<IntTuple, LayoutError> {
    a.require_integral(0)?;
    let mut strides = a.stride().leaves().map(ScaledBasis::value);
    Ok(a.shape().map(|&extent| match strides.next() {
        None | Some(0) => 0,
        Some(stride) => (i128::from(index) / i128::from(stride) % i128::from(extent)) as i64,
    }))
}

/// The coordinate of `target` with the same 1-D coordinate; mode by mode, where all three are tuples.
///
/// A coordinate that `source` does not have is refused.
/// ```
/// use cute_algebra::{Shape, crd2crd};
/// let (source, target) = (Shape::from([24]), Shape::from([4, 6]));
/// assert_eq!(crd2crd(&13.into(), &24.into(), &target)?.to_string(), "(1,3)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn crd2crd(coord: &IntTuple, source: &Shape, target: &Shape) -> Result<IntTuple, LayoutError> {
    coord.check_limits()?;
    let source = checked_shape(source.clone()).map_err(|error| error.blame(1))?;
    let target = checked_shape(target.clone()).map_err(|error| error.blame(2))?;
    convert(&mut Numbers, coord, &source, &target, &ModePath::default())
        .during("crd2crd", [coord, &source, &target])
}

/// Whether both shapes nest alike.
/// ```
/// use cute_algebra::{Shape, congruent};
/// assert!(congruent(&Shape::from([4, 6]), &Shape::from([8, 1])));
/// assert!(!congruent(&Shape::from([24]), &24.into()));
/// ```
pub fn congruent(a: &Shape, b: &Shape) -> bool {
    a.is_congruent(b)
}

/// Whether A is B with some subtrees cut to leaves.
/// ```
/// use cute_algebra::{Shape, weakly_congruent};
/// assert!(weakly_congruent(&24.into(), &Shape::from([8, 1])));
/// assert!(!weakly_congruent(&Shape::from([8, 1]), &24.into()));
/// ```
pub fn weakly_congruent(a: &Shape, b: &Shape) -> bool {
    refines(a, b, &|_, _| true)
}

/// Whether A is B with some subtrees cut to leaves, each of the size of its subtree: every coordinate of A is one of B.
/// ```
/// use cute_algebra::{Shape, compatible};
/// assert!(compatible(&24.into(), &Shape::from([4, 6])));
/// assert!(!compatible(&Shape::from([24]), &Shape::from([4, 6])));
/// ```
pub fn compatible(a: &Shape, b: &Shape) -> bool {
    refines(a, b, &|extent, shape| shape.product() == Some(extent))
}

/// Whether each mode of `tiler` tiles its mode of `shape` without a rest: its complement exists there.
/// ```
/// use cute_algebra::{Shape, evenly_divides};
/// let shape = Shape::from([8, 6]);
/// assert!(evenly_divides(&shape, &"<4,3>".parse()?));
/// assert!(!evenly_divides(&shape, &"<4,4>".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evenly_divides(shape: &Shape, tiler: &Tiler) -> bool {
    match tiler {
        Tiler::Keep => true,
        Tiler::Layout(tile) => shape
            .product()
            .is_some_and(|size| complement_in(tile, size, Overhang::Strict).is_ok()),
        Tiler::Modes(tilers) => {
            let modes = shape.modes();
            tilers.len() <= modes.len()
                && modes
                    .iter()
                    .zip(tilers)
                    .all(|(mode, tiler)| evenly_divides(mode, tiler))
        }
    }
}

fn refines(a: &Shape, b: &Shape, agree: &dyn Fn(i64, &Shape) -> bool) -> bool {
    match (a, b) {
        (Tuple::Leaf(extent), b) => agree(*extent, b),
        (Tuple::Node(_), Tuple::Leaf(_)) => false,
        (Tuple::Node(a), Tuple::Node(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| refines(a, b, agree))
        }
    }
}

/// The integers that coordinates are computed with: numbers, or sums of run-time integers.
pub(crate) trait Integers {
    type Int: Clone;
    type Error: From<LayoutError>;

    /// The product of the leaves of a shape.
    fn size(&mut self, shape: &Tuple<Self::Int>) -> Result<Self::Int, Self::Error>;

    /// Quotient and remainder by a positive integer.
    fn div_rem(
        &mut self,
        index: &Self::Int,
        by: &Self::Int,
    ) -> Result<(Self::Int, Self::Int), Self::Error>;

    /// The inner product with weights; nothing where it does not fit.
    fn sum(&mut self, terms: &[(Self::Int, Self::Int)]) -> Option<Self::Int>;

    fn show(&self, tuple: &Tuple<Self::Int>) -> String;
}

/// The integers that are numbers.
struct Numbers;

impl Integers for Numbers {
    type Int = i64;
    type Error = LayoutError;

    fn size(&mut self, shape: &Shape) -> Result<i64, LayoutError> {
        Ok(shape.product().unwrap_or(i64::MAX))
    }

    fn div_rem(&mut self, index: &i64, by: &i64) -> Result<(i64, i64), LayoutError> {
        Ok((index / by, index % by))
    }

    fn sum(&mut self, terms: &[(i64, i64)]) -> Option<i64> {
        terms
            .iter()
            .try_fold(0i64, |sum, (a, b)| sum.checked_add(a.checked_mul(*b)?))
    }

    fn show(&self, tuple: &IntTuple) -> String {
        tuple.to_string()
    }
}

/// The coordinate taken apart down to the leaves of a shape.
pub(crate) fn split<N: Integers>(
    n: &mut N,
    shape: &Tuple<N::Int>,
    coord: &Tuple<N::Int>,
    path: &ModePath,
) -> Result<Tuple<N::Int>, N::Error> {
    match (shape, coord) {
        (Tuple::Leaf(_), Tuple::Leaf(_)) => Ok(coord.clone()),
        (Tuple::Node(modes), Tuple::Leaf(index)) => {
            let mut rest = index.clone();
            let mut coords = Vec::new();
            for (i, mode) in modes.iter().enumerate() {
                // The last mode has no end.
                let digit = if i + 1 == modes.len() {
                    rest.clone()
                } else {
                    let size = n.size(mode)?;
                    let (quotient, digit) = n.div_rem(&rest, &size)?;
                    rest = quotient;
                    digit
                };
                coords.push(split(n, mode, &Tuple::Leaf(digit), &path.child(i))?);
            }
            Ok(Tuple::Node(coords))
        }
        (Tuple::Node(modes), Tuple::Node(coords)) if modes.len() == coords.len() => {
            let pairs = modes.iter().zip(coords).enumerate();
            pairs
                .map(|(i, (mode, coord))| split(n, mode, coord, &path.child(i)))
                .collect()
        }
        _ => Err(profile(n, shape, coord, 1, path)),
    }
}

/// The same 1-D coordinate in another shape.
pub(crate) fn convert<N: Integers>(
    n: &mut N,
    coord: &Tuple<N::Int>,
    source: &Tuple<N::Int>,
    target: &Tuple<N::Int>,
    path: &ModePath,
) -> Result<Tuple<N::Int>, N::Error> {
    match (coord, source, target) {
        (Tuple::Node(coords), Tuple::Node(sources), Tuple::Node(targets)) => {
            if coords.len() != sources.len() {
                return Err(profile(n, source, coord, 0, path));
            }
            if targets.len() != sources.len() {
                return Err(profile(n, source, target, 2, path));
            }
            let triples = coords.iter().zip(sources).zip(targets).enumerate();
            triples
                .map(|(i, ((coord, source), target))| {
                    convert(n, coord, source, target, &path.child(i))
                })
                .collect()
        }
        _ => {
            let index = linear(n, coord, source, path)?;
            split(n, target, &Tuple::Leaf(index), path)
        }
    }
}

/// The 1-D coordinate.
fn linear<N: Integers>(
    n: &mut N,
    coord: &Tuple<N::Int>,
    shape: &Tuple<N::Int>,
    path: &ModePath,
) -> Result<N::Int, N::Error> {
    match (coord, shape) {
        (Tuple::Leaf(index), _) => Ok(index.clone()),
        (Tuple::Node(coords), Tuple::Node(modes)) if coords.len() == modes.len() => {
            let mut terms = Vec::new();
            for (i, (coord, mode)) in coords.iter().zip(modes).enumerate() {
                let weight = n.size(&Tuple::Node(modes[..i].to_vec()))?;
                terms.push((linear(n, coord, mode, &path.child(i))?, weight));
            }
            n.sum(&terms).ok_or_else(|| {
                let place = Place::operand(0).mode(path.0.clone());
                let quantity = "coordinate";
                ErrorKind::Overflow { quantity }.at(place).into()
            })
        }
        _ => Err(profile(n, shape, coord, 0, path)),
    }
}

fn profile<N: Integers>(
    n: &N,
    expected: &Tuple<N::Int>,
    found: &Tuple<N::Int>,
    operand: usize,
    path: &ModePath,
) -> N::Error {
    let (expected, found) = (n.show(expected), n.show(found));
    ErrorKind::Profile { expected, found }
        .at(Place::operand(operand).mode(path.0.clone()))
        .into()
}
