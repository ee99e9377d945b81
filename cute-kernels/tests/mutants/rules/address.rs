//! Wrong addresses, coordinates, and computations of them.

use cute_ptx::ast::{Inst, Line, Operand, Type};
use cute_ptx::table::{Mnemonic, Modifier, Opcode};

use super::{replaced, with_int, with_offset};
use crate::body::{Body, is_synchronisation};
use crate::mutation::text;

/// The next or the previous element.
pub(super) fn offset(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if is_synchronisation(inst) || inst.mnemonic.get("space") == Some(Modifier::Param) {
        return vec![];
    }
    let bytes = accessed_bytes(inst.mnemonic);
    let addresses = inst.operands.iter().enumerate();
    let addresses = addresses.filter(|(_, it)| matches!(it, Operand::Address { .. }));
    addresses
        .flat_map(|(i, _)| [with_offset(inst, i, bytes), with_offset(inst, i, -bytes)].concat())
        .collect()
}

fn accessed_bytes(mnemonic: Mnemonic) -> i64 {
    let bits = mnemonic
        .modifiers()
        .iter()
        .find_map(|it| it.ty())
        .map_or(128, Type::bits);
    let elements = mnemonic.modifiers().iter().find_map(|it| match it {
        Modifier::Vector(count) => Some(u32::from(*count)),
        _ => None,
    });
    i64::from(bits / 8 * elements.unwrap_or(1)).max(1)
}

/// Coordinates of a box: two in the wrong order, and each one element further.
pub(super) fn coordinates(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let Some(tensor) = inst
        .operands
        .iter()
        .position(|it| matches!(it, Operand::Tensor { .. }))
    else {
        return vec![];
    };
    let Operand::Tensor { map, coords } = &inst.operands[tensor] else {
        return vec![];
    };
    let other = |coords: Vec<Operand>| {
        let map = map.clone();
        vec![replaced(inst, tensor, Operand::Tensor { map, coords })]
    };
    let swaps = (1..coords.len()).map(|i| {
        let mut coords = coords.clone();
        coords.swap(i - 1, i);
        other(coords)
    });
    let further = coords.iter().enumerate().filter_map(|(i, coord)| {
        let Operand::Int(value) = coord else {
            return None;
        };
        let mut coords = coords.clone();
        coords[i] = Operand::Int(value + 1);
        Some(other(coords))
    });
    let changed = swaps
        .chain(further)
        .filter(|with| text(with) != text(&[Line::Inst(inst.clone())]));
    changed.collect()
}

/// A constant in the computation of an address, or of the extent of a tile with which something is compared.
pub(super) fn computation(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let mut wanted = false;
    let sum = matches!(inst.mnemonic.opcode(), Opcode::Add | Opcode::Sub);
    inst.for_each_written(&mut |name| {
        wanted |= body.addresses.contains(name) || !sum && body.conditions.contains(name);
    });
    match wanted {
        true => other_constants(inst),
        false => vec![],
    }
}

fn other_constants(inst: &Inst) -> Vec<Vec<Line>> {
    let change: fn(i128) -> i128 = match inst.mnemonic.opcode() {
        Opcode::Add | Opcode::Sub => |x| x + 16,
        Opcode::Mul | Opcode::Mad | Opcode::Shl | Opcode::Shr | Opcode::Mov => |x| x + 1,
        Opcode::And => |x| x >> 1,
        Opcode::Or | Opcode::Xor => |x| x ^ 16,
        _ => return vec![],
    };
    (1..inst.operands.len())
        .flat_map(|operand| with_int(inst, operand, change))
        .collect()
}
