//! Coalesce, filter, sort and equality.

use crate::acceptance::accepted;
use crate::operands::{layout, shape};
use crate::support::{is_permutation, same_function};
use cute_algebra::*;
use proptest::prelude::*;

/// Whether the layout has every mode that the profile has.
fn reaches(profile: &Shape, a: &Layout) -> bool {
    let mut parts = profile.modes().iter().zip(a.modes());
    profile.is_leaf()
        || profile.rank() <= a.rank() && parts.all(|(profile, mode)| reaches(profile, &mode))
}

/// Whether R is A with the part at each leaf of the profile coalesced.
fn is_coalesced_by(profile: &Shape, a: &Layout, r: &Layout) -> bool {
    if profile.is_leaf() {
        return *r == coalesce(a);
    }
    let mut parts = a.modes().into_iter().zip(r.modes()).enumerate();
    r.rank() == a.rank()
        && parts.all(|(i, (mode, found))| match profile.modes().get(i) {
            Some(profile) => is_coalesced_by(profile, &mode, &found),
            None => mode == found,
        })
}

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
    fn coalescing_by_profile_coalesces_each_part(a in layout(), profile in shape(3)) {
        match accepted!(30 of 100, coalesce_by(&a, &profile)) {
            Some(r) => prop_assert!(is_coalesced_by(&profile, &a, &r), "{a} by {profile}: {r}"),
            None => prop_assert!(!reaches(&profile, &a), "{a} by {profile}"),
        }
        if let Some(r) = accepted!(30 of 100, filter_by(&a, &profile)) {
            let parts = coalesce_by(&r, &profile).unwrap();
            prop_assert!(same_function(&parts, &r) && r.size() <= a.size());
        }
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
