//! Two layouts compared as functions.

use super::Context;
use crate::answer::{Answer, tuple};
use crate::failure::Failure;
use crate::session::Session;
use crate::statement::Statement;
use cute_algebra::{ComposedLayout, IntTuple, compare, idx2crd};
use serde_json::{Value as Json, json};
use std::io;

/// Tells whether A and B are the same function, and fails if they are not.
pub(crate) fn run(context: &mut Context, a: &str, b: &str) -> io::Result<()> {
    let operands = [a, b].map(Statement::argument);
    match compared(&context.session, &operands) {
        Ok((answer, is_equal)) => {
            if !is_equal {
                context.output.fail();
            }
            context.output.answer(&answer)
        }
        Err(failure) => context.output.failure(&failure),
    }
}

fn compared(session: &Session, operands: &[Statement; 2]) -> Result<(Answer, bool), Failure> {
    let layout = |statement: &Statement| {
        let layout = session.swizzled(&statement.text);
        layout.map_err(|error| Failure::new(statement, error))
    };
    let (a, b) = (layout(&operands[0])?, layout(&operands[1])?);
    let found = compare(&a, &b);
    let (text, is_equal) = match (found.is_equal, found.difference) {
        (Some(true), _) if a == b => ("equal: the same shape and stride\n".to_owned(), true),
        (Some(true), _) => {
            let (a, b) = (a.layout().shape(), b.layout().shape());
            (
                format!("equal as functions, with the shapes {a} and {b}\n"),
                true,
            )
        }
        (None, _) => {
            return Err(Failure::whole(
                &operands[0],
                "too many coordinates to compare",
            ));
        }
        (Some(false), difference) => {
            let mut text = String::from("different");
            if let [left, right] = found.sizes
                && left != right
            {
                text += &format!(": A has {left} coordinates, and B has {right}");
            }
            text += &match difference {
                None => format!(
                    "; the first {} values are equal\n",
                    found.sizes[0].min(found.sizes[1])
                ),
                Some((index, [left, right])) => format!(
                    "\nat coordinate {index}\n  A({}) = {left}\n  B({}) = {right}\n",
                    inner(&coordinate(&a, index)),
                    inner(&coordinate(&b, index)),
                ),
            };
            (text, false)
        }
    };
    let difference = found.difference.map_or(Json::Null, |(index, values)| {
        let coordinates = [&a, &b].map(|layout| tuple(&coordinate(layout, index)));
        json!({ "index": index, "coordinates": coordinates, "values": values })
    });
    let json = json!({
        "a": plain(&a),
        "b": plain(&b),
        "equal": is_equal,
        "identical": a == b,
        "sizes": found.sizes,
        "difference": difference,
    });
    Ok((Answer { text, json }, is_equal))
}

fn plain(layout: &ComposedLayout) -> String {
    layout
        .as_layout()
        .map_or_else(|| layout.to_string(), ToString::to_string)
}

/// The coordinate at a 1-D index, nested as the shape.
fn coordinate(layout: &ComposedLayout, index: i64) -> IntTuple {
    idx2crd(&index.into(), layout.layout().shape()).unwrap_or_else(|_| index.into())
}

/// A coordinate as arguments of a function: without the outer parentheses.
fn inner(coordinate: &IntTuple) -> String {
    let text = coordinate.to_string();
    let list = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    list.unwrap_or(&text).to_owned()
}
