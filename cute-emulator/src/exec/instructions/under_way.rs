//! Asynchronous work that no thread waits for: performed at random moments, and at the end of a CTA or a cluster.

use crate::error::FaultKind;
use crate::exec::state::barriers::problem;
use crate::exec::state::cluster::{Cluster, Cta};
use crate::exec::state::copies::CopyIn;
use crate::exec::state::knowledge::Heard;
use crate::exec::step::{Result, Step};

impl Step<'_> {
    /// Performs a random copy into shared memory, or an arrival that follows `cp.async`.
    pub(crate) fn land_some(&mut self) -> Result<()> {
        let Cluster {
            copies,
            lane_copies,
            arrivals,
            ..
        } = &*self.cluster;
        let (bulk, lanes) = (copies.len(), lane_copies.len());
        let pick = self.random.below(bulk + lanes + arrivals.len());
        if pick < bulk {
            let key = copies.any(self.random);
            key.map_or(Ok(()), |key| self.land(key))
        } else if pick < bulk + lanes {
            let key = lane_copies.any(self.random);
            key.map_or(Ok(()), |key| self.land_lane(key))
        } else {
            let key = arrivals.any(self.random);
            key.map_or(Ok(()), |key| self.land_arrival(key))
        }
    }

    /// Lets a random bulk store of a CTA read its source and, if `write` is true, complete.
    pub(crate) fn store_some(&mut self, rank: usize, write: bool) -> Result<()> {
        let stores = &self.cluster.ctas[rank].stores;
        let key = match self.random.below(stores.len()) < stores.reading.len() {
            true => stores.reading.any(self.random),
            false => stores.writing.any(self.random),
        };
        let Some(key) = key else { return Ok(()) };
        self.store_read(rank, key)?;
        if write {
            self.store_write(rank, key)?;
        }
        Ok(())
    }

    /// Records that the warp accesses an address in the shared memory of another CTA. Does nothing for the own CTA.
    pub(crate) fn visit(
        &mut self,
        rank: usize,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        self.check_started(rank, address)?;
        let warp = &self.warp;
        if rank != warp.rank {
            let visit = (warp.knowledge.seen[warp.index], self.pc);
            self.cluster.ctas[rank].visits.insert(warp.index, visit);
        }
        Ok(())
    }

    /// An error if the warp uses the shared memory of a CTA and does not know that the CTA has started: "it is required that all the
    /// thread blocks have started executing before" (CUDA C++ Programming Guide, "Distributed Shared Memory").
    pub(crate) fn check_started(
        &self,
        rank: usize,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        let per_cta = self.cluster.warps_per_cta();
        let mut warps = rank * per_cta..(rank + 1) * per_cta;
        let is_known = |index: usize| self.warp.knowledge.knows_start(index);
        match rank == self.warp.rank || !self.checks.order || warps.any(is_known) {
            true => Ok(()),
            false => Err(FaultKind::NotStarted {
                address,
                rank: rank as u32,
            }),
        }
    }

    /// Performs all copies under way of the cluster, and all wgmma instructions of the warp.
    pub(crate) fn complete_started(&mut self) -> Result<()> {
        self.complete_copies()?;
        while self.wgmma_advance()? {}
        Ok(())
    }

    /// Completes all copies and bulk stores of the cluster.
    pub(crate) fn complete_copies(&mut self) -> Result<()> {
        while let Some(key) = self.cluster.copies.oldest() {
            self.land(key)?;
        }
        while let Some(key) = self.cluster.lane_copies.oldest() {
            self.land_lane(key)?;
        }
        while let Some(key) = self.cluster.arrivals.oldest() {
            self.land_arrival(key)?;
        }
        for rank in 0..self.cluster.ctas.len() {
            while let Some(key) = self.cluster.ctas[rank].stores.reading.oldest() {
                self.store_read(rank, key)?;
            }
            while let Some(key) = self.cluster.ctas[rank].stores.writing.oldest() {
                self.store_write(rank, key)?;
            }
        }
        Ok(())
    }

    /// Called when the cluster has ended. Gives back the charges of operations that no thread will wait for.
    pub(crate) fn forget_unwaited(&mut self) {
        let wgmma: usize = self.cluster.warps.iter().map(|warp| warp.wgmma.len()).sum();
        let stores = (self.cluster.ctas.iter()).map(|cta| cta.stores.unwaited_writes.len());
        for _ in 0..wgmma + self.cluster.unwaited.len() + stores.sum::<usize>() {
            self.pending.end(&Heard::default());
        }
    }

    /// An error if a CTA ends while a copy, a bulk store, a wgmma or another CTA may still use its shared memory. Their uses must be
    /// ordered before the end.
    pub(crate) fn check_exit(&mut self) -> Result<()> {
        let rank = self.warp.rank;
        if let Some(read) = self.cluster.ctas[rank].stores.unwaited.iter().next() {
            let other = self.code.other(read.instruction);
            return Err(FaultKind::ExitWithStore { other }.into());
        }
        let per_cta = self.cluster.warps_per_cta();
        let warps = (rank * per_cta..(rank + 1) * per_cta).map(|index| self.warp_at(index));
        let wgmma = warps
            .flat_map(|warp| &warp.wgmma)
            .find(|wgmma| wgmma.read.under_way());
        if let Some(wgmma) = wgmma {
            let other = self.code.other(wgmma.origin.instruction);
            return Err(FaultKind::ExitWithWgmma { other }.into());
        }
        let of_lanes = (self.cluster.lane_copies.iter()).chain(self.cluster.unwaited.iter());
        if let Some(copy) = { of_lanes }.find(|copy| copy.to.0 == rank) {
            let other = self.code.other(copy.origin.instruction);
            return Err(FaultKind::ExitWithCopy { other }.into());
        }
        let into = |copy: &&CopyIn| copy.ranks.contains(&rank);
        if let Some(copy) = self.cluster.copies.iter().find(into) {
            let other = self.code.other(copy.origin.instruction);
            return Err(FaultKind::ExitWithCopy { other }.into());
        }
        let Cta {
            mbarriers,
            copied,
            visits,
            left,
            ..
        } = &self.cluster.ctas[rank];
        for (address, barrier) in mbarriers {
            if barrier.bytes > 0 {
                let message =
                    format!("its CTA ends, and no copy brings what it waits for: {barrier}");
                return Err(problem(u64::from(*address), message).into());
            }
            if barrier.bytes < 0 {
                let bytes = -barrier.bytes;
                let message = format!(
                    "its CTA ends, and {bytes} bytes have arrived that it does not expect; a thread has to announce them by \
                     expect_tx"
                );
                return Err(problem(u64::from(*address), message).into());
            }
        }
        for (mbarrier, (phases, instruction)) in copied {
            if !left.knows_phases(*mbarrier, *phases) {
                let other = self.code.other(*instruction);
                return Err(FaultKind::ExitWithCopy { other }.into());
            }
        }
        for (visitor, (clock, instruction)) in visits {
            if *clock > left.seen[*visitor] {
                return Err(FaultKind::ExitWithVisitor {
                    other: self.code.other(*instruction),
                    rank: (visitor / per_cta) as u32,
                    warp: (visitor % per_cta) as u32,
                }
                .into());
            }
        }
        Ok(())
    }
}
