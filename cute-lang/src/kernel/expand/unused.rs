//! Variables of kernels that nothing uses, as Rust: rustc then warns about them, since no macro can on stable Rust.

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
