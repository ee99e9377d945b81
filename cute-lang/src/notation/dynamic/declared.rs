//! The type of a value with run-time integers: its declaration, its constructor, its functions.

use crate::notation::dynamic::index::coordinate_type;
use crate::notation::input::{Context, Item};
use cute_algebra::Layout;
use cute_algebra::symbolic::Term;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

/// The name and the attributes of a type.
pub(super) struct Declared<'a> {
    pub(super) name: Ident,
    pub(super) visibility: TokenStream,
    docs: TokenStream,
    /// Attributes of the type and its implementations.
    pub(super) others: &'a [syn::Attribute],
    /// The run-time integers kept by name.
    parameters: &'a [Ident],
}

impl<'a> Declared<'a> {
    /// The type in the block of an expression.
    pub(super) fn here() -> Self {
        Self {
            name: Ident::new("Dynamic", Span::call_site()),
            visibility: quote!(),
            docs: quote!(),
            others: &[],
            parameters: &[],
        }
    }

    pub(super) fn of(
        item: &'a Item,
        docs: TokenStream,
        others: &'a [syn::Attribute],
        parameters: &'a [Ident],
    ) -> Self {
        let visibility = &item.visibility;
        Self {
            name: item.name.clone(),
            visibility: quote!(#visibility),
            docs,
            others,
            parameters,
        }
    }
}

/// The type, and its `Display` and `Debug` by the function `write`.
pub(super) fn structure(
    context: &Context,
    declared: &Declared<'_>,
    counts: [usize; 2],
    write: &TokenStream,
) -> TokenStream {
    let facade = &context.facade;
    let [kept, divisors] = counts.map(Literal::usize_unsuffixed);
    let Declared {
        name,
        visibility,
        docs,
        others,
        parameters,
    } = declared;
    quote! {
        #docs
        #(#others)*
        #[allow(dead_code, non_camel_case_types, non_snake_case)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq, ::core::cmp::Eq)]
        #visibility struct #name {
            #(#parameters: ::core::primitive::i64,)*
            numbers: #facade::__private::Numbers<#kept, #divisors>,
        }

        #(#others)*
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #facade::__private::#write(self, f)
            }
        }

        #(#others)*
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #facade::__private::#write(self, f)
            }
        }
    }
}

/// `try_new`, a `new` for constants if `with_new`, and the functions of the run-time integers.
pub(super) fn constructor(
    context: &Context,
    declared: &Declared<'_>,
    recipe: &TokenStream,
    checks: &str,
    with_new: bool,
) -> TokenStream {
    let facade = &context.facade;
    let Declared {
        name,
        visibility,
        others,
        parameters,
        ..
    } = declared;
    let summary = format!(" For these integers{checks}.");
    let arguments = arguments(parameters);
    let new = with_new.then(|| {
        quote! {
            /// As `try_new`, but a condition that does not hold is a panic: in a constant, an error of compilation.
            #[track_caller]
            #visibility const fn new(#(#arguments: ::core::primitive::i64),*) -> Self {
                let numbers = <Self #recipe.expect([#(#arguments),*]);
                Self { #(#parameters: #arguments,)* numbers }
            }
        }
    });
    quote! {
        #(#others)*
        #[allow(dead_code, non_snake_case)]
        impl #name {
            #new
            #[doc = #summary]
            #visibility fn try_new(#(#arguments: ::core::primitive::i64),*) -> ::core::result::Result<Self, #facade::LayoutCheck> {
                ::core::result::Result::map(
                    <Self #recipe.build([#(::core::option::Option::Some(#arguments)),*]),
                    |numbers| Self { #(#parameters: #arguments,)* numbers },
                )
            }
            #(
                /// A run-time integer that the layout was built with.
                #visibility const fn #parameters(&self) -> ::core::primitive::i64 {
                    self.#parameters
                }
            )*
        }
    }
}

/// The parameter names of a function for run-time integers, in lower case: `M` would be a pattern if a constant has this name.
pub(super) fn arguments(parameters: &[Ident]) -> Vec<Ident> {
    let mut arguments: Vec<Ident> = Vec::new();
    for parameter in parameters {
        let name = parameter.to_string();
        if !name.contains(char::is_uppercase) {
            arguments.push(parameter.clone());
            continue;
        }
        let mut name = name.trim_start_matches("r#").to_lowercase();
        let is_taken = |name: &String| {
            let others = || parameters.iter().chain(&arguments);
            syn::parse_str::<Ident>(name).is_err() || others().any(|other| other == name)
        };
        while is_taken(&name) {
            name.push('_');
        }
        arguments.push(Ident::new(&name, parameter.span()));
    }
    arguments
}

/// The functions with an integer for each leaf, and further functions of the type.
pub(super) fn methods(
    declared: &Declared<'_>,
    layout: &Layout<Term>,
    value: &TokenStream,
    offset: &TokenStream,
    further: &TokenStream,
) -> TokenStream {
    let Declared {
        name,
        visibility,
        others,
        ..
    } = declared;
    let coordinate = coordinate_type(layout.shape());
    quote! {
        #(#others)*
        #[allow(dead_code)]
        impl #name {
            /// The value at a coordinate, an integer for each leaf.
            #[inline]
            #visibility const fn offset(&self, coord: #coordinate) -> #value {
                #offset
            }
            #further
        }
    }
}

/// The value of an expression: builds its recipe, and makes a value of its type from the numbers.
pub(super) fn built(recipe: &TokenStream, values: &[TokenStream]) -> TokenStream {
    quote! {
        ::core::result::Result::map(
            <Dynamic #recipe.build([#(#values),*]),
            |numbers| Dynamic { numbers },
        )
    }
}

/// The documentation of an item, followed by its value as text, and its other attributes.
pub(super) fn attributes(item: &Item, text: &str) -> (TokenStream, Vec<syn::Attribute>) {
    let (docs, others): (Vec<_>, Vec<_>) = item
        .attributes
        .iter()
        .cloned()
        .partition(|attribute| attribute.path().is_ident("doc"));
    let separator = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    let text = format!(" `{text}`");
    (quote!(#(#docs)* #separator #[doc = #text]), others)
}
