//! Division.

use crate::acceptance::accepted;
use crate::operands::{extent, layout, positive_layout};
use crate::support::{first_modes_are_tiles, is_permutation, keeps_ragged_promise, same_function};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn division_permutes(a in layout(), tile in positive_layout()) {
        let tiler = Tiler::from(tile);
        if let Some(logical) = accepted!(2 of 100, logical_divide(&a, &tiler)) {
            prop_assert!(is_permutation(&a, &logical) && first_modes_are_tiles(&a, &tiler, &logical));
            for divided in [zipped_divide(&a, &tiler), tiled_divide(&a, &tiler), flat_divide(&a, &tiler)] {
                prop_assert!(same_function(&divided.unwrap(), &logical));
            }
        }
        if let Some(ragged) = accepted!(35 of 100, ragged::logical_divide(&a, &tiler)) {
            let promise = keeps_ragged_promise("logical_divide", &[a.into(), tiler.into()], &ragged.clone().into());
            prop_assert_eq!(promise, Some(true), "{}", ragged);
        }
    }

    #[test]
    fn division_by_mode_is_division_of_modes(a in layout(), tiles in prop::collection::vec(extent(), 1..4)) {
        let shape: Shape = tiles.iter().map(|&tile| Tuple::Leaf(tile)).collect();
        let tiler = Tiler::from_shape(&shape).unwrap();
        if let Some(logical) = accepted!(2 of 100, logical_divide(&a, &tiler)) {
            prop_assert!(is_permutation(&a, &logical) && first_modes_are_tiles(&a, &tiler, &logical));
            let zipped = zipped_divide(&a, &tiler).unwrap();
            prop_assert_eq!(zipped.mode(0).unwrap().size(), shape.product().unwrap());
            prop_assert!(same_function(&zipped.mode(0).unwrap(), &composition_by(&a, &tiler).unwrap()));
            prop_assert!(is_permutation(&a, &zipped));
            prop_assert!(same_function(&zipped, &tiled_divide(&a, &tiler).unwrap()));
            prop_assert!(same_function(&zipped, &flat_divide(&a, &tiler).unwrap()));
        }
    }
}
