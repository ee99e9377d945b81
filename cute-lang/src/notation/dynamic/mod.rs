//! Values with run-time integers as Rust: a type with a constructor, or a function.

mod coordinates;
mod declared;
mod index;
mod layout;
mod number;
mod recipe;

use crate::notation::carrier::carrier;
use crate::notation::dynamic::coordinates::Coordinates;
use crate::notation::dynamic::layout::{Shaped, Tiles};
use crate::notation::dynamic::number::Number;
use crate::notation::input::{Bound, Context, Form, Item};
use crate::notation::tokens::Spanned;
use cute_algebra::notation::{
    Definition, Definitions, Names, NotationError, Symbolic, eval_symbolic, eval_symbolic_tiling,
};
use cute_algebra::symbolic::{Origin, Scope, Term};
use cute_algebra::{ComposedLayout, Swizzle, SymbolicTiling, Value};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use quote::{format_ident, quote};

/// A value with run-time integers, and the Rust expressions of these integers.
pub(super) struct Dynamic {
    scope: Scope,
    kind: Kind,
    captured: Vec<TokenStream>,
    /// The value as text.
    shown: String,
    /// The expression for the carrier.
    text: String,
}

enum Kind {
    Layout(Shaped),
    Coordinates(Coordinates),
    Number(Number),
    /// Several values, made together.
    List(Vec<Kind>),
    /// It has no value at run time. Other layouts can name it.
    Tiler,
}

/// Folds an expression with run-time integers. `names` has the values of its names, and `texts` their expressions.
pub(super) fn fold(
    spanned: &Spanned,
    definition: Definition,
    form: Form,
    names: Names<'_>,
    texts: Definitions<'_>,
) -> syn::Result<Dynamic> {
    let at_token = |error: NotationError| spanned.error(&error);
    let Definition { facts, expr } = &definition;
    let (scope, kind, shown, captured) = match form {
        Form::Layout => {
            let (Symbolic { scope, value }, captured) =
                eval_symbolic(facts, expr, names).map_err(at_token)?;
            let shown = value.to_string();
            let kind = Kind::new(value, &shown)
                .map_err(|message| at_token(NotationError::new(&expr.at, message)))?;
            (scope, kind, shown, captured)
        }
        Form::Tile | Form::DisjointTile => {
            let (scope, SymbolicTiling { layout, axes }, captured) =
                eval_symbolic_tiling(facts, expr, names).map_err(at_token)?;
            let shown = layout.to_string();
            let is_disjoint = form == Form::DisjointTile;
            let tiles = Some(Tiles { axes, is_disjoint });
            let composed = layout;
            (
                scope,
                Kind::Layout(Shaped { composed, tiles }),
                shown,
                captured,
            )
        }
    };
    // They are in the order of the atoms, as the names in the recipe are.
    let captures = scope.origins().enumerate().filter_map(|(atom, origin)| {
        let Origin::Captured(name) = origin else {
            return None;
        };
        let (_, at) = captured.iter().find(|(known, _)| known.index() == atom)?;
        Some(spanned.leaf(name, at))
    });
    let captured = captures.map(rust_expression).collect::<syn::Result<_>>()?;
    let is_layout = matches!(kind, Kind::Layout(_) | Kind::Coordinates(_));
    let whole = definition.expand(texts).map_err(at_token)?;
    let whole = if is_layout {
        whole.into_layout()
    } else {
        whole
    };
    Ok(Dynamic {
        scope,
        kind,
        captured,
        shown,
        text: whole.to_string(),
    })
}

impl Kind {
    fn new(value: Value<Term>, shown: &str) -> Result<Self, String> {
        let composed = match value {
            Value::Layout(layout) if layout.is_integral() => {
                ComposedLayout::new(Swizzle::IDENTITY, 0.into(), layout)
                    .map_err(|error| error.to_string())?
            }
            Value::Composed(composed) => composed,
            Value::Tiler(_) => return Ok(Self::Tiler),
            Value::List(values) => {
                let parts = values.into_iter().map(|value| Self::new(value, shown));
                return parts.collect::<Result<_, _>>().map(Self::List);
            }
            Value::Layout(layout) => {
                return Coordinates::new(layout, shown).map(Self::Coordinates);
            }
            value => {
                return Number::new(&value)
                    .map(Self::Number)
                    .ok_or_else(|| format!("expected a layout, found {}: {shown}", value.kind()));
            }
        };
        let tiles = None;
        Ok(Self::Layout(Shaped { composed, tiles }))
    }
}

/// An expression of type `Result`.
pub(super) fn expression(
    context: &Context,
    body: &TokenStream,
    dynamic: &Dynamic,
) -> syn::Result<TokenStream> {
    let values = values(dynamic.captured.len());
    let Some(value) = result(context, &dynamic.scope, &dynamic.kind, &values) else {
        return Err(syn::Error::new_spanned(
            body,
            "expected a layout, found a tiler",
        ));
    };
    Ok(capturing(context, &dynamic.captured, &values, &value))
}

/// An expression of type `Result`, or `None` for a tiler, which has no run-time value.
fn result(
    context: &Context,
    scope: &Scope,
    kind: &Kind,
    values: &[TokenStream],
) -> Option<TokenStream> {
    Some(match kind {
        Kind::Layout(layout) => layout::expression(context, scope, layout, values),
        Kind::Coordinates(coordinates) => {
            coordinates::expression(context, scope, coordinates, values)
        }
        Kind::Number(number) => number::expression(context, scope, number, values),
        Kind::List(parts) => {
            let parts = parts.iter().map(|part| {
                let part = result(context, scope, part, values)?;
                Some(quote!({ #part }))
            });
            let parts = parts.collect::<Option<Vec<_>>>()?;
            let names: Vec<_> = (0..parts.len()).map(|i| format_ident!("part{i}")).collect();
            let tuple = quote!(::core::result::Result::Ok((#(#names,)*)));
            // All parts have the same checks, so any of them gives the same error.
            parts.iter().zip(&names).rev().fold(
                tuple,
                |rest, (part, name)| quote!(::core::result::Result::and_then(#part, |#name| #rest)),
            )
        }
        Kind::Tiler => return None,
    })
}

/// The expression that replaces one with the name of an item with an error.
pub(super) fn fallback_expression(context: &Context, integers: &[TokenStream]) -> TokenStream {
    let values = values(integers.len());
    let value = layout::fallback_expression(context, integers.len(), &values);
    capturing(context, integers, &values, &value)
}

fn values(count: usize) -> Vec<TokenStream> {
    (0..count)
        .map(|i| format_ident!("value{i}").into_token_stream())
        .collect()
}

/// Evaluates the user's expressions outside of the block of the value, so that they cannot use its names.
fn capturing(
    context: &Context,
    captured: &[TokenStream],
    values: &[TokenStream],
    value: &TokenStream,
) -> TokenStream {
    let facade = &context.facade;
    quote! {
        match (#(#facade::__private::capture(#captured),)*) {
            (#(#values,)*) => { #value }
        }
    }
}

/// The declarations of an item.
pub(super) fn item(context: &Context, item: &Item, dynamic: &Dynamic) -> syn::Result<TokenStream> {
    let parameters = dynamic.captured.iter().map(parameter);
    let parameters = parameters.collect::<syn::Result<Vec<_>>>()?;
    let (scope, shown) = (&dynamic.scope, &dynamic.shown);
    let declarations = match &dynamic.kind {
        Kind::Layout(layout) => layout::item(context, item, scope, shown, layout, &parameters),
        Kind::Coordinates(coordinates) => {
            coordinates::item(context, item, scope, shown, coordinates, &parameters)
        }
        Kind::Number(number) => number::item(context, item, scope, shown, number, &parameters),
        Kind::List(_) => {
            return Err(syn::Error::new_spanned(
                &item.body,
                format!(
                    "several values with run-time integers can be an expression, but not an item: {}",
                    dynamic.shown
                ),
            ));
        }
        Kind::Tiler => quote!(),
    };
    let carrier = carrier(context, item, &Bound::Text(dynamic.text.clone()));
    Ok(quote!(#declarations #carrier))
}

/// The declarations of an item with a reported error. The constructor takes the integers and checks nothing.
pub(super) fn fallback_item(
    context: &Context,
    item: &Item,
    integers: &[TokenStream],
) -> TokenStream {
    let ident = |integer| syn::parse2::<Ident>(integer).ok();
    let integers: Vec<_> = integers.iter().cloned().filter_map(ident).collect();
    // A name that cannot be a parameter gets a `_`.
    let parameters: Vec<_> = integers
        .iter()
        .map(|integer| match parameter(&quote!(#integer)) {
            Ok(parameter) => parameter,
            Err(_) => format_ident!("{integer}_"),
        })
        .collect();
    let declarations = layout::fallback_item(context, item, &parameters);
    let carrier = carrier(context, item, &Bound::Error(integers));
    quote!(#declarations #carrier)
}

/// The tokens, or an error if they are not a Rust expression. Between braces, they may be anything.
fn rust_expression(tokens: TokenStream) -> syn::Result<TokenStream> {
    syn::parse2::<syn::Expr>(tokens.clone()).map(|_| tokens)
}

/// The name of the parameter for a run-time integer.
fn parameter(captured: &TokenStream) -> syn::Result<Ident> {
    let parameter = syn::parse2::<Ident>(captured.clone()).ok();
    let parameter = parameter.filter(|name| !name.to_string().starts_with("r#"));
    let Some(parameter) = parameter else {
        return Err(syn::Error::new_spanned(
            captured,
            "a run-time integer of an item must be a name, which becomes a parameter of `try_new`",
        ));
    };
    match layout::METHODS.iter().any(|taken| parameter == taken) {
        true => Err(syn::Error::new_spanned(
            captured,
            "the type of the layout has a function of this name: use another",
        )),
        false => Ok(parameter),
    }
}
