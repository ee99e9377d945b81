//! Merges several values into one: of the branches of an `if`, of the `return`s of a function, of the `break`s of a loop.

use crate::kernel::interp::Interpreter;
use crate::kernel::value::{Optional, Scalar, Truth, Value};
use cute_ptx::ast::Type;
use syn::Result;

/// The origins of two values to merge.
#[derive(Clone, Copy)]
pub(super) enum Ways<'w> {
    /// The two branches of an `if` on this predicate.
    Branches(&'w Scalar),
    /// Jumps to one place, named by this text.
    Jumps(&'static str),
}

impl Interpreter<'_> {
    /// The merged value of two branches: registers for the parts that differ, and known values for the others.
    pub(super) fn merge(&mut self, ways: Ways<'_>, a: &Value, b: &Value) -> Result<Value> {
        let differ = || {
            let give = match ways {
                Ways::Branches(_) => "the branches of a run-time `if` give",
                Ways::Jumps(what) => what,
            };
            let rule = match (a, b) {
                (Value::Unit, _) | (_, Value::Unit) => {
                    "all of them give a value, `if … { x } else { 0.0 }`, or none does"
                }
                _ => "only numbers of one type and truth values may differ",
            };
            format!("{give} {} and {}: {rule}", a.kind(), b.kind())
        };
        match (a, b) {
            (Value::Option(a), Value::Option(b)) => {
                let some = (a.is_some.clone().into(), b.is_some.clone().into());
                let is_some = self.merge(ways, &some.0, &some.1)?;
                let value = match (&a.value, &b.value) {
                    (Some(a), Some(b)) => Some(Box::new(self.merge(ways, a, b)?)),
                    (Some(one), None) | (None, Some(one)) => {
                        Some(Box::new(self.merge(ways, one, one)?))
                    }
                    (None, None) => None,
                };
                let is_some = self.truth(&is_some)?;
                return Ok(Value::Option(Optional { is_some, value }));
            }
            (a, b) if let Some(pairs) = a.pairs(b) => {
                let merged = pairs.map(|(a, b)| self.merge(ways, a, b));
                return Ok(a.with_parts(merged.collect::<Result<_>>()?));
            }
            (Value::Bool(true), Value::Bool(false)) if let Ways::Branches(predicate) = ways => {
                return Ok(predicate.clone().into());
            }
            (a, b) if a.is_number() && b.is_number() => {}
            (a, b) if a == b && !matches!(a, Value::Scalar(_)) => return Ok(a.clone()),
            (a, b) if Truth::of(a).is_some() && Truth::of(b).is_some() => {
                return Ok(self.b.cell(Type::Pred).into());
            }
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => {
                return Ok(self.b.cell(a.ty).into());
            }
            _ => return Err(self.b.error(differ())),
        }
        let Some(ty) = self.b.unify_values(a, b)? else {
            return Err(self.b.error(differ()));
        };
        match (a, b) {
            (Value::Int(a, _), Value::Int(b, _)) if a == b => Ok(Value::Int(*a, ty)),
            _ => {
                let register = self.b.inference.register_type(ty);
                let register = self.b.cell(register);
                Ok(self.b.inference.of_type(register, ty).into())
            }
        }
    }

    /// Writes the value of a way to the registers of the merged value.
    pub(super) fn store_merged(
        &mut self,
        ways: Ways<'_>,
        merged: &Value,
        from: &Value,
    ) -> Result<()> {
        match (merged, from) {
            // The predicate itself needs no write.
            (Value::Scalar(to), Value::Bool(_)) if matches!(ways, Ways::Branches(predicate) if predicate == to) => {
                Ok(())
            }
            (Value::Option(to), Value::Option(from)) => {
                let (to_some, from_some) = (to.is_some.clone().into(), from.is_some.clone().into());
                self.store_merged(ways, &to_some, &from_some)?;
                match (&to.value, &from.value) {
                    (Some(to), Some(from)) => self.store_merged(ways, to, from),
                    _ => Ok(()),
                }
            }
            (to, from) if let Some(mut pairs) = to.pairs(from) => {
                pairs.try_for_each(|(to, from)| self.store_merged(ways, to, from))
            }
            (Value::Scalar(to), from) => self.store(to, from, usize::MAX),
            // Known at expansion, and the same in all ways.
            _ => Ok(()),
        }
    }
}
