//! Exchanges between the lanes of a warp: `shfl`, `vote`, `match`, `redux` and `elect`.

use crate::error::{Inactive, UndefinedValue};
use crate::exec::state::row::{LANES, lanes};
use crate::exec::state::undefined::{Cause, Lanes as Undefined};
use crate::exec::step::Step;
use crate::op::{Binary, Reg, Shuffle, ShuffleMode, Vote};

impl Step<'_> {
    pub(crate) fn shuffle(&mut self, active: u32, shuffle: &Shuffle) {
        let Shuffle {
            mode,
            dst,
            valid,
            src,
            lane,
            clamp,
        } = *shuffle;
        let values = self.warp.rows[src as usize];
        let mut undefined = Vec::new();
        for this in lanes(active) {
            let by = self.warp.get(lane, this) as usize & 31;
            let clamp = self.warp.get(clamp, this) as usize;
            // Bits 0 to 4 bound the source lane. Bits 8 to 12 mask the lane bits that give its segment.
            let (bound, segment) = (clamp & 31, clamp >> 8 & 31);
            let last = this & segment | bound & !segment;
            let first = this & segment;
            let (from, inside) = match mode {
                ShuffleMode::Up => (this.wrapping_sub(by), this >= by && this - by >= last),
                ShuffleMode::Down => (this + by, this + by <= last),
                ShuffleMode::Butterfly => (this ^ by, this ^ by <= last),
                ShuffleMode::Index => (first | by & !segment, first | by & !segment <= last),
            };
            let from = if inside { from & (LANES - 1) } else { this };
            self.warp.set(dst, this, values[from]);
            let is_there = active >> from & 1 == 1;
            if !is_there || !self.warp.undefined.is_empty() {
                let source = match is_there {
                    true => self.warp.undefined.lanes(src, 1 << from),
                    false => Undefined::of(1 << from, self.read_from(from)),
                };
                undefined.push((this, source));
            }
            if let Some(valid) = valid {
                self.warp.set(valid, this, u64::from(inside));
            }
        }
        for (lane, source) in undefined {
            self.warp
                .undefined
                .write(dst, 1 << lane, source.on(1 << lane));
        }
    }

    /// The undefined value that a shuffle reads from a lane that does not execute it.
    ///
    /// "Note that results are undefined if a thread sources a register from an inactive thread or a thread that is not in
    /// membermask" (PTX ISA, "shfl.sync").
    fn read_from(&self, lane: usize) -> Cause {
        let is_in = |mask: u32| mask >> lane & 1 == 1;
        Cause::Shuffle(UndefinedValue {
            register: String::new(),
            shuffle: self.code.other(self.pc),
            lane: lane as u32,
            why: match (is_in(self.warp.launched), is_in(self.warp.alive)) {
                (false, _) => Inactive::NotLaunched,
                (true, false) => {
                    Inactive::Ended(self.code.other(self.warp.ended_at[lane] as usize))
                }
                (true, true) => Inactive::NoMember,
            },
        })
    }

    pub(crate) fn vote(&mut self, active: u32, mode: Vote, dst: Reg, predicate: Reg, members: Reg) {
        let holds = self.warp.lanes(predicate, active);
        let members = self.warp.get(members, active.trailing_zeros() as usize) as u32 & active;
        let (some, all) = (holds & members != 0, holds & members == members);
        let result = match mode {
            Vote::Any => u64::from(some),
            Vote::All => u64::from(all),
            Vote::Uniform => u64::from(all || !some),
            Vote::Ballot => u64::from(holds & members),
        };
        self.warp.fill(dst, active, |_| result);
    }

    pub(crate) fn match_lanes(
        &mut self,
        active: u32,
        all: bool,
        dst: Reg,
        same: Option<Reg>,
        src: Reg,
        members: Reg,
    ) {
        let values = self.warp.rows[src as usize];
        let members = self.warp.get(members, active.trailing_zeros() as usize) as u32 & active;
        let equal = |lane: usize| {
            let others = lanes(members).filter(|other| values[*other] == values[lane]);
            others.fold(0, |mask, other| mask | 1_u32 << other)
        };
        for lane in lanes(active) {
            let (found, agree) = (equal(lane), equal(lane) == members);
            let result = if all && !agree { 0 } else { found };
            self.warp.set(dst, lane, result.into());
            if let Some(same) = same {
                self.warp.set(same, lane, agree.into());
            }
        }
    }

    pub(crate) fn reduce(&mut self, active: u32, op: Binary, dst: Reg, src: Reg) {
        let row = self.warp.rows[src as usize];
        let result = lanes(active).map(|lane| row[lane]).reduce(op).unwrap_or(0);
        self.warp.fill(dst, active, |_| result);
    }

    /// Each lane holds two elements of a row of eight.
    pub(crate) fn move_matrix(&mut self, active: u32, dst: Reg, src: Reg) {
        let values = self.warp.rows[src as usize];
        let element =
            |row: usize, column: usize| values[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
        self.warp.fill(dst, active, |lane| {
            let (row, column) = (lane / 4, lane % 4 * 2);
            element(column, row) | element(column + 1, row) << 16
        });
    }

    pub(crate) fn elect(&mut self, active: u32, dst: Reg, elected: Reg, members: Reg) {
        let first = active.trailing_zeros() as usize;
        let members = self.warp.get(members, first) as u32 & active;
        let leader = members.trailing_zeros() as usize;
        self.warp.fill(dst, active, |_| leader as u64);
        self.warp
            .fill(elected, active, |lane| u64::from(lane == leader));
    }
}
