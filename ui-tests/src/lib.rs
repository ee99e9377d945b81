//! Tests of programs that must not compile, with the exact errors. The library declares layouts for the tests to use from
//! another crate.

#![forbid(unsafe_code)]
// A crate that declares layouts does not need the standard library.
#![no_std]

/// The facade, for programs that call themselves `cute_runtime`.
pub use cute_runtime as real;

/// Named layouts for other crates.
pub mod shapes {
    use cute_runtime::{layout, tile};

    layout! {
        /// The left operand of CuTe's example of a composition.
        pub A = (6,2):(8,2);
        /// A layout that uses a named layout of the same crate.
        pub FLAT = coalesce(A);
        /// 128-byte rows of 16-bit elements.
        pub ATOM = smem_atom(K, SW128, 16);
        /// A tiler by mode.
        pub TILER = <3:3, (2,4):(1,8)>;
    }

    tile! {
        /// CuTe's example of a divide by mode.
        pub TILES = (9,(4,8)):(59,(13,1)) / TILER;
    }
}
