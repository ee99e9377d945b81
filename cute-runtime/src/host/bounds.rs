//! The check that every value of a layout is an index of a slice.

use super::HostError;
use super::layout::{HostLayout, leaves, text};

/// The most values of a swizzled layout to check one by one.
const SCAN_LIMIT: i64 = 1 << 20;

/// Refuses a layout with a value that is negative or not below `len`.
pub(super) fn check_bounds<L: HostLayout>(layout: &L, len: usize) -> Result<(), HostError> {
    let outside = |value: i64| usize::try_from(value).map_or(true, |value| value >= len);
    // Without a swizzle, the smallest and the largest value decide. A swizzle changes only the bits of `moved`, so no
    // swizzled value is below `floor` or above `ceiling`.
    let moved = ((1u64 << layout.swizzle().top()) - 1) as i64;
    let (lowest, highest) = (extreme(layout, -1), extreme(layout, 1));
    let (floor, ceiling) = (
        value(layout, lowest) & !moved,
        value(layout, highest) | moved,
    );
    if !outside(floor) && !outside(ceiling) {
        return Ok(());
    }
    let at = |coord: i64| layout.swizzle().apply(value(layout, coord));
    let mut suspects = [lowest, highest]
        .into_iter()
        .chain(0..layout.coordinates().min(SCAN_LIMIT));
    match suspects.find(|&coord| outside(at(coord))) {
        Some(coordinate) => Err(HostError::OutOfBounds {
            layout: text(layout),
            coordinate,
            value: at(coordinate),
            len,
        }),
        None if layout.coordinates() > SCAN_LIMIT => Err(HostError::NotShown {
            layout: text(layout),
            floor,
            ceiling,
            len,
        }),
        None => Ok(()),
    }
}

/// The 1-D coordinate with the largest value before the swizzle if `sign` is 1, with the smallest if it is -1.
fn extreme<L: HostLayout>(layout: &L, sign: i64) -> i64 {
    let (mut weight, mut coord) = (1, 0);
    for (extent, stride) in leaves(layout) {
        if stride.signum() == sign {
            coord += (extent - 1) * weight;
        }
        weight *= extent;
    }
    coord
}

/// The value at a 1-D coordinate, before the swizzle.
fn value<L: HostLayout>(layout: &L, coord: i64) -> i64 {
    let (mut rest, mut sum) = (coord, layout.offset());
    for (extent, stride) in leaves(layout) {
        sum += rest % extent * stride;
        rest /= extent;
    }
    sum
}
