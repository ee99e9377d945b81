//! A proof that no two coordinates of a tiling have the same element. It is short enough for a `const fn`.
//!
//! A ragged division has coordinates past the edge of the divided layout. Without these coordinates, more tilings are
//! injective: with tiles of 4 of `10:7`, the last tile exceeds the edge by 2 and would reach into the next column. So
//! the proof first limits each leaf to the coordinates before the edge. Then it shows that each stride exceeds the
//! sum of `(extent - 1) * stride` over all smaller strides.

/// Most leaves of a layout for which a proof is tried.
pub const PROOF_LEAVES: usize = 64;

/// Most points times leaves for a comparison of all points, where strides prove nothing.
const PROOF_POINTS: i64 = 1 << 14;

/// Largest span of values for a comparison of all points.
const PROOF_SPAN: i64 = 1 << 16;

/// One coordinate of the tiled layout, as a layout over the leaves of the tiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis<'a> {
    /// A coordinate at or above this lies past the edge.
    pub extent: i64,
    /// By how much the coordinate grows with each step of each leaf of the tiling.
    pub strides: &'a [i64],
}

/// Whether it is proved that no two coordinates within the extents of all axes have the same value. `false` means
/// that the proof failed, not that two of them do.
///
/// This is a `const fn`, so that code that relies on the proof can demand it at compile time. All arithmetic is
/// checked; `true` also says that no value and no coordinate along an axis overflows.
/// ```
/// use cute_algebra::{Axis, proves_disjoint};
/// // Columns of 10 elements, and the tiles of 4 in them: the third hangs over into the next column.
/// let (shape, stride) = ([4, 3, 5], [1, 4, 10]);
/// assert!(!proves_disjoint(&shape, &stride, &[]));
/// assert!(proves_disjoint(&shape, &stride, &[Axis { extent: 10, strides: &[1, 4, 0] }]));
/// ```
pub const fn proves_disjoint(shape: &[i64], stride: &[i64], axes: &[Axis<'_>]) -> bool {
    if !is_sound(shape, stride, axes) {
        return false;
    }
    let leaves = shape.len();
    let (mut extents, mut strides) = ([1i64; PROOF_LEAVES], [0i64; PROOF_LEAVES]);
    let mut i = 0;
    while i < leaves {
        (extents[i], strides[i]) = (shape[i], stride[i]);
        i += 1;
    }
    let mut a = 0;
    while a < axes.len() {
        merge(&mut extents, &strides, &axes[a]);
        clip(&mut extents, &axes[a]);
        a += 1;
    }
    is_superincreasing(&extents, &strides, leaves) || is_distinct(shape, stride, axes)
}

/// Whether the operands have one length, each axis has coordinates, each leaf moves along at most one axis, and no
/// sum overflows.
const fn is_sound(shape: &[i64], stride: &[i64], axes: &[Axis<'_>]) -> bool {
    let leaves = shape.len();
    if leaves > PROOF_LEAVES || stride.len() != leaves || !fits(shape, stride) {
        return false;
    }
    let (mut i, mut size) = (0, 1i64);
    while i < leaves {
        size = match size.checked_mul(shape[i]) {
            Some(size) if shape[i] > 0 => size,
            _ => return false,
        };
        i += 1;
    }
    let mut a = 0;
    while a < axes.len() {
        let Axis { extent, strides } = axes[a];
        if extent < 1 || strides.len() != leaves || !fits(shape, strides) {
            return false;
        }
        let mut i = 0;
        while i < leaves {
            if strides[i] < 0 || strides[i] > 0 && is_along_another(i, a, axes) {
                return false;
            }
            i += 1;
        }
        a += 1;
    }
    true
}

/// Whether the leaf moves along an axis before `axis`.
const fn is_along_another(leaf: usize, axis: usize, axes: &[Axis<'_>]) -> bool {
    let mut a = 0;
    while a < axis {
        if axes[a].strides[leaf] != 0 {
            return true;
        }
        a += 1;
    }
    false
}

/// Whether the sum of `(extent - 1) * |stride|` of all leaves fits 64 bits.
const fn fits(shape: &[i64], stride: &[i64]) -> bool {
    let (mut i, mut sum) = (0, 0i64);
    while i < shape.len() {
        let reach = match stride[i].checked_abs() {
            Some(stride) => match stride.checked_mul(shape[i]) {
                Some(reach) => reach,
                None => return false,
            },
            None => return false,
        };
        sum = match sum.checked_add(reach) {
            Some(sum) => sum,
            None => return false,
        };
        i += 1;
    }
    true
}

/// Joins two modes where one continues the other both along the axis and in value. The values stay the same, and
/// the joined mode can be clipped as one.
const fn merge(extents: &mut [i64; PROOF_LEAVES], strides: &[i64; PROOF_LEAVES], axis: &Axis<'_>) {
    let units = axis.strides;
    let mut first = 0;
    while first < units.len() {
        let mut second = 0;
        while second < units.len() {
            // The products fit: `fits` has checked larger ones.
            let follows = first != second
                && extents[first] > 1
                && extents[second] > 1
                && units[first] > 0
                && units[second] == units[first].saturating_mul(extents[first])
                && strides[second] == strides[first].saturating_mul(extents[first]);
            if follows {
                extents[first] = extents[first].saturating_mul(extents[second]);
                extents[second] = 1;
                second = 0;
            } else {
                second += 1;
            }
        }
        first += 1;
    }
}

/// Limits the extent of each mode that moves by `unit` along an axis to the axis's extent divided by `unit`,
/// rounded up: further steps lie past the edge.
const fn clip(extents: &mut [i64; PROOF_LEAVES], axis: &Axis<'_>) {
    let mut i = 0;
    while i < axis.strides.len() {
        let unit = axis.strides[i];
        if unit > 0 {
            let most = (axis.extent - 1) / unit + 1;
            if most < extents[i] {
                extents[i] = most;
            }
        }
        i += 1;
    }
}

/// Whether each stride exceeds the sum of `(extent - 1) * stride` over all smaller strides.
const fn is_superincreasing(
    extents: &[i64; PROOF_LEAVES],
    strides: &[i64; PROOF_LEAVES],
    leaves: usize,
) -> bool {
    let mut i = 0;
    while i < leaves {
        let magnitude = strides[i].abs();
        let (mut j, mut reach) = (0, 0i64);
        while j < leaves && extents[i] > 1 {
            let is_smaller = strides[j].abs() < magnitude || strides[j].abs() == magnitude && j < i;
            if is_smaller {
                reach = reach.saturating_add((extents[j] - 1).saturating_mul(strides[j].abs()));
            }
            j += 1;
        }
        if extents[i] > 1 && magnitude <= reach {
            return false;
        }
        i += 1;
    }
    true
}

/// Compares the values of all points, if there are few.
const fn is_distinct(shape: &[i64], stride: &[i64], axes: &[Axis<'_>]) -> bool {
    let leaves = shape.len();
    let (mut i, mut size, mut lowest, mut highest) = (0, 1i64, 0, 0);
    while i < leaves {
        size = size.saturating_mul(shape[i]);
        let last = (shape[i] - 1) * stride[i];
        if last < 0 {
            lowest += last;
        } else {
            highest += last;
        }
        i += 1;
    }
    let work = size.saturating_mul((leaves * (axes.len() + 1)) as i64);
    if work > PROOF_POINTS || highest - lowest >= PROOF_SPAN {
        return false;
    }
    let mut seen = [0u64; (PROOF_SPAN / 64) as usize];
    let mut point = 0;
    while point < size {
        if is_inside(point, shape, axes) {
            let place = (value(point, shape, stride) - lowest) as usize;
            let bit = 1 << (place % 64);
            if seen[place / 64] & bit != 0 {
                return false;
            }
            seen[place / 64] |= bit;
        }
        point += 1;
    }
    true
}

const fn is_inside(point: i64, shape: &[i64], axes: &[Axis<'_>]) -> bool {
    let mut a = 0;
    while a < axes.len() {
        if value(point, shape, axes[a].strides) >= axes[a].extent {
            return false;
        }
        a += 1;
    }
    true
}

const fn value(point: i64, shape: &[i64], stride: &[i64]) -> i64 {
    let (mut i, mut rest, mut sum) = (0, point, 0);
    while i < shape.len() {
        sum += rest % shape[i] * stride[i];
        rest /= shape[i];
        i += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{Axis, is_inside, proves_disjoint, value};
    use std::collections::HashSet;

    /// Every proof holds, for any axes.
    #[test]
    fn proofs_hold() {
        let mut state = 7u64;
        let mut next = |bound: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 33) % bound) as i64
        };
        let mut proved = 0;
        for _ in 0..1_000 {
            // The last extent sometimes makes too many points for the comparison one by one.
            let shape = [1 + next(6), 1 + next(6), 1 + next(6), 1 + next(40)];
            let mut draw = |bound, low| std::array::from_fn::<i64, 4, _>(|_| next(bound) + low);
            let (stride, first) = (draw(60, -9), draw(5, 0));
            let second = draw(5, 0);
            let second: [i64; 4] =
                std::array::from_fn(|i| if first[i] == 0 { second[i] } else { 0 });
            let axes = [
                Axis {
                    extent: 1 + next(40),
                    strides: &first,
                },
                Axis {
                    extent: 1 + next(40),
                    strides: &second,
                },
            ];
            let mut seen = HashSet::new();
            let size = shape.iter().product();
            let disjoint = (0..size)
                .filter(|&point| is_inside(point, &shape, &axes))
                .all(|point| seen.insert(value(point, &shape, &stride)));
            let proof = proves_disjoint(&shape, &stride, &axes);
            assert!(disjoint || !proof, "{shape:?} {stride:?} {axes:?}");
            proved += i32::from(proof);
        }
        assert!(proved > 50, "{proved}");
    }

    #[test]
    fn what_overflows_is_not_proved() {
        const TOP: i64 = i64::MAX;
        assert!(!proves_disjoint(&[3, 2], &[1, TOP], &[]));
        assert!(!proves_disjoint(&[3, 2], &[1, i64::MIN], &[]));
        assert!(!proves_disjoint(&[TOP, TOP], &[1, 0], &[]));
        assert!(!proves_disjoint(&[0], &[1], &[]));
        assert!(!proves_disjoint(&[2], &[1, 2], &[]));
        assert!(!proves_disjoint(
            &[2],
            &[1],
            &[Axis {
                extent: 2,
                strides: &[]
            }]
        ));
        // Here, `extent - coordinate` would wrap.
        for extent in [i64::MIN, i64::MIN + 1, -1, 0] {
            let strides: &[i64] = &[1];
            assert!(!proves_disjoint(&[3], &[1], &[Axis { extent, strides }]));
        }
        assert!(proves_disjoint(&[], &[], &[]));
    }
}
