//! Two layouts compared as functions.

use super::Context;
use crate::answer::{Answer, tuple};
use crate::failure::Failure;
use crate::session::Session;
use crate::statement::Statement;
use cute_algebra::notation::NotationError;
use cute_algebra::{
    Comparison, ComposedLayout, IntTuple, Layout, Shape, Tuple, Value, compare,
    compare_coordinates, idx2crd,
};
use serde_json::{Value as Json, json};
use std::{fmt, io};

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

/// What is compared.
#[derive(PartialEq, Eq)]
enum Operand {
    Integers(ComposedLayout),
    /// A layout whose values are coordinates.
    Coordinates(Layout),
}

fn compared(session: &Session, operands: &[Statement; 2]) -> Result<(Answer, bool), Failure> {
    let operand = |statement: &Statement| {
        Operand::of(session, &statement.text).map_err(|error| Failure::new(statement, error))
    };
    let (a, b) = (operand(&operands[0])?, operand(&operands[1])?);
    let found = match (&a, &b) {
        (Operand::Integers(a), Operand::Integers(b)) => of_integers(a, b),
        (Operand::Coordinates(a), Operand::Coordinates(b)) => compare_coordinates(a, b),
        _ => {
            let (name, at) = match a {
                Operand::Coordinates(_) => ("A", 0),
                Operand::Integers(_) => ("B", 1),
            };
            let message = "one layout gives integers, and the other coordinates";
            let mut failure = Failure::whole(&operands[at], message);
            failure.error.help = Some(format!(
                "composed with the layout L of the data, coordinates give integers: `L o {name}`"
            ));
            return Err(failure);
        }
    };
    let (text, is_equal) = match (found.is_equal, &found.difference) {
        (Some(true), _) if a == b => ("equal: the same shape and stride\n".to_owned(), true),
        (Some(true), _) => {
            let (a, b) = (a.shape(), b.shape());
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
                    inner(&coordinate(a.shape(), *index)),
                    inner(&coordinate(b.shape(), *index)),
                ),
            };
            (text, false)
        }
    };
    let difference = found.difference.map_or(Json::Null, |(index, values)| {
        let coordinates = [&a, &b].map(|operand| tuple(&coordinate(operand.shape(), index)));
        json!({ "index": index, "coordinates": coordinates, "values": values.each_ref().map(tuple) })
    });
    let json = json!({
        "a": a.to_string(),
        "b": b.to_string(),
        "equal": is_equal,
        "identical": a == b,
        "sizes": found.sizes,
        "difference": difference,
    });
    Ok((Answer { text, json }, is_equal))
}

fn of_integers(a: &ComposedLayout, b: &ComposedLayout) -> Comparison<IntTuple> {
    let found = compare(a, b);
    Comparison {
        sizes: found.sizes,
        difference: (found.difference).map(|(index, values)| (index, values.map(Tuple::Leaf))),
        is_equal: found.is_equal,
    }
}

impl Operand {
    fn of(session: &Session, text: &str) -> Result<Self, NotationError> {
        if let Value::Layout(layout) = session.numbers(text)?
            && !layout.is_integral()
        {
            return Ok(Self::Coordinates(layout));
        }
        Ok(Self::Integers(session.swizzled(text)?))
    }

    fn shape(&self) -> &Shape {
        match self {
            Self::Integers(layout) => layout.layout().shape(),
            Self::Coordinates(layout) => layout.shape(),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integers(layout) => match layout.as_layout() {
                Some(plain) => plain.fmt(f),
                None => layout.fmt(f),
            },
            Self::Coordinates(layout) => layout.fmt(f),
        }
    }
}

/// The coordinate at a 1-D index, nested as the shape.
fn coordinate(shape: &Shape, index: i64) -> IntTuple {
    idx2crd(&index.into(), shape).unwrap_or_else(|_| index.into())
}

/// A coordinate as arguments of a function: without the outer parentheses.
fn inner(coordinate: &IntTuple) -> String {
    let text = coordinate.to_string();
    let list = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    list.unwrap_or(&text).to_owned()
}
