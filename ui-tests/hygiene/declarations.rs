// The same declarations for both editions, in a module where names of the prelude mean something else.

#[allow(dead_code, non_camel_case_types, reason = "these names are only in the way")]
mod shadows {
    pub(super) struct Layout;
    pub(super) struct StaticLayout;
    pub(super) struct Option;
    pub(super) struct Result;
    pub(super) struct Ok;
    pub(super) struct Some;
    pub(super) struct Into;
    pub(super) struct From;
    pub(super) struct Clone;
    pub(super) struct Copy;
    pub(super) struct Debug;
    pub(super) struct Kernel;
    pub(super) struct Device;
    pub(super) struct u32;
    pub(super) struct i64;
    pub(super) struct usize;
    pub(super) struct bool;
    pub(super) struct str;
    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) mod cute_runtime {}
}
#[allow(unused_imports, reason = "as above")]
use self::shadows::*;

::cute::layout! {
    /// CuTe's example of a composition.
    pub A = (6,2):(8,2);
    /// A layout that uses a named layout.
    pub R = A o (4,3):(3,1);
    /// A layout that other crates use.
    pub FOUR = 4:1;
    /// A layout whose values are coordinates.
    pub COORDINATES = (4,5):(1@1,1@0);
    /// A swizzled layout.
    pub SWIZZLED = Sw<3,0,3> o (8,8):(8,1);
}

::cute::tile! {
    /// CuTe's example of a divide by mode.
    pub TILES = (9,(4,8)):(59,(13,1)) / <3:3, (2,4):(1,8)>;
}

::cute::layout! {
    where m % 8 == 0, m >= 8;
    /// A layout with run-time integers.
    pub COLUMNS = (m,n):(1,m);
    /// A layout that uses a named layout with run-time integers.
    pub EIGHTS = logical_divide(COLUMNS, <8,_>);
    /// A swizzled layout with run-time integers.
    pub XORED = Sw<3,0,3> o (m,8):(8,1);
    /// A function that returns a number.
    pub COUNT = size(COLUMNS);
    /// A function that returns a tuple of numbers.
    pub EXTENTS = shape(COLUMNS);
}

::cute::tile! {
    /// Tiles with run-time integers.
    pub BLOCKS = ragged COLUMNS / <8,4>;
    /// Tiles with run-time integers that share no element.
    pub mut APART = ragged (m,n):(d,1) / <8,4>;
}

/// Expressions with run-time integers.
///
/// # Errors
/// The condition that does not hold.
pub fn element(
    m: ::core::primitive::i64,
    n: ::core::primitive::i64,
) -> ::core::result::Result<::core::primitive::i64, ::cute::LayoutCheck> {
    let count = ::cute::layout!(size((m,{n})))?;
    let layout = ::cute::layout!(COLUMNS)?;
    let tiles = ::cute::tile!(ragged (m,n):(n,1) / <4,_>)?;
    let last = layout.offset((m - 1, n - 1)) + tiles.offset(((0, 0), (0, 0)));
    ::core::result::Result::Ok(count + last)
}

/// A layout as an expression.
pub const VALUE: ::cute::Layout = ::cute::layout!((2,(2,2)):(4,(2,1)));

/// A tiling as an expression.
pub const TILING: ::cute::Tiling = ::cute::tile!(R / 2:1);

const _: () = ::core::assert!(VALUE.at(3) == 6 && R.at(1) == 24);

/// Kernels.
#[::cute::kernels(crate = ::cute)]
pub mod kernels {
    /// Adds a number to each of 32 elements.
    #[kernel(threads = 32)]
    #[instance(add_f32: T = f32)]
    pub fn add<T: Element>(from: TmaLoad<T, 1>, to: TmaStore<T, 1>, x: f32) {
        let tile = smem::<T>(layout!(32:1));
        let ready = mbarriers(1, 1);
        let i = thread() + layout!(A).at(0);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            tma_load(from, (0,), tile, ready[0]);
        }
        wait(ready[0], 0);
        tile[i] = tile[i] + x;
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            tma_store(tile, to, (0,));
            tma_commit();
            tma_wait(0);
        }
    }
}
