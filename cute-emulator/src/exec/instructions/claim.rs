//! Checks the addresses of an instruction against the module's claims about them.

use crate::claim::{Claim, Item, Place, Sum, swizzled};
use crate::error::{FaultKind, OtherBox, OutsideTensor};
use crate::exec::state::row::{LANES, Row};
use crate::exec::step::{Blame, Result, Step};
use crate::exec::views::{Launched, length};
use crate::op::{Instruction, Op};
use crate::windows::PARAM_WINDOW;
use cute_chip::barriers::MBARRIER_BYTES;
use cute_ptx::claims::Swizzle;
use std::ops::Range;

/// Lanes whose address gives the row of a matrix.
const MATRIX_LANES: usize = 8;

impl Step<'_> {
    /// An error if a lane's address is not that of the claimed element, or if the tensor has no such element.
    pub(crate) fn check_claims(&self, instruction: &Instruction, active: u32) -> Result<()> {
        let (active, bytes) = self.accessed(&instruction.op, active);
        for claim in &instruction.claims {
            if let Some(item) = &claim.item {
                self.check_item(claim, item, active)?;
            }
            let checked = match &claim.place {
                Place::Global { address, view } => {
                    self.check_global(claim, address, &self.views[*view], bytes, active)
                }
                Place::Item { address, part } => self.check_part(claim, *part, address, active),
                Place::Shared {
                    address,
                    extents,
                    base,
                    swizzle,
                    offset,
                    bytes: tensor,
                } => self.check_inside(claim, extents, 0, active).and_then(|()| {
                    let expected = self.swizzled(*base, *swizzle, offset);
                    self.check_bytes(claim, address, &expected, tensor, bytes, active)
                }),
                Place::Box { map, coordinates } => self
                    .check_part(claim, 0, map, active)
                    .and_then(|()| self.check_box(claim, coordinates, active)),
            };
            checked?;
        }
        Ok(())
    }

    /// The lanes that access memory, and the least number of bytes that each accesses.
    fn accessed(&self, op: &Op, active: u32) -> (u32, u64) {
        match op {
            Op::Load { access, dst, .. } => (active, u64::from(access.bytes) * dst.len() as u64),
            Op::Store { access, src, .. } => (active, u64::from(access.bytes) * src.len() as u64),
            Op::Atomic(atomic) => {
                let bytes = u64::from(atomic.access.bytes) * atomic.src.len() as u64;
                (active, bytes)
            }
            Op::LoadMatrix { dst: rows, .. } | Op::StoreMatrix { src: rows, .. } => {
                let lanes = (1_u64 << (MATRIX_LANES * rows.len())) - 1;
                (active & lanes as u32, 2 * MATRIX_LANES as u64)
            }
            // A copy of no bytes does not access its source.
            Op::CopyAsync {
                bytes,
                source_bytes,
                ..
            } => {
                let read = source_bytes.map_or(active, |read| self.nonzero(read, active));
                (read, u64::from(*bytes))
            }
            Op::MbarrierInit { .. }
            | Op::MbarrierInval { .. }
            | Op::AcquireMap { .. }
            | Op::MbarrierArrive { .. }
            | Op::MbarrierCompleteTx { .. }
            | Op::MbarrierWait { .. } => (active, MBARRIER_BYTES.into()),
            Op::Nop => (0, 0),
            _ => (active, 1),
        }
    }

    fn nonzero(&self, row: u32, active: u32) -> u32 {
        let row = &self.warp.rows[row as usize];
        lanes_where(|lane| row[lane] != 0) & active
    }

    fn check_global(
        &self,
        claim: &Claim,
        address: &Sum,
        items: &[Launched],
        bytes: u64,
        active: u32,
    ) -> Result<()> {
        let Some(item) = &claim.item else {
            return self.check_element(claim, address, &items[0], bytes, active);
        };
        let indices = self.values(&item.index);
        let mut rest = active;
        while let Some(lane) = first(rest) {
            let same = rest & lanes_where(|other| indices[other] == indices[lane]);
            // The index is below the length: `check_item` has passed.
            let view = &items[indices[lane] as usize];
            self.check_element(claim, address, view, bytes, same)?;
            rest &= !same;
        }
        Ok(())
    }

    /// An error if the list has no item of this index.
    fn check_item(&self, claim: &Claim, item: &Item, active: u32) -> Result<()> {
        let length = length(&self.code.arguments.lists[item.list], self.params);
        let indices = self.values(&item.index);
        first(outside(&indices, 0, length) & active).map_or(Ok(()), |lane| {
            let fault = Box::new(OutsideTensor {
                tensor: named(claim),
                coordinate: vec![indices[lane] as i64],
                extents: vec![length],
            });
            Err(Blame::lane(FaultKind::OutsideTensor(fault), lane))
        })
    }

    /// An error if an address is not the claimed part of the list's item. Without an item, any address is allowed.
    fn check_part(&self, claim: &Claim, part: usize, address: &Sum, active: u32) -> Result<()> {
        let Some(item) = &claim.item else {
            return Ok(());
        };
        let part = &self.code.arguments.lists[item.list].parts[part];
        let start = PARAM_WINDOW + u64::from(part.start);
        let place = |index: u64| start.wrapping_add(index.wrapping_mul(part.bytes));
        let expected = self.values(&item.index).map(place);
        self.check_addresses(claim, "parameter", &self.values(address), &expected, active)
    }

    fn check_element(
        &self,
        claim: &Claim,
        address: &Sum,
        view: &Launched,
        bytes: u64,
        active: u32,
    ) -> Result<()> {
        if let Some(extents) = &view.extents {
            let further = (bytes / view.bytes).saturating_sub(1);
            self.check_inside(claim, extents, further, active)?;
        }
        let mut expected = [view.pointer; LANES];
        for (sum, stride) in claim.coordinate.iter().zip(&view.strides) {
            let stride = stride.wrapping_mul(view.bytes);
            for (expected, value) in expected.iter_mut().zip(&self.values(sum)) {
                *expected = expected.wrapping_add(stride.wrapping_mul(*value));
            }
        }
        self.check_addresses(claim, "global", &self.values(address), &expected, active)
    }

    /// An error if an address is not the expected one.
    fn check_addresses(
        &self,
        claim: &Claim,
        space: &'static str,
        found: &Row,
        expected: &Row,
        active: u32,
    ) -> Result<()> {
        first(different(found, expected) & active).map_or(Ok(()), |lane| {
            let fault = FaultKind::OtherElement {
                element: self.element(claim, lane),
                space,
                address: found[lane],
                expected: expected[lane],
            };
            Err(Blame::lane(fault, lane))
        })
    }

    /// An error if a coordinate, or one of the `further` coordinates after it, is not below the extents.
    fn check_inside(
        &self,
        claim: &Claim,
        extents: &[u64],
        further: u64,
        active: u32,
    ) -> Result<()> {
        let last = extents.len().wrapping_sub(1);
        for (mode, (sum, extent)) in claim.coordinate.iter().zip(extents).enumerate() {
            let further = if mode == last { further } else { 0 };
            let limit = extent.saturating_sub(further);
            if let Some(lane) = first(outside(&self.values(sum), 0, limit) & active) {
                let mut coordinate = self.coordinate(claim, lane);
                // Of several elements, report the first one outside.
                if coordinate[mode] >= 0 && further > 0 {
                    coordinate[mode] = coordinate[mode].max(*extent as i64);
                }
                let fault = Box::new(OutsideTensor {
                    tensor: self.name(claim, lane),
                    coordinate,
                    extents: extents.to_vec(),
                });
                return Err(Blame::lane(FaultKind::OutsideTensor(fault), lane));
            }
        }
        Ok(())
    }

    fn check_bytes(
        &self,
        claim: &Claim,
        address: &Sum,
        expected: &Row,
        tensor: &Range<u64>,
        bytes: u64,
        active: u32,
    ) -> Result<()> {
        let start = self.code.dynamic_shared;
        let found = self.values(address);
        self.check_addresses(claim, "shared", &found, expected, active)?;
        let (low, high) = (start + tensor.start, start + tensor.end);
        let starts = (high + 1).saturating_sub(low + bytes);
        first(outside(&found, low, starts) & active).map_or(Ok(()), |lane| {
            let fault = FaultKind::OutsideBytes {
                tensor: self.name(claim, lane),
                address: found[lane],
                bytes,
                available: (low, high),
            };
            Err(Blame::lane(fault, lane))
        })
    }

    fn check_box(&self, claim: &Claim, coordinates: &[u32], active: u32) -> Result<()> {
        for (sum, row) in claim.coordinate.iter().zip(coordinates.iter().rev()) {
            let found = self.warp.rows[*row as usize].map(|value| u64::from(value as u32));
            let values = self.values(sum).map(|value| u64::from(value as u32));
            if let Some(lane) = first(different(&values, &found) & active) {
                let value = |row: &u32| i64::from(self.warp.get(*row, lane) as i32);
                let fault = Box::new(OtherBox {
                    tensor: self.name(claim, lane),
                    coordinate: coordinates.iter().rev().map(value).collect(),
                    expected: self.coordinate(claim, lane),
                });
                return Err(Blame::lane(FaultKind::OtherBox(fault), lane));
            }
        }
        Ok(())
    }

    /// The addresses of all lanes in shared memory.
    fn swizzled(&self, base: i64, swizzle: Option<Swizzle>, offset: &Sum) -> Row {
        let start = self.code.dynamic_shared.wrapping_add_signed(base);
        // Offsets have 32 bits.
        let mut values = self.values(offset);
        for value in &mut values {
            let offset = swizzled(swizzle, u64::from(*value as u32));
            *value = u64::from(start.wrapping_add(offset) as u32);
        }
        values
    }

    /// The values of a sum in all lanes; negative ones are in two's complement.
    pub(super) fn values(&self, sum: &Sum) -> Row {
        let Some(row) = sum.register else {
            return [sum.number as u64; LANES];
        };
        let mut values = self.warp.rows[row as usize];
        if sum.signed || sum.number != 0 {
            for value in &mut values {
                *value = sum.value(*value) as u64;
            }
        }
        values
    }

    fn coordinate(&self, claim: &Claim, lane: usize) -> Vec<i64> {
        let sums = claim.coordinate.iter();
        sums.map(|sum| self.values(sum)[lane] as i64).collect()
    }

    /// `x[(3, 70)]`, or the name alone without a coordinate.
    fn element(&self, claim: &Claim, lane: usize) -> String {
        let name = self.name(claim, lane);
        match claim.coordinate.is_empty() {
            true => name,
            false => {
                let coordinate = self.coordinate(claim, lane);
                format!("{name}[{}]", crate::error::tuple(&coordinate))
            }
        }
    }

    /// The name of the tensor, with its index in a list.
    fn name(&self, claim: &Claim, lane: usize) -> String {
        let name = named(claim);
        match &claim.item {
            Some(item) => format!("{name}[{}]", self.values(&item.index)[lane]),
            None => name,
        }
    }
}

fn named(claim: &Claim) -> String {
    match claim.tensor.as_str() {
        "" => "the tensor".to_owned(),
        name => name.to_owned(),
    }
}

/// The lanes in which two rows differ.
fn different(a: &Row, b: &Row) -> u32 {
    // Mostly none differs. Without a branch for each lane, the compiler compares several at a time.
    let mut some = 0;
    for (a, b) in a.iter().zip(b) {
        some |= a ^ b;
    }
    match some {
        0 => 0,
        _ => lanes_where(|lane| a[lane] != b[lane]),
    }
}

/// The lanes whose value is not one of the `count` numbers from `first` on.
fn outside(values: &Row, first: u64, count: u64) -> u32 {
    // For a value outside, the highest bit of its distance from the first number, or of the distance to the last one, is set.
    let last = count.wrapping_sub(1);
    let mut some = 0;
    for value in values {
        let distance = value.wrapping_sub(first);
        some |= distance | last.wrapping_sub(distance);
    }
    match some >> (u64::BITS - 1) {
        0 => 0,
        _ => lanes_where(|lane| values[lane].wrapping_sub(first) >= count),
    }
}

pub(super) fn lanes_where(holds: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).fold(0, |mask, lane| mask | u32::from(holds(lane)) << lane)
}

pub(super) fn first(lanes: u32) -> Option<usize> {
    (lanes != 0).then(|| lanes.trailing_zeros() as usize)
}
