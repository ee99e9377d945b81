//! Carriers, macros that carry values from item to item.
//!
//! An expression that mentions an unknown `A` expands to `A! { { entry } [ known, A ] rest }`. The carrier `A!` puts A's value in
//! front and calls the facade's `carry!`, which goes on with `entry! { [ known, A = "value" ] rest }`. The value of a layout with
//! run-time integers is its expression.

use crate::notation::input::{Bound, Context, Item};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use std::hash::{DefaultHasher, Hash, Hasher};
use syn::Visibility;

extern crate proc_macro;

/// What a carrier is called with, before the rest of the input: the entry to come back to, and the names that are known.
pub(crate) fn state(context: &Context, entry: &str, carrier: &TokenStream) -> TokenStream {
    let facade = &context.facade;
    let entry = format_ident!("{entry}");
    let known = context.bindings.iter().map(|(name, value)| {
        let path: TokenStream = name.parse().unwrap_or_default();
        quote!(, #path = #value)
    });
    quote!({ #facade :: __private :: #entry } [ #facade #(#known)* , #carrier ])
}

/// The carrier of an item: a macro of its name that passes on what it stands for.
pub(super) fn carrier(context: &Context, item: &Item, bound: &Bound) -> TokenStream {
    let facade = &context.facade;
    let (name, visibility) = (&item.name, &item.visibility);
    let hidden = format_ident!("__layout_{}_{}", name, location(name));
    // An exported macro is the one kind that `pub use` can pass on; it lands in the root of the crate.
    let export = matches!(visibility, Visibility::Public(_)).then(|| quote!(#[macro_export]));
    quote! {
        #[doc(hidden)]
        #[allow(non_local_definitions, unused_macros)]
        #export
        macro_rules! #hidden {
            ($($use:tt)*) => { #facade::__private::carry! { [ #bound ] $($use)* } };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        #visibility use #hidden as #name;
    }
}

/// Distinguishes items of one name in different modules, whose exported macros share the root of the crate.
/// A hash of the place in the source, so that it is the same in every build.
fn location(name: &Ident) -> String {
    if !proc_macro::is_available() {
        return "here".to_owned();
    }
    let span = name.span().unwrap();
    let mut hasher = DefaultHasher::new();
    (span.file(), span.line(), span.column()).hash(&mut hasher);
    format!("{:x}", hasher.finish())
}
