//! `map`: a function applied to each value of a fragment.

use crate::kernel::access::elementwise::Elementwise;
use crate::kernel::builtins::MAP;
use crate::kernel::builtins::call::Argument;
use crate::kernel::builtins::fragment::typed;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::types::number_type;
use crate::kernel::value::{Callable, Fragment, NumberType, Value};
use proc_macro2::Span;
use syn::{Error, Result};

impl Interpreter<'_> {
    /// `map(x, f)`: a fragment of `f(value)`, or of `f(value, coordinate)` if `f` takes two arguments.
    pub(super) fn map(&mut self, span: Span, args: Vec<Argument>) -> Result<Value> {
        let Ok([x, f]) = <[Argument; 2]>::try_from(args) else {
            return Err(Error::new(span, format!("`{MAP}` takes 2 arguments")));
        };
        let Value::Fragment(fragment) = &x.value else {
            let hint = match x.value {
                Value::Range(..) | Value::Array(_) => {
                    ": there are no iterators, so a `for` loop computes the same with a `let mut` variable"
                }
                _ => "",
            };
            let kind = x.value.kind();
            let message = format!("`map` takes a fragment here, not {kind}{hint}");
            return Err(Error::new(x.span, message));
        };
        let Value::Callable(function) = &f.value else {
            let message = format!("`map` takes a function here, not {}", f.value.kind());
            return Err(Error::new(f.span, message));
        };
        let with_coordinate = self.takes(function) == 2;
        self.b.set_place(span);
        let Some(each) = Elementwise::new(&self.b, &[&x.value])? else {
            let message = format!("`map` has taken {} (a defect)", x.value.kind());
            return Err(Error::new(x.span, message));
        };
        let mut results = Vec::new();
        for value in 0..each.count() {
            self.work(1, span)?;
            let mut args = each.arguments(&mut self.b, value);
            if with_coordinate {
                args.push(self.coordinate(fragment, value, &x)?);
            }
            let args = args.into_iter().map(|value| Argument {
                value,
                span: f.span,
            });
            let result = self.call_value(&f.value, f.span, Vec::new(), args.collect())?;
            results.push(self.in_register(fragment, result)?);
        }
        self.b.set_place(span);
        each.result(&mut self.b, results)
    }

    /// A known number in a register of its type, or of the fragment's if it has none; any other value unchanged.
    fn in_register(&mut self, of: &Fragment, value: Value) -> Result<Value> {
        let ty = match &value {
            Value::Int(_, ty) | Value::Float(_, ty) => ty.known().or(number_type(of.element)),
            _ => None,
        };
        let Some(ty) = ty else {
            return Ok(value);
        };
        let register = self.b.register(ty);
        self.store(&register, &value, usize::MAX)?;
        Ok(register.into())
    }

    /// The coordinate of a value in the tile of a fragment, or in the fragment of one thread.
    fn coordinate(&mut self, of: &Fragment, value: usize, argument: &Argument) -> Result<Value> {
        if of.tile.is_none() {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            let index = cute_algebra::Tuple::Leaf(value);
            let coordinate = cute_algebra::idx2crd(&index, &of.shape)
                .map_err(|error| Error::new(argument.span, error))?;
            let coordinate = Value::from_algebra(cute_algebra::Value::Tuple(coordinate));
            return Ok(typed(coordinate));
        }
        let value = Argument {
            value: Value::Int(value as i128, NumberType::Any),
            span: argument.span,
        };
        let args = vec![argument.clone(), value];
        self.call_builtin("coordinate", argument.span, Vec::new(), args)
    }

    /// The number of parameters of a function.
    fn takes(&self, function: &Callable) -> usize {
        match function {
            Callable::Closure(closure) => closure.syntax.inputs.len(),
            Callable::Function(module, name) => {
                let found = self.source.function(*module, name);
                found.map_or(1, |(_, function)| function.sig.inputs.len())
            }
        }
    }
}
