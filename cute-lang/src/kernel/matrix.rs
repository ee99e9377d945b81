//! Stores of 8 × 8 matrices of 16-bit elements: `stmatrix`.
//!
//! Where the lanes of a warp hold a tile as tensor cores do, lane l the elements (l/4, 2·(l%4)) and (l/4, 2·(l%4) + 1) of
//! each matrix, four matrices go to shared memory at once, and in rows of 16 bytes. Lane l then gives the address of row
//! l%8 of matrix l/8: the same tile, held by the threads in another way.

use super::address;
use super::builder::Builder;
use super::copy::partition;
use super::fragment::{Distributed, Fragment, Held};
use super::tensor::Tensor;
use super::value::{Num, Scalar};
use cute_algebra::{Layout, Shape, from_table};
use cute_ptx::ast::Operand;
use syn::Result;

/// Lanes of a warp.
const WARP: i64 = 32;

/// Rows and columns of a matrix.
const SIDE: i64 = 8;

/// A matrix of each warp: a register, and the coordinate of its first element from the warp's own.
struct Matrix {
    register: Scalar,
    coordinate: [i64; 2],
}

/// Stores a fragment by `stmatrix`, if its threads, its registers and the tensor allow it.
pub(super) fn store(b: &mut Builder, fragment: &Fragment, tensor: &Tensor) -> Result<bool> {
    let Some((matrices, warps)) = matrices(fragment) else {
        return Ok(false);
    };
    let Some((count, steps)) = grouping(&matrices) else {
        return Ok(false);
    };
    let Some(threads) = rows(&steps, &warps) else {
        return Ok(false);
    };
    let Some(columns) = tensor.layout.layout().mode(1) else {
        return Ok(false);
    };
    let whole = |matrix: &Matrix| {
        let first = matrix.coordinate[1];
        (0..SIDE).all(|i| matches!((columns.at(first), columns.at(first + i)), (Some(a), Some(b)) if b - a == i))
    };
    if !matrices.iter().all(whole) {
        return Ok(false);
    }

    let start = b.check_length()?;
    let thread = b.thread();
    let thread = b.rem(&thread.into(), &Num::from(threads[0].size()))?;
    let origin: Vec<Num> = threads
        .iter()
        .map(|layout| address::index(b, layout, &thread, 1))
        .collect::<Result<_>>()?;
    let groups: Vec<&[Matrix]> = matrices.chunks(count).collect();
    let values = groups.iter().enumerate().map(|(slot, group)| Held {
        slot,
        coordinate: group[0].coordinate.into(),
    });
    let by_rows = Fragment {
        values: values.collect(),
        tile: Some(Distributed { threads, origin }),
        ..fragment.clone()
    };
    let (tensor, indices) = partition(b, tensor, &by_rows)?;
    if !rows_are_aligned(b, &tensor, &indices) {
        b.split_off(start);
        return Ok(false);
    }
    let mut addresses = tensor.addresses();
    for (group, index) in groups.iter().zip(indices) {
        let address = addresses.operand(b, tensor.byte(index))?;
        let registers = Operand::Vector(
            group
                .iter()
                .map(|matrix| matrix.register.operand())
                .collect(),
        );
        b.emit(
            format!("stmatrix.sync.aligned.m8n8.x{count}.shared.b16"),
            [address, registers],
        );
    }
    Ok(true)
}

/// The matrices that a fragment consists of, and for each mode the layout from warps to coordinates.
fn matrices(fragment: &Fragment) -> Option<(Vec<Matrix>, [Layout; 2])> {
    let [rows, columns] = &fragment.tile.as_ref()?.threads[..] else {
        return None;
    };
    if fragment.element.bits() != 16 || rows.size() % WARP != 0 {
        return None;
    }
    let warps = [rows, columns].map(|mode| {
        let starts: Option<Vec<i64>> = (0..mode.size() / WARP)
            .map(|warp| mode.at(WARP * warp))
            .collect();
        from_table(&starts?).ok()
    });
    let [Some(warp_rows), Some(warp_columns)] = warps else {
        return None;
    };
    let as_tensor_core = (0..rows.size()).all(|thread| {
        let (warp, lane) = (thread / WARP, thread % WARP);
        rows.at(thread) == warp_rows.at(warp).map(|start| start + lane / 4)
            && columns.at(thread) == warp_columns.at(warp).map(|start| start + 2 * (lane % 4))
    });
    let matrices = fragment.values.chunks(2).enumerate().map(|(i, pair)| {
        let [first, second] = pair else { return None };
        let [row, column] = first.coordinate[..] else {
            return None;
        };
        let one_register = first.slot % 2 == 0 && second.slot == first.slot + 1;
        let neighbours = second.coordinate == [row, column + 1];
        let register = fragment.part(2 * i).0;
        (one_register && neighbours).then_some(Matrix {
            register,
            coordinate: [row, column],
        })
    });
    let matrices = matrices.collect::<Option<Vec<_>>>()?;
    (as_tensor_core && !matrices.is_empty()).then_some((matrices, [warp_rows, warp_columns]))
}

/// How many matrices go at once, and the two steps that lead from one to the next and to the one after that.
fn grouping(matrices: &[Matrix]) -> Option<(usize, [[i64; 2]; 2])> {
    let step = |from: usize, to: usize| {
        let (from, to) = (matrices.get(from)?.coordinate, matrices.get(to)?.coordinate);
        Some([to[0] - from[0], to[1] - from[1]])
    };
    let none = [0, 0];
    let candidates = [
        (4, step(0, 1), step(0, 2)),
        (2, step(0, 1), Some(none)),
        (1, Some(none), Some(none)),
    ];
    candidates.into_iter().find_map(|(count, first, second)| {
        let steps = [first?, second?];
        let regular = matrices.len().is_multiple_of(count)
            && matrices.chunks(count).all(|group| {
                group.iter().enumerate().all(|(i, matrix)| {
                    let [x, y] = [i as i64 % 2, i as i64 / 2];
                    (0..2).all(|mode| {
                        matrix.coordinate[mode]
                            == group[0].coordinate[mode] + x * steps[0][mode] + y * steps[1][mode]
                    })
                })
            });
        let forward = steps.iter().flatten().all(|step| *step >= 0);
        (regular && forward).then_some((count, steps))
    })
}

/// For each mode, the layout from threads to the coordinate of the row whose address they give.
fn rows(steps: &[[i64; 2]; 2], warps: &[Layout; 2]) -> Option<Vec<Layout>> {
    (0..2)
        .map(|mode| {
            let row = if mode == 0 { 1 } else { 0 };
            let shape: Shape = [SIDE, 2, 2].into();
            let lanes = Layout::new(shape, [row, steps[0][mode], steps[1][mode]]).ok()?;
            Layout::concat([lanes, warps[mode].clone()]).ok()
        })
        .collect()
}

/// Whether every row starts at a multiple of 16 bytes, before and after the swizzle.
fn rows_are_aligned(b: &Builder, tensor: &Tensor, indices: &[i64]) -> bool {
    let swizzle = address::in_bytes(tensor.layout.swizzle(), tensor.element.bytes());
    let dynamic = b.possible_bits(&tensor.dynamic).trailing_zeros() >= 4;
    dynamic
        && (swizzle.is_identity() || swizzle.base() >= 4)
        && tensor.base.is_multiple_of(16)
        && indices.iter().all(|&index| tensor.byte(index) % 16 == 0)
}
