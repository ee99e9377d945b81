//! Fragments with two names: after `let old = acc`, both name the same registers.
//!
//! In Rust, `acc` would have moved. Here both names stay valid until one of them changes the registers: then a read by the other name is an
//! error, because the reader expects the earlier values, as in a copy.
//!
//! A register has the number of the `let` that has renamed it ([`Scalar::renamed`]), also as an operand. An appended instruction tells
//! which name reads and which writes; then the numbers are removed. Lines are checked in textual order. In a
//! loop, a line before the change also comes after it, in the next iteration.

use crate::kernel::ir::{Inst, Operand, Register};
use crate::kernel::value::Scalar;
use proc_macro2::Span;
use std::collections::{HashMap, HashSet};
use syn::Error;

/// Fragments with several names.
#[derive(Default)]
pub struct Renamed {
    /// By number, beginning with 1.
    lets: Vec<Let>,
    /// The changes that may have come before the current line.
    changes: Changes,
    /// For each register, its reads in loops.
    reads: HashMap<Register, Vec<Access>>,
    /// The pairs of names of which an error has been reported.
    reported: HashSet<[u32; 2]>,
    errors: Vec<Error>,
    /// The loops around the current line.
    loops: Vec<usize>,
    /// How many loops there have been, and how many accesses and lets.
    loop_count: usize,
    time: usize,
}

/// For each register, the last change on each path to the current line.
pub(in crate::kernel) type Changes = HashMap<Register, Vec<Access>>;

/// `let name = of`.
struct Let {
    name: String,
    of: String,
    time: usize,
    loops: Vec<usize>,
}

/// A read or a write.
#[derive(Clone)]
pub(in crate::kernel) struct Access {
    /// The number of the name.
    by: u32,
    time: usize,
    place: Span,
    loops: Vec<usize>,
}

impl Renamed {
    fn access(&self, by: u32, place: Span) -> Access {
        Access {
            by,
            time: self.time,
            place,
            loops: self.loops.clone(),
        }
    }

    /// The later of two lets. From there on, both names exist.
    fn later(&self, a: u32, b: u32) -> Option<&Let> {
        self.lets.get((a.max(b) as usize).checked_sub(1)?)
    }

    fn read(&mut self, register: Register, by: u32, place: Span) {
        let read = self.access(by, place);
        let changes = self.changes.get(&register).into_iter().flatten();
        let mut stale = changes.filter(|change| {
            let both = self.later(change.by, by);
            change.by != by && both.is_some_and(|both| change.time > both.time)
        });
        if let Some(change) = stale.next().cloned() {
            self.report(&read, &change);
        }
        if !read.loops.is_empty() {
            let reads = self.reads.entry(register).or_default();
            // Of the reads by a name in a loop, one is enough.
            if !reads.iter().any(|it| it.by == by && it.loops == read.loops) {
                reads.push(read);
            }
        }
    }

    fn write(&mut self, register: Register, by: u32, place: Span) {
        let change = self.access(by, place);
        let reads = self.reads.get(&register).into_iter().flatten();
        let mut stale = reads.filter(|read| {
            // A loop around both accesses, but not around the `let`.
            let repeats = |both: &Let| {
                let again = |it: &&usize| change.loops.contains(it) && !both.loops.contains(it);
                read.loops.iter().any(|it| again(&it)) && read.time > both.time
            };
            read.by != by && self.later(read.by, by).is_some_and(repeats)
        });
        if let Some(read) = stale.next().cloned() {
            self.report(&read, &change);
        }
        self.changes.insert(register, vec![change]);
    }

    fn report(&mut self, read: &Access, change: &Access) {
        let pair = [read.by.min(change.by), read.by.max(change.by)];
        if !self.reported.insert(pair) {
            return;
        }
        let Some(Let { name, of, .. }) = self.later(read.by, change.by) else {
            return;
        };
        let text = |by: u32| match self.lets.get((by as usize).wrapping_sub(1)) {
            Some(named) => named.name.clone(),
            None => of.clone(),
        };
        let (old, new) = (text(read.by), text(change.by));
        let message = format!(
            "`{old}` names the same registers as `{new}`, which has changed since `let {name} = {of}`: write `let mut {name} = {of}`, which copies them"
        );
        let mut error = Error::new(read.place, message);
        error.combine(Error::new(change.place, format!("`{new}` changes here")));
        self.errors.push(error);
    }

    /// An error for all reads of registers that another name has changed.
    pub(super) fn check(self) -> Result<(), Error> {
        let all = self.errors.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        all.map_or(Ok(()), Err)
    }
}

impl Renamed {
    /// Gives registers another name, by `let name = of`.
    pub fn rename<'r>(
        &mut self,
        registers: impl Iterator<Item = &'r mut Scalar>,
        name: &str,
        of: &str,
    ) {
        self.time += 1;
        self.lets.push(Let {
            name: name.into(),
            of: of.into(),
            time: self.time,
            loops: self.loops.clone(),
        });
        let number = self.lets.len() as u32;
        registers.for_each(|register| register.renamed = number);
    }

    /// Begins a loop.
    pub fn enter_loop(&mut self) {
        self.loop_count += 1;
        self.loops.push(self.loop_count);
    }

    /// Ends a loop.
    pub fn leave_loop(&mut self) {
        self.loops.pop();
    }

    /// Whether the current line may follow itself.
    pub fn in_loop(&self) -> bool {
        !self.loops.is_empty()
    }

    /// The changes that may have come before the current line.
    pub(in crate::kernel) fn changes(&self) -> Changes {
        self.changes.clone()
    }

    /// Replaces the changes, and returns the previous ones.
    pub(in crate::kernel) fn set_changes(&mut self, changes: Changes) -> Changes {
        std::mem::replace(&mut self.changes, changes)
    }

    /// Another way, with these changes, leads to the current line as well.
    pub(in crate::kernel) fn add_changes(&mut self, changes: Changes) {
        for (register, changes) in changes {
            let known = self.changes.entry(register).or_default();
            for change in changes {
                if known.iter().all(|it| it.time != change.time) {
                    known.push(change);
                }
            }
        }
    }

    /// Notes the names by which an instruction reads and writes registers, and removes their numbers.
    pub fn accessed(&mut self, mut inst: Inst, place: Span) -> Inst {
        if self.lets.is_empty() {
            return inst;
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        reads.extend(inst.guard.iter().map(|guard| (guard.predicate, 0)));
        for operand in inst.sources() {
            operand.for_each_name(&mut |register, by| reads.push((register, by)));
        }
        for operand in inst.destinations() {
            operand.for_each_name(&mut |register, by| writes.push((register, by)));
        }
        self.time += 1;
        for (register, by) in reads {
            self.read(register, by, place);
        }
        for (register, by) in writes {
            self.write(register, by, place);
        }
        inst.operands.iter_mut().for_each(Operand::forget_names);
        inst
    }

    /// A register is written.
    pub(super) fn changed(&mut self, register: &Scalar, place: Span) {
        if !self.lets.is_empty() {
            self.time += 1;
            self.write(register.register, register.renamed, place);
        }
    }
}
