//! Waits, signals and orders that are missing, late, weaker, or for others.

use std::collections::HashSet;

use cute_ptx::ast::{Guard, Inst, Line, Operand, Type};
use cute_ptx::table::{Mnemonic, Modifier, Opcode, Together, op};

use super::{other_guards, replaced, with_int, with_offset};
use crate::body::{Body, accesses_memory, is_synchronisation, is_wait};
use crate::mutation::{Edit, mnemonic};

/// The registers and the label that a change adds.
const NUMBER: &str = "%mutated";
pub(crate) const CONDITION: &str = "%mutated_condition";
const LABEL: &str = "$mutated";

/// A wait or an order that is forgotten. A wait for an mbarrier writes a predicate, which is then true.
pub(super) fn left_out(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if !is_synchronisation(inst) {
        return vec![];
    }
    if !is_wait(inst.mnemonic.opcode()) {
        return vec![vec![]];
    }
    let truth = [inst.operands[0].clone(), Operand::Int(0), Operand::Int(0)];
    let mut known = Inst::new(mnemonic("setp.eq.u32"), truth);
    known.guard.clone_from(&inst.guard);
    vec![vec![Line::Inst(known)]]
}

/// A branch back to a wait whose phase is not complete.
pub(super) fn not_repeated(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let repeats = |guard: &Guard| body.waits.contains(guard.predicate.as_str());
    let branches = inst.mnemonic.opcode() == Opcode::Bra;
    match branches && inst.guard.as_ref().is_some_and(repeats) {
        true => vec![vec![]],
        false => vec![],
    }
}

/// A wait or an order that comes behind the next instruction for which it is there instead of before it, or behind the last of these before
/// a label or a branch. A grid waits for the one before it at its end.
pub(super) fn later(body: &Body, at: usize, inst: &Inst) -> Vec<Vec<Edit>> {
    let opcode = inst.mnemonic.opcode();
    let signals = signals(inst) && !SIGNAL_AND_WAIT.contains(&opcode);
    if !is_synchronisation(inst) || signals || opcode == Opcode::Setmaxnreg {
        return vec![];
    }
    let lines = body.whole(at);
    let mut moved = body.lines[lines.clone()].to_vec();
    let mut kept = Vec::new();
    // The parity may change on the way.
    if let (true, Some(Operand::Name(parity))) = (is_wait(opcode), inst.operands.get(2)) {
        let mut wait = inst.clone();
        wait.operands[2] = name(NUMBER);
        moved[at - lines.start] = Line::Inst(wait);
        kept.push(register(Type::U32, NUMBER));
        let copied = [name(NUMBER), name(parity)];
        kept.push(computes("mov.u32", copied));
    }
    let mut read = HashSet::new();
    for line in &moved {
        if let Line::Inst(inst) = line {
            inst.for_each_read(&mut |name| _ = read.insert(name));
        }
    }
    let mut behind = Vec::new();
    for (line, other) in body.block(lines.end) {
        let mut changes = false;
        other.for_each_written(&mut |name| changes |= read.contains(name));
        // Another of its kind takes its place.
        if changes || other.mnemonic.opcode() == opcode {
            break;
        }
        if opcode != Opcode::Griddepcontrol && is_ordered_by(inst, other) {
            behind.push(line + 1);
        }
    }
    if inst.mnemonic.as_str() == "griddepcontrol.wait" {
        let returns = |(_, inst): &(usize, &Inst)| {
            inst.guard.is_none() && inst.mnemonic.opcode() == Opcode::Ret
        };
        let end = body.instructions().filter(returns).last();
        behind.extend(end.map(|(line, _)| line));
    }
    let mut places: Vec<usize> = behind.first().into_iter().copied().collect();
    places.extend(behind.last().filter(|_| behind.len() > 1));
    let edits = |place| {
        let cut = Edit {
            lines: lines.clone(),
            with: kept.clone(),
        };
        vec![cut, inserted(place, moved.clone())]
    };
    places.into_iter().map(edits).collect()
}

/// An access that comes behind the signal that says that it has been made.
pub(super) fn earlier(body: &Body, at: usize, inst: &Inst) -> Vec<Vec<Edit>> {
    if !signals(inst) {
        return vec![];
    }
    // Of the accesses before the signal, the last that nothing in between depends on.
    let mut between: Vec<&Inst> = Vec::new();
    for (line, other) in body.block_before(at) {
        if is_synchronisation(other) {
            return vec![];
        }
        // What a CTA stores in global memory, it does not read.
        let stores = other.mnemonic.opcode() == Opcode::St
            && other.mnemonic.get("space") == Some(Modifier::Global);
        if !stores
            && is_ordered_by(inst, other)
            && between.iter().all(|it| are_independent(other, it))
        {
            let cut = Edit {
                lines: line..line + 1,
                with: vec![],
            };
            let access = body.lines[line].clone();
            return vec![vec![cut, inserted(at + 1, vec![access])]];
        }
        between.push(other);
    }
    vec![]
}

/// Whether neither writes what the other reads or writes.
fn are_independent(a: &Inst, b: &Inst) -> bool {
    let names = |inst: &Inst, writes: bool| {
        let mut names: HashSet<String> = HashSet::new();
        if writes {
            inst.for_each_written(&mut |name| _ = names.insert(name.to_owned()));
        } else {
            inst.for_each_read(&mut |name| _ = names.insert(name.to_owned()));
            inst.for_each_written(&mut |name| _ = names.insert(name.to_owned()));
        }
        names
    };
    names(a, true).is_disjoint(&names(b, false)) && names(b, true).is_disjoint(&names(a, false))
}

/// Instructions that tell others of what came before.
fn signals(inst: &Inst) -> bool {
    let opcode = inst.mnemonic.opcode();
    let groups = [
        Opcode::CpAsyncCommitGroup,
        Opcode::CpAsyncBulkCommitGroup,
        Opcode::WgmmaCommitGroup,
    ];
    let arrives = [
        Opcode::BarArrive,
        Opcode::BarrierArrive,
        Opcode::BarrierClusterArrive,
        Opcode::MbarrierArrive,
        Opcode::MbarrierTx,
        Opcode::CpAsyncMbarrierArrive,
    ];
    groups.contains(&opcode) || arrives.contains(&opcode) || SIGNAL_AND_WAIT.contains(&opcode)
}

/// Instructions that order what is before them as well as what is behind them.
const SIGNAL_AND_WAIT: &[Opcode] = &[
    Opcode::BarSync,
    Opcode::BarrierSync,
    Opcode::FenceProxyAsync,
    Opcode::Fence,
    Opcode::Membar,
];

/// Whether it matters on which side of an instruction of synchronisation another one is.
fn is_ordered_by(inst: &Inst, other: &Inst) -> bool {
    let of = other.mnemonic.opcode();
    let is_bulk = matches!(
        of,
        Opcode::CpAsyncBulk
            | Opcode::CpAsyncBulkTensor
            | Opcode::CpReduceAsyncBulk
            | Opcode::CpReduceAsyncBulkTensor
    );
    match inst.mnemonic.opcode() {
        // A group is that of its thread, or warp.
        Opcode::CpAsyncBulkCommitGroup => is_bulk || of == Opcode::CpAsyncBulkWaitGroup,
        Opcode::CpAsyncCommitGroup => matches!(of, Opcode::CpAsync | Opcode::CpAsyncWaitGroup),
        Opcode::WgmmaCommitGroup => matches!(of, Opcode::WgmmaMmaAsync | Opcode::WgmmaWaitGroup),
        Opcode::WgmmaFence => of == Opcode::WgmmaMmaAsync,
        // A fence of proxies lies between the accesses of the one and of the other, wherever that is.
        Opcode::FenceProxyAsync => {
            is_bulk || matches!(of, Opcode::WgmmaMmaAsync | Opcode::MbarrierArrive)
        }
        _ => {
            let is_none = matches!(
                of,
                Opcode::PrefetchTensormap
                    | Opcode::Griddepcontrol
                    | Opcode::Setmaxnreg
                    | Opcode::WgmmaFence
            );
            accesses_memory(other) && !is_none
        }
    }
}

/// A signal or a wait that happens twice.
pub(super) fn doubled(body: &Body, at: usize, inst: &Inst) -> Vec<Vec<Edit>> {
    let lines = body.whole(at);
    let mut again = body.lines[lines.clone()].to_vec();
    match inst.mnemonic.opcode() {
        Opcode::BarSync
        | Opcode::BarArrive
        | Opcode::BarrierSync
        | Opcode::BarrierArrive
        | Opcode::BarrierClusterArrive
        | Opcode::MbarrierArrive
        | Opcode::MbarrierTx
        | Opcode::CpAsyncMbarrierArrive => {}
        opcode if is_wait(opcode) && lines.len() > 1 => rename_label(&mut again),
        _ => return vec![],
    }
    vec![vec![inserted(lines.end, again)]]
}

/// Of the four warps of a warpgroup, only the first executes it, or only the others do.
pub(super) fn some_warps(body: &Body, at: usize, inst: &Inst) -> Vec<Vec<Edit>> {
    let lines = body.whole(at);
    let opcode = inst.mnemonic.opcode();
    // What one thread does, others cannot do.
    let of_one = matches!(
        opcode,
        Opcode::MbarrierInit | Opcode::FenceMbarrierInit | Opcode::CpAsyncBulkCommitGroup
    );
    let of_one = of_one || inst.mnemonic.as_str().contains("expect_tx");
    let possible = is_synchronisation(inst) && inst.guard.is_none() && !of_one;
    if !possible || is_wait(opcode) && lines.len() == 1 {
        return vec![];
    }
    let mut condition = declarations();
    condition.push(computes("mov.u32", [name(NUMBER), name("%tid.x")]));
    let warp = [name(NUMBER), name(NUMBER), Operand::Int(96)];
    condition.push(computes("and.b32", warp));
    let first = [name(CONDITION), name(NUMBER), Operand::Int(0)];
    condition.push(computes("setp.eq.u32", first));
    let by = |others: bool| {
        let mut with = condition.clone();
        if is_wait(opcode) {
            let past = Inst::new(mnemonic("bra"), [name(LABEL)]);
            with.push(Line::Inst(guarded(&past, CONDITION, !others)));
            with.extend_from_slice(&body.lines[lines.clone()]);
            with.push(Line::Label(LABEL.to_owned()));
        } else {
            with.push(Line::Inst(guarded(inst, CONDITION, others)));
        }
        let lines = lines.clone();
        vec![Edit { lines, with }]
    };
    vec![by(false), by(true)]
}

/// A thread of the next warp executes it instead of one of the first.
pub(super) fn another_warp(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let opcode = inst.mnemonic.opcode();
    let arrives = matches!(opcode, Opcode::MbarrierArrive | Opcode::MbarrierInit);
    if !is_synchronisation(inst) || inst.guard.is_none() || arrives {
        return vec![];
    }
    let mut with = declarations();
    with.push(computes("mov.u32", [name(NUMBER), name("%tid.x")]));
    let thread = [name(NUMBER), name(NUMBER), Operand::Int(127)];
    with.push(computes("and.b32", thread));
    let next = [name(CONDITION), name(NUMBER), Operand::Int(32)];
    with.push(computes("setp.eq.u32", next));
    with.push(Line::Inst(guarded(inst, CONDITION, false)));
    vec![with]
}

/// Half of the lanes execute what all have to.
pub(super) fn some_lanes(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.together() == Together::No || inst.guard.is_some() {
        return vec![];
    }
    let mut with = declarations();
    with.push(computes("mov.u32", [name(NUMBER), name("%laneid")]));
    let half = [name(CONDITION), name(NUMBER), Operand::Int(16)];
    with.push(computes("setp.lt.u32", half));
    with.push(Line::Inst(guarded(inst, CONDITION, false)));
    vec![with]
}

/// The mask of the lanes that execute it together has the first of them only, or all but that.
pub(super) fn members(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.together() != Together::Members {
        return vec![];
    }
    let mask = inst.operands.len() - 1;
    let masks: [fn(i128) -> i128; 2] = [|_| 1, |mask| mask & !1];
    let changed = masks.iter().flat_map(|change| with_int(inst, mask, change));
    changed.collect()
}

pub(super) fn one_more_under_way(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match inst.mnemonic.opcode() {
        Opcode::WgmmaWaitGroup | Opcode::CpAsyncBulkWaitGroup | Opcode::CpAsyncWaitGroup => {
            with_int(inst, 0, |groups| groups + 1)
        }
        _ => vec![],
    }
}

/// The arrivals of a phase, or the bytes that it expects.
pub(super) fn other_count(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let (operand, step) = match inst.mnemonic.opcode() {
        Opcode::MbarrierInit => (1, 1),
        Opcode::MbarrierArrive if inst.mnemonic.as_str().contains("expect_tx") => (2, 16),
        Opcode::MbarrierTx => (1, 16),
        _ => return vec![],
    };
    [step, -step]
        .iter()
        .flat_map(|step| with_number(inst, operand, *step))
        .collect()
}

pub(super) fn other_parity(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if !is_wait(inst.mnemonic.opcode()) {
        return vec![];
    }
    let Some(Operand::Name(parity)) = inst.operands.get(2) else {
        return with_int(inst, 2, |parity| 1 - parity);
    };
    let flipped = [name(NUMBER), name(parity), Operand::Int(1)];
    vec![vec![
        register(Type::U32, NUMBER),
        computes("xor.b32", flipped),
        replaced(inst, 2, name(NUMBER)),
    ]]
}

pub(super) fn other_barrier(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    const BYTES: i64 = 8;
    match inst.mnemonic.opcode() {
        // A barrier of all threads is the same under another number.
        Opcode::BarSync | Opcode::BarrierSync if inst.operands.len() == 1 => vec![],
        Opcode::BarSync | Opcode::BarArrive | Opcode::BarrierSync | Opcode::BarrierArrive => {
            // Kernels have numbers from the highest down, so this one is free, or shared by others if it is in a register.
            let next = match inst.operands[0] {
                Operand::Int(_) => with_int(inst, 0, |number| number ^ 8),
                _ => with_number(inst, 0, -1),
            };
            // Threads that have numbers of their own share one.
            match inst.operands[0] {
                Operand::Name(_) => [next, vec![vec![replaced(inst, 0, Operand::Int(1))]]].concat(),
                _ => next,
            }
        }
        Opcode::MbarrierArrive
        | Opcode::MbarrierTx
        | Opcode::MbarrierInit
        | Opcode::MbarrierTestWait
        | Opcode::MbarrierTryWait
        | Opcode::CpAsyncBulkTensor
        | Opcode::CpAsyncBulk => {
            let last = inst
                .operands
                .iter()
                .rposition(|it| matches!(it, Operand::Address { .. }));
            last.map_or(vec![], |last| with_offset(inst, last, BYTES))
        }
        _ => vec![],
    }
}

/// The number of threads that a named barrier waits for.
pub(super) fn other_threads(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match inst.mnemonic.opcode() {
        Opcode::BarSync | Opcode::BarArrive | Opcode::BarrierSync | Opcode::BarrierArrive => {
            [32, -32]
                .iter()
                .flat_map(|step| with_number(inst, 1, *step))
                .collect()
        }
        _ => vec![],
    }
}

/// The address of another CTA becomes that of the CTA itself.
pub(super) fn own_cta(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.opcode() != Opcode::Mapa {
        return vec![];
    }
    let operands = [inst.operands[0].clone(), inst.operands[1].clone()];
    let ty = inst.mnemonic.modifiers().iter().find_map(|it| it.ty());
    let Some(copy) = ty.and_then(|ty| Mnemonic::new(op::Mov, ty).ok()) else {
        return vec![];
    };
    vec![vec![Line::Inst(Inst {
        mnemonic: copy,
        operands: operands.into(),
        ..inst.clone()
    })]]
}

/// A multicast that reaches its first CTA only.
pub(super) fn fewer_ctas(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let multicast = inst.mnemonic.get("mask").is_some();
    match inst
        .operands
        .iter()
        .position(|it| matches!(it, Operand::Int(_) | Operand::Name(_)))
    {
        Some(mask) if multicast => vec![vec![replaced(inst, mask, Operand::Int(1))]],
        _ => vec![],
    }
}

/// An order that is weaker, or that holds for fewer threads.
pub(super) fn weaker(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let text = inst.mnemonic.as_str();
    let written = [
        (".release", ".relaxed"),
        (".acquire", ".relaxed"),
        (".acq_rel", ".acquire"),
        (".acq_rel", ".release"),
        (".cluster.", ".cta."),
        (".gpu", ".cta"),
        (".sys", ".cta"),
    ];
    let written = written.iter().filter(|(strong, _)| text.contains(strong));
    let written = written.map(|(strong, weak)| text.replacen(strong, weak, 1));
    let weaker = written.chain(weaker_than_unwritten(inst.mnemonic));
    let weaker = weaker.filter_map(|text| text.parse::<Mnemonic>().ok());
    weaker
        .map(|mnemonic| {
            let inst = inst.clone();
            vec![Line::Inst(Inst { mnemonic, ..inst })]
        })
        .collect()
}

/// What is weaker than an order that is not written: an arrival is a release and a wait an acquire, of the CTA or, at another CTA,
/// of the cluster, and an atomic is relaxed for the GPU.
fn weaker_than_unwritten(mnemonic: Mnemonic) -> Vec<String> {
    if mnemonic.get("sem").is_some() || mnemonic.get("scope").is_some() {
        return vec![];
    }
    let (behind, orders): (&[&str], &[&str]) = match mnemonic.opcode() {
        Opcode::MbarrierArrive if mnemonic.as_str().contains("shared::cluster") => (
            &[".arrive.expect_tx", ".arrive"],
            &[".relaxed.cluster", ".release.cta"],
        ),
        Opcode::MbarrierArrive => (&[".arrive.expect_tx", ".arrive"], &[".relaxed.cta"]),
        Opcode::MbarrierTryWait | Opcode::MbarrierTestWait => {
            (&[".parity", "_wait"], &[".relaxed.cta"])
        }
        Opcode::BarrierClusterArrive => (&[".arrive"], &[".relaxed"]),
        Opcode::Atom => (&["atom"], &[".relaxed.cta"]),
        Opcode::Red => (&["red"], &[".relaxed.cta"]),
        _ => return vec![],
    };
    let text = mnemonic.as_str();
    let Some(behind) = behind.iter().find(|it| text.contains(**it)) else {
        return vec![];
    };
    let order = |order: &&str| text.replacen(behind, &format!("{behind}{order}"), 1);
    orders.iter().map(order).collect()
}

/// How many registers the threads of a warpgroup take or give.
pub(super) fn registers(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match inst.mnemonic.opcode() {
        Opcode::Setmaxnreg => {
            let more = with_int(inst, 0, |count| count + 8);
            [more, with_int(inst, 0, |count| count - 8)].concat()
        }
        _ => vec![],
    }
}

pub(super) fn guard(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match is_synchronisation(inst) {
        true => other_guards(inst),
        false => vec![],
    }
}

/// The instruction with another number, a constant or in a register.
fn with_number(inst: &Inst, operand: usize, step: i128) -> Vec<Vec<Line>> {
    match inst.operands.get(operand) {
        Some(Operand::Name(number)) => {
            let sum = [name(NUMBER), name(number), Operand::Int(step)];
            vec![vec![
                register(Type::U32, NUMBER),
                computes("add.u32", sum),
                replaced(inst, operand, name(NUMBER)),
            ]]
        }
        _ => with_int(inst, operand, |number| number + step),
    }
}

fn name(name: &str) -> Operand {
    Operand::Name(name.to_owned())
}

fn register(ty: Type, name: &str) -> Line {
    Line::Register {
        ty,
        name: name.to_owned(),
    }
}

fn declarations() -> Vec<Line> {
    vec![register(Type::U32, NUMBER), register(Type::Pred, CONDITION)]
}

fn computes<const N: usize>(text: &str, operands: [Operand; N]) -> Line {
    Line::Inst(Inst::new(mnemonic(text), operands))
}

/// The instruction for other threads than the PTX says.
fn guarded(inst: &Inst, predicate: &str, negated: bool) -> Inst {
    let guard = Some(Guard {
        negated,
        predicate: predicate.to_owned(),
    });
    Inst {
        guard,
        comment: None,
        ..inst.clone()
    }
}

fn inserted(at: usize, with: Vec<Line>) -> Edit {
    Edit {
        lines: at..at,
        with,
    }
}

/// Gives the loop of a wait another label.
fn rename_label(lines: &mut [Line]) {
    for line in lines {
        match line {
            Line::Label(label) => LABEL.clone_into(label),
            Line::Inst(inst) if inst.mnemonic.opcode() == Opcode::Bra => {
                inst.operands = vec![name(LABEL)];
            }
            _ => {}
        }
    }
}
