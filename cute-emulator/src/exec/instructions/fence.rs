//! Fences, and the releases and acquires of strong accesses.

use super::address::Location;
use crate::error::FaultKind;
use crate::exec::state::releases::{Released, Releases};
use crate::exec::step::Step;
use crate::op::{Scope, Strong};
use std::ops::Range;

/// Comparing this many clocks is charged as one instruction, and so is examining this many releases.
const CLOCKS_PER_STEP: u64 = 512;
const RELEASES_PER_STEP: u64 = 8;
/// A strong write of a lane is charged as this many instructions.
const STEPS_PER_RELEASE: u64 = 2;

impl Step<'_> {
    /// `fence.proxy.async`: after the next synchronisation, the async proxy can read the writes that the warp knows of.
    pub(crate) fn proxy_fence(&mut self, active: u32, shared: bool, global: bool) {
        // Clocks belong to whole warps. If other lanes of the warp have written without a fence, none of the warp's writes count as fenced.
        let warp = &mut *self.warp;
        if shared {
            warp.written &= !active;
            warp.knowledge.fence_shared(warp.index, warp.written == 0);
        }
        if global {
            warp.written_global &= !active;
            let whole = warp.written_global == 0;
            warp.knowledge.fence_global(warp.index, whole);
        }
        warp.tick();
    }

    /// `fence` and `membar`: acquires the releases that earlier strong reads have seen. Later strong writes release the warp's knowledge.
    pub(crate) fn fence(&mut self, active: u32, scope: Scope, sequential: bool) {
        let own = self.cluster.number;
        let warp = &mut *self.warp;
        for (from, known) in warp.fences.acquire(scope, sequential) {
            warp.learn(active, own, from, &known);
        }
        warp.fences.release(scope, &warp.knowledge);
        if sequential {
            warp.fences.sequential.release(scope, &warp.knowledge);
        }
        warp.tick();
    }

    /// `fence.mbarrier_init`: releases the initialisation of mbarriers through a later arrival at the cluster barrier, even a relaxed
    /// one. Other CTAs can use the mbarriers after that.
    pub(crate) fn init_fence(&mut self) {
        self.announce_mbarriers();
        let warp = &mut *self.warp;
        warp.fences.release(Scope::Cluster, &warp.knowledge);
        warp.tick();
    }

    /// Called after a strong write of bytes. An atomic also passes on the releases of the value that it has read.
    pub(crate) fn release(
        &mut self,
        location: Location,
        len: usize,
        strong: Strong,
        atomic: bool,
    ) -> Result<(), FaultKind> {
        let by = self.warp.party(self.cluster.number);
        let released = match strong.release {
            true => vec![Released {
                scope: strong.scope,
                sequential: false,
                knowledge: self.warp.knowledge.clone(),
            }],
            false => self.warp.fences.released(strong.scope),
        };
        if released.iter().any(|it| it.scope == Scope::Gpu) {
            self.global.release(by.cluster);
        }
        let Some((releases, bytes)) = self.releases(location, len) else {
            return Ok(());
        };
        let looked_at = releases.write(bytes, by, &released, atomic)?;
        let clocks: u64 = released.iter().map(|it| it.knowledge.clocks()).sum();
        self.charge(STEPS_PER_RELEASE + looked_at / RELEASES_PER_STEP + clocks / CLOCKS_PER_STEP);
        Ok(())
    }

    /// Called after the strong writes of an instruction. Later accesses are not part of its releases.
    pub(crate) fn after_release(&mut self, strong: Option<Strong>) {
        if strong.is_some_and(|strong| strong.release) {
            self.warp.tick();
        }
    }

    /// Called after lanes have read bytes by a strong read.
    pub(crate) fn observe(
        &mut self,
        location: Location,
        len: usize,
        by: Range<usize>,
        strong: Strong,
    ) {
        let party = self.warp.party(self.cluster.number);
        let Some((releases, bytes)) = self.releases(location, len) else {
            return;
        };
        let seen: Vec<_> = releases
            .seen(bytes, party, strong.scope)
            .map(|(least, release)| (least, release.by.cluster, release.is.clone()))
            .collect();
        let clocks: u64 = seen.iter().map(|(.., it)| it.knowledge.clocks()).sum();
        self.charge(1 + seen.len() as u64 / RELEASES_PER_STEP + clocks / CLOCKS_PER_STEP);
        let mask = by.fold(0, |mask, lane| mask | 1 << lane);
        for (least, from, released) in seen {
            let known = &released.knowledge;
            match (strong.acquire, released.sequential) {
                (true, false) => self.warp.learn(mask, party.cluster, from, known),
                (_, sequential) => self.warp.fences.see(least, from, known, sequential),
            }
        }
    }

    /// The releases of the memory of a location, and the bytes in it.
    fn releases(&mut self, location: Location, len: usize) -> Option<(&mut Releases, Range<u64>)> {
        let bytes = location.address()..location.address().checked_add(len as u64)?;
        match location {
            Location::Global(_) => Some((&mut self.global.releases, bytes)),
            Location::Shared(rank, _) => Some((&mut self.cluster.ctas[rank].releases, bytes)),
            Location::Param(_) | Location::Local(_) => None,
        }
    }
}
