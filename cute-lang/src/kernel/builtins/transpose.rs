//! Tensors, layouts and fragments of two modes, with the modes exchanged.

use super::algebra::operate;
use crate::kernel::builtins::call::{Argument, Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{NumberType, Value};
use cute_algebra::{Layout, operations};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "transpose(x)",
    apply: transpose,
}];

/// `select(x, 1, 0)` of two modes.
fn transpose(b: &mut Builder, call: &Call) -> Result<Value> {
    let x = &call.args[0];
    let rank = match &x.value {
        Value::Fragment(x) => Some(x.shape.rank()),
        Value::Tensor(x) => Some(x.layout.layout().rank()),
        Value::Global(x) => x.tile().map(Layout::rank),
        other => match other.to_algebra() {
            Some(cute_algebra::Value::Layout(layout)) => Some(layout.rank()),
            Some(cute_algebra::Value::Composed(layout)) => Some(layout.layout().rank()),
            _ => return Err(call.mismatch(0, "a fragment, a tensor or a layout")),
        },
    };
    if let Some(rank) = rank.filter(|rank| *rank != 2) {
        let message = format!(
            "`transpose` exchanges two modes, and this has {rank}: `select(x, …)` takes the modes in their new order"
        );
        return Err(call.error_at(0, message));
    }
    let mode = |mode| Argument {
        value: Value::Int(mode, NumberType::Any),
        span: x.span,
    };
    let Some(operation) = operations::find("select") else {
        return Err(b.error("there is no `select` (a defect)"));
    };
    let call = Call {
        name: operation.name,
        span: call.span,
        types: Vec::new(),
        args: vec![x.clone(), mode(1), mode(0)],
    };
    operate(b, operation, &call)
}
