//! How the result of an operation comes about, step by step.

mod coalesce;
mod composition;
mod division;
mod inverse;
mod product;
mod recast;

use crate::integer::Integer;
use crate::layout::Layout;
use crate::operations::{Operation, apply, find};
use crate::overhang::Overhang;
use crate::rule::Rule;
use crate::tiler::{Others, Tiler};
use crate::tuple::{IntTuple, Tuple};
use crate::value::Value;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// An operation with its operands and result, and the steps that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The name of the operation.
    pub operation: &'static str,
    /// The operands, in the notation.
    pub operands: Vec<String>,
    /// The steps in their order, up to the rule that refuses the operation, if it is refused. An operation that computes its
    /// result at once has the step [`Rule::Direct`].
    pub steps: Vec<Step>,
    /// The result, in the notation; `None` where the operation is refused.
    pub result: Option<String>,
}

/// One step of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Another operation, whose result is used.
    Operation(Explanation),
    /// A rule that holds.
    Rule(Rule),
}

/// The steps of an operation on numbers. An operation that computes its result at once has one step, which says so.
pub(crate) fn steps(operation: &str, operands: &[Value], overhang: Overhang) -> Vec<Step> {
    let steps = steps_of(operation).and_then(|steps| steps(operands, overhang));
    steps.unwrap_or_else(|| direct(operation))
}

/// What is known of the steps if some operands have run-time integers.
pub(crate) fn run_time_steps(operation: &str) -> Vec<Step> {
    let mut steps = direct(operation);
    steps.extend(steps_of(operation).map(|_| Step::Rule(Rule::RunTime)));
    steps
}

fn direct(operation: &str) -> Vec<Step> {
    let what = |row: &Operation| match row.name {
        // The table describes it as the row before it, with a difference.
        "make_fragment_like" => {
            "the compact layout with the same shape, whose first mode varies fastest"
        }
        _ => row.doc,
    };
    let what = find(operation).map(what);
    rules(what.map(|what| Rule::Direct { what }))
}

/// The steps for some operands; `None` if the result is computed at once for these.
type OnNumbers = fn(&[Value], Overhang) -> Option<Vec<Step>>;

/// The steps of an operation that has some.
fn steps_of(operation: &str) -> Option<OnNumbers> {
    Some(match operation {
        "coalesce" => coalesce::coalesce,
        "filter" => coalesce::filter,
        "filter_zeros" => coalesce::filter_zeros,
        "composition" => composition::by_tiler,
        "with_shape" => composition::with_shape,
        "complement" => division::complement,
        "logical_divide" => |of, overhang| division::divide(of, overhang, "((tile, rest), …)"),
        "zipped_divide" => |of, overhang| division::divide(of, overhang, "((tile, …), (rest, …))"),
        "tiled_divide" => |of, overhang| division::divide(of, overhang, "((tile, …), rest, …)"),
        "flat_divide" => |of, overhang| division::divide(of, overhang, "(tile, …, rest, …)"),
        "local_tile" => division::local_tile,
        "local_partition" => division::local_partition,
        "slice_and_offset" => division::slice_and_offset,
        "logical_product" => |of, _| product::by_tiler(of, "((layout, copies), …)"),
        "zipped_product" => |of, _| product::by_tiler(of, "((layout, …), (copies, …))"),
        "tiled_product" => |of, _| product::by_tiler(of, "((layout, …), copies, …)"),
        "flat_product" => |of, _| product::by_tiler(of, "(layout, …, copies, …)"),
        "blocked_product" => |of, _| product::ranked(of, "((A0, B0), …)"),
        "raked_product" => |of, _| product::ranked(of, "((B0, A0), …)"),
        "tile_to_shape" => product::tile_to_shape,
        "smem_tile_to_shape" => product::smem_tile_to_shape,
        "right_inverse" => inverse::right,
        "left_inverse" => inverse::left,
        "nullspace" => inverse::nullspace,
        "max_common_layout" => inverse::max_common_layout,
        "max_common_vector" => inverse::max_common_vector,
        "recast" => recast::recast,
        _ => return None,
    })
}

/// An operation as a step, and its result.
fn called(
    operation: &'static str,
    operands: &[Value],
    overhang: Overhang,
) -> (Step, Option<Value>) {
    let row = find(operation);
    let overhang = match row {
        Some(row) if row.ragged => overhang,
        _ => Overhang::Strict,
    };
    let result = row.and_then(|row| apply(row, operands, overhang == Overhang::Ragged).ok());
    let steps = steps(operation, operands, overhang);
    let step = Step::Operation(explanation(operation, operands, steps, result.as_ref()));
    (step, result)
}

/// The steps for each mode of the tiler, in turn.
fn by_mode(
    a: &Layout,
    tiler: &Tiler,
    others: Others,
    steps: &dyn Fn(&Layout, &Layout) -> Vec<Step>,
) -> Vec<Step> {
    let tilers = match tiler {
        Tiler::Keep => return Vec::new(),
        Tiler::Layout(tile) => return steps(a, tile),
        Tiler::Modes(tilers) => tilers,
    };
    let mut list = Vec::new();
    for (mode, part) in a.modes().iter().enumerate() {
        let tiler = match tilers.get(mode) {
            Some(tiler) => tiler.clone(),
            None if others == Others::Drop => break,
            None => Tiler::Keep,
        };
        let inner = by_mode(part, &tiler, others, steps);
        list.push(Step::Rule(Rule::ByMode { mode, tiler }));
        list.extend(inner);
    }
    list
}

/// The layout of an operand. Where a swizzle is in front of it, a rule says that it stays there.
fn behind(value: Option<&Value>) -> Option<(Layout, Vec<Step>)> {
    match value? {
        Value::Composed(composed) => {
            let swizzle = composed.swizzle();
            let rule = Step::Rule(Rule::Outside { swizzle });
            Some((composed.layout().clone(), vec![rule]))
        }
        value => Some((layout_of(Some(value))?, Vec::new())),
    }
}

fn layout_of(value: Option<&Value>) -> Option<Layout> {
    match value? {
        Value::Layout(layout) => Some(layout.clone()),
        Value::Int(extent) => Layout::left(*extent).ok(),
        Value::Tuple(shape) => Layout::left(shape.clone()).ok(),
        _ => None,
    }
}

fn tiler_of(value: Option<&Value>) -> Option<Tiler> {
    match value? {
        Value::Tiler(tiler) => Some(tiler.clone()),
        Value::Layout(layout) => Some(layout.clone().into()),
        Value::Int(extent) => Tiler::from_shape(&(*extent).into()).ok(),
        Value::Tuple(shape) => Tiler::from_shape(shape).ok(),
        Value::Coord(coord) => Tiler::from_coord(coord).ok(),
        _ => None,
    }
}

fn size_of(value: &Value) -> Option<i64> {
    match value {
        Value::Int(size) => Some(*size),
        Value::Tuple(shape) => shape.product(),
        Value::Layout(layout) => Some(layout.size()),
        _ => None,
    }
}

fn tuple_of(value: Option<&Value>) -> Option<IntTuple> {
    match value? {
        Value::Int(leaf) => Some(Tuple::Leaf(*leaf)),
        Value::Tuple(tuple) => Some(tuple.clone()),
        _ => None,
    }
}

fn rules(rules: impl IntoIterator<Item = Rule>) -> Vec<Step> {
    rules.into_iter().map(Step::Rule).collect()
}

impl Explanation {
    /// The steps and the result as lines, each with its depth: 0 for this operation.
    pub fn lines(&self) -> Vec<(usize, String)> {
        let mut lines = vec![(0, self.to_string())];
        for step in &self.steps {
            match step {
                Step::Rule(rule) => lines.push((1, rule.to_string())),
                Step::Operation(inner) => {
                    let inner = inner.lines().into_iter();
                    lines.extend(inner.map(|(depth, line)| (depth + 1, line)));
                }
            }
        }
        lines
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(inner) => inner.fmt(f),
            Self::Rule(rule) => rule.fmt(f),
        }
    }
}

/// `operation(operands) = result`.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.operation, self.operands.join(", "))?;
        match &self.result {
            Some(result) => write!(f, " = {result}"),
            None => f.write_str(" is refused"),
        }
    }
}

/// An operation of layouts as a step.
fn explanation_of(
    operation: &'static str,
    operands: [String; 2],
    steps: Vec<Rule>,
    result: Option<&Layout>,
) -> Step {
    Step::Operation(Explanation {
        operation,
        operands: operands.into(),
        steps: rules(steps),
        result: result.map(Layout::to_string),
    })
}

/// An explanation of the operation with these operands, once its result is known.
pub(crate) fn explanation<I: Integer>(
    operation: &'static str,
    operands: &[Value<I>],
    mut steps: Vec<Step>,
    result: Option<&Value<I>>,
) -> Explanation {
    if result.is_none() {
        // The parts that would be arranged do not exist.
        steps.retain(|step| !matches!(step, Step::Rule(Rule::Arranged { .. })));
    }
    Explanation {
        operation,
        operands: operands.iter().map(Value::to_string).collect(),
        steps,
        result: result.map(Value::to_string),
    }
}

#[cfg(test)]
mod tests;
