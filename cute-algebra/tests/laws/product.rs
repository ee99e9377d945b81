//! Products and `tile_to_shape`.

use crate::acceptance::accepted;
use crate::operands::{padded_layout, positive_layout};
use crate::support::{self, FreePlaces, keeps_promise};
use cute_algebra::*;
use proptest::prelude::*;

/// The places in all gaps and `count` behind them, as a layout.
fn as_layout(free: &FreePlaces, count: i64) -> Layout {
    let mut modes = free.gaps.clone();
    modes.push((count, free.block));
    let modes = modes.into_iter();
    Layout::concat(modes.map(|(extent, stride)| Layout::new(extent, stride).unwrap())).unwrap()
}

/// Whether each stride is larger than the sum of `(extent - 1) * stride` over all smaller strides.
fn is_superincreasing(a: &Layout) -> bool {
    let mut modes = filter(a).flat_modes();
    modes.sort_by_key(|(_, stride)| stride.value());
    let mut reach = 0;
    modes.iter().all(|(extent, stride)| {
        let is_larger = *extent == 1 || stride.value() > reach;
        reach += (extent - 1) * stride.value();
        is_larger
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn products_repeat(a in positive_layout(), b in positive_layout()) {
        let tiler = Tiler::from(b.clone());
        let args = [Value::from(&a), Value::from(&b)];
        for (name, product) in [
            ("logical_product", accepted!(40 of 100, logical_product(&a, &tiler))),
            ("zipped_product", accepted!(40 of 100, zipped_product(&a, &tiler))),
            ("tiled_product", accepted!(40 of 100, tiled_product(&a, &tiler))),
            ("flat_product", accepted!(40 of 100, flat_product(&a, &tiler))),
            ("blocked_product", accepted!(40 of 100, blocked_product(&a, &b))),
            ("raked_product", accepted!(40 of 100, raked_product(&a, &b))),
        ] {
            if let Some(r) = product {
                prop_assert_eq!(keeps_promise(name, &args, &r.clone().into()), Some(true), "{}({}, {}) = {}", name, a, b, r);
                if support::is_injective(&a) && support::is_injective(&b) {
                    prop_assert!(support::is_injective(&r), "{name}({a}, {b}) = {r}");
                }
            }
        }
    }

    #[test]
    fn products_repeat_padding(a in padded_layout(), b in positive_layout()) {
        let product = accepted!(40 of 100, logical_product(&a, &b.clone().into()));
        for (name, product) in [("logical_product", product), ("blocked_product", blocked_product(&a, &b).ok())] {
            let Some(r) = product else { continue };
            let args = [Value::from(&a), Value::from(&b)];
            prop_assert_eq!(keeps_promise(name, &args, &r.clone().into()), Some(true), "{}({}, {}) = {}", name, a, b, r);
            prop_assert_eq!(support::is_injective(&r), support::is_injective(&b), "{}({}, {}) = {}", name, a, b, r);
        }
    }

    #[test]
    fn a_product_is_refused_only_without_free_places(a in padded_layout(), b in positive_layout()) {
        if accepted!(40 of 100, logical_product(&a, &b.clone().into())).is_none() {
            let free = FreePlaces::of(&a);
            let copies = |free: &FreePlaces| {
                ragged::composition(&as_layout(free, b.cosize()), &b.clone().into())
            };
            prop_assert!(copies(&free).is_err(), "{a} times {b}");
            if let Ok(copies) = copies(&free.counted_up(&b)) {
                let product = Layout::concat([a.clone(), copies]).unwrap();
                prop_assert!(!is_superincreasing(&product), "{a} times {b}: {product}");
            }
        }
    }

    #[test]
    fn a_product_repeats_every_padded_layout(a in padded_layout(), count in 1..40i64) {
        let tiler = Tiler::from(Layout::new(1, 0).unwrap());
        prop_assert!(logical_product(&a, &tiler).is_ok());
        // If the gaps of A are in one piece, copies in a row are always disjoint.
        if complement_within(&a).is_ok_and(|gaps| gaps.size() == 1) {
            let r = logical_product(&a, &Layout::new(count, 1).unwrap().into()).unwrap();
            prop_assert!(support::is_injective(&r), "{r}");
        }
    }

    #[test]
    fn a_tiled_shape_is_filled(block in positive_layout(), copies in prop::collection::vec(1..4i64, 4)) {
        let shape: Shape = match block.shape() {
            Tuple::Leaf(extent) => Tuple::Leaf(extent * copies[0]),
            Tuple::Node(_) => block.modes().iter().zip(&copies).map(|(mode, copies)| Tuple::Leaf(mode.size() * copies)).collect(),
        };
        if let Some(r) = accepted!(30 of 100, tile_to_shape(&block, &shape, None)) {
            let promise = keeps_promise("tile_to_shape", &[block.into(), shape.into()], &r.clone().into());
            prop_assert_eq!(promise, Some(true), "{}", r);
        }
    }
}

/// Copies of a padded layout keep its padding. A gap takes as many copies as fit, rounded down.
#[test]
fn products_of_padded_layouts() {
    for (expression, expected) in [
        ("logical_product((4,6):(1,6), 3:1)", "((4,6),3):((1,6),36)"),
        (
            "blocked_product((2,12):(12,64), (4,2):(8,1))",
            "((2,(2,2)),(12,2)):((12,(8,24)),(64,1))",
        ),
        (
            "tile_to_shape((8,32):(33,1), (32,64))",
            "((8,4),(32,2)):((33,264),(1,1056))",
        ),
        (
            "logical_product((2,3):(1,5), 4:1)",
            "((2,3),(2,2)):((1,5),(2,15))",
        ),
    ] {
        let found = notation::eval_str(expression).unwrap().to_string();
        assert_eq!(found, expected, "{expression}");
    }
    for expression in [
        "complement((4,6):(1,6))",
        "logical_product((2,2):(2,3), 2:1)",
        "logical_product((12,2):(59,5), (2,3):(3,1))",
    ] {
        let found = notation::eval_str(expression);
        assert!(found.is_err(), "{expression} is {found:?}");
    }
}

/// A ranked product of an integer pairs it with the other operand as a whole.
#[test]
fn ranked_products_take_modes_of_any_depth() {
    for (expression, expected) in [
        (
            "blocked_product(4:1, ((1,7)):((7,1)))",
            "((4,((1,7)))):((1,((0,4))))",
        ),
        ("blocked_product((4):(1), 3:2)", "(((4),3)):(((1),8))"),
        (
            "raked_product(((4,2)):((2,1)), 32:1)",
            "((32,((4,2)))):((8,((2,1))))",
        ),
        ("raked_product(2:3, (3):(1))", "(((3),2)):(((1),3))"),
        ("blocked_product((4):(1), (3):(2))", "((4,3)):((1,8))"),
    ] {
        let found = notation::eval_str(expression).unwrap().to_string();
        assert_eq!(found, expected, "{expression}");
    }
}

/// The copies of a layout may lie between each other's elements.
#[test]
fn copies_may_interleave_where_no_two_meet() {
    let product = "tiled_product((1,(8)):(7,(16)), (2,4):(5,12))";
    let found = notation::eval_str(product).unwrap().to_string();
    assert_eq!(found, "((1,(8)),2,(2,2)):((7,(16)),5,(12,128))");
    // Two elements would be at 5.
    assert!(notation::eval_str("logical_product((12,2):(59,5), (2,3):(3,1))").is_err());
}
