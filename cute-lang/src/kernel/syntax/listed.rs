//! What stands in a list of `#[instances(…)]`: values with a name, other expressions, and whole arrays.

use proc_macro2::{Ident, Span};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, ExprRange, Lit, RangeLimits, Result};

/// The values of parameters that are selected together, or several values of one parameter.
#[derive(Clone)]
pub(crate) enum Listed {
    /// A value for each parameter, as it is in the name of the instance.
    Named(Vec<Expr>),
    /// A value of one parameter that gives no name.
    Expr(Expr),
    /// All elements of a constant array, as values of one parameter. It is the path of the array.
    Array(Expr),
}

impl Listed {
    /// `SMALL`, `Config { bm: 64, ..SMALL }` or `..TILES` in a list of values of one parameter.
    pub(super) fn of_one(value: Expr) -> Result<Self> {
        match ungrouped(value) {
            // `_` is given at run time, and only `#[instance(…)]` takes it.
            value @ Expr::Infer(_) => Ok(Self::Named(vec![value])),
            Expr::Range(ExprRange {
                start: None,
                limits: RangeLimits::HalfOpen(_),
                end: Some(array),
                ..
            }) => Self::array(*array),
            value if text_of(&value).is_ok() => Ok(Self::Named(vec![value])),
            value => Ok(Self::Expr(value)),
        }
    }

    /// All elements of the array with this path.
    pub(super) fn array(array: Expr) -> Result<Self> {
        match ungrouped(array) {
            array @ Expr::Path(_) => Ok(Self::Array(array)),
            other => {
                let message = "expected the name of a constant array";
                Err(Error::new_spanned(other, message))
            }
        }
    }
}

/// The expression without the invisible delimiters of a macro.
fn ungrouped(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => ungrouped(*group.expr),
        value => value,
    }
}

/// The text of a value in the name of an instance.
pub(crate) fn text_of(value: &Expr) -> Result<String> {
    let text = match value {
        Expr::Path(path) => {
            let last = path.path.segments.last();
            last.map(|last| last.ident.to_string())
        }
        Expr::Lit(ExprLit {
            lit: Lit::Int(lit), ..
        }) => Some(lit.base10_digits().to_owned()),
        Expr::Lit(ExprLit {
            lit: Lit::Bool(lit),
            ..
        }) => Some(lit.value.to_string()),
        _ => None,
    };
    text.ok_or_else(|| {
        let message = "this value gives the instance no name: use a type, an integer, a truth value or a constant";
        Error::new_spanned(value, message)
    })
}

/// The numbers of expressions, by parameter.
#[derive(Default)]
pub(crate) struct Numbers(HashMap<String, usize>);

impl Numbers {
    /// The names of the elements of an array, `TILES_0` and so on, or of an expression among those of a parameter, `CFG_0`. They point to
    /// the array or to the expression. `length` knows the length of an array.
    pub(crate) fn names(
        &mut self,
        parameter: &Ident,
        listed: &Listed,
        length: &dyn Fn(&Expr) -> usize,
    ) -> Vec<Ident> {
        match listed {
            Listed::Named(_) => Vec::new(),
            Listed::Expr(expr) => {
                let next = self.0.entry(parameter.to_string()).or_default();
                let name = numbered(parameter, *next, expr.span());
                *next += 1;
                vec![name]
            }
            Listed::Array(array) => {
                let path = match array {
                    Expr::Path(path) => path.path.segments.last(),
                    _ => None,
                };
                let name = path.map_or(parameter, |last| &last.ident);
                let numbers = 0..length(array);
                numbers
                    .map(|number| numbered(name, number, array.span()))
                    .collect()
            }
        }
    }
}

fn numbered(name: &Ident, number: usize, span: Span) -> Ident {
    Ident::new(&format!("{}_{number}", name.unraw()), span)
}
