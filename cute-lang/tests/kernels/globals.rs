//! Tiles of tensors in global memory: their copies, edges and facts.

use crate::judge;
use cute_emulator::{GlobalMemory, Launch, Program};
use cute_lang::kernel::emit::param::ParamKind;
use cute_lang::kernel::lower::{Lowered, lower};
use std::collections::BTreeSet;

/// A tensor in memory of its own, which begins `offset` elements after a multiple of 16 bytes and ends with its last element.
#[derive(Clone)]
struct Array {
    /// Bytes of an element.
    width: usize,
    offset: usize,
    extents: Vec<usize>,
    strides: Vec<usize>,
    /// The elements of the memory, gaps included.
    data: Vec<u64>,
}

impl Array {
    /// A tensor whose elements are `value(index in memory)`.
    fn new(
        width: usize,
        offset: usize,
        extents: &[usize],
        strides: &[usize],
        value: impl Fn(usize) -> u64,
    ) -> Self {
        let pairs = extents.iter().zip(strides);
        let last: usize = pairs.map(|(extent, stride)| (extent - 1) * stride).sum();
        Self {
            width,
            offset,
            extents: extents.into(),
            strides: strides.into(),
            data: (0..offset + last + 1).map(value).collect(),
        }
    }

    /// The same with its last mode contiguous and no gaps.
    fn compact(width: usize, extents: &[usize], value: impl Fn(usize) -> u64) -> Self {
        let inner = |mode: usize| extents[mode + 1..].iter().product();
        let strides: Vec<usize> = (0..extents.len()).map(inner).collect();
        Self::new(width, 0, extents, &strides, value)
    }

    /// Where the element at a coordinate is; none outside of the tensor.
    fn index(&self, coordinate: &[usize]) -> Option<usize> {
        let inside = coordinate
            .iter()
            .zip(&self.extents)
            .all(|(c, extent)| c < extent);
        let sum: usize = coordinate
            .iter()
            .zip(&self.strides)
            .map(|(c, stride)| c * stride)
            .sum();
        inside.then_some(self.offset + sum)
    }
}

/// All coordinates below these extents.
fn coordinates(extents: &[usize]) -> Vec<Vec<usize>> {
    extents.iter().fold(vec![Vec::new()], |before, &extent| {
        let longer = before
            .iter()
            .flat_map(|coordinate| (0..extent).map(move |c| [&coordinate[..], &[c]].concat()));
        longer.collect()
    })
}

fn kernel(source: &str) -> Lowered {
    let module = format!("mod kernels {{ {source} }}");
    lower(module.parse().expect("tokens"))
        .unwrap_or_else(|error| panic!("{source}: {error}"))
        .remove(0)
}

/// Runs a kernel on these tensors, which it may change. The emulator reports every access outside of their memory.
fn run(kernel: &Lowered, grid: [u32; 3], arrays: &mut [Array]) {
    let mut memory = GlobalMemory::new();
    let (mut args, mut places) = (Vec::new(), Vec::new());
    for (param, array) in kernel.params.iter().zip(&*arrays) {
        let bytes: Vec<u8> = array
            .data
            .iter()
            .flat_map(|value| value.to_le_bytes()[..array.width].to_vec())
            .collect();
        let address = memory.alloc(bytes.len(), 16).expect("memory");
        memory.write(address, &bytes).expect("memory");
        places.push((address, bytes.len()));
        let first = address + (array.offset * array.width) as u64;
        args.push(first.to_le_bytes().to_vec());
        let outer = array.strides.split_last().expect("a mode").1;
        args.extend(
            outer
                .iter()
                .map(|stride| (*stride as u64).to_le_bytes().to_vec()),
        );
        if let ParamKind::Global { extents: true, .. } = param.kind {
            let extents = array.extents.iter();
            args.extend(extents.map(|extent| (*extent as u32).to_le_bytes().to_vec()));
        }
    }
    let launch = Launch {
        grid,
        block: [kernel.threads, 1, 1],
        dynamic_shared_bytes: kernel.smem_bytes,
        args: &args,
        ..Launch::default()
    };
    let text = kernel.module.to_string();
    let program = Program::load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program
        .launch(&mut memory, &kernel.name.to_string(), &launch)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    for (array, (address, len)) in arrays.iter_mut().zip(places) {
        let bytes = memory.bytes(address, len).expect("memory");
        let number = |bytes: &[u8]| {
            let mut number = [0; 8];
            number[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(number)
        };
        array.data = bytes.chunks(array.width).map(number).collect();
    }
}

/// The mnemonics of loads and stores of global memory.
fn accesses(kernel: &Lowered) -> BTreeSet<String> {
    let text = kernel.module.to_string();
    let words = text
        .split_whitespace()
        .filter(|word| word.contains(".global."));
    words
        .filter(|word| !word.starts_with("cvta"))
        .map(str::to_owned)
        .collect()
}

/// A copy of a tensor tile by tile.
struct Case<'a> {
    /// The element type, its bytes, and the fill as a kernel writes it and as bits.
    element: (&'a str, usize, &'a str, u64),
    extents: &'a [usize],
    strides: &'a [usize],
    /// Elements between a multiple of 16 bytes and the first element.
    offset: usize,
    /// The facts, with `T` for the tensor.
    facts: &'a str,
    tile: &'a [usize],
    /// How the fragment is held, and by how many threads.
    held: &'a str,
    threads: usize,
    /// The accesses that the kernel makes.
    accesses: &'a [&'a str],
}

/// Copies x to y by `copy_or` and `copy_inside`, and all tiles of x, with what is outside, to z. There is a tile more in each
/// mode than touches x.
fn check(case: &Case) {
    let (element, width, fill, fill_bits) = case.element;
    let rank = case.extents.len();
    let counts: Vec<usize> = case
        .extents
        .iter()
        .zip(case.tile)
        .map(|(e, t)| e.div_ceil(*t) + 1)
        .collect();
    let (mut place, mut inner) = (String::new(), 1);
    for count in &counts {
        place += &format!("block_idx().0 / {inner} % {count},");
        inner *= count;
    }
    let tile: String = case
        .tile
        .iter()
        .map(|extent| format!("{extent},"))
        .collect();
    let facts = |name: &str| match case.facts {
        "" => String::new(),
        facts => format!("#[facts({})]", facts.replace('T', name)),
    };
    let copied = kernel(&format!(
        "#[kernel(threads = {})]
        unsafe fn k({} x: Global<{element}, {rank}>, {} y: Global<{element}, {rank}>, z: Global<{element}, {rank}>) {{
            let at = ({place});
            let f = fragment::<{element}>({});
            copy_or(local_tile(x, ({tile}), at), f, {fill});
            copy_inside(f, local_tile(y, ({tile}), at));
            copy(f, local_tile(z, ({tile}), at));
        }}",
        case.threads, facts("x"), facts("y"), case.held
    ));
    let seed =
        |index: usize| (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 8 * width);
    let x = Array::new(width, case.offset, case.extents, case.strides, seed);
    let untouched = |index: usize| seed(index + 1000);
    let y = Array::new(width, case.offset, case.extents, case.strides, untouched);
    let whole: Vec<usize> = counts
        .iter()
        .zip(case.tile)
        .map(|(count, tile)| count * tile)
        .collect();
    let z = Array::compact(width, &whole, untouched);
    let mut arrays = [x.clone(), y.clone(), z];
    run(&copied, [inner as u32, 1, 1], &mut arrays);
    let label = format!(
        "{element} {:?} {:?} {}",
        case.extents, case.strides, case.facts
    );
    assert_eq!(arrays[0].data, x.data, "{label}");
    let mut expected = y.data.clone();
    for coordinate in coordinates(&whole) {
        let value = match x.index(&coordinate) {
            Some(index) => {
                expected[index] = x.data[index];
                x.data[index]
            }
            None => fill_bits,
        };
        let index = arrays[2].index(&coordinate).expect("inside");
        assert_eq!(arrays[2].data[index], value, "{label} {coordinate:?}");
    }
    assert_eq!(arrays[1].data, expected, "{label}");
    let expected: BTreeSet<String> = case.accesses.iter().map(|it| it.to_string()).collect();
    let found: BTreeSet<String> = accesses(&copied)
        .into_iter()
        // The copy to z has no facts.
        .filter(|it| it.starts_with("ld") || expected.contains(it))
        .collect();
    assert_eq!(found, expected, "{label}\n{}", copied.module);
    judge(&[copied]);
}

const BF16: (&str, usize, &str, u64) = ("bf16", 2, "f32::NEG_INFINITY", 0xff80);
const F32: (&str, usize, &str, u64) = ("f32", 4, "-1.5", 0xbfc0_0000);
const U8: (&str, usize, &str, u64) = ("u8", 1, "7", 7);
const F64: (&str, usize, &str, u64) = ("f64", 8, "0.5", 0x3fe0_0000_0000_0000);

/// What vectors need.
const ALIGNED: &str = "aligned(T, 16), extent(T, 1) % 8 == 0";

#[test]
fn vectors_are_as_wide_as_facts_allow() {
    let rows = |element, facts, strides, accesses| Case {
        element,
        extents: &[3, 40],
        strides,
        offset: 0,
        facts,
        tile: &[2, 16],
        held: "(2, 16)",
        threads: 1,
        accesses,
    };
    for case in [
        rows(BF16, "", &[41, 1], &["ld.global.b16", "st.global.b16"]),
        rows(
            BF16,
            "aligned(T, 16)",
            &[48, 1],
            &[
                "ld.global.b16",
                "st.global.b16",
                "ld.global.v4.b32",
                "st.global.v4.b32",
            ],
        ),
        rows(
            BF16,
            ALIGNED,
            &[48, 1],
            &["ld.global.v4.b32", "st.global.v4.b32"],
        ),
        rows(
            BF16,
            "aligned(T, 8), extent(T, 1) % 8 == 0",
            &[44, 1],
            &["ld.global.v2.b32", "st.global.v2.b32"],
        ),
        rows(
            BF16,
            "aligned(T, 16), extent(T, 1) % 2 == 0, extent(T, 1) % 4 == 0",
            &[40, 1],
            &[
                "ld.global.v4.b32",
                "st.global.v4.b32",
                "ld.global.v2.b32",
                "st.global.v2.b32",
            ],
        ),
        rows(
            BF16,
            "aligned(T, 4), extent(T, 1) == 40",
            &[42, 1],
            &["ld.global.b32", "st.global.b32"],
        ),
        rows(
            F32,
            ALIGNED,
            &[40, 1],
            &["ld.global.v4.f32", "st.global.v4.f32"],
        ),
        rows(
            F64,
            ALIGNED,
            &[42, 1],
            &["ld.global.v2.f64", "st.global.v2.f64"],
        ),
        rows(
            U8,
            "aligned(T, 16), extent(T, 1) % 8 == 0",
            &[48, 1],
            &[
                "ld.global.v4.b32",
                "st.global.v4.b32",
                "ld.global.v2.b32",
                "st.global.v2.b32",
            ],
        ),
        rows(U8, "", &[43, 1], &["ld.global.b8", "st.global.b8"]),
    ] {
        check(&case);
    }
}

#[test]
fn every_extent_and_offset() {
    for extent in 1..=18 {
        for (element, lanes) in [(BF16, 8), (F32, 4)] {
            let single = if element.1 == 2 { "b16" } else { "f32" };
            let (load, store) = (format!("ld.global.{single}"), format!("st.global.{single}"));
            check(&Case {
                element,
                extents: &[2, extent],
                strides: &[extent + 3, 1],
                offset: extent % lanes,
                facts: "",
                tile: &[1, 8],
                held: "(1, 8)",
                threads: 1,
                accesses: &[&load, &store],
            });
        }
    }
}

#[test]
fn ranks_of_one_to_five() {
    let extents = [3, 2, 5, 3, 9];
    let tiles = [2, 1, 2, 2, 4];
    for rank in 1..=5 {
        let (extents, tile) = (&extents[5 - rank..], &tiles[5 - rank..]);
        let inner = |mode: usize| {
            extents[mode + 1..]
                .iter()
                .map(|extent| extent + 1)
                .product()
        };
        let mut strides: Vec<usize> = (0..rank).map(inner).collect();
        strides[rank - 1] = 1;
        let held: String = tile.iter().map(|extent| format!("{extent},")).collect();
        check(&Case {
            element: F32,
            extents,
            strides: &strides,
            offset: 1,
            facts: "",
            tile,
            held: &format!("({held})"),
            threads: 1,
            accesses: &["ld.global.f32", "st.global.f32"],
        });
    }
}

#[test]
fn tiles_of_several_threads() {
    let held = [
        // A warp holds a row, each thread two runs of eight.
        (
            "layout!(((32,4),(8,2)):((8@1,1@0),(1@1,256@1)))",
            [4, 512],
            128,
            ["ld.global.v4.b32", "st.global.v4.b32"],
        ),
        // Eight threads hold a row, and a thread two rows.
        (
            "layout!(((8,4),(8,2)):((8@1,1@0),(1@1,4@0)))",
            [8, 64],
            32,
            ["ld.global.v4.b32", "st.global.v4.b32"],
        ),
        // Accumulators hold pairs.
        (
            "wgmma_c(24)",
            [64, 24],
            128,
            ["ld.global.b32", "st.global.b32"],
        ),
    ];
    for (held, tile, threads, accesses) in held {
        for extents in [[5, 520], [64, 24], [70, 72], [1, 8]] {
            check(&Case {
                element: BF16,
                extents: &extents,
                strides: &[extents[1] + 8, 1],
                offset: 8,
                facts: ALIGNED,
                tile: &tile,
                held,
                threads,
                accesses: &accesses,
            });
        }
    }
}
