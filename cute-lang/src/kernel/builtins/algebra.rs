//! Operations of the algebra on values known at expansion and on tensors.

use super::{modes, questions, tensor};
use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Value;
use cute_algebra::Layout;
use cute_algebra::operations::Operation;
use syn::{Error, Result};

/// Calls an operation of the algebra. If the first argument is a tensor, the operation applies to its layout. All other
/// arguments must be known at expansion.
pub fn operate(b: &mut Builder, operation: &Operation, call: &Call) -> Result<Value> {
    if let [argument] = &call.args[..]
        && operation.name == "recast"
        && call.types.len() == 1
    {
        match &argument.value {
            Value::Tensor(tensor) => return tensor::recast(b, call, tensor),
            Value::Global(global) => return tensor::recast_global(call, global),
            _ => {}
        }
    }
    if let Some(argument) = call.types.first() {
        return Err(Error::new(
            argument.span,
            format!("`{}` takes no type arguments", call.name),
        ));
    }
    b.set_place(call.span);
    match call.args.first().map(|argument| &argument.value) {
        Some(Value::Tensor(tensor)) => match questions::ask(b, operation, call, tensor)? {
            Some(answer) => Ok(answer),
            None => {
                let layout = tensor.layout.layout();
                on_tensor(operation, call, layout, |layout| {
                    tensor.with_layout(b, layout).map(Value::Tensor)
                })
            }
        },
        Some(Value::Fragment(fragment)) if operation.name == "select" => {
            modes::select(call, fragment)
        }
        Some(Value::Global(global)) => {
            let Some(layout) = global.tile() else {
                return Err(call.mismatch(0, "a tile, whose extents are known at expansion,"));
            };
            on_tensor(operation, call, layout, |layout| {
                global.with_layout(b, layout).map(Value::Global)
            })
        }
        _ => call.apply(operation, Vec::new()),
    }
}

/// Operations that change the coordinates of a layout but not the offsets of its elements. On a tensor, they give the same memory under
/// another layout.
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

/// Operations that return properties of the coordinates of a layout.
const QUESTIONS: &[&str] = &["depth", "rank", "shape"];

/// The tensor of this layout under the result of the operation.
fn on_tensor(
    operation: &Operation,
    call: &Call,
    layout: &Layout,
    with_layout: impl FnOnce(Layout) -> Result<Value>,
) -> Result<Value> {
    if QUESTIONS.contains(&call.name) {
        return call.apply(operation, vec![layout.into()]);
    }
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
    match call.apply(operation, vec![layout.into()])? {
        Value::Algebra(cute_algebra::Value::Layout(part)) if is_inside(&part, layout) => {
            with_layout(part)
        }
        Value::Algebra(cute_algebra::Value::Layout(part)) => Err(call.error_at(
            0,
            format!(
                "`{}` gives {part}, which reaches outside of the tensor, whose layout is {layout}",
                call.name
            ),
        )),
        other => Ok(other),
    }
}

/// Whether the coshape of `part` is within the coshape of `whole`. A mode that is selected twice may exceed it.
fn is_inside(part: &Layout, whole: &Layout) -> bool {
    let (part, whole) = (part.coshape(), whole.coshape());
    part.leaf_count() <= whole.leaf_count()
        && part
            .leaves()
            .zip(whole.leaves())
            .all(|(part, whole)| part <= whole)
}
