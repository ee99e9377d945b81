//! `select`: one of two values by a truth value, also for each value of fragments.

use crate::kernel::access::elementwise::Elementwise;
use crate::kernel::builtins::SELECT;
use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::operation::Op;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::{Num, NumberType, Scalar, Truth, Value};
use proc_macro2::Span;
use syn::{Error, Result};

/// Whether `select` takes this value as a condition. Otherwise, it is the operation of the algebra.
pub(super) fn is_condition(value: &Value) -> bool {
    matches!(value, Value::Mask(_)) || Truth::of(value).is_some()
}

impl Interpreter<'_> {
    /// `select(condition, x, y)`: x where the condition holds, else y. Both are evaluated.
    pub(super) fn select_values(&mut self, span: Span, args: Vec<Argument>) -> Result<Value> {
        let Ok([condition, x, y]) = <[Argument; 3]>::try_from(args) else {
            return Err(Error::new(span, format!("`{SELECT}` takes 3 arguments")));
        };
        for argument in [&x, &y] {
            let value = &argument.value;
            let is_one = value.is_number() || is_condition(value);
            if !is_one && !matches!(value, Value::Fragment(_)) {
                let message = format!(
                    "`select` takes a number, a truth value or a fragment here, not {}: `if` chooses between others",
                    value.kind()
                );
                return Err(Error::new(argument.span, message));
            }
        }
        self.b.set_place(span);
        let arguments = [&condition.value, &x.value, &y.value];
        let Some(each) = Elementwise::new(&self.b, &arguments)? else {
            return self.selected(&condition.value, &x.value, &y.value);
        };
        let mut results = Vec::new();
        for value in 0..each.count() {
            self.work(1, span)?;
            let numbers = each.arguments(&mut self.b, value);
            let selected = self.selected(&numbers[0], &numbers[1], &numbers[2])?;
            results.push(self.in_register_of_its_type(selected)?);
        }
        each.result(&mut self.b, results)
    }

    fn selected(&mut self, condition: &Value, x: &Value, y: &Value) -> Result<Value> {
        if let (Some(x), Some(y)) = (Truth::of(x), Truth::of(y)) {
            return self.selected_truth(&self.truth(condition)?, &x, &y);
        }
        let common = match x.is_number() && y.is_number() {
            true => self.b.unify_values(x, y)?,
            false => None,
        };
        let kinds_differ = x.as_num().is_some() != y.as_num().is_some();
        let Some(common) = common.filter(|_| !kinds_differ) else {
            let (x, y) = (x.kind(), y.kind());
            let message = format!("`select` chooses between values of one type, not {x} and {y}");
            return Err(self.b.error(message));
        };
        match self.truth(condition)? {
            Truth::Known(holds) => Ok(self.of_common_type(if holds { x } else { y }, common)),
            Truth::Predicate(predicate) => {
                let ty = self.b.inference.register_type(common);
                let (x, y) = (self.operand_of_type(x, ty)?, self.operand_of_type(y, ty)?);
                let selected = self.b.choose(ty, x, y, &predicate);
                Ok(self.b.inference.of_type(selected, common).into())
            }
        }
    }

    fn of_common_type(&mut self, value: &Value, ty: NumberType) -> Value {
        match value {
            Value::Int(value, _) => self.b.of_number(Num::Const(*value), ty),
            Value::Float(value, _) => {
                let (value, ty) = self.b.inference.float(*value, ty);
                Value::Float(value, ty)
            }
            Value::Scalar(scalar) => self.b.inference.of_type(scalar.clone(), ty).into(),
            other => other.clone(),
        }
    }

    /// `condition & x | !condition & y`.
    fn selected_truth(&mut self, condition: &Truth, x: &Truth, y: &Truth) -> Result<Value> {
        let other = self.truth_table(Op::Xor, condition, &Truth::Known(true));
        let other = self.truth(&other)?;
        let parts = [(condition, x), (&other, y)];
        let [x, y] = parts.map(|(condition, value)| self.truth_table(Op::And, condition, value));
        let (x, y) = (self.truth(&x)?, self.truth(&y)?);
        Ok(self.truth_table(Op::Or, &x, &y))
    }

    /// A known number in a register of its type; any other value unchanged.
    fn in_register_of_its_type(&mut self, value: Value) -> Result<Value> {
        let (Value::Int(_, ty) | Value::Float(_, ty)) = value else {
            return Ok(value);
        };
        let register = self.b.inference.register_type(ty);
        let register: Scalar = self.b.register(register);
        let register = self.b.inference.of_type(register, ty);
        self.store(&register, &value, usize::MAX)?;
        Ok(register.into())
    }
}
