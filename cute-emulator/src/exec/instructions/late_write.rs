//! Reads of what nobody has written yet, once more.

use super::address::Location;
use crate::error::FaultKind;
use crate::exec::state::shared::How;
use crate::exec::step::Step;
use crate::op::Space;

impl Step<'_> {
    /// What is wrong with a lane's read that failed since nobody had written the byte, if somebody has written it since.
    pub(crate) fn written_since(
        &mut self,
        unwritten: &FaultKind,
        lane: usize,
    ) -> Option<FaultKind> {
        match unwritten {
            FaultKind::Uninitialised { address } => {
                let Ok(Location::Shared(rank, at)) = self.locate(Space::Shared, *address) else {
                    return None;
                };
                let shared = &self.cluster.ctas[rank].shared;
                let usage = self.warp.knowledge.uses(self.warp.index, How::Read);
                let range = shared.range(at, 1).ok()?;
                match shared.check(range, usage, self.code, self.cluster.warps_per_cta()) {
                    Ok(()) | Err(FaultKind::Uninitialised { .. }) => None,
                    Err(found) => Some(found.seen_from(self.warp.rank, rank)),
                }
            }
            FaultKind::GlobalUninitialised { address } => self.race_of_read(*address, lane),
            _ => None,
        }
    }
}
