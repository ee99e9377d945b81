//! Polynomials for functions of f32 that the hardware only approximates. Each operation is rounded as IEEE 754 requires, so the results are
//! the same on every machine. The coefficients are N. Juffa's. The errors are in `cute-runtime/docs/kernel-language.md`, and a test
//! measures them.

use super::integer::integers;
use super::single::{ROUNDER, Single, add, choose, fma, mul, polynomial};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Comparison, IntegerRounding, Rounding};
use cute_ptx::table::op;
use std::f32::consts::{LN_2, LOG2_E};

/// The number of fraction bits. The exponent lies above them.
const FRACTION: i128 = 23;
/// The bits of 2/3.
const TWO_THIRDS: i128 = 0x3f2a_aaab;
/// The bits of the exponent and the sign.
const EXPONENT: i128 = 0xff80_0000;

/// eˣ = 2ʲ · eᶠ, where j is the integer nearest to x · log₂ e.
pub(super) fn exp(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    exp_of(b, &x[0], None)
}

/// As `exp`, of the sum of x and a number that is at most one unit in x's last place.
pub(super) fn exp_of(b: &mut Builder, x: &Operand, low: Option<&Operand>) -> Scalar {
    let sum = fma(b, x, LOG2_E, ROUNDER);
    let j = add(b, &sum, -ROUNDER);
    // ln 2 in two parts. The first has few bits, so its product with j is exact.
    let f = fma(b, &j, -0.693_145_75, x);
    let f = match low {
        Some(low) => {
            let rest = fma(b, &j, -1.428_606_8e-6, low);
            add(b, &f, &rest)
        }
        None => fma(b, &j, -1.428_606_8e-6, &f),
    };
    let coefficients = [
        0.001_378_059_4,
        0.008_373_124_5,
        0.041_669_536,
        0.166_664_72,
        0.499_999_85,
        1.0,
        1.0,
    ];
    let power = polynomial(b, &f, &coefficients);
    let modifiers = (IntegerRounding::Rzi, Type::S32, Type::F32);
    let j = b.compute(Type::S32, op::Cvt, modifiers, [j.operand()]);
    // 2ʲ may be no number of f32, but it is the product of two.
    let half = integers(b, op::Shr, Type::S32, &j, Operand::Int(1));
    let rest = integers(b, op::Sub, Type::S32, &j, half.operand());
    let power = scale(b, &power, &half);
    let power = scale(b, &power, &rest);
    let power = choose(b, (Comparison::Ge, x, 104.0), f32::INFINITY, &power);
    choose(b, (Comparison::Le, x, -104.0), 0.0, &power)
}

/// ln x = i · ln 2 + ln (1 + m).
pub(super) fn log(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    let (i, m) = split(b, &x[0]);
    let (square, rest) = log1p(b, &m);
    let log = fma(b, &rest, &square, &m);
    let log = fma(b, &i, LN_2, &log);
    log_of_others(b, &x[0], &log)
}

/// log₂ x = i + (m + t) · log₂ e, where t is ln (1 + m) − m.
pub(super) fn log2(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    let (i, m) = split(b, &x[0]);
    let (square, rest) = log1p(b, &m);
    let t = mul(b, &rest, &square);
    // i + m is exact near 1, where the result is small.
    let whole = add(b, &i, &m);
    let t = fma(b, &t, LOG2_E - 1.0, &t);
    let t = fma(b, &m, LOG2_E - 1.0, &t);
    let log = add(b, &whole, &t);
    log_of_others(b, &x[0], &log)
}

/// 1 − 2 / (e²ˣ + 1) with the sign of x; a polynomial where this difference cancels.
pub(super) fn tanh(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let magnitude = b.compute(ty, op::Abs, ty, [x[0].clone()]);
    let double = add(b, &magnitude, &magnitude);
    let power = exp(b, ty, &[double.operand()]);
    let sum = add(b, &power, 1.0);
    let quotient = b.compute(ty, op::Rcp, (Rounding::Rn, ty), [sum.operand()]);
    let large = fma(b, &quotient, -2.0, 1.0);
    let large = b.compute(ty, op::Copysign, ty, [x[0].clone(), large.operand()]);

    let square = mul(b, &x[0], &x[0]);
    let coefficients = [0.016_437_586, -0.052_671_813, 0.133_207_25, -0.333_329_47];
    let small = polynomial(b, &square, &coefficients);
    let small = mul(b, &small, &square);
    let small = fma(b, &small, &x[0], &x[0]);
    choose(b, (Comparison::Ge, &magnitude, 0.55), &large, &small)
}

/// 1 − eᵖ with the sign of x, where p is a polynomial of |x|; a polynomial of x where this difference cancels.
pub(super) fn erf(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let magnitude = b.compute(ty, op::Abs, ty, [x[0].clone()]);
    let square = mul(b, &x[0], &x[0]);
    let upper = fma(b, &magnitude, -1.728_534_7e-5, 3.831_972e-4);
    let lower = fma(b, &magnitude, -0.003_883_964, 0.024_254_622);
    let mut power = fma(b, &upper, &square, &lower);
    for coefficient in [-0.106_777_88, -0.634_846_7, -0.128_717_51] {
        power = fma(b, &power, &magnitude, coefficient);
    }
    let negative = mul(b, &magnitude, -1.0);
    let power = fma(b, &power, &magnitude, &negative);
    let power = exp(b, ty, &[power.operand()]);
    let large = fma(b, &power, -1.0, 1.0);
    let large = b.compute(ty, op::Copysign, ty, [x[0].clone(), large.operand()]);

    let coefficients = [
        -5.967_617e-4,
        0.004_991_192_3,
        -0.026_768_135,
        0.112_819_925,
        -0.376_125_34,
        0.128_379_17,
    ];
    let small = polynomial(b, &square, &coefficients);
    let small = fma(b, &small, &x[0], &x[0]);
    choose(b, (Comparison::Gt, &magnitude, 0.927_734_4), &large, &small)
}

/// i and m of x = 2ⁱ · (1 + m), where m is from −1/3 to 1/3.
pub(super) fn split(b: &mut Builder, x: &Operand) -> (Scalar, Scalar) {
    let normal = mul(b, x, 8_388_608.0);
    let subnormal = (Comparison::Lt, x, f32::MIN_POSITIVE);
    let normal = choose(b, subnormal, &normal, x);
    let shift = choose(b, subnormal, -23.0, 0.0);
    let bits = b.compute(Type::S32, op::Mov, Type::B32, [normal.operand()]);
    let above = integers(b, op::Sub, Type::S32, &bits, Operand::Int(TWO_THIRDS));
    let exponent = integers(b, op::And, Type::B32, &above, Operand::Int(EXPONENT));
    let factor = integers(b, op::Sub, Type::S32, &bits, exponent.operand());
    let factor = b.compute(Type::F32, op::Mov, Type::B32, [factor.operand()]);
    let modifiers = (Rounding::Rn, Type::F32, Type::S32);
    let exponent = b.compute(Type::F32, op::Cvt, modifiers, [exponent.operand()]);
    // The exponent stands above the fraction.
    let i = fma(b, &exponent, 2f32.powi(-(FRACTION as i32)), &shift);
    let m = add(b, &factor, -1.0);
    (i, m)
}

/// s and r of ln (1 + m) = m + r · s.
fn log1p(b: &mut Builder, m: &Scalar) -> (Scalar, Scalar) {
    let square = mul(b, m, m);
    let even = polynomial(
        b,
        &square,
        &[-0.130_310_06, -0.121_484_19, -0.166_846_05, -0.249_996_2],
    );
    let odd = polynomial(b, &square, &[0.140_869_14, 0.139_814_85, 0.200_120_34]);
    let rest = fma(b, &odd, m, &even);
    let rest = fma(b, &rest, m, 0.333_331_97);
    (square, fma(b, &rest, m, -0.5))
}

/// The logarithm of every x, given `log` for a positive finite x.
pub(super) fn log_of_others(b: &mut Builder, x: &Operand, log: impl Single) -> Scalar {
    let log = choose(b, (Comparison::Eq, x, f32::INFINITY), f32::INFINITY, log);
    let log = choose(b, (Comparison::Eq, x, 0.0), f32::NEG_INFINITY, &log);
    // Less than zero, or a NaN.
    choose(b, (Comparison::Ltu, x, 0.0), f32::NAN, &log)
}

/// x · 2ᵏ, where 2ᵏ is a normal number.
fn scale(b: &mut Builder, x: &Scalar, k: &Scalar) -> Scalar {
    let biased = integers(b, op::Add, Type::S32, k, Operand::Int(127));
    let bits = integers(b, op::Shl, Type::B32, &biased, Operand::Int(FRACTION));
    let power = b.compute(Type::F32, op::Mov, Type::B32, [bits.operand()]);
    mul(b, x, &power)
}
