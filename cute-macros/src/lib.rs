//! The procedural macros behind `layout!`, `tile!` and `#[kernels]` of `cute-runtime`. Their code is in `cute-lang`.
//!
//! `cute_runtime::layout!` and `cute_runtime::tile!` call the macros of the same names here and pass the path of
//! `cute-runtime` as `$crate`. Nothing else calls them, and any release may change what they take.
//!
//! The macros `layout!` and `tile!` are `macro_rules!` wrappers that pass `$crate` on, so that expansions find `cute-runtime` under any
//! name that a user gives it. The attribute `#[kernels]` cannot be wrapped and takes `crate = path`.

#![forbid(unsafe_code)]

use cute_lang::notation::Reader;
use proc_macro::TokenStream;

/// Evaluates a layout: see `cute_runtime::layout!`, which calls this.
#[proc_macro]
pub fn layout(input: TokenStream) -> TokenStream {
    cute_lang::notation::layout(input.into(), Reader::Compiler).into()
}

/// Evaluates a tiling: see `cute_runtime::tile!`, which calls this.
#[proc_macro]
pub fn tile(input: TokenStream) -> TokenStream {
    cute_lang::notation::tile(input.into(), Reader::Compiler).into()
}

/// Lowers the kernels of an inline module to PTX: see the documentation of `cute_runtime::kernels`.
#[cfg(feature = "kernels")]
#[proc_macro_attribute]
pub fn kernels(attribute: TokenStream, module: TokenStream) -> TokenStream {
    cute_lang::kernel::expand::kernels(attribute.into(), module.into(), Reader::Compiler).into()
}

/// Continues the expansion of a module of kernels, once the expressions of the layouts that it names are known. Only
/// expansions of [`macro@kernels`] call it.
#[cfg(feature = "kernels")]
#[proc_macro]
pub fn kernels_resumed(input: TokenStream) -> TokenStream {
    cute_lang::kernel::expand::resume(input.into(), Reader::Compiler).into()
}

/// `layout!` as rust-analyzer reads it: see [`Reader::Editor`].
#[proc_macro]
pub fn layout_in_editor(input: TokenStream) -> TokenStream {
    cute_lang::notation::layout(input.into(), Reader::Editor).into()
}

/// `tile!` as rust-analyzer reads it: see [`Reader::Editor`].
#[proc_macro]
pub fn tile_in_editor(input: TokenStream) -> TokenStream {
    cute_lang::notation::tile(input.into(), Reader::Editor).into()
}

/// `#[kernels]` as rust-analyzer reads it: see [`Reader::Editor`].
#[cfg(feature = "kernels")]
#[proc_macro_attribute]
pub fn kernels_in_editor(attribute: TokenStream, module: TokenStream) -> TokenStream {
    cute_lang::kernel::expand::kernels(attribute.into(), module.into(), Reader::Editor).into()
}

/// Continues the expansion of a module of kernels that rust-analyzer reads.
#[cfg(feature = "kernels")]
#[proc_macro]
pub fn kernels_resumed_in_editor(input: TokenStream) -> TokenStream {
    cute_lang::kernel::expand::resume(input.into(), Reader::Editor).into()
}
