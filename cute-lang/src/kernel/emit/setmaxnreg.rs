//! The numbers of registers that the warpgroups of a CTA set under conditions on `warpgroup()`.
//!
//! A kernel that uses `setmaxnreg` says `.minnctapersm 1`: without it ptxas may drop the instruction (C7508).

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::conditions::Condition;
use crate::kernel::value::Num;
use cute_chip::registers::MAX;
use cute_chip::threads::WARPGROUP;
use proc_macro2::Span;
use std::collections::BTreeMap;
use syn::Error;

/// The registers that warpgroups set.
#[derive(Default)]
pub struct Budget {
    /// For each warpgroup, the number of registers of a thread that it sets last.
    set: BTreeMap<u32, u32>,
    /// Where registers are set last.
    last: Option<Span>,
    /// Whether registers are set by an unknown warpgroup.
    is_unknown: bool,
}

/// The key, among the registers computed once, of the index of the warpgroup.
pub const INDEX: &str = "warpgroup";

impl Builder {
    /// Notes that the warpgroups of the current line set their number of registers.
    pub fn set_registers(&mut self, count: u32, place: Span) {
        let running = self.running();
        self.budget.last = Some(place);
        match running {
            Some(warpgroups) => self
                .budget
                .set
                .extend(warpgroups.into_iter().map(|it| (it, count))),
            None => self.budget.is_unknown = true,
        }
    }

    /// The warpgroups that execute the current line; `None` if it is under conditions on anything but their index.
    fn running(&self) -> Option<Vec<u32>> {
        let index = self.known_once(INDEX);
        let mut running: Vec<u32> = (0..self.threads.div_ceil(WARPGROUP)).collect();
        for condition in self.holding() {
            match condition {
                Condition::Branch(Some((Num::Reg(register), cmp, Num::Const(number))))
                    if index.as_ref() == Some(register) =>
                {
                    running.retain(|index| cmp.holds(&i128::from(*index), number));
                }
                Condition::Branch(_) => return None,
                Condition::Checked(_) => {}
            }
        }
        Some(running)
    }

    /// Refuses more registers than a CTA has: the wait for them would never end.
    pub(super) fn check_registers(&self) -> Result<(), Error> {
        let Some(place) = self.budget.last.filter(|_| !self.budget.is_unknown) else {
            return Ok(());
        };
        let threads = self.threads;
        let count = threads.div_ceil(WARPGROUP);
        let launched = self.chip.registers_at_launch(threads);
        // A CTA that starts with the most registers of a thread may leave some of the register file unused.
        let available = match launched {
            MAX => self.chip.registers / WARPGROUP,
            launched => launched * count,
        };
        let set = (0..count).map(|it| self.budget.set.get(&it).copied().unwrap_or(launched));
        let set: Vec<u32> = set.collect();
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
