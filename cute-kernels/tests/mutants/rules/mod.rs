//! The mistakes: what each changes in which instructions.

mod address;
mod control;
mod synchronisation;

use cute_ptx::ast::{Guard, Inst, Line, Operand};

use crate::body::Body;
use crate::mutation::Class::{self, Address, Control, Synchronisation};
use crate::mutation::Edit;
use synchronisation as sync;

/// A kind of mistake.
pub(crate) struct Rule {
    pub(crate) class: Class,
    pub(crate) name: &'static str,
    changes: Changes,
}

/// What a rule makes of the instruction in a line, for each way to make this mistake.
enum Changes {
    /// The lines that take its place.
    Line(fn(&Body, usize, &Inst) -> Vec<Vec<Line>>),
    /// Changes of several lines.
    Lines(fn(&Body, usize, &Inst) -> Vec<Vec<Edit>>),
}

impl Rule {
    const fn line(
        class: Class,
        name: &'static str,
        changes: fn(&Body, usize, &Inst) -> Vec<Vec<Line>>,
    ) -> Rule {
        let changes = Changes::Line(changes);
        Rule {
            class,
            name,
            changes,
        }
    }

    const fn lines(
        class: Class,
        name: &'static str,
        changes: fn(&Body, usize, &Inst) -> Vec<Vec<Edit>>,
    ) -> Rule {
        let changes = Changes::Lines(changes);
        Rule {
            class,
            name,
            changes,
        }
    }

    pub(crate) fn changes(&self, body: &Body, at: usize, inst: &Inst) -> Vec<Vec<Edit>> {
        let edit = |with| Edit {
            lines: at..at + 1,
            with,
        };
        match self.changes {
            Changes::Line(changes) => {
                let changes = changes(body, at, inst).into_iter();
                changes.map(|with| vec![edit(with)]).collect()
            }
            Changes::Lines(changes) => changes(body, at, inst),
        }
    }

    /// To how many instructions of one kind it is applied: of one place in the source, or of one mnemonic.
    pub(crate) fn most(&self) -> usize {
        match self.class {
            Class::Synchronisation => 2,
            Class::Address | Class::Control => 6,
        }
    }
}

/// All kinds of mistakes.
pub(crate) const RULES: &[Rule] = &[
    Rule::line(Synchronisation, "left out", sync::left_out),
    Rule::line(Synchronisation, "not repeated", sync::not_repeated),
    Rule::lines(Synchronisation, "later", sync::later),
    Rule::lines(Synchronisation, "earlier", sync::earlier),
    Rule::lines(Synchronisation, "doubled", sync::doubled),
    Rule::lines(Synchronisation, "some warps", sync::some_warps),
    Rule::line(Synchronisation, "another warp", sync::another_warp),
    Rule::line(Synchronisation, "some lanes", sync::some_lanes),
    Rule::line(Synchronisation, "members", sync::members),
    Rule::line(
        Synchronisation,
        "one more under way",
        sync::one_more_under_way,
    ),
    Rule::line(Synchronisation, "other count", sync::other_count),
    Rule::line(Synchronisation, "other parity", sync::other_parity),
    Rule::line(Synchronisation, "other barrier", sync::other_barrier),
    Rule::line(Synchronisation, "other threads", sync::other_threads),
    Rule::line(Synchronisation, "own CTA", sync::own_cta),
    Rule::line(Synchronisation, "fewer CTAs", sync::fewer_ctas),
    Rule::line(Synchronisation, "weaker", sync::weaker),
    Rule::line(Synchronisation, "registers", sync::registers),
    Rule::line(Synchronisation, "guard", sync::guard),
    Rule::line(Address, "offset", address::offset),
    Rule::line(Address, "coordinates", address::coordinates),
    Rule::line(Address, "computation", address::computation),
    Rule::line(Control, "branch", control::branch),
    Rule::line(Control, "comparison", control::comparison),
    Rule::line(Control, "bound", control::bound),
    Rule::line(Control, "selection", control::selection),
    Rule::line(Control, "guard", control::guard),
];

/// The instruction without its guard, and with the guard negated.
fn other_guards(inst: &Inst) -> Vec<Vec<Line>> {
    let Some(guard) = &inst.guard else {
        return vec![];
    };
    let negated = Guard {
        negated: !guard.negated,
        ..guard.clone()
    };
    let guards = [None, Some(negated)].into_iter();
    guards
        .map(|guard| {
            vec![Line::Inst(Inst {
                guard,
                ..inst.clone()
            })]
        })
        .collect()
}

/// The instruction with another integer, if its operand is one.
fn with_int(inst: &Inst, operand: usize, change: impl Fn(i128) -> i128) -> Vec<Vec<Line>> {
    match inst.operands.get(operand) {
        Some(&Operand::Int(value)) if change(value) != value && change(value) >= 0 => {
            vec![vec![replaced(inst, operand, Operand::Int(change(value)))]]
        }
        _ => vec![],
    }
}

fn with_offset(inst: &Inst, operand: usize, step: i64) -> Vec<Vec<Line>> {
    let Some(Operand::Address { base, offset }) = inst.operands.get(operand) else {
        return vec![];
    };
    let moved = Operand::Address {
        base: base.clone(),
        offset: offset + step,
    };
    vec![vec![replaced(inst, operand, moved)]]
}

fn replaced(inst: &Inst, operand: usize, with: Operand) -> Line {
    let mut inst = inst.clone();
    inst.operands[operand] = with;
    Line::Inst(inst)
}
