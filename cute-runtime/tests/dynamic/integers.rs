//! Run-time integers where layouts may stand as well, in arithmetic, and in facts.

use super::check;
use cute_runtime::{DynamicTiling, layout, tile};

layout! {
    pub TILE = (2,4):(4,1);
    pub TILED = zipped_divide((m,k):(k,1), <bm,4>);
    RAGGED = ragged zipped_divide((m,k):(k,1), <bm,4>);
    REPEATED = logical_product(TILE, count);
    COUNTED = count;
    HALF = m / 2;
    HALF_OF_SIZE = size((m,4)) / 8 + 1;
    COUNT_OF_ROWS = 2*size((m,4));
    HALVES = {m/2}:{n/2};
    ROUNDED = (m.div_ceil(4),{n - 1}):(4,1);
    where t <= m, m % t == 0;
    ROWS = logical_divide((m,n):(n,1), t);
    where m < n, m + n <= 4*p - 1, n % (2*m) == 0, p.div_ceil(3) <= m/2;
    STATED = (m,n,p);
}

tile! {
    PARTS = ragged (m,k):(k,1) / <bm,bk>;
    EVEN = (m,k):(k,1) / <bm,bk>;
}

#[test]
fn items() {
    let tiled = TILED::try_new(8, 12, 2).unwrap();
    check(&tiled, "((2,4),(4,3)):((12,1),(24,4))");
    assert_eq!(tiled.bm(), 2);
    let refused = TILED::try_new(8, 12, 3).unwrap_err();
    assert_eq!(refused.condition(), "m % bm == 0");
    let ragged = RAGGED::try_new(8, 12, 3).unwrap();
    check(&ragged, "((3,4),(3,3)):((12,1),(36,4))");
    check(&REPEATED::try_new(3).unwrap(), "((2,4),3):((4,1),8)");
    check(&COUNTED::try_new(3).unwrap(), "3:1");
    check(&HALF::try_new(7).unwrap(), "3:1");
    check(&HALVES::try_new(8, 7).unwrap(), "4:3");
    check(&ROUNDED::try_new(9, 5).unwrap(), "(3,4):(4,1)");
    check(&ROWS::try_new(8, 3, 4).unwrap(), "(4,(2,3)):(3,(12,1))");
}

/// Layouts that are named have their integers where they are used.
#[test]
fn expressions() {
    let (m, k, bm, count) = (8u8, 12i64, 4usize, 2u64);
    check(&layout!(get(TILED, 1)).unwrap(), "(2,3):(48,4)");
    check(
        &layout!(logical_product(COUNTED, TILE)).unwrap(),
        "(2,(2,4)):(1,(8,2))",
    );
    check(
        &layout!(logical_product(HALF, { count + 1 })).unwrap(),
        "(4,3):(1,4)",
    );
    check(&layout!(m).unwrap(), "8:1");
    check(
        &layout!(logical_product(HALF_OF_SIZE, count)).unwrap(),
        "(5,2):(1,5)",
    );
    check(
        &layout!(concat(COUNT_OF_ROWS, 2:64)).unwrap(),
        "(64,2):(1,64)",
    );
    const BK: i64 = 3;
    check(
        &layout!((m,k):(k,1) / <bm,{BK}>).unwrap(),
        "((4,3),(2,4)):((12,1),(48,3))",
    );
    assert_eq!(layout!(crd2idx((count,k - 2), (m,k):(k,1))), Ok(34));
    let tiles = tile!((m,k):(k,1) / <bm,{BK}>).unwrap();
    assert_eq!((tiles.tile_size(), tiles.rest_size()), (12, 8));
}

#[test]
fn tilings() {
    let parts = PARTS::try_new(5, 7, 2, 4).unwrap();
    assert_eq!((parts.tile_size(), parts.rest_size()), (8, 6));
    let elements = (0..parts.rest_size()).map(|tile| parts.elements::<2>(tile).count());
    assert_eq!(elements.collect::<Vec<_>>(), [8, 8, 4, 6, 6, 3]);
    assert!(EVEN::try_new(4, 8, 2, 4).is_ok());
    let refused = EVEN::try_new(5, 8, 2, 4).unwrap_err();
    assert_eq!(refused.condition(), "m % bm == 0");
}

/// Sums and quotients in facts are checked as they are written.
#[test]
fn facts() {
    let condition = |m, n, p| STATED::try_new(m, n, p).map_err(|refused| refused.condition());
    assert!(condition(4, 8, 4).is_ok());
    assert_eq!(condition(8, 8, 4).err(), Some("m < n"));
    assert_eq!(condition(4, 16, 5).err(), Some("m + n < 4*p"));
    assert_eq!(condition(4, 12, 5).err(), Some("n % (2*m) == 0"));
    assert_eq!(condition(4, 8, 7).err(), Some("p.div_ceil(3) <= {m/2}"));
}
