//! Vectors: consecutive values in memory for one instruction.

use crate::kernel::builtins::copy::options::Options;
use crate::kernel::emit::builder::{Builder, when};
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Vector;
use cute_ptx::table::op;

/// Widest access in bytes, of shared memory and of global memory.
pub(super) const WIDEST: i64 = cute_chip::shared::WIDEST_ACCESS as i64;

/// Groups the values into the widest vectors of at most `lanes` values, each at a multiple of its length. A vector lists its values in the
/// order of addresses.
pub(super) fn vectorise(lanes: i64, places: &[(Vec<i64>, i64)]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&value| &places[value]);
    let consecutive = |vector: &[usize], lanes: i64| {
        let (row, first) = &places[vector[0]];
        vector.len() as i64 == lanes
            && first % lanes == 0
            && vector
                .iter()
                .zip(*first..)
                .all(|(&value, index)| places[value].0 == *row && places[value].1 == index)
    };
    let mut lanes = lanes.max(1);
    while lanes > 1
        && !order
            .chunks(lanes as usize)
            .all(|vector| consecutive(vector, lanes))
    {
        lanes /= 2;
    }
    order
        .chunks(lanes as usize)
        .map(<[usize]>::to_vec)
        .collect()
}

/// The guard of a vector access.
#[derive(Default)]
pub(super) struct Condition {
    /// The vector is moved where this holds; always if it is none.
    pub(super) predicate: Option<Scalar>,
    /// The value of the registers where the guard does not hold.
    pub(super) fill: Option<Operand>,
}

/// The options of the copy and the address.
type At = (Options, Operand);

/// Loads `bytes` bytes. Where the condition does not hold, the registers get its fill.
pub(super) fn load(
    b: &mut Builder,
    (options, address): At,
    words: &[Scalar],
    bytes: i64,
    Condition { predicate, fill }: &Condition,
) {
    let fill = fill.as_ref().filter(|_| predicate.is_some());
    let guard = predicate.as_ref().map(when);
    if bytes >= 4 {
        for (word, fill) in words.iter().zip(fill.into_iter().cycle()) {
            b.assign(word, fill.clone());
        }
        return b.guarded(guard, |b| {
            let operands = [joined(words), address];
            b.emit(op::Ld, (options.load(), modifiers(words, bytes)), operands);
        });
    }
    let narrow = b.cell(Type::U16);
    match fill {
        Some(fill @ Operand::Register(_)) => {
            let operands = [narrow.operand(), fill.clone()];
            b.emit(op::Cvt, (Type::U16, Type::U32), operands);
        }
        Some(known) => b.assign(&narrow, known.clone()),
        None => {}
    }
    b.guarded(guard, |b| {
        let operands = [narrow.operand(), address];
        b.emit(op::Ld, (options.load(), modifiers(words, bytes)), operands);
    });
    let operands = [joined(words), narrow.operand()];
    b.emit(op::Cvt, (Type::U32, Type::U16), operands);
}

/// Stores `bytes` bytes where the condition holds.
pub(super) fn store(
    b: &mut Builder,
    (options, address): At,
    words: &[Scalar],
    bytes: i64,
    condition: &Condition,
) {
    // A register written under a guard would be live from the start of the loops around it.
    let register = match bytes {
        4.. => joined(words),
        _ => {
            let wide = [joined(words)];
            let narrow = b.compute(Type::U16, op::Cvt, (Type::U16, Type::U32), wide);
            narrow.operand()
        }
    };
    b.guarded(condition.predicate.as_ref().map(when), |b| {
        let operands = [address, register];
        b.emit(op::St, (options.store(), modifiers(words, bytes)), operands);
    });
}

/// The registers as one operand.
fn joined(words: &[Scalar]) -> Operand {
    match words {
        [word] => word.operand(),
        words => Operand::Vector(words.iter().map(Scalar::operand).collect()),
    }
}

/// The modifiers of a load or store of these registers.
fn modifiers(words: &[Scalar], bytes: i64) -> (Option<Vector>, Type) {
    let vector = match words.len() {
        1 => None,
        count => Some(Vector(count as u8)),
    };
    // A single element of 8 or 16 bits lies in the low part of its register.
    let ty = match bytes {
        1 => Type::B8,
        2 => Type::B16,
        _ => words[0].ty,
    };
    (vector, ty)
}
