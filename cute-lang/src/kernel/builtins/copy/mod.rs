//! Copies between registers and memory, by the widest vectors that both sides allow.

mod asynchronous;
mod bulk;
mod direction;
mod edge;
mod fill;
mod matrix;
mod memory;
mod moved;
mod options;
mod outside;
pub(super) mod pack;
mod part;
mod partition;
pub(super) mod reduction;
mod registers;
#[cfg(test)]
mod tests;
mod vector;

use crate::kernel::access::element::writes;
use crate::kernel::access::global::{COPY_INSIDE, COPY_OR, require};
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::builtins::copy::asynchronous::copy_async;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::edge::{copy_inside, copy_or};
use crate::kernel::builtins::copy::memory::Memory;
use crate::kernel::builtins::copy::options::options;
use crate::kernel::builtins::copy::part::{Part, known_tile};
use crate::kernel::builtins::copy::vector::{Condition, vectorise};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Global, Tensor, Value};
use cute_chip::registers::MAX;
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
        signature: "copy_async(source, destination, [by], [ctas])",
        apply: copy_async,
    },
    Builtin {
        signature: "copy_async_at(source, destination, barrier, cta)",
        apply: bulk::copy_async_at,
    },
    Builtin {
        signature: "reduce_async(source, destination, operation)",
        apply: bulk::reduce_async,
    },
    Builtin {
        signature: "prefetch(source)",
        apply: bulk::prefetch,
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
    let has_global = match (source, destination) {
        (Value::Fragment(from), Value::Fragment(to)) => {
            to.assign(b, from)?;
            false
        }
        (_, Value::Fragment(fragment)) => from_memory(b, call, fragment)?,
        (Value::Fragment(fragment), _) => to_memory(b, call, fragment)?,
        _ => {
            let registers = registers_of(b, call)?;
            from_memory(b, call, &registers)? | to_memory(b, call, &registers)?
        }
    };
    match call.args.get(2) {
        Some(_) if !has_global => {
            Err(call.error_at(2, "a hint belongs to a copy of global memory"))
        }
        _ => Ok(Value::Unit),
    }
}

/// Loads the source. Returns whether it is global memory.
fn from_memory(b: &mut Builder, call: &Call, fragment: &Fragment) -> Result<bool> {
    match &call.args[0].value {
        Value::Tensor(tensor) => load(b, tensor, fragment)?,
        Value::Global(tile) => copy_global(b, call, Direction::Load, tile, fragment)?,
        Value::Algebra(cute_algebra::Value::Word(_)) => {
            return Err(call.error_at(
                0,
                "`copy` takes source and destination alone: the instruction follows from their layouts",
            ));
        }
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    }
    Ok(matches!(call.args[0].value, Value::Global(_)))
}

/// Stores to the destination. Returns whether it is global memory.
fn to_memory(b: &mut Builder, call: &Call, fragment: &Fragment) -> Result<bool> {
    match &call.args[1].value {
        Value::Tensor(tensor) => store(b, fragment, tensor)?,
        Value::Global(tile) => {
            copy_global(b, call, Direction::Store, tile, fragment)?;
            writes(b, &call.args[1].value);
        }
        _ => return Err(call.mismatch(1, "a tensor or a fragment")),
    }
    Ok(matches!(call.args[1].value, Value::Global(_)))
}

/// Fresh registers of one thread for the elements of the source.
fn registers_of(b: &mut Builder, call: &Call) -> Result<Fragment> {
    let (element, layout) = match &call.args[0].value {
        Value::Tensor(tensor) => (tensor.element, tensor.layout.layout()),
        Value::Global(tile) => (tile.element, known_tile(b, tile)?),
        Value::Algebra(cute_algebra::Value::Word(_)) => {
            return Err(call.error_at(
                0,
                "`copy` takes source and destination alone: the instruction follows from their layouts",
            ));
        }
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    };
    let (count, bits) = (i128::from(layout.size()), i128::from(element.bits()));
    if count * bits > i128::from(MAX) * 32 {
        let message = format!(
            "each thread copies all {count} elements by way of registers, and it has {MAX}: copy its part, such as a `local_partition`"
        );
        return Err(call.error_at(0, message));
    }
    Ok(Fragment::of_one_thread(element, layout).like(b, element))
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

/// Copies a tile of global memory with all elements inside of the tensor.
fn copy_global(
    b: &mut Builder,
    call: &Call,
    direction: Direction,
    tile: &Global,
    fragment: &Fragment,
) -> Result<()> {
    let options = options(call, 2, direction)?;
    let part = Part::new(b, tile, fragment)?.with(options);
    let inside = part.inside(b);
    let instead = match direction {
        Direction::Load => COPY_OR,
        Direction::Store => COPY_INSIDE,
    };
    require(b, inside, Some(instead))?;
    move_all(b, direction, &mut Memory::Global(part), fragment)
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
