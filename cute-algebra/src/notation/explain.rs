//! Expressions evaluated step by step.

use super::error::NotationError;
use super::eval::Evaluator;
use super::expr::{Expr, Fact, Names};
use super::run_time::Symbolic;
use crate::explain::Explanation;
use alloc::vec::Vec;

/// The operations of an expression in the order in which they are computed, the innermost first, each with the rules that
/// allow it; and the value or the error. The last operation is the refused one if there is an error of an operation.
///
/// ```
/// use cute_algebra::notation::{Definition, explain};
/// let composed: Definition = "coalesce(8:2 o (4,2):(2,1))".parse()?;
/// let (steps, value) = explain(&composed.facts, &composed.expr, &|_| None);
/// assert_eq!(value?.value.to_string(), "(4,2):(4,2)");
/// assert_eq!(steps[0].to_string(), "composition(8:2, (4,2):(2,1)) = (4,2):(4,2)");
/// assert_eq!(steps[1].to_string(), "coalesce((4,2):(4,2)) = (4,2):(4,2)");
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
pub fn explain(
    facts: &[Fact],
    expr: &Expr,
    names: Names<'_>,
) -> (Vec<Explanation>, Result<Symbolic, NotationError>) {
    let mut evaluator = match Evaluator::under(facts, expr, names) {
        Ok(evaluator) => evaluator,
        Err(error) => return (Vec::new(), Err(error)),
    };
    evaluator.trace = Some(Vec::new());
    let value = evaluator.value(expr);
    let Evaluator {
        d: scope, trace, ..
    } = evaluator;
    (
        trace.unwrap_or_default(),
        value.map(|value| Symbolic { scope, value }),
    )
}
