//! Extents and strides of tensors in global memory, and lengths of lists of parameters.

use super::algebra::operate;
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Global, Modes, Num, NumberType, Value};
use cute_algebra::operations;
use cute_ptx::ast::Type;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "extent(x, mode)",
        apply: extent,
    },
    Builtin {
        signature: "stride(x, [mode])",
        apply: stride,
    },
    Builtin {
        signature: "len(list)",
        apply: len,
    },
    Builtin {
        signature: "domain_offset(distance, tile)",
        apply: domain_offset,
    },
];

fn extent(b: &mut Builder, call: &Call) -> Result<Value> {
    let (global, mode) = whole_mode(call)?;
    b.set_place(call.span);
    let extent = match global.left(b, mode)? {
        Num::Reg(scalar) => b.convert(&scalar, Type::U32)?.into(),
        known => known,
    };
    Ok(extent.typed(NumberType::Is(Type::U32)))
}

/// The stride of a mode of a tensor in global memory, or the strides of a layout.
fn stride(b: &mut Builder, call: &Call) -> Result<Value> {
    if call.args.len() == 1
        && let Some(operation) = operations::find(call.name)
    {
        return operate(b, operation, call);
    }
    let (global, mode) = whole_mode(call)?;
    b.set_place(call.span);
    Ok(b.stride(global.id(), mode).typed(NumberType::Is(Type::U64)))
}

/// How many parameters a list has, or values an array.
fn len(b: &mut Builder, call: &Call) -> Result<Value> {
    match &call.args[0].value {
        Value::List(list) => Ok(b.length(*list).typed(NumberType::Is(Type::U32))),
        Value::Array(values) => Ok(Value::Int(values.len() as i128, NumberType::Any)),
        Value::Global(_) => Err(call.error_at(
            0,
            "a tensor has an extent in each mode: `extent(x, 0)` is that of mode 0",
        )),
        _ => Err(call.mismatch(0, "a list of parameters or an array")),
    }
}

/// A tile with another start.
fn domain_offset(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Global(global) = &call.args[1].value else {
        return Err(call.mismatch(1, "a tile of global memory"));
    };
    let Some(layout) = global.tile() else {
        return Err(call.mismatch(1, "a tile of global memory, not whole modes,"));
    };
    b.set_place(call.args[0].span);
    global
        .moved(b, layout, &call.args[0].value)
        .map(Value::Global)
}

/// The tensor, and the mode of the parameter that the call names.
fn whole_mode(call: &Call) -> Result<(&Global, usize)> {
    let Value::Global(global) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tensor in global memory"));
    };
    let Modes::Whole(modes) = &global.modes else {
        return Err(call.mismatch(
            0,
            "a tensor parameter or whole modes of one, not a tile of it,",
        ));
    };
    let mode = call.constant(1)?;
    let found = usize::try_from(mode).ok().and_then(|mode| modes.get(mode));
    match found {
        Some(mode) => Ok((global, *mode)),
        None => Err(call.error_at(
            1,
            format!("there is no mode {mode}: this tensor has {}", modes.len()),
        )),
    }
}
