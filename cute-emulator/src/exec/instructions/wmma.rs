//! `wmma`: products of matrices. PTX does not specify the layout of their fragments.

use super::product::{K_BYTES, PRODUCTS_PER_STEP};
use crate::access::kind::Kind;
use crate::exec::state::row::{LANES, lanes};
use crate::exec::step::{Blame, Result, Step};
use crate::numerics::{Columns, FusedSum, Row, WIDTH};
use crate::op::{Fragment, Inputs, Reg, Scope, TileProduct, WmmaAccess};

impl Step<'_> {
    pub(crate) fn wmma_load(&mut self, active: u32, load: &WmmaAccess) -> Result<()> {
        let fragment = load.fragment;
        let mut values = vec![0; fragment.rows * fragment.columns];
        for lane in lanes(active) {
            for i in 0..fragment.per_lane() {
                let index = lane * fragment.per_lane() + i;
                let address = self.element_address(lane, load, index);
                let mut bytes = [0; 4];
                let size = fragment.bytes;
                self.locate(load.space, address)
                    .and_then(|location| {
                        self.read(
                            location,
                            &mut bytes[..size],
                            lane..lane + 1,
                            Kind::Read,
                            Scope::Cta,
                        )
                    })
                    .map_err(|fault| Blame::lane(fault, lane))?;
                values[index] = u32::from_le_bytes(bytes);
            }
        }
        self.set_tile(fragment, &load.registers, &values);
        Ok(())
    }

    pub(crate) fn wmma_store(&mut self, active: u32, store: &WmmaAccess) -> Result<()> {
        let fragment = store.fragment;
        let values = self.tile(fragment, &store.registers);
        for lane in lanes(active) {
            for i in 0..fragment.per_lane() {
                let index = lane * fragment.per_lane() + i;
                let address = self.element_address(lane, store, index);
                let bytes = values[index].to_le_bytes();
                let bytes = &bytes[..fragment.bytes];
                self.locate(store.space, address)
                    .and_then(|location| self.write(location, bytes, lane..lane + 1, None))
                    .map_err(|fault| Blame::lane(fault, lane))?;
            }
        }
        Ok(())
    }

    /// The address of the element with this number, counted row by row.
    fn element_address(&self, lane: usize, access: &WmmaAccess, index: usize) -> u64 {
        let Fragment { columns, bytes, .. } = access.fragment;
        let (row, column) = ((index / columns) as u64, (index % columns) as u64);
        let stride = self.warp.get(access.stride, lane) & u64::from(u32::MAX);
        let offset = match access.by_column {
            true => column * stride + row,
            false => row * stride + column,
        };
        let address = self.address(lane, access.address);
        address.wrapping_add(offset * bytes as u64)
    }

    pub(crate) fn wmma(&mut self, product: &TileProduct) {
        let [a, b, c] = [&product.a, &product.b, &product.c]
            .map(|(fragment, registers)| self.tile(*fragment, registers));
        let (shape, registers) = &product.d;
        let (k, bytes) = (product.a.0.columns, product.a.0.bytes);
        let row_of_a = |row: usize| along_k(bytes, (0..k).map(|i| a[row * k + i]));
        let column_of_b =
            |column: usize| along_k(bytes, (0..k).map(|i| b[i * shape.columns + column]));
        self.charge((shape.rows * shape.columns * k) as u64 / PRODUCTS_PER_STEP);
        let mut d = vec![0; shape.rows * shape.columns];
        match product.inputs {
            Inputs::Int(a_signed, b_signed) => {
                let value = |byte: u8, signed: bool| match signed {
                    true => i64::from(byte as i8),
                    false => i64::from(byte),
                };
                for (index, d) in d.iter_mut().enumerate() {
                    let (row, column) = (
                        row_of_a(index / shape.columns),
                        column_of_b(index % shape.columns),
                    );
                    let products = row.iter().zip(column);
                    let sum = products
                        .map(|(a, b)| value(*a, a_signed) * value(b, b_signed))
                        .sum::<i64>()
                        + i64::from(c[index] as i32);
                    let held = sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
                    *d = if product.saturate { held } else { sum } as u32;
                }
            }
            Inputs::Float(format, b_format) => {
                let fused = FusedSum { a: format, k };
                let c_half = product.c.0.bytes == 2;
                for first in (0..shape.columns).step_by(WIDTH) {
                    let column = |n| Row::new(b_format, &column_of_b(first + n), false);
                    let columns = Columns::new(&std::array::from_fn(column));
                    for row in 0..shape.rows {
                        let place = row * shape.columns + first;
                        let c = std::array::from_fn(|n| match c_half {
                            true => half::f16::from_bits(c[place + n] as u16).to_f32(),
                            false => f32::from_bits(c[place + n]),
                        });
                        let sums =
                            fused.sums(&Row::new(format, &row_of_a(row), false), &columns, &c);
                        let bits = match shape.bytes {
                            2 => fused.to_f16(&sums).map(u32::from),
                            _ => fused.to_f32(&sums).map(f32::to_bits),
                        };
                        d[place..place + WIDTH].copy_from_slice(&bits);
                    }
                }
            }
        }
        self.set_tile(*shape, registers, &d);
    }

    /// The elements of a matrix, row by row.
    fn tile(&self, fragment: Fragment, registers: &[Reg]) -> Vec<u32> {
        let (each, bits) = (fragment.per_register(), 8 * fragment.bytes as u32);
        let element = |index: usize| {
            let (lane, i) = (index / fragment.per_lane(), index % fragment.per_lane());
            let register = self.warp.get(registers[i / each], lane);
            let mask = u32::MAX >> (32 - bits);
            (register >> (bits * (i % each) as u32)) as u32 & mask
        };
        (0..fragment.rows * fragment.columns).map(element).collect()
    }

    fn set_tile(&mut self, fragment: Fragment, registers: &[Reg], values: &[u32]) {
        let (each, bits) = (fragment.per_register(), 8 * fragment.bytes as u32);
        for (r, register) in registers.iter().enumerate() {
            for lane in 0..LANES {
                let value = (0..each).fold(0, |value, part| {
                    let i = (r * each + part) % fragment.per_lane();
                    let element = values[lane * fragment.per_lane() + i];
                    value | u64::from(element) << (bits * part as u32)
                });
                self.warp.set(*register, lane, value);
            }
        }
    }
}

/// The bytes of a row of A or a column of B, padded with zeros.
fn along_k(bytes: usize, elements: impl Iterator<Item = u32>) -> [u8; K_BYTES] {
    let mut row = [0; K_BYTES];
    for (place, element) in row.chunks_exact_mut(bytes).zip(elements) {
        place.copy_from_slice(&element.to_le_bytes()[..bytes]);
    }
    row
}
