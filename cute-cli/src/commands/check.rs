//! Files of expectations.

use super::Context;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::session::Session;
use crate::statement::{Statement, read};
use cute_algebra::Value;
use cute_algebra::notation::NotationError;
use cute_algebra::symbolic::Term;
use serde_json::json;
use std::io;

/// Checks every statement of the files. Definitions hold to the end of their file.
pub(crate) fn run(context: &mut Context, files: &[String]) -> io::Result<()> {
    let (mut passed, mut failures) = (0, Vec::new());
    for file in files {
        let mut session = context.session.clone();
        for statement in read(file)? {
            let is_definition = session.define(&statement);
            match is_definition
                .unwrap_or_else(|| expect(&session, &statement).map(|()| passed += 1))
            {
                Ok(()) => {}
                Err(failure) => failures.push(failure),
            }
        }
    }
    let failed = failures.len();
    if failed > 0 {
        context.output.fail();
    }
    if !context.output.is_json {
        for failure in &failures {
            context.output.failure(failure)?;
        }
    }
    let answer = Answer {
        text: format!("{passed} passed, {failed} failed\n"),
        json: json!({
            "passed": passed,
            "failed": failed,
            "failures": failures.iter().map(Failure::json).collect::<Vec<_>>(),
        }),
    };
    context.output.answer(&answer)
}

/// The expectation of a statement. Each expression keeps its position in the statement.
enum Expectation {
    /// `EXPR`: the value must be `true`.
    True(String),
    /// `EXPR == EXPR` or `EXPR != EXPR`.
    Compared {
        left: String,
        right: String,
        is_equal: bool,
    },
    /// `EXPR fails "TEXT"`: the message of the error must contain the text.
    Fails { expr: String, text: String },
}

impl Expectation {
    fn of(text: &str) -> Self {
        const FAILS: &str = " fails \"";
        if let Some(start) = text.rfind(FAILS)
            && let Some(message) = text.trim_end().strip_suffix('"')
            && start + FAILS.len() <= message.len()
        {
            let text = message[start + FAILS.len()..].to_owned();
            return Self::Fails {
                expr: message[..start].to_owned(),
                text,
            };
        }
        // Facts may contain `==`, too.
        let facts = match text.starts_with("where") {
            true => text.find(';').map_or(0, |end| end + 1),
            false => 0,
        };
        let sign = |sign: &str| text[facts..].find(sign).map(|at| facts + at);
        let found =
            [("==", true), ("!=", false)].map(|(text, is_equal)| Some((sign(text)?, is_equal)));
        match found.into_iter().flatten().min() {
            None => Self::True(text.to_owned()),
            Some((at, is_equal)) => {
                let width = at + 2 - facts;
                let right = text[..facts].to_owned() + &" ".repeat(width) + &text[at + 2..];
                Self::Compared {
                    left: text[..at].to_owned(),
                    right,
                    is_equal,
                }
            }
        }
    }
}

fn expect(session: &Session, statement: &Statement) -> Result<(), Failure> {
    let failed = |error: NotationError| Failure::new(statement, error);
    let unmet = |message: String| Err(Failure::whole(statement, message));
    match Expectation::of(&statement.text) {
        Expectation::True(text) => match session.symbolic(&text).map_err(failed)?.1.value {
            Value::Bool(true) => Ok(()),
            Value::Bool(false) => unmet("expected true, found false".into()),
            other => {
                let expected = "expected `EXPR == EXPR`, `EXPR != EXPR`, `EXPR fails \"TEXT\"` or a truth value";
                unmet(format!("{expected}, found {}", other.kind()))
            }
        },
        Expectation::Compared {
            left,
            right,
            is_equal,
        } => {
            let (found, expected) = values(session, &left, &right).map_err(failed)?;
            match (found == expected, is_equal) {
                (true, true) | (false, false) => Ok(()),
                (true, false) => unmet(format!("both sides are {found}")),
                (false, true) => unmet(format!("expected {expected}, found {found}")),
            }
        }
        Expectation::Fails { expr, text } => match session.symbolic(&expr) {
            Err(error) if error.to_string().contains(&text) => Ok(()),
            Err(error) => unmet(format!(
                "expected an error with \"{text}\", found \"{}\"",
                error.message
            )),
            Ok((_, symbolic)) => unmet(format!(
                "expected an error with \"{text}\", found {}",
                symbolic.value
            )),
        },
    }
}

/// The values of both sides as text. Beside a layout, a shape stands for its compact layout.
fn values(session: &Session, left: &str, right: &str) -> Result<(String, String), NotationError> {
    let value = |text: &str| session.value(text);
    let (left_value, right_value) = (value(left)?, value(right)?);
    let is_layout = |value: &Value<Term>| matches!(value, Value::Layout(_));
    let beside = |text: &str, value: Value<Term>, other: bool| match value {
        Value::Int(_) | Value::Tuple(_) if other => {
            let prepared = session.prepare(text)?;
            Ok(prepared.layout()?.value.to_string())
        }
        value => Ok(value.to_string()),
    };
    let (on_left, on_right) = (is_layout(&left_value), is_layout(&right_value));
    Ok((
        beside(left, left_value, on_right)?,
        beside(right, right_value, on_left)?,
    ))
}
