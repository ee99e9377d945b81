//! Every operation is compared with its definition, by brute force over small random operands. A result must have the
//! values that the operation promises; and where the operation is an error, no layout may have these values.

#[path = "support/acceptance.rs"]
mod acceptance;
mod support;

use acceptance::accepted;
use cute_algebra::*;
use proptest::prelude::*;
use support::*;

// ---------------------------------------------------------------------------------------------------- operands

fn extent() -> impl Strategy<Value = i64> + Clone {
    prop_oneof![
        Just(1),
        Just(2),
        Just(2),
        Just(3),
        Just(4),
        Just(4),
        Just(5),
        Just(6),
        Just(8)
    ]
}

fn shape(most_leaves: usize) -> impl Strategy<Value = Shape> {
    let leaf = extent().prop_map(Tuple::Leaf);
    let mode = prop_oneof![3 => leaf.clone(), 1 => prop::collection::vec(leaf.clone(), 1..3).prop_map(Tuple::Node)];
    prop_oneof![
        1 => leaf,
        4 => prop::collection::vec(mode, 1..=most_leaves).prop_map(Tuple::Node),
    ]
    .prop_filter("small", |shape: &Shape| {
        shape.product().is_some_and(|size| size <= 256)
    })
}

/// A layout of this shape. Its strides are compact in some order, compact with gaps, or random.
fn layout_of(shape: Shape) -> impl Strategy<Value = Layout> {
    let leaves = shape.leaf_count();
    let order = prop::collection::vec(0..4i64, leaves);
    let gaps = prop::collection::vec(
        prop_oneof![6 => Just(1i64), 1 => Just(2), 1 => Just(3), 1 => Just(0)],
        leaves,
    );
    let wild = prop::collection::vec(prop_oneof![8 => 0..20i64, 1 => -6..0i64], leaves);
    (Just(shape), order, gaps, wild, 0..4u8).prop_map(|(shape, order, gaps, wild, kind)| {
        let mut strides = wild;
        if kind > 0 {
            let extents: Vec<_> = shape.leaves().copied().collect();
            let mut ranking: Vec<_> = (0..extents.len()).collect();
            ranking.sort_by_key(|&i| order[i]);
            let mut next = 1;
            for i in ranking {
                strides[i] = next * if kind == 1 { gaps[i] } else { 1 };
                next = (next * extents[i]).max(strides[i] * extents[i]);
            }
        }
        let mut strides = strides.into_iter();
        let stride: IntTuple = shape.map(|_| strides.next().expect("one for each leaf"));
        Layout::new(shape, &stride).expect("small")
    })
}

fn layout() -> impl Strategy<Value = Layout> {
    shape(4).prop_flat_map(layout_of)
}

/// A layout that is compact in some order of its modes, but for padding of any width after each mode.
fn padded_layout() -> impl Strategy<Value = Layout> {
    let modes = (extent(), 0..4i64, prop_oneof![Just(0i64), Just(1), 1..9i64]);
    prop::collection::vec(modes, 1..4).prop_map(|modes| {
        let mut ranking: Vec<usize> = (0..modes.len()).collect();
        ranking.sort_by_key(|&i| modes[i].1);
        let (mut strides, mut next) = (vec![0; modes.len()], 1);
        for i in ranking {
            strides[i] = next;
            next = next * modes[i].0 + modes[i].2;
        }
        let shape: Shape = modes.iter().map(|mode| Tuple::Leaf(mode.0)).collect();
        let stride: IntTuple = strides.into_iter().map(Tuple::Leaf).collect();
        Layout::new(shape, &stride).expect("small")
    })
}

fn positive_layout() -> impl Strategy<Value = Layout> {
    layout().prop_filter("no negative strides", |a| {
        a.stride().leaves().all(|stride| stride.value() >= 0)
    })
}

fn swizzle() -> impl Strategy<Value = Swizzle> + Clone {
    (0..4u32, 0..4u32, 0..3i32, any::<bool>()).prop_map(|(bits, base, more, negative)| {
        let shift = bits as i32 + more;
        Swizzle::new(bits, base, if negative { -shift } else { shift }).expect("apart and small")
    })
}

/// A layout whose extents and strides are powers of two, in any order. Swizzles are applied to such layouts.
fn tile() -> impl Strategy<Value = Layout> {
    prop::collection::vec((0..4u32, 0..8i64), 1..4).prop_map(|modes| {
        let shape: Shape = modes
            .iter()
            .map(|&(bits, _)| Tuple::Leaf(1i64 << bits))
            .collect();
        let order: IntTuple = modes.iter().map(|&(_, key)| Tuple::Leaf(key)).collect();
        make_ordered_layout(&shape, &order).expect("small")
    })
}

fn extended(a: &Layout, index: i64) -> IntTuple {
    a.crd2idx(&Coord::Leaf(Some(index))).expect("small")
}

fn integer(value: &IntTuple) -> i64 {
    match value {
        Tuple::Leaf(value) => *value,
        Tuple::Node(_) => panic!("{value} is not an integer"),
    }
}

// ------------------------------------------------------------------------------------- layouts and coordinates

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

// ---------------------------------------------------------------------------------------------- normal form

/// All ways to write `size` as a product of factors above 1.
fn factorisations(size: i64) -> Vec<Vec<i64>> {
    if size == 1 {
        return vec![vec![]];
    }
    let divisors = (2..=size).filter(|divisor| size % divisor == 0);
    divisors
        .flat_map(|first| {
            factorisations(size / first)
                .into_iter()
                .map(move |rest| [vec![first], rest].concat())
        })
        .collect()
}

/// Whether some layout has these values. All factorisations of the size are tried as shapes; the strides are then the
/// values at the products of the leading extents.
fn is_a_layout(values: &[i64]) -> bool {
    factorisations(values.len() as i64)
        .into_iter()
        .any(|extents| {
            let mut weight = 1;
            let strides: Vec<i64> = extents
                .iter()
                .map(|extent| (values[weight], weight *= *extent as usize).0)
                .collect();
            let shape: Shape = extents.into_iter().map(Tuple::Leaf).collect();
            let stride: IntTuple = strides.into_iter().map(Tuple::Leaf).collect();
            Layout::new(shape, &stride).is_ok_and(|a| a.values().eq(values.iter().copied()))
        })
}

proptest! {
    #[test]
    fn coalesced_layouts_are_equal_exactly_if_the_functions_are(a in layout()) {
        let coalesced = coalesce(&a);
        prop_assert!(same_function(&a, &coalesced));
        prop_assert!(coalesced.depth() <= 1);
        prop_assert_eq!(coalesce(&coalesced), coalesced.clone());
        // The values alone determine the coalesced layout.
        prop_assert_eq!(from_table(&a.values().collect::<Vec<_>>()).unwrap(), coalesced);
    }

    #[test]
    fn coalescing_by_profile_coalesces_each_mode(a in layout()) {
        let profile: Shape = a.modes().iter().map(|_| Tuple::Leaf(1)).collect();
        let by_mode = coalesce_by(&a, &profile).unwrap();
        prop_assert!(by_mode.modes().iter().zip(a.modes()).all(|(ours, mode)| *ours == coalesce(&mode)));
    }

    #[test]
    fn a_table_is_recovered_exactly_if_it_is_a_layout(
        a in layout().prop_filter("small", |a| a.size() <= 48),
        change in prop::option::of((any::<prop::sample::Index>(), -3..4i64)),
    ) {
        let mut values: Vec<_> = a.values().collect();
        if let Some((index, delta)) = change {
            values[index.index(a.size() as usize)] += delta;
        }
        match from_table(&values) {
            Ok(found) => prop_assert!(found.values().eq(values)),
            Err(error) => prop_assert!(!is_a_layout(&values), "{error}"),
        }
    }

    #[test]
    fn a_table_begins_a_layout_exactly_if_one_goes_on_from_it(
        a in layout().prop_filter("small", |a| a.size() <= 48),
        change in prop::option::of((any::<prop::sample::Index>(), -3..4i64)),
        end in any::<prop::sample::Index>(),
    ) {
        let mut values: Vec<_> = a.values().collect();
        values.truncate(1 + end.index(values.len()));
        let whole = change.is_none();
        if let Some((index, delta)) = change {
            let index = index.index(values.len());
            values[index] += delta;
        }
        // In a layout that begins with the values, a mode ends wherever the values stop growing by equal steps.
        let begins = |found: &Layout| found.values().zip(&values).all(|(found, &value)| found == value);
        match accepted!(40 of 100, ragged::from_table(&values)) {
            Some(found) => {
                prop_assert!(begins(&found) && found.size() >= values.len() as i64);
                prop_assert_eq!(coalesce(&found), found);
            }
            None => prop_assert!(!whole && !is_a_layout(&values), "{values:?}"),
        }
    }

    #[test]
    fn sorting_keeps_the_values(a in layout()) {
        let sorted = sort(&a).unwrap();
        prop_assert!(is_permutation(&a, &sorted));
        prop_assert_eq!(sorted.shape().leaf_count(), a.shape().leaf_count());
        prop_assert!(sorted.flat_modes().windows(2).all(|pair| pair[0].1.value() <= pair[1].1.value()));
    }

    #[test]
    fn equal_layouts_have_equal_values(a in layout(), b in layout(), i in any::<prop::sample::Index>()) {
        prop_assert!(equal(&a, &coalesce(&a)) && equal(&flatten(&a), &a));
        prop_assert_eq!(equal(&a, &b), a.values().eq(b.values()));
        let mode = i.index(a.shape().leaf_count());
        let changed = a.flat_modes().into_iter().enumerate().map(|(i, (extent, stride))| {
            let stride = stride.value() + i64::from(i == mode);
            Layout::new(extent, stride).unwrap()
        });
        let changed = Layout::concat(changed).unwrap();
        prop_assert_eq!(equal(&a, &changed), a.values().eq(changed.values()));
    }

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

    #[test]
    fn filtering_keeps_the_values(a in layout()) {
        let distinct = |a: &Layout| a.values().collect::<std::collections::BTreeSet<_>>();
        prop_assert_eq!(distinct(&filter(&a)), distinct(&a));
        prop_assert_eq!(distinct(&filter_zeros(&a)), distinct(&a));
        prop_assert!(congruent(filter_zeros(&a).shape(), a.shape()));
    }
}

// ---------------------------------------------------------------------------------------------- composition

/// Whether some layout whose shape refines B's has the values A(B(c)). This holds if the values along each leaf of B
/// alone are those of a layout, and the values of the whole are sums of these.
fn has_composite(a: &Layout, b: &Layout) -> bool {
    let value = |index| integer(&extended(a, index));
    let tables: Vec<Vec<i64>> = b
        .flat_modes()
        .iter()
        .map(|(extent, stride)| (0..*extent).map(|x| value(x * stride.value())).collect())
        .collect();
    let separable = (0..b.size()).all(|c| {
        let mut rest = c as usize;
        let sum: i64 = tables
            .iter()
            .map(|table| (table[rest % table.len()], rest /= table.len()).0)
            .sum();
        sum == value(b.at(c).unwrap())
    });
    separable && tables.iter().all(|table| is_a_layout(table))
}

/// B, in which the leaf at `path` is replaced by the mode `extent:stride`.
fn with_mode(b: &Layout, path: &[usize], extent: i64, stride: i64) -> Layout {
    match path.split_first() {
        None => Layout::new(extent, stride).expect("small"),
        Some((&index, path)) => {
            let mut modes = b.modes();
            modes[index] = with_mode(&modes[index], path, extent, stride);
            Layout::concat(modes).expect("small")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn composition_is_exact(a in layout(), b in positive_layout()) {
        let inside = b.values().all(|index| index < a.size());
        match composition(&a, &b) {
            Ok(r) => prop_assert!(inside && is_composition(&a, &b.clone().into(), &r), "{a} o {b} = {r}"),
            Err(error) if error.kind().is_overhang() => prop_assert!(!inside, "{error}"),
            Err(error) => {
                if let ErrorKind::Drift { nearest, .. } | ErrorKind::Split { nearest, .. } | ErrorKind::Carry { nearest, .. } = error.kind() {
                    for &(extent, stride) in nearest {
                        let advised = with_mode(&b, &error.place().path.0, extent, stride);
                        prop_assert!(composition(&a, &advised).is_ok(), "{error}");
                    }
                }
                prop_assert!(!has_composite(&a, &b), "{error}");
                if let ErrorKind::Drift { witness, .. } | ErrorKind::Split { witness, .. } | ErrorKind::Carry { witness, .. } = error.kind() {
                    let witness = witness.as_ref().expect("small operands are tried point by point");
                    prop_assert_eq!(integer(&extended(&a, b.at(witness.index).unwrap())), witness.value);
                    prop_assert_ne!(witness.value, witness.expected);
                }
            }
        }
    }

    #[test]
    fn ragged_composition_goes_on(a in layout(), b in layout()) {
        let tiler = Tiler::from(b.clone());
        if let Some(r) = accepted!(40 of 100, ragged::composition(&a, &tiler)) {
            prop_assert!(is_composition(&a, &tiler, &r), "{a} o {b} = {r}");
        }
    }

    #[test]
    fn below_0_there_is_one_meaning(a in layout(), stride in -20..0i64, extent in 2..6i64) {
        let b = Layout::new(extent, stride).unwrap();
        let error = composition(&a, &b).unwrap_err();
        let value = |index: i64| a.crd2idx(&Coord::Leaf(Some(index))).ok();
        match accepted!(25 of 100, ragged::composition(&a, &b.clone().into())) {
            Some(r) => {
                prop_assert!(error.kind().is_overhang(), "{error}");
                prop_assert!((0..extent).all(|i| value(b.at(i).unwrap()) == r.at(i).map(Tuple::Leaf)), "{a} o {b} = {r}");
            }
            // There is no value at this coordinate: a 1-D coordinate of several leaves has no digits there.
            None => {
                prop_assert!(!error.kind().is_overhang(), "{error}");
                let digits = idx2crd(&Tuple::Leaf(stride), &flatten(&a).shape().clone());
                prop_assert!(digits.is_err(), "{a}");
                prop_assert_eq!(value(stride), None);
            }
        }
        prop_assert_eq!(a.at(stride), None);
    }

    #[test]
    fn coordinates_compose_mode_by_mode(a in layout(), keys in prop::collection::vec(0..4i64, 8)) {
        // A composed with a permutation of its modes is A with its modes permuted.
        let mut ranking: Vec<usize> = (0..a.rank()).collect();
        ranking.sort_by_key(|&i| keys[i]);
        let identity = Layout::identity(a.shape().clone()).unwrap();
        let pick = |a: &Layout| Layout::concat(ranking.iter().map(|&i| a.mode(i).unwrap())).unwrap();
        let permuted = composition(&a, &pick(&identity)).unwrap();
        prop_assert_eq!(table(&permuted), table(&pick(&a)));
        // A layout composed with the identity is the same function.
        prop_assert!(same_function(&composition(&a, &identity).unwrap(), &a));
    }

    #[test]
    fn layouts_into_coordinate_spaces_compose(shape in shape(4), b in layout()) {
        let identity = Layout::identity(shape).unwrap();
        if let Some(r) = accepted!(15 of 100, composition(&identity, &b)) {
            prop_assert!(is_composition(&identity, &b.clone().into(), &r), "{identity} o {b} = {r}");
        }
    }

    #[test]
    fn layouts_compose_along_coordinates(
        a in layout(),
        modes in prop::collection::vec((extent(), 1..6i64, any::<prop::sample::Index>()), 1..4),
    ) {
        let shape: Shape = modes.iter().map(|&(extent, _, _)| Tuple::Leaf(extent)).collect();
        let basis = |value, along: &prop::sample::Index| ScaledBasis::new(value, [along.index(a.rank())]).unwrap();
        let stride: Stride = modes.iter().map(|(_, value, along)| Tuple::Leaf(basis(*value, along))).collect();
        let b = Layout::new(shape, stride).unwrap();
        let inside = table(&b).iter().all(|coord| {
            canonical(coord).modes().iter().zip(a.modes()).all(|(index, mode)| integer(index) < mode.size())
        });
        match composition(&a, &b) {
            Ok(r) => prop_assert!(inside && is_composition(&a, &b.clone().into(), &r), "{a} o {b} = {r}"),
            Err(error) => prop_assert!(!error.kind().is_overhang() || !inside, "{error}"),
        }
    }

    #[test]
    fn composition_by_mode_is_composition_of_modes(a in layout(), tile in extent()) {
        let tiler = Tiler::Modes(vec![Layout::new(tile, 1).unwrap().into()]);
        if let Some(r) = accepted!(30 of 100, composition_by(&a, &tiler)) {
            prop_assert!(is_composition(&a, &tiler, &r));
        }
    }
}

// --------------------------------------------------------------------------------- complement and inverses

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

/// Whether there is a complement. Its values are determined: each is the smallest value that is not covered yet.
fn has_complement(a: &Layout, target: i64) -> bool {
    let a: Vec<i64> = filter(a).values().collect();
    let mut covered = vec![false; target as usize];
    let mut starts = Vec::new();
    while let Some(start) = covered.iter().position(|&covered| !covered) {
        starts.push(start as i64);
        for value in &a {
            match covered.get_mut(start + *value as usize) {
                Some(covered) if !*covered => *covered = true,
                _ => return false,
            }
        }
    }
    is_a_layout(&starts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn complement_is_exact(a in positive_layout(), multiple in 1..5i64, rest in prop_oneof![4 => Just(0i64), 1 => 1..5i64]) {
        let target = (multiple * (a.cosize() + 3) / 4 * 4 + rest).min(512);
        match complement(&a, target) {
            Ok(c) => prop_assert!(is_complement(&a, Some(target), &c), "{a} in {target}: {c}"),
            Err(error) => prop_assert!(!has_complement(&a, target), "{error}"),
        }
        if let Some(c) = accepted!(50 of 100, complement_within(&a)) {
            prop_assert!(is_complement(&a, None, &c), "{a}: {c}");
        }
        if let Some(c) = accepted!(50 of 100, ragged::complement(&a, target)) {
            let next = filter(&a).size() * c.size();
            prop_assert!(next >= target && is_complement(&a, Some(next), &c), "{a} in {target}: {c}");
        }
    }

    #[test]
    fn right_inverse_is_the_longest(a in prop_oneof![layout(), any_strides(-12)]) {
        let r = right_inverse(&a).unwrap();
        prop_assert!(is_right_inverse(&a.clone().into(), &r.clone().into()), "{a}: {r}");
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

// --------------------------------------------------------------------------------------- divide and product

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

/// A ranked product may combine a nested mode with a flat one.
#[test]
fn ranked_products_take_modes_of_any_depth() {
    for (expression, expected) in [
        (
            "blocked_product(4:1, ((1,7)):((7,1)))",
            "((4,(1,7))):((1,(0,4)))",
        ),
        ("blocked_product((4):(1), 3:2)", "((4,3)):((1,8))"),
        (
            "raked_product(((4,2)):((2,1)), 32:1)",
            "((32,(4,2))):((8,(2,1)))",
        ),
        ("raked_product(2:3, (3):(1))", "((3,2)):((1,3))"),
    ] {
        let found = notation::eval_str(expression).unwrap().to_string();
        assert_eq!(found, expected, "{expression}");
    }
}

// ----------------------------------------------------------------------------------- regrouping and slicing

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

// ------------------------------------------------------------------------------------- swizzles and recasts

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

    #[test]
    fn recasts_regroup_elements(a in positive_layout(), factor in prop_oneof![Just(1i64), Just(2), Just(3), Just(4), Just(8)]) {
        if let Some(r) = accepted!(15 of 100, upcast(&a, factor)) {
            prop_assert!(is_upcast(&a, factor, &r), "{a} by {factor}: {r}");
        }
        if let Some(r) = accepted!(35 of 100, downcast(&a, factor)) {
            prop_assert!(is_upcast(&r, factor, &a), "{a} by {factor}: {r}");
            prop_assert!(same_function(&upcast(&r, factor).unwrap(), &a) || !support::is_injective(&a));
        }
    }

    #[test]
    fn swizzled_recasts_regroup_elements(sw in swizzle(), a in tile(), log2 in 0..4u32) {
        let factor = 1i64 << log2;
        let composed = ComposedLayout::new(sw, 0, a).unwrap();
        if let Some(r) = accepted!(35 of 100, composed.upcast(factor)) {
            let mut groups: Vec<i64> = composed.values().map(|value| value / factor).collect();
            groups.sort_unstable();
            groups.dedup();
            let mut values: Vec<i64> = r.values().collect();
            values.sort_unstable();
            prop_assert_eq!(values, groups, "{} by {}: {}", composed, factor, r);
        }
        if let Some(r) = accepted!(50 of 100, composed.downcast(factor)) {
            let mut values: Vec<i64> = r.values().collect();
            let mut parts: Vec<i64> = composed.values().flat_map(|value| (0..factor).map(move |part| value * factor + part)).collect();
            values.sort_unstable();
            parts.sort_unstable();
            prop_assert_eq!(values, parts);
        }
    }
}

// ------------------------------------------------------------------------------------- analyses

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

fn properties(values: &[i64]) -> [bool; 3] {
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
    fn accesses_are_the_bank_conflicts_of_their_lanes(a in tile(), keys in prop::collection::vec(0..8i64, 3), sw in swizzle(), log2 in 3..7u32) {
        let bits = 1i64 << log2;
        let tile = ComposedLayout::new(sw, 0, a.clone()).unwrap();
        // The coordinates of the tile are distributed over threads and values in either order.
        let threads = gcd(a.size(), 32);
        let tv = make_ordered_layout(&[threads, a.size() / threads].into(), &[keys[0], keys[1]].into()).unwrap();
        let access = shared_access(&tile, bits, &tv).unwrap();
        let index = |thread: i64, value: i64| tile.at(tv.at(thread + threads * value).unwrap()).unwrap();
        let mut worst = 0;
        for first in 0..access.accesses {
            let lane = |lane: i64| index(lane.min(threads - 1), first * access.vector) * bits / 8;
            worst = worst.max(bank_conflicts((access.vector * bits / 8) as u32, lane));
            for thread in 0..threads {
                let start = index(thread, first * access.vector);
                prop_assert!(start % access.vector == 0);
                prop_assert!((0..access.vector).all(|i| index(thread, first * access.vector + i) == start + i));
            }
        }
        prop_assert_eq!(access.worst.degree, worst);
        prop_assert_eq!(access.worst.lanes.len(), worst);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn two_patterns_have_a_map_without_conflicts(order in prop::collection::vec(0..100i64, 10), other in prop::collection::vec(0..100i64, 10), log2 in 5..7u32) {
        // A tile of 2^10 words or pairs of words. Its ten bits are distributed over lanes and values in two ways.
        let bits = 1i64 << log2;
        let tile = Layout::new(1024, 1).unwrap();
        let shape: Shape = [[2i64; 5].into(), [2i64; 5].into()].into_iter().collect();
        let pattern = |keys: &[i64]| {
            let keys: IntTuple = keys.chunks(5).map(|keys| keys.iter().copied().map(Tuple::Leaf).collect()).collect();
            make_ordered_layout(&shape, &keys).unwrap()
        };
        let patterns = [pattern(&order), pattern(&other)];
        let plain = ComposedLayout::new(Swizzle::IDENTITY, 0, tile.clone()).unwrap();
        let accesses: Vec<SharedAccess> = patterns.iter().map(|tv| shared_access(&plain, bits, tv).unwrap()).collect();
        let map = conflict_free_map(&tile, bits, &patterns).unwrap();
        if let Some(map) = &map {
            prop_assert!(map.inverse().is_some());
            for (access, tv) in accesses.iter().zip(&patterns) {
                let index = |lane: i64, value: i64| map.at(tv.at(lane + 32 * value).unwrap()).unwrap();
                for first in (0..32).step_by(access.vector as usize) {
                    let bytes = (access.vector * bits / 8) as u32;
                    prop_assert_eq!(bank_conflicts(bytes, |lane| index(lane, first) * bits / 8), 1);
                    prop_assert!((0..32).all(|lane| (0..access.vector).all(|i| index(lane, first + i) == index(lane, first) + i)));
                }
            }
        }
        // A map without conflicts exists unless a vector would have to be split.
        let least = best_swizzle(&tile, bits, &patterns).unwrap().least;
        prop_assert_eq!(map.is_some(), least == [1, 1], "{:?}", patterns);
    }
}

proptest! {
    // Few cases, since each compares hundreds of swizzles.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_best_swizzle_is_the_best(rows in 3..6u32, columns in 3..6u32, log2 in 3..7u32, keys in prop::collection::vec(0..8i64, 4)) {
        let bits = 1i64 << log2;
        let tile = Layout::right([1 << rows, 1 << columns]).unwrap();
        let threads = 32.min(tile.size());
        let pattern = |a: i64, b: i64| make_ordered_layout(&[threads, tile.size() / threads].into(), &[a, b].into()).unwrap();
        let patterns = [pattern(keys[0], keys[1]), pattern(keys[2], keys[3])];
        let degrees = |sw: Swizzle| -> Vec<usize> {
            let tile = ComposedLayout::new(sw, 0, tile.clone()).unwrap();
            patterns.iter().map(|tv| shared_access(&tile, bits, tv).unwrap().worst.degree).collect()
        };
        let vector = |sw: Swizzle| -> Vec<i64> {
            let tile = ComposedLayout::new(sw, 0, tile.clone()).unwrap();
            patterns.iter().map(|tv| shared_access(&tile, bits, tv).unwrap().vector).collect()
        };
        let best = best_swizzle(&tile, bits, &patterns).unwrap();
        prop_assert_eq!(&best.degrees, &degrees(best.swizzle));
        prop_assert_eq!(&best.plain, &degrees(Swizzle::IDENTITY));
        prop_assert!(best.degrees.iter().zip(&best.least).all(|(found, least)| found >= least), "{best:?}");
        // No other swizzle that keeps the vectors whole is better.
        let whole = vector(Swizzle::IDENTITY);
        for count in 0..5u32 {
            for base in 0..6 {
                for shift in -5..=6i32 {
                    let Ok(sw) = Swizzle::new(count, base, shift) else { continue };
                    if vector(sw) == whole {
                        prop_assert!(degrees(sw).iter().max() >= best.degrees.iter().max(), "{tile} of {bits} bits, {patterns:?}: {sw} beats {best:?}");
                    }
                }
            }
        }
    }
}

/// A tile whose rows are 16-bit elements, under one of TMA's swizzles.
fn tma_tile() -> impl Strategy<Value = ComposedLayout> {
    (0..6i64, 0..4u32).prop_map(|(rows, bits)| {
        let sw = Swizzle::new(bits, 3, 3).expect("CuTe's");
        let rows = Layout::right([1 << rows, 8 << bits]).expect("small");
        ComposedLayout::new(sw, 0, rows).expect("small")
    })
}

/// An extent in 16-bit elements. Most are multiples of TMA's unit of 16 bytes.
fn tma_extent() -> impl Strategy<Value = i64> {
    prop_oneof![3 => (1..38i64).prop_map(|units| 8 * units), 1 => 1..300i64]
}

/// A tile of shared memory: two modes with powers of two as extents, compact in either order or with padding.
fn smem_tile() -> impl Strategy<Value = ComposedLayout> {
    let swizzles = prop_oneof![1 => Just(None), 3 => (0..4u32, 0..5u32).prop_map(Some)];
    (
        prop::collection::vec((0..5u32, 0..5u32, 0..8i64), 2),
        swizzles,
        0..3u8,
        0..4i64,
    )
        .prop_map(|(modes, sw, kind, offset)| {
            let shape: Shape = modes
                .iter()
                .map(|&(a, b, _)| Tuple::from([1i64 << a, 1 << b]))
                .collect();
            let order: IntTuple = modes
                .iter()
                .map(|&(_, b, key)| Tuple::from([key, (key + i64::from(b)) % 5]))
                .collect();
            let layout = match kind {
                0 => Layout::right([
                    shape.modes()[0].product().unwrap(),
                    shape.modes()[1].product().unwrap(),
                ])
                .unwrap(),
                _ => make_ordered_layout(&shape, &order).unwrap(),
            };
            let sw = sw.map_or(Swizzle::IDENTITY, |(bits, base)| {
                Swizzle::new(bits, base, 3).unwrap()
            });
            ComposedLayout::new(sw, if kind == 2 { 8 * offset } else { 0 }, layout).unwrap()
        })
}

proptest! {
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

    #[test]
    fn matrices_have_rows_of_16_bytes(tile in smem_tile(), log2 in 3..7u32) {
        let bits = 1u32 << log2;
        let elements = 128 / i64::from(bits);
        let at = |m: i64, k: i64| tile.crd2idx(&[Some(m), Some(k)].into()).unwrap();
        let [m, k] = [0, 1].map(|mode| tile.layout().mode(mode).unwrap().size());
        let rows = |across: i64, along: i64, at: &dyn Fn(i64, i64) -> i64| {
            across % 8 == 0 && along % elements == 0 && (0..across).all(|row| (0..along).step_by(elements as usize).all(|first| {
                let start = at(row, first);
                start % elements == 0 && (0..elements).all(|i| at(row, first + i) == start + i)
            }))
        };
        let (plain, turned) = (rows(m, k, &at), rows(k, m, &|k, m| at(m, k)));
        match matrix_operand(bits, &tile) {
            Ok(operand) => {
                prop_assert_eq!(operand.transposed, !plain);
                prop_assert!(plain || turned && bits == 16);
                let (across, along) = if operand.transposed { (k, m) } else { (m, k) };
                prop_assert_eq!(operand.rows.size(), across * along / elements);
                for (position, start) in (0..).zip(operand.rows.values()) {
                    let (row, chunk) = (position % across, position / across);
                    let expected = if operand.transposed { at(chunk * elements, row) } else { at(row, chunk * elements) };
                    prop_assert_eq!(start, expected);
                }
                let starts: Vec<i64> = operand.rows.values().map(|index| index * i64::from(bits) / 8).collect();
                let degree = starts.chunks(8).map(|rows| bank_conflicts(16, |lane| rows[lane as usize % 8])).max();
                prop_assert_eq!(Some(operand.conflicts), degree);
            }
            // Such refusals are allowed: a swizzle of low bits may keep rows whole by chance, and a tile may be larger
            // than shared memory.
            Err(error) => {
                let is_large = tile.cosize().unwrap() * i64::from(bits) / 8 > 1 << 18;
                let by_chance = 1 << tile.swizzle().base() < elements;
                prop_assert!(!(plain || turned && bits == 16) || by_chance || is_large, "{error}");
            }
        }
    }

    #[test]
    fn tensor_maps_are_plans_in_the_order_of_strides(
        tile in prop_oneof![smem_tile(), tma_tile()],
        (m, k) in (tma_extent(), tma_extent()),
        pad in prop_oneof![3 => Just(0), 1 => 0..9i64],
        row_major in any::<bool>(),
    ) {
        let strides = if row_major { [k + pad, 1] } else { [1, m + pad] };
        let tensor = Layout::new([m, k], strides).unwrap();
        if let Some(map) = accepted!(5 of 100, tensor_map(16, &tile, &tensor)) {
            prop_assert_eq!(&map.plan, &tma_plan(16, &tile, &map.order).unwrap());
            prop_assert_eq!(map.strides[0] % 16, 0);
            for (dimension, &mode) in map.order.iter().enumerate() {
                prop_assert_eq!(map.extents[dimension], [m, k][mode]);
                prop_assert_eq!(map.box_extents[dimension], map.plan.box_shape[mode]);
                if map.extents[dimension] > 1 {
                    let bytes = if dimension == 0 { 2 } else { map.strides[0] };
                    prop_assert_eq!(bytes, 2 * strides[mode]);
                }
            }
        }
    }
}

#[test]
fn analyses_of_what_is_extreme_end() {
    let unit = Layout::unit();
    assert!(best_swizzle(&unit, 0, &[]).is_err());
    assert!(conflict_free_map(&unit, 0, &[]).is_err());
    assert!(conflict_free_map(&unit, 64, &[]).unwrap().is_some());
    let far = Layout::new([2, 2], [1 << 61, 1 << 60]).unwrap();
    let best = best_swizzle(&far, 64, std::slice::from_ref(&Layout::new(4, 1).unwrap())).unwrap();
    assert!(best.degrees[0] >= best.least[0]);
    assert_eq!(conflict_free_map(&far, 64, &[]).unwrap(), None);
    assert_eq!(far.bijective().decided(), Some(false));
    let jump = Layout::new([3, 2], [i64::MAX / 4, -(i64::MAX / 4)]).unwrap();
    assert!(
        jump.index_form()
            .is_some_and(|form| form.at(5) == jump.at(5))
    );
    let tile =
        ComposedLayout::new(Swizzle::IDENTITY, 0, Layout::right([8, 8, 8]).unwrap()).unwrap();
    let tensor = Layout::new([1 << 20, 1 << 32, 1], [1 << 36, 8, 1]);
    assert!(tensor.is_ok_and(|tensor| tensor_map(16, &tile, &tensor).is_err()));
}

#[test]
fn operations_answer_and_refuse() {
    for (text, answer) in [
        ("get((2,(3,4)), 1)", "(3,4)"),
        ("get((2,(3,4)), 1, 0)", "3"),
        ("get(7, 0)", "7"),
        ("get((2,_), 1)", "_"),
        ("get((2,(3,4)):(1,(2,6)), 1)", "(3,4):(2,6)"),
        ("ragged from_table(0,1,10,11,20)", "(2,3):(1,10)"),
        ("shape_div((3,6,2,8), 9)", "(1,2,2,8)"),
        ("shape_mod((3,6,2,8), 9)", "(3,3,1,1)"),
        ("shape_div((10,(4,8)), (4,(2,3)), CEIL)", "(3,(2,3))"),
        ("shape_div((10,(4,8)), 4, FLOOR)", "(2,(1,2))"),
        ("sort((4,(2,3)):(6,(1,2)))", "(2,3,4):(1,2,6)"),
        ("extension((2,5):(1,4), 14)", "(2,7):(1,4)"),
        ("equal((2,(3,4)):(1,(2,6)), 24:1)", "true"),
        ("equal((2,3), (2,4))", "false"),
        (
            "equal(Sw<3,3,3> o (8,64):(64,1), Sw<2,3,3> o (8,64):(64,1))",
            "false",
        ),
        ("equal(Sw<3,4,3> o (8,8), 64:1)", "true"),
        ("is_integral(3)", "true"),
        ("is_integral((3,4):(1@0,1@1))", "false"),
        ("8:1/-2@0", "(2,4):(-1@0,-1@0)"),
        ("is_injective((4,3):(1,2))", "false"),
        ("is_bijective(Sw<3,3,3> o 0 o (8,64):(64,1))", "true"),
        ("is_dense((4,3):(1,2))", "true"),
        ("injective((3,2):(2,3))", "(3,2):(2,3)"),
        ("vector_width(Sw<3,3,3> o 0 o (64,8):(1,64))", "8"),
        ("alignment((4,8):(12,16))", "4"),
        ("index_form((4,(2,3)):(6,(1,2)))", "(x & 3) * 6 + x / 4"),
        ("bank_conflicts((32,32):(32,1), 32, 32:1)", "32"),
        ("bank_conflicts((32,32):(33,1), 32, 32:1, 32:32)", "1"),
        (
            "best_swizzle((32,32):(32,1), 32, 32:32, 32:1)",
            "Sw<5,0,5> o 0 o (32,32):(32,1)",
        ),
        (
            "best_swizzle((64,64):(64,1), 16, (8,8):(1,64), (32,8):(1,64))",
            "Sw<3,3,3> o 0 o (64,64):(64,1)",
        ),
        (
            "conflict_free_map((32,32):(32,1), 32, 32:32, 32:1)",
            "[Sw<5,0,5>,(1,1),(1,32)]",
        ),
        (
            "conflict_free_map((64,64):(64,1), 64, 32:64, 32:1, (8,4):(65,1), (4,8):(128,1))",
            "[xor_map((1,2,4,8,16,32,66,132,264,519,1024,2048)),(1,1,1,1),(1,16,1,1)]",
        ),
        ("xor_map((1,2,4,9))", "Sw<1,0,3>"),
        ("xor_map((4,1,2))", "(2,4):(4,1)"),
        ("left_inverse(xor_map((3,1,4,11)))", "xor_map((2,3,4,9))"),
        (
            "xor_map((3,2,5,11)) o (2,(2,2)):(1,(4,2))",
            "xor_map((3,5,2)) o (2,(2,2)):(1,(2,4))",
        ),
        (
            "xor_map((3,2,5,11), 6) o (3,3):(4,1)",
            "xor_map((5,11,3,2),6) o (3,3):(1,4)",
        ),
        (
            "xor_map((3,2,4)) o (2,(2,2)):(1,(2,4))",
            "Sw<1,0,-1> o 0 o (2,(2,2)):(1,(2,4))",
        ),
        ("crd2idx(13, xor_map((3,2,5,11)))", "13"),
        (
            "bank_conflicts(xor_map((1,2,4,8,16,33,66,132,264,512)) o (32,32):(32,1), 32, 32:32, 32:1)",
            "2",
        ),
        (
            "wgmma_operand(smem_atom(K, SW128, 16), 16)",
            "[K,SW128,16,16,(0,16,32,48)]",
        ),
        (
            "matrix_operand(smem_atom(MN, SW64, 16), 16)",
            "[true,4,Sw<2,3,3> o 0 o (8,1,4):(32,0,8),1]",
        ),
        (
            "tensor_map(smem_tile_to_shape(K, SW128, 16, (128,64)), (4096,1000):(1000,1), 16)",
            "[(1,0),(1000,4096),(2000),(64,128),SW128,1]",
        ),
        (
            "tensor_map(smem_tile_to_shape(K, SW128, 16, (128,64)), ((64,100),1000):((1000,66000),1), 16)",
            "[(1,0,0),(1000,64,100),(2000,132000),(64,64,2),SW128,1]",
        ),
    ] {
        let value = notation::eval_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value.to_string(), answer, "{text}");
    }
    for (text, message) in [
        (
            "injective((4,3):(1,2))",
            "not injective: 2 and 4 both go to 2",
        ),
        ("bijective((4,3):(1,5))", "not bijective: nothing goes to 4"),
        ("bijective((4,3):(-1,4))", "not bijective: 1 goes to -1"),
        ("dense((4,3):(1@0,2@1))", "not dense: nothing goes to (0,1)"),
        (
            "conflict_free((8,32):(32,1), 32, 8:1)",
            "8 words of bank 0 are needed at once, by lanes 0, 1, 2, 3, 4, 5, 6, 7 of warp 0 in access 0, of 1 element each; Sw<3,2,3> has no conflict",
        ),
        (
            "bank_conflicts(64:1, 32, 32:4)",
            "coordinate 64 is outside a tile of 64 elements",
        ),
        ("xor_map((1,-1))", "at most 62 columns"),
        (
            "right_inverse(xor_map((3,3)))",
            "the inverse of a map that is not a bijection is not linear over bits",
        ),
        (
            "xor_map((3,2,5,11)) o 17:1",
            "a map applied to values outside its domain",
        ),
        (
            "xor_map((3,2,5,11)) o (3,3):(1,3)",
            "a layout whose sums carry",
        ),
        (
            "matrix_operand((8,8):(9,1), 16)",
            "1 elements are side by side and aligned",
        ),
        (
            "tensor_map((64,64):(64,1), (100,99):(99,1), 16)",
            "mode 0 of the tensor has a stride of 198 bytes",
        ),
        (
            "wgmma_operand((64,64):(65,1), 16)",
            "wgmma cannot read (64,64):(65,1)",
        ),
    ] {
        let error = notation::eval_str(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

// ------------------------------------------------------------------------------------- maps of bits

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

// -------------------------------------------------------------------------------------------- any operands

fn any_integer() -> impl Strategy<Value = i64> {
    prop_oneof![6 => -3..40i64, 1 => any::<i64>(), 1 => (0..63u32).prop_map(|bits| 1 << bits)]
}

fn any_tuple() -> impl Strategy<Value = IntTuple> {
    any_integer()
        .prop_map(Tuple::Leaf)
        .prop_recursive(3, 12, 4, |inner| {
            prop::collection::vec(inner, 0..4).prop_map(Tuple::Node)
        })
}

fn any_value() -> impl Strategy<Value = Value> {
    let huge =
        (any_tuple(), any_integer(), any_integer()).prop_filter_map("a layout", |(shape, a, b)| {
            let mut next = a;
            let stride: IntTuple = shape.map(|_| (next, next = b).0);
            Layout::new(shape, &stride).ok()
        });
    let any_layout = prop_oneof![3 => layout(), 1 => huge];
    let composed = (swizzle(), any_integer(), any_layout.clone())
        .prop_filter_map("a swizzled layout", |(sw, offset, a)| {
            ComposedLayout::new(sw, offset, a).ok()
        });
    prop_oneof![
        2 => any_integer().prop_map(Value::Int),
        2 => any_tuple().prop_map(Value::from),
        3 => any_layout.clone().prop_map(Value::from),
        1 => composed.prop_map(Value::from),
        1 => swizzle().prop_map(Value::from),
        1 => any_tuple().prop_map(|tuple| Value::from(tuple.map(|&index| (index % 3 != 0).then_some(index)))),
        1 => prop::collection::vec(any_layout, 0..3).prop_map(|modes| {
            Value::from(Tiler::Modes(modes.into_iter().map(Tiler::from).chain([Tiler::Keep]).collect()))
        }),
        1 => prop_oneof!["K", "MN", "INTER", "SW128"].prop_map(Value::Word),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_operand_makes_an_operation_panic(operands in prop::collection::vec(any_value(), 1..4), ragged in any::<bool>()) {
        for operation in operations::OPERATIONS {
            if let Err(error) = operations::apply(operation, &operands, ragged && operation.ragged) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// Names that operations take, and one that no operation takes.
const WORDS: [&str; 13] = [
    "SM80_16x8x16_F32F16F16F32_TN",
    "SM90_64x64x16_F32F16F16_SS",
    "UniversalFMA<float>",
    "SM75_U32x4_LDSM_N",
    "UniversalCopy<u128>",
    "ALayout",
    "CLayout",
    "SrcLayout",
    "ValLayoutDst",
    "layoutA_TV",
    "layoutC_TV",
    "layoutS_TV",
    "none",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_operand_makes_an_atom_panic(
        operands in prop::collection::vec(any_value(), 7),
        small in prop::collection::vec(1..5i64, 9),
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 7),
        ragged in any::<bool>(),
    ) {
        let takes_words = |operation: &&operations::Operation| (0..7).any(|i| operation.takes_word(i));
        for operation in operations::OPERATIONS.iter().filter(takes_words) {
            let count = (*operation.counts.end()).min(7);
            let operand = |i: usize| match &operands[i] {
                _ if operation.takes_word(i) => Value::Word(words[i].into()),
                // Most operands are meaningless. These are small enough to be the shape of a tile.
                Value::Int(value) if value % 2 == 0 => Value::Int(8 * small[i]),
                Value::Tuple(_) => IntTuple::from([small[i], small[i + 1], small[i + 2]]).into(),
                operand => operand.clone(),
            };
            let operands: Vec<Value> = (0..count).map(operand).collect();
            if let Err(error) = operations::apply(operation, &operands, ragged && operation.ragged) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn limits_are_errors() {
    let deep =
        |levels: usize| (0..levels).fold(IntTuple::Leaf(1), |inner, _| Tuple::Node(vec![inner]));
    assert!(Layout::left(deep(MAX_DEPTH)).is_ok());
    for levels in [MAX_DEPTH + 1, 1000] {
        let error = Layout::left(deep(levels)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooDeep { .. }), "{error}");
        assert!(Layout::new(deep(levels), &deep(levels)).is_err());
        assert!(idx2crd(&deep(levels), &4.into()).is_err());
        assert!(Tiler::from_shape(&deep(levels)).is_err());
        assert!(slice(&Layout::unit(), &deep(levels).to_coord()).is_err());
    }
    // The limit holds for results of operations as well.
    let mut layout: Layout = Layout::unit();
    let error = loop {
        match Layout::concat([layout]) {
            Ok(nested) => layout = nested,
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::TooDeep { .. }), "{error}");

    let wide = |leaves: usize| (0..leaves).map(|_| Tuple::Leaf(1)).collect::<IntTuple>();
    assert!(Layout::left(wide(MAX_LEAVES)).is_ok());
    let error = Layout::left(wide(MAX_LEAVES + 1)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooManyLeaves { .. }),
        "{error}"
    );

    for (shape, stride) in [(i64::MAX, 2), (2, i64::MAX), (3, i64::MIN), (1, i64::MIN)] {
        let error = Layout::new(shape, stride).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Overflow { .. }),
            "{error}"
        );
    }
    assert!(matches!(
        Layout::left([i64::MAX, 2]).unwrap_err().kind(),
        ErrorKind::Overflow { quantity: "size" }
    ));
    assert!(matches!(
        Layout::new(0, 1).unwrap_err().kind(),
        ErrorKind::Extent { extent } if extent == "0"
    ));
}
