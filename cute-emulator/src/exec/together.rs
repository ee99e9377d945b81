//! Lanes that execute an instruction together: all of a warp (`.aligned`), the live ones, or the lanes of a member mask.

use super::state::row::{Row, lanes};
use super::state::undefined::Lanes as Undefined;
use super::state::warp::{Frame, Parting, Split, Wait, is_same_call};
use super::step::{Blame, Flow, Result, Step};
use crate::error::{Absence, FaultKind, MemberMask, NotTogether};
use crate::op::{Convergence, Instruction, Op, Reg};
use std::rc::Rc;

/// Which of the needed lanes are at an instruction that lanes execute together.
pub(crate) enum Gathered {
    /// All needed lanes are there.
    All,
    /// Some are missing.
    Some,
    /// All are there, but some are at other instructions of the same mnemonic.
    AtSeveral(Vec<Split>),
}

/// The values of a register, and the lanes in which they are undefined.
type Values = (Row, Undefined);

impl Step<'_> {
    /// Whether all lanes that an instruction needs are there; otherwise the split waits for them. Lanes of the split that do not take
    /// part together with these become a split of their own.
    pub(crate) fn gather(
        &mut self,
        instruction: &Instruction,
        split: &mut Split,
        active: u32,
    ) -> Result<Gathered> {
        let required = match instruction.convergence {
            Convergence::No => active,
            Convergence::Warp => {
                let skipped = split.mask & !active;
                if skipped != 0 {
                    let absence = Absence::Skipped;
                    return Err(self.not_together(instruction, active, skipped, absence));
                }
                self.warp.launched
            }
            Convergence::Alive => {
                self.set_apart(split, split.mask & !active, split.pc + 1);
                self.warp.alive
            }
            Convergence::Members(row) => {
                self.set_apart(split, split.mask & !active, split.pc + 1);
                let (mask, group) = self.group(row, active)?;
                self.set_apart(split, active & !group, split.pc);
                mask & self.warp.launched
            }
        };
        let ended = required & !self.warp.alive;
        if ended != 0 && self.needs_ended(instruction) {
            let at = self.warp.ended_at[ended.trailing_zeros() as usize];
            let there = lanes(ended).filter(|lane| self.warp.ended_at[*lane] == at);
            let there = there.fold(0, |mask, lane| mask | 1 << lane);
            let absence = Absence::Ended(self.code.other(at as usize));
            return Err(self.not_together(instruction, split.mask, there, absence));
        }
        let missing = required & self.warp.alive & !split.mask;
        if missing == 0 {
            return Ok(Gathered::All);
        }
        if let Some(partners) = self.partners(instruction, split, missing) {
            return Ok(Gathered::AtSeveral(partners));
        }
        if instruction.convergence == Convergence::Warp {
            self.check_way_to(instruction, split, missing)?;
        }
        split.wait = Some(Wait::Lanes { required });
        Ok(Gathered::Some)
    }

    /// Called when a split has begun to wait for lanes. It is an error if these lanes wait for lanes of the warp, too: then none of them
    /// ever comes.
    pub(crate) fn check_coming(&self) -> Result<()> {
        let Some(waiting) = self.warp.splits.last() else {
            return Ok(());
        };
        let waits = |split: &Split| match &split.wait {
            Some(Wait::Lanes { required }) => required & self.warp.alive & !split.mask != 0,
            _ => false,
        };
        if !self.warp.splits.iter().all(waits) {
            return Ok(());
        }
        let Some(Wait::Lanes { required }) = waiting.wait else {
            return Ok(());
        };
        let missing = required & self.warp.alive & !waiting.mask;
        let other = self.warp.splits.iter().find(|it| it.mask & missing != 0);
        let Some(other) = other else {
            return Ok(());
        };
        let instruction = &self.code.instructions[waiting.pc];
        let absence = Absence::Waiting(self.code.other(other.pc));
        Err(self.not_together(instruction, waiting.mask, other.mask & missing, absence))
    }

    /// The member mask of the first of the lanes, and the lanes with an equal mask.
    ///
    /// "The behavior is undefined if the executing thread is not in the membermask", and a thread waits for those of its mask to
    /// execute the instruction "with the same qualifiers and same membermask value" (PTX ISA, "shfl.sync", "vote.sync",
    /// "match.sync", "redux.sync", "bar.warp.sync", "elect.sync").
    fn group(&self, row: Reg, active: u32) -> Result<(u32, u32)> {
        let mask_of = |lane: usize| self.warp.get(row, lane) as u32;
        let mask = mask_of(active.trailing_zeros() as usize);
        let same = lanes(active).filter(|lane| mask_of(*lane) == mask);
        let group = same.fold(0, |group, lane| group | 1_u32 << lane);
        if group == active && active & !mask == 0 {
            return Ok((mask, group));
        }
        for lane in lanes(active) {
            let mask = mask_of(lane);
            let others = lanes(mask & active).find(|other| mask_of(*other) != mask);
            let fault = match others {
                _ if mask >> lane & 1 == 0 => MemberMask::WithoutItself {
                    lane: lane as u32,
                    mask,
                },
                Some(other) => MemberMask::Differs {
                    lane: lane as u32,
                    mask,
                    other: other as u32,
                    others: mask_of(other),
                },
                None => continue,
            };
            return Err(Blame::lane(FaultKind::MemberMask(fault), lane));
        }
        Ok((mask, group))
    }

    /// Whether the instruction also waits for lanes that have ended.
    ///
    /// "vote.sync will cause executing thread to wait until all non-exited threads corresponding to membermask have executed
    /// vote.sync", and `shfl.sync`, `match.sync` and `redux.sync` do the same. `elect.sync` waits "until all threads in the
    /// membermask execute the elect instruction", and `bar.warp.sync` "until all threads corresponding to membermask have
    /// executed" it (PTX ISA).
    fn needs_ended(&self, instruction: &Instruction) -> bool {
        match (instruction.convergence, &instruction.op) {
            (Convergence::Warp, _) => true,
            (Convergence::Members(_), Op::WarpSync { .. } | Op::Elect { .. }) => self.checks.strict,
            _ => false,
        }
    }

    /// Splits off lanes, at another instruction or at the same one.
    fn set_apart(&mut self, split: &mut Split, lanes: u32, pc: usize) {
        if lanes == 0 {
            return;
        }
        split.mask &= !lanes;
        self.warp.splits.push(split.on(pc, lanes));
    }

    /// The splits that wait for the same lanes at other instructions of the same mnemonic, if they have all missing lanes.
    fn partners(
        &mut self,
        instruction: &Instruction,
        split: &Split,
        missing: u32,
    ) -> Option<Vec<Split>> {
        let own = instruction.exchanged.as_ref()?;
        let lane = split.mask.trailing_zeros() as usize;
        let equal = |other: &Split, shared: &[Reg], theirs: &[Reg]| {
            let first = other.mask.trailing_zeros() as usize;
            let mut both = shared.iter().zip(theirs);
            both.all(|(own, row)| self.warp.get(*own, lane) == self.warp.get(*row, first))
        };
        let is_partner = |other: &Split| {
            let theirs = &self.code.instructions[other.pc];
            let same = matches!(other.wait, Some(Wait::Lanes { .. }))
                && theirs.mnemonic == instruction.mnemonic;
            same && match (instruction.convergence, theirs.convergence) {
                (Convergence::Members(own), Convergence::Members(row)) => {
                    equal(other, &[own], &[row])
                }
                (Convergence::Alive, Convergence::Alive) => {
                    let theirs = theirs.exchanged.as_ref();
                    theirs.is_some_and(|theirs| equal(other, &own.reads, &theirs.reads))
                }
                _ => false,
            }
        };
        let found: Vec<bool> = self.warp.splits.iter().map(is_partner).collect();
        let there = self.warp.splits.iter().zip(&found);
        let there = there.filter(|(_, is_partner)| **is_partner);
        if missing & !there.fold(0, |mask, (split, _)| mask | split.mask) != 0 {
            return None;
        }
        let (partners, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.warp.splits)
            .into_iter()
            .zip(found)
            .partition(|(_, is_partner)| *is_partner);
        self.warp.splits = others.into_iter().map(|(split, _)| split).collect();
        Some(partners.into_iter().map(|(split, _)| split).collect())
    }

    /// Executes an instruction together with lanes at other instructions of the same mnemonic. These lanes use their own operands.
    #[inline(never)]
    pub(crate) fn execute_with(
        &mut self,
        instruction: &Instruction,
        split: &mut Split,
        partners: Vec<Split>,
    ) -> Result<Flow> {
        let Some(own) = &instruction.exchanged else {
            return Ok(Flow::Next);
        };
        let code = self.code;
        let of = |partner: &Split| &code.instructions[partner.pc];
        let mask = split.mask;
        let others = partners.iter().fold(0, |all, it| all | it.mask);
        let rows = own.reads.iter().chain(&own.writes);
        let kept: Vec<(Reg, Values)> = rows.map(|row| (*row, self.held(*row, others))).collect();
        let mut lent = Vec::new();
        for partner in &partners {
            let theirs = of(partner).exchanged.iter().flat_map(|it| &it.reads);
            for (own, row) in own.reads.iter().zip(theirs) {
                lent.push((*own, partner.mask, self.held(*row, partner.mask)));
            }
        }
        for (row, mask, values) in lent {
            self.hold(row, mask, values);
        }
        split.mask |= others;
        let flow = self.execute(instruction, split, split.mask)?;
        split.mask = mask;
        let results: Vec<Values> = own
            .writes
            .iter()
            .map(|row| self.held(*row, others))
            .collect();
        for (row, values) in kept {
            self.hold(row, others, values);
        }
        for mut theirs in partners {
            let instruction = of(&theirs);
            let writes = instruction.exchanged.iter().flat_map(|it| &it.writes);
            for (row, values) in writes.zip(&results) {
                self.hold(*row, theirs.mask, values.clone());
            }
            if let Some(followed) = &instruction.followed {
                self.record_writes(followed, theirs.mask);
            }
            theirs.wait = split.wait.clone();
            theirs.pc += 1;
            self.warp.splits.push(theirs);
        }
        Ok(flow)
    }

    /// The values of a register in the lanes of a mask.
    fn held(&self, row: Reg, mask: u32) -> Values {
        (
            self.warp.rows[row as usize],
            self.warp.undefined.lanes(row, mask),
        )
    }

    fn hold(&mut self, row: Reg, mask: u32, (values, undefined): Values) {
        self.warp.fill(row, mask, |lane| values[lane]);
        self.warp.undefined.write(row, mask, undefined);
    }

    /// An error if missing lanes have passed an `.aligned` instruction on a path that the lanes of the split have not taken.
    ///
    /// "In conditionally executed code, [the] instruction should only be used if it is known that all threads in the warp evaluate
    /// the condition identically, otherwise behavior is undefined" (PTX ISA, for each of these instructions).
    fn check_way_to(&self, instruction: &Instruction, split: &Split, missing: u32) -> Result<()> {
        for parting in &split.partings {
            let is_past = |other: &&Split| {
                other.mask & missing & parting.mask != 0 && !other.is_between(parting)
            };
            if let Some(other) = self.warp.splits.iter().find(is_past) {
                let absence = Absence::Passed {
                    parted: self.code.other(parting.at),
                    now: self.code.other(other.waits_at()),
                };
                let gone = other.mask & missing & parting.mask;
                return Err(self.not_together(instruction, split.mask, gone, absence));
            }
        }
        Ok(())
    }

    fn not_together(
        &self,
        instruction: &Instruction,
        lanes: u32,
        missing: u32,
        absence: Absence,
    ) -> Blame {
        let aligned = instruction.convergence == Convergence::Warp;
        let fault = FaultKind::NotTogether(Box::new(NotTogether {
            lanes,
            missing,
            absence,
            aligned,
        }));
        match lanes.count_ones() {
            1 => Blame::lane(fault, lanes.trailing_zeros() as usize),
            _ => fault.into(),
        }
    }
}

impl Split {
    /// Some lanes of the split, at another instruction.
    pub(crate) fn on(&self, pc: usize, mask: u32) -> Split {
        Split {
            pc,
            mask,
            call: self.call.clone(),
            partings: self.partings.clone(),
            ..Split::default()
        }
    }

    /// Called when some of the lanes take another path from an instruction. The paths meet again at `until`, if anywhere.
    pub(crate) fn part(&mut self, until: Option<usize>) {
        let same = |parting: &Rc<Parting>| {
            parting.until == until && is_same_call(&parting.call, &self.call)
        };
        if !self.partings.iter().any(same) {
            self.partings.push(Rc::new(Parting {
                at: self.pc,
                until,
                call: self.call.clone(),
                mask: self.mask,
            }));
        }
    }

    /// Removes the partings that end at the split's instruction.
    pub(crate) fn meet(&mut self) {
        let (pc, call) = (self.pc, self.call.clone());
        self.partings.retain(|parting| !parting.ends_at(pc, &call));
    }

    /// Called when lanes of another split join this one. The partings of both stay open.
    pub(crate) fn take_partings(&mut self, other: &Split) {
        for parting in &other.partings {
            if !self.partings.iter().any(|it| Rc::ptr_eq(it, parting)) {
                self.partings.push(parting.clone());
            }
        }
    }

    /// Whether the split has not reached the place where the paths of a parting meet again.
    fn is_between(&self, parting: &Rc<Parting>) -> bool {
        self.partings.iter().any(|it| Rc::ptr_eq(it, parting))
            && !parting.ends_at(self.pc, &self.call)
    }
}

impl Parting {
    fn ends_at(&self, pc: usize, call: &Option<Rc<Frame>>) -> bool {
        self.until == Some(pc) && is_same_call(&self.call, call)
    }
}
