//! How the result of an operation comes about, step by step.

use crate::complement::{self, complement_in};
use crate::composed::ComposedLayout;
use crate::composition::{self, compose};
use crate::domain::Numbers;
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::rule::Rule;
use crate::tiler::Tiler;
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
    /// The steps in their order, up to the rule that refuses the operation, if it is refused. Only compositions, divisions
    /// and complements of numbers have any.
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

/// The steps of an operation on numbers; none where they are not known.
pub(crate) fn steps(operation: &str, operands: &[Value], overhang: Overhang) -> Vec<Step> {
    let order = match operation {
        "logical_divide" => "((tile, rest), …)",
        "zipped_divide" => "((tile, …), (rest, …))",
        "tiled_divide" => "((tile, …), rest, …)",
        "flat_divide" => "(tile, …, rest, …)",
        _ => "",
    };
    let layout = |index: usize| operands.get(index).and_then(layout_of);
    match operation {
        "composition" => match (layout(0), operands.get(1).and_then(tiler_of)) {
            (Some(a), Some(tiler)) => by_mode(&a, &tiler, &|a, b| {
                let rules = composition::rules(a, b, overhang);
                rules.into_iter().map(Step::Rule).collect()
            }),
            _ => Vec::new(),
        },
        "complement" => {
            let target = operands.get(1).and_then(size_of);
            let rules = layout(0).filter(|_| target.is_some() || operands.len() == 1);
            let rules = rules.map(|a| complement::rules(&a, target, overhang));
            rules.into_iter().flatten().map(Step::Rule).collect()
        }
        _ if !order.is_empty() => match (layout(0), operands.get(1).and_then(tiler_of)) {
            (Some(a), Some(tiler)) => {
                let mut steps = by_mode(&a, &tiler, &|a, tile| division(a, tile, overhang));
                steps.push(Step::Rule(Rule::Arranged { order }));
                steps
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The steps for each mode of the tiler, in turn.
fn by_mode(a: &Layout, tiler: &Tiler, steps: &dyn Fn(&Layout, &Layout) -> Vec<Step>) -> Vec<Step> {
    let tilers = match tiler {
        Tiler::Keep => return Vec::new(),
        Tiler::Layout(tile) => return steps(a, tile),
        Tiler::Modes(tilers) => tilers,
    };
    let modes = a.modes();
    let parts = modes.iter().zip(tilers).enumerate();
    let parts = parts.flat_map(|(mode, (part, tiler))| {
        let rule = Rule::ByMode {
            mode,
            tiler: tiler.clone(),
        };
        let mut list = vec![Step::Rule(rule)];
        list.extend(by_mode(part, tiler, steps));
        list
    });
    parts.collect()
}

/// The rest is the complement of the tile in the size of A; A is composed with both.
fn division(a: &Layout, tile: &Layout, overhang: Overhang) -> Vec<Step> {
    let size = a.size();
    let rest = complement_in(&mut Numbers, tile, &size, overhang)
        .ok()
        .map(|(rest, _)| rest);
    let mut list = vec![Step::Operation(Explanation {
        operation: "complement",
        operands: vec![tile.to_string(), size.to_string()],
        steps: steps("complement", &[tile.into(), size.into()], overhang),
        result: rest.as_ref().map(Layout::to_string),
    })];
    if let Some(both) = rest.and_then(|rest| Layout::concat([tile.clone(), rest]).ok()) {
        let rules = composition::rules(a, &both, overhang);
        list.push(Step::Operation(Explanation {
            operation: "composition",
            operands: vec![a.to_string(), both.to_string()],
            steps: rules.into_iter().map(Step::Rule).collect(),
            result: compose(&mut Numbers, a, &both, overhang)
                .ok()
                .map(|r| r.to_string()),
        }));
    }
    list
}

fn layout_of(value: &Value) -> Option<Layout> {
    match value {
        Value::Layout(layout) => Some(layout.clone()),
        Value::Composed(composed) => Some(ComposedLayout::layout(composed).clone()),
        Value::Int(extent) => Layout::left(*extent).ok(),
        Value::Tuple(shape) => Layout::left(shape.clone()).ok(),
        _ => None,
    }
}

fn tiler_of(value: &Value) -> Option<Tiler> {
    match value {
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

/// An explanation of the operation with these operands, once its result is known.
pub(crate) fn explanation<I: Integer>(
    operation: &'static str,
    operands: &[Value<I>],
    steps: Vec<Step>,
    result: Option<&Value<I>>,
) -> Explanation {
    Explanation {
        operation,
        operands: operands.iter().map(Value::to_string).collect(),
        steps,
        result: result.map(Value::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::notation::eval_str;
    use crate::operations::{apply, find};
    use crate::overhang::Overhang;
    use crate::value::Value;

    /// The images of a composition are the modes of its result, and so are the gaps of a complement.
    #[test]
    fn rules_add_up_to_the_result() -> Result<(), Box<dyn std::error::Error>> {
        for (operation, operands, rules) in [
            (
                "composition",
                ["(6,2):(8,2)", "(4,3):(3,1)"],
                vec![
                    "A coalesces to (6,2):(8,2), linear on both sides of the boundary 6",
                    "B reaches 11, inside of the size 12 of A",
                    "4:3 is cut where it crosses a boundary, into 2:3 and 2:6",
                    "3:1 need not be cut",
                    "modulo 6, B reaches 1*3 + 2*1 = 5 < 6, so no sum carries over it",
                    "A(3) = 24, so 2:3 becomes 2:24",
                    "A(6) = 2, so 2:6 becomes 2:2",
                    "A(1) = 8, so 3:1 becomes 3:8",
                ],
            ),
            (
                "complement",
                ["(2,2):(1,6)", "24"],
                vec![
                    "the modes in ascending order of strides: 2:1 and 2:6",
                    "below stride 1 is no gap",
                    "stride 6 is a multiple of 2*1 = 2, which leaves the gap 3:2",
                    "blocks of 2*6 = 12 fill 24 as 2:12",
                ],
            ),
            // Refused by a carry: no rule about it holds, and nothing has an image.
            (
                "composition",
                ["(5,3):(1,10)", "6:2"],
                vec![
                    "A coalesces to (5,3):(1,10), linear on both sides of the boundary 5",
                    "B reaches 10, inside of the size 15 of A",
                    "6:2 is cut where it crosses a boundary, into 3:2 and 2:6",
                    "sums of these steps carry, so all 6 values are compared",
                ],
            ),
        ] {
            let operands = operands
                .iter()
                .map(|text| eval_str(text))
                .collect::<Result<Vec<Value>, _>>()?;
            let found: Vec<_> = steps(operation, &operands, Overhang::Strict)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found, rules);
        }
        Ok(())
    }

    /// The operations inside of a division have its numbers.
    #[test]
    fn a_division_is_a_complement_and_a_composition() -> Result<(), Box<dyn std::error::Error>> {
        let operands = [eval_str("24:3")?, eval_str("(2,2):(1,6)")?];
        let lines: Vec<_> = steps("logical_divide", &operands, Overhang::Strict)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            lines,
            [
                "complement((2,2):(1,6), 24) = (3,2):(2,12)",
                "composition(24:3, ((2,2),(3,2)):((1,6),(2,12))) = ((2,2),(3,2)):((3,18),(6,36))",
                "tile and rest are arranged as ((tile, rest), …)",
            ]
        );
        let divide = find("logical_divide").ok_or("no such operation")?;
        let result = apply(divide, &operands, false)?.to_string();
        assert_eq!(result, "((2,2),(3,2)):((3,18),(6,36))");
        Ok(())
    }
}
