//! Shared memory, matrix operands and tensor maps.

use crate::acceptance::accepted;
use crate::operands::{swizzle, tile};
use cute_algebra::*;
use proptest::prelude::*;

proptest! {
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

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
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
