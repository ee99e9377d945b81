//! Addresses that overflow, and accesses outside the variable from whose name the address is computed.

use crate::error::FaultKind;
use crate::exec::state::row::lanes;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Address, Bounds};
use crate::windows::RANK_SHIFT;

impl Step<'_> {
    pub(crate) fn check_bounds(&self, bounds: &Bounds, active: u32) -> Result<()> {
        for sum in &bounds.sums {
            self.check_sum(*sum, active)?;
        }
        let Some((address, variable, bytes)) = &bounds.variable else {
            return Ok(());
        };
        if !self.checks.tensors {
            return Ok(());
        }
        for lane in lanes(active) {
            // The address can be in this CTA's window or another CTA's, and it can be generic.
            let at = self.address(lane, *address) & ((1 << RANK_SHIFT) - 1);
            let range = &variable.range;
            if at < range.start || at + bytes > range.end {
                let fault = FaultKind::OutsideBytes {
                    tensor: variable.name.clone(),
                    address: at,
                    bytes: *bytes,
                    available: (range.start, range.end),
                };
                return Err(Blame::lane(fault, lane));
            }
        }
        Ok(())
    }

    /// An error if the sum of a base and its offset overflows the base's width.
    fn check_sum(&self, sum: Address, active: u32) -> Result<()> {
        let Address {
            base,
            offset,
            narrow,
        } = sum;
        let most = if narrow {
            u64::from(u32::MAX)
        } else {
            u64::MAX
        };
        let distance = offset.unsigned_abs();
        let row = &self.warp.rows[base as usize];
        let overflows = |base: u64| match offset < 0 {
            true => base < distance,
            false => base > most.saturating_sub(distance) || distance > most,
        };
        if !row.iter().any(|base| overflows(*base)) {
            return Ok(());
        }
        let first = lanes(active).find(|lane| overflows(row[*lane]));
        first.map_or(Ok(()), |lane| {
            let fault = FaultKind::AddressOverflow {
                base: row[lane],
                offset,
                bits: if narrow { 32 } else { 64 },
            };
            Err(Blame::lane(fault, lane))
        })
    }
}
