//! CuTe layouts at compile time, and kernels that run on a GPU or on the CPU emulator.
//!
#![doc = include_str!("../docs/layout.svg")]
//!
//! **A layout** maps coordinates to places in memory. In `(6,2):(8,2)`, 6 rows are 8 apart and 2 columns are 2 apart: element (i,
//! j) is at 8·i + 2·j. [`layout!`] and [`tile!`] evaluate CuTe notation when rustc expands them. If a result is not a layout, the
//! error has the numbers. The results are constants ([`Layout`], [`Tiling`]) and types ([`StaticLayout`], [`StaticTiling`]).
//! ```
//! use cute_runtime::{Layout, StaticLayout, layout};
//!
//! layout! {
//!     pub A = (6,2):(8,2);
//!     pub R = A o (4,3):(3,1);
//! }
//! assert_eq!(A.crd2idx(&[5, 1]), 42);
//! // Composition: R(c) is A(B(c)).
//! assert_eq!(R.to_string(), "((2,2),3):((24,2),8)");
//! assert_eq!(R::OFFSETS, [0, 24, 2, 26, 8, 32, 10, 34, 16, 40, 18, 42]);
//! // Tiles of 2 × 2, and where tile (2,0) begins.
//! const TILES: Layout = layout!((6,2):(8,2) / <2,2>);
//! assert_eq!(TILES.mode(1).at(2), 32);
//! ```
//! **A kernel** is a function in Rust syntax with layouts as values. [`kernels`] turns it into PTX. [`Device`], [`Tensor`] and
//! the `launch` of each kernel run it. A launch is safe: no access is outside of a tensor.
//! ```
//! use cute_runtime::{Device, Error, Tensor, kernels};
//!
//! #[kernels]
//! mod vectors {
//!     /// y = a · x + y.
//!     #[kernel(threads = 256)]
//!     pub fn axpy(
//!         x: Global<f32, 1>,
//!         #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
//!         a: f32,
//!     ) {
//!         let i = block_idx().0 * 256 + thread();
//!         if i < extent(x, 0) {
//!             y[i] = a * x[i] + y[i];
//!         }
//!     }
//! }
//!
//! fn main() -> Result<(), Error> {
//!     // The first GPU that can be used, or else the emulator.
//!     let device = Device::default();
//!     let x = Tensor::from_slice(&device, &[1.0f32; 1000], [1000])?;
//!     let mut y = Tensor::from_slice(&device, &[0.5f32; 1000], [1000])?;
//!     vectors::axpy::launch(&device, 4, &x.view(), &mut y.view_mut(), 2.0)?;
//!     assert_eq!(y.download()?, [2.5; 1000]);
//!     Ok(())
//! }
//! ```
//! # Where to look
//!
//! | items | purpose |
//! |---|---|
//! | [`layout!`], [`tile!`] | the notation, by examples; [the operations](operations), a page each |
//! | [`Layout`], [`StaticLayout`], [`DynamicLayout`] | layouts as values, as types, and with run-time integers |
//! | [`HostTensor`], [`HostTensorMut`] | slices of the host with a layout, and tiles of them for several threads to write at once |
//! | [`kernels`], [`kernel_language`] | kernels, and their language: search finds the page of each function |
//! | [`Device`], [`Tensor`], [`Kernel`], [`Error`] | running them |
//! | [`Device::under_schedules`], [`Device::emulator_rewriting`], [`Counts`] | testing them |
//! | [`Picture`] | drawing layouts |
//!
//! The repository has guides whose programs are tested: `docs/layouts.md` (layouts from nothing), `docs/kernels.md` (a tutorial
//! from one line to a GEMM), `docs/testing-kernels.md`, `docs/how-to.md` (short answers), `docs/glossary.md`, `docs/debugging.md`,
//! `docs/guests.md` (in a program that already uses the GPU), `docs/operations.md` (a catalogue), `docs/dictionary.md` (for readers who
//! know CuTe or CUDA), `docs/rms-norm.md` (one kernel from
//! paper to a GPU), `docs/soundness.md` and `docs/faq.md`, and `examples` with one idea a program.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | | | [`layout!`], [`tile!`] and their results; needs `alloc`, but no `std` |
//! | `kernels` | yes | [`kernels`], and the types of kernels, tensors and launches |
//! | `cuda` | yes | GPUs: [`Device::cuda`]. The CUDA driver is loaded when a program asks for one; nothing is needed to build |
//! | `emulator` | yes | devices on the CPU: [`Device::emulator`] |
//! | `host` | yes | slices of the host with a layout, and their tiles: [`HostTensor`] |
//! | `instantiate` | no | kernels that get types and constants when the program runs: `Instantiate` |
//! | `ndarray` | no | host tensors as views of `ndarray`, and the reverse: `HostTensor::to_ndarray` |
//! | `dlpack` | no | host tensors as NumPy, PyTorch and others exchange them: module `dlpack` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(any(feature = "kernels", feature = "host")), no_std)]

extern crate alloc;

// Expansions of the macros name this crate by its path, also in this crate's own documentation and tests.
extern crate self as cute_runtime;

// Layouts.
mod layout;

pub use layout::{
    CoordinateLayout, DisjointTiling, DynamicCoordinateLayout, DynamicLayout, DynamicTiling,
    Layout, LayoutCheck, Profile, StaticLayout, StaticTiling, Swizzle, Tiling, print_layout,
};

/// Layouts that a program parses or computes at run time, and the operations as functions. [`Layout::to_layout`] gives such a
/// layout.
/// ```
/// use cute_runtime::algebra::{Layout, composition};
/// let tile: Layout = "(4,3):(3,1)".parse()?;
/// assert_eq!(composition(&cute_runtime::layout!((6,2):(8,2)).to_layout()?, &tile)?.to_string(), "((2,2),3):((24,2),8)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use cute_algebra as algebra;

pub mod operations;

// Slices of the host.
#[cfg(feature = "host")]
mod host;
#[cfg(feature = "dlpack")]
pub use host::dlpack;
#[cfg(feature = "host")]
pub use host::{
    HostCoordinate, HostError, HostLayout, HostTensor, HostTensorMut, HostTile, HostTileMut,
    SliceOf, Static, Strided, TileOf,
};

// Layouts as pictures.
pub use cute_algebra::{ColorBy, Picture, PictureError};

// Kernels, and the devices that run them.
#[cfg(feature = "kernels")]
#[cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(dead_code, reason = "without a device, nothing is launched")
)]
mod device;
#[cfg(feature = "kernels")]
pub mod kernel_language;
#[cfg(feature = "kernels")]
pub use device::*;

/// Lowers the kernels of an inline module to PTX when rustc expands the attribute.
///
/// A function under `#[kernel(threads = …)]` is a kernel. `#[instance(name: Parameter = value, …)]` gives values to its
/// type and const parameters. Each instance becomes a type of that name. It implements [`Kernel`] and has a `launch` with the
/// kernel's arguments. Other functions of the module are inlined where they are called. The body is interpreted once for each
/// instance: values known at compile time are computed, and all other computations become PTX instructions. [`kernel_language`]
/// describes the language.
///
/// ```
/// use cute_runtime::{Device, Error, Tensor, kernels, layout};
///
/// layout! { pub TILE = (8,32):(32,1); }
///
/// #[kernels]
/// mod scale {
///     /// dst = 2·src, by tiles of 8 × 32.
///     #[kernel(threads = 32)]
///     #[instance(double_f32: T = f32)]
///     pub fn double<T: Element>(src: TmaLoad<T, 2>, dst: TmaStore<T, 2>) {
///         let tile = smem::<T>(layout!(TILE));
///         let ready = mbarriers(1, 1);
///         let origin = (block_idx().0 * 8, 0);
///         if thread() == 0 {
///             expect_tx(ready[0], bytes(tile));
///             tma_load(src, origin, tile, ready[0]);
///         }
///         wait(ready[0], 0);
///         for row in 0..8 {
///             tile[(row, thread())] = tile[(row, thread())] * 2.0;
///         }
///         fence_proxy_async();
///         sync_threads();
///         if thread() == 0 {
///             tma_store(tile, dst, origin);
///             tma_commit();
///             tma_wait(0);
///         }
///     }
/// }
///
/// fn main() -> Result<(), Error> {
///     let device = Device::emulator();
///     let src = Tensor::from_slice(&device, &[1.5f32; 16 * 32], [16, 32])?;
///     let mut dst = Tensor::<f32, 2>::zeros(&device, [16, 32])?;
///     scale::double_f32::launch(&device, 2, &src.view(), &mut dst.view_mut())?;
///     assert_eq!(dst.view().download()?, [3.0; 16 * 32]);
///     Ok(())
/// }
/// ```
///
/// In a kernel, `layout!` can use the names of the kernel and the layouts named around the module. If the path of this crate is
/// not `::cute_runtime`, write `#[kernels(crate = path)]`.
#[cfg(all(feature = "kernels", not(rust_analyzer)))]
pub use cute_macros::kernels;
#[cfg(all(feature = "kernels", rust_analyzer))]
pub use cute_macros::kernels_in_editor as kernels;

/// The items that expansions of the macros name. Not part of the public interface: they change without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::__carry as carry;
    pub use crate::layout::private::*;
    #[cfg(not(rust_analyzer))]
    pub use cute_macros::{layout, tile};
    #[cfg(rust_analyzer)]
    pub use cute_macros::{layout_in_editor as layout, tile_in_editor as tile};

    #[cfg(all(feature = "kernels", not(rust_analyzer)))]
    pub use cute_macros::kernels_resumed as kernels;
    #[cfg(all(feature = "kernels", rust_analyzer))]
    pub use cute_macros::kernels_resumed_in_editor as kernels;
    #[cfg(feature = "kernels")]
    pub use {
        crate::__feature as feature, crate::__instantiable as instantiable,
        crate::device::private::*,
    };
}

/// The expansion of an instance with values of `_`: its functions, or an error and stubs of them.
#[cfg(feature = "instantiate")]
#[doc(hidden)]
#[macro_export]
macro_rules! __instantiable {
    ([$($stub:tt)*] [$($functions:tt)*]) => { $($functions)* };
}

/// The expansion of an instance with values of `_`: its functions, or an error and stubs of them.
#[cfg(not(feature = "instantiate"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __instantiable {
    // The text of the module, which each module has once.
    ([] [$($text:tt)*]) => {
        ::core::compile_error!(
            "`_` in `#[instance(…)]` is a value that is given at run time, which needs the feature `instantiate` of cute-runtime"
        );
    };
    ([$($stub:tt)*] [$($functions:tt)*]) => { $($stub)* };
}

/// A name that `layout!` declares is also a macro with one short rule, which calls this macro. This macro calls the macro that
/// asked for the name and passes it the expression that the name stands for, or asks for the next name first.
#[doc(hidden)]
#[macro_export]
macro_rules! __carry {
    ([ $($bound:tt)* ] { $($entry:tt)* } [ $($known:tt)* ] () $($rest:tt)*) => {
        $($entry)*! { [ $($known)* = $($bound)* ] $($rest)* }
    };
    (
        [ $($bound:tt)* ] { $($entry:tt)* } [ $($known:tt)* ]
        ({ $($next:tt)* } { $($arguments:tt)* } [ $($name:tt)* ] $($others:tt)*) $($rest:tt)*
    ) => {
        $($next)*! {
            $($arguments)* { $($entry)* } [ $($known)* = $($bound)*, $($name)* ] ($($others)*) $($rest)*
        }
    };
}

/// Tells the macro that asks whether the crate that is compiled has a feature.
#[cfg(feature = "kernels")]
#[doc(hidden)]
#[macro_export]
macro_rules! __feature {
    ($feature:tt $($use:tt)*) => {
        #[cfg(feature = $feature)]
        $crate::__carry! { [ on ] $($use)* }
        #[cfg(not(feature = $feature))]
        $crate::__carry! { [ off ] $($use)* }
    };
}

/// Evaluates an expression of the layout notation at compile time.
///
/// As an expression, `layout!(…)` is a constant: a [`Layout`], a [`CoordinateLayout`] if strides are scaled basis elements, a
/// [`Swizzle`], or the integer, truth value, text or tuple that an operation gives.
/// ```
/// use cute_runtime::{Layout, layout};
/// const L: Layout = layout!((6,2):(8,2) o (4,3):(3,1));
/// assert_eq!(L.to_string(), "((2,2),3):((24,2),8)");
/// const SIZE: i64 = layout!(size((6,2):(8,2)));
/// assert_eq!(SIZE, 12);
/// ```
/// As an item, `name = expression;` declares a type that implements [`StaticLayout`], a constant, and a name for use in other
/// layouts. All three are called `name` and have the written visibility. Like any Rust path, the name can be used in other
/// modules, in other crates, and in code before the declaration.
/// ```
/// use cute_runtime::{StaticLayout, layout};
/// layout! {
///     /// Documentation goes to the type and the constant.
///     pub A = (6,2):(8,2);
///     pub R = A o (4,3):(3,1);
/// }
/// assert_eq!((R.at(1), R::index(1), R::SIZE), (24, 24, 12));
/// ```
/// These are run-time integers: a name inside a shape or a stride, a name with a lower-case first letter anywhere, an expression
/// in `{…}`, and arithmetic of these. `where` in front of the expression states facts about them; in a list of items, the facts
/// hold up to the next `where`. An expression with run-time integers is a `Result` of a [`DynamicLayout`], or of a
/// [`DynamicCoordinateLayout`] if the values are coordinates. An item with run-time integers is a type with a function `try_new`.
/// Conditions that do not follow from the facts are checked when the layout is built.
/// ```
/// use cute_runtime::{DynamicLayout, layout};
/// let (m, n) = (130, 96);
/// let tiles = layout!(ragged zipped_divide((m,n):(n,1), <64,32>))?;
/// assert_eq!(tiles.to_string(), "((64,32),(3,3)):((96,1),(6144,32))");
/// assert!(tiles.is_inside(((1, 31), (2, 2))) && !tiles.is_inside(((2, 31), (2, 2))));
/// assert_eq!(layout!(where m >= 64; (m,n):(n,1) o 64:1)?.to_string(), "64:96");
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
/// The function `new` of such an item is `const`: with constants, a false condition is a compile error.
/// ```
/// use cute_runtime::layout;
/// layout! { pub PADDED = (m,n):(n+1,1); }
/// const ROWS: i64 = 8;
/// const PLACES: PADDED = PADDED::new(ROWS, 32);
/// const LAST: i64 = PLACES.offset((ROWS - 1, 31));
/// assert_eq!(LAST, 7 * 33 + 31);
/// ```
/// The name of such an item stands for the expression and the facts. An item that uses the name takes the same integers as
/// arguments; an expression takes them from variables of the same names. If the value is an integer or a tuple of integers, an
/// expression is a `Result` of it, and an item is a function. All numbers are `i64`; one check is that they fit.
/// ```
/// use cute_runtime::{DynamicLayout, layout};
/// layout! {
///     where m % 64 == 0;
///     pub COLUMNS = (m,n):(1,m);
///     pub TILES = logical_divide(COLUMNS, <64,_>);
///     pub ELEMENTS = size(COLUMNS);
/// }
/// assert_eq!(TILES::try_new(128, 3)?.to_string(), "((64,2),3):((1,64),128)");
/// assert_eq!(ELEMENTS(128, 3)?, 384);
/// let (m, n) = (64, 2);
/// assert_eq!(layout!(cosize(TILES))?, 128);
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
#[macro_export]
macro_rules! layout {
    ($($tokens:tt)*) => { $crate::__private::layout! { [$crate] $($tokens)* } };
}

/// Divides a layout into tiles at compile time: `layout / tiler`.
///
/// The result is a [`Tiling`], or as an item, a type that implements [`StaticTiling`]. It is the zipped divide of the layout. It
/// exists only if the tiles cover every coordinate exactly once. With `ragged` in front, the last tiles may reach past the end of
/// a mode. A tiler in `<…>` divides mode by mode, and `_` leaves a mode whole. A layout or an integer divides the whole layout as
/// one mode.
/// ```
/// use cute_runtime::{StaticTiling, tile};
/// tile! { pub T = (9,(4,8)):(59,(13,1)) / <3:3, (2,4):(1,8)>; }
/// assert_eq!(T.tile().to_string(), "(3,(2,4)):(177,(13,2))");
/// assert_eq!(T::TILING.rest().to_string(), "(3,(2,2)):(59,(26,1))");
/// ```
/// If the layout has run-time integers, an item is a type that implements [`DynamicTiling`], and an expression is a `Result`
/// of such a type.
/// ```
/// use cute_runtime::{DynamicTiling, tile};
/// let (m, n) = (10, 6);
/// let tiles = tile!(ragged (m,n):(n,1) / <4,_>)?;
/// assert_eq!((tiles.tile_size(), tiles.rest_size()), (24, 3));
/// // The third tile has two rows.
/// assert_eq!(tiles.elements::<2>(2).count(), 12);
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
/// `mut` before the name demands a proof that no two tiles share an element. If the proof fails, the error names two coordinates
/// that share an element, if it finds such. With the proof, tiles of a [`HostTensorMut`] can be written at the same time.
/// ```
/// use cute_runtime::{HostTensorMut, layout, tile};
/// layout! { MATRIX = (5,6):(6,1); }
/// tile! { mut BLOCKS = ragged MATRIX / <2,3>; }
///
/// let mut data = [0; 30];
/// let mut matrix = HostTensorMut::new(&mut data, MATRIX)?;
/// let mut blocks: Vec<_> = matrix.tiles_mut::<BLOCKS>()?.collect();
/// blocks[0][[1, 2]] = 7;
/// blocks[5][[0, 0]] = 8;
/// assert_eq!(blocks[5].get([1, 0]), None);
/// assert_eq!((data[6 + 2], data[4 * 6 + 3]), (7, 8));
/// # Ok::<(), cute_runtime::HostError>(())
/// ```
#[macro_export]
macro_rules! tile {
    ($($tokens:tt)*) => { $crate::__private::tile! { [$crate] $($tokens)* } };
}
