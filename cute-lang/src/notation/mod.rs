//! The macros `layout!` and `tile!`: tokens to layouts, at expansion.
//!
//! The algebra's own parser and evaluator do the work; this module turns tokens into its tokens, its positions into
//! spans, and its values into Rust. Names are resolved by *carriers*: `layout! { pub A = …; }` also declares a macro `A!`
//! that passes A's value on, so an expression that mentions `A` expands to a call of `A!` with the expression as what
//! to continue with (see `carrier`). That works across modules and crates and before definition, because rustc resolves
//! macro names by fixpoint.

mod carrier;
mod dynamic;
mod fixed;
mod fold;
mod input;
mod literal;
mod seen;
mod tokens;

use crate::notation::fold::{Folded, Stray, fold, integers};
use crate::notation::input::{Form, Input, Item};
pub(crate) use carrier::state;
pub(crate) use input::{Bound, Context};
use proc_macro2::TokenStream;
use quote::quote;
pub use tokens::{eval, layout_names};

/// The expansion of `layout!`.
pub fn layout(input: TokenStream) -> TokenStream {
    expansion(input, Form::Layout)
}

/// The expansion of `tile!`.
pub fn tile(input: TokenStream) -> TokenStream {
    expansion(input, Form::Tile)
}

fn expansion(input: TokenStream, form: Form) -> TokenStream {
    // In braces the messages are ours alone; bare, rustc adds its own about the expression that is missing.
    let braced = |error: syn::Error| {
        let errors = error.to_compile_error();
        quote!({ #errors })
    };
    match Input::parse(input) {
        Ok(Input::Expression { context, body }) => {
            expand_expression(&context, &body, form).unwrap_or_else(braced)
        }
        Ok(Input::Items { context, items }) => {
            let items = items.into_iter().map(|item| match item {
                // An item is declared all the same, so that its uses add no messages of their own.
                Ok(item) => expand_item(&context, &item, form).unwrap_or_else(|error| {
                    let errors = error.to_compile_error();
                    let fallback = fallback_item(&context, &item, form);
                    quote!(#errors #fallback)
                }),
                Err(error) => error.to_compile_error(),
            });
            items.collect()
        }
        Err(error) => braced(error),
    }
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
        Folded::Continue { carrier, state } => Ok(quote!(#carrier ! { #state #body })),
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
                "`mut` asks for tiles that share no element: it belongs to `tile!`",
            ));
        }
        (Form::Tile | Form::DisjointTile, Some(_)) => Form::DisjointTile,
    };
    match fold(context, &item.body, form, Stray::IsLeftOut)? {
        Folded::Value(value) => fixed::item(context, item, &value)
            .map_err(|message| syn::Error::new_spanned(&item.body, message)),
        Folded::Tiling(tiling) => Ok(fixed::tiling::item(context, item, &tiling)),
        Folded::Dynamic(dynamic) => dynamic::item(context, item, &dynamic),
        Folded::Continue { carrier, state } => {
            let tokens = &item.tokens;
            Ok(quote!(#carrier ! { #state #tokens }))
        }
        Folded::Poisoned => Ok(fallback_item(context, item, form)),
    }
}

/// What stands for an item that has an error, or names one that does.
fn fallback_item(context: &Context, item: &Item, form: Form) -> TokenStream {
    match integers(context, &item.body) {
        integers if integers.is_empty() => fixed::fallback_item(context, item, form),
        integers => dynamic::fallback_item(context, item, &integers),
    }
}
