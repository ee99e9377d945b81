//! Emits PTX, line by line.
//!
//! What a row of the builtin table has in hand: registers ([`register`](Builder::register)), instructions
//! ([`emit`](Builder::emit)), labels and branches, arithmetic that folds what is known ([`add`](Builder::add) and its
//! kin, on [`Num`]), shared memory ([`allocate`](Builder::allocate)), and three places besides the current line: the
//! header's comments ([`header`](Builder::header)), values computed once by every thread before the body
//! ([`once`](Builder::once)), and what thread 0 does before anyone starts ([`init`](Builder::init)).
//!
//! Errors are [`syn::Error`]s at the token under way: [`error`](Builder::error).

use super::arithmetic::Cmp;
use super::cleanup::remove_unread;
use super::param::{Param, ascii};
use super::value::{Num, Scalar, instruction_type, rust_name};
use cute_hopper::{SwizzleMode, shared};
use cute_ptx::ast::{Guard, Inst, Line, Operand, Type};
use cute_ptx::special::{Register, SPECIAL, Special};
use cute_ptx::table::{Mnemonic, Modifier, Modifiers, Opcode};
use proc_macro2::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use syn::{Error, Result};

/// Most lines of one kernel: beyond it lies a loop that was not meant to be unrolled.
pub const MAX_LINES: usize = 200_000;

/// The dynamic shared memory of a kernel is aligned to this many bytes, so that every tile can be aligned to its swizzle.
pub const SHARED_ALIGN: u32 = SwizzleMode::B128.atom() as u32;

/// The state of a kernel half emitted.
pub struct Builder {
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    place: Span,
    counts: BTreeMap<&'static str, u32>,
    named: Vec<(Type, String)>,
    /// The names of registers that carry one, without `%`, and the last number that each was followed by.
    names: BTreeMap<String, u32>,
    labels: BTreeMap<String, u32>,
    /// The bits that may be set, of the registers of which it is known.
    bits: BTreeMap<String, u64>,
    header: Vec<String>,
    once: Vec<(String, Scalar)>,
    prologue: Vec<Line>,
    init: Vec<Line>,
    lines: Vec<Line>,
    shared_bytes: u32,
    /// The first instruction that the table of instructions lacks.
    defect: Option<Error>,
}

/// What is left when a kernel has been emitted.
pub struct Parts {
    /// Comments that precede the entry.
    pub header: Vec<String>,
    /// The body, declarations included.
    pub body: Vec<Line>,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// The parameters.
    pub params: Vec<Param>,
}

impl Builder {
    /// An empty kernel.
    pub fn new(threads: u32, cluster: [u32; 3]) -> Self {
        Self {
            params: Vec::new(),
            threads,
            cluster,
            place: Span::call_site(),
            counts: BTreeMap::new(),
            named: Vec::new(),
            names: BTreeMap::new(),
            labels: BTreeMap::new(),
            bits: BTreeMap::new(),
            header: Vec::new(),
            once: Vec::new(),
            prologue: Vec::new(),
            init: Vec::new(),
            lines: Vec::new(),
            shared_bytes: 0,
            defect: None,
        }
    }

    // ---- errors

    /// Sets the token that errors refer to.
    pub fn set_place(&mut self, span: Span) {
        self.place = span;
    }

    /// The token under way.
    pub fn place(&self) -> Span {
        self.place
    }

    /// An error at the token under way.
    pub fn error(&self, message: impl Display) -> Error {
        Error::new(self.place, message)
    }

    // ---- registers

    /// A fresh register.
    pub fn register(&mut self, ty: Type) -> Scalar {
        let (prefix, _) = class(ty);
        let count = self.counts.entry(prefix).or_insert(0);
        let name = format!("%{prefix}{count}");
        *count += 1;
        Scalar {
            name,
            ty,
            variable: false,
        }
    }

    /// A fresh register that carries the name of a Rust variable.
    pub fn named_register(&mut self, ty: Type, name: &str) -> Scalar {
        let name = ascii(name);
        // Up to the last number that the name got, all are taken.
        let mut number = self.names.get(&name).copied().unwrap_or(0);
        let unique = loop {
            number += 1;
            let unique = match number {
                1 => name.clone(),
                number => format!("{name}_{number}"),
            };
            if !is_taken(&unique) && !self.names.contains_key(&unique) {
                break unique;
            }
        };
        self.names.insert(name, number);
        self.names.entry(unique.clone()).or_insert(1);
        let unique = format!("%{unique}");
        self.named.push((class(ty).1, unique.clone()));
        Scalar {
            name: unique,
            ty,
            variable: false,
        }
    }

    /// A register that later statements do not change: the same one, or a copy of a variable.
    pub fn snapshot(&mut self, scalar: &Scalar) -> Scalar {
        if !scalar.variable {
            return scalar.clone();
        }
        let copy = self.register(scalar.ty);
        self.assign(&copy, scalar.operand());
        copy
    }

    /// `mov` of the register's type.
    pub fn assign(&mut self, to: &Scalar, from: Operand) {
        let ty = match to.ty {
            Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2 => to.ty.untyped(),
            ty => instruction_type(ty),
        };
        self.emit(Opcode::Mov, ty, [to.operand(), from]);
    }

    /// Makes the last line, if it is what defines `from` and is not before line `start`, write `to` instead.
    pub fn retarget(&mut self, from: &Scalar, to: &Scalar, start: usize) -> bool {
        if from.variable || self.lines.len() <= start {
            return false;
        }
        let Some(Line::Inst(inst)) = self.lines.last_mut() else {
            return false;
        };
        // A numbered register is written once. As the last line writes it, nothing has read it yet.
        let numbered = from.name[1..]
            .strip_prefix(class(from.ty).0)
            .is_some_and(|rest| rest.parse::<u32>().is_ok());
        let writes = inst.mnemonic.writes(0) && inst.operands.first() == Some(&from.operand());
        let mut reads = false;
        inst.for_each_read(&mut |name| reads |= name == from.name);
        let retargets = inst.guard.is_none() && numbered && writes && !reads;
        if retargets {
            inst.operands[0] = to.operand();
        }
        retargets
    }

    /// The number in a register of type `ty`.
    pub fn to_register(&mut self, num: &Num, ty: Type) -> Result<Scalar> {
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

    // ---- lines

    /// Appends an instruction. That the table has it is ours to get right: if not, [`finish`](Self::finish) says so.
    pub fn emit(
        &mut self,
        opcode: Opcode,
        modifiers: impl Modifiers,
        operands: impl IntoIterator<Item = Operand>,
    ) {
        let inst = self.instruction(opcode, modifiers, operands);
        self.lines.extend(inst.map(Line::Inst));
    }

    fn instruction(
        &mut self,
        opcode: Opcode,
        modifiers: impl Modifiers,
        operands: impl IntoIterator<Item = Operand>,
    ) -> Option<Inst> {
        match Mnemonic::new(opcode, modifiers) {
            Ok(mnemonic) => Some(Inst::new(mnemonic, operands)),
            Err(unknown) => {
                let error = self.error(format!(
                    "the generated PTX is not valid (a defect): {unknown}"
                ));
                self.defect.get_or_insert(error);
                None
            }
        }
    }

    /// Appends an instruction that runs where the guard holds.
    pub fn emit_if(
        &mut self,
        guard: Guard,
        opcode: Opcode,
        modifiers: impl Modifiers,
        operands: impl IntoIterator<Item = Operand>,
    ) {
        if let Some(mut inst) = self.instruction(opcode, modifiers, operands) {
            inst.guard = Some(guard);
            self.lines.push(Line::Inst(inst));
        }
    }

    /// Appends an instruction that writes a fresh register of type `ty`, its first operand.
    pub fn compute(
        &mut self,
        ty: Type,
        opcode: Opcode,
        modifiers: impl Modifiers,
        sources: impl IntoIterator<Item = Operand>,
    ) -> Scalar {
        let result = self.register(ty);
        let operands: Vec<_> = [result.operand()].into_iter().chain(sources).collect();
        self.emit(opcode, modifiers, operands);
        result
    }

    /// Appends a comment.
    pub fn comment(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Comment(text.into()));
    }

    /// Appends any line.
    pub fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Number of lines so far, and a check that they are not too many.
    pub fn check_length(&self) -> Result<usize> {
        if self.lines.len() > MAX_LINES {
            return Err(self.error(format!(
                "the kernel has more than {MAX_LINES} lines of PTX: unroll less"
            )));
        }
        Ok(self.lines.len())
    }

    /// Takes the lines from `start` on, so that they may be put elsewhere.
    pub fn split_off(&mut self, start: usize) -> Vec<Line> {
        self.lines.split_off(start)
    }

    /// Appends lines.
    pub fn append(&mut self, lines: Vec<Line>) {
        self.lines.extend(lines);
    }

    /// A fresh label; not yet placed.
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
        // A jump to the next line goes.
        if let Some(Line::Inst(Inst {
            guard: None,
            mnemonic,
            operands,
            ..
        })) = self.lines.last()
            && mnemonic.opcode() == Opcode::Bra
            && matches!(&operands[..], [Operand::Name(target)] if target == label)
        {
            self.lines.pop();
        }
        self.lines.push(Line::Label(label.into()));
    }

    /// Jumps.
    pub fn branch(&mut self, label: &str) {
        // Every branch of the language is taken by the threads for which its condition holds; `.uni` is not promised.
        self.emit(Opcode::Bra, (), [Operand::Name(label.into())]);
    }

    /// Jumps where the guard holds.
    pub fn branch_if(&mut self, guard: Guard, label: &str) {
        self.emit_if(guard, Opcode::Bra, (), [Operand::Name(label.into())]);
    }

    // ---- the places besides the current line

    /// Adds a comment to the header.
    pub fn header(&mut self, text: impl Into<String>) {
        self.header.push(text.into());
    }

    /// A register that every thread computes before the body, once for each `name`, however often it is asked for.
    pub fn once(
        &mut self,
        name: &str,
        ty: Type,
        emit: impl FnOnce(&mut Builder, &Scalar),
    ) -> Scalar {
        self.once_as(name, name, ty, emit)
    }

    /// The PTX parameter `symbol` in a register called after `name`, and what `then` makes of it.
    pub fn parameter(
        &mut self,
        symbol: &str,
        name: &str,
        ty: Type,
        then: impl FnOnce(&mut Builder, &Scalar),
    ) -> Scalar {
        // The brackets tell a parameter from what the language itself computes once, whatever either is called.
        self.once_as(&format!("[{symbol}]"), name, ty, |b, register| {
            let from = Operand::Address {
                base: Box::new(Operand::Name(symbol.into())),
                offset: 0,
            };
            let modifiers = (Modifier::Param, ty);
            b.emit(Opcode::Ld, modifiers, [register.operand(), from]);
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
        if let Some((_, scalar)) = self.once.iter().find(|(known, _)| known == key) {
            return scalar.clone();
        }
        let scalar = self.named_register(ty, name);
        // What `emit` asks for `once` precedes what it emits itself.
        let body = std::mem::take(&mut self.lines);
        emit(self, &scalar);
        let lines = std::mem::replace(&mut self.lines, body);
        self.prologue.extend(lines);
        self.once.push((key.into(), scalar.clone()));
        scalar
    }

    /// Adds an instruction that thread 0 runs before the body; all threads wait for it.
    pub fn init(
        &mut self,
        opcode: Opcode,
        modifiers: impl Modifiers,
        operands: impl IntoIterator<Item = Operand>,
    ) {
        let inst = self.instruction(opcode, modifiers, operands);
        self.init.extend(inst.map(Line::Inst));
    }

    /// Reserves dynamic shared memory and gives its offset from [`shared_base`](Self::shared_base).
    pub fn allocate(&mut self, bytes: u32, align: u32) -> Result<u32> {
        let offset = self.shared_bytes.next_multiple_of(align);
        match offset.checked_add(bytes) {
            Some(end) if end <= shared::MAX_BYTES => {
                self.shared_bytes = end;
                Ok(offset)
            }
            _ => Err(self.error(format!(
                "{bytes} bytes of shared memory at offset {offset} end after {}, all that a CTA has",
                shared::MAX_BYTES
            ))),
        }
    }

    /// The shared-memory address of the kernel's dynamic shared memory, a multiple of [`SHARED_ALIGN`].
    pub fn shared_base(&mut self) -> Scalar {
        self.once("smem_base", Type::U32, |b, base| {
            b.emit(
                Opcode::Mov,
                Type::U32,
                [base.operand(), Operand::Name("smem".into())],
            );
        })
    }

    /// The index of the thread in its CTA.
    pub fn thread(&mut self) -> Scalar {
        let thread = self.special("thread", Register::Tid, 0);
        self.limit_bits(&thread, u64::from(self.threads.next_power_of_two()) - 1);
        thread
    }

    /// A special register, or a component of one, read once.
    pub fn special(&mut self, name: &str, register: Register, axis: usize) -> Scalar {
        self.once(name, Type::U32, |b, scalar| {
            b.emit(
                Opcode::Mov,
                Type::U32,
                [
                    scalar.operand(),
                    Operand::Name(Special::of(register).component(axis)),
                ],
            );
        })
    }

    // ---- known bits

    /// The bits that may be set in a number.
    pub fn possible_bits(&self, num: &Num) -> u64 {
        match num {
            Num::Const(value) => *value as u64,
            Num::Reg(scalar) => {
                let all = u64::MAX >> (64 - scalar.ty.bits().clamp(1, 64));
                let known = self.bits.get(&scalar.name).filter(|_| !scalar.variable);
                known.map_or(all, |bits| bits & all)
            }
        }
    }

    /// Promises that no other bits of a register are ever set.
    pub fn limit_bits(&mut self, scalar: &Scalar, bits: u64) {
        self.bits.insert(scalar.name.clone(), bits);
    }

    // ---- the end

    /// Declares the registers, puts the pieces in order, and ends the kernel.
    pub fn finish(mut self) -> Result<Parts> {
        let thread = (!self.init.is_empty()).then(|| self.thread());
        let mut start = Vec::new();
        if let Some(thread) = thread {
            let body = std::mem::take(&mut self.lines);
            let init = std::mem::take(&mut self.init);
            self.start_up(&thread, init);
            start = std::mem::replace(&mut self.lines, body);
        }
        let mut code = std::mem::take(&mut self.prologue);
        code.append(&mut start);
        code.append(&mut self.lines);
        code.extend(self.instruction(Opcode::Ret, (), []).map(Line::Inst));
        if let Some(defect) = self.defect {
            return Err(defect);
        }
        remove_unread(&mut code);
        let mut body = self.declarations(&code);
        body.push(Line::Blank);
        body.append(&mut code);
        Ok(Parts {
            header: self.header,
            body,
            shared_bytes: self.shared_bytes,
            params: self.params,
        })
    }

    fn start_up(&mut self, thread: &Scalar, init: Vec<Line>) {
        self.comment("thread 0 initialises the barriers; everyone waits until that is visible");
        let label = self.label("initialised");
        let others = self.set_predicate(Cmp::Ne, Type::U32, thread.operand(), Operand::Int(0));
        self.branch_if(when(&others), &label);
        self.append(init);
        self.emit(Opcode::FenceMbarrierInit, (), []);
        self.place_label(&label);
        if self.cluster == [1, 1, 1] {
            self.emit(Opcode::BarSync, (), [Operand::Int(0)]);
        } else {
            self.emit(Opcode::BarrierClusterArrive, Modifier::Aligned, []);
            self.emit(Opcode::BarrierClusterWait, Modifier::Aligned, []);
        }
    }

    fn declarations(&self, code: &[Line]) -> Vec<Line> {
        let mut used = BTreeSet::new();
        for line in code {
            let Line::Inst(inst) = line else { continue };
            used.extend(inst.guard.iter().map(|guard| guard.predicate.as_str()));
            inst.operands
                .iter()
                .for_each(|operand| operand.for_each_name(&mut |name| _ = used.insert(name)));
        }
        let mut lines = Vec::new();
        for (prefix, ty) in CLASSES {
            let prefix = format!("%{prefix}");
            // Numbers up to the largest that is still there.
            let numbers = used
                .iter()
                .filter_map(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
            if let Some(last) = numbers.max() {
                lines.push(Line::Registers {
                    ty: *ty,
                    prefix,
                    count: last + 1,
                });
            }
        }
        for (ty, name) in &self.named {
            if used.contains(name.as_str()) {
                lines.push(Line::Register {
                    ty: *ty,
                    name: name.clone(),
                });
            }
        }
        lines
    }
}

/// `@%p`.
pub fn when(predicate: &Scalar) -> Guard {
    Guard {
        negated: false,
        predicate: predicate.name.clone(),
    }
}

/// `@!%p`.
pub fn unless(predicate: &Scalar) -> Guard {
    Guard {
        negated: true,
        predicate: predicate.name.clone(),
    }
}

/// The operand `[base+offset]`.
pub fn address(base: &Scalar, offset: i64) -> Operand {
    Operand::Address {
        base: Box::new(base.operand()),
        offset,
    }
}

const CLASSES: &[(&str, Type)] = &[
    ("p", Type::Pred),
    ("h", Type::B16),
    ("r", Type::B32),
    ("rd", Type::B64),
    ("f", Type::F32),
    ("fd", Type::F64),
];

/// The family of registers that hold a type: their prefix and how they are declared.
fn class(ty: Type) -> (&'static str, Type) {
    let index = match ty {
        Type::Pred => 0,
        Type::F32 => 4,
        Type::F64 => 5,
        ty if ty.bits() <= 16 => 1,
        ty if ty.bits() <= 32 => 2,
        _ => 3,
    };
    CLASSES[index]
}

/// Whether a name without `%` belongs to PTX or to a family of numbered registers.
fn is_taken(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut special = SPECIAL.iter().map(|special| &special.name[1..]);
    special.any(|special| special == name)
        || ["pm", "envreg"]
            .into_iter()
            .chain(CLASSES.iter().map(|(p, _)| *p))
            .any(numbered)
}
