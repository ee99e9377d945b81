//! Copies between registers and memory, by the widest vectors that both sides allow.

mod asynchronous;
mod direction;
mod edge;
mod fill;
mod hint;
mod matrix;
mod memory;
mod moved;
mod outside;
pub(super) mod pack;
mod part;
mod partition;
mod registers;
#[cfg(test)]
mod tests;
mod vector;

use crate::kernel::access::element::writes;
use crate::kernel::access::global::unproven;
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::builtins::copy::asynchronous::copy_async;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::edge::{copy_inside, copy_or};
use crate::kernel::builtins::copy::hint::hint;
use crate::kernel::builtins::copy::memory::Memory;
use crate::kernel::builtins::copy::part::Part;
use crate::kernel::builtins::copy::registers::Condition;
use crate::kernel::builtins::copy::vector::vectorise;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Tensor, Value};
use syn::Result;

pub(crate) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "copy(source, destination, [hint])",
        apply: copy,
    },
    Builtin {
        signature: "copy_or(source, destination, fill, [hint])",
        apply: copy_or,
    },
    Builtin {
        signature: "copy_inside(source, destination, [hint])",
        apply: copy_inside,
    },
    Builtin {
        signature: "fill_outside(fragment, tile, value)",
        apply: outside::fill_outside,
    },
    Builtin {
        signature: "misalignment(tile, fragment)",
        apply: outside::misalignment,
    },
    Builtin {
        signature: "copy_async(source, destination, layout)",
        apply: copy_async,
    },
    Builtin {
        signature: "cp_async_commit()",
        apply: asynchronous::commit,
    },
    Builtin {
        signature: "cp_async_wait(groups)",
        apply: asynchronous::wait,
    },
];

pub(super) fn copy(b: &mut Builder, call: &Call) -> Result<Value> {
    b.set_place(call.span);
    let (source, destination) = (&call.args[0].value, &call.args[1].value);
    match (source, destination) {
        (Value::Tensor(tensor), Value::Fragment(fragment)) => load(b, tensor, fragment)?,
        (Value::Fragment(fragment), Value::Tensor(tensor)) => store(b, fragment, tensor)?,
        (Value::Global(_), Value::Fragment(fragment)) => {
            return copy_global(b, call, Direction::Load, source, fragment);
        }
        (Value::Fragment(fragment), Value::Global(_)) => {
            return copy_global(b, call, Direction::Store, destination, fragment);
        }
        (Value::Fragment(from), Value::Fragment(to)) => to.assign(b, from)?,
        (Value::Tensor(_) | Value::Global(_), _) => return Err(call.mismatch(1, "a fragment")),
        (Value::Fragment(_), _) => return Err(call.mismatch(1, "a tensor or a fragment")),
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    }
    match call.args.get(2) {
        Some(_) => Err(call.error_at(2, "a hint belongs to a copy of global memory")),
        None => Ok(Value::Unit),
    }
}

fn load(b: &mut Builder, tensor: &Tensor, fragment: &Fragment) -> Result<()> {
    if tensor.element == fragment.element && matrix::copy(b, Direction::Load, tensor, fragment)? {
        return Ok(());
    }
    let mut memory = Memory::shared(b, tensor, fragment)?;
    move_all(b, Direction::Load, &mut memory, fragment)
}

fn store(b: &mut Builder, fragment: &Fragment, tensor: &Tensor) -> Result<()> {
    if tensor.element == fragment.element && matrix::copy(b, Direction::Store, tensor, fragment)? {
        return Ok(());
    }
    let mut memory = Memory::shared(b, tensor, fragment)?;
    move_all(b, Direction::Store, &mut memory, fragment)
}

/// Copies a tile of global memory whose elements are all inside of the tensor.
fn copy_global(
    b: &mut Builder,
    call: &Call,
    direction: Direction,
    tile: &Value,
    fragment: &Fragment,
) -> Result<Value> {
    let Value::Global(global) = tile else {
        return Ok(Value::Unit);
    };
    let part = Part::new(b, global, hint(call, 2)?, fragment)?;
    if part.inside(b).may_end() {
        unproven(b, global);
    }
    if direction == Direction::Store {
        writes(b, tile);
    }
    move_all(b, direction, &mut Memory::Global(part), fragment)?;
    Ok(Value::Unit)
}

/// Moves all values by the widest vectors.
fn move_all(
    b: &mut Builder,
    direction: Direction,
    memory: &mut Memory,
    fragment: &Fragment,
) -> Result<()> {
    let vectors = vectorise(memory.lanes(b), &memory.places());
    let always = |_: &mut Builder, _| Ok(Condition::default());
    registers::transfer(b, direction, memory, fragment, &vectors, always)
}
