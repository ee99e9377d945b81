//! Regrouping and slicing.

use crate::acceptance::accepted;
use crate::operands::{integer, layout};
use crate::support::same_function;
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn regrouping_keeps_the_function(a in layout(), begin in 0..4i64, end in 0..5i64) {
        prop_assert!(same_function(&flatten(&a), &a));
        prop_assert_eq!(unflatten(&flatten(&a), a.shape()).unwrap(), a.clone());
        if let Some(grouped) = accepted!(10 of 100, group(&a, begin, end)) {
            prop_assert!(same_function(&grouped, &a));
        }
        if let Some(taken) = accepted!(4 of 100, take(&a, begin, end)) {
            let selected = select(&a, &(begin..end).collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(taken, selected);
        }
    }

    #[test]
    fn a_slice_and_its_offset_are_the_layout(a in layout(), mask in any::<u8>(), at in any::<prop::sample::Index>()) {
        let point = idx2crd(&Tuple::Leaf(at.index(a.size() as usize) as i64), a.shape()).unwrap();
        let mut bit = 0;
        let coord: Coord = point.map(|&index| {
            bit += 1;
            (mask >> (bit % 8) & 1 == 0).then_some(index)
        });
        let (sliced, offset) = slice_and_offset(&a, &coord).unwrap();
        let fixed = dice(&a, &coord).unwrap();
        prop_assert_eq!(fixed.size() * sliced.size(), a.size());
        // The values of the slice are the values of A at the coordinates that agree with the fixed ones.
        let found: Vec<i64> = sliced.values().map(|value| value + integer(&offset)).collect();
        let matches = |i: &i64| {
            let crd = idx2crd(&Tuple::Leaf(*i), a.shape()).unwrap();
            coord.leaves().zip(crd.leaves()).all(|(wanted, index)| wanted.is_none_or(|wanted| wanted == *index))
        };
        let expected: Vec<i64> = (0..a.size()).filter(matches).map(|i| a.at(i).unwrap()).collect();
        prop_assert_eq!(found, expected);
    }
}
