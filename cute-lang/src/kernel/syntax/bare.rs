//! Expressions without parentheses.

use syn::Expr;

/// The expression without the parentheses around it, and without the invisible ones of a macro.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => bare(&paren.expr),
        Expr::Group(group) => bare(&group.expr),
        expr => expr,
    }
}
