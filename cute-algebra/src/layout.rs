//! The layout: a function from coordinates to indices, written as a shape and a stride.

use crate::error::{During, ErrorKind, LayoutError, ModePath, Place};
use crate::stride::{ScaledBasis, Stride, add};
use crate::tuple::{Coord, IntTuple, Shape, Tuple};
use std::fmt;

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
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Shape,
    stride: Stride,
}

impl Layout {
    /// A layout, if the two are congruent, the extents are at least 1, and size and cosize fit 64 bits.
    pub fn new(shape: impl Into<Shape>, stride: impl Into<Stride>) -> Result<Self, LayoutError> {
        let (shape, stride) = (shape.into(), stride.into());
        shape
            .check_limits()
            .map_err(|error| error.relocate(Place::shape))?;
        stride
            .check_limits()
            .map_err(|error| error.relocate(Place::stride))?;
        check_congruent(&shape, &stride, &ModePath::default())?;
        check_extents(&shape, &ModePath::default())?;
        check_paths(&stride)?;
        let layout = Self { shape, stride };
        let fits = layout.shape.product().is_some() && layout.checked_cosize().is_some();
        if !fits {
            let quantity = if layout.shape.product().is_some() {
                "cosize"
            } else {
                "size"
            };
            return Err(ErrorKind::Overflow { quantity }.at(Place::default()));
        }
        Ok(layout)
    }

    /// The compact layout of `shape` whose leftmost mode is contiguous: CuTe's `LayoutLeft`.
    pub fn left(shape: impl Into<Shape>) -> Result<Self, LayoutError> {
        let shape = checked_shape(shape.into())?;
        let mut next = 1;
        let stride = shape.map(|&extent| compact_stride(extent, &mut next));
        Self::new(shape, stride)
    }

    /// The compact layout of `shape` whose rightmost mode is contiguous: CuTe's `LayoutRight`.
    pub fn right(shape: impl Into<Shape>) -> Result<Self, LayoutError> {
        let shape = checked_shape(shape.into())?;
        let mut next = 1;
        let extents: Vec<_> = shape.leaves().copied().collect();
        let mut strides: Vec<_> = extents
            .into_iter()
            .rev()
            .map(|extent| compact_stride(extent, &mut next))
            .collect();
        let stride = shape.map(|_| strides.pop().unwrap_or_else(|| 0.into()));
        Self::new(shape, stride)
    }

    /// The layout that maps a coordinate of `shape` to itself, in a coordinate space.
    pub fn identity(shape: impl Into<Shape>) -> Result<Self, LayoutError> {
        let shape = checked_shape(shape.into())?;
        let stride = identity_stride(&shape, &mut Vec::new());
        Self::new(shape, stride)
    }

    /// The layouts side by side, as modes of one.
    pub fn concat(modes: impl IntoIterator<Item = Layout>) -> Result<Self, LayoutError> {
        let (shape, stride): (Vec<_>, Vec<_>) = modes
            .into_iter()
            .map(|mode| (mode.shape, mode.stride))
            .unzip();
        Self::new(Tuple::Node(shape), Tuple::Node(stride))
    }

    /// One mode, `extent:stride`, of parts of layouts that exist.
    pub(crate) fn leaf(extent: i64, stride: ScaledBasis) -> Self {
        Self {
            shape: Tuple::Leaf(extent),
            stride: Tuple::Leaf(stride),
        }
    }

    /// The modes side by side, where the result is known to be within the limits because its tree is.
    pub(crate) fn join(modes: impl IntoIterator<Item = Layout>) -> Self {
        let (shape, stride): (Vec<_>, Vec<_>) = modes
            .into_iter()
            .map(|mode| (mode.shape, mode.stride))
            .unzip();
        Self {
            shape: Tuple::Node(shape),
            stride: Tuple::Node(stride),
        }
    }

    /// The same strides under a shape with the same tree and extents that are not larger.
    pub(crate) fn with_shape(&self, shape: Shape) -> Self {
        Self {
            shape,
            stride: self.stride.clone(),
        }
    }

    /// Puts the layouts, one for each leaf, in the place of the leaves of `profile`.
    pub(crate) fn replace_leaves<T>(
        profile: &Tuple<T>,
        leaves: Vec<Layout>,
    ) -> Result<Self, LayoutError> {
        let (mut shapes, mut strides) = (leaves.iter(), leaves.iter());
        let missing = "there are as many layouts as leaves";
        let shape = profile.expand(|_| shapes.next().expect(missing).shape.clone());
        let stride = profile.expand(|_| strides.next().expect(missing).stride.clone());
        Self::new(shape, stride)
    }

    /// Checks a layout that was put together from parts.
    pub(crate) fn validated(self) -> Result<Self, LayoutError> {
        Self::new(self.shape, self.stride)
    }

    /// `1:0`, the layout of one point.
    pub fn unit() -> Self {
        Self::leaf(1, 0.into())
    }

    /// The extents.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The strides, congruent to the shape.
    pub fn stride(&self) -> &Stride {
        &self.stride
    }

    /// Number of top-level modes.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Nesting of the shape.
    pub fn depth(&self) -> usize {
        self.shape.depth()
    }

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.shape.leaves().product()
    }

    /// The span: one more than the sum of `(extent - 1) * |stride|`. Of a layout into a coordinate space, the
    /// product of the spans of the coordinates.
    pub fn cosize(&self) -> i64 {
        self.coshape().leaves().product()
    }

    /// The span along each coordinate; the cosize where the strides are integers.
    pub fn coshape(&self) -> Shape {
        // Congruent to the largest value, with one added at each leaf.
        let last = self
            .flat_modes()
            .into_iter()
            .fold(Tuple::Leaf(0), |sum, (extent, stride)| {
                add(&sum, &stride.place((extent - 1) * stride.value().abs())).unwrap_or(sum)
            });
        last.map(|reach| reach + 1)
    }

    fn checked_cosize(&self) -> Option<i64> {
        let mut sum = Tuple::Leaf(0);
        for (&extent, stride) in self.shape.leaves().zip(self.stride.leaves()) {
            let reach = stride.value().checked_abs()?.checked_mul(extent - 1)?;
            sum = add(
                &sum,
                &ScaledBasis::along(reach, stride.path()).to_int_tuple(),
            )?;
        }
        sum.leaves().try_fold(1i64, |product, &reach| {
            product.checked_mul(reach.checked_add(1)?)
        })
    }

    /// Top-level mode `index`.
    pub fn mode(&self, index: usize) -> Option<Layout> {
        self.get(&[index])
    }

    /// The mode at `path`. Index 0 of a leaf is the leaf.
    pub fn get(&self, path: &[usize]) -> Option<Layout> {
        Some(Self {
            shape: self.shape.get(path)?.clone(),
            stride: self.stride.get(path)?.clone(),
        })
    }

    /// The top-level modes.
    pub fn modes(&self) -> Vec<Layout> {
        let pairs = self.shape.modes().iter().zip(self.stride.modes());
        pairs
            .map(|(shape, stride)| Self {
                shape: shape.clone(),
                stride: stride.clone(),
            })
            .collect()
    }

    /// The extents and strides of all leaves, from left to right.
    pub fn flat_modes(&self) -> Vec<(i64, ScaledBasis)> {
        self.shape
            .leaves()
            .copied()
            .zip(self.stride.leaves().cloned())
            .collect()
    }

    /// Whether the values are integers.
    pub fn is_integral(&self) -> bool {
        self.stride
            .leaves()
            .all(|stride| stride.as_integer().is_some())
    }

    /// The leaves as pairs of integers, refused for a layout into a coordinate space.
    pub(crate) fn integral_modes(&self, operand: usize) -> Result<Vec<(i64, i64)>, LayoutError> {
        self.require_integral(operand)?;
        Ok(self
            .shape
            .leaves()
            .copied()
            .zip(self.stride.leaves().map(ScaledBasis::value))
            .collect())
    }

    /// Refuses a layout into a coordinate space.
    pub(crate) fn require_integral(&self, operand: usize) -> Result<(), LayoutError> {
        match self
            .stride
            .leaves()
            .find(|stride| stride.as_integer().is_none())
        {
            None => Ok(()),
            Some(stride) => Err(ErrorKind::NotIntegral {
                stride: stride.clone(),
            }
            .at(Place::operand(operand).stride())),
        }
    }

    /// The integer at 1-D coordinate `index`; `None` outside the domain and for a layout into a coordinate space.
    pub fn at(&self, index: i64) -> Option<i64> {
        if !(0..self.size()).contains(&index) || !self.is_integral() {
            return None;
        }
        match self.extended(index)? {
            Tuple::Leaf(value) => Some(value),
            Tuple::Node(_) => None,
        }
    }

    /// The values of an integral layout at 0, 1, 2, …; nothing for a layout into a coordinate space.
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

    /// The value at any 1-D coordinate: past the end the last mode goes on. `None` on overflow.
    pub(crate) fn extended(&self, index: i64) -> Option<IntTuple> {
        let modes = self.shape.leaves().zip(self.stride.leaves());
        let last = self.shape.leaf_count().saturating_sub(1);
        let mut rest = index;
        let mut sum = Tuple::Leaf(0);
        for (i, (&extent, stride)) in modes.enumerate() {
            let digit = if i == last { rest } else { rest % extent };
            rest /= extent;
            sum = add(&sum, &stride.place(stride.value().checked_mul(digit)?))?;
        }
        Some(sum)
    }

    /// The value at a coordinate: an integer for the whole or any mode, or a tuple for its modes.
    /// Past its end a mode goes on with its last leaf, as in CuTe.
    pub fn crd2idx(&self, coord: &Coord) -> Result<IntTuple, LayoutError> {
        coord.check_limits().map_err(|error| error.blame(1))?;
        self.crd2idx_at(coord, &ModePath::default())
            .during("crd2idx", [self, coord])
    }

    fn crd2idx_at(&self, coord: &Coord, path: &ModePath) -> Result<IntTuple, LayoutError> {
        let place = || Place::operand(1).mode(path.0.clone());
        let overflow = || ErrorKind::Overflow { quantity: "index" }.at(place());
        match coord {
            Tuple::Leaf(None) => Err(ErrorKind::Underscore.at(place())),
            Tuple::Leaf(Some(index)) => self.extended(*index).ok_or_else(overflow),
            Tuple::Node(coords) => {
                if self.shape.is_leaf() || self.rank() != coords.len() {
                    let (expected, found) = (self.shape.to_string(), coord.to_string());
                    return Err(ErrorKind::Profile { expected, found }.at(place()));
                }
                let mut sum = Tuple::Leaf(0);
                for (i, (mode, coord)) in self.modes().iter().zip(coords).enumerate() {
                    sum =
                        add(&sum, &mode.crd2idx_at(coord, &path.child(i))?).ok_or_else(overflow)?;
                }
                Ok(sum)
            }
        }
    }
}

/// The shape, if it is within the limits and its extents and size are legal.
pub(crate) fn checked_shape(shape: Shape) -> Result<Shape, LayoutError> {
    shape.check_limits()?;
    check_extents(&shape, &ModePath::default())?;
    match shape.product() {
        Some(_) => Ok(shape),
        None => Err(ErrorKind::Overflow { quantity: "size" }.at(Place::default().shape())),
    }
}

/// The next stride of a compact layout. CuTe gives modes of size 1 stride 0.
pub(crate) fn compact_stride(extent: i64, next: &mut i64) -> ScaledBasis {
    let stride = if extent == 1 { 0 } else { *next };
    *next *= extent;
    stride.into()
}

fn identity_stride(shape: &Shape, path: &mut Vec<usize>) -> Stride {
    match shape {
        Tuple::Leaf(_) => Tuple::Leaf(ScaledBasis::along(1, path.as_slice())),
        Tuple::Node(modes) => {
            let mut strides = Vec::new();
            for (i, mode) in modes.iter().enumerate() {
                path.push(i);
                strides.push(identity_stride(mode, path));
                path.pop();
            }
            Tuple::Node(strides)
        }
    }
}

fn check_congruent(shape: &Shape, stride: &Stride, path: &ModePath) -> Result<(), LayoutError> {
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

fn check_extents(shape: &Shape, path: &ModePath) -> Result<(), LayoutError> {
    match shape {
        Tuple::Leaf(extent) if *extent >= 1 => Ok(()),
        Tuple::Leaf(extent) => {
            Err(ErrorKind::Extent { extent: *extent }
                .at(Place::default().mode(path.0.clone()).shape()))
        }
        Tuple::Node(modes) => modes
            .iter()
            .enumerate()
            .try_for_each(|(i, mode)| check_extents(mode, &path.child(i))),
    }
}

/// Refuses strides that cannot be added: one runs along a coordinate that another takes apart.
fn check_paths(stride: &Stride) -> Result<(), LayoutError> {
    let mut leaves: Vec<_> = stride.leaves().filter(|leaf| !leaf.is_zero()).collect();
    leaves.sort_by_key(|leaf| leaf.path());
    leaves.dedup_by_key(|leaf| leaf.path());
    // Sorted, a path stands directly before the paths that it is a prefix of.
    match leaves
        .windows(2)
        .find(|pair| pair[1].path().starts_with(pair[0].path()))
    {
        None => Ok(()),
        Some(pair) => Err(ErrorKind::MixedStrides {
            first: pair[0].clone(),
            second: pair[1].clone(),
        }
        .at(Place::default().stride())),
    }
}

/// As text: the derived form of a nested layout takes a page.
impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape, self.stride)
    }
}
