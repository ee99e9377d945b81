//! Coalesce, filter, sort and equality.

use crate::operands::layout;
use crate::support::{is_permutation, same_function};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn coalesced_layouts_are_equal_exactly_if_the_functions_are(a in layout()) {
        let coalesced = coalesce(&a);
        prop_assert!(same_function(&a, &coalesced));
        prop_assert!(coalesced.depth() <= 1);
        prop_assert_eq!(coalesce(&coalesced), coalesced.clone());
        // The values alone determine the coalesced layout.
        prop_assert_eq!(from_table(&a.values().collect::<Vec<_>>()).unwrap(), coalesced);
    }

    #[test]
    fn coalescing_by_profile_coalesces_each_mode(a in layout()) {
        let profile: Shape = a.modes().iter().map(|_| Tuple::Leaf(1)).collect();
        let by_mode = coalesce_by(&a, &profile).unwrap();
        prop_assert!(by_mode.modes().iter().zip(a.modes()).all(|(ours, mode)| *ours == coalesce(&mode)));
    }

    #[test]
    fn filtering_keeps_the_values(a in layout()) {
        let distinct = |a: &Layout| a.values().collect::<std::collections::BTreeSet<_>>();
        prop_assert_eq!(distinct(&filter(&a)), distinct(&a));
        prop_assert_eq!(distinct(&filter_zeros(&a)), distinct(&a));
        prop_assert!(congruent(filter_zeros(&a).shape(), a.shape()));
    }

    #[test]
    fn sorting_keeps_the_values(a in layout()) {
        let sorted = sort(&a).unwrap();
        prop_assert!(is_permutation(&a, &sorted));
        prop_assert_eq!(sorted.shape().leaf_count(), a.shape().leaf_count());
        prop_assert!(sorted.flat_modes().windows(2).all(|pair| pair[0].1.value() <= pair[1].1.value()));
    }

    #[test]
    fn equal_layouts_have_equal_values(a in layout(), b in layout(), i in any::<prop::sample::Index>()) {
        prop_assert!(equal(&a, &coalesce(&a)) && equal(&flatten(&a), &a));
        prop_assert_eq!(equal(&a, &b), a.values().eq(b.values()));
        let mode = i.index(a.shape().leaf_count());
        let changed = a.flat_modes().into_iter().enumerate().map(|(i, (extent, stride))| {
            let stride = stride.value() + i64::from(i == mode);
            Layout::new(extent, stride).unwrap()
        });
        let changed = Layout::concat(changed).unwrap();
        prop_assert_eq!(equal(&a, &changed), a.values().eq(changed.values()));
    }
}
