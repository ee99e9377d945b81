//! Checks accesses to global memory against earlier ones of the launch, and records them.

use crate::access::kind::Kind;
use crate::access::streams::Race;
use crate::error::{Earlier, FaultKind, GridRace, Thread, between_lanes};
use crate::exec::state::endpoint::Endpoint;
use crate::exec::state::global::{Access, Conflict, Conflicts, Refusal, Use};
use crate::exec::state::lanes::Lanes;
use crate::exec::state::readers::Completion;
use crate::exec::step::Step;
use crate::op::{Op, Scope, Strong};
use cute_chip::tma::MAP_BYTES;
use std::ops::Range;
use std::rc::Rc;

type Result<T> = std::result::Result<T, FaultKind>;

/// Comparing an access with this many earlier ones is charged as one instruction.
const RECORDS_PER_STEP: u64 = 16;

impl Step<'_> {
    /// Called after a generic read of bytes in one allocation, also as the first half of an atomic.
    pub(crate) fn read_global(
        &mut self,
        address: u64,
        len: usize,
        lanes: Lanes,
        kind: Kind,
        scope: Scope,
    ) -> Result<()> {
        if !self.global.checked {
            return Ok(());
        }
        if !kind.writes() {
            let access = Access {
                scope,
                ..self.global_access(kind, lanes)
            };
            self.use_global(&[range(address, len)], access, false)?;
        }
        self.check_initialised(address, len)
    }

    /// A generic write.
    pub(crate) fn write_global(
        &mut self,
        address: u64,
        from: &[u8],
        lanes: Lanes,
        strong: Option<Strong>,
    ) -> Result<()> {
        let before = self.memory.bytes(address, from.len());
        let same_values = before.map_err(FaultKind::Global)? == from;
        if self.global.checked {
            let kind = if strong.is_some() {
                Kind::StrongWrite
            } else {
                Kind::Write
            };
            let access = Access {
                scope: strong.map_or(Scope::Cta, |strong| strong.scope),
                observes: matches!(self.code.instructions[self.pc].op, Op::Atomic(_)),
                ..self.global_access(kind, lanes)
            };
            self.use_global(&[range(address, from.len())], access, same_values)?;
        }
        self.memory.write(address, from).map_err(FaultKind::Global)
    }

    /// Records the accesses to global memory of an asynchronous operation that a lane starts. They last until it is complete. The near
    /// side begins at the shared address `shared`.
    pub(crate) fn use_global_async(
        &mut self,
        endpoint: &Endpoint,
        shared: u64,
        kind: Kind,
        lane: usize,
        completion: &Rc<Completion>,
    ) -> Result<()> {
        let is_global = matches!(endpoint, Endpoint::Tile { .. } | Endpoint::Bytes { .. });
        if !self.global.checked || !is_global {
            return Ok(());
        }
        let access = Access {
            scope: Scope::Gpu,
            completion: Some(completion.clone()),
            ..self.global_access(kind, Lanes::One(lane as u8))
        };
        let mut rows: Vec<Range<u64>> = Vec::new();
        endpoint.pieces(shared, |piece| {
            for (part, address) in &piece.parts {
                let end = address.wrapping_add(part.len() as u64);
                match rows.last_mut() {
                    Some(row) if row.end == *address => row.end = end,
                    _ => rows.push(*address..end),
                }
            }
            Ok::<(), FaultKind>(())
        })?;
        // Bytes outside all allocations give an error when they are accessed.
        rows.retain(|row| self.memory.bytes(row.start, row_bytes(row)).is_ok());
        self.use_global(&rows, access, false)?;
        match kind.writes() {
            true => Ok(()),
            false => rows
                .iter()
                .try_for_each(|row| self.check_initialised(row.start, row_bytes(row))),
        }
    }

    /// Records the read of a `cp.async`. It lasts until the thread has waited for it.
    pub(crate) fn read_global_later(
        &mut self,
        address: u64,
        len: usize,
        lane: usize,
        completion: &Rc<Completion>,
    ) -> Result<()> {
        // A copy that reads nothing can have any address.
        if !self.global.checked || len == 0 || self.memory.bytes(address, len).is_err() {
            return Ok(());
        }
        let access = Access {
            completion: Some(completion.clone()),
            ..self.global_access(Kind::Read, Lanes::One(lane as u8))
        };
        self.use_global(&[range(address, len)], access, false)?;
        self.check_initialised(address, len)
    }

    /// Records the read of a tensor map by a copy that a lane starts. Later accesses of the launch are not checked against it.
    pub(crate) fn read_map(&mut self, lane: usize, address: u64) -> Result<()> {
        let access = self.global_access(Kind::MapRead, Lanes::One(lane as u8));
        let map = range(address, MAP_BYTES);
        self.check_earlier_operations(std::slice::from_ref(&map), &access)?;
        let usage = Use {
            access,
            knowledge: &self.warp.knowledge,
            lanes: &self.warp.lanes,
            same_values: false,
            acquired: self.warp.acquired_maps.get(&address),
        };
        let accessed = self.global.check_and_mark(map, &usage);
        accessed.map_err(|refusal| self.refused(refusal))
    }

    /// An access of the running instruction.
    fn global_access(&self, kind: Kind, lanes: Lanes) -> Access {
        Access {
            kind,
            scope: Scope::Cta,
            by: self.warp.party(self.cluster.number),
            clock: self.warp.clock(),
            lanes,
            instruction: self.pc as u32,
            observes: kind == Kind::StrongRead,
            read_by: None,
            completion: None,
        }
    }

    /// Checks and records an access to ranges of bytes. Each range lies in one allocation.
    fn use_global(
        &mut self,
        ranges: &[Range<u64>],
        access: Access,
        same_values: bool,
    ) -> Result<()> {
        self.check_earlier_operations(ranges, &access)?;
        let usage = Use {
            access,
            knowledge: &self.warp.knowledge,
            lanes: &self.warp.lanes,
            same_values,
            acquired: None,
        };
        let before = self.global.looked_at;
        let accessed = self.global.access(ranges, &usage);
        self.charge((self.global.looked_at - before) / RECORDS_PER_STEP);
        accessed.map_err(|refusal| self.refused(refusal))
    }

    /// An error if an earlier grid or copy that may still run accesses the same bytes, and one of the two accesses is a write.
    fn check_earlier_operations(&self, ranges: &[Range<u64>], access: &Access) -> Result<()> {
        if self.global.operation.is_alone() {
            return Ok(());
        }
        let waited = |address| match access.lanes.at(address) {
            Some(lane) => self.warp.waited >> lane & 1 == 1,
            None => self.warp.alive & !self.warp.waited == 0,
        };
        for range in ranges {
            let waited = waited(range.start);
            match self.global.operation.race(range, access.way(), waited) {
                None => {}
                Some(Race::Stream(race)) => return Err(FaultKind::StreamRace(Box::new(race))),
                Some(Race::Grid {
                    address,
                    code,
                    instruction,
                    before,
                }) => {
                    let race = GridRace {
                        address,
                        entry: code.name.clone(),
                        before,
                        other: code.other(instruction),
                        waited,
                    };
                    return Err(FaultKind::GridRace(Box::new(race)));
                }
            }
        }
        Ok(())
    }

    /// `griddepcontrol.wait`: the previous grid has ended, and its writes are visible.
    pub(crate) fn wait_for_grid(&mut self, active: u32) {
        self.warp.waited |= active;
        self.warp.knowledge.grid_ended = true;
        self.global.waits = true;
    }

    /// The race of a lane's read with an earlier write of the byte; `None` without a race.
    pub(crate) fn race_of_read(&mut self, address: u64, lane: usize) -> Option<FaultKind> {
        self.check_initialised(address, 1).ok()?;
        let access = self.global_access(Kind::Read, Lanes::One(lane as u8));
        self.use_global(&[range(address, 1)], access, false).err()
    }

    fn check_initialised(&self, address: u64, len: usize) -> Result<()> {
        match self.memory.unwritten(address, len) {
            Some(address) => Err(FaultKind::GlobalUninitialised { address }),
            None => Ok(()),
        }
    }

    fn refused(&self, refusal: Refusal) -> FaultKind {
        match refusal {
            Refusal::OverLimit(limit) => limit.into(),
            Refusal::Conflict(conflict) => self.conflict(*conflict),
        }
    }

    fn conflict(&self, conflict: Conflict) -> FaultKind {
        let Conflict {
            address,
            earlier,
            is,
        } = conflict;
        let per_cta = self.cluster.warps_per_cta();
        let by = Thread {
            cta: self.global.cta(earlier.by),
            warp: (earlier.by.warp % per_cta) as u32,
            lane: earlier.lanes.at(address).map(|lane| lane as u32),
        };
        let own = self.warp.party(self.cluster.number);
        let same_warp = earlier.by == own;
        let instruction = self.code.other(earlier.instruction as usize);
        let named = Box::new(Earlier { instruction, by });
        let advice = match (is, own.scope_with(earlier.by)) {
            (Conflicts::Update, _) => {
                "both change what they have read, and one of the two changes is lost; use atom or red"
            }
            (Conflicts::Scope, Scope::Cluster) => {
                "both are strong, but not at a scope that has both threads; use .cluster or .gpu"
            }
            (Conflicts::Scope, _) => {
                "both are strong, but not at a scope that has both threads; use .gpu"
            }
            (_, Scope::Cta) if same_warp => between_lanes(per_cta == 1),
            (_, Scope::Cta) => "no barrier orders the two",
            (_, Scope::Cluster) => {
                "the CTAs are of one cluster, and no barrier.cluster, mbarrier or flag with a release and an acquire of scope \
                 .cluster orders the two"
            }
            (_, Scope::Gpu) => {
                "the CTAs are of different clusters, and no flag with a release and an acquire of scope .gpu orders the two; a \
                 second launch would"
            }
        };
        match is {
            Conflicts::Race | Conflicts::Update | Conflicts::Scope => FaultKind::GlobalRace {
                address,
                earlier: named,
                advice,
            },
            Conflicts::Proxy => FaultKind::GlobalProxyFence {
                address,
                earlier: named,
            },
            Conflicts::Map => FaultKind::MapProxyFence {
                address,
                earlier: named,
            },
            Conflicts::ReadOnly => FaultKind::ReadOnly {
                address,
                earlier: named,
            },
            Conflicts::InFlight => match earlier.kind {
                Kind::BulkWrite | Kind::BulkReduce => FaultKind::TargetInFlight {
                    address,
                    earlier: named,
                },
                _ => FaultKind::GlobalSourceInFlight {
                    address,
                    earlier: named,
                },
            },
        }
    }
}

fn range(address: u64, len: usize) -> Range<u64> {
    address..address + len as u64
}

fn row_bytes(row: &Range<u64>) -> usize {
    row.end.wrapping_sub(row.start) as usize
}
