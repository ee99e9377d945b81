//! Values that consist of values: tuples, arrays, structs and options.

use super::num::{Num, Scalar};
use super::option::{Optional, Truth};
use super::{Callable, Fragment, Struct, Tensor, Value};
use std::slice;

impl Value {
    /// The parts of a tuple, an array or a struct.
    pub fn parts(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(parts) | Value::Array(parts) => Some(parts),
            Value::Struct(value) => Some(&value.fields),
            _ => None,
        }
    }

    fn parts_mut(&mut self) -> &mut [Value] {
        match self {
            Value::Tuple(parts) | Value::Array(parts) => parts,
            Value::Struct(value) => &mut value.fields,
            Value::Option(Optional {
                value: Some(value), ..
            }) => slice::from_mut(&mut **value),
            _ => &mut [],
        }
    }

    /// Each part with the same part of another value, if both are tuples, arrays or structs of one type.
    pub fn pairs<'v>(
        &'v self,
        other: &'v Value,
    ) -> Option<impl Iterator<Item = (&'v Value, &'v Value)>> {
        let alike = match (self, other) {
            (Value::Tuple(a), Value::Tuple(b)) | (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len()
            }
            (Value::Struct(a), Value::Struct(b)) => a.ty == b.ty,
            _ => false,
        };
        let (parts, others) = (self.parts()?, other.parts()?);
        alike.then(|| parts.iter().zip(others))
    }

    /// A tuple, array or struct of the same type with other parts.
    pub fn with_parts(&self, parts: Vec<Value>) -> Value {
        match self {
            Value::Array(_) => Value::Array(parts),
            Value::Struct(value) => Value::Struct(Struct {
                ty: value.ty.clone(),
                fields: parts,
            }),
            _ => Value::Tuple(parts),
        }
    }

    /// The number of values in a tuple, array or struct, including nested ones, and the depth of the nesting.
    pub fn extent(&self) -> (usize, usize) {
        let Some(parts) = self.parts() else {
            return (1, 0);
        };
        let parts = parts.iter().map(Value::extent);
        parts.fold((0, 1), |(size, depth), (inner, deep)| {
            (size + inner, depth.max(deep + 1))
        })
    }

    /// Calls `f` on every register in the value, except the registers of fragments and references: these are the variables themselves.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        match self {
            Value::Scalar(scalar) => f(scalar),
            Value::Range(start, end, _) => {
                for bound in [start, end] {
                    if let Num::Reg(scalar) = bound {
                        f(scalar);
                    }
                }
            }
            Value::Tensor(tensor) => tensor.for_each_scalar_mut(f),
            Value::Global(global) => global.for_each_scalar_mut(f),
            Value::Barrier(barrier) => barrier.for_each_scalar_mut(f),
            Value::Option(Optional {
                is_some: Truth::Predicate(predicate),
                ..
            }) => f(predicate),
            _ => {}
        }
        for part in self.parts_mut() {
            part.for_each_scalar_mut(f);
        }
    }

    /// Calls `f` on every fragment in the value.
    pub fn for_each_fragment_mut(&mut self, f: &mut dyn FnMut(&mut Fragment)) {
        if let Value::Fragment(fragment) = self {
            f(fragment);
        }
        for part in self.parts_mut() {
            part.for_each_fragment_mut(f);
        }
    }

    /// Calls `f` on every tensor in shared memory in the value, including the tensors used by a closure.
    pub fn for_each_tensor(&self, f: &mut dyn FnMut(&Tensor)) {
        match self {
            Value::Tensor(tensor) => f(tensor),
            Value::Reference(value) => value.for_each_tensor(f),
            Value::Option(option) => option.value.iter().for_each(|it| it.for_each_tensor(f)),
            Value::Callable(Callable::Closure(closure)) => {
                let values = closure.scope.values().flatten();
                values.for_each(|it| it.for_each_tensor(f));
            }
            value => value
                .parts()
                .into_iter()
                .flatten()
                .for_each(|it| it.for_each_tensor(f)),
        }
    }

    /// Whether nothing of it is in a register.
    pub fn is_known(&self) -> bool {
        match self {
            Value::Scalar(_)
            | Value::Reference(_)
            | Value::Tensor(_)
            | Value::Global(_)
            | Value::Fragment(_)
            | Value::Mask(_)
            | Value::Barriers(_)
            | Value::Barrier(_)
            | Value::TmaTensor(_)
            | Value::List(_) => false,
            Value::Range(start, end, _) => start.constant().is_some() && end.constant().is_some(),
            Value::Option(option) => {
                matches!(option.is_some, Truth::Known(_))
                    && option.value.as_ref().is_none_or(|value| value.is_known())
            }
            value => value
                .parts()
                .is_none_or(|parts| parts.iter().all(Value::is_known)),
        }
    }
}
