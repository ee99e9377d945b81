//! Addresses of single elements of tensors, in shared and in global memory.

use super::global::{COPY_INSIDE, global_address};
use super::slice::names_several;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::param::ParamKind;
use crate::kernel::ir::Operand;
use crate::kernel::value::Value;
use cute_ptx::table::choice::Accessible;
use syn::Result;

/// An element of a tensor.
pub(crate) struct Place {
    /// The state space: `.shared`, `.shared::cluster` or `.global`.
    pub(crate) space: Accessible,
    /// The address in this state space.
    pub(crate) address: Operand,
}

/// The element at a coordinate, to write it. `None` if `x` is no tensor in memory.
pub(crate) fn place(b: &mut Builder, x: &Value, coordinate: &Value) -> Result<Option<Place>> {
    let (space, address) = match x {
        Value::Tensor(tensor) => {
            if names_several(coordinate) {
                return Err(b.error(
                    "a coordinate with `_` or a range names several elements, and this takes one: use `copy`",
                ));
            }
            (tensor.space(), tensor.element(b, coordinate)?)
        }
        Value::Global(global) => (
            Accessible::Global,
            global_address(b, global, coordinate, COPY_INSIDE)?,
        ),
        _ => return Ok(None),
    };
    Ok(Some(Place { space, address }))
}

/// Notes a write to a tensor parameter: the launch then takes a mutable view.
pub(crate) fn writes(b: &mut Builder, x: &Value) {
    if let Value::Global(global) = x
        && let ParamKind::Global { written, .. } = &mut b.params[global.param].kind
    {
        *written = true;
    }
}
