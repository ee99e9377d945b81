//! The macros `layout!`, `tile!` and `#[kernels]`; their logic is in `cute-lang`.
//!
//! Users call the macros of the same names in `cute-runtime`, which pass its path as `$crate`.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Folds a layout. Called through `cute_runtime::layout!`.
#[proc_macro]
pub fn layout(input: TokenStream) -> TokenStream {
    cute_lang::notation::layout(input.into()).into()
}

/// Folds a tiling. Called through `cute_runtime::tile!`.
#[proc_macro]
pub fn tile(input: TokenStream) -> TokenStream {
    cute_lang::notation::tile(input.into()).into()
}

/// Lowers the kernels of an inline module to PTX: see the documentation of `cute_runtime::kernels`.
#[proc_macro_attribute]
pub fn kernels(attribute: TokenStream, module: TokenStream) -> TokenStream {
    cute_lang::kernel::expand::kernels(attribute.into(), module.into()).into()
}

/// Goes on with a module of kernels that names layouts. Only expansions of [`macro@kernels`] call it.
#[proc_macro]
pub fn kernels_resumed(input: TokenStream) -> TokenStream {
    cute_lang::kernel::expand::resume(input.into()).into()
}
