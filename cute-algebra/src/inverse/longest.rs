//! The right inverse of a layout of numbers with negative strides.
//!
//! Let A be injective, let its contiguous leaves take the D values 0 to D − 1, and let R already reach all values
//! below kD, so that (k−1)D is a value of the other leaves alone. If kD is a value of A, its coordinate is 0 along
//! the contiguous leaves. Otherwise the other leaves would have a value v strictly between (k−1)D and kD. Then A
//! would have the values v to v + D − 1 and, at other coordinates, the values (k−1)D to kD − 1, although both
//! ranges contain v. So `A(x + y) = A(x) + A(y)` for x along the contiguous leaves and y along the others, and only
//! coordinates along the others must be found.
//!
//! Each value has only one coordinate, so the modes of R are determined: its next stride is the coordinate of the
//! first value that R does not reach yet, and its next extent is the largest for which R still counts up by 1. A
//! larger R would agree with this one on its domain. It would then have the same modes, since equal functions
//! coalesce to equal layouts.

use crate::ascending::Step;
use crate::coalesce::coalesce;
use crate::composition::compose_by_conditions;
use crate::layout::Layout;
use crate::stride::ScaledBasis;
use alloc::vec::Vec;

/// Most combinations of digits that are tried to find the coordinate of a value.
const DIGITS: u32 = 1 << 14;

/// Most points for which a right inverse is checked point by point.
const POINTS: i64 = 1 << 12;

/// Extends a right inverse of the contiguous leaves of A by modes along the other leaves.
pub(super) fn prolong(
    a: &Layout,
    mut inverse: Vec<(i64, ScaledBasis)>,
    others: &[Step<i64>],
) -> Vec<(i64, ScaledBasis)> {
    let mut others: Vec<&Step<i64>> = others.iter().collect();
    others.sort_by_key(|step| core::cmp::Reverse(step.stride.unsigned_abs()));
    loop {
        let count: i64 = inverse.iter().map(|(extent, _)| extent).product();
        let Some(next) = coordinate_of(count.into(), &others, &mut { DIGITS }) else {
            return inverse;
        };
        let counts_up = |extent: i64| {
            let mode = (extent, next.into());
            let longer = Layout::from_flat([&inverse[..], &[mode]].concat());
            longer.validated().is_ok_and(|longer| counts_up(a, &longer))
        };
        match largest(counts_up) {
            1 => return inverse,
            extent => inverse.push((extent, next.into())),
        }
    }
}

/// The 1-D coordinate along these leaves whose value is `value`. The leaves are in descending order of strides.
fn coordinate_of(value: i128, leaves: &[&Step<i64>], budget: &mut u32) -> Option<i64> {
    let Some((leaf, rest)) = leaves.split_first() else {
        return (value == 0).then_some(0);
    };
    *budget = budget.checked_sub(1)?;
    let (mut least, mut most) = (0i128, 0i128);
    for step in rest {
        let reach = i128::from(step.extent - 1) * i128::from(step.stride);
        least += reach.min(0);
        most += reach.max(0);
    }
    // The other leaves must be able to give the remainder: least <= value - digit * stride <= most.
    let stride = i128::from(leaf.stride);
    let (sign, stride) = (stride.signum(), stride.abs());
    let ends = [sign * (value - most), sign * (value - least)];
    let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let first = (low + stride - 1).div_euclid(stride).max(0);
    let last = high.div_euclid(stride).min(i128::from(leaf.extent) - 1);
    (first..=last).find_map(|digit| {
        let rest = coordinate_of(value - digit * sign * stride, rest, budget)?;
        Some(digit as i64 * leaf.weight + rest)
    })
}

/// Whether `A(R(i)) = i` for all i.
fn counts_up(a: &Layout, r: &Layout) -> bool {
    if r.cosize() > a.size() {
        return false;
    }
    if r.size() <= POINTS {
        return r.values().zip(0..).all(|(x, i)| a.at(x) == Some(i));
    }
    let product = compose_by_conditions(a, r);
    product.is_some_and(|product| coalesce(&product) == Layout::leaf(r.size(), 1))
}

/// The largest extent for which `holds` is true. It must be true for 1, and for every extent below one for which it
/// is true.
fn largest(holds: impl Fn(i64) -> bool) -> i64 {
    let (mut below, mut above) = (1, 2i64);
    while holds(above) {
        below = above;
        above = above.saturating_mul(2);
    }
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        match holds(middle) {
            true => below = middle,
            false => above = middle,
        }
    }
    below
}
