//! Operations in which each lane uses only its own registers.

use crate::arithmetic::low_bits;
use crate::error::FaultKind;
use crate::exec::state::row::{Row, lanes};
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Compare, Compute, Extended, Function, Integers, Reg};

impl Step<'_> {
    pub(crate) fn compute(&mut self, active: u32, compute: &Compute) {
        let Compute {
            function,
            dst,
            src,
            flush,
            saturate,
            divides: _,
        } = *compute;
        let rows = &self.warp.rows;
        let row = |i: usize| -> Row {
            let row = rows[src[i] as usize];
            flush.sources.map_or(row, |flushed| row.map(flushed))
        };
        let mut result: Row = match function {
            Function::F1(f) => row(0).map(f),
            Function::F2(f) => {
                let (a, b) = (row(0), row(1));
                std::array::from_fn(|lane| f(a[lane], b[lane]))
            }
            Function::F3(f) => {
                let (a, b, c) = (row(0), row(1), row(2));
                std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]))
            }
            Function::F4(f) => {
                let (a, b, c, d) = (row(0), row(1), row(2), row(3));
                std::array::from_fn(|lane| f(a[lane], b[lane], c[lane], d[lane]))
            }
        };
        if let Some(flushed) = flush.result {
            result = result.map(flushed);
        }
        if let Some(saturated) = saturate {
            result = result.map(saturated);
        }
        let dst = &mut self.warp.rows[dst as usize];
        if active == u32::MAX {
            *dst = result;
        } else {
            lanes(active).for_each(|lane| dst[lane] = result[lane]);
        }
    }

    /// An error if a lane divides by 0, or the smallest integer by -1: that quotient does not fit the type.
    pub(crate) fn check_division(
        &self,
        active: u32,
        compute: &Compute,
        Integers { bits, is_signed }: Integers,
    ) -> Result<()> {
        if !self.checks.division {
            return Ok(());
        }
        let [a, b] = [0, 1].map(|i| &self.warp.rows[compute.src[i] as usize]);
        for lane in lanes(active) {
            let (dividend, divisor) = (a[lane] & low_bits(bits), b[lane] & low_bits(bits));
            let smallest = 1 << (bits - 1);
            let fault = if divisor == 0 {
                FaultKind::DivisionByZero
            } else if is_signed && divisor == low_bits(bits) && dividend == smallest {
                let dividend = i64::MIN >> (64 - bits);
                FaultKind::DivisionOverflow { dividend }
            } else {
                continue;
            };
            return Err(Blame::lane(fault, lane));
        }
        Ok(())
    }

    pub(crate) fn compare(&mut self, active: u32, compare: &Compare) {
        let Compare {
            compare,
            flush,
            combine,
            p,
            q,
            a,
            b,
        } = *compare;
        let (a, b) = (self.warp.rows[a as usize], self.warp.rows[b as usize]);
        let c = combine.map(|(function, row)| (function, self.warp.rows[row as usize]));
        for lane in lanes(active) {
            let (a, b) = match flush {
                Some(flushed) => (flushed(a[lane]), flushed(b[lane])),
                None => (a[lane], b[lane]),
            };
            let holds = compare(a, b) & 1;
            let combined = |value| c.map_or(value, |(function, c)| function(value, c[lane]));
            self.warp.set(p, lane, combined(holds));
            if let Some(q) = q {
                self.warp.set(q, lane, combined(holds ^ 1));
            }
        }
    }

    pub(crate) fn extended(
        &mut self,
        active: u32,
        function: Extended,
        dst: Reg,
        src: [Reg; 3],
        carry: Reg,
        writes: bool,
    ) {
        for lane in lanes(active) {
            let flag = self.warp.get(carry, lane) & 1 == 1;
            let (value, flag) = function(src.map(|row| self.warp.get(row, lane)), flag);
            self.warp.set(dst, lane, value);
            if writes {
                self.warp.set(carry, lane, flag.into());
            }
        }
    }

    pub(crate) fn pack(&mut self, active: u32, dst: Reg, parts: &[Reg], bits: u32) {
        for lane in lanes(active) {
            let mask = low_bits(bits);
            let value = parts.iter().rev().fold(0_u64, |value, part| {
                value.checked_shl(bits).unwrap_or(0) | self.warp.get(*part, lane) & mask
            });
            self.warp.set(dst, lane, value);
        }
    }

    pub(crate) fn unpack(&mut self, active: u32, parts: &[Reg], src: Reg, bits: u32) {
        for lane in lanes(active) {
            let value = self.warp.get(src, lane);
            for (i, part) in parts.iter().enumerate() {
                let shifted = value.checked_shr(bits * i as u32).unwrap_or(0);
                self.warp.set(*part, lane, shifted & low_bits(bits));
            }
        }
    }
}
