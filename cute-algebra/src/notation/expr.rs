//! The syntax tree of the notation.

use crate::operations;
use std::ops::Range;

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, in the unit of the tokens.
    pub at: Range<usize>,
    /// Levels of the tree below and including this one, at most [`MAX_NESTING`](super::MAX_NESTING).
    pub(super) height: usize,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// `24`.
    Int(i64),
    /// `2@1@0`: the scale, and the indices as written, the outermost last.
    Basis(i64, Vec<usize>),
    /// `_`.
    Underscore,
    /// A name.
    Name(String),
    /// `{…}`.
    Braced(String),
    /// `(a,b)`: a tuple of integers, or layouts side by side.
    Tuple(Vec<Expr>),
    /// `shape:stride`.
    Layout(Box<Expr>, Box<Expr>),
    /// `shape:row` or `shape:col`.
    Ordered(Box<Expr>, Order),
    /// `<a,b>`: a tiler for each mode.
    Tiler(Vec<Expr>),
    /// `Sw<B,M,S>`.
    Swizzle(Box<[Expr; 3]>),
    /// `Sw o offset o layout`.
    Swizzled(Box<[Expr; 3]>),
    /// An operation by name. `o`, `then` and `/` are calls as well.
    Call {
        /// Its name.
        operation: String,
        /// Where the name or the sign stands.
        name_at: Range<usize>,
        /// Its arguments.
        args: Vec<Expr>,
        /// Whether parts may hang over the end.
        ragged: bool,
    },
}

/// The order of the modes of a compact layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The rightmost mode fastest: CuTe's `LayoutRight`.
    Row,
    /// The leftmost mode fastest: CuTe's `LayoutLeft`.
    Col,
}

impl Expr {
    /// The names that stand where a layout or a tiler is expected, in order of appearance, with where they stand.
    /// A name inside a tuple of integers, beside a `:` or in a swizzle is an integer instead.
    pub fn layout_names(&self) -> Vec<(&str, Range<usize>)> {
        let mut names = Vec::new();
        collect_names(self, &mut names);
        names
    }

    /// Whether this is a layout whatever the names in it stand for.
    pub(super) fn is_visibly_layout(&self) -> bool {
        match &self.kind {
            ExprKind::Layout(..)
            | ExprKind::Ordered(..)
            | ExprKind::Swizzled(_)
            | ExprKind::Call { .. } => true,
            ExprKind::Tuple(items) => items.iter().any(Expr::is_visibly_layout),
            _ => false,
        }
    }
}

fn collect_names<'a>(expr: &'a Expr, names: &mut Vec<(&'a str, Range<usize>)>) {
    match &expr.kind {
        ExprKind::Name(name) => names.push((name, expr.at.clone())),
        ExprKind::Tuple(items) if expr.is_visibly_layout() => {
            items.iter().for_each(|item| collect_names(item, names))
        }
        ExprKind::Tiler(items) => items.iter().for_each(|item| collect_names(item, names)),
        ExprKind::Call {
            operation, args, ..
        } => {
            let takes_word = |index| {
                operations::find(operation).is_some_and(|operation| operation.takes_word(index))
            };
            let values = args.iter().enumerate().filter(|(i, _)| !takes_word(*i));
            values.for_each(|(_, arg)| collect_names(arg, names));
        }
        ExprKind::Swizzled(parts) => collect_names(&parts[2], names),
        _ => {}
    }
}
