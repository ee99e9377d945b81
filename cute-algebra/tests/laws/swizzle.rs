//! Swizzles and swizzled layouts.

use crate::acceptance::accepted;
use crate::operands::{
    bijection, extent, integer, layout, padded_layout, positive_layout, swizzle, tile,
};
use crate::support::{at, is_left_inverse, is_right_inverse};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_swizzle_is_its_own_inverse(sw in swizzle(), index in 0..100_000i64) {
        prop_assert_eq!(sw.apply(sw.apply(index)), index);
        let expected = (0..sw.bits()).fold(index, |x, bit| {
            let source = sw.base() as i32 + bit as i32 + sw.shift().max(0);
            x ^ (index >> source & 1) << (source - sw.shift())
        });
        prop_assert_eq!(sw.apply(index), expected);
    }

    #[test]
    fn swizzles_compose(a in swizzle(), b in swizzle()) {
        if let Some(product) = accepted!(20 of 100, a.after(b)) {
            prop_assert!((0..4096).all(|x| product.apply(x) == a.apply(b.apply(x))));
        }
        prop_assert_eq!(a.after(a).unwrap().is_identity(), true);
        // In the notation, what is no swizzle is a map of bits.
        let product = notation::eval_str(&format!("{a} o {b}")).unwrap();
        let value = |x: i64| match &product {
            Value::Swizzle(product) => Some(product.apply(x)),
            product => at(product, x),
        };
        prop_assert!((0..4096).all(|x| value(x) == Some(a.apply(b.apply(x)))), "{a} o {b} is {product}");
        for name in ["left_inverse", "right_inverse"] {
            prop_assert_eq!(notation::eval_str(&format!("{name}({a})")).unwrap(), Value::Swizzle(a));
        }
    }

    #[test]
    fn a_swizzle_stays_outside(sw in swizzle(), a in tile(), b in tile(), offset in 0..64i64) {
        let composed = ComposedLayout::new(sw, offset, a.clone()).unwrap();
        if let Some(r) = accepted!(25 of 100, composed.composition(&b.clone().into())) {
            prop_assert!((0..b.size()).all(|c| r.at(c) == composed.at(b.at(c).unwrap())));
        }
        prop_assert!(composed.values().all(|value| value < composed.cosize_bound().unwrap()));
    }

    #[test]
    fn the_cosize_of_a_swizzled_layout_is_exact(
        (bits, base, distance, down) in (0..4u32, 0..4u32, 0..5i32, any::<bool>()),
        modes in prop::collection::vec((extent(), -70..70i64), 1..4),
        offset in -40..200i64,
    ) {
        let shift = (bits as i32 + distance) * if down { 1 } else { -1 };
        let (shape, stride): (Vec<i64>, Vec<i64>) = modes.into_iter().unzip();
        let shape: Shape = shape.into_iter().map(Tuple::Leaf).collect();
        let stride: IntTuple = stride.into_iter().map(Tuple::Leaf).collect();
        let layout = Layout::new(shape, stride.map(|&stride| stride.into())).unwrap();
        let a = ComposedLayout::new(Swizzle::new(bits, base, shift).unwrap(), offset, layout).unwrap();
        let (lowest, highest) = a.values().fold((0, 0), |(low, high), value| (value.min(low), value.max(high)));
        prop_assert_eq!(a.cosize(), Some(highest - lowest + 1), "{}", a);
        prop_assert!(a.cosize() <= a.cosize_bound(), "{a}");
    }
}

/// A product whose copies no map of bits moves as their numbers are moved, and a tile without a rest, are refused with the number in the way.
#[test]
fn refused_swizzled_operands_say_why() {
    for (expression, number) in [
        (
            "logical_product(3:1, Sw<1,0,2> o 8:1)",
            "`8:3`, as Sw<1,0,2> moves their numbers: 3 is not a power of two",
        ),
        (
            "blocked_product(4:3, Sw<1,0,2> o 8:1)",
            "`(3,8):(1,12)`, as Sw<1,0,2> moves their numbers: 3 is not a power of two",
        ),
        (
            "raked_product(4:1, Sw<1,0,2> o (4,2):(-1,8))",
            "-3 is not the number of a copy",
        ),
        (
            "flat_product(Sw<0,0,0> o 4 o 4:1, Sw<1,0,1> o 4:1)",
            "the values of the first operand and the places both have the bit 4",
        ),
        (
            "tiled_product((2,2):(1,4), Sw<2,0,2> o (6,3):(1,5))",
            "sums of the second operand carry",
        ),
        (
            "logical_divide(32:1, Sw<1,0,2> o 1 o 4:1)",
            "`8:4` is the complement without Sw<1,0,2>, but not with it: the tile begins at 1",
        ),
        (
            "flat_divide(12:1, Sw<1,1,-2> o 4:1)",
            "the swizzle moves numbers below 12 to larger ones",
        ),
        (
            "complement(Sw<1,0,-2> o 4:1, 32)",
            "the swizzle reads or changes bits of the rest",
        ),
        (
            "zipped_divide(32:1, Sw<1,0,1> o (2,2):(1,0))",
            "the tile takes each value 2 times",
        ),
        (
            "ragged tiled_divide(10:1, Sw<1,0,1> o 4:1)",
            "a tiler without a swizzle, since the division is ragged",
        ),
        (
            "local_partition(16:1, Sw<1,0,2> o 8:1, 8)",
            "thread 8 has no part",
        ),
        (
            "local_tile(Sw<1,0,2> o (4,8):(8,1), Sw<1,0,1> o 4:1, 1)",
            "the layout divided into these tiles",
        ),
    ] {
        let error = notation::eval_str(expression).unwrap_err().to_string();
        assert!(error.contains(number), "{expression}: {error}");
    }
}

/// The largest value is found without enumerating all values, however many there are.
#[test]
fn the_cosize_of_large_swizzled_layouts_is_exact() {
    for (expression, expected) in [
        ("cosize(Sw<1,0,5> o ((2,32,2)):((1,0,64)))", "66"),
        ("cosize(Sw<3,4,3> o 129:1)", "145"),
        ("cosize(Sw<3,4,3> o 1099511627777:1)", "1099511627777"),
        (
            "cosize(Sw<3,4,3> o (1099511627776,2):(1,1099511627776))",
            "2199023255552",
        ),
        ("cosize(Sw<3,3,3> o (8,1000000):(64,512))", "511999993"),
        ("cosize(Sw<1,0,40> o 1099511627777:1)", "1099511627778"),
    ] {
        let found = notation::eval_str(expression).unwrap().to_string();
        assert_eq!(found, expected, "{expression}");
    }
}

proptest! {
    #[test]
    fn swizzled_left_inverses_of_layouts_with_gaps(sw in swizzle(), modes in prop::collection::vec((0..3u32, 0..3u32, 0..8i64), 1..4), last in 1..7i64) {
        // The extents, and the gaps between modes, are powers of two in any order. The extent with the largest stride is
        // arbitrary.
        let mut ranking: Vec<usize> = (0..modes.len()).collect();
        ranking.sort_by_key(|&i| modes[i].2);
        let (mut strides, mut bits) = (vec![0; modes.len()], 0);
        for i in ranking {
            bits += modes[i].1;
            strides[i] = 1i64 << bits;
            bits += modes[i].0;
        }
        strides.push(1 << bits);
        let shape: Shape = modes.iter().map(|mode| 1i64 << mode.0).chain([last]).map(Tuple::Leaf).collect();
        let stride: IntTuple = strides.into_iter().map(Tuple::Leaf).collect();
        let composed = ComposedLayout::new(sw, 0, Layout::new(shape, &stride).unwrap()).unwrap();
        match accepted!(50 of 100, composed.left_inverse()) {
            Some(l) => prop_assert!(is_left_inverse(&Value::from(&composed), &l.into()), "{composed}"),
            // An error: then no swizzle of the coordinates has the effect of this swizzle of the values.
            None => {
                let a = composed.layout();
                let all = (0..4u32).flat_map(|bits| (0..12u32).map(move |base| (bits, base)));
                let all = all.flat_map(|(bits, base)| (-12..=12).map(move |shift| Swizzle::new(bits, base, shift)));
                let does_the_same = |swizzle: Swizzle| {
                    (0..a.size()).all(|x| a.at(swizzle.apply(x)).is_some_and(|value| Some(value) == composed.at(x)))
                };
                prop_assert!(!all.flatten().any(does_the_same), "{composed}");
            }
        }
    }

    #[test]
    fn swizzled_inverses(sw in swizzle(), a in tile(), b in tile(), other in swizzle()) {
        let composed = ComposedLayout::new(sw, 0, a.clone()).unwrap();
        let value = Value::from(&composed);
        if let Some(r) = accepted!(35 of 100, composed.right_inverse()) {
            prop_assert!(is_right_inverse(&value, &r.into()), "{composed}");
        }
        if let Some(l) = accepted!(35 of 100, composed.left_inverse()) {
            prop_assert!(is_left_inverse(&value, &l.into()), "{composed}");
        }
        let inner = ComposedLayout::new(other, 0, b).unwrap();
        if let Some(r) = accepted!(20 of 100, composed.after(&inner)) {
            let points = inner.values().zip(r.values());
            prop_assert!(points.into_iter().all(|(x, y)| composed.at(x).is_none_or(|value| value == y)), "{composed} after {inner} = {r}");
        }
    }

    #[test]
    fn swizzled_layouts_of_any_size(sw in swizzle(), a in bijection(), b in bijection(), other in swizzle()) {
        let composed = ComposedLayout::new(sw, 0, a).unwrap();
        let value = Value::from(&composed);
        for (name, is_inverse) in [("right_inverse", is_right_inverse as fn(&Value, &Value) -> bool), ("left_inverse", is_left_inverse)] {
            let inverse = notation::eval_str(&format!("{name}({composed})"));
            if let Some(inverse) = accepted!(60 of 100, inverse) {
                prop_assert!(is_inverse(&value, &inverse), "{name} {composed}");
            }
        }
        let inner = ComposedLayout::new(other, 0, b).unwrap();
        let both = notation::eval_str(&format!("composition({composed}, {inner})"));
        if let Some(both) = accepted!(20 of 100, both) {
            for (i, value) in (0..).zip(inner.values()) {
                prop_assert_eq!(at(&both, i), composed.at(value), "{} after {}", composed, inner);
            }
        }
    }

    #[test]
    fn products_repeat_the_layout_underneath(sw in swizzle(), a in tile(), b in bijection(), offset in 0..64i64) {
        let composed = ComposedLayout::new(sw, offset, a.clone()).unwrap();
        for name in ["logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"] {
            let plain = notation::eval_str(&format!("{name}({a}, {b})"));
            let swizzled = notation::eval_str(&format!("{name}({composed}, {b})"));
            match (plain, swizzled) {
                (Ok(plain), Ok(swizzled)) => for i in 0..a.size() * b.size() {
                    let value = at(&plain, i).map(|value| sw.apply(offset + value));
                    prop_assert_eq!(at(&swizzled, i), value, "{} of {} and {}", name, composed, b);
                },
                (plain, swizzled) => prop_assert_eq!(plain.is_ok(), swizzled.is_ok()),
            }
        }
    }

    #[test]
    fn products_repeat_in_the_order_of_a_swizzled_layout(
        a in prop_oneof![2 => tile(), 1 => bijection(), 1 => padded_layout(), 1 => positive_layout()],
        (outer, a_offset) in (swizzle(), prop_oneof![Just(0), 0..64i64]),
        b in prop_oneof![2 => tile(), 1 => bijection(), 1 => layout()],
        (inner, b_offset) in (swizzle(), prop_oneof![2 => Just(0), 1 => 0..64i64]),
    ) {
        let (size, numbers) = (a.size(), ComposedLayout::new(inner, b_offset, b.clone()).unwrap());
        let block = ComposedLayout::new(outer, a_offset, a.clone()).unwrap();
        // The place of copy number n, from the product with 0 and n.
        let place = |number: i64| {
            let both = notation::eval_str(&format!("logical_product({a}, 2:{number})"));
            both.ok().and_then(|both| at(&both, size))
        };
        let has_places = place(1).is_some();
        // The coordinates of A and B in the order of the product's coordinates.
        let order = |name: &str| {
            let [a, b] = [&a, &b].map(|layout| Layout::left(layout.shape().clone()).unwrap());
            notation::eval_str(&format!("{name}({a}, {b})")).unwrap()
        };
        let evaluated = |name: &str| notation::eval_str(&format!("{name}({block}, {numbers})"));
        let are_bits = [&a, &b].iter().all(|layout| {
            let mut numbers = layout.leaves().flat_map(|(extent, stride)| [*extent, stride.value()]);
            is_injective(layout) == Some(true) && numbers.all(|number| number >= 0 && number & (number - 1) == 0)
        });
        let is_given = accepted!(55 of 100, evaluated("logical_product")).is_some();
        let is_easy = are_bits && has_places && a_offset == 0 && b_offset == 0;
        prop_assert!(is_given || !is_easy, "{block} and {numbers}");
        let places: Vec<Option<i64>> = numbers.values().filter(|_| is_given).map(place).collect();
        for name in ["logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"] {
            let product = evaluated(name);
            prop_assert_eq!(product.is_ok(), is_given, "{} of {} and {}", name, block, numbers);
            let Ok(product) = product else { continue };
            let order = order(name);
            for i in 0..size * b.size() {
                let pair = at(&order, i).unwrap();
                let value = places[(pair / size) as usize].map(|place| outer.apply(a_offset + a.at(pair % size).unwrap() + place));
                prop_assert_eq!(at(&product, i), value, "{} of {} and {} at {}", name, block, numbers, i);
            }
        }
    }

    #[test]
    fn swizzled_tiles_divide(
        a in bijection(),
        outer in swizzle(),
        tile in prop_oneof![3 => tile(), 1 => bijection(), 1 => positive_layout()],
        (inner, times) in (swizzle(), 1..5i64),
    ) {
        let swizzled = ComposedLayout::new(inner, 0, tile.clone()).unwrap();
        let target = tile.size() * times;
        let rest = notation::eval_str(&format!("complement({swizzled}, {target})"));
        let rest = accepted!(25 of 100, rest).map(|rest| (rest, target));
        let least = notation::eval_str(&format!("complement({swizzled})")).ok();
        let least = least.map(|rest| { let size = match &rest { Value::Layout(rest) => rest.size(), _ => 0 } * filter(&tile).size(); (rest, size) });
        for (rest, size) in [rest, least].into_iter().flatten() {
            let Value::Layout(rest) = rest else { panic!("{rest} is no layout") };
            let mut sums: Vec<i64> = swizzled.values().flat_map(|x| rest.values().map(move |y| x + y)).collect();
            sums.sort_unstable();
            // A tile with a stride of 0 has each value several times.
            sums.dedup();
            prop_assert!(sums.into_iter().eq(0..size), "{rest} beside {swizzled}");
            prop_assert!(rest.values().is_sorted());
        }
        // As many elements as the tile divides.
        let a = Layout::concat([tile.clone(), a]).unwrap();
        let a = ComposedLayout::new(outer, 0, Layout::left(a.shape().clone()).unwrap()).unwrap();
        let rest = notation::eval_str(&format!("complement({swizzled}, {})", a.size()));
        let is_given = accepted!(20 of 100, notation::eval_str(&format!("logical_divide({a}, {swizzled})"))).is_some();
        for name in ["logical_divide", "zipped_divide", "tiled_divide", "flat_divide"] {
            let divided = notation::eval_str(&format!("{name}({a}, {swizzled})"));
            prop_assert_eq!(divided.is_ok(), is_given, "{} of {} by {}", name, a, swizzled);
            let Ok(divided) = divided else { continue };
            let rest = rest.as_ref().unwrap();
            for i in 0..a.size() {
                let index = swizzled.at(i % tile.size()).unwrap() + at(rest, i / tile.size()).unwrap();
                prop_assert_eq!(at(&divided, i), a.at(index), "{} of {} by {} at {}", name, a, swizzled, i);
            }
        }
        let number = times % (a.size() / tile.size());
        let local = notation::eval_str(&format!("local_tile({a}, {swizzled}, {number})"));
        if let Ok(Value::List(local)) = local {
            let [local, Value::Int(offset)] = &local[..] else { panic!("no tile and offset") };
            let rest = at(rest.as_ref().unwrap(), number).unwrap();
            for i in 0..tile.size() {
                let value = at(local, i).map(|value| value + offset);
                prop_assert_eq!(value, a.at(swizzled.at(i).unwrap() + rest), "tile {} of {} by {} at {}", number, a, swizzled, i);
            }
        }
    }

    #[test]
    fn swizzled_threads_have_the_parts_of_their_coordinates(threads in tile(), sw in swizzle(), other in swizzle(), times in 1..4i64) {
        let swizzled = ComposedLayout::new(sw, 0, threads.clone()).unwrap();
        let shape = threads.shape().map(|extent| extent * times);
        let a = ComposedLayout::new(other, 0, Layout::left(shape).unwrap()).unwrap();
        let part = |threads: String, thread: i64| notation::eval_str(&format!("local_partition({a}, {threads}, {thread})"));
        for (plain, thread) in threads.values().zip(swizzled.values()) {
            prop_assert_eq!(part(swizzled.to_string(), thread).unwrap(), part(threads.to_string(), plain).unwrap());
        }
        for none in [-1, swizzled.cosize().unwrap()] {
            prop_assert!(part(swizzled.to_string(), none).is_err());
        }
    }

    #[test]
    fn a_swizzled_layout_has_the_shape_and_the_modes_of_its_layout(sw in swizzle(), a in layout(), b in layout(), offset in 0..64i64, index in 0..256i64) {
        let composed = ComposedLayout::new(sw, offset, a.clone()).unwrap();
        let index = index % a.size();
        let both = |call: &dyn Fn(&str) -> String| {
            let [plain, swizzled] = [a.to_string(), composed.to_string()].map(|text| notation::eval_str(&call(&text)).map_err(|error| error.to_string()));
            (plain, swizzled)
        };
        // Only the shape matters.
        for call in [
            &|a: &str| format!("idx2crd({index}, {a})") as String, &|a: &str| format!("crd2crd({index}, {a}, {a})"), &|a: &str| format!("shape({a})"),
            &|a: &str| format!("compatible({a}, {b})"), &|a: &str| format!("congruent({b}, {a})"), &|a: &str| format!("weakly_congruent({a}, {b})"),
            &|a: &str| format!("make_layout_right({a})"), &|a: &str| format!("make_layout_like({a})"), &|a: &str| format!("make_fragment_like({a})"),
            &|a: &str| format!("shape_mod({a}, 1)"), &|a: &str| format!("coalesce(1:0, {a})"), &|a: &str| format!("evenly_divides({a}, 2)"),
        ] as [&dyn Fn(&str) -> String; 12] {
            let (plain, swizzled) = both(call);
            prop_assert_eq!(plain.ok(), swizzled.ok(), "{}", call(&composed.to_string()));
        }
        // Modes are taken under the swizzle.
        for call in [&|a: &str| format!("dice({a}, {})", idx2crd(&Tuple::Leaf(index), composed.layout().shape()).unwrap()), &|a: &str| format!("unzip({a})"), &|a: &str| format!("zip({a})")] as [&dyn Fn(&str) -> String; 3] {
            let (plain, swizzled) = both(call);
            prop_assert_eq!(plain.is_ok(), swizzled.is_ok());
            if let (Ok(Value::Layout(plain)), Ok(swizzled)) = (plain, swizzled) {
                let expected = plain.values().map(|value| Some(sw.apply(offset + value)));
                prop_assert!(expected.eq((0..plain.size()).map(|i| at(&swizzled, i))), "{}", call(&composed.to_string()));
            }
        }
        let [zeros, of_swizzled] = [format!("nullspace({a})"), format!("nullspace({sw} o {a})")].map(|text| notation::eval_str(&text).ok());
        prop_assert_eq!(zeros, of_swizzled);
    }

    #[test]
    fn common_layouts_of_swizzled_layouts_are_common(sw in swizzle(), a in tile(), other in swizzle(), b in tile()) {
        let [a, b] = [(sw, a), (other, b)].map(|(sw, layout)| ComposedLayout::new(sw, 0, layout).unwrap());
        let common = max_common_layout_swizzled(&a, &b).unwrap();
        for (i, coordinate) in (0..).zip(common.values()) {
            prop_assert_eq!((a.at(coordinate), b.at(coordinate)), (Some(i), Some(i)), "{} of {} and {}", common, a, b);
        }
        prop_assert_eq!(max_common_vector_swizzled(&a, &b).unwrap(), common.size());
    }

    #[test]
    fn aligned_elements_of_swizzled_layouts_are_together(sw in swizzle(), a in tile(), offset in 0..64i64) {
        let composed = ComposedLayout::new(sw, offset, a).unwrap();
        let count = max_alignment_swizzled(&composed).unwrap();
        let values: std::collections::BTreeSet<i64> = composed.values().collect();
        // Each block of so many elements is there as a whole, or not at all.
        for value in &values {
            let first = value / count * count;
            prop_assert!((first..first + count).all(|it| values.contains(&it)), "{count} of {composed}");
        }
    }

    #[test]
    fn a_swizzle_decays_exactly_if_its_bits_are_apart(sw in swizzle(), a in tile()) {
        let composed = ComposedLayout::new(sw, 0, a.clone()).unwrap();
        let decayed = composed.decay();
        if let Some(plain) = &decayed {
            prop_assert!(plain.values().eq(composed.values()));
        }
        let support = a.values().fold(0, |bits, value| bits | value);
        let mut pairs = (0..sw.bits()).map(|bit| sw.base() as i32 + bit as i32 + sw.shift().max(0));
        let hit = pairs.any(|source| support >> source & 1 == 1 && support >> (source - sw.shift()) & 1 == 1);
        prop_assert_eq!(decayed.is_none(), hit, "{}", composed);
    }

    #[test]
    fn a_swizzled_slice_has_the_values(sw in swizzle(), a in tile(), at in any::<prop::sample::Index>(), mask in any::<u8>()) {
        let composed = ComposedLayout::new(sw, 0, a.clone()).unwrap();
        let point = idx2crd(&Tuple::Leaf(at.index(a.size() as usize) as i64), a.shape()).unwrap();
        let mut bit = 0;
        let coord: Coord = point.map(|&index| {
            bit += 1;
            (mask >> bit & 1 == 0).then_some(index)
        });
        let (plain, offset) = slice_and_offset(&a, &coord).unwrap();
        let expected: Vec<i64> = plain.values().map(|value| sw.apply(value + integer(&offset))).collect();
        let found: Vec<i64> = match composed.slice_and_offset(&coord).unwrap() {
            (Slice::Layout(layout), base) => layout.values().map(|value| value + base).collect(),
            (Slice::Composed(sliced), base) => sliced.values().map(|value| value + base).collect(),
        };
        prop_assert_eq!(found, expected);
    }
}
