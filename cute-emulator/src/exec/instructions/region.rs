//! From the operands of a bulk copy to its far side, and the rules for its addresses and sizes.

use super::address::Location;
use crate::error::FaultKind;
use crate::exec::state::endpoint::Endpoint;
use crate::exec::step::Step;
use crate::op::{Region, Space};
use cute_chip::{Chip, tma};

const TILE_ALIGN: u64 = tma::SHARED_ALIGN as u64;
const BULK_ALIGN: u64 = tma::BULK_ALIGN as u64;
/// Copying this many bytes is charged as one instruction.
pub(crate) const BYTES_PER_STEP: u64 = 128;

impl Step<'_> {
    /// The far side of a lane's copy.
    pub(crate) fn endpoint(
        &mut self,
        lane: usize,
        region: &Region,
    ) -> std::result::Result<Endpoint, FaultKind> {
        match region {
            Region::Bytes { address, bytes } => Ok(Endpoint::Bytes {
                address: self.address(lane, *address),
                len: u64::from(self.warp.get(*bytes, lane) as u32),
            }),
            Region::Shared { address, bytes } => {
                match self.locate(Space::Shared, self.address(lane, *address))? {
                    Location::Shared(rank, address) => Ok(Endpoint::Shared {
                        rank,
                        address,
                        len: u64::from(self.warp.get(*bytes, lane) as u32),
                    }),
                    _ => Err(FaultKind::Operand(
                        "the source is not in shared memory".to_owned(),
                    )),
                }
            }
            Region::Values { src, bytes, update } => {
                let values = src
                    .iter()
                    .flat_map(|src| self.warp.get(*src, lane).to_le_bytes()[..*bytes].to_vec());
                Ok(Endpoint::Values {
                    bytes: values.collect(),
                    update: *update,
                })
            }
            Region::Tile { map, coords } => {
                let map = self.address(lane, *map);
                self.check_map(lane, map)?;
                let map = self.tensor_map(Space::Generic, map)?;
                if map.rank() != coords.len() {
                    let message = format!(
                        "the copy gives {} coordinates, but its tensor map has rank {}",
                        coords.len(),
                        map.rank()
                    );
                    return Err(FaultKind::Operand(message));
                }
                let coords = coords
                    .iter()
                    .map(|coord| i64::from(self.warp.get(*coord, lane) as i32))
                    .collect();
                Ok(Endpoint::Tile {
                    map: Box::new(map),
                    coords,
                })
            }
        }
    }
}

/// Checks the addresses, the coordinates and the size of a copy. The near side is at the shared address `shared`; `writes` is true if
/// the copy writes the far side.
pub(crate) fn check_copy(
    chip: &Chip,
    endpoint: &Endpoint,
    shared: u64,
    writes: bool,
) -> std::result::Result<(), FaultKind> {
    let misaligned = |address: u64, align: u64| {
        if address.is_multiple_of(align) {
            Ok(())
        } else {
            Err(FaultKind::Misaligned { address, align })
        }
    };
    match endpoint {
        Endpoint::Tile { map, coords } => {
            misaligned(shared, TILE_ALIGN)?;
            let mut starts = coords.iter().enumerate();
            let problem =
                starts.find_map(|(i, start)| tma::start_problem(map.element, i, *start, writes));
            if let Some(problem) = problem {
                return Err(FaultKind::Operand(problem));
            }
            let most = chip.cta_shared_bytes;
            if map.box_bytes() > u64::from(most) {
                return Err(FaultKind::Operand(format!(
                    "the box has {} bytes, but shared memory at most {most}",
                    map.box_bytes()
                )));
            }
            Ok(())
        }
        Endpoint::Values { bytes, .. } => misaligned(shared, bytes.len() as u64),
        Endpoint::Bytes { address, len } | Endpoint::Shared { address, len, .. } => {
            misaligned(shared, BULK_ALIGN)?;
            misaligned(*address, BULK_ALIGN)?;
            if !len.is_multiple_of(BULK_ALIGN) {
                return Err(FaultKind::Operand(format!(
                    "the size of a bulk copy is {len} bytes; it must be a multiple of {BULK_ALIGN}"
                )));
            }
            Ok(())
        }
    }
}
