//! Division: a layout split into the part that a tiler covers and the rest.

use crate::complement::complement_in;
use crate::composition::{Compose, compose_within};
use crate::domain::{Numbers, overflow};
use crate::error::{During, ErrorKind, LayoutError, ModePath, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::tiler::{Others, Tiler};
use crate::tuple::Tuple;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// `(tile, rest)`: A composed with the tiler, and A composed with the tiler's complement in the size of A. Where
/// the tiler has modes, this is done mode by mode: `((tile, rest), …)`.
///
/// The result has the values of A in another order. The division is refused unless the tiler has a
/// [`complement`](crate::complement) in the size of A, and A has a [`composition`](crate::composition) with the tiler
/// and its complement together.
/// ```
/// use cute_algebra::{Layout, logical_divide};
/// let a = Layout::left([12, 32])?;
/// let tiled = logical_divide(&a, &Layout::new(4, 3)?.into());
/// assert_eq!(tiled?.to_string(), "(4,(3,32)):(3,(1,12))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn logical_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Logical, Overhang::Strict)
}

/// `((tile, …), (rest, …))`: the modes of [`logical_divide`] in another order.
/// Mode 0 is the composition of A with the tiler.
///
/// The condition is the same as for [`logical_divide`].
/// ```
/// use cute_algebra::{Layout, zipped_divide};
/// let a: Layout = "(9,(4,8)):(59,(13,1))".parse()?;
/// let tiled = zipped_divide(&a, &"<3:3, (2,4):(1,8)>".parse()?)?;
/// assert_eq!(tiled.to_string(), "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn zipped_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Zipped, Overhang::Strict)
}

/// `((tile, …), rest, …)`: the modes of [`logical_divide`] in another order.
/// Mode 0 is the composition of A with the tiler.
///
/// The condition is the same as for [`logical_divide`].
/// ```
/// use cute_algebra::{Layout, tiled_divide};
/// let a: Layout = "(9,(4,8)):(59,(13,1))".parse()?;
/// let tiled = tiled_divide(&a, &"<3:3, (2,4):(1,8)>".parse()?)?;
/// assert_eq!(tiled.to_string(), "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tiled_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Tiled, Overhang::Strict)
}

/// `(tile, …, rest, …)`: the modes of [`logical_divide`] in another order.
///
/// The condition is the same as for [`logical_divide`].
/// ```
/// use cute_algebra::{Layout, flat_divide};
/// let a: Layout = "(9,(4,8)):(59,(13,1))".parse()?;
/// let tiled = flat_divide(&a, &"<3:3, (2,4):(1,8)>".parse()?)?;
/// assert_eq!(tiled.to_string(), "(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn flat_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Flat, Overhang::Strict)
}

/// How the parts of a division or a product are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `((A, B), …)`.
    Logical,
    /// `((A, …), (B, …))`.
    Zipped,
    /// `((A, …), B, …)`.
    Tiled,
    /// `(A, …, B, …)`.
    Flat,
}

pub(crate) fn divide<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    tiler: &Tiler<D::Int>,
    form: Form,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    let name = [
        "logical_divide",
        "zipped_divide",
        "tiled_divide",
        "flat_divide",
    ][form as usize];
    tiler
        .apply(a, Others::Keep, &mut |mode, tile| {
            divide_whole(d, mode, tile, overhang)
        })
        .and_then(|divided| form.arrange(divided, tiler))
        .during(name, [a, tiler])
}

/// The same by a tiler derived from other operands: if it does not fit, the error is about the layout.
pub(crate) fn divide_by_derived<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    tiler: &Tiler<D::Int>,
    form: Form,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    divide(d, a, tiler, form, overhang).map_err(|error| match error.kind() {
        ErrorKind::Target { .. } => error.relocate(|place| Place {
            operand: 0,
            ..place
        }),
        _ => error,
    })
}

fn divide_whole<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    tile: &Layout<D::Int>,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    if overhang == Overhang::Strict {
        require_no_repeats(tile)?;
    }
    let size = a.shape().product().ok_or_else(overflow)?;
    let (rest, is_rounded) = complement_in(d, tile, &size, overhang)
        .map_err(|error| match error.kind() {
            // The tile does not fit.
            ErrorKind::Target { .. } => error.relocate(|_| Place::operand(1)),
            // The target of the complement is the size of A, so another error about the target names A.
            _ => error.relocate(|place| Place {
                operand: 1 - place.operand,
                ..place
            }),
        })
        .during("complement", [tile, &size])?;
    let bound = match is_rounded {
        true => d.bound(&size),
        false => None,
    };
    // The tile and the rest are composed with A together. This also checks sums of a value of each.
    let both = Layout::concat([tile.clone(), rest])?;
    compose_within(d, a, &both, overhang, bound)
        .during("composition", [a, &both])
        .map_err(|error| {
            let place = error.place().clone();
            match place.path.0.split_first() {
                Some((0, path)) => error.relocate(|_| Place {
                    path: ModePath(path.to_vec()),
                    ..place
                }),
                // The user did not write the rest, so other modes for it are not suggested.
                _ => error.blame(1).with_nearest(Vec::new()),
            }
        })
}

/// Refuses a tile that has elements twice because of a stride of 0.
pub(crate) fn require_no_repeats<I: Integer>(tile: &Layout<I>) -> Result<(), LayoutError> {
    let mut leaves = tile.leaves();
    match leaves.find(|(extent, stride)| !extent.is_one() && stride.is_zero()) {
        None => Ok(()),
        Some((extent, _)) => {
            let extent = extent.to_string();
            Err(ErrorKind::RepeatingTile { extent }.at(Place::operand(1).stride()))
        }
    }
}

impl Form {
    /// Regroups a logical division or product by the profile of its tiler.
    pub(crate) fn arrange<I: Integer>(
        self,
        logical: Layout<I>,
        tiler: &Tiler<I>,
    ) -> Result<Layout<I>, LayoutError> {
        if self == Self::Logical {
            return Ok(logical);
        }
        let (first, second) = unzip(&logical, tiler)?;
        Layout::concat(match self {
            Self::Logical | Self::Zipped => vec![first, second],
            Self::Tiled => [vec![first], spread(second)].concat(),
            Self::Flat => [spread(first), spread(second)].concat(),
        })
    }
}

/// Splits `((A, B), …)` into `(A, …)` and `(B, …)`; modes that the tiler does not reach go into the second part.
fn unzip<I: Integer>(
    logical: &Layout<I>,
    tiler: &Tiler<I>,
) -> Result<(Layout<I>, Layout<I>), LayoutError> {
    match tiler {
        Tiler::Keep => Err(ErrorKind::KeepUngrouped.at(Place::operand(1))),
        Tiler::Layout(_) => {
            let mut modes = logical.modes().into_iter();
            let pair = modes.next().zip(modes.next());
            Ok(pair.unwrap_or_else(|| (Layout::unit(), logical.clone())))
        }
        Tiler::Modes(tilers) => {
            let modes = logical.modes();
            let pairs = modes.iter().zip(tilers).enumerate();
            let pairs = pairs
                .map(|(i, (mode, tiler))| unzip(mode, tiler).map_err(|error| error.in_mode(i)));
            let (firsts, mut seconds): (Vec<_>, Vec<_>) =
                pairs.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
            seconds.extend(modes.into_iter().skip(tilers.len()));
            Ok((Layout::concat(firsts)?, Layout::concat(seconds)?))
        }
    }
}

/// The modes of a tuple of several, to be spread in its place. Anything else stays one mode, as in CuTe.
fn spread<I: Integer>(layout: Layout<I>) -> Vec<Layout<I>> {
    match layout.shape() {
        Tuple::Node(modes) if modes.len() > 1 => layout.modes(),
        _ => vec![layout],
    }
}
