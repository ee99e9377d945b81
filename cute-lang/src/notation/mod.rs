//! The macros `layout!` and `tile!`.
//!
//! The parser and the evaluator are those of `cute-algebra`. This module turns Rust tokens into tokens of the notation
//! (`tokens`), positions of errors into spans, and values into Rust (`fixed` and `dynamic`). Names are resolved by
//! *carriers* (`carrier`): `layout! { pub A = …; }` also declares a macro `A!` that passes on the value of `A`. An
//! expression that names `A` expands to a call of `A!` with the expression as its argument, and `A!` calls `layout!`
//! again with the value. This works across modules and crates, and before the declaration of `A`, because rustc expands
//! macros until all names are resolved.

pub(crate) mod carrier;
mod dynamic;
mod editor;
mod fixed;
mod fold;
mod input;
mod literal;
mod names;
mod seen;
mod tokens;

use crate::notation::fold::{Folded, Stray, fold, integers};
use crate::notation::input::{Form, Input, Item};
pub(crate) use carrier::ask;
#[cfg(feature = "kernels")]
pub(crate) use carrier::{Question, known};
#[cfg(feature = "kernels")]
pub(crate) use editor::paths;
pub(crate) use input::Context;
pub use input::Reader;
#[cfg(feature = "kernels")]
pub(crate) use input::{Bound, bindings};
use proc_macro2::TokenStream;
use quote::quote;
pub use tokens::{eval, layout_names};

/// The expansion of `layout!`.
pub fn layout(input: TokenStream, reader: Reader) -> TokenStream {
    expansion(input, Form::Layout, reader)
}

/// The expansion of `tile!`.
pub fn tile(input: TokenStream, reader: Reader) -> TokenStream {
    expansion(input, Form::Tile, reader)
}

fn expansion(input: TokenStream, form: Form, reader: Reader) -> TokenStream {
    // Without the braces, rustc would add errors about a missing expression.
    let braced = |error: syn::Error| {
        let errors = error.to_compile_error();
        quote!({ #errors })
    };
    match Input::parse(input, reader) {
        Ok(Input::Expression { context, body }) => {
            let value = expand_expression(&context, &body, form).unwrap_or_else(braced);
            match editor::expression(&context, &body) {
                None => value,
                Some(names) => quote!({ #names #value }),
            }
        }
        Ok(Input::Items { context, mut items }) => {
            names::check(&mut items);
            let items = items.into_iter().map(|item| match item {
                Ok(item) => {
                    let names = editor::item(&context, &item);
                    let declarations = expand_or_report(&context, &item, form);
                    quote!(#names #declarations)
                }
                Err(error) => error.to_compile_error(),
            });
            items.collect()
        }
        Err(error) => braced(error),
    }
}

/// The declarations of an item. An item with an error is declared, too, so that its uses give no further errors.
fn expand_or_report(context: &Context, item: &Item, form: Form) -> TokenStream {
    let errors = match &item.fault {
        Some(errors) => errors.clone(),
        None => match expand_item(context, item, form) {
            Ok(declarations) => return declarations,
            Err(error) => error.to_compile_error(),
        },
    };
    let conditions = item.conditions();
    let conditions = (!errors.is_empty()).then(|| quote!(#(#conditions)*));
    let fallback = fallback_item(context, item, form);
    quote!(#conditions #errors #fallback)
}

fn expand_expression(
    context: &Context,
    body: &TokenStream,
    form: Form,
) -> syn::Result<TokenStream> {
    match fold(context, body, form, Stray::IsAnError)? {
        Folded::Value(value) => fixed::expression(context, &value)
            .map_err(|message| syn::Error::new_spanned(body, message)),
        Folded::Tiling(tiling) => Ok(fixed::tiling::expression(context, &tiling)),
        Folded::Dynamic(dynamic) => dynamic::expression(context, body, &dynamic),
        Folded::Continue(question) => Ok(ask(context, form.entry(), &question, &[], body)),
        Folded::Poisoned => Ok(match integers(context, body) {
            integers if integers.is_empty() => fixed::fallback_expression(context, form),
            integers => dynamic::fallback_expression(context, &integers),
        }),
    }
}

fn expand_item(context: &Context, item: &Item, form: Form) -> syn::Result<TokenStream> {
    let form = match (form, item.mutable) {
        (_, None) => form,
        (Form::Layout, Some(sign)) => {
            return Err(syn::Error::new_spanned(
                sign,
                "`mut` belongs to `tile!`, where it asks for tiles that share no element",
            ));
        }
        (Form::Tile | Form::DisjointTile, Some(_)) => Form::DisjointTile,
    };
    match fold(context, &item.body, form, Stray::IsLeftOut)? {
        Folded::Value(value) => fixed::item(context, item, &value)
            .map_err(|message| syn::Error::new_spanned(&item.body, message)),
        Folded::Tiling(tiling) => Ok(fixed::tiling::item(context, item, &tiling)),
        Folded::Dynamic(dynamic) => dynamic::item(context, item, &dynamic),
        Folded::Continue(question) => {
            let conditions = item.conditions();
            let call = ask(context, form.entry(), &question, &[], &item.tokens);
            Ok(quote!(#(#conditions)* #call))
        }
        Folded::Poisoned => Ok(fallback_item(context, item, form)),
    }
}

/// The declarations of an item that has an error, or that names an item with an error.
fn fallback_item(context: &Context, item: &Item, form: Form) -> TokenStream {
    match integers(context, &item.body) {
        integers if integers.is_empty() => fixed::fallback_item(context, item, form),
        integers => dynamic::fallback_item(context, item, &integers),
    }
}
