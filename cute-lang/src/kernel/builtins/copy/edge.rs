//! Copies of tiles of global memory that may be partly outside of the tensor.

use crate::kernel::access::element::writes;
use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::fill::fill_word;
use crate::kernel::builtins::copy::memory::Memory;
use crate::kernel::builtins::copy::move_all;
use crate::kernel::builtins::copy::moved;
use crate::kernel::builtins::copy::options::options;
use crate::kernel::builtins::copy::part::Part;
use crate::kernel::builtins::copy::registers;
use crate::kernel::builtins::copy::vector::{Condition, vectorise};
use crate::kernel::emit::builder::{Builder, unless};
use crate::kernel::ir::Operand;
use crate::kernel::value::{Fragment, Value};
use syn::Result;

/// Loads a tile. Elements outside of the tensor become `fill`, and their memory is not read.
pub(super) fn copy_or(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Global(tile) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tile of global memory"));
    };
    let Value::Fragment(fragment) = &call.args[1].value else {
        return Err(call.mismatch(1, "a fragment"));
    };
    b.set_place(call.args[2].span);
    let fill = fill_word(b, fragment.element, &call.args[2].value)?;
    b.set_place(call.span);
    let options = options(call, 3, Direction::Load)?;
    let part = Part::new(b, tile, fragment)?.with(options);
    move_inside(b, Direction::Load, part, fragment, Some(fill))?;
    Ok(Value::Unit)
}

/// Stores a fragment. Elements outside of the tensor are left out.
pub(super) fn copy_inside(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(fragment) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let Value::Global(tile) = &call.args[1].value else {
        return Err(call.mismatch(1, "a tile of global memory"));
    };
    b.set_place(call.span);
    let options = options(call, 2, Direction::Store)?;
    let part = Part::new(b, tile, fragment)?.with(options);
    move_inside(b, Direction::Store, part, fragment, None)?;
    writes(b, &call.args[1].value);
    Ok(Value::Unit)
}

/// Moves the values inside of the tensor. If all values of a thread are inside, it moves vectors that may lie across the end of the tensor;
/// other threads move narrower ones.
fn move_inside(
    b: &mut Builder,
    direction: Direction,
    mut part: Part,
    fragment: &Fragment,
    fill: Option<Operand>,
) -> Result<()> {
    let mut inside = part.inside(b);
    if let Some(vectors) = moved::vectors(&part, fragment) {
        return moved::copy(b, direction, part, inside, fragment, &vectors, fill);
    }
    let (places, lanes) = (part.places(), part.lanes(b));
    let wide = vectorise(lanes, &places);
    let narrow = match inside.may_end_in_last() {
        true => vectorise(lanes.min(part.lanes_at_end(b)), &places),
        false => wide.clone(),
    };
    let all = match wide.len() < narrow.len() {
        true => inside.all(b)?,
        false => None,
    };
    if all.is_some() {
        // Both branches use this address, so it is computed before them.
        part.operand(b, wide[0][0])?;
    }
    let coordinates = part.coordinates.clone();
    let mut memory = Memory::Global(part);
    let mut ways = None;
    if let Some(all) = all {
        let (edge, end) = (b.label("edge"), b.label("copied"));
        b.branch_if(unless(&all), &edge);
        move_all(b, direction, &mut memory.clone(), fragment)?;
        b.branch(&end);
        b.place_label(&edge);
        ways = Some(end);
    }
    registers::transfer(b, direction, &mut memory, fragment, &narrow, |b, value| {
        Ok(Condition {
            predicate: inside.predicate(b, &coordinates[value])?,
            fill: fill.clone(),
        })
    })?;
    if let Some(end) = ways {
        b.place_label(&end);
    }
    Ok(())
}
