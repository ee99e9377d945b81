//! Mutants that no schedule and no hardware can tell from the kernel, by a rule for the PTX or by a probe: the kernel itself, with
//! a `trap` wherever the mutant would do anything else. If no thread reaches it, the launch cannot tell the two apart.

use std::collections::HashSet;

use cute_ptx::Module;
use cute_ptx::ast::{Guard, Inst, Line, Operand, Type, families};
use cute_ptx::table::{Effect, Opcode};

use crate::mutation::{Mutant, entry, entry_mut, mnemonic};

/// Why the mutant is equivalent to the kernel; `None` if it is not known to be. `passes` tells whether the launch ends without
/// an error with these modules instead of the kernel's.
pub(crate) fn reason(
    module: &Module,
    mutant: &Mutant,
    passes: impl Fn(&Module) -> bool,
) -> Option<&'static str> {
    let holds = |row: &&Row| match row.proof {
        Proof::Rule(rule) => rule(module, mutant),
        Proof::Probe(probe) => probe(module, mutant).is_some_and(|probe| passes(&probe)),
    };
    EQUIVALENT.iter().find(holds).map(|row| row.reason)
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
        reason: "what is computed without the guard is read under the guard only",
        proof: Proof::Rule(is_read_under_the_guard),
    },
    Row {
        reason: "no thread of the launch executes it, or fewer or more threads do",
        proof: Proof::Probe(other_threads),
    },
    Row {
        reason: "no thread of the launch computes anything else",
        proof: Proof::Probe(other_values),
    },
    Row {
        reason: "the other threads of the launch have started no bulk store, so their groups are empty",
        proof: Proof::Probe(other_stores),
    },
];

/// The instruction that a mutant changes into another one.
fn changed<'a>(module: &'a Module, mutant: &'a Mutant) -> Option<(&'a Inst, &'a Inst)> {
    match (&entry(module).body[mutant.lines.clone()], &mutant.with[..]) {
        ([Line::Inst(before)], [Line::Inst(after)]) => Some((before, after)),
        _ => None,
    }
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

fn same_but_guard(a: &Inst, b: &Inst) -> bool {
    a.mnemonic == b.mnemonic && a.operands == b.operands
}

/// Traps where the mutant computes another value than the kernel.
fn other_values(module: &Module, mutant: &Mutant) -> Option<Module> {
    let (before, after) = changed(module, mutant)?;
    let (mut results, mut others) = (Vec::new(), Vec::new());
    before.for_each_written(&mut |name| results.push(name));
    after.for_each_written(&mut |name| others.push(name));
    let [result] = results[..] else { return None };
    if before.effect() != Effect::None || before.guard != after.guard || others != results {
        return None;
    }
    let ty = declared(&entry(module).body, result)?;
    let name = |name: &str| Operand::Name(name.to_owned());
    let (other, differs) = ("%other_value", "%differs");
    let mut computed = after.clone();
    computed.operands[0] = name(other);
    // What the PTX says of the kernel's address is not so of this one.
    computed.comment = None;
    let (compare, operands) = match ty {
        Type::Pred => ("xor.pred", vec![name(differs), name(result), name(other)]),
        _ => {
            let compare = match ty.bits() {
                16 => "setp.ne.b16",
                32 => "setp.ne.b32",
                _ => "setp.ne.b64",
            };
            (compare, vec![name(differs), name(result), name(other)])
        }
    };
    let same = Inst::new(
        mnemonic("setp.ne.u32"),
        [name(differs), Operand::Int(0), Operand::Int(0)],
    );
    let compare = Inst {
        guard: before.guard.clone(),
        ..Inst::new(mnemonic(compare), operands)
    };
    let trap = Inst {
        guard: Some(Guard {
            predicate: differs.to_owned(),
            negated: false,
        }),
        ..Inst::new(mnemonic("trap"), [])
    };
    let register = |ty, name: &str| Line::Register {
        ty,
        name: name.to_owned(),
    };
    let lines = vec![
        register(ty, other),
        register(Type::Pred, differs),
        Line::Inst(same),
        Line::Inst(computed),
        Line::Inst(before.clone()),
        Line::Inst(compare),
        Line::Inst(trap),
    ];
    Some(with(module, mutant, lines))
}

/// The type with which a register is declared.
fn declared(body: &[Line], register: &str) -> Option<Type> {
    body.iter().find_map(|line| match line {
        Line::Register { ty, name } if name == register => Some(*ty),
        Line::Registers { ty, prefix, .. } => families(register)
            .any(|(family, _)| family == prefix)
            .then_some(*ty),
        _ => None,
    })
}

/// For a `commit_group` or `wait_group` of bulk stores that has lost its guard: traps where a thread executes it that the guard
/// excludes and that has started a bulk store.
fn other_stores(module: &Module, mutant: &Mutant) -> Option<Module> {
    let (before, after) = changed(module, mutant)?;
    let group = matches!(
        before.mnemonic.opcode(),
        Opcode::CpAsyncBulkCommitGroup | Opcode::CpAsyncBulkWaitGroup
    );
    let guard = before
        .guard
        .as_ref()
        .filter(|_| group && after.guard.is_none())?;
    let name = |name: &str| Operand::Name(name.to_owned());
    let (stored, trapped) = ("%stored", "%stored_here");
    let set = |value| Inst::new(mnemonic("mov.u32"), [name(stored), Operand::Int(value)]);
    let register = |ty, name: &str| Line::Register {
        ty,
        name: name.to_owned(),
    };
    let mut lines = vec![
        register(Type::U32, stored),
        register(Type::Pred, trapped),
        Line::Inst(set(0)),
    ];
    for (at, line) in entry(module).body.iter().enumerate() {
        if at == mutant.lines.start {
            let nothing = [name(trapped), Operand::Int(0), Operand::Int(0)];
            lines.push(Line::Inst(Inst::new(mnemonic("setp.ne.u32"), nothing)));
            let any = [name(trapped), name(stored), Operand::Int(0)];
            lines.push(Line::Inst(Inst {
                guard: Some(Guard {
                    negated: !guard.negated,
                    ..guard.clone()
                }),
                ..Inst::new(mnemonic("setp.ne.u32"), any)
            }));
            lines.push(Line::Inst(Inst {
                guard: Some(Guard {
                    predicate: trapped.to_owned(),
                    negated: false,
                }),
                ..Inst::new(mnemonic("trap"), [])
            }));
        }
        if let Line::Inst(inst) = line
            && inst.mnemonic.as_str().starts_with("cp.")
            && inst.mnemonic.as_str().contains("bulk_group")
        {
            lines.push(Line::Inst(Inst {
                guard: inst.guard.clone(),
                ..set(1)
            }));
        }
        lines.push(line.clone());
    }
    let mut module = module.clone();
    entry_mut(&mut module).body = lines;
    Some(module)
}

/// The kernel with these lines in place of those that the mutant changes.
fn with(module: &Module, mutant: &Mutant, lines: Vec<Line>) -> Module {
    let mut module = module.clone();
    entry_mut(&mut module)
        .body
        .splice(mutant.lines.clone(), lines);
    module
}
