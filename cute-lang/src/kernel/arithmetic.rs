//! Arithmetic on integers that are known or in registers: folded, simplified, or one instruction.

use super::bits;
use super::builder::Builder;
use super::value::{Num, Scalar, Value, is_float, is_integer, is_signed, rust_name};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

/// An operation on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Op {
    /// The instruction that does it.
    pub fn opcode(self) -> Opcode {
        match self {
            Op::Add => Opcode::Add,
            Op::Sub => Opcode::Sub,
            Op::Mul => Opcode::Mul,
            Op::Div => Opcode::Div,
            Op::Rem => Opcode::Rem,
            Op::And => Opcode::And,
            Op::Or => Opcode::Or,
            Op::Xor => Opcode::Xor,
            Op::Shl => Opcode::Shl,
            Op::Shr => Opcode::Shr,
            Op::Min => Opcode::Min,
            Op::Max => Opcode::Max,
        }
    }
}

impl Cmp {
    /// What `setp` calls it.
    pub fn modifier(self) -> Modifier {
        match self {
            Cmp::Eq => Modifier::Eq,
            Cmp::Ne => Modifier::Ne,
            Cmp::Lt => Modifier::Lt,
            Cmp::Le => Modifier::Le,
            Cmp::Gt => Modifier::Gt,
            Cmp::Ge => Modifier::Ge,
        }
    }
}

impl Builder {
    /// a + b.
    pub fn add(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Add, a, b)
    }

    /// a − b.
    pub fn sub(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Sub, a, b)
    }

    /// a · b.
    pub fn mul(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Mul, a, b)
    }

    /// a / b.
    pub fn div(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Div, a, b)
    }

    /// a % b.
    pub fn rem(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Rem, a, b)
    }

    /// a & b.
    pub fn and(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::And, a, b)
    }

    /// a | b.
    pub fn or(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Or, a, b)
    }

    /// a ^ b.
    pub fn xor(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Xor, a, b)
    }

    /// a << b.
    pub fn shl(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Shl, a, b)
    }

    /// a >> b.
    pub fn shr(&mut self, a: &Num, b: &Num) -> Result<Num> {
        self.binary(Op::Shr, a, b)
    }

    /// An operation on two integers: folded, simplified, or one instruction.
    ///
    /// Arithmetic of known integers is exact; arithmetic in registers wraps.
    pub fn binary(&mut self, op: Op, a: &Num, b: &Num) -> Result<Num> {
        if let (Num::Const(a), Num::Const(b)) = (a, b) {
            return match fold(op, *a, *b) {
                Ok(value) => Ok(Num::Const(value)),
                Err(reason) => Err(self.error(format!("{a} {} {b} {reason}", symbol(op)))),
            };
        }
        let ty = match (op, a, b) {
            // The amount of a shift has a type of its own.
            (Op::Shl | Op::Shr, Num::Reg(a), Num::Const(amount)) => {
                if !(0..i128::from(a.ty.bits())).contains(amount) {
                    let width = a.ty.bits();
                    return Err(
                        self.error(format!("a shift by {amount} of an integer of {width} bits"))
                    );
                }
                a.ty
            }
            (Op::Shl | Op::Shr, Num::Reg(a), Num::Reg(_)) => a.ty,
            (Op::Shl | Op::Shr, Num::Const(_), Num::Reg(b)) => b.ty,
            _ => self.common_type(a, b)?,
        };
        if let Some(simple) = self.simplify(op, a, b, ty)? {
            return Ok(simple);
        }
        let possible = self.possible_result(op, a, b, ty);
        if possible == Some(0) {
            return Ok(Num::Const(0));
        }
        let modifiers = match op {
            Op::And | Op::Or | Op::Xor | Op::Shl => (None, ty.untyped()),
            Op::Mul => (Some(Modifier::Lo), ty),
            _ => (None, ty),
        };
        let amount = match (op, b) {
            (Op::Shl | Op::Shr, Num::Reg(amount)) if amount.ty.bits() != 32 => {
                self.convert(&amount.clone(), Type::U32)?.operand()
            }
            _ => b.operand(),
        };
        let result = self.compute(ty, op.opcode(), modifiers, [a.operand(), amount]);
        if let Some(possible) = possible {
            self.limit_bits(&result, possible);
        }
        Ok(Num::Reg(result))
    }

    /// The bits that may be set in the result of an operation on unsigned integers.
    fn possible_result(&self, op: Op, a: &Num, b: &Num, ty: Type) -> Option<u64> {
        let (left, right) = (self.possible_bits(a), self.possible_bits(b));
        (!is_signed(ty)).then(|| bits::possible(op, left, right, b.constant().is_some(), ty.bits()))
    }

    fn simplify(&mut self, op: Op, a: &Num, b: &Num, ty: Type) -> Result<Option<Num>> {
        let (register, constant, swapped) = match (a, b) {
            (Num::Reg(a), Num::Const(b)) => (a, *b, false),
            (Num::Const(a), Num::Reg(b)) => (b, *a, true),
            _ => return Ok(None),
        };
        let commutes = matches!(
            op,
            Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max
        );
        if swapped {
            // Instructions take an immediate last, where they take one.
            return if commutes {
                self.binary(op, b, a).map(Some)
            } else {
                Ok(None)
            };
        }
        let unsigned = !is_signed(ty);
        let power =
            (constant > 0 && constant & (constant - 1) == 0).then(|| constant.trailing_zeros());
        let possible = self.possible_bits(a);
        let same = || Ok(Some(Num::Reg(register.clone())));
        match (op, constant) {
            (Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::Shr, 0)
            | (Op::Mul | Op::Div, 1) => same(),
            (Op::Mul | Op::And, 0) | (Op::Rem, 1) => Ok(Some(Num::Const(0))),
            (Op::And, mask) if unsigned && possible & !(mask as u64) == 0 => same(),
            (Op::Rem, divisor) if unsigned && i128::from(possible) < divisor => same(),
            (Op::Div | Op::Rem, 0) => Err(self.error("division by zero")),
            (Op::Mul, _) if let Some(power) = power => self.shl(a, &Num::from(power)).map(Some),
            (Op::Div, _) if unsigned && let Some(power) = power => {
                self.shr(a, &Num::from(power)).map(Some)
            }
            (Op::Rem, _) if unsigned && power.is_some() => {
                self.and(a, &Num::Const(constant - 1)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Compares two integers: a truth value if both are known, else a predicate.
    pub fn compare(&mut self, cmp: Cmp, a: &Num, b: &Num) -> Result<Value> {
        if let (Num::Const(a), Num::Const(b)) = (a, b) {
            return Ok(Value::Bool(match cmp {
                Cmp::Eq => a == b,
                Cmp::Ne => a != b,
                Cmp::Lt => a < b,
                Cmp::Le => a <= b,
                Cmp::Gt => a > b,
                Cmp::Ge => a >= b,
            }));
        }
        let ty = self.common_type(a, b)?;
        let (cmp, a, b) = if a.constant().is_some() {
            (mirror(cmp), b, a)
        } else {
            (cmp, a, b)
        };
        Ok(self.set_predicate(cmp, ty, a.operand(), b.operand()).into())
    }

    /// `setp`.
    pub fn set_predicate(&mut self, cmp: Cmp, ty: Type, a: Operand, b: Operand) -> Scalar {
        self.compute(Type::Pred, Opcode::Setp, (cmp.modifier(), ty), [a, b])
    }

    /// `if` as a value: the first number where the predicate holds, else the second.
    pub fn select(&mut self, predicate: &Scalar, a: &Num, b: &Num) -> Result<Num> {
        let ty = if a.constant().is_some() && b.constant().is_some() {
            Type::U32
        } else {
            self.common_type(a, b)?
        };
        for value in [a, b].into_iter().filter_map(Num::constant) {
            self.check_fits(value, ty)?;
        }
        Ok(Num::Reg(self.compute(
            ty,
            Opcode::Selp,
            ty,
            [a.operand(), b.operand(), predicate.operand()],
        )))
    }

    /// `x as ty` between integer types, and between numbers where one `cvt` does it.
    pub fn convert(&mut self, from: &Scalar, ty: Type) -> Result<Scalar> {
        if from.ty == ty {
            return Ok(from.clone());
        }
        if is_integer(from.ty) && is_integer(ty) && from.ty.bits() == ty.bits() {
            return Ok(Scalar { ty, ..from.clone() });
        }
        let rounding = match (is_integer(from.ty), is_integer(ty)) {
            (true, true) => None,
            // Rust's `as` truncates.
            (false, true) => Some(Modifier::Rzi),
            (true, false) => Some(Modifier::Rn),
            (false, false) if from.ty.bits() > ty.bits() => Some(Modifier::Rn),
            (false, false) => None,
        };
        if !(is_integer(from.ty) || is_float(from.ty)) || !(is_integer(ty) || is_float(ty)) {
            let (from, to) = (rust_name(from.ty), rust_name(ty));
            return Err(self.error(format!("no conversion from `{from}` to `{to}`")));
        }
        Ok(self.compute(ty, Opcode::Cvt, (rounding, ty, from.ty), [from.operand()]))
    }

    /// The type in which two integers meet: that of the registers; known integers adapt to it.
    fn common_type(&self, a: &Num, b: &Num) -> Result<Type> {
        match (a, b) {
            (Num::Reg(a), Num::Reg(b)) if a.ty == b.ty => Ok(a.ty),
            (Num::Reg(a), Num::Reg(b)) => {
                let (a, b) = (rust_name(a.ty), rust_name(b.ty));
                Err(self.error(format!(
                    "mismatched types `{a}` and `{b}`: convert one with `as {a}`"
                )))
            }
            (Num::Reg(reg), Num::Const(value)) | (Num::Const(value), Num::Reg(reg)) => {
                self.check_fits(*value, reg.ty)?;
                Ok(reg.ty)
            }
            (Num::Const(_), Num::Const(_)) => Ok(Type::U32),
        }
    }

    /// Refuses an integer that the type does not hold.
    pub fn check_fits(&self, value: i128, ty: Type) -> Result<()> {
        let bits = ty.bits();
        let range = if is_signed(ty) {
            -(1i128 << (bits - 1))..1i128 << (bits - 1)
        } else {
            0..1i128 << bits
        };
        if range.contains(&value) {
            return Ok(());
        }
        Err(self.error(format!("{value} does not fit `{}`", rust_name(ty))))
    }
}

/// The exact result, or why there is none.
pub fn fold(op: Op, a: i128, b: i128) -> std::result::Result<i128, &'static str> {
    let shift = || {
        u32::try_from(b)
            .ok()
            .filter(|&amount| amount < 127)
            .ok_or("shifts by an amount out of 0..127")
    };
    let result = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        Op::Div | Op::Rem if b == 0 => return Err("divides by zero"),
        Op::Div => a.checked_div(b),
        Op::Rem => a.checked_rem(b),
        Op::And => Some(a & b),
        Op::Or => Some(a | b),
        Op::Xor => Some(a ^ b),
        Op::Shl => 1i128
            .checked_shl(shift()?)
            .and_then(|factor| a.checked_mul(factor)),
        Op::Shr => Some(a >> shift()?),
        Op::Min => Some(a.min(b)),
        Op::Max => Some(a.max(b)),
    };
    result.ok_or("overflows 128 bits")
}

fn symbol(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::Min => "min",
        Op::Max => "max",
    }
}

/// The comparison with its operands exchanged.
fn mirror(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Lt => Cmp::Gt,
        Cmp::Le => Cmp::Ge,
        Cmp::Gt => Cmp::Lt,
        Cmp::Ge => Cmp::Le,
        cmp => cmp,
    }
}
