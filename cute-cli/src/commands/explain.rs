//! The steps of expressions.

use super::{Context, Stop};
use crate::answer::Answer;
use crate::args::Expressions;
use crate::failure::Failure;
use crate::session::Session;
use crate::statement::Statement;
use cute_algebra::notation::explain;
use cute_algebra::{Explanation, Step};
use serde_json::{Value as Json, json};

/// Shows the steps of each expression. An error follows the steps before it.
pub(crate) fn run(context: &mut Context, source: Expressions) -> Result<(), Stop> {
    for statement in context.statements(source)? {
        let (answer, result) = match context.session.define(&statement) {
            Some(defined) => (None, defined),
            None => explained(&context.session, &statement),
        };
        if let Some(answer) = answer {
            context.output.answer(&answer)?;
        }
        if let Err(failure) = result {
            context.output.failure(&failure)?;
        }
    }
    Ok(())
}

/// The steps, as far as they go, and the error if there is one.
fn explained(session: &Session, statement: &Statement) -> (Option<Answer>, Result<(), Failure>) {
    let failed = |error| Failure::new(statement, error);
    let prepared = match session.prepare(&statement.text) {
        Ok(prepared) => prepared,
        Err(error) => return (None, Err(failed(error))),
    };
    let (steps, value) = explain(&prepared.facts, &prepared.expr, &prepared.names());
    let mut text: String = steps.iter().map(lines).collect();
    let mut conditions = Vec::new();
    if let Ok(symbolic) = &value {
        let shown = symbolic.value.to_string();
        // The last step already shows the value if the last operation is the whole expression.
        if steps.last().and_then(|step| step.result.as_ref()) != Some(&shown) {
            text += &format!("{shown}\n");
        }
        if steps.is_empty() {
            let kind = symbolic.value.kind();
            text += &format!("  {kind} as it is written: no operation is called\n");
        }
        conditions = symbolic
            .scope
            .checks()
            .iter()
            .map(ToString::to_string)
            .collect();
    }
    for condition in &conditions {
        text += &format!("  if {condition}\n");
    }
    let json = json!({
        "expression": statement.text,
        "steps": steps.iter().map(document).collect::<Vec<_>>(),
        "value": value.as_ref().ok().map(|symbolic| symbolic.value.to_string()),
        "conditions": conditions,
    });
    (
        Some(Answer { text, json }),
        value
            .map(drop)
            .map_err(|error| failed(prepared.meant(error))),
    )
}

/// An operation with its steps below it.
fn lines(step: &Explanation) -> String {
    let lines = step.lines().into_iter();
    lines
        .map(|(depth, line)| format!("{}{line}\n", "  ".repeat(depth)))
        .collect()
}

fn document(step: &Explanation) -> Json {
    let steps = step.steps.iter().map(|step| match step {
        Step::Operation(inner) => document(inner),
        step => json!({ "rule": step.to_string() }),
    });
    json!({
        "operation": step.operation,
        "operands": step.operands,
        "steps": steps.collect::<Vec<_>>(),
        "result": step.result,
    })
}
