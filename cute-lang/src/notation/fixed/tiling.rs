//! Tilings as Rust.

use crate::notation::carrier::carrier;
use crate::notation::fixed::declaration::{Constant, declarations, disjoint};
use crate::notation::fixed::layout::{composed_tokens, layout_tokens, layout_with, static_layout};
use crate::notation::input::{Bound, Context, Form, Item};
use crate::notation::literal::{literal, swizzle_tokens, table};
use cute_algebra::{Axis, ComposedLayout, Tiling, Value};
use proc_macro2::TokenStream;
use quote::quote;

/// A tiling in the place of an expression.
pub(in super::super) fn expression(context: &Context, tiling: &Tiling) -> TokenStream {
    constant(context, tiling).inline()
}

/// The declarations of an item: a type, a constant and a carrier of its name. If no two coordinates share an element,
/// the type also implements `DisjointTiling`.
pub(in super::super) fn item(context: &Context, item: &Item, tiling: &Tiling) -> TokenStream {
    let value: Value = match tiling.layout().as_layout() {
        Some(layout) => layout.clone().into(),
        None => tiling.layout().clone().into(),
    };
    let constant = constant(context, tiling);
    let layout = static_layout(&value);
    let declarations = declarations(
        context,
        item,
        &constant,
        Some(&value),
        layout.as_ref(),
        Form::Tile,
    );
    let disjoint = tiling.is_disjoint().then(|| disjoint(context, item));
    let carrier = carrier(context, item, &Bound::of(&value));
    quote!(#declarations #disjoint #carrier)
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

/// A layout without a table of its values.
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
