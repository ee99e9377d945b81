//! A running cluster: its CTAs, its warps, and copies that are not complete.

use super::agreed::Agreed;
use super::barriers::{ClusterBarrier, Mbarrier, NamedBarrier};
use super::copies::{Arrival, CopyIn, LaneCopy, Stores};
use super::knowledge::Knowledge;
use super::queue::Queue;
use super::releases::Releases;
use super::row::LANES;
use super::shared::{self, Shared};
use super::warp::{self, PhaseValue, Split, WARPGROUP, Wait, Warp};
use crate::launch::Launch;
use crate::limits::OutOfHostMemory;
use crate::op::Code;
use crate::special::Position;
use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) const NAMED_BARRIERS: usize = cute_chip::barriers::NAMED as usize;

pub(crate) struct Cluster {
    /// The number of the cluster in the grid.
    pub(crate) number: u64,
    pub(crate) ctas: Vec<Cta>,
    pub(crate) warps: Vec<Warp>,
    /// Bulk copies into shared memory that are not complete.
    pub(crate) copies: Queue<CopyIn>,
    /// `cp.async` that are not complete.
    pub(crate) lane_copies: Queue<LaneCopy>,
    /// `cp.async` that are complete, but not yet waited for.
    pub(crate) unwaited: Queue<LaneCopy>,
    /// `cp.async.mbarrier.arrive` that are not complete.
    pub(crate) arrivals: Queue<Arrival>,
    /// The invalidated mbarriers, by CTA rank and address: the mbarrier's number, and how many phases it has completed.
    pub(crate) invalidated: BTreeMap<(usize, u32), (usize, u32)>,
    /// How many numbers mbarriers of the cluster have.
    pub(crate) mbarriers: usize,
    pub(crate) barrier: ClusterBarrier,
}

pub(crate) struct Cta {
    /// The CTA's `%ctaid`.
    pub(crate) id: [u32; 3],
    pub(crate) shared: Shared,
    /// The releases of strong writes to this shared memory.
    pub(crate) releases: Releases,
    pub(crate) barriers: [NamedBarrier; NAMED_BARRIERS],
    /// The initialised mbarriers, by shared address.
    pub(crate) mbarriers: BTreeMap<u32, Mbarrier>,
    pub(crate) stores: Stores,
    /// For each mbarrier number, the last copy that arrived in this CTA: the number of phases that complete with it, and its
    /// instruction.
    pub(crate) copied: BTreeMap<usize, (u32, usize)>,
    /// The last access of each warp of another CTA to this shared memory: the warp's clock and the instruction.
    pub(crate) visits: BTreeMap<usize, (u32, usize)>,
    /// The knowledge of the warps of this CTA that have ended.
    pub(crate) left: Knowledge,
    /// For each claim instruction and each group of warps in the CTA: the values of the warps there.
    pub(crate) agreed: BTreeMap<(usize, u32), Agreed>,
    /// Free registers in the CTA's pool. `setmaxnreg.inc` takes from it, `setmaxnreg.dec` gives to it.
    pub(crate) free_registers: u32,
}

impl Cluster {
    /// Cluster `number`, whose first CTA has the `%ctaid` `first`. The CTAs take cleared shared memories from `free` while there are
    /// any.
    pub(crate) fn new(
        code: &Code,
        launch: &Launch<'_>,
        variables: u64,
        number: u64,
        first: [u32; 3],
        free: &mut Vec<Shared>,
    ) -> Result<Cluster, OutOfHostMemory> {
        let threads: u32 = launch.block.iter().product();
        let warps_per_cta = threads.div_ceil(LANES as u32) as usize;
        let size: u32 = launch.cluster.iter().product();
        let total = warps_per_cta * size as usize;
        let shared_bytes = code.static_shared + launch.dynamic_shared_bytes;
        let nothing = Knowledge::new(total);
        let registers = code
            .chip
            .registers_at_launch(warps_per_cta as u32 * LANES as u32);
        let mut cluster = Cluster {
            number,
            ctas: Vec::with_capacity(size as usize),
            warps: Vec::with_capacity(total),
            copies: Queue::new(),
            lane_copies: Queue::new(),
            unwaited: Queue::new(),
            arrivals: Queue::new(),
            invalidated: BTreeMap::new(),
            mbarriers: 0,
            barrier: ClusterBarrier::new(total),
        };
        for rank in 0..size {
            let [x, y, _] = launch.cluster;
            let id = [
                first[0] + rank % x,
                first[1] + rank / x % y,
                first[2] + rank / x / y,
            ];
            cluster.ctas.push(Cta {
                id,
                shared: match free.pop() {
                    Some(shared) => shared,
                    None => Shared::new(shared_bytes as usize, launch.checks)?,
                },
                releases: Releases::default(),
                barriers: std::array::from_fn(|_| NamedBarrier::new(&nothing)),
                mbarriers: BTreeMap::new(),
                stores: Stores::new(),
                copied: BTreeMap::new(),
                visits: BTreeMap::new(),
                left: nothing.clone(),
                agreed: BTreeMap::new(),
                free_registers: 0,
            });
            for warp in 0..warps_per_cta {
                let position = Position {
                    grid: launch.grid,
                    block: launch.block,
                    cluster: launch.cluster,
                    cta: id,
                    warp: warp as u32,
                    dynamic_shared: launch.dynamic_shared_bytes,
                    total_shared: shared_bytes,
                    variables,
                };
                let lanes = (threads - warp as u32 * LANES as u32).min(LANES as u32);
                let index = cluster.warps.len();
                cluster.warps.push(Warp::start(
                    code,
                    &position,
                    lanes,
                    rank as usize,
                    index,
                    total,
                    registers,
                )?);
            }
        }
        Ok(cluster)
    }

    /// How many copies into shared memory, and `cp.async.mbarrier.arrive` after copies, are not complete.
    pub(crate) fn copies_under_way(&self) -> usize {
        self.copies.len() + self.lane_copies.len() + self.arrivals.len()
    }

    /// The number of warps of a CTA.
    pub(crate) fn warps_per_cta(&self) -> usize {
        self.warps.len() / self.ctas.len()
    }

    /// Whether all threads have ended.
    pub(crate) fn ended(&self) -> bool {
        self.warps.iter().all(|warp| warp.alive == 0)
    }

    /// Whether all threads of a CTA have ended, except those of the running warp, which is not in `warps`.
    pub(crate) fn cta_ended(&self, rank: usize) -> bool {
        let per_cta = self.warps_per_cta();
        let warps = &self.warps[rank * per_cta..(rank + 1) * per_cta];
        warps.iter().all(|warp| warp.alive == 0)
    }

    /// Whether a split can run.
    pub(crate) fn ready(&self, warp: &Warp, split: &Split) -> bool {
        match &split.wait {
            None => true,
            Some(Wait::Lanes { required }) => required & warp.alive & !split.mask == 0,
            Some(Wait::Mbarrier { .. }) if split.given_up => true,
            Some(Wait::Mbarrier {
                rank,
                address,
                phase,
            }) => self.ctas[*rank]
                .mbarriers
                .get(address)
                .is_none_or(|barrier| barrier.passed(*phase)),
            Some(Wait::Barrier { id, generation }) => {
                self.ctas[warp.rank].barriers[*id].generation != *generation
            }
            Some(Wait::Cluster { phase }) => self.barrier.phase != *phase,
            Some(Wait::Warpgroup { issued }) => self.warpgroup_issued(warp, *issued),
            Some(Wait::Registers { count }) => self.ctas[warp.rank].free_registers >= *count,
        }
    }

    /// The reason why a split waits, for a message.
    pub(crate) fn waits_for(&self, code: &Code, warp: &Warp, split: &Split) -> String {
        match &split.wait {
            None => "is running".to_owned(),
            Some(Wait::Lanes { required }) => {
                format!(
                    "waits for lanes {:#010x} of its warp to reach this instruction",
                    required & warp.alive & !split.mask
                )
            }
            Some(Wait::Mbarrier {
                rank,
                address,
                phase,
            }) => {
                let phase = match phase {
                    PhaseValue::Parity(parity) => format!("the phase of parity {}", parity & 1),
                    PhaseValue::State(state) => format!("phase {state}"),
                };
                let barrier = match self.ctas[*rank].mbarriers.get(address) {
                    Some(barrier) => barrier.to_string(),
                    None => "it has been invalidated".to_owned(),
                };
                let name = code.mbarrier(u64::from(*address));
                let of = match *rank == warp.rank {
                    true => String::new(),
                    false => format!(" of CTA rank {rank}"),
                };
                format!("waits for the {name}{of} to complete {phase}: {barrier}")
            }
            Some(Wait::Barrier { id, .. }) => {
                let barrier = &self.ctas[warp.rank].barriers[*id];
                format!(
                    "waits at barrier {id}: {} of {} threads have arrived",
                    barrier.arrived, barrier.expected
                )
            }
            Some(Wait::Cluster { phase }) => {
                format!(
                    "waits at the cluster barrier, phase {phase}: {} threads have arrived",
                    self.barrier.arrived
                )
            }
            Some(Wait::Warpgroup { issued }) => {
                format!(
                    "waits for the other warps of its warpgroup to have issued {issued} wgmma instructions"
                )
            }
            Some(Wait::Registers { count }) => {
                let free = self.ctas[warp.rank].free_registers;
                format!("waits for {count} registers; the CTA has {free} free")
            }
        }
    }

    /// The number of warps of a CTA that have not ended, counting the running one.
    pub(crate) fn live_warps(&self, rank: usize, running: usize) -> u64 {
        let per_cta = self.warps_per_cta();
        let range = rank * per_cta..(rank + 1) * per_cta;
        range
            .filter(|index| *index == running || self.warps[*index].alive != 0)
            .count() as u64
    }

    /// The indices in the cluster of the warps of a warp's warpgroup.
    pub(crate) fn warpgroup(&self, warp: &Warp) -> Range<usize> {
        let per_cta = self.warps_per_cta();
        let first = warp.warp as usize / WARPGROUP * WARPGROUP;
        let cta = warp.rank * per_cta;
        cta + first..cta + (first + WARPGROUP).min(per_cta)
    }

    /// Whether the other warps of a warp's warpgroup have issued at least `issued` wgmma instructions.
    pub(crate) fn warpgroup_issued(&self, warp: &Warp, issued: u64) -> bool {
        self.warpgroup(warp)
            .all(|index| index == warp.index || self.warps[index].wgmma_issued >= issued)
    }
}

/// The bytes that the registers, the shared memory and the barriers of a cluster take on the host.
pub(crate) fn state_bytes(code: &Code, launch: &Launch<'_>) -> u64 {
    let product = |counts: [u32; 3]| counts.iter().map(|n| u64::from(*n)).product::<u64>();
    let ctas = product(launch.cluster);
    let warps = ctas * product(launch.block).div_ceil(LANES as u64);
    let knowledge = Knowledge::bytes_among(warps as usize);
    let registers = code.registers.len() as u64 * warp::ROW_BYTES;
    let local = u64::from(code.frame_bytes) * LANES as u64;
    let shared = u64::from(code.static_shared + launch.dynamic_shared_bytes);
    warps * (registers + local + knowledge)
        + ctas * (shared * shared::BYTE_BYTES + NAMED_BARRIERS as u64 * knowledge)
}

/// The most bytes of dynamic shared memory of a CTA, beside its static ones.
pub(crate) fn max_dynamic_shared(code: &Code) -> u32 {
    code.chip
        .cta_shared_bytes
        .saturating_sub(code.static_shared)
}
