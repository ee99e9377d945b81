//! Recasts: elements of another width.

use crate::acceptance::accepted;
use crate::operands::{positive_layout, swizzle, tile};
use crate::support::{self, is_upcast, same_function};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn recasts_regroup_elements(a in positive_layout(), factor in prop_oneof![Just(1i64), Just(2), Just(3), Just(4), Just(8)]) {
        if let Some(r) = accepted!(15 of 100, upcast(&a, factor)) {
            prop_assert!(is_upcast(&a, factor, &r), "{a} by {factor}: {r}");
        }
        if let Some(r) = accepted!(35 of 100, downcast(&a, factor)) {
            prop_assert!(is_upcast(&r, factor, &a), "{a} by {factor}: {r}");
            prop_assert!(same_function(&upcast(&r, factor).unwrap(), &a) || !support::is_injective(&a));
        }
    }

    #[test]
    fn swizzled_recasts_regroup_elements(sw in swizzle(), a in tile(), log2 in 0..4u32) {
        let factor = 1i64 << log2;
        let composed = ComposedLayout::new(sw, 0, a).unwrap();
        if let Some(r) = accepted!(35 of 100, composed.upcast(factor)) {
            let mut groups: Vec<i64> = composed.values().map(|value| value / factor).collect();
            groups.sort_unstable();
            groups.dedup();
            let mut values: Vec<i64> = r.values().collect();
            values.sort_unstable();
            prop_assert_eq!(values, groups, "{} by {}: {}", composed, factor, r);
        }
        if let Some(r) = accepted!(50 of 100, composed.downcast(factor)) {
            let mut values: Vec<i64> = r.values().collect();
            let mut parts: Vec<i64> = composed.values().flat_map(|value| (0..factor).map(move |part| value * factor + part)).collect();
            values.sort_unstable();
            parts.sort_unstable();
            prop_assert_eq!(values, parts);
        }
    }
}
