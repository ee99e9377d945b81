//! Tilings as Rust.

use super::Form;
use super::carrier::carrier;
use super::expand::{
    Constant, composed_tokens, declarations, layout_tokens, layout_with, literal, static_layout,
    swizzle_tokens, table,
};
use super::input::{Bound, Context, Item};
use cute_algebra::{Axis, ComposedLayout, Tiling, Value};
use proc_macro2::TokenStream;
use quote::quote;

/// A tiling in the place of an expression.
pub(super) fn expression(context: &Context, tiling: &Tiling) -> TokenStream {
    constant(context, tiling).inline()
}

/// The declarations of an item: a type, a constant and a carrier of its name; and the mark of the tilings of which it is
/// proved that no two coordinates share an element.
pub(super) fn item(context: &Context, item: &Item, tiling: &Tiling) -> TokenStream {
    let value: Value = match tiling.layout().as_layout() {
        Some(layout) => layout.clone().into(),
        None => tiling.layout().clone().into(),
    };
    let constant = constant(context, tiling);
    let (text, layout) = (value.to_string(), static_layout(&value));
    let declarations = declarations(
        context,
        item,
        &constant,
        Some(&text),
        layout.as_ref(),
        Form::Tile,
    );
    let disjoint = tiling.is_disjoint().then(|| disjoint(context, item));
    let carrier = carrier(context, item, &Bound::of(&value));
    quote!(#declarations #disjoint #carrier)
}

/// The mark. The runtime checks it against the numbers of the tiling, so that it need not be believed.
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

fn constant(context: &Context, tiling: &Tiling) -> Constant {
    let facade = &context.facade;
    let layout = match tiling.layout().as_layout() {
        Some(layout) => layout_tokens(layout),
        None => composed_tokens(tiling.layout()),
    };
    let whole = without_table(tiling.whole());
    let axes = tiling.axes().into_iter().map(|Axis { extent, strides }| {
        let (extent, strides) = (literal(extent), table(strides.iter().copied()));
        quote!(Axis { extent: #extent, strides: #strides })
    });
    Constant {
        value: quote!({ use #facade::__private::*; tiling(#layout, #whole, &[#(#axes),*]) }),
        kind: quote!(#facade::Tiling),
    }
}

/// A layout that is known but not looked up.
fn without_table(composed: &ComposedLayout) -> TokenStream {
    let inner = layout_with(composed.layout(), &[]);
    if composed.as_layout().is_some() {
        return inner;
    }
    let (swizzle, offset) = (
        swizzle_tokens(composed.swizzle()),
        literal(composed.offset()),
    );
    quote!(swizzled(#swizzle, #offset, #inner, &[]))
}
