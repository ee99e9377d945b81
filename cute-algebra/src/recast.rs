//! The same memory in larger or smaller elements.

use crate::coalesce::{coalesce, from_flat};
use crate::composition::{Overhang, nearest_multiples};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::stride::ScaledBasis;

/// The layout in units of `factor` elements: each value is a quotient of A's by `factor`, and each group of `factor`
/// values of A that share one is one coordinate.
///
/// Each stride must be a multiple of the factor or divide it, and the modes below the factor must fill its groups.
/// ```
/// use cute_algebra::{Layout, upcast};
/// assert_eq!(upcast(&Layout::new([8, 4], [1, 8])?, 4)?.to_string(), "(2,4):(1,2)");
/// assert!(upcast(&Layout::new([2, 8], [1, 4])?, 4).is_err()); // half of each group of 4 is absent
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn upcast(a: &Layout, factor: i64) -> Result<Layout, LayoutError> {
    upcast_modes(a, factor, Overhang::Strict).during("upcast", [a, &factor])
}

/// The layout in units of a `factor`-th of an element: a contiguous mode grows by the factor, other strides do.
/// ```
/// use cute_algebra::{Layout, downcast};
/// assert_eq!(downcast(&Layout::new([2, 4], [1, 2])?, 4)?.to_string(), "(8,4):(1,8)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn downcast(a: &Layout, factor: i64) -> Result<Layout, LayoutError> {
    downcast_modes(a, factor).during("downcast", [a, &factor])
}

/// The layout of elements of `old` bits in units of elements of `new` bits: [`upcast`] or [`downcast`] by their
/// quotient.
///
/// One size must be a multiple of the other.
/// ```
/// use cute_algebra::{Layout, recast};
/// let a: Layout = "(8,4):(1,8)".parse()?;
/// assert_eq!(recast(&a, 8, 32)?.to_string(), "(2,4):(1,2)");
/// assert_eq!(recast(&a, 16, 8)?.to_string(), "(16,4):(1,16)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recast(a: &Layout, old: i64, new: i64) -> Result<Layout, LayoutError> {
    recast_modes(a, old, new, Overhang::Strict).during("recast", [a, &old, &new])
}

pub(crate) fn recast_modes(
    a: &Layout,
    old: i64,
    new: i64,
    overhang: Overhang,
) -> Result<Layout, LayoutError> {
    match recast_factor(old, new)? {
        Cast::Up(factor) => upcast_modes(a, factor, overhang),
        Cast::Down(factor) => downcast_modes(a, factor),
    }
}

pub(crate) enum Cast<T = i64> {
    Up(T),
    Down(T),
}

pub(crate) fn recast_factor(old: i64, new: i64) -> Result<Cast, LayoutError> {
    check_factor(old)?;
    check_factor(new).map_err(|error| error.blame(2))?;
    match (new % old, old % new) {
        (0, _) => Ok(Cast::Up(new / old)),
        (_, 0) => Ok(Cast::Down(old / new)),
        _ => Err(ErrorKind::Bits { old, new }.at(Place::operand(2))),
    }
}

pub(crate) fn check_factor(factor: i64) -> Result<(), LayoutError> {
    if factor < 1 {
        Err(ErrorKind::Factor { factor }.at(Place::operand(1)))
    } else {
        Ok(())
    }
}

pub(crate) fn upcast_modes(
    a: &Layout,
    factor: i64,
    overhang: Overhang,
) -> Result<Layout, LayoutError> {
    check_factor(factor)?;
    a.require_integral(0)?;
    let mut modes = Vec::new();
    let mut group = Vec::new();
    for ((extent, stride), path) in a.flat_modes().into_iter().zip(a.shape().leaf_paths()) {
        let place = || Place::operand(0).mode(path.clone());
        let stride = stride.value();
        if stride % factor == 0 {
            modes.push(Layout::leaf(extent, (stride / factor).into()));
            continue;
        }
        if factor % stride != 0 {
            let nearest = nearest_parts(stride, factor);
            return Err(ErrorKind::Recast {
                stride,
                factor,
                nearest,
            }
            .at(place().stride()));
        }
        let share = factor / stride.abs();
        let whole = stride > 0 && (extent % share == 0 || share % extent == 0);
        if !whole && overhang == Overhang::Strict {
            let nearest = match stride {
                1.. => nearest_parts(extent, share),
                _ => Vec::new(),
            };
            return Err(ErrorKind::RecastShare {
                extent,
                stride,
                factor,
                nearest,
            }
            .at(place()));
        }
        group.push((extent.min(share), stride.into()));
        modes.push(Layout::leaf(
            (extent - 1) / share + 1,
            stride.signum().into(),
        ));
    }
    group.sort_by_key(|(_, stride): &(i64, ScaledBasis)| stride.value());
    let group = coalesce(&from_flat(group));
    if overhang == Overhang::Strict && factor > 1 && group != Layout::leaf(factor, 1.into()) {
        return Err(ErrorKind::RecastHoles {
            group: group.to_string(),
            factor,
        }
        .at(Place::operand(0)));
    }
    Layout::replace_leaves(a.shape(), modes)
}

/// The numbers nearest to `value` that are multiples of `whole` or divide it, where they are found soon.
fn nearest_parts(value: i64, whole: i64) -> Vec<i64> {
    const STEPS: i64 = 1 << 12;
    if value > whole {
        return nearest_multiples(value, whole).into();
    }
    let divides = |part: &i64| whole % part == 0;
    let below = (value.saturating_sub(STEPS).max(1)..value)
        .rev()
        .find(divides);
    let above = (value.max(0) + 1..=whole.min(value.saturating_add(STEPS))).find(divides);
    [below, above].into_iter().flatten().collect()
}

pub(crate) fn downcast_modes(a: &Layout, factor: i64) -> Result<Layout, LayoutError> {
    check_factor(factor)?;
    a.require_integral(0)?;
    let contiguous = |stride: &ScaledBasis| stride.value() == 1;
    if factor > 1
        && a.stride()
            .leaves()
            .filter(|stride| contiguous(stride))
            .count()
            != 1
    {
        return Err(ErrorKind::NotContiguous { factor }.at(Place::operand(0).stride()));
    }
    let modes = a.flat_modes().into_iter().map(|(extent, stride)| {
        let (extent, stride) = match contiguous(&stride) {
            true => (extent.checked_mul(factor), Some(stride)),
            false => (Some(extent), stride.checked_mul(factor)),
        };
        let mode = extent
            .zip(stride)
            .map(|(extent, stride)| Layout::leaf(extent, stride));
        mode.ok_or_else(|| {
            ErrorKind::Overflow {
                quantity: "recast layout",
            }
            .at(Place::operand(0))
        })
    });
    Layout::replace_leaves(a.shape(), modes.collect::<Result<Vec<_>, _>>()?)
}
