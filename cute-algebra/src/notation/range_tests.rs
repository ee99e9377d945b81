//! An index or a coordinate out of range is an error in every operation that takes one, for numbers and at run time.

use super::eval_symbolic_str;
use super::run_time_tests::{concrete, instance, same};
use crate::operations;
use std::collections::BTreeSet;

/// Operations with `@` for the index, and how many values it has. `#` is a number or a run-time integer.
#[rustfmt::skip] // Rows on one line are easier to compare.
const ROWS: &[(&str, &str)] = &[
    ("crd2idx(@, (#,4):(4,1))", "4*#"),
    ("crd2idx((@,3), (#,4):(4,1))", "#"),
    ("crd2idx((0,@), (#,(2,3)):(6,(3,1)))", "6"),
    ("crd2idx((0,(@,2)), (#,(2,3)):(6,(3,1)))", "2"),
    ("crd2idx(@, #, 2)", "#"),
    ("crd2idx(@, (#,4):(1@0,1@1))", "4*#"),
    ("crd2idx(@, Sw<2,0,3> o (#,4))", "4*#"),
    ("crd2idx(@, xor_map((3,2,5,11)))", "16"),
    ("idx2crd(@, (#,4))", "4*#"),
    ("idx2crd((@,0), (#,4))", "#"),
    ("idx2crd(@, #)", "#"),
    ("idx2crd(@, (#,4), (4,1))", "4*#"),
    ("crd2crd(@, (#,4), (4,#))", "4*#"),
    ("crd2crd((@,3), (#,4), 4*#)", "#"),
    ("crd2crd(@, 8*#, #)", "#"),
    ("slice((#,4):(4,1), (@,_))", "#"),
    ("slice((#,4):(4,1), @)", "4*#"),
    ("slice((#,(4,2)), (_,(@,_)))", "4"),
    ("slice(Sw<2,0,3> o (#,4), (@,_))", "#"),
    ("slice_and_offset((#,4):(4,1), (@,_))", "#"),
    ("slice_and_offset((#,(4,2)), (_,@))", "8"),
    ("slice_and_offset(Sw<2,0,3> o (8*#,4), (@,_))", "8*#"),
    ("dice((#,4):(4,1), (@,_))", "#"),
    ("dice((#,(4,2)), (_,(_,@)))", "2"),
    ("local_tile((4*#,64):(64,1), <4,16>, (@,0))", "#"),
    ("local_tile((4*#,64):(64,1), <4,16>, (0,@))", "4"),
    ("local_tile((4*#,64):(64,1), <4,16>, (_,@))", "4"),
    ("local_tile((4,64):(64,1), <4,16>, (@,3))", "1"),
    ("local_tile(4*#, 4, @)", "#"),
    ("local_tile(Sw<2,0,3> o (4*#,8):(8,1), <4,8>, (@,0))", "#"),
    ("ragged local_tile((10,#), <4,#>, (@,0))", "3"),
    ("ragged local_tile((4*#,10), <4,4>, (0,@))", "3"),
    ("local_partition(2*#, #, @)", "#"),
    ("local_partition((8,12*#):row, (2,4):(4,1), @)", "8"),
    ("local_partition((8,8), (4,8):(1,0), @)", "4"),
    ("local_partition(Sw<2,0,3> o (4*#,8):(8,1), (4,2), @)", "8"),
    ("partition_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, @)", "128"),
    ("partition_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, @)", "128"),
    ("partition_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, @)", "128"),
    ("ragged partition_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (60,64):row, @)", "128"),
    ("partition_S(UniversalCopy<u128>, 16, (4,8):row, (1,8), (8,64):row, @)", "32"),
    ("partition_D(UniversalCopy<u128>, 16, (4,8):row, (1,8), Sw<3,3,3> o (8,64):row, @)", "32"),
    ("partition_S_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, @)", "128"),
    ("partition_S_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, @)", "128"),
    ("partition_S_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, @)", "128"),
    ("partition_D_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, @)", "128"),
    ("partition_D_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, @)", "128"),
    ("partition_D_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, @)", "128"),
    ("get((#,3,5):(1,#,3*#), @)", "3"),
    ("get((2,(3,#)):(1,(2,6)), 1, @)", "2"),
    ("get((2,3,5), @)", "3"),
    ("get(Sw<2,0,3> o (8,#), @)", "2"),
    ("select((#,3,5):(1,#,3*#), 0, @)", "3"),
    ("replace((#,3,5):(1,#,3*#), @, 4:8)", "3"),
    ("take((#,3,5):(1,#,3*#), @, 3)", "3"),
    ("take((#,3,5):(1,#,3*#), 0, @+1)", "3"),
    ("group((#,3,5):(1,#,3*#), @, 3)", "4"),
    ("group((#,3,5):(1,#,3*#), 0, @)", "4"),
    ("bank_conflicts(64, 32, 2:@)", "64"),
    ("conflict_free(64, 32, 2:@)", "64"),
    ("best_swizzle(64, 32, 2:@)", "64"),
    ("conflict_free_map(64, 32, 2:@)", "64"),
];

/// Names in signatures for an index, a coordinate or a layout to coordinates.
const INDICES: &[&str] = &[
    "coordinate",
    "thread",
    "mode",
    "begin",
    "end",
    "threads and values",
];

/// The operations that take an index at run time.
const AT_RUN_TIME: &[&str] = &[
    "crd2crd",
    "crd2idx",
    "dice",
    "idx2crd",
    "local_partition",
    "local_tile",
    "slice",
    "slice_and_offset",
];

/// Far from all sizes, and where numbers of 32 and of 64 bits end.
const FAR: [i64; 10] = [
    1000,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    i64::MAX,
    -1000,
    -(1 << 31),
    -(1 << 32),
    i64::MIN + 1,
    i64::MIN,
];

fn name(row: &str) -> &str {
    let row = row.strip_prefix("ragged ").unwrap_or(row);
    row.split_once('(').expect("a call").0
}

/// The size of a row for a value of `#`.
fn size(text: &str, m: i64) -> i64 {
    let (factor, times_m) = match text.strip_suffix('#') {
        Some("") => (1, m),
        Some(factor) => (factor.trim_end_matches('*').parse().expect("a number"), m),
        None => (text.parse().expect("a number"), 1),
    };
    factor * times_m
}

#[test]
fn every_index_has_a_row() {
    let rows: BTreeSet<&str> = ROWS.iter().map(|(row, _)| name(row)).collect();
    let takes_index = |signature: &str| {
        let mut operands = signature.split(", ");
        operands.any(|operand| INDICES.contains(&operand.trim_end_matches(" | tuple")))
    };
    let wanted: BTreeSet<&str> = operations::all()
        .filter(|operation| takes_index(operation.signature))
        .map(|operation| operation.name)
        .collect();
    assert_eq!(rows, wanted);
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (row, count) in ROWS {
        for m in [1, 2, 7] {
            let size = size(count, m);
            let value = |index: i64| {
                let text = row.replace('@', &index.to_string()).replace('#', "{m}");
                concrete(&text, [m, 1, 1])
            };
            for inside in [0, size - 1] {
                let value = value(inside);
                assert!(value.is_ok(), "{row} at {inside} of {size}: {value:?}");
            }
            for outside in [-1, size, size + 1, 2 * size].into_iter().chain(FAR) {
                let value = value(outside);
                assert!(value.is_err(), "{row} at {outside} of {size}: {value:?}");
            }
        }
    }
}

#[test]
fn run_time_integers_out_of_range_are_refused() {
    let mut done = BTreeSet::new();
    for (row, count) in ROWS {
        // With a run-time extent, and with extents that are known.
        for extent in ["{m}", "7"] {
            let text = row.replace('@', "{k}").replace('#', extent);
            let Ok(symbolic) = eval_symbolic_str(&text) else {
                continue;
            };
            done.insert(name(row));
            for m in [1, 2, 7] {
                let size = size(count, if extent == "7" { 7 } else { m });
                for inside in [0, size - 1] {
                    let found = instance(&symbolic, [m, 1, inside]);
                    let known = row.replace('@', &inside.to_string()).replace('#', extent);
                    let wanted = concrete(&known, [m, 1, 1]).expect("in range");
                    let agrees = found
                        .as_ref()
                        .is_ok_and(|found| same(&known, found, &wanted));
                    assert!(
                        agrees,
                        "{text} at {inside} of {size}: {found:?}, not {wanted}"
                    );
                }
                for outside in [-1, size, size + 1, 2 * size].into_iter().chain(FAR) {
                    let found = instance(&symbolic, [m, 1, outside]);
                    assert!(found.is_err(), "{text} at {outside} of {size}: {found:?}");
                }
            }
        }
    }
    assert_eq!(done.into_iter().collect::<Vec<_>>(), AT_RUN_TIME);
}
