//! Integers, truth values and tuples that depend on run-time integers.

use crate::notation::dynamic::declared::{arguments, attributes};
use crate::notation::dynamic::recipe::{Kept, checks};
use crate::notation::input::{Context, Item};
use crate::notation::literal::literal;
use cute_algebra::symbolic::{Scope, Sum, Term};
use cute_algebra::{Tuple, Value};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

/// A number, a tuple of numbers, or a truth value.
pub(super) enum Number {
    Integers(Tuple<Sum>),
    /// A truth value that is the same for all integers that pass the checks.
    Truth(bool),
}

impl Number {
    pub(super) fn new(value: &Value<Term>) -> Option<Self> {
        Some(match value {
            Value::Int(sum) => Self::Integers(Tuple::Leaf(sum.clone())),
            Value::Tuple(tuple) => Self::Integers(tuple.clone()),
            Value::Bool(value) => Self::Truth(*value),
            _ => return None,
        })
    }

    fn kind(&self) -> TokenStream {
        match self {
            Self::Integers(tuple) => nested(tuple, &mut |_| quote!(::core::primitive::i64)),
            Self::Truth(_) => quote!(::core::primitive::bool),
        }
    }

    /// The value, from the array `numbers`.
    fn value(&self, kept: &mut Kept) -> TokenStream {
        match self {
            Self::Integers(tuple) => nested(tuple, &mut |sum| match sum.as_constant() {
                Some(value) => {
                    let value = literal(value);
                    quote!(#value)
                }
                None => {
                    let place = kept.place(sum.clone());
                    quote!(numbers[#place])
                }
            }),
            Self::Truth(value) => quote!(#value),
        }
    }
}

/// An expression of type `Result`.
pub(super) fn expression(
    context: &Context,
    scope: &Scope,
    number: &Number,
    values: &[TokenStream],
) -> TokenStream {
    let facade = &context.facade;
    let mut kept = Kept::default();
    let value = number.value(&mut kept);
    let recipe = kept.recipe(scope);
    let count = Literal::usize_unsuffixed(kept.counts()[0]);
    quote! {
        {
            const RECIPE: &#facade::__private::Recipe = {
                use #facade::__private::*;
                &#recipe
            };
            ::core::result::Result::map(
                RECIPE.build([#(#values),*]),
                |numbers: [::core::primitive::i64; #count]| { let _ = numbers; #value },
            )
        }
    }
}

/// A function of the run-time integers.
pub(super) fn item(
    context: &Context,
    item: &Item,
    scope: &Scope,
    shown: &str,
    number: &Number,
    parameters: &[Ident],
) -> TokenStream {
    let facade = &context.facade;
    let (name, visibility) = (&item.name, &item.visibility);
    let (docs, others) = attributes(item, shown);
    let checks = checks(scope);
    let summary = format!(" For these integers{checks}.");
    let kind = number.kind();
    let arguments = arguments(parameters);
    let values: Vec<_> = arguments
        .iter()
        .map(|argument| quote!(::core::option::Option::Some(#argument)))
        .collect();
    let body = expression(context, scope, number, &values);
    quote! {
        #docs
        #[doc = ""]
        #[doc = #summary]
        #(#others)*
        #[allow(dead_code, non_snake_case)]
        #visibility fn #name(#(#arguments: ::core::primitive::i64),*) -> ::core::result::Result<#kind, #facade::LayoutCheck> {
            #body
        }
    }
}

fn nested(tuple: &Tuple<Sum>, leaf: &mut dyn FnMut(&Sum) -> TokenStream) -> TokenStream {
    match tuple {
        Tuple::Leaf(sum) => leaf(sum),
        Tuple::Node(modes) => {
            let modes: Vec<_> = modes.iter().map(|mode| nested(mode, leaf)).collect();
            quote!((#(#modes,)*))
        }
    }
}
