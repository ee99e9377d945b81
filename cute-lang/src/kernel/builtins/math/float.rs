//! Floating-point functions that take more than one instruction, and values at known numbers that Rust does not provide.

use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Comparison, Ftz, IntegerRounding, NaN, Rounding};
use cute_ptx::table::{Found, Mnemonic, op};
use std::f32::consts::{LN_2, LOG2_E};

/// 1 / √x, each rounded.
pub(super) fn rsqrt(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let root = b.compute(ty, op::Sqrt, (Rounding::Rn, ty), x.to_vec());
    b.compute(ty, op::Rcp, (Rounding::Rn, ty), [root.operand()])
}

/// 2 to the power of x · log₂ e.
pub(super) fn exp_fast(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let power = scaled(b, ty, x, LOG2_E);
    b.compute(ty, op::Ex2, (Ftz, ty), [power.operand()])
}

/// log₂ x · ln 2.
pub(super) fn log_fast(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let log = b.compute(ty, op::Lg2, (Ftz, ty), x.to_vec());
    scaled(b, ty, &[log.operand()], LN_2)
}

fn scaled(b: &mut Builder, ty: Type, x: &[Operand], factor: f32) -> Scalar {
    let operands = x.iter().cloned().chain([Operand::F32(factor.to_bits())]);
    b.compute(ty, op::Mul, (Rounding::Rn, Ftz, ty), operands)
}

pub(super) fn floor(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    integral(b, ty, x, IntegerRounding::Rmi)
}

pub(super) fn ceil(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    integral(b, ty, x, IntegerRounding::Rpi)
}

pub(super) fn trunc(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    integral(b, ty, x, IntegerRounding::Rzi)
}

pub(super) fn round_ties_even(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    integral(b, ty, x, IntegerRounding::Rni)
}

fn integral(b: &mut Builder, ty: Type, x: &[Operand], rounding: IntegerRounding) -> Scalar {
    b.compute(ty, op::Cvt, (rounding, ty, ty), x.to_vec())
}

/// Rounds to the nearest integer, with ties away from zero. PTX rounds ties to even, so half is added with the sign of x and the sum
/// truncated. Half is the number before 0.5 here, since 0.49999997 + 0.5 rounds to 1 in f32.
pub(super) fn round(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let half = match ty {
        Type::F32 => Operand::F32(0.5f32.next_down().to_bits()),
        _ => Operand::F64(0.5f64.next_down().to_bits()),
    };
    let half = copysign(b, ty, &[half, x[0].clone()]);
    let operands = [x[0].clone(), half.operand()];
    let sum = b.compute(ty, op::Add, (Rounding::Rn, ty), operands);
    trunc(b, ty, &[sum.operand()])
}

/// PTX has the sign first.
pub(super) fn copysign(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let operands = x.iter().rev().cloned();
    b.compute(ty, op::Copysign, ty, operands)
}

/// x limited to two bounds; NaN for a NaN. f64 has no instruction for it, so x is compared with both.
pub(super) fn clamp(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let max: fn(Type) -> Found = |ty| Mnemonic::new(op::Max, (NaN, ty));
    let min: fn(Type) -> Found = |ty| Mnemonic::new(op::Min, (NaN, ty));
    let steps = [(max, Comparison::Lt, &x[1]), (min, Comparison::Gt, &x[2])];
    let mut result = x[0].clone();
    let mut last = None;
    for (limit, beyond, bound) in steps {
        let pair = [result.clone(), bound.clone()];
        let next = match ty {
            Type::F64 => {
                let outside = b.compute(Type::Pred, op::Setp, (beyond, ty), pair);
                let operands = [bound.clone(), result, outside.operand()];
                b.compute(ty, op::Selp, ty, operands)
            }
            _ => b.compute_mnemonic(ty, limit(ty), pair),
        };
        result = next.operand();
        last = Some(next);
    }
    last.expect("there are two steps")
}

/// As [`clamp`], also if `least` is greater than `greatest`.
pub(super) fn known_clamp(x: f64, least: f64, greatest: f64) -> f64 {
    let x = if x < least { least } else { x };
    if x > greatest { greatest } else { x }
}

/// The minimum. A NaN is ignored, and −0 is less than 0.
pub(super) fn least(x: f64, y: f64) -> f64 {
    match x == y && x.is_sign_negative() {
        true => x,
        false => y.min(x),
    }
}

/// The maximum. A NaN is ignored, and −0 is less than 0.
pub(super) fn greatest(x: f64, y: f64) -> f64 {
    -least(-x, -y)
}

/// The error function: 2/√π · e^(−x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1 · 3 · … · (2n + 1)). All terms have the same sign.
pub(super) fn known_erf(x: f64) -> f64 {
    // Beyond, it differs from 1 by less than half an ulp. The sign of a NaN is a NaN, which the sum would never reach.
    if x.is_nan() || x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while (sum + term) != sum {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}
