//! Checks that a register is equal in several threads where the module claims so.

use super::claim::first;
use crate::claim::Agreement;
use crate::error::{Disagreement, FaultKind};
use crate::exec::state::row::LANES;
use crate::exec::state::warp::WARPGROUP;
use crate::exec::step::{Blame, Result, Step};
use cute_ptx::claims::Group;

impl Step<'_> {
    /// An error if the register differs between the lanes that are here. If all lanes of the warp are here, also an error if it differs
    /// from the value of the group's other warps at the same visit.
    pub(crate) fn check_agreement(&mut self, agreement: Agreement, here: u32) -> Result<()> {
        if !self.checks.ways {
            return Ok(());
        }
        let Agreement { register, group } = agreement;
        let Some(leader) = first(here) else {
            return Ok(());
        };
        let values = &self.warp.rows[register as usize];
        let value = values[leader];
        let differs = (0..LANES).find(|lane| here >> lane & 1 == 1 && values[*lane] != value);
        let disagreement = |value, other, other_value, turn| Disagreement {
            register: self.code.registers[register as usize].clone(),
            group,
            value,
            other,
            other_value,
            turn,
        };
        if let Some(lane) = differs {
            let other = format!("lane {leader}");
            let fault = disagreement(values[lane], other, value, None);
            return Err(Blame::lane(FaultKind::Disagreement(Box::new(fault)), lane));
        }
        let all = self.cluster.warps_per_cta() as u32;
        let warps = match group {
            Group::Warp => return Ok(()),
            Group::Warpgroup => WARPGROUP as u32,
            Group::Cta => all,
        };
        if here != self.warp.alive {
            return Ok(());
        }
        let number = self.warp.warp / warps;
        // The last group may be smaller.
        let warps = warps.min(all - number * warps);
        let agreed = &mut self.cluster.ctas[self.warp.rank].agreed;
        let agreed = agreed.entry((self.pc, number)).or_default();
        let (turn, (other, other_value)) = agreed.come(self.warp.warp, value, warps);
        if other_value == value {
            return Ok(());
        }
        let fault = disagreement(value, format!("warp {other}"), other_value, Some(turn));
        Err(Blame::lane(
            FaultKind::Disagreement(Box::new(fault)),
            leader,
        ))
    }
}
