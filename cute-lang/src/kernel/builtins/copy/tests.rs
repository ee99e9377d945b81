//! Emitted copies, run for one thread or for all threads of a CTA and compared with the algebra.

use super::*;
use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::access::simulate::{SHARED, Thread, name, take};
use crate::kernel::emit::builder::SHARED_ALIGN;
use crate::kernel::lower::lower;
use crate::kernel::value::{Distributed, Element, Held, Num, packing, word_type};
use cute_algebra::{ComposedLayout, Layout, Swizzle, SwizzleMode, bank_conflicts};
use cute_ptx::table::Opcode;

fn tensor(element: Element, swizzle: SwizzleMode, layout: Layout) -> Tensor {
    let swizzle = Swizzle::from_mode(swizzle, element.bits()).unwrap_or(Swizzle::IDENTITY);
    let layout = ComposedLayout::new(swizzle, 0, layout).unwrap();
    Tensor {
        element,
        base: SHARED_ALIGN,
        layout,
        dynamic: Num::Const(0),
        peer: None,
    }
}

/// A fragment of one thread with its values in the given order of its registers.
fn local(b: &mut Builder, element: Element, slots: &[usize]) -> Fragment {
    let count = slots.len().div_ceil(packing(element));
    let registers = (0..count).map(|_| b.register(word_type(element))).collect();
    let values = slots
        .iter()
        .map(|&slot| Held {
            slot,
            coordinate: Vec::new(),
        })
        .collect();
    let shape = cute_algebra::Tuple::Leaf(slots.len() as i64);
    Fragment {
        element,
        registers,
        values,
        tile: None,
        shape,
        is_variable: false,
    }
}

/// Value `v` of a test tensor, as bytes.
fn value(v: usize, width: usize) -> Vec<u8> {
    (0..width)
        .map(|byte| (v * 7 + byte * 31 + 1) as u8)
        .collect()
}

fn byte(tensor: &Tensor, v: usize) -> usize {
    let layout = &tensor.layout;
    let index = layout
        .swizzle()
        .apply(layout.offset() + layout.layout().at(v as i64).unwrap());
    SHARED as usize
        + tensor.base as usize
        + index as usize * tensor.element.bytes().unwrap() as usize
}

/// Loads a tensor and stores it under another layout: every value arrives. Gives the accesses.
fn check(from: &Tensor, to: &Tensor, slots: &[usize]) -> Vec<(u64, u32)> {
    let mut b = Builder::new(32, [1, 1, 1]);
    let fragment = local(&mut b, from.element, slots);
    load(&mut b, from, &fragment).unwrap();
    store(&mut b, &fragment, to).unwrap();
    let lines = take(&mut b, 0);
    let registers = fragment.registers.iter();
    let registers = registers.map(|register| (name(&mut b, register), 0));
    let mut thread = Thread::new(registers);
    let width = from.element.bytes().unwrap() as usize;
    for v in 0..slots.len() {
        thread.memory[byte(from, v)..][..width].copy_from_slice(&value(v, width));
    }
    thread.run(&lines);
    for v in 0..slots.len() {
        assert_eq!(
            thread.memory[byte(to, v)..][..width],
            value(v, width),
            "value {v} of {} to {}",
            from.layout,
            to.layout
        );
    }
    thread.accesses
}

#[test]
fn every_value_arrives() {
    for element in [Element::U8, Element::BF16, Element::U32, Element::F64] {
        for swizzle in [SwizzleMode::None, SwizzleMode::B128] {
            let rows = tensor(element, swizzle, Layout::new([8, 16], [128, 1]).unwrap());
            let mut columns = tensor(element, swizzle, Layout::new([8, 16], [1, 8]).unwrap());
            columns.base += 32 * 1024;
            let straight: Vec<usize> = (0..128).collect();
            let backward: Vec<usize> = (0..128).rev().collect();
            for slots in [&straight, &backward] {
                check(&rows, &columns, slots);
                check(&columns, &rows, slots);
            }
            // No two elements are consecutive, so each is copied alone.
            let mut apart = tensor(element, swizzle, Layout::new(9, 3).unwrap());
            apart.base += 64 * 1024;
            let near = tensor(element, swizzle, Layout::new(9, 1).unwrap());
            check(&near, &apart, &straight[..9]);
            check(
                &apart,
                &near,
                &backward[119 - 110..][..9]
                    .iter()
                    .map(|slot| slot % 9)
                    .collect::<Vec<_>>(),
            );
        }
    }
}

#[test]
fn vectors_are_as_wide_as_both_sides_allow() {
    let widths = |element, layout: Layout, offset: i64| {
        let slots: Vec<usize> = (0..layout.size() as usize).collect();
        let mut from = tensor(element, SwizzleMode::None, layout);
        from.layout =
            ComposedLayout::new(Swizzle::IDENTITY, offset, from.layout.layout().clone()).unwrap();
        let to = Tensor {
            base: 8 * 1024,
            ..from.clone()
        };
        check(&from, &to, &slots)
            .into_iter()
            .map(|(_, bytes)| bytes)
            .max()
            .unwrap()
    };
    assert_eq!(
        widths(Element::U32, Layout::new([4, 4], [32, 1]).unwrap(), 0),
        16
    );
    assert_eq!(
        widths(Element::U32, Layout::new([4, 4], [33, 1]).unwrap(), 0),
        4
    );
    assert_eq!(
        widths(Element::U32, Layout::new([4, 4], [32, 1]).unwrap(), 2),
        8
    );
    assert_eq!(
        widths(Element::BF16, Layout::new([4, 6], [32, 1]).unwrap(), 0),
        4
    );
    assert_eq!(widths(Element::U8, Layout::new(3, 1).unwrap(), 0), 1);
    assert_eq!(widths(Element::F64, Layout::new(8, 1).unwrap(), 0), 16);
}

#[test]
fn bank_conflicts_of_storing_an_accumulator() {
    // bf16 is copied by matrices with rows of 16 bytes. f32 is copied by vectors of 8 bytes, and a half-warp writes
    // four rows of 32 bytes at once. The swizzle puts two of them into the same banks.
    for (element, columns, width, degree) in [(Element::BF16, 64, 16, 1), (Element::F32, 32, 8, 2)]
    {
        let mut b = Builder::new(128, [1, 1, 1]);
        let rows = Layout::new([64, columns], [columns, 1]).unwrap();
        let tensor = tensor(element, SwizzleMode::B128, rows);
        let held = |slot: i64| Held {
            slot: slot as usize,
            coordinate: vec![8 * (slot / 2 % 2), slot % 2 + 8 * (slot / 4)],
        };
        let row = Layout::new([4, 8, 4], [0, 1, 16]).unwrap();
        let column = Layout::new([4, 8, 4], [2, 0, 0]).unwrap();
        let thread = b.thread();
        let start = b.split_off(0).len();
        let origin = [&row, &column]
            .map(|layout| crd2idx(&mut b, layout, &thread.clone().into(), 1).unwrap());
        let registers = (0..columns as usize / 2).map(|_| b.register(word_type(element)));
        let fragment = Fragment {
            element,
            registers: registers.collect(),
            values: (0..columns / 2).map(held).collect(),
            tile: Some(Distributed {
                threads: vec![row, column],
                origin: origin.into(),
            }),
            shape: [64, columns].into(),
            is_variable: false,
        };
        store(&mut b, &fragment, &tensor).unwrap();
        let lines = take(&mut b, start);
        let registers = fragment.registers.iter().chain([&thread]);
        let names: Vec<_> = registers.map(|it| name(&mut b, it)).collect();
        let mut all = Vec::new();
        for lane in 0..128 {
            let mut machine = Thread::new(names.iter().map(|name| (name.clone(), lane)));
            machine.run(&lines);
            all.push(machine.accesses);
        }
        for access in 0..all[0].len() {
            let bytes = all[0][access].1;
            assert_eq!(bytes, width);
            for warp in all.chunks(32) {
                assert_eq!(
                    bank_conflicts(bytes, |lane| warp[lane as usize][access].0 as i64),
                    degree
                );
            }
        }
        // All threads together write every byte once.
        let mut written: Vec<u64> = all
            .iter()
            .flatten()
            .flat_map(|&(start, bytes)| (0..u64::from(bytes)).map(move |byte| start + byte))
            .collect();
        written.sort_unstable();
        let first = SHARED + u64::from(SHARED_ALIGN);
        assert!(written.into_iter().eq(first..first + 64 * 128));
    }
}

/// Thread c + 8k transposes block (c ^ k, c).
const TRANSPOSE: &str = "mod kernels {
    #[kernel(threads = 64)]
    #[instance(transpose_b32: T = u32, TILE = 32)]
    #[instance(transpose_b16: T = u16, TILE = 64)]
    fn transpose<T: Element, const TILE: u32>() {
        let v = 128 / bits::<T>();
        let input = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));
        let output = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (TILE, TILE)));
        let block = layout!(Sw<3,0,3> o (8,8):(8,1)).at(thread());
        let x = fragment::<T>((v, v));
        copy(zipped_divide(input, (v, v))[(_, block)], x);
        copy(x, zipped_divide(select(output, 1, 0), (v, v))[(_, block)]);
    }
}";

#[test]
fn a_transpose_by_blocks_has_no_conflicts() {
    for instance in lower(TRANSPOSE.parse().unwrap()).unwrap() {
        let (element, tile) = match instance.name.to_string().as_str() {
            "transpose_b32" => (Element::U32, 32),
            _ => (Element::U16, 64),
        };
        let width = element.bytes().unwrap() as usize;
        let entry = instance.module.items.iter().find_map(|item| match item {
            cute_ptx::ast::Item::Entry(entry) => Some(entry),
            _ => None,
        });
        let code = entry.unwrap().body.iter().filter(|line| {
            matches!(line, cute_ptx::ast::Line::Inst(inst) if !matches!(inst.mnemonic.opcode(), Opcode::Ret | Opcode::Mov))
        });
        let code: Vec<_> = code.cloned().collect();
        let mut input = tensor(
            element,
            SwizzleMode::B128,
            Layout::new([tile, tile], [tile, 1]).unwrap(),
        );
        input.base = 0;
        let output = Tensor {
            base: (tile * tile) as u32 * element.bytes().unwrap(),
            ..input.clone()
        };
        let mut memory = Thread::new([]).memory;
        for v in 0..(tile * tile) as usize {
            memory[byte(&input, v)..][..width].copy_from_slice(&value(v, width));
        }
        let mut accesses = Vec::new();
        for thread in 0..64 {
            let mut machine = Thread {
                memory,
                ..Thread::new([("%thread".to_string(), thread)])
            };
            machine.run(&code);
            accesses.push(machine.accesses);
            memory = machine.memory;
        }
        for v in 0..(tile * tile) as usize {
            let transposed = v / tile as usize + v % tile as usize * tile as usize;
            assert_eq!(
                memory[byte(&output, transposed)..][..width],
                value(v, width),
                "element {v}"
            );
        }
        for access in 0..accesses[0].len() {
            for warp in accesses.chunks(32) {
                assert_eq!(warp[0][access].1, 16);
                assert_eq!(
                    bank_conflicts(16, |lane| warp[lane as usize][access].0 as i64),
                    1
                );
            }
        }
    }
}
