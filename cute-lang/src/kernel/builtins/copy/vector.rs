//! Vectors: consecutive values in shared memory that one instruction moves.

use crate::kernel::access::address::in_bytes;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Scalar, Tensor};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};

/// One access: values of a fragment that are consecutive in shared memory.
pub(super) struct Vector {
    /// What the layout of the tensor gives for the first value.
    pub(super) index: i64,
    /// The values, in the order of their addresses.
    pub(super) values: Vec<usize>,
}

/// Groups the values into the widest vectors that are aligned for every thread.
pub(super) fn vectorise(b: &Builder, tensor: &Tensor, indices: &[i64]) -> Vec<Vector> {
    let mut order: Vec<usize> = (0..indices.len()).collect();
    order.sort_by_key(|&value| indices[value]);
    // The run-time offset is a multiple of this many bytes.
    let dynamic = 1i64 << b.possible_bits(&tensor.dynamic).trailing_zeros().min(4);
    let swizzle = in_bytes(tensor.layout.swizzle(), tensor.element.bytes());
    let chunk = if swizzle.is_identity() {
        WIDEST
    } else {
        1 << swizzle.base().min(4)
    };
    let mut lanes = WIDEST.min(dynamic).min(chunk) / tensor.width();
    let aligned = |lanes: i64| {
        order.chunks(lanes as usize).all(|chunk| {
            let first = tensor.layout.offset() + indices[chunk[0]];
            chunk.len() as i64 == lanes
                && first % lanes == 0
                && chunk
                    .iter()
                    .zip(indices[chunk[0]]..)
                    .all(|(&value, index)| indices[value] == index)
        })
    };
    while lanes > 1 && !aligned(lanes) {
        lanes /= 2;
    }
    let vector = |chunk: &[usize]| Vector {
        index: indices[chunk[0]],
        values: chunk.to_vec(),
    };
    order.chunks(lanes.max(1) as usize).map(vector).collect()
}

/// Widest access of shared memory, in bytes.
const WIDEST: i64 = cute_hopper::shared::WIDEST_ACCESS as i64;

/// Moves `bytes` bytes between registers and shared memory.
pub(super) fn transfer(
    b: &mut Builder,
    direction: Direction,
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
    let modifiers = (Modifier::Shared, vector, ty);
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
