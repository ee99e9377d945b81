//! Reads and writes of the values of a fragment.

use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Fragment, Scalar, Value, packing};
use cute_algebra::{Coord, Layout, Tuple};
use cute_ptx::ast::Type;
use cute_ptx::table::op;
use std::collections::BTreeMap;
use syn::Result;

impl Fragment {
    /// The value at a coordinate, in a register. If the value fills a register of the fragment, it is that register itself, and later
    /// writes change it.
    pub fn get(&self, b: &mut Builder, coordinate: &Value) -> Result<Scalar> {
        let value = self.position(b, coordinate)?;
        Ok(self.read(b, value))
    }

    /// Reads value number `value`.
    pub fn read(&self, b: &mut Builder, value: usize) -> Scalar {
        let (register, part) = self.part(value);
        match packing(self.element) {
            1 => Scalar {
                variable: true,
                ..register
            },
            2 => {
                let halves = [
                    b.register(Type::of(self.element)),
                    b.register(Type::of(self.element)),
                ];
                let vector = Operand::Vector(halves.iter().map(Scalar::operand).collect());
                b.emit(op::Mov, Type::B32, [vector, register.operand()]);
                halves[part].clone()
            }
            _ => {
                // Selects the byte, and zeros from the second operand.
                let selector = Operand::Int(0x4440 | part as i128);
                let byte = b.compute(
                    Type::U32,
                    op::Prmt,
                    (),
                    [register.operand(), Operand::Int(0), selector],
                );
                let ty = Type::of(self.element);
                b.compute(ty, op::Cvt, (ty, Type::U32), [byte.operand()])
            }
        }
    }

    /// Writes the value at a coordinate.
    pub fn set(&self, b: &mut Builder, coordinate: &Value, scalar: &Scalar) -> Result<()> {
        let value = self.position(b, coordinate)?;
        self.write(b, value, scalar);
        Ok(())
    }

    /// Writes value number `value`.
    pub fn write(&self, b: &mut Builder, value: usize, scalar: &Scalar) {
        let (register, part) = self.part(value);
        match packing(self.element) {
            1 => b.assign(&register, scalar.operand()),
            2 => {
                let halves = [
                    b.register(Type::of(self.element)),
                    b.register(Type::of(self.element)),
                ];
                b.emit(
                    op::Mov,
                    Type::B32,
                    [
                        Operand::Vector(halves.iter().map(Scalar::operand).collect()),
                        register.operand(),
                    ],
                );
                let mut halves = halves.map(|half| half.operand());
                halves[part] = scalar.operand();
                b.emit(
                    op::Mov,
                    Type::B32,
                    [register.operand(), Operand::Vector(halves.into())],
                );
            }
            _ => {
                let byte = b.compute(
                    Type::U32,
                    op::Cvt,
                    (Type::U32, Type::U16),
                    [scalar.operand()],
                );
                // Replaces byte `part` of the first operand by the lowest byte of the second.
                let selector = 0x3210 & !(0xf << (4 * part)) | 4 << (4 * part);
                let operands = [
                    register.operand(),
                    register.operand(),
                    byte.operand(),
                    Operand::Int(selector),
                ];
                b.emit(op::Prmt, (), operands);
            }
        }
    }

    /// Writes all values. A register whose elements are all values is written once.
    pub fn fill(&self, b: &mut Builder, scalar: &Scalar) {
        let packing = packing(self.element);
        let mut parts: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
        for (value, held) in self.values.iter().enumerate() {
            let register = parts.entry(held.slot / packing).or_default();
            register.insert(held.slot % packing, value);
        }
        for (register, values) in parts {
            if packing == 2 && values.len() == packing {
                let halves = Operand::Vector(vec![scalar.operand(); packing]);
                b.emit(
                    op::Mov,
                    Type::B32,
                    [self.registers[register].operand(), halves],
                );
                continue;
            }
            for value in values.into_values() {
                self.write(b, value, scalar);
            }
        }
    }

    /// The number of the value at a coordinate.
    pub fn position(&self, b: &Builder, coordinate: &Value) -> Result<usize> {
        let count = self.values.len();
        let index = match coordinate {
            Value::Int(index, _) => Some(*index),
            Value::Tuple(_) if self.tile.is_none() => {
                let coord: Option<Coord> = coordinate.to_coord();
                let index = coord.map(|coord| Layout::left(self.shape.clone())?.crd2idx(&coord));
                match index {
                    Some(Ok(Tuple::Leaf(index))) => Some(index.into()),
                    Some(Err(error)) => return Err(b.error(error)),
                    _ => None,
                }
            }
            _ => None,
        };
        let Some(index) = index else {
            return Err(
                b.error("a fragment is indexed by integers known at expansion, because registers have no addresses")
            );
        };
        match usize::try_from(index) {
            Ok(index) if index < count => Ok(index),
            _ => Err(b.error(format!(
                "index {index} is outside of a fragment of {count} values"
            ))),
        }
    }
}
