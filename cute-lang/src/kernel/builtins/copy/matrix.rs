//! Copies of matrices of 8 rows of 16 bytes: `ldmatrix` and `stmatrix`.
//!
//! The table of copy atoms gives the elements of each lane and the row whose address the lane passes. If the registers of a fragment hold a
//! tile as an atom does, the row of each thread follows: the same threads are distributed over the same tile by another layout, with whole
//! rows for each thread.

use crate::kernel::access::address::in_bytes;
use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::builtins::copy::direction::Direction;
use crate::kernel::builtins::copy::memory::of_thread;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Distributed, Fragment, Held, Num, Scalar, Tensor};
use cute_algebra::{CopyAtom, CopySide, Layout, from_table};
use cute_chip::{shared, threads};
use cute_ptx::table::choice::{CtaShared, Matrices, Trans};
use cute_ptx::table::op;
use std::collections::BTreeSet;
use std::ops::Range;
use syn::Result;

const WARP: i64 = threads::WARP as i64;

/// Bits of a row of a matrix.
const ROW_BITS: u32 = 8 * shared::MATRIX_ROW_BYTES;

/// The atoms in the order of trial: the one of a load, the one of a store, the number of matrices, and whether they are transposed.
#[rustfmt::skip] // A table is read by its rows.
const ATOMS: &[(&str, &str, u8, bool)] = &[
    ("SM75_U32x4_LDSM_N", "SM90_U32x4_STSM_N", 4, false),
    ("SM75_U16x8_LDSM_T", "SM90_U16x8_STSM_T", 4, true),
    ("SM75_U32x2_LDSM_N", "SM90_U32x2_STSM_N", 2, false),
    ("SM75_U16x4_LDSM_T", "SM90_U16x4_STSM_T", 2, true),
    ("SM75_U32x1_LDSM_N", "SM90_U32x1_STSM_N", 1, false),
    ("SM75_U16x2_LDSM_T", "SM90_U16x2_STSM_T", 1, true),
];

/// The rows whose addresses threads pass.
struct Rows {
    /// For each mode of the tile, the layout from threads to the first coordinates of their rows.
    threads: Vec<Layout>,
    /// The matrices of each instruction.
    groups: Vec<Group>,
}

/// The matrices of one instruction.
struct Group {
    /// One register of each lane for each matrix.
    registers: Vec<Operand>,
    /// The coordinate at which they begin, relative to the row of the thread.
    coordinate: Vec<i64>,
}

/// Copies by matrices if the fragment and the tensor allow it; returns whether they do. All threads of a warp must take part.
pub(crate) fn copy(
    b: &mut Builder,
    direction: Direction,
    tensor: &Tensor,
    fragment: &Fragment,
) -> Result<bool> {
    // The instructions take `b32` registers, which only fragments of 8- and 16-bit elements have, and do not reach another CTA.
    if !matches!(fragment.element.bits(), 8 | 16) || tensor.peer.is_some() {
        return Ok(false);
    }
    if direction == Direction::Store && !b.has(op::Stmatrix, (Matrices(1), CtaShared::Shared)) {
        return Ok(false);
    }
    for &(load, store, count, transposes) in ATOMS {
        let (atom, side) = match direction {
            Direction::Load => (load, CopySide::Src),
            Direction::Store => (store, CopySide::Dst),
        };
        let atom = atom.parse::<CopyAtom>();
        let atom = atom.and_then(|atom| atom.in_elements(fragment.element.bits().into()));
        let rows = atom
            .ok()
            .and_then(|atom| rows(&atom, side, tensor, fragment));
        let modifiers = (
            Matrices(count),
            transposes.then_some(Trans),
            CtaShared::Shared,
        );
        if let Some(rows) = rows
            && move_rows(b, direction, modifiers, rows, tensor, fragment)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Emits the instructions; returns `false` if the address of a row may not be a multiple of its length.
fn move_rows(
    b: &mut Builder,
    direction: Direction,
    modifiers: (Matrices, Option<Trans>, CtaShared),
    rows: Rows,
    tensor: &Tensor,
    fragment: &Fragment,
) -> Result<bool> {
    let start = b.check_length()?;
    let thread = b.thread();
    let count = rows.threads.first().map_or(1, Layout::size);
    let thread = b.rem(&thread.into(), &Num::from(count))?;
    let origin: Vec<Num> = rows
        .threads
        .iter()
        .map(|layout| crd2idx(b, layout, &thread, 1))
        .collect::<Result<_>>()?;
    let values = rows.groups.iter().enumerate().map(|(slot, group)| Held {
        slot,
        coordinate: group.coordinate.clone(),
    });
    let by_rows = Fragment {
        values: values.collect(),
        tile: Some(Distributed {
            threads: rows.threads,
            origin,
        }),
        ..fragment.clone()
    };
    let (tensor, indices) = of_thread(b, tensor, &by_rows)?;
    if !rows_are_aligned(b, &tensor, &indices) {
        b.split_off(start);
        return Ok(false);
    }
    let mut addresses = b.whole(tensor.addresses())?;
    for (group, index) in rows.groups.into_iter().zip(indices) {
        let byte = b.whole(tensor.byte(index))?;
        let address = addresses.operand(b, byte)?;
        let registers = Operand::Vector(group.registers);
        match direction {
            Direction::Load => b.emit(op::Ldmatrix, modifiers, [registers, address]),
            Direction::Store => b.emit(op::Stmatrix, modifiers, [address, registers]),
        }
    }
    Ok(true)
}

/// The rows that an atom copies for a fragment, if the fragment holds its tile as the atom does. `side` is the atom's side in shared
/// memory.
fn rows(atom: &CopyAtom, side: CopySide, tensor: &Tensor, fragment: &Fragment) -> Option<Rows> {
    let threads = &fragment.tile.as_ref()?.threads;
    let (held, pointed) = (atom.layout(CopySide::Ref), atom.layout(side));
    let (count, values) = (threads.first()?.size(), (held.size() / WARP) as usize);
    if count % WARP != 0 || !fragment.values.len().is_multiple_of(values) {
        return None;
    }
    let groups: Vec<Group> = (0..fragment.values.len())
        .step_by(values)
        .map(|first| group_of(fragment, first..first + values))
        .collect::<Option<_>>()?;

    // For each element of the matrices, its lane and the index of the value in this lane.
    let mut holders = vec![(0, 0); held.size() as usize];
    for (position, element) in (0..).zip(held.values()) {
        *holders.get_mut(usize::try_from(element).ok()?)? = (position % WARP, position / WARP);
    }
    // The coordinates of values relative to the first value. They must be the same in all groups.
    let apart =
        |held: &Held, mode: usize| held.coordinate[mode] - fragment.values[0].coordinate[mode];
    let alike = fragment.values.chunks(values).all(|group| {
        (0..threads.len()).all(|mode| {
            let first = group[0].coordinate[mode];
            let mut pairs = group.iter().zip(&fragment.values);
            pairs.all(|(held, other)| held.coordinate[mode] - first == apart(other, mode))
        })
    });
    if !alike {
        return None;
    }
    let rows_of_lanes: Vec<i64> = pointed.values().collect();
    let first_values: Vec<Vec<i64>> = threads.iter().map(|it| it.values().collect()).collect();
    let coordinate = |thread: i64, element: i64, mode: usize| {
        let row = *rows_of_lanes.get((thread % WARP + WARP * element) as usize)?;
        let (lane, value) = holders[row as usize];
        let thread = first_values[mode].get((thread / WARP * WARP + lane) as usize)?;
        Some(thread + apart(&fragment.values[value as usize], mode))
    };
    let begins: Vec<Vec<i64>> = (0..threads.len())
        .map(|mode| {
            (0..count)
                .map(|thread| coordinate(thread, 0, mode))
                .collect()
        })
        .collect::<Option<_>>()?;
    // The elements of a row must be consecutive along one mode of the tile, the same mode for every thread.
    let along = (0..threads.len()).find(|&mode| coordinate(0, 1, mode) != Some(begins[mode][0]))?;
    let length = pointed.size() / WARP;
    let runs = (0..count).all(|thread| {
        (0..threads.len()).all(|mode| {
            (1..length).all(|element| {
                let steps = if mode == along { element } else { 0 };
                coordinate(thread, element, mode) == Some(begins[mode][thread as usize] + steps)
            })
        })
    });
    if !runs || begins.iter().flatten().any(|begin| *begin < 0) {
        return None;
    }
    // They must be consecutive in shared memory, too.
    let memory = tensor.layout.layout().mode(along)?;
    let starts: BTreeSet<i64> = groups
        .iter()
        .flat_map(|group| {
            begins[along]
                .iter()
                .map(|begin| begin + group.coordinate[along])
        })
        .collect();
    let whole = starts.into_iter().all(|start| {
        let first = memory.at(start);
        first.is_some() && (1..length).all(|i| memory.at(start + i) == first.map(|first| first + i))
    });
    let threads = begins.iter().map(|begins| from_table(begins).ok());
    whole.then_some(Rows {
        threads: threads.collect::<Option<_>>()?,
        groups,
    })
}

/// The registers of the values of one instruction, if the values fill whole registers in order.
fn group_of(fragment: &Fragment, values: Range<usize>) -> Option<Group> {
    let coordinate = fragment.values[values.start].coordinate.clone();
    let registers = fragment.whole_registers(values)?;
    Some(Group {
        registers: registers.iter().map(Scalar::operand).collect(),
        coordinate,
    })
}

/// Whether the address of every row is a multiple of the length of a row, before and after the swizzle.
fn rows_are_aligned(b: &Builder, tensor: &Tensor, indices: &[i64]) -> bool {
    let bits = (ROW_BITS / 8).ilog2();
    let Ok(bytes) = tensor.element.bytes() else {
        return false;
    };
    let swizzle = in_bytes(tensor.layout.swizzle(), bytes);
    let dynamic = b.known.possible_bits(&tensor.dynamic).trailing_zeros() >= bits;
    dynamic
        && (swizzle.is_identity() || swizzle.base() >= bits)
        && tensor.base.is_multiple_of(1 << bits)
        && indices
            .iter()
            .all(|&index| tensor.byte(index).is_ok_and(|byte| byte % (1 << bits) == 0))
}
