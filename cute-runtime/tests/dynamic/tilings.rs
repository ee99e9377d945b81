//! Tilings of layouts with run-time integers.

use super::names;
use cute_algebra::Tiling;
use cute_runtime::{DynamicTiling, tile};

/// The tiling agrees with that of the same numbers at compile time: values, coordinates and the edge.
#[track_caller]
fn check<T: DynamicTiling, const N: usize>(tiles: &T, whole: &str, tiler: &str) {
    let composed = whole.parse().or_else(|_| {
        let layout = whole.parse().unwrap();
        cute_algebra::ComposedLayout::new(cute_algebra::Swizzle::IDENTITY, 0, layout)
    });
    let known = Tiling::ragged(&composed.unwrap(), &tiler.parse().unwrap()).unwrap();
    let size = tiles.tile_size();
    assert_eq!(
        tiles.size(),
        known.layout().size(),
        "{tiles_size}",
        tiles_size = tiles.size()
    );
    let mut elements = 0;
    for index in 0..tiles.size() {
        let (within, tile) = (index % size, index / size);
        assert_eq!(
            tiles.coordinate::<N>(within, tile)[..],
            known.coordinate(index)
        );
        let value = known
            .contains(index)
            .then(|| known.layout().at(index))
            .flatten();
        assert_eq!(
            tiles.get(within, tile),
            value,
            "{whole} / {tiler} at {index}"
        );
        elements += usize::from(value.is_some());
    }
    let walked = (0..tiles.rest_size()).flat_map(|tile| tiles.elements::<N>(tile));
    let mut count = 0;
    for (coordinate, value) in walked {
        let inside = (0..tiles.size()).find(|&index| known.coordinate(index) == coordinate);
        assert_eq!(
            inside.and_then(|index| known.layout().at(index)),
            Some(value)
        );
        count += 1;
    }
    assert_eq!(count, elements);
    assert_eq!(
        (
            tiles.get(size, 0),
            tiles.get(-1, 0),
            tiles.get(0, tiles.rest_size())
        ),
        (None, None, None)
    );
}

tile! {
    where m % 4 == 0;
    pub EVEN = (m,n):(n,1) / <4,_>;
    RAGGED = ragged (m,n):(1,m) / <4,3>;
    ROWS = ragged (m,n):(n,1) / <4>;
    where k >= 1;
    NESTED = ragged (m,(2,k)):(2*k,(k,1)) / <4,4>;
    WHOLE = ragged {m}:1 / 4;
    SWIZZLED = Sw<2,0,3> o (m,8):(8,1) / <2,4>;
    pub OF_A_NAME = names::COLUMNS / <16,1>;
    mut DISJOINT = ragged (m,n):(d,1) / <2,2>;
}

#[test]
fn items() {
    check::<_, 2>(&EVEN::try_new(8, 3).unwrap(), "(8,3):(3,1)", "<4,_>");
    assert!(EVEN::try_new(6, 3).is_err());
    check::<_, 2>(&RAGGED::try_new(8, 7).unwrap(), "(8,7):(1,8)", "<4,3>");
    check::<_, 2>(&ROWS::try_new(8, 3).unwrap(), "(8,3):(3,1)", "<4>");
    check::<_, 1>(&WHOLE::try_new(10).unwrap(), "10:1", "4");
    check::<_, 2>(
        &SWIZZLED::try_new(4).unwrap(),
        "Sw<2,0,3> o 0 o (4,8):(8,1)",
        "<2,4>",
    );
    check::<_, 2>(
        &OF_A_NAME::try_new(64, 3).unwrap(),
        "(64,3):(1,64)",
        "<16,1>",
    );
    let nested = NESTED::try_new(6, 6).unwrap();
    check::<_, 2>(&nested, "(6,(2,6)):(12,(6,1))", "<4,4>");
    assert!(nested.is_ragged() && !EVEN::try_new(8, 3).unwrap().is_ragged());
    assert_eq!(nested.tile().unwrap().size(), 16);
    assert_eq!(nested.rest().unwrap().size(), nested.rest_size());
}

/// Whether tiles are disjoint is checked at run time. Coordinates past the edge do not count.
#[test]
fn disjoint() {
    assert!(DISJOINT::try_new(5, 7, 7).is_ok() && DISJOINT::try_new(5, 7, 9).is_ok());
    let refused = DISJOINT::try_new(5, 7, 6).unwrap_err();
    assert_eq!(refused.condition(), "no two tiles share an element");
}

#[test]
fn expressions() {
    let (m, n) = (10usize, 7u8);
    let tiles = tile!(ragged (m,n):(n,1) / <4,4>).unwrap();
    check::<_, 2>(&tiles, "(10,7):(7,1)", "<4,4>");
    assert!(tiles.is_inside(((1, 2), (2, 1))) && !tiles.is_inside(((2, 2), (2, 1))));
    assert!(tile!((m,n):(n,1) / <4,_>).is_err());
    let n = 2;
    let m = 64;
    assert_eq!(tile!(names::COLUMNS / <16,1>).unwrap().rest_size(), 8);
}
