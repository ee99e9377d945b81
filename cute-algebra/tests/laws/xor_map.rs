//! Maps of bits.

use crate::analysis::properties;
use crate::operands::{layout, swizzle, tile};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn maps_of_bits_have_the_values_of_swizzled_layouts(sw in swizzle(), a in layout(), offset in 0..20i64) {
        let composed = ComposedLayout::new(sw, offset, a).unwrap();
        let values: Vec<i64> = composed.values().collect();
        match XorMap::from_composed(&composed) {
            Some(map) => {
                prop_assert!(map.values().eq(values.iter().copied()), "{composed} is not {map}");
                let first = values[0];
                let steps: Vec<i64> = values.iter().map(|value| value - first).collect();
                let plain = map.to_layout();
                if let Some(plain) = &plain {
                    prop_assert!(plain.values().eq(steps.iter().copied()), "{composed}: {plain}");
                    prop_assert!(compatible(composed.layout().shape(), plain.shape()));
                }
                // Each mode is converted by itself, so that the layout refines the shape.
                prop_assert_eq!(plain.is_some(), composed.decay().is_some(), "{}", composed);
                if composed.injective() == Verdict::Yes {
                    prop_assert!((0..).zip(&values).all(|(i, value)| map.coordinate_of(*value) == Some(i)));
                }
            }
            None => {
                let negative = values.iter().any(|value| *value < 0);
                prop_assert!(negative || !is_linear(composed.layout().shape(), &values), "{composed}");
            }
        }
    }

    #[test]
    fn maps_of_bits_compose_and_invert(a in tile(), b in tile(), sw in swizzle(), other in swizzle(), c in layout()) {
        let [f, g] = [(sw, a), (other, b)].map(|(sw, layout)| {
            XorMap::from_composed(&ComposedLayout::new(sw, 0, layout).unwrap()).expect("powers of two")
        });
        for map in [&f, &g] {
            match map.inverse() {
                Some(inverse) => {
                    prop_assert!(map.values().all(|value| inverse.at(value).is_some()));
                    prop_assert!((0..map.size()).all(|i| inverse.at(map.at(i).unwrap()) == Some(i)));
                    prop_assert_eq!(inverse.after(map).unwrap().to_swizzle(), Some(Swizzle::IDENTITY));
                }
                None => prop_assert!(map.values().any(|value| value >= map.size())),
            }
        }
        let inside = g.values().all(|value| value < f.size());
        let product = f.after(&g);
        prop_assert_eq!(product.is_some(), inside);
        if let Some(product) = product {
            prop_assert!((0..g.size()).all(|i| product.at(i) == f.at(g.at(i).unwrap())));
        }
        if let Some(c) = XorMap::from_layout(&c)
            && let Some(product) = f.after(&c)
        {
            prop_assert!((0..c.size()).all(|i| product.at(i) == f.at(c.at(i).unwrap())));
        }
    }

    #[test]
    fn a_map_of_bits_that_is_a_swizzle_is_found(sw in swizzle(), columns in prop::collection::vec(0..16u64, 4)) {
        prop_assert_eq!(XorMap::from_swizzle(sw, 12).to_swizzle(), Some(sw).filter(|sw| !sw.is_identity()).or(Some(Swizzle::IDENTITY)));
        let map = XorMap::new(columns).unwrap();
        let found = map.to_swizzle();
        if let Some(found) = found {
            prop_assert!((0..16).all(|x| map.at(x) == Some(found.apply(x))));
        }
        let bijective = properties(&map.values().collect::<Vec<_>>())[1];
        prop_assert_eq!(map.inverse().is_some(), bijective);
        prop_assert_eq!(map.rank() == 4, bijective);
    }

    #[test]
    fn a_map_of_bits_equals_what_has_its_values(sw in swizzle(), a in tile(), columns in prop::collection::vec(0..8u64, 0..4), constant in 0..2u64) {
        let map = XorMap::new(columns).unwrap().with_constant(constant);
        let layout = ComposedLayout::new(sw, 0, a).unwrap();
        let (shown, values) = (map.to_string(), |map: &XorMap| map.values().collect::<Vec<_>>());
        // The same bits as digits of another shape.
        let places = layout.layout().shape();
        let other = format!("{shown} o {places}");
        let as_map = XorMap::from_composed(&layout).unwrap();
        for (a, b, expected) in [
            (shown.clone(), layout.to_string(), values(&map) == values(&as_map)),
            (Value::<i64>::XorMap(as_map.clone()).to_string(), layout.to_string(), true),
            (other, shown.clone(), layout.size() == map.size()),
        ] {
            if notation::eval_str(&a).is_ok_and(|a| matches!(a, Value::XorMap(_))) {
                prop_assert_eq!(notation::eval_str(&format!("equal({a}, {b})")).unwrap(), Value::Bool(expected), "{} and {}", a, b);
                prop_assert_eq!(notation::eval_str(&format!("equal({b}, {a})")).unwrap(), Value::Bool(expected), "{} and {}", b, a);
            }
        }
    }

    #[test]
    fn a_map_of_bits_reads_back(columns in prop::collection::vec(0..64u64, 0..6), constant in 0..64u64) {
        let map = XorMap::new(columns).unwrap();
        // The text of a map, which may be a layout, a swizzle or a map of bits, evaluates to the same value.
        let shown = Value::<i64>::XorMap(map.clone().with_constant(constant)).to_string();
        let read = notation::eval_str(&shown).unwrap();
        prop_assert_eq!(notation::eval_str(&read.to_string()).unwrap(), read.clone());
        for x in 0..map.size().min(64) {
            let at = operations::find("crd2idx").unwrap();
            let expected = Value::Int(map.at(x).unwrap() ^ constant as i64);
            let found = match &read {
                Value::Swizzle(swizzle) => Value::Int(swizzle.apply(x)),
                read => operations::apply(at, &[x.into(), read.clone()], false).unwrap(),
            };
            prop_assert_eq!(found, expected);
        }
    }
}

/// Whether each value is the exclusive or of one number for each bit of each digit of its coordinate.
fn is_linear(shape: &Shape, values: &[i64]) -> bool {
    let digits = |index: i64| {
        idx2crd(&Tuple::Leaf(index), shape)
            .unwrap()
            .leaves()
            .copied()
            .collect::<Vec<_>>()
    };
    let mut columns = std::collections::HashMap::new();
    for (index, value) in (0..).zip(values) {
        let digits = digits(index);
        let set: Vec<(usize, u32)> = (0..digits.len())
            .flat_map(|digit| (0..16).map(move |bit| (digit, bit)))
            .filter(|&(digit, bit)| digits[digit] >> bit & 1 == 1)
            .collect();
        if let [only] = set[..] {
            columns.insert(only, value ^ values[0]);
        }
    }
    (0..).zip(values).all(|(index, value)| {
        let digits = digits(index);
        let sum = columns
            .iter()
            .fold(values[0], |sum, (&(digit, bit), column)| {
                if digits[digit] >> bit & 1 == 1 {
                    sum ^ column
                } else {
                    sum
                }
            });
        sum == *value
    })
}
