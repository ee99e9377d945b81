//! Where threads of a group may have diverged, and why.
//!
//! Threads diverge at a branch whose condition may differ between them. They converge in the first block that all of them reach. Between
//! the two, some threads may be elsewhere: on the other side, ahead in a loop, or at the end of the kernel. A register written there may
//! differ between the threads that converge, since not all have executed the write, or not equally often.
//!
//! For a register that several lines write, each block that needs it has its differences at the beginning of the block. For a register that
//! a single line writes, the differences are the same everywhere. All registers begin as equal in all threads; differences are added until
//! nothing changes.

use super::flow::Flow;
use super::group::Group;
use super::rules::{self, Known};
use super::varies::{Cause, Varies};
use crate::kernel::ir::{self, Inst, Line, claims::Statement};
use cute_ptx::table::Opcode;
use std::collections::{HashMap, HashSet};

/// The most passes over the lines. Each variable that a loop carries on to the next variable takes one pass.
const MAX_PASSES: usize = 200;

/// Properties of a kernel besides its lines.
pub struct Facts<'a> {
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// For each register that a single line writes, the bits that may be set.
    pub bits: &'a HashMap<ir::Register, u64>,
    /// The registers with the result of a function of the language, and the name of the function.
    pub calls: &'a HashMap<ir::Register, &'static str>,
}

/// Where threads have parted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parting {
    /// The line of the branch.
    pub(super) line: usize,
    /// The reason why the condition differs.
    pub(super) cause: Cause,
}

/// The differences of variables, by their indices.
type Variables = HashMap<usize, Varies>;

/// A register that decides a branch, or an input of such a register.
#[derive(Clone, Copy)]
enum Register {
    /// A single line writes it: its index among such registers.
    Fixed(usize),
    /// Several lines write it: its index among such registers.
    Variable(usize),
}

pub(super) struct Analysis<'a> {
    code: &'a [Line],
    facts: Facts<'a>,
    pub(super) flow: Flow,
    registers: HashMap<ir::Register, Register>,
    /// For each block, the lines that write registers, claim something about them, or end it.
    lines: Vec<Vec<usize>>,
    fixed: Vec<Varies>,
    /// For each block, the variables that it or a later one reads, with their differences at its beginning.
    variables: Vec<Variables>,
    /// For each block and group, the branch at which its threads have diverged.
    parted: Vec<[Option<Parting>; 4]>,
    /// The blocks between a group's divergent branches and the block where its threads converge.
    apart: HashMap<(Option<usize>, Group), HashSet<usize>>,
}

impl<'a> Analysis<'a> {
    pub(super) fn new(code: &'a [Line], facts: Facts<'a>) -> Self {
        let flow = Flow::new(code);
        let registers = registers(code);
        let lines = flow.blocks.iter().map(|block| {
            let relevant = |at: &usize| match &code[*at] {
                Line::Inst(inst) => {
                    let mut writes = branches(inst);
                    inst.for_each_written(&mut |it| writes |= registers.contains_key(&it));
                    writes
                }
                Line::Statement(statement) => matches!(statement, Statement::Uniform { .. }),
                _ => false,
            };
            block.lines.clone().filter(relevant).collect()
        });
        let lines: Vec<Vec<usize>> = lines.collect();
        let variables = needed(code, &flow, &registers, &lines);
        let mut analysis = Self {
            code,
            facts,
            lines,
            fixed: vec![Varies::NOT; registers.len()],
            variables,
            parted: vec![[None; 4]; flow.blocks.len()],
            apart: HashMap::new(),
            registers,
            flow,
        };
        let mut passes = 0;
        while (0..analysis.flow.blocks.len()).fold(false, |any, block| analysis.run(block) | any) {
            passes += 1;
            if passes == MAX_PASSES {
                analysis.give_up();
            }
        }
        analysis
    }

    /// Assumes that all registers may differ between all lanes.
    fn give_up(&mut self) {
        let varies = Varies::by_lane("too many variables, each made of the next one");
        let variables = self.variables.iter_mut().flat_map(HashMap::values_mut);
        for register in self.fixed.iter_mut().chain(variables) {
            register.join(&varies);
        }
    }

    /// The branch after which threads of a group may not be in this block together.
    pub(super) fn parted(&self, block: usize, group: Group) -> Option<Parting> {
        self.parted[block][group as usize]
    }

    /// Follows the registers through a block. Returns whether anything is new.
    fn run(&mut self, block: usize) -> bool {
        let mut is_new = false;
        let mut here = Here {
            variables: std::mem::take(&mut self.variables[block]),
            butterflies: HashMap::new(),
        };
        let before = here.variables.clone();
        let mut parting = None;
        for at in 0..self.lines[block].len() {
            let line = self.lines[block][at];
            match &self.code[line] {
                Line::Inst(inst) => {
                    is_new |= self.execute(inst, &mut here);
                    if let Some(guard) = inst.guard.as_ref().filter(|_| branches(inst)) {
                        let varies = self.now(guard.predicate, &here.variables);
                        parting = Some((line, varies));
                    }
                }
                Line::Statement(statement) => self.agree(statement, block, &mut here),
                _ => {}
            }
        }
        self.variables[block] = before;
        if let Some((line, varies)) = parting {
            is_new |= self.part(block, line, &varies);
        }
        for next in 0..self.flow.blocks[block].next.len() {
            let next = self.flow.blocks[block].next[next];
            for (variable, to) in self.variables.get_mut(next).into_iter().flatten() {
                let from = here.variables.get(variable);
                is_new |= from.is_some_and(|from| to.join(from));
            }
        }
        is_new
    }

    /// The differences of a register.
    fn now(&self, register: ir::Register, variables: &Variables) -> Varies {
        match self.registers.get(&register) {
            Some(Register::Fixed(index)) => self.fixed[*index],
            Some(Register::Variable(index)) => variables.get(index).copied().unwrap_or(Varies::NOT),
            None => Varies::NOT,
        }
    }

    fn execute(&mut self, inst: &Inst, here: &mut Here) -> bool {
        let mut result = rules::result(
            inst,
            &At {
                analysis: self,
                variables: &here.variables,
            },
        );
        if let Some((a, b)) = rules::joined(inst) {
            let exchanged = |from, to| match here.butterflies.get(&to) {
                Some((lanes, of)) if *of == from => *lanes,
                _ => 0,
            };
            result = result.without_lanes(exchanged(a, b) | exchanged(b, a));
        }
        if let Some(guard) = &inst.guard {
            let chooses = self.now(guard.predicate, &here.variables);
            result.join(&chooses.spread());
        }
        let mut is_new = false;
        inst.for_each_written(&mut |written| {
            here.butterflies
                .retain(|to, (_, from)| *to != written && *from != written);
            let call = self.facts.calls.get(&written);
            let result = call.map_or(result, |call| result.because(*call));
            match self.registers.get(&written) {
                Some(Register::Fixed(index)) => is_new |= self.fixed[*index].join(&result),
                Some(Register::Variable(index)) => {
                    let before = here.variables.insert(*index, result);
                    if let (Some(before), Some(now), Some(_)) =
                        (before, here.variables.get_mut(index), &inst.guard)
                    {
                        now.join(&before);
                    }
                }
                None => {}
            }
        });
        if let Some((lanes, from, to)) = rules::butterfly(inst) {
            here.butterflies.insert(to, (lanes, from));
        }
        is_new
    }

    /// Applies a claim of the same value for threads of a group. It says nothing where some of these threads are elsewhere.
    fn agree(&self, statement: &Statement, block: usize, here: &mut Here) {
        let Statement::Uniform { register, group } = statement else {
            return;
        };
        let claimed = Group::from(*group);
        let Some(Register::Variable(index)) = self.registers.get(register) else {
            return;
        };
        let Some(variable) = here.variables.get_mut(index) else {
            return;
        };
        for group in Group::ALL {
            if group <= claimed && self.parted(block, group).is_none() {
                variable.agree(group);
            }
        }
    }

    /// Threads diverge at the end of a block if its condition may differ in these groups.
    fn part(&mut self, block: usize, line: usize, condition: &Varies) -> bool {
        let mut is_new = false;
        let meet = self.flow.meet(block);
        for group in Group::ALL {
            if !condition.is_in(group) {
                continue;
            }
            let parting = Parting {
                line,
                cause: condition.cause(group),
            };
            let known = self.apart.entry((meet, group)).or_default();
            for apart in self.flow.apart(block, known) {
                is_new = true;
                self.parted[apart][group as usize].get_or_insert(parting);
                for at in 0..self.lines[apart].len() {
                    self.write_apart(self.lines[apart][at], group, meet);
                }
            }
        }
        is_new
    }

    /// Diverged threads of a group converge in `meet`. Results of this line may differ between them from there on.
    fn write_apart(&mut self, line: usize, group: Group, meet: Option<usize>) {
        let Line::Inst(inst) = &self.code[line] else {
            return;
        };
        let varies = Varies::in_group(group, "what was assigned where they had parted");
        inst.for_each_written(&mut |written| match self.registers.get(&written) {
            Some(Register::Fixed(index)) => _ = self.fixed[*index].join(&varies),
            Some(Register::Variable(index)) => {
                let there = meet.and_then(|meet| self.variables.get_mut(meet));
                let there = there.and_then(|variables| variables.get_mut(index));
                _ = there.map(|variable| variable.join(&varies));
            }
            None => {}
        });
    }
}

/// The state at a line of a block.
struct Here {
    variables: Variables,
    /// By register with values of other lanes: the bit of the lane number that was flipped, and the register with the lane's own values.
    butterflies: HashMap<ir::Register, (u8, ir::Register)>,
}

/// The registers that an instruction reads.
struct At<'s, 'a> {
    analysis: &'s Analysis<'a>,
    variables: &'s Variables,
}

impl Known for At<'_, '_> {
    fn varies(&self, register: ir::Register) -> Varies {
        self.analysis.now(register, self.variables)
    }

    fn possible(&self, register: ir::Register) -> u64 {
        let Analysis {
            registers, facts, ..
        } = self.analysis;
        match registers.get(&register) {
            Some(Register::Variable(_)) => u64::MAX,
            _ => facts.bits.get(&register).copied().unwrap_or(u64::MAX),
        }
    }

    fn threads(&self) -> u32 {
        self.analysis.facts.threads
    }

    fn cluster(&self) -> [u32; 3] {
        self.analysis.facts.cluster
    }
}

/// Whether threads may part at an instruction.
fn branches(inst: &Inst) -> bool {
    let jumps = [Opcode::Bra, Opcode::Ret, Opcode::Exit].contains(&inst.mnemonic.opcode());
    jumps && inst.guard.is_some()
}

/// The registers that decide branches, and their inputs. A register with a claim counts as a variable, since the claim holds from its line
/// on.
fn registers(code: &[Line]) -> HashMap<ir::Register, Register> {
    let mut writes: HashMap<ir::Register, Vec<&Inst>> = HashMap::new();
    let mut open = Vec::new();
    let mut claimed = HashSet::new();
    for line in code {
        match line {
            Line::Inst(inst) => {
                inst.for_each_written(&mut |it| writes.entry(it).or_default().push(inst));
                if let Some(guard) = inst.guard.as_ref().filter(|_| branches(inst)) {
                    open.push(guard.predicate);
                }
            }
            Line::Statement(Statement::Uniform { register, .. }) => _ = claimed.insert(*register),
            _ => {}
        }
    }
    let (mut fixed, mut variables) = (0.., 0..);
    let mut registers = HashMap::new();
    while let Some(next) = open.pop() {
        let Some(writes) = writes.get(&next).filter(|_| !registers.contains_key(&next)) else {
            continue;
        };
        let register = match writes.len() == 1 && !claimed.contains(&next) {
            true => fixed.next().map(Register::Fixed),
            false => variables.next().map(Register::Variable),
        };
        registers.extend(register.map(|register| (next, register)));
        for inst in writes {
            inst.for_each_read(&mut |register| open.push(register));
        }
    }
    registers
}

/// For each block, the variables that it or a later block reads before a write. Initially they are the same in all threads.
fn needed(
    code: &[Line],
    flow: &Flow,
    registers: &HashMap<ir::Register, Register>,
    lines: &[Vec<usize>],
) -> Vec<Variables> {
    let index = |register: ir::Register| match registers.get(&register) {
        Some(Register::Variable(index)) => Some(*index),
        _ => None,
    };
    let mut written = vec![HashSet::new(); lines.len()];
    let mut open = Vec::new();
    for (block, lines) in lines.iter().enumerate() {
        let written = &mut written[block];
        for line in lines {
            let mut read = |register: ir::Register| {
                let variable = index(register).filter(|it| !written.contains(it));
                open.extend(variable.map(|variable| (block, variable)));
            };
            match &code[*line] {
                Line::Inst(inst) => {
                    inst.for_each_read(&mut read);
                    match inst.guard {
                        // Threads without the guard keep the value.
                        Some(_) => inst.for_each_written(&mut read),
                        None => inst.for_each_written(&mut |it| written.extend(index(it))),
                    }
                }
                Line::Statement(Statement::Uniform { register, .. }) => read(*register),
                _ => {}
            }
        }
    }
    let before = flow.before();
    let mut needed = vec![Variables::new(); lines.len()];
    while let Some((block, variable)) = open.pop() {
        if needed[block].insert(variable, Varies::NOT).is_none() {
            let before = before[block].iter();
            let before = before.filter(|before| !written[**before].contains(&variable));
            open.extend(before.map(|before| (*before, variable)));
        }
    }
    needed
}
