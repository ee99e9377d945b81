//! Asynchronous copies between global and shared memory, and `cp.async`.

use crate::kernel::builtins::call::{Call, instruction};
use crate::kernel::builtins::copy::bulk;
use crate::kernel::builtins::copy::memory::Memory;
use crate::kernel::builtins::copy::part::Part;
use crate::kernel::builtins::copy::vector::vectorise;
use crate::kernel::builtins::fragment::distributed;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Fragment, Global, Num, Tensor, Value};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{AsyncCache, CtaShared};
use cute_ptx::table::op;
use syn::Result;

/// The least and the greatest number of bytes that `cp.async` copies.
const BYTES: (i64, i64) = (4, 16);

/// Starts to copy between a tile of global memory and a tensor in shared memory: by threads, or by the engine for bulk copies if
/// a barrier counts the bytes or if the source is in shared memory.
pub(super) fn copy_async(b: &mut Builder, call: &Call) -> Result<Value> {
    let [source, destination] = [0, 1].map(|index| &call.args[index].value);
    let by = call.args.get(2).map(|by| &by.value);
    let takes = match (source, destination, by) {
        (Value::Global(_), Value::Tensor(_), Some(Value::Barrier(_))) => 4,
        (Value::Tensor(_), Value::Global(_), _) => 2,
        _ => 3,
    };
    if call.args.len() > takes {
        return Err(call.error_at(takes, "this kind of copy has no such argument"));
    }
    match (source, destination) {
        (Value::Global(tile), Value::Tensor(tensor)) => match by {
            Some(Value::Barrier(_)) => bulk::load(b, call, tile, tensor),
            _ => by_threads(b, call, tile, tensor),
        },
        (Value::Tensor(tensor), Value::Global(tile)) => bulk::store(b, call, tensor, tile),
        (Value::Global(_), _) => Err(call.mismatch(1, "a tensor in shared memory")),
        (Value::Tensor(_), _) => Err(call.mismatch(1, "a tile of global memory")),
        _ => Err(call.mismatch(0, "a tile of global memory or a tensor in shared memory")),
    }
}

/// `cp.async`. A layout from (thread, value) to coordinates distributes the tile over the threads; without one, each thread copies the tile
/// that it names. Elements outside of the tensor become 0.
fn by_threads(b: &mut Builder, call: &Call, tile: &Global, tensor: &Tensor) -> Result<Value> {
    let held = match call.args.get(2).map(|by| by.value.to_algebra()) {
        None => Fragment::of_one_thread(tile.element, tensor.layout.layout()),
        Some(Some(cute_algebra::Value::Layout(layout))) if !layout.is_integral() => {
            b.set_place(call.args[2].span);
            distributed(b, call, 2, tile.element, &layout)?
        }
        Some(_) => {
            return Err(call.mismatch(
                2,
                "a barrier, or a layout from (thread, value) to coordinates of the tile",
            ));
        }
    };
    b.set_place(call.span);
    let mut from = Part::new(b, tile, &held)?;
    let mut to = Memory::shared(b, tensor, &held)?;
    let mut inside = from.inside(b);
    // Values are copied together if they are consecutive on both sides: in the same row, at equal distances on both.
    let places: Vec<(Vec<i64>, i64)> = from
        .places()
        .into_iter()
        .zip(to.places())
        .map(|((mut row, index), (_, shared))| {
            row.push(shared - index);
            (row, index)
        })
        .collect();
    let mut lanes = from.lanes(b).min(to.lanes(b));
    if inside.may_end_in_last() {
        lanes = lanes.min(from.lanes_at_end(b));
    }
    while lanes > 1
        && places
            .iter()
            .any(|(row, _)| row.last().is_some_and(|apart| apart % lanes != 0))
    {
        lanes /= 2;
    }
    let vectors = vectorise(lanes, &places);
    let bytes = vectors
        .first()
        .map_or(0, |vector| vector.len() as i64 * from.width);
    if bytes < BYTES.0 {
        return Err(b.error(format!(
            "layouts and facts allow accesses of {bytes} bytes, but `cp.async` copies {} to {}: see `aligned(x, 16)`",
            BYTES.0, BYTES.1
        )));
    }
    let cache = if bytes == BYTES.1 {
        AsyncCache::Cg
    } else {
        AsyncCache::Ca
    };
    for vector in &vectors {
        let value = vector[0];
        let predicate = inside.predicate(b, &from.coordinates[value])?;
        let mut operands = vec![
            to.operand(b, value)?,
            from.operand(b, value)?,
            Operand::Int(bytes.into()),
        ];
        if let Some(predicate) = predicate {
            // The bytes to read; the other bytes become 0.
            let read = b.select(&predicate, Type::U32, &Num::from(bytes), &Num::Const(0))?;
            operands.push(read.operand());
        }
        b.emit(op::CpAsync, (cache, CtaShared::Shared), operands);
    }
    Ok(Value::Unit)
}

/// Ends a group of copies.
pub(super) fn commit(b: &mut Builder, _: &Call) -> Result<Value> {
    instruction(b, op::CpAsyncCommitGroup, (), None)
}

/// Waits until at most so many groups of this thread are not complete.
pub(super) fn wait(b: &mut Builder, call: &Call) -> Result<Value> {
    let groups = call.constant_in(0, 0..=i32::MAX as u32)?;
    instruction(b, op::CpAsyncWaitGroup, (), Some(groups.into()))
}
