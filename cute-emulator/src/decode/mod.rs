//! From the syntax tree to [`Code`]: names become rows of the register file, labels become indices of instructions, and the
//! mnemonic of each instruction becomes an [`Op`]. The module has been validated, so the only errors are features that are not
//! modelled, and limits.

mod arithmetic;
mod bindings;
mod bounds;
mod calls;
mod claim;
mod control;
mod copy;
mod flow;
mod instruction;
mod lanes;
mod matrix;
mod memory;
mod operands;
mod registers;
mod scope;
mod synchronisation;
mod unsupported;
mod unwritten;
mod values;

pub(crate) use scope::{MAX_LOCAL_BYTES, Scope, module_scope};
pub(crate) use unsupported::Unsupported;

use crate::claim::{Arguments, Condition, Sum, Ways};
use crate::limits::{Limits, hold};
use crate::op::{
    Address, Code, Convergence, Exchanged, Instruction, MatrixA, Op, Reg, Subroutine, Uses,
};
use crate::source::Place;
use bindings::Bindings;
use cute_ptx::ast::{Entry, Inst, Line, Operand, Prototype};
use cute_ptx::claims::{Claims, Statement, Way};
use cute_ptx::table::{Class, Group, Modifier, Opcode, Together};
use flow::Flow;
use operands::{Arg, Result};
use registers::Registers;
use scope::Addresses;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Decodes an entry, and the functions that it may call. `lines` holds the line in the text for each line of the entry's body.
pub(crate) fn decode<'a>(
    scope: &Scope<'a>,
    entry: &'a Entry,
    lines: &'a [u32],
    limits: &Limits,
) -> std::result::Result<Code, Unsupported> {
    let at_head = |name: &str, message: String| Unsupported {
        line: 0,
        text: name.to_owned(),
        message,
    };
    let addresses = Addresses::new(entry, scope)
        .map_err(|message| at_head(&format!(".entry {}", entry.name), message))?;
    let called = calls::reached(scope, &entry.body);
    let mut routines = vec![(&entry.body[..], lines)];
    let arguments = addresses.arguments();
    let mut decoder = Decoder {
        scope,
        arguments,
        registers: Registers::new(addresses),
        function: None,
        functions: scope.functions.iter().map(|_| None).collect(),
        lists: HashMap::new(),
        prototypes: HashMap::new(),
        labels: HashMap::new(),
        branches: Vec::new(),
        instructions: Vec::new(),
        uses: Vec::new(),
        matrix_registers: HashSet::new(),
        here: Vec::new(),
        line: 0,
        place: None,
    };
    for number in &called {
        let (function, lines) = scope.functions[*number];
        let addresses = &mut decoder.registers.addresses;
        addresses
            .add_function(function)
            .map_err(|message| at_head(&format!(".func {}", function.name), message))?;
        routines.push((function.body.as_deref().unwrap_or(&[]), lines));
    }
    let place = |routine: usize, index: usize, message: String| {
        let (body, lines) = routines[routine];
        Unsupported {
            line: lines.get(index).copied().unwrap_or(0),
            text: body
                .get(index)
                .map(|line| line.to_string().trim().to_owned())
                .unwrap_or_default(),
            message,
        }
    };
    // All declarations come before the code: dynamic shared memory begins after the static variables, so its address depends on them.
    for (routine, (body, _)) in routines.iter().enumerate() {
        decoder.registers.addresses.enter(routine);
        for (index, line) in body.iter().enumerate() {
            let placed = decoder.registers.addresses.place(line);
            placed.map_err(|message| place(routine, index, message))?;
        }
    }
    for (routine, (body, lines)) in routines.iter().enumerate() {
        let function = routine.checked_sub(1).map(|index| called[index]);
        decoder.begin(routine, function, body);
        for (index, line) in body.iter().enumerate() {
            decoder.line = lines.get(index).copied().unwrap_or(0);
            decoder
                .code(line)
                .and_then(|()| decoder.check_limits(limits))
                .map_err(|message| place(routine, index, message))?;
        }
        decoder.end();
    }
    Ok(decoder.finish(entry))
}

struct Decoder<'a, 's> {
    scope: &'s Scope<'a>,
    /// The tensors in global memory that comments describe.
    arguments: Arguments,
    registers: Registers<'a, 's>,
    /// The number of the function that is being decoded; `None` for the entry.
    function: Option<usize>,
    /// The functions decoded so far, by their numbers.
    functions: Vec<Option<Subroutine>>,
    /// The lists of labels of the routine.
    lists: HashMap<&'a str, &'a [String]>,
    /// The prototypes of the routine.
    prototypes: HashMap<&'a str, &'a Prototype>,
    labels: HashMap<&'a str, usize>,
    /// The index of each branch of the routine and its labels. The targets are filled in when all labels are known.
    branches: Vec<(usize, Vec<&'a str>)>,
    instructions: Vec<Instruction>,
    /// For each instruction, the registers that it names.
    uses: Vec<Uses>,
    /// Rows of A or D in some wgmma of the entry.
    matrix_registers: HashSet<Reg>,
    /// The conditions that comments claim for threads at the next instruction.
    here: Vec<Condition>,
    /// The line of the text that is being decoded.
    line: u32,
    /// The source location of the instruction being decoded.
    place: Option<Arc<Place>>,
}

impl<'a> Decoder<'a, '_> {
    /// Begins a routine: 0 is the entry, the others are functions.
    fn begin(&mut self, routine: usize, function: Option<usize>, body: &'a [Line]) {
        self.registers.forget();
        self.registers.addresses.enter(routine);
        self.function = function;
        self.lists.clear();
        self.prototypes.clear();
        self.labels.clear();
        self.branches.clear();
        for line in body {
            match line {
                Line::Registers { ty, prefix, count } => {
                    self.registers.declare_family(prefix, *count, *ty);
                }
                Line::Register { ty, name } => self.registers.declare(name, *ty),
                Line::Targets { name, labels } => _ = self.lists.insert(name, labels),
                Line::Prototype(prototype) => {
                    self.prototypes.insert(&prototype.name, prototype);
                }
                _ => {}
            }
        }
        if let Some(number) = function {
            let names = self.registers.addresses.names();
            let first = self.registers.names.len() as Reg;
            self.functions[number] = Some(Subroutine {
                name: self.scope.functions[number].0.name.clone(),
                start: self.instructions.len(),
                frame_bytes: names.frame_bytes,
                params: names.params.clone(),
                returns: names.returns.clone(),
                rows: first..first,
            });
        }
    }

    /// Ends a routine: fills in the targets of its branches.
    fn end(&mut self) {
        for (instruction, labels) in self.branches.drain(..) {
            // Validation has checked that the labels exist.
            let target = |label: &&str| self.labels.get(label).copied().unwrap_or(instruction);
            let found: Box<[usize]> = labels.iter().map(target).collect();
            match &mut self.instructions[instruction].op {
                Op::Branch { target } => *target = found.first().copied().unwrap_or(instruction),
                Op::BranchIndexed { targets, .. } => *targets = found,
                _ => {}
            }
        }
        // A thread that reaches the end of the body, or branches to a label there, returns or ends.
        self.line = self.instructions.last().map_or(0, |last| last.line);
        let op = match self.function {
            Some(_) => Op::Return,
            None => Op::Exit,
        };
        self.push(None, op, Class::Control, "}".to_owned());
        let end = self.registers.names.len() as Reg;
        if let Some(function) = self.function.and_then(|it| self.functions[it].as_mut()) {
            function.rows.end = end;
        }
    }

    fn code(&mut self, line: &'a Line) -> Result<()> {
        match line {
            Line::Label(name) => {
                self.passed();
                self.labels.insert(name, self.instructions.len());
            }
            Line::Comment(text) => {
                match Statement::read(text).map_err(|error| error.to_string())? {
                    Some(Statement::Where(condition)) => {
                        let here = claim::condition(&mut self.registers, &condition)?;
                        self.here.push(here);
                    }
                    // The claim is an operation of its own, which is checked exactly here.
                    Some(Statement::Uniform { register, group }) => {
                        let agreement = claim::agreement(&mut self.registers, &register, group)?;
                        self.push(None, Op::Agree(agreement), Class::Control, text.clone());
                    }
                    None => {}
                }
            }
            Line::Inst(inst) => {
                self.place = self.scope.source(inst.place);
                self.instruction(inst)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Called before a label. The conditions claimed here hold only for threads that come from the instruction before, not for jumps to
    /// the label. They are checked before that instruction executes, so conditions on registers that it writes are dropped.
    fn passed(&mut self) {
        let here = std::mem::take(&mut self.here);
        if let (Some(last), Some(uses)) = (self.instructions.last_mut(), self.uses.last()) {
            let changes = |sum: Sum| sum.register.is_some_and(|it| uses.writes.contains(&it));
            let next = here.into_iter().filter(|condition| {
                let mut comparisons = condition.comparisons.iter();
                !comparisons.any(|it| changes(it.left) || changes(it.right))
            });
            let next: Vec<Condition> = next.collect();
            if !next.is_empty() {
                last.ways.get_or_insert_default().next = next;
            }
        }
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
        // The cache policy is the last operand, and changes no result.
        if bindings.get("hint").is_some() {
            args.pop();
        }
        let convergence = convergence(inst, &args)?;
        let exchanged = exchanged(inst, &args, convergence);
        let sums: Box<[Address]> = bounds::sums(&args);
        let said = match &inst.comment {
            Some(comment) => Claims::read(comment).map_err(|error| error.to_string())?,
            None => None,
        };
        let operands = match said {
            Some(_) => claim::operands(&args),
            None => Vec::new(),
        };
        let op = match inst.mnemonic.opcode() {
            Opcode::Call => self.call(inst)?,
            Opcode::BrxIdx => self.branch_indexed(inst, args)?,
            Opcode::Ret if self.function.is_some() => Op::Return,
            _ => instruction::operation(&mut self.registers, inst, &bindings, args)?,
        };
        if matches!(
            inst.mnemonic.opcode(),
            Opcode::Call | Opcode::BrxIdx | Opcode::Ret
        ) {
            // `.uni` promises that the lanes stay together. The emulator does not rely on this.
            bindings.has(Modifier::Uni);
        }
        bindings.finish()?;
        let text = inst_text(inst);
        for op in self.registers.take_preceding() {
            let uses = values::of_preceding(&op);
            self.push(None, op, Class::Arithmetic, text.clone());
            if let (Some(last), Some(uses)) = (self.uses.last_mut(), uses) {
                *last = uses;
            }
        }
        if let (Op::Branch { .. }, [Operand::Name(label)]) = (&op, &inst.operands[..]) {
            self.branches.push((self.instructions.len(), vec![label]));
        }
        if let (Op::BranchIndexed { .. }, [_, Operand::Name(list)]) = (&op, &inst.operands[..]) {
            let labels = self.lists.get(list.as_str()).copied().unwrap_or_default();
            let labels = labels.iter().map(String::as_str).collect();
            self.branches.push((self.instructions.len(), labels));
        }
        if let Op::Wgmma(wgmma) = &op {
            self.matrix_registers.extend(wgmma.d.iter());
            if let MatrixA::Registers(a) = &wgmma.a {
                self.matrix_registers.extend(a);
            }
        }
        let class = match op {
            // It does nothing here, whatever it does on a GPU.
            Op::Nop => Class::Control,
            _ => inst.mnemonic.class(),
        };
        self.push(guard, op, class, text);
        let mut rows = Vec::new();
        for operand in &inst.operands {
            self.registers.rows_of(operand, &mut rows);
        }
        if let Some(last) = self.instructions.last_mut() {
            last.matrix_registers = rows.into();
            last.mnemonic = Some(inst.mnemonic);
            last.signals = inst.mnemonic.signals();
            last.convergence = convergence;
            last.exchanged = exchanged;
            if !sums.is_empty() {
                last.bounds.get_or_insert_default().sums = sums;
            }
            if let Some(Claims { places, way }) = said {
                let registers = &mut self.registers;
                match way {
                    Some(Way::Executed(said)) => {
                        let condition = claim::condition(registers, &said)?;
                        last.ways.get_or_insert_default().executed = Some(condition);
                    }
                    Some(Way::Adds(said)) => {
                        let condition = claim::condition(registers, &said)?;
                        last.ways.get_or_insert_default().adds = Some(condition);
                    }
                    None => {}
                }
                last.claims = claim::claims(registers, &self.arguments, &places, operands)?.into();
            }
        }
        if let Some(last) = self.uses.last_mut() {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            inst.for_each_source(&mut |name| reads.push(name));
            inst.for_each_written(&mut |name| writes.push(name));
            let registers = &self.registers;
            last.reads = registers.declared_rows(reads.into_iter()).into();
            last.writes = registers.declared_rows(writes.into_iter()).into();
            let op = self.instructions.last().map(|it| &it.op);
            last.values = op.map(|op| values::of(inst, op)).unwrap_or_default();
        }
        Ok(())
    }

    fn push(&mut self, guard: Option<(Reg, bool)>, op: Op, class: Class, text: String) {
        let here = std::mem::take(&mut self.here);
        let ways = (!here.is_empty()).then(|| {
            Box::new(Ways {
                here,
                ..Ways::default()
            })
        });
        self.instructions.push(Instruction {
            guard,
            op,
            class,
            signals: false,
            convergence: Convergence::No,
            exchanged: None,
            mnemonic: None,
            bounds: None,
            is_checked: false,
            meets: None,
            matrix_registers: Box::default(),
            followed: None,
            claims: Box::default(),
            ways,
            line: self.line,
            place: self.place.clone(),
            text,
        });
        self.uses.push(Uses::default());
    }

    fn finish(mut self, entry: &Entry) -> Code {
        for instruction in &mut self.instructions {
            let rows = instruction.matrix_registers.iter().copied();
            instruction.matrix_registers = rows
                .filter(|row| self.matrix_registers.contains(row))
                .collect();
        }
        let mut registers = self.registers;
        let starts: Vec<usize> = self.functions.iter().flatten().map(|it| it.start).collect();
        let flow = Flow::new(&self.instructions, &starts);
        for (block, meets) in flow.blocks.iter().zip(flow.meets()) {
            let meets = meets.map(|number| flow.blocks[number].start);
            self.instructions[block.end - 1].meets = meets;
        }
        unwritten::follow(
            &mut self.instructions,
            &self.uses,
            &flow,
            registers.names.len(),
            &starts,
        );
        bounds::find_variables(
            &mut self.instructions,
            &self.uses,
            &registers.variables,
            registers.names.len(),
        );
        for it in &mut self.instructions {
            it.is_checked = it.ways.is_some()
                || it.followed.is_some()
                || it.bounds.is_some()
                || !it.claims.is_empty();
        }
        registers.addresses.enter(0);
        let variables = registers.variables.iter();
        let variables = variables.map(|(row, variable)| (*row, variable.range.start));
        Code {
            name: entry.name.clone(),
            chip: self.scope.chip,
            instructions: self.instructions,
            uses: self.uses,
            registers: registers.names,
            constants: registers
                .constants
                .into_iter()
                .map(|(value, row)| (row, value))
                .chain(variables)
                .collect(),
            globals: registers
                .globals
                .into_iter()
                .map(|(offset, row)| (row, offset))
                .collect(),
            frame: registers.frame,
            frame_bytes: registers.addresses.names().frame_bytes,
            functions: self.functions,
            specials: registers.specials,
            static_shared: registers.addresses.static_shared(),
            tensors: self.scope.tensors.clone(),
            arguments: self.arguments,
            dynamic_shared: registers.addresses.dynamic_shared(),
            param_offsets: registers.addresses.param_offsets,
            param_bytes: registers.addresses.param_bytes,
        }
    }
}

/// The lanes that must have reached the instruction before it executes.
fn convergence(inst: &Inst, args: &[Arg]) -> Result<Convergence> {
    Ok(match (inst.mnemonic.together(), args.last()) {
        (Together::Members, Some(Arg::Row(members))) => Convergence::Members(*members),
        (Together::Members, _) => return Err("the member mask is missing".to_owned()),
        (Together::Warp, _) => Convergence::Warp,
        // "barrier{.cta} instruction causes executing thread to wait for all non-exited threads from its warp" (PTX ISA, "bar,
        // barrier").
        (Together::No, _) => match inst.mnemonic.group() {
            Some(Group::Cta) => Convergence::Alive,
            _ => Convergence::No,
        },
    })
}

/// The rows of an instruction that lanes may execute together from several places.
fn exchanged(inst: &Inst, args: &[Arg], convergence: Convergence) -> Option<Box<Exchanged>> {
    let at_several = match convergence {
        Convergence::No | Convergence::Warp => false,
        Convergence::Members(_) => true,
        // The result of a barrier comes later, and only to the rows of one place.
        Convergence::Alive => !inst.mnemonic.writes(0),
    };
    let rows = |written: bool| {
        let args = args.iter().enumerate();
        let args = args.filter(|(at, _)| inst.mnemonic.writes(*at) == written);
        args.flat_map(|(_, arg)| arg.registers()).copied().collect()
    };
    at_several.then(|| {
        Box::new(Exchanged {
            reads: rows(false),
            writes: rows(true),
        })
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
