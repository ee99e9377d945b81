//! Layouts that another crate names can be used here, and expansions do not depend on the names around them.

extern crate cute_runtime as renamed;

use cute_runtime::{Device, Layout, StaticLayout, Tensor, layout, tile};
use static_assertions::const_assert_eq;
use ui_tests::shapes;
use ui_tests::shapes::{A, TILER};

layout! {
    R = A o (4,3):(3,1);
    BY_PATH = ui_tests::shapes::FLAT o 3:2;
    SMEM = tile_to_shape(shapes::ATOM, (64, 128));
    OVER_TILES = flatten(shapes::TILES);
}

tile! {
    T = (9,(4,8)):(59,(13,1)) / TILER;
}

const_assert_eq!(R.at(1), 24);

#[test]
fn names_fold_across_crates() {
    assert_eq!(R.to_string(), "((2,2),3):((24,2),8)");
    assert_eq!(BY_PATH.to_string(), "3:16");
    assert_eq!(SMEM.size(), 64 * 128);
    assert_eq!(T, shapes::TILES);
    assert_eq!(OVER_TILES.size(), shapes::TILES::SIZE);
    const LOCAL: Layout = layout!(shapes::A);
    assert_eq!(LOCAL, A);
    assert_eq!(A::index(1), 8);
}

const M: i64 = 4;

layout! {
    where M >= 1;
    BESIDE_A_CONSTANT = (M,m):(1,M);
    EXTENT_OF_A_CONSTANT = size((M,m));
    #[cfg(any())]
    CHOSEN = NOWHERE o 4:1;
    #[cfg(not(any()))]
    CHOSEN = 8:1;
}

#[test]
fn constants_are_no_patterns() {
    let layout = BESIDE_A_CONSTANT::try_new(M, 3).unwrap();
    assert_eq!(
        (layout.to_string(), layout.M(), layout.m()),
        ("(4,3):(1,4)".to_owned(), 4, 3)
    );
    assert_eq!(EXTENT_OF_A_CONSTANT(2, 3).unwrap(), 6);
    const LAYOUT: BESIDE_A_CONSTANT = BESIDE_A_CONSTANT::new(M, 3);
    const_assert_eq!(LAYOUT.offset((3, 2)), 11);
    assert_eq!(LAYOUT, layout);
    assert_eq!(layout!(CHOSEN), CHOSEN);
}

/// No prelude, modules called `core` and `std` that are not the crates, and `cute_runtime` under another name.
mod hygiene {
    #![no_implicit_prelude]
    #![allow(dead_code, reason = "these names are only in the way")]

    struct Layout;
    struct Option;
    mod core {}
    mod std {}
    mod cute_runtime {}
    fn layout() {}

    ::renamed::layout! { pub(super) B = (4,8):(8,1); }
    ::renamed::layout! { pub(super) C = coalesce(B); }
    ::renamed::tile! { pub(super) T = C / 4:1; }
    pub(super) const VALUE: ::renamed::Layout = ::renamed::layout!(B o 4:8);

    #[::renamed::kernels(crate = ::renamed)]
    pub(super) mod kernels {
        #[kernel(threads = 32)]
        pub fn nothing() {
            let _b = smem::<f32>(layout!(B));
        }
    }

    pub(super) const COORDINATES: ::renamed::CoordinateLayout = ::renamed::layout!((4,5):(1@1,1@0));
}

#[test]
fn expansions_are_hygienic() {
    assert_eq!(hygiene::B.to_string(), "(4,8):(8,1)");
    assert_eq!(hygiene::C.to_string(), "(4,8):(8,1)");
    assert_eq!(hygiene::T.to_string(), "(4,8):(8,1)");
    assert_eq!(hygiene::VALUE.to_string(), "4:2");
    assert_eq!(hygiene::COORDINATES.to_string(), "(4,5):(1@1,1@0)");
}

/// A kernel can use layouts that are named around its module and in other crates.
#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub unsafe fn evaluate(out: Global<u32, 1>) {
        let i = thread();
        if i < 12 {
            out[i] = layout!(ui_tests::shapes::A).at(i) + layout!(R).at(i);
        }
    }
}

#[test]
fn names_fold_into_kernels() -> Result<(), cute_runtime::Error> {
    let device = Device::emulator();
    let mut out = Tensor::<u32, 1>::zeros(&device, [12])?;
    // SAFETY: the kernel writes 12 elements.
    unsafe { kernels::evaluate::launch(&device, 1, &mut out.view_mut())? };
    let expected: Vec<u32> = (0..12).map(|i| (A.at(i) + R.at(i)) as u32).collect();
    assert_eq!(out.view().download()?, expected);
    hygiene::kernels::nothing::launch(&device, 1)
}

/// A macro of the user can pass names and numbers to `layout!`.
macro_rules! square {
    ($name:ident, $extent:literal, $inner:path) => {
        layout! { $name = ($extent,$extent):row; }
const _: Layout = layout!($inner o $extent:1);
    };
}
square!(SQUARE, 6, A);

#[test]
fn macros_pass_tokens_on() {
    assert_eq!(SQUARE.to_string(), "(6,6):(6,1)");
}

/// The same declarations work in crates of both editions without `std` and without a prelude, where every warning is an error and
/// `unsafe` is forbidden.
#[test]
fn crates_of_both_editions_expand_alike() -> Result<(), cute_runtime::Error> {
    assert_eq!(hygiene_2021::R, hygiene_2024::R);
    assert_eq!(hygiene_2021::TILES, hygiene_2024::TILES);
    assert_eq!(hygiene_2021::R.to_string(), "((2,2),3):((24,2),8)");
    const BOTH: Layout = layout!(hygiene_2021::A o hygiene_2024::FOUR);
    assert_eq!(BOTH.to_string(), "4:8");
    assert_eq!(hygiene_2021::element(16, 3), hygiene_2024::element(16, 3));
    assert_eq!(hygiene_2021::element(16, 3), Ok(48 + 47));
    let (m, n) = (16, 3);
    let tiles = layout!(hygiene_2021::EIGHTS).map(|tiles| tiles.to_string());
    assert_eq!(tiles.as_deref(), Ok("((8,2),3):((1,8),16)"));
    assert_eq!(hygiene_2024::COUNT(m, n), Ok(48));
    let device = Device::emulator();
    let ones = Tensor::from_slice(&device, &[1.0f32; 32], [32])?;
    let mut twos = Tensor::<f32, 1>::zeros(&device, [32])?;
    let mut threes = Tensor::<f32, 1>::zeros(&device, [32])?;
    hygiene_2021::kernels::add_f32::launch(&device, 1, &ones.view(), &mut twos.view_mut(), 1.0)?;
    hygiene_2024::kernels::add_f32::launch(&device, 1, &twos.view(), &mut threes.view_mut(), 1.0)?;
    assert_eq!(threes.download()?, [3.0; 32]);
    Ok(())
}
