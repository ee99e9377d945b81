//! Carriers, macros that carry values from item to item.
//!
//! A carrier is `macro_rules! A { ({ entry } [ known ] rest) => { entry! { [ known = "value" ] rest } } }`. An expression
//! that mentions an unknown `A` expands to `A! { { entry } [ known, A ] rest }` and so comes back with A's value.

use super::Form;
use super::dynamic::{self, Dynamic};
use super::input::{Context, Item};
use super::tokens::Spanned;
use cute_algebra::notation::{eval_layout, eval_str, eval_tiling, require_disjoint};
use cute_algebra::{Tiling, Value};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use std::hash::{DefaultHasher, Hash, Hasher};
use syn::Visibility;

extern crate proc_macro;

/// What became of an expression.
pub(super) enum Folded {
    /// Its value.
    Value(Value),
    /// Of `tile!`, its value.
    Tiling(Tiling),
    /// It has run-time integers.
    Dynamic(Box<Dynamic>),
    /// It needs the value of a name first: the carrier to call, and what to pass before the rest of the input.
    Continue {
        carrier: TokenStream,
        state: TokenStream,
    },
    /// A name in it has an error, which has been reported.
    Poisoned,
}

/// Folds an expression, if all its names are known.
pub(super) fn fold(context: &Context, body: &TokenStream, form: Form) -> syn::Result<Folded> {
    let spanned = Spanned::new(body.clone())?;
    let (facts, expr) = spanned.parse_where()?;
    let mut values = Vec::new();
    for (name, at) in expr.layout_names() {
        match context.bindings.iter().find(|(known, _)| known == name) {
            Some((_, Some(text))) => {
                let value =
                    eval_str(text).map_err(|error| syn::Error::new(Span::call_site(), error))?;
                values.push((name.to_owned(), value));
            }
            Some((_, None)) => return Ok(Folded::Poisoned),
            None => {
                let carrier = spanned.path(&at);
                let state = state(context, form.entry(), &carrier);
                return Ok(Folded::Continue { carrier, state });
            }
        }
    }
    let names = |name: &str| {
        values
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    if expr.has_run_time_leaf(&names) {
        return match form {
            Form::Layout => dynamic::fold(&spanned, &facts, &expr, &names)
                .map(|dynamic| Folded::Dynamic(Box::new(dynamic))),
            Form::Tile | Form::DisjointTile => Err(syn::Error::new_spanned(
                body,
                "`tile!` takes numbers; a layout with run-time integers is divided by `layout!`",
            )),
        };
    }
    let folded = match form {
        Form::Layout => eval_layout(&expr, &names).map(Folded::Value),
        Form::Tile => eval_tiling(&expr, &names).map(Folded::Tiling),
        Form::DisjointTile => eval_tiling(&expr, &names).and_then(|tiling| {
            require_disjoint(&tiling, &expr)?;
            Ok(Folded::Tiling(tiling))
        }),
    };
    folded.map_err(|error| spanned.error(&error))
}

/// What a carrier is called with, before the rest of the input: the entry to come back to, and the names that are known.
pub(crate) fn state(context: &Context, entry: &str, carrier: &TokenStream) -> TokenStream {
    let facade = &context.facade;
    let entry = format_ident!("{entry}");
    let known = context.bindings.iter().map(|(name, value)| {
        let path: TokenStream = name.parse().unwrap_or_default();
        let value = value_tokens(value.as_deref());
        quote!(, #path = #value)
    });
    quote!({ #facade :: __private :: #entry } [ #facade #(#known)* , #carrier ])
}

/// The carrier of an item.
pub(super) fn carrier(item: &Item, value: Option<&Value>) -> TokenStream {
    let text = value.map(ToString::to_string);
    let value = value_tokens(text.as_deref());
    let rule = quote! {
        ({ $($entry:tt)* } [ $($known:tt)* ] $($rest:tt)*) => { $($entry)* ! { [ $($known)* = #value ] $($rest)* } };
    };
    macro_of(item, &rule)
}

/// The carrier of an item with run-time integers, which have no value to be passed on.
pub(super) fn carrier_of_run_time(item: &Item) -> TokenStream {
    let message = format!(
        "`{}` has run-time integers, so no other layout can be made of it by name; write the expression out",
        item.name
    );
    macro_of(
        item,
        &quote!(($($any:tt)*) => { ::core::compile_error! { #message } };),
    )
}

/// A macro of an item's name.
fn macro_of(item: &Item, rule: &TokenStream) -> TokenStream {
    let (name, visibility) = (&item.name, &item.visibility);
    let hidden = format_ident!("__layout_{}_{}", name, location(name));
    // An exported macro is the one kind that `pub use` can pass on; it lands in the root of the crate.
    let export = matches!(visibility, Visibility::Public(_)).then(|| quote!(#[macro_export]));
    quote! {
        #[doc(hidden)]
        #[allow(non_local_definitions, unused_macros)]
        #export
        macro_rules! #hidden {
            #rule
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        #visibility use #hidden as #name;
    }
}

fn value_tokens(value: Option<&str>) -> TokenStream {
    match value {
        Some(text) => quote!(#text),
        None => quote!(error),
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
