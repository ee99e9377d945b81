//! Reads of tensor maps, and changes of maps in memory. The moment at which the async proxy sees a change is not modelled.

use super::address::Location;
use crate::access::kind::Kind;
use crate::error::FaultKind;
use crate::exec::state::row::lanes;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Address, Reg, Scope, Space};
use crate::tensor_map::{self, Field, decode_tensor_map};
use cute_chip::tma::{MAP_BYTES, TensorMap};

/// The most maps with a fence that a warp remembers. Beyond this number, the first are dropped.
const MOST_MAPS: usize = 1 << 12;

impl Step<'_> {
    /// A prefetch has no effect on results, but it must name a tensor map.
    pub(crate) fn prefetch_map(&self, active: u32, space: Space, address: Address) -> Result<()> {
        for lane in lanes(active) {
            let map = self.tensor_map(space, self.address(lane, address));
            map.map_err(|fault| Blame::lane(fault, lane))?;
        }
        Ok(())
    }

    /// `fence.proxy.tensormap::generic.acquire`: the warp's copies see the writes into the map that the warp knows of.
    pub(crate) fn acquire_map(&mut self, active: u32, address: Address) -> Result<()> {
        for lane in lanes(active) {
            let location = self.locate(Space::Generic, self.address(lane, address));
            let location = location.map_err(|fault| Blame::lane(fault, lane))?;
            if let Location::Global(address) = location {
                let maps = &mut self.warp.acquired_maps;
                maps.insert(address, self.warp.knowledge.clone());
                if maps.len() > MOST_MAPS {
                    maps.pop_first();
                }
            }
        }
        self.warp.tick();
        Ok(())
    }

    /// An error if this launch has written a tensor map in global memory and the writes are not ordered before the copy that reads the
    /// map, or no proxy fence for the map lies between.
    pub(super) fn check_map(
        &mut self,
        lane: usize,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        match self.locate(Space::Generic, address)? {
            Location::Global(address) if self.global.checked => self.read_map(lane, address),
            _ => Ok(()),
        }
    }

    /// The tensor map at an address in the parameters or in global memory.
    pub(super) fn tensor_map(
        &self,
        space: Space,
        address: u64,
    ) -> std::result::Result<TensorMap, FaultKind> {
        let none =
            || FaultKind::Operand("the operand is not the address of a tensor map".to_owned());
        let mut bytes = [0; MAP_BYTES];
        match self.locate(space, address)? {
            Location::Param(offset) => {
                let param = self.params.get(offset..offset + MAP_BYTES);
                bytes.copy_from_slice(param.ok_or_else(none)?);
            }
            Location::Global(address) => self
                .memory
                .read(address, &mut bytes)
                .map_err(FaultKind::Global)?,
            Location::Local(..) | Location::Shared(..) => {
                return Err(FaultKind::Operand(
                    "a tensor map cannot be in shared or local memory".to_owned(),
                ));
            }
        }
        decode_tensor_map(&bytes).ok_or_else(none)
    }

    pub(crate) fn replace_in_map(
        &mut self,
        active: u32,
        space: Space,
        address: Address,
        field: Field,
        value: Reg,
    ) -> Result<()> {
        for lane in lanes(active) {
            let mut replace = || {
                let location = self.locate(space, self.address(lane, address))?;
                let bytes = self.map_at(location)?;
                let value = self.warp.get(value, lane);
                let bytes =
                    tensor_map::replace(&bytes, field, value).map_err(FaultKind::Operand)?;
                self.write(location, &bytes, lane..lane + 1, None)
            };
            replace().map_err(|fault| Blame::lane(fault, lane))?;
        }
        Ok(())
    }

    /// The bytes of a map. This is not recorded as an access: lanes that replace one field by the same value do not race.
    fn map_at(&self, location: Location) -> std::result::Result<[u8; MAP_BYTES], FaultKind> {
        let mut map = [0; MAP_BYTES];
        let bytes = match location {
            Location::Shared(rank, address) => {
                let shared = &self.cluster.ctas[rank].shared;
                &shared.bytes[shared.range(address, MAP_BYTES)?]
            }
            other => {
                let bytes = self.memory.bytes(other.address(), MAP_BYTES);
                bytes.map_err(FaultKind::Global)?
            }
        };
        map.copy_from_slice(bytes);
        Ok(map)
    }

    /// Copies a tensor map, by all lanes of the warp together.
    pub(crate) fn copy_map(&mut self, active: u32, to: Address, from: Address) -> Result<()> {
        let lane = active.trailing_zeros() as usize;
        let mut copy = || {
            let from = self.locate(Space::Shared, self.address(lane, from))?;
            let to = self.locate(Space::Global, self.address(lane, to))?;
            let mut bytes = [0; MAP_BYTES];
            self.read(from, &mut bytes, lane..lane + 1, Kind::Read, Scope::Cta)?;
            self.write(to, &bytes, lane..lane + 1, None)
        };
        copy().map_err(|fault| Blame::lane(fault, lane))
    }
}
