//! Laws of the tables of operations and of layouts derived from them, checked element by element.

use super::{CopyAtom, CopySide, MmaAtom, MmaOperand, TiledCopy, TiledMma};
use crate::coalesce::filter_zeros;
use crate::layout::Layout;
use crate::stride::add;
use crate::tiler::Tiler;
use crate::tuple::{Coord, IntTuple};
use cute_chip::{ElementType, wgmma};
use std::collections::HashMap;

const OPERANDS: [MmaOperand; 3] = [MmaOperand::A, MmaOperand::B, MmaOperand::C];

/// The number of distinct values, and the distinct numbers of their occurrences.
fn counts(values: impl IntoIterator<Item = IntTuple>) -> (usize, Vec<usize>) {
    let mut counts: HashMap<IntTuple, usize> = HashMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut distinct: Vec<usize> = counts.values().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    (counts.len(), distinct)
}

fn values(layout: &Layout) -> Vec<IntTuple> {
    let value = |i| layout.crd2idx(&Coord::Leaf(Some(i))).unwrap();
    (0..layout.size()).map(value).collect()
}

/// The values of a partition, offset included.
fn elements(partition: &super::Partition) -> Vec<IntTuple> {
    let values = values(&partition.layout);
    values
        .iter()
        .map(|value| sum(value, &partition.offset))
        .collect()
}

fn sum(a: &IntTuple, b: &IntTuple) -> IntTuple {
    add::<i64>(a, b).unwrap()
}

#[test]
fn every_mma_operand_is_covered_evenly() {
    for name in super::mma::names() {
        let atom: MmaAtom = name
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let shape = atom.shape_mnk();
        for operand in OPERANDS {
            let tv = atom.layout(operand);
            let elements: i64 = operand.modes().map(|mode| shape[mode]).iter().product();
            // Every thread of a warpgroup has all of an operand in shared memory, so one thread is checked.
            let mut times = vec![0; elements as usize];
            filter_zeros(tv)
                .values()
                .for_each(|element| times[element as usize] += 1);
            times.dedup();
            assert_eq!(times.len(), 1, "{name} {operand:?}");
            assert_eq!(tv.mode(0).unwrap().size(), atom.thr_id().size(), "{name}");
            if operand == MmaOperand::C {
                assert_eq!(times, [1], "{name}");
            }
        }
    }
}

#[test]
fn registers_of_a_copy_hold_every_bit_once() {
    for name in super::copy::names() {
        let atom: CopyAtom = name
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let [src, dst, reference] =
            [CopySide::Src, CopySide::Dst, CopySide::Ref].map(|side| values(atom.layout(side)));
        let (bits, times) = counts(reference.iter().cloned());
        assert_eq!((bits, times), (reference.len(), vec![1]), "{name}");
        // Each side covers all bits. Row addresses that are not read are given several times.
        for end in [src, dst] {
            let (distinct, times) = counts(end);
            assert_eq!((distinct, times.len()), (bits, 1), "{name}");
        }
    }
}

/// Tiled MMAs with permutations, with several atoms along K, and with quad pairs.
fn tiled_mmas() -> Vec<TiledMma> {
    [
        (
            "SM80_16x8x16_F32F16F16F32_TN",
            "(2,2,1):(1,2,4)",
            "<32,32,16>",
        ),
        ("SM80_16x8x16_F32F16F16F32_TN", "(2,2,2):(1,2,4)", "<_,_,_>"),
        (
            "SM80_16x8x8_F32TF32TF32F32_TN",
            "(1,1,4):(1,1,1)",
            "<_,32,_>",
        ),
        (
            "SM90_64x32x16_F32F16F16_RS<K,K>",
            "(2,1,1):(1,0,0)",
            "<_,_,_>",
        ),
        ("SM90_64x8x16_F32F16F16_SS", "(1,2,1):(0,1,0)", "<_,_,_>"),
        (
            "SM70_8x8x4_F32F16F16F32_NT",
            "(2,2,1):(2,1,0)",
            "<(4,4,2):(1,8,4),32,4>",
        ),
        ("UniversalFMA<float>", "(16,8,1):(8,1,0)", "<32,16,1>"),
    ]
    .map(|(atom, atoms, permutation): (&str, &str, &str)| {
        TiledMma::new(
            atom.parse().unwrap(),
            &atoms.parse().unwrap(),
            &permutation.parse::<Tiler>().unwrap(),
        )
        .unwrap()
    })
    .into()
}

#[test]
fn partitions_are_the_tv_layout_and_cover_the_tile() {
    for mma in tiled_mmas() {
        for operand in OPERANDS {
            let [x, y] = operand.modes().map(|mode| mma.tile_shape()[mode]);
            let tile = Layout::left([x, y]).unwrap();
            let tv = mma.layout_tv(operand).unwrap();
            let [threads, own] = [0, 1].map(|i| tv.mode(i).unwrap());
            let (threads, own) = (values(&threads), values(&own));
            let mut all = Vec::new();
            for (thread, first) in threads.iter().enumerate() {
                let partition = mma.partition(operand, &tile, thread as i64).unwrap();
                let held = elements(&partition);
                let expected: Vec<IntTuple> = own.iter().map(|own| sum(own, first)).collect();
                assert_eq!(held, expected, "{operand:?} of {mma:?}");
                all.extend(held);
            }
            let (distinct, times) = counts(all);
            assert_eq!(
                (distinct as i64, times.len()),
                (x * y, 1),
                "{operand:?} of {mma:?}"
            );
        }
    }
}

/// Reordered for a copy, the registers of an MMA operand are the registers of the copy.
#[test]
fn retiled_registers_hold_what_the_copy_copies() {
    for (copy, side, operand, tiles) in [
        ("SM90_U32x4_STSM_N", CopySide::Src, MmaOperand::C, [4, 4]),
        ("SM90_U16x8_STSM_T", CopySide::Src, MmaOperand::C, [2, 4]),
        ("SM75_U32x4_LDSM_N", CopySide::Dst, MmaOperand::A, [4, 4]),
        ("SM75_U32x2_LDSM_N", CopySide::Dst, MmaOperand::B, [2, 1]),
        ("SM75_U32x4_LDSM_N", CopySide::Dst, MmaOperand::B, [4, 2]),
        ("UniversalCopy<u32>", CopySide::Src, MmaOperand::C, [1, 1]),
    ] {
        for atoms in ["(2,2,1):(1,2,4)", "(4,1,1):(1,4,4)"] {
            let mma = TiledMma::new(
                "SM80_16x8x16_F32F16F16F32_TN".parse().unwrap(),
                &atoms.parse().unwrap(),
                &"<64,32,16>".parse::<Tiler>().unwrap(),
            )
            .unwrap();
            let copy = TiledCopy::for_mma(&copy.parse().unwrap(), 16, &mma, operand).unwrap();
            let modes = operand.modes().map(|mode| mma.tile_shape()[mode]);
            let data = Layout::left([modes[0] * tiles[0], modes[1] * tiles[1]]).unwrap();
            for thread in [0, 1, 37, 127] {
                let registers = mma.partition(operand, &data, thread).unwrap();
                let held = elements(&registers);
                let fragment = Layout::left(registers.layout.shape().clone()).unwrap();
                let order = copy.retile(&fragment).unwrap();
                let copied = copy.partition(side, &data, thread).unwrap();
                let sizes =
                    |layout: &Layout| layout.modes().iter().map(Layout::size).collect::<Vec<_>>();
                assert_eq!(sizes(&order), sizes(&copied.layout), "{copy:?}");
                let retiled: Vec<IntTuple> = order
                    .values()
                    .map(|register| held[register as usize].clone())
                    .collect();
                assert_eq!(
                    retiled,
                    elements(&copied),
                    "{copy:?} of {operand:?}, thread {thread}"
                );
            }
        }
    }
}

/// The element types of wgmma are the same in `cute-chip` and in the table of operations.
#[test]
fn wgmma_of_each_element_type_is_an_operation() {
    let mut found = 0;
    let all = ElementType::ALL;
    let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
    for ((a, b), accumulator) in pairs.flat_map(|pair| all.iter().map(move |d| (pair, d))) {
        let k = wgmma::k(*a);
        let types = [accumulator, a, b].map(|element| element.ptx().to_uppercase());
        let atom = |form| {
            let name = format!("SM90_64x8x{k}_{}_{form}", types.concat());
            name.parse::<MmaAtom>().ok()
        };
        let input = a.wgmma_by(*b);
        let input = input.filter(|input| input.accumulators.contains(accumulator));
        let mn_major = input.is_some_and(|input| input.mn_major);
        let k_major = input.is_some() && !mn_major;
        assert_eq!(atom("SS<MN,MN>").is_some(), mn_major, "{types:?}");
        assert_eq!(atom("SS_TN").is_some(), k_major, "{types:?}");
        found += usize::from(input.is_some());
    }
    assert_eq!(found, 16);
}

#[test]
fn refusals_say_what_there_is() {
    for (name, expected) in [
        (
            "SM81_16x8x16_F32F16F16F32_TN",
            "there is no MMA operation of `SM81`; there are SM70, SM75, SM80, SM89, SM90, UniversalFMA, SM61_DP4A, SM61_DP2A",
        ),
        (
            "SM80_16x8x16_F32F16F16F16_TN",
            "there is no MMA operation with types `F32F16F16F16`; there are ",
        ),
        (
            "SM80_16x8x16_F32F16F16F32_NN",
            "there is no MMA operation of form `NN`; there are TN",
        ),
        (
            "SM80_16x8x32_F32F16F16F32_TN",
            "there is no MMA operation of shape `16x8x32`; there are 16x8x8, 16x8x16",
        ),
        (
            "SM90_64x12x16_F32F16F16_SS",
            "wgmma has no N of 12; nearest: 8 and 16",
        ),
        (
            "SM90_64x300x16_F32F16F16_SS",
            "wgmma has no N of 300; nearest: 256",
        ),
        (
            "SM90_64x40x32_S32S8S8_SS_TN",
            "wgmma has no N of 40; nearest: 32 and 48",
        ),
        (
            "SM90_64x64x16_F32F16F16_RS<MN,K>",
            "there is no major `MN`; there are K",
        ),
        (
            "SM90_64x64x16_F32F16F16_SS<K>",
            "there is no pair of majors `K`; there are ",
        ),
    ] {
        let error = name.parse::<MmaAtom>().unwrap_err().kind().to_string();
        assert!(error.starts_with(expected), "{name}: {error}");
    }
    for (name, expected) in [
        (
            "SM75_U32x3_LDSM_N",
            "there is no copy operation `SM75_U32x3_LDSM_N`; there are ",
        ),
        (
            "SM80_CP_ASYNC_CACHEGLOBAL<float>",
            "there is no type to copy `float`; there are int128_t, uint128_t",
        ),
        ("UniversalCopy", "there is no type to copy ``; there are "),
    ] {
        let error = name.parse::<CopyAtom>().unwrap_err().kind().to_string();
        assert!(error.starts_with(expected), "{name}: {error}");
    }
}
