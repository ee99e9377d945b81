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

/// Copies through a fragment. `$x`, `$y` and `$z` are tiles.
const BY_FRAGMENT: &str = "
    let f = fragment::<$element>($held);
    copy_or($x, f, $fill);
    copy_inside(f, $y);
    copy(f, $z);";

fn check(case: &Case) {
    check_body(case, BY_FRAGMENT);
}

/// Runs a kernel that copies x to y inside of the tensors, and all tiles of x, with what is outside, to z. There is a tile more
/// in each mode than touches x.
fn check_body(case: &Case, body: &str) -> Lowered {
    let (element, width, fill, fill_bits) = case.element;
    let rank = case.extents.len();
    let pairs = case.extents.iter().zip(case.tile);
    let counts: Vec<usize> = pairs
        .map(|(extent, tile)| extent.div_ceil(*tile) + 1)
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
    let mut body = body
        .replace("$element", element)
        .replace("$held", case.held)
        .replace("$fill", fill);
    for name in ["x", "y", "z"] {
        let part = format!("local_tile({name}, ({tile}), at)");
        body = body.replace(&format!("${name}"), &part);
    }
    let copied = kernel(&format!(
        "#[kernel(threads = {})]
        unsafe fn k({} x: Global<{element}, {rank}>, {} y: Global<{element}, {rank}>, z: Global<{element}, {rank}>) {{
            let at = ({place});
            {body}
        }}",
        case.threads,
        facts("x"),
        facts("y"),
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
    judge(std::slice::from_ref(&copied));
    copied
}

const BF16: (&str, usize, &str, u64) = ("bf16", 2, "bf16::NEG_INFINITY", 0xff80);
const F32: (&str, usize, &str, u64) = ("f32", 4, "-1.5", 0xbfc0_0000);
const U8: (&str, usize, &str, u64) = ("u8", 1, "7", 7);
const F64: (&str, usize, &str, u64) = ("f64", 8, "0.5", 0x3fe0_0000_0000_0000);

/// What vectors of x need.
const ALIGNED_X: &str = "#[facts(aligned(x, 16), extent(x, 1) % 8 == 0)]";

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

/// Tiles are moved back, so that vectors are aligned or not, and lie across both ends of a row.
#[test]
fn tiles_that_begin_anywhere() {
    for extent in [1, 2, 7, 8, 9, 15, 16, 17, 33, 40] {
        for ((element, vector, single), back) in [
            ((BF16, "v4.b32", "b16"), "misalignment($y, f)"),
            ((BF16, "v4.b32", "b16"), "3 * grid_dim().1"),
            ((BF16, "v4.b32", "b16"), "8 * grid_dim().1"),
            ((F32, "v4.f32", "f32"), "misalignment($y, f)"),
            ((F32, "v4.f32", "f32"), "5 * grid_dim().1"),
        ] {
            let [load, store] = ["ld", "st"].map(|it| format!("{it}.global.{single}"));
            let [loads, stores] = ["ld", "st"].map(|it| format!("{it}.global.{vector}"));
            let case = Case {
                element,
                extents: &[3, extent],
                strides: &[extent + 3, 1],
                offset: extent % 8,
                facts: if extent % 8 == 0 {
                    "extent(T, 1) % 8 == 0"
                } else {
                    ""
                },
                tile: &[1, 32],
                held: "(1, 32)",
                threads: 1,
                accesses: &[&load, &store, &loads, &stores],
            };
            let body = format!(
                "let f = fragment::<$element>($held);
                let distance = (0, -(({back}) as i32));
                copy_or(domain_offset(distance, $x), f, $fill);
                fill_outside(f, domain_offset(distance, $x), $fill);
                copy_inside(f, domain_offset(distance, $y));
                let g = fragment::<$element>($held);
                copy_or($x, g, $fill);
                copy(g, $z);"
            );
            check_body(&case, &body);
        }
    }
}

#[test]
fn values_outside_are_filled() {
    let body = "
        let f = fragment::<$element>($held);
        copy_or($x, f, 0.0);
        fill_outside(f, $x, $fill);
        copy_inside(f, $y);
        copy(f, $z);";
    for extent in 1..=17 {
        check_body(
            &Case {
                element: BF16,
                extents: &[3, extent],
                strides: &[extent + 3, 1],
                offset: 0,
                facts: "",
                tile: &[2, 8],
                held: "layout!((8,2):(1@1,1@0))",
                threads: 8,
                accesses: &["ld.global.b16", "st.global.b16"],
            },
            body,
        );
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

/// A tile of bf16 that a warp copies by 16 bytes.
const OF_A_WARP: Case = Case {
    element: ("bf16", 2, "0.0", 0),
    extents: &[21, 72],
    strides: &[80, 1],
    offset: 0,
    facts: ALIGNED,
    tile: &[8, 64],
    held: "layout!(((8,4),(8,2)):((8@1,1@0),(1@1,4@0)))",
    threads: 32,
    accesses: &["st.global.v4.b32"],
};

#[test]
fn asynchronous_copies_to_shared_memory() {
    let body = "
        let s = smem::<$element>(tile_to_shape(smem_atom::<$element>(K, SW128), (8, 64)));
        copy_async($x, s, $held);
        cp_async_commit();
        cp_async_wait(0);
        sync_threads();
        let f = fragment::<$element>($held);
        copy(s, f);
        copy_inside(f, $y);
        copy(f, $z);";
    let text = check_body(&OF_A_WARP, body).module.to_string();
    assert_eq!(
        text.matches("cp.async.cg.shared.global").count(),
        2,
        "{text}"
    );
    let narrow = Case {
        facts: "aligned(T, 4), extent(T, 1) % 2 == 0",
        extents: &[9, 70],
        strides: &[74, 1],
        offset: 2,
        accesses: &["st.global.b32"],
        ..OF_A_WARP
    };
    let text = check_body(&narrow, body).module.to_string();
    assert_eq!(
        text.matches("cp.async.ca.shared.global").count(),
        8,
        "{text}"
    );
    let unaligned = "mod kernels { #[kernel(threads = 32)] fn k(x: Global<bf16, 1>) {
        copy_async(local_tile(x, (64,), (0,)), smem::<bf16>((64,)), layout!((32,2):(2@0,1@0)));
    } }";
    let error = lower(unaligned.parse().expect("tokens")).err();
    let expected = "layouts and facts allow accesses of 2 bytes, but `cp.async` copies 4 to 16: see `aligned(x, 16)`";
    assert_eq!(
        error.map(|error| error.to_string()).as_deref(),
        Some(expected)
    );
}

#[test]
fn partitions_and_parts_of_tiles() {
    let single = Case {
        accesses: &["ld.global.b16", "st.global.b16"],
        ..OF_A_WARP
    };
    // Each thread has the elements at its coordinate in tiles of 4 × 8.
    let partition = "
        let threads = layout!((4,8):(8,1));
        let f = fragment::<$element>((2, 8));
        copy_or(local_partition($x, threads, thread()), f, $fill);
        copy_inside(f, local_partition($y, threads, thread()));
        copy(f, local_partition($z, threads, thread()));";
    check_body(&single, partition);
    // A thread has two vectors of 8, one of each row of a tile of 2 × 64.
    let divided = "
        let part = |t| zipped_divide(local_tile(t, (2, 64), (thread() / 8, 0)), (1, 8))[(_, (_, thread() % 8))];
        let f = fragment::<$element>(((1, 8), 2));
        copy_or(part($x), f, $fill);
        copy_inside(f, part($y));
        copy(f, part($z));";
    let vectors = Case {
        accesses: &["ld.global.v4.b32", "st.global.v4.b32"],
        ..OF_A_WARP
    };
    check_body(&vectors, divided);
    // By rows of the tensor, and by elements where they are inside.
    let rows = "
        for i in 0..8 {
            if thread() == i {
                let f = fragment::<$element>(64);
                let row = at.0 * 8 + i;
                copy_or(local_tile(x[(row, _)], 64, at.1), f, $fill);
                copy(f, $z[(i, _)]);
                if row < extent(x, 0) {
                    for j in 0..64 {
                        let column = at.1 * 64 + j;
                        if column < extent(x, 1) { y[(row, column)] = x[(row, _)][column]; }
                    }
                }
            }
        }";
    let elements = Case {
        extents: &[9, 72],
        accesses: &["ld.global.v4.b32", "ld.global.b16", "st.global.b16"],
        ..OF_A_WARP
    };
    check_body(&elements, rows);
}

/// Ranges of rows and columns, whose bounds are known only when the kernel runs, and ranges of these.
#[test]
fn ranges_are_parts() {
    let of = |ty: &str, facts: &str| {
        kernel(&format!(
            "#[kernel(threads = 1)]
            fn k({facts} x: Global<bf16, 2>, y: Global<bf16, 2>, z: Global<bf16, 2>,
                #[facts(extent(r, 0) == 6)] r: Global<u32, 1>, #[facts(extent(s, 0) == 2)] s: Global<u32, 1>) {{
                let bound = |i| r[i] as {ty};
                let part = |t| t[(bound(0)..bound(1), bound(2)..bound(3))][(bound(4)..bound(5), _)];
                let at = (block_idx().0, block_idx().1);
                let f = fragment::<bf16>((2, 8));
                copy_or(local_tile(part(x), (2, 8), at), f, -1.5);
                copy_inside(f, local_tile(part(y), (2, 8), at));
                copy_inside(f, local_tile(z, (2, 8), at));
                s[0] = extent(part(x), 0);
                s[1] = extent(part(x), 1);
            }}"
        ))
    };
    let ways = [of("u32", ""), of("u64", ""), of("u32", ALIGNED_X)];
    let is_vector = |kernel: &Lowered| accesses(kernel).contains("ld.global.v4.b32");
    assert_eq!(ways.each_ref().map(is_vector), [false, false, false]);
    let all = u64::from(u32::MAX);
    for bounds in [
        [0, 6, 0, 16, 0, all],
        [1, 5, 3, 14, 0, 9],
        [2, 6, 8, 16, 1, 3],
        [3, 3, 0, 16, 0, 1],
        [5, 2, 9, 9, 0, 1],
        [4, 9, 5, all, 1, all],
        [9, 12, 20, 30, 2, 3],
        [0, 6, 0, 16, 4, 2],
    ] {
        let [a, b, c, d, e, f] = bounds.map(|bound| bound.min(1000) as usize);
        let rows: Vec<usize> = (a..b.min(6)).collect();
        let rows = &rows[e.min(rows.len())..f.clamp(e.min(rows.len()), rows.len())];
        let columns: Vec<usize> = (c..d.min(16)).collect();
        for kernel in &ways {
            let x = Array::compact(2, &[6, 16], |i| i as u64 + 1);
            let y = Array::compact(2, &[6, 16], |_| 0);
            let z = Array::compact(2, &[8, 24], |_| 0);
            let r = Array::compact(4, &[6], |i| bounds[i]);
            let s = Array::compact(4, &[2], |_| 0);
            let mut arrays = [x.clone(), y, z.clone(), r, s];
            run(kernel, [4, 3, 1], &mut arrays);
            let mut expected = [vec![0; 6 * 16], vec![0xbfc0; 8 * 24]];
            for (i, row) in rows.iter().enumerate() {
                for (j, column) in columns.iter().enumerate() {
                    let value = x.data[row * 16 + column];
                    expected[0][row * 16 + column] = value;
                    expected[1][i * 24 + j] = value;
                }
            }
            let [found_y, found_z, extents] = [1, 2, 4].map(|i| arrays[i].data.clone());
            assert_eq!([found_y, found_z], expected, "{bounds:?}");
            assert_eq!(
                extents,
                [rows.len() as u64, columns.len() as u64],
                "{bounds:?}"
            );
        }
    }
    judge(&ways);
}

/// Vectors lie across the end of no range of rows.
#[test]
fn rows_of_a_range_are_moved_by_vectors() {
    check_body(
        &Case {
            extents: &[9, 64],
            strides: &[64, 1],
            accesses: &["ld.global.v4.b32", "st.global.v4.b32"],
            ..OF_A_WARP
        },
        "let part = |t| local_tile(t[(at.0 * 8..at.0 * 8 + 8, _)], (8, 64), (0, at.1));
        let f = fragment::<$element>($held);
        copy_or(part(x), f, $fill);
        copy_inside(f, part(y));
        copy(f, $z);",
    );
}

#[test]
fn ranges_have_their_rules() {
    let tile = "let t = smem::<f32>((4, 4));";
    let v = "let v = fragment::<f32>((1, 4));";
    for (body, expected) in [
        (
            "let part = x[(s..9, _)];",
            "the bounds of a range of coordinates are unsigned integers, and this one is `i32`",
        ),
        ("let part = x[(-1..9, _)];", "coordinate -1 is below 0"),
        (
            &format!("{tile} let part = t[(0..2, _)];"),
            "a coordinate is an integer, `_` or a tuple of these, not a range",
        ),
        (
            "let part = local_tile(x, (1, 4), (0, 0))[(0..1, _)];",
            "a coordinate is an integer, `_` or a tuple of these, not a range",
        ),
        (
            "z[0..4] = 1.0;",
            "a coordinate with `_` or a range names several elements, and this takes one: use `copy`",
        ),
        // What is inside of the tensor need not be inside of the range.
        (
            "let i = thread(); if i < n { y[0..n][i] = 1.0; }",
            "nothing proves that this access is inside of `y`: use `copy_inside`",
        ),
        (
            &format!("{v} copy(local_tile(x[(0..n, _)], (1, 4), (0, 0)), v);"),
            "nothing proves that this access is inside of `x`: use `copy_or`, or let",
        ),
    ] {
        match safe("", body) {
            Ok(_) => panic!("{body} is taken"),
            Err(error) => assert!(error.to_string().starts_with(expected), "{body}: {error}"),
        }
    }
    // An access that is checked is inside of the range.
    let lowered = safe("checked", "y[0..n][thread()] = 1.0;").expect("checked");
    assert!(lowered[0].module.to_string().contains("trap;"));
}

#[test]
fn caches_are_told() {
    for (word, modifier) in [
        ("STREAMING", "cs"),
        ("EVICT_FIRST", "L1::evict_first"),
        ("EVICT_LAST", "L1::evict_last"),
        ("NO_ALLOCATE", "L1::no_allocate"),
    ] {
        let of_load = [
            ("", ""),
            ("L2_64B", ".L2::64B"),
            ("L2_128B", ".L2::128B"),
            ("L2_256B", ".L2::256B"),
        ];
        for (fetch, fetched) in of_load {
            let access =
                |mnemonic: &str, more: &str| format!("{mnemonic}.global.{modifier}{more}.v4.b32");
            let case = Case {
                accesses: &[&access("ld", fetched), &access("st", "")],
                ..OF_A_WARP
            };
            let load = match fetch {
                "" => format!("$fill, {word})"),
                fetch => format!("$fill, ({word}, {fetch}))"),
            };
            let body = BY_FRAGMENT
                .replace("$fill)", &load)
                .replace("$y)", &format!("$y, {word})"));
            check_body(&case, &body);
        }
    }
    let case = Case {
        accesses: &["ld.global.L2::128B.v4.b32", "st.global.v4.b32"],
        ..OF_A_WARP
    };
    check_body(&case, &BY_FRAGMENT.replace("$fill)", "$fill, L2_128B)"));
}

/// Only loads fetch, so a copy from global memory to global memory has the size in its loads alone.
#[test]
fn stores_fetch_nothing() {
    let lowered = |body: &str| {
        let module = format!(
            "mod kernels {{
                #[kernel(threads = 32)]
                fn copied(
                    #[facts(aligned(x, 16), extent(x, 0) == 4)] x: Global<f32, 1>,
                    #[facts(aligned(y, 16), extent(y, 0) == 4)] y: Global<f32, 1>,
                ) {{ {body} }}
            }}"
        );
        let lowered = lower(module.parse().expect("tokens"));
        lowered.map(|all| all[0].module.to_string())
    };
    let (from, to) = ("local_tile(x, 4, 0)", "local_tile(y, 4, 0)");
    let ptx = lowered(&format!("copy({from}, {to}, (NO_ALLOCATE, L2_256B));")).expect("a copy");
    for access in [
        "ld.global.L1::no_allocate.L2::256B.v4.f32",
        "st.global.L1::no_allocate.v4.f32",
    ] {
        assert!(ptx.contains(access), "{access}: {ptx}");
    }
    let part = "let part = fragment::<f32>(layout!((1,4):(0,1)));";
    for hint in ["L2_256B", "(NO_ALLOCATE, L2_256B)"] {
        let error = lowered(&format!(
            "{part} fill(part, 0.0); copy(part, {to}, {hint});"
        ));
        assert_eq!(
            error.unwrap_err().to_string(),
            "a store fetches nothing: L2_64B, L2_128B and L2_256B belong to loads"
        );
    }
    for hint in [
        "(L2_256B, NO_ALLOCATE)",
        "(NO_ALLOCATE, EVICT_LAST)",
        "RELAXED",
    ] {
        let error = lowered(&format!("{part} copy({from}, part, {hint});"));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("or two of these as in (NO_ALLOCATE, L2_256B)"),
            "{error}"
        );
    }
}

/// The addresses of a thread's 32 values are one register and immediates.
#[test]
fn softmax_is_short() {
    let lowered = kernel(
        "#[kernel(threads = 128)]
        fn softmax(
            #[facts(aligned(x, 16), extent(x, 1) % 8 == 0)] x: Global<bf16, 2>,
            #[facts(aligned(y, 16), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))] y: Global<bf16, 2>,
        ) {
            let row = fragment::<bf16>(layout!(((32,4),(8,4)):((8@1,1@0),(1@1,256@1))));
            copy_or(local_tile(x, (4, 1024), (block_idx().0, 0)), row, bf16::NEG_INFINITY);
            let v = convert::<f32>(row);
            let e = exp_fast(v - reduce(v, 1, max));
            let p = e * rcp_fast(reduce(e, 1, add));
            copy_inside(convert::<bf16>(p), local_tile(y, (4, 1024), (block_idx().0, 0)));
        }",
    );
    let text = lowered.module.to_string();
    let count = |mnemonic: &str| {
        let lines = text.lines().filter_map(|line| line.split("//").next());
        lines.filter(|line| line.contains(mnemonic)).count()
    };
    assert_eq!((count("ld.global"), count("st.global")), (4, 4), "{text}");
    // Of the addresses: a product with a stride each, and what leads to it.
    assert_eq!(
        (count("mul.lo.u64"), count("add.u64"), count("cvt.u64")),
        (2, 4, 4),
        "{text}"
    );
    // One comparison of the row, and one for each vector.
    assert_eq!(count("setp"), 2 * (1 + 4), "{text}");
    judge(&[lowered]);
}

#[test]
fn accesses_are_proven_by_the_conditions_around_them() {
    let proven = [
        "y[0] = x[(0, 63)];",
        "if thread() < n { y[thread()] = x[(thread(), thread() % 64)]; }",
        "let i = block_idx().0 * 128 + thread(); if i < extent(z, 0) { z[i] *= 2.0; }",
        "let i = thread(); if i < n && z[0] > 1.0 { y[i] = 0.0; }",
        "let i = thread(); if i < n && y[i] > 1.0 { y[i] = 0.0; }",
        "let i = thread(); let j = i + 5; if !(i >= n) & (j < extent(x, 1)) { x[(i, j)] = 0.0; }",
        "let i = thread(); if i >= n { return; } y[i] = 1.0;",
        "let i = thread(); if i >= n || i > 63 { return; } x[(i, i)] = 1.0;",
        "let i = thread(); if n <= i { y[0] = 0.0; } else { y[i] = 1.0; }",
        "for i in 0..n { y[i] = 1.0; for j in 0..extent(x, 1) { x[(i, j)] = 0.0; } }",
        "for i in thread()..extent(z, 0) { if i == 7 { continue; } z[i] = 1.0; }",
        "#[unroll(4)] for i in 0..n { y[i] = 1.0; }",
        "let row = x[(n - 1, _)]; let i = n - 1; if i < n { x[(i, _)][5] = 1.0; }",
        "let first = |i: u32| if i < n { y[i] } else { 0.0 }; z[0] = first(thread());",
        "let v = fragment::<f32>((1, 4)); let i = thread(); if i < n { copy(local_tile(x, (1, 4), (i, 15)), v); }",
        "let i = s as u32; if i < n { y[i] = 1.0; }",
        "let i = thread(); let j = if i < n { i } else { return; }; y[j] = 1.0;",
        "let i = thread(); let p = if i < n { true } else { false }; if p { y[i] = 1.0; }",
        "let i = thread(); match i { 0..=63 => { x[(0, i)] = 1.0; } _ => {} }",
        "let i = thread(); if i >= n || { y[i] = 1.0; false } { return; } y[i] = 2.0;",
        "x[(0, min(thread(), 63))] = x[(0, clz(n) % 50)];",
        "let i = thread() as u64; if i < extent(z, 0) as u64 { } if thread() < extent(z, 0) { atomic_add(z, thread(), 1.0); }",
        // An extent is at least 1.
        "z[thread() % extent(z, 0)] = 1.0; z[min(thread(), extent(z, 0) - 1)] = 2.0;",
        "x[(n % extent(x, 0), (thread() & 63) / extent(z, 0))] = x[(0, thread() % 64 % extent(z, 0))];",
        "for i in 0..extent(z, 0) { for j in 0..i { z[j] = 1.0; } }",
        "x[(0, block_idx().0 % 50)] = 0.0; if thread() == 5 { x[(0, thread())] = 0.0; }",
        "let i = thread(); assert!(i < n && i < 64); x[(i, i)] = y[i];",
        "let i = thread(); if i >= n { assert!(i < extent(z, 0), \"{}\", i); z[i] = 0.0; }",
    ];
    for body in proven {
        let lowered = safe("", body).unwrap_or_else(|error| panic!("{body}: {error}"));
        judge(&lowered);
    }
    let refused = [
        "y[1] = 0.0;",
        "x[(0, 64)] = 0.0;",
        "if thread() <= n { y[thread()] = 0.0; }",
        "if thread() < n { z[thread()] = 0.0; }",
        "if thread() < n { } y[thread()] = 0.0;",
        "if thread() < n { } else { y[thread()] = 0.0; }",
        "if thread() < extent(y, 0) { x[(thread(), 0)] = 0.0; }",
        "let mut i = thread(); if i < n { i += 1; y[i] = 0.0; }",
        "let mut i = 0; while i < n { y[i] = 0.0; i += 1; }",
        "let i = thread(); if i < n || y[i] > 1.0 { z[0] = 0.0; }",
        "let i = thread(); if i < n || i < 5 { y[i] = 0.0; }",
        "let i = thread(); if i >= n && i > 5 { return; } y[i] = 0.0;",
        "let i = thread(); loop { if i >= n { break; } } y[i] = 0.0;",
        "let i = thread(); for k in 0..n { if i >= n { continue; } } y[i] = 0.0;",
        "for i in 0..n + 1 { y[i] = 0.0; }",
        "for i in 0..n { y[i + 1] = 0.0; }",
        "if s < 5 { y[s] = 0.0; }",
        "for i in s..5 { x[(0, i)] = 0.0; }",
        "for mut i in 0..n { i += 1; y[i] = 0.0; }",
        "let i = thread(); if i >= n { return; } for k in 0..n { if i > 5 { break; } } z[i] = 0.0;",
        "let i = thread(); let check = || if i >= n { return; }; check(); y[i] = 0.0;",
        "let mut i = thread(); let small = || i < n; if small() { i += 100; y[i] = 0.0; }",
        "let i = thread(); if (i < n) & (y[i] > 1.0) { z[0] = 0.0; }",
        "let i = thread(); if i < n || { z[0] = 0.0; true } { y[i] = 0.0; }",
        "let i = n as u64 * 4294967296 + 5; if (i as u32) < n { y[i] = 0.0; }",
        "let i = (s as i8) as u16; if i < 64 { x[(0, (s as i8) as u32)] = 0.0; }",
        "let v = fragment::<u32>(1); fill(v, 5); if v[0] < n { v[0] = 1000; y[v[0]] = 0.0; }",
        "let t = local_tile(z, 128, block_idx().0); if thread() < extent(z, 0) { t[thread()] = 0.0; }",
        // A division by 0 gives any number.
        "x[(0, (thread() & 63) / block_idx().0)] = 0.0;",
        "x[(0, n % (block_idx().0 & 63))] = 0.0;",
        "let v = fragment::<f32>((1, 4)); copy(local_tile(x, (1, 4), (thread(), 15)), v);",
        "let v = fragment::<f32>((1, 4)); if thread() < n { copy(local_tile(x, (1, 4), (thread(), 16)), v); }",
        "let v = ptx!(f32: \"ld.global.f32\", [y[0]]);",
        // A number that may be 0, as s or the extent of nothing, and a difference that may wrap.
        "z[thread() % (s as u32)] = 1.0;",
        "z[min(thread(), n - 2)] = 1.0;",
        "z[min(thread(), extent(z, 0) - 2)] = 1.0;",
        "z[max(thread(), extent(z, 0) - 1)] = 1.0;",
        "z[thread() % n] = 1.0;",
        "y[thread() % extent(y, 0) + 1] = 1.0;",
        "let mut m = extent(z, 0); let i = thread() % m; m = 1; z[i] = 1.0;",
        "let mut i = thread() % extent(z, 0); i += 1; z[i] = 1.0;",
        "let mut last = 0; for i in 0..n { last = i + 1; } y[last] = 1.0;",
        // What is known in lines that not every thread runs.
        "let i = thread(); if i > 5 { assert!(i < n); } y[i] = 1.0;",
        "let i = thread(); if i > 5 && { assert!(i < n); true } { z[0] = 1.0; } y[i] = 1.0;",
        "let i = thread(); assert!(i < 100, \"{}\", { assert!(i < n); i }); y[i] = 1.0;",
        "let i = thread(); for k in 0..n { assert!(i < n); } y[i] = 1.0;",
        "let i = thread(); let check = |p| if p { assert!(i < n); }; check(i > 5); y[i] = 1.0;",
        "let i = thread(); let j = match i { 0 => { assert!(i < n); 0 } _ => 1 }; y[i] = 1.0;",
        "let i = thread(); let p = i < n; let q = p ^ (i > 5); if q { y[i] = 1.0; }",
        "let mut i = thread(); assert!(i < n); i += 1; y[i] = 1.0;",
        "let f = fragment::<u32>(1); f[0] = thread() % 64; let g = f % 64; g[0] = 1000; x[(0, g[0])] = 0.0;",
        "let f = fragment::<u32>(1); fill(f, n); let g = f % 64; copy(f, g); x[(0, g[0])] = 0.0;",
        "let mut i = thread(); let mut bump = || { i += 100; }; if i < n { bump(); y[i] = 0.0; }",
        "let mut i = thread(); let r = &mut i; if *r < n { *r += 9; y[*r] = 0.0; }",
        "let i = thread(); { let i = i + 1; if i < n { z[0] = 0.0; } } if i < 5 { y[i] = 0.0; }",
        "let i = thread(); if i < n { let i = i + 1; y[i] = 0.0; }",
        "let i = n as u64 * 4294967296; if i < 64 { x[(0, (n * 7) as u64)] = 0.0; }",
        "let i = s; if i < 64 { x[(0, i)] = 0.0; }",
        "let i = (s as i64) as u64; if s < 64 { x[(0, i)] = 0.0; }",
        "let t = local_tile(z, 128, block_idx().0); t[thread() % 128] = 0.0;",
        // A sum that may be below 0.
        "let i = (thread() & 31) as i32 + -8; x[(0, i as u32)] = 0.0;",
        "let v = fragment::<f32>((1, 4)); copy(domain_offset((0, -1), local_tile(x, (1, 4), (0, 0))), v);",
        "let v = fragment::<f32>((1, 4)); let d = -((thread() & 7) as i32); copy(domain_offset((0, d), local_tile(x, (1, 4), (0, 1))), v);",
        "let v = fragment::<f32>((1, 4)); let d = (thread() & 31) as i32 + -8; copy(domain_offset((0, d), local_tile(x, (1, 4), (0, 0))), v);",
        "let v = fragment::<f32>((1, 4)); copy(domain_offset((0, 61), local_tile(x, (1, 4), (0, 0))), v);",
    ];
    for body in refused {
        let error = match safe("", body) {
            Ok(_) => panic!("{body} is taken"),
            Err(error) => error.to_string(),
        };
        let expected = "nothing proves that this access is inside of `";
        assert!(error.starts_with(expected), "{body}: {error}");
    }
    let wrong = [
        "for i in 0..n { let r = &mut i; *r += 1; y[i] = 0.0; }",
        "let i = thread() % 64; let r = &mut i; *r = 1000; x[(0, i)] = 0.0;",
        "let i = thread() % 64; let t = (i, 0); t.0 = 1000; x[(0, i)] = 0.0;",
        "let v = fragment::<f32>((1, 4)); copy(local_tile(x, (1, 4), (0, -1)), v);",
        "let v = fragment::<f32>(8); copy(composition(get(local_tile(x, (1, 8), (0, 0)), 1), layout!(8:-1)), v);",
        "let t = local_tile(x, (1, 8), (0, 1)); let u = t[(0, -1)];",
    ];
    for body in wrong {
        assert!(safe("", body).is_err(), "{body} is taken");
    }
}

/// An extent that is a number parameter, or known, is not passed, so that a fact says that it is no greater than others.
#[test]
fn extents_that_are_not_passed_are_of_32_bits() {
    let facts = |fact: &str, body: &str| -> Vec<String> {
        let lowered = kernel(&format!(
            "#[kernel(threads = 1)]
            fn k(#[facts({fact})] x: Global<u8, 2>, n: u32, d: i32) {{
                let f = fragment::<u8>(4);
                {body}
            }}"
        ));
        let facts = lowered.facts.into_iter();
        facts.map(|fact| fact.text).skip(1).collect()
    };
    let moved = "copy_or(domain_offset((d, 0), local_tile(x, (4, 1), (0, 0))), f, 0);";
    let limit = |mode| format!("extent(x, {mode}) <= 2147483648");
    assert_eq!(facts("extent(x, 0) == n", moved), [limit(0)]);
    assert_eq!(facts("extent(x, 0) == 3000000000", moved), [limit(0)]);
    assert_eq!(facts("extent(x, 0) == 300", moved), [""; 0]);
    assert_eq!(facts("extent(x, 0) >= n", moved), [""; 0]);
}

/// A tensor has elements, since a launch refuses one that has none. But a part of it may have none, and then no first element either.
#[test]
fn the_first_element_of_a_part_that_may_be_empty_is_not_proven() {
    for body in [
        "let part = z[s as u32..extent(z, 0)]; z[0] = part[0];",
        "let part = z[0..s as u32]; part[0] = 1.0;",
        "let part = z[thread()..thread()]; part[0] = 1.0;",
        "let part = z[0..n - 1]; part[0] = 1.0;",
        "let part = x[(s as u32..n, _)]; part[(0, 0)] = 1.0;",
        "let part = x[(_, 64..extent(x, 1))]; part[(0, 0)] = 1.0;",
        "let part = x[(0, s as u32..64)]; part[0] = 1.0;",
        "let part = z[0..s as u32]; part[min(thread(), extent(part, 0) - 1)] = 1.0;",
        "let part = z[0..s as u32]; part[thread() % extent(part, 0)] = 1.0;",
        "let part = z[0..s as u32]; z[extent(part, 0) - 1] = 1.0;",
        "let part = z[0..s as u32]; local_tile(part, 1, 0)[0] = 1.0;",
        "let part = z[0..s as u32]; let inner = part[0..8]; inner[0] = 1.0;",
        "let part = z[0..s as u32]; if n > 0 { part[0] = 1.0; }",
        "let v = fragment::<f32>(1); copy(local_tile(z[0..s as u32], 1, 0), v);",
    ] {
        let error = match safe("", body) {
            Ok(_) => panic!("{body} is taken"),
            Err(error) => error.to_string(),
        };
        let expected = "nothing proves that this access is inside of `";
        assert!(error.starts_with(expected), "{body}: {error}");
    }
    // The tensors have elements.
    let body = "z[0] = x[(0, 0)] + y[0];";
    safe("", body).unwrap_or_else(|error| panic!("{body}: {error}"));
}

/// As an unsigned integer, -1 is above every extent.
#[test]
fn facts_about_signed_numbers_prove_nothing_of_unsigned_ones() {
    for (fact, ty, is_proven) in [
        ("m <= extent(y, 0)", "u32", true),
        ("m <= extent(y, 0)", "i32", false),
        ("m <= extent(y, 0), m >= 0", "i32", true),
    ] {
        let source = format!(
            "mod kernels {{
                #[kernel(threads = 128)]
                fn k(#[facts({fact})] y: Global<f32, 1>, m: {ty}) {{
                    if thread() < m as u32 {{ y[thread()] = 1.0; }}
                }}
            }}"
        );
        let lowered = lower(source.parse().expect("tokens"));
        assert_eq!(lowered.is_ok(), is_proven, "{fact} {ty}");
    }
}

/// The right side of `&&` and `||` accesses nothing where the left side decides, even if its own value is known.
#[test]
fn an_access_on_the_right_of_a_condition_is_guarded() {
    for (condition, counts) in [
        ("i < extent(x, 0) && { x[i] += 1; true }", 2),
        ("i < extent(x, 0) && { x[i] += 1; false }", 1),
        ("!(i >= extent(x, 0) || { x[i] += 1; false })", 2),
        ("!(i >= extent(x, 0) || { x[i] += 1; true })", 1),
        ("i < extent(x, 0) && { x[i] += 1; x[i] > 0 }", 2),
        ("i < extent(x, 0) && { x[i] += 1; x[i] > 5 }", 1),
    ] {
        let lowered = kernel(&format!(
            "#[kernel(threads = 32)] fn k(x: Global<u32, 1>) {{
                let i = thread();
                if {condition} {{ x[i] += 1; }}
            }}"
        ));
        let mut x = [Array::compact(4, &[5], |_| 0)];
        run(&lowered, [1, 1, 1], &mut x);
        assert_eq!(x[0].data, [counts; 5], "{condition}");
        judge(&[lowered]);
    }
}

/// A name keeps its value, and with it what is proven of it.
#[test]
fn nothing_but_an_assignment_changes_a_name() {
    let lowered = kernel(
        "#[kernel(threads = 1)] fn k(#[facts(extent(x, 0) >= 64)] x: Global<u32, 1>) {
            let f = fragment::<u32>(2);
            fill(f, 5);
            let j = thread() & 63;
            let g = map(f, |_, _| j);
            g[0] = 1000;
            x[j] = g[0] + g[1] + 1;
        }",
    );
    let mut x = [Array::compact(4, &[64], |_| 0)];
    run(&lowered, [1, 1, 1], &mut x);
    assert_eq!(x[0].data[0], 1001);
    let written = "mod kernels {
        #[kernel(threads = 128)] fn k(x: Global<u32, 1>) {
            let i = thread();
            if i < extent(x, 0) { ptx!(\"add.u32\", i, i, 100); x[i] = 1; }
        }
    }";
    let error = lower(written.parse().expect("tokens")).err();
    let expected =
        "`add.u32` writes its operand 1: give the type of the result instead, `ptx!(T: …)`";
    assert_eq!(
        error.map(|error| error.to_string()).as_deref(),
        Some(expected)
    );
}

/// A value that some way through a function does not compute is none.
#[test]
fn a_return_without_a_value_leaves_no_value() {
    for index in [
        "f(thread(), n)",
        "(|i: u32| { if i >= n { return; } i % 64 })(thread())",
        "(|i: u32| if i >= n { return; } else { i % 64 })(thread())",
    ] {
        let source = format!(
            "mod kernels {{
                #[kernel(threads = 128)]
                fn k(#[facts(extent(x, 0) >= 64)] x: Global<u32, 1>, n: u32) {{ x[{index}] = 1; }}

                fn f(i: u32, n: u32) -> u32 {{ if i >= n {{ return; }} i % 64 }}
            }}"
        );
        let error = lower(source.parse().expect("tokens")).err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            error.contains("expected `u32`, found `()`")
                || error.contains("give `()` and a run-time `u32`: all of them give a value"),
            "{index}: {error}"
        );
    }
}

/// A condition that is known to be false runs nevertheless, once.
#[test]
fn a_loop_that_never_runs_keeps_its_condition() {
    for condition in [
        "if i >= extent(x, 0) { return; } else { false }",
        "{ if i >= extent(x, 0) { return; } x[i] += 1; false }",
    ] {
        let lowered = kernel(&format!(
            "#[kernel(threads = 32)] fn k(x: Global<u32, 1>) {{
                let i = thread();
                while {condition} {{ x[i] += 100; }}
                if i < extent(x, 0) {{ x[i] += 1; }}
            }}"
        ));
        let mut x = [Array::compact(4, &[5], |_| 0)];
        run(&lowered, [1, 1, 1], &mut x);
        let once = u64::from(condition.contains("+=")) + 1;
        assert_eq!(x[0].data, [once; 5], "{condition}");
        judge(&[lowered]);
    }
}

/// A kernel that is no `unsafe fn`: x is of extents (n, at least 64), y of n elements or more.
fn safe(attribute: &str, body: &str) -> Result<Vec<Lowered>, syn::Error> {
    let source = format!(
        "mod kernels {{
            const ON: bool = true;
            #[kernel(threads = 128, {attribute})]
            fn k(
                #[facts(extent(x, 0) == n, extent(x, 1) >= 64)] x: Global<f32, 2>,
                #[facts(n <= extent(y, 0))] y: Global<f32, 1>,
                z: Global<f32, 1>,
                n: u32,
                s: i32,
            ) {{ {body} }}
        }}"
    );
    lower(source.parse().expect("tokens"))
}

#[test]
fn accesses_that_nothing_proves_are_checked_once() {
    let tile = "let t = smem::<f32>(layout!((8,16):(16,1)));";
    for (body, checks) in [
        ("y[0] = 1.0;", 0),
        ("let i = thread(); if i < n { y[i] = 1.0; }", 0),
        ("y[1] = 1.0;", 1),
        ("y[s] = 1.0;", 1),
        ("y[thread()] += 1.0;", 1),
        ("atomic_add(z, thread(), 1.0);", 1),
        ("let i = thread(); x[(i, 5)] = x[(i, i)] + y[i];", 1),
        ("let i = thread() as u64; y[i] = y[i] + y[i];", 1),
        ("let i = thread(); y[i] = z[i] + z[i];", 2),
        ("let i = thread(); assert!(i < n); y[i] = 1.0;", 1),
        (
            "let i = thread(); if i < n { y[i] = 1.0; } y[i] = 2.0; y[i] = 3.0;",
            1,
        ),
        ("let i = thread(); if i > 5 { y[i] = 1.0; } y[i] = 2.0;", 2),
        (
            "let i = thread(); if i > 5 && y[i] > 1.0 { } y[i] = 2.0;",
            2,
        ),
        (
            "let i = thread(); while y[i] > 1.0 && false { } y[i] = 2.0;",
            1,
        ),
        (
            "let v = fragment::<f32>((1, 4)); copy(local_tile(x, (1, 4), (thread(), 16)), v);",
            1,
        ),
        (
            "let v = fragment::<f32>((1, 4)); copy(local_tile(x, (1, 4), (0, 15)), v);",
            0,
        ),
        (
            &format!("{tile} t[(thread() / 16, thread() % 16)] = 0.0;"),
            0,
        ),
        (
            &format!("{tile} t[(n, thread() % 16)] = 0.0; t[(n, 0)] = 1.0;"),
            1,
        ),
        (&format!("{tile} let row = t[(s, _)]; row[n] = 1.0;"), 2),
        ("let ready = mbarriers(2, 1); arrive(ready[n % 2]);", 0),
        ("let ready = mbarriers(2, 1); arrive(ready[n]);", 1),
    ] {
        let lowered = safe("checked", body).unwrap_or_else(|error| panic!("{body}: {error}"));
        let text = lowered[0].module.to_string();
        assert_eq!(text.matches("trap;").count(), checks, "{body}\n{text}");
        judge(&lowered);
    }
}

#[test]
fn checks_are_wanted_by_an_attribute() {
    let body = "y[thread()] = 1.0;";
    for attribute in ["checked", "checked = true", "checked = ON"] {
        assert!(safe(attribute, body).is_ok(), "{attribute}");
    }
    for (attribute, body, expected) in [
        (
            "checked = !ON",
            body,
            "nothing proves that this access is inside of `y`: put it under a condition by which its coordinate in mode 0 is \
             below `extent(y, 0)`, or state the fact `extent(y, 0) >= 128`, by which a launch with a smaller tensor is refused, or let \
             the kernel check it when it runs, `#[kernel(…, checked)]`, or make `k` an `unsafe fn`, whose launch relies on its caller",
        ),
        (
            "checked = false",
            "y[n] = 1.0;",
            "nothing proves that this access is inside of `y`: put it under a condition by which its coordinate in mode 0 is \
             below `extent(y, 0)`, or let",
        ),
        (
            "cluster = (1, 1, 1)",
            "let v = fragment::<f32>((1, 4)); copy(local_tile(x, (1, 4), (0, n)), v);",
            "nothing proves that this access is inside of `x`: use `copy_or`, or let",
        ),
        (
            "checked",
            "let v = ptx!(f32: \"ld.global.f32\", [y[0]]);",
            "nothing proves that this access is inside of `y`, since an instruction may access more than an element: make `k` \
             an `unsafe fn`",
        ),
        ("checked = 1", body, "expected `true` or `false`, found"),
        ("checked, checked", body, "`checked` is given twice"),
        ("check", body, "expected `=`"),
        (
            "check = true",
            body,
            "expected `threads`, `target`, `cluster`, `resident` or `checked`, found `check`",
        ),
    ] {
        let error = safe(attribute, body).err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with(expected), "{attribute} {body}: {error}");
    }
}

#[test]
fn a_remedy_is_one_that_can_be_followed() {
    let tile = "use `copy_or`";
    let under =
        "put it under a condition by which its coordinate in mode 0 is below `extent(z, 0)`";
    for (body, expected) in [
        // No tensor is as large as the grid may be.
        ("z[block_idx().0] = 1.0;", format!("{under}, or let")),
        ("z[block_idx().1 * 2] = 1.0;", format!("{under}, or let")),
        (
            "z[thread() * 8] = 1.0;",
            format!("{under}, or state the fact `extent(z, 0) >= 1017`, by which"),
        ),
        (
            "z[5000000] = 1.0;",
            format!("{under}, or state the fact `extent(z, 0) >= 5000001`, by which"),
        ),
        (
            "copy(local_tile(z, 4, block_idx().0), fragment::<f32>(4));",
            format!("{tile}, or let"),
        ),
        (
            "let v = fragment::<f32>(4); fill(v, 0.0); copy(v, local_tile(z, 4, block_idx().0));",
            "use `copy_inside`, or let".to_owned(),
        ),
    ] {
        let error = safe("checked = false", body).err().expect(body).to_string();
        let expected = format!("nothing proves that this access is inside of `z`: {expected}");
        assert!(error.starts_with(&expected), "{body}: {error}");
    }
    let body = "copy(local_tile(x, (1, 4), (block_idx().0, 0)), fragment::<f32>((1, 4)));";
    let error = safe("checked = false", body).err().expect(body).to_string();
    let expected = format!(
        "nothing proves that this access is inside of `x`: {tile}, or put it under a condition by which its coordinate in mode 0 \
         is below `extent(x, 0)`, or let"
    );
    assert!(error.starts_with(&expected), "{error}");
}

/// A bulk copy has no form that copies only the elements inside.
#[test]
fn a_bulk_copy_has_other_remedies() {
    let module = |body: &str| {
        let module = format!(
            "mod kernels {{ #[kernel(threads = 32)] fn k(#[facts(aligned(z, 16))] z: Global<f32, 1>) {{ {body} }} }}"
        );
        lower(module.parse().expect("tokens"))
    };
    let under =
        "let i = block_idx().0; if i * 4 + 3 < extent(z, 0) { prefetch(local_tile(z, 4, i)); }";
    assert_eq!(module(under).err().map(|error| error.to_string()), None);
    for (body, expected) in [
        (
            "copy_async(local_tile(z, 4, block_idx().0), smem::<f32>(4), mbarriers(1, 1)[0]);",
            "use `copy_async` without a barrier, which writes 0 for elements outside, or let",
        ),
        (
            "copy_async(smem::<f32>(4), local_tile(z, 4, block_idx().0));",
            "use `copy_inside` from a fragment, or let",
        ),
        (
            "prefetch(local_tile(z, 4, block_idx().0));",
            "put it under a condition by which its last coordinate in mode 0, `i + 3` where its first is `i`, is below `extent(z, 0)`, or let",
        ),
    ] {
        let error = module(body).err().expect(body);
        let expected = format!(
            "nothing proves that this access is inside of `z`: {expected} the kernel check it"
        );
        assert!(error.to_string().starts_with(&expected), "{body}: {error}");
    }
}

/// A condition on a `let mut` variable proves nothing, and one on a copy of it does.
#[test]
fn variables_are_copied_where_a_condition_holds() {
    let body = |condition: &str, access: &str| {
        format!(
            "let n = extent(z, 0); let mut j = thread(); let mut p = (j, j); let a = [1.0, 2.0, 3.0];
             while {condition} {{ {access} j += 128; p.1 += 128; }}"
        )
    };
    for (condition, access) in [
        ("j < n", "let k = j; if k < n { z[k] = 1.0; }"),
        ("j < n", "let k = j; if k < n && k > 0 { z[k - 1] = 1.0; }"),
        ("p.1 < n", "let k = p.1; if k < n { z[k] = 1.0; }"),
        // The number of a loop does not change within a pass.
        ("j < n", "for i in 0..j { if i < n { z[i] = 1.0; } }"),
        ("j < 3", "let k = j; if k < 3 { let v = a[k]; }"),
    ] {
        let body = body(condition, access);
        let error = safe("checked = false", &body).err();
        assert!(error.is_none(), "{body}: {error:?}");
    }
    let first = "its coordinate in mode 0";
    let inside = |what: &str, read: &str, copy: &str, under: &str| {
        format!(
            "{what} reads `{read}`, a `let mut` variable, whose conditions are not followed: copy it inside of the condition, \
             `let {copy} = {read};`, read `{copy}` from there on, and put the access under {under}, or "
        )
    };
    let below = "`if k < extent(z, 0) { … }`";
    let computed = "a condition by which its coordinate in mode 0 is below `extent(z, 0)`";
    for (condition, access, expected) in [
        ("j < n", "z[j] = 1.0;", inside(first, "j", "k", below)),
        ("true", "z[j] = 1.0;", inside(first, "j", "k", below)),
        (
            "j < n",
            "z[2 * j + 1] = 1.0;",
            inside(first, "j", "k", computed),
        ),
        (
            "j < n",
            "let v = z[j as u64]; j += v as u32;",
            inside(first, "j", "k", computed),
        ),
        ("p.1 < n", "z[p.1] = 1.0;", inside(first, "p.1", "k", below)),
        (
            "j < 8",
            "let v = a[j];",
            inside("it", "j", "k", "`if k < 3 { … }`"),
        ),
        (
            "j < 8",
            "copy(local_tile(x, (1, 4), (j, 0)), fragment::<f32>((1, 4)));",
            format!(
                "use `copy_or`, or a condition: {}",
                inside(first, "j", "k", "`if k < extent(x, 0) { … }`")
            ),
        ),
    ] {
        let body = body(condition, access);
        let error = safe("checked = false", &body).err().expect(&body);
        let error = error.to_string();
        assert!(error.contains(&expected), "{body}: {error}");
    }
}

/// `y[i - c]`, and `y[i + c]`, where y has extents that are at least those of x.
#[test]
fn neighbours_are_inside_where_nothing_wraps() {
    let proves = |condition: &str, access: &str| {
        let source = format!(
            "mod kernels {{ #[kernel(threads = 128)]
            fn k(x: Global<f32, 1>, #[facts(extent(x, 0) <= extent(y, 0), extent(x, 0) >= 4)] y: Global<f32, 1>, a: u32) {{
                let (t, i, n) = (thread(), block_idx().0 * 128 + thread(), extent(x, 0));
                if {condition} {{ y[{access}] = 1.0; }}
            }} }}"
        );
        lower(source.parse().expect("tokens")).map_err(|error| error.to_string())
    };
    for (condition, access) in [
        ("i > 0 && i < n", "i - 1"),
        ("i != 0 && i < n", "i - 1"),
        ("i >= 3 && i < n", "i - 3"),
        ("i >= 3 && i < n", "i - 2"),
        ("i > 2 && i <= n", "i - 3"),
        ("i >= a && i < n", "i - a"),
        ("i < n - 1", "i + 1"),
        ("i < n - 1", "i"),
        ("i < n - 3", "i + 2"),
        ("i < n - 4", "i + 4"),
        ("i <= n - 3", "i + 2"),
        ("i > 0 && i < n - 1", "i - 1"),
        ("t + 1 < n", "t"),
        ("t + 3 < n", "t + 2"),
        ("t > 0 && t + 1 < n", "t - 1"),
    ] {
        assert!(proves(condition, access).is_ok(), "{condition}: {access}");
    }
    let loops = "mod kernels { #[kernel(threads = 128)] fn k(x: Global<f32, 1>, a: u32) {
        for i in 1..extent(x, 0) { x[i] = x[i - 1]; }
        for i in a..extent(x, 0) { x[i] = x[i - a]; }
        for i in 1..extent(x, 0) - 1 { x[i] = x[i - 1] + x[i + 1]; }
    } }";
    assert!(lower(loops.parse().expect("tokens")).is_ok());
    let below =
        "put it under a condition by which its coordinate in mode 0 is below `extent(y, 0)`";
    for (condition, access, reason) in [
        // Each of these has an i for which the condition holds and the access is outside.
        ("i < n", "i - 1", below),
        ("i > 0 && i < n", "i - 2", below),
        ("i >= a && i <= n", "i - a", below),
        ("i < n - 1", "i + 2", below),
        ("i <= n - 3", "i + 3", below),
        (
            "i < n - 5",
            "i",
            "the condition around it is about `extent(y, 0) - 5`, which wraps around where the extent is smaller: state the fact `extent(y, 0) >= 5`",
        ),
        (
            "i > 0 && i + 1 < n",
            "i",
            "the condition around it is about a sum, `i + 1 < extent(y, 0)`, which holds for the greatest `i`, too, since it wraps around to 0: write `i < extent(y, 0) - 1`",
        ),
        (
            "i > 0 && i + 1 < n",
            "i - 1",
            "the condition around it is about a sum, `i + 1 < extent(y, 0)`",
        ),
        (
            "i <= n",
            "i",
            "the condition around it allows a coordinate of `extent(y, 0)` in mode 0: write `<` in place of `<=`",
        ),
        (
            "i < a",
            "i",
            "its coordinate in mode 0 is below `a`: state the fact `a <= extent(y, 0)`",
        ),
        (
            "(i as i32) < 5",
            "i as i32",
            "its coordinate in mode 0 is a signed `i32`, which may be below 0: make it unsigned",
        ),
        ("t + 1 < n", "t + 2", below),
    ] {
        let error = proves(condition, access).err().expect(condition);
        let expected = format!("nothing proves that this access is inside of `y`: {reason}");
        assert!(
            error.starts_with(&expected),
            "{condition}: {access}: {error}"
        );
    }
}

/// A known coordinate is inside where a condition says that the extent is larger, and nowhere else.
#[test]
fn known_coordinates_are_inside_under_conditions() {
    let lowered = |condition: &str, access: &str| {
        let module = format!(
            "mod kernels {{
                #[kernel(threads = 32)]
                fn k(x: Global<f32, 2>, y: [Global<f32, 1>; 4], n: u32) {{
                    let i = thread();
                    if {condition} {{ {access} }}
                }}
            }}"
        );
        lower(module.parse().expect("tokens")).map(|lowered| judge(&lowered))
    };
    let row = "if i < extent(x, 1) { x[(3, i)] = 1.0; }";
    let list = "if i < extent(x, 0) && i < extent(x, 1) { x[(i, i)] = extent(y[2], 0) as f32; }";
    for (condition, access) in [
        ("extent(x, 0) > 3", row),
        ("extent(x, 0) >= 4", row),
        ("extent(x, 0) == 5", row),
        ("!(extent(x, 0) <= 3)", row),
        ("n < 9 && 3 < extent(x, 0)", row),
        (
            "extent(x, 0) != 0",
            "if i < extent(x, 1) { x[(0, i)] = 1.0; }",
        ),
        ("y.len() > 2", list),
        ("y.len() == 4", list),
    ] {
        let lowered = lowered(condition, access).map_err(|error| error.to_string());
        assert_eq!(lowered, Ok(()), "{condition}");
    }
    for (condition, access) in [
        ("extent(x, 0) > 2", row),
        ("extent(x, 0) >= 3", row),
        ("extent(x, 0) != 3", row),
        ("extent(x, 0) != 0", row),
        ("extent(x, 0) < 9", row),
        ("extent(x, 1) > 3", row),
        ("n > 3", row),
        ("n > 9 || extent(x, 0) > 3", row),
        ("y.len() >= 2", list),
        ("y.len() != 0", list),
    ] {
        assert!(lowered(condition, access).is_err(), "{condition}");
    }
}
