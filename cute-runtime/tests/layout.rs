//! The results of `layout!` and `tile!`, compared with the algebra at every coordinate.

mod dynamic;
mod host;

use cute_algebra::{ComposedLayout, Coord};
use cute_runtime::{
    CoordinateLayout, Layout, StaticLayout, StaticTiling, Swizzle, Tiling, layout, tile,
};
use static_assertions::{assert_impl_all, const_assert, const_assert_eq};

/// The value, its conversion to the algebra, and the same text evaluated by the algebra agree at every coordinate.
fn check(value: Layout, text: &str) {
    let owned: ComposedLayout = value.to_composed().unwrap();
    let written = match text.parse::<cute_algebra::Layout>() {
        Ok(layout) => ComposedLayout::new(cute_algebra::Swizzle::IDENTITY, 0, layout).unwrap(),
        Err(_) => text.parse().unwrap(),
    };
    assert_eq!(owned, written, "{text}");
    assert_eq!(value.size(), written.size());
    assert_eq!(Some(value.cosize()), written.cosize());
    assert_eq!(value.rank(), written.layout().rank());
    assert_eq!(value.depth(), written.layout().depth());
    for index in 0..value.size() {
        let expected = written.crd2idx(&Coord::from(Some(index))).unwrap();
        assert_eq!(value.at(index), expected, "{text} at {index}");
        if let Some(&offset) = value.offsets().get(usize::try_from(index).unwrap()) {
            assert_eq!(offset, expected, "{text} at {index}");
        }
    }
    assert!([0, value.size()].contains(&(value.offsets().len() as i64)));
}

/// The straight-line index and the tables of a type agree with its value.
fn check_type<L: StaticLayout>() {
    assert_eq!(L::SIZE, L::LAYOUT.size());
    for coord in 0..L::SIZE {
        let index = L::index(coord);
        assert_eq!(index, L::LAYOUT.at(coord), "{} at {coord}", L::LAYOUT);
        let back = L::coordinate(index).unwrap();
        assert_eq!(L::index(back), index);
    }
    for (index, &coord) in L::INVERSE.iter().enumerate() {
        match coord {
            -1 => assert!((0..L::SIZE).all(|coord| L::index(coord) != index as i64)),
            _ => assert_eq!(L::index(coord), index as i64),
        }
    }
}

macro_rules! check_all {
    ($([$($tokens:tt)*] = $text:literal,)*) => {$(
        check(layout!($($tokens)*), $text);
        const _: () = {
            const VALUE: Layout = layout!($($tokens)*);
            assert!(VALUE.size() > 0);
        };
        {
            layout! { L = $($tokens)*; }
            check_type::<L>();
        }
    )*};
}

#[test]
fn values() {
    check_all! {
        [24] = "24:1",
        [24:3] = "24:3",
        [(24)] = "(24):(1)",
        [(4,(2,8))] = "(4,(2,8)):(1,(4,8))",
        [(4,8):row] = "(4,8):(8,1)",
        [(4,8):col] = "(4,8):(1,4)",
        [(2,(2,2)):(4,(2,1))] = "(2,(2,2)):(4,(2,1))",
        [(_4,_8):(_8,_1)] = "(4,8):(8,1)",
        [(3,5):(-5,1)] = "(3,5):(-5,1)",
        [(4,8):(0,1)] = "(4,8):(0,1)",
        [1:0] = "1:0",
        [((1,1)):((0,0))] = "((1,1)):((0,0))",
        [(6,2):(8,2) o (4,3):(3,1)] = "((2,2),3):((24,2),8)",
        [(4,3):(3,1) then (6,2):(8,2)] = "((2,2),3):((24,2),8)",
        [composition((6,2):(8,2), (4,3):(3,1))] = "((2,2),3):((24,2),8)",
        [(3:1, 4:3)] = "(3,4):(1,3)",
        [coalesce((2,(1,6)):(1,(6,2)))] = "12:1",
        [zipped_divide((9,(4,8)):(59,(13,1)), <3:3, (2,4):(1,8)>)] =
            "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
        [ragged logical_divide(10:1, 4:1)] = "(4,3):(1,4)",
        [Sw<3,3,3> o (8,64):(64,1)] = "Sw<3,3,3> o 0 o (8,64):(64,1)",
        [Sw<2,0,-3> o 5 o (8,8):(8,1)] = "Sw<2,0,-3> o 5 o (8,8):(8,1)",
        [Sw<3,3,3> o (8,64):(64,1) o (4,8):(16,1)] = "Sw<3,3,3> o 0 o (4,8):(2,64)",
        [(300,2):(2,1)] = "(300,2):(2,1)",
        [(7,5,3):(2,14,1)] = "(7,5,3):(2,14,1)",
        [mma_atom(SM90_64x8x16_F32BF16BF16_SS<K,MN>, CLayout)] =
            "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))",
        [copy_atom_val(UniversalCopy<uint128_t>, 16, ValLayoutDst)] = "(1,8):(0,1)",
    }
}

const S: Layout = layout!((2,(2,2)):(4,(2,1)));
const_assert_eq!(S.at(3), 6);
const_assert_eq!(S.size(), 8);
const_assert_eq!(S.cosize(), 8);
const_assert_eq!(S.rank(), 2);
const_assert_eq!(S.depth(), 2);
const_assert_eq!(S.mode(1).rank(), 2);
const_assert_eq!(S.crd2idx(&[1, 3]), 7);
// The results of analyses are constants.
const_assert!(layout!(is_bijective(Sw<3,3,3> o 0 o (8,64):(64,1))));
const_assert_eq!(
    layout!(bank_conflicts(best_swizzle((32,32):(32,1), 32, 32:32, 32:1), 32, 32:1)),
    1
);
const DESCRIPTOR: (&str, &str, i64, i64, (i64, i64, i64, i64)) =
    layout!(wgmma_operand(smem_atom(K, SW128, 16), 16));
const_assert_eq!(DESCRIPTOR.2 + DESCRIPTOR.3 + DESCRIPTOR.4.3, 16 + 16 + 48);
layout! { MATRICES = matrix_operand((16,64):(72,1), 16); }
const_assert!(!MATRICES.0);
const_assert_eq!(MATRICES.2.at(8), 8 * 72);
const_assert!(matches!(S.is_injective(), Some(true)));
const_assert!(matches!(layout!((4,2):(1,0)).is_injective(), Some(false)));
const_assert_eq!(layout!(size((4,8):(8,1))), 32);
const_assert!(layout!(compatible(24, (4, 6))));
assert_impl_all!(Layout: Copy, Eq, Send, Sync, std::fmt::Debug, std::fmt::Display);
assert_impl_all!(Tiling: Copy, Eq, Send, Sync);

/// The picture of the README and of the crate's first page.
#[test]
fn first_picture() {
    let drawn = layout!((6,2):(8,2)).to_svg().unwrap();
    let shown = include_str!("../docs/layout.svg");
    assert!(
        drawn == shown,
        "`cute svg -o cute-runtime/docs/layout.svg \"(6,2):(8,2)\"` draws it anew"
    );
}

#[test]
fn modes_of_a_value() {
    let layout = layout!((4,(2,8)):(16,(8,1)));
    assert_eq!(layout.mode(0).to_string(), "4:16");
    assert_eq!(layout.mode(1).to_string(), "(2,8):(8,1)");
    assert_eq!(layout.mode(1).mode(1).to_string(), "8:1");
    assert_eq!(
        (layout.flat_shape(), layout.flat_stride()),
        (&[4, 2, 8][..], &[16, 8, 1][..])
    );
    for i in 0..4 {
        for j in 0..16 {
            assert_eq!(layout.crd2idx(&[i, j]), layout.at(i + 4 * j));
        }
    }
}

#[test]
fn swizzles() {
    const SWIZZLE: Swizzle = layout!(Sw<3,4,3>);
    assert_eq!(SWIZZLE.apply(0x80), 0x90);
    let owned = cute_algebra::Swizzle::new(2, 1, -3).unwrap();
    for index in 0..1024 {
        assert_eq!(layout!(Sw<2,1,-3>).apply(index), owned.apply(index));
    }
}

#[test]
fn coordinates() {
    const C: CoordinateLayout = layout!((4,(2,3)):(2@0,(1@1,5@0)));
    let owned: cute_algebra::Layout = C.to_string().parse().unwrap();
    assert_eq!((C.size(), owned.size()), (24, 24));
    for index in 0..24 {
        let [x, y] = C.at::<2>(index);
        assert_eq!(
            owned
                .crd2idx(&Coord::from(Some(index)))
                .unwrap()
                .to_string(),
            format!("({x},{y})")
        );
    }
}

layout! {
    /// A doc comment of the user.
    pub A = (6,2):(8,2);
    pub(crate) R = A o (4,3):(3,1);
    SWIZZLED = Sw<3,3,3> o (8,64):(64,1);
    BY_TILER = zipped_divide((9,(4,8)):(59,(13,1)), TILER);
    TILER = <3:3, (2,4):(1,8)>;
}

tile! {
    pub T = (9,(4,8)):(59,(13,1)) / <3:3, (2,4):(1,8)>;
}

#[test]
fn items() {
    check_type::<A>();
    check_type::<R>();
    check_type::<SWIZZLED>();
    check_type::<BY_TILER>();
    check_type::<T>();
    check(R, "((2,2),3):((24,2),8)");
    check(A::LAYOUT, "(6,2):(8,2)");
    check(
        T.layout(),
        "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
    );
    assert_eq!(BY_TILER, T::LAYOUT);
    assert_eq!(A::OFFSETS, [0, 8, 16, 24, 32, 40, 2, 10, 18, 26, 34, 42]);
    assert_eq!(T::TILING, T);
}

#[test]
fn tiles_partition() {
    const TILES: Tiling = tile!((8,6):(6,1) / <4:1, 2:3>);
    assert!(TILES.is_disjoint());
    let mut seen = [false; 48];
    for tile in 0..TILES.rest().size() {
        for within in 0..TILES.tile().size() {
            let index = TILES.at(within, tile);
            assert_eq!(index, TILES.tile().at(within) + TILES.rest().at(tile));
            assert!(!std::mem::replace(
                &mut seen[usize::try_from(index).unwrap()],
                true
            ));
        }
    }
    assert!(seen.iter().all(|&seen| seen));
}

/// Names can be used in other modules, and before their definition.
mod before {
    use super::after::LATER;
    use cute_runtime::layout;

    layout! { pub(super) EARLIER = coalesce(LATER); }
    layout! { pub(super) BY_PATH = super::after::LATER o 4:1; }
    // A private name that equals a name of another module.
    layout! { A = 5:2; }
    pub(super) const OWN: cute_runtime::Layout = layout!(A o 2:2);
}

mod after {
    use cute_runtime::layout;

    layout! { pub LATER = (4,8):(1,4); }
    // Exported macros are all at the root of the crate. Those of equal names in different modules must not collide.
    layout! { pub A = 3:1; }
}

#[test]
fn names() {
    assert_eq!(before::EARLIER.to_string(), "32:1");
    assert_eq!(before::BY_PATH.to_string(), "4:1");
    assert_eq!(before::OWN.to_string(), "2:4");
    assert_eq!(after::A.to_string(), "3:1");
    layout! { pub LOCAL = A o 4:3; }
    assert_eq!(layout!(LOCAL o 1:0), layout!(1:0));
}
