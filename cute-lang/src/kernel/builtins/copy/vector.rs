//! Vectors: consecutive values in memory that one instruction moves.

use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::Scalar;
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};

/// Groups the values into the widest vectors of at most `lanes` values, each at a multiple of its length: for each vector the
/// values in the order of their addresses.
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

/// Moves `bytes` bytes between registers and memory.
pub(super) fn access(
    b: &mut Builder,
    direction: Direction,
    space: Modifier,
    words: &[Scalar],
    address: Operand,
    bytes: i64,
) {
    let register = match words {
        [word] => word.operand(),
        words => Operand::Vector(words.iter().map(Scalar::operand).collect()),
    };
    let vector = match words.len() {
        1 => None,
        count => Some(Modifier::Vector(count as u8)),
    };
    // A single element of 8 or 16 bits lies in the low part of its register.
    let ty = match bytes {
        1 => Type::B8,
        2 => Type::B16,
        _ => words[0].ty,
    };
    let modifiers = (space, vector, ty);
    match direction {
        Direction::Load if bytes >= 4 => b.emit(Opcode::Ld, modifiers, [register, address]),
        Direction::Load => {
            let narrow = b.compute(Type::U16, Opcode::Ld, modifiers, [address]);
            b.emit(
                Opcode::Cvt,
                (Type::U32, Type::U16),
                [register, narrow.operand()],
            );
        }
        Direction::Store if bytes >= 4 => b.emit(Opcode::St, modifiers, [address, register]),
        Direction::Store => {
            let narrow = b.compute(Type::U16, Opcode::Cvt, (Type::U16, Type::U32), [register]);
            b.emit(Opcode::St, modifiers, [address, narrow.operand()]);
        }
    }
}
