//! The syntax tree of the notation.

use super::token::{inside_of_braces, parse_integer};
use crate::operations;
use crate::symbolic::{is_integer_name, is_path};
use crate::value::Value;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The greatest height of an expression. Parentheses, operations and each `o` of a chain count as one level.
pub const MAX_NESTING: usize = 64;

/// Gives the value of a name; `None` for an unknown name. `&|_| None` knows no names.
pub type Names<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// An expression with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// The kind of expression, with its parts.
    pub kind: ExprKind,
    /// The position in the text, in the unit of the tokens.
    pub at: Range<usize>,
    /// The height of the tree: 1 without parts, at most [`MAX_NESTING`].
    pub(super) height: usize,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// An integer, such as `24`.
    Int(i64),
    /// `2@1@0`: the integer scale, and the indices in the order of the text, the outermost last.
    Basis(Box<Expr>, Vec<usize>),
    /// `1/2@0`: numerator and denominator, and the indices in the order of the text.
    Fraction([i64; 2], Vec<usize>),
    /// `_`: keeps a whole mode.
    Underscore,
    /// A name, or a path such as `shapes::A`.
    Name(String),
    /// A Rust expression, with its braces.
    Braced(String),
    /// `{m + n}`: arithmetic in braces. It is always one integer.
    Integer(Box<Expr>),
    /// `4*m`: two integers and the sign between them. Parentheses around an integer are a tuple of one element. `a / b`
    /// may also be a layout divided by a tiler: the values of names decide.
    Arithmetic(Sign, Box<[Expr; 2]>),
    /// `(a,b)`: a tuple of integers, or layouts side by side.
    Tuple(Vec<Expr>),
    /// `shape:stride`.
    Layout(Box<Expr>, Box<Expr>),
    /// `shape:row` or `shape:col`.
    Ordered(Box<Expr>, Order),
    /// `<a,b>`: a tiler with one part for each mode.
    Tiler(Vec<Expr>),
    /// `Sw<B,M,S>`: bits of a field, low bits that stay as they are, distance of the fields.
    Swizzle(Box<[Expr; 3]>),
    /// `Sw o offset o layout`.
    Swizzled(Box<[Expr; 3]>),
    /// A call of an operation by name. `o`, `then` and `/` are stored as calls too.
    Call {
        /// The name of the operation.
        operation: String,
        /// The position of the name, or of the sign `o`, `then` or `/`.
        name_at: Range<usize>,
        /// The operands in the order of the operation; `A then B` has them in the order of `B o A`.
        args: Vec<Expr>,
        /// Whether `ragged` selects the form that rounds up.
        ragged: bool,
    },
}

/// The signs of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Times,
    /// `/`: rounds towards 0.
    Over,
    /// `%`, the remainder of that division.
    Modulo,
    /// `a.div_ceil(b)`, the quotient of positive integers, rounded up.
    Ceiling,
}

/// Which mode of a compact layout varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The rightmost mode varies fastest, as in CuTe's `LayoutRight`.
    Row,
    /// The leftmost mode varies fastest, as in CuTe's `LayoutLeft`.
    Col,
}

/// A condition on run-time integers that the user guarantees: `left % right == 0`, or a comparison of two integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The integer on the left of the sign.
    pub left: Expr,
    /// The sign between the sides.
    pub relation: Relation,
    /// The integer on the right of the sign.
    pub right: Expr,
    /// The position of the fact.
    pub at: Range<usize>,
}

/// The conditions that a fact can state about its two sides.
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

/// A leaf of a tuple of integers.
#[derive(PartialEq, Eq)]
pub(super) enum Leaf {
    /// A number.
    Known(i64),
    /// A variable or a path: each use has the same value.
    Named(String),
    /// Another Rust expression: each evaluation may have a different value.
    Computed(String),
}

impl Expr {
    /// Whether the expression contains run-time integers: braces without a number, or names of integers unknown to
    /// `names`.
    pub fn has_run_time_leaf(&self, names: Names<'_>) -> bool {
        !self.run_time_leaves(names).is_empty()
    }

    /// The run-time integers in the order of the text, with their positions.
    pub(super) fn run_time_leaves(&self, names: Names<'_>) -> Vec<(Leaf, Range<usize>)> {
        let mut leaves = Vec::new();
        collect_run_time(self, names, &mut leaves);
        leaves
    }

    /// The run-time integers of a tuple or a product of integers, with their positions.
    pub(super) fn integers(&self, names: Names<'_>) -> Vec<(Leaf, Range<usize>)> {
        let mut leaves = Vec::new();
        collect_leaves(self, names, &mut leaves);
        leaves
    }

    /// This expression as a leaf; `None` if it is not a single integer.
    pub(super) fn leaf(&self, names: Names<'_>) -> Option<Leaf> {
        match &self.kind {
            ExprKind::Int(value) => Some(Leaf::Known(*value)),
            ExprKind::Name(name) => match names(name) {
                Some(Value::Int(value)) => Some(Leaf::Known(value)),
                Some(_) => None,
                None => Some(Leaf::Named(name.clone())),
            },
            ExprKind::Braced(text) => {
                let inner = inside_of_braces(text).to_owned();
                if let Some(value) = parse_integer(&inner)
                    .ok()
                    .and_then(|value| i64::try_from(value).ok())
                {
                    return Some(Leaf::Known(value));
                }
                let path: String = inner.split_whitespace().collect();
                Some(match names(&path) {
                    Some(Value::Int(value)) if is_path(&path) => Leaf::Known(value),
                    _ if is_path(&path) => Leaf::Named(path),
                    _ => Leaf::Computed(inner),
                })
            }
            _ => None,
        }
    }

    /// The names of layouts and tilers, in the order of the text, with their positions. A name inside a tuple of integers,
    /// beside a `:`, in braces or in a swizzle stands for an integer and is not listed, nor is a name that begins with a
    /// lower-case letter.
    pub fn layout_names(&self) -> Vec<(&str, Range<usize>)> {
        let mut names = Vec::new();
        collect_names(self, &mut names);
        names
    }

    /// Whether this is a layout by its form, without knowing the values of names. Every call counts as one.
    pub(super) fn is_visibly_layout(&self) -> bool {
        match &self.kind {
            ExprKind::Layout(..)
            | ExprKind::Ordered(..)
            | ExprKind::Swizzled(_)
            | ExprKind::Call { .. } => true,
            ExprKind::Tuple(items) => items.iter().any(Expr::is_visibly_layout),
            ExprKind::Arithmetic(Sign::Over, sides) => sides[0].is_visibly_layout(),
            _ => false,
        }
    }

    /// The expression without parentheses around arithmetic.
    pub(super) fn without_parentheses(&self) -> &Self {
        match &self.kind {
            ExprKind::Tuple(items) => match &items[..] {
                [only] if matches!(only.kind, ExprKind::Arithmetic(..)) => only,
                _ => self,
            },
            _ => self,
        }
    }
}

fn collect_names<'a>(expr: &'a Expr, names: &mut Vec<(&'a str, Range<usize>)>) {
    match &expr.kind {
        ExprKind::Name(name) if is_integer_name(name) => {}
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
        ExprKind::Arithmetic(_, sides) => sides.iter().for_each(|side| collect_names(side, names)),
        ExprKind::Swizzled(parts) => collect_names(&parts[2], names),
        _ => collect_names_of_calls(expr, names),
    }
}

/// Adds the names of layouts in a part that contains only integers, where operations compute some of them.
fn collect_names_of_calls<'a>(expr: &'a Expr, names: &mut Vec<(&'a str, Range<usize>)>) {
    match &expr.kind {
        ExprKind::Call { .. } => collect_names(expr, names),
        ExprKind::Tuple(items) => {
            items
                .iter()
                .for_each(|item| collect_names_of_calls(item, names));
        }
        ExprKind::Arithmetic(_, sides) => {
            sides
                .iter()
                .for_each(|side| collect_names_of_calls(side, names));
        }
        ExprKind::Layout(shape, stride) => {
            collect_names_of_calls(shape, names);
            collect_names_of_calls(stride, names);
        }
        ExprKind::Ordered(shape, _) => collect_names_of_calls(shape, names),
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
        ExprKind::Tiler(items) => all(items),
        ExprKind::Call {
            operation, args, ..
        } => {
            let row = operations::find(operation);
            let takes_word = |index| row.is_some_and(|row| row.takes_word(index));
            let values = args.iter().enumerate().filter(|(i, _)| !takes_word(*i));
            values.for_each(|(_, arg)| collect_run_time(arg, names, leaves));
        }
        ExprKind::Swizzle(parts) | ExprKind::Swizzled(parts) => all(&parts[..]),
        // Another name in this place stands for a layout.
        ExprKind::Name(name) if !is_integer_name(name) => {}
        ExprKind::Arithmetic(_, sides) => all(&sides[..]),
        _ => collect_leaves(expr, names, leaves),
    }
}

/// Adds the run-time integers of a part that contains only integers: a shape, a stride, a coordinate.
fn collect_leaves(expr: &Expr, names: Names<'_>, leaves: &mut Vec<(Leaf, Range<usize>)>) {
    match &expr.kind {
        ExprKind::Tuple(items) => items
            .iter()
            .for_each(|item| collect_leaves(item, names, leaves)),
        ExprKind::Arithmetic(_, sides) => sides
            .iter()
            .for_each(|side| collect_leaves(side, names, leaves)),
        ExprKind::Call { .. } => collect_run_time(expr, names, leaves),
        ExprKind::Layout(shape, stride) => {
            collect_leaves(shape, names, leaves);
            collect_leaves(stride, names, leaves);
        }
        ExprKind::Ordered(part, _) | ExprKind::Basis(part, _) | ExprKind::Integer(part) => {
            collect_leaves(part, names, leaves);
        }
        _ => match expr.leaf(names) {
            Some(Leaf::Known(_)) | None => {}
            Some(leaf) => leaves.push((leaf, expr.at.clone())),
        },
    }
}
