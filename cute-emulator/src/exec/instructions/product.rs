//! Products of matrices in a warp: the arithmetic of wgmma and of `mma.sync`, and where their fragments have which elements.

use crate::exec::state::warp::{LANES, WARPGROUP};
use crate::exec::step::Step;
use crate::numerics::{Format, FusedSum, Row};
use crate::op::{Inputs, Mma, Output, Reg};
use cute_hopper::wgmma;

/// The number of rows of D that a warp computes.
pub(super) const ROWS: usize = wgmma::M as usize / WARPGROUP;
/// The most bytes along K of one instruction.
pub(super) const K_BYTES: usize = wgmma::K_BYTES as usize;
/// The number of columns of D that `mma.sync` computes.
const COLUMNS: usize = 8;

/// The bytes along K of a row of A or a column of B; those after the last are 0.
pub(super) type KRow = [u8; K_BYTES];

/// D = A·B + C, of the rows of D that a warp computes.
pub(super) struct Product<'a> {
    pub(super) inputs: Inputs,
    pub(super) output: Output,
    /// Whether the elements of A and those of B are negated.
    pub(super) negate: [bool; 2],
    pub(super) a: &'a [KRow],
    pub(super) b: &'a [KRow],
    /// `None` if C is zero.
    pub(super) c: Option<&'a [Reg]>,
    pub(super) d: &'a [Reg],
}

impl Step<'_> {
    /// `mma.sync`. Hopper has none of 8-bit floating-point numbers, so NVIDIA's assembler converts them to f16 and makes two
    /// products of half of K. Which half it takes first is not documented.
    pub(super) fn mma(&mut self, mma: &Mma) {
        let (a, b) = (self.rows_of_a(&mma.a), self.columns_of_b(&mma.b));
        let mut product = Product {
            inputs: mma.inputs,
            output: mma.output,
            negate: [false, false],
            a: &a,
            b: &b,
            c: Some(&mma.c),
            d: &mma.d,
        };
        let Inputs::Float(a_format, b_format) = mma.inputs else {
            return self.multiply(&product);
        };
        if a_format.bytes() > 1 {
            return self.multiply(&product);
        }
        product.inputs = Inputs::Float(Format::F16, Format::F16);
        for half in 0..2 {
            let wide = |rows: &[KRow], format| -> Vec<KRow> {
                let rows = rows.iter();
                rows.map(|row| halves(format, &row[half * K_BYTES / 2..]))
                    .collect()
            };
            let (a, b) = (wide(&a, a_format), wide(&b, b_format));
            self.multiply(&Product {
                a: &a,
                b: &b,
                c: Some(if half == 0 { &mma.c } else { &mma.d }),
                ..product
            });
        }
    }

    pub(super) fn multiply(&mut self, product: &Product) {
        let values = match product.inputs {
            Inputs::Float(a, b) => self.multiply_floats(product, a, b),
            Inputs::Int(a, b) => self.multiply_ints(product, a, b),
        };
        for (register, values) in product.d.iter().zip(values) {
            self.warp.rows[*register as usize] = values;
        }
    }

    fn multiply_floats(&self, product: &Product, a: Format, b: Format) -> Vec<[u64; LANES]> {
        let decode = |rows: &[KRow], format, negate| -> Vec<Row> {
            let rows = rows.iter();
            rows.map(|row| Row::new(format, row, negate)).collect()
        };
        let fused = FusedSum {
            a,
            b,
            k: K_BYTES / a.bytes(),
        };
        let a = decode(product.a, a, product.negate[0]);
        let b = decode(product.b, b, product.negate[1]);
        self.each_register(product, |i, lane, c| match product.output {
            Output::F16 => {
                let (row, column) = (lane / 4 + 8 * (i & 1), 8 * (i >> 1) + 2 * (lane % 4));
                let element = |column: usize, c: u64| {
                    let c = half::f16::from_bits(c as u16).to_f32();
                    u64::from(fused.to_f16(fused.sum(&a[row], &b[column], c)))
                };
                element(column, c) | element(column + 1, c >> 16) << 16
            }
            _ => {
                let (row, column) = element_of(i, lane);
                let sum = fused.sum(&a[row], &b[column], f32::from_bits(c as u32));
                fused.to_f32(sum).to_bits().into()
            }
        })
    }

    fn multiply_ints(
        &self,
        product: &Product,
        a_signed: bool,
        b_signed: bool,
    ) -> Vec<[u64; LANES]> {
        let value = |byte: u8, signed: bool| match signed {
            true => i64::from(byte as i8),
            false => i64::from(byte),
        };
        let saturate = product.output == Output::S32 { saturate: true };
        self.each_register(product, |i, lane, c| {
            let (row, column) = element_of(i, lane);
            let pairs = product.a[row].iter().zip(&product.b[column]);
            let products = pairs.map(|(a, b)| value(*a, a_signed) * value(*b, b_signed));
            let sum = i64::from(c as i32) + products.sum::<i64>();
            let sum = match saturate {
                true => sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)),
                false => sum,
            };
            u64::from(sum as u32)
        })
    }

    /// The new values of the registers of D, from the index of a register, the lane, and the value of C there.
    fn each_register(
        &self,
        product: &Product,
        value: impl Fn(usize, usize, u64) -> u64,
    ) -> Vec<[u64; LANES]> {
        let register = |i: usize| {
            let c = product.c.map(|c| &self.warp.rows[c[i] as usize]);
            std::array::from_fn(|lane| value(i, lane, c.map_or(0, |c| c[lane])))
        };
        (0..product.d.len()).map(register).collect()
    }

    /// The warp's rows of A from registers. Each register of a lane holds four bytes of a row.
    pub(super) fn rows_of_a(&self, registers: &[Reg]) -> Vec<KRow> {
        let mut matrix = vec![[0; K_BYTES]; ROWS];
        for (i, register) in registers.iter().enumerate() {
            let row = |lane| lane / 4 + 8 * (i & 1);
            self.spread(*register, &mut matrix, row, 16 * (i >> 1));
        }
        matrix
    }

    /// The columns of B from registers. Each register of a lane holds four bytes of a column.
    fn columns_of_b(&self, registers: &[Reg]) -> Vec<KRow> {
        let mut matrix = vec![[0; K_BYTES]; COLUMNS];
        for (i, register) in registers.iter().enumerate() {
            self.spread(*register, &mut matrix, |lane| lane / 4, 16 * i);
        }
        matrix
    }

    /// Puts a register's four bytes of each lane into their rows, from byte `first` on.
    fn spread(
        &self,
        register: Reg,
        matrix: &mut [KRow],
        row: impl Fn(usize) -> usize,
        first: usize,
    ) {
        for lane in 0..LANES {
            let byte = 4 * (lane % 4) + first;
            let value = self.warp.get(register, lane) as u32;
            matrix[row(lane)][byte..byte + 4].copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// The first 8-bit numbers of a row as f16, which has every number of 8 bits.
fn halves(format: Format, row: &[u8]) -> KRow {
    let mut wide = [0; K_BYTES];
    for (two, byte) in wide.chunks_exact_mut(2).zip(row) {
        let value = half::f16::from_f64(format.value(u32::from(*byte)));
        two.copy_from_slice(&value.to_bits().to_le_bytes());
    }
    wide
}

/// The row and the column of the element of D that register `i` of a lane holds. Row 0 is the warp's first.
fn element_of(i: usize, lane: usize) -> (usize, usize) {
    (
        lane / 4 + 8 * (i >> 1 & 1),
        8 * (i >> 2) + 2 * (lane % 4) + (i & 1),
    )
}
