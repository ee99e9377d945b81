//! A kernel that computes, beside each register that a mutant changes, what the mutant has there: the register's shadow.

use std::collections::BTreeSet;

use cute_ptx::Module;
use cute_ptx::ast::{Guard, Inst, Line, Operand, Type, families};
use cute_ptx::table::Effect;

use crate::mutation::{entry, entry_mut, mnemonic};

/// A predicate that tells whether a register differs from its shadow.
const DIFFERS: &str = "%shadow_differs";

/// The kernel with shadows for a mutant that has `after` in place of `before` in line `at`. It traps where a register differs from
/// its shadow and anything but a computation would read it. If no thread of a launch gets there, all threads do the same in the
/// mutant. `None` if the mutant changes more than what is computed.
pub(crate) fn shadowed(module: &Module, at: usize, before: &Inst, after: &Inst) -> Option<Module> {
    let computes = |inst: &Inst| inst.effect() == Effect::None;
    if !computes(before) || !computes(after) || written(before) != written(after) {
        return None;
    }
    let body = &entry(module).body;
    let changed = changed(body, written(before));
    let mut lines = vec![register(Type::Pred, DIFFERS)];
    for name in &changed {
        lines.push(register(declared(body, name)?, &shadow(name)));
    }
    for (number, line) in body.iter().enumerate() {
        let Line::Inst(inst) = line else {
            lines.push(line.clone());
            continue;
        };
        let writes = written(inst).intersection(&changed).count() > 0;
        if computes(inst) {
            if writes {
                let inst = if number == at { after } else { inst };
                lines.push(Line::Inst(of_shadows(inst, &changed)));
            }
            lines.push(line.clone());
            continue;
        }
        // The guard first: the threads in which it holds are the same then.
        if let Some(guard) = &inst.guard
            && changed.contains(&guard.predicate)
        {
            lines.extend(trap(body, &guard.predicate, None)?);
        }
        let mut sources = BTreeSet::new();
        inst.for_each_source(&mut |name| _ = sources.insert(name.to_owned()));
        for name in sources.intersection(&changed) {
            lines.extend(trap(body, name, inst.guard.as_ref())?);
        }
        lines.push(line.clone());
        for name in written(inst).intersection(&changed) {
            let operands = [shadow(name), name.clone()].map(Operand::Name);
            lines.push(Line::Inst(Inst {
                guard: inst.guard.clone(),
                ..Inst::new(mnemonic(of_type(declared(body, name)?)?.0), operands)
            }));
        }
    }
    let mut module = module.clone();
    entry_mut(&mut module).body = lines;
    Some(module)
}

/// These registers, and all that computations make of them.
fn changed(body: &[Line], mut changed: BTreeSet<String>) -> BTreeSet<String> {
    loop {
        let before = changed.len();
        for line in body {
            let Line::Inst(inst) = line else { continue };
            let mut reads = false;
            inst.for_each_read(&mut |name| reads |= changed.contains(name));
            if reads && inst.effect() == Effect::None {
                changed.extend(written(inst));
            }
        }
        if changed.len() == before {
            return changed;
        }
    }
}

fn written(inst: &Inst) -> BTreeSet<String> {
    let mut written = BTreeSet::new();
    inst.for_each_written(&mut |name| _ = written.insert(name.to_owned()));
    written
}

fn shadow(register: &str) -> String {
    format!("%shadow_{}", register.trim_start_matches('%'))
}

/// The instruction with shadows in place of the registers that are changed.
fn of_shadows(inst: &Inst, changed: &BTreeSet<String>) -> Inst {
    let rename = |name: &mut String| {
        if changed.contains(name) {
            *name = shadow(name);
        }
    };
    let mut inst = inst.clone();
    // What the PTX says of the address of an access is not so of its shadow.
    inst.comment = None;
    if let Some(guard) = &mut inst.guard {
        rename(&mut guard.predicate);
    }
    for operand in &mut inst.operands {
        operand.for_each_name_mut(&rename);
    }
    inst
}

/// Traps in threads in which the guard holds and the register differs from its shadow.
fn trap(body: &[Line], name: &str, guard: Option<&Guard>) -> Option<[Line; 3]> {
    let register = |name: &str| Operand::Name(name.to_owned());
    let nothing = [register(DIFFERS), Operand::Int(0), Operand::Int(0)];
    let both = [register(DIFFERS), register(name), register(&shadow(name))];
    let (_, compare) = of_type(declared(body, name)?)?;
    let differs = Guard {
        predicate: DIFFERS.to_owned(),
        negated: false,
    };
    let guarded = |guard: Option<&Guard>, inst: Inst| {
        Line::Inst(Inst {
            guard: guard.cloned(),
            ..inst
        })
    };
    Some([
        guarded(None, Inst::new(mnemonic("setp.ne.u32"), nothing)),
        guarded(guard, Inst::new(mnemonic(compare), both)),
        guarded(Some(&differs), Inst::new(mnemonic("trap"), [])),
    ])
}

/// The instruction that copies a register of a type, and the one that compares two.
fn of_type(ty: Type) -> Option<(&'static str, &'static str)> {
    Some(match (ty, ty.bits()) {
        (Type::Pred, _) => ("mov.pred", "xor.pred"),
        (_, 16) => ("mov.b16", "setp.ne.b16"),
        (_, 32) => ("mov.b32", "setp.ne.b32"),
        (_, 64) => ("mov.b64", "setp.ne.b64"),
        _ => return None,
    })
}

fn register(ty: Type, name: &str) -> Line {
    Line::Register {
        ty,
        name: name.to_owned(),
    }
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
