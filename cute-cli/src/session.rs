//! Defined names, and the values of expressions with them.

use crate::failure::Failure;
use crate::near::nearest;
use crate::statement::Statement;
use cute_algebra::notation::{
    Definition, Expr, ExprKind, Fact, NotationError, Relation, Symbolic, eval_symbolic,
    eval_symbolic_value, lex, parse_where,
};
use cute_algebra::symbolic::Term;
use cute_algebra::{ComposedLayout, Layout, Tiler, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// The reserved words of the notation. A definition of one is refused.
const WORDS: [&str; 9] = [
    "o", "then", "row", "col", "ragged", "where", "Sw", "true", "false",
];

/// The meanings of the defined names.
#[derive(Clone, Default)]
pub(crate) struct Session {
    /// Names of values without run-time integers.
    values: BTreeMap<String, Value>,
    /// Names of expressions with run-time integers.
    formulas: BTreeMap<String, Definition>,
}

/// An expression and its facts. A fact such as `m == 64` has become a value in `known`.
pub(crate) struct Prepared {
    pub(crate) facts: Vec<Fact>,
    pub(crate) expr: Expr,
    known: BTreeMap<String, Value>,
    /// The defined names.
    defined: Vec<String>,
}

impl Session {
    /// The defined names with their values or expressions, in alphabetical order.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, String)> {
        let values = self
            .values
            .iter()
            .map(|(name, value)| (&**name, value.to_string()));
        let formulas = self
            .formulas
            .iter()
            .map(|(name, formula)| (&**name, formula.to_string()));
        values.chain(formulas)
    }

    /// Defines a name, if the statement does. An error for a statement that is right so far, but not finished.
    pub(crate) fn define(&mut self, statement: &Statement) -> Option<Result<(), Failure>> {
        if let Some(error) = unfinished(statement) {
            return Some(Err(Failure::new(statement, error)));
        }
        let (name, start) = statement.definition()?;
        let failed = |error: NotationError| Failure::new(statement, error);
        if WORDS.contains(&name) {
            let error = NotationError::new(
                &(0..name.len()),
                format!("`{name}` is a word of the notation"),
            );
            return Some(Err(failed(error)));
        }
        // Spaces replace the name, so positions in the statement stay valid.
        let text = " ".repeat(start) + &statement.text[start..];
        Some(self.definition(name, &text).map_err(failed))
    }

    fn definition(&mut self, name: &str, text: &str) -> Result<(), NotationError> {
        let prepared = self.prepare(text)?;
        let value = prepared.value()?.value;
        self.values.remove(name);
        self.formulas.remove(name);
        match value.to_numbers() {
            Some(value) => {
                self.values.insert(name.to_owned(), value);
            }
            None => {
                let Prepared { facts, expr, .. } = prepared;
                let formula = Definition::new(facts, expr);
                self.formulas.insert(name.to_owned(), formula);
            }
        }
        Ok(())
    }

    /// Parses an expression and replaces the names of formulas. A fact `m == 64` gives the integer m its value.
    pub(crate) fn prepare(&self, text: &str) -> Result<Prepared, NotationError> {
        let end = text.len()..text.len();
        let (facts, expr) = parse_where(&lex(text)?, end)?;
        let formulas = |name: &str| self.formulas.get(name).cloned();
        let Definition { facts, expr } = Definition::new(facts, expr).expand(&formulas)?;
        let mut known = self.values.clone();
        let mut open = Vec::new();
        for fact in facts {
            match (&fact.left.kind, fact.relation, &fact.right.kind) {
                (ExprKind::Name(name), Relation::Equal, ExprKind::Int(value))
                    if !known.contains_key(name) =>
                {
                    known.insert(name.clone(), (*value).into());
                }
                _ => open.push(fact),
            }
        }
        let facts = open;
        let defined = self.values.keys().chain(self.formulas.keys());
        let defined = defined.cloned().collect();
        Ok(Prepared {
            facts,
            expr,
            known,
            defined,
        })
    }

    /// The value of an expression. A tuple of integers stands for its compact layout, unless an operation returned
    /// it.
    pub(crate) fn symbolic(&self, text: &str) -> Result<(Prepared, Symbolic), NotationError> {
        let prepared = self.prepare(text)?;
        let mut symbolic = prepared.value()?;
        let is_result = matches!(prepared.expr.kind, ExprKind::Call { .. });
        if matches!(symbolic.value, Value::Tuple(_)) && !is_result {
            symbolic = prepared.layout()?;
        }
        Ok((prepared, symbolic))
    }

    /// The value of an expression as it is: a shape stays a shape.
    pub(crate) fn value(&self, text: &str) -> Result<Value<Term>, NotationError> {
        Ok(self.prepare(text)?.value()?.value)
    }

    /// The value of an expression. It must not depend on run-time integers. A shape stays a shape.
    pub(crate) fn numbers(&self, text: &str) -> Result<Value, NotationError> {
        let prepared = self.prepare(text)?;
        let value = prepared.value()?.value;
        value.to_numbers().ok_or_else(|| prepared.depends(&value))
    }

    /// A layout of numbers. A shape stands for its compact layout.
    pub(crate) fn layout(&self, text: &str) -> Result<Layout, NotationError> {
        to_layout(self.numbers(text)?, &(0..text.len()))
    }

    /// The same, or a layout under a swizzle.
    pub(crate) fn swizzled(&self, text: &str) -> Result<ComposedLayout, NotationError> {
        let at = 0..text.len();
        match self.numbers(text)? {
            Value::Composed(composed) => Ok(composed),
            value => ComposedLayout::try_from(to_layout(value, &at)?)
                .map_err(|error| NotationError::new(&at, error.to_string())),
        }
    }

    /// A tiler. A shape divides mode by mode.
    pub(crate) fn tiler(&self, text: &str) -> Result<Tiler, NotationError> {
        to_tiler(self.numbers(text)?, &(0..text.len()))
    }
}

/// The value of the expression at `at` as a layout. A shape stands for its compact layout.
pub(crate) fn to_layout(value: Value, at: &Range<usize>) -> Result<Layout, NotationError> {
    let found = value.kind();
    let layout = match value {
        Value::Layout(layout) => return Ok(layout),
        Value::Int(extent) => Layout::left(extent),
        Value::Tuple(shape) => Layout::left(shape),
        _ => {
            return Err(NotationError::new(
                at,
                format!("expected a layout, found {found}"),
            ));
        }
    };
    layout.map_err(|error| NotationError::new(at, error.to_string()))
}

/// The value of the expression at `at` as a tiler. A shape divides mode by mode.
pub(crate) fn to_tiler(value: Value, at: &Range<usize>) -> Result<Tiler, NotationError> {
    let tiler = match &value {
        Value::Tiler(tiler) => Ok(tiler.clone()),
        Value::Layout(layout) => Ok(layout.clone().into()),
        Value::Int(extent) => Tiler::from_shape(&(*extent).into()),
        Value::Tuple(shape) => Tiler::from_shape(shape),
        Value::Coord(coord) => Tiler::from_coord(coord),
        other => {
            let message = format!("expected a tiler, found {}", other.kind());
            return Err(NotationError::new(at, message));
        }
    };
    tiler.map_err(|error| NotationError::new(at, error.to_string()))
}

impl Prepared {
    /// The value as it is: a shape stays a shape.
    pub(crate) fn value(&self) -> Result<Symbolic, NotationError> {
        let value = eval_symbolic_value(&self.facts, &self.expr, &self.names());
        value.map_err(|error| self.meant(error))
    }

    /// The value, where a shape becomes its compact layout.
    pub(crate) fn layout(&self) -> Result<Symbolic, NotationError> {
        let layout = eval_symbolic(&self.facts, &self.expr, &self.names());
        let (layout, _) = layout.map_err(|error| self.meant(error))?;
        Ok(layout)
    }

    /// The error; that of an unknown name with the defined name that it may mean.
    pub(crate) fn meant(&self, error: NotationError) -> NotationError {
        let unknown = error.message.strip_prefix("unknown name `");
        match unknown.and_then(|name| self.nearest(name.trim_end_matches('`'))) {
            Some(help) => error.help(help),
            None => error,
        }
    }

    /// The help with the defined name nearest to this one.
    fn nearest(&self, name: &str) -> Option<String> {
        let nearest = nearest(name, self.defined.iter().map(|name| &**name))?;
        Some(format!("did you mean `{nearest}`?"))
    }

    /// The error of a value with run-time integers. One with a name almost like a defined one is probably mistyped, but names of one or
    /// two letters are alike by chance.
    fn depends(&self, value: &Value<Term>) -> NotationError {
        let message = format!("{value} has run-time integers, but numbers are needed here");
        let integers = Definition::new(Vec::new(), self.expr.clone()).integers(&self.names());
        let mut long = integers.iter().filter(|(name, _)| name.chars().count() > 2);
        let meant = long.find_map(|(name, at)| Some((self.nearest(name)?, at)));
        match meant {
            Some((help, at)) => NotationError::new(at, message).help(help),
            None => NotationError::new(&self.expr.at, message)
                .help("give them values: `where m == 64;` in front, or `-D m=64`"),
        }
    }

    pub(crate) fn names(&self) -> impl Fn(&str) -> Option<Value> {
        |name| match name {
            "true" | "false" => Some((name == "true").into()),
            name => self.known.get(name).cloned(),
        }
    }
}

/// What a statement lacks at its end, if it can be parsed up to there.
fn unfinished(statement: &Statement) -> Option<NotationError> {
    let missing = statement.missing.as_ref()?;
    let text = &statement.text;
    let start = statement.definition().map_or(0, |(_, start)| start);
    let closed = " ".repeat(start) + &text[start..] + &missing.closing;
    let end = closed.len()..closed.len();
    let parsed = lex(&closed).and_then(|tokens| parse_where(&tokens, end));
    if parsed.is_err_and(|error| error.at.start < text.len()) {
        return None;
    }
    let error = NotationError::new(&(text.len()..text.len()), &missing.message);
    Some(match missing.opened {
        Some(at) => {
            let (opened, line) = (
                &text[at..=at],
                text[at..].lines().next().unwrap_or_default(),
            );
            error.help(format!("`{opened}` is never closed: `{line}`"))
        }
        None => error,
    })
}
