//! The declarations of an item: a type, a constant, the traits that it implements.

use crate::notation::fixed::layout::StaticLayout;
use crate::notation::input::{Context, Form, Item};
use cute_algebra::{Value, print_layout};
use proc_macro2::TokenStream;
use quote::quote;

/// A constant expression and its type.
pub(super) struct Constant {
    pub(super) value: TokenStream,
    pub(super) kind: TokenStream,
}

impl Constant {
    /// As an expression that rustc evaluates at compile time in every context.
    pub(super) fn inline(self) -> TokenStream {
        let value = self.value;
        quote!(const #value)
    }
}

pub(super) fn declarations(
    context: &Context,
    item: &Item,
    constant: &Constant,
    value: Option<&Value>,
    layout: Option<&StaticLayout>,
    form: Form,
) -> TokenStream {
    let Item {
        visibility,
        name,
        attributes,
        ..
    } = item;
    let Context { facade, .. } = context;
    let Constant {
        value: constant,
        kind,
    } = constant;
    let (docs, others): (Vec<_>, Vec<_>) = attributes
        .iter()
        .partition(|attribute| attribute.path().is_ident("doc"));
    let summary = value.map(|value| {
        let text = documentation(value);
        let separator = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
        quote!(#separator #[doc = #text])
    });
    let Some(layout) = layout else {
        return quote! {
            #(#docs)* #summary #(#others)*
            #[allow(dead_code, non_upper_case_globals)]
            #visibility const #name: #kind = #constant;
        };
    };
    let (whole, tiling) = match form {
        Form::Layout => (quote!(#name), None),
        Form::Tile | Form::DisjointTile => (
            quote!(#name.layout()),
            Some(quote! {
                #(#others)*
                impl #facade::StaticTiling for #name {
                    const TILING: #facade::Tiling = #name;
                }
            }),
        ),
    };
    let index = layout.index();
    quote! {
        #(#docs)* #summary #(#others)*
        #[allow(dead_code, non_camel_case_types)]
        #visibility enum #name {}

        #(#docs)* #summary #(#others)*
        #[allow(dead_code, non_upper_case_globals)]
        #visibility const #name: #kind = #constant;

        #(#others)*
        impl #facade::StaticLayout for #name {
            const LAYOUT: #facade::Layout = #whole;
            #[inline]
            fn index(coord: ::core::primitive::i64) -> ::core::primitive::i64 {
                #index
            }
        }

        #tiling
    }
}

/// The greatest layout, in elements, with a table in the documentation.
const PICTURE_LIMIT: i64 = 256;

/// The value as text, and as a table if it is a small layout.
fn documentation(value: &Value) -> String {
    let text = format!(" `{value}`");
    let is_small = match value {
        Value::Layout(layout) => layout.rank() <= 2 && layout.size() <= PICTURE_LIMIT,
        Value::Composed(composed) => {
            let layout = composed.layout();
            layout.rank() <= 2 && layout.size() <= PICTURE_LIMIT
        }
        _ => false,
    };
    match is_small.then(|| print_layout(value.clone())) {
        Some(Ok(table)) => format!("{text}\n```text\n{table}```"),
        _ => text,
    }
}

/// The implementation of `DisjointTiling`. The runtime proves it again from the numbers of the tiling.
pub(super) fn disjoint(context: &Context, item: &Item) -> TokenStream {
    let (facade, name) = (&context.facade, &item.name);
    let attributes = item
        .attributes
        .iter()
        .filter(|attribute| !attribute.path().is_ident("doc"));
    quote! {
        #(#attributes)*
        impl #facade::DisjointTiling for #name {}
    }
}
