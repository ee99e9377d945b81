//! Layouts with run-time integers.

mod facts;
mod integers;
mod tilings;

use cute_algebra::Tuple;
use cute_runtime::{DynamicCoordinateLayout, DynamicLayout, HostTensor, HostTensorMut, layout};

layout! {
    pub STATIC = (6,2):(8,2);
    where m % 64 == 0, m >= 64;
    /// A plain layout among them.
    pub PLAIN = STATIC o 3:1;
    /// Its documentation.
    pub L = (m,(4,k)):(1,(m,4*m));
    pub(super) TILES = zipped_divide((m,n):(n,1), <64,32>);
    where n <= 1000;
    RAGGED = ragged zipped_divide((m,n):(n,1), <64,32>);
}

/// The straight-line code and the algebra agree at every coordinate.
fn check<L: DynamicLayout>(layout: &L, text: &str) {
    let slow = layout.to_layout().unwrap();
    assert_eq!(slow.to_string(), text);
    assert_eq!(
        (layout.size(), layout.cosize_bound()),
        (slow.size(), slow.cosize())
    );
    assert_eq!(L::RANK, slow.rank());
    for i in 0..layout.size() {
        assert_eq!(Some(layout.at(i)), slow.at(i), "{text} at {i}");
    }
}

#[test]
fn items() {
    let l = L::try_new(128, 3).unwrap();
    check(&l, "(128,(4,3)):(1,(128,512))");
    assert_eq!((l.m(), l.k(), l.to_string()), (128, 3, format!("{l:?}")));
    assert_eq!(l.offset((5, (3, 2))), 5 + 3 * 128 + 2 * 512);
    assert_eq!(PLAIN.to_string(), "3:8");
    let tiles = TILES::try_new(128, 64).unwrap();
    check(&tiles, "((64,32),(2,2)):((64,1),(4096,32))");
    assert_eq!(tiles.offset(((1, 2), (1, 1))), 64 + 2 + 4096 + 32);
}

#[test]
fn checks() {
    let condition = |check: cute_runtime::LayoutCheck| check.condition();
    assert_eq!(L::try_new(96, 3).map_err(condition), Err("m % 64 == 0"));
    assert_eq!(L::try_new(0, 3).map_err(condition), Err("m >= 64"));
    assert_eq!(L::try_new(64, -1).map_err(condition), Err("k >= 1"));
    assert_eq!(
        TILES::try_new(64, 33).map_err(condition),
        Err("n % 32 == 0")
    );
    let refused = L::try_new(96, 3).unwrap_err();
    assert_eq!(refused.values(), [("m", 96), ("k", 3)]);
    let huge = L::try_new(i64::MAX / 64 * 64, 3).unwrap_err();
    assert!(huge.to_string().contains("fit 64 bits"), "{huge}");
}

/// Exactly one element of a ragged division is inside for each coordinate of the divided layout.
#[test]
fn ragged() {
    let (m, n) = (65, 33);
    assert!(RAGGED::try_new(m, n).is_ok() && RAGGED::try_new(m, 1001).is_err());
    let tiles = layout!(ragged zipped_divide((m,n):(n,1), <64,32>)).unwrap();
    check(&tiles, "((64,32),(2,2)):((33,1),(2112,32))");
    let mut seen = vec![false; 65 * 33];
    for (i, j) in (0..64).flat_map(|i| (0..32).map(move |j| (i, j))) {
        for rest in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let coord = ((i, j), rest);
            if tiles.is_inside(coord) {
                let index = usize::try_from(tiles.offset(coord)).unwrap();
                assert!(!std::mem::replace(&mut seen[index], true));
            }
        }
    }
    assert!(seen.iter().all(|&seen| seen));
}

/// Variables may have any integer type, each expression is evaluated once, and names are resolved where they are written.
#[test]
fn expressions() {
    let (m, n) = (64usize, 48u32);
    check(
        &layout!(where {n} % 4 == 0, m >= 8; (m,{n}):(n,1)).unwrap(),
        "(64,48):(48,1)",
    );
    let mut calls = 0;
    let mut next = || {
        calls += 1;
        calls
    };
    check(
        &layout!(({next()},{next() + 1}):(1,8)).unwrap(),
        "(1,3):(1,8)",
    );
    assert_eq!(calls, 2);
    const FOUR: i64 = 4;
    check(
        &layout!((self::dynamic_size::M,{4}):({FOUR},1)).unwrap(),
        "(3,4):(4,1)",
    );
    check(
        &layout!(where m % 64 == 0; logical_divide((m,{n}):(1,m), <STATIC o 2:1,_>))
            .unwrap_or_else(|error| panic!("{error}")),
        "((2,(8,4)),48):((8,(1,16)),64)",
    );
    assert!(layout!(({ i64::from(n) - 48 }, 4)).is_err());
    assert!(layout!(({ u64::MAX }, 4)).is_err());
}

mod dynamic_size {
    pub(super) const M: u8 = 3;
}

mod names {
    use cute_runtime::layout;

    layout! {
        where m % 64 == 0, m >= 64;
        /// A matrix of columns.
        pub COLUMNS = (m,n):(1,m);
        pub SHAPE = (m,2);
        pub ROWS = <{r},_>;
    }
}

layout! {
    pub BY_PATH = logical_divide(names::COLUMNS, <64,_>);
    OF_THAT = get(BY_PATH, 0);
    BESIDE = concat(names::SHAPE, names::COLUMNS, STATIC);
    where r <= 64, m % r == 0;
    BY_TILER = logical_divide(names::COLUMNS, names::ROWS);
}

/// A name stands for its expression and its facts, also in other modules.
#[test]
fn names_fold() {
    let tiles = BY_PATH::try_new(128, 3).unwrap();
    check(&tiles, "((64,2),3):((1,64),128)");
    assert_eq!(tiles.n(), 3);
    let refused = BY_PATH::try_new(96, 3).unwrap_err();
    assert_eq!(refused.condition(), "m % 64 == 0");
    check(&OF_THAT::try_new(128, 3).unwrap(), "(64,2):(1,64)");
    check(
        &BESIDE::try_new(64, 3).unwrap(),
        "((64,2),(64,3),(6,2)):((1,64),(1,64),(8,2))",
    );
    check(
        &BY_TILER::try_new(64, 3, 16).unwrap(),
        "((16,4),3):((1,16),64)",
    );
}

/// An expression takes the integers of a named layout from the variables of the same names.
#[test]
fn names_in_expressions() {
    let (m, n) = (128u32, 2u8);
    check(&layout!(names::COLUMNS).unwrap(), "(128,2):(1,128)");
    check(
        &layout!(where m >= 128; names::COLUMNS o (128,2):(1,{m})).unwrap(),
        "(128,2):(1,128)",
    );
    assert_eq!(layout!(names::COLUMNS o 64:1).unwrap().to_string(), "64:1");
}

layout! {
    pub ELEMENTS = size((m,n):(1,m));
    EXTENTS = shape(names::COLUMNS);
    COUNT = rank((m,n):(1,m));
}

#[test]
fn numbers() {
    assert_eq!(ELEMENTS(3, 4), Ok(12));
    assert_eq!(EXTENTS(64, 4), Ok((64, 4)));
    assert_eq!(COUNT(64, 4), Ok(2));
    assert!(ELEMENTS(0, 4).is_err() && ELEMENTS(i64::MAX, 2).is_err());
    let (m, n) = (5, 6);
    assert_eq!(layout!(size((m, n))), Ok(30));
    assert_eq!(layout!(shape((m, (n, 2)))), Ok((5, (6, 2))));
}

layout! {
    IDENTITY = (m,n):(1@0,1@1);
    TURNED = composition(IDENTITY, (n,m):(m,1));
    BLOCKS = ragged zipped_divide(IDENTITY, <4,8>);
}

fn check_coordinates<const N: usize>(layout: &impl DynamicCoordinateLayout<N>, text: &str) {
    let slow = layout.to_layout().unwrap();
    assert_eq!(slow.to_string(), text);
    assert_eq!(layout.size(), slow.size());
    for i in 0..layout.size() {
        let value = slow.crd2idx(&Tuple::Leaf(Some(i))).unwrap();
        let mut value: Vec<_> = value.leaves().copied().collect();
        value.resize(N, 0);
        assert_eq!(layout.at(i).to_vec(), value, "{text} at {i}");
    }
}

/// Values that are coordinates.
#[test]
fn coordinates() {
    let identity = IDENTITY::try_new(5, 3).unwrap();
    check_coordinates(&identity, "(5,3):(1@0,1@1)");
    assert_eq!((identity.offset((4, 2)), identity.m()), ([4, 2], 5));
    check_coordinates(&TURNED::try_new(5, 3).unwrap(), "(3,5):(1@1,1@0)");
    let blocks = BLOCKS::try_new(5, 3).unwrap();
    assert_eq!(blocks.offset(((1, 2), (1, 0))), [5, 2]);
    assert!(!blocks.is_inside(((1, 2), (1, 0))) && blocks.is_inside(((0, 2), (1, 0))));
    let (m, n) = (7, 6);
    check_coordinates(
        &layout!((m,(2,n)):(2@2,(1@0,2@0))).unwrap(),
        "(7,(2,6)):(2@2,(1@0,2@0))",
    );
    check_coordinates(&layout!(coalesce((2,n):(1@0,2@0))).unwrap(), "12:1@0");
    check_coordinates(&layout!((2,m):(0,1@1)).unwrap(), "(2,7):(0,1@1)");
    assert!(layout!((m,{n - 6}):(1@0,1@1)).is_err());
}

/// `slice_and_offset` gives a layout and an offset.
#[test]
fn lists() {
    let (m, n, k) = (3, 4, 2);
    let (row, offset) = layout!(slice_and_offset((m,n):(n,1), (k,_))).unwrap();
    check(&row, "(4):(1)");
    assert_eq!((row.offset((3,)), offset), (3, 8));
    let sliced = layout!(slice_and_offset(Sw<1,0,2> o 0 o (m,n):(4,1), (_,0))).unwrap();
    assert_eq!((sliced.0.size(), sliced.1), (3, 0));
    let (m, k) = (-3, 2);
    let refused = layout!(slice_and_offset((m,4):(4,1), (k,_))).unwrap_err();
    assert_eq!(refused.condition(), "m >= 1");
}

/// Host tensors whose layouts are known only at run time.
#[test]
fn host_tensors() {
    let mut data: Vec<i32> = (0..15).collect();
    let (m, n, d) = (3, 4, 5);
    let padded = layout!(where d >= 1; (m,n):(d,1)).unwrap();
    let mut tensor = HostTensorMut::new(&mut data, padded).unwrap();
    tensor[[2, 3]] = -1;
    assert_eq!((tensor[[1, 2]], tensor[1], tensor[[2, 3]]), (7, 5, -1));
    assert_eq!(
        (tensor.get([3, 0]), tensor.get([0, 0, 0]), tensor.get(12)),
        (None, None, None)
    );
    let sum: i32 = tensor.as_tensor().iter().sum();
    assert_eq!(
        sum,
        (0..4).sum::<i32>() + (5..9).sum::<i32>() + (10..13).sum::<i32>() - 1
    );
    let short = HostTensor::new(&data[..13], padded).unwrap_err();
    assert_eq!(
        short.to_string(),
        "(3,4):(5,1) has the value 13 at coordinate 11, but the slice has 13 elements"
    );
}

layout! {
    where m % 8 == 0;
    SWIZZLED = Sw<3,0,3> o (m,8):(8,1);
    SHIFTED = Sw<2,0,3> o 8 o (4,k):(1,4);
}

#[test]
fn swizzles() {
    let swizzled = SWIZZLED::try_new(16).unwrap();
    assert_eq!(swizzled.to_string(), "Sw<3,0,3> o 0 o (16,8):(8,1)");
    let shifted = SHIFTED::try_new(5).unwrap();
    for (value, composed) in [
        (swizzled.offset((3, 2)), swizzled.to_composed().unwrap()),
        (shifted.offset((3, 2)), shifted.to_composed().unwrap()),
    ] {
        let coord = composed.layout().shape().leaves().next().unwrap() * 2 + 3;
        assert_eq!(Some(value), composed.at(coord), "{composed}");
    }
    let composed = shifted.to_composed().unwrap();
    assert!((0..20).all(|coord| Some(shifted.at(coord)) == composed.at(coord)));
    let data: Vec<i64> = (0..128).collect();
    let tensor = HostTensor::new(&data, swizzled).unwrap();
    assert_eq!(tensor[[3, 2]], swizzled.offset((3, 2)));
    assert!(HostTensor::new(&data[..127], swizzled).is_err());
}
