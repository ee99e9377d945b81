//! Operators and casts.

use crate::kernel::access::elementwise::Elementwise;
use crate::kernel::emit::conditions::Meaning;
use crate::kernel::emit::operation::{Cmp, Op, symbol};
use crate::kernel::interp::Interpreter;
use crate::kernel::value::types::{
    instruction_type, is_float, is_integer, is_signed, number_type, range, rounded, rust_name,
    single_type, wrap,
};
use crate::kernel::value::{Fragment, Truth, Value};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Expr, ExprCast, ExprLit, ExprUnary, Lit, Result, UnOp};

impl Interpreter<'_> {
    pub(super) fn unary(&mut self, expr: &ExprUnary) -> Result<Value> {
        // `-128i8` is read as one literal, because 128 does not fit `i8`.
        if let (
            UnOp::Neg(_),
            Expr::Lit(ExprLit {
                lit: Lit::Int(lit), ..
            }),
        ) = (&expr.op, &*expr.expr)
        {
            return self.integer(-lit.base10_parse::<i128>()?, lit);
        }
        let value = self.eval(&expr.expr)?;
        self.b.set_place(expr.op.span());
        match (&expr.op, value) {
            (UnOp::Deref(_), Value::Reference(value)) => Ok(*value),
            (UnOp::Neg(_), Value::Int(value, ty)) if ty.is_none_or(is_signed) => {
                let zero = Value::Int(0, ty);
                self.b.integers(Op::Sub, &zero, &Value::Int(value, ty))
            }
            (UnOp::Not(_), Value::Int(value, Some(ty))) => {
                Ok(Value::Int(wrap(!value, ty), Some(ty)))
            }
            (UnOp::Neg(_), Value::Float(value)) => Ok(Value::Float(-value)),
            (UnOp::Neg(_), Value::Scalar(scalar))
                if is_signed(scalar.ty) || is_float(scalar.ty) =>
            {
                Ok(self.b.unary(Opcode::Neg, &scalar).into())
            }
            (UnOp::Not(_), Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnOp::Not(_), Value::Scalar(scalar))
                if scalar.ty == Type::Pred || is_integer(scalar.ty) =>
            {
                Ok(self.b.unary(Opcode::Not, &scalar).into())
            }
            (UnOp::Neg(_), Value::Fragment(fragment))
                if number_type(fragment.element)
                    .is_some_and(|ty| is_signed(ty) || is_float(ty)) =>
            {
                let value = Value::Fragment(fragment);
                let Some(each) = Elementwise::new(&self.b, &[&value])? else {
                    return Ok(value);
                };
                let each = each.in_pairs(&mut self.b, |_| true)?;
                let mut results = Vec::new();
                for value in 0..each.count() {
                    if let [Value::Scalar(number)] = &each.arguments(&mut self.b, value)[..] {
                        results.push(self.b.unary(Opcode::Neg, number).into());
                    }
                }
                Ok(Value::Fragment(each.fragment(&mut self.b, results)?))
            }
            (op, value) => {
                let op = op.to_token_stream();
                Err(self
                    .b
                    .error(format!("cannot apply `{op}` to {}", value.kind())))
            }
        }
    }

    pub(super) fn binary(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> Result<Value> {
        if matches!(op, BinOp::And(_) | BinOp::Or(_)) {
            return self.logic(left, op, right);
        }
        if let Some(arithmetic) = compound(op) {
            return match left {
                Expr::Path(_) => match self.eval(left)? {
                    Value::Fragment(fragment) => {
                        self.change_fragment(&fragment, arithmetic, op, right)
                    }
                    _ => self.assign_op(left, arithmetic, op, right),
                },
                _ => self.assign_op(left, arithmetic, op, right),
            };
        }
        let left = self.eval(left)?;
        let left = if self.may_assign(right) {
            self.keep(left)
        } else {
            left
        };
        let right = self.eval(right)?;
        self.b.set_place(op.span());
        match (operation(op), comparison(op)) {
            (Some(op), _) => self.arithmetic(op, &left, &right),
            (_, Some(cmp)) => self.compare(cmp, &left, &right),
            _ => Err(self.b.error("the kernel language has no such operator")),
        }
    }

    /// `fragment op= right`.
    fn change_fragment(
        &mut self,
        fragment: &Fragment,
        op: Op,
        token: &BinOp,
        right: &Expr,
    ) -> Result<Value> {
        let right = self.eval(right)?;
        // The number may be a value of the fragment.
        let right = self.keep(right);
        self.b.set_place(token.span());
        let left = Value::Fragment(fragment.clone());
        let Some(each) = Elementwise::in_place(&self.b, &[&left, &right])? else {
            if let Value::Fragment(result) = self.arithmetic(op, &left, &right)? {
                fragment.assign(&mut self.b, &result)?;
            }
            return Ok(Value::Unit);
        };
        for value in 0..each.count() {
            let start = self.length()?;
            let numbers = each.arguments(&mut self.b, value);
            let result = self.arithmetic(op, &numbers[0], &numbers[1])?;
            let (register, _) = fragment.part(value);
            self.store(&register, &result, start)?;
        }
        Ok(Value::Unit)
    }

    /// `a op b` for integers, floating-point numbers and truth values, and for each value of fragments of these.
    pub(super) fn arithmetic(&mut self, op: Op, a: &Value, b: &Value) -> Result<Value> {
        if let Some(each) = Elementwise::new(&self.b, &[a, b])? {
            let each = each.in_pairs(&mut self.b, |_| matches!(op, Op::Add | Op::Sub | Op::Mul))?;
            let mut results = Vec::new();
            for value in 0..each.count() {
                let numbers = each.arguments(&mut self.b, value);
                results.push(self.arithmetic(op, &numbers[0], &numbers[1])?);
            }
            return Ok(Value::Fragment(each.fragment(&mut self.b, results)?));
        }
        if a.as_num().is_some() && b.as_num().is_some() {
            return self.b.integers(op, a, b);
        }
        if let (Op::And | Op::Or | Op::Xor, Some(a), Some(b)) = (op, Truth::of(a), Truth::of(b)) {
            return Ok(self.truth_table(op, &a, &b));
        }
        let known = match (op, a, b) {
            (Op::Add, Value::Float(a), Value::Float(b)) => Some(Value::Float(a + b)),
            (Op::Sub, Value::Float(a), Value::Float(b)) => Some(Value::Float(a - b)),
            (Op::Mul, Value::Float(a), Value::Float(b)) => Some(Value::Float(a * b)),
            (Op::Div, Value::Float(a), Value::Float(b)) => Some(Value::Float(a / b)),
            _ => None,
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let ty = match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => Some(a.ty),
            (Value::Scalar(a), Value::Float(_)) => Some(a.ty),
            (Value::Float(_), Value::Scalar(b)) => Some(b.ty),
            _ => None,
        };
        // Both are registers or floating-point constants, by the type found above.
        let (ty, rounding) = match (op, ty) {
            (Op::Div, Some(ty @ (Type::F32 | Type::F64))) => (ty, Some(Modifier::Rn)),
            // Without `.rn`, ptxas may fuse a product and a sum, which Rust does not do.
            (Op::Add | Op::Sub | Op::Mul, Some(ty)) if is_float(single_type(ty)) => {
                (ty, Some(Modifier::Rn))
            }
            (Op::Min | Op::Max, Some(ty)) if is_float(ty) => (ty, None),
            _ => {
                return Err(self.b.error(format!(
                    "cannot apply `{}` to {} and {}",
                    symbol(op),
                    a.kind(),
                    b.kind()
                )));
            }
        };
        let (a, b) = (
            self.float_or_register(a, ty)?,
            self.float_or_register(b, ty)?,
        );
        Ok(self
            .b
            .compute(ty, op.opcode(), (rounding, ty), [a, b])
            .into())
    }

    /// The value of `&`, `|` or `^` for truth values.
    pub(super) fn truth_table(&mut self, op: Op, a: &Truth, b: &Truth) -> Value {
        match (op, a, b) {
            (Op::And, Truth::Known(a), Truth::Known(b)) => Value::Bool(*a & *b),
            (Op::Or, Truth::Known(a), Truth::Known(b)) => Value::Bool(*a | *b),
            (_, Truth::Known(a), Truth::Known(b)) => Value::Bool(a ^ b),
            (Op::And, Truth::Known(false), _) | (Op::And, _, Truth::Known(false)) => {
                Value::Bool(false)
            }
            (Op::Or, Truth::Known(true), _) | (Op::Or, _, Truth::Known(true)) => Value::Bool(true),
            (Op::Xor, Truth::Known(true), Truth::Predicate(p))
            | (Op::Xor, Truth::Predicate(p), Truth::Known(true)) => {
                self.b.unary(Opcode::Not, p).into()
            }
            (_, Truth::Known(_), Truth::Predicate(p))
            | (_, Truth::Predicate(p), Truth::Known(_)) => Value::Scalar(p.clone()),
            (op, Truth::Predicate(a), Truth::Predicate(b)) => {
                let operands = [a.operand(), b.operand()];
                let both = self
                    .b
                    .compute(Type::Pred, op.opcode(), Type::Pred, operands);
                match op {
                    Op::And => self.b.means(&both, Meaning::And(a.clone(), b.clone())),
                    Op::Or => self.b.means(&both, Meaning::Or(a.clone(), b.clone())),
                    _ => {}
                }
                both.into()
            }
        }
    }

    fn float_or_register(&mut self, value: &Value, ty: Type) -> Result<Operand> {
        match value {
            Value::Scalar(scalar) => Ok(scalar.operand()),
            Value::Float(value) => self.b.float_operand(*value, ty),
            other => Err(self
                .b
                .error(format!("expected a number, found {}", other.kind()))),
        }
    }

    pub(super) fn compare(&mut self, cmp: Cmp, a: &Value, b: &Value) -> Result<Value> {
        if let (Some(x), Some(y)) = (a.as_num(), b.as_num()) {
            self.b.common_type(a, b)?;
            return self.b.compare(cmp, &x, &y);
        }
        if let (Cmp::Eq | Cmp::Ne, Some(a), Some(b)) = (cmp, Truth::of(a), Truth::of(b)) {
            let differ = self.truth_table(Op::Xor, &a, &b);
            return match (cmp, Truth::of(&differ)) {
                (Cmp::Eq, Some(differ)) => {
                    Ok(self.truth_table(Op::Xor, &differ, &Truth::Known(true)))
                }
                _ => Ok(differ),
            };
        }
        if let (Value::Float(a), Value::Float(b)) = (a, b) {
            return Ok(Value::Bool(cmp.holds(a, b)));
        }
        if let (Some(a), Some(b), Cmp::Eq | Cmp::Ne) = (a.to_algebra(), b.to_algebra(), cmp) {
            return Ok(Value::Bool((a == b) == (cmp == Cmp::Eq)));
        }
        let ty = match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => a.ty,
            (Value::Scalar(a), Value::Float(_)) => a.ty,
            (Value::Float(_), Value::Scalar(b)) => b.ty,
            _ => {
                return Err(self
                    .b
                    .error(format!("cannot compare {} with {}", a.kind(), b.kind())));
            }
        };
        if !is_float(ty) {
            return Err(self
                .b
                .error(format!("cannot compare {} with {}", a.kind(), b.kind())));
        }
        let (a, b) = (
            self.float_or_register(a, ty)?,
            self.float_or_register(b, ty)?,
        );
        // `!=` is true for a NaN.
        let modifier = match cmp {
            Cmp::Ne => Modifier::Neu,
            cmp => cmp.modifier(),
        };
        Ok(self
            .b
            .compute(Type::Pred, Opcode::Setp, (modifier, ty), [a, b])
            .into())
    }

    pub(super) fn cast(&mut self, expr: &ExprCast) -> Result<Value> {
        let value = self.eval(&expr.expr)?;
        let Some(ty) = self.scalar_type(&expr.ty) else {
            return Err(Error::new(expr.ty.span(), "`as` converts to a number type"));
        };
        self.b.set_place(expr.as_token.span);
        match value {
            Value::Int(value, _) if is_integer(ty) => Ok(Value::Int(wrap(value, ty), Some(ty))),
            // A conversion through f64 would round twice.
            Value::Int(value, _) if ty == Type::F32 => Ok(Value::Float((value as f32).into())),
            Value::Int(value, _) if is_float(ty) => Ok(Value::Float(rounded(value as f64, ty))),
            Value::Float(value) if is_float(ty) => Ok(Value::Float(rounded(value, ty))),
            // Rust's `as` saturates and gives 0 for a NaN.
            Value::Float(value) if is_integer(ty) => {
                let (least, greatest) = range(ty);
                let value = (value as i128).clamp(least, greatest);
                Ok(Value::Int(value, Some(ty)))
            }
            Value::Bool(value) if is_integer(ty) => Ok(Value::Int(value.into(), Some(ty))),
            Value::Scalar(scalar) if scalar.ty == Type::Pred && is_integer(ty) => {
                let operands = [Operand::Int(1), Operand::Int(0), scalar.operand()];
                let computed = instruction_type(ty);
                Ok(self.b.compute(ty, Opcode::Selp, computed, operands).into())
            }
            Value::Scalar(scalar) => Ok(self.b.convert(&scalar, ty)?.into()),
            value => Err(self.b.error(format!(
                "no conversion from {} to `{}`",
                value.kind(),
                rust_name(ty)
            ))),
        }
    }
}

/// The operation of two numbers that an operator stands for.
pub(crate) fn operation(op: &BinOp) -> Option<Op> {
    Some(match op {
        BinOp::Add(_) => Op::Add,
        BinOp::Sub(_) => Op::Sub,
        BinOp::Mul(_) => Op::Mul,
        BinOp::Div(_) => Op::Div,
        BinOp::Rem(_) => Op::Rem,
        BinOp::BitAnd(_) => Op::And,
        BinOp::BitOr(_) => Op::Or,
        BinOp::BitXor(_) => Op::Xor,
        BinOp::Shl(_) => Op::Shl,
        BinOp::Shr(_) => Op::Shr,
        _ => return None,
    })
}

fn compound(op: &BinOp) -> Option<Op> {
    Some(match op {
        BinOp::AddAssign(_) => Op::Add,
        BinOp::SubAssign(_) => Op::Sub,
        BinOp::MulAssign(_) => Op::Mul,
        BinOp::DivAssign(_) => Op::Div,
        BinOp::RemAssign(_) => Op::Rem,
        BinOp::BitAndAssign(_) => Op::And,
        BinOp::BitOrAssign(_) => Op::Or,
        BinOp::BitXorAssign(_) => Op::Xor,
        BinOp::ShlAssign(_) => Op::Shl,
        BinOp::ShrAssign(_) => Op::Shr,
        _ => return None,
    })
}

/// The comparison that an operator stands for.
pub(crate) fn comparison(op: &BinOp) -> Option<Cmp> {
    Some(match op {
        BinOp::Eq(_) => Cmp::Eq,
        BinOp::Ne(_) => Cmp::Ne,
        BinOp::Lt(_) => Cmp::Lt,
        BinOp::Le(_) => Cmp::Le,
        BinOp::Gt(_) => Cmp::Gt,
        BinOp::Ge(_) => Cmp::Ge,
        _ => return None,
    })
}
