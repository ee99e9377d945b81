//! Mutants of a kernel: copies of its PTX, each with one mistake that somebody could have made.

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use cute_ptx::Module;
use cute_ptx::ast::{Entry, Guard, Inst, Item, Line, Operand, Type};
use cute_ptx::table::{Mnemonic, Modifier, Opcode};

/// What a mutant breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// An instruction that makes threads or asynchronous operations wait, or that orders their accesses.
    Synchronisation,
    /// Where an instruction accesses memory.
    Address,
    /// Which instructions a thread executes, and how often.
    Control,
}

/// `synchronisation`, `address` or `control`.
impl Display for Class {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A change of one or two neighbouring lines of the body of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) class: Class,
    /// The name of the rule that made it.
    pub(crate) rule: &'static str,
    /// The instruction that is changed.
    pub(crate) instruction: Mnemonic,
    /// Whether it is the first of its kind that the rule can change.
    pub(crate) is_first: bool,
    /// What is changed, as text: the lines before and after.
    pub(crate) change: String,
    /// The lines of the body that are changed.
    pub(crate) lines: Range<usize>,
    /// What takes their place.
    pub(crate) with: Vec<Line>,
}

impl Mutant {
    /// The PTX of the kernel with this mistake.
    pub(crate) fn apply(&self, module: &Module) -> String {
        let mut module = module.clone();
        let body = &mut entry_mut(&mut module).body;
        body.splice(self.lines.clone(), self.with.iter().cloned());
        module.to_string()
    }
}

impl Display for Mutant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, line {}: {}",
            self.rule, self.lines.start, self.change
        )
    }
}

/// The mutants of a module with one kernel. Unrolled code repeats itself, so each rule is applied to at most `most`
/// instructions of each kind, spread evenly.
pub(crate) fn mutants(module: &Module, most: usize) -> Vec<Mutant> {
    let body = Body::new(&entry(module).body);
    let mut sites: BTreeMap<(usize, &str), Vec<Site>> = BTreeMap::new();
    for (at, inst) in body.instructions() {
        for (number, rule) in RULES.iter().enumerate() {
            let changes = (rule.changes)(&body, at, inst);
            if !changes.is_empty() {
                let kind = (number, inst.mnemonic.as_str());
                sites.entry(kind).or_default().push((at, changes));
            }
        }
    }
    let mut mutants = Vec::new();
    for ((number, _), sites) in sites {
        let rule = &RULES[number];
        let count = sites.len().min(most);
        let spread = (0..count).map(|i| &sites[i * sites.len() / count]);
        for (i, (at, changes)) in spread.enumerate() {
            let Line::Inst(inst) = &body.lines[*at] else {
                continue;
            };
            for with in changes {
                let lines = *at..at + rule.lines;
                mutants.push(Mutant {
                    class: rule.class,
                    rule: rule.name,
                    instruction: inst.mnemonic,
                    is_first: i == 0,
                    change: format!("{} => {}", text(&body.lines[lines.clone()]), text(with)),
                    lines,
                    with: with.clone(),
                });
            }
        }
    }
    mutants
}

/// The line of an instruction, and what may replace it.
type Site = (usize, Vec<Vec<Line>>);

/// A kind of mistake.
struct Rule {
    class: Class,
    name: &'static str,
    /// How many lines a change replaces.
    lines: usize,
    /// What replaces these lines, for each way to make this mistake with the instruction in line `at`.
    changes: fn(body: &Body, at: usize, inst: &Inst) -> Vec<Vec<Line>>,
}

/// How many rules there are.
pub(crate) const RULE_COUNT: usize = RULES.len();

const RULES: &[Rule] = &[
    synchronisation("left out", left_out),
    synchronisation("not repeated", not_repeated),
    synchronisation("one more under way", one_more_under_way),
    synchronisation("other count", other_count),
    synchronisation("other parity", other_parity),
    synchronisation("other barrier", other_barrier),
    synchronisation("other threads", other_threads),
    synchronisation("own CTA", own_cta),
    synchronisation("fewer CTAs", fewer_ctas),
    synchronisation("weaker", weaker),
    synchronisation("guard", guard_of_synchronisation),
    Rule {
        lines: 2,
        ..synchronisation("later", later)
    },
    address("offset", offset),
    address("coordinates", coordinates),
    address("computation", computation),
    control("branch", branch),
    control("comparison", comparison),
    control("bound", bound),
    control("selection", selection),
    control("guard", guard),
];

type Changes = fn(&Body, usize, &Inst) -> Vec<Vec<Line>>;

const fn synchronisation(name: &'static str, changes: Changes) -> Rule {
    Rule {
        class: Class::Synchronisation,
        name,
        lines: 1,
        changes,
    }
}

const fn address(name: &'static str, changes: Changes) -> Rule {
    Rule {
        class: Class::Address,
        ..synchronisation(name, changes)
    }
}

const fn control(name: &'static str, changes: Changes) -> Rule {
    Rule {
        class: Class::Control,
        ..synchronisation(name, changes)
    }
}

/// The body of a kernel, and what its registers are for.
struct Body<'a> {
    lines: &'a [Line],
    /// Registers of which addresses, coordinates and matrix descriptors are computed.
    addresses: HashSet<&'a str>,
    /// Registers of which conditions are computed.
    conditions: HashSet<&'a str>,
    /// Predicates that tell whether a phase of an mbarrier is complete.
    waits: HashSet<&'a str>,
}

impl<'a> Body<'a> {
    fn new(lines: &'a [Line]) -> Self {
        let mut body = Body {
            lines,
            addresses: HashSet::new(),
            conditions: HashSet::new(),
            waits: HashSet::new(),
        };
        let (mut addresses, mut conditions) = (HashSet::new(), HashSet::new());
        for (_, inst) in body.instructions() {
            for operand in &inst.operands {
                if let Operand::Address { .. } | Operand::Tensor { .. } = operand {
                    operand.for_each_name(&mut |name| _ = addresses.insert(name));
                }
            }
            match inst.mnemonic.opcode() {
                Opcode::WgmmaMmaAsync => {
                    inst.for_each_source(&mut |name| _ = addresses.insert(name))
                }
                Opcode::Setp => inst.for_each_source(&mut |name| _ = conditions.insert(name)),
                opcode if is_wait(opcode) => {
                    inst.for_each_written(&mut |name| _ = body.waits.insert(name));
                }
                _ => {}
            }
        }
        body.addresses = body.sources_of(addresses);
        body.conditions = body.sources_of(conditions);
        body
    }

    fn instructions(&self) -> impl Iterator<Item = (usize, &'a Inst)> + use<'a> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(at, line)| match line {
            Line::Inst(inst) => Some((at, inst)),
            _ => None,
        })
    }

    /// These registers, and all of which integer arithmetic computes them.
    fn sources_of(&self, mut registers: HashSet<&'a str>) -> HashSet<&'a str> {
        loop {
            let before = registers.len();
            for (_, inst) in self.instructions() {
                let mut wanted = false;
                inst.for_each_written(&mut |name| wanted |= registers.contains(name));
                if wanted && INTEGER.contains(&inst.mnemonic.opcode()) {
                    inst.for_each_source(&mut |name| _ = registers.insert(name));
                }
            }
            if registers.len() == before {
                return registers;
            }
        }
    }
}

/// Instructions that compute addresses and bounds.
const INTEGER: &[Opcode] = &[
    Opcode::Add,
    Opcode::Sub,
    Opcode::Mul,
    Opcode::Mad,
    Opcode::Shl,
    Opcode::Shr,
    Opcode::And,
    Opcode::Or,
    Opcode::Xor,
    Opcode::Bfe,
    Opcode::Mov,
    Opcode::Cvt,
    Opcode::Div,
    Opcode::Rem,
];

/// Instructions that wait, signal, or order accesses.
const SYNCHRONISATION: &[Opcode] = &[
    Opcode::BarSync,
    Opcode::BarArrive,
    Opcode::BarRed,
    Opcode::BarWarpSync,
    Opcode::BarrierSync,
    Opcode::BarrierArrive,
    Opcode::BarrierClusterArrive,
    Opcode::BarrierClusterWait,
    Opcode::Membar,
    Opcode::Fence,
    Opcode::FenceProxyAlias,
    Opcode::FenceProxyAsync,
    Opcode::FenceProxyTensormap,
    Opcode::FenceMbarrierInit,
    Opcode::MbarrierInit,
    Opcode::MbarrierArrive,
    Opcode::MbarrierTx,
    Opcode::MbarrierTestWait,
    Opcode::MbarrierTryWait,
    Opcode::CpAsyncCommitGroup,
    Opcode::CpAsyncWaitGroup,
    Opcode::CpAsyncWaitAll,
    Opcode::CpAsyncMbarrierArrive,
    Opcode::CpAsyncBulkCommitGroup,
    Opcode::CpAsyncBulkWaitGroup,
    Opcode::WgmmaFence,
    Opcode::WgmmaCommitGroup,
    Opcode::WgmmaWaitGroup,
];

fn is_synchronisation(inst: &Inst) -> bool {
    SYNCHRONISATION.contains(&inst.mnemonic.opcode())
}

fn is_wait(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::MbarrierTestWait | Opcode::MbarrierTryWait)
}

/// A wait or an order that is forgotten. A wait for an mbarrier writes a predicate, which is then true.
fn left_out(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
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
fn not_repeated(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let repeats = |guard: &Guard| body.waits.contains(guard.predicate.as_str());
    let branches = inst.mnemonic.opcode() == Opcode::Bra;
    match branches && inst.guard.as_ref().is_some_and(repeats) {
        true => vec![vec![]],
        false => vec![],
    }
}

fn one_more_under_way(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match inst.mnemonic.opcode() {
        Opcode::WgmmaWaitGroup | Opcode::CpAsyncBulkWaitGroup | Opcode::CpAsyncWaitGroup => {
            with_int(inst, 0, |groups| groups + 1)
        }
        _ => vec![],
    }
}

/// The arrivals of a phase, or the bytes that it expects.
fn other_count(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let (operand, step) = match inst.mnemonic.opcode() {
        Opcode::MbarrierInit => (1, 1),
        Opcode::MbarrierArrive if inst.mnemonic.as_str().contains("expect_tx") => (2, 16),
        Opcode::MbarrierTx => (1, 16),
        _ => return vec![],
    };
    let more = with_int(inst, operand, |count| count + step);
    let fewer = with_int(inst, operand, |count| count - step);
    [more, fewer].concat()
}

fn other_parity(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if !is_wait(inst.mnemonic.opcode()) {
        return vec![];
    }
    let Some(Operand::Name(parity)) = inst.operands.get(2) else {
        return with_int(inst, 2, |parity| 1 - parity);
    };
    let other = "%mutated".to_string();
    let register = Line::Register {
        ty: Type::U32,
        name: other.clone(),
    };
    let (d, a) = (Operand::Name(other.clone()), Operand::Name(parity.clone()));
    let flip = Inst::new(mnemonic("xor.b32"), [d, a, Operand::Int(1)]);
    let mut wait = inst.clone();
    wait.operands[2] = Operand::Name(other);
    vec![vec![register, Line::Inst(flip), Line::Inst(wait)]]
}

fn other_barrier(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    const BYTES: i64 = 8;
    match inst.mnemonic.opcode() {
        // A barrier of all threads is the same under another number.
        Opcode::BarSync | Opcode::BarrierSync if inst.operands.len() == 1 => vec![],
        Opcode::BarSync | Opcode::BarArrive | Opcode::BarrierSync | Opcode::BarrierArrive => {
            with_int(inst, 0, |number| (number + 1) % 16)
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
fn other_threads(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match inst.mnemonic.opcode() {
        Opcode::BarSync | Opcode::BarArrive | Opcode::BarrierSync | Opcode::BarrierArrive => {
            let more = with_int(inst, 1, |threads| threads + 32);
            let fewer = with_int(inst, 1, |threads| threads - 32);
            [more, fewer].concat()
        }
        _ => vec![],
    }
}

/// The address of another CTA becomes that of the CTA itself.
fn own_cta(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.opcode() != Opcode::Mapa {
        return vec![];
    }
    let operands = [inst.operands[0].clone(), inst.operands[1].clone()];
    let ty = inst.mnemonic.modifiers().iter().find_map(|it| it.ty());
    let Some(copy) = ty.and_then(|ty| Mnemonic::new(Opcode::Mov, ty).ok()) else {
        return vec![];
    };
    vec![vec![Line::Inst(Inst {
        mnemonic: copy,
        operands: operands.into(),
        ..inst.clone()
    })]]
}

/// A multicast that reaches its first CTA only.
fn fewer_ctas(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
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
fn weaker(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let text = inst.mnemonic.as_str();
    [
        (".release", ".relaxed"),
        (".acquire", ".relaxed"),
        (".acq_rel", ".acquire"),
        (".acq_rel", ".release"),
        (".cluster.", ".cta."),
        (".gpu", ".cta"),
        (".sys", ".cta"),
    ]
    .iter()
    .filter(|(strong, _)| text.contains(strong))
    .filter_map(|(strong, weak)| text.replacen(strong, weak, 1).parse().ok())
    .map(|mnemonic| {
        let inst = inst.clone();
        vec![Line::Inst(Inst { mnemonic, ..inst })]
    })
    .collect()
}

fn guard_of_synchronisation(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match is_synchronisation(inst) {
        true => other_guards(inst),
        false => vec![],
    }
}

/// A synchronisation that happens after the next access instead of before it.
fn later(body: &Body, at: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match body.lines.get(at + 1) {
        Some(next @ Line::Inst(other))
            if is_synchronisation(inst)
                && accesses_memory(other)
                && inst.mnemonic.opcode() != other.mnemonic.opcode()
                && !is_wait(inst.mnemonic.opcode()) =>
        {
            vec![vec![next.clone(), body.lines[at].clone()]]
        }
        _ => vec![],
    }
}

fn accesses_memory(inst: &Inst) -> bool {
    let mut operands = inst.operands.iter();
    let accesses =
        operands.any(|it| matches!(it, Operand::Address { .. } | Operand::Tensor { .. }));
    let parameter = inst.mnemonic.get("space") == Some(Modifier::Param);
    (accesses || is_synchronisation(inst) || inst.mnemonic.opcode() == Opcode::WgmmaMmaAsync)
        && !parameter
}

/// The next or the previous element.
fn offset(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if is_synchronisation(inst) || inst.mnemonic.get("space") == Some(Modifier::Param) {
        return vec![];
    }
    let bytes = accessed_bytes(inst.mnemonic);
    let addresses = inst.operands.iter().enumerate();
    let addresses = addresses.filter(|(_, it)| matches!(it, Operand::Address { .. }));
    addresses
        .flat_map(|(i, _)| [with_offset(inst, i, bytes), with_offset(inst, i, -bytes)].concat())
        .collect()
}

fn accessed_bytes(mnemonic: Mnemonic) -> i64 {
    let bits = mnemonic
        .modifiers()
        .iter()
        .find_map(|it| it.ty())
        .map_or(128, Type::bits);
    let elements = mnemonic.modifiers().iter().find_map(|it| match it {
        Modifier::Vector(count) => Some(u32::from(*count)),
        _ => None,
    });
    i64::from(bits / 8 * elements.unwrap_or(1)).max(1)
}

/// Coordinates of a box: two in the wrong order, and each one element further.
fn coordinates(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let Some(tensor) = inst
        .operands
        .iter()
        .position(|it| matches!(it, Operand::Tensor { .. }))
    else {
        return vec![];
    };
    let Operand::Tensor { map, coords } = &inst.operands[tensor] else {
        return vec![];
    };
    let other = |coords: Vec<Operand>| {
        let map = map.clone();
        vec![replaced(inst, tensor, Operand::Tensor { map, coords })]
    };
    let swaps = (1..coords.len()).map(|i| {
        let mut coords = coords.clone();
        coords.swap(i - 1, i);
        other(coords)
    });
    let further = coords.iter().enumerate().filter_map(|(i, coord)| {
        let Operand::Int(value) = coord else {
            return None;
        };
        let mut coords = coords.clone();
        coords[i] = Operand::Int(value + 1);
        Some(other(coords))
    });
    let changed = swaps
        .chain(further)
        .filter(|with| text(with) != text(&[Line::Inst(inst.clone())]));
    changed.collect()
}

/// A constant in the computation of an address, or of the extent of a tile with which something is compared.
fn computation(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let mut wanted = false;
    let sum = matches!(inst.mnemonic.opcode(), Opcode::Add | Opcode::Sub);
    inst.for_each_written(&mut |name| {
        wanted |= body.addresses.contains(name) || !sum && body.conditions.contains(name);
    });
    match wanted {
        true => other_constants(inst),
        false => vec![],
    }
}

fn other_constants(inst: &Inst) -> Vec<Vec<Line>> {
    let change: fn(i128) -> i128 = match inst.mnemonic.opcode() {
        Opcode::Add | Opcode::Sub => |x| x + 16,
        Opcode::Mul | Opcode::Mad | Opcode::Shl | Opcode::Shr | Opcode::Mov => |x| x + 1,
        Opcode::And => |x| x >> 1,
        Opcode::Or | Opcode::Xor => |x| x ^ 16,
        _ => return vec![],
    };
    (1..inst.operands.len())
        .flat_map(|operand| with_int(inst, operand, change))
        .collect()
}

/// A branch that is not taken, always taken, or taken in the other case.
fn branch(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let leaves = matches!(
        inst.mnemonic.opcode(),
        Opcode::Bra | Opcode::Ret | Opcode::Exit
    );
    let Some(guard) = inst.guard.as_ref().filter(|_| leaves) else {
        return vec![];
    };
    if body.waits.contains(guard.predicate.as_str()) {
        return vec![];
    }
    [vec![vec![]], other_guards(inst)].concat()
}

fn comparison(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.opcode() != Opcode::Setp {
        return vec![];
    }
    let text = inst.mnemonic.as_str();
    [
        ("lt", "le"),
        ("gt", "ge"),
        ("eq", "ne"),
        ("lo", "ls"),
        ("hi", "hs"),
    ]
    .iter()
    .flat_map(|&(a, b)| [(a, b), (b, a)])
    .filter_map(|(from, to)| {
        let changed = text.replacen(&format!(".{from}."), &format!(".{to}."), 1);
        (changed != text).then(|| changed.parse().ok()).flatten()
    })
    .map(|mnemonic| {
        let inst = inst.clone();
        vec![Line::Inst(Inst { mnemonic, ..inst })]
    })
    .collect()
}

/// A bound that is one too large: a constant, or a sum with one. Which of the threads does what one has to do (a comparison for
/// equality) is no bound.
fn bound(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let text = inst.mnemonic.as_str();
    let equality = text.starts_with("setp.eq") || text.starts_with("setp.ne");
    let mut wanted = inst.mnemonic.opcode() == Opcode::Setp && !equality;
    inst.for_each_written(&mut |name| {
        wanted |= body.conditions.contains(name) && !body.addresses.contains(name);
    });
    if !wanted {
        return vec![];
    }
    match inst.mnemonic.opcode() {
        Opcode::Setp | Opcode::Add | Opcode::Sub => (1..inst.operands.len())
            .flat_map(|operand| with_int(inst, operand, |x| x + 1))
            .collect(),
        _ => vec![],
    }
}

fn selection(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.opcode() != Opcode::Selp || inst.operands[1] == inst.operands[2] {
        return vec![];
    }
    let mut inst = inst.clone();
    inst.operands.swap(1, 2);
    vec![vec![Line::Inst(inst)]]
}

/// The guard of an instruction that neither branches nor synchronises.
fn guard(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let leaves = matches!(
        inst.mnemonic.opcode(),
        Opcode::Bra | Opcode::Ret | Opcode::Exit
    );
    match leaves || is_synchronisation(inst) {
        true => vec![],
        false => other_guards(inst),
    }
}

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

pub(crate) fn mnemonic(text: &str) -> Mnemonic {
    text.parse().expect("the instruction is in the table")
}

pub(crate) fn entry(module: &Module) -> &Entry {
    let mut entries = module.items.iter().filter_map(|item| match item {
        Item::Entry(entry) => Some(entry),
        _ => None,
    });
    entries
        .next_back()
        .expect("a module of a kernel has an entry")
}

pub(crate) fn entry_mut(module: &mut Module) -> &mut Entry {
    let mut entries = module.items.iter_mut().filter_map(|item| match item {
        Item::Entry(entry) => Some(entry),
        _ => None,
    });
    entries
        .next_back()
        .expect("a module of a kernel has an entry")
}

/// Instructions on one line, without their comments and places.
fn text(lines: &[Line]) -> String {
    let instructions = lines.iter().filter_map(|line| match line {
        Line::Inst(inst) => Some(Inst {
            place: None,
            comment: None,
            ..inst.clone()
        }),
        _ => None,
    });
    let texts: Vec<String> = instructions.map(|inst| inst.to_string()).collect();
    match texts.is_empty() {
        true => "nothing".into(),
        false => texts.join(" "),
    }
}
