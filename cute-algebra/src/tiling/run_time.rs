//! A layout of terms cut into tiles, with the coordinates that tell where the edge is.

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

type Result<T> = std::result::Result<T, LayoutError>;

/// The zipped divide of a layout, and beside it the coordinates in the layout: the [`Tiling`](crate::Tiling) of run-time integers.
///
/// ```
/// use cute_algebra::notation::{Definition, eval_symbolic_tiling};
/// let Definition { facts, expr } = "where n >= 1; ragged (m,n):(1,m) / <4,_>".parse()?;
/// let (_, tiling, _) = eval_symbolic_tiling(&facts, &expr, &|_| None)?;
/// assert_eq!(tiling.layout.layout().to_string(), "((4,n),((m).div_ceil(4),1)):((1,m),(4,0))");
/// let along = |axis: usize| tiling.axes[axis].strides.iter().map(ToString::to_string).collect::<Vec<_>>();
/// assert_eq!((along(0).join(" "), along(1).join(" ")), ("1 0 4 0".into(), "0 1 0 0".into()));
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicTiling {
    /// `(tile, rest)`.
    pub layout: ComposedLayout<Term>,
    /// The coordinates of the whole, one for each mode that the tiler tells apart.
    pub axes: Vec<SymbolicAxis>,
}

/// One coordinate of what is tiled, as a layout over the leaves of the tiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicAxis {
    /// The coordinate is below this, or past the edge.
    pub extent: Term,
    /// How far each leaf of the tiling moves along it.
    pub strides: Vec<Term>,
}

impl SymbolicTiling {
    /// The tiling by a tiler.
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

/// The modes that a tiler tells apart: which of the bounds each is, and its size.
#[derive(Default)]
struct Marked {
    axes: Vec<(usize, Term)>,
}

impl Marked {
    /// The modes with their places along these: a division carries them through.
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
        // A bound is what only run-time integers have.
        let bound = scope.bound(&size).ok_or_else(overflow)?;
        self.axes.push((bound, size));
        let (mut leaves, mut step) = (Vec::new(), Term::ONE);
        for (extent, stride) in mode.leaves() {
            let next = product(&step, extent)?;
            let stride_here = std::mem::replace(&mut step, next);
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

/// The tiler with `_` replaced by the whole mode.
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
