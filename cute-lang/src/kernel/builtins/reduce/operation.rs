//! What combines values: sums and extrema of numbers of 32 bits.

use super::mode_of;
use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::value::types::{is_float, number_type, range};
use crate::kernel::value::{Fragment, Scalar, Value};
use cute_hopper::threads::WARP;
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

/// The names of the operations.
const OPERATIONS: &[(&str, Op)] = &[("add", Op::Add), ("max", Op::Max), ("min", Op::Min)];

/// An operation on numbers of a type.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    op: Op,
    ty: Type,
}

/// The arguments (x, mode, operation) of a call.
pub(super) fn operands(call: &Call) -> Result<(&Fragment, usize, Operation)> {
    let Value::Fragment(x) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let mode = mode_of(call, 1, x)?;
    let word = call.operation(2);
    let operation = OPERATIONS.iter().find(|(name, _)| Some(*name) == word);
    let Some(&(_, op)) = operation else {
        return Err(call.mismatch(2, "add, max or min"));
    };
    let ty = number_type(x.element).filter(|ty| ty.bits() == 32);
    let Some(ty) = ty else {
        let message = format!(
            "`{}` takes elements of `f32`, `i32` or `u32`, not of `{}`: `convert` the fragment",
            call.name, x.element
        );
        return Err(call.error_at(0, message));
    };
    Ok((x, mode, Operation { op, ty }))
}

impl Operation {
    /// x combined with y, if there is one.
    pub(super) fn join(&self, b: &mut Builder, x: &Scalar, y: Option<&Scalar>) -> Result<Scalar> {
        let Some(y) = y else { return Ok(x.clone()) };
        if is_float(self.ty) {
            let rounding = (self.op == Op::Add).then_some(Modifier::Rn);
            let operands = [x.operand(), y.operand()];
            return Ok(b.compute(self.ty, self.op.opcode(), (rounding, self.ty), operands));
        }
        let result = b.binary(self.op, &x.clone().into(), &y.clone().into())?;
        b.to_register(&result, self.ty)
    }

    /// x of the lane whose number is this lane's with the bits of `mask` flipped.
    pub(super) fn exchanged(&self, b: &mut Builder, x: &Scalar, mask: i64) -> Scalar {
        let operands = [
            x.operand(),
            Operand::Int(mask.into()),
            Operand::Int((WARP - 1).into()),
            Operand::Int(u32::MAX.into()),
        ];
        b.compute(self.ty, Opcode::Shfl, Modifier::Bfly, operands)
    }

    /// x where the predicate holds, else what changes nothing.
    pub(super) fn only_if(&self, b: &mut Builder, predicate: &Scalar, x: &Scalar) -> Scalar {
        let operands = [x.operand(), self.identity(), predicate.operand()];
        b.compute(self.ty, Opcode::Selp, self.ty, operands)
    }

    /// The number that changes nothing.
    pub(super) fn identity(&self) -> Operand {
        let infinity = match self.op {
            Op::Max => f32::NEG_INFINITY,
            Op::Min => f32::INFINITY,
            _ => 0.0,
        };
        match (self.op, self.ty) {
            (_, Type::F32) => Operand::F32(infinity.to_bits()),
            (Op::Max, ty) => Operand::Int(range(ty).0),
            (Op::Min, ty) => Operand::Int(range(ty).1),
            _ => Operand::Int(0),
        }
    }
}
