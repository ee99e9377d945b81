//! The second operand of composition, division and product: a layout, or one for each mode.

use crate::domain::{Domain, Numbers};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::tuple::{Coord, Shape, Tuple};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

/// One layout for the whole operand, or a tiler for each of its modes, or `_` for an unchanged mode.
///
/// A shape stands for contiguous layouts, mode by mode: `(3,8)` is `<3:1,8:1>`, and `(3,_)` is `<3:1,_>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tiler<I: Integer = i64> {
    /// A layout that applies to the whole operand, as a function of its 1-D coordinate.
    Layout(Layout<I>),
    /// One tiler for each of the leading modes of the operand.
    Modes(Vec<Tiler<I>>),
    /// `_`: the mode is left unchanged.
    Keep,
}

/// The operation on a part of a layout and the layout that a tiler has for it.
type OnParts<'a, I> = dyn FnMut(&Layout<I>, &Layout<I>) -> Result<Layout<I>, LayoutError> + 'a;

/// Treatment of modes that a tiler does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// They stay unchanged in the result.
    Keep,
    /// They are left out of the result.
    Drop,
}

impl Tiler {
    /// The tiler that a shape stands for: `<s0:1,s1:1,…>`.
    pub fn from_shape(shape: &Shape) -> Result<Self, LayoutError> {
        Self::from_coord(&shape.to_coord())
    }

    /// The tiler that a shape stands for, where some modes can be `_`.
    pub fn from_coord(coord: &Coord) -> Result<Self, LayoutError> {
        Self::of_coord(&mut Numbers, coord)
    }
}

impl<I: Integer> Tiler<I> {
    /// [`from_coord`](Tiler::from_coord) for any domain.
    pub(crate) fn of_coord<D: Domain<Int = I>>(
        d: &mut D,
        coord: &Tuple<Option<I>>,
    ) -> Result<Self, LayoutError> {
        coord.check_limits()?;
        Self::from_checked(d, coord, &mut Vec::new())
    }

    fn from_checked<D: Domain<Int = I>>(
        d: &mut D,
        coord: &Tuple<Option<I>>,
        path: &mut Vec<usize>,
    ) -> Result<Self, LayoutError> {
        match coord {
            Tuple::Leaf(None) => Ok(Self::Keep),
            Tuple::Leaf(Some(extent)) => {
                let tile = Layout::make(d, Tuple::Leaf(extent.clone()), Tuple::Leaf(I::ONE.into()));
                Ok(Self::Layout(tile.map_err(|error| error.inside(0, path))?))
            }
            Tuple::Node(modes) => {
                let mut tilers = Vec::new();
                for (i, mode) in modes.iter().enumerate() {
                    path.push(i);
                    tilers.push(Self::from_checked(d, mode, path)?);
                    path.pop();
                }
                Ok(Self::Modes(tilers))
            }
        }
    }

    /// Applies `act` to each part of a layout and the layout of the tiler for it.
    pub(crate) fn apply(
        &self,
        a: &Layout<I>,
        others: Others,
        act: &mut OnParts<'_, I>,
    ) -> Result<Layout<I>, LayoutError> {
        let tilers = match self {
            Self::Keep => return Ok(a.clone()),
            Self::Layout(tile) => return act(a, tile),
            Self::Modes(tilers) => tilers,
        };
        if tilers.len() > a.rank() {
            return Err(ErrorKind::TilerRank {
                tiler: tilers.len(),
                shape: a.shape().to_string(),
                rank: a.rank(),
            }
            .at(Place::operand(1)));
        }
        let mut modes = a.modes();
        if others == Others::Drop {
            modes.truncate(tilers.len());
        }
        for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
            *mode = tiler
                .apply(mode, others, act)
                .map_err(|error| error.in_mode(i))?;
        }
        Layout::concat(modes)
    }
}

impl<I: Integer> From<Layout<I>> for Tiler<I> {
    fn from(layout: Layout<I>) -> Self {
        Self::Layout(layout)
    }
}

impl<I: Integer> fmt::Display for Tiler<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(layout) => layout.fmt(f),
            Self::Keep => f.write_str("_"),
            Self::Modes(tilers) => {
                f.write_str("<")?;
                for (i, tiler) in tilers.iter().enumerate() {
                    write!(f, "{}{tiler}", if i > 0 { "," } else { "" })?;
                }
                f.write_str(">")
            }
        }
    }
}
