//! Copies between registers and memory, by the widest vectors that both sides allow.

mod direction;
mod edge;
mod fill;
mod matrix;
mod memory;
pub(super) mod pack;
mod partition;
mod registers;
#[cfg(test)]
mod tests;
mod vector;

use crate::kernel::access::element::writes;
use crate::kernel::access::global::unproven;
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::edge::{copy_inside, copy_or};
use crate::kernel::builtins::copy::memory::Memory;
use crate::kernel::builtins::copy::registers::Condition;
use crate::kernel::builtins::copy::vector::vectorise;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Tensor, Value};
use syn::Result;

pub(crate) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "copy(source, destination)",
        apply: copy,
    },
    Builtin {
        signature: "copy_or(source, destination, fill)",
        apply: copy_or,
    },
    Builtin {
        signature: "copy_inside(source, destination)",
        apply: copy_inside,
    },
];

pub(super) fn copy(b: &mut Builder, call: &Call) -> Result<Value> {
    b.set_place(call.span);
    let (source, destination) = (&call.args[0].value, &call.args[1].value);
    match (source, destination) {
        (Value::Tensor(tensor), Value::Fragment(fragment)) => load(b, tensor, fragment)?,
        (Value::Fragment(fragment), Value::Tensor(tensor)) => store(b, fragment, tensor)?,
        (Value::Global(_), Value::Fragment(fragment)) => {
            copy_global(b, Direction::Load, source, fragment)?;
        }
        (Value::Fragment(fragment), Value::Global(_)) => {
            copy_global(b, Direction::Store, destination, fragment)?;
        }
        (Value::Fragment(from), Value::Fragment(to)) => to.assign(b, from)?,
        (Value::Tensor(_) | Value::Global(_), _) => return Err(call.mismatch(1, "a fragment")),
        (Value::Fragment(_), _) => return Err(call.mismatch(1, "a tensor or a fragment")),
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    }
    Ok(Value::Unit)
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
    direction: Direction,
    tile: &Value,
    fragment: &Fragment,
) -> Result<()> {
    let Value::Global(global) = tile else {
        return Ok(());
    };
    let mut memory = Memory::global(b, global, fragment)?;
    if memory.inside(b)?.is_some_and(|inside| inside.may_end()) {
        unproven(b, global);
    }
    if direction == Direction::Store {
        writes(b, tile);
    }
    move_all(b, direction, &mut memory, fragment)
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
