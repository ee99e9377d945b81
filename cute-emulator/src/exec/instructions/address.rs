//! From addresses to locations in memory, and `mapa` and `getctarank`.

use crate::error::FaultKind;
use crate::exec::state::row::lanes;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Address, Reg, Space};
use crate::windows::{LOCAL_WINDOW, PARAM_WINDOW, RANK_SHIFT, SHARED_WINDOW, WINDOW_BYTES};

/// The memory that an address belongs to, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Global(u64),
    /// The rank of the CTA, and the address in its shared memory.
    Shared(usize, u64),
    /// The offset in the parameters.
    Param(usize),
    /// The address in the local memory of the thread.
    Local(u64),
}

impl Location {
    /// The place in its memory.
    pub(crate) fn address(self) -> u64 {
        match self {
            Location::Global(address) | Location::Shared(_, address) | Location::Local(address) => {
                address
            }
            Location::Param(offset) => offset as u64,
        }
    }
}

impl Step<'_> {
    /// The value of an address operand.
    pub(crate) fn address(&self, lane: usize, address: Address) -> u64 {
        self.warp
            .get(address.base, lane)
            .wrapping_add_signed(address.offset)
    }

    pub(crate) fn locate(
        &self,
        space: Space,
        address: u64,
    ) -> std::result::Result<Location, FaultKind> {
        let window =
            |start: u64| (address.wrapping_sub(start) < WINDOW_BYTES).then(|| address - start);
        match space {
            Space::Shared => self.locate_shared(address),
            Space::Global => Ok(Location::Global(address)),
            // The address may be generic: the low bits are the local address.
            Space::Local => Ok(Location::Local(address & (WINDOW_BYTES - 1))),
            Space::Param | Space::Generic => {
                if let Some(address) = window(SHARED_WINDOW) {
                    self.locate_shared(address)
                } else if let Some(offset) = window(PARAM_WINDOW) {
                    Ok(Location::Param(offset as usize))
                } else if let Some(address) = window(LOCAL_WINDOW) {
                    Ok(Location::Local(address))
                } else {
                    Ok(Location::Global(address))
                }
            }
        }
    }

    fn locate_shared(&self, address: u64) -> std::result::Result<Location, FaultKind> {
        // The address may be generic: the low bits are the shared address.
        let address = address & (WINDOW_BYTES - 1);
        let (rank, offset) = (address >> RANK_SHIFT, address & ((1 << RANK_SHIFT) - 1));
        match rank {
            0 => Ok(Location::Shared(self.warp.rank, offset)),
            rank if rank as usize <= self.cluster.ctas.len() => {
                let rank = rank as usize - 1;
                if rank != self.warp.rank && self.cluster.cta_ended(rank) {
                    return Err(FaultKind::Ended {
                        address,
                        rank: rank as u32,
                    });
                }
                Ok(Location::Shared(rank, offset))
            }
            rank => Err(FaultKind::Operand(format!(
                "shared address {address:#x} is in CTA rank {}, but the cluster's ranks are 0 to {}",
                rank - 1,
                self.cluster.ctas.len() - 1
            ))),
        }
    }

    /// The CTA rank and the address of an operand in shared memory.
    pub(crate) fn shared_address(&self, lane: usize, address: Address) -> Result<(usize, u64)> {
        match self.locate(Space::Shared, self.address(lane, address)) {
            Ok(Location::Shared(rank, address)) => Ok((rank, address)),
            Ok(_) => Err(Blame::lane(
                FaultKind::Operand("the address is not in shared memory".to_owned()),
                lane,
            )),
            Err(fault) => Err(Blame::lane(fault, lane)),
        }
    }

    fn mapped(
        &self,
        address: u64,
        rank: u32,
        generic: bool,
    ) -> std::result::Result<u64, FaultKind> {
        let Location::Shared(_, offset) = self.locate(
            if generic {
                Space::Generic
            } else {
                Space::Shared
            },
            address,
        )?
        else {
            return Err(FaultKind::Operand(format!(
                "{address:#x} is not an address in shared memory"
            )));
        };
        if rank as usize >= self.cluster.ctas.len() {
            let last = self.cluster.ctas.len() - 1;
            return Err(FaultKind::Operand(format!(
                "CTA rank {rank} does not exist: the cluster's ranks are 0 to {last}"
            )));
        }
        let mapped = (u64::from(rank) + 1) << RANK_SHIFT | offset;
        Ok(if generic {
            SHARED_WINDOW | mapped
        } else {
            mapped
        })
    }

    fn owner(&self, address: u64, generic: bool) -> std::result::Result<usize, FaultKind> {
        let space = if generic {
            Space::Generic
        } else {
            Space::Shared
        };
        match self.locate(space, address)? {
            Location::Shared(rank, _) => Ok(rank),
            _ => Err(FaultKind::Operand(format!(
                "{address:#x} is not an address in shared memory"
            ))),
        }
    }

    pub(crate) fn rank_of(
        &mut self,
        active: u32,
        dst: Reg,
        address: Reg,
        generic: bool,
    ) -> Result<()> {
        for lane in lanes(active) {
            let rank = self
                .owner(self.warp.get(address, lane), generic)
                .map_err(|fault| Blame::lane(fault, lane))?;
            self.warp.set(dst, lane, rank as u64);
        }
        Ok(())
    }

    pub(crate) fn map_rank(
        &mut self,
        active: u32,
        dst: Reg,
        address: Reg,
        rank: Reg,
        generic: bool,
    ) -> Result<()> {
        for lane in lanes(active) {
            let (address, rank) = (
                self.warp.get(address, lane),
                self.warp.get(rank, lane) as u32,
            );
            let mapped = self
                .mapped(address, rank, generic)
                .map_err(|fault| Blame::lane(fault, lane))?;
            self.warp.set(dst, lane, mapped);
        }
        Ok(())
    }
}
