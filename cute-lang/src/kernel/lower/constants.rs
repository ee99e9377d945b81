//! The values of a module's constants.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::inference::Inference;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::Value;
use syn::{Expr, ItemConst, Result};

/// Each constant of the module with its value. Unused constants are evaluated, too, to find their errors.
pub(crate) fn constants(source: &Source) -> Result<Vec<(&ItemConst, Value)>> {
    let mut errors = Errors::default();
    let mut values = Vec::new();
    for item in &source.module(HERE).consts {
        let name = &item.ident;
        let value = evaluated(source, &syn::parse_quote!(#name), |_, value| Ok(value));
        values.extend(errors.record(value).map(|value| (item, value)));
    }
    for declared in &source.module(HERE).enums {
        let mut interpreter = Interpreter::new(source, Builder::new(1, [1, 1, 1]));
        errors.record(interpreter.discriminants(HERE, declared));
    }
    errors.finish(values)
}

/// The value of an expression of the module's constants. `f` goes on with it.
pub(super) fn evaluated(
    source: &Source,
    expr: &Expr,
    f: impl Fn(&mut Interpreter<'_>, Value) -> Result<Value>,
) -> Result<Value> {
    let mut inference = Inference::default();
    loop {
        // With the types of its literals as far as they are known.
        let mut interpreter = Interpreter::new(source, Builder::new(1, [1, 1, 1]));
        interpreter.b.inference = inference;
        let value = interpreter.value_of(expr);
        let value = value.and_then(|value| f(&mut interpreter, value));
        match interpreter.b.inference.again(value.is_err())? {
            Some(known) => inference = known,
            None => match interpreter.b.inference.in_doubt().next() {
                Some(error) => return Err(error),
                None => return value,
            },
        }
    }
}
