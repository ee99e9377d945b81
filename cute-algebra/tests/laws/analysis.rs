//! Properties of layouts.

use crate::operands::{extended, integer, layout, shape, swizzle};
use crate::support::{canonical, table};
use cute_algebra::*;
use proptest::prelude::*;

/// Whether the values confirm a verdict and, if there is one, its counterexample.
fn is_right(verdict: &Verdict, values: &[i64], holds: bool) -> bool {
    let at = |index: &i64| IntTuple::Leaf(values[*index as usize]);
    let leaf = |value: &IntTuple| integer(value);
    match verdict {
        Verdict::Yes => holds,
        Verdict::Unproved => false,
        Verdict::No(_) if holds => false,
        Verdict::No(Counterexample::Collision {
            first,
            second,
            value,
        }) => first != second && at(first) == *value && at(second) == *value,
        Verdict::No(Counterexample::Missing { value }) => {
            let (least, greatest) = (
                values.iter().min().unwrap().min(&0),
                values.iter().max().unwrap(),
            );
            !values.contains(&leaf(value)) && (least..=greatest).contains(&&leaf(value))
        }
        Verdict::No(Counterexample::Outside { coordinate, value }) => {
            at(coordinate) == *value && !(0..values.len() as i64).contains(&leaf(value))
        }
        Verdict::No(Counterexample::Crowd { .. }) => false,
    }
}

pub(crate) fn properties(values: &[i64]) -> [bool; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let injective = sorted.windows(2).all(|pair| pair[0] < pair[1]);
    let dense = sorted.windows(2).all(|pair| pair[1] - pair[0] <= 1);
    [
        injective,
        sorted.iter().copied().eq(0..values.len() as i64),
        dense,
    ]
}

proptest! {
    #[test]
    fn injective_bijective_and_dense_by_the_values(a in layout(), sw in swizzle(), offset in 0..20i64) {
        let values: Vec<i64> = a.values().collect();
        for (verdict, holds) in [a.injective(), a.bijective(), a.dense()].iter().zip(properties(&values)) {
            prop_assert!(is_right(verdict, &values, holds), "{a}: {verdict:?}");
        }
        let composed = ComposedLayout::new(sw, offset, a).unwrap();
        let values: Vec<i64> = composed.values().collect();
        for (verdict, holds) in [composed.injective(), composed.bijective(), composed.dense()].iter().zip(properties(&values)) {
            prop_assert!(is_right(verdict, &values, holds), "{composed}: {verdict:?}");
        }
    }

    #[test]
    fn coordinate_layouts_are_judged_by_their_values(shape in shape(3), strides in prop::collection::vec((0..4i64, 0..3usize), 8)) {
        let mut strides = strides.into_iter();
        let stride = shape.map(|_| {
            let (value, index) = strides.next().unwrap();
            ScaledBasis::new(value, [index]).unwrap()
        });
        let a = Layout::new(shape, stride).unwrap();
        let values: Vec<IntTuple> = table(&a).iter().map(canonical).collect();
        let mut distinct = values.clone();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(a.injective().decided(), Some(distinct.len() == values.len()));
        let inside = |extents: &[i64]| {
            let boxes = Layout::identity(extents.iter().copied().map(Tuple::Leaf).collect::<Shape>()).unwrap();
            let mut all: Vec<IntTuple> = table(&boxes).iter().map(canonical).collect();
            all.sort();
            all
        };
        let spans: Vec<i64> = (0..3).map(|index| {
            let along = a.flat_modes().into_iter().filter(|(_, stride)| stride.path() == [index]);
            along.map(|(extent, stride)| (extent - 1) * stride.value()).sum::<i64>() + 1
        }).collect();
        let full = inside(&spans);
        prop_assert_eq!(a.dense().decided(), Some(full == distinct));
        prop_assert_eq!(a.bijective().decided(), Some(full == distinct && distinct.len() == values.len()));
    }
}

#[test]
fn large_layouts_are_judged_without_their_values() {
    let no = |verdict| matches!(verdict, Verdict::No(_));
    let layout = |shape: &[i64], stride: &[i64]| {
        let tree = |leaves: &[i64]| {
            leaves
                .iter()
                .copied()
                .map(Tuple::Leaf)
                .collect::<IntTuple>()
        };
        Layout::new(tree(shape), &tree(stride)).unwrap()
    };
    // Six million coordinates. The strides fall into two parts, and only one of them is enumerated.
    let parts = layout(&[3, 2, 1 << 20], &[2, 3, 8]);
    assert_eq!(parts.injective(), Verdict::Yes);
    // Three modes together have a collision, though no two of them have.
    assert!(no(layout(&[2, 3, 5], &[-6, 7, 4]).injective()));
    let collides = layout(&[1 << 20, 1 << 20], &[3, 5]);
    assert!(no(collides.injective()));
    // There are more coordinates than values, so there is a collision; but finding one would take a search.
    let shape = [2; 40];
    let strides: Vec<i64> = (0..40).map(|i| (1 << 30) + 7919 * i * i + i).collect();
    let crowd = layout(&shape, &strides);
    assert!(
        matches!(crowd.injective(), Verdict::No(Counterexample::Crowd { .. })),
        "{:?}",
        crowd.injective()
    );
    let strides: Vec<i64> = (0..40).map(|i| (1 << 50) + 7919 * i * i + i).collect();
    assert_eq!(layout(&shape, &strides).injective(), Verdict::Unproved);
}

proptest! {
    #[test]
    fn vectors_are_whole_and_aligned(a in layout(), sw in swizzle(), offset in 0..20i64) {
        let whole = |values: &[i64], vector: i64| {
            values.len() as i64 % vector == 0
                && values.chunks(vector as usize).all(|chunk| {
                    chunk[0] % vector == 0 && (chunk[0]..).zip(chunk).all(|(expected, value)| expected == *value)
                })
        };
        let values: Vec<i64> = a.values().collect();
        let largest = (1..=a.size()).rev().find(|&vector| whole(&values, vector));
        prop_assert_eq!(Some(a.vector_width()), largest, "{}", a);
        let alignment = (0..=values.iter().map(|value| value.abs()).max().unwrap()).rev()
            .find(|&divisor| divisor == 0 || values.iter().all(|value| value % divisor == 0));
        prop_assert_eq!(Some(a.alignment()), alignment, "{}", a);

        let composed = ComposedLayout::new(sw, offset, a).unwrap();
        let values: Vec<i64> = composed.values().collect();
        prop_assert!(whole(&values, composed.vector_width().max(1)), "{composed}");
        let divisor = composed.alignment();
        prop_assert!(values.iter().all(|value| if divisor == 0 { *value == 0 } else { value % divisor == 0 }), "{composed}");
    }

    #[test]
    fn index_forms_have_the_values(a in layout()) {
        let form = a.index_form().unwrap();
        let goes_on = coalesce(&a);
        prop_assert!((0..a.size() + 50).all(|x| form.at(x) == Some(integer(&extended(&goes_on, x)))), "{a} is not {form}");
        // The form never costs more than computing the value digit by digit.
        let digits = coalesce(&a);
        let mut weight = 1;
        let mut dear = 0;
        for (extent, _) in digits.flat_modes() {
            dear += 1 + if weight == 1 { 0 } else { 4 } + 6 + 2;
            weight *= extent;
        }
        prop_assert!(form.cost() <= dear, "{a}: {form}");
    }
}
