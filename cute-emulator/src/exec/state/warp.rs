//! A warp: its registers, its splits, and the state of its synchronisation.

use super::knowledge::{Knowledge, STARTED};
use super::lanes::LaneOrder;
use super::releases::{Fences, Party};
use super::repetition::Repetition;
use super::row::{LANES, Row, lanes};
use super::undefined::Undefined;
use super::wgmma::Pending;
use crate::limits::{OutOfHostMemory, filled};
use crate::op::{Code, Reg};
use crate::special::Position;
use crate::windows::LOCAL_WINDOW;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// The number of warps of a warpgroup.
pub(crate) const WARPGROUP: usize = cute_chip::threads::WARPGROUP_WARPS as usize;

/// New local memory is filled with this byte.
pub(crate) const POISON: u8 = 0xff;

/// The host memory of a row in bytes, with its elements of `in_flight`, `touched` and `written_rows`.
pub(crate) const ROW_BYTES: u64 = (size_of::<Row>() + 3 * size_of::<u32>()) as u64;

#[derive(Default)]
pub(crate) struct Warp {
    pub(crate) rows: Vec<Row>,
    /// The lanes at launch: all 32, except in the last warp of a CTA.
    pub(crate) launched: u32,
    /// Lanes that have not ended.
    pub(crate) alive: u32,
    /// The last instruction of each lane that has ended.
    pub(crate) ended_at: [u32; LANES],
    /// The lanes that have not ended, grouped by their current instruction.
    pub(crate) splits: Vec<Split>,
    /// The number of the warp in the cluster.
    pub(crate) index: usize,
    /// The rank of the warp's CTA in the cluster.
    pub(crate) rank: usize,
    /// The number of the warp in the CTA.
    pub(crate) warp: u32,
    pub(crate) knowledge: Knowledge,
    /// The order of the warp's lanes.
    pub(crate) lanes: LaneOrder,
    pub(crate) fences: Fences,
    /// Lanes that wrote shared memory since they last executed a proxy fence or synchronised with the warp's other lanes.
    pub(crate) written: u32,
    /// The same for global memory.
    pub(crate) written_global: u32,
    /// The lanes that know that the previous grid has ended.
    pub(crate) waited: u32,
    /// The wgmma instructions not yet waited for, oldest first.
    pub(crate) wgmma: VecDeque<Pending>,
    /// How many wgmma instructions it has issued since it started.
    pub(crate) wgmma_issued: u64,
    /// How many of these have executed.
    pub(crate) wgmma_executed: u64,
    /// How many of these are committed to a group.
    pub(crate) wgmma_committed: u64,
    /// How many wgmma groups it has committed.
    pub(crate) wgmma_groups: u64,
    /// For each row: the number, from 1, of the last wgmma that uses it; 0 once the warp has waited for it.
    pub(crate) in_flight: Vec<u32>,
    /// For each row: the value of `wgmma_fences` when an instruction other than wgmma last used it.
    pub(crate) touched: Vec<u32>,
    /// For each followed row: the lanes that have written it.
    pub(crate) written_rows: Vec<u32>,
    /// Registers whose value is undefined.
    pub(crate) undefined: Undefined,
    /// How many `wgmma.fence` it has executed.
    pub(crate) wgmma_fences: u32,
    /// How many bulk store groups each lane has committed.
    pub(crate) bulk_groups: [u64; LANES],
    /// How many groups of `cp.async` each lane has committed.
    pub(crate) copy_groups: [u64; LANES],
    /// The mbarriers initialised since the warp's last fence: the rank of the CTA and the address.
    pub(crate) unannounced: BTreeSet<(usize, u32)>,
    /// The phase of the cluster barrier when it last arrived there.
    pub(crate) cluster_phase: u64,
    /// Of the warps that can run, one of the highest priority runs.
    pub(crate) priority: u64,
    /// For each tensor map in global memory with a proxy fence: the warp's knowledge at the last fence.
    pub(crate) acquired_maps: BTreeMap<u64, Knowledge>,
    /// Registers per thread. `setmaxnreg` changes the number.
    pub(crate) registers: u32,
    /// Whether the warp has begun a `setmaxnreg` and waits for registers.
    pub(crate) waits_for_registers: bool,
    /// The last `setmaxnreg` that the warp has begun.
    pub(crate) register_change: RegisterChange,
    /// The local memory of each lane.
    pub(crate) local: [Vec<u8>; LANES],
    /// How many bytes of local memory calls have taken.
    pub(crate) grown: u64,
}

/// The last `setmaxnreg` that a warp has begun.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RegisterChange {
    /// How many `setmaxnreg` the warp has begun.
    pub(crate) count: u64,
    pub(crate) instruction: usize,
    /// The warp's clock.
    pub(crate) clock: u32,
}

/// Lanes of a warp that are at the same instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    pub(crate) pc: usize,
    pub(crate) mask: u32,
    /// The calls that have not returned, innermost first.
    pub(crate) call: Option<Rc<Frame>>,
    /// The branches before this split whose paths have not met again yet.
    pub(crate) partings: Vec<Rc<Parting>>,
    pub(crate) wait: Option<Wait>,
    /// The steps of the launch when the split began to wait.
    pub(crate) since: u64,
    /// The last wait for an mbarrier that returned false, and its instruction.
    pub(crate) refused: Option<(usize, Wait)>,
    /// Whether the split runs on before the mbarrier's phase is complete, because nothing else can run.
    pub(crate) given_up: bool,
    /// The states of its registers at failed waits after that.
    pub(crate) attempts: Repetition,
}

/// An instruction at which lanes of a split took different paths.
#[derive(Debug)]
pub(crate) struct Parting {
    /// The index of the instruction.
    pub(crate) at: usize,
    /// The instruction at which all paths meet again; `None` at the end of the routine, or if they never meet.
    pub(crate) until: Option<usize>,
    /// The call that contains the instruction `at`.
    pub(crate) call: Option<Rc<Frame>>,
    /// The lanes of the split.
    pub(crate) mask: u32,
}

/// A call that has not returned.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The index of the call.
    pub(crate) at: usize,
    /// The number of the function.
    pub(crate) function: usize,
    /// How many calls it is nested in.
    pub(crate) depth: usize,
    /// The previous values of the function's registers, for a recursive call.
    pub(crate) saved: Vec<(Reg, Row)>,
    /// The call that contains this call.
    pub(crate) caller: Option<Rc<Frame>>,
}

impl Split {
    /// The instruction at which the split waits. At a named barrier or an mbarrier, the split is already at the next one.
    pub(crate) fn waits_at(&self) -> usize {
        match self.wait {
            Some(Wait::Barrier { .. } | Wait::Mbarrier { .. }) => self.pc - 1,
            _ => self.pc,
        }
    }

    /// The order in which splits run: deeper calls first, then earlier instructions.
    pub(crate) fn order(&self) -> (Reverse<usize>, usize) {
        let depth = self.call.as_ref().map_or(0, |call| call.depth + 1);
        (Reverse(depth), self.pc)
    }

    /// Whether two splits are at the same instruction of the same call.
    pub(crate) fn is_at(&self, other: &Split) -> bool {
        self.pc == other.pc && is_same_call(&self.call, &other.call)
    }
}

pub(crate) fn is_same_call(a: &Option<Rc<Frame>>, b: &Option<Rc<Frame>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The condition that a split waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The lanes of `required` reach the instruction. They execute it together.
    Lanes { required: u32 },
    /// A phase of the mbarrier at this address in the CTA of this rank completes. The wait has returned false; the split does not run,
    /// since it would only test again.
    Mbarrier {
        rank: usize,
        address: u32,
        phase: PhaseValue,
    },
    /// A named barrier completes.
    Barrier { id: usize, generation: u64 },
    /// A phase of the cluster barrier completes.
    Cluster { phase: u64 },
    /// The other warps of the warpgroup have issued this many wgmma instructions.
    Warpgroup { issued: u64 },
    /// The CTA's pool has this many free registers.
    Registers { count: u32 },
}

/// The phase of a wait: its parity, or its number from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhaseValue {
    Parity(u64),
    State(u64),
}

impl Warp {
    /// A warp of `lanes` lanes at the first instruction. `warps` is the number of warps of the cluster.
    pub(crate) fn start(
        code: &Code,
        position: &Position,
        lanes: u32,
        rank: usize,
        index: usize,
        warps: usize,
        registers: u32,
    ) -> Result<Warp, OutOfHostMemory> {
        let mut rows = filled(code.registers.len(), [0; LANES])?;
        for (row, value) in &code.constants {
            rows[*row as usize] = [*value; LANES];
        }
        for (row, offset) in &code.globals {
            rows[*row as usize] = [position.variables + offset; LANES];
        }
        if let Some(row) = code.frame {
            rows[row as usize] = [LOCAL_WINDOW; LANES];
        }
        for (row, register, axis) in &code.specials {
            rows[*row as usize] = std::array::from_fn(|lane| {
                let value = position.value(*register, *axis, lane as u32);
                value.unwrap_or(0)
            });
        }
        let alive = if lanes == LANES as u32 {
            u32::MAX
        } else {
            (1 << lanes) - 1
        };
        let mut knowledge = Knowledge::new(warps);
        Rc::make_mut(&mut knowledge.seen)[index] = STARTED + 1;
        let mut local = std::array::from_fn(|_| Vec::new());
        for lane in super::row::lanes(alive) {
            local[lane] = filled(code.frame_bytes as usize, POISON)?;
        }
        Ok(Warp {
            in_flight: filled(rows.len(), 0)?,
            // Equal to `wgmma_fences`, so that the first use of a row in a wgmma needs a `wgmma.fence` too.
            touched: filled(rows.len(), 0)?,
            written_rows: filled(rows.len(), 0)?,
            rows,
            launched: alive,
            alive,
            splits: vec![Split {
                pc: 0,
                mask: alive,
                ..Split::default()
            }],
            index,
            rank,
            warp: position.warp,
            knowledge,
            registers,
            local,
            ..Warp::default()
        })
    }

    /// A warp without lanes, for asynchronous work that belongs to no warp.
    pub(crate) fn nobody() -> Warp {
        Warp {
            index: usize::MAX,
            ..Warp::default()
        }
    }

    /// The lanes of `mask` in which a predicate is true.
    pub(crate) fn lanes(&self, predicate: Reg, mask: u32) -> u32 {
        let row = &self.rows[predicate as usize];
        (0..LANES).fold(0, |lanes, lane| {
            lanes | u32::from(row[lane] & 1 == 1) << lane
        }) & mask
    }

    pub(crate) fn party(&self, cluster: u64) -> Party {
        Party {
            cluster,
            rank: self.rank,
            warp: self.index,
        }
    }

    /// The time of its clock.
    pub(crate) fn clock(&self) -> u32 {
        self.knowledge.seen[self.index]
    }

    /// Lanes learn knowledge from the cluster `from`. The warp is in the cluster `own`.
    pub(crate) fn learn(&mut self, mask: u32, own: u64, from: u64, other: &Knowledge) {
        if let Some(known) = other.of(own, from)
            && let Some(clock) = known.seen.get(self.index)
        {
            self.lanes.learn(mask, self.alive, clock + 1);
        }
        if other.grid_ended {
            self.waited |= mask;
        }
        self.knowledge.join_from(own, from, other);
    }

    /// All lanes learn the knowledge of warps of the cluster.
    pub(crate) fn join(&mut self, other: &Knowledge) {
        if other.grid_ended {
            self.waited = u32::MAX;
        }
        self.knowledge.join(other);
    }

    /// Called after a tick, when the lanes of a mask synchronise: all earlier accesses of each lane are ordered before all later
    /// accesses of each.
    pub(crate) fn synchronise(&mut self, mask: u32) {
        self.written &= !mask;
        self.written_global &= !mask;
        if self.waited & mask != 0 {
            self.waited |= mask;
        }
        self.lanes.synchronise(mask, self.alive, self.clock());
    }

    pub(crate) fn get(&self, row: Reg, lane: usize) -> u64 {
        self.rows[row as usize][lane]
    }

    pub(crate) fn set(&mut self, row: Reg, lane: usize, value: u64) {
        self.rows[row as usize][lane] = value;
    }

    /// Sets a row in the lanes of `mask`.
    pub(crate) fn fill(&mut self, row: Reg, mask: u32, value: impl Fn(usize) -> u64) {
        for lane in lanes(mask) {
            self.rows[row as usize][lane] = value(lane);
        }
    }

    /// Advances the warp's clock after its knowledge was passed on. The receivers do not know its later accesses.
    pub(crate) fn tick(&mut self) {
        let own = self.index;
        Rc::make_mut(&mut self.knowledge.seen)[own] += 1;
    }

    /// A hash of the registers and of the instruction of each lane. Different states very probably have different hashes.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mix = |hash: u64, value: u64| {
            (hash ^ value)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        };
        let places = self.splits.iter();
        let places = places.map(|split| mix(split.mask.into(), split.pc as u64));
        // The order of the splits has no meaning.
        let places = places.fold(0, u64::wrapping_add);
        let values = self.rows.as_flattened().iter();
        values.fold(places, |hash, value| mix(hash, *value))
    }

    /// The wgmma with this number, from 0 in issue order; `None` once the warp has waited for it.
    pub(crate) fn wgmma_of_number(&self, number: u64) -> Option<&Pending> {
        let index = number.checked_sub(self.wgmma.front()?.number)?;
        self.wgmma.get(usize::try_from(index).ok()?)
    }
}
