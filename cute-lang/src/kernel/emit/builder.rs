//! Emits the instructions of a kernel, line by line.
//!
//! A [`Builder`] makes registers ([`register`](Builder::register)), instructions ([`emit`](Builder::emit)), labels, branches and shared
//! memory ([`allocate`](Builder::allocate)). Lines go to the end of the body, or to one of two other places: values that every thread
//! computes once before the body ([`once`](Builder::once)), and initialisation by thread 0 before the other threads start
//! ([`init`](Builder::init)).
//!
//! What it holds besides are values of their own files, which know nothing of it: places in the source, what is known of numbers, claims,
//! notes, reports.
//!
//! [`error`](Builder::error) makes a [`syn::Error`] at the token that [`set_place`](Builder::set_place) has set.

use crate::kernel::emit::claim::Claims;
use crate::kernel::emit::divergence::Sites;
use crate::kernel::emit::inference::Inference;
use crate::kernel::emit::item::Item;
use crate::kernel::emit::known::Known;
use crate::kernel::emit::note::Notes;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::param::Param;
use crate::kernel::emit::renamed::Renamed;
use crate::kernel::emit::report::Report;
use crate::kernel::emit::setmaxnreg::Budget;
use crate::kernel::emit::shared::{Purpose, SharedMemory};
use crate::kernel::emit::unwritten::Unwritten;
use crate::kernel::ir::{Guard, Inst, Line, Names, Operand, Register, Registers};
use crate::kernel::value::types::{half_bits, instruction_type, rust_name};
use crate::kernel::value::{Num, Scalar};
use cute_chip::barriers::NAMED;
use cute_chip::{Chip, PartialByte, SwizzleMode, Target};
use cute_ptx::ast::{Type, Variable};
use cute_ptx::special::{self, Special};
use cute_ptx::table::choice::{Modifiers, StateSpace};
use cute_ptx::table::op::{self, Instruction};
use cute_ptx::table::{Found, Mnemonic, Opcode};
use proc_macro2::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Display;
use syn::{Error, Result};

/// Most lines of PTX of one kernel. More lines come from a loop that was not meant to be unrolled.
pub const MAX_LINES: usize = 200_000;

/// The alignment of a kernel's dynamic shared memory in bytes: the size of the widest swizzle atom.
pub const SHARED_ALIGN: u32 = SwizzleMode::B128.atom() as u32;

/// A kernel while it is emitted.
pub struct Builder {
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// The tensors that the kernel has picked from lists of parameters.
    pub(super) items: Vec<Item>,
    /// The names of the parameters in PTX.
    pub symbols: HashSet<String>,
    /// What is known about registers and about the launch.
    pub known: Known,
    /// The types of literals without a suffix.
    pub inference: Inference,
    /// The chip that the kernel is for.
    pub chip: &'static Chip,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Whether accesses without a proof that they are inside of their tensors are checked at run time.
    pub checked: bool,
    /// Where statements and operations stand in the source.
    pub sites: Sites,
    pub(super) registers: Registers,
    pub(super) names: Names,
    /// By register, the `let mut` variable in it.
    pub(super) variables: HashMap<Register, String>,
    labels: BTreeMap<String, u32>,
    /// What is at the addresses of operands.
    pub claims: Claims,
    /// The comments before the entry.
    pub notes: Notes,
    pub(super) reports: Vec<Report>,
    once: HashMap<String, Scalar>,
    pub(super) prologue: Vec<Line>,
    pub(super) init: Vec<Line>,
    pub(super) lines: Vec<Line>,
    /// The layout of shared memory.
    pub shared: SharedMemory,
    /// The lowest number of a named barrier that `named_barriers` has given.
    pub named: u32,
    /// The registers of fragments that nothing has written.
    pub unwritten: Unwritten,
    /// The registers of several elements that begin with a zero.
    pub(super) zeroed: HashSet<Register>,
    /// Fragments with several names.
    pub renamed: Renamed,
    /// The registers that warpgroups set.
    pub budget: Budget,
    /// The first instruction that is not in the table of `cute-ptx`, as an error.
    pub(super) defect: Option<Error>,
    /// What the chip lacks of the code emitted since the last [`lacks`](Builder::lacks).
    lacking: Option<Lacking>,
    /// Known numbers in global memory.
    pub(super) tables: Vec<Variable>,
}

/// An instruction or a special register that the chip of a kernel does not have.
struct Lacking {
    what: String,
    needed: Target,
    place: Span,
}

impl Builder {
    /// An empty kernel for the default chip.
    pub fn new(threads: u32, cluster: [u32; 3]) -> Self {
        Self {
            params: Vec::new(),
            items: Vec::new(),
            symbols: HashSet::new(),
            known: Known::default(),
            inference: Inference::default(),
            chip: Chip::DEFAULT,
            threads,
            cluster,
            checked: false,
            sites: Sites::default(),
            registers: Registers::default(),
            names: Names::default(),
            variables: HashMap::new(),
            labels: BTreeMap::new(),
            claims: Claims::default(),
            notes: Notes::default(),
            reports: Vec::new(),
            once: HashMap::new(),
            prologue: Vec::new(),
            init: Vec::new(),
            lines: Vec::new(),
            shared: SharedMemory::default(),
            named: NAMED,
            unwritten: Unwritten::default(),
            zeroed: HashSet::new(),
            renamed: Renamed::default(),
            budget: Budget::default(),
            defect: None,
            lacking: None,
            tables: Vec::new(),
        }
    }

    // ---- errors

    /// Sets the token that errors refer to.
    pub fn set_place(&mut self, span: Span) {
        self.sites.set_place(span);
    }

    /// The token that errors refer to.
    pub fn place(&self) -> Span {
        self.sites.place()
    }

    /// The value, or the error at that token.
    pub fn whole<T>(&self, bytes: std::result::Result<T, PartialByte>) -> Result<T> {
        bytes.map_err(|error| self.error(error))
    }

    /// An error at that token.
    pub fn error(&self, message: impl Display) -> Error {
        Error::new(self.place(), message)
    }

    /// Notes that the code needs a target, for an instruction or a special register. If the chip does not have it, the next call of
    /// [`lacks`](Self::lacks) returns the error.
    pub fn needs(&mut self, what: &str, needed: Target) {
        if !self.chip.target.has(needed) {
            let place = self.place();
            self.lacking.get_or_insert_with(|| Lacking {
                what: what.into(),
                needed,
                place,
            });
        }
    }

    /// The error about the first thing that the chip lacks of the code emitted since the last call. If this code is a function of the
    /// language, it is given with its name.
    pub fn lacks(&mut self, function: Option<(&str, Span)>) -> Option<Error> {
        let Lacking {
            what,
            needed,
            place,
        } = self.lacking.take()?;
        let chip = self.chip;
        Some(match function {
            Some((name, span)) => Error::new(
                span,
                format!("`{name}` needs {needed} for `{what}`, and the kernel is for {chip}"),
            ),
            None => Error::new(
                place,
                format!("`{what}` needs {needed}, and the kernel is for {chip}"),
            ),
        })
    }

    /// Whether the chip has an instruction. One that is not in the table is had: [`emit`](Self::emit) refuses it.
    pub fn has<I: Instruction>(&self, opcode: I, modifiers: impl Modifiers<I>) -> bool {
        let mnemonic = Mnemonic::new(opcode, modifiers);
        mnemonic.map_or(true, |it| self.chip.target.has(it.target()))
    }

    // ---- registers

    /// A fresh register that one instruction writes.
    pub fn register(&mut self, ty: Type) -> Scalar {
        Scalar::new(self.registers.value(ty), ty)
    }

    /// A fresh register that any number of instructions write.
    pub fn cell(&mut self, ty: Type) -> Scalar {
        Scalar::new(self.registers.cell(ty), ty)
    }

    /// A register that one instruction has written belongs to a fragment or a variable from here on: any number of instructions write it.
    pub fn becomes_cell(&mut self, scalar: &Scalar) {
        self.registers.becomes_cell(scalar.register);
    }

    /// The registers so far.
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// The names of all registers so far.
    pub fn names(&mut self) -> &Names {
        self.names.add(&self.registers);
        &self.names
    }

    /// A fresh register that carries the name of a Rust variable. Any number of instructions write it.
    pub fn named_register(&mut self, ty: Type, name: &str) -> Scalar {
        Scalar::new(self.registers.named(ty, name), ty)
    }

    /// The value in a register that later statements do not change: a variable is copied, any other register is returned unchanged.
    pub fn snapshot(&mut self, scalar: &Scalar) -> Scalar {
        match scalar.variable {
            true => self.copy(scalar),
            false => scalar.clone(),
        }
    }

    /// The value in a fresh register.
    pub fn copy(&mut self, scalar: &Scalar) -> Scalar {
        let copy = self.register(scalar.ty);
        self.assign(&copy, scalar.operand());
        Scalar {
            class: scalar.class,
            ..copy
        }
    }

    /// Copies the operand to the register. A register needs no copy of itself.
    pub fn assign(&mut self, to: &Scalar, from: Operand) {
        if from.register() == Some(to.register) {
            return;
        }
        if self.unwritten.has(&from) {
            self.unwritten.add(to.register);
            return;
        }
        let ty = match to.ty {
            Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2 => to.ty.untyped(),
            ty => instruction_type(ty),
        };
        self.emit(op::Mov, ty, [to.operand(), from]);
    }

    /// Makes the last line write `to` instead of `from`, if it defines `from` and has an index of at least `start`. Returns whether it did.
    pub fn retarget(&mut self, from: &Scalar, to: &Scalar, start: usize) -> bool {
        if from.variable || self.lines.len() <= start {
            return false;
        }
        let Some(Line::Inst(inst)) = self.lines.last_mut() else {
            return false;
        };
        // If it is written once, nothing has read it yet, because the last line writes it.
        let is_once = self.registers.is_written_once(from.register);
        let writes = inst.mnemonic.writes(0) && inst.operands.first() == Some(&from.operand());
        let retargets = inst.guard.is_none() && is_once && writes;
        if retargets {
            inst.operands[0] = Operand::Register(to.register);
            self.unwritten.write(to.register);
            let place = self.sites.place();
            self.renamed.changed(to, place);
        }
        retargets
    }

    /// A register of type `ty` that holds the number.
    pub fn to_register(&mut self, num: &Num, ty: Type) -> Result<Scalar> {
        if let Num::Reg(scalar) = num
            && scalar.class.is_some()
        {
            self.expect(&scalar.clone().into(), ty)?;
        }
        match num {
            Num::Reg(scalar) if scalar.ty == ty => Ok(scalar.clone()),
            Num::Reg(scalar) => Err(self.error(format!(
                "expected `{}`, found `{}`",
                rust_name(ty),
                rust_name(scalar.ty)
            ))),
            Num::Const(value) => {
                self.check_fits(*value, ty)?;
                let register = self.register(ty);
                self.assign(&register, Operand::Int(*value));
                Ok(register)
            }
        }
    }

    /// A floating-point constant of that type.
    pub fn float_operand(&mut self, value: f64, ty: Type) -> Result<Operand> {
        match ty {
            // A literal takes the type of the register.
            Type::F32 => Ok(Operand::F32((value as f32).to_bits())),
            Type::F64 => Ok(Operand::F64(value.to_bits())),
            // For 16-bit types, PTX has no constants except their bits, which only `mov` takes.
            Type::F16 | Type::Bf16 => {
                let register = self.register(ty);
                self.assign(&register, Operand::Int(half_bits(value, ty).into()));
                Ok(register.operand())
            }
            ty => Err(self.error(format!(
                "expected a `{}`, found the number {value}",
                rust_name(ty)
            ))),
        }
    }

    // ---- lines

    /// Appends an instruction. If it is not in the table of `cute-ptx`, [`finish`](Self::finish) returns an error.
    pub fn emit<I: Instruction>(
        &mut self,
        opcode: I,
        modifiers: impl Modifiers<I>,
        operands: impl IntoIterator<Item = Operand>,
    ) {
        let inst = self.instruction(Mnemonic::new(opcode, modifiers), operands);
        self.lines.extend(inst.map(Line::Inst));
    }

    pub(super) fn instruction(
        &mut self,
        mnemonic: Found,
        operands: impl IntoIterator<Item = Operand>,
    ) -> Option<Inst> {
        match mnemonic {
            Ok(mnemonic) => {
                self.needs(mnemonic.as_str(), mnemonic.target());
                let place = self.place();
                let inst = self.renamed.accessed(Inst::new(mnemonic, operands), place);
                let inst = Inst {
                    place: self.sites.place_in_file(),
                    claims: self.claims.of(&inst.operands),
                    ..inst
                };
                self.unwritten.look(&inst, place, self.in_loop());
                Some(self.sites.numbered(inst, self.threads))
            }
            Err(unknown) => {
                let error = self.error(format!(
                    "the generated PTX is not valid (a defect): {unknown}"
                ));
                self.defect.get_or_insert(error);
                None
            }
        }
    }

    /// Appends an instruction with a guard: only threads in which the guard holds execute it.
    pub fn emit_if<I: Instruction>(
        &mut self,
        guard: Guard,
        opcode: I,
        modifiers: impl Modifiers<I>,
        operands: impl IntoIterator<Item = Operand>,
    ) {
        if let Some(mut inst) = self.instruction(Mnemonic::new(opcode, modifiers), operands) {
            inst.guard = Some(guard);
            self.lines.push(Line::Inst(inst));
        }
    }

    /// Adds the guard, if there is one, to each instruction that `emit` appends.
    pub fn guarded(&mut self, guard: Option<Guard>, emit: impl FnOnce(&mut Builder)) {
        let start = self.lines.len();
        emit(self);
        for line in &mut self.lines[start..] {
            if let Line::Inst(inst) = line {
                inst.guard.clone_from(&guard);
            }
        }
    }

    /// Appends an instruction that writes a fresh register of type `ty`, its first operand.
    pub fn compute<I: Instruction>(
        &mut self,
        ty: Type,
        opcode: I,
        modifiers: impl Modifiers<I>,
        sources: impl IntoIterator<Item = Operand>,
    ) -> Scalar {
        self.compute_mnemonic(ty, Mnemonic::new(opcode, modifiers), sources)
    }

    /// As [`compute`](Self::compute), by a mnemonic.
    pub fn compute_mnemonic(
        &mut self,
        ty: Type,
        mnemonic: Found,
        sources: impl IntoIterator<Item = Operand>,
    ) -> Scalar {
        let result = self.register(ty);
        let operands = [result.operand()].into_iter().chain(sources);
        let inst = self.instruction(mnemonic, operands);
        self.lines.extend(inst.map(Line::Inst));
        result
    }

    /// Appends a comment.
    pub fn comment(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Comment(text.into()));
    }

    /// Gives the comment at that line its text.
    pub fn set_comment(&mut self, line: usize, text: String) {
        self.lines[line] = Line::Comment(text);
    }

    /// Appends any line.
    pub fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// The number of lines so far, or an error if there are more than [`MAX_LINES`].
    pub fn check_length(&self) -> Result<usize> {
        if self.lines.len() > MAX_LINES {
            return Err(self.error(format!(
                "the kernel has more than {MAX_LINES} lines of PTX: unroll fewer loops"
            )));
        }
        Ok(self.lines.len())
    }

    /// The registers that the lines from `start` on write.
    pub fn written_since(&self, start: usize) -> BTreeSet<Register> {
        let mut written = BTreeSet::new();
        for line in self.lines.iter().skip(start) {
            if let Line::Inst(inst) = line {
                inst.for_each_written(&mut |register| _ = written.insert(register));
            }
        }
        written
    }

    /// Removes the lines from `start` on and returns them.
    pub fn split_off(&mut self, start: usize) -> Vec<Line> {
        self.lines.split_off(start)
    }

    /// The number of lines so far.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Leaves a line free, which [`fill`](Self::fill) replaces.
    pub fn slot(&mut self) -> String {
        // A label keeps lines around it where they are.
        let slot = self.label("slot");
        self.lines.push(Line::Label(slot.clone()));
        slot
    }

    /// Replaces slots by lines. The slots are after line `start`.
    pub fn fill(&mut self, start: usize, mut slots: HashMap<&str, Vec<Line>>) -> Result<()> {
        for line in self.split_off(start) {
            match &line {
                Line::Label(label) if let Some(lines) = slots.remove(label.as_str()) => {
                    self.lines.extend(lines);
                }
                _ => self.lines.push(line),
            }
        }
        match slots.is_empty() {
            true => Ok(()),
            false => Err(self.error("a jump has lost its value (a defect)")),
        }
    }

    /// Appends lines.
    pub fn append(&mut self, lines: Vec<Line>) {
        self.lines.extend(lines);
    }

    /// A fresh label without a place.
    pub fn label(&mut self, stem: &str) -> String {
        let count = self.labels.entry(stem.to_string()).or_insert(0);
        *count += 1;
        match count {
            1 => format!("${stem}"),
            n => format!("${stem}_{n}"),
        }
    }

    /// Places a label here.
    pub fn place_label(&mut self, label: &str) {
        // A jump to the next line does nothing.
        if let Some(Line::Inst(Inst {
            guard: None,
            mnemonic,
            operands,
            ..
        })) = self.lines.last()
            && mnemonic.opcode() == Opcode::Bra
            && matches!(&operands[..], [Operand::Symbol(target)] if target == label)
        {
            self.lines.pop();
        }
        self.lines.push(Line::Label(label.into()));
    }

    /// Appends a jump.
    pub fn branch(&mut self, label: &str) {
        // `.uni` would promise that all threads of a warp jump, which is not known here.
        self.emit(op::Bra, (), [Operand::Symbol(label.into())]);
    }

    /// Appends a jump for the threads in which the guard holds.
    pub fn branch_if(&mut self, guard: Guard, label: &str) {
        self.emit_if(guard, op::Bra, (), [Operand::Symbol(label.into())]);
    }

    // ---- the places besides the current line

    /// A register that every thread computes before the body, once for each `name`, even if it is requested again.
    pub fn once(
        &mut self,
        name: &str,
        ty: Type,
        emit: impl FnOnce(&mut Builder, &Scalar),
    ) -> Scalar {
        self.once_as(name, name, ty, emit)
    }

    /// The register that [`once`](Self::once) has computed for a name.
    pub fn known_once(&self, name: &str) -> Option<Scalar> {
        self.once.get(name).cloned()
    }

    /// The PTX parameter `symbol` in a register named after `name`. `then` may emit instructions that change the register.
    pub fn parameter(
        &mut self,
        symbol: &str,
        name: &str,
        ty: Type,
        then: impl FnOnce(&mut Builder, &Scalar),
    ) -> Scalar {
        // The brackets separate the keys of parameters from the keys of `once`.
        self.once_as(&format!("[{symbol}]"), name, ty, |b, register| {
            let from = Operand::Address {
                base: Box::new(Operand::Symbol(symbol.into())),
                offset: 0,
            };
            let modifiers = (StateSpace::Param, ty);
            b.emit(op::Ld, modifiers, [register.operand(), from]);
            then(b, register);
        })
    }

    fn once_as(
        &mut self,
        key: &str,
        name: &str,
        ty: Type,
        emit: impl FnOnce(&mut Builder, &Scalar),
    ) -> Scalar {
        if let Some(known) = self.known_once(key) {
            return known;
        }
        let scalar = self.named_register(ty, name);
        self.before_body(|b| emit(b, &scalar));
        self.once.insert(key.into(), scalar.clone());
        scalar
    }

    /// Puts the lines that `emit` appends before the body.
    pub(super) fn before_body<T>(&mut self, emit: impl FnOnce(&mut Builder) -> T) -> T {
        // If `emit` calls `once`, the lines of this call must come first.
        let body = std::mem::take(&mut self.lines);
        let result = emit(self);
        let lines = std::mem::replace(&mut self.lines, body);
        self.prologue.extend(lines);
        result
    }

    /// Adds an instruction that thread 0 executes before the body. All threads wait for it, and for the fence that makes it visible.
    pub fn init<I: Instruction>(
        &mut self,
        opcode: I,
        modifiers: impl Modifiers<I>,
        operands: impl IntoIterator<Item = Operand>,
    ) {
        let inst = self.instruction(Mnemonic::new(opcode, modifiers), operands);
        self.init.extend(inst.map(Line::Inst));
        if let Ok(fence) = Mnemonic::new(op::FenceMbarrierInit, ()) {
            self.needs(fence.as_str(), fence.target());
        }
    }

    /// Reserves dynamic shared memory and returns its offset from [`shared_base`](Self::shared_base), in bytes.
    pub fn allocate(&mut self, bytes: u32, align: u32, purpose: Purpose) -> Result<u32> {
        let most = self.chip.cta_shared_bytes;
        let offset = self.shared.allocate(bytes, align, purpose, most);
        offset.map_err(|offset| {
            self.error(format!(
                "{bytes} bytes at offset {offset} do not fit shared memory: a CTA has {most} bytes"
            ))
        })
    }

    /// The shared-memory address of the kernel's dynamic shared memory, a multiple of [`SHARED_ALIGN`].
    pub fn shared_base(&mut self) -> Scalar {
        self.once("smem_base", Type::U32, |b, base| {
            b.emit(
                op::Mov,
                Type::U32,
                [base.operand(), Operand::Symbol("smem".into())],
            );
        })
    }

    /// Whether the current line may follow itself.
    pub fn in_loop(&self) -> bool {
        self.renamed.in_loop()
    }

    /// The threads of a cluster.
    pub fn cluster_threads(&self) -> i64 {
        let ctas: u32 = self.cluster.iter().product();
        i64::from(ctas) * i64::from(self.threads)
    }

    /// The index of the thread in its CTA.
    pub fn thread(&mut self) -> Scalar {
        let thread = self.special("thread", special::Register::Tid, 0);
        self.known
            .limit_bits(&thread, u64::from(self.threads.next_power_of_two()) - 1);
        self.known
            .always(&thread, Cmp::Lt, &Num::from(self.threads));
        thread
    }

    /// A special register, or a component of one. It is read once, before the body.
    pub fn special(&mut self, name: &str, register: special::Register, axis: usize) -> Scalar {
        let special = Special::of(register);
        self.needs(special.name, special.target());
        self.once(name, Type::U32, |b, scalar| {
            let component = Operand::Symbol(special.component(axis));
            b.emit(op::Mov, Type::U32, [scalar.operand(), component]);
        })
    }
}

/// `@%p`.
pub fn when(predicate: &Scalar) -> Guard {
    Guard {
        negated: false,
        predicate: predicate.register,
    }
}

/// `@!%p`.
pub fn unless(predicate: &Scalar) -> Guard {
    Guard {
        negated: true,
        predicate: predicate.register,
    }
}

/// The operand `[base+offset]`.
pub fn address_operand(base: &Scalar, offset: i64) -> Operand {
    Operand::Address {
        base: Box::new(base.operand()),
        offset,
    }
}
