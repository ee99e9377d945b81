//! Composition.

use crate::acceptance::accepted;
use crate::operands::{
    extended, extent, integer, is_a_layout, layout, padded_layout, positive_layout, shape,
};
use crate::support::{canonical, is_composition, same_function, table};
use cute_algebra::*;
use proptest::prelude::*;

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

/// Whether the numbers of a refusal of A o B, and the mode that it names, show what is wrong.
fn shows_what_is_wrong(a: &Layout, b: &Layout, error: &LayoutError) -> bool {
    let mode = b.get(&error.place().path.0);
    let is_mode = |extent: i64, stride: i64| mode == Layout::new(extent, stride).ok();
    let is_boundary = |boundary: i64| {
        let mut size = 1;
        let mut extents = coalesce(a).flat_modes().into_iter();
        extents.any(|(extent, _)| {
            size *= extent;
            size == boundary
        })
    };
    match error.kind() {
        ErrorKind::Overhang { reach, size, .. } => {
            let lowest = b.values().min().filter(|lowest| *lowest < 0);
            Some(*reach) == lowest.or(b.values().max()) && *size == a.size()
        }
        ErrorKind::Drift {
            extent,
            stride,
            boundary,
            terms,
            ..
        } => {
            // The sum is what the last value of the mode is without whole boundaries.
            let sum: i64 = terms.iter().map(|(steps, rest)| steps * rest).sum();
            let last = (extent - 1) * stride.abs();
            let is_sum = sum >= *boundary && (last - sum) % boundary == 0;
            is_mode(*extent, *stride) && is_boundary(*boundary) && is_sum
        }
        ErrorKind::Split {
            extent,
            stride,
            boundary,
            after,
            ..
        } => {
            // The part before the boundary needs no cut that fails.
            let part = Tiler::from(Layout::new(*after, *stride).unwrap());
            let part = ragged::composition(a, &part);
            let is_part = !part.is_err_and(|error| matches!(error.kind(), ErrorKind::Split { .. }));
            let is_cut = (2..*extent).contains(after) && extent % after != 0 && is_part;
            is_mode(*extent, *stride) && is_boundary(*boundary) && is_cut
        }
        ErrorKind::Carry {
            modes, boundary, ..
        } => {
            let sum: i64 = modes.iter().map(|(_, carry)| carry).sum();
            let carries = sum >= *boundary && modes.iter().all(|(_, carry)| carry < boundary);
            let is_last = modes.last().map(|(path, _)| path) == Some(&error.place().path);
            is_boundary(*boundary) && carries && is_last
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn composition_is_exact(a in layout(), b in positive_layout()) {
        let inside = b.values().all(|index| index < a.size());
        match composition(&a, &b) {
            Ok(r) => prop_assert!(inside && is_composition(&a, &b.clone().into(), &r), "{a} o {b} = {r}"),
            Err(error) => {
                prop_assert!(shows_what_is_wrong(&a, &b, &error), "{error}");
                if error.kind().is_overhang() {
                    prop_assert!(!inside, "{error}");
                    return Ok(());
                }
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
        let value = |index: i64| ragged::crd2idx(&a, &Coord::Leaf(Some(index))).ok();
        match accepted!(25 of 100, ragged::composition(&a, &b.clone().into())) {
            Some(r) => {
                prop_assert!(error.kind().is_overhang(), "{error}");
                prop_assert!(shows_what_is_wrong(&a, &b, &error), "{error}");
                prop_assert!((0..extent).all(|i| value(b.at(i).unwrap()) == r.at(i).map(Tuple::Leaf)), "{a} o {b} = {r}");
            }
            // There is no value at this coordinate: a 1-D coordinate of several leaves has no digits there.
            None => {
                prop_assert!(!error.kind().is_overhang(), "{error}");
                let digits = ragged::idx2crd(&Tuple::Leaf(stride), flatten(&a).shape());
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
        match accepted!(15 of 100, composition(&identity, &b)) {
            Some(r) => prop_assert!(is_composition(&identity, &b.clone().into(), &r), "{identity} o {b} = {r}"),
            None => {
                let error = composition(&identity, &b).unwrap_err();
                let is_diagonal = matches!(error.kind(), ErrorKind::Diagonal { .. } | ErrorKind::NegativeStride { .. });
                prop_assert!(is_diagonal || shows_what_is_wrong(&identity, &b, &error), "{error}");
            }
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

/// The nearest (extent, stride) below and above those of a refused mode with which A o B exists.
fn nearest_modes(a: &Layout, b: &Layout, path: &[usize]) -> Vec<(i64, i64)> {
    let (extent, stride) = b.get(path).expect("a mode of B").flat_modes().remove(0);
    let stride = stride.value();
    let fits = |&(extent, stride): &(i64, i64)| {
        composition(a, &with_mode(b, path, extent, stride)).is_ok()
    };
    let nearest = [
        (2..extent).rev().map(|extent| (extent, stride)).find(fits),
        (extent + 1..extent + 64)
            .map(|extent| (extent, stride))
            .find(fits),
        (1..stride).rev().map(|stride| (extent, stride)).find(fits),
        (stride + 1..stride + 64)
            .map(|stride| (extent, stride))
            .find(fits),
    ];
    nearest.into_iter().flatten().collect()
}

proptest! {
    // Few cases, since each composes hundreds of layouts.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_nearest_modes_are_suggested(a in padded_layout(), b in positive_layout()) {
        // Each stride of A must be above the end of the mode before it. Then the conditions of composition are exact.
        let mut modes = coalesce(&a).flat_modes().into_iter();
        let mut end = 0;
        let ascends = modes.all(|(extent, stride)| (stride.value() > end, end = extent * stride.value()).0);
        let Err(error) = composition(&a, &b) else { return Ok(()) };
        let place = error.place();
        let nearest = match error.kind() {
            ErrorKind::Drift { nearest, .. }
            | ErrorKind::Split { nearest, .. }
            | ErrorKind::Carry { nearest, .. }
            | ErrorKind::Overhang { nearest, .. } => nearest,
            kind => panic!("{kind}"),
        };
        if ascends && b.get(&place.path.0).is_some_and(|mode| mode.depth() == 0) {
            prop_assert_eq!(nearest, &nearest_modes(&a, &b, &place.path.0), "{}", error);
        }
    }
}

/// With many modes, a refusal comes without suggestions, since each would take long to judge.
#[test]
fn large_compositions_are_refused_without_suggestions() {
    let modes = (0..45).map(|i| Layout::new(2, 2 * i + 1).unwrap());
    let a = Layout::concat(modes).unwrap();
    let split = Layout::new(3, 1).unwrap();
    for (ones, suggests) in [(9, true), (99, false)] {
        let ones = (0..ones).map(|_| Layout::new(1, 0).unwrap());
        let b = Layout::concat([split.clone()].into_iter().chain(ones)).unwrap();
        match composition(&a, &b).unwrap_err().kind() {
            ErrorKind::Split { nearest, .. } => assert_eq!(nearest.is_empty(), !suggests),
            kind => panic!("{kind}"),
        }
    }
}

/// CuTe's `with_shape` composes with the compact layout of the shape; the last three are how its `make_tiled_copy` uses it.
#[test]
fn with_shape_is_a_composition() {
    for (text, value) in [
        ("with_shape((4,8):(8,1), (8,4))", "((4,2),4):((8,1),2)"),
        ("with_shape((4,8):(8,1), 32)", "(4,8):(8,1)"),
        ("with_shape((4,8):(8,1), (8,2))", "((4,2),2):((8,1),2)"),
        ("with_shape((4,8):(8,1), (8,4):(4,1))", "(8,4):(1,8)"),
        ("with_shape(32:1, (2,(4,4)))", "(2,(4,4)):(1,(2,8))"),
        (
            "with_shape((4,8):(1@0,1@1), (8,4))",
            "((4,2),4):((1@0,1@1),2@1)",
        ),
        (
            "with_shape(Sw<2,0,3> o (8,8):(8,1), (16,4))",
            "Sw<2,0,3> o 0 o ((8,2),4):((8,1),2)",
        ),
        (
            "with_shape(Sw<2,0,3>, (16,2))",
            "Sw<2,0,3> o 0 o (16,2):(1,16)",
        ),
        (
            "ragged with_shape((4,8):(8,1), (8,5))",
            "((4,2),5):((8,1),2)",
        ),
        (
            "with_shape(right_inverse(raked_product((8,4):(4,1), (4,1))), (32,4))",
            "((4,8),4):((32,4),1)",
        ),
        (
            "tiled_copy(UniversalCopy<u128>, 16, (8,4):row, (4,2):row, TiledLayout_TV)",
            "((4,8),(2,4)):((64,4),(32,1))",
        ),
        (
            "with_shape(right_inverse(raked_product((8,4):row, (4,2):row)), (32,8))",
            "((4,8),(2,4)):((64,4),(32,1))",
        ),
    ] {
        assert_eq!(
            notation::eval_str(text).expect(text).to_string(),
            value,
            "{text}"
        );
    }
    for refused in [
        "with_shape((4,8):(8,1), (8,5))",
        "with_shape((4,8):(8,1), <8,4>)",
        "with_shape((4,8):(8,1), Sw<1,0,1>)",
        "with_shape((4,8):(8,1), (8,0))",
        "with_shape((5,3):(1,10), (3,5))",
    ] {
        assert!(notation::eval_str(refused).is_err(), "{refused}");
    }
}

proptest! {
    #[test]
    fn with_shape_keeps_the_values(a in layout(), shape in shape(3)) {
        if let Some(found) = accepted!(5 of 100, with_shape(&a, &shape)) {
            prop_assert!(compatible(&shape, found.shape()));
            prop_assert!((0..found.size()).all(|i| found.at(i) == a.at(i)));
        }
    }
}
