//! Copies between registers and shared memory, by the widest vectors that both sides allow.

use super::builder::Builder;
use super::builtins::{Builtin, Call};
use super::fragment::{Fragment, packing, register_type};
use super::matrix::Direction;
use super::tensor::Tensor;
use super::value::{Scalar, Value};
use super::{address, fragment, matrix};
use cute_algebra::{Layout, coalesce};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use std::collections::BTreeMap;
use syn::Result;

/// The rows of the builtin table that copy.
pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "copy(source, destination)",
    apply: copy,
}];

/// Widest access of shared memory, in bytes.
const WIDEST: i64 = cute_hopper::shared::WIDEST_ACCESS as i64;

fn copy(b: &mut Builder, call: &Call) -> Result<Value> {
    b.set_place(call.span);
    match (&call.args[0].value, &call.args[1].value) {
        (Value::Tensor(tensor), Value::Fragment(fragment)) => load(b, tensor, fragment)?,
        (Value::Fragment(fragment), Value::Tensor(tensor)) => store(b, fragment, tensor)?,
        (Value::Tensor(_), _) => return Err(call.mismatch(1, "a fragment")),
        (Value::Fragment(_), _) => return Err(call.mismatch(1, "a tensor in shared memory")),
        _ => return Err(call.mismatch(0, "a tensor in shared memory or a fragment")),
    }
    Ok(Value::Unit)
}

fn load(b: &mut Builder, tensor: &Tensor, fragment: &Fragment) -> Result<()> {
    if tensor.element == fragment.element && matrix::copy(b, Direction::Load, tensor, fragment)? {
        return Ok(());
    }
    let Access { tensor, vectors } = access(b, tensor, fragment)?;
    let mut addresses = tensor.addresses();
    // Narrow elements that come in another order than the fragment's: (register, part) → where it was loaded.
    let mut loaded: BTreeMap<usize, BTreeMap<usize, (Scalar, usize)>> = BTreeMap::new();
    for vector in &vectors {
        let mut words = Vec::new();
        for values in vector.values.chunks(packing(fragment.element)) {
            match whole_register(fragment, values) {
                Some(register) => words.push(register),
                None => {
                    let word = b.register(register_type(fragment.element));
                    for (part, &value) in values.iter().enumerate() {
                        let slot = fragment.values[value].slot;
                        let (register, place) = (
                            slot / packing(fragment.element),
                            slot % packing(fragment.element),
                        );
                        loaded
                            .entry(register)
                            .or_default()
                            .insert(place, (word.clone(), part));
                    }
                    words.push(word);
                }
            }
        }
        let address = addresses.operand(b, tensor.byte(vector.index))?;
        let bytes = vector.values.len() as i64 * tensor.width();
        transfer(b, Direction::Load, &words, address, bytes);
    }
    for (register, mut parts) in loaded {
        let register = fragment.registers[register].clone();
        // Parts that were not loaded keep what they hold.
        let parts: Vec<_> = (0..packing(fragment.element))
            .map(|place| {
                parts
                    .remove(&place)
                    .unwrap_or_else(|| (register.clone(), place))
            })
            .collect();
        pack(b, &register, &parts, tensor.element.bytes() as usize);
    }
    Ok(())
}

fn store(b: &mut Builder, fragment: &Fragment, tensor: &Tensor) -> Result<()> {
    if tensor.element == fragment.element && matrix::copy(b, Direction::Store, tensor, fragment)? {
        return Ok(());
    }
    let Access { tensor, vectors } = access(b, tensor, fragment)?;
    let mut addresses = tensor.addresses();
    for vector in &vectors {
        let mut words = Vec::new();
        for values in vector.values.chunks(packing(fragment.element)) {
            words.push(match whole_register(fragment, values) {
                Some(register) => register,
                None => {
                    let parts: Vec<_> = values.iter().map(|&value| fragment.part(value)).collect();
                    let word = b.register(register_type(fragment.element));
                    pack(b, &word, &parts, fragment.element.bytes() as usize);
                    word
                }
            });
        }
        let address = addresses.operand(b, tensor.byte(vector.index))?;
        let bytes = vector.values.len() as i64 * tensor.width();
        transfer(b, Direction::Store, &words, address, bytes);
    }
    Ok(())
}

/// One access: values of a fragment that lie side by side in shared memory.
struct Vector {
    /// What the tensor's layout gives for the first.
    index: i64,
    /// The values, in the order of their addresses.
    values: Vec<usize>,
}

/// The accesses that copy between a fragment and a tensor, into which this thread's own coordinate has been put.
struct Access {
    tensor: Tensor,
    vectors: Vec<Vector>,
}

fn access(b: &mut Builder, tensor: &Tensor, fragment: &Fragment) -> Result<Access> {
    if tensor.element != fragment.element {
        let (tensor, fragment) = (tensor.element, fragment.element);
        return Err(b.error(format!(
            "a tensor of `{tensor}` and a fragment of `{fragment}`: convert the fragment"
        )));
    }
    let (tensor, indices) = match &fragment.tile {
        None => {
            let (size, values) = (tensor.layout.layout().size(), fragment.values.len());
            if size != values as i64 {
                return Err(b.error(format!(
                    "a tensor of {size} elements and a fragment of {values}"
                )));
            }
            (tensor.clone(), tensor.layout.layout().values().collect())
        }
        Some(_) => partition(b, tensor, fragment)?,
    };
    let vectors = vectorise(b, &tensor, &indices);
    Ok(Access { tensor, vectors })
}

/// The tensor from this thread's own coordinate, and the index of each of its values.
pub(super) fn partition(
    b: &mut Builder,
    tensor: &Tensor,
    fragment: &Fragment,
) -> Result<(Tensor, Vec<i64>)> {
    let Some(tile) = &fragment.tile else {
        return Ok((tensor.clone(), Vec::new()));
    };
    let modes = tensor.layout.layout().modes();
    let extents: Vec<i64> = modes.iter().map(Layout::size).collect();
    if !fragment.shape.leaves().eq(&extents) {
        return Err(b.error(format!(
            "a tensor of {} and a fragment of {}",
            tensor.layout.layout().shape(),
            fragment.shape
        )));
    }
    let mut dynamic = tensor.dynamic.clone();
    for (mode, layout) in modes.iter().enumerate() {
        // Thread and value each have a part of the coordinate; the layout passes the sum through if no part carries
        // into the other across a boundary of the layout.
        let mut boundary = 1;
        for (extent, _) in coalesce(layout).flat_modes() {
            boundary *= extent;
            let reach = tile.reach(mode, boundary);
            let worst = fragment
                .values
                .iter()
                .map(|value| value.coordinate[mode] % boundary)
                .max()
                .unwrap_or(0);
            if reach + worst >= boundary {
                return Err(b.error(format!(
                    "mode {mode} of the tensor, {layout}, breaks at {boundary}, but threads reach {reach} and values {worst} there"
                )));
            }
        }
        let offset = address::index(b, layout, &tile.origin[mode], tensor.width())?;
        dynamic = b.add(&dynamic, &offset)?;
    }
    let index = |value: &fragment::Held| {
        value
            .coordinate
            .iter()
            .zip(&modes)
            .map(|(coordinate, mode)| mode.at(*coordinate).unwrap_or_default())
            .sum()
    };
    let indices = fragment.values.iter().map(index).collect();
    Ok((
        Tensor {
            dynamic,
            ..tensor.clone()
        },
        indices,
    ))
}

/// Groups values by address into the widest vectors that are aligned for every thread.
fn vectorise(b: &Builder, tensor: &Tensor, indices: &[i64]) -> Vec<Vector> {
    let mut order: Vec<usize> = (0..indices.len()).collect();
    order.sort_by_key(|&value| indices[value]);
    // What every address is a multiple of, whatever the known part adds.
    let dynamic = 1i64 << b.possible_bits(&tensor.dynamic).trailing_zeros().min(4);
    let swizzle = address::in_bytes(tensor.layout.swizzle(), tensor.element.bytes());
    let chunk = if swizzle.is_identity() {
        WIDEST
    } else {
        1 << swizzle.base().min(4)
    };
    let mut lanes = WIDEST.min(dynamic).min(chunk) / tensor.width();
    let aligned = |lanes: i64| {
        order.chunks(lanes as usize).all(|chunk| {
            let first = tensor.layout.offset() + indices[chunk[0]];
            chunk.len() as i64 == lanes
                && first % lanes == 0
                && chunk
                    .iter()
                    .zip(indices[chunk[0]]..)
                    .all(|(&value, index)| indices[value] == index)
        })
    };
    while lanes > 1 && !aligned(lanes) {
        lanes /= 2;
    }
    let vector = |chunk: &[usize]| Vector {
        index: indices[chunk[0]],
        values: chunk.to_vec(),
    };
    order.chunks(lanes.max(1) as usize).map(vector).collect()
}

/// The register that holds exactly these values, in order.
fn whole_register(fragment: &Fragment, values: &[usize]) -> Option<Scalar> {
    let (register, _) = fragment.part(values[0]);
    let whole = values.len() == packing(fragment.element)
        && values
            .iter()
            .enumerate()
            .all(|(place, &value)| fragment.part(value) == (register.clone(), place));
    whole.then_some(register)
}

/// Moves `bytes` bytes between registers and shared memory.
fn transfer(b: &mut Builder, direction: Direction, words: &[Scalar], address: Operand, bytes: i64) {
    let register = match words {
        [word] => word.operand(),
        words => Operand::Vector(words.iter().map(Scalar::operand).collect()),
    };
    let vector = match words.len() {
        1 => None,
        count => Some(Modifier::Vector(count as u8)),
    };
    // A lone narrow element uses the low part of its register.
    let ty = match bytes {
        1 => Type::B8,
        2 => Type::B16,
        _ => words[0].ty,
    };
    let modifiers = (Modifier::Shared, vector, ty);
    match direction {
        Direction::Load if bytes >= 4 => b.emit(Opcode::Ld, modifiers, [register, address]),
        Direction::Load => {
            let narrow = b.compute(Type::U16, Opcode::Ld, modifiers, [address]);
            b.emit(
                Opcode::Cvt,
                (Type::U32, Type::U16),
                [register, narrow.operand()],
            );
        }
        Direction::Store if bytes >= 4 => b.emit(Opcode::St, modifiers, [address, register]),
        Direction::Store => {
            let narrow = b.compute(Type::U16, Opcode::Cvt, (Type::U16, Type::U32), [register]);
            b.emit(Opcode::St, modifiers, [address, narrow.operand()]);
        }
    }
}

/// Assembles a register from parts of registers: two halves or four bytes. Where there are fewer, what is left is not
/// used.
fn pack(b: &mut Builder, to: &Scalar, parts: &[(Scalar, usize)], width: usize) {
    let mut bytes: Vec<(&Scalar, usize)> = parts
        .iter()
        .flat_map(|(register, part)| (0..width).map(move |byte| (register, part * width + byte)))
        .collect();
    bytes.resize(4, bytes[bytes.len() - 1]);
    let mut sources: Vec<&Scalar> = Vec::new();
    for (register, _) in &bytes {
        if !sources.contains(register) {
            sources.push(register);
        }
    }
    if let [first, rest @ ..] = &sources[..]
        && rest.len() <= 1
    {
        permute(b, to, first, rest.first().unwrap_or(first), &bytes);
        return;
    }
    // More than two registers: the two halves apart, then both.
    let halves: Vec<Scalar> = bytes
        .chunks(2)
        .map(|pair| {
            let half = b.register(Type::B32);
            permute(b, &half, pair[0].0, pair[1].0, pair);
            half
        })
        .collect();
    let [low, high] = &halves[..] else { return };
    permute(
        b,
        to,
        low,
        high,
        &[(low, 0), (low, 1), (high, 0), (high, 1)],
    );
}

/// `prmt`: bytes of two registers, the lowest first.
fn permute(
    b: &mut Builder,
    to: &Scalar,
    first: &Scalar,
    second: &Scalar,
    bytes: &[(&Scalar, usize)],
) {
    let selector = bytes
        .iter()
        .enumerate()
        .fold(0, |selector, (place, (register, byte))| {
            let source = if *register == first { *byte } else { 4 + byte };
            selector | (source as i128) << (4 * place)
        });
    b.emit(
        Opcode::Prmt,
        (),
        [
            to.operand(),
            first.operand(),
            second.operand(),
            Operand::Int(selector),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::super::builder::SHARED_ALIGN;
    use super::super::fragment::Held;
    use super::super::simulate::{SHARED, Thread};
    use super::super::value::{Element, Num};
    use super::*;
    use cute_algebra::{ComposedLayout, Swizzle, SwizzleMode, bank_conflicts};

    fn tensor(element: Element, swizzle: SwizzleMode, layout: Layout) -> Tensor {
        let swizzle = Swizzle::from_mode(swizzle, element.bits()).unwrap_or(Swizzle::IDENTITY);
        let layout = ComposedLayout::new(swizzle, 0, layout).unwrap();
        Tensor {
            element,
            base: SHARED_ALIGN,
            layout,
            dynamic: Num::Const(0),
        }
    }

    /// A fragment of one thread whose values lie in its registers in the given order.
    fn local(b: &mut Builder, element: Element, slots: &[usize]) -> Fragment {
        let count = slots.len().div_ceil(packing(element));
        let registers = (0..count)
            .map(|_| b.register(register_type(element)))
            .collect();
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
        SHARED as usize + tensor.base as usize + index as usize * tensor.element.bytes() as usize
    }

    /// Loads a tensor and stores it under another layout: every value arrives. Gives the accesses.
    fn check(from: &Tensor, to: &Tensor, slots: &[usize]) -> Vec<(u64, u32)> {
        let mut b = Builder::new(32, [1, 1, 1]);
        let fragment = local(&mut b, from.element, slots);
        load(&mut b, from, &fragment).unwrap();
        store(&mut b, &fragment, to).unwrap();
        let lines = b.split_off(0);
        let registers = fragment
            .registers
            .iter()
            .map(|register| (register.name.clone(), 0));
        let mut thread = Thread::new(registers);
        let width = from.element.bytes() as usize;
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
                // No two neighbours: element by element.
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
                ComposedLayout::new(Swizzle::IDENTITY, offset, from.layout.layout().clone())
                    .unwrap();
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
        // bf16 goes by matrices, whose rows are 16 bytes. A phase of f32 is half a warp, four rows of 32 bytes: of these two swizzle to the same 32 bytes.
        for (element, columns, width, degree) in
            [(Element::BF16, 64, 16, 1), (Element::F32, 32, 8, 2)]
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
                .map(|layout| address::index(&mut b, layout, &thread.clone().into(), 1).unwrap());
            let registers = (0..columns as usize / 2).map(|_| b.register(register_type(element)));
            let fragment = Fragment {
                element,
                registers: registers.collect(),
                values: (0..columns / 2).map(held).collect(),
                tile: Some(fragment::Distributed {
                    threads: vec![row, column],
                    origin: origin.into(),
                }),
                shape: [64, columns].into(),
            };
            store(&mut b, &fragment, &tensor).unwrap();
            let lines = b.split_off(start);
            let mut all = Vec::new();
            for lane in 0..128 {
                let registers = fragment
                    .registers
                    .iter()
                    .map(|register| (register.name.clone(), lane));
                let mut machine = Thread::new(registers.chain([(thread.name.clone(), lane)]));
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
            // Together the threads write every byte once.
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
        for instance in super::super::lower::lower(TRANSPOSE.parse().unwrap()).unwrap() {
            let (element, tile) = match instance.name.to_string().as_str() {
                "transpose_b32" => (Element::U32, 32),
                _ => (Element::U16, 64),
            };
            let width = element.bytes() as usize;
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
                base: (tile * tile) as u32 * element.bytes(),
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
}
