//! Which warpgroups run the code that is emitted, and how many registers they set.

use crate::kernel::emit::operation::Cmp;
use cute_hopper::registers::{FILE, MAX, at_launch};
use cute_hopper::threads::WARPGROUP;
use proc_macro2::Span;
use std::collections::BTreeMap;
use syn::Error;

/// The warpgroups of a CTA, as far as conditions tell them apart.
#[derive(Default)]
pub struct Roles {
    /// The register with the index of the warpgroup.
    index: Option<String>,
    /// By predicate, the warpgroups in which it holds.
    predicates: BTreeMap<String, Warpgroups>,
    /// Those that run the current line.
    running: Running,
    /// By warpgroup, the registers that it sets last.
    registers: BTreeMap<usize, u32>,
    last: Option<Span>,
    /// Whether which warpgroup sets registers is not known.
    is_unknown: bool,
}

type Warpgroups = Vec<usize>;

/// Which warpgroups run a line.
#[derive(Clone, Debug, Default)]
pub enum Running {
    /// All.
    #[default]
    All,
    /// These.
    Some(Warpgroups),
    /// It is not known.
    Unknown,
}

impl Roles {
    /// Names the register with the index of the warpgroup.
    pub fn set_index(&mut self, register: &str) {
        self.index = Some(register.into());
    }

    /// Notes that a predicate is the comparison of a register with a number.
    pub fn compare(&mut self, predicate: &str, cmp: Cmp, register: &str, number: i128) {
        if self.index.as_deref() == Some(register) {
            let holds = |index: &usize| cmp.holds(&(*index as i128), &number);
            let warpgroups = (0..MOST).filter(holds).collect();
            self.predicates.insert(predicate.into(), warpgroups);
        }
    }

    /// Enters the branch in which a predicate holds or does not hold, and returns what ran before.
    pub fn enter(&mut self, predicate: &str, holds: bool) -> Running {
        let inside = match (self.predicates.get(predicate), &self.running) {
            (Some(with), Running::All) => {
                let all = (0..MOST).filter(|it| with.contains(it) == holds);
                Running::Some(all.collect())
            }
            (Some(with), Running::Some(running)) => {
                let both = running.iter().filter(|it| with.contains(it) == holds);
                Running::Some(both.copied().collect())
            }
            _ => Running::Unknown,
        };
        std::mem::replace(&mut self.running, inside)
    }

    /// Leaves a branch. If its end is not reached, it is not known who runs what follows.
    pub fn leave(&mut self, before: Running, is_reached: bool) {
        self.running = match is_reached {
            true => before,
            false => Running::Unknown,
        };
    }

    /// Notes that the warpgroups which run the current line set their number of registers.
    pub fn set_registers(&mut self, count: u32, place: Span) {
        self.last = Some(place);
        let running = match &self.running {
            Running::All => (0..MOST).collect(),
            Running::Some(warpgroups) => warpgroups.clone(),
            Running::Unknown => {
                self.is_unknown = true;
                return;
            }
        };
        for warpgroup in running {
            self.registers.insert(warpgroup, count);
        }
    }

    /// Refuses more registers than a CTA has. No number of another warpgroup would end the wait for them.
    pub fn check(&self, threads: u32) -> Result<(), Error> {
        let Some(place) = self.last.filter(|_| !self.is_unknown) else {
            return Ok(());
        };
        let count = threads.div_ceil(WARPGROUP);
        let launched = at_launch(threads);
        // A CTA that starts with the most registers of a thread may leave others in the file.
        let available = match launched {
            MAX => FILE / WARPGROUP,
            launched => launched * count,
        };
        let of = |warpgroup: u32| self.registers.get(&(warpgroup as usize)).copied();
        let set: Vec<u32> = (0..count).map(|it| of(it).unwrap_or(launched)).collect();
        let sum: u32 = set.iter().sum();
        if sum <= available {
            return Ok(());
        }
        let set: Vec<String> = set.iter().map(u32::to_string).collect();
        let message = format!(
            "the warpgroups set {} = {sum} registers a thread, but a CTA of {threads} threads has {available}: {} of {WARPGROUP} threads with {launched} each",
            set.join(" + "),
            match count {
                1 => "one warpgroup".to_string(),
                count => format!("{count} warpgroups"),
            }
        );
        Err(Error::new(place, message))
    }
}

/// The most warpgroups of a CTA.
const MOST: usize = (cute_hopper::threads::MAX_CTA / WARPGROUP) as usize;
