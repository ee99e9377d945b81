//! Carriers: macros that pass the value of one item to another.
//!
//! An expression that names an unknown `A` expands to `A! { { entry } [ known, A ] rest }`. The carrier `A!` adds the
//! value of `A` and calls the facade's `carry!`, which calls `entry! { [ known, A = "value" ] rest }`. For a layout
//! with run-time integers, the value is its expression.

use crate::notation::input::{Bound, Context, Item};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use std::hash::{DefaultHasher, Hash, Hasher};
use syn::Visibility;

extern crate proc_macro;

/// The first arguments of a carrier: the macro to call next, and the names that are known.
pub(crate) fn state(context: &Context, entry: &str, carrier: &TokenStream) -> TokenStream {
    let facade = &context.facade;
    let entry = format_ident!("{entry}");
    let known = context.bindings.iter().map(|(name, value)| {
        let path: TokenStream = name.parse().unwrap_or_default();
        quote!(, #path = #value)
    });
    let carrier = context.hidden_path(carrier);
    quote!({ #facade :: __private :: #entry } [ #facade #(#known)* , #carrier ])
}

/// The declaration of the carrier of an item.
pub(super) fn carrier(context: &Context, item: &Item, bound: &Bound) -> TokenStream {
    let (name, visibility) = (&item.name, &item.visibility);
    let exported = matches!(visibility, Visibility::Public(_));
    let (hidden, declaration) = declaration(context, "layout", name, exported, bound);
    let conditions: Vec<_> = item.conditions().collect();
    let name = context.hidden(name);
    quote! {
        #(#conditions)*
        #declaration
        #(#conditions)*
        #[doc(hidden)]
        #[allow(unused_imports)]
        #visibility use #hidden as #name;
    }
}

/// The name of a carrier, and its declaration.
pub(crate) fn declaration(
    context: &Context,
    kind: &str,
    name: &Ident,
    exported: bool,
    bound: &Bound,
) -> (Ident, TokenStream) {
    let facade = &context.facade;
    let hidden = context.hidden(&hidden(kind, name));
    // `pub use` can re-export only an exported macro, which is declared in the root of the crate.
    let export = exported.then(|| quote!(#[macro_export]));
    let declaration = quote! {
        #[doc(hidden)]
        #[allow(non_local_definitions, unused_macros, clippy::crate_in_macro_def)]
        #export
        macro_rules! #hidden {
            ($($use:tt)*) => { #facade::__private::carry! { [ #bound ] $($use)* } };
        }
    };
    (hidden, declaration)
}

/// The name of the macro that is the carrier of an item.
pub(crate) fn hidden(kind: &str, name: &Ident) -> Ident {
    format_ident!("__{}_{}_{}", kind, name, location(name))
}

/// A text that differs between items of one name in different modules, since their exported macros are all declared in
/// the root of the crate. It is a hash of the place in the source, so that it is the same in every build.
fn location(name: &Ident) -> String {
    if !proc_macro::is_available() {
        return "here".to_owned();
    }
    let span = name.span().unwrap();
    let mut hasher = DefaultHasher::new();
    (span.file(), span.line(), span.column()).hash(&mut hasher);
    format!("{:x}", hasher.finish())
}
