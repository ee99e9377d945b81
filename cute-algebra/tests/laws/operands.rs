//! Random operands, and what the laws share.

use cute_algebra::*;
use proptest::prelude::*;

pub(crate) fn extent() -> impl Strategy<Value = i64> + Clone {
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

pub(crate) fn shape(most_leaves: usize) -> impl Strategy<Value = Shape> {
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
pub(crate) fn layout_of(shape: Shape) -> impl Strategy<Value = Layout> {
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

pub(crate) fn layout() -> impl Strategy<Value = Layout> {
    shape(4).prop_flat_map(layout_of)
}

/// A layout that is compact in some order of its modes, but for padding of any width after each mode.
pub(crate) fn padded_layout() -> impl Strategy<Value = Layout> {
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

pub(crate) fn positive_layout() -> impl Strategy<Value = Layout> {
    layout().prop_filter("no negative strides", |a| {
        a.stride().leaves().all(|stride| stride.value() >= 0)
    })
}

pub(crate) fn swizzle() -> impl Strategy<Value = Swizzle> + Clone {
    (0..4u32, 0..4u32, 0..3i32, any::<bool>()).prop_map(|(bits, base, more, negative)| {
        let shift = bits as i32 + more;
        Swizzle::new(bits, base, if negative { -shift } else { shift }).expect("apart and small")
    })
}

/// A layout whose extents and strides are powers of two, in any order. Swizzles are applied to such layouts.
pub(crate) fn tile() -> impl Strategy<Value = Layout> {
    prop::collection::vec((0..4u32, 0..8i64), 1..4).prop_map(|modes| {
        let shape: Shape = modes
            .iter()
            .map(|&(bits, _)| Tuple::Leaf(1i64 << bits))
            .collect();
        let order: IntTuple = modes.iter().map(|&(_, key)| Tuple::Leaf(key)).collect();
        make_ordered_layout(&shape, &order).expect("small")
    })
}

/// A layout that maps its coordinates to 0..size, with any extents.
pub(crate) fn bijection() -> impl Strategy<Value = Layout> {
    let extent = prop_oneof![2 => (0..4u32).prop_map(|bits| 1i64 << bits), 1 => 1..8i64];
    prop::collection::vec((extent, 0..8i64), 1..4).prop_map(|modes| {
        let shape: Shape = modes.iter().map(|mode| Tuple::Leaf(mode.0)).collect();
        let order: IntTuple = modes.iter().map(|mode| Tuple::Leaf(mode.1)).collect();
        make_ordered_layout(&shape, &order).expect("small")
    })
}

pub(crate) fn extended(a: &Layout, index: i64) -> IntTuple {
    ragged::crd2idx(a, &Coord::Leaf(Some(index))).expect("small")
}

pub(crate) fn integer(value: &IntTuple) -> i64 {
    match value {
        Tuple::Leaf(value) => *value,
        Tuple::Node(_) => panic!("{value} is not an integer"),
    }
}

/// All ways to write `size` as a product of factors above 1.
pub(crate) fn factorisations(size: i64) -> Vec<Vec<i64>> {
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
pub(crate) fn is_a_layout(values: &[i64]) -> bool {
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
