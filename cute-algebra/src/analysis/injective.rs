//! Whether different coordinates have different values.

use crate::layout::Layout;

/// Largest span that is looked at index by index before injectivity is called not proved.
pub const INJECTIVITY_LIMIT: i64 = 1 << 20;

/// Whether no two coordinates have the same value; `None` where that is not proved.
///
/// The question is coNP-complete. Strides that each exceed the reach of all smaller ones together prove it, a mode of
/// stride 0 or more points than indices refute it, and between the two a small layout is tried point by point.
/// ```
/// use cute_algebra::{Layout, is_injective};
/// assert_eq!(is_injective(&Layout::new([4, 3], [1, 5])?), Some(true));
/// assert_eq!(is_injective(&Layout::new([4, 3], [1, 2])?), Some(false));
/// assert_eq!(is_injective(&Layout::new([3, 2], [2, 3])?), Some(true));
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn is_injective(a: &Layout) -> Option<bool> {
    let mut modes = a.flat_modes();
    modes.retain(|&(extent, _)| extent > 1);
    if modes.iter().any(|(_, stride)| stride.is_zero()) {
        return Some(false);
    }
    // Strides along different coordinates never meet.
    modes.sort_by(|(_, a), (_, b)| {
        a.path()
            .cmp(b.path())
            .then(a.value().unsigned_abs().cmp(&b.value().unsigned_abs()))
    });
    let mut superincreasing = true;
    let mut reach: i128 = 0;
    for (i, (extent, stride)) in modes.iter().enumerate() {
        if i > 0 && modes[i - 1].1.path() != stride.path() {
            reach = 0;
        }
        let magnitude = i128::from(stride.value()).abs();
        superincreasing &= magnitude > reach;
        reach += i128::from(extent - 1) * magnitude;
    }
    if superincreasing {
        return Some(true);
    }
    if !a.is_integral() {
        return None;
    }
    if a.cosize() < a.size() {
        return Some(false);
    }
    (a.cosize() <= INJECTIVITY_LIMIT)
        .then(|| all_distinct(a))
        .flatten()
}

fn all_distinct(a: &Layout) -> Option<bool> {
    let lowest: i64 = a
        .flat_modes()
        .iter()
        .map(|(extent, stride)| (extent - 1) * stride.value().min(0))
        .sum();
    let mut seen = vec![false; usize::try_from(a.cosize()).ok()?];
    for value in a.values() {
        let seen = seen.get_mut(usize::try_from(value - lowest).ok()?)?;
        if std::mem::replace(seen, true) {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::is_injective;
    use crate::layout::Layout;
    use std::collections::HashSet;

    #[test]
    fn small_layouts_are_decided_rightly() {
        let modes = |seed: i64| (1 + seed % 3, seed / 3 % 9 - 3);
        for seed in 0..27 * 27 * 27 {
            let (a, b, c) = (
                modes(seed % 27),
                modes(seed / 27 % 27),
                modes(seed / 27 / 27),
            );
            let layout = Layout::new([a.0, b.0, c.0], [a.1, b.1, c.1]).unwrap();
            let values: HashSet<i64> = layout.values().collect();
            let injective = values.len() as i64 == layout.size();
            assert_eq!(is_injective(&layout), Some(injective), "{layout}");
        }
    }

    #[test]
    fn coordinates_do_not_meet() {
        for (text, injective) in [
            ("(4,5):(1@0,1@1)", Some(true)),
            ("(4,5):(1@0,3@0)", None),
            ("(4,(2,3)):(1@1,(1@0,2@0))", Some(true)),
            ("(4,5):(1@0,0)", Some(false)),
        ] {
            assert_eq!(is_injective(&text.parse().unwrap()), injective, "{text}");
        }
    }
}
