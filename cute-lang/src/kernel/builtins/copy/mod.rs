//! Copies between registers and shared memory, by the widest vectors that both sides allow.

mod direction;
mod matrix;
pub(super) mod pack;
mod partition;
#[cfg(test)]
mod tests;
mod vector;

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::pack::pack;
use crate::kernel::builtins::copy::partition::partition;
use crate::kernel::builtins::copy::vector::{Vector, transfer, vectorise};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Scalar, Tensor, Value, packing, word_type};
use std::collections::BTreeMap;
use syn::Result;

pub(crate) const ROWS: &[Builtin] = &[Builtin {
    signature: "copy(source, destination)",
    apply: copy,
}];

pub(super) fn copy(b: &mut Builder, call: &Call) -> Result<Value> {
    b.set_place(call.span);
    match (&call.args[0].value, &call.args[1].value) {
        (Value::Tensor(tensor), Value::Fragment(fragment)) => load(b, tensor, fragment)?,
        (Value::Fragment(fragment), Value::Tensor(tensor)) => store(b, fragment, tensor)?,
        (Value::Fragment(from), Value::Fragment(to)) => to.assign(b, from)?,
        (Value::Tensor(_), _) => return Err(call.mismatch(1, "a fragment")),
        (Value::Fragment(_), _) => {
            return Err(call.mismatch(1, "a tensor in shared memory or a fragment"));
        }
        _ => return Err(call.mismatch(0, "a tensor in shared memory or a fragment")),
    }
    Ok(Value::Unit)
}

fn load(b: &mut Builder, tensor: &Tensor, fragment: &Fragment) -> Result<()> {
    if tensor.element == fragment.element && matrix::copy(b, Direction::Load, tensor, fragment)? {
        return Ok(());
    }
    let Access { tensor, vectors } = access(b, tensor, fragment)?;
    let mut addresses = tensor.addresses();
    // For elements of 8 and 16 bits that are loaded in another order than the fragment's: by register and part, the
    // loaded register and its part.
    let mut loaded: BTreeMap<usize, BTreeMap<usize, (Scalar, usize)>> = BTreeMap::new();
    for vector in &vectors {
        let mut words = Vec::new();
        for values in vector.values.chunks(packing(fragment.element)) {
            match fragment.whole_register(values) {
                Some(register) => words.push(register),
                None => {
                    let word = b.register(word_type(fragment.element));
                    for (part, &value) in values.iter().enumerate() {
                        let slot = fragment.values[value].slot;
                        let (register, place) = (
                            slot / packing(fragment.element),
                            slot % packing(fragment.element),
                        );
                        loaded
                            .entry(register)
                            .or_default()
                            .insert(place, (word.clone(), part));
                    }
                    words.push(word);
                }
            }
        }
        let address = addresses.operand(b, tensor.byte(vector.index))?;
        let bytes = vector.values.len() as i64 * tensor.width();
        transfer(b, Direction::Load, &words, address, bytes);
    }
    for (register, mut parts) in loaded {
        let register = fragment.registers[register].clone();
        // Parts that were not loaded keep their values.
        let parts: Vec<_> = (0..packing(fragment.element))
            .map(|place| {
                parts
                    .remove(&place)
                    .unwrap_or_else(|| (register.clone(), place))
            })
            .collect();
        pack(b, &register, &parts, tensor.element.bytes() as usize);
    }
    Ok(())
}

fn store(b: &mut Builder, fragment: &Fragment, tensor: &Tensor) -> Result<()> {
    if tensor.element == fragment.element && matrix::copy(b, Direction::Store, tensor, fragment)? {
        return Ok(());
    }
    let Access { tensor, vectors } = access(b, tensor, fragment)?;
    let mut addresses = tensor.addresses();
    for vector in &vectors {
        let mut words = Vec::new();
        for values in vector.values.chunks(packing(fragment.element)) {
            words.push(match fragment.whole_register(values) {
                Some(register) => register,
                None => {
                    let parts: Vec<_> = values.iter().map(|&value| fragment.part(value)).collect();
                    let word = b.register(word_type(fragment.element));
                    pack(b, &word, &parts, fragment.element.bytes() as usize);
                    word
                }
            });
        }
        let address = addresses.operand(b, tensor.byte(vector.index))?;
        let bytes = vector.values.len() as i64 * tensor.width();
        transfer(b, Direction::Store, &words, address, bytes);
    }
    Ok(())
}

/// The accesses that copy between a fragment and the thread's part of a tensor.
struct Access {
    tensor: Tensor,
    vectors: Vec<Vector>,
}

fn access(b: &mut Builder, tensor: &Tensor, fragment: &Fragment) -> Result<Access> {
    if tensor.element != fragment.element {
        let (tensor, fragment) = (tensor.element, fragment.element);
        return Err(b.error(format!(
            "the tensor has elements of `{tensor}`, but the fragment has elements of `{fragment}`: convert the fragment"
        )));
    }
    let (tensor, indices) = match &fragment.tile {
        None => {
            let (size, values) = (tensor.layout.layout().size(), fragment.values.len());
            if size != values as i64 {
                return Err(b.error(format!(
                    "the tensor has {size} elements, but the fragment has {values}"
                )));
            }
            (tensor.clone(), tensor.layout.layout().values().collect())
        }
        Some(_) => partition(b, tensor, fragment)?,
    };
    let vectors = vectorise(b, &tensor, &indices);
    Ok(Access { tensor, vectors })
}
