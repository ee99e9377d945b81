//! The same functions of integers.

use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::is_signed;
use crate::kernel::value::{Num, Scalar, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Takes;
use cute_ptx::table::op::{self, Instruction};
use syn::Result;

pub(super) fn abs(b: &mut Builder, call: &Call) -> Result<Value> {
    let x = &call.args[0].value;
    let ty = b
        .inference
        .number_type(x)
        .filter(|ty| ty.known().is_none_or(is_signed));
    match (call.num(0)?, ty) {
        (Num::Reg(scalar), _) if is_signed(scalar.ty) => Ok(b.unary(op::Abs, &scalar).into()),
        (Num::Const(value), Some(_)) if value >= 0 => Ok(x.clone()),
        (Num::Const(_), Some(ty)) => b.integers(Op::Sub, &Value::Int(0, ty), x),
        _ => Err(call.mismatch(0, "a signed integer or a floating-point number")),
    }
}

pub(super) fn min(b: &mut Builder, call: &Call) -> Result<Value> {
    extremum(b, call, Op::Min)
}

pub(super) fn max(b: &mut Builder, call: &Call) -> Result<Value> {
    extremum(b, call, Op::Max)
}

fn extremum(b: &mut Builder, call: &Call, op: Op) -> Result<Value> {
    call.num(1)?;
    b.integers(op, &call.args[0].value, &call.args[1].value)
}

pub(super) fn clamp(b: &mut Builder, call: &Call) -> Result<Value> {
    let (least, greatest) = (call.num(1)?, call.num(2)?);
    if let (Num::Const(least), Num::Const(greatest)) = (least, greatest)
        && least > greatest
    {
        return Err(call.error_at(1, format!("{least} is greater than {greatest}")));
    }
    let x = b.integers(Op::Max, &call.args[0].value, &call.args[1].value)?;
    b.integers(Op::Min, &x, &call.args[2].value)
}

/// The signed integer that an instruction of a type computes of two integers of its width, 32 or 64 bits.
pub(super) fn integers<I: Instruction + Takes<Type>>(
    b: &mut Builder,
    opcode: I,
    ty: Type,
    x: &Scalar,
    y: Operand,
) -> Scalar {
    let signed = if ty.bits() == 64 {
        Type::S64
    } else {
        Type::S32
    };
    b.compute(signed, opcode, ty, [x.operand(), y])
}
