//! Values held in registers.

use super::address::{along, index};
use super::builder::Builder;
use super::builtins::{Builtin, Call};
use super::tensor::check_divides;
use super::value::{Element, Num, Scalar, Value, is_integer, rust_name};
use cute_algebra::{Coord, IntTuple, Layout, Shape, Tuple};
use cute_hopper::registers;
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

/// The rows of the builtin table that make and use fragments.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "fragment::<T>(layout)",
        apply: fragment,
    },
    Builtin {
        signature: "coordinate(fragment, value)",
        apply: coordinate,
    },
    Builtin {
        signature: "convert::<T>(x)",
        apply: convert,
    },
];

/// Registers of this thread, or its part of a tile that several threads hold together.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The type of its elements.
    pub element: Element,
    /// The registers. Elements of fewer than 32 bits share them, the first one lowest.
    pub registers: Vec<Scalar>,
    /// The values, in order.
    pub values: Vec<Held>,
    /// The tile that several threads hold; `None` for a fragment of one thread.
    pub tile: Option<Distributed>,
    /// The extents of the fragment, or of the tile of which it is a part.
    pub shape: Shape,
}

/// A value of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which element of the registers it is.
    pub slot: usize,
    /// Where it lies in the tile, from the thread's own coordinate; empty in a fragment of one thread.
    pub coordinate: Vec<i64>,
}

/// Where in a tile the threads are.
#[derive(Clone, Debug)]
pub struct Distributed {
    /// For each mode of the tile, the layout from threads to coordinates.
    pub threads: Vec<Layout>,
    /// The coordinate of this thread.
    pub origin: Vec<Num>,
}

impl Distributed {
    /// The largest coordinate of a thread in a mode, modulo `boundary`.
    pub fn reach(&self, mode: usize, boundary: i64) -> i64 {
        let coordinates = self.threads[mode].values();
        coordinates
            .map(|coordinate| coordinate % boundary)
            .max()
            .unwrap_or(0)
    }
}

fn fragment(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    let fragment = match call.args[0].value.to_algebra() {
        Some(cute_algebra::Value::Layout(layout)) if !layout.is_integral() => {
            distributed(b, call, element, &layout)?
        }
        Some(cute_algebra::Value::Layout(layout)) => local(b, call, element, &layout)?,
        Some(cute_algebra::Value::Int(extent)) => {
            local(b, call, element, &compact(call, Tuple::Leaf(extent))?)?
        }
        Some(cute_algebra::Value::Tuple(shape)) => local(b, call, element, &compact(call, shape)?)?,
        _ => {
            return Err(call.mismatch(
                0,
                "a shape, or a layout of registers or of threads and values",
            ));
        }
    };
    Ok(Value::Fragment(fragment))
}

fn compact(call: &Call, shape: Shape) -> Result<Layout> {
    Layout::left(shape).map_err(|error| call.error_at(0, error))
}

/// Registers of one thread: the layout leads from coordinates to elements of the registers.
fn local(b: &mut Builder, call: &Call, element: Element, layout: &Layout) -> Result<Fragment> {
    if layout.size() > layout.cosize() {
        return Err(call.error_at(0, format!("coordinates of {layout} share registers")));
    }
    let registers = registers(b, call, element, layout.cosize())?;
    let slot = |value| {
        usize::try_from(value).ok().map(|slot| Held {
            slot,
            coordinate: Vec::new(),
        })
    };
    let Some(values) = layout.values().map(slot).collect() else {
        return Err(call.error_at(
            0,
            format!("the strides of {layout} lead before the first register"),
        ));
    };
    Ok(Fragment {
        element,
        registers,
        values,
        tile: None,
        shape: layout.shape().clone(),
    })
}

/// This thread's part of a tile, by a layout from (thread, value) to coordinates.
fn distributed(
    b: &mut Builder,
    call: &Call,
    element: Element,
    layout: &Layout,
) -> Result<Fragment> {
    let shape = layout.coshape();
    let (Some(threads), Some(values), 2, 1) =
        (layout.mode(0), layout.mode(1), layout.rank(), shape.depth())
    else {
        return Err(call.mismatch(0, "a layout from (thread, value) to coordinates of a tile"));
    };
    let modes = shape.rank();
    let registers = registers(b, call, element, values.size())?;
    let threads: Vec<Layout> = (0..modes).map(|mode| along(&threads, &[mode])).collect();
    let count = threads[0].size();
    if i64::from(b.threads) % count != 0 {
        return Err(call.error_at(
            0,
            format!(
                "{count} threads hold the tile, and a CTA of {} is not a multiple",
                b.threads
            ),
        ));
    }
    let thread = b.thread();
    let thread = b.rem(&thread.into(), &Num::from(count))?;
    let origin = threads
        .iter()
        .map(|threads| index(b, threads, &thread, 1))
        .collect::<Result<_>>()?;
    let coordinates: Vec<Vec<i64>> = (0..modes)
        .map(|mode| along(&values, &[mode]).values().collect())
        .collect();
    let held = |slot: usize| Held {
        slot,
        coordinate: coordinates.iter().map(|mode| mode[slot]).collect(),
    };
    let values = (0..coordinates[0].len()).map(held).collect();
    Ok(Fragment {
        element,
        registers,
        values,
        tile: Some(Distributed { threads, origin }),
        shape,
    })
}

fn registers(b: &mut Builder, call: &Call, element: Element, elements: i64) -> Result<Vec<Scalar>> {
    let words = (i128::from(elements) * i128::from(element.bits()) + 31) / 32;
    if words > i128::from(registers::MAX) {
        return Err(call.error_at(
            0,
            format!(
                "{elements} elements of {element} take {words} registers, a thread has {}",
                registers::MAX
            ),
        ));
    }
    let count = (elements as usize).div_ceil(packing(element));
    Ok((0..count)
        .map(|_| b.register(register_type(element)))
        .collect())
}

/// How many elements share a register.
pub fn packing(element: Element) -> usize {
    (32 / element.bits() as usize).max(1)
}

/// The type of a fragment's registers.
pub fn register_type(element: Element) -> Type {
    match element.bits() {
        8 | 16 => Type::B32,
        _ => Type::of(element),
    }
}

impl Fragment {
    /// The register of a value, and which part of it the value is.
    pub fn part(&self, value: usize) -> (Scalar, usize) {
        let (slot, packing) = (self.values[value].slot, packing(self.element));
        (self.registers[slot / packing].clone(), slot % packing)
    }

    /// A value as a register of its own. Later writes to the fragment change it.
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
                b.emit(Opcode::Mov, Type::B32, [vector, register.operand()]);
                halves[part].clone()
            }
            _ => {
                // The byte, and zeros from the second operand.
                let selector = Operand::Int(0x4440 | part as i128);
                let byte = b.compute(
                    Type::U32,
                    Opcode::Prmt,
                    (),
                    [register.operand(), Operand::Int(0), selector],
                );
                let ty = Type::of(self.element);
                b.compute(ty, Opcode::Cvt, (ty, Type::U32), [byte.operand()])
            }
        }
    }

    /// Assigns to a value.
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
                    Opcode::Mov,
                    Type::B32,
                    [
                        Operand::Vector(halves.iter().map(Scalar::operand).collect()),
                        register.operand(),
                    ],
                );
                let mut halves = halves.map(|half| half.operand());
                halves[part] = scalar.operand();
                b.emit(
                    Opcode::Mov,
                    Type::B32,
                    [register.operand(), Operand::Vector(halves.into())],
                );
            }
            _ => {
                let byte = b.compute(
                    Type::U32,
                    Opcode::Cvt,
                    (Type::U32, Type::U16),
                    [scalar.operand()],
                );
                // The lowest byte of the second operand in the place of the old one.
                let selector = 0x3210 & !(0xf << (4 * part)) | 4 << (4 * part);
                let operands = [
                    register.operand(),
                    register.operand(),
                    byte.operand(),
                    Operand::Int(selector),
                ];
                b.emit(Opcode::Prmt, (), operands);
            }
        }
    }

    fn position(&self, b: &Builder, coordinate: &Value) -> Result<usize> {
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
                b.error("registers have no addresses: the index is an integer known at expansion")
            );
        };
        match usize::try_from(index) {
            Ok(index) if index < count => Ok(index),
            _ => Err(b.error(format!(
                "index {index} is outside of a fragment of {count} values"
            ))),
        }
    }

    /// Refuses tiles that do not divide the fragment, or divide it otherwise for each thread.
    pub fn check_tile(&self, b: &Builder, tile: &Shape) -> Result<()> {
        let Some(distributed) = &self.tile else {
            return Err(b.error("`local_tile` of a fragment wants one that several threads hold"));
        };
        if tile.leaf_count() != self.shape.leaf_count() {
            let shape = &self.shape;
            return Err(b.error(format!(
                "tile {tile} of a fragment of {shape}: the ranks differ"
            )));
        }
        for (mode, (&extent, &tile)) in self.shape.leaves().zip(tile.leaves()).enumerate() {
            check_divides(b, mode, tile, extent)?;
            let reach = distributed.reach(mode, i64::MAX);
            let within = self
                .values
                .iter()
                .map(|value| value.coordinate[mode] % tile);
            let worst = within.max().unwrap_or(0);
            if reach + worst >= tile {
                return Err(b.error(format!(
                    "mode {mode}: which tile of {tile} a value lies in depends on the thread: threads reach {reach}, values {worst} within a tile"
                )));
            }
        }
        Ok(())
    }

    /// The values that lie in the tile at a coordinate counted in tiles, which [`check_tile`](Self::check_tile) accepts.
    pub fn tile(&self, b: &Builder, tile: &Shape, at: &IntTuple) -> Result<Fragment> {
        let tiles: Vec<i64> = tile.leaves().copied().collect();
        let place: Vec<i64> = at.leaves().copied().collect();
        if place.len() != tiles.len() {
            return Err(b.error(format!(
                "{at} is no coordinate of tiles {tile}: the ranks differ"
            )));
        }
        for (mode, (extent, (tile, place))) in self
            .shape
            .leaves()
            .zip(tiles.iter().zip(&place))
            .enumerate()
        {
            let count = extent / tile;
            if !(0..count).contains(place) {
                return Err(b.error(format!(
                    "mode {mode}: tile {place} is outside of the {count} tiles of {tile}"
                )));
            }
        }
        let inside = |value: &&Held| {
            (0..tiles.len()).all(|mode| value.coordinate[mode] / tiles[mode] == place[mode])
        };
        let values = self.values.iter().filter(inside).map(|value| {
            let coordinate = value
                .coordinate
                .iter()
                .zip(&tiles)
                .map(|(coordinate, tile)| coordinate % tile)
                .collect();
            Held {
                slot: value.slot,
                coordinate,
            }
        });
        Ok(Fragment {
            values: values.collect(),
            shape: tiles.into_iter().map(Tuple::Leaf).collect(),
            ..self.clone()
        })
    }

    /// A fragment of the same values in fresh registers of another type, packed in the order of the values.
    fn like(&self, b: &mut Builder, element: Element) -> Fragment {
        let count = self.values.len().div_ceil(packing(element));
        let registers = (0..count)
            .map(|_| b.register(register_type(element)))
            .collect();
        let values = self.values.iter().enumerate().map(|(slot, value)| Held {
            slot,
            coordinate: value.coordinate.clone(),
        });
        Fragment {
            element,
            registers,
            values: values.collect(),
            tile: self.tile.clone(),
            shape: self.shape.clone(),
        }
    }
}

fn coordinate(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(Fragment {
        tile: Some(tile),
        values,
        ..
    }) = &call.args[0].value
    else {
        return Err(call.mismatch(0, "a fragment that several threads hold"));
    };
    let last = u32::try_from(values.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let value = &values[call.constant_in(1, 0..=last)? as usize];
    let sums = tile.origin.iter().zip(&value.coordinate);
    let sums = sums.map(|(origin, known)| Ok(b.add(origin, &Num::from(*known))?.into()));
    Ok(Value::Tuple(sums.collect::<Result<_>>()?))
}

fn convert(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    b.set_place(call.args[0].span);
    match &call.args[0].value {
        Value::Scalar(scalar) => Ok(b.convert(scalar, Type::of(element))?.into()),
        Value::Fragment(fragment) if fragment.element == element => {
            Ok(Value::Fragment(fragment.clone()))
        }
        Value::Fragment(fragment) => {
            let result = fragment.like(b, element);
            let packed = match (fragment.element, element) {
                (Element::F32, Element::BF16) => Some(Type::Bf16x2),
                (Element::F32, Element::F16) => Some(Type::F16x2),
                _ => None,
            };
            for value in 0..fragment.values.len() {
                match packed {
                    Some(_) if value % 2 == 1 => {}
                    Some(pair) => {
                        let low = fragment.part(value).0;
                        // A last value without a neighbour is its own.
                        let high = if value + 1 < fragment.values.len() {
                            fragment.part(value + 1).0
                        } else {
                            low.clone()
                        };
                        b.emit(
                            Opcode::Cvt,
                            (Modifier::Rn, pair, Type::F32),
                            [
                                result.part(value).0.operand(),
                                high.operand(),
                                low.operand(),
                            ],
                        );
                    }
                    None => {
                        let from = fragment.read(b, value);
                        let to = b.convert(&from, Type::of(element))?;
                        result.write(b, value, &to);
                    }
                }
            }
            Ok(Value::Fragment(result))
        }
        _ => Err(call.mismatch(0, "a run-time number or a fragment")),
    }
}

/// A value as a register that holds one element.
pub(super) fn scalar(b: &mut Builder, element: Element, value: &Value) -> Result<Scalar> {
    let ty = Type::of(element);
    match value {
        Value::Scalar(scalar) if scalar.ty == ty => Ok(scalar.clone()),
        Value::Int(value, own) if is_integer(ty) && own.is_none_or(|own| own == ty) => {
            b.to_register(&Num::Const(*value), ty)
        }
        Value::Float(value) if ty == Type::F32 => {
            let register = b.register(ty);
            b.assign(&register, Operand::F32((*value as f32).to_bits()));
            Ok(register)
        }
        Value::Float(value) if ty == Type::F64 => {
            let register = b.register(ty);
            b.assign(&register, Operand::F64(value.to_bits()));
            Ok(register)
        }
        Value::Scalar(scalar) => {
            let found = rust_name(scalar.ty);
            Err(b.error(format!("expected a value of type `{element}`, found `{found}`: convert it with `convert::<{element}>`")))
        }
        other => Err(b.error(format!(
            "expected a value of type `{element}`, found {}",
            other.kind()
        ))),
    }
}
