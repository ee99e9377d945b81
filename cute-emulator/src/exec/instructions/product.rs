//! Products of matrices in a warp: the arithmetic of wgmma and of `mma.sync`, and the layout of their fragments.

use crate::exec::state::row::{self, LANES};
use crate::exec::state::warp::WARPGROUP;
use crate::exec::step::Step;
use crate::numerics::{Columns, Format, FusedSum, Row, WIDTH};
use crate::op::{Inputs, Mma, Output, Reg};
use cute_chip::wgmma;
use rayon::prelude::*;

/// The number of rows of D that a warp computes.
pub(super) const ROWS: usize = wgmma::M as usize / WARPGROUP;
/// The most bytes along K of one instruction.
pub(super) const K_BYTES: usize = wgmma::K_BYTES as usize;
/// From this many columns of B on, several cores share the work.
const WORTHWHILE_COLUMNS: usize = 128;
/// The number of columns of D that `mma.sync` computes.
const COLUMNS: usize = 8;
/// This many products of `mma` and `wmma` are charged as one instruction.
pub(super) const PRODUCTS_PER_STEP: u64 = 64;

/// The bytes along K of a row of A or a column of B, padded with zeros.
pub(super) type KRow = [u8; K_BYTES];

/// The columns of B, decoded.
pub(super) enum Factor {
    Float(Vec<Columns>),
    /// Whether the integers are signed, and the columns.
    Int(bool, Vec<KRow>),
}

impl Factor {
    pub(super) fn new(inputs: Inputs, columns: Vec<KRow>, negate: bool) -> Factor {
        match inputs {
            Inputs::Int(_, signed) => Factor::Int(signed, columns),
            Inputs::Float(_, format) => {
                let decode = |columns: &[KRow]| {
                    let row = |n: usize| Row::new(format, &columns[n], negate);
                    Columns::new(&std::array::from_fn(row))
                };
                Factor::Float(match columns.len() >= WORTHWHILE_COLUMNS {
                    true => columns.par_chunks_exact(WIDTH).map(decode).collect(),
                    false => columns.chunks_exact(WIDTH).map(decode).collect(),
                })
            }
        }
    }
}

/// D = A·B + C, for the rows of D that a warp computes.
pub(super) struct Product<'a> {
    pub(super) inputs: Inputs,
    pub(super) output: Output,
    /// Whether the elements of A are negated.
    pub(super) negate: bool,
    pub(super) a: &'a [KRow],
    pub(super) b: &'a Factor,
    /// `None` if C is zero.
    pub(super) c: Option<&'a [Reg]>,
    pub(super) d: &'a [Reg],
}

impl Step<'_> {
    /// `mma.sync`. Hopper has no `mma.sync` of 8-bit floats, so NVIDIA's assembler converts them to f16 and makes two products of half
    /// of K each. The order of the two halves is not documented.
    pub(super) fn mma(&mut self, mma: &Mma) {
        // A register of A holds 128 bytes of 16 rows.
        let k = 8 * mma.a.len() / mma.inputs.bytes();
        self.count_product(COLUMNS, k);
        self.charge((ROWS * COLUMNS * k) as u64 / PRODUCTS_PER_STEP);
        let rows = &self.warp.rows;
        let (a, b) = (rows_of_a(rows, &mma.a), columns_of_b(rows, &mma.b));
        let halves_of_k = match mma.inputs {
            Inputs::Float(a, b) if a.bytes() == 1 => Some((a, b)),
            _ => None,
        };
        let Some((a_format, b_format)) = halves_of_k else {
            return self.multiply(&Product {
                inputs: mma.inputs,
                output: mma.output,
                negate: false,
                a: &a,
                b: &Factor::new(mma.inputs, b, false),
                c: Some(&mma.c),
                d: &mma.d,
            });
        };
        let inputs = Inputs::Float(Format::F16, Format::F16);
        for half in 0..2 {
            let wide = |rows: &[KRow], format| -> Vec<KRow> {
                let rows = rows.iter();
                rows.map(|row| halves(format, &row[half * K_BYTES / 2..]))
                    .collect()
            };
            self.multiply(&Product {
                inputs,
                output: mma.output,
                negate: false,
                a: &wide(&a, a_format),
                b: &Factor::new(inputs, wide(&b, b_format), false),
                c: Some(if half == 0 { &mma.c } else { &mma.d }),
                d: &mma.d,
            });
        }
    }

    fn multiply(&mut self, product: &Product) {
        product.compute(&mut self.warp.rows);
    }
}

impl Product<'_> {
    /// Computes D in the registers of a warp.
    pub(super) fn compute(&self, registers: &mut [row::Row]) {
        let values = match (self.inputs, self.b) {
            (Inputs::Float(format, _), Factor::Float(columns)) => {
                self.floats(registers, format, columns)
            }
            (Inputs::Int(signed, _), Factor::Int(b_signed, columns)) => {
                self.ints(registers, signed, columns, *b_signed)
            }
            _ => return,
        };
        for (register, values) in self.d.iter().zip(values) {
            registers[*register as usize] = values;
        }
    }

    fn floats(&self, registers: &[row::Row], a: Format, b: &[Columns]) -> Vec<row::Row> {
        let fused = FusedSum {
            a,
            k: K_BYTES / a.bytes(),
        };
        let rows = self.a.iter();
        let a: Vec<Row> = rows.map(|row| Row::new(a, row, self.negate)).collect();
        // The registers that hold eight columns of D.
        let each = self.d.len() / b.len();
        let block = |(i, b): (usize, &Columns)| {
            let c = self.c.map(|c| &c[i * each..(i + 1) * each]);
            let c: Option<Vec<&row::Row>> = c.map(|c| {
                let rows = c.iter().map(|register| &registers[*register as usize]);
                rows.collect()
            });
            match self.output {
                Output::F16 => halves_of_block(fused, &a, b, c.as_deref()),
                _ => block(fused, &a, b, c.as_deref()),
            }
        };
        b.iter().enumerate().flat_map(block).collect()
    }

    fn ints(
        &self,
        registers: &[row::Row],
        a_signed: bool,
        b: &[KRow],
        b_signed: bool,
    ) -> Vec<row::Row> {
        let value = |byte: u8, signed: bool| match signed {
            true => i64::from(byte as i8),
            false => i64::from(byte),
        };
        let saturate = self.output == Output::S32 { saturate: true };
        let element = |i: usize, lane: usize| {
            let (row, column) = element_of(i, lane);
            let pairs = self.a[row].iter().zip(&b[column]);
            let products = pairs.map(|(a, b)| value(*a, a_signed) * value(*b, b_signed));
            let c = self.c.map_or(0, |c| registers[c[i] as usize][lane]);
            let sum = i64::from(c as i32) + products.sum::<i64>();
            let sum = match saturate {
                true => sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)),
                false => sum,
            };
            u64::from(sum as u32)
        };
        (0..self.d.len())
            .map(|i| std::array::from_fn(|lane| element(i, lane)))
            .collect()
    }
}

/// A warp's rows of A from registers. Each register of a lane holds four bytes of a row.
pub(super) fn rows_of_a(rows: &[row::Row], registers: &[Reg]) -> Vec<KRow> {
    let mut matrix = vec![[0; K_BYTES]; ROWS];
    for (i, register) in registers.iter().enumerate() {
        let row = |lane| lane / 4 + 8 * (i & 1);
        spread(&rows[*register as usize], &mut matrix, row, 16 * (i >> 1));
    }
    matrix
}

/// The columns of B from registers. Each register of a lane holds four bytes of a column.
fn columns_of_b(rows: &[row::Row], registers: &[Reg]) -> Vec<KRow> {
    let mut matrix = vec![[0; K_BYTES]; COLUMNS];
    for (i, register) in registers.iter().enumerate() {
        let row = &rows[*register as usize];
        spread(row, &mut matrix, |lane| lane / 4, 16 * i);
    }
    matrix
}

/// Puts a register's four bytes of each lane into their rows, from byte `first` on.
fn spread(register: &row::Row, matrix: &mut [KRow], row: impl Fn(usize) -> usize, first: usize) {
    for (lane, value) in register.iter().enumerate() {
        let byte = 4 * (lane % 4) + first;
        matrix[row(lane)][byte..byte + 4].copy_from_slice(&(*value as u32).to_le_bytes());
    }
}

/// The registers of eight columns of D in f32, from the registers of C.
fn block(fused: FusedSum, a: &[Row], b: &Columns, c: Option<&[&row::Row]>) -> Vec<row::Row> {
    let mut d = vec![[0; LANES]; 2 * ROWS / COLUMNS];
    for (row, a) in a.iter().enumerate() {
        // Four lanes hold the row: the even columns in one register, the odd ones in the next.
        let (first, four) = (row / 8 * 2, row % 8);
        let c = c.map_or([0.0; WIDTH], |c| {
            let held = [c[first], c[first + 1]].map(|c| c.as_chunks::<4>().0[four]);
            std::array::from_fn(|column| f32::from_bits(held[column % 2][column / 2] as u32))
        });
        let sums = fused.to_f32(&fused.sums(a, b, &c));
        for odd in 0..2 {
            let held = &mut d[first + odd].as_chunks_mut::<4>().0[four];
            *held = std::array::from_fn(|lane| sums[2 * lane + odd].to_bits().into());
        }
    }
    d
}

/// Like [`block`], in f16: a register holds two columns.
fn halves_of_block(
    fused: FusedSum,
    a: &[Row],
    b: &Columns,
    c: Option<&[&row::Row]>,
) -> Vec<row::Row> {
    let mut d = vec![[0; LANES]; ROWS / COLUMNS];
    for (row, a) in a.iter().enumerate() {
        let (i, lane) = (row / 8, row % 8 * 4);
        let c = c.map_or([0.0; WIDTH], |c| {
            std::array::from_fn(|column| {
                let bits = c[i][lane + column / 2] >> (16 * (column % 2));
                half::f16::from_bits(bits as u16).to_f32()
            })
        });
        let sums = fused.to_f16(&fused.sums(a, b, &c));
        for (column, sum) in sums.iter().enumerate() {
            d[i][lane + column / 2] |= u64::from(*sum) << (16 * (column % 2));
        }
    }
    d
}

/// The first 8-bit floats of a row as f16. Every 8-bit float is exact in f16.
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
