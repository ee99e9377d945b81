//! Results that are rounded in a direction (`.rz`, `.rm`, `.rp`).

use super::Float;
use crate::numerics::quantised;
use crate::op::Function::{self, F1, F2, F3};
use cute_ptx::ast::Type;
use cute_ptx::table::{Modifier, Opcode};
use std::cmp::Ordering;

/// A direction as a constant parameter, since an instruction's function cannot capture values.
type Direction = u8;
const ZERO: Direction = 0;
const DOWN: Direction = 1;
const UP: Direction = 2;

/// A real number: the nearest f64, and the order of the number relative to it.
#[derive(Clone, Copy, Debug)]
struct Exact {
    nearest: f64,
    rest: Ordering,
}

/// The instances of a function for a direction and a type.
macro_rules! directed {
    ($round:expr, $ty:expr, $arity:ident($name:ident)) => {
        match ($round, $ty) {
            (Modifier::Rz, Type::F32) => $arity($name::<f32, ZERO>),
            (Modifier::Rm, Type::F32) => $arity($name::<f32, DOWN>),
            (Modifier::Rp, Type::F32) => $arity($name::<f32, UP>),
            (Modifier::Rz, Type::F64) => $arity($name::<f64, ZERO>),
            (Modifier::Rm, Type::F64) => $arity($name::<f64, DOWN>),
            (Modifier::Rp, Type::F64) => $arity($name::<f64, UP>),
            _ => return None,
        }
    };
}

/// The function of an instruction whose result is rounded in a direction; `None` if there is none.
pub(crate) fn function(opcode: Opcode, round: Modifier, ty: Type) -> Option<Function> {
    Some(match opcode {
        Opcode::Add => directed!(round, ty, F2(sum)),
        Opcode::Sub => directed!(round, ty, F2(difference)),
        Opcode::Mul => directed!(round, ty, F2(product)),
        Opcode::Fma | Opcode::Mad => directed!(round, ty, F3(fused)),
        Opcode::Div => directed!(round, ty, F2(quotient)),
        Opcode::Rcp => directed!(round, ty, F1(reciprocal)),
        Opcode::Sqrt => directed!(round, ty, F1(root)),
        _ => return None,
    })
}

/// The conversion of a number in `get` to a floating-point type.
macro_rules! conversion {
    ($round:expr, $to:expr, $convert:ident, $from:ty) => {
        match ($round, $to) {
            (Modifier::Rz, Type::F16) => F1($convert::<$from, half::f16, ZERO>),
            (Modifier::Rm, Type::F16) => F1($convert::<$from, half::f16, DOWN>),
            (Modifier::Rp, Type::F16) => F1($convert::<$from, half::f16, UP>),
            (Modifier::Rz, Type::Bf16) => F1($convert::<$from, half::bf16, ZERO>),
            (Modifier::Rm, Type::Bf16) => F1($convert::<$from, half::bf16, DOWN>),
            (Modifier::Rp, Type::Bf16) => F1($convert::<$from, half::bf16, UP>),
            (Modifier::Rz, Type::F32) => F1($convert::<$from, f32, ZERO>),
            (Modifier::Rm, Type::F32) => F1($convert::<$from, f32, DOWN>),
            (Modifier::Rp, Type::F32) => F1($convert::<$from, f32, UP>),
            (Modifier::Rz, Type::F64) => F1($convert::<$from, f64, ZERO>),
            (Modifier::Rm, Type::F64) => F1($convert::<$from, f64, DOWN>),
            (Modifier::Rp, Type::F64) => F1($convert::<$from, f64, UP>),
            _ => return None,
        }
    };
}

/// The function of a conversion to a floating-point type; `None` if there is none.
pub(crate) fn conversion(round: Modifier, to: Type, from: Type) -> Option<Function> {
    Some(match from {
        Type::F16 => conversion!(round, to, from_float, half::f16),
        Type::Bf16 => conversion!(round, to, from_float, half::bf16),
        Type::F32 => conversion!(round, to, from_float, f32),
        Type::F64 => conversion!(round, to, from_float, f64),
        Type::U8 => conversion!(round, to, from_int, u8),
        Type::S8 => conversion!(round, to, from_int, i8),
        Type::U16 => conversion!(round, to, from_int, u16),
        Type::S16 => conversion!(round, to, from_int, i16),
        Type::U32 => conversion!(round, to, from_int, u32),
        Type::S32 => conversion!(round, to, from_int, i32),
        Type::U64 => conversion!(round, to, from_int, u64),
        Type::S64 => conversion!(round, to, from_int, i64),
        _ => return None,
    })
}

/// The value of bits, truncated to the significand of a type.
pub(super) fn truncated<T: Float>(value: f64) -> u64 {
    put::<T, ZERO>(Exact {
        nearest: value,
        rest: Ordering::Equal,
    })
}

fn from_float<F: Float, T: Float, const D: Direction>(a: u64) -> u64 {
    if F::DOUBLE && F::get(a).is_nan() {
        return T::narrowed(F::get(a));
    }
    put::<T, D>(Exact {
        nearest: F::get(a),
        rest: Ordering::Equal,
    })
}

fn from_int<F: super::Int, T: Float, const D: Direction>(a: u64) -> u64 {
    let value = F::wide(a);
    let nearest = value as f64;
    put::<T, D>(Exact {
        nearest,
        rest: value.cmp(&(nearest as i128)),
    })
}

fn sum<T: Float, const D: Direction>(a: u64, b: u64) -> u64 {
    put::<T, D>(added::<D>(T::get(a), T::get(b)))
}

fn difference<T: Float, const D: Direction>(a: u64, b: u64) -> u64 {
    put::<T, D>(added::<D>(T::get(a), -T::get(b)))
}

fn product<T: Float, const D: Direction>(a: u64, b: u64) -> u64 {
    let (a, b) = (T::get(a), T::get(b));
    let rest = |nearest: f64| match T::DOUBLE {
        true => sign_of_sum(&[(a, b), (-nearest, 1.0)]),
        // A product of narrower numbers has at most 48 bits.
        false => Ordering::Equal,
    };
    put::<T, D>(exact(a * b, &[a, b], rest))
}

fn fused<T: Float, const D: Direction>(a: u64, b: u64, c: u64) -> u64 {
    let (a, b, c) = (T::get(a), T::get(b), T::get(c));
    if !T::DOUBLE {
        return put::<T, D>(added::<D>(a * b, c));
    }
    let nearest = a.mul_add(b, c);
    let zero = nearest == 0.0 && a * b != 0.0;
    let rest = |nearest: f64| sign_of_sum(&[(a, b), (c, 1.0), (-nearest, 1.0)]);
    match exact(nearest, &[a, b, c], rest) {
        // The sign of a sum of zeros depends on the direction.
        Exact {
            rest: Ordering::Equal,
            ..
        } if nearest == 0.0 && !zero => put::<T, D>(added::<D>(a * b, c)),
        Exact {
            rest: Ordering::Equal,
            ..
        } if nearest == 0.0 && D == DOWN => T::put(-0.0),
        found => put::<T, D>(found),
    }
}

fn quotient<T: Float, const D: Direction>(a: u64, b: u64) -> u64 {
    put::<T, D>(divided::<T>(T::get(a), T::get(b)))
}

fn reciprocal<T: Float, const D: Direction>(a: u64) -> u64 {
    put::<T, D>(divided::<T>(1.0, T::get(a)))
}

fn root<T: Float, const D: Direction>(a: u64) -> u64 {
    let a = T::get(a);
    let rest = |root: f64| sign_of_sum(&[(a, 1.0), (-root, root)]);
    put::<T, D>(exact(a.sqrt(), &[a], rest))
}

/// a + b. The sum of opposite numbers is −0 if it is rounded down.
fn added<const D: Direction>(a: f64, b: f64) -> Exact {
    let sum = a + b;
    // The exact rounding error (Knuth).
    let part = sum - a;
    let lost = (a - (sum - part)) + (b - part);
    let rest = |_| lost.partial_cmp(&0.0).unwrap_or(Ordering::Equal);
    let positive = |zero: f64| zero.is_sign_positive();
    match sum == 0.0 && D == DOWN && !(a == 0.0 && positive(a) && positive(b)) {
        true => exact(-0.0, &[], rest),
        false => exact(sum, &[a, b], rest),
    }
}

fn divided<T: Float>(a: f64, b: f64) -> Exact {
    let rest = |quotient: f64| {
        let sign = sign_of_sum(&[(a, 1.0), (-quotient, b)]);
        if b < 0.0 { sign.reverse() } else { sign }
    };
    match b == 0.0 {
        true => exact(a / b, &[f64::INFINITY], rest),
        false => exact(a / b, &[a, b], rest),
    }
}

/// The exact result of an operation on these operands. `rest` compares it with the nearest f64 if that is finite.
fn exact(nearest: f64, operands: &[f64], rest: impl Fn(f64) -> Ordering) -> Exact {
    let rest = if operands.iter().any(|it| !it.is_finite()) || nearest.is_nan() {
        Ordering::Equal
    } else if nearest.is_infinite() {
        // The exact result is finite.
        if nearest > 0.0 {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    } else {
        rest(nearest)
    };
    Exact { nearest, rest }
}

/// The bits of a number rounded in a direction.
fn put<T: Float, const D: Direction>(exact: Exact) -> u64 {
    let Exact { nearest, rest } = exact;
    if !nearest.is_finite() && rest == Ordering::Equal {
        return T::put(nearest);
    }
    let towards = |rest| match rest {
        Ordering::Less => nearest.next_down(),
        Ordering::Equal => nearest,
        Ordering::Greater => nearest.next_up(),
    };
    if T::DOUBLE {
        let wanted = match D {
            DOWN => Ordering::Less,
            UP => Ordering::Greater,
            _ if nearest.is_sign_positive() => Ordering::Less,
            _ => Ordering::Greater,
        };
        return T::put(if rest == wanted {
            towards(rest)
        } else {
            nearest
        });
    }
    // Of the two f64 around the exact number, the one with an odd significand. Relative to every number of the narrower type, it is on
    // the same side as the exact number.
    let odd = match nearest.to_bits() & 1 {
        0 => towards(rest),
        _ => nearest,
    };
    let (round, least, most): (fn(f64) -> f64, f64, f64) = match D {
        DOWN => (f64::floor, f64::NEG_INFINITY, T::LARGEST),
        UP => (f64::ceil, -T::LARGEST, f64::INFINITY),
        _ => (f64::trunc, -T::LARGEST, T::LARGEST),
    };
    let rounded = quantised(odd, T::FRACTION, T::LEAST_EXPONENT, round);
    T::put(if rounded.abs() > T::LARGEST {
        rounded.clamp(least, most)
    } else {
        rounded
    })
}

/// The exact sign of a sum of products of finite numbers. The products are added as integers in units of 2⁻²¹⁴⁸, the square of the
/// least positive number.
fn sign_of_sum(products: &[(f64, f64)]) -> Ordering {
    const UNIT: i32 = -2148;
    /// The 32-bit digits for a sum of products of the largest numbers.
    const DIGITS: usize = 136;
    let mut digits = [0_i64; DIGITS];
    for (a, b) in products {
        let ((a, a_exponent), (b, b_exponent)) = (split(*a), split(*b));
        let product = i128::from(a) * i128::from(b);
        let sign = product.signum() as i64;
        let shift = (a_exponent + b_exponent - UNIT) as u32;
        for i in 0..4 {
            let digit = (product.unsigned_abs() >> (32 * i)) as u32;
            let shifted = u64::from(digit) << (shift % 32);
            let place = (shift / 32 + i) as usize;
            digits[place] += sign * i64::from(shifted as u32);
            digits[place + 1] += sign * i64::from((shifted >> 32) as u32);
        }
    }
    let mut any = false;
    for i in 0..DIGITS - 1 {
        digits[i + 1] += digits[i] >> 32;
        any |= digits[i] & 0xffff_ffff != 0;
    }
    match digits[DIGITS - 1].cmp(&0) {
        Ordering::Equal if any => Ordering::Greater,
        sign => sign,
    }
}

/// A finite number as an integer times a power of 2.
fn split(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let significand = if exponent == 0 {
        fraction
    } else {
        fraction | 1 << 52
    };
    let signed = if value.is_sign_negative() {
        -significand
    } else {
        significand
    };
    (signed, exponent.max(1) - 1075)
}
