//! `let mut` variables, and writes of their registers.

use crate::kernel::emit::builder::Builder;
use crate::kernel::interp::Interpreter;
use crate::kernel::ir::Operand;
use crate::kernel::value::types::{is_float, is_integer, rust_name};
use crate::kernel::value::{Fragment, Scalar, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Comparison;
use cute_ptx::table::op;
use syn::Result;

impl Interpreter<'_> {
    /// A `let mut` variable with this value, in registers of its own.
    pub(super) fn variable(&mut self, name: &str, value: Value, start: usize) -> Result<Value> {
        if let Some(parts) = value.parts() {
            let start = self.length()?;
            let mut variables = Vec::new();
            for (i, part) in parts.iter().enumerate() {
                let name = match &value {
                    Value::Struct(value) => format!("{name}.{}", value.ty.fields[i]),
                    _ => format!("{name}.{i}"),
                };
                variables.push(match changes(part) {
                    true => self.variable(&name, part.clone(), start)?,
                    false => part.clone(),
                });
            }
            return Ok(value.with_parts(variables));
        }
        let ty = match &value {
            Value::Int(_, ty) | Value::Float(_, ty) => self.b.inference.register_type(*ty),
            Value::Bool(_) => Type::Pred,
            Value::Scalar(scalar) => scalar.ty,
            Value::Fragment(fragment) => {
                let mut variable = self.copied(fragment)?;
                variable.is_variable = true;
                return Ok(Value::Fragment(variable));
            }
            // A reference or a closure stands for the registers of other variables.
            Value::Reference(_) | Value::Callable(_) => return Ok(value),
            other => {
                return Err(self.b.error(format!(
                    "`{name}` is {}, which cannot change at run time: write `let`, not `let mut`",
                    other.kind()
                )));
            }
        };
        let mut variable = self.b.named_register(ty, &name.replace('.', "_"));
        self.b.note_variable(&variable, name);
        if let Some(ty) = self.b.inference.number_type(&value) {
            variable = self.b.inference.of_type(variable, ty);
        }
        self.store(&variable, &value, start)?;
        variable.variable = true;
        Ok(Value::Scalar(variable))
    }

    /// The value with a copy of every variable in it. Later assignments do not change the copies.
    pub(super) fn keep(&mut self, mut value: Value) -> Value {
        let b = &mut self.b;
        value.for_each_scalar_mut(&mut |scalar| *scalar = b.snapshot(scalar));
        value
    }

    /// The value for a new name: later assignments change neither its numbers nor its fragments.
    pub(super) fn own(&mut self, value: Value) -> Result<Value> {
        let mut value = self.keep(value);
        self.copy_fragments(&mut value, |fragment| fragment.is_variable)?;
        Ok(value)
    }

    /// Replaces such fragments in a value by copies.
    pub(super) fn copy_fragments(
        &mut self,
        value: &mut Value,
        such: impl Fn(&Fragment) -> bool,
    ) -> Result<()> {
        let mut result = Ok(());
        value.for_each_fragment_mut(&mut |fragment| {
            if such(fragment) && result.is_ok() {
                match self.copied(fragment) {
                    Ok(copy) => *fragment = copy,
                    Err(error) => result = Err(error),
                }
            }
        });
        result
    }

    /// A copy of a fragment in fresh registers.
    fn copied(&mut self, fragment: &Fragment) -> Result<Fragment> {
        let copy = fragment.like(&mut self.b, fragment.element);
        copy.assign(&mut self.b, fragment)?;
        Ok(copy)
    }

    /// Writes a value to a register of its type. If the last line computed the value and has an index of at least `start`, this line is
    /// changed to write the register.
    pub(super) fn store(&mut self, to: &Scalar, value: &Value, start: usize) -> Result<()> {
        let of_kind = match value {
            Value::Float(..) => is_float(to.ty),
            value => value.as_num().is_none() || is_integer(to.ty),
        };
        let mismatch = |b: &Builder| {
            let ty = rust_name(to.ty);
            b.error(format!("expected a `{ty}`, found {}", value.kind()))
        };
        if value.is_number() && of_kind && self.b.unify_values(&to.clone().into(), value).is_err() {
            return Err(mismatch(&self.b));
        }
        match value {
            Value::Scalar(from) if from.ty == to.ty => {
                if !self.b.retarget(from, to, start) {
                    self.b.assign(to, from.operand());
                }
                Ok(())
            }
            Value::Int(value, _) if is_integer(to.ty) => {
                self.b.check_fits(*value, to.ty)?;
                self.b.assign(to, Operand::Int(*value));
                Ok(())
            }
            Value::Bool(value) => {
                // PTX has no `mov` of an immediate to a predicate.
                let cmp = if *value {
                    Comparison::Eq
                } else {
                    Comparison::Ne
                };
                let modifiers = (cmp, Type::U32);
                self.b.emit(
                    op::Setp,
                    modifiers,
                    [to.operand(), Operand::Int(0), Operand::Int(0)],
                );
                Ok(())
            }
            Value::Float(value, _) => {
                let constant = self.b.float_operand(*value, to.ty)?;
                self.b.assign(to, constant);
                Ok(())
            }
            _ => Err(mismatch(&self.b)),
        }
    }
}

/// Whether a part of a `let mut` variable becomes a register that can change. Tensors, layouts and the like stay.
fn changes(part: &Value) -> bool {
    matches!(
        part,
        Value::Int(..) | Value::Float(..) | Value::Bool(_) | Value::Scalar(_) | Value::Fragment(_)
    ) || part.parts().is_some()
}
