//! Layouts of terms, and how they are regrouped.

use super::scope::{Answer, Check, Scope};
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
    /// In a ragged division, where in the divided mode a step leads.
    pub source: Option<Source>,
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
        Self {
            extent,
            stride,
            source: None,
        }
    }

    pub(super) fn is_single(&self) -> bool {
        self.extent.is_one()
    }
}

impl SymbolicLayout {
    /// A layout, if shape and stride are congruent and extents can be positive. Each extent is required to be.
    pub fn new(
        scope: &mut Scope,
        shape: &Tuple<Term>,
        stride: &Tuple<Term>,
    ) -> Result<Self, SymbolicError> {
        let limits = |tuple: &Tuple<Term>, place: fn(Place) -> Place| {
            tuple.check_limits().map_err(|error| error.relocate(place))
        };
        limits(shape, Place::shape)?;
        limits(stride, Place::stride)?;
        let tree = congruent(scope, shape, stride, &ModePath::default())?;
        for (mode, path) in tree.leaves().zip(tree.leaf_paths()) {
            scope
                .require_extent(&mode.extent)
                .map_err(|kind| kind.at(Place::default().mode(path).shape()))?;
        }
        Ok(Self { tree })
    }

    /// The compact layout of a shape; `row`: the rightmost mode fastest.
    pub fn compact(
        scope: &mut Scope,
        shape: &Tuple<Term>,
        row: bool,
    ) -> Result<Self, SymbolicError> {
        let extents: Vec<_> = shape.leaves().collect();
        let count = extents.len();
        let mut strides = vec![Term::ZERO; count];
        let mut next = Term::ONE;
        for i in 0..count {
            let i = if row { count - 1 - i } else { i };
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
    pub fn lift(layout: &Layout) -> Result<Self, SymbolicError> {
        layout.require_integral(0).map_err(|_| {
            SymbolicErrorKind::Unsupported("a scaled basis element beside run-time integers")
                .at(Place::default())
        })?;
        let mut strides = layout.stride().leaves();
        let tree = layout.shape().map(|&extent| {
            let stride = strides.next().map_or(0, ScaledBasis::value);
            Mode::new(extent.into(), stride.into())
        });
        Ok(Self { tree })
    }

    /// The layout of numbers, if all leaves are.
    pub fn as_layout(&self) -> Option<Result<Layout, LayoutError>> {
        let side = |stride: bool| {
            let leaves = self.tree.leaves().map(|mode| {
                let term = if stride { &mode.stride } else { &mode.extent };
                term.as_constant()
            });
            leaves.collect::<Option<Vec<_>>>()
        };
        let (shape, stride) = (side(false)?, side(true)?);
        Some(self.with_numbers(&shape, &stride))
    }

    /// The layout for these values of the atoms; `None` where a leaf is no integer or does not fit.
    pub fn evaluate(&self, atoms: &[i64]) -> Option<Result<Layout, LayoutError>> {
        let side = |stride: bool| {
            let leaves = self.tree.leaves().map(|mode| {
                let term = if stride { &mode.stride } else { &mode.extent };
                i64::try_from(term.evaluate(atoms)?).ok()
            });
            leaves.collect::<Option<Vec<_>>>()
        };
        let (shape, stride) = (side(false)?, side(true)?);
        Some(self.with_numbers(&shape, &stride))
    }

    fn with_numbers(&self, shape: &[i64], stride: &[i64]) -> Result<Layout, LayoutError> {
        let (mut shape, mut stride) = (shape.iter(), stride.iter());
        let shape: IntTuple = self.tree.map(|_| shape.next().copied().unwrap_or(1));
        let stride: IntTuple = self.tree.map(|_| stride.next().copied().unwrap_or(0));
        Layout::new(shape, &stride)
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
        let plain = |mode: &Mode| Mode::new(mode.extent.clone(), mode.stride.clone());
        let plain = Self {
            tree: self.tree.map(plain),
        };
        super::algebra::coalesce(&plain).leaves().cloned().collect()
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

    /// Refuses a layout of which the size or the span fits 64 bits for no values of the atoms. Where it depends on them,
    /// whoever puts numbers in their place finds out.
    pub(crate) fn check_overflow(&self, scope: &Scope) -> Result<(), SymbolicErrorKind> {
        let fits = |quantity, sum: Option<Sum>| {
            let most = Sum::from(&Term::from(i64::MAX));
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
            0 => Self::leaf(Mode::new(Term::ONE, Term::ZERO)),
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

/// Leaves that stand for themselves while a layout is regrouped.
///
/// A regrouping looks at no extent and no stride. So the operation on layouts of numbers does it, on a layout whose
/// strides are the numbers of the leaves.
#[derive(Default)]
pub(super) struct Tags {
    leaves: Vec<Mode>,
}

impl Tags {
    /// The layout of the numbers of its leaves, from 1 on; 0 is `1:0`.
    pub(super) fn tag(&mut self, layout: &SymbolicLayout) -> Result<Layout, LayoutError> {
        let stride: Stride = layout.tree.map(|mode| {
            self.leaves.push(mode.clone());
            (self.leaves.len() as i64).into()
        });
        Layout::new(layout.tree.map(|_| 1), stride)
    }

    /// The leaves in the places of their numbers.
    pub(super) fn untag(&self, layout: &Layout) -> SymbolicLayout {
        let tree = layout.stride().map(|tag| {
            let number = usize::try_from(tag.value()).unwrap_or(0);
            let leaf = number.checked_sub(1).and_then(|i| self.leaves.get(i));
            leaf.cloned()
                .unwrap_or_else(|| Mode::new(Term::ONE, Term::ZERO))
        });
        SymbolicLayout { tree }
    }
}

impl SymbolicTiler {
    /// A tiler of numbers.
    pub fn lift(tiler: &Tiler) -> Result<Self, SymbolicError> {
        Ok(match tiler {
            Tiler::Keep => Self::Keep,
            Tiler::Layout(layout) => Self::Layout(SymbolicLayout::lift(layout)?),
            Tiler::Modes(tilers) => {
                Self::Modes(tilers.iter().map(Self::lift).collect::<Result<_, _>>()?)
            }
        })
    }

    /// The tiler that a shape stands for: contiguous layouts, mode by mode.
    pub fn from_shape(scope: &mut Scope, shape: &Tuple<Term>) -> Result<Self, SymbolicError> {
        shape.check_limits()?;
        Ok(match shape {
            Tuple::Leaf(extent) => Self::Layout(SymbolicLayout::new(
                scope,
                &Tuple::Leaf(extent.clone()),
                &Tuple::Leaf(Term::ONE),
            )?),
            Tuple::Node(modes) => {
                let mut tilers = Vec::new();
                for mode in modes {
                    tilers.push(Self::from_shape(scope, mode)?);
                }
                Self::Modes(tilers)
            }
        })
    }

    /// How it nests.
    pub(super) fn skeleton(&self) -> Tiler {
        match self {
            Self::Keep => Tiler::Keep,
            Self::Layout(_) => Tiler::Layout(Layout::unit()),
            Self::Modes(tilers) => Tiler::Modes(tilers.iter().map(Self::skeleton).collect()),
        }
    }
}

pub(super) fn product(a: &Term, b: &Term) -> Result<Term, SymbolicError> {
    a.checked_mul(b)
        .ok_or_else(|| SymbolicErrorKind::Overflow.at(Place::default()))
}

fn congruent(
    scope: &Scope,
    shape: &Tuple<Term>,
    stride: &Tuple<Term>,
    path: &ModePath,
) -> Result<Tuple<Mode>, SymbolicError> {
    match (shape, stride) {
        (Tuple::Leaf(extent), Tuple::Leaf(stride)) => {
            Ok(Tuple::Leaf(Mode::new(extent.clone(), stride.clone())))
        }
        (Tuple::Node(shapes), Tuple::Node(strides)) if shapes.len() == strides.len() => {
            let modes = shapes.iter().zip(strides).enumerate();
            modes
                .map(|(i, (shape, stride))| congruent(scope, shape, stride, &path.child(i)))
                .collect()
        }
        _ => {
            let text =
                |tuple: &Tuple<Term>| super::show::show_tuple(&tuple.map(|term| scope.show(term)));
            let kind = ErrorKind::NotCongruent {
                shape: text(shape),
                stride: text(stride),
            };
            Err(kind
                .at(Place::default().mode(path.0.clone()).stride())
                .into())
        }
    }
}
