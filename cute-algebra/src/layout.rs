//! The layout: a function from coordinates to indices, written as a shape and a stride.

use crate::domain::{Domain, Numbers};
use crate::error::{ErrorKind, LayoutError, ModePath, Place};
use crate::integer::{Integer, Leaf};
use crate::stride::{ScaledBasis, Stride, add};
use crate::tuple::{IntTuple, Shape, Tuple};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// A shape and a congruent stride.
///
/// As a function of a 1-D coordinate `x` it is the sum over its flattened modes `s:d`, leftmost fastest, of
/// `d * (x / (product of the extents to the left) % s)`.
/// ```
/// use cute_algebra::{Layout, Tuple};
/// let layout = Layout::new([4, 3], [3, 1])?;
/// assert_eq!(layout.to_string(), "(4,3):(3,1)");
/// assert_eq!((layout.size(), layout.cosize()), (12, 12));
/// assert_eq!(layout.at(5), Some(4));
/// assert_eq!(layout.values().collect::<Vec<_>>(), [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
///
/// A layout of nested modes, as [`Picture`](crate::Picture) draws it:
///
#[doc = include_str!("../docs/layout.svg")]
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Layout<I: Integer = i64> {
    shape: Tuple<I>,
    stride: Stride<I>,
}

impl<I: Integer> Layout<I> {
    /// A layout. Refused unless shape and stride are congruent and all extents are at least 1.
    pub(crate) fn make<D: Domain<Int = I>>(
        d: &mut D,
        shape: Tuple<I>,
        stride: Stride<I>,
    ) -> Result<Self, LayoutError> {
        shape
            .check_limits()
            .map_err(|error| error.relocate(Place::shape))?;
        stride
            .check_limits()
            .map_err(|error| error.relocate(Place::stride))?;
        check_congruent(&shape, &stride, &ModePath::default())?;
        d.require_shape(&shape)?;
        Self::from_parts(shape, stride)
    }

    /// A layout of congruent parts with legal extents. Checks the limits and that the numbers fit 64 bits.
    pub(crate) fn from_parts(shape: Tuple<I>, stride: Stride<I>) -> Result<Self, LayoutError> {
        let layout = Self { shape, stride };
        layout
            .shape
            .check_limits()
            .map_err(|error| error.relocate(Place::shape))?;
        check_paths(&layout.stride)?;
        let overflow = |quantity| ErrorKind::Overflow { quantity }.at(Place::default());
        layout.shape.product().ok_or_else(|| overflow("size"))?;
        layout.span().ok_or_else(|| overflow("cosize"))?;
        Ok(layout)
    }

    /// [`from_parts`](Self::from_parts) without checks, where another layout with the same tree is within the
    /// limits.
    pub(crate) fn assembled(shape: Tuple<I>, stride: Stride<I>) -> Self {
        Self { shape, stride }
    }

    /// The layout whose top-level modes are these layouts.
    pub fn concat(modes: impl IntoIterator<Item = Self>) -> Result<Self, LayoutError> {
        let Self { shape, stride } = Self::join(modes);
        Self::from_parts(shape, stride)
    }

    /// One mode, `extent:stride`, whose parts come from valid layouts.
    pub(crate) fn leaf(extent: I, stride: impl Into<ScaledBasis<I>>) -> Self {
        Self {
            shape: Tuple::Leaf(extent),
            stride: Tuple::Leaf(stride.into()),
        }
    }

    /// [`concat`](Self::concat) without checks, where the tree of the result is known to be within the limits.
    pub(crate) fn join(modes: impl IntoIterator<Item = Self>) -> Self {
        let (shape, stride): (Vec<_>, Vec<_>) = modes
            .into_iter()
            .map(|mode| (mode.shape, mode.stride))
            .unzip();
        Self {
            shape: Tuple::Node(shape),
            stride: Tuple::Node(stride),
        }
    }

    /// A layout of depth at most 1 whose parts come from valid layouts: `1:0` of no modes, an integer mode of one.
    pub(crate) fn from_flat(modes: Vec<(I, ScaledBasis<I>)>) -> Self {
        let mut modes: Vec<_> = modes
            .into_iter()
            .map(|(extent, stride)| Self::leaf(extent, stride))
            .collect();
        match modes.len() {
            0 => Self::unit(),
            1 => modes.remove(0),
            _ => Self::join(modes),
        }
    }

    /// The same strides with a shape of the same tree. Where a stride is not 0, the extent must not grow.
    pub(crate) fn reshaped(&self, shape: Tuple<I>) -> Self {
        Self {
            shape,
            stride: self.stride.clone(),
        }
    }

    /// `profile` with each of its leaves replaced by a layout, one for each leaf from left to right.
    pub(crate) fn replace_leaves<T>(
        profile: &Tuple<T>,
        leaves: Vec<Self>,
    ) -> Result<Self, LayoutError> {
        let (mut shapes, mut strides) = (leaves.iter(), leaves.iter());
        let missing = "there are as many layouts as leaves";
        let shape = profile.expand(|_| shapes.next().expect(missing).shape.clone());
        let stride = profile.expand(|_| strides.next().expect(missing).stride.clone());
        Self::from_parts(shape, stride)
    }

    /// Checks the limits of a layout made of parts, and that the numbers fit 64 bits.
    pub(crate) fn validated(self) -> Result<Self, LayoutError> {
        Self::from_parts(self.shape, self.stride)
    }

    /// `1:0`, the layout of one point.
    pub fn unit() -> Self {
        Self::leaf(I::ONE, I::ZERO)
    }

    /// The tree of extents, each at least 1.
    pub fn shape(&self) -> &Tuple<I> {
        &self.shape
    }

    /// The tree of strides, which nests as the shape does.
    pub fn stride(&self) -> &Stride<I> {
        &self.stride
    }

    /// Number of top-level modes; 1 for an integer mode.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Nesting depth of the shape; 0 for an integer mode.
    pub fn depth(&self) -> usize {
        self.shape.depth()
    }

    /// The top-level mode `index`; `None` where it does not exist.
    pub fn mode(&self, index: usize) -> Option<Self> {
        self.get(&[index])
    }

    /// The mode at `path`; `None` where it does not exist. The mode 0 of a leaf is the leaf itself.
    pub fn get(&self, path: &[usize]) -> Option<Self> {
        Some(Self {
            shape: self.shape.get(path)?.clone(),
            stride: self.stride.get(path)?.clone(),
        })
    }

    /// The top-level modes; an integer mode is its own only mode.
    pub fn modes(&self) -> Vec<Self> {
        let pairs = self.shape.modes().iter().zip(self.stride.modes());
        pairs
            .map(|(shape, stride)| Self {
                shape: shape.clone(),
                stride: stride.clone(),
            })
            .collect()
    }

    /// The extents and strides of all leaves, from left to right.
    pub fn leaves(&self) -> impl Iterator<Item = (&I, &ScaledBasis<I>)> {
        self.shape.leaves().zip(self.stride.leaves())
    }

    /// The extents and strides of all leaves, from left to right, as owned pairs.
    pub fn flat_modes(&self) -> Vec<(I, ScaledBasis<I>)> {
        self.leaves()
            .map(|(extent, stride)| (extent.clone(), stride.clone()))
            .collect()
    }

    /// Whether the values are integers and not coordinates.
    pub fn is_integral(&self) -> bool {
        self.stride.leaves().all(|stride| stride.path().is_empty())
    }

    /// Refuses a layout into a coordinate space. `operand` is the operand that the error names.
    pub(crate) fn require_integral(&self, operand: usize) -> Result<(), LayoutError> {
        let mut strides = self.stride.leaves();
        match strides.find(|stride| !stride.path().is_empty()) {
            None => Ok(()),
            Some(stride) => Err(ErrorKind::NotIntegral {
                stride: stride.to_string(),
            }
            .at(Place::operand(operand).stride())),
        }
    }

    /// One more than the largest value along each coordinate, with absolute values of strides. `None` where that
    /// does not fit 64 bits.
    fn spans(&self) -> Option<Tuple<I::Sum>> {
        // The largest value, as a coordinate. Then 1 is added at each of its leaves.
        let mut last = Tuple::Leaf(0.into());
        for (extent, stride) in self.leaves() {
            let reach = stride.place(stride.value().reach(extent)?);
            last = add::<I>(&last, &reach)?;
        }
        last.try_map(|reach| I::plus(reach, &1.into()).ok_or(()))
            .ok()
    }

    /// The product of the leaves of the coshape; `None` where it does not fit.
    pub(crate) fn span(&self) -> Option<I::Sum> {
        self.spans()?
            .leaves()
            .try_fold(1.into(), |product, span| I::multiply(&product, span))
    }
}

impl Layout {
    /// A layout. Refused unless shape and stride are congruent, all extents are at least 1, and size and cosize fit
    /// 64 bits.
    pub fn new(shape: impl Into<Shape>, stride: impl Into<Stride>) -> Result<Self, LayoutError> {
        Self::make(&mut Numbers, shape.into(), stride.into())
    }

    /// Number of coordinates: the product of the extents.
    pub fn size(&self) -> i64 {
        self.shape.leaves().product()
    }

    /// One more than the sum of `(extent - 1) * |stride|` over the leaves. For a layout into a coordinate space,
    /// the product of the leaves of [`coshape`](Self::coshape).
    pub fn cosize(&self) -> i64 {
        self.coshape().leaves().product()
    }

    /// The cosize along each coordinate of the values; the cosize itself where the values are integers.
    pub fn coshape(&self) -> Shape {
        let checked = "spans are checked when a layout is made";
        self.spans().expect(checked)
    }

    /// The leaves as pairs (extent, stride). A layout into a coordinate space is refused.
    pub(crate) fn integral_modes(&self, operand: usize) -> Result<Vec<(i64, i64)>, LayoutError> {
        self.require_integral(operand)?;
        Ok(self
            .shape
            .leaves()
            .copied()
            .zip(self.stride.leaves().map(ScaledBasis::value))
            .collect())
    }

    /// The value at a 1-D coordinate; `None` outside `0..size` and for a layout into a coordinate space.
    pub fn at(&self, index: i64) -> Option<i64> {
        if !(0..self.size()).contains(&index) || !self.is_integral() {
            return None;
        }
        let mut rest = index;
        let mut modes = self.shape.leaves().zip(self.stride.leaves());
        modes.try_fold(0i64, |sum, (&extent, stride)| {
            let digit = rest % extent;
            rest /= extent;
            sum.checked_add(stride.value().checked_mul(digit)?)
        })
    }

    /// The values at 0, 1, 2, … up to the size. A layout into a coordinate space gives none.
    pub fn values(&self) -> impl Iterator<Item = i64> + use<> {
        let size = if self.is_integral() { self.size() } else { 0 };
        let modes: Vec<_> = self
            .flat_modes()
            .into_iter()
            .map(|(extent, stride)| (extent, stride.value()))
            .collect();
        let mut digits = vec![0; modes.len()];
        let mut value = 0;
        (0..size).map(move |_| {
            let current = value;
            for (digit, &(extent, stride)) in digits.iter_mut().zip(&modes) {
                if *digit + 1 < extent {
                    *digit += 1;
                    value += stride;
                    break;
                }
                value -= *digit * stride;
                *digit = 0;
            }
            current
        })
    }

    /// The value at any 1-D coordinate of at least 0, where the last mode continues past the end. `None` on
    /// overflow.
    pub(crate) fn extended(&self, index: i64) -> Option<IntTuple> {
        let modes = self.shape.leaves().zip(self.stride.leaves());
        let last = self.shape.leaf_count().saturating_sub(1);
        let mut rest = index;
        let mut sum = Tuple::Leaf(0);
        for (i, (&extent, stride)) in modes.enumerate() {
            let digit = if i == last { rest } else { rest % extent };
            rest /= extent;
            sum = add::<i64>(&sum, &stride.place(stride.value().checked_mul(digit)?))?;
        }
        Some(sum)
    }
}

/// Refuses a shape and a stride that nest differently.
fn check_congruent<I: Integer>(
    shape: &Tuple<I>,
    stride: &Stride<I>,
    path: &ModePath,
) -> Result<(), LayoutError> {
    match (shape, stride) {
        (Tuple::Leaf(_), Tuple::Leaf(_)) => Ok(()),
        (Tuple::Node(shapes), Tuple::Node(strides)) if shapes.len() == strides.len() => {
            let modes = shapes.iter().zip(strides).enumerate();
            modes
                .into_iter()
                .try_for_each(|(i, (shape, stride))| check_congruent(shape, stride, &path.child(i)))
        }
        _ => Err(ErrorKind::NotCongruent {
            shape: shape.to_string(),
            stride: stride.to_string(),
        }
        .at(Place::default().mode(path.0.clone()).stride())),
    }
}

/// Refuses strides whose values cannot be added, because the path of one is a prefix of another's: one value is an
/// integer where the other is a tuple.
fn check_paths<I: Integer>(stride: &Stride<I>) -> Result<(), LayoutError> {
    let mut leaves: Vec<_> = stride.leaves().filter(|leaf| !leaf.is_zero()).collect();
    leaves.sort_by_key(|leaf| leaf.path());
    leaves.dedup_by_key(|leaf| leaf.path());
    // In sorted order, a path directly precedes the paths of which it is a prefix.
    match leaves
        .windows(2)
        .find(|pair| pair[1].path().starts_with(pair[0].path()))
    {
        None => Ok(()),
        Some(pair) => Err(ErrorKind::MixedStrides {
            first: pair[0].to_string(),
            second: pair[1].to_string(),
        }
        .at(Place::default().stride())),
    }
}

/// The notation, because the derived form of a nested layout fills a page.
impl<I: Integer> fmt::Debug for Layout<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<I: Integer> fmt::Display for Layout<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.shape, &self.stride) {
            (Tuple::Leaf(extent), Tuple::Leaf(stride)) => {
                extent.fmt_beside_colon(f)?;
                f.write_str(":")?;
                stride.fmt_beside_colon(f)
            }
            (shape, stride) => write!(f, "{shape}:{stride}"),
        }
    }
}
