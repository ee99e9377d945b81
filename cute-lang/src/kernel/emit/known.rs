//! Conditions known to hold at the current line: the comparisons of the branches around it and of the checks before it, and comparisons of
//! a register that always hold.
//!
//! Comparisons are about registers that do not change. In a loop, a register has one value for an iteration, so the conditions of a branch
//! are forgotten at the end of the block.

use crate::kernel::emit::bounds::Bounds;
use crate::kernel::emit::facts::{Facts, Quantity};
use crate::kernel::emit::operation::{Cmp, Op, mirror};
use crate::kernel::ir::Register;
use crate::kernel::value::types::is_signed;
use crate::kernel::value::{Num, Scalar};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What is known about registers and about the launch: facts, bits that may be set, meanings of predicates, and the conditions that hold.
#[derive(Default)]
pub struct Known {
    /// The facts about the arguments of a launch.
    pub facts: Facts,
    /// By register, the bits that may be set. A register without an entry may have any bit set.
    bits: HashMap<Register, u64>,
    pub(super) meanings: HashMap<Register, Meaning>,
    holding: Vec<Condition>,
    /// What the comparisons in `holding` say of registers.
    bounds: Bounds,
    /// By register, how it compares with others wherever it has a value.
    always: HashMap<Register, Vec<(Cmp, Num)>>,
    /// For each register, the operation that computed it from others that do not change.
    computed: HashMap<Register, (Op, Num, Num)>,
    /// By register, the first other register that was computed in the same way.
    first: HashMap<Register, Register>,
    /// The first register with this operation on these operands, given as the first registers with their values.
    ways: HashMap<(Op, Operand, Operand), Register>,
    /// The numbers of the launch, by their registers.
    quantities: HashMap<Register, Quantity>,
    /// The registers of each of them.
    registers: BTreeMap<Quantity, BTreeSet<Register>>,
}

/// When a predicate is true.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A comparison of unsigned integers. Variables may change afterwards.
    Compare(Comparison),
    /// The comparison holds, and the other is true.
    CompareAnd(Comparison, Scalar),
    /// Both are true.
    And(Scalar, Scalar),
    /// At least one is true.
    Or(Scalar, Scalar),
    /// The other is false.
    Not(Scalar),
}

/// A comparison of unsigned integers.
pub type Comparison = (Num, Cmp, Num);

/// A condition that holds in the threads that run the current line.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Threads in which this comparison does not hold have taken the other branch. `None` if the comparison is not known.
    Branch(Option<Comparison>),
    /// The comparison of a check; threads in which it does not hold have ended the kernel.
    Checked(Comparison),
}

/// An operand of the operation that computed a register.
#[derive(PartialEq, Eq, Hash)]
enum Operand {
    Known(i128),
    Register(Register),
}

/// How many conditions held at some place.
pub struct Mark(usize);

/// Why a number is not known to be below an extent.
pub enum Almost {
    /// It is at most the extent.
    Reached,
    /// It is below another number of the launch.
    Below(Quantity),
    /// The number plus this one is below the extent, and the sum may wrap.
    Wraps(i128),
    /// It is below the extent less this number, and the extent may be smaller.
    Underflows(i128),
}

impl Known {
    /// Records when a predicate is true. It must not change afterwards.
    pub fn means(&mut self, predicate: &Scalar, meaning: Meaning) {
        let keeps = match &meaning {
            Meaning::Compare(_) => true,
            Meaning::And(a, b) | Meaning::Or(a, b) => !a.variable && !b.variable,
            Meaning::Not(a) | Meaning::CompareAnd(_, a) => !a.variable,
        };
        if keeps {
            let meanings = &mut self.meanings;
            meanings.insert(predicate.register, meaning);
        }
    }

    /// Records how a register was computed. It must not change afterwards.
    pub(super) fn computes(&mut self, result: &Scalar, op: Op, a: &Num, b: &Num) {
        // For these operations, the bits of the result do not depend on whether the integers are signed.
        let plain = matches!(
            op,
            Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::And | Op::Or | Op::Xor
        );
        if plain && result.ty.bits() >= 32 && is_fixed(a) && is_fixed(b) {
            self.record(result.register, op, a, b);
        }
    }

    /// Threads diverge: from here on, the predicate is true, or it is false, until [`forget`](Self::forget).
    pub fn assume(&mut self, predicate: &Scalar, truth: bool) {
        for comparison in self.meaning(predicate, truth) {
            self.hold(Condition::Branch(comparison));
        }
    }

    /// From here on, until [`forget`](Self::forget), the predicate is true, since the kernel has ended otherwise.
    pub fn assume_checked(&mut self, predicate: &Scalar) {
        for comparison in self.meaning(predicate, true).into_iter().flatten() {
            self.hold(Condition::Checked(comparison));
        }
    }

    /// From here on, until [`forget`](Self::forget), an unsigned integer is below another, since the kernel has ended otherwise.
    pub fn assume_below(&mut self, a: &Num, b: &Num) {
        if is_fixed(a) && is_fixed(b) {
            let comparison = (a.clone(), Cmp::Lt, b.clone());
            self.hold(Condition::Checked(comparison));
        }
    }

    /// From here on, a condition holds.
    fn hold(&mut self, condition: Condition) {
        if let Some((a, cmp, b)) = condition.comparison().cloned() {
            self.bound(&a, cmp, &b);
            self.bound(&b, mirror(cmp), &a);
        }
        self.holding.push(condition);
    }

    /// Records what the next condition, a comparison, says of a register.
    fn bound(&mut self, num: &Num, cmp: Cmp, other: &Num) {
        let Num::Reg(register) = num else { return };
        let (at, first) = (self.holding.len(), self.first(register));
        if let Some(least) = least_if(cmp, other) {
            self.bounds.at_least(at, first, least);
        }
        let Some(by) = distance_if(cmp) else { return };
        // Where a sum does not wrap, its first operand is below it.
        let sum = self.summand(register);
        let sum = sum.filter(|(part, more)| !self.wraps(part, *more));
        let sum = sum.map(|(part, more)| (self.first(part), more));
        for (register, more) in [Some((first, 0)), sum].into_iter().flatten() {
            let by = by + more;
            match other {
                Num::Const(bound) => self.bounds.at_most(at, register, bound - by),
                Num::Reg(bound) => {
                    let of = self.first(bound);
                    self.bounds.below(at, register, by, (of, bound));
                }
            }
        }
    }

    /// Whether the sum of a register and a known integer may wrap.
    fn wraps(&self, register: &Scalar, by: i128) -> bool {
        self.greatest(&register.clone().into()) + by >= 1 << register.ty.bits()
    }

    /// The comparisons that hold if the predicate is true, or if it is false. Anything but a comparison is `None`.
    fn meaning(&self, predicate: &Scalar, truth: bool) -> Vec<Option<Comparison>> {
        let meanings = &self.meanings;
        let meaning = meanings
            .get(&predicate.register)
            .filter(|_| !predicate.variable);
        match meaning {
            Some(Meaning::Compare(comparison)) => vec![lasting(comparison, truth)],
            Some(Meaning::CompareAnd(comparison, other)) if truth => {
                let mut meaning = self.meaning(other, true);
                meaning.push(lasting(comparison, true));
                meaning
            }
            Some(Meaning::Not(other)) => self.meaning(other, !truth),
            Some(Meaning::And(a, b)) if truth => {
                [self.meaning(a, true), self.meaning(b, true)].concat()
            }
            Some(Meaning::Or(a, b)) if !truth => {
                [self.meaning(a, false), self.meaning(b, false)].concat()
            }
            _ => vec![None],
        }
    }

    /// Records a comparison of a register with an unsigned integer that always holds.
    pub fn always(&mut self, register: &Scalar, cmp: Cmp, other: &Num) {
        if !register.variable && is_fixed(other) {
            let known = self.always.entry(register.register);
            let comparison = (cmp, other.clone());
            let known = known.or_default();
            if !known.contains(&comparison) {
                known.push(comparison);
            }
        }
    }

    /// Records comparisons that follow from an operation on unsigned integers for its result.
    pub(super) fn note_result(&mut self, op: Op, a: &Num, b: &Num, result: &Scalar) {
        match op {
            Op::Rem if self.least(b) >= 1 => self.always(result, Cmp::Lt, b),
            Op::Div if self.least(b) >= 1 => self.always(result, Cmp::Le, a),
            Op::Min => {
                self.always(result, Cmp::Le, a);
                self.always(result, Cmp::Le, b);
            }
            // The difference does not wrap.
            Op::Sub if self.least(a) >= self.greatest(b) && self.least(b) >= 1 => {
                self.always(result, Cmp::Lt, a);
            }
            _ => {}
        }
    }

    /// The bits that may be set in a number.
    pub fn possible_bits(&self, num: &Num) -> u64 {
        match num {
            Num::Const(value) => *value as u64,
            Num::Reg(scalar) => {
                let all = u64::MAX >> (64 - scalar.ty.bits().clamp(1, 64));
                let known = self.bits.get(&scalar.register).filter(|_| !scalar.variable);
                known.map_or(all, |bits| bits & all)
            }
        }
    }

    /// An upper bound of a nonnegative number.
    pub fn greatest(&self, num: &Num) -> i128 {
        match num {
            Num::Const(value) => *value,
            Num::Reg(register) => {
                let by_bits = self.possible_bits(num).into();
                self.known_limit(register)
                    .map_or(by_bits, |limit| limit.min(by_bits))
            }
        }
    }

    /// By register, the bits that may be set.
    pub(super) fn known_bits(&self) -> &HashMap<Register, u64> {
        &self.bits
    }

    /// Records that only these bits of a register may be set.
    pub fn limit_bits(&mut self, scalar: &Scalar, bits: u64) {
        self.bits.insert(scalar.register, bits);
    }

    /// The largest value of a register, by a comparison with a known integer that always holds.
    pub(super) fn known_limit(&self, register: &Scalar) -> Option<i128> {
        let always = self.always.get(&register.register);
        let always = always.filter(|_| !register.variable)?;
        let limits = always.iter().filter_map(|(cmp, other)| match cmp {
            Cmp::Lt => Some(other.constant()? - 1),
            Cmp::Le => other.constant(),
            _ => None,
        });
        limits.min()
    }

    /// A lower bound of an unsigned integer.
    pub(super) fn least(&self, num: &Num) -> i128 {
        match num {
            Num::Const(value) => *value,
            Num::Reg(register) => match self.quantity(register) {
                Some(quantity) => self.facts.bounds(quantity).0.max(0),
                None => 0,
            },
        }
    }

    /// The number of conditions that hold here.
    pub fn mark(&self) -> Mark {
        Mark(self.holding.len())
    }

    /// Forgets the conditions since `since`, where all threads of that point come together again.
    pub fn forget(&mut self, since: Mark) {
        self.shorten(since);
    }

    /// Forgets the conditions of a block at its end. Threads that left the block are still elsewhere.
    pub fn forget_block(&mut self, since: Mark) {
        let mut told = self.shorten(since).into_iter();
        if told.any(|condition| matches!(condition, Condition::Branch(_))) {
            self.hold(Condition::Branch(None));
        }
    }

    /// The conditions that hold at the current line.
    pub fn holding(&self) -> &[Condition] {
        &self.holding
    }

    /// The two unsigned integers whose sum is in a register, if they are known. The sum may wrap.
    pub fn summands(&self, num: &Num) -> Option<(&Num, &Num)> {
        let Num::Reg(register) = num else {
            return None;
        };
        match self.computed.get(&register.register) {
            Some((Op::Add, a, b)) if !register.variable && [a, b].into_iter().all(is_unsigned) => {
                Some((a, b))
            }
            _ => None,
        }
    }

    /// The unsigned integer whose negative is in a signed register, if it is known.
    pub fn negated(&self, register: &Scalar) -> Option<&Num> {
        let half = 1i128 << (register.ty.bits() - 1);
        match self.computed.get(&register.register) {
            Some((Op::Sub, Num::Const(0), of)) if !register.variable => {
                Some(of).filter(|of| self.greatest(of) <= half)
            }
            _ => None,
        }
    }

    /// Whether an unsigned integer is known to be below an extent.
    pub fn is_below(&self, num: &Num, extent: Quantity) -> bool {
        let least = self.facts.bounds(extent).0.max(self.least_here(extent));
        self.is_bounded(num, Cmp::Lt, (least, Some(extent)), &mut HashSet::new())
    }

    /// A lower bound of an extent, by comparisons with known integers that hold here.
    fn least_here(&self, extent: Quantity) -> i128 {
        let below = self.facts.below(extent).into_iter();
        let registers = below.filter_map(|it| self.registers.get(&it));
        let bounds = registers.flatten();
        let bounds = bounds.filter_map(|register| self.least_of(*register));
        bounds.max().unwrap_or_default()
    }

    /// Whether an unsigned integer is known to be below a known one.
    pub fn is_below_known(&self, num: &Num, limit: i128) -> bool {
        self.is_bounded(num, Cmp::Lt, (limit, None), &mut HashSet::new())
    }

    /// Whether an unsigned integer is known to be below a limit, or at most the limit. The limit is given by a lower bound, and by the
    /// extent, if it is one. `asked` prevents asking the same again.
    fn is_bounded<'s>(
        &'s self,
        num: &'s Num,
        cmp: Cmp,
        limit: (i128, Option<Quantity>),
        asked: &mut HashSet<(Register, Cmp)>,
    ) -> bool {
        if cmp.holds(&self.greatest(num), &limit.0) {
            return true;
        }
        let Num::Reg(register) = num else {
            return false;
        };
        if register.variable || !asked.insert((register.register, cmp)) {
            return false;
        }
        // A difference that does not wrap is at most its first operand.
        if let Some((a, b)) = self.difference(register) {
            let cmp = match self.is_at_least(b, &Num::Const(1)) {
                true => Cmp::Le,
                false => cmp,
            };
            if self.is_bounded(a, cmp, limit, asked) {
                return true;
            }
        }
        if cmp == Cmp::Le
            && let (Some(quantity), Some(extent)) = (self.quantity(register), limit.1)
            && self.facts.at_most(quantity, extent)
        {
            return true;
        }
        self.above(register).any(|(bound, by)| match by {
            0 => self.is_bounded(bound, cmp, limit, asked),
            _ => self.is_bounded(bound, Cmp::Le, limit, asked),
        })
    }

    /// The numbers that a register is at most, each with a known integer that may be added to the register first.
    fn above<'s>(&'s self, register: &'s Scalar) -> impl Iterator<Item = (&'s Num, i128)> {
        let always = self.comparisons_always(register.register);
        let always = always.filter_map(|(cmp, bound)| Some((bound, distance_if(*cmp)?)));
        let here = self.bounds.above(self.first(register));
        here.chain(always)
    }

    /// A known integer that a register is at least, by comparisons.
    fn least_of(&self, register: Register) -> Option<i128> {
        let always = self.comparisons_always(register);
        let always = always.filter_map(|(cmp, bound)| least_if(*cmp, bound));
        let first = self.first_of(register);
        always.chain(self.bounds.least(first)).max()
    }

    /// Whether an unsigned integer and the next `reach` ones are known to be below an extent, because it is below the extent minus a
    /// number, as in `i < n - 1`.
    pub fn is_below_by(&self, num: &Num, reach: i128, extent: Quantity) -> bool {
        let Num::Reg(register) = num else {
            return false;
        };
        let is_extent = |bound: &Num| match bound {
            Num::Reg(bound) => {
                let quantity = self.quantity(bound);
                quantity.is_some_and(|quantity| self.facts.at_most(quantity, extent))
            }
            Num::Const(_) => false,
        };
        !register.variable
            && self.above(register).any(|(bound, by)| {
                let Num::Reg(of) = bound else {
                    return false;
                };
                by > reach && is_extent(bound)
                    || self.difference(of).is_some_and(|(whole, less)| {
                        let missing = Num::Const(reach + 1 - by);
                        self.is_at_least(less, &missing) && is_extent(whole)
                    })
            })
    }

    /// The two unsigned integers whose difference is in a register, if they are known and it does not wrap.
    fn difference(&self, register: &Scalar) -> Option<(&Num, &Num)> {
        match self.computed.get(&register.register) {
            Some((Op::Sub, a, b))
                if !register.variable
                    && !is_signed(register.ty)
                    && is_unsigned(b)
                    && self.is_at_least(a, b) =>
            {
                Some((a, b))
            }
            _ => None,
        }
    }

    /// Whether an unsigned integer is known to be at least another one: by a comparison of the two, or by a known number between them.
    fn is_at_least(&self, num: &Num, other: &Num) -> bool {
        if let Num::Const(other) = other
            && self.least(num) >= *other
        {
            return true;
        }
        let Num::Reg(register) = num else {
            return false;
        };
        !register.variable
            && match other {
                Num::Const(other) => {
                    let least = self.least_of(register.register);
                    least.is_some_and(|least| least >= *other)
                }
                Num::Reg(of) => {
                    let (first, of) = (self.first(register), self.first(of));
                    let mut always = self.comparisons_always(register.register);
                    self.bounds.distance(of, first).is_some()
                        || always
                            .any(|(cmp, it)| distance_if(mirror(*cmp)).is_some() && it == other)
                }
            }
    }

    /// Why an unsigned integer is not known here to be below an extent.
    pub fn almost(&self, num: &Num, extent: Quantity) -> Option<Almost> {
        let Num::Reg(register) = num else {
            return None;
        };
        let part = match self.computed.get(&register.register) {
            Some((Op::Add | Op::Sub, Num::Reg(part), Num::Const(_))) => part,
            _ => register,
        };
        let less = self.comparisons(part).find_map(|(cmp, bound)| {
            let Num::Reg(bound) = bound else {
                return None;
            };
            match self.computed.get(&bound.register) {
                Some((Op::Sub, Num::Reg(whole), by @ Num::Const(less)))
                    if cmp == Cmp::Lt
                        && !self.is_at_least(&whole.clone().into(), by)
                        && self
                            .quantity(whole)
                            .is_some_and(|it| self.facts.at_most(it, extent)) =>
                {
                    Some(Almost::Underflows(*less))
                }
                _ => None,
            }
        });
        if less.is_some() {
            return less;
        }
        let first = self.first(part);
        let wraps = self.held().find_map(|(sum, cmp, bound)| {
            let (Num::Reg(sum), Num::Reg(bound), Cmp::Lt | Cmp::Le) = (sum, bound, cmp) else {
                return None;
            };
            let (part, by) = self.summand(sum)?;
            let bound = self.quantity(bound)?;
            let is_it = self.first(part) == first && self.wraps(part, by);
            (is_it && self.facts.at_most(bound, extent)).then_some(Almost::Wraps(by))
        });
        if wraps.is_some() {
            return wraps;
        }
        let mut known = self.comparisons(register).filter_map(|(cmp, bound)| {
            let Num::Reg(bound) = bound else {
                return None;
            };
            let quantity = self.quantity(bound)?;
            match cmp {
                Cmp::Le if self.facts.at_most(quantity, extent) => Some(Almost::Reached),
                Cmp::Lt => Some(Almost::Below(quantity)),
                _ => None,
            }
        });
        known.next()
    }

    /// How a register compares with other numbers, for messages: this looks at all self.
    fn comparisons<'s>(&'s self, register: &'s Scalar) -> impl Iterator<Item = (Cmp, &'s Num)> {
        let first = self.first(register);
        let here = self.held();
        let here = here.filter(move |(a, ..)| matches!(a, Num::Reg(a) if self.first(a) == first));
        let always = self.comparisons_always(register.register);
        let always = always.map(|(cmp, b)| (*cmp, b));
        here.map(|(_, cmp, b)| (cmp, b)).chain(always)
    }

    /// Records that a number of the launch is in a register.
    pub(super) fn note_quantity(&mut self, register: &Scalar, quantity: Quantity) {
        let Known {
            quantities,
            registers,
            ..
        } = self;
        quantities.insert(register.register, quantity);
        let of = registers.entry(quantity).or_default();
        of.insert(register.register);
    }

    fn quantity(&self, register: &Scalar) -> Option<Quantity> {
        self.quantities.get(&register.register).copied()
    }
}

impl Known {
    /// The first register with the same value as this one: both are computed in the same way.
    fn first(&self, register: &Scalar) -> Register {
        self.first_of(register.register)
    }

    fn first_of(&self, register: Register) -> Register {
        self.first.get(&register).copied().unwrap_or(register)
    }

    fn record(&mut self, result: Register, op: Op, a: &Num, b: &Num) {
        let operand = |num: &Num| match num {
            Num::Const(known) => Operand::Known(*known),
            Num::Reg(register) => Operand::Register(self.first(register)),
        };
        let way = (op, operand(a), operand(b));
        self.computed.insert(result, (op, a.clone(), b.clone()));
        let first = *self.ways.entry(way).or_insert(result);
        if first != result {
            self.first.insert(result, first);
        }
    }

    /// The register x, and c, if a register is x + c with a known c above 0.
    fn summand(&self, register: &Scalar) -> Option<(&Scalar, i128)> {
        match self.computed.get(&register.register) {
            Some((Op::Add, Num::Reg(summand), Num::Const(by @ 1..))) => Some((summand, *by)),
            _ => None,
        }
    }

    /// The comparisons of a register that always hold.
    fn comparisons_always(&self, register: Register) -> impl Iterator<Item = &(Cmp, Num)> {
        self.always.get(&register).into_iter().flatten()
    }

    /// The comparisons that hold here, read from both sides.
    fn held(&self) -> impl Iterator<Item = (&Num, Cmp, &Num)> {
        let here = self.holding.iter().filter_map(Condition::comparison);
        here.flat_map(|(a, cmp, b)| [(a, *cmp, b), (b, mirror(*cmp), a)])
    }

    /// Removes and returns the conditions since `since`.
    fn shorten(&mut self, since: Mark) -> Vec<Condition> {
        self.bounds.forget(since.0);
        self.holding.split_off(since.0)
    }
}

impl Condition {
    /// The comparison, if it is known.
    fn comparison(&self) -> Option<&Comparison> {
        match self {
            Condition::Branch(comparison) => comparison.as_ref(),
            Condition::Checked(comparison) => Some(comparison),
        }
    }
}

/// The least unsigned integer for which this comparison with a bound is true, if the bound is a number and the comparison a lower one.
fn least_if(cmp: Cmp, bound: &Num) -> Option<i128> {
    match (cmp, bound) {
        (Cmp::Gt, Num::Const(bound)) => Some(bound + 1),
        (Cmp::Ge | Cmp::Eq, Num::Const(bound)) => Some(*bound),
        (Cmp::Ne, Num::Const(0)) => Some(1),
        _ => None,
    }
}

/// If this comparison says that a number is at most a bound: the known integer that may be added to the number first.
fn distance_if(cmp: Cmp) -> Option<i128> {
    match cmp {
        Cmp::Lt => Some(1),
        Cmp::Le | Cmp::Eq => Some(0),
        Cmp::Gt | Cmp::Ge | Cmp::Ne => None,
    }
}

/// Whether a number is not below 0: one in a register is taken as unsigned.
fn is_unsigned(num: &Num) -> bool {
    num.constant().is_none_or(|known| known >= 0)
}

pub(super) fn is_fixed(num: &Num) -> bool {
    !matches!(num, Num::Reg(scalar) if scalar.variable)
}

/// The comparison, or its negation, unless one of its numbers may change.
fn lasting((a, cmp, b): &Comparison, truth: bool) -> Option<Comparison> {
    let cmp = if truth { *cmp } else { negated(*cmp) };
    (is_fixed(a) && is_fixed(b)).then(|| (a.clone(), cmp, b.clone()))
}

/// The negation of a comparison.
pub(super) fn negated(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Eq => Cmp::Ne,
        Cmp::Ne => Cmp::Eq,
        Cmp::Lt => Cmp::Ge,
        Cmp::Ge => Cmp::Lt,
        Cmp::Le => Cmp::Gt,
        Cmp::Gt => Cmp::Le,
    }
}
