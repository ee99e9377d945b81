//! Complement.

use crate::acceptance::accepted;
use crate::operands::{is_a_layout, positive_layout};
use crate::support::is_complement;
use cute_algebra::*;
use proptest::prelude::*;

/// Whether there is a complement. Its values are determined: each is the smallest value that is not covered yet.
fn has_complement(a: &Layout, target: i64) -> bool {
    let a: Vec<i64> = filter(a).values().collect();
    let mut covered = vec![false; target as usize];
    let mut starts = Vec::new();
    while let Some(start) = covered.iter().position(|&covered| !covered) {
        starts.push(start as i64);
        for value in &a {
            match covered.get_mut(start + *value as usize) {
                Some(covered) if !*covered => *covered = true,
                _ => return false,
            }
        }
    }
    is_a_layout(&starts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn complement_is_exact(a in positive_layout(), multiple in 1..5i64, rest in prop_oneof![4 => Just(0i64), 1 => 1..5i64]) {
        let target = (multiple * (a.cosize() + 3) / 4 * 4 + rest).min(512);
        match complement(&a, target) {
            Ok(c) => prop_assert!(is_complement(&a, Some(target), &c), "{a} in {target}: {c}"),
            Err(error) => prop_assert!(!has_complement(&a, target), "{error}"),
        }
        if let Some(c) = accepted!(50 of 100, complement_within(&a)) {
            prop_assert!(is_complement(&a, None, &c), "{a}: {c}");
        }
        if let Some(c) = accepted!(50 of 100, ragged::complement(&a, target)) {
            let next = filter(&a).size() * c.size();
            prop_assert!(next >= target && is_complement(&a, Some(next), &c), "{a} in {target}: {c}");
        }
    }
}
