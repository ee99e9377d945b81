//! Questions about floating-point numbers, with a truth value as the answer.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::Value;
use crate::kernel::value::types::{is_float, rounded};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Comparison;
use cute_ptx::table::op;
use syn::Result;

pub(in crate::kernel::builtins) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "is_nan(x)",
        apply: |b, call| ask(b, call, f64::is_nan, is_nan),
    },
    Builtin {
        signature: "is_infinite(x)",
        apply: |b, call| {
            ask(b, call, f64::is_infinite, |b, ty, x| {
                magnitude_is(b, Comparison::Eq, ty, x)
            })
        },
    },
    Builtin {
        signature: "is_finite(x)",
        apply: |b, call| {
            ask(b, call, f64::is_finite, |b, ty, x| {
                magnitude_is(b, Comparison::Lt, ty, x)
            })
        },
    },
];

/// The answer for a known number, or the code for a number in a register.
fn ask(
    b: &mut Builder,
    call: &Call,
    known: fn(f64) -> bool,
    emit: fn(&mut Builder, Type, Operand) -> Result<Value>,
) -> Result<Value> {
    call.elementwise(
        b,
        |_| false,
        |b, call| match &call.args[0].value {
            Value::Float(x, ty) => {
                let (x, ty) = b.inference.float(*x, *ty);
                b.inference
                    .observe(ty, |ty| known(rounded(x, ty)) == known(x));
                Ok(Value::Bool(known(x)))
            }
            Value::Scalar(x) if is_float(x.ty) => emit(b, x.ty, x.operand()),
            _ => Err(call.mismatch(0, "a floating-point number")),
        },
    )
}

fn is_nan(b: &mut Builder, ty: Type, x: Operand) -> Result<Value> {
    let operands = [x.clone(), x];
    Ok(
        b.compute(Type::Pred, op::Setp, (Comparison::Nan, ty), operands)
            .into(),
    )
}

/// How the magnitude compares with infinity. A NaN compares with nothing.
fn magnitude_is(b: &mut Builder, cmp: Comparison, ty: Type, x: Operand) -> Result<Value> {
    let magnitude = b.compute(ty, op::Abs, ty, [x]);
    let operands = [magnitude.operand(), b.float_operand(f64::INFINITY, ty)?];
    Ok(b.compute(Type::Pred, op::Setp, (cmp, ty), operands).into())
}
