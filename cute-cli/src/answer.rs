//! Answers, as text and as JSON.

use cute_algebra::notation::{Expr, ExprKind, Symbolic};
use cute_algebra::symbolic::Term;
use cute_algebra::{ComposedLayout, Layout, Swizzle, Tuple, Value, operations};
use serde_json::{Map, Value as Json, json};
use std::fmt::Display;

/// The answer of a command to a statement, as text and as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Lines, the last one with its line break.
    pub(crate) text: String,
    /// An object.
    pub(crate) json: Json,
}

impl Answer {
    /// The value of an expression, and the conditions under which it holds: the stated facts, and what does not follow from
    /// them. Results of an analysis have labels.
    pub(crate) fn value(expr: &Expr, text: &str, symbolic: &Symbolic) -> Self {
        let Symbolic { scope, value } = symbolic;
        let labels = match &expr.kind {
            ExprKind::Call { operation, .. } => {
                operations::find(operation).map_or(&[][..], |row| row.results)
            }
            _ => &[],
        };
        let conditions: Vec<_> = scope.checks().iter().map(ToString::to_string).collect();
        let mut lines = match value {
            Value::List(results) if results.len() == labels.len() => table(
                labels
                    .iter()
                    .zip(results)
                    .map(|(label, result)| (*label, result.to_string())),
            ),
            value => format!("{value}\n"),
        };
        for condition in &conditions {
            lines += &format!("  if {condition}\n");
        }
        let mut object = described(value);
        object.insert("expression".into(), text.into());
        object.insert("text".into(), value.to_string().into());
        object.insert("conditions".into(), conditions.into());
        if let Value::List(results) = value
            && results.len() == labels.len()
        {
            let results = labels
                .iter()
                .zip(results)
                .map(|(label, result)| ((*label).to_owned(), Json::Object(described(result))));
            object.insert("results".into(), Json::Object(results.collect()));
        }
        Self {
            text: lines,
            json: Json::Object(object),
        }
    }
}

/// Labels and texts in two columns.
pub(crate) fn table<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let rows: Vec<_> = rows.into_iter().collect();
    let width = rows
        .iter()
        .map(|(label, _)| label.chars().count())
        .max()
        .unwrap_or(0);
    rows.iter()
        .map(|(label, text)| format!("{label:width$}  {text}\n"))
        .collect()
}

/// A coordinate, a shape or a stride as nested arrays. A leaf other than a number becomes text.
pub(crate) fn tuple<T: Display>(tuple: &Tuple<T>) -> Json {
    match tuple {
        Tuple::Leaf(leaf) => integer(leaf),
        Tuple::Node(modes) => modes.iter().map(self::tuple).collect(),
    }
}

fn integer(leaf: &impl Display) -> Json {
    let text = leaf.to_string();
    text.parse::<i64>().map_or(Json::String(text), Json::from)
}

/// The kind of a value and its parts.
fn described(value: &Value<Term>) -> Map<String, Json> {
    let kind = value
        .kind()
        .trim_start_matches("an ")
        .trim_start_matches("a ");
    let parts = match value {
        Value::Int(value) => json!({ "value": integer(value) }),
        Value::Bool(value) => json!({ "value": value }),
        Value::Tuple(value) => json!({ "value": tuple(value) }),
        Value::Stride(value) => json!({ "value": tuple(value) }),
        Value::Layout(value) => layout(value),
        Value::Composed(value) => composed(value),
        Value::Swizzle(value) => json!({ "value": swizzle(*value) }),
        Value::List(values) => {
            json!({ "value": values.iter().map(|value| Json::Object(described(value))).collect::<Vec<_>>() })
        }
        value => json!({ "value": value.to_string() }),
    };
    let mut object = Map::from_iter([("kind".to_owned(), Json::from(kind))]);
    if let Json::Object(parts) = parts {
        object.extend(parts);
    }
    object
}

fn layout(layout: &Layout<Term>) -> Json {
    json!({
        "shape": tuple(layout.shape()),
        "stride": tuple(layout.stride()),
        "rank": layout.rank(),
        "depth": layout.depth(),
        "size": layout.shape().product().as_ref().map(integer),
    })
}

fn composed(composed: &ComposedLayout<Term>) -> Json {
    json!({
        "swizzle": swizzle(composed.swizzle()),
        "offset": integer(&composed.offset()),
        "layout": layout(composed.layout()),
    })
}

/// B, M and S of `Sw<B,M,S>`.
fn swizzle(swizzle: Swizzle) -> Json {
    json!([swizzle.bits(), swizzle.base(), swizzle.shift()])
}
