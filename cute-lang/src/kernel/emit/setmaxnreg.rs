//! The numbers of registers that the warpgroups of a CTA set under conditions on `warpgroup()`.
//!
//! A kernel that uses `setmaxnreg` says `.minnctapersm 1`: without it ptxas may drop the instruction (C7508).

use crate::kernel::emit::known::Condition;
use crate::kernel::value::{Num, Scalar};
use cute_chip::Chip;
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

/// Of all warpgroups of a CTA, those that execute a line under these conditions; `None` if a condition is on anything but their index.
pub fn running(threads: u32, index: Option<&Scalar>, conditions: &[Condition]) -> Option<Vec<u32>> {
    let mut running: Vec<u32> = (0..threads.div_ceil(WARPGROUP)).collect();
    for condition in conditions {
        match condition {
            Condition::Branch(Some((Num::Reg(register), cmp, Num::Const(number))))
                if index == Some(register) =>
            {
                running.retain(|index| cmp.holds(&i128::from(*index), number));
            }
            Condition::Branch(_) => return None,
            Condition::Checked(_) => {}
        }
    }
    Some(running)
}

/// The key, among the registers computed once, of the index of the warpgroup.
pub const INDEX: &str = "warpgroup";

impl Budget {
    /// Notes that these warpgroups set their number of registers. `None` are unknown ones.
    pub fn set(&mut self, warpgroups: Option<Vec<u32>>, count: u32, place: Span) {
        self.last = Some(place);
        match warpgroups {
            Some(warpgroups) => self
                .set
                .extend(warpgroups.into_iter().map(|it| (it, count))),
            None => self.is_unknown = true,
        }
    }

    /// Refuses more registers than a CTA has: the wait for them would never end.
    pub(super) fn check(&self, chip: &Chip, threads: u32) -> Result<(), Error> {
        let Some(place) = self.last.filter(|_| !self.is_unknown) else {
            return Ok(());
        };
        let count = threads.div_ceil(WARPGROUP);
        let launched = chip.registers_at_launch(threads);
        // A CTA that starts with the most registers of a thread may leave some of the register file unused.
        let available = match launched {
            MAX => chip.registers / WARPGROUP,
            launched => launched * count,
        };
        let set = (0..count).map(|it| self.set.get(&it).copied().unwrap_or(launched));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::emit::operation::Cmp;
    use crate::kernel::ir::Register;
    use cute_ptx::ast::Type;

    #[test]
    fn conditions_on_the_index_say_which_warpgroups_run() {
        let index = Scalar::new(Register::at(0), Type::U32);
        let is = |cmp, number: i128| {
            Condition::Branch(Some((index.clone().into(), cmp, Num::Const(number))))
        };
        let of = |conditions: &[Condition]| running(384, Some(&index), conditions);
        assert_eq!(of(&[]), Some(vec![0, 1, 2]));
        assert_eq!(of(&[is(Cmp::Ge, 1)]), Some(vec![1, 2]));
        assert_eq!(of(&[is(Cmp::Ge, 1), is(Cmp::Ne, 2)]), Some(vec![1]));
        assert_eq!(of(&[is(Cmp::Ge, 1), Condition::Branch(None)]), None);
    }

    #[test]
    fn more_registers_than_a_cta_has_are_refused() {
        let of = |counts: [u32; 3]| {
            let mut budget = Budget::default();
            for (warpgroup, count) in (0..).zip(counts) {
                budget.set(Some(vec![warpgroup]), count, Span::call_site());
            }
            budget.check(Chip::DEFAULT, 384)
        };
        assert!(of([24, 240, 240]).is_ok());
        let error = of([32, 240, 240]).unwrap_err().to_string();
        assert!(error.contains("32 + 240 + 240 = 512 registers"), "{error}");
    }
}
