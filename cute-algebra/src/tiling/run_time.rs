//! Tilings of layouts of run-time integers, with the coordinates that show where the edge is.

use crate::composed::ComposedLayout;
use crate::construct::compact_left;
use crate::divide::{Form, divide};
use crate::domain::{Domain, overflow, product};
use crate::error::LayoutError;
use crate::integer::Source;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::symbolic::{Scope, Term};
use crate::tiler::Tiler;
use alloc::vec::Vec;

type Result<T> = core::result::Result<T, LayoutError>;

/// The [`Tiling`](crate::Tiling) of run-time integers: the zipped divide of a layout, together with the coordinates
/// in the undivided layout.
///
/// ```
/// use cute_algebra::notation::{Definition, eval_symbolic_tiling};
/// let Definition { facts, expr } = "where n >= 1; ragged (m,n):(1,m) / <4,_>".parse()?;
/// let (_, tiling, _) = eval_symbolic_tiling(&facts, &expr, &|_| None)?;
/// assert_eq!(tiling.layout.layout().to_string(), "((4,n),(m.div_ceil(4),1)):((1,m),(4,0))");
/// let along = |axis: usize| tiling.axes[axis].strides.iter().map(ToString::to_string).collect::<Vec<_>>();
/// assert_eq!((along(0).join(" "), along(1).join(" ")), ("1 0 4 0".into(), "0 1 0 0".into()));
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicTiling {
    /// The divided layout, with the modes `(tile, rest)`.
    pub layout: ComposedLayout<Term>,
    /// The coordinates in the undivided layout, one for each mode that the tiler distinguishes.
    pub axes: Vec<SymbolicAxis>,
}

/// One coordinate of the undivided layout, as a layout over the leaves of the tiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicAxis {
    /// A coordinate at or above this lies past the edge.
    pub extent: Term,
    /// By how much the coordinate grows with each step of each leaf of the tiling.
    pub strides: Vec<Term>,
}

impl SymbolicTiling {
    /// The tiling by a tiler, strict or ragged.
    pub(crate) fn new(
        scope: &mut Scope,
        whole: &ComposedLayout<Term>,
        tiler: &Tiler<Term>,
        overhang: Overhang,
    ) -> Result<Self> {
        let tiler = cut_nothing(scope, tiler, whole.layout())?;
        let mut marked = Marked::default();
        let divided = marked.layout(scope, whole.layout(), &tiler)?;
        let layout = whole.map(|_| divide(scope, &divided, &tiler, Form::Zipped, overhang))?;
        let axes = marked.axes.into_iter().map(|(bound, extent)| {
            let strides = layout.layout().stride().leaves().map(|stride| {
                let mut sources = stride.sources().iter();
                let source = sources.find(|source| source.bound == bound);
                source.map_or(Term::ZERO, |source| source.stride.clone())
            });
            let strides = strides.collect();
            SymbolicAxis { extent, strides }
        });
        Ok(Self {
            axes: axes.collect(),
            layout,
        })
    }
}

/// For each mode that a tiler distinguishes: the index of its bound in the scope, and its size.
#[derive(Default)]
struct Marked {
    axes: Vec<(usize, Term)>,
}

impl Marked {
    /// The layout with a source on each stride that says how far a step moves in its mode. Division carries the
    /// sources through to the tiles.
    fn layout(
        &mut self,
        scope: &mut Scope,
        layout: &Layout<Term>,
        tiler: &Tiler<Term>,
    ) -> Result<Layout<Term>> {
        let Tiler::Modes(tilers) = tiler else {
            return self.axis(scope, layout);
        };
        if layout.shape().is_leaf() {
            return self.axis(scope, layout);
        }
        let mut modes = layout.modes();
        for (i, mode) in modes.iter_mut().enumerate() {
            *mode = match tilers.get(i) {
                Some(tiler) => self.layout(scope, mode, tiler)?,
                None => self.axis(scope, mode)?,
            };
        }
        Ok(Layout::join(modes))
    }

    fn axis(&mut self, scope: &mut Scope, mode: &Layout<Term>) -> Result<Layout<Term>> {
        let size = mode.shape().product().ok_or_else(overflow)?;
        // Only run-time integers have bounds.
        let bound = scope.bound(&size).ok_or_else(overflow)?;
        self.axes.push((bound, size));
        let (mut leaves, mut step) = (Vec::new(), Term::ONE);
        for (extent, stride) in mode.leaves() {
            let next = product(&step, extent)?;
            let stride_here = core::mem::replace(&mut step, next);
            let source = Source {
                bound,
                stride: stride_here,
            };
            let sources = stride.sources().iter().cloned().chain([source]);
            let marked = stride.clone().with_sources(sources.collect::<Vec<_>>());
            leaves.push(Layout::leaf(extent.clone(), marked));
        }
        Layout::replace_leaves(mode.shape(), leaves)
    }
}

/// The tiler with each `_` replaced by a layout of the whole mode.
fn cut_nothing(scope: &mut Scope, tiler: &Tiler<Term>, a: &Layout<Term>) -> Result<Tiler<Term>> {
    Ok(match tiler {
        Tiler::Keep => Tiler::Layout(compact_left(scope, a.shape())?),
        Tiler::Layout(_) => tiler.clone(),
        Tiler::Modes(tilers) => {
            let modes = a.modes();
            let tilers = tilers
                .iter()
                .enumerate()
                .map(|(i, tiler)| match modes.get(i) {
                    Some(mode) => cut_nothing(scope, tiler, mode),
                    None => Ok(tiler.clone()),
                });
            Tiler::Modes(tilers.collect::<Result<_>>()?)
        }
    })
}
