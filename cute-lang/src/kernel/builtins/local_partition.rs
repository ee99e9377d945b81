//! The part of a tensor that belongs to a thread.

use super::local_tile::divided;
use crate::kernel::access::check::require_inside;
use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Num, Value};
use cute_algebra::{Layout, Shape, Tuple, right_inverse};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "local_partition(x, layout, thread)",
    apply: local_partition,
}];

/// Divides x into tiles of the shape of the layout. Takes from each tile the element at the coordinate that the layout gives the thread.
fn local_partition(b: &mut Builder, call: &Call) -> Result<Value> {
    let Some(cute_algebra::Value::Layout(threads)) = call.args[1].value.to_algebra() else {
        return Err(call.mismatch(1, "a layout of threads"));
    };
    let count = threads.size();
    let inverse = right_inverse(&threads).map_err(|error| call.error_at(1, error))?;
    if inverse.size() != count {
        let message = format!("{threads} does not give each thread below {count} one coordinate");
        return Err(call.error_at(1, message));
    }
    let shape: Shape = threads
        .modes()
        .iter()
        .map(Layout::size)
        .map(Tuple::Leaf)
        .collect();
    b.set_place(call.args[1].span);
    let tiles = match &call.args[0].value {
        Value::Tensor(tensor) => Value::Tensor(tensor.tiles(b, &shape)?),
        Value::Global(global) if let Some(layout) = global.tile() => {
            Value::Global(global.with_layout(b, divided(b, layout, &shape)?)?)
        }
        _ => return Err(call.mismatch(0, "a tensor in shared memory or a tile of global memory")),
    };
    b.set_place(call.args[2].span);
    let thread = call.num(2)?;
    if let Num::Const(known) = thread
        && !(0..i128::from(count)).contains(&known)
    {
        let message =
            format!("thread {known} is out of range: it must be at least 0 and below {count}");
        return Err(b.error(message));
    }
    require_inside(b, "threads", &count.into(), &call.args[2].value)?;
    let own = crd2idx(b, &inverse, &thread, 1)?;
    // The inverse permutes the threads, so the result is below their number.
    b.known.assume_below(&own, &Num::from(count));
    let coordinate = Value::Tuple(vec![own.into(), Value::Wild]);
    // Only the mode of the tiles is left.
    let lost = |b: &Builder| b.error("a part of a tensor has no mode (a defect)");
    match tiles {
        Value::Tensor(tiles) => {
            let part = tiles.slice(b, &coordinate)?;
            let rest = part.layout.layout().mode(0).ok_or_else(|| lost(b))?;
            part.with_layout(b, rest).map(Value::Tensor)
        }
        Value::Global(tiles) => {
            let part = tiles.slice(b, &coordinate)?;
            let rest = part.tile().and_then(|layout| layout.mode(0));
            let rest = rest.ok_or_else(|| lost(b))?;
            part.with_layout(b, rest).map(Value::Global)
        }
        other => Ok(other),
    }
}
