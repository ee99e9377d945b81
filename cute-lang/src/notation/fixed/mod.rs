//! Values without run-time integers as Rust.
//!
//! In the expansion of a layout, the nesting of modes is text, `"((_,_),_)"`. A tree of slices has a promoted constant at each node, and
//! took a fifth of the compile time of a thousand layouts.

mod declaration;
mod index;
mod layout;
pub(super) mod tiling;

use crate::notation::carrier::carrier;
use crate::notation::fixed::declaration::{Constant, declarations, disjoint};
use crate::notation::fixed::layout::{
    StaticLayout, composed_tokens, coordinate_tokens, layout_tokens, static_layout,
};
use crate::notation::input::{Bound, Context, Form, Item};
use crate::notation::literal::swizzle_tokens;
use cute_algebra::{IntTuple, Layout, Swizzle, Tuple, Value};
use proc_macro2::{Literal, TokenStream};
use quote::ToTokens;
use quote::quote;

/// A value that replaces an expression, or an error if the value has no form in Rust.
pub(super) fn expression(context: &Context, value: &Value) -> Result<TokenStream, String> {
    constant(context, value).map(Constant::inline)
}

/// The declarations of an item: a type, a constant and a carrier of its name.
pub(super) fn item(context: &Context, item: &Item, value: &Value) -> Result<TokenStream, String> {
    let carrier = carrier(context, item, &Bound::of(value));
    // A tiler has no value at run time. Other layouts can name it.
    if let Value::Tiler(_) = value {
        return Ok(carrier);
    }
    let constant = constant(context, value)?;
    let layout = static_layout(value);
    let declarations = declarations(
        context,
        item,
        &constant,
        Some(value),
        layout.as_ref(),
        Form::Layout,
    );
    Ok(quote!(#declarations #carrier))
}

/// The expression that replaces one with a reported error.
pub(super) fn fallback_expression(context: &Context, form: Form) -> TokenStream {
    fallback(context, form).inline()
}

/// The declarations of an item with a reported error.
pub(super) fn fallback_item(context: &Context, item: &Item, form: Form) -> TokenStream {
    let layout = StaticLayout {
        inner: Layout::unit(),
        swizzle: Swizzle::IDENTITY,
        offset: 0,
    };
    let constant = fallback(context, form);
    let declarations = declarations(context, item, &constant, None, Some(&layout), form);
    let disjoint = (form != Form::Layout).then(|| disjoint(context, item));
    let carrier = carrier(context, item, &Bound::Error(Vec::new()));
    quote!(#declarations #disjoint #carrier)
}

fn fallback(context: &Context, form: Form) -> Constant {
    let facade = &context.facade;
    let (value, kind) = match form {
        Form::Layout => (
            quote!(injective("_", &[1], &[0], &[0])),
            quote!(#facade::Layout),
        ),
        Form::Tile | Form::DisjointTile => (
            quote!(tiling(
                injective("(_,_)", &[1, 1], &[0, 0], &[0]),
                injective("_", &[1], &[0], &[]),
                &[]
            )),
            quote!(#facade::Tiling),
        ),
    };
    Constant {
        value: quote!({ use #facade::__private::*; #value }),
        kind,
    }
}

fn constant(context: &Context, value: &Value) -> Result<Constant, String> {
    let facade = &context.facade;
    let block = |value| quote!({ use #facade::__private::*; #value });
    let (value, kind) = match value {
        Value::Layout(layout) if !layout.is_integral() => (
            block(coordinate_tokens(layout)),
            quote!(#facade::CoordinateLayout),
        ),
        Value::Layout(layout) => {
            // A layout takes one name of the crate. A glob import would take rustc longer.
            let layout = layout_tokens(layout);
            let value = quote!({ #facade::__private::#layout });
            (value, quote!(#facade::Layout))
        }
        Value::Composed(layout) => (block(composed_tokens(layout)), quote!(#facade::Layout)),
        Value::Swizzle(swizzle) => (block(swizzle_tokens(*swizzle)), quote!(#facade::Swizzle)),
        // A map has columns by bit only if the extents of its shape are powers of two.
        Value::XorMap(map) if map.constant() == 0 && map.bit_columns().is_some() => {
            let columns = map
                .columns()
                .iter()
                .map(|&column| Literal::u64_unsuffixed(column));
            let count = Literal::usize_unsuffixed(map.columns().len());
            (
                quote!({ [#(#columns),*] }),
                quote!([::core::primitive::u64; #count]),
            )
        }
        Value::Int(value) => (
            block(Literal::i64_suffixed(*value).into_token_stream()),
            quote!(::core::primitive::i64),
        ),
        // Answers about a layout, and names of forms of the hardware.
        Value::Word(word) => (quote!({ #word }), quote!(&'static ::core::primitive::str)),
        Value::Bool(value) => (block(quote!(#value)), quote!(::core::primitive::bool)),
        Value::Tuple(tuple) => (block(tuple_value(tuple)), tuple_type(tuple)),
        Value::List(values) => {
            let parts = values.iter().map(|value| constant(context, value));
            let (values, kinds): (Vec<_>, Vec<_>) = parts
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .map(|Constant { value, kind }| (value, kind))
                .unzip();
            (quote!({ (#(#values,)*) }), quote!((#(#kinds,)*)))
        }
        _ => {
            return Err(format!(
                "expected a layout, found {}: {value}",
                value.kind()
            ));
        }
    };
    Ok(Constant { value, kind })
}

fn tuple_value(tuple: &IntTuple) -> TokenStream {
    match tuple {
        Tuple::Leaf(value) => Literal::i64_suffixed(*value).into_token_stream(),
        Tuple::Node(modes) => {
            let modes = modes.iter().map(tuple_value);
            quote!((#(#modes,)*))
        }
    }
}

fn tuple_type(tuple: &IntTuple) -> TokenStream {
    match tuple {
        Tuple::Leaf(_) => quote!(::core::primitive::i64),
        Tuple::Node(modes) => {
            let modes = modes.iter().map(tuple_type);
            quote!((#(#modes,)*))
        }
    }
}
