//! Instructions.

use super::claims::Claims;
use super::{Operand, Register};
use cute_ptx::ast::Place;
use cute_ptx::table::{Effect, Mnemonic};

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The predicate under which it executes; `None` if it always does.
    pub guard: Option<Guard>,
    /// The mnemonic.
    pub mnemonic: Mnemonic,
    /// The operands, in the order of the text.
    pub operands: Vec<Operand>,
    /// The place in the source.
    pub place: Option<Place>,
    /// What is at its addresses, and which threads execute it.
    pub claims: Option<Claims>,
    /// The number of the operation that it belongs to, if threads must execute it together. The number stays if the instruction is moved.
    pub origin: Option<u32>,
}

/// The guard of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// Whether it is `@!%p` rather than `@%p`.
    pub negated: bool,
    /// The predicate.
    pub predicate: Register,
}

impl Inst {
    /// An instruction without guard, place, claims and origin.
    pub fn new(mnemonic: Mnemonic, operands: impl IntoIterator<Item = Operand>) -> Self {
        Self {
            guard: None,
            mnemonic,
            operands: operands.into_iter().collect(),
            place: None,
            claims: None,
            origin: None,
        }
    }

    /// The effect besides writing its destinations.
    pub fn effect(&self) -> Effect {
        self.mnemonic.effect()
    }

    /// The operands that it writes.
    pub fn destinations(&self) -> impl Iterator<Item = &Operand> {
        let operands = self.operands.iter().enumerate();
        let written = operands.filter(|(at, _)| self.mnemonic.writes(*at));
        written.map(|(_, operand)| operand)
    }

    /// The operands that it reads. The guard is none of them.
    pub fn sources(&self) -> impl Iterator<Item = &Operand> {
        let operands = self.operands.iter().enumerate();
        let read = operands.filter(|(at, _)| !self.mnemonic.writes(*at));
        read.map(|(_, operand)| operand)
    }

    /// Calls `f` with every register that it writes.
    pub fn for_each_written(&self, f: &mut impl FnMut(Register)) {
        self.destinations().for_each(|it| it.for_each_register(f));
    }

    /// Calls `f` with every register that it reads, also with its guard's.
    pub fn for_each_read(&self, f: &mut impl FnMut(Register)) {
        if let Some(guard) = &self.guard {
            f(guard.predicate);
        }
        self.sources().for_each(|it| it.for_each_register(f));
    }
}

#[cfg(test)]
impl Inst {
    /// An instruction of a test, by its mnemonic.
    pub(crate) fn of(mnemonic: &str, operands: impl IntoIterator<Item = Operand>) -> Self {
        Self::new(mnemonic.parse().expect("a mnemonic"), operands)
    }
}
