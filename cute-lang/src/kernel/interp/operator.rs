//! Operators and casts.

use crate::kernel::access::elementwise::Elementwise;
use crate::kernel::emit::known::Meaning;
use crate::kernel::emit::operation::{Cmp, Op, symbol};
use crate::kernel::interp::Interpreter;
use crate::kernel::ir::Operand;
use crate::kernel::syntax::bare::bare;
use crate::kernel::value::types::{
    instruction_type, is_float, is_integer, is_signed, number_type, range, rounded, rust_name,
    single_type, wrap,
};
use crate::kernel::value::{Fragment, NumberType, Truth, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Comparison;
use cute_ptx::table::op;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Expr, ExprCast, ExprLit, ExprUnary, Lit, LitInt, Result, UnOp};

impl Interpreter<'_> {
    pub(super) fn unary(&mut self, expr: &ExprUnary) -> Result<Value> {
        if let Some(lit) = negated(expr) {
            return self.integer(-lit.base10_parse::<i128>()?, lit);
        }
        let value = self.eval(&expr.expr)?;
        self.b.set_place(expr.op.span());
        self.apply_unary(&expr.op, value)
    }

    /// `op value`, and for each value of a fragment.
    fn apply_unary(&mut self, op: &UnOp, value: Value) -> Result<Value> {
        match (op, value) {
            (UnOp::Deref(_), Value::Reference(value)) => Ok(*value),
            (UnOp::Neg(_), Value::Int(value, ty)) if ty.known().is_none_or(is_signed) => {
                let zero = Value::Int(0, ty);
                self.b.integers(Op::Sub, &zero, &Value::Int(value, ty))
            }
            (UnOp::Not(_), Value::Int(value, ty)) if !matches!(ty, NumberType::Any) => {
                let ty = self.b.inference.now(ty);
                let value = ty.known().map_or(!value, |ty| wrap(!value, ty));
                self.b.inference.holds(ty, value);
                self.b.inference.loses_bits(ty);
                Ok(Value::Int(value, ty))
            }
            (UnOp::Neg(_), Value::Float(value, ty)) => Ok(Value::Float(-value, ty)),
            (UnOp::Neg(_), Value::Scalar(scalar))
                if is_signed(scalar.ty) || is_float(single_type(scalar.ty)) =>
            {
                Ok(self.b.unary(op::Neg, &scalar).into())
            }
            (UnOp::Not(_), Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnOp::Not(_), Value::Scalar(scalar))
                if scalar.ty == Type::Pred || is_integer(scalar.ty) =>
            {
                Ok(self.b.unary(op::Not, &scalar).into())
            }
            (op @ (UnOp::Neg(_) | UnOp::Not(_)), value @ (Value::Fragment(_) | Value::Mask(_)))
                if applies(op, &value) =>
            {
                let Some(each) = Elementwise::new(&self.b, &[&value])? else {
                    return Ok(value);
                };
                let each = each.in_pairs(&mut self.b, |_| matches!(op, UnOp::Neg(_)))?;
                let mut results = Vec::new();
                for value in 0..each.count() {
                    for number in each.arguments(&mut self.b, value) {
                        results.push(self.apply_unary(op, number)?);
                    }
                }
                each.result(&mut self.b, results)
            }
            (UnOp::Deref(_), value) => Err(self.b.error(format!(
                "`*` before {} reads a reference, which it is none: a power is `x * x`, or `pow(x, y)`",
                value.kind()
            ))),
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
        let a = self.eval(left)?;
        let a = if self.may_assign(right) {
            self.keep(a)
        } else {
            a
        };
        let b = self.eval(right)?;
        self.b.set_place(op.span());
        let result = match (operation(op), comparison(op)) {
            (Some(op), _) => self.arithmetic(op, &a, &b),
            (_, Some(cmp)) => match self.compare_variants(cmp, &a, &b, true)? {
                Some(holds) => Ok(holds),
                None => self.compare(cmp, &a, &b),
            },
            _ => Err(self.b.error("the kernel language has no such operator")),
        };
        result.map_err(|error| self.of_operands(error, (left, &a), (right, &b)))
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
            return each.result(&mut self.b, results);
        }
        if a.as_num().is_some() && b.as_num().is_some() {
            return self.b.integers(op, a, b);
        }
        if let (Op::And | Op::Or | Op::Xor, Some(a), Some(b)) = (op, Truth::of(a), Truth::of(b)) {
            return Ok(self.truth_table(op, &a, &b));
        }
        let common = match is_floating(a) && is_floating(b) {
            true => self.b.unify_values(a, b)?,
            false => None,
        };
        if let (Some(ty), Value::Float(a, _), Value::Float(b, _)) = (common, a, b)
            && let Some(f) = of_floats(op)
        {
            return Ok(self
                .b
                .inference
                .known_float(ty, &[*a, *b], |it| f(it[0], it[1])));
        }
        let ty = match (common, a, b) {
            (Some(ty), _, _) => Some(self.b.inference.register_type(ty)),
            // Pairs of numbers.
            (None, Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => Some(a.ty),
            _ => None,
        };
        // Both are registers or floating-point constants, by the type found above.
        let (ty, mnemonic) = match ty.and_then(|ty| Some((ty, op.on_floats(ty)?))) {
            Some(found) => found,
            None => {
                // Of a pointer, a sum is another one.
                let is_tensor =
                    |value: &Value| matches!(value, Value::Global(_) | Value::Tensor(_));
                let hint = match (a, b) {
                    _ if is_tensor(a) || is_tensor(b) => {
                        ": a tensor is no pointer; its elements are `x[i]`".into()
                    }
                    (Value::Int(known, _), other) | (other, Value::Int(known, _))
                        if is_floating(other) =>
                    {
                        format!(": as a floating-point number, it is `{known}.0`")
                    }
                    _ => String::new(),
                };
                return Err(self.b.error(format!(
                    "cannot apply `{}` to {} and {}{hint}",
                    symbol(op),
                    a.kind(),
                    b.kind()
                )));
            }
        };
        let (a, b) = (self.operand_of_type(a, ty)?, self.operand_of_type(b, ty)?);
        let result = self.b.compute_mnemonic(ty, mnemonic, [a, b]);
        let common = common.unwrap_or(NumberType::Is(ty));
        Ok(self.b.inference.of_type(result, common).into())
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
            | (Op::Xor, Truth::Predicate(p), Truth::Known(true)) => self.b.unary(op::Not, p).into(),
            (_, Truth::Known(_), Truth::Predicate(p))
            | (_, Truth::Predicate(p), Truth::Known(_)) => Value::Scalar(p.clone()),
            (op, Truth::Predicate(a), Truth::Predicate(b)) => {
                let operands = [a.operand(), b.operand()];
                let both = op.on_integers(Type::Pred);
                let both = self.b.compute_mnemonic(Type::Pred, both, operands);
                match op {
                    Op::And => self
                        .b
                        .known
                        .means(&both, Meaning::And(a.clone(), b.clone())),
                    Op::Or => self.b.known.means(&both, Meaning::Or(a.clone(), b.clone())),
                    _ => {}
                }
                both.into()
            }
        }
    }

    /// A number of that type as an operand.
    pub(super) fn operand_of_type(&mut self, value: &Value, ty: Type) -> Result<Operand> {
        match value {
            Value::Scalar(scalar) => Ok(scalar.operand()),
            Value::Int(value, _) if is_integer(ty) => {
                self.b.check_fits(*value, ty)?;
                Ok(Operand::Int(*value))
            }
            Value::Float(value, _) => self.b.float_operand(*value, ty),
            other => Err(self
                .b
                .error(format!("expected a number, found {}", other.kind()))),
        }
    }

    /// `a cmp b`, and for each value of fragments.
    pub(super) fn compare(&mut self, cmp: Cmp, a: &Value, b: &Value) -> Result<Value> {
        if let Some(each) = Elementwise::new(&self.b, &[a, b])? {
            let mut results = Vec::new();
            for value in 0..each.count() {
                let numbers = each.arguments(&mut self.b, value);
                results.push(self.compare(cmp, &numbers[0], &numbers[1])?);
            }
            return each.result(&mut self.b, results);
        }
        if let (Some(x), Some(y)) = (a.as_num(), b.as_num()) {
            let ty = self.b.common_type(a, b)?;
            self.b.inference.observe(ty, |_| true);
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
        let common = match is_floating(a) && is_floating(b) {
            true => self.b.unify_values(a, b)?,
            false => None,
        };
        if let (Some(ty), Value::Float(a, _), Value::Float(b, _)) = (common, a, b) {
            let [(a, _), (b, _)] = [*a, *b].map(|it| self.b.inference.float(it, ty));
            let holds = cmp.holds(&a, &b);
            self.b.inference.observe(ty, |ty| {
                holds == cmp.holds(&rounded(a, ty), &rounded(b, ty))
            });
            return Ok(Value::Bool(holds));
        }
        if let (Some(a), Some(b), Cmp::Eq | Cmp::Ne) = (a.to_algebra(), b.to_algebra(), cmp) {
            return Ok(Value::Bool((a == b) == (cmp == Cmp::Eq)));
        }
        let Some(ty) = common else {
            return Err(self
                .b
                .error(format!("cannot compare {} with {}", a.kind(), b.kind())));
        };
        let ty = self.b.inference.register_type(ty);
        let (a, b) = (self.operand_of_type(a, ty)?, self.operand_of_type(b, ty)?);
        // `!=` is true for a NaN.
        let modifier = match cmp {
            Cmp::Ne => Comparison::Neu,
            cmp => cmp.modifier(),
        };
        Ok(self
            .b
            .compute(Type::Pred, op::Setp, (modifier, ty), [a, b])
            .into())
    }

    pub(super) fn cast(&mut self, expr: &ExprCast) -> Result<Value> {
        let value = self.eval(&expr.expr)?;
        let Some(ty) = self.scalar_type(&expr.ty) else {
            self.check_width(&expr.ty)?;
            return Err(Error::new(expr.ty.span(), "`as` converts to a number type"));
        };
        self.b.set_place(expr.as_token.span);
        let value = match self.discriminant(&value) {
            Some(number) if is_integer(ty) => number,
            _ => value,
        };
        let is = NumberType::Is(ty);
        if let Some(from) = self.b.inference.number_type(&value) {
            match (&value, is_literal(&expr.expr)) {
                // A literal converted to a type of its kind has this type, as in Rust.
                (Value::Int(..), true) if is_integer(ty) => self.b.inference.tell(&value, ty),
                (Value::Float(..), true) if is_float(ty) => self.b.inference.tell(&value, ty),
                (Value::Float(value, _), _) => {
                    let converted = |from| converted(rounded(*value, from), ty);
                    let exact = converted(Type::F64);
                    self.b
                        .inference
                        .observe(from, |from| converted(from) == exact);
                }
                _ => self.b.inference.observe(from, |_| true),
            }
        }
        match value {
            Value::Int(value, _) if is_integer(ty) => Ok(Value::Int(wrap(value, ty), is)),
            // A conversion through f64 would round twice.
            Value::Int(value, _) if ty == Type::F32 => Ok(Value::Float((value as f32).into(), is)),
            Value::Int(value, _) if is_float(ty) => Ok(Value::Float(rounded(value as f64, ty), is)),
            Value::Float(value, own) if is_float(ty) || is_integer(ty) => {
                Ok(converted(self.b.inference.float(value, own).0, ty))
            }
            Value::Bool(value) if is_integer(ty) => Ok(Value::Int(value.into(), is)),
            Value::Scalar(scalar) if scalar.ty == Type::Pred && is_integer(ty) => {
                let operands = [Operand::Int(1), Operand::Int(0), scalar.operand()];
                let computed = instruction_type(ty);
                Ok(self.b.compute(ty, op::Selp, computed, operands).into())
            }
            Value::Scalar(scalar) => Ok(self.b.convert(&scalar, ty)?.into()),
            value => {
                let (from, ty) = (value.kind(), rust_name(ty));
                let hint = match value {
                    Value::Fragment(_) => format!(": write `convert::<{ty}>(fragment)`"),
                    _ => String::new(),
                };
                Err(self
                    .b
                    .error(format!("no conversion from {from} to `{ty}`{hint}")))
            }
        }
    }
}

/// The literal of `-128`. It is read as one number, since 128 does not fit `i8`.
fn negated(expr: &ExprUnary) -> Option<&LitInt> {
    match (&expr.op, &*expr.expr) {
        (
            UnOp::Neg(_),
            Expr::Lit(ExprLit {
                lit: Lit::Int(lit), ..
            }),
        ) => Some(lit),
        _ => None,
    }
}

/// Whether an expression is a literal, perhaps with a sign or in parentheses.
fn is_literal(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(_) => true,
        Expr::Unary(expr) => is_literal(&expr.expr),
        _ => false,
    }
}

/// Whether a sign or `!` is applied to each value of such a fragment.
fn applies(op: &UnOp, value: &Value) -> bool {
    let ty = match value {
        Value::Fragment(fragment) => number_type(fragment.element),
        _ => Some(Type::Pred),
    };
    ty.is_some_and(|ty| match op {
        UnOp::Neg(_) => is_signed(ty) || is_float(ty),
        _ => ty == Type::Pred || is_integer(ty),
    })
}

/// Whether a value is a floating-point number.
fn is_floating(value: &Value) -> bool {
    match value {
        Value::Float(..) => true,
        Value::Scalar(scalar) => is_float(scalar.ty),
        _ => false,
    }
}

/// An operation on floating-point numbers.
fn of_floats(op: Op) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        Op::Add => |a, b| a + b,
        Op::Sub => |a, b| a - b,
        Op::Mul => |a, b| a * b,
        Op::Div => |a, b| a / b,
        _ => return None,
    })
}

/// `value as ty` of a floating-point number. Rust's `as` saturates, and gives 0 for a NaN.
fn converted(value: f64, ty: Type) -> Value {
    if is_float(ty) {
        return Value::Float(rounded(value, ty), NumberType::Is(ty));
    }
    let (least, greatest) = range(ty);
    let value = (value as i128).clamp(least, greatest);
    Value::Int(value, NumberType::Is(ty))
}

/// The operation of an operator on two numbers.
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

/// The comparison of an operator.
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
