//! Names that stand for expressions with run-time integers.
//!
//! Such an expression has no value at expansion. So a name stands for the expression itself. The expression is passed on
//! as text and replaces each use of the name.

use super::error::NotationError;
use super::expr::{Expr, ExprKind, Fact, Leaf, Names, Order, Sign};
use super::parse::{node, parse_where};
use super::token::{MAX_TOKENS, lex};
use crate::operations;
use crate::symbolic::is_integer_name;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// The definition of a name: an expression with run-time integers, and facts about them.
///
/// ```
/// use cute_algebra::notation::{Definition, lex, parse};
/// let tiles: Definition = "where m % 64 == 0; (m,n):(1,m) / <64,_>".parse()?;
/// assert_eq!(tiles.to_string(), "where m % 64 == 0; zipped_divide((m,n):(1,m),<64,_>)");
///
/// let used = Definition::new(Vec::new(), parse(&lex("get(T,0)")?, 8..8)?);
/// let used = used.expand(&|name| (name == "T").then(|| tiles.clone()))?;
/// assert_eq!(used.to_string(), "where m % 64 == 0; get(zipped_divide((m,n):(1,m),<64,_>),0)");
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The facts about the run-time integers.
    pub facts: Vec<Fact>,
    /// The expression that replaces the name.
    pub expr: Expr,
}

/// Looks up the definition of a name; `None` if there is none.
pub type Definitions<'a> = &'a dyn Fn(&str) -> Option<Definition>;

impl Definition {
    /// An expression under facts.
    pub fn new(facts: Vec<Fact>, expr: Expr) -> Self {
        Self { facts, expr }
    }

    /// The same expression with the names of layouts replaced by their definitions. The parts of a definition get the
    /// position of the name. The facts of the definitions follow the facts of the expression.
    ///
    /// # Errors
    /// The result would be nested too deep or would be too long, or a defined name is a factor of a product.
    pub fn expand(self, definitions: Definitions<'_>) -> Result<Self, NotationError> {
        let mut expander = Expander {
            definitions,
            facts: self.facts,
            count: 0,
        };
        let expr = expander.expr(&self.expr)?;
        Ok(Self::new(expander.facts, expr))
    }

    /// The same as a layout: a shape by itself becomes its compact layout, in which the leftmost mode varies fastest.
    pub fn into_layout(self) -> Self {
        let mut first = &self.expr;
        while let ExprKind::Arithmetic(Sign::Over, sides) = &first.kind {
            first = &sides[0];
        }
        let is_shape = match &first.kind {
            ExprKind::Tuple(_) => !self.expr.is_visibly_layout(),
            ExprKind::Braced(_) | ExprKind::Integer(_) | ExprKind::Arithmetic(..) => {
                self.expr.layout_names().is_empty()
            }
            ExprKind::Name(name) => is_integer_name(name) && self.expr.layout_names().is_empty(),
            _ => false,
        };
        let at = self.expr.at.clone();
        let col = |expr: Expr| {
            // `/` binds less than `:`, so a quotient is a factor: `1*(m/2):col`.
            let shape = match expr.kind {
                ExprKind::Arithmetic(..) => {
                    let one = node(ExprKind::Int(1), at.clone())?;
                    let quotient = node(ExprKind::Tuple(vec![expr]), at.clone())?;
                    let sides = Box::new([one, quotient]);
                    node(ExprKind::Arithmetic(Sign::Times, sides), at.clone())?
                }
                _ => expr,
            };
            node(ExprKind::Ordered(Box::new(shape), Order::Col), at.clone())
        };
        match is_shape.then(|| col(self.expr.clone())) {
            Some(Ok(expr)) => Self { expr, ..self },
            _ => self,
        }
    }

    /// Removes the facts about integers that do not occur in the expression.
    pub fn take_stray_facts(&mut self, names: Names<'_>) -> Vec<Fact> {
        let leaves = self.expr.run_time_leaves(names);
        let is_stray = |fact: &mut Fact| {
            let sides = [&fact.left, &fact.right];
            let mut about = sides.into_iter().flat_map(|side| side.integers(names));
            about.any(|(leaf, _)| leaves.iter().all(|(known, _)| *known != leaf))
        };
        self.facts.extract_if(.., is_stray).collect()
    }

    /// The names of the run-time integers, each once, with their first positions.
    pub fn integers(&self, names: Names<'_>) -> Vec<(String, Range<usize>)> {
        let mut integers: Vec<(String, Range<usize>)> = Vec::new();
        for (leaf, at) in self.expr.run_time_leaves(names) {
            if let Leaf::Named(name) = leaf
                && integers.iter().all(|(known, _)| *known != name)
            {
                integers.push((name, at));
            }
        }
        integers
    }

    /// A name that stands for an integer in a fact or a leaf, and for a layout elsewhere, with its position there.
    pub fn both_integer_and_layout(&self) -> Option<(String, Range<usize>)> {
        let none = |_: &str| None;
        let facts = self.facts.iter().flat_map(|fact| [&fact.left, &fact.right]);
        let mut integers = self.expr.run_time_leaves(&none);
        integers.extend(facts.flat_map(|side| side.integers(&none)));
        let is_integer = |name: &str| {
            (integers.iter()).any(|(leaf, _)| matches!(leaf, Leaf::Named(known) if known == name))
        };
        let mut names = self.expr.layout_names().into_iter();
        let found = names.find(|(name, _)| is_integer(name));
        found.map(|(name, at)| (name.into(), at))
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fact) in self.facts.iter().enumerate() {
            f.write_str(if i == 0 { "where " } else { ", " })?;
            fact.fmt(f)?;
        }
        if !self.facts.is_empty() {
            f.write_str("; ")?;
        }
        self.expr.fmt(f)
    }
}

impl core::str::FromStr for Definition {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let (facts, expr) = parse_where(&lex(text)?, text.len()..text.len())?;
        Ok(Self::new(facts, expr))
    }
}

struct Expander<'a> {
    definitions: Definitions<'a>,
    facts: Vec<Fact>,
    /// How many nodes of expressions have been visited so far.
    count: usize,
}

impl Expander<'_> {
    fn expr(&mut self, expr: &Expr) -> Result<Expr, NotationError> {
        self.count(&expr.at)?;
        let kind = match &expr.kind {
            ExprKind::Name(name) => match (self.definitions)(name) {
                Some(definition) => return self.definition(definition, &expr.at),
                None => return Ok(expr.clone()),
            },
            ExprKind::Tuple(items) if expr.is_visibly_layout() => {
                ExprKind::Tuple(self.exprs(items)?)
            }
            ExprKind::Tiler(items) => ExprKind::Tiler(self.exprs(items)?),
            ExprKind::Arithmetic(sign, sides) => {
                let defined = sides.iter().find(|side| {
                    matches!(&side.kind, ExprKind::Name(name) if (self.definitions)(name).is_some())
                });
                if let Some(side) = defined.filter(|_| *sign != Sign::Over) {
                    return Err(NotationError::new(
                        &side.at,
                        "a factor must be an integer, but this name stands for an expression with run-time integers",
                    ));
                }
                let [left, right] = &**sides;
                ExprKind::Arithmetic(*sign, Box::new([self.expr(left)?, self.expr(right)?]))
            }
            ExprKind::Swizzled(parts) => {
                let [swizzle, offset, layout] = &**parts;
                let layout = self.expr(layout)?;
                ExprKind::Swizzled(Box::new([swizzle.clone(), offset.clone(), layout]))
            }
            ExprKind::Call {
                operation,
                name_at,
                args,
                ragged,
            } => {
                let row = operations::find(operation);
                let takes_word = |index| row.is_some_and(|row| row.takes_word(index));
                let args = args.iter().enumerate().map(|(i, arg)| match takes_word(i) {
                    true => Ok(arg.clone()),
                    false => self.expr(arg),
                });
                ExprKind::Call {
                    operation: operation.clone(),
                    name_at: name_at.clone(),
                    args: args.collect::<Result<_, _>>()?,
                    ragged: *ragged,
                }
            }
            _ => return Ok(expr.clone()),
        };
        node(kind, expr.at.clone())
    }

    fn exprs(&mut self, items: &[Expr]) -> Result<Vec<Expr>, NotationError> {
        items.iter().map(|item| self.expr(item)).collect()
    }

    fn definition(
        &mut self,
        definition: Definition,
        at: &Range<usize>,
    ) -> Result<Expr, NotationError> {
        let Definition { facts, mut expr } = definition;
        self.place(&mut expr, at)?;
        for mut fact in facts {
            self.place(&mut fact.left, at)?;
            self.place(&mut fact.right, at)?;
            fact.at = at.clone();
            if !self.facts.contains(&fact) {
                self.facts.push(fact);
            }
        }
        Ok(expr)
    }

    /// Gives an expression and all its parts the position of the replaced name.
    fn place(&mut self, expr: &mut Expr, at: &Range<usize>) -> Result<(), NotationError> {
        self.count(at)?;
        expr.at = at.clone();
        match &mut expr.kind {
            ExprKind::Int(_)
            | ExprKind::Fraction(..)
            | ExprKind::Underscore
            | ExprKind::Name(_)
            | ExprKind::Braced(_) => Ok(()),
            ExprKind::Tuple(items) | ExprKind::Tiler(items) => self.places(items, at),
            ExprKind::Arithmetic(_, sides) => self.places(&mut sides[..], at),
            ExprKind::Layout(shape, stride) => {
                self.place(shape, at)?;
                self.place(stride, at)
            }
            ExprKind::Ordered(part, _) | ExprKind::Basis(part, _) | ExprKind::Integer(part) => {
                self.place(part, at)
            }
            ExprKind::Swizzle(parts) | ExprKind::Swizzled(parts) => self.places(&mut parts[..], at),
            ExprKind::Call { name_at, args, .. } => {
                *name_at = at.clone();
                self.places(args, at)
            }
        }
    }

    fn places(&mut self, items: &mut [Expr], at: &Range<usize>) -> Result<(), NotationError> {
        items.iter_mut().try_for_each(|item| self.place(item, at))
    }

    /// Counts a node, and limits their number: a definition that uses a name twice doubles it, so ten such definitions in
    /// a chain would multiply it by 1024.
    fn count(&mut self, at: &Range<usize>) -> Result<(), NotationError> {
        self.count += 1;
        match self.count > MAX_TOKENS {
            true => Err(NotationError::new(
                at,
                format!(
                    "the expression has more than {MAX_TOKENS} parts once its names are replaced"
                ),
            )),
            false => Ok(()),
        }
    }
}
