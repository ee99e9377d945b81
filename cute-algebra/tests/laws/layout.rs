//! Layouts, coordinates and text.

use crate::operands::{extended, integer, layout, shape, swizzle};
use crate::support::keeps_promise;
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_layout_is_its_sum_of_digits(a in layout()) {
        let natural: Vec<i64> = (0..a.size())
            .map(|i| {
                let coord = idx2crd(&Tuple::Leaf(i), a.shape()).unwrap();
                prop_assert_eq!(integer(&crd2crd(&coord, a.shape(), &a.size().into()).unwrap()), i);
                Ok(integer(&a.crd2idx(&coord.to_coord()).unwrap()))
            })
            .collect::<Result<_, TestCaseError>>()?;
        prop_assert_eq!(a.values().collect::<Vec<_>>(), natural.clone());
        prop_assert_eq!((0..a.size()).map(|i| a.at(i).unwrap()).collect::<Vec<_>>(), natural.clone());
        let reach = natural.iter().max().unwrap() - natural.iter().min().unwrap();
        prop_assert_eq!(a.cosize(), reach + 1);
        prop_assert_eq!(a.at(a.size()), None);
    }

    #[test]
    fn text_round_trips(a in layout(), sw in swizzle(), offset in -4..40i64) {
        prop_assert_eq!(a.to_string().parse::<Layout>().unwrap(), a.clone());
        let composed = ComposedLayout::new(sw, offset, a.clone()).unwrap();
        prop_assert_eq!(notation::eval_str(&composed.to_string()).unwrap(), Value::from(composed));
        let identity = Layout::identity(a.shape().clone()).unwrap();
        prop_assert_eq!(identity.to_string().parse::<Layout>().unwrap(), identity);
        let tiler = Tiler::Modes(vec![a.into(), Tiler::Keep]);
        prop_assert_eq!(tiler.to_string().parse::<Tiler>().unwrap(), tiler);
    }

    #[test]
    fn an_identity_maps_coordinates_to_themselves(shape in shape(4)) {
        let identity = Layout::identity(shape.clone()).unwrap();
        for i in 0..identity.size() {
            let coord = idx2crd(&Tuple::Leaf(i), &shape).unwrap();
            prop_assert_eq!(&extended(&identity, i), &coord);
        }
        prop_assert_eq!(identity.coshape(), shape);
    }

    #[test]
    fn compatible_is_a_partial_order(a in shape(3), b in shape(3), c in shape(3)) {
        prop_assert!(compatible(&a, &a) && compatible(&a.product().unwrap().into(), &a));
        prop_assert!(!compatible(&a, &b) || !compatible(&b, &a) || a == b);
        prop_assert!(!compatible(&a, &b) || !compatible(&b, &c) || compatible(&a, &c));
        prop_assert!(!compatible(&a, &b) || weakly_congruent(&a, &b));
        prop_assert_eq!(congruent(&a, &b), weakly_congruent(&a, &b) && weakly_congruent(&b, &a));
    }

    #[test]
    fn an_ordered_layout_is_compact(shape in shape(4), keys in prop::collection::vec(0..4i64, 8)) {
        let order: IntTuple = match &shape {
            Tuple::Leaf(_) => Tuple::Leaf(0),
            Tuple::Node(modes) => modes.iter().zip(&keys).map(|(_, &key)| Tuple::Leaf(key)).collect(),
        };
        let a = make_ordered_layout(&shape, &order).unwrap();
        prop_assert_eq!(keeps_promise("make_ordered_layout", &[shape.into()], &a.clone().into()), Some(true));
        prop_assert_eq!(make_layout_like(&a).unwrap(), a);
    }
}

/// Coordinates come before shapes, as in CuTe. The other order is an error where it has no meaning.
#[test]
fn coordinates_stand_before_shapes() {
    for (expression, expected) in [
        ("idx2crd((1,2), (3,4))", "(1,2)"),
        ("idx2crd(16, (3,(2,3)))", "(1,(1,2))"),
        ("idx2crd(11, (3,(2,3)), (6,(3,1)))", "(1,(1,2))"),
        ("crd2idx((1,2), (3,4))", "7"),
        ("crd2idx((1,2), (3,4), (4,1))", "6"),
        ("crd2idx((1,2), (3,4):(4,1))", "6"),
        ("crd2idx((1,2), (3,4), (1@1,1@0))", "(2,1)"),
    ] {
        let found = notation::eval_str(expression).unwrap().to_string();
        assert_eq!(found, expected, "{expression}");
    }
    for expression in [
        "idx2crd((3,(2,3)), 16)",
        "idx2crd(4:1, 7)",
        "crd2idx((4,8):(8,1), (1,2))",
        "crd2idx((3,4), (4,1), 6)",
        "crd2idx((1,2), (3,4), (4,(1,1)))",
        "crd2idx(1, 4:1, _)",
    ] {
        let found = notation::eval_str(expression);
        assert!(found.is_err(), "{expression} is {found:?}");
    }
}
