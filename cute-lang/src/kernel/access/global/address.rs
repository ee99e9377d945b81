//! Addresses in global memory.
//!
//! The address of an element is `pointer + bytes · Σ stride · (origin + coordinate)`. The part of the origin is computed once. In modes
//! with run-time strides, so is the part of each combination of known coordinates. The rest is an immediate offset.

use crate::kernel::access::coordinate::{sign_extended, widened};
use crate::kernel::emit::builder::{Builder, address_operand};
use crate::kernel::emit::claim::in_global;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Global, Num, Scalar, TensorId};
use cute_ptx::ast::Type;
use std::collections::BTreeMap;
use syn::Result;

/// The addresses of elements of a part of a tensor.
#[derive(Clone)]
pub(crate) struct Addresses {
    global: Global,
    /// For coordinates in all modes but the last, the address of the first element with these coordinates.
    rows: BTreeMap<Vec<i64>, Scalar>,
}

impl Addresses {
    /// The addresses of elements by their coordinates in the parameter, relative to the origin of the part.
    pub(crate) fn new(global: &Global) -> Self {
        Self {
            global: global.clone(),
            rows: BTreeMap::new(),
        }
    }

    /// The address of an element.
    pub(crate) fn operand(&mut self, b: &mut Builder, coordinate: &[i64]) -> Result<Operand> {
        let (last, row) = match coordinate.split_last() {
            Some((last, row)) => (*last, row),
            None => (0, coordinate),
        };
        let operand = self.resolve(b, row, last)?;
        let origin = self.global.origin.iter().zip(&self.global.is_moved);
        let place = origin.zip(coordinate.iter().copied());
        let place = place.map(|((origin, signed), at)| (origin.clone(), at, *signed));
        claim(b, &operand, self.global.id(), place);
        Ok(operand)
    }

    fn resolve(&mut self, b: &mut Builder, row: &[i64], last: i64) -> Result<Operand> {
        let register = self.row(b, row)?;
        let offset = i128::from(last) * self.width(b)?;
        match i32::try_from(offset) {
            Ok(offset) => Ok(address_operand(&register, offset.into())),
            Err(_) => {
                let sum = b.add(&register.into(), &Num::Const(offset))?;
                let register = b.to_register(&sum, Type::U64)?;
                Ok(address_operand(&register, 0))
            }
        }
    }

    /// The address at coordinate 0 of the last mode, relative to the origin, for these coordinates in the others.
    pub(crate) fn row(&mut self, b: &mut Builder, row: &[i64]) -> Result<Scalar> {
        if let Some(register) = self.rows.get(row) {
            return Ok(register.clone());
        }
        let sum = match row.iter().all(|coordinate| *coordinate == 0) {
            true => {
                let origin = self.global.origin.clone();
                let offset = self.offset(b, &origin)?;
                let pointer = b.pointer(self.global.id());
                b.add(&pointer.into(), &offset)?
            }
            false => {
                let first = self.row(b, &vec![0; row.len()])?;
                let row: Vec<Num> = row
                    .iter()
                    .map(|coordinate| Num::from(*coordinate))
                    .collect();
                let offset = self.offset(b, &row)?;
                b.add(&first.into(), &offset)?
            }
        };
        let register = b.to_register(&sum, Type::U64)?;
        self.rows.insert(row.to_vec(), register.clone());
        Ok(register)
    }

    /// The bytes from the first element of the tensor to a coordinate. Omitted modes have coordinate 0.
    fn offset(&self, b: &mut Builder, coordinate: &[Num]) -> Result<Num> {
        let mut elements = Num::Const(0);
        for (mode, coordinate) in coordinate.iter().enumerate() {
            let coordinate = match self.global.is_moved[mode] {
                true => sign_extended(b, coordinate)?,
                false => widened(b, coordinate)?,
            };
            if coordinate == Num::Const(0) {
                continue;
            }
            let stride = b.stride(self.global.id(), mode);
            let term = b.mul(&coordinate, &stride)?;
            elements = b.add(&elements, &term)?;
        }
        let width = self.width(b)?;
        b.mul(&elements, &Num::Const(width))
    }

    /// Bytes of an element.
    fn width(&self, b: &Builder) -> Result<i128> {
        b.whole(self.global.element.bytes_of(1))
    }
}

/// Claims that an operand is the element of a tensor at a coordinate, or a box that begins there.
pub(crate) fn claim(
    b: &mut Builder,
    operand: &Operand,
    id: TensorId,
    coordinate: impl Iterator<Item = (Num, i64, bool)>,
) {
    let place = in_global(&b.params[id.param].name, b.index_of(id), coordinate);
    b.claims.add(operand, place);
}
