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
    split(&shape, coord, &ModePath::default()).during("idx2crd", [&shape, coord])
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
    convert(coord, &source, &target, &ModePath::default())
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

fn split(shape: &Shape, coord: &IntTuple, path: &ModePath) -> Result<IntTuple, LayoutError> {
    match (shape, coord) {
        (Tuple::Leaf(_), Tuple::Leaf(_)) => Ok(coord.clone()),
        (Tuple::Node(modes), Tuple::Leaf(index)) => {
            let mut rest = *index;
            let mut coords = Vec::new();
            for (i, mode) in modes.iter().enumerate() {
                let size = mode.product().unwrap_or(i64::MAX);
                let digit = if i + 1 == modes.len() {
                    rest
                } else {
                    rest % size
                };
                rest /= size;
                coords.push(split(mode, &Tuple::Leaf(digit), &path.child(i))?);
            }
            Ok(Tuple::Node(coords))
        }
        (Tuple::Node(modes), Tuple::Node(coords)) if modes.len() == coords.len() => {
            let pairs = modes.iter().zip(coords).enumerate();
            pairs
                .map(|(i, (mode, coord))| split(mode, coord, &path.child(i)))
                .collect()
        }
        _ => Err(profile(shape, coord, 1, path)),
    }
}

fn convert(
    coord: &IntTuple,
    source: &Shape,
    target: &Shape,
    path: &ModePath,
) -> Result<IntTuple, LayoutError> {
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
                    convert(coord, source, target, &path.child(i))
                })
                .collect()
        }
        _ => {
            let index = linear(coord, source, path)?;
            split(target, &Tuple::Leaf(index), path)
        }
    }
}

/// The 1-D coordinate, by the sizes of the modes.
fn linear(coord: &IntTuple, shape: &Shape, path: &ModePath) -> Result<i64, LayoutError> {
    let overflow = || {
        ErrorKind::Overflow {
            quantity: "coordinate",
        }
        .at(Place::operand(0).mode(path.0.clone()))
    };
    match (coord, shape) {
        (Tuple::Leaf(index), _) => Ok(*index),
        (Tuple::Node(coords), Tuple::Node(modes)) if coords.len() == modes.len() => {
            let (mut sum, mut weight) = (0i64, 1i64);
            for (i, (coord, mode)) in coords.iter().zip(modes).enumerate() {
                let index = linear(coord, mode, &path.child(i))?;
                let term = index.checked_mul(weight).ok_or_else(overflow)?;
                sum = sum.checked_add(term).ok_or_else(overflow)?;
                weight *= mode.product().unwrap_or(1);
            }
            Ok(sum)
        }
        _ => Err(profile(shape, coord, 0, path)),
    }
}

fn profile(expected: &Shape, found: &IntTuple, operand: usize, path: &ModePath) -> LayoutError {
    let (expected, found) = (expected.to_string(), found.to_string());
    ErrorKind::Profile { expected, found }.at(Place::operand(operand).mode(path.0.clone()))
}
