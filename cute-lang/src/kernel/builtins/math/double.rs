//! Functions of f64, for which the hardware has no approximations. Power series are truncated where the rest is less than half a unit in
//! the last place. Each operation is rounded as IEEE 754 requires, so the results are the same on every machine. The errors are in
//! `cute-runtime/docs/kernel-language.md`, and a test measures them.

use super::integer::integers;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Comparison, IntegerRounding, Rounding, Takes};
use cute_ptx::table::op::{self, Instruction};
use std::f64::consts::{LN_2, LOG2_E};

/// The number of fraction bits. The exponent lies above them.
const FRACTION: i128 = 52;
/// 1.5 · 2⁵². Adding it to a small number rounds the number to an integer.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts. The first has 33 bits, so its product with an exponent is exact.
pub(super) const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
pub(super) const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// eˣ = 2ʲ · eᶠ, where j is the integer nearest to x · log₂ e.
pub(super) fn exp(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    exp_of(b, &x[0], None)
}

/// As `exp`, of the sum of x and a number that is at most one unit in x's last place.
pub(super) fn exp_of(b: &mut Builder, x: &Operand, low: Option<&Operand>) -> Scalar {
    let sum = rounded(b, op::Fma, [x.clone(), of(LOG2_E), of(ROUNDER)]);
    let j = rounded(b, op::Sub, [sum, of(ROUNDER)]);
    let f = rounded(b, op::Fma, [j.clone(), of(-LN_2_HIGH), x.clone()]);
    let f = match low {
        Some(low) => {
            let rest = rounded(b, op::Fma, [j.clone(), of(-LN_2_LOW), low.clone()]);
            rounded(b, op::Add, [f, rest])
        }
        None => rounded(b, op::Fma, [j.clone(), of(-LN_2_LOW), f]),
    };
    let power = power(b, &j, &f);
    let power = choose(
        b,
        (Comparison::Ge, x, 710.0),
        of(f64::INFINITY),
        power.operand(),
    );
    choose(b, (Comparison::Le, x, -746.0), of(0.0), power.operand())
}

/// 2ˣ = 2ʲ · eᶠ, where j is the integer nearest to x, and f is (x − j) · ln 2.
pub(super) fn exp2(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    let x = &x[0];
    let sum = rounded(b, op::Add, [x.clone(), of(ROUNDER)]);
    let j = rounded(b, op::Sub, [sum, of(ROUNDER)]);
    let rest = rounded(b, op::Sub, [x.clone(), j.clone()]);
    let f = rounded(b, op::Mul, [rest, of(LN_2)]);
    let power = power(b, &j, &f);
    let power = choose(
        b,
        (Comparison::Ge, x, 1024.0),
        of(f64::INFINITY),
        power.operand(),
    );
    choose(b, (Comparison::Le, x, -1076.0), of(0.0), power.operand())
}

/// ln x = i · ln 2 + ln (1 + m).
pub(super) fn log(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    let (i, m) = split(b, &x[0]);
    let log = log1p(b, &m);
    let log = rounded(b, op::Fma, [i.clone(), of(LN_2_LOW), log]);
    let log = rounded(b, op::Fma, [i, of(LN_2_HIGH), log]);
    log_of_others(b, &x[0], log)
}

/// log₂ x = i + ln (1 + m) · log₂ e.
pub(super) fn log2(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    let (i, m) = split(b, &x[0]);
    let log = log1p(b, &m);
    let log = rounded(b, op::Fma, [log, of(LOG2_E), i]);
    log_of_others(b, &x[0], log)
}

/// 1 − 2 / (e²ˣ + 1) with the sign of x; sinh x / cosh x where this difference cancels.
pub(super) fn tanh(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let magnitude = b.compute(ty, op::Abs, ty, [x[0].clone()]).operand();
    let double = rounded(b, op::Add, [magnitude.clone(), magnitude.clone()]);
    let power = exp(b, ty, &[double]).operand();
    let sum = rounded(b, op::Add, [power, of(1.0)]);
    let quotient = rounded(b, op::Div, [of(-2.0), sum]);
    let large = rounded(b, op::Add, [quotient, of(1.0)]);
    let large = b.compute(ty, op::Copysign, ty, [x[0].clone(), large]);

    let square = rounded(b, op::Mul, [x[0].clone(), x[0].clone()]);
    let sinh = series(b, &square, |n| inverse_factorial(2 * n + 1), 8);
    let cosh = series(b, &square, |n| inverse_factorial(2 * n), 8);
    let ratio = rounded(b, op::Div, [sinh, cosh]);
    let small = rounded(b, op::Mul, [ratio, x[0].clone()]);
    choose(
        b,
        (Comparison::Ge, &magnitude, 0.55),
        large.operand(),
        small,
    )
}

/// 2ʲ · eᶠ for an integer j and f from −0.35 to 0.35.
fn power(b: &mut Builder, j: &Operand, f: &Operand) -> Scalar {
    let power = series(b, f, inverse_factorial, 13);
    let modifiers = (IntegerRounding::Rzi, Type::S32, Type::F64);
    let j = b.compute(Type::S32, op::Cvt, modifiers, [j.clone()]);
    // 2ʲ may be no number of f64, but it is the product of two.
    let half = b.compute(
        Type::S32,
        op::Shr,
        Type::S32,
        [j.operand(), Operand::Int(1)],
    );
    let rest = b.compute(Type::S32, op::Sub, Type::S32, [j.operand(), half.operand()]);
    let power = scale(b, &power, &half);
    scale(b, &power.operand(), &rest)
}

/// x · 2ᵏ, where 2ᵏ is a normal number.
fn scale(b: &mut Builder, x: &Operand, k: &Scalar) -> Scalar {
    let wide = (Type::S64, Type::S32);
    let biased = b.compute(
        Type::S32,
        op::Add,
        Type::S32,
        [k.operand(), Operand::Int(1023)],
    );
    let biased = b.compute(Type::S64, op::Cvt, wide, [biased.operand()]);
    let bits = [biased.operand(), Operand::Int(FRACTION)];
    let bits = b.compute(Type::S64, op::Shl, Type::B64, bits);
    let power = b.compute(Type::F64, op::Mov, Type::B64, [bits.operand()]);
    let modifiers = (Rounding::Rn, Type::F64);
    b.compute(Type::F64, op::Mul, modifiers, [x.clone(), power.operand()])
}

/// i and m of x = 2ⁱ · (1 + m), where m is from −1/3 to 1/3.
pub(super) fn split(b: &mut Builder, x: &Operand) -> (Operand, Operand) {
    let subnormal = (Comparison::Lt, x, f64::MIN_POSITIVE);
    let normal = rounded(b, op::Mul, [x.clone(), of(2f64.powi(54))]);
    let normal = choose(b, subnormal, normal, x.clone());
    let shift = choose(b, subnormal, of(-54.0), of(0.0));
    let bits = b.compute(Type::S64, op::Mov, Type::B64, [normal.operand()]);
    let two_thirds = Operand::Int((2f64 / 3.0).to_bits().into());
    let above = integers(b, op::Sub, Type::S64, &bits, two_thirds);
    let exponent = integers(b, op::And, Type::B64, &above, Operand::Int(-1 << FRACTION));
    let factor = integers(b, op::Sub, Type::S64, &bits, exponent.operand());
    let factor = b.compute(Type::F64, op::Mov, Type::B64, [factor.operand()]);
    let exponent = integers(b, op::Shr, Type::S64, &exponent, Operand::Int(FRACTION));
    let modifiers = (Rounding::Rn, Type::F64, Type::S64);
    let exponent = b.compute(Type::F64, op::Cvt, modifiers, [exponent.operand()]);
    let i = rounded(b, op::Add, [exponent.operand(), shift.operand()]);
    let m = rounded(b, op::Sub, [factor.operand(), of(1.0)]);
    (i, m)
}

/// ln (1 + m) = m + s · (r − m) for s = m / (2 + m) and r = 2 · (s²/3 + s⁴/5 + …).
fn log1p(b: &mut Builder, m: &Operand) -> Operand {
    let sum = rounded(b, op::Add, [m.clone(), of(2.0)]);
    let s = rounded(b, op::Div, [m.clone(), sum]);
    let square = rounded(b, op::Mul, [s.clone(), s.clone()]);
    let r = series(b, &square, |n| 2.0 / (2 * n + 3) as f64, 11);
    let r = rounded(b, op::Mul, [r, square]);
    let rest = rounded(b, op::Sub, [r, m.clone()]);
    rounded(b, op::Fma, [s, rest, m.clone()])
}

/// The logarithm of every x, given `log` for a positive finite x.
pub(super) fn log_of_others(b: &mut Builder, x: &Operand, log: Operand) -> Scalar {
    let infinity = of(f64::INFINITY);
    let log = choose(b, (Comparison::Eq, x, f64::INFINITY), infinity, log);
    let log = choose(
        b,
        (Comparison::Eq, x, 0.0),
        of(f64::NEG_INFINITY),
        log.operand(),
    );
    // Less than zero, or a NaN.
    choose(b, (Comparison::Ltu, x, 0.0), of(f64::NAN), log.operand())
}

/// The sum of `coefficient(n)` · xⁿ for n from 0 to `last`.
fn series(b: &mut Builder, x: &Operand, coefficient: impl Fn(u32) -> f64, last: u32) -> Operand {
    let mut sum = of(coefficient(last));
    for n in (0..last).rev() {
        sum = rounded(b, op::Fma, [x.clone(), sum, of(coefficient(n))]);
    }
    sum
}

/// 1 / n!. The factorial is exact.
fn inverse_factorial(n: u32) -> f64 {
    1.0 / (1..=n).map(f64::from).product::<f64>()
}

/// `yes` where the comparison holds, else `no`.
fn choose(
    b: &mut Builder,
    (cmp, x, bound): (Comparison, &Operand, f64),
    yes: Operand,
    no: Operand,
) -> Scalar {
    let compared = [x.clone(), of(bound)];
    let holds = b.compute(Type::Pred, op::Setp, (cmp, Type::F64), compared);
    b.compute(Type::F64, op::Selp, Type::F64, [yes, no, holds.operand()])
}

/// The result of an instruction that rounds to the nearest.
fn rounded<I: Instruction + Takes<Rounding> + Takes<Type>>(
    b: &mut Builder,
    opcode: I,
    operands: impl IntoIterator<Item = Operand>,
) -> Operand {
    let result = b.compute(Type::F64, opcode, (Rounding::Rn, Type::F64), operands);
    result.operand()
}

fn of(x: f64) -> Operand {
    Operand::F64(x.to_bits())
}
