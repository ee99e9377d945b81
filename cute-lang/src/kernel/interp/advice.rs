//! What is written in place of a value of another kind than the code takes, for messages.

use crate::kernel::builtins;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::text;
use crate::kernel::value::types::{is_float, is_integer, rust_name};
use crate::kernel::value::{Callable, Value};
use cute_ptx::ast::Type;
use quote::ToTokens;
use syn::{Error, Expr};

impl Interpreter<'_> {
    /// The error of two operands. If an integer stands beside a floating-point number, it says how to make it one.
    pub(super) fn of_operands(
        &self,
        error: Error,
        left: (&Expr, &Value),
        right: (&Expr, &Value),
    ) -> Error {
        let error = self.of_kinds(error, left.1, right.1);
        let is_number = left.1.is_number() || right.1.is_number();
        match is_number {
            true => advised(advised(error, left), right),
            false => error,
        }
    }

    /// The error of an operation, a comparison or an assignment of an integer and a floating-point number.
    pub(super) fn of_kinds(&self, error: Error, a: &Value, b: &Value) -> Error {
        let (Value::Scalar(register), float) = (match float_type(a) {
            Some(_) => (b, a),
            None => (a, b),
        }) else {
            return error;
        };
        let Some(ty) = float_type(float).filter(|_| is_integer(register.ty)) else {
            return error;
        };
        if !names(&error, a) && !names(&error, b) {
            return error;
        }
        match self.b.inference.literal_of(register) {
            Some((place, literal)) => {
                let mut error = error;
                error.combine(Error::new(
                    place,
                    format!("this number makes the variable an integer: for floating-point numbers, write `{literal}.0`"),
                ));
                error
            }
            None => hinted(error, &format!("convert the integer with `as {ty}`")),
        }
    }
}

/// The name of the type of a floating-point number. That of a literal whose type is not known is `f32`.
fn float_type(value: &Value) -> Option<&'static str> {
    match value {
        Value::Float(_, ty) => Some(rust_name(ty.known().unwrap_or(Type::F32))),
        Value::Scalar(register) => is_float(register.ty).then(|| rust_name(register.ty)),
        _ => None,
    }
}

/// The error. If it names the kind of this value, it says what to write in place of the expression.
pub(super) fn advised(error: Error, (expr, value): (&Expr, &Value)) -> Error {
    match names(&error, value) {
        true => with_number(error, value, &text::shorten(expr.to_token_stream())),
        false => error,
    }
}

/// The error of an argument or a condition. If it names the kind of this value, where a number or a truth value is taken, it says what to
/// write.
pub(super) fn of_argument(error: Error, value: &Value) -> Error {
    let is_callable = matches!(value, Value::Callable(_));
    match names(&error, value) && (is_callable || error.to_string().contains("an integer")) {
        true => with_number(error, value, ""),
        false => error,
    }
}

fn with_number(error: Error, value: &Value, text: &str) -> Error {
    let number = match value {
        Value::Callable(function) => called(function),
        Value::Tuple(_) => Some(format!("its first number is `{text}.0`")),
        Value::Fragment(_) => Some(format!("its first value is `{text}[0]`")),
        _ => None,
    };
    match number {
        Some(number) => hinted(error, &number),
        None => error,
    }
}

/// The call of a function of the language without arguments.
fn called(function: &Callable) -> Option<String> {
    let Callable::Function(_, name) = function else {
        return None;
    };
    let takes_none = builtins::find(name)?.argument(0).is_none();
    takes_none.then(|| format!("its value is `{name}()`"))
}

/// Whether a message names the kind of a value and has no hint yet.
fn names(error: &Error, value: &Value) -> bool {
    let message = error.to_string();
    !message.contains(": ") && message.contains(&value.kind())
}

fn hinted(error: Error, hint: &str) -> Error {
    Error::new(error.span(), format!("{error}: {hint}"))
}
