//! Carriers: macros that pass the value of one item to another.
//!
//! An expression with an unknown `A` expands to `A! { { entry } [ known, A ] () rest }`. The carrier `A!` adds the value of `A` and calls
//! the facade's `carry!`, which calls `entry! { [ known, A = "value" ] rest }`. For a layout with run-time integers, the value is its
//! expression. Further questions are between the parentheses: for these, `carry!` calls the next carrier instead of `entry!`, so that
//! `entry!` is expanded once, for any number of names.

use crate::notation::input::{Bound, Context, Item};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use std::hash::{DefaultHasher, Hash, Hasher};
use syn::Visibility;

extern crate proc_macro;

/// A question to a macro.
pub(crate) struct Question {
    /// The macro.
    carrier: TokenStream,
    /// The first arguments of the macro.
    arguments: TokenStream,
    /// The name that the answer is bound to.
    name: TokenStream,
}

impl Question {
    /// Asks for the meaning of a path.
    pub(crate) fn path(context: &Context, path: &TokenStream) -> Self {
        let carrier = context.hidden_path(path);
        Self {
            name: carrier.clone(),
            carrier,
            arguments: TokenStream::new(),
        }
    }

    /// Asks whether the compiled crate has a feature.
    #[cfg(feature = "kernels")]
    pub(crate) fn feature(context: &Context, feature: &syn::LitStr) -> Self {
        let facade = &context.facade;
        Self {
            carrier: quote!(#facade :: __private :: feature),
            arguments: quote!(#feature),
            name: quote!(#feature),
        }
    }
}

/// The call that asks all questions, at least one, and then calls `entry!` with the answers and `rest`.
pub(crate) fn ask(
    context: &Context,
    entry: &str,
    first: &Question,
    others: &[Question],
    rest: &TokenStream,
) -> TokenStream {
    let facade = &context.facade;
    let entry = format_ident!("{entry}");
    let known = known(&context.bindings);
    let Question {
        carrier,
        arguments,
        name,
    } = first;
    let others = others.iter().map(|question| {
        let Question {
            carrier,
            arguments,
            name,
        } = question;
        quote!({ #carrier } { #arguments } [ #name ])
    });
    quote! {
        #carrier ! {
            #arguments { #facade :: __private :: #entry } [ #facade #(, #known)* , #name ] (#(#others)*) #rest
        }
    }
}

/// Names and their bindings, as tokens.
pub(crate) fn known(bindings: &[(String, Bound)]) -> impl Iterator<Item = TokenStream> {
    bindings.iter().map(|(name, bound)| {
        let path: TokenStream = match name.parse() {
            Ok(path) => path,
            Err(error) => unreachable!("`{name}` was written as tokens: {error}"),
        };
        quote!(#path = #bound)
    })
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
    // `pub use` can re-export only an exported macro, and this is declared in the root of the crate.
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

/// The name of an item's carrier macro.
pub(crate) fn hidden(kind: &str, name: &Ident) -> Ident {
    format_ident!("__{}_{}_{}", kind, name, location(name))
}

/// A text that differs between items of the same name in different modules, since the root of the crate declares all their exported macros.
/// It is a hash of the place in the source, so it is the same in every build.
fn location(name: &Ident) -> String {
    if !proc_macro::is_available() {
        return "here".to_owned();
    }
    let span = name.span().unwrap();
    let mut hasher = DefaultHasher::new();
    (span.file(), span.line(), span.column()).hash(&mut hasher);
    format!("{:x}", hasher.finish())
}
