//! What is written here for `(a..b).step_by(c)`.

use crate::kernel::syntax::bare::bare;
use crate::kernel::syntax::text::fact;
use quote::ToTokens;
use syn::{Error, Expr, ExprMethodCall, RangeLimits};

/// The error of a method that does not exist. For `step_by` of a range, it shows a loop with the same range and step.
pub(super) fn explained(error: Error, call: &ExprMethodCall) -> Error {
    match stepped(call) {
        Some(here) => {
            let message = format!("cannot find function `step_by`: {here}");
            Error::new(error.span(), message)
        }
        None => error,
    }
}

fn stepped(call: &ExprMethodCall) -> Option<String> {
    let (Some(step), 1) = (call.args.first(), call.args.len()) else {
        return None;
    };
    let Expr::Range(range) = bare(&call.receiver) else {
        return None;
    };
    if call.method != "step_by" {
        return None;
    }
    let by = text(step);
    let (start, step) = (
        text_of_operand(range.start.as_ref()?),
        text_of_operand(step),
    );
    let end = range.end.as_ref()?;
    let end = match range.limits {
        RangeLimits::HalfOpen(_) => text(end),
        RangeLimits::Closed(_) => format!("{} + 1", text_of_operand(end)),
    };
    let used = format!("{start} {end} {step}");
    let mut free = ["i", "j", "k", "l", "m", "p", "q"]
        .into_iter()
        .filter(|name| {
            let mut words = used.split(|it: char| !it.is_alphanumeric() && it != '_');
            words.all(|word| word != *name)
        });
    let (i, j) = (free.next()?, free.next()?);
    let steps = format!("`for {i} in 0..ceil_div({end}, {by})`");
    Some(match &start[..] {
        "0" => format!("{steps} and `{step} * {i}` go by {by}"),
        _ => format!(
            "{steps}, `let {j} = {start} + {step} * {i};` and `if {j} < {end} {{ … }}` go by {by}"
        ),
    })
}

fn text(expr: &Expr) -> String {
    fact(expr.to_token_stream())
}

/// The text of an operand: in parentheses if it is an operation itself.
fn text_of_operand(expr: &Expr) -> String {
    match expr {
        Expr::Binary(_) | Expr::Cast(_) | Expr::Unary(_) => format!("({})", text(expr)),
        expr => text(expr),
    }
}
