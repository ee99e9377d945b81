//! Composition: `R(c) = A(B(c))`, exactly.
//!
//! The leaves of B are grouped by the part of A that they run along. Leaves with integer strides run along all of A.
//! [`Compose::through`] composes one such group with its part, [for numbers](numbers) or [for run-time
//! integers](run_time).

mod numbers;
mod rules;
mod run_time;

pub use numbers::ENUMERATION_LIMIT;
pub(crate) use numbers::compose_by_conditions;
pub(crate) use rules::rules;

use crate::coalesce::endless_modes;
use crate::domain::{Domain, Numbers, product};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::stride::ScaledBasis;
use crate::tiler::{Others, Tiler};
use crate::tuple::Shape;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// `R(c) = A(B(c))` for every coordinate of B, in a shape that refines B's.
///
/// Coalesce A, and let the boundaries Q be the products of its leading extents. The composition exists if three
/// conditions hold. Every value of B is at least 0 and below the size of A. Each mode of B can be cut into equal
/// parts wherever its multiples cross a boundary. And for each Q, the sum of `(t-1) * (d mod Q)` over the modes
/// `t:d` after the cuts is less than Q.
///
/// The conditions are also necessary if at every boundary A's next stride is more than the previous stride times its
/// extent, or at every boundary less. Otherwise, where they fail, all values of the composition are compared, for up
/// to [`ENUMERATION_LIMIT`] points.
/// ```
/// use cute_algebra::{Layout, composition};
/// let a = Layout::new([6, 2], [8, 2])?;
/// let b = Layout::new([4, 3], [3, 1])?;
/// assert_eq!(composition(&a, &b)?.to_string(), "((2,2),3):((24,2),8)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn composition(a: &Layout, b: &Layout) -> Result<Layout, LayoutError> {
    compose(&mut Numbers, a, b, Overhang::Strict).during("composition", [a, b])
}

/// `A(B(c))` for the compact layout B of a shape, in which the leftmost mode varies fastest: the coordinates of A under
/// another shape.
///
/// The conditions are those of [`composition`].
/// ```
/// use cute_algebra::{Layout, Shape, with_shape};
/// let a = Layout::right([4, 8])?;
/// assert_eq!(with_shape(&a, &Shape::from([8, 4]))?.to_string(), "((4,2),4):((8,1),2)");
/// assert!(with_shape(&a, &Shape::from([8, 5])).is_err());
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn with_shape(a: &Layout, shape: &Shape) -> Result<Layout, LayoutError> {
    let coordinates = Layout::left(shape.clone()).map_err(|error| error.inside(1, &[]));
    coordinates
        .and_then(|b| compose(&mut Numbers, a, &b, Overhang::Strict))
        .during("with_shape", [a, shape])
}

/// Composition mode by mode, where the tiler has modes. Modes of A that the tiler does not reach are dropped.
///
/// Each mode is subject to the conditions of [`composition`]; a tiler with more modes than A is refused.
/// ```
/// use cute_algebra::{Layout, composition_by};
/// let a: Layout = "(12,(4,8)):(59,(13,1))".parse()?;
/// assert_eq!(composition_by(&a, &"<3:4, 8:2>".parse()?)?.to_string(), "(3,(2,4)):(236,(26,1))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn composition_by(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    compose_by(&mut Numbers, a, tiler, Overhang::Strict).during("composition", [a, tiler])
}

pub(crate) fn compose_by<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    tiler: &Tiler<D::Int>,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    tiler.apply(a, Others::Drop, &mut |mode, b| {
        compose(d, mode, b, overhang)
    })
}

pub(crate) fn compose<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    compose_within(d, a, b, overhang, None)
}

/// Composition where values of B may lie past the end of A. If `bound` is given, each stride of the result records
/// how far one step moves within A, as a source with that bound.
pub(crate) fn compose_within<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
    overhang: Overhang,
    bound: Option<usize>,
) -> Result<Layout<D::Int>, LayoutError> {
    let leaves = leaves_of(b);
    let mut replaced: Vec<Option<Layout<D::Int>>> = vec![None; leaves.len()];
    for target in targets_of(a, &leaves)? {
        let modes = d.through(&target, &leaves, overhang, bound)?;
        for (&leaf, mode) in target.leaves.iter().zip(modes) {
            replaced[leaf] = Some(mode);
        }
    }
    let modes = leaves.into_iter().zip(replaced);
    let modes = modes.map(|(leaf, mode)| mode.unwrap_or_else(|| leaf.stationary()));
    Layout::replace_leaves(b.shape(), modes.collect())
}

/// A domain whose layouts can be composed.
pub(crate) trait Compose: Domain {
    /// The layouts that replace the leaves of B along `target`, one for each leaf.
    fn through(
        &mut self,
        target: &Target<Self::Int>,
        leaves: &[Leaf<Self::Int>],
        overhang: Overhang,
        bound: Option<usize>,
    ) -> Result<Vec<Layout<Self::Int>>, LayoutError>;
}

/// A leaf of B.
#[derive(Clone)]
pub(crate) struct Leaf<I: Integer> {
    path: Vec<usize>,
    extent: I,
    stride: ScaledBasis<I>,
}

/// A part of A, and the indices of the leaves of B along it: their strides `d@path` have its path.
pub(crate) struct Target<I: Integer> {
    layout: Layout<I>,
    leaves: Vec<usize>,
    /// The leaves of the part, coalesced. The last one has no end.
    modes: Vec<(I, ScaledBasis<I>)>,
    /// The products of the leading extents of `modes`: where one mode ends and the next begins.
    boundaries: Vec<I>,
}

impl<I: Integer> Leaf<I> {
    fn place(&self) -> Place {
        Place::operand(1).mode(self.path.clone())
    }

    /// The replacement of a leaf with stride 0: the same extent with stride 0.
    fn stationary(self) -> Layout<I> {
        let stride = ScaledBasis::from(I::ZERO).with_sources(self.stride.sources().to_vec());
        Layout::leaf(self.extent, stride)
    }
}

impl<I: Integer> Target<I> {
    fn leaves<'a>(&self, leaves: &'a [Leaf<I>]) -> impl Iterator<Item = &'a Leaf<I>> {
        self.leaves.iter().map(move |&i| &leaves[i])
    }

    fn of(layout: Layout<I>, leaf: usize) -> Result<Self, LayoutError> {
        let modes = endless_modes(&layout);
        let mut boundaries = Vec::new();
        let mut size = I::ONE;
        for (extent, _) in &modes[..modes.len() - 1] {
            size = product(&size, extent)?;
            boundaries.push(size.clone());
        }
        Ok(Self {
            layout,
            leaves: vec![leaf],
            modes,
            boundaries,
        })
    }
}

fn leaves_of<I: Integer>(b: &Layout<I>) -> Vec<Leaf<I>> {
    let modes = b.shape().leaf_paths().into_iter().zip(b.flat_modes());
    modes
        .map(|(path, (extent, stride))| Leaf {
            path,
            extent,
            stride,
        })
        .collect()
}

fn targets_of<I: Integer>(
    a: &Layout<I>,
    leaves: &[Leaf<I>],
) -> Result<Vec<Target<I>>, LayoutError> {
    let mut targets: Vec<(&[usize], Target<I>)> = Vec::new();
    for (i, leaf) in leaves.iter().enumerate() {
        if leaf.extent.is_one() || leaf.stride.is_zero() {
            continue;
        }
        let path = leaf.stride.path();
        if let Some((_, target)) = targets.iter_mut().find(|(known, _)| *known == path) {
            target.leaves.push(i);
            continue;
        }
        let Some(layout) = a.get(path) else {
            let kind = ErrorKind::NoCoordinate {
                stride: leaf.stride.to_string(),
                shape: a.shape().to_string(),
            };
            return Err(kind.at(leaf.place().stride()));
        };
        targets.push((path, Target::of(layout, i)?));
    }
    Ok(targets.into_iter().map(|(_, target)| target).collect())
}
