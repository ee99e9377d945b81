//! Bounds of unsigned integers in registers, by the conditions that hold.
//!
//! A proof asks about one register, and many conditions may be about it. So a bound is kept only if it says more than the earlier ones: a
//! proof takes as long after many checks of `x[n + i]` as after one.

use crate::kernel::ir::Register;
use crate::kernel::value::{Num, Scalar};
use std::collections::HashMap;
use std::hash::Hash;

/// The bounds of registers. A register is given by the first one with the same value.
#[derive(Default)]
pub(super) struct Bounds {
    /// The greatest known integer that a register is not below.
    least: Stacks<Register, i128>,
    /// The least known integer that a register is not above.
    greatest: Stacks<Register, Num>,
    /// The registers that a register is not above, each with its first.
    above: Stacks<Register, (Register, Num)>,
    /// For a register and one of those: the greatest known integer such that the sum of it and the first register is not above the second.
    distance: Stacks<(Register, Register), i128>,
}

impl Bounds {
    /// By a condition, a register is at least a known integer.
    pub(super) fn at_least(&mut self, condition: usize, register: Register, least: i128) {
        let known = self.least.last(&register);
        if known.is_none_or(|known| *known < least) {
            self.least.push(condition, register, least);
        }
    }

    /// By a condition, a register is at most a known integer.
    pub(super) fn at_most(&mut self, condition: usize, register: Register, greatest: i128) {
        let known = self.greatest.last(&register).and_then(Num::constant);
        if known.is_none_or(|known| known > greatest) {
            let greatest = Num::Const(greatest);
            self.greatest.push(condition, register, greatest);
        }
    }

    /// By a condition, a register plus a known integer is at most another register, which is given with its first.
    pub(super) fn below(
        &mut self,
        condition: usize,
        register: Register,
        by: i128,
        (first, bound): (Register, &Scalar),
    ) {
        let pair = (register, first);
        let known = self.distance.last(&pair).copied();
        if known.is_none() {
            let bound = (first, bound.clone().into());
            self.above.push(condition, register, bound);
        }
        if known.is_none_or(|known| known < by) {
            self.distance.push(condition, pair, by);
        }
    }

    /// The known integer that a register is at least.
    pub(super) fn least(&self, register: Register) -> Option<i128> {
        self.least.last(&register).copied()
    }

    /// The numbers that a register is at most, each with a known integer that may be added to the register first.
    pub(super) fn above(&self, register: Register) -> impl Iterator<Item = (&Num, i128)> {
        let known = self.greatest.last(&register).map(|bound| (bound, 0));
        let above = self.above.all(&register).iter();
        let above = above.map(move |(first, bound)| (bound, self.distance(register, *first)));
        let above = above.filter_map(|(bound, by)| Some((bound, by?)));
        known.into_iter().chain(above)
    }

    /// A known integer such that the sum of it and one register is at most the other.
    pub(super) fn distance(&self, register: Register, other: Register) -> Option<i128> {
        let pair = (register, other);
        self.distance.last(&pair).copied()
    }

    /// Forgets the bounds by conditions from this one on.
    pub(super) fn forget(&mut self, from: usize) {
        self.least.forget(from);
        self.greatest.forget(from);
        self.above.forget(from);
        self.distance.forget(from);
    }
}

/// Values by key, the latest last.
struct Stacks<K, V> {
    values: HashMap<K, Vec<V>>,
    /// The conditions of all values and their keys, in the order of the conditions.
    conditions: Vec<(usize, K)>,
}

impl<K, V> Default for Stacks<K, V> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            conditions: Vec::new(),
        }
    }
}

impl<K: Clone + Eq + Hash, V> Stacks<K, V> {
    fn push(&mut self, condition: usize, key: K, value: V) {
        self.values.entry(key.clone()).or_default().push(value);
        self.conditions.push((condition, key));
    }

    fn all(&self, key: &K) -> &[V] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    fn last(&self, key: &K) -> Option<&V> {
        self.all(key).last()
    }

    fn forget(&mut self, from: usize) {
        while let Some((_, key)) = self.conditions.pop_if(|(condition, _)| *condition >= from) {
            if let Some(values) = self.values.get_mut(&key) {
                values.pop();
            }
        }
    }
}
