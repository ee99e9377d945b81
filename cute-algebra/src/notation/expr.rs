//! The syntax tree of the notation.

use super::token::parse_integer;
use crate::operations;
use crate::value::Value;
use std::ops::Range;

/// Deepest nesting of an expression: parentheses, operations and chains of `o` together.
pub const MAX_NESTING: usize = 64;

/// What names stand for. `&|_| None` knows none.
pub type Names<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, in the unit of the tokens.
    pub at: Range<usize>,
    /// Levels of the tree below and including this one, at most [`MAX_NESTING`].
    pub(super) height: usize,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// `24`.
    Int(i64),
    /// `2@1@0`: the scale, and the indices as written, the outermost last.
    Basis(i64, Vec<usize>),
    /// `1/2@0`: numerator and denominator, and the indices as written.
    Fraction([i64; 2], Vec<usize>),
    /// `_`.
    Underscore,
    /// A name.
    Name(String),
    /// `{…}`.
    Braced(String),
    /// `4*m`: a product of integers, names and braces.
    Product(Vec<Expr>),
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

/// `left % right == 0`, or a comparison of products: something that holds of run-time integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The left side.
    pub left: Expr,
    /// How the sides relate.
    pub relation: Relation,
    /// The right side.
    pub right: Expr,
    /// Where it stands.
    pub at: Range<usize>,
}

/// What a fact says about its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `left % right == 0`.
    Multiple,
    /// `left <= right`.
    AtMost,
    /// `left < right`.
    Less,
    /// `left >= right`.
    AtLeast,
    /// `left > right`.
    Greater,
    /// `left == right`.
    Equal,
}

/// An integer by itself.
#[derive(PartialEq, Eq)]
pub(super) enum Leaf {
    /// A number.
    Known(i64),
    /// A path, the same wherever it is written.
    Named(String),
    /// Another Rust expression, which may give another value each time.
    Computed(String),
}

impl Expr {
    /// Whether there are run-time integers in it: braces that hold no number, or names in places of integers that `names`
    /// does not know.
    pub fn has_run_time_leaf(&self, names: Names<'_>) -> bool {
        !self.run_time_leaves(names).is_empty()
    }

    /// The run-time integers in order, with where they stand.
    pub(super) fn run_time_leaves(&self, names: Names<'_>) -> Vec<(Leaf, Range<usize>)> {
        let mut leaves = Vec::new();
        collect_run_time(self, names, &mut leaves);
        leaves
    }

    /// The run-time integers of a tuple or a product of integers.
    pub(super) fn integers(&self, names: Names<'_>) -> Vec<(Leaf, Range<usize>)> {
        let mut leaves = Vec::new();
        collect_leaves(self, names, &mut leaves);
        leaves
    }

    /// What an integer stands for, if this is one.
    pub(super) fn leaf(&self, names: Names<'_>) -> Option<Leaf> {
        match &self.kind {
            ExprKind::Int(value) => Some(Leaf::Known(*value)),
            ExprKind::Name(name) => match names(name) {
                Some(Value::Int(value)) => Some(Leaf::Known(value)),
                Some(_) => None,
                None => Some(Leaf::Named(name.clone())),
            },
            ExprKind::Braced(text) => {
                let inner = text
                    .trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}'))
                    .to_owned();
                if let Some(value) = parse_integer(&inner)
                    .ok()
                    .and_then(|value| i64::try_from(value).ok())
                {
                    return Some(Leaf::Known(value));
                }
                let path: String = inner.split_whitespace().collect();
                let is_path = path.split("::").all(|segment| {
                    segment.starts_with(|c: char| c.is_alphabetic() || c == '_')
                        && segment.chars().all(|c| c.is_alphanumeric() || c == '_')
                });
                Some(match names(&path) {
                    Some(Value::Int(value)) if is_path => Leaf::Known(value),
                    _ if is_path => Leaf::Named(path),
                    _ => Leaf::Computed(inner),
                })
            }
            _ => None,
        }
    }

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
        ExprKind::Product(factors) => factors
            .iter()
            .for_each(|factor| collect_names(factor, names)),
        ExprKind::Swizzled(parts) => collect_names(&parts[2], names),
        _ => {}
    }
}

fn collect_run_time(expr: &Expr, names: Names<'_>, leaves: &mut Vec<(Leaf, Range<usize>)>) {
    let mut all = |parts: &[Expr]| {
        parts
            .iter()
            .for_each(|part| collect_run_time(part, names, leaves))
    };
    match &expr.kind {
        ExprKind::Tuple(items) if expr.is_visibly_layout() => all(items),
        ExprKind::Tiler(items) | ExprKind::Call { args: items, .. } => all(items),
        ExprKind::Swizzle(parts) | ExprKind::Swizzled(parts) => all(&parts[..]),
        // A name that stands for a layout.
        ExprKind::Name(_) => {}
        ExprKind::Product(factors) => all(factors),
        _ => collect_leaves(expr, names, leaves),
    }
}

/// The run-time integers where only integers stand.
fn collect_leaves(expr: &Expr, names: Names<'_>, leaves: &mut Vec<(Leaf, Range<usize>)>) {
    match &expr.kind {
        ExprKind::Tuple(items) | ExprKind::Product(items) => items
            .iter()
            .for_each(|item| collect_leaves(item, names, leaves)),
        ExprKind::Layout(shape, stride) => {
            collect_leaves(shape, names, leaves);
            collect_leaves(stride, names, leaves);
        }
        ExprKind::Ordered(shape, _) => collect_leaves(shape, names, leaves),
        _ => match expr.leaf(names) {
            Some(Leaf::Known(_)) | None => {}
            Some(leaf) => leaves.push((leaf, expr.at.clone())),
        },
    }
}
