//! From the syntax tree to [`Code`]: names become rows of the register file, labels become indices of instructions, and the
//! mnemonic of each instruction becomes an [`Op`]. The module has been validated, so the only errors are about what is not
//! modelled and about limits.

mod arithmetic;
mod asynchronous;
mod bindings;
mod instruction;
mod memory;
mod operands;
mod product;
mod registers;
mod scope;
mod threads;
mod unsupported;
mod unwritten;

pub(crate) use scope::{Scope, module_scope, param_layout};
pub(crate) use unsupported::Unsupported;

use crate::limits::{Limits, hold};
use crate::op::{Code, Convergence, Instruction, MatrixA, Op, Reg};
use crate::source::Place;
use bindings::Bindings;
use cute_ptx::ast::{Entry, Inst, Line, Operand};
use cute_ptx::table::{Opcode, Together};
use operands::{Arg, Result};
use registers::Registers;
use scope::Addresses;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use unwritten::Uses;

/// Decodes an entry. `lines` holds, for each line of the entry's body, its line in the text.
pub(crate) fn decode(
    scope: &Scope<'_>,
    entry: &Entry,
    lines: &[u32],
    limits: &Limits,
) -> std::result::Result<Code, Unsupported> {
    let addresses = Addresses::new(entry, scope).map_err(|message| Unsupported {
        line: 0,
        text: format!(".entry {}", entry.name),
        message,
    })?;
    let place = |index: usize, message: String| Unsupported {
        line: lines.get(index).copied().unwrap_or(0),
        text: entry
            .body
            .get(index)
            .map(|line| line.to_string().trim().to_owned())
            .unwrap_or_default(),
        message,
    };
    let mut decoder = Decoder {
        scope,
        registers: Registers::new(addresses),
        labels: HashMap::new(),
        branches: Vec::new(),
        instructions: Vec::new(),
        uses: Vec::new(),
        matrix_registers: HashSet::new(),
        line: 0,
        place: None,
    };
    // All declarations come first, since the address of dynamic shared memory depends on them: it begins after the static
    // part.
    for (index, line) in entry.body.iter().enumerate() {
        decoder
            .declaration(line)
            .map_err(|message| place(index, message))?;
    }
    for (index, line) in entry.body.iter().enumerate() {
        decoder.line = lines.get(index).copied().unwrap_or(0);
        decoder
            .code(line)
            .and_then(|()| decoder.check_limits(limits))
            .map_err(|message| place(index, message))?;
    }
    Ok(decoder.finish(entry))
}

struct Decoder<'a, 's> {
    scope: &'s Scope<'s>,
    registers: Registers<'a, 's>,
    labels: HashMap<&'a str, usize>,
    /// The index of each branch and its label. The targets are filled in when all labels are known.
    branches: Vec<(usize, &'a str)>,
    instructions: Vec<Instruction>,
    /// For each instruction, the registers that it names.
    uses: Vec<Uses>,
    /// Rows that some wgmma of the entry uses as D or A.
    matrix_registers: HashSet<Reg>,
    /// The line of the text that is being decoded.
    line: u32,
    /// Where the instruction that is being decoded comes from.
    place: Option<Arc<Place>>,
}

impl<'a> Decoder<'a, '_> {
    fn declaration(&mut self, line: &'a Line) -> Result<()> {
        match line {
            Line::Registers { ty, prefix, count } => {
                self.registers.declare_family(prefix, *count, *ty);
            }
            Line::Register { ty, name } => self.registers.declare(name, *ty),
            Line::Variable(variable) => self.registers.addresses.place(variable)?,
            Line::Blank | Line::Comment(_) | Line::Label(_) | Line::Inst(_) => {}
        }
        Ok(())
    }

    fn code(&mut self, line: &'a Line) -> Result<()> {
        match line {
            Line::Label(name) => {
                self.labels.insert(name, self.instructions.len());
            }
            Line::Inst(inst) => {
                self.place = self.scope.source(inst.place);
                self.instruction(inst)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn check_limits(&self, limits: &Limits) -> Result<()> {
        hold(
            "instructions of the entry",
            self.instructions.len() as u64,
            limits.most_instructions(),
        )
        .and_then(|()| {
            hold(
                "registers, constants included,",
                self.registers.names.len() as u64,
                limits.registers,
            )
        })
        .map_err(|error| error.to_string())
    }

    fn instruction(&mut self, inst: &'a Inst) -> Result<()> {
        let guard = match &inst.guard {
            Some(guard) => Some((self.registers.register(&guard.predicate)?, guard.negated)),
            None => None,
        };
        let slots = inst
            .slots()
            .ok_or("the instruction does not take these operands")?;
        let args = slots
            .into_iter()
            .map(|(operand, kind)| self.registers.arg(operand, kind));
        let mut args: Vec<Arg> = args.collect::<Result<_>>()?;
        let bindings = Bindings::new(inst.mnemonic);
        // A cache policy is the last operand and changes no result.
        if bindings.get("hint").is_some() {
            args.pop();
        }
        let convergence = convergence(inst, &args)?;
        let op = instruction::operation(&mut self.registers, inst, &bindings, args)?;
        bindings.finish()?;
        let text = inst_text(inst);
        for op in self.registers.take_preceding() {
            self.push(None, op, Convergence::No, text.clone());
        }
        if let (Op::Branch { .. }, [Operand::Name(label)]) = (&op, &inst.operands[..]) {
            self.branches.push((self.instructions.len(), label));
        }
        if let Op::Wgmma(wgmma) = &op {
            self.matrix_registers.extend(wgmma.d.iter());
            if let MatrixA::Registers(a) = &wgmma.a {
                self.matrix_registers.extend(a);
            }
        }
        self.push(guard, op, convergence, text);
        let mut rows = Vec::new();
        for operand in &inst.operands {
            self.registers.rows_of(operand, &mut rows);
        }
        if let Some(last) = self.instructions.last_mut() {
            last.matrix_registers = rows.into();
        }
        if let Some(last) = self.uses.last_mut() {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            // Moving bits uses none: a register of which one half is written is packed anew with its other half.
            if !matches!(inst.mnemonic.opcode(), Opcode::Mov | Opcode::Prmt) {
                inst.for_each_source(&mut |name| reads.push(name));
            }
            inst.for_each_written(&mut |name| writes.push(name));
            last.reads = self.registers.declared_rows(reads.into_iter());
            last.writes = self.registers.declared_rows(writes.into_iter());
        }
        Ok(())
    }

    fn push(&mut self, guard: Option<(Reg, bool)>, op: Op, convergence: Convergence, text: String) {
        self.instructions.push(Instruction {
            guard,
            op,
            convergence,
            matrix_registers: Box::default(),
            followed: None,
            line: self.line,
            place: self.place.clone(),
            text,
        });
        self.uses.push(Uses::default());
    }

    fn finish(mut self, entry: &Entry) -> Code {
        for (instruction, label) in &self.branches {
            if let Op::Branch { target } = &mut self.instructions[*instruction].op {
                // Validation has checked that the label exists.
                *target = self.labels.get(label).copied().unwrap_or(*instruction);
            }
        }
        // A thread that reaches the end of the body, or branches to a label there, ends.
        self.line = self.instructions.last().map_or(0, |last| last.line);
        self.push(None, Op::Exit, Convergence::No, "}".to_owned());
        for instruction in &mut self.instructions {
            let rows = instruction.matrix_registers.iter().copied();
            instruction.matrix_registers = rows
                .filter(|row| self.matrix_registers.contains(row))
                .collect();
        }
        let registers = self.registers;
        unwritten::follow(&mut self.instructions, &self.uses, registers.names.len());
        Code {
            name: entry.name.clone(),
            instructions: self.instructions,
            registers: registers.names,
            constants: registers
                .constants
                .into_iter()
                .map(|(value, row)| (row, value))
                .collect(),
            specials: registers.specials,
            static_shared: registers.addresses.static_shared(),
            tensors: self.scope.tensors.clone(),
            dynamic_shared: registers.addresses.dynamic_shared(),
            param_offsets: registers.addresses.param_offsets,
            param_bytes: registers.addresses.param_bytes,
        }
    }
}

/// Which lanes must have reached the instruction before it executes.
fn convergence(inst: &Inst, args: &[Arg]) -> Result<Convergence> {
    Ok(match (inst.mnemonic.together(), args.last()) {
        (Together::Members, Some(Arg::Row(members))) => Convergence::Members(*members),
        (Together::Members, _) => return Err("the member mask is missing".to_owned()),
        (Together::Warp, _) => Convergence::Warp,
        // `barrier.sync` without `.aligned` does not require it, but the emulator's barriers count whole warps.
        (Together::No, _) => match inst.mnemonic.opcode() {
            Opcode::BarrierSync | Opcode::BarrierArrive => Convergence::Warp,
            _ => Convergence::No,
        },
    })
}

/// Messages quote at most this many characters of an instruction.
const QUOTED: usize = 120;

/// The instruction on one line, without its comment, cut to [`QUOTED`] characters.
fn inst_text(inst: &Inst) -> String {
    let text = inst.to_string();
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
