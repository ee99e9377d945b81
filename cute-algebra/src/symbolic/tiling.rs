//! A layout of terms cut into tiles, with the coordinates that tell where the edge is.

use super::SymbolicError;
use super::composed::SymbolicComposed;
use super::composition::divide;
use super::layout::{Mode, Source, SymbolicLayout, SymbolicTiler, overflow};
use super::scope::Scope;
use super::term::Term;
use crate::composition::Overhang;
use crate::divide::Form;
use crate::tuple::Tuple;

type Result<T> = std::result::Result<T, SymbolicError>;

/// The zipped divide of a layout, and beside it the coordinates in the layout: the [`Tiling`](crate::Tiling) of run-time integers.
///
/// ```
/// use cute_algebra::notation::{Definition, eval_symbolic_tiling};
/// let Definition { facts, expr } = "where n >= 1; ragged (m,n):(1,m) / <4,_>".parse()?;
/// let (scope, tiling, _) = eval_symbolic_tiling(&facts, &expr, &|_| None)?;
/// assert_eq!(tiling.layout.layout.show(&scope), "((4,n),((m).div_ceil(4),1)):((1,m),(4,0))");
/// let along = |axis: usize| tiling.axes[axis].strides.iter().map(|stride| scope.show(stride)).collect::<Vec<_>>();
/// assert_eq!((along(0).join(" "), along(1).join(" ")), ("1 0 4 0".into(), "0 1 0 0".into()));
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicTiling {
    /// `(tile, rest)`.
    pub layout: SymbolicComposed,
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
        whole: &SymbolicComposed,
        tiler: &SymbolicTiler,
        overhang: Overhang,
    ) -> Result<Self> {
        let tiler = cut_nothing(scope, tiler, &whole.layout)?;
        let mut marked = Marked::default();
        let tree = marked.tree(scope, whole.layout.tree(), &tiler)?;
        let layout = whole.map(|_| {
            divide(
                scope,
                &SymbolicLayout::from_tree(tree),
                &tiler,
                Form::Zipped,
                overhang,
            )
        })?;
        let axes = marked.axes.into_iter().map(|(bound, extent)| {
            let strides = layout.layout.leaves().map(|mode| {
                let source = mode.sources.iter().find(|source| source.bound == bound);
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
    fn tree(
        &mut self,
        scope: &mut Scope,
        tree: &Tuple<Mode>,
        tiler: &SymbolicTiler,
    ) -> Result<Tuple<Mode>> {
        let (SymbolicTiler::Modes(tilers), Tuple::Node(modes)) = (tiler, tree) else {
            return self.axis(scope, tree);
        };
        let modes = modes
            .iter()
            .enumerate()
            .map(|(i, mode)| match tilers.get(i) {
                Some(tiler) => self.tree(scope, mode, tiler),
                None => self.axis(scope, mode),
            });
        modes.collect()
    }

    fn axis(&mut self, scope: &mut Scope, tree: &Tuple<Mode>) -> Result<Tuple<Mode>> {
        let mut size = Term::ONE;
        let mut strides = Vec::new();
        for mode in tree.leaves() {
            strides.push(size.clone());
            size = size.checked_mul(&mode.extent).ok_or_else(overflow)?;
        }
        let bound = scope.add_bound((&size).into());
        self.axes.push((bound, size));
        let mut strides = strides.into_iter();
        Ok(tree.map(|mode| {
            let stride = strides.next().unwrap_or(Term::ZERO);
            let mut mode = mode.clone();
            mode.sources.push(Source { bound, stride });
            mode
        }))
    }
}

/// The tiler with `_` replaced by the whole mode.
fn cut_nothing(
    scope: &mut Scope,
    tiler: &SymbolicTiler,
    a: &SymbolicLayout,
) -> Result<SymbolicTiler> {
    Ok(match tiler {
        SymbolicTiler::Keep => {
            let shape = a.tree().map(|mode| mode.extent.clone());
            SymbolicTiler::Layout(SymbolicLayout::compact(scope, &shape, false)?)
        }
        SymbolicTiler::Layout(_) => tiler.clone(),
        SymbolicTiler::Modes(tilers) => {
            let modes = a.modes();
            let tilers = tilers
                .iter()
                .enumerate()
                .map(|(i, tiler)| match modes.get(i) {
                    Some(mode) => cut_nothing(scope, tiler, mode),
                    None => Ok(tiler.clone()),
                });
            SymbolicTiler::Modes(tilers.collect::<Result<_>>()?)
        }
    })
}
