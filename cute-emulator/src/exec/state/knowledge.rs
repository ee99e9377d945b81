//! Vector clocks: which accesses of other warps are ordered before the next access of a warp.
//!
//! Each warp has a clock. It advances whenever the warp releases something to others: at barriers, arrivals, fences and atomics.
//! The record of a byte's last writer, or of a reader, holds the warp's clock at the access. The access is ordered before those of
//! another warp once the other warp knows a clock at least as late. The bytes that a bulk copy writes into shared memory are
//! visible to a warp that knows that the copy's mbarrier phase is complete.
//!
//! More operations pass on that an event has happened than pass on its effects on memory. Relaxed arrivals, copies and wgmma
//! instructions pass on only [`Heard`], which orders waits and arrivals.

use std::collections::BTreeMap;
use std::rc::Rc;

/// The clock of a warp at its first instruction. Other warps of the cluster know the clock 0 from the beginning, and know this
/// clock once they know that the warp has started.
pub(crate) const STARTED: u32 = 1;

/// The latest known clock of each warp of the cluster, and the known phases of each mbarrier. The holder is a warp, a barrier on
/// behalf of the warps that arrived, or an asynchronous operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Knowledge {
    /// Accesses up to this clock are ordered before the holder's accesses.
    pub(crate) seen: Rc<Vec<u32>>,
    /// A proxy fence orders writes up to this clock before the holder's accesses: the async proxy may read them.
    pub(crate) fenced: Rc<Vec<u32>>,
    /// The same for writes to global memory.
    pub(crate) fenced_global: Rc<Vec<u32>>,
    pub(crate) heard: Heard,
    /// Whether the holder knows that the previous grid has ended.
    pub(crate) grid_ended: bool,
    /// The knowledge about other clusters, by their numbers. The map is flat: its entries have no `others` of their own.
    pub(crate) others: Rc<BTreeMap<u64, Knowledge>>,
}

/// The events in the cluster that the holder knows of. A vector can be shorter than the number of warps or mbarriers: the missing
/// elements are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// For each mbarrier, the number of phases whose copied bytes are ordered before the holder's accesses.
    visible: Rc<Vec<u32>>,
    /// For each mbarrier, the number of phases known to be complete. Relaxed operations pass this on without ordering data.
    complete: Rc<Vec<u32>>,
    /// For each warp, a clock that is known without its data, if it is later than in `Knowledge::seen`.
    clocks: Rc<Vec<u32>>,
}

/// An action of a warp, at a time of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) warp: usize,
    pub(crate) clock: u32,
    pub(crate) instruction: usize,
}

impl Heard {
    /// The host memory of this knowledge, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = self.visible.len() + self.complete.len() + self.clocks.len();
        (size_of::<u32>() * numbers) as u64
    }

    pub(crate) fn join(&mut self, other: &Heard) {
        join(&mut self.visible, &other.visible);
        join(&mut self.complete, &other.complete);
        join(&mut self.clocks, &other.clocks);
    }
}

impl Knowledge {
    pub(crate) fn new(warps: usize) -> Knowledge {
        let none = Rc::new(vec![0; warps]);
        Knowledge {
            seen: none.clone(),
            fenced: none.clone(),
            fenced_global: none,
            heard: Heard::default(),
            grid_ended: false,
            others: Rc::default(),
        }
    }

    /// The host memory of the knowledge of a cluster with this many warps, in bytes, without mbarriers.
    pub(crate) fn bytes_among(warps: usize) -> u64 {
        (3 * size_of::<u32>() * warps) as u64
    }

    /// The number of warp clocks.
    pub(crate) fn clocks(&self) -> u64 {
        (self.seen.len() * (1 + self.others.len())) as u64
    }

    /// Whether the copied bytes of an mbarrier's first `count` phases are ordered before the holder's accesses.
    pub(crate) fn knows_phases(&self, mbarrier: usize, count: u32) -> bool {
        has(&self.heard.visible, mbarrier, count)
    }

    /// Whether the first `count` phases of an mbarrier are known to be complete, even if no data is ordered.
    pub(crate) fn knows_complete(&self, mbarrier: usize, count: u32) -> bool {
        has(&self.heard.complete, mbarrier, count)
    }

    /// Learns that the first `count` phases of an mbarrier are complete, with the bytes copied in them.
    pub(crate) fn learn_phases(&mut self, mbarrier: usize, count: u32) {
        for known in [&mut self.heard.visible, &mut self.heard.complete] {
            if !has(known, mbarrier, count) {
                let known = Rc::make_mut(known);
                known.resize(known.len().max(mbarrier + 1), 0);
                known[mbarrier] = count;
            }
        }
    }

    /// Whether an event is known to have happened.
    pub(crate) fn has_heard(&self, event: &Event) -> bool {
        let known = |clocks: &[u32]| clocks.get(event.warp) >= Some(&event.clock);
        known(&self.seen) || known(&self.heard.clocks)
    }

    /// Whether every event known to the other is known here. Phases are not compared.
    pub(crate) fn has_heard_all_of(&self, other: &Knowledge) -> bool {
        let heard = |clocks: &Rc<Vec<u32>>| {
            covers(&self.seen, clocks)
                || (clocks.iter().enumerate()).all(|(warp, clock)| {
                    let (seen, heard) = (self.seen.get(warp), self.heard.clocks.get(warp));
                    seen.max(heard).is_some_and(|known| known >= clock) || *clock == 0
                })
        };
        heard(&other.seen) && heard(&other.heard.clocks)
    }

    /// The events to pass on without their data.
    pub(crate) fn to_heard(&self) -> Heard {
        let mut heard = self.heard.clone();
        match heard.clocks.is_empty() {
            true => heard.clocks = self.seen.clone(),
            false => join(&mut heard.clocks, &self.seen),
        }
        heard
    }

    /// Learns of events without their data.
    pub(crate) fn hear(&mut self, heard: &Heard) {
        join(&mut self.heard.complete, &heard.complete);
        if !covers(&self.seen, &heard.clocks) {
            join(&mut self.heard.clocks, &heard.clocks);
        }
    }

    /// Learns that all warps of the cluster have started.
    pub(crate) fn learn_started(&mut self) {
        if self.seen.iter().any(|clock| *clock < STARTED) {
            let seen = Rc::make_mut(&mut self.seen).iter_mut();
            seen.for_each(|clock| *clock = (*clock).max(STARTED));
        }
    }

    /// Whether a warp of the cluster is known to have started.
    pub(crate) fn knows_start(&self, warp: usize) -> bool {
        self.seen[warp] >= STARTED
    }

    /// Whether the other knows nothing new about the common cluster.
    fn has_all_of(&self, other: &Knowledge) -> bool {
        covers(&self.seen, &other.seen)
            && covers(&self.fenced_global, &other.fenced_global)
            && covers(&self.heard.visible, &other.heard.visible)
            && covers(&self.heard.complete, &other.heard.complete)
    }

    pub(crate) fn join(&mut self, other: &Knowledge) {
        join(&mut self.seen, &other.seen);
        join(&mut self.fenced, &other.fenced);
        join(&mut self.fenced_global, &other.fenced_global);
        self.heard.join(&other.heard);
        self.grid_ended |= other.grid_ended;
        if !Rc::ptr_eq(&self.others, &other.others) {
            for (cluster, known) in other.others.iter() {
                self.join_other(*cluster, known);
            }
        }
    }

    /// The knowledge about the warps of a cluster, for a holder in the cluster `own`.
    pub(crate) fn of(&self, cluster: u64, own: u64) -> Option<&Knowledge> {
        match cluster == own {
            true => Some(self),
            false => self.others.get(&cluster),
        }
    }

    /// Learns the knowledge of a holder in the cluster `from`, for a holder in the cluster `own`.
    pub(crate) fn join_from(&mut self, own: u64, from: u64, other: &Knowledge) {
        if own == from {
            return self.join(other);
        }
        self.join_other(from, other);
        self.grid_ended |= other.grid_ended;
        for (cluster, known) in other.others.iter() {
            match *cluster == own {
                true => self.join(known),
                false => self.join_other(*cluster, known),
            }
        }
    }

    fn join_other(&mut self, cluster: u64, other: &Knowledge) {
        let known = self.others.get(&cluster);
        if known.is_some_and(|known| known.has_all_of(other)) {
            return;
        }
        let others = Rc::make_mut(&mut self.others);
        let known = others.entry(cluster).or_default();
        join(&mut known.seen, &other.seen);
        join(&mut known.fenced_global, &other.fenced_global);
        known.heard.join(&other.heard);
    }

    /// Called at a proxy fence for shared memory. Without `whole`, the writes of the warp itself do not count as fenced.
    pub(crate) fn fence_shared(&mut self, warp: usize, whole: bool) {
        fence(&mut self.fenced, &self.seen, warp, whole);
    }

    /// The same for global memory.
    pub(crate) fn fence_global(&mut self, warp: usize, whole: bool) {
        fence(&mut self.fenced_global, &self.seen, warp, whole);
        if !self.others.is_empty() {
            for known in Rc::make_mut(&mut self.others).values_mut() {
                join(&mut known.fenced_global, &known.seen);
            }
        }
    }
}

/// Whether the first `count` phases of an mbarrier are known.
fn has(known: &[u32], mbarrier: usize, count: u32) -> bool {
    count == 0 || known.get(mbarrier).is_some_and(|known| *known >= count)
}

fn fence(fenced: &mut Rc<Vec<u32>>, seen: &Rc<Vec<u32>>, warp: usize, whole: bool) {
    let before = fenced[warp];
    join(fenced, seen);
    if !whole {
        Rc::make_mut(fenced)[warp] = before;
    }
}

fn covers(known: &Rc<Vec<u32>>, other: &Rc<Vec<u32>>) -> bool {
    Rc::ptr_eq(known, other)
        || known.len() >= other.len()
            && (known.iter().zip(other.iter())).all(|(known, other)| known >= other)
}

fn join(into: &mut Rc<Vec<u32>>, from: &Rc<Vec<u32>>) {
    if covers(into, from) {
        return;
    }
    let into = Rc::make_mut(into);
    into.resize(into.len().max(from.len()), 0);
    for (into, from) in into.iter_mut().zip(from.iter()) {
        *into = (*into).max(*from);
    }
}
