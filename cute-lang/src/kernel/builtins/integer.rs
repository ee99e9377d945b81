//! Functions of integers.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::value::types::is_signed;
use crate::kernel::value::{Num, NumberType, Value};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "ceil_div(a, b)",
        apply: ceil_div,
    },
    Builtin {
        signature: "bits::<T>()",
        apply: bits,
    },
];

/// ⌈a / b⌉ for a positive b: c + (a − c) / b, where c is 1 if a is positive, else 0. Nothing in it overflows.
fn ceil_div(b: &mut Builder, call: &Call) -> Result<Value> {
    call.num(0)?;
    if let Num::Const(divisor) = call.num(1)?
        && divisor < 1
    {
        return Err(call.error_at(1, format!("the divisor is at least 1, not {divisor}")));
    }
    let (dividend, divisor) = (&call.args[0].value, &call.args[1].value);
    let ty = b.common_type(dividend, divisor)?;
    let mut carry = b.integers(Op::Min, dividend, &Value::Int(1, ty))?;
    if ty.known().is_none_or(is_signed) {
        carry = b.integers(Op::Max, &carry, &Value::Int(0, ty))?;
    }
    let rest = b.integers(Op::Sub, dividend, &carry)?;
    let quotient = b.integers(Op::Div, &rest, divisor)?;
    b.integers(Op::Add, &quotient, &carry)
}

fn bits(_: &mut Builder, call: &Call) -> Result<Value> {
    Ok(Value::Int(call.element()?.bits().into(), NumberType::Any))
}
