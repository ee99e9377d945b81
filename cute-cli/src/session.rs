//! Defined names, and the values of expressions with them.

use crate::failure::Failure;
use crate::statement::Statement;
use cute_algebra::notation::{
    Definition, Expr, ExprKind, Fact, NotationError, Relation, Symbolic, eval_symbolic,
    eval_symbolic_value, lex, parse_where,
};
use cute_algebra::operations::edit_distance;
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
        let value = self.eval(&prepared)?.value;
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
        Ok(Prepared { facts, expr, known })
    }

    /// The value of an expression. A tuple of integers stands for its compact layout, unless an operation returned
    /// it.
    pub(crate) fn symbolic(&self, text: &str) -> Result<(Prepared, Symbolic), NotationError> {
        let prepared = self.prepare(text)?;
        let Prepared { facts, expr, .. } = &prepared;
        let mut symbolic = self.eval(&prepared)?;
        let is_result = matches!(expr.kind, ExprKind::Call { .. });
        if matches!(symbolic.value, Value::Tuple(_)) && !is_result {
            symbolic = eval_symbolic(facts, expr, &prepared.names())?.0;
        }
        Ok((prepared, symbolic))
    }

    /// The value of a prepared expression. The error of an unknown name suggests the defined name that is most like it.
    fn eval(&self, prepared: &Prepared) -> Result<Symbolic, NotationError> {
        let Prepared { facts, expr, .. } = prepared;
        eval_symbolic_value(facts, expr, &prepared.names()).map_err(|mut error| {
            let unknown = error.message.strip_prefix("unknown name `");
            if let Some(unknown) = unknown.and_then(|rest| rest.strip_suffix('`')) {
                let names = self.names();
                let nearest = names
                    .map(|(name, _)| (edit_distance(unknown, name), name.to_owned()))
                    .min();
                if let Some((distance, name)) = nearest
                    && distance <= 1 + unknown.len() / 4
                    && distance < unknown.len()
                {
                    error.help = Some(format!("did you mean `{name}`?"));
                }
            }
            error
        })
    }

    /// The value of an expression as it is: a shape stays a shape.
    pub(crate) fn value(&self, text: &str) -> Result<Value<Term>, NotationError> {
        let prepared = self.prepare(text)?;
        Ok(self.eval(&prepared)?.value)
    }

    /// The value of an expression. It must not depend on run-time integers. A shape stays a shape.
    pub(crate) fn numbers(&self, text: &str) -> Result<Value, NotationError> {
        let prepared = self.prepare(text)?;
        let value = self.eval(&prepared)?.value;
        value
            .to_numbers()
            .ok_or_else(|| depends(&prepared.expr, &value))
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

fn depends(expr: &Expr, value: &Value<Term>) -> NotationError {
    let message = format!("{value} has run-time integers, but numbers are needed here");
    NotationError::new(&expr.at, message)
        .help("give them values: `where m == 64;` in front, or `-D m=64`")
}
