//! Arithmetic on integers that are known or in registers. An operation is folded, simplified, or emitted.

use crate::kernel::emit::bits::{self, Right};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::known::Meaning;
use crate::kernel::emit::operation::{Cmp, Op, fold, mirror, symbol};
use crate::kernel::ir::Operand;
use crate::kernel::value::types::{
    instruction_type, is_float, is_integer, is_signed, range, rust_name, wrap,
};
use crate::kernel::value::{Num, NumberType, Scalar, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::Opcode;
use cute_ptx::table::choice::{BoolOp, Comparison, IntegerRounding, Rounding, Takes};
use cute_ptx::table::op::{self, Instruction};
use syn::Result;

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

    /// An operation on two integers of a kernel. If both are known, a result outside of their type is an error, as in Rust; while the type
    /// is not known, the result is exact.
    pub fn integers(&mut self, op: Op, a: &Value, b: &Value) -> Result<Value> {
        let (Some(x), Some(y)) = (a.as_num(), b.as_num()) else {
            let (a, b) = (a.kind(), b.kind());
            return Err(self.error(format!("cannot apply `{}` to {a} and {b}", symbol(op))));
        };
        // A shift amount has its own type.
        let shifts = matches!(op, Op::Shl | Op::Shr);
        if shifts && let Some(amount) = self.inference.number_type(b) {
            self.inference.observe(amount, |_| true);
        }
        let ty = match (shifts, self.inference.number_type(a)) {
            (true, Some(ty)) => ty,
            _ => self.common_type(a, b)?,
        };
        if op == Op::Shl {
            self.inference.loses_bits(ty);
        }
        let result = match (ty, &x, &y) {
            (NumberType::Is(ty), Num::Const(x), Num::Const(y)) => {
                Num::Const(self.fold_in(op, *x, *y, ty)?)
            }
            (NumberType::Is(_) | NumberType::Inferred(_), Num::Const(_), Num::Reg(_)) if shifts => {
                let register = self.inference.register_type(ty);
                let x = self.to_register(&x, register)?;
                self.binary(op, &x.into(), &y)?
            }
            _ => self.binary(op, &x, &y)?,
        };
        Ok(self.of_number(result, ty))
    }

    /// The result of an operation on integers of a type.
    pub fn of_number(&mut self, result: Num, ty: NumberType) -> Value {
        match result {
            Num::Const(value) => {
                self.inference.holds(ty, value);
                Value::Int(value, ty)
            }
            Num::Reg(register) => self.inference.of_type(register, ty).into(),
        }
    }

    /// The result of an operation on known integers of a type.
    fn fold_in(&self, op: Op, a: i128, b: i128, ty: Type) -> Result<i128> {
        let shifts = matches!(op, Op::Shl | Op::Shr);
        if shifts {
            self.check_shift(b, ty)?;
        }
        let fold =
            |op| fold(op, a, b).map_err(|why| self.error(format!("{a} {} {b} {why}", symbol(op))));
        let result = fold(op)?;
        match op {
            // Rust drops the bits shifted out.
            Op::Shl => return Ok(wrap(result, ty)),
            // Rust refuses a remainder if the quotient overflows, as in `i32::MIN % -1`.
            Op::Rem => self.check_fits(fold(Op::Div)?, ty)?,
            _ => self.check_fits(result, ty)?,
        }
        Ok(result)
    }

    fn check_shift(&self, amount: i128, ty: Type) -> Result<()> {
        let width = ty.bits();
        match (0..i128::from(width)).contains(&amount) {
            true => Ok(()),
            false => Err(self.error(format!(
                "an integer of {width} bits is shifted by 0 to {}, not by {amount}",
                width - 1
            ))),
        }
    }

    /// An operation on two integers: folded, simplified, or done at run time.
    ///
    /// Arithmetic of known integers is exact; arithmetic in registers wraps, and takes the amount of a shift modulo the
    /// width.
    pub fn binary(&mut self, op: Op, a: &Num, b: &Num) -> Result<Num> {
        if let (Num::Const(a), Num::Const(b)) = (a, b) {
            return match fold(op, *a, *b) {
                Ok(value) => Ok(Num::Const(value)),
                Err(reason) => Err(self.error(format!("{a} {} {b} {reason}", symbol(op)))),
            };
        }
        let ty = match (op, a, b) {
            // A shift amount has its own type.
            (Op::Shl | Op::Shr, Num::Reg(a), Num::Const(amount)) => {
                self.check_shift(*amount, a.ty)?;
                a.ty
            }
            (Op::Shl | Op::Shr, Num::Reg(a), Num::Reg(_)) => a.ty,
            (Op::Shl | Op::Shr, Num::Const(_), Num::Reg(b)) => b.ty,
            _ => self.type_of_numbers(a, b)?,
        };
        if let Some(simple) = self.simplify(op, a, b, ty)? {
            return Ok(simple);
        }
        let possible = self.possible_result(op, a, b, ty);
        if possible == Some(0) {
            return Ok(Num::Const(0));
        }
        let computed = instruction_type(ty);
        let right = match (op, b) {
            (Op::Shl | Op::Shr, Num::Reg(amount)) => self.shift_amount(amount, ty)?,
            _ => b.operand(),
        };
        let result = self.compute_mnemonic(ty, op.on_integers(computed), [a.operand(), right]);
        let result = match op {
            Op::Add | Op::Sub | Op::Mul | Op::Shl => self.narrow(result),
            // The 16-bit instruction gives 128 for −128 / −1.
            Op::Div if is_signed(ty) => self.narrow(result),
            _ => result,
        };
        if let Some(possible) = possible {
            self.known.limit_bits(&result, possible);
            self.known.note_result(op, a, b, &result);
        }
        self.known.computes(&result, op, a, b);
        Ok(Num::Reg(result))
    }

    /// The amount of a shift, modulo the width of the shifted type as in Rust. PTX clamps it to the width.
    fn shift_amount(&mut self, amount: &Scalar, ty: Type) -> Result<Operand> {
        let amount = match amount.ty.bits() {
            32 => amount.clone(),
            _ => self.convert(amount, Type::U32)?,
        };
        let amount = Num::Reg(Scalar {
            ty: Type::U32,
            ..amount
        });
        Ok(self.and(&amount, &Num::from(ty.bits() - 1))?.operand())
    }

    /// The result of a 16-bit instruction as an 8-bit integer: the upper 8 bits become zeros or copies of the sign. Wider types are
    /// returned unchanged.
    pub fn narrow(&mut self, computed: Scalar) -> Scalar {
        let ty = computed.ty;
        match ty.bits() {
            8 => self.compute(
                ty,
                op::Cvt,
                (instruction_type(ty), ty),
                [computed.operand()],
            ),
            _ => computed,
        }
    }

    /// `-x`, `!x` or the absolute value of a number in a register.
    pub fn unary<I: Instruction + Takes<Type>>(&mut self, opcode: I, of: &Scalar) -> Scalar {
        let ty = instruction_type(of.ty);
        let ty = match I::OPCODE {
            Opcode::Not => ty.untyped(),
            _ => ty,
        };
        let result = self.compute(of.ty, opcode, ty, [of.operand()]);
        match I::OPCODE {
            _ if of.ty == Type::Pred => self.known.means(&result, Meaning::Not(of.clone())),
            Opcode::Neg if is_integer(of.ty) => {
                self.known
                    .computes(&result, Op::Sub, &Num::Const(0), &of.clone().into());
            }
            _ => {}
        }
        Scalar {
            class: of.class,
            ..self.narrow(result)
        }
    }

    /// The bits that may be set in the result of an operation on unsigned integers, or of `&`, which treats signs as bits.
    fn possible_result(&self, op: Op, a: &Num, b: &Num, ty: Type) -> Option<u64> {
        let (left, right) = (self.known.possible_bits(a), self.known.possible_bits(b));
        let right = match b {
            Num::Const(known) => Right::Known(*known as u64),
            Num::Reg(_) if self.known.least(b) >= 1 => Right::Positive(right),
            Num::Reg(_) => Right::Any(right),
        };
        (!is_signed(ty) || op == Op::And).then(|| bits::possible(op, left, right, ty.bits()))
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
            // PTX takes an immediate only as the last operand.
            return if commutes {
                self.binary(op, b, a).map(Some)
            } else {
                Ok(None)
            };
        }
        let unsigned = !is_signed(ty);
        let power =
            (constant > 0 && constant & (constant - 1) == 0).then(|| constant.trailing_zeros());
        let possible = self.known.possible_bits(a);
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
            return Ok(Value::Bool(cmp.holds(a, b)));
        }
        let predicate = self.compare_and(cmp, a, b, None)?;
        Ok(predicate.into())
    }

    /// Compares two integers: a predicate that holds if the comparison holds and, if there is another predicate, this one, too.
    pub fn compare_and(
        &mut self,
        cmp: Cmp,
        a: &Num,
        b: &Num,
        other: Option<&Scalar>,
    ) -> Result<Scalar> {
        if let (Num::Const(a), Num::Const(b)) = (a, b) {
            let zero = Num::Const(0);
            let holds = if cmp.holds(a, b) { Cmp::Eq } else { Cmp::Ne };
            return Ok(self.set_predicate_and(holds, Type::U32, [&zero, &zero], other));
        }
        let ty = self.type_of_numbers(a, b)?;
        let (cmp, a, b) = if a.constant().is_some() {
            (mirror(cmp), b, a)
        } else {
            (cmp, a, b)
        };
        Ok(self.set_predicate_and(cmp, ty, [a, b], other))
    }

    /// `setp`: a predicate that holds if the comparison of two integers of a type holds.
    pub fn set_predicate(&mut self, cmp: Cmp, ty: Type, a: &Num, b: &Num) -> Scalar {
        self.set_predicate_and(cmp, ty, [a, b], None)
    }

    /// As `set_predicate`, joined with another predicate, if there is one.
    fn set_predicate_and(
        &mut self,
        cmp: Cmp,
        ty: Type,
        [a, b]: [&Num; 2],
        other: Option<&Scalar>,
    ) -> Scalar {
        let and = other.map(|_| BoolOp::And);
        let modifiers = (cmp.modifier(), and, instruction_type(ty));
        let operands = [a.operand(), b.operand()].into_iter();
        let operands = operands.chain(other.map(Scalar::operand));
        let predicate = self.compute(Type::Pred, op::Setp, modifiers, operands);
        if !is_signed(ty) {
            let comparison = (a.clone(), cmp, b.clone());
            let meaning = match other {
                None => Meaning::Compare(comparison),
                Some(other) => Meaning::CompareAnd(comparison, other.clone()),
            };
            self.known.means(&predicate, meaning);
        }
        predicate
    }

    /// `if` as a value: the first number where the predicate holds, else the second, both of type `ty`.
    pub fn select(&mut self, predicate: &Scalar, ty: Type, a: &Num, b: &Num) -> Result<Num> {
        for value in [a, b].into_iter().filter_map(Num::constant) {
            self.check_fits(value, ty)?;
        }
        Ok(Num::Reg(self.choose(
            ty,
            a.operand(),
            b.operand(),
            predicate,
        )))
    }

    /// The first operand where the predicate holds, else the second, both of type `ty`.
    pub fn choose(&mut self, ty: Type, yes: Operand, no: Operand, predicate: &Scalar) -> Scalar {
        // There is no `selp` of 16-bit floating-point numbers, but of their bits.
        let computed = match ty {
            Type::F16 | Type::Bf16 => ty.untyped(),
            ty => instruction_type(ty),
        };
        self.compute(ty, op::Selp, computed, [yes, no, predicate.operand()])
    }

    /// `x as ty` between numbers, as Rust converts. Integers wrap. Conversions to a floating-point type round to the
    /// nearest, ties to even. Conversions from a floating-point type to an integer truncate and saturate, and give 0
    /// for a NaN.
    pub fn convert(&mut self, from: &Scalar, ty: Type) -> Result<Scalar> {
        if from.ty == ty {
            return Ok(Scalar {
                class: None,
                ..from.clone()
            });
        }
        if !(is_integer(from.ty) || is_float(from.ty)) || !(is_integer(ty) || is_float(ty)) {
            let (from, to) = (rust_name(from.ty), rust_name(ty));
            return Err(self.error(format!("no conversion from `{from}` to `{to}`")));
        }
        let same_registers = instruction_type(from.ty).bits() == instruction_type(ty).bits();
        let rounding = match (is_integer(from.ty), is_integer(ty)) {
            (true, true) if same_registers => {
                let register = Scalar {
                    ty,
                    class: None,
                    ..from.clone()
                };
                return Ok(self.narrow(register));
            }
            (true, true) => (None, None),
            (false, true) => (Some(IntegerRounding::Rzi), None),
            (true, false) => (None, Some(Rounding::Rn)),
            (false, false) if from.ty.bits() >= ty.bits() => (None, Some(Rounding::Rn)),
            (false, false) => (None, None),
        };
        // `cvt` does not convert bf16 to 8 bits, so the conversion goes through f32, which represents every bf16.
        if from.ty == Type::Bf16 && ty.bits() == 8 {
            let single = self.convert(from, Type::F32)?;
            return self.convert(&single, ty);
        }
        let operand = from.operand();
        let result = self.compute(
            ty,
            op::Cvt,
            (rounding, ty, instruction_type(from.ty)),
            [operand.clone()],
        );
        if is_integer(from.ty) && is_integer(ty) {
            let bits = self.known.possible_bits(&from.clone().into());
            let may_be_negative = is_signed(from.ty) && bits >> (from.ty.bits() - 1) & 1 == 1;
            if !may_be_negative {
                self.known.limit_bits(&result, bits);
            }
        }
        // If either side has 64 bits, `cvt` converts a NaN to the integer with only its highest bit set (PTX ISA 9.0, §9.7.9.22).
        let truncates = is_float(from.ty) && is_integer(ty);
        if truncates && (from.ty == Type::F64 || ty.bits() == 64) {
            let is_number = (Comparison::Num, from.ty);
            let sources = [operand.clone(), operand];
            let is_number = self.compute(Type::Pred, op::Setp, is_number, sources);
            let number = self.select(&is_number, ty, &result.into(), &Num::Const(0))?;
            return self.to_register(&number, ty);
        }
        Ok(result)
    }

    /// The one type of two numbers. Each determines unknown parts of the other's type.
    pub fn unify(&mut self, a: NumberType, b: NumberType) -> Result<NumberType> {
        let unified = self.inference.unify(a, b);
        unified.map_err(|mismatch| self.error(mismatch))
    }

    /// The one type of two values; `None` unless both are numbers.
    pub fn unify_values(&mut self, a: &Value, b: &Value) -> Result<Option<NumberType>> {
        match (self.inference.number_type(a), self.inference.number_type(b)) {
            (Some(a), Some(b)) => self.unify(a, b).map(Some),
            _ => Ok(None),
        }
    }

    /// Determines the type of a number, and refuses a number of another type. Other values are ignored.
    pub fn expect(&mut self, value: &Value, ty: Type) -> Result<()> {
        if let Some(found) = self.inference.number_type(value) {
            self.unify(found, NumberType::Is(ty))?;
        }
        Ok(())
    }

    /// The common type of two integers. If one type is not known, the other determines it.
    pub fn common_type(&mut self, a: &Value, b: &Value) -> Result<NumberType> {
        let found = |value: &Value| format!("expected an integer, found {}", value.kind());
        let (Some(one), Some(two)) = (self.inference.number_type(a), self.inference.number_type(b))
        else {
            let other = if a.as_num().is_some() { b } else { a };
            return Err(self.error(found(other)));
        };
        let ty = self.unify(one, two)?;
        if let NumberType::Is(ty) = ty {
            for value in [a, b]
                .into_iter()
                .filter_map(|value| value.as_num()?.constant())
            {
                self.check_fits(value, ty)?;
            }
        }
        Ok(ty)
    }

    /// The common type of two numbers, at least one of them in a register.
    fn type_of_numbers(&mut self, a: &Num, b: &Num) -> Result<Type> {
        if let (Num::Reg(_), Num::Reg(_)) = (a, b) {
            self.common_type(&a.clone().into(), &b.clone().into())?;
        }
        let ((Num::Reg(Scalar { ty, .. }), other) | (other, Num::Reg(Scalar { ty, .. }))) = (a, b)
        else {
            return Err(self.error("no operand is in a register (a defect)"));
        };
        if let Num::Const(value) = other {
            self.check_fits(*value, *ty)?;
        }
        Ok(*ty)
    }

    /// Refuses an integer outside of the range of the type.
    pub fn check_fits(&self, value: i128, ty: Type) -> Result<()> {
        let (least, greatest) = range(ty);
        if (least..=greatest).contains(&value) {
            return Ok(());
        }
        Err(self.error(format!("{value} does not fit `{}`", rust_name(ty))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_no_register_have_no_type() {
        let mut b = Builder::new(32, [1, 1, 1]);
        let (one, two) = (Num::Const(1), Num::Const(2));
        let error = b.type_of_numbers(&one, &two).unwrap_err();
        assert!(error.to_string().contains("a defect"), "{error}");
    }
}
