//! Reductions of a fragment along a mode of its tile.
//!
//! Which values belong to one result, the layout says: those of a thread that differ only along the mode, and those of
//! lanes that differ only along it.

use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::value::types::{is_float, number_type};
use crate::kernel::value::{Callable, Distributed, Fragment, Scalar, Value};
use cute_hopper::threads;
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use std::collections::BTreeMap;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "reduce(x, mode, operation)",
    apply: reduce,
}];

/// The names of the operations.
const OPERATIONS: &[(&str, Op)] = &[("add", Op::Add), ("max", Op::Max), ("min", Op::Min)];

const WARP: usize = threads::WARP as usize;

fn reduce(b: &mut Builder, call: &Call) -> Result<Value> {
    let Value::Fragment(x) = &call.args[0].value else {
        return Err(call.mismatch(0, "a fragment"));
    };
    let mode = mode_of(call, 1, x)?;
    let operation = OPERATIONS
        .iter()
        .find(|(name, _)| match &call.args[2].value {
            Value::Word(word) => word == name,
            Value::Callable(Callable::Function(_, function)) => function == name,
            _ => false,
        });
    let Some(&(_, op)) = operation else {
        return Err(call.mismatch(2, "add, max or min"));
    };
    let ty = number_type(x.element).filter(|ty| ty.bits() == 32);
    let Some(ty) = ty else {
        let message = format!(
            "`reduce` takes elements of `f32`, `i32` or `u32`, not of `{}`: `convert` the fragment",
            x.element
        );
        return Err(call.error_at(0, message));
    };
    let lanes = match &x.tile {
        Some(tile) => lanes(tile, mode).map_err(|why| call.error_at(1, why))?,
        None => Vec::new(),
    };
    let result = x.without(b, mode);
    // Of each result, the values that the thread has.
    let mut values: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (value, held) in x.values.iter().enumerate() {
        let slot = slot_of(&result, mode, &held.coordinate);
        values.entry(slot).or_default().push(value);
    }
    for (slot, values) in values {
        let mut values = values.into_iter();
        let first = values.next().map(|value| x.read(b, value));
        let Some(mut sum) = first else { continue };
        for value in values {
            let value = x.read(b, value);
            sum = combine(b, op, ty, &sum, &value)?;
        }
        for lane in &lanes {
            let operands = [
                sum.operand(),
                Operand::Int(*lane as i128),
                Operand::Int(WARP as i128 - 1),
                Operand::Int(i128::from(u32::MAX)),
            ];
            let other = b.compute(ty, Opcode::Shfl, Modifier::Bfly, operands);
            sum = combine(b, op, ty, &sum, &other)?;
        }
        let start = b.check_length()?.saturating_sub(1);
        let register = &result.registers[slot];
        if !b.retarget(&sum, register, start) {
            b.assign(register, sum.operand());
        }
    }
    Ok(Value::Fragment(result))
}

/// Argument `index` as a mode of a tile that several threads hold.
pub(super) fn mode_of(call: &Call, index: usize, x: &Fragment) -> Result<usize> {
    if x.tile.is_none() {
        return Err(call.mismatch(0, "a fragment that several threads hold"));
    }
    let mode = call.constant(index)?;
    let known = usize::try_from(mode)
        .ok()
        .filter(|mode| *mode < x.shape.rank());
    known.ok_or_else(|| {
        let message = format!("a fragment of {} has no mode {mode}", x.shape);
        call.error_at(index, message)
    })
}

/// The value of the result to which a value of the fragment belongs.
fn slot_of(result: &Fragment, mode: usize, coordinate: &[i64]) -> usize {
    let same = |other: &[i64]| (0..other.len()).all(|i| i == mode || other[i] == coordinate[i]);
    let found = result.values.iter().position(|held| same(&held.coordinate));
    found.unwrap_or(0)
}

/// The distances between lanes that differ only along the mode: powers of two, whose sums reach all such lanes.
fn lanes(tile: &Distributed, mode: usize) -> std::result::Result<Vec<usize>, String> {
    let values: Vec<Vec<i64>> = tile
        .threads
        .iter()
        .map(|it| it.values().collect())
        .collect();
    let count = values[mode].len();
    if !count.is_multiple_of(WARP) {
        return Err(format!(
            "whole warps hold a fragment that is reduced, not {count} threads"
        ));
    }
    // The coordinate of a thread without the mode.
    let others = |thread: usize| -> Vec<i64> {
        let modes = (0..values.len()).filter(|other| *other != mode);
        modes.map(|other| values[other][thread]).collect()
    };
    let places: Vec<Vec<i64>> = (0..count).map(others).collect();
    let along = |thread: usize| values[mode][thread];
    let distances: Vec<usize> = (0..WARP.ilog2()).map(|bit| 1 << bit).collect();
    let alike =
        |distance: &usize| (0..count).all(|thread| places[thread ^ distance] == places[thread]);
    let (alike, _): (Vec<usize>, Vec<usize>) = distances.iter().partition(|it| alike(it));
    let moves =
        |distance: &usize| (0..count).any(|thread| along(thread ^ distance) != along(thread));
    let lanes: Vec<usize> = alike.iter().copied().filter(moves).collect();
    let reached: usize = alike.iter().sum();
    // Lanes that share a result must be reached by these distances, and other warps must not have parts of it.
    let mut first: BTreeMap<&[i64], usize> = BTreeMap::new();
    for (thread, place) in places.iter().enumerate() {
        let other = *first.entry(place).or_insert(thread);
        let (x, y) = (along(other), along(thread));
        if thread / WARP != other / WARP
            && (0..WARP).all(|lane| along(other / WARP * WARP + lane) != y)
        {
            return Err(format!(
                "threads {other} and {thread} are at {x} and {y} along mode {mode} and in different warps: `reduce` combines the lanes of a warp"
            ));
        }
        if thread / WARP == other / WARP && (thread ^ other) & !reached != 0 && x != y {
            return Err(format!(
                "threads {other} and {thread} are at {x} and {y} along mode {mode}, and no exchange of lanes by a power of two joins all that do"
            ));
        }
    }
    Ok(lanes)
}

fn combine(b: &mut Builder, op: Op, ty: Type, x: &Scalar, y: &Scalar) -> Result<Scalar> {
    if is_float(ty) {
        let rounding = (op == Op::Add).then_some(Modifier::Rn);
        let operands = [x.operand(), y.operand()];
        return Ok(b.compute(ty, op.opcode(), (rounding, ty), operands));
    }
    let result = b.binary(op, &x.clone().into(), &y.clone().into())?;
    b.to_register(&result, ty)
}
