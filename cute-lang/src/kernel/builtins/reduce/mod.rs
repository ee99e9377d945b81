//! Reductions of a fragment along a mode of its tile, and prefixes along it.
//!
//! The layout determines which values belong together: values of a thread that differ only along the mode, and values of threads that
//! differ only along it. Lanes of a warp exchange values by shuffles, warps through shared memory, and CTAs of a cluster through each
//! other's shared memory.

mod across;
mod across_ctas;
mod digits;
mod operation;
mod scan;

use crate::kernel::builtins::call::{Argument, Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Element, Fragment, Scalar, Value, packing};
use across::exchange;
use across_ctas::exchange_between_ctas;
use digits::{Digit, digits};
pub(super) use operation::NAMES;
use operation::{Operation, operands};
use scan::{Kind, scan};
use std::collections::BTreeMap;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "reduce(x, mode, operation, [barrier])",
        apply: reduce,
    },
    Builtin {
        signature: "sum(x, mode, [barrier])",
        apply: sum,
    },
    Builtin {
        signature: "scan(x, mode, operation, [barrier])",
        apply: |b, call| scan(b, call, Kind::Inclusive),
    },
    Builtin {
        signature: "scan_exclusive(x, mode, operation, [barrier])",
        apply: |b, call| scan(b, call, Kind::Exclusive),
    },
];

/// `reduce` by `add`.
fn sum(b: &mut Builder, call: &Call) -> Result<Value> {
    let mut args = call.args.clone();
    let add = Argument {
        value: Value::Word("add"),
        span: call.span,
    };
    args.insert(2, add);
    let call = Call {
        name: call.name,
        span: call.span,
        types: Vec::new(),
        args,
    };
    reduce(b, &call)
}

fn reduce(b: &mut Builder, call: &Call) -> Result<Value> {
    let (x, mode, operation) = operands(call, true)?;
    let digits = match &x.tile {
        Some(tile) => digits(tile, mode, b.threads.into()).map_err(|why| call.error_at(1, why))?,
        None => Vec::new(),
    };
    let (ctas, digits): (Vec<Digit>, Vec<Digit>) = digits.into_iter().partition(|it| it.is_cta);
    let combined = digits.iter().filter(|digit| digit.is_combined());
    let (lanes, warps): (Vec<&Digit>, Vec<&Digit>) = combined.partition(|it| it.is_lane());
    let ctas = ctas.iter().any(Digit::is_combined);
    let is_exchanged = ctas || !warps.is_empty();
    // Extrema of 16-bit numbers are numbers of `f32`.
    let element = match packing(x.element) {
        1 => x.element,
        _ => Element::F32,
    };
    let result = x.without(b, mode, element);
    // For each result, the values of the thread.
    let mut values: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (value, held) in x.values.iter().enumerate() {
        let slot = slot_of(b, &result, mode, &held.coordinate)?;
        values.entry(slot).or_default().push(value);
    }
    let mut sums = Vec::new();
    for (slot, values) in values {
        let Some(mut sum) = operation.of_values(b, x, &values)? else {
            continue;
        };
        for lane in &lanes {
            let other = operation.exchanged(b, &sum, lane.divisor);
            sum = operation.join(b, &sum, Some(&other))?;
        }
        match is_exchanged {
            true => sums.push((slot, sum)),
            false => write(b, &result.registers[slot], &sum)?,
        }
    }
    let (slots, mut sums): (Vec<usize>, Vec<Scalar>) = sums.into_iter().unzip();
    if !warps.is_empty() {
        let parts = exchange(b, call, 3, &digits, &warps, |it| !it.aside, &sums)?;
        sums = joined(b, operation, parts)?;
    }
    if ctas {
        let parts = exchange_between_ctas(b, call, &digits, &sums)?;
        sums = joined(b, operation, parts)?;
    }
    for (slot, sum) in slots.into_iter().zip(sums) {
        write(b, &result.registers[slot], &sum)?;
    }
    Ok(Value::Fragment(result))
}

/// For each word, the parts of all threads that have one, joined.
fn joined(b: &mut Builder, operation: Operation, parts: Vec<Vec<Scalar>>) -> Result<Vec<Scalar>> {
    let mut sums = Vec::new();
    for parts in parts {
        sums.extend(operation.all(b, parts)?);
    }
    Ok(sums)
}

/// Writes a sum that has just been computed.
fn write(b: &mut Builder, register: &Scalar, sum: &Scalar) -> Result<()> {
    let start = b.check_length()?.saturating_sub(1);
    if !b.retarget(sum, register, start) {
        b.assign(register, sum.operand());
    }
    Ok(())
}

/// The value of the result to which a value of the fragment belongs.
fn slot_of(b: &Builder, result: &Fragment, mode: usize, coordinate: &[i64]) -> Result<usize> {
    let same = |other: &[i64]| (0..other.len()).all(|i| i == mode || other[i] == coordinate[i]);
    let found = result.values.iter().position(|held| same(&held.coordinate));
    found.ok_or_else(|| b.error("a value belongs to no value of the result (a defect)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_algebra::Layout;

    #[test]
    fn a_value_that_no_result_has_is_not_the_first() {
        let b = Builder::new(32, [1, 1, 1]);
        let mut result = Fragment::of_one_thread(Element::F32, &Layout::unit());
        result.values[0].coordinate = vec![0, 3];
        assert_eq!(slot_of(&b, &result, 0, &[5, 3]).unwrap(), 0);
        let error = slot_of(&b, &result, 0, &[5, 4]).unwrap_err();
        assert!(error.to_string().contains("a defect"), "{error}");
    }
}
