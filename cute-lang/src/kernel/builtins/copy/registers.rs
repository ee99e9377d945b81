//! The registers of a fragment, moved to and from memory vector by vector.

use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::memory::Memory;
use crate::kernel::builtins::copy::pack::pack;
use crate::kernel::builtins::copy::vector::{Condition, load, store};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Scalar, packing, word_type};
use std::collections::BTreeMap;
use syn::Result;

/// Moves each vector under the condition of its first value. The values of a vector are consecutive in memory.
pub(super) fn transfer(
    b: &mut Builder,
    direction: Direction,
    memory: &mut Memory,
    fragment: &Fragment,
    vectors: &[Vec<usize>],
    condition: impl FnMut(&mut Builder, usize) -> Result<Condition>,
) -> Result<()> {
    match direction {
        Direction::Load => load_all(b, memory, fragment, vectors, condition),
        Direction::Store => store_all(b, memory, fragment, vectors, condition),
    }
}

fn load_all(
    b: &mut Builder,
    memory: &mut Memory,
    fragment: &Fragment,
    vectors: &[Vec<usize>],
    mut condition: impl FnMut(&mut Builder, usize) -> Result<Condition>,
) -> Result<()> {
    // For elements of 8 and 16 bits that are loaded in another order than the fragment's: for each register and part, the loaded register
    // and its part.
    let mut loaded: BTreeMap<usize, BTreeMap<usize, (Scalar, usize)>> = BTreeMap::new();
    let (packing, width) = (packing(fragment.element), width(b, fragment)?);
    for vector in vectors {
        let mut words = Vec::new();
        for values in vector.chunks(packing) {
            let word = fragment.whole_register(values).unwrap_or_else(|| {
                let word = b.cell(word_type(fragment.element));
                for (part, &value) in values.iter().enumerate() {
                    let slot = fragment.values[value].slot;
                    let parts = loaded.entry(slot / packing).or_default();
                    parts.insert(slot % packing, (word.clone(), part));
                }
                word
            });
            words.push(word);
        }
        let condition = condition(b, vector[0])?;
        let at = (memory.options(), memory.operand(b, vector[0])?);
        load(b, at, &words, vector.len() as i64 * width, &condition);
    }
    for (register, mut parts) in loaded {
        let register = fragment.registers[register].clone();
        // Parts that were not loaded keep their values.
        let parts: Vec<_> = (0..packing)
            .map(|place| {
                parts
                    .remove(&place)
                    .unwrap_or_else(|| (register.clone(), place))
            })
            .collect();
        pack(b, &register, &parts, width as usize);
    }
    Ok(())
}

fn store_all(
    b: &mut Builder,
    memory: &mut Memory,
    fragment: &Fragment,
    vectors: &[Vec<usize>],
    mut condition: impl FnMut(&mut Builder, usize) -> Result<Condition>,
) -> Result<()> {
    let width = width(b, fragment)?;
    for vector in vectors {
        let mut words = Vec::new();
        for values in vector.chunks(packing(fragment.element)) {
            words.push(match fragment.whole_register(values) {
                Some(register) => register,
                None => {
                    let parts: Vec<_> = values.iter().map(|&value| fragment.part(value)).collect();
                    let word = b.register(word_type(fragment.element));
                    pack(b, &word, &parts, width as usize);
                    word
                }
            });
        }
        let condition = condition(b, vector[0])?;
        let at = (memory.options(), memory.operand(b, vector[0])?);
        store(b, at, &words, vector.len() as i64 * width, &condition);
    }
    Ok(())
}

/// Bytes of an element.
fn width(b: &Builder, fragment: &Fragment) -> Result<i64> {
    b.whole(fragment.element.bytes()).map(i64::from)
}
