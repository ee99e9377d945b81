//! f32 instructions on registers and constants, rounded as IEEE 754 requires.

use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Comparison, Rounding};
use cute_ptx::table::op;

/// 1.5 · 2²³. Adding it to a small number rounds the number to an integer, which is then in the lowest bits.
pub(super) const ROUNDER: f32 = 12_582_912.0;

/// An operand of f32: a register or a constant.
pub(super) trait Single {
    fn single(&self) -> Operand;
}

impl Single for f32 {
    fn single(&self) -> Operand {
        Operand::F32(self.to_bits())
    }
}

impl Single for &Scalar {
    fn single(&self) -> Operand {
        self.operand()
    }
}

impl Single for &Operand {
    fn single(&self) -> Operand {
        (*self).clone()
    }
}

pub(super) fn fma(b: &mut Builder, x: impl Single, y: impl Single, z: impl Single) -> Scalar {
    let operands = [x.single(), y.single(), z.single()];
    b.compute(Type::F32, op::Fma, (Rounding::Rn, Type::F32), operands)
}

pub(super) fn add(b: &mut Builder, x: impl Single, y: impl Single) -> Scalar {
    let operands = [x.single(), y.single()];
    b.compute(Type::F32, op::Add, (Rounding::Rn, Type::F32), operands)
}

pub(super) fn mul(b: &mut Builder, x: impl Single, y: impl Single) -> Scalar {
    let operands = [x.single(), y.single()];
    b.compute(Type::F32, op::Mul, (Rounding::Rn, Type::F32), operands)
}

/// The polynomial with these coefficients, from the highest power to the lowest.
pub(super) fn polynomial(b: &mut Builder, x: &Scalar, coefficients: &[f32]) -> Scalar {
    let mut sum = fma(b, x, coefficients[0], coefficients[1]);
    for coefficient in &coefficients[2..] {
        sum = fma(b, &sum, x, *coefficient);
    }
    sum
}

/// `yes` where the comparison holds, else `no`.
pub(super) fn choose<S: Single>(
    b: &mut Builder,
    (cmp, x, bound): (Comparison, S, f32),
    yes: impl Single,
    no: impl Single,
) -> Scalar {
    let compared = [x.single(), bound.single()];
    let holds = b.compute(Type::Pred, op::Setp, (cmp, Type::F32), compared);
    let operands = [yes.single(), no.single(), holds.operand()];
    b.compute(Type::F32, op::Selp, Type::F32, operands)
}
