//! Reads of registers of fragments before any write. They give garbage.
//!
//! Lines are checked in textual order. Outside of loops, a register that no earlier line has written holds garbage. In a loop, a later line
//! may have written it in the previous iteration, so a read is wrong only if no line ever writes the register except from itself.

use crate::kernel::ir::{Inst, Operand, Register};
use cute_ptx::table::Opcode;
use proc_macro2::Span;
use std::collections::{BTreeMap, BTreeSet};
use syn::Error;

const MESSAGE: &str =
    "this reads registers of a fragment that nothing has written: `fill` it before";

/// The registers that nothing has written yet.
#[derive(Default)]
pub struct Unwritten {
    registers: BTreeSet<Register>,
    /// Reads of garbage.
    errors: Vec<Error>,
    /// For each register, a read in a loop that reads garbage if nothing ever writes the register.
    suspects: BTreeMap<Register, Span>,
}

impl Unwritten {
    /// Adds a register.
    pub fn add(&mut self, register: Register) {
        self.registers.insert(register);
    }

    /// Whether it is such a register.
    pub fn has(&self, operand: &Operand) -> bool {
        operand
            .register()
            .is_some_and(|it| self.registers.contains(&it))
    }

    /// Notes that a register is written.
    pub fn write(&mut self, register: Register) {
        self.registers.remove(&register);
        self.suspects.remove(&register);
    }

    /// Checks an appended instruction, in a loop or not.
    pub fn look(&mut self, inst: &Inst, place: Span, in_loop: bool) {
        if self.registers.is_empty() {
            return;
        }
        let (mut garbage, mut reads) = (BTreeSet::new(), 0);
        inst.for_each_read(&mut |register| {
            reads += 1;
            if self.registers.contains(&register) {
                garbage.insert(register);
            }
        });
        let mut written = Vec::new();
        // `accumulate` and `write` handle a product, which may or may not read its accumulator.
        if inst.mnemonic.opcode() != Opcode::WgmmaMmaAsync {
            inst.for_each_written(&mut |register| written.push(register));
        }
        if matches!(inst.mnemonic.opcode(), Opcode::Mov | Opcode::Prmt) {
            // Moves of garbage are not wrong: a write of one half of a register moves the other.
            let all = reads > 0 && garbage.len() == reads;
            for register in written {
                match all {
                    true => self.add(register),
                    false => self.write(register),
                }
            }
            return;
        }
        for register in written {
            if !garbage.contains(&register) {
                self.write(register);
            }
        }
        self.read(garbage, place, in_loop);
    }

    /// Checks a product that is added to registers, in a loop or not.
    pub fn accumulate(
        &mut self,
        registers: impl Iterator<Item = Register>,
        place: Span,
        in_loop: bool,
    ) {
        let garbage = registers.filter(|register| self.registers.contains(register));
        let garbage = garbage.collect();
        self.read(garbage, place, in_loop);
    }

    fn read(&mut self, garbage: BTreeSet<Register>, place: Span, in_loop: bool) {
        if in_loop {
            for register in garbage {
                self.suspects.entry(register).or_insert(place);
            }
        } else if !garbage.is_empty() {
            self.errors.push(Error::new(place, MESSAGE));
            garbage.into_iter().for_each(|it| self.write(it));
        }
    }

    /// The reads of garbage, as one error.
    pub fn check(mut self) -> Result<(), Error> {
        if let Some(place) = self.suspects.into_values().next() {
            self.errors.push(Error::new(place, MESSAGE));
        }
        let all = self.errors.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        all.map_or(Ok(()), Err)
    }
}
