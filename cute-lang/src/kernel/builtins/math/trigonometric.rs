//! Sine and cosine of f32, of arguments of all sizes, by polynomials with N. Juffa's coefficients.

use super::single::{ROUNDER, add, choose, fma, mul, polynomial};
use crate::kernel::emit::builder::{Builder, unless};
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Comparison, Half, Past, Rounding, Side, Wide};
use cute_ptx::table::op;
use std::f64::consts::FRAC_PI_2;

/// Up to this argument, a multiple of π/2 in three parts is subtracted.
const NEAR: f32 = 71_476.0;
/// π/2 in three parts. The first two have few bits, so their products with small integers are exact.
const HALF_PI: [f32; 3] = [f32::from_bits(0x3fc9_0fd8), 3.139_164_7e-7, 5.390_302_5e-15];
/// 2/π in words of 32 bits, after the binary point.
const TWO_OVER_PI: [u32; 8] = [
    0,
    0x28be_60db,
    0x9391_054a,
    0x7f09_d5f4,
    0x7d4d_3770,
    0x36d8_a566,
    0x4f10_e410,
    0,
];

pub(super) fn sin(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    let (r, quadrant) = reduce(b, &x[0]);
    of_quadrant(b, &r, &quadrant)
}

/// The sine of the next quadrant.
pub(super) fn cos(b: &mut Builder, _: Type, x: &[Operand]) -> Scalar {
    let (r, quadrant) = reduce(b, &x[0]);
    let operands = [quadrant.operand(), Operand::Int(1)];
    let quadrant = b.compute(Type::U32, op::Add, Type::U32, operands);
    of_quadrant(b, &r, &quadrant)
}

/// The sine of r + quadrant · π/2.
fn of_quadrant(b: &mut Builder, r: &Scalar, quadrant: &Scalar) -> Scalar {
    let square = mul(b, r, r);
    let coefficients = [
        2.865_679_6e-6,
        -1.985_599_2e-4,
        0.008_333_386,
        -0.166_666_67,
    ];
    let sine = polynomial(b, &square, &coefficients);
    let cube = mul(b, r, &square);
    let sine = fma(b, &sine, &cube, r);
    let coefficients = [2.446_770_7e-5, -0.001_388_773, 0.041_666_657, -0.5, 1.0];
    let cosine = polynomial(b, &square, &coefficients);
    let value = if_bit(b, quadrant, 1, &cosine, &sine);
    let negative = b.compute(Type::F32, op::Neg, Type::F32, [value.operand()]);
    if_bit(b, quadrant, 2, &negative, &value)
}

fn if_bit(b: &mut Builder, of: &Scalar, bit: i128, yes: &Scalar, no: &Scalar) -> Scalar {
    let bit = [of.operand(), Operand::Int(bit)];
    let bit = b.compute(Type::U32, op::And, Type::B32, bit);
    let sources = [bit.operand(), Operand::Int(0)];
    let set = b.compute(Type::Pred, op::Setp, (Comparison::Ne, Type::U32), sources);
    let operands = [yes.operand(), no.operand(), set.operand()];
    b.compute(Type::F32, op::Selp, Type::F32, operands)
}

/// r from −π/4 to π/4, and the quadrant in the two lowest bits, of x = r + quadrant · π/2.
fn reduce(b: &mut Builder, x: &Operand) -> (Scalar, Scalar) {
    let (r, quadrant) = (b.cell(Type::F32), b.cell(Type::U32));
    let sum = fma(b, x, 0.636_619_75, ROUNDER);
    b.emit(op::Mov, Type::B32, [quadrant.operand(), sum.operand()]);
    let j = add(b, &sum, -ROUNDER);
    let rest = fma(b, &j, -HALF_PI[0], x);
    let rest = fma(b, &j, -HALF_PI[1], &rest);
    let rest = fma(b, &j, -HALF_PI[2], &rest);
    b.assign(&r, rest.operand());

    let magnitude = b.compute(Type::F32, op::Abs, Type::F32, [x.clone()]);
    let bound = [magnitude.operand(), Operand::F32(NEAR.to_bits())];
    let far = b.compute(Type::Pred, op::Setp, (Comparison::Gt, Type::F32), bound);
    let near = b.label("near");
    b.branch_if(unless(&far), &near);
    reduce_far(b, x, &r, &quadrant);
    b.place_label(&near);
    (r, quadrant)
}

/// Reduces a large x: its significand times the bits of 2/π that give the quadrant and the fraction (Payne and Hanek).
fn reduce_far(b: &mut Builder, x: &Operand, r: &Scalar, quadrant: &Scalar) {
    let bits = b.compute(Type::U32, op::Mov, Type::B32, [x.clone()]);
    let fraction = [bits.operand(), Operand::Int(8)];
    let fraction = b.compute(Type::U32, op::Shl, Type::B32, fraction);
    let significand = [fraction.operand(), Operand::Int(1 << 31)];
    let significand = b.compute(Type::U32, op::Or, Type::B32, significand);
    let significand = significand.operand();
    let field = [bits.operand(), Operand::Int(23), Operand::Int(8)];
    let exponent = b.compute(Type::U32, op::Bfe, Type::U32, field);
    let shift = [exponent.operand(), Operand::Int(126)];
    let shift = b.compute(Type::U32, op::Sub, Type::U32, shift).operand();
    let first = [shift.clone(), Operand::Int(5)];
    let first = b.compute(Type::U32, op::Shr, Type::U32, first);

    // The words from word `first` on, which is at most 4, shifted by the rest.
    let is_first: Vec<Scalar> = (1..=4)
        .map(|n| {
            let operands = [first.operand(), Operand::Int(n)];
            b.compute(Type::Pred, op::Setp, (Comparison::Eq, Type::U32), operands)
        })
        .collect();
    let words: Vec<Operand> = (0..4)
        .map(|k| {
            let mut word = Operand::Int(TWO_OVER_PI[k].into());
            for (n, is_first) in is_first.iter().enumerate() {
                // A word after the last has no bits.
                let other = TWO_OVER_PI.get(k + n + 1).copied().unwrap_or(0);
                let operands = [Operand::Int(other.into()), word, is_first.operand()];
                word = b
                    .compute(Type::U32, op::Selp, Type::U32, operands)
                    .operand();
            }
            word
        })
        .collect();
    let shifted: Vec<Operand> = (0..3)
        .map(|k| {
            let operands = [words[k + 1].clone(), words[k].clone(), shift.clone()];
            let modifiers = (Side::L, Past::Wrap);
            b.compute(Type::U32, op::Shf, modifiers, operands).operand()
        })
        .collect();

    // The product modulo 4, with 62 bits after the binary point.
    let wide = (Wide, Type::U32);
    let operands = [significand.clone(), shifted[2].clone()];
    let low = b.compute(Type::U64, op::Mul, wide, operands);
    let low = b.compute(
        Type::U64,
        op::Shr,
        Type::U64,
        [low.operand(), Operand::Int(32)],
    );
    let operands = [significand.clone(), shifted[1].clone(), low.operand()];
    let middle = b.compute(Type::U64, op::Mad, wide, operands);
    let modifiers = (Half::Lo, Type::U32);
    let high = b.compute(
        Type::U32,
        op::Mul,
        modifiers,
        [significand, shifted[0].clone()],
    );
    let high = Operand::Vector(vec![Operand::Int(0), high.operand()]);
    let high = b.compute(Type::U64, op::Mov, Type::B64, [high]);
    let product = b.compute(
        Type::U64,
        op::Add,
        Type::U64,
        [middle.operand(), high.operand()],
    );

    let half = Operand::Int(1 << 61);
    let rounded = b.compute(Type::U64, op::Add, Type::U64, [product.operand(), half]);
    let turns = b.compute(
        Type::U64,
        op::Shr,
        Type::U64,
        [rounded.operand(), Operand::Int(62)],
    );
    let turns = b.compute(
        Type::U32,
        op::Cvt,
        (Type::U32, Type::U64),
        [turns.operand()],
    );
    let rest = b.compute(
        Type::U64,
        op::Shl,
        Type::B64,
        [product.operand(), Operand::Int(2)],
    );
    let modifiers = (Rounding::Rn, Type::F64, Type::S64);
    let rest = b.compute(Type::F64, op::Cvt, modifiers, [rest.operand()]);
    let unit = Operand::F64((FRAC_PI_2 * 2f64.powi(-64)).to_bits());
    let rest = b.compute(
        Type::F64,
        op::Mul,
        (Rounding::Rn, Type::F64),
        [rest.operand(), unit],
    );
    let modifiers = (Rounding::Rn, Type::F32, Type::F64);
    let rest = b.compute(Type::F32, op::Cvt, modifiers, [rest.operand()]);

    // Both change their sign with x.
    let negative = b.compute(Type::F32, op::Neg, Type::F32, [rest.operand()]);
    let rest = choose(b, (Comparison::Lt, x, 0.0), &negative, &rest);
    let negative = b.compute(Type::S32, op::Neg, Type::S32, [turns.operand()]);
    let compared = [x.clone(), Operand::F32(0)];
    let below = b.compute(Type::Pred, op::Setp, (Comparison::Lt, Type::F32), compared);
    let operands = [quadrant, &negative, &turns, &below].map(Scalar::operand);
    b.emit(op::Selp, Type::U32, operands);
    // An infinite x has no sine.
    let rest = fma(b, x, 0.0, &rest);
    b.assign(r, rest.operand());
}
