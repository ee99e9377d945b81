//! Words of threads in several warps, exchanged through shared memory.

use super::digits::Digit;
use crate::kernel::access::address::Addresses;
use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::exchange::Group;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_algebra::{Layout, ScaledBasis, Swizzle, Tuple};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Accessible, Vector};
use cute_ptx::table::op;
use syn::Result;

/// Bytes of a word.
const WORD: i64 = 4;

/// For each word, the words of all threads that differ in the digits of `parts` only, in the order of these digits. `equal` tells of a
/// digit of lanes whether lanes that differ in it have the same words. Argument `barrier` is the number of the barrier.
pub(super) fn exchange(
    b: &mut Builder,
    call: &Call,
    barrier: usize,
    digits: &[Digit],
    parts: &[&Digit],
    equal: impl Fn(&Digit) -> bool,
    words: &[Scalar],
) -> Result<Vec<Vec<Scalar>>> {
    let threads = digits.iter().map(|digit| digit.extent).product();
    let group = Group::new(b, call, threads, barrier)?;
    let is_part = |digit: &Digit| parts.contains(&digit);
    // Words that are read together are contiguous.
    let mut size = 1;
    let own = strides(digits, &mut size, is_part);
    let count = size;
    let place = strides(digits, &mut size, |digit| {
        !(is_part(digit) || digit.is_lane() && equal(digit))
    });
    let bytes = size.saturating_mul(WORD * words.len() as i64);
    let scratch = group.scratch(b, u32::try_from(bytes).unwrap_or(u32::MAX))?;
    let thread = group.thread(b)?;
    let shape: Tuple<i64> = digits.iter().map(|it| Tuple::Leaf(it.extent)).collect();
    let offset = |b: &mut Builder, strides| {
        let layout = Layout::new(shape.clone(), strides);
        let layout = layout.map_err(|error| call.error_at(0, error))?;
        crd2idx(b, &layout, &thread, WORD)
    };
    let (place, own) = (offset(b, place)?, offset(b, own)?);
    let place = b.add(&scratch.offset, &place)?;
    let own = b.add(&place, &own)?;
    let addresses = |offset| Addresses::new(scratch.base.into(), Swizzle::IDENTITY, offset);
    let (mut own, mut place) = (addresses(own), addresses(place));
    let at = |word: usize, part: i64| (word as i64 * size + part) * WORD;
    for (word, value) in words.iter().enumerate() {
        let address = own.operand(b, at(word, 0))?;
        let modifiers = (Accessible::Shared, value.ty);
        b.emit(op::St, modifiers, [address, value.operand()]);
    }
    group.wait(b);
    let mut found = Vec::new();
    for (word, value) in words.iter().enumerate() {
        let address = |b: &mut Builder, part| place.operand(b, at(word, part));
        found.push(load(b, value.ty, count, address)?);
    }
    group.end(b);
    Ok(found)
}

/// Strides of the chosen digits, starting with `size`, which becomes the total size; 0 for the other digits.
pub(super) fn strides(
    digits: &[Digit],
    size: &mut i64,
    chosen: impl Fn(&Digit) -> bool,
) -> Tuple<ScaledBasis> {
    let stride = |digit: &Digit| match chosen(digit) {
        true => {
            let stride = *size;
            *size *= digit.extent;
            Tuple::Leaf(stride.into())
        }
        false => Tuple::Leaf(0.into()),
    };
    digits.iter().map(stride).collect()
}

/// Loads `count` consecutive words by the widest vectors that divide the count.
pub(super) fn load(
    b: &mut Builder,
    ty: Type,
    count: i64,
    mut address: impl FnMut(&mut Builder, i64) -> Result<Operand>,
) -> Result<Vec<Scalar>> {
    let lanes = [4, 2].into_iter().find(|lanes| count % lanes == 0);
    let lanes = lanes.unwrap_or(1);
    let mut found = Vec::new();
    for part in (0..count).step_by(lanes as usize) {
        let address = address(b, part)?;
        let words: Vec<Scalar> = (0..lanes).map(|_| b.register(ty)).collect();
        let operands: Vec<Operand> = words.iter().map(Scalar::operand).collect();
        let (vector, to) = match &operands[..] {
            [word] => (None, word.clone()),
            _ => (Some(Vector(lanes as u8)), Operand::Vector(operands)),
        };
        b.emit(op::Ld, (Accessible::Shared, vector, ty), [to, address]);
        found.extend(words);
    }
    Ok(found)
}
