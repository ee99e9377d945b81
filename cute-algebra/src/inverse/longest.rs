//! The right inverse of a layout of numbers with negative strides.
//!
//! Let A be injective, D the number of values that its contiguous leaves count up, and k * D a value of A. Then its coordinate
//! is 0 along those leaves: else the others alone would have a value between (k - 1) * D and k * D, and the D values from
//! there on would meet the D values from (k - 1) * D on. So `A(x + y) = A(x) + A(y)` for x along the contiguous leaves and y
//! along the others, and what is left is to find coordinates along the others.
//!
//! The coordinate of each value is forced, and so are the modes of R: its next stride is the coordinate of the value that R
//! does not reach yet, and its next extent is the largest with which R still counts up. A larger R would agree with this one
//! on its domain, and then have the same modes, since equal functions coalesce to equal layouts.

use crate::ascending::Step;
use crate::coalesce::coalesce;
use crate::composition::compose_by_conditions;
use crate::layout::Layout;
use crate::stride::ScaledBasis;

/// Most combinations of digits that are looked at to find the coordinate of a value.
const DIGITS: u32 = 1 << 14;

/// Most points up to which a right inverse is looked at point by point.
const POINTS: i64 = 1 << 12;

/// Goes on with a right inverse that has the contiguous leaves of A, by the others.
pub(super) fn prolong(
    a: &Layout,
    mut inverse: Vec<(i64, ScaledBasis)>,
    others: &[Step<i64>],
) -> Vec<(i64, ScaledBasis)> {
    let mut others: Vec<&Step<i64>> = others.iter().collect();
    others.sort_by_key(|step| std::cmp::Reverse(step.stride.unsigned_abs()));
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

/// The 1-D coordinate along the leaves, the longest strides first, whose value this is.
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
    // The rest makes up for what the digit leaves: least <= value - digit * stride <= most.
    let (stride, sign) = (
        i128::from(leaf.stride).abs(),
        i128::from(leaf.stride).signum(),
    );
    let (low, high) = match sign > 0 {
        true => (value - most, value - least),
        false => (least - value, most - value),
    };
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

/// The largest extent for which it holds, where it holds for all smaller ones, and for 1.
fn largest(holds: impl Fn(i64) -> bool) -> i64 {
    let mut above = 2i64;
    while holds(above) {
        above = above.saturating_mul(2);
    }
    let mut below = above / 2;
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        match holds(middle) {
            true => below = middle,
            false => above = middle,
        }
    }
    below
}
