//! How instructions use the values that they read.

use crate::op::{Op, Space, Uses, Values};
use cute_ptx::ast::Inst;
use cute_ptx::table::Opcode;

pub(super) fn of(inst: &Inst, op: &Op) -> Values {
    match (inst.mnemonic.opcode(), op) {
        (Opcode::Mov | Opcode::Prmt, _) => Values::Moved,
        (Opcode::And | Opcode::Or, Op::Compute(_)) => Values::Bitwise,
        (Opcode::Selp, Op::Compute(_)) => Values::Selected,
        (_, Op::Shuffle(_)) => Values::Exchanged,
        (_, Op::Compute(compute)) if compute.divides.is_none() => Values::Computed,
        (_, Op::Extended { writes: false, .. }) => Values::Computed,
        (_, Op::Compare(_) | Op::Pack { .. } | Op::Unpack { .. }) => Values::Computed,
        (_, Op::Store { access, .. }) if access.space == Space::Local => Values::Stored,
        _ => Values::Used,
    }
}

/// The uses of an operation that precedes an instruction, such as the negation of a predicate.
pub(super) fn of_preceding(op: &Op) -> Option<Uses> {
    match op {
        Op::Compute(compute) => Some(Uses {
            reads: [compute.src[0]].into(),
            writes: [compute.dst].into(),
            values: Values::Moved,
        }),
        _ => None,
    }
}
