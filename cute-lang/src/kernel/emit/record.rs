//! The records of reports in memory of the host.
//!
//! A kernel that reports has the address of a buffer as its last parameter. The first words of the buffer are the number of words reserved
//! by records, the number of words up to its end, and the number of records without room. Records follow: a word with `MARK` and the number
//! of the report, the CTA's three indices in the grid, the thread's index in its CTA, and the values from the low word to the high one. The
//! texts between the values are in a table of the host, not in the kernel.
//!
//! A kernel reports by records in host memory, which can be read after a trap, when the driver refuses every call. The texts are a
//! constant of the expanded type; a record has the number of the statement and the values.

use crate::kernel::emit::builder::{Builder, address_operand, when};
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::report::{Message, PARAMETER, Report};
use crate::kernel::ir::{Line, Operand};
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::special::Register;
use cute_ptx::table::choice::{Accessible, AtomicOp, MembarScope, ReductionOp, Wide};
use cute_ptx::table::op;

/// The upper half of the first word of a record.
const MARK: u32 = 0xc07e << 16;

/// The bytes of the buffer before the records.
const HEADER_BYTES: i128 = 16;

impl Builder {
    /// Ends the kernel with a message unless the predicate holds. From here on, the predicate is known to hold. The instructions for the
    /// values of the message run only if it does not hold.
    pub fn check(&mut self, holds: &Scalar, instructions: Vec<Line>, message: Message) {
        let label = self.label("holds");
        self.branch_if(when(holds), &label);
        self.append(instructions);
        self.report(message, true);
        // The host must see the record, although the kernel ends with it.
        self.emit(op::Membar, MembarScope::Sys, []);
        self.emit(op::Trap, (), []);
        // No thread may go on, whenever the trap takes effect.
        self.emit(op::Exit, (), []);
        self.place_label(&label);
        self.known.assume_checked(holds);
    }

    /// Tells the host a message.
    pub fn print(&mut self, message: Message) {
        self.report(message, false);
    }

    fn report(&mut self, message: Message, fails: bool) {
        let number = self.reports.len() as u32;
        self.reports.push(Report {
            place: self.sites.source().cloned(),
            fails,
            pieces: message.pieces,
        });
        let mut words = vec![Operand::Int((MARK | number).into())];
        for (axis, name) in ["block_x", "block_y", "block_z"].into_iter().enumerate() {
            words.push(self.special(name, Register::Ctaid, axis).operand());
        }
        words.push(self.thread().operand());
        for value in &message.values {
            self.words(value, &mut words);
        }

        let buffer = self.parameter(PARAMETER, PARAMETER, Type::U64, |_, _| {});
        let count = Operand::Int(words.len() as i128);
        let start = [address_operand(&buffer, 0), count.clone()];
        let add = (Accessible::Global, AtomicOp::Add, Type::U32);
        let start = self.compute(Type::U32, op::Atom, add, start);
        let end = [address_operand(&buffer, 4)];
        let end = self.compute(Type::U32, op::Ld, (Accessible::Global, Type::U32), end);
        // The number of reserved words may be near the greatest `u32`, so nothing is added to it.
        let last = self.compute(Type::U32, op::Sub, Type::U32, [end.operand(), count]);
        let full = self.set_predicate(Cmp::Gt, Type::U32, &start.clone().into(), &last.into());
        let (lost, done) = (self.label("lost"), self.label("reported"));
        self.branch_if(when(&full), &lost);
        let record = [start.operand(), Operand::Int(4), buffer.operand()];
        let wide = (Wide, Type::U32);
        let record = self.compute(Type::U64, op::Mad, wide, record);
        for (index, word) in (0..).zip(words) {
            let to = address_operand(&record, HEADER_BYTES as i64 + 4 * index);
            self.emit(op::St, (Accessible::Global, Type::B32), [to, word]);
        }
        self.branch(&done);
        self.place_label(&lost);
        let one = [address_operand(&buffer, 8), Operand::Int(1)];
        let add = (Accessible::Global, ReductionOp::Add, Type::U32);
        self.emit(op::Red, add, one);
        self.place_label(&done);
    }

    /// Appends the value as words of 32 bits, the low one first.
    fn words(&mut self, value: &Scalar, words: &mut Vec<Operand>) {
        let from = value.operand();
        let word = match value.ty.bits() {
            _ if value.ty == Type::Pred => {
                let chosen = [Operand::Int(1), Operand::Int(0), from];
                self.compute(Type::U32, op::Selp, Type::U32, chosen)
            }
            64 => {
                let halves = [self.register(Type::B32), self.register(Type::B32)];
                let vector = Operand::Vector(halves.iter().map(Scalar::operand).collect());
                self.emit(op::Mov, Type::B64, [vector, from]);
                words.extend(halves.iter().map(Scalar::operand));
                return;
            }
            32 => return words.push(from),
            _ => self.compute(Type::U32, op::Cvt, (Type::U32, Type::U16), [from]),
        };
        words.push(word.operand());
    }
}
