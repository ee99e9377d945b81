//! Asynchronous work that no thread waits for: performed at random moments, and at the end of a CTA or a cluster.

use crate::error::FaultKind;
use crate::exec::state::cluster::Cluster;
use crate::exec::state::copies::CopyIn;
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

    /// Lets a random bulk store of a CTA read its source and, with `write`, complete.
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

    /// Performs all asynchronous work of the cluster's copies and of the warp's wgmma instructions.
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

    /// An error if a CTA ends while a copy still writes, or a bulk store still reads, its shared memory.
    pub(crate) fn check_copies_at_exit(&mut self) -> Result<()> {
        let rank = self.warp.rank;
        if let Some(store) = self.cluster.ctas[rank].stores.reading.iter().next() {
            let other = self.code.other(store.origin.instruction);
            return Err(FaultKind::ExitWithStore { other }.into());
        }
        let into = |copy: &&CopyIn| copy.ranks.contains(&rank);
        if let Some(copy) = self.cluster.copies.iter().find(into) {
            let other = self.code.other(copy.origin.instruction);
            return Err(FaultKind::ExitWithCopy { other }.into());
        }
        Ok(())
    }
}
