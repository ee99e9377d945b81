//! Expressions to values, when the values of all names are known.

use crate::notation::carrier::Question;
use crate::notation::dynamic;
use crate::notation::dynamic::Dynamic;
use crate::notation::input::{Bound, Context, Form};
use crate::notation::seen::seen;
use crate::notation::tokens::Spanned;
use cute_algebra::notation::{
    Definition, Expr, NotationError, eval, eval_layout, eval_tiling, require_disjoint,
};
use cute_algebra::{Tiling, Value};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::ops::Range;

/// The result of folding an expression.
pub(super) enum Folded {
    /// The value.
    Value(Value),
    /// The value for `tile!`.
    Tiling(Tiling),
    /// It has run-time integers.
    Dynamic(Box<Dynamic>),
    /// The value of a name is not known.
    Continue(Question),
    /// A name in it has a reported error.
    Poisoned,
}

/// Folds an expression. `stray` says how to treat facts about integers that it does not have.
pub(super) fn fold(
    context: &Context,
    body: &TokenStream,
    form: Form,
    stray: Stray,
) -> syn::Result<Folded> {
    let spanned = Spanned::new(body.clone())?;
    let (facts, expr) = spanned.parse_where()?;
    let mut definition = Definition::new(facts, expr);
    let at_token = |error: NotationError| spanned.error(&error);
    if let Some((name, at)) = definition.both_integer_and_layout() {
        let message = format!(
            "`{name}` is a run-time integer in this expression, and a layout or a tiler is expected here"
        );
        let help = format!("the integer is written `{{{name}}}` here");
        return Err(at_token(NotationError::new(&at, message).help(help)));
    }
    let named = match Named::all(context, &definition.expr)? {
        Ok(named) => named,
        Err(at) => {
            let path = spanned.path(&at);
            return Ok(Folded::Continue(Question::path(context, &path)));
        }
    };
    if named
        .iter()
        .any(|(_, named)| matches!(named, Named::Error(_)))
    {
        return Ok(Folded::Poisoned);
    }
    let names = |name: &str| match find(&named, name) {
        Some(Named::Value(_, value)) => Some(value.clone()),
        _ => None,
    };
    let with_integers = |name: &str| match find(&named, name) {
        Some(Named::Expression(definition)) => Some(definition.clone()),
        _ => None,
    };
    definition = definition.expand(&with_integers).map_err(at_token)?;
    if let Some(fact) = definition.take_stray_facts(&names).first()
        && stray == Stray::IsAnError
    {
        let message = "this fact has an integer that does not occur in the layout after it";
        return Err(at_token(NotationError::new(&fact.at, message)));
    }
    if definition.expr.has_run_time_leaf(&names) {
        let text = |name: &str| find(&named, name).and_then(Named::definition);
        return dynamic::fold(&spanned, definition, form, &names, &text)
            .map(|dynamic| Folded::Dynamic(Box::new(dynamic)));
    }
    let expr = &definition.expr;
    let folded = match form {
        Form::Layout => eval_layout(expr, &names).map(Folded::Value),
        Form::Tile => eval_tiling(expr, &names).map(Folded::Tiling),
        Form::DisjointTile => eval_tiling(expr, &names).and_then(|tiling| {
            require_disjoint(&tiling, expr)?;
            Ok(Folded::Tiling(tiling))
        }),
    };
    folded.map_err(at_token)
}

/// How to treat a fact about an integer that the expression does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stray {
    /// It is ignored, because it may be about another item.
    IsLeftOut,
    IsAnError,
}

/// The run-time integers of an expression with an error, as far as they can be found.
pub(super) fn integers(context: &Context, body: &TokenStream) -> Vec<TokenStream> {
    let parsed = || -> syn::Result<Vec<TokenStream>> {
        let spanned = Spanned::new(body.clone())?;
        let (facts, expr) = spanned.parse_where()?;
        let named = Named::all(context, &expr)?.unwrap_or_default();
        let definitions = |name: &str| find(&named, name).and_then(Named::definition);
        let definition = Definition::new(facts, expr)
            .expand(&definitions)
            .map_err(|error| spanned.error(&error))?;
        let integers = definition.integers(&|_| None);
        let tokens = integers.iter().map(|(name, at)| spanned.leaf(name, at));
        Ok(tokens.collect())
    };
    let seen = |_| seen(body).iter().map(|name| quote!(#name)).collect();
    parsed().unwrap_or_else(seen)
}

/// The meaning of a name in an expression.
enum Named {
    /// A value, and its text.
    Value(String, Value),
    /// An expression with run-time integers.
    Expression(Definition),
    /// An error in an expression with these run-time integers.
    Error(Vec<Ident>),
}

/// Names and their meanings.
type Names = Vec<(String, Named)>;

impl Named {
    /// The meanings of the names in an expression, or the position of the first name without a known value.
    fn all(context: &Context, expr: &Expr) -> syn::Result<Result<Names, Range<usize>>> {
        let mut all = Vec::new();
        for (name, at) in expr.layout_names() {
            let binding = context.bindings.iter().find(|(known, _)| known == name);
            let Some((_, bound)) = binding else {
                return Ok(Err(at));
            };
            all.push((name.to_owned(), Self::new(bound)?));
        }
        Ok(Ok(all))
    }

    fn new(bound: &Bound) -> syn::Result<Self> {
        let text = match bound {
            Bound::Text(text) => text,
            Bound::Error(integers) => return Ok(Self::Error(integers.clone())),
            Bound::Kernels(_) | Bound::Broken | Bound::Feature(_) => {
                let message = "a module of kernels is no layout";
                return Err(syn::Error::new(Span::call_site(), message));
            }
        };
        let here = |error| syn::Error::new(Span::call_site(), error);
        let definition: Definition = text.parse().map_err(here)?;
        match definition.expr.has_run_time_leaf(&|_| None) {
            true => Ok(Self::Expression(definition)),
            false => {
                let value = eval(&definition.expr, &|_| None).map_err(here)?;
                Ok(Self::Value(text.clone(), value))
            }
        }
    }

    /// The definition of the name. For an error, this is a shape with the same run-time integers.
    fn definition(&self) -> Option<Definition> {
        match self {
            Self::Value(text, _) => text.parse().ok(),
            Self::Expression(definition) => Some(definition.clone()),
            Self::Error(integers) => quote!((#(#integers),*)).to_string().parse().ok(),
        }
    }
}

fn find<'a>(named: &'a [(String, Named)], name: &str) -> Option<&'a Named> {
    let known = named.iter().find(|(known, _)| known == name);
    known.map(|(_, named)| named)
}
