//! Fewer modes for the same function: coalesce, filter.

use crate::error::{During, ErrorKind, LayoutError, Place, Refusal};
use crate::layout::Layout;
use crate::stride::ScaledBasis;
use crate::tuple::{Shape, Tuple};

/// The fewest modes with the same values: `coalesce(a)(i) == a(i)` for every `i < size(a)`.
///
/// Two layouts of one size are the same function exactly if they coalesce to the same layout.
/// ```
/// use cute_algebra::{Layout, coalesce};
/// let a = Layout::new([2, 1, 6], [1, 7, 2])?;
/// assert_eq!(coalesce(&a).to_string(), "12:1");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn coalesce(a: &Layout) -> Layout {
    let mut modes = a.flat_modes();
    modes.retain(|&(extent, _)| extent != 1);
    from_flat(merge(modes))
}

/// Coalesces at each leaf of `profile`; modes that it does not reach stay as they are. The values of its leaves say
/// nothing.
///
/// A profile with more modes than the layout is refused.
/// ```
/// use cute_algebra::{Layout, Shape, coalesce_by};
/// let a: Layout = "(2,(1,6)):(1,(6,2))".parse()?;
/// assert_eq!(coalesce_by(&a, &Shape::from([1, 1]))?.to_string(), "(2,6):(1,2)");
/// assert!(coalesce_by(&a, &Shape::from([1, 1, 1])).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn coalesce_by(a: &Layout, profile: &Shape) -> Result<Layout, LayoutError> {
    by_profile(a, profile, &mut |part| Ok(coalesce(part))).during("coalesce", [a, profile])
}

/// The modes with non-zero strides, coalesced: every value of A, without the repetitions that strides 0 make. The size
/// changes, so this says nothing about equality.
/// ```
/// use cute_algebra::{Layout, filter};
/// let a: Layout = "(4,3,2):(1,0,4)".parse()?;
/// assert_eq!(filter(&a).to_string(), "8:1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn filter(a: &Layout) -> Layout {
    coalesce(&filter_zeros(a))
}

/// Filters at each leaf of `profile`; modes that it does not reach stay as they are.
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

/// The same profile, with extent 1 where the stride is 0.
/// ```
/// use cute_algebra::{Layout, filter_zeros};
/// let a: Layout = "(4,3):(1,0)".parse()?;
/// assert_eq!(filter_zeros(&a).to_string(), "(4,1):(1,0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn filter_zeros(a: &Layout) -> Layout {
    let mut strides = a.stride().leaves();
    let shape = a.shape().map(|&extent| {
        if strides.next().is_some_and(ScaledBasis::is_zero) {
            1
        } else {
            extent
        }
    });
    a.with_shape(shape)
}

/// Joins neighbours `s:d, s':s*d` to `s*s':d`.
pub(crate) fn merge(
    modes: impl IntoIterator<Item = (i64, ScaledBasis)>,
) -> Vec<(i64, ScaledBasis)> {
    let mut merged: Vec<(i64, ScaledBasis)> = Vec::new();
    for (extent, stride) in modes {
        match merged.last_mut() {
            Some((last, first)) if first.checked_mul(*last).as_ref() == Some(&stride) => {
                *last *= extent
            }
            _ => merged.push((extent, stride)),
        }
    }
    merged
}

/// A layout of depth at most 1 from parts of layouts that exist: `1:0` of none, an integer mode of one.
pub(crate) fn from_flat(modes: Vec<(i64, ScaledBasis)>) -> Layout {
    let mut modes: Vec<_> = modes
        .into_iter()
        .map(|(extent, stride)| Layout::leaf(extent, stride))
        .collect();
    match modes.len() {
        0 => Layout::unit(),
        1 => modes.remove(0),
        _ => Layout::join(modes),
    }
}

/// Does the same to the part of a layout at each leaf of a profile; modes that the profile does not reach stay.
pub(crate) fn by_profile<E: Refusal>(
    a: &Layout,
    profile: &Shape,
    act: &mut dyn FnMut(&Layout) -> Result<Layout, E>,
) -> Result<Layout, E> {
    profile.check_limits().map_err(|error| error.blame(1))?;
    at_leaves(a, profile, act)
}

fn at_leaves<E: Refusal>(
    a: &Layout,
    profile: &Shape,
    act: &mut dyn FnMut(&Layout) -> Result<Layout, E>,
) -> Result<Layout, E> {
    let Tuple::Node(profiles) = profile else {
        return act(a);
    };
    if profiles.len() > a.rank() {
        let (expected, found) = (a.shape().to_string(), profile.to_string());
        return Err(ErrorKind::Profile { expected, found }
            .at(Place::operand(1))
            .into());
    }
    let mut modes = a.modes();
    for (i, (mode, profile)) in modes.iter_mut().zip(profiles).enumerate() {
        *mode = at_leaves(mode, profile, act).map_err(|error| error.in_mode(i))?;
    }
    Ok(Layout::join(modes))
}
