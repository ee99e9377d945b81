//! Division of shapes, and extension.

use crate::acceptance::accepted;
use crate::operands::{extended, integer, layout, shape};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn extensions_go_on(a in layout(), size in 1..200i64) {
        let last = a.flat_modes().pop().map_or(1, |(extent, _)| extent);
        let before = a.size() / last;
        let size = if size % 4 == 0 { size } else { before * (1 + size % 7) };
        match accepted!(60 of 100, extension(&a, size)) {
            Some(longer) => {
                prop_assert!(congruent(longer.shape(), a.shape()) && longer.size() == size);
                prop_assert!((0..size).all(|i| longer.at(i) == Some(integer(&extended(&a, i)))));
            }
            None => prop_assert!(size % before != 0),
        }
    }

    #[test]
    fn shapes_are_divided_from_the_left(shape in shape(4), count in 1..40i64) {
        // The first elements and the rest, as compact layouts, are what composition selects from the compact layout.
        let compact = Layout::left(shape.clone()).unwrap();
        match (accepted!(10 of 100, shape_mod(&shape, count)), shape_div(&shape, count)) {
            (Some(first), Ok(rest)) => {
                prop_assert_eq!(first.product().unwrap() * rest.product().unwrap(), compact.size());
                prop_assert_eq!(first.product().unwrap(), count.min(compact.size()));
                // Extents before the cut are kept whole. Extents after it are 1.
                let leaves = shape.leaves().zip(first.leaves());
                let cut = leaves.skip_while(|(extent, kept)| extent == kept).skip(1);
                prop_assert!(cut.into_iter().all(|(_, kept)| *kept == 1));
            }
            (None, Err(_)) => {
                let mut left = count;
                let divides = shape.leaves().all(|&extent| {
                    let fits = extent % left == 0 || left % extent == 0;
                    left = (left / extent).max(1);
                    fits
                });
                prop_assert!(!divides, "{shape} by {count}");
            }
            (first, rest) => prop_assert!(false, "{first:?} and {rest:?}"),
        }
    }

    #[test]
    fn shapes_are_divided_leaf_by_leaf(shape in shape(4), divisors in prop::collection::vec(1..6i64, 8)) {
        let mut next = divisors.iter().copied();
        let divisor = shape.map(|_| next.next().unwrap());
        let each = |rounding| elementwise_div(&shape, &divisor, rounding);
        let (up, down) = (each(Rounding::Ceil).unwrap(), each(Rounding::Floor).unwrap());
        let leaves = shape.leaves().zip(divisor.leaves()).zip(up.leaves().zip(down.leaves()));
        for ((extent, divisor), (up, down)) in leaves {
            prop_assert!((up - 1) * divisor < *extent && *extent <= up * divisor);
            prop_assert!(down * divisor <= *extent && *extent < (down + 1) * divisor);
        }
        match accepted!(5 of 100, each(Rounding::Exact)) {
            Some(exact) => prop_assert!(exact == up && exact == down),
            None => prop_assert!(up != down),
        }
    }
}
