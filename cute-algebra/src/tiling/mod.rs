//! Tilings: a layout divided into tiles, with the coordinates that show where its edge is.

mod run_time;

pub use run_time::{SymbolicAxis, SymbolicTiling};

use crate::composed::ComposedLayout;
use crate::disjoint::{Axis, proves_disjoint};
use crate::divide::{Form, divide};
use crate::domain::Numbers;
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::tiler::Tiler;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Largest size for which two coordinates with the same value are searched.
const OVERLAP_LIMIT: i64 = 1 << 18;

/// The zipped divide of a layout, together with the coordinates in the undivided layout.
///
/// These coordinates have one number for each mode that the tiler distinguishes: one for a layout as tiler, one for
/// each mode of a tiler by mode, and so on inside. Tiles of a ragged tiling can extend past the edge, where a
/// coordinate is at least as large as its extent. A mode for which the tiler has `_` is not divided: each tile
/// contains all of it.
/// ```
/// use cute_algebra::{ComposedLayout, Swizzle, Tiling};
/// let columns = ComposedLayout::new(Swizzle::IDENTITY, 0, "(10,5):(1,10)".parse()?)?;
/// let tiling = Tiling::ragged(&columns, &"<4>".parse()?)?;
/// assert_eq!(tiling.layout().layout().to_string(), "((4),(3,5)):((1),(4,10))");
/// // The last element of the third tile: row 11 of 10.
/// assert_eq!(tiling.coordinate(11), [11, 0]);
/// assert!(!tiling.contains(11) && tiling.is_disjoint());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The tiles of a ragged tiling:
///
#[doc = include_str!("../../docs/ragged.svg")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    whole: ComposedLayout,
    tiler: Tiler,
    overhang: Overhang,
    layout: ComposedLayout,
    axes: Vec<(i64, Vec<i64>)>,
}

/// Two coordinates with the same element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The index of the element.
    pub value: i64,
    /// A coordinate of it in the undivided layout.
    pub first: Vec<i64>,
    /// Another coordinate of it, or the same one in another tile.
    pub second: Vec<i64>,
}

impl Tiling {
    /// The tiling by a tiler that divides the layout without a remainder; refused otherwise.
    pub fn new(whole: &ComposedLayout, tiler: &Tiler) -> Result<Self, LayoutError> {
        Self::with(whole, tiler, Overhang::Strict)
    }

    /// The tiling by any tiler. The last tiles can extend past the edge.
    pub fn ragged(whole: &ComposedLayout, tiler: &Tiler) -> Result<Self, LayoutError> {
        Self::with(whole, tiler, Overhang::Ragged)
    }

    fn with(
        whole: &ComposedLayout,
        tiler: &Tiler,
        overhang: Overhang,
    ) -> Result<Self, LayoutError> {
        whole.layout().require_integral(0)?;
        let cut = cut_nothing(tiler, whole.layout());
        let zipped = |a: &Layout| divide(&mut Numbers, a, &cut, Form::Zipped, overhang);
        let layout = whole.map(zipped)?;
        let extents = extents(&cut, whole.layout());
        let axes = extents.iter().enumerate().map(|(chosen, &extent)| {
            let coordinate = zipped(&axis(&cut, whole.layout(), &mut 0, chosen)?)?;
            Ok((extent, steps(layout.layout(), &coordinate)))
        });
        let axes = axes.collect::<Result<_, LayoutError>>()?;
        Ok(Self {
            whole: whole.clone(),
            tiler: tiler.clone(),
            overhang,
            layout,
            axes,
        })
    }

    /// The undivided layout.
    pub fn whole(&self) -> &ComposedLayout {
        &self.whole
    }

    /// The divided layout, with the modes `(tile, rest)`.
    pub fn layout(&self) -> &ComposedLayout {
        &self.layout
    }

    /// For each coordinate of the undivided layout, its extent and its strides along the leaves of `(tile, rest)`.
    pub fn axes(&self) -> Vec<Axis<'_>> {
        self.axes
            .iter()
            .map(|(extent, strides)| Axis {
                extent: *extent,
                strides,
            })
            .collect()
    }

    /// The coordinate in the undivided layout for a 1-D coordinate of `(tile, rest)`.
    pub fn coordinate(&self, index: i64) -> Vec<i64> {
        let digits = self.digits(index);
        self.axes
            .iter()
            .map(|(_, strides)| {
                digits
                    .iter()
                    .zip(strides)
                    .map(|(digit, step)| digit * step)
                    .sum()
            })
            .collect()
    }

    /// Whether the coordinate for `index` lies inside the undivided layout and not past its edge.
    pub fn contains(&self, index: i64) -> bool {
        let coordinate = self.coordinate(index);
        coordinate
            .iter()
            .zip(&self.axes)
            .all(|(coordinate, (extent, _))| coordinate < extent)
    }

    /// Whether [`proves_disjoint`] shows that no two coordinates inside the undivided layout have the same element.
    /// The swizzle is a bijection, so it does not matter here.
    pub fn is_disjoint(&self) -> bool {
        let (shape, stride) = self.leaves();
        proves_disjoint(&shape, &stride, &self.axes())
    }

    /// Two coordinates with the same element. `None` where there are none, or where the tiling has more than 2¹⁸
    /// coordinates.
    pub fn overlap(&self) -> Option<Overlap> {
        if self.layout.size() > OVERLAP_LIMIT {
            return None;
        }
        let mut seen = BTreeMap::new();
        let inside = (0..self.layout.size()).filter(|&index| self.contains(index));
        for index in inside {
            let value = self.layout.at(index)?;
            if let Some(first) = seen.insert(value, index) {
                return Some(Overlap {
                    value,
                    first: self.coordinate(first),
                    second: self.coordinate(index),
                });
            }
        }
        None
    }

    fn leaves(&self) -> (Vec<i64>, Vec<i64>) {
        let modes = self.layout.layout().flat_modes();
        modes
            .into_iter()
            .map(|(extent, stride)| (extent, stride.value()))
            .unzip()
    }

    fn digits(&self, index: i64) -> Vec<i64> {
        let mut rest = index;
        let shape = self.layout.layout().shape();
        shape
            .leaves()
            .map(|extent| {
                let digit = rest % extent;
                rest /= extent;
                digit
            })
            .collect()
    }
}

/// The tiler with each `_` replaced by a layout of the whole mode.
fn cut_nothing(tiler: &Tiler, a: &Layout) -> Tiler {
    match tiler {
        Tiler::Keep => Layout::left(a.shape().clone()).map_or(Tiler::Keep, Tiler::Layout),
        Tiler::Layout(_) => tiler.clone(),
        Tiler::Modes(tilers) => {
            let modes = a.modes();
            let tilers = tilers
                .iter()
                .enumerate()
                .map(|(i, tiler)| match modes.get(i) {
                    Some(mode) => cut_nothing(tiler, mode),
                    None => tiler.clone(),
                });
            Tiler::Modes(tilers.collect())
        }
    }
}

/// The sizes of the modes that the tiler distinguishes, from left to right.
fn extents(tiler: &Tiler, a: &Layout) -> Vec<i64> {
    match tiler {
        Tiler::Modes(tilers) => {
            let modes = a.modes().into_iter().enumerate();
            modes
                .flat_map(|(i, mode)| match tilers.get(i) {
                    Some(tiler) => extents(tiler, &mode),
                    None => vec![mode.size()],
                })
                .collect()
        }
        _ => vec![a.size()],
    }
}

/// The layout whose value is the coordinate along mode `chosen` of those that the tiler distinguishes.
fn axis(tiler: &Tiler, a: &Layout, next: &mut usize, chosen: usize) -> Result<Layout, LayoutError> {
    let leaf = |next: &mut usize, a: &Layout| {
        let is_chosen = *next == chosen;
        *next += 1;
        Layout::new(a.size(), i64::from(is_chosen))
    };
    match tiler {
        Tiler::Modes(tilers) => {
            let modes = a.modes().into_iter().enumerate();
            let modes = modes.map(|(i, mode)| match tilers.get(i) {
                Some(tiler) => axis(tiler, &mode, next, chosen),
                None => leaf(next, &mode),
            });
            Layout::concat(modes.collect::<Result<Vec<_>, _>>()?)
        }
        _ => leaf(next, a),
    }
}

/// How far the coordinate moves with a step of each leaf of `layout`. The modes of `layout` refine those of
/// `coordinate`.
fn steps(layout: &Layout, coordinate: &Layout) -> Vec<i64> {
    let mut weight = 1;
    let leaves = layout.shape().leaves().map(|&extent| {
        let step = match extent {
            1 => 0,
            _ => coordinate.at(weight).unwrap_or(0),
        };
        weight *= extent;
        step
    });
    leaves.collect()
}

/// `layout / tiler`, as the notation reads it.
impl fmt::Display for Tiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.overhang == Overhang::Ragged {
            f.write_str("ragged ")?;
        }
        write!(f, "{} / {}", self.whole, self.tiler)
    }
}

#[cfg(test)]
mod tests {
    use super::Tiling;
    use crate::composed::ComposedLayout;
    use crate::layout::Layout;
    use crate::swizzle::Swizzle;

    /// Checks that the tiling takes each coordinate of the layout exactly once, with the layout's element.
    #[track_caller]
    fn check(whole: &str, tiler: &str, ragged: bool) -> Tiling {
        let composed = match whole.parse::<Layout>() {
            Ok(layout) => ComposedLayout::new(Swizzle::IDENTITY, 0, layout).unwrap(),
            Err(_) => whole.parse().unwrap(),
        };
        let tiler = tiler.parse().unwrap();
        let tiling = match ragged {
            true => Tiling::ragged(&composed, &tiler),
            false => Tiling::new(&composed, &tiler),
        };
        let tiling = tiling.unwrap();
        let extents: Vec<i64> = tiling.axes().iter().map(|axis| axis.extent).collect();
        assert_eq!(extents.iter().product::<i64>(), composed.size());
        let mut seen = vec![false; composed.size() as usize];
        for index in 0..tiling.layout().size() {
            let coordinate = tiling.coordinate(index);
            assert!(ragged || tiling.contains(index));
            if tiling.contains(index) {
                let pairs = coordinate.iter().zip(&extents).rev();
                let linear = pairs.fold(0, |linear, (c, extent)| linear * extent + c);
                assert_eq!(tiling.layout().at(index), composed.at(linear));
                assert!(!std::mem::replace(&mut seen[linear as usize], true));
            }
        }
        assert!(seen.iter().all(|&seen| seen));
        assert_eq!(tiling.is_disjoint(), tiling.overlap().is_none());
        tiling
    }

    #[test]
    fn tilings_partition() {
        for (whole, tiler) in [
            ("24:1", "4:1"),
            ("24:1", "4:2"),
            ("(8,6):(6,1)", "<4:1,2:3>"),
            ("(8,6):(6,1)", "<4>"),
            ("(8,6):(6,1)", "4:1"),
            ("(8,6):(6,1)", "<_,3>"),
            ("(8,6):(6,1)", "_"),
            ("(8,(2,3)):(6,(3,1))", "<4,<_,3>>"),
            ("(8,(2,3)):(6,(1,2))", "<4,_>"),
            ("(9,(4,8)):(59,(13,1))", "<3:3,(2,4):(1,8)>"),
            ("(4,8):(1,2)", "<2,2>"),
            ("(3,2):(2,3)", "<3,1>"),
            ("(4,8):(8,-1)", "<2,4>"),
            ("Sw<2,0,3> o 8 o (8,8):(8,1)", "<4,2>"),
        ] {
            check(whole, tiler, false);
        }
    }

    #[test]
    fn ragged_tilings_partition_up_to_the_edge() {
        for (whole, tiler) in [
            ("10:1", "4:1"),
            ("(10,7):(7,1)", "<4,2>"),
            ("(10,7):(1,10)", "<4,4>"),
            ("(10,7):(1,16)", "<4,_>"),
            ("(10,(4,9)):(36,(9,1))", "<3,8>"),
            ("(5,(4,3)):(12,(3,1))", "<2,<3,2>>"),
            ("(10,7):(1,5)", "<4,4>"),
            ("Sw<1,0,2> o 0 o (6,8):(8,1)", "<4,3>"),
        ] {
            check(whole, tiler, true);
        }
    }

    /// Only the edge makes these disjoint: the tiles of one column extend into the next.
    #[test]
    fn the_edge_proves_more() {
        assert!(check("(10,7):(1,10)", "<4,4>", true).is_disjoint());
        assert!(check("(1000,3000):(3000,1)", "<64,64>", true).is_disjoint());
    }

    #[test]
    fn overlaps_are_found() {
        let overlap = check("(4,4):(1,3)", "<2,2>", false).overlap().unwrap();
        assert_eq!(
            (overlap.first, overlap.second, overlap.value),
            (vec![0, 1], vec![3, 0], 3)
        );
    }
}
