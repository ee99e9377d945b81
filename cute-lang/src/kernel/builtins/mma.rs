//! Matrix multiplication by a warp, in registers.
//!
//! The table of MMA operations gives the elements of each lane for each operand. The values of a fragment are those of the operations'
//! operands, one after another. The layout of the fragment gives the start of each operand.

use crate::kernel::access::crd2idx::along;
use crate::kernel::access::held::shown;
use crate::kernel::builtins::call::{Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Distributed, Element, Fragment, Scalar, Value};
use cute_algebra::{Layout, LayoutError, MmaAtom, MmaOperand, composition};
use cute_chip::threads;
use cute_ptx::table::choice::{MatrixType, Mnk};
use cute_ptx::table::{Mnemonic, op};
use std::collections::BTreeMap;
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "mma(acc, a, b)",
    apply: mma,
}];

const WARP: usize = threads::WARP as usize;

/// The operand of each of the three arguments.
const OPERANDS: [(MmaOperand, &str); 3] = [
    (MmaOperand::C, "the accumulator"),
    (MmaOperand::A, "A"),
    (MmaOperand::B, "B"),
];

/// Each dimension of the product, and the modes of two arguments that must equal it.
const DIMENSIONS: [(&str, [(usize, usize); 2]); 3] = [
    ("M", [(0, 0), (1, 0)]),
    ("N", [(0, 1), (2, 0)]),
    ("K", [(1, 1), (2, 1)]),
];

/// An argument.
struct Held<'a> {
    fragment: &'a Fragment,
    tile: &'a Distributed,
    extents: [i64; 2],
    /// The coordinate of the first thread of each warp.
    warps: Vec<[i64; 2]>,
}

/// The registers of a thread for an operand of one operation, by the coordinate at which the operand begins.
type Parts = BTreeMap<[i64; 2], Operand>;

fn mma(b: &mut Builder, call: &Call) -> Result<Value> {
    let (acc, x, y) = (held(call, 0)?, held(call, 1)?, held(call, 2)?);
    let arguments = [acc, x, y];
    check_dimensions(call, &arguments)?;
    let types = arguments.each_ref().map(|held| held.fragment.element);
    let operations = operations(types);
    let [d, x, y] = types;
    let none = || {
        let message = format!("no operation of a warp adds products of `{x}` and `{y}` to `{d}`");
        call.error_at(0, message)
    };
    let fits = |(atom, _): &&(MmaAtom, _)| (0..3).all(|i| parts(atom, i, &arguments[i]).is_ok());
    // If no operation fits, the one with the smallest K says why.
    let found = operations.iter().find(fits).or(operations.last());
    let (atom, modifiers) = found.ok_or_else(none)?;
    let part =
        |i: usize| parts(atom, i, &arguments[i]).map_err(|message| call.error_at(i, message));
    let (c, x, y) = (part(0)?, part(1)?, part(2)?);
    let [_, _, step] = atom.shape_mnk();
    for k in (0..arguments[1].extents[1]).step_by(step as usize) {
        for ([i, j], d) in &c {
            let missing = |index: usize, row: i64| {
                let name = OPERANDS[index].1;
                let message = format!(
                    "the threads that hold the accumulator's part at ({i},{j}) do not hold the part of {name} at ({row},{k})"
                );
                call.error_at(index, message)
            };
            let x = x.get(&[*i, k]).ok_or_else(|| missing(1, *i))?;
            let y = y.get(&[*j, k]).ok_or_else(|| missing(2, *j))?;
            b.emit(
                op::Mma,
                *modifiers,
                [d.clone(), x.clone(), y.clone(), d.clone()],
            );
        }
    }
    Ok(Value::Unit)
}

/// Argument `index` as a fragment of two modes, held by whole warps.
fn held<'a>(call: &'a Call, index: usize) -> Result<Held<'a>> {
    let Value::Fragment(fragment) = &call.args[index].value else {
        return Err(call.mismatch(index, "a fragment"));
    };
    let extents: Vec<i64> = fragment.shape.leaves().copied().collect();
    let (Some(tile), [first, second]) = (&fragment.tile, &extents[..]) else {
        return Err(call.mismatch(index, "a fragment of two modes that several threads hold"));
    };
    let threads = tile.threads.first().map_or(0, Layout::size) as usize;
    if !threads.is_multiple_of(WARP) {
        let message = format!("whole warps hold a fragment of `mma`, not {threads} threads");
        return Err(call.error_at(index, message));
    }
    let start = |thread: usize| {
        let starts = [tile.start(0, thread as i64), tile.start(1, thread as i64)];
        let [first, second] = starts.map(|it| it.map_err(|why| call.error_at(index, why)));
        Ok([first?, second?])
    };
    let starts = (0..threads).step_by(WARP).map(start);
    Ok(Held {
        fragment,
        tile,
        extents: [*first, *second],
        warps: starts.collect::<Result<_>>()?,
    })
}

/// Checks that the arguments have the same extents, and that the parts of each warp in them are at the same place.
fn check_dimensions(call: &Call, arguments: &[Held; 3]) -> Result<()> {
    for (dimension, [(first, mode), (second, other)]) in DIMENSIONS {
        let (x, y) = (&arguments[first], &arguments[second]);
        let (x_name, y_name) = (OPERANDS[first].1, OPERANDS[second].1);
        let (found, expected) = (y.extents[other], x.extents[mode]);
        if found != expected {
            let message = format!(
                "the extent along {dimension} is {expected} in {x_name}, but {found} in {y_name}"
            );
            return Err(call.error_at(second, message));
        }
        let (found, expected) = (y.warps.len(), x.warps.len());
        if found != expected {
            let message = format!("{expected} warps hold {x_name}, but {found} hold {y_name}");
            return Err(call.error_at(second, message));
        }
        for (warp, (x, y)) in x.warps.iter().zip(&y.warps).enumerate() {
            let (found, expected) = (y[other], x[mode]);
            if found != expected {
                let message = format!(
                    "warp {warp} begins at {expected} along {dimension} in {x_name}, but at {found} in {y_name}"
                );
                return Err(call.error_at(second, message));
            }
        }
    }
    Ok(())
}

/// The shape of an operation, and its types of D, A, B and C.
type Types = (Mnk, MatrixType, MatrixType, MatrixType, MatrixType);

/// The PTX operations of a warp with these types of D, A and B, from the largest K on.
fn operations(types: [Element; 3]) -> Vec<(MmaAtom, Types)> {
    let [d, a, b] = types.map(MatrixType::of);
    let with_modifiers = |atom: MmaAtom| {
        let [m, n, k] = atom.shape_mnk();
        let shape = Mnk {
            m: m.try_into().ok()?,
            n: n.try_into().ok()?,
            k: k.try_into().ok()?,
        };
        let modifiers = (shape, d?, a?, b?, d?);
        let known = Mnemonic::new(op::Mma, modifiers).is_ok();
        known.then_some((atom, modifiers))
    };
    let atoms = MmaAtom::of_warp(types).into_iter();
    atoms.filter_map(with_modifiers).collect()
}

/// Divides argument `index` into operands of an operation. If this is not possible, the error names the first difference.
fn parts(atom: &MmaAtom, index: usize, held: &Held) -> std::result::Result<Parts, String> {
    let (operand, name) = OPERANDS[index];
    let refuse = |why: String| {
        let [m, n, k] = atom.shape_mnk();
        format!("{name} is not held as {operand:?} of the {m} × {n} × {k} operation: {why}")
    };
    let [lanes, values] = sides(atom, operand).map_err(|error| error.to_string())?;
    for (thread, start) in held
        .warps
        .iter()
        .enumerate()
        .flat_map(|(warp, start)| (0..WARP).map(move |lane| (warp * WARP + lane, start)))
    {
        let thread = thread as i64;
        let place = [held.tile.start(0, thread)?, held.tile.start(1, thread)?];
        let (found, expected) = (apart(place, *start), lanes[thread as usize % WARP]);
        if found != expected {
            let (found, expected) = (shown(&found), shown(&expected));
            return Err(refuse(format!(
                "thread {thread} is at {found} of the part of its warp, not at {expected}"
            )));
        }
    }
    let all = &held.fragment.values;
    if !all.len().is_multiple_of(values.len()) {
        let (found, expected) = (all.len(), values.len());
        return Err(refuse(format!(
            "a thread holds {found} values, not a multiple of {expected}"
        )));
    }
    let place = |value: usize| [0, 1].map(|mode| all[value].coordinate[mode]);
    let mut parts = Parts::new();
    for first in (0..all.len()).step_by(values.len()) {
        let start = place(first);
        for (value, &expected) in (first..).zip(&values) {
            let found = apart(place(value), start);
            if found != expected {
                let (found, expected) = (shown(&found), shown(&expected));
                return Err(refuse(format!(
                    "value {value} is at {found} of its part, not at {expected}"
                )));
            }
        }
        let registers = held.fragment.whole_registers(first..first + values.len());
        let registers = registers
            .ok_or_else(|| refuse("its values do not fill registers in their order".into()))?;
        let registers: Vec<Operand> = registers.iter().map(Scalar::operand).collect();
        parts.insert(start, Operand::Vector(registers));
    }
    Ok(parts)
}

/// The coordinates of the lanes and of the values in an operand of an operation.
fn sides(
    atom: &MmaAtom,
    operand: MmaOperand,
) -> std::result::Result<[Vec<[i64; 2]>; 2], LayoutError> {
    let shape = operand.modes().map(|mode| atom.shape_mnk()[mode]);
    let layout = composition(&Layout::identity(shape)?, atom.layout(operand))?;
    Ok([0, 1].map(|side| {
        let side = layout
            .mode(side)
            .expect("the layout of an operand is one from threads and values");
        let [x, y] = [0, 1].map(|mode| along(&side, &[mode]));
        x.values().zip(y.values()).map(|(x, y)| [x, y]).collect()
    }))
}

fn apart(to: [i64; 2], from: [i64; 2]) -> [i64; 2] {
    [to[0] - from[0], to[1] - from[1]]
}
