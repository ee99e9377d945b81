//! Mutants that no schedule and no hardware can tell from the kernel, by a rule for the PTX or by a probe: the kernel itself, with
//! a `trap` wherever the mutant would do anything else. If no thread reaches it, the launch cannot tell the two apart.

use std::collections::HashSet;

use cute_ptx::Module;
use cute_ptx::ast::{Guard, Inst, Line, Operand};
use cute_ptx::table::{Effect, Opcode};

use crate::flow::Flow;
use crate::mutation::{Mutant, entry, entry_mut, mnemonic};
use crate::shadow::shadowed;

/// Why the mutant is equivalent to the kernel, whatever the launch; `None` if no rule says so.
pub(crate) fn by_rule(module: &Module, mutant: &Mutant) -> Option<&'static str> {
    reason(|proof| matches!(proof, Proof::Rule(rule) if rule(module, mutant)))
}

/// Why the mutant is equivalent to the kernel in a launch; `None` if no probe shows it. `passes` tells whether the launch ends
/// without an error with these modules instead of the kernel's.
pub(crate) fn by_probe(
    module: &Module,
    mutant: &Mutant,
    passes: impl Fn(&Module) -> bool,
) -> Option<&'static str> {
    reason(|proof| match proof {
        Proof::Rule(_) => false,
        Proof::Probe(probe) => probe(module, mutant).is_some_and(|probe| passes(&probe)),
    })
}

fn reason(shows: impl Fn(&Proof) -> bool) -> Option<&'static str> {
    let row = EQUIVALENT.iter().find(|row| shows(&row.proof));
    row.map(|row| row.reason)
}

struct Row {
    reason: &'static str,
    proof: Proof,
}

enum Proof {
    Rule(fn(&Module, &Mutant) -> bool),
    Probe(fn(&Module, &Mutant) -> Option<Module>),
}

const EQUIVALENT: &[Row] = &[
    Row {
        reason: "the number of registers changes the speed alone",
        proof: Proof::Rule(|_, mutant| mutant.instruction.opcode() == Opcode::Setmaxnreg),
    },
    Row {
        reason: "a launch has one grid, which no other follows and which has none to wait for",
        proof: Proof::Rule(|_, mutant| mutant.instruction.opcode() == Opcode::Griddepcontrol),
    },
    Row {
        reason: "a prefetch of the tensor map by other threads changes the time alone",
        proof: Proof::Rule(|module, mutant| {
            mutant.instruction.opcode() == Opcode::PrefetchTensormap
                && changed(module, mutant).is_some_and(|(a, b)| same_but_guard(a, b))
        }),
    },
    // PTX ISA, `wgmma.fence`: it must lie between accesses of registers and a wgmma that uses them.
    Row {
        reason: "no access of a register that the next wgmma use lies between it and a wgmma.fence before it",
        proof: Proof::Rule(is_fenced_before),
    },
    // PTX ISA, `barrier` and `barrier.cluster.arrive`: accesses before the barrier are performed for all threads that wait. The fence
    // is for copies and for other CTAs, and the emulator reports if these use an mbarrier that has been initialised after it.
    Row {
        reason: "a barrier of all threads orders the initialisation before their accesses, and nobody else uses the mbarrier",
        proof: Proof::Probe(announced_by_a_barrier),
    },
    Row {
        reason: "what is computed without the guard is read under the guard only",
        proof: Proof::Rule(is_read_under_the_guard),
    },
    Row {
        reason: "no thread of the launch executes it, or fewer or more threads do",
        proof: Proof::Probe(other_threads),
    },
    Row {
        reason: "what it computes changes no access, no branch and no wait of the launch",
        proof: Proof::Probe(other_effects),
    },
];

/// The instruction that a mutant changes into another one.
fn changed<'a>(module: &'a Module, mutant: &'a Mutant) -> Option<(&'a Inst, &'a Inst)> {
    match (&entry(module).body[mutant.lines.clone()], &mutant.with[..]) {
        ([Line::Inst(before)], [Line::Inst(after)]) => Some((before, after)),
        _ => None,
    }
}

/// Whether the mutant lacks a `wgmma.fence`, and on each way to it another one lies behind the last access of the registers that
/// wgmma instructions use up to the next fence. Accesses by wgmma instructions of the same shape need no fence.
fn is_fenced_before(module: &Module, mutant: &Mutant) -> bool {
    if mutant.instruction.opcode() != Opcode::WgmmaFence || !mutant.with.is_empty() {
        return false;
    }
    let flow = Flow::new(&entry(module).body);
    let is_fence = |inst: &Inst| inst.mnemonic.opcode() == Opcode::WgmmaFence;
    let is_product = |inst: &Inst| inst.mnemonic.opcode() == Opcode::WgmmaMmaAsync;
    let (mut used, mut shapes) = (HashSet::new(), HashSet::new());
    flow.after(mutant.lines.start, is_fence, |inst| {
        if is_product(inst) {
            shapes.insert(inst.mnemonic.as_str());
            for operand in &inst.operands {
                if let Operand::Vector(_) = operand {
                    operand.for_each_name(&mut |name| _ = used.insert(name));
                }
            }
        }
    });
    let mut accessed = false;
    let from_start = flow.before(mutant.lines.start, is_fence, |inst| {
        if !(is_product(inst) && shapes.contains(inst.mnemonic.as_str())) {
            inst.for_each_read(&mut |name| accessed |= used.contains(name));
            inst.for_each_written(&mut |name| accessed |= used.contains(name));
        }
    });
    !from_start && !accessed
}

/// The mutant itself, if it initialises an mbarrier behind the fence that announces mbarriers, and the next instruction is a
/// barrier of all threads that orders it.
fn announced_by_a_barrier(module: &Module, mutant: &Mutant) -> Option<Module> {
    let [Line::Inst(fence), Line::Inst(init)] = &mutant.with[..] else {
        return None;
    };
    let opcodes = [fence, init].map(|inst| inst.mnemonic.opcode());
    let mut after = entry(module).body[mutant.lines.end..].iter();
    let next = after.find_map(|line| match line {
        Line::Inst(inst) => Some(inst),
        _ => None,
    });
    let is_announced = opcodes == [Opcode::FenceMbarrierInit, Opcode::MbarrierInit]
        && next.is_some_and(|next| match next.mnemonic.opcode() {
            Opcode::BarSync => next.operands.len() == 1,
            Opcode::BarrierClusterArrive => !next.mnemonic.as_str().contains("relaxed"),
            _ => false,
        });
    is_announced.then(|| with(module, mutant, mutant.with.clone()))
}

/// Whether the mutant is an instruction without effect that has lost its guard, and whose result is read only in the lines up to
/// the next label or branch, by instructions with this guard.
fn is_read_under_the_guard(module: &Module, mutant: &Mutant) -> bool {
    let Some((before, after)) = changed(module, mutant) else {
        return false;
    };
    let Some(guard) = before.guard.as_ref().filter(|_| after.guard.is_none()) else {
        return false;
    };
    if before.effect() != Effect::None {
        return false;
    }
    let mut written = HashSet::new();
    before.for_each_written(&mut |name| _ = written.insert(name));
    let mut block_ends = false;
    entry(module).body.iter().enumerate().all(|(at, line)| {
        let Line::Inst(inst) = line else {
            block_ends |= at > mutant.lines.start && matches!(line, Line::Label(_));
            return true;
        };
        let (mut reads, mut changes) = (false, false);
        inst.for_each_read(&mut |name| reads |= written.contains(name));
        inst.for_each_written(&mut |name| changes |= name == guard.predicate);
        let is_after = at > mutant.lines.start && !block_ends;
        block_ends |= at > mutant.lines.start && (changes || inst.mnemonic.opcode() == Opcode::Bra);
        !reads || is_after && inst.guard.as_ref() == Some(guard)
    })
}

/// Traps where a thread executes the instruction in the kernel and not in the mutant, or the other way round.
fn other_threads(module: &Module, mutant: &Mutant) -> Option<Module> {
    let [Line::Inst(before)] = &entry(module).body[mutant.lines.clone()] else {
        return None;
    };
    let not = |guard: &Guard| Guard {
        negated: !guard.negated,
        ..guard.clone()
    };
    let guard = match (&before.guard, changed(module, mutant)) {
        // Only the guard differs: the threads whose guards do.
        (Some(guard), Some((_, after))) if same_but_guard(before, after) => match after.guard {
            None => Some(not(guard)),
            Some(_) => None,
        },
        (guard, _) => guard.clone(),
    };
    let trap = Inst {
        guard,
        ..Inst::new(mnemonic("trap"), [])
    };
    let lines = vec![Line::Inst(trap), Line::Inst(before.clone())];
    Some(with(module, mutant, lines))
}

/// Traps where the mutant makes an instruction do anything else than compute registers.
fn other_effects(module: &Module, mutant: &Mutant) -> Option<Module> {
    let (before, after) = changed(module, mutant)?;
    shadowed(module, mutant.lines.start, before, after)
}

fn same_but_guard(a: &Inst, b: &Inst) -> bool {
    a.mnemonic == b.mnemonic && a.operands == b.operands
}

/// The kernel with these lines in place of those that the mutant changes.
fn with(module: &Module, mutant: &Mutant, lines: Vec<Line>) -> Module {
    let mut module = module.clone();
    entry_mut(&mut module)
        .body
        .splice(mutant.lines.clone(), lines);
    module
}
