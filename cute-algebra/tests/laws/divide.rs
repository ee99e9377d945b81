//! Division.

use crate::acceptance::accepted;
use crate::operands::{extent, layout, positive_layout};
use crate::support::{
    first_modes_are_tiles, is_composition, is_permutation, keeps_ragged_promise, same_function,
};
use cute_algebra::*;
use proptest::prelude::*;

/// The layout of the part of a shape with these extents, one for each leaf, made divisors of the shape's.
fn part_of(shape: &Shape, extents: &[i64]) -> Layout {
    let mut weight = 1;
    let leaves = shape.leaves().zip(extents.iter().cycle());
    let modes = leaves.map(|(&whole, &wanted)| {
        let extent = (1..=wanted.min(whole))
            .rev()
            .find(|extent| whole % extent == 0);
        let mode = Layout::new(extent.unwrap_or(1), weight).unwrap();
        weight *= whole;
        mode
    });
    Layout::concat(modes).unwrap()
}

/// The modes of a tuple of several, or the layout as one mode.
fn spread(a: &Layout) -> Vec<Layout> {
    match a.modes() {
        modes if modes.len() > 1 => modes,
        _ => vec![a.clone()],
    }
}

/// Whether the path leads to a leaf of the shape.
fn is_leaf(shape: &Shape, path: &[usize]) -> bool {
    match path.split_first() {
        Some((&index, path)) => {
            !shape.is_leaf()
                && shape
                    .modes()
                    .get(index)
                    .is_some_and(|mode| is_leaf(mode, path))
        }
        None => shape.is_leaf(),
    }
}

fn all(forms: [Result<Layout, LayoutError>; 3]) -> Result<[Layout; 3], LayoutError> {
    let [zipped, tiled, flat] = forms;
    Ok([zipped?, tiled?, flat?])
}

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

    #[test]
    fn a_layout_is_divided_by_every_part_of_its_shape(
        a in layout(),
        extents in prop::collection::vec(extent(), 8),
        reversed in any::<bool>(),
    ) {
        let mut modes = part_of(a.shape(), &extents).modes();
        if reversed {
            modes.reverse();
        }
        let tile = Layout::concat(modes).unwrap();
        let logical = logical_divide(&a, &tile.clone().into()).unwrap();
        prop_assert!(is_permutation(&a, &logical), "{logical}");
        let [first, _] = &logical.modes()[..] else { panic!("{logical}") };
        prop_assert!(is_composition(&a, &tile.into(), first), "{first}");
    }

    #[test]
    fn forms_of_divisions_and_products_have_the_same_modes(a in layout(), tiles in prop::collection::vec(extent(), 1..4)) {
        let tiler = Tiler::from_shape(&tiles.into_iter().map(Tuple::Leaf).collect()).unwrap();
        let divided = [zipped_divide, tiled_divide, flat_divide].map(|divide| divide(&a, &tiler));
        let product = [zipped_product, tiled_product, flat_product].map(|product| product(&a, &tiler));
        for forms in [accepted!(2 of 100, all(divided)), accepted!(30 of 100, all(product))] {
            let Some([zipped, tiled, flat]) = forms else { continue };
            let [first, second] = &zipped.modes()[..] else { panic!("{zipped}") };
            prop_assert_eq!(tiled.modes(), [vec![first.clone()], spread(second)].concat());
            prop_assert_eq!(flat.modes(), [spread(first), spread(second)].concat());
        }
    }

    #[test]
    fn a_refused_division_names_the_operand(a in layout(), tile in positive_layout()) {
        let Err(error) = logical_divide(&a, &tile.clone().into()) else { return Ok(()) };
        let place = error.place();
        let mode = tile.get(&place.path.0);
        prop_assert!(place.path.0.is_empty() || is_leaf(tile.shape(), &place.path.0), "{error}");
        match error.kind() {
            // The tile as a whole does not fit in A.
            ErrorKind::Target { block, target, .. } => {
                prop_assert_eq!(place, &Place::operand(1));
                prop_assert!(*target == a.size() && target % block != 0);
            }
            ErrorKind::Gap { stride, previous, .. } => {
                prop_assert_eq!(place.operand, 1);
                prop_assert!(mode.is_some_and(|mode| mode.stride() == &Stride::Leaf((*stride).into())));
                prop_assert!(stride % (previous.0 * previous.1) != 0);
            }
            ErrorKind::Drift { extent, stride, .. } | ErrorKind::Split { extent, stride, .. } if !place.path.0.is_empty() => {
                prop_assert_eq!(place.operand, 1);
                prop_assert_eq!(mode, Layout::new(*extent, *stride).ok());
            }
            _ => prop_assert_eq!(place.operand, 1),
        }
    }
}
