//! The accesses of this launch to global memory, to find races. Each unit of 16 bytes has a list of accesses. A new access removes
//! an older one from the list if it is ordered after it and races with the same accesses. So a plain write leaves only itself in
//! the list, and only the last read of a warp stays. Units with equal lists, such as those of a row of lanes or of a box of a copy,
//! share one list. A page without accesses has no lists.

use super::knowledge::Knowledge;
use super::lanes::{LaneOrder, Lanes};
use super::readers::{Completion, Reading};
use super::releases::{Party, Releases};
use crate::access::kind::Kind;
use crate::access::streams::Operation;
use crate::access::touched::{Touched, Way};
use crate::access::units::{PAGE, UNIT, UNITS, pages, parts};
use crate::limits::{OverLimit, hold};
use crate::op::Scope;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The most accesses in the list of a unit. If more of them are unordered, the oldest is dropped.
const MOST_ACCESSES: usize = 1 << 12;
/// Lists longer than this lose the accesses of clusters that have ended.
const LONG: usize = 16;

/// An access to global memory.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) kind: Kind,
    /// The scope of a strong access.
    pub(crate) scope: Scope,
    pub(crate) by: Party,
    pub(crate) clock: u32,
    pub(crate) lanes: Lanes,
    pub(crate) instruction: u32,
    /// Whether it is a strong read or an atomic.
    pub(crate) observes: bool,
    /// For a write, the instruction with which the same thread read the bytes before, if any.
    pub(crate) read_by: Option<u32>,
    /// For an asynchronous access, the events that show its completion.
    pub(crate) completion: Option<Rc<Completion>>,
}

impl Access {
    /// Whether the scope of each access includes the thread of the other. Both are strong.
    fn is_morally_strong_with(&self, other: &Access) -> bool {
        let least = self.by.scope_with(other.by);
        self.kind.is_strong()
            && other.kind.is_strong()
            && least <= self.scope
            && least <= other.scope
    }

    /// How the access conflicts with those of other grids.
    pub(crate) fn way(&self) -> Way {
        Way::new(self.kind, self.scope)
    }

    /// Whether the two accesses differ only in time, instruction and lanes.
    fn is_like(&self, other: &Access) -> bool {
        self.is_of_warp(other.by)
            && (self.kind, self.scope) == (other.kind, other.scope)
            && self.completion.is_none()
            && other.completion.is_none()
    }

    fn is_of_warp(&self, by: Party) -> bool {
        (self.by.cluster, self.by.warp) == (by.cluster, by.warp)
    }
}

/// An access, and the knowledge of the warp that executes it.
pub(crate) struct Use<'a> {
    pub(crate) access: Access,
    pub(crate) knowledge: &'a Knowledge,
    pub(crate) lanes: &'a LaneOrder,
    /// Whether the write leaves the bytes unchanged.
    pub(crate) same_values: bool,
    /// For a read of a tensor map, the knowledge of the warp at its last proxy fence for the map.
    pub(crate) acquired: Option<&'a Knowledge>,
}

/// An earlier access, and how a later one of the same byte conflicts with it.
pub(crate) struct Conflict {
    pub(crate) address: u64,
    pub(crate) earlier: Access,
    pub(crate) is: Conflicts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflicts {
    /// Nothing orders the two.
    Race,
    /// Both read the byte and write it.
    Update,
    /// Both are strong, but the scope of one does not include the thread of the other.
    Scope,
    /// The earlier access is asynchronous, and no thread can know yet that it is complete.
    InFlight,
    /// The later access reads through the async proxy, and the earlier one has written through the generic proxy.
    Proxy,
    /// The later access reads a tensor map, and the earlier one has written a part of it.
    Map,
    /// The later one reads through the read-only cache.
    ReadOnly,
}

/// Why an access is refused.
pub(crate) enum Refusal {
    Conflict(Box<Conflict>),
    OverLimit(OverLimit),
}

/// An access to some bytes of a unit. Each bit is one byte.
#[derive(Clone)]
struct Entry {
    bytes: u16,
    access: Access,
}

/// The accesses to the bytes of a unit. `None` is none.
type Unit = Option<Rc<[Entry]>>;

/// The accesses of a launch to global memory.
pub(crate) struct Global {
    /// Whether accesses are recorded and checked.
    pub(crate) checked: bool,
    /// The CTAs of the grid and of a cluster along x, y and z.
    grid: [u32; 3],
    cluster: [u32; 3],
    pub(crate) releases: Releases,
    clusters: Clusters,
    /// The lists of accesses, by the index of the page in `touched`.
    pages: Vec<Box<[Unit; UNITS]>>,
    /// The last page.
    last: (u64, usize),
    limit: u64,
    /// The total length of the lists when they were last counted. `added` counts the accesses added since.
    counted: u64,
    added: u64,
    /// How many units have been accessed. It grows with the launch's memory and not with its time.
    pub(crate) reached: u64,
    /// How many recorded accesses have been compared.
    pub(crate) looked_at: u64,
    /// The bytes accessed by the launch, for later operations.
    pub(crate) touched: Touched,
    /// Whether a thread has waited for the previous grid.
    pub(crate) waits: bool,
    /// The launch in its stream, and the earlier operations that may still run.
    pub(crate) operation: Operation,
}

/// The progress of clusters, by their numbers.
#[derive(Default)]
struct Clusters {
    running: BTreeSet<u64>,
    /// Clusters that have released something to other clusters.
    released: HashSet<u64>,
}

impl Clusters {
    /// Whether the cluster has ended without a release to others: no later access can be ordered after its accesses.
    fn are_alone(&self, cluster: u64) -> bool {
        !self.running.contains(&cluster) && !self.released.contains(&cluster)
    }
}

impl Global {
    pub(crate) fn new(
        checked: bool,
        grid: [u32; 3],
        cluster: [u32; 3],
        limit: u64,
        operation: Operation,
    ) -> Global {
        Global {
            checked,
            grid,
            cluster,
            releases: Releases::default(),
            clusters: Clusters::default(),
            pages: Vec::new(),
            last: (u64::MAX, 0),
            limit,
            counted: 0,
            added: 0,
            reached: 0,
            looked_at: 0,
            touched: Touched::default(),
            waits: false,
            operation,
        }
    }

    /// `%ctaid` of a CTA.
    pub(crate) fn cta(&self, of: Party) -> [u32; 3] {
        let first = first_cta(self.grid, self.cluster, of.cluster);
        let [x, y, _] = self.cluster;
        let rank = of.rank as u32;
        [
            first[0] + rank % x,
            first[1] + rank / x % y,
            first[2] + rank / x / y,
        ]
    }

    pub(crate) fn begin(&mut self, cluster: u64) {
        self.clusters.running.insert(cluster);
    }

    pub(crate) fn end(&mut self, cluster: u64) {
        self.clusters.running.remove(&cluster);
    }

    /// Called when a cluster releases something to others.
    pub(crate) fn release(&mut self, cluster: u64) {
        self.clusters.released.insert(cluster);
    }

    /// Checks and records an access to ranges of bytes. Each range lies in one allocation.
    pub(crate) fn access(&mut self, ranges: &[Range<u64>], usage: &Use<'_>) -> Result<(), Refusal> {
        let (way, instruction) = (usage.access.way(), usage.access.instruction);
        // The units of an access mostly have the same list.
        let mut last: Option<(Unit, u16, Unit)> = None;
        for (number, range) in ranges.iter().flat_map(pages) {
            let page = self.page(number)?;
            let (marks, units) = (self.touched.marks(page), &mut *self.pages[page]);
            for part in parts(&range) {
                let (base, bytes) = (part.base, part.bytes);
                marks[part.index()].add(bytes, way, instruction);
                let unit = &mut units[part.index()];
                self.reached += u64::from(unit.is_none());
                match &last {
                    Some((from, same, to)) if *same == bytes && is_same(from, unit) => {
                        unit.clone_from(to);
                    }
                    _ => {
                        let old = unit.as_deref().unwrap_or_default();
                        self.looked_at += old.len() as u64;
                        let new = follow(old, base, bytes, usage, &self.clusters)?;
                        self.added += new.as_ref().map_or(0, |new| new.len() as u64);
                        let new = new.map_or_else(|| unit.clone(), Some);
                        let from = std::mem::replace(unit, new.clone());
                        last = Some((from, bytes, new));
                    }
                }
            }
        }
        self.hold_entries()
    }

    /// Checks an access to a range of bytes in one allocation, and records it only for later operations.
    pub(crate) fn check_and_mark(
        &mut self,
        range: Range<u64>,
        usage: &Use<'_>,
    ) -> Result<(), Refusal> {
        let (way, instruction) = (usage.access.way(), usage.access.instruction);
        for (number, range) in pages(&range) {
            let page = self.page(number)?;
            let (marks, units) = (self.touched.marks(page), &self.pages[page]);
            for part in parts(&range) {
                marks[part.index()].add(part.bytes, way, instruction);
                let entries = units[part.index()].as_deref().unwrap_or_default();
                if let Some(conflict) = conflict(entries, part.base, part.bytes, usage) {
                    return Err(Refusal::Conflict(conflict));
                }
            }
        }
        Ok(())
    }

    /// An error if the lists exceed the limit. They are counted again after they may have grown by half.
    fn hold_entries(&mut self) -> Result<(), Refusal> {
        let most = self.limit / size_of::<Entry>() as u64;
        if self.counted + self.added <= most || self.added < self.counted / 2 {
            return Ok(());
        }
        let units = self.pages.iter().flat_map(|page| page.iter().flatten());
        let mut lists: HashSet<*const Entry> = HashSet::new();
        let news = units.filter(|list| lists.insert(list.as_ptr()));
        self.counted = news.map(|list| list.len() as u64).sum();
        self.added = 0;
        let what = "records of accesses to global memory";
        hold(what, self.counted, most).map_err(Refusal::OverLimit)
    }

    /// The index of a page. The last page is tried first.
    fn page(&mut self, number: u64) -> Result<usize, Refusal> {
        if self.last.0 != number {
            self.last = (number, self.find_page(number)?);
        }
        Ok(self.last.1)
    }

    fn find_page(&mut self, number: u64) -> Result<usize, Refusal> {
        if let Some(page) = self.touched.page(number) {
            return Ok(page);
        }
        let bytes = (self.pages.len() as u64 + 1) * PAGE;
        let what = "bytes of global memory with records of accesses";
        hold(what, bytes, self.limit).map_err(Refusal::OverLimit)?;
        self.pages.push(Box::new([const { None }; UNITS]));
        self.touched.add(number);
        Ok(self.pages.len() - 1)
    }
}

/// `%ctaid` of the first CTA of the cluster of this number.
pub(crate) fn first_cta(grid: [u32; 3], cluster: [u32; 3], number: u64) -> [u32; 3] {
    let [x, y, _]: [u64; 3] = std::array::from_fn(|i| u64::from(grid[i] / cluster[i]));
    let position = [number % x, number / x % y, number / x / y];
    std::array::from_fn(|i| position[i] as u32 * cluster[i])
}

fn is_same(a: &Unit, b: &Unit) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// The accesses to the unit at `base` after an access to some of its bytes; `None` if they do not change.
fn follow(
    old: &[Entry],
    base: u64,
    bytes: u16,
    usage: &Use<'_>,
    clusters: &Clusters,
) -> Result<Option<Rc<[Entry]>>, Refusal> {
    if let Some(conflict) = conflict(old, base, bytes, usage) {
        return Err(Refusal::Conflict(conflict));
    }
    let new = &usage.access;
    let is_recorded = |entry: &Entry| {
        let common = Common { base, bytes };
        entry.bytes & bytes == bytes
            && entry.access.clock == new.clock
            && entry.access.is_like(new)
            && (entry.access.lanes == Lanes::Several || common.same(entry.access.lanes, new.lanes))
    };
    if old.iter().any(is_recorded) {
        return Ok(None);
    }
    let mut new = new.clone();
    let mut kept = Vec::new();
    for entry in old {
        let common = Common {
            base,
            bytes: entry.bytes & bytes,
        };
        let earlier = &entry.access;
        let mut rest = entry.bytes;
        if common.bytes != 0 {
            if earlier.is_of_warp(new.by) && !earlier.kind.writes() && new.kind.writes() {
                new.read_by = Some(earlier.instruction);
            }
            let is_before = usage.is_after(earlier, &common);
            if earlier.is_like(&new) && !is_before {
                // After reads by two lanes, every write races with one of them, so the lanes count as `Several`.
                new.lanes = Lanes::Several;
                rest &= !bytes;
            } else if usage.replaces(
                earlier,
                is_before || usage.has_observed(earlier, old, &common),
                &common,
            ) {
                rest &= !bytes;
            }
        }
        if rest != 0 {
            kept.push(Entry {
                bytes: rest,
                access: earlier.clone(),
            });
        }
    }
    let new = Entry { bytes, access: new };
    if kept.is_empty() {
        return Ok(Some(Rc::new([new])));
    }
    kept.push(new);
    if kept.len() > LONG {
        forget_ended(&mut kept, clusters);
    }
    if kept.len() > MOST_ACCESSES {
        kept.remove(0);
    }
    Ok(Some(kept.into()))
}

/// The conflict of an access to some bytes of the unit at `base` with the recorded accesses, if any.
fn conflict(old: &[Entry], base: u64, bytes: u16, usage: &Use<'_>) -> Option<Box<Conflict>> {
    old.iter().find_map(|entry| {
        let common = Common {
            base,
            bytes: entry.bytes & bytes,
        };
        if common.bytes == 0 {
            return None;
        }
        let earlier = &entry.access;
        let is_before = usage.is_after(earlier, &common);
        let is = usage.conflict(earlier, is_before, old, &common)?;
        Some(Box::new(Conflict {
            address: base + u64::from(common.bytes.trailing_zeros()),
            earlier: earlier.clone(),
            is,
        }))
    })
}

/// Keeps one access of each kind from clusters that have ended without a release. No later access can be ordered after any of
/// them, so one is enough.
fn forget_ended(entries: &mut Vec<Entry>, clusters: &Clusters) {
    let mut seen: Vec<(Kind, Scope, u16)> = Vec::new();
    entries.retain(|Entry { bytes, access }| {
        if !clusters.are_alone(access.by.cluster) {
            return true;
        }
        let found = seen
            .iter_mut()
            .find(|(kind, scope, _)| (*kind, *scope) == (access.kind, access.scope));
        match found {
            Some((_, _, seen)) => {
                let is_new = bytes & !*seen != 0;
                *seen |= bytes;
                is_new
            }
            None => {
                seen.push((access.kind, access.scope, *bytes));
                true
            }
        }
    });
}

/// Some bytes of a unit.
struct Common {
    base: u64,
    bytes: u16,
}

impl Common {
    fn addresses(&self) -> impl Iterator<Item = u64> {
        (0..UNIT)
            .filter(|byte| self.bytes >> byte & 1 == 1)
            .map(|byte| self.base + byte)
    }

    /// Whether each byte has the same lane in both.
    fn same(&self, a: Lanes, b: Lanes) -> bool {
        a == b
            || self
                .addresses()
                .all(|byte| a.at(byte).is_some() && a.at(byte) == b.at(byte))
    }
}

impl Use<'_> {
    /// Whether this access is ordered after an earlier access to the same bytes.
    fn is_after(&self, earlier: &Access, bytes: &Common) -> bool {
        let own = self.access.by;
        let Some(known) = self.knowledge.of(earlier.by.cluster, own.cluster) else {
            return false;
        };
        let same_cluster = earlier.by.cluster == own.cluster;
        match &earlier.completion {
            Some(completion) if same_cluster => completion.ended(own.warp, known),
            Some(completion) => completion.ended(usize::MAX, known),
            None if earlier.is_of_warp(own) => {
                let (order, clock) = (self.lanes, earlier.clock);
                order.all_know(clock)
                    || bytes.addresses().all(|byte| {
                        order.knows(self.access.lanes.at(byte), earlier.lanes.at(byte), clock)
                    })
            }
            None => known.seen.get(earlier.by.warp) >= Some(&earlier.clock),
        }
    }

    /// The conflict of this access with an earlier access to the same bytes, if any.
    fn conflict(
        &self,
        earlier: &Access,
        is_before: bool,
        entries: &[Entry],
        common: &Common,
    ) -> Option<Conflicts> {
        let access = &self.access;
        if !access.kind.writes() && !earlier.kind.writes() {
            return None;
        }
        if access.kind == Kind::ReadOnly {
            return Some(Conflicts::ReadOnly);
        }
        if is_before {
            if access.kind == Kind::MapRead {
                return (!self.is_acquired(earlier)).then_some(Conflicts::Map);
            }
            let crosses = access.kind == Kind::BulkRead && earlier.kind.is_generic();
            return (crosses && !self.is_fenced(earlier)).then_some(Conflicts::Proxy);
        }
        if access.is_morally_strong_with(earlier) || self.has_observed(earlier, entries, common) {
            return None;
        }
        // Threads that write equal values by one instruction give the same result in any order.
        if self.same_values
            && (earlier.kind, access.kind) == (Kind::Write, Kind::Write)
            && earlier.instruction == access.instruction
        {
            return None;
        }
        if earlier.completion.is_some() {
            return Some(Conflicts::InFlight);
        }
        if access.kind.is_strong() && earlier.kind.is_strong() {
            return Some(Conflicts::Scope);
        }
        let has_read = || {
            entries.iter().any(|entry| {
                let read = &entry.access;
                entry.bytes & common.bytes != 0
                    && read.kind == Kind::Read
                    && read.is_of_warp(access.by)
                    && !std::ptr::eq(read, earlier)
            })
        };
        let updates = match (access.kind, earlier.kind) {
            (Kind::Read, Kind::Write) => earlier.read_by == Some(access.instruction),
            (Kind::Write, Kind::Read) => has_read(),
            (Kind::Write, Kind::Write) => earlier.read_by.is_some() && has_read(),
            _ => false,
        };
        Some(if updates {
            Conflicts::Update
        } else {
            Conflicts::Race
        })
    }

    /// Whether a strong read, ordered before this access, has read the value of the strong write `earlier`.
    ///
    /// "An operation X precedes an operation Y in causality order if: […] for some operation Z, X precedes Z in observation order, and
    /// Z precedes Y in base causality order", and X precedes Z in observation order if Z reads the value of X, or that of an atomic
    /// operation which has observed X (PTX ISA, "Memory Consistency Model").
    fn has_observed(&self, earlier: &Access, entries: &[Entry], common: &Common) -> bool {
        if earlier.kind != Kind::StrongWrite || earlier.completion.is_some() {
            return false;
        }
        let bytes = common.bytes;
        let later = entries.iter().filter(|entry| entry.bytes & bytes != 0);
        let mut later = later.skip_while(|entry| !std::ptr::eq(&entry.access, earlier));
        later.next();
        for entry in later {
            let access = &entry.access;
            if access.observes && entry.bytes & bytes == bytes && self.is_after(access, common) {
                return true;
            }
            // A plain or strong write without a read replaces the value, and ends the chain of observers.
            if access.kind.writes() && !access.observes {
                return false;
            }
        }
        false
    }

    /// Whether this access can replace an earlier one to the same bytes in the list: every later access that is ordered after this one
    /// is ordered after the earlier one, and every later access that races with the earlier one races with this one.
    fn replaces(&self, earlier: &Access, is_before: bool, bytes: &Common) -> bool {
        let new = &self.access;
        let implied = match (&earlier.completion, &new.completion) {
            // A wait for a copy on an mbarrier does not order the accesses of warps before the copy.
            (None, Some(copy)) => is_before && !matches!(copy.by, Reading::Copy { .. }),
            (Some(first), Some(second)) => {
                is_before
                    || earlier.is_of_warp(new.by)
                        && first.is_before(second)
                        && bytes.same(earlier.lanes, new.lanes)
            }
            (_, None) => is_before,
        };
        let both_strong = earlier.kind.is_strong() && new.kind.is_strong();
        implied && new.kind.covers(earlier.kind) && (!both_strong || earlier.scope == new.scope)
    }

    /// Whether an acquiring proxy fence lies between an earlier write into a tensor map and this copy.
    fn is_acquired(&self, earlier: &Access) -> bool {
        let known = self.acquired.and_then(|known| {
            let known = known.of(earlier.by.cluster, self.access.by.cluster)?;
            known.seen.get(earlier.by.warp)
        });
        known >= Some(&earlier.clock)
    }

    /// Whether a proxy fence lies between an earlier generic write and this access through the async proxy.
    fn is_fenced(&self, earlier: &Access) -> bool {
        let known = self
            .knowledge
            .of(earlier.by.cluster, self.access.by.cluster);
        known.is_some_and(|known| known.fenced_global.get(earlier.by.warp) >= Some(&earlier.clock))
    }
}
