//! Operations of the algebra on values known at expansion and on tensors.

use super::{questions, tensor};
use crate::kernel::builtins::call::{Argument, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Tensor, Value};
use cute_algebra::operations::Operation;
use syn::{Error, Result};

/// Calls an operation of the algebra. If the first argument is a tensor, the operation applies to its layout. All other
/// arguments must be known at expansion.
pub fn operate(b: &mut Builder, operation: &Operation, call: &Call) -> Result<Value> {
    if let [
        Argument {
            value: Value::Tensor(tensor),
            ..
        },
    ] = &call.args[..]
        && operation.name == "recast"
        && call.types.len() == 1
    {
        return tensor::recast(b, call, tensor);
    }
    if let Some(argument) = call.types.first() {
        return Err(Error::new(
            argument.span,
            format!("`{}` takes no type arguments", call.name),
        ));
    }
    b.set_place(call.span);
    let Some(Value::Tensor(tensor)) = call.args.first().map(|argument| &argument.value) else {
        return call.apply(operation, Vec::new());
    };
    match questions::ask(b, operation, call, tensor)? {
        Some(answer) => Ok(answer),
        None => on_tensor(b, operation, call, tensor),
    }
}

/// The operations that change the coordinates of a layout, but not the offsets to which they lead. Applied to a tensor,
/// they give the same memory under another layout.
const DOMAIN_OPERATIONS: &[&str] = &[
    "coalesce",
    "composition",
    "flat_divide",
    "flatten",
    "get",
    "group",
    "logical_divide",
    "select",
    "take",
    "tiled_divide",
    "unflatten",
    "with_shape",
    "zipped_divide",
];

/// The tensor under the layout that the operation gives.
fn on_tensor(b: &Builder, operation: &Operation, call: &Call, tensor: &Tensor) -> Result<Value> {
    if !DOMAIN_OPERATIONS.contains(&call.name) {
        let list = DOMAIN_OPERATIONS.join(", ");
        return Err(call.error_at(
            0,
            format!(
                "`{}` does not keep the elements of a tensor in place; these do: {list}",
                call.name
            ),
        ));
    }
    let layout = tensor.layout.layout().clone();
    match call.apply(operation, vec![layout.into()])? {
        Value::Algebra(cute_algebra::Value::Layout(layout)) => {
            tensor.with_layout(b, layout).map(Value::Tensor)
        }
        other => Ok(other),
    }
}
