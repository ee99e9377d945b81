//! Prefixes along a mode of a tile.
//!
//! The coordinate along the mode is a number. Some of its digits count values of a thread, others lanes, others warps. From the lowest
//! digit on, blocks of values are joined to larger blocks: each value gets the sum before it in the larger block, and each thread the sum
//! of the block.

use super::across::exchange;
use super::digits::{Digit, digits};
use super::operation::{Operation, operands};
use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::value::{Fragment, Held, Num, Scalar, Value};
use cute_ptx::ast::Type;
use std::collections::BTreeMap;
use syn::Result;

/// The result of a scan for each value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The sum of all values up to it and with it.
    Inclusive,
    /// The sum of all values before it.
    Exclusive,
}

/// Consecutive values along the mode, disregarding the digits of threads.
struct Block {
    /// The coordinate of the first in the thread.
    at: i64,
    values: Vec<usize>,
    /// The sum before the block in lower threads, unless `before` of the values includes it.
    before: Option<Scalar>,
    /// The sum of the block in all threads joined so far.
    sum: Scalar,
}

/// A scan under way.
struct Scan<'a> {
    x: &'a Fragment,
    mode: usize,
    operation: Operation,
    blocks: Vec<Block>,
    /// For each value, the sum before it in its block.
    before: Vec<Option<Scalar>>,
}

pub(super) fn scan(b: &mut Builder, call: &Call, kind: Kind) -> Result<Value> {
    let (x, mode, operation) = operands(call, false)?;
    let Some(tile) = &x.tile else {
        return Err(call.mismatch(0, "a fragment that several threads hold"));
    };
    let digits = digits(tile, mode, b.threads.into()).map_err(|why| call.error_at(1, why))?;
    if digits.iter().any(|digit| digit.is_cta) {
        let message = format!(
            "`{}` combines values of the threads of one CTA, but several hold the fragment",
            call.name
        );
        return Err(call.error_at(0, message));
    }
    let mut joined: Vec<&Digit> = digits.iter().filter(|it| it.is_combined()).collect();
    joined.sort_by_key(|digit| digit.along);
    check(x, mode, &joined).map_err(|why| call.error_at(1, why))?;
    let block = |(value, held): (usize, &Held)| Block {
        at: held.coordinate[mode],
        values: vec![value],
        before: None,
        sum: x.read(b, value),
    };
    let mut scan = Scan {
        blocks: x.values.iter().enumerate().map(block).collect(),
        before: vec![None; x.values.len()],
        x,
        mode,
        operation,
    };
    for (done, digit) in joined.iter().enumerate() {
        scan.join_values(b, digit.along)?;
        if digit.is_lane() {
            scan.join_lanes(b, digit)?;
        } else {
            let sums: Vec<Scalar> = scan.blocks.iter().map(|block| block.sum.clone()).collect();
            let equal = |it: &Digit| !it.aside && (it.along == 0 || joined[..done].contains(&it));
            let parts = exchange(b, call, 3, &digits, &[digit], equal, &sums)?;
            scan.join_warps(b, digit, parts)?;
        }
    }
    scan.join_values(b, i64::MAX)?;
    scan.result(b, kind).map(Value::Fragment)
}

/// Checks that the coordinates of values and threads along the mode are digits of one number.
fn check(x: &Fragment, mode: usize, joined: &[&Digit]) -> std::result::Result<(), String> {
    let mut below = 1;
    for digit in joined {
        let (step, extent) = (digit.along, digit.extent);
        let value = x.values.iter().map(|held| held.coordinate[mode]);
        let mut overlapping = value.filter(|at| at / step.max(1) % extent != 0);
        if step < below || step % below != 0 {
            return Err(format!(
                "threads are {step} apart along mode {mode}, where others span {below}: `redistribute` the fragment first"
            ));
        }
        if let Some(at) = overlapping.next() {
            return Err(format!(
                "threads are {step} apart along mode {mode}, and a thread has values up to {at} from its first, among those of {extent} threads: `redistribute` the fragment first"
            ));
        }
        below = step * extent;
    }
    Ok(())
}

impl Scan<'_> {
    /// Joins the blocks of a thread that lie in the same `size` coordinates.
    fn join_values(&mut self, b: &mut Builder, size: i64) -> Result<()> {
        let mut groups: BTreeMap<(Vec<i64>, i64), Vec<Block>> = BTreeMap::new();
        for block in std::mem::take(&mut self.blocks) {
            let mut place = self.x.values[block.values[0]].coordinate.clone();
            place[self.mode] = 0;
            let group = groups.entry((place, block.at / size)).or_default();
            group.push(block);
        }
        for mut group in groups.into_values() {
            group.sort_by_key(|block| block.at);
            let mut blocks = group.into_iter();
            let Some(mut all) = blocks.next() else {
                continue;
            };
            for block in blocks {
                if let Some(before) = all.before.take() {
                    self.put_before(b, &all.values, &before)?;
                }
                let before = self.operation.join(b, &all.sum, block.before.as_ref())?;
                self.put_before(b, &block.values, &before)?;
                all.sum = self.operation.join(b, &all.sum, Some(&block.sum))?;
                all.values.extend(block.values);
            }
            self.blocks.push(all);
        }
        Ok(())
    }

    /// Joins the blocks of lanes that differ in one bit.
    fn join_lanes(&mut self, b: &mut Builder, digit: &Digit) -> Result<()> {
        let is_higher = self.number(b, digit, Cmp::Ne, 0)?;
        for block in &mut self.blocks {
            let other = self.operation.exchanged(b, &block.sum, digit.divisor);
            let before = self.operation.only_if(b, &is_higher, &other);
            let before = self.operation.join(b, &before, block.before.as_ref())?;
            block.before = Some(before);
            block.sum = self.operation.join(b, &block.sum, Some(&other))?;
        }
        Ok(())
    }

    /// Joins the blocks of warps that differ in one digit, using the sums of each block in all these warps.
    fn join_warps(
        &mut self,
        b: &mut Builder,
        digit: &Digit,
        parts: Vec<Vec<Scalar>>,
    ) -> Result<()> {
        let mut later = Vec::new();
        for warp in 0..digit.extent - 1 {
            later.push(self.number(b, digit, Cmp::Gt, warp)?);
        }
        for (block, parts) in self.blocks.iter_mut().zip(parts) {
            let mut before = block.before.take();
            for (part, later) in parts.iter().zip(&later) {
                let part = self.operation.only_if(b, later, part);
                before = Some(self.operation.join(b, &part, before.as_ref())?);
            }
            block.before = before;
            let mut parts = parts.iter();
            if let Some(first) = parts.next() {
                block.sum = first.clone();
            }
            for part in parts {
                block.sum = self.operation.join(b, &block.sum, Some(part))?;
            }
        }
        Ok(())
    }

    /// Whether a digit of this thread's number compares so to a number.
    fn number(&self, b: &mut Builder, digit: &Digit, cmp: Cmp, number: i64) -> Result<Scalar> {
        let thread = b.thread();
        let shifted = b.div(&thread.into(), &Num::from(digit.divisor))?;
        let own = b.rem(&shifted, &Num::from(digit.extent))?;
        Ok(b.set_predicate(cmp, Type::U32, &own, &Num::from(number)))
    }

    /// Joins a sum to `before` of these values.
    fn put_before(&mut self, b: &mut Builder, values: &[usize], before: &Scalar) -> Result<()> {
        for value in values {
            let joined = self
                .operation
                .join(b, before, self.before[*value].as_ref())?;
            self.before[*value] = Some(joined);
        }
        Ok(())
    }

    fn result(mut self, b: &mut Builder, kind: Kind) -> Result<Fragment> {
        for block in std::mem::take(&mut self.blocks) {
            if let Some(before) = &block.before {
                self.put_before(b, &block.values, before)?;
            }
        }
        let result = self.x.like(b, self.x.element);
        for (value, before) in self.before.iter().enumerate() {
            let register = &result.registers[value];
            match (kind, before) {
                (Kind::Exclusive, Some(before)) => b.assign(register, before.operand()),
                (Kind::Exclusive, None) => b.assign(register, self.operation.identity()),
                (Kind::Inclusive, before) => {
                    let own = self.x.read(b, value);
                    match before {
                        Some(before) => {
                            let sum = self.operation.join(b, before, Some(&own))?;
                            b.assign(register, sum.operand());
                        }
                        None => b.assign(register, own.operand()),
                    }
                }
            }
        }
        Ok(result)
    }
}
