//! Inverses, the nullspace and common vectors.

use crate::acceptance::accepted;
use crate::operands::{is_a_layout, layout, positive_layout};
use crate::support::{self, is_left_inverse, is_right_inverse, same_function};
use cute_algebra::*;
use proptest::prelude::*;

/// A layout of at most 3 modes with random strides of at least `lowest`.
fn any_strides(lowest: i64) -> impl Strategy<Value = Layout> {
    prop::collection::vec((2..5i64, lowest..20), 1..4).prop_map(|modes| {
        let (shape, stride): (Vec<_>, Vec<_>) = modes.into_iter().unzip();
        let shape: Shape = shape.into_iter().map(Tuple::Leaf).collect();
        let stride: IntTuple = stride.into_iter().map(Tuple::Leaf).collect();
        Layout::new(shape, &stride).expect("small")
    })
}

/// Whether some layout maps each value back to its coordinate, where `filtered` is A without strides 0. Every layout is a
/// sum of terms that grow by a constant at the multiples of a divisor, and each divisor divides the next.
fn has_left_inverse(filtered: &Layout, a: &Layout) -> bool {
    let kept = |x: &i64| {
        let digits = idx2crd(&Tuple::Leaf(*x), a.shape()).unwrap();
        let mut leaves = digits.leaves().zip(filtered.shape().leaves());
        leaves.all(|(digit, extent)| digit < extent)
    };
    let points: Vec<(i64, i64)> = (0..a.size())
        .filter(kept)
        .map(|x| (a.at(x).unwrap(), x))
        .collect();
    let largest = points.iter().map(|(value, _)| *value).max().unwrap();
    let mut chains = vec![vec![1i64]];
    while let Some(chain) = chains.pop() {
        let last = chain[chain.len() - 1];
        let longer = (2..)
            .map(|factor| last * factor)
            .take_while(|divisor| *divisor <= largest);
        let longer: Vec<Vec<i64>> = longer
            .map(|divisor| [&chain[..], &[divisor]].concat())
            .collect();
        // Only the longest chains of divisors are tried, since they have all solutions of shorter ones.
        if longer.is_empty() {
            let rows = points
                .iter()
                .map(|(value, x)| (chain.iter().map(|c| value / c).collect(), *x));
            if is_solvable(rows.collect()) {
                return true;
            }
        }
        chains.extend(longer);
    }
    false
}

/// Whether linear equations, given as (factors, right side), have a solution in integers. Column operations, which
/// replace the unknowns by integer combinations of them, make the matrix of factors triangular.
fn is_solvable(mut rows: Vec<(Vec<i64>, i64)>) -> bool {
    let unknowns = rows[0].0.len();
    let mut known = 0;
    for row in 0..rows.len() {
        while let Some(least) = (known..unknowns)
            .filter(|&i| rows[row].0[i] != 0)
            .min_by_key(|&i| rows[row].0[i].abs())
        {
            rows.iter_mut()
                .for_each(|(factors, _)| factors.swap(known, least));
            let mut is_last = true;
            for i in known + 1..unknowns {
                let times = rows[row].0[i] / rows[row].0[known];
                rows.iter_mut()
                    .for_each(|(factors, _)| factors[i] -= times * factors[known]);
                is_last &= rows[row].0[i] == 0;
            }
            if is_last {
                break;
            }
        }
        let (factors, right) = &rows[row];
        let pivot = *factors.get(known).unwrap_or(&0);
        if pivot == 0 {
            if *right != 0 {
                return false;
            }
            continue;
        }
        if right % pivot != 0 {
            return false;
        }
        let value = right / pivot;
        rows.iter_mut()
            .for_each(|(factors, right)| *right -= value * factors[known]);
        known += 1;
    }
    true
}

/// A layout of up to 4 modes with small strides, of which several are often equal.
fn repeating() -> impl Strategy<Value = Layout> {
    prop::collection::vec((2..5i64, prop_oneof![Just(1i64), Just(2), Just(4)]), 1..5).prop_map(
        |modes| {
            let modes = modes
                .into_iter()
                .map(|(extent, stride)| Layout::new(extent, stride).expect("small"));
            Layout::concat(modes).expect("small")
        },
    )
}

/// A layout of two modes with strides of opposite signs that together move by 1.
fn opposed() -> impl Strategy<Value = Layout> {
    (2..14i64, 2..14i64, 1..5i64)
        .prop_map(|(m, n, stride)| Layout::new([m, n], [-stride, stride + 1]).expect("small"))
}

/// The number of values that leaves alone count up to: the leaf with the next stride is taken each time, and of several
/// the one with the smallest extent.
fn counted_by_leaves(a: &Layout) -> i64 {
    let mut leaves = a.flat_modes();
    leaves.retain(|(extent, _)| *extent > 1);
    leaves.sort_by_key(|(extent, _)| *extent);
    let mut count = 1;
    while let Some(i) = leaves
        .iter()
        .position(|(_, stride)| stride.value() == count)
    {
        count *= leaves.remove(i).0;
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn right_inverse_is_the_longest(a in prop_oneof![4 => layout(), 4 => any_strides(-12), 1 => opposed(), 2 => repeating()]) {
        let r = right_inverse(&a).unwrap();
        prop_assert!(is_right_inverse(&a.clone().into(), &r.clone().into()), "{a}: {r}");
        if a.stride().leaves().all(|stride| stride.value() >= 0) {
            prop_assert_eq!(r.size(), counted_by_leaves(&a), "{}: {}", a, r);
        }
        if support::is_injective(&a) {
            // The coordinate of each value from 0 on, up to the first value that does not occur.
            let place = |value: i64| a.values().position(|found| found == value).map(|x| x as i64);
            let places: Vec<i64> = (0..).map_while(place).collect();
            let longest = (1..=places.len()).rev().find(|&count| is_a_layout(&places[..count]));
            prop_assert_eq!(Some(r.size() as usize), longest, "{}: {}", a, r);
        }
    }

    #[test]
    fn left_inverse_is_exact(a in prop_oneof![layout(), any_strides(0), any_strides(0)]) {
        let found = left_inverse(&a);
        let unknown = |error: &LayoutError| matches!(error.kind(), ErrorKind::Overlap { inverse: NoInverse::Unknown, .. });
        accepted!(97 of 100, match &found {
            Err(error) if unknown(error) => Err(error),
            _ => Ok(()),
        });
        let apart = support::is_injective(&filter_zeros(&a));
        match found {
            Ok(l) => prop_assert!(apart && is_left_inverse(&a.clone().into(), &l.clone().into()), "{a}: {l}"),
            Err(error) => match error.kind() {
                ErrorKind::NegativeStride { .. } => prop_assert!(a.values().any(|value| value < 0), "{a}"),
                ErrorKind::Overlap { inverse, .. } => {
                    prop_assert_eq!(*inverse == NoInverse::Collision, !apart, "{}", &a);
                    if apart && a.cosize() <= 100 {
                        prop_assert!(!has_left_inverse(&filter_zeros(&a), &a), "{a}");
                    }
                }
                kind => prop_assert!(false, "{a}: {kind}"),
            },
        }
    }

    #[test]
    fn inverses_of_bijections_agree(a in positive_layout()) {
        let r = right_inverse(&a).unwrap();
        if r.size() == a.size() {
            prop_assert!(same_function(&left_inverse(&a).unwrap(), &r));
        }
    }

    #[test]
    fn the_nullspace_maps_to_zero(a in positive_layout()) {
        let n = nullspace(&a).unwrap();
        prop_assert!(n.values().all(|x| a.at(x) == Some(0)));
        prop_assert_eq!(n.size(), a.values().filter(|&value| value == 0).count() as i64);
    }

    #[test]
    fn common_vectors_count_up_in_both(a in positive_layout(), b in positive_layout()) {
        if let Some(common) = accepted!(60 of 100, max_common_layout(&a, &b)) {
            prop_assert!(common.values().zip(0..).all(|(x, i)| a.at(x) == Some(i) && b.at(x) == Some(i)));
        }
        if support::is_injective(&a) && support::is_injective(&b) {
            let place = |layout: &Layout, value: i64| layout.values().position(|found| found == value);
            let common: Vec<i64> = (0..).map_while(|i| place(&a, i).filter(|&x| place(&b, i) == Some(x))).map(|x| x as i64).collect();
            let largest = (1..=common.len()).rev().find(|&n| is_a_layout(&common[..n])).unwrap_or(1);
            prop_assert_eq!(max_common_vector(&a, &b).unwrap(), largest as i64, "{} {}", a, b);
        }
        let vector = max_alignment(&a).unwrap();
        let values: std::collections::BTreeSet<_> = a.values().collect();
        let groups: std::collections::BTreeSet<_> = values.iter().map(|value| value / vector).collect();
        prop_assert_eq!(values.len() as i64, groups.len() as i64 * vector, "whole groups of {}", vector);
    }
}

/// A long right inverse is found, and checked, without its values.
#[test]
fn right_inverses_of_large_layouts() {
    for (expression, expected) in [
        (
            "right_inverse((10000,2,2):(1,-10000,20000))",
            "(10000,2):(1,30000)",
        ),
        (
            "right_inverse((20000,30000):(-7,8))",
            "(20000,5):(20001,50000000)",
        ),
    ] {
        let found = notation::eval_str(expression).unwrap().to_string();
        assert_eq!(found, expected, "{expression}");
    }
}
