//! Checks a read of an unwritten byte again, once another thread may have written it.

use super::address::Location;
use crate::error::FaultKind;
use crate::exec::state::shared::How;
use crate::exec::step::Step;
use crate::op::Space;

impl Step<'_> {
    /// The race of a read that failed because the byte was unwritten; `None` if it is still unwritten.
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
