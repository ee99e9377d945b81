//! Layouts of given values.

use crate::acceptance::accepted;
use crate::operands::{is_a_layout, layout};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_table_is_recovered_exactly_if_it_is_a_layout(
        a in layout().prop_filter("small", |a| a.size() <= 48),
        change in prop::option::of((any::<prop::sample::Index>(), -3..4i64)),
    ) {
        let mut values: Vec<_> = a.values().collect();
        if let Some((index, delta)) = change {
            values[index.index(a.size() as usize)] += delta;
        }
        match from_table(&values) {
            Ok(found) => prop_assert!(found.values().eq(values)),
            Err(error) => prop_assert!(!is_a_layout(&values), "{error}"),
        }
    }

    #[test]
    fn a_table_begins_a_layout_exactly_if_one_goes_on_from_it(
        a in layout().prop_filter("small", |a| a.size() <= 48),
        change in prop::option::of((any::<prop::sample::Index>(), -3..4i64)),
        end in any::<prop::sample::Index>(),
    ) {
        let mut values: Vec<_> = a.values().collect();
        values.truncate(1 + end.index(values.len()));
        let whole = change.is_none();
        if let Some((index, delta)) = change {
            let index = index.index(values.len());
            values[index] += delta;
        }
        // In a layout that begins with the values, a mode ends wherever the values stop growing by equal steps.
        let begins = |found: &Layout| found.values().zip(&values).all(|(found, &value)| found == value);
        match accepted!(40 of 100, ragged::from_table(&values)) {
            Some(found) => {
                prop_assert!(begins(&found) && found.size() >= values.len() as i64);
                prop_assert_eq!(coalesce(&found), found);
            }
            None => prop_assert!(!whole && !is_a_layout(&values), "{values:?}"),
        }
    }
}
