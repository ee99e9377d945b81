//! The operations of the notation, for [`layout!`](crate::layout), [`tile!`](crate::tile) and kernels.
//!
//! Each has a page, with its operands, its result and an example. An operand in `[…]` may be left out, and the operand before `…`
//! may be repeated. A name is CuTe's if CuTe has the operation.
//!
//! Rust code calls them inside of the macros only; [`cute_algebra`] has them as functions for values that a program computes.
//! ```
//! use cute_runtime::{Layout, layout};
//! const TILES: Layout = layout!(zipped_divide((8,12):(12,1), <4,3>));
//! assert_eq!(TILES.to_string(), "((4,3),(2,4)):((12,1),(48,3))");
//! ```

// rustc evaluates operations in macros and needs no functions of their names. Documentation and editors do.
#[cfg(any(doc, rust_analyzer))]
mod functions;

#[cfg(any(doc, rust_analyzer))]
pub use functions::*;

/// A value of the notation or of the kernel language: a number, a layout, a tensor, … Which one it is, Rust does not know.
#[cfg(all(doc, not(rust_analyzer)))]
pub enum Value {}

// To rust-analyzer, values have no type, so that it finds no types to be wrong.
#[cfg(rust_analyzer)]
#[allow(missing_docs)]
pub type Value = _;

/// Declares functions by their names and the names of their arguments.
#[cfg(any(doc, rust_analyzer))]
macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident $([$($generic:ident),*])? ($($argument:ident),*);)*) => {
        $(
            $(#[$doc])*
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub fn $name<$($($generic),*)?>($($argument: impl Sized),*) -> Value {
                loop {}
            }
        )*
    };
}

/// Declares words, which are values of their own.
#[cfg(any(doc, rust_analyzer))]
macro_rules! declare_words {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[allow(non_camel_case_types)]
            pub struct $name;
        )*
    };
}

#[cfg(any(doc, rust_analyzer))]
pub(crate) use {declare, declare_words};
