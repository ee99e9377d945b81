//! Coalesce and filter: fewer modes with the same values.

use crate::domain::Domain;
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::stride::ScaledBasis;
use crate::tuple::{Shape, Tuple};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::convert::Infallible;

/// The fewest modes with the same values: `coalesce(a)(i) == a(i)` for every `i < size(a)`.
///
/// Two layouts of one size are the same function exactly if they coalesce to the same layout.
/// ```
/// use cute_algebra::{Layout, coalesce};
/// let a = Layout::new([2, 1, 6], [1, 7, 2])?;
/// assert_eq!(coalesce(&a).to_string(), "12:1");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn coalesce<I: Integer>(a: &Layout<I>) -> Layout<I> {
    coalesced(a.flat_modes())
}

/// Coalesces a list of modes.
pub(crate) fn coalesced<I: Integer>(mut modes: Vec<(I, ScaledBasis<I>)>) -> Layout<I> {
    modes.retain(|(extent, _)| !extent.is_one());
    Layout::from_flat(merge(modes))
}

/// Coalesces the part of the layout at each leaf of `profile`. Modes that the profile does not reach stay. Only the
/// nesting of the profile counts, not its integers.
///
/// A profile with more modes than the layout is refused.
/// ```
/// use cute_algebra::{Layout, Shape, coalesce_by};
/// let a: Layout = "(2,(1,6)):(1,(6,2))".parse()?;
/// assert_eq!(coalesce_by(&a, &Shape::from([1, 1]))?.to_string(), "(2,6):(1,2)");
/// assert!(coalesce_by(&a, &Shape::from([1, 1, 1])).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn coalesce_by<I: Integer>(a: &Layout<I>, profile: &Shape) -> Result<Layout<I>, LayoutError> {
    by_profile(a, profile, &mut |part| Ok(coalesce(part))).during("coalesce", [a, profile])
}

/// The modes with non-zero strides, coalesced: every value of A, without repetitions through strides 0. The size can
/// shrink.
/// ```
/// use cute_algebra::{Layout, filter};
/// let a: Layout = "(4,3,2):(1,0,4)".parse()?;
/// assert_eq!(filter(&a).to_string(), "8:1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn filter(a: &Layout) -> Layout {
    coalesce(&filter_zeros(a))
}

/// Filters the part of the layout at each leaf of `profile`; modes that the profile does not reach stay.
///
/// A profile with more modes than the layout is refused.
/// ```
/// use cute_algebra::{Layout, Shape, filter_by};
/// let a: Layout = "((4,3),2):((1,0),4)".parse()?;
/// assert_eq!(filter_by(&a, &Shape::from([1, 1]))?.to_string(), "(4,2):(1,4)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn filter_by(a: &Layout, profile: &Shape) -> Result<Layout, LayoutError> {
    by_profile(a, profile, &mut |part| Ok(filter(part))).during("filter", [a, profile])
}

/// The layout with extent 1 for each leaf of stride 0, in the same nesting.
/// ```
/// use cute_algebra::{Layout, filter_zeros};
/// let a: Layout = "(4,3):(1,0)".parse()?;
/// assert_eq!(filter_zeros(&a).to_string(), "(4,1):(1,0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn filter_zeros(a: &Layout) -> Layout {
    let Ok(filtered) = once_where(a, |_, stride| Ok::<_, Infallible>(*stride == 0));
    filtered
}

/// [`filter_zeros`] for any domain, where the facts may have to decide whether a stride is 0.
pub(crate) fn filter_zeros_in<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let paths = a.shape().leaf_paths();
    once_where(a, |i, stride| {
        d.is_zero(stride, &Place::operand(0).mode(paths[i].clone()).stride())
    })
}

/// Replaces the extent by 1 at each leaf for which `is_zero`, given the leaf's position and stride, answers yes.
fn once_where<I: Integer, E>(
    a: &Layout<I>,
    is_zero: impl Fn(usize, &I) -> Result<bool, E>,
) -> Result<Layout<I>, E> {
    let mut strides = a.stride().leaves().enumerate();
    let shape = a.shape().try_map(|extent| {
        let zero = match strides.next() {
            Some((i, stride)) => is_zero(i, &stride.value())?,
            None => false,
        };
        Ok(if zero { I::ONE } else { extent.clone() })
    })?;
    Ok(a.reshaped(shape))
}

/// Joins neighbours `s:d, s':s*d` into `s*s':d`.
pub(crate) fn merge<I: Integer>(
    modes: impl IntoIterator<Item = (I, ScaledBasis<I>)>,
) -> Vec<(I, ScaledBasis<I>)> {
    let mut merged: Vec<(I, ScaledBasis<I>)> = Vec::new();
    for (extent, stride) in modes {
        if let Some((last, first)) = merged.last_mut()
            && first.checked_mul(last).as_ref() == Some(&stride)
            && let Some(joined) = last.times(&extent)
        {
            *last = joined;
        } else {
            merged.push((extent, stride));
        }
    }
    merged
}

/// The coalesced leaves of a layout whose last leaf has no end. That leaf stays even where its extent is 1.
pub(crate) fn endless_modes<I: Integer>(a: &Layout<I>) -> Vec<(I, ScaledBasis<I>)> {
    let mut leaves = a.flat_modes();
    let last = leaves.pop().unwrap_or_else(|| (I::ONE, I::ZERO.into()));
    leaves.retain(|(extent, _)| !extent.is_one());
    merge(leaves.into_iter().chain([last]))
}

/// An operation on a part of a layout.
type OnPart<'a, I> = dyn FnMut(&Layout<I>) -> Result<Layout<I>, LayoutError> + 'a;

/// Applies `act` to the part of the layout at each leaf of the profile; modes that the profile does not reach stay.
pub(crate) fn by_profile<I: Integer>(
    a: &Layout<I>,
    profile: &Shape,
    act: &mut OnPart<'_, I>,
) -> Result<Layout<I>, LayoutError> {
    profile.check_limits().map_err(|error| error.blame(1))?;
    at_leaves(a, profile, act)
}

fn at_leaves<I: Integer>(
    a: &Layout<I>,
    profile: &Shape,
    act: &mut OnPart<'_, I>,
) -> Result<Layout<I>, LayoutError> {
    let Tuple::Node(profiles) = profile else {
        return act(a);
    };
    if profiles.len() > a.rank() {
        let (expected, found) = (a.shape().to_string(), profile.to_string());
        return Err(ErrorKind::Profile { expected, found }.at(Place::operand(1)));
    }
    let mut modes = a.modes();
    for (i, (mode, profile)) in modes.iter_mut().zip(profiles).enumerate() {
        *mode = at_leaves(mode, profile, act).map_err(|error| error.in_mode(i))?;
    }
    Ok(Layout::join(modes))
}
