//! Layouts of terms, and how they are regrouped.

use super::scope::{Answer, Check, Scope};
use super::show::show_tuple;
use super::term::{Sum, Term};
use super::{SymbolicError, SymbolicErrorKind};
use crate::error::{ErrorKind, LayoutError, ModePath, Place};
use crate::layout::Layout;
use crate::stride::{ScaledBasis, Stride};
use crate::tiler::Tiler;
use crate::tuple::{IntTuple, Tuple};

/// A layout whose leaves are terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicLayout {
    tree: Tuple<Mode>,
}

/// A leaf: an extent and a stride.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The extent.
    pub extent: Term,
    /// The stride.
    pub stride: Term,
    /// The coordinate that the stride counts along, outermost index first; empty where values are integers.
    pub path: Vec<usize>,
    /// For each ragged division that the leaf comes from, where in the divided mode a step leads.
    pub sources: Vec<Source>,
}

/// What a step is in a mode that a ragged division has divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which of [`Scope::bounds`] is the size of that mode.
    pub bound: usize,
    /// The step in the mode's 1-D coordinate.
    pub stride: Term,
}

/// A tiler whose layouts are of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolicTiler {
    /// Applies to the whole.
    Layout(SymbolicLayout),
    /// One for each of the leading modes.
    Modes(Vec<SymbolicTiler>),
    /// Leaves the mode as it is.
    Keep,
}

impl Mode {
    /// A leaf of an ordinary layout.
    pub fn new(extent: Term, stride: Term) -> Self {
        Self::along(extent, stride, Vec::new())
    }

    /// A leaf whose stride counts along a coordinate.
    pub(super) fn along(extent: Term, stride: Term, path: Vec<usize>) -> Self {
        let path = if stride.is_zero() { Vec::new() } else { path };
        Self {
            extent,
            stride,
            path,
            sources: Vec::new(),
        }
    }

    /// `1:0`.
    pub(super) fn unit() -> Self {
        Self::new(Term::ONE, Term::ZERO)
    }

    pub(super) fn is_single(&self) -> bool {
        self.extent.is_one()
    }

    /// The mode of `extent` steps, each so many of this one's.
    pub(super) fn stepped(&self, extent: &Term, steps: &Term) -> Option<Self> {
        let sources = self.sources.iter().map(|source| {
            Some(Source {
                bound: source.bound,
                stride: source.stride.checked_mul(steps)?,
            })
        });
        Some(Self {
            sources: sources.collect::<Option<_>>()?,
            ..Self::along(
                extent.clone(),
                self.stride.checked_mul(steps)?,
                self.path.clone(),
            )
        })
    }
}

impl SymbolicLayout {
    /// A layout, if shape and stride are congruent and extents can be positive. Each extent is required to be.
    pub fn new(
        scope: &mut Scope,
        shape: &Tuple<Term>,
        stride: &Tuple<Term>,
    ) -> Result<Self, SymbolicError> {
        Self::along(
            scope,
            shape,
            &stride.map(|stride| (stride.clone(), Vec::new())),
        )
    }

    /// The same with strides that count along coordinates.
    pub fn along(
        scope: &mut Scope,
        shape: &Tuple<Term>,
        stride: &Tuple<(Term, Vec<usize>)>,
    ) -> Result<Self, SymbolicError> {
        let at_shape = |error: LayoutError| error.relocate(Place::shape);
        let at_stride = |error: LayoutError| error.relocate(Place::stride);
        shape.check_limits().map_err(at_shape)?;
        stride.check_limits().map_err(at_stride)?;
        let tree = congruent(scope, shape, stride, &ModePath::default())?;
        for (mode, path) in tree.leaves().zip(tree.leaf_paths()) {
            scope
                .require_extent(&mode.extent)
                .map_err(|kind| kind.at(Place::default().mode(path).shape()))?;
        }
        let layout = Self { tree };
        layout.check_paths(scope)?;
        Ok(layout)
    }

    /// The compact layout of a shape; `row`: the rightmost mode fastest.
    pub fn compact(
        scope: &mut Scope,
        shape: &Tuple<Term>,
        row: bool,
    ) -> Result<Self, SymbolicError> {
        let leaves = 0..shape.leaf_count();
        match row {
            true => Self::ranked(scope, shape, leaves.rev()),
            false => Self::ranked(scope, shape, leaves),
        }
    }

    /// The compact layout of a shape with the leaves in that order, the fastest first.
    pub(super) fn ranked(
        scope: &mut Scope,
        shape: &Tuple<Term>,
        ranking: impl IntoIterator<Item = usize>,
    ) -> Result<Self, SymbolicError> {
        let extents: Vec<_> = shape.leaves().collect();
        let mut strides = vec![Term::ZERO; extents.len()];
        let mut next = Term::ONE;
        for i in ranking {
            // CuTe gives modes of size 1 stride 0.
            if !extents[i].is_one() {
                strides[i] = next.clone();
                next = product(&next, extents[i])?;
            }
        }
        let mut strides = strides.into_iter();
        let stride = shape.map(|_| strides.next().unwrap_or(Term::ZERO));
        Self::new(scope, shape, &stride)
    }

    /// A layout of numbers.
    pub fn lift(layout: &Layout) -> Self {
        let mut modes = layout.flat_modes().into_iter();
        let tree = layout.shape().map(|_| match modes.next() {
            Some((extent, stride)) => {
                Mode::along(extent.into(), stride.value().into(), stride.path().into())
            }
            None => Mode::unit(),
        });
        Self { tree }
    }

    /// The layout of numbers, if all leaves are.
    pub fn as_layout(&self) -> Option<Result<Layout, LayoutError>> {
        self.with_numbers(&Term::as_constant)
    }

    /// The layout for these values of the atoms; `None` where a leaf is no integer or does not fit.
    pub fn evaluate(&self, atoms: &[i64]) -> Option<Result<Layout, LayoutError>> {
        self.with_numbers(&|term| i64::try_from(term.evaluate(atoms)?).ok())
    }

    fn with_numbers(
        &self,
        number: &dyn Fn(&Term) -> Option<i64>,
    ) -> Option<Result<Layout, LayoutError>> {
        let numbers = self
            .leaves()
            .map(|mode| Some((number(&mode.extent)?, number(&mode.stride)?)));
        let numbers = numbers.collect::<Option<Vec<_>>>()?;
        let (mut extents, mut strides) = (numbers.iter(), numbers.iter());
        let shape: IntTuple = self
            .tree
            .map(|_| extents.next().map_or(1, |(extent, _)| *extent));
        let stride: Stride = self.tree.map(|mode| {
            let value = strides.next().map_or(0, |(_, stride)| *stride);
            ScaledBasis::along(value, mode.path.as_slice())
        });
        Some(Layout::new(shape, stride))
    }

    /// Extents and strides.
    pub fn tree(&self) -> &Tuple<Mode> {
        &self.tree
    }

    /// The leaves from left to right.
    pub fn leaves(&self) -> impl Iterator<Item = &Mode> {
        self.tree.leaves()
    }

    /// The fewest modes with the same values, whatever the run-time integers are.
    pub fn coalesced(&self) -> Vec<Mode> {
        let plain = |mode: &Mode| Mode {
            sources: Vec::new(),
            ..mode.clone()
        };
        let plain = Self {
            tree: self.tree.map(plain),
        };
        plain.coalesce().leaves().cloned().collect()
    }

    /// Number of top-level modes.
    pub fn rank(&self) -> usize {
        self.tree.rank()
    }

    /// The product of the extents; `None` where a constant does not fit.
    pub fn size(&self) -> Option<Term> {
        self.leaves()
            .try_fold(Term::ONE, |size, mode| size.checked_mul(&mode.extent))
    }

    /// The extents.
    pub fn shape(&self) -> Tuple<Term> {
        self.tree.map(|mode| mode.extent.clone())
    }

    /// Whether values are integers.
    pub fn is_integral(&self) -> bool {
        self.leaves().all(|mode| mode.path.is_empty())
    }

    /// Refuses strides along a coordinate beside strides along a part of it.
    pub(super) fn check_paths(&self, scope: &Scope) -> Result<(), SymbolicError> {
        let mut paths: Vec<&[usize]> = Vec::new();
        for (mode, path) in self.leaves().zip(self.tree.leaf_paths()) {
            if mode.stride.is_zero() || paths.contains(&&mode.path[..]) {
                continue;
            }
            let meets =
                |known: &&[usize]| known.starts_with(&mode.path) || mode.path.starts_with(known);
            if paths.iter().any(meets) {
                let stride = scope.show_stride(&mode.stride, &mode.path);
                let text = format!(
                    "stride {stride} cannot be added to the others: one runs along a part of the other's coordinate"
                );
                let place = Place::default().mode(path).stride();
                return Err(SymbolicErrorKind::Refused(text).at(place));
            }
            paths.push(&mode.path);
        }
        Ok(())
    }

    /// Refuses a layout into a coordinate space.
    pub(super) fn require_integral(&self, operand: usize) -> Result<(), SymbolicError> {
        let mut modes = self.leaves().zip(self.tree.leaf_paths());
        match modes.find(|(mode, _)| !mode.path.is_empty()) {
            None => Ok(()),
            Some((_, path)) => {
                let text = "the strides must be integers, not along a coordinate".to_owned();
                let place = Place::operand(operand).mode(path).stride();
                Err(SymbolicErrorKind::Refused(text).at(place))
            }
        }
    }

    /// Refuses a layout of which the size or the span fits 64 bits for no values of the atoms. Where it depends on them,
    /// whoever puts numbers in their place finds out.
    pub(crate) fn check_overflow(&self, scope: &Scope) -> Result<(), SymbolicErrorKind> {
        let fits = |quantity, sum: Option<Sum>| {
            let most = Sum::from(i64::MAX);
            let overflow = ErrorKind::Overflow { quantity }.at(Place::default());
            match sum.map(|left| scope.answer(&Check::AtMost { left, right: most })) {
                Some(Answer::Always | Answer::Maybe) => Ok(()),
                Some(Answer::Never) | None => Err(SymbolicErrorKind::Layout(overflow)),
            }
        };
        fits("size", self.size().as_ref().map(Sum::from))?;
        // Of strides of unknown sign, nothing is known.
        let modes = self.leaves().filter(|mode| scope.is_positive(&mode.stride));
        let reach = modes
            .into_iter()
            .try_fold(Sum::from(&Term::ONE), |reach, mode| {
                let end = mode.extent.checked_mul(&mode.stride)?;
                reach.add(&end, 1)?.add(&mode.stride, -1)
            });
        fits("cosize", reach)
    }

    /// The mode at `path`. Index 0 of a leaf is the leaf.
    pub(super) fn get(&self, path: &[usize]) -> Option<Self> {
        let tree = self.tree.get(path)?.clone();
        Some(Self { tree })
    }

    pub(super) fn from_tree(tree: Tuple<Mode>) -> Self {
        Self { tree }
    }

    /// The top-level modes.
    pub fn modes(&self) -> Vec<Self> {
        let modes = self.tree.modes().iter();
        modes.map(|tree| Self { tree: tree.clone() }).collect()
    }

    pub(super) fn leaf(mode: Mode) -> Self {
        Self {
            tree: Tuple::Leaf(mode),
        }
    }

    /// The modes side by side.
    pub(super) fn concat(modes: impl IntoIterator<Item = Self>) -> Result<Self, SymbolicError> {
        let tree: Tuple<Mode> = modes.into_iter().map(|mode| mode.tree).collect();
        tree.check_limits()?;
        Ok(Self { tree })
    }

    /// A layout of depth at most 1: `1:0` of no modes, an integer mode of one.
    pub(super) fn from_flat(mut modes: Vec<Mode>) -> Self {
        match modes.len() {
            0 => Self::leaf(Mode::unit()),
            1 => Self::leaf(modes.remove(0)),
            _ => Self {
                tree: modes.into_iter().map(Tuple::Leaf).collect(),
            },
        }
    }

    /// Puts the layouts, one for each leaf, in the place of the leaves.
    pub(super) fn replace_leaves(&self, leaves: Vec<Self>) -> Result<Self, SymbolicError> {
        let mut leaves = leaves.into_iter();
        let tree = self.tree.expand(|mode| {
            let leaf = leaves.next().map(|leaf| leaf.tree);
            leaf.unwrap_or_else(|| Tuple::Leaf(mode.clone()))
        });
        tree.check_limits()?;
        Ok(Self { tree })
    }
}

impl SymbolicTiler {
    /// A tiler of numbers.
    pub fn lift(tiler: &Tiler) -> Self {
        match tiler {
            Tiler::Keep => Self::Keep,
            Tiler::Layout(layout) => Self::Layout(SymbolicLayout::lift(layout)),
            Tiler::Modes(tilers) => Self::Modes(tilers.iter().map(Self::lift).collect()),
        }
    }

    /// The tiler that a shape, with `_` for some of its modes, stands for: contiguous layouts, mode by mode.
    pub fn from_shape(
        scope: &mut Scope,
        shape: &Tuple<Option<Term>>,
    ) -> Result<Self, SymbolicError> {
        shape.check_limits()?;
        Ok(match shape {
            Tuple::Leaf(None) => Self::Keep,
            Tuple::Leaf(Some(extent)) => Self::Layout(SymbolicLayout::new(
                scope,
                &Tuple::Leaf(extent.clone()),
                &Tuple::Leaf(Term::ONE),
            )?),
            Tuple::Node(modes) => {
                let modes = modes.iter().map(|mode| Self::from_shape(scope, mode));
                Self::Modes(modes.collect::<Result<_, _>>()?)
            }
        })
    }
}

pub(super) fn product(a: &Term, b: &Term) -> Result<Term, SymbolicError> {
    a.checked_mul(b).ok_or_else(overflow)
}

/// The quotient as a term: exact, because a check or a fact says so.
pub(super) fn quotient(dividend: &Term, divisor: &Term) -> Result<Term, SymbolicError> {
    dividend.checked_div(divisor).ok_or_else(overflow)
}

pub(super) fn overflow() -> SymbolicError {
    SymbolicErrorKind::Overflow.at(Place::default())
}

fn congruent(
    scope: &Scope,
    shape: &Tuple<Term>,
    stride: &Tuple<(Term, Vec<usize>)>,
    path: &ModePath,
) -> Result<Tuple<Mode>, SymbolicError> {
    match (shape, stride) {
        (Tuple::Leaf(extent), Tuple::Leaf((stride, along))) => Ok(Tuple::Leaf(Mode::along(
            extent.clone(),
            stride.clone(),
            along.clone(),
        ))),
        (Tuple::Node(shapes), Tuple::Node(strides)) if shapes.len() == strides.len() => {
            let modes = shapes.iter().zip(strides).enumerate();
            modes
                .map(|(i, (shape, stride))| congruent(scope, shape, stride, &path.child(i)))
                .collect()
        }
        _ => {
            let kind = ErrorKind::NotCongruent {
                shape: show_tuple(&shape.map(|extent| scope.show(extent))),
                stride: show_tuple(&stride.map(|(stride, path)| scope.show_stride(stride, path))),
            };
            Err(kind
                .at(Place::default().mode(path.0.clone()).stride())
                .into())
        }
    }
}
