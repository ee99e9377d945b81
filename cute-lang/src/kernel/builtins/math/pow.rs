//! xʸ of f32 and f64: e to the power of y · ln |x|, and powers with known integer exponents.
//!
//! y · ln |x| may be 700, and its absolute error is the relative error of the result. So the logarithm is a sum of two numbers, the second
//! for the digits that do not fit the first, and so is the product.

use super::{accurate, double};
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::is_float;
use crate::kernel::value::{NumberType, Scalar, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Comparison, Ftz, IntegerRounding, Modifiers, Rounding, Takes};
use cute_ptx::table::op::{self, Instruction};
use syn::Result;

pub(in crate::kernel::builtins) const ROWS: &[Builtin] = &[Builtin {
    signature: "powi(x, n)",
    apply: |b, call| call.elementwise(b, |_| false, powi),
}];

/// xʸ with the special values of IEEE 754, as in Rust.
pub(super) fn pow(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let (x, y) = (&x[0], &x[1]);
    let n = &mut Numbers { b, ty };
    let (zero, half, one) = (n.of(0.0), n.of(0.5), n.of(1.0));
    let (infinity, nan) = (n.of(f64::INFINITY), n.of(f64::NAN));

    // ln 1 times an infinite y is no number, but ln 1 times any other one is 0.
    let large = n.of(f32::MAX.into());
    let large = n.copysign(&large, y);
    let magnitude = n.abs(y);
    let is_infinite = n.compare(Comparison::Eq, &magnitude, &infinity);
    let bounded = n.choose(&is_infinite, &large, y);

    let magnitude = n.abs(x);
    let log = n.log(&magnitude);
    let product = n.product(&log, &bounded);
    let power = match ty {
        Type::F32 => accurate::exp_of(n.b, &product.high, Some(&product.low)),
        _ => double::exp_of(n.b, &product.high, Some(&product.low)),
    };
    let power = power.operand();

    // An odd y keeps the sign of x. A negative x has powers of integers only.
    let whole = n.compute(op::Cvt, (IntegerRounding::Rzi, ty, ty), [y]);
    let is_integer = n.compare(Comparison::Eq, &whole, y);
    let halved = n.rounded(op::Mul, [y, &half]);
    let whole = n.compute(op::Cvt, (IntegerRounding::Rzi, ty, ty), [&halved]);
    let is_odd = n.compare(Comparison::Ne, &whole, &halved);
    let is_odd = n.both(&is_integer, &is_odd);
    let signed = n.copysign(&power, x);
    let signed = n.choose(&is_odd, &signed, &power);
    let is_negative = n.compare(Comparison::Lt, x, &zero);
    let is_finite = n.compare(Comparison::Lt, &magnitude, &infinity);
    let is_negative = n.both(&is_negative, &is_finite);
    let other = n.choose(&is_negative, &nan, &power);
    let power = n.choose(&is_integer, &signed, &other);

    // Also where the other number is a NaN.
    let is_one = n.compare(Comparison::Eq, x, &one);
    let power = n.choose(&is_one, &one, &power);
    let is_zero = n.compare(Comparison::Eq, y, &zero);
    b.compute(ty, op::Selp, ty, [one, power, is_zero])
}

/// 2 to the power of y · log₂ x.
pub(super) fn pow_fast(b: &mut Builder, ty: Type, x: &[Operand]) -> Scalar {
    let log = b.compute(ty, op::Lg2, (Ftz, ty), [x[0].clone()]);
    let operands = [x[1].clone(), log.operand()];
    let product = b.compute(ty, op::Mul, (Rounding::Rn, Ftz, ty), operands);
    b.compute(ty, op::Ex2, (Ftz, ty), [product.operand()])
}

/// The power of a known integer, by the products of Rust's `powi`.
fn powi(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Int(n, _) = call.args[1].value else {
        let message = format!(
            "`powi` takes an integer that is known at expansion here, not {}: write `pow(x, n as f32)`",
            call.args[1].value.kind()
        );
        return Err(call.error_at(1, message));
    };
    b.expect(&call.args[1].value, Type::S32)?;
    let n = i32::try_from(n).map_err(|_| call.error_at(1, format!("{n} does not fit `i32`")))?;
    let x = match &call.args[0].value {
        Value::Float(x, ty) => return Ok(b.inference.known_float(*ty, &[*x], |x| x[0].powi(n))),
        Value::Scalar(x) if is_float(x.ty) && x.ty.bits() >= 32 => x,
        _ => return Err(call.mismatch(0, "a number of type f32 or f64")),
    };
    let ty = x.ty;
    let multiply = |b: &mut Builder, x: &Scalar, y: &Scalar| {
        let operands = [x.operand(), y.operand()];
        b.compute(ty, op::Mul, (Rounding::Rn, ty), operands)
    };
    let (mut rest, mut square) = (n.unsigned_abs(), x.clone());
    let mut product: Option<Scalar> = None;
    while rest > 0 {
        if rest % 2 == 1 {
            product = Some(match &product {
                Some(product) => multiply(b, product, &square),
                None => square.clone(),
            });
        }
        rest /= 2;
        if rest > 0 {
            square = multiply(b, &square, &square);
        }
    }
    let result = match product {
        Some(product) if n < 0 => b.compute(ty, op::Rcp, (Rounding::Rn, ty), [product.operand()]),
        Some(product) => product,
        None => {
            let one = b.float_operand(1.0, ty)?;
            b.compute(ty, op::Mov, ty.untyped(), [one])
        }
    };
    Ok(b.inference
        .of_type(
            result,
            b.inference
                .number_type(&call.args[0].value)
                .unwrap_or(NumberType::Is(ty)),
        )
        .into())
}

/// A number as a sum: `high` is the rounded number, and `low` is the rest.
struct Sum {
    high: Operand,
    low: Operand,
}

/// Instructions on numbers of a type, rounded as IEEE 754 requires.
struct Numbers<'b> {
    b: &'b mut Builder,
    ty: Type,
}

impl Numbers<'_> {
    /// ln x = i · ln 2 + 2 · artanh q, where x = 2ⁱ · (1 + m) and q = m / (2 + m) is from −0.2 to 0.15.
    fn log(&mut self, x: &Operand) -> Sum {
        let (i, m) = match self.ty {
            Type::F32 => {
                let (i, m) = accurate::split(self.b, x);
                (i.operand(), m.operand())
            }
            _ => double::split(self.b, x),
        };
        let q = self.quotient(&m);
        let square = self.product_of(&q, &q);
        let cube = self.product_of(&square, &q);
        let factor = self.series(&square.high);
        let rest = self.product_of(&cube, &factor);

        // The summands from the largest: i · ln 2, with an exact first part, 2 · q, and 2 · rest.
        let (two, ln_2) = (self.of(2.0), self.ln_2());
        let [first, last] = [&ln_2.high, &ln_2.low].map(|part| self.rounded(op::Mul, [&i, part]));
        let [q, q_low, rest, rest_low] = [&q.high, &q.low, &rest.high, &rest.low]
            .map(|part| self.rounded(op::Mul, [part, &two]));
        let log = self.sum(&first, &q);
        let larger = self.sum(&log.high, &rest);
        let mut low = self.rounded(op::Add, [&log.low, &larger.low]);
        for part in [&q_low, &rest_low, &last] {
            low = self.rounded(op::Add, [&low, part]);
        }
        let Sum { high, low } = self.sum(&larger.high, &low);
        Sum {
            high: match self.ty {
                Type::F32 => accurate::log_of_others(self.b, x, &high).operand(),
                _ => double::log_of_others(self.b, x, high).operand(),
            },
            low,
        }
    }

    /// m / (2 + m). The first part times 2 + m differs from m, and this difference is exact.
    fn quotient(&mut self, m: &Operand) -> Sum {
        let two = self.of(2.0);
        let sum = self.rounded(op::Add, [m, &two]);
        let reciprocal = self.rounded(op::Rcp, [&sum]);
        let high = self.rounded(op::Mul, [m, &reciprocal]);
        let negative = self.compute(op::Neg, self.ty, [&high]);
        let missing = self.rounded(op::Fma, [&negative, &two, m]);
        let missing = self.rounded(op::Fma, [&negative, m, &missing]);
        let low = self.rounded(op::Mul, [&missing, &reciprocal]);
        Sum { high, low }
    }

    /// 1/3 + s/5 + s²/7 + …; the third is as exact as a sum can be.
    fn series(&mut self, square: &Operand) -> Sum {
        let last = match self.ty {
            Type::F32 => 4,
            _ => 11,
        };
        let coefficient = |n: i32| 1.0 / f64::from(2 * n + 3);
        let mut tail = self.of(coefficient(last));
        for n in (1..last).rev() {
            let coefficient = self.of(coefficient(n));
            tail = self.rounded(op::Fma, [square, &tail, &coefficient]);
        }
        let tail = self.rounded(op::Mul, [square, &tail]);
        let third = 1.0 / 3.0;
        let (high, low) = match self.ty {
            Type::F32 => (f64::from(third as f32), third - f64::from(third as f32)),
            // 3 times the rounded third is 1 less 2⁻⁵⁴.
            _ => (third, 2f64.powi(-54) / 3.0),
        };
        let (high, low) = (self.of(high), self.of(low));
        let sum = self.sum(&high, &tail);
        let low = self.rounded(op::Add, [&sum.low, &low]);
        Sum { low, ..sum }
    }

    /// ln 2. The first part has few bits, so its product with an exponent is exact.
    fn ln_2(&mut self) -> Sum {
        let (high, low) = match self.ty {
            Type::F32 => {
                let high = f32::from_bits(std::f32::consts::LN_2.to_bits() & !0xff);
                (high.into(), std::f64::consts::LN_2 - f64::from(high))
            }
            _ => (double::LN_2_HIGH, double::LN_2_LOW),
        };
        Sum {
            high: self.of(high),
            low: self.of(low),
        }
    }

    /// x + y, where y is not the larger one, or x is 0.
    fn sum(&mut self, x: &Operand, y: &Operand) -> Sum {
        let high = self.rounded(op::Add, [x, y]);
        let missing = self.rounded(op::Sub, [x, &high]);
        let low = self.rounded(op::Add, [&missing, y]);
        Sum { high, low }
    }

    /// x · y.
    fn product(&mut self, x: &Sum, y: &Operand) -> Sum {
        let high = self.rounded(op::Mul, [&x.high, y]);
        let negative = self.compute(op::Neg, self.ty, [&high]);
        let low = self.rounded(op::Fma, [&x.high, y, &negative]);
        let low = self.rounded(op::Fma, [&x.low, y, &low]);
        Sum { high, low }
    }

    /// x · y.
    fn product_of(&mut self, x: &Sum, y: &Sum) -> Sum {
        let product = self.product(x, &y.high);
        let low = self.rounded(op::Fma, [&x.high, &y.low, &product.low]);
        Sum { low, ..product }
    }

    fn of(&self, x: f64) -> Operand {
        match self.ty {
            Type::F32 => Operand::F32((x as f32).to_bits()),
            _ => Operand::F64(x.to_bits()),
        }
    }

    fn abs(&mut self, x: &Operand) -> Operand {
        self.compute(op::Abs, self.ty, [x])
    }

    /// PTX has the sign first.
    fn copysign(&mut self, x: &Operand, sign: &Operand) -> Operand {
        self.compute(op::Copysign, self.ty, [sign, x])
    }

    fn choose(&mut self, holds: &Operand, yes: &Operand, no: &Operand) -> Operand {
        self.compute(op::Selp, self.ty, [yes, no, holds])
    }

    fn rounded<I: Instruction + Takes<Rounding> + Takes<Type>, const N: usize>(
        &mut self,
        opcode: I,
        operands: [&Operand; N],
    ) -> Operand {
        self.compute(opcode, (Rounding::Rn, self.ty), operands)
    }

    fn compute<I: Instruction, const N: usize>(
        &mut self,
        opcode: I,
        modifiers: impl Modifiers<I>,
        operands: [&Operand; N],
    ) -> Operand {
        let operands = operands.map(Operand::clone);
        self.b
            .compute(self.ty, opcode, modifiers, operands)
            .operand()
    }

    fn compare(&mut self, cmp: Comparison, x: &Operand, y: &Operand) -> Operand {
        let operands = [x.clone(), y.clone()];
        let holds = self
            .b
            .compute(Type::Pred, op::Setp, (cmp, self.ty), operands);
        holds.operand()
    }

    fn both(&mut self, x: &Operand, y: &Operand) -> Operand {
        let operands = [x.clone(), y.clone()];
        let both = self.b.compute(Type::Pred, op::And, Type::Pred, operands);
        both.operand()
    }
}
