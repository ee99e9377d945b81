//! The values of a module's constants.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::inference::Inference;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::Value;
use syn::{ItemConst, Result};

/// Each constant of the module with its value. Unused constants are evaluated, too, to find their errors.
pub(crate) fn constants(source: &Source) -> Result<Vec<(&ItemConst, Value)>> {
    let mut errors = Errors::default();
    let mut values = Vec::new();
    for item in &source.module(HERE).consts {
        let value = constant(source, item, Inference::default());
        values.extend(errors.record(value).map(|value| (item, value)));
    }
    for declared in &source.module(HERE).enums {
        let mut interpreter = Interpreter::new(source, Builder::new(1, [1, 1, 1]));
        errors.record(interpreter.discriminants(HERE, declared));
    }
    errors.finish(values)
}

/// The value of a constant, with the types of its literals as far as they are known.
fn constant(source: &Source, item: &ItemConst, inference: Inference) -> Result<Value> {
    let name = &item.ident;
    let mut interpreter = Interpreter::new(source, Builder::new(1, [1, 1, 1]));
    interpreter.b.inference = inference;
    let value = interpreter.eval(&syn::parse_quote!(#name));
    match interpreter.b.inference.again(value.is_err())? {
        Some(inference) => constant(source, item, inference),
        None => match interpreter.b.inference.in_doubt().next() {
            Some(error) => Err(error),
            None => value,
        },
    }
}
