//! Unused variables of kernels, as Rust: rustc then warns about them. A macro cannot warn on stable Rust.
//!
//! rustc warns about a variable that nothing uses where the expansion has a `let` of its name, since no macro can warn on stable Rust.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

pub(super) fn unused(variables: &[Ident]) -> TokenStream {
    match variables {
        [] => TokenStream::new(),
        variables => quote! {
            const _: fn() = || { #(let #variables = ();)* };
        },
    }
}
