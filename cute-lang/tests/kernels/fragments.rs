//! Arithmetic on fragments, and reductions of them.

use crate::judge;
use cute_emulator::{GlobalMemory, Launch, Program, Schedule};
use cute_lang::kernel::lower::{Lowered, lower};

/// The kernel of statements that compute a fragment `y` from a fragment `x` of that tile.
fn lowered(held: &str, element: &str, threads: usize, statements: &str) -> Lowered {
    let source = format!(
        "mod kernels {{
            #[kernel(threads = {threads})]
            unsafe fn k(a: Global<i32, 2>, d: Global<f32, 2>) {{
                let x = fragment::<{element}>({held});
                for v in 0..size(x) {{ x[v] = convert::<{element}>(a[x.coordinate(v)]); }}
                {statements}
                for v in 0..size(y) {{ d[y.coordinate(v)] = convert::<f32>(y[v]); }}
            }}
        }}"
    );
    lower(source.parse().expect("tokens"))
        .unwrap_or_else(|error| panic!("{statements}: {error}"))
        .remove(0)
}

/// Runs statements that compute a fragment `y` from a fragment `x` of that tile, and gives the elements of y by row and
/// column. The element of x in row i and column j is `value(i, j)`.
pub(crate) fn run(
    held: &str,
    element: &str,
    extents: [usize; 2],
    threads: usize,
    statements: &str,
    value: fn(usize, usize) -> i32,
) -> Vec<Vec<f32>> {
    run_as(held, element, extents, extents, threads, statements, value)
}

/// The same of a `y` with other extents, of as many elements.
fn run_as(
    held: &str,
    element: &str,
    [rows, columns]: [usize; 2],
    [_, new_columns]: [usize; 2],
    threads: usize,
    statements: &str,
    value: fn(usize, usize) -> i32,
) -> Vec<Vec<f32>> {
    let instance = lowered(held, element, threads, statements);
    let bytes = rows * columns * 4;
    let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let values = places.flat_map(|(i, j)| value(i, j).to_le_bytes());
    let values: Vec<u8> = values.collect();
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    let launch = |seed: u64| {
        let mut memory = GlobalMemory::new();
        let (a, d) = (
            memory.alloc(bytes, 128).unwrap(),
            memory.alloc(bytes, 128).unwrap(),
        );
        memory.write(a, &values).expect("room");
        let number = |number: u64| number.to_le_bytes().to_vec();
        let args = [a, columns as u64, d, new_columns as u64].map(number);
        let launch = Launch {
            block: [threads as u32, 1, 1],
            args: &args,
            dynamic_shared_bytes: instance.smem_bytes,
            schedule: Schedule::from_seed(seed),
            ..Launch::default()
        };
        program
            .launch(&mut memory, "k", &launch)
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
        let mut found = vec![0; bytes];
        memory.read(d, &mut found).expect("written");
        found
    };
    let found = launch(0);
    // Threads that exchange values do so in any order.
    for seed in 1..4 {
        assert!(
            instance.smem_bytes == 0 || launch(seed) == found,
            "{statements}: {seed}"
        );
    }
    judge(&[instance]);
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let row = |row: &[u8]| row.chunks(4).map(number).collect();
    found.chunks(new_columns * 4).map(row).collect()
}

/// A number without pattern, from -20 to 20.
pub(crate) fn value(i: usize, j: usize) -> i32 {
    ((i * 37 + 11) * (j * 53 + 7) % 41) as i32 - 20
}

pub(crate) const OF_A_WARP: &str =
    "composition(make_identity_layout((16, 8)), mma_atom(SM80_16x8x16_F32F16F16F32_TN, CLayout))";

/// The tiles that are reduced: how they are held, their extents, and the number of threads.
const TILES: &[(&str, [usize; 2], usize)] = &[
    ("wgmma_c(24)", [64, 24], 128),
    (OF_A_WARP, [16, 8], 32),
    // Two warps hold the same tile.
    (OF_A_WARP, [16, 8], 64),
    // CTAs that are no multiples of a warpgroup.
    (BY_ROWS_96, [96, 4], 96),
    (BY_COLUMNS_160, [4, 160], 160),
    (BY_WARPS_96, [6, 32], 96),
    (BY_WARPS_96, [6, 32], 192),
    ("wgmma_c(24)", [64, 24], 256),
    // Modes of extent 1, of which the layout of coordinates does not tell where they are behind the others.
    (COLUMN_AND_SHAPE, [32, 1], 32),
    (ROW, [1, 32], 32),
];

const COLUMN: &str = "composition(make_identity_layout((32, 1)), layout!((32,1)))";

const COLUMN_AND_SHAPE: &str =
    "composition(make_identity_layout((32, 1)), layout!((32,1))), (32, 1)";

const ROW: &str = "composition(make_identity_layout((1, 32)), layout!((32,1)))";

/// Each thread holds a row.
const BY_ROWS_96: &str = "composition(make_identity_layout((96, 4)), layout!((96,4):(1,96)))";

/// Each thread holds a column.
const BY_COLUMNS_160: &str = "composition(make_identity_layout((4, 160)), layout!((160,4):(4,1)))";

/// Each of three warps holds two rows; lanes are along rows and columns.
const BY_WARPS_96: &str =
    "composition(make_identity_layout((6, 32)), layout!(((2,16,3),2):((1,6,2),96)))";

/// The barrier of a group, where the tile is held by a part of the CTA.
fn barrier(held: &str, threads: usize) -> &'static str {
    match (held, threads) {
        ("wgmma_c(24)", 256) => ", warpgroup() + 1",
        (BY_WARPS_96, 192) => ", warp() / 3 + 4",
        _ => "",
    }
}

type Combine = fn(&mut dyn Iterator<Item = i32>) -> i32;

/// The operations, on integers.
const OPERATIONS: &[(&str, Combine)] = &[
    ("add", |row| row.sum()),
    ("max", |row| row.max().unwrap_or(i32::MIN)),
    ("min", |row| row.min().unwrap_or(i32::MAX)),
];

#[test]
fn modes_are_reduced() {
    for &(held, [rows, columns], threads) in TILES {
        for element in ["f32", "i32", "bf16", "f16"] {
            for (operation, expected) in OPERATIONS {
                if element.ends_with("f16") && *operation == "add" {
                    continue;
                }
                let barrier = barrier(held, threads);
                let reduced = |mode: usize| {
                    let statements = format!("let y = reduce(x, {mode}, {operation}{barrier});");
                    run(held, element, [rows, columns], threads, &statements, value)
                };
                // The emulator's memory is NaN where nothing was written.
                for (i, row) in reduced(1).iter().enumerate() {
                    let expected = expected(&mut (0..columns).map(|j| value(i, j)));
                    assert_eq!(row[0], expected as f32, "{held} {operation} {i}");
                    assert!(
                        row[1..].iter().all(|x| x.is_nan()),
                        "{held} {operation} {i}"
                    );
                }
                let found = reduced(0);
                for (j, found) in found[0].iter().enumerate() {
                    let expected = expected(&mut (0..rows).map(|i| value(i, j)));
                    assert_eq!(*found, expected as f32, "{held} {operation} {j}");
                }
                let rest = found[1..].iter().flatten();
                assert!(rest.clone().all(|x| x.is_nan()), "{held} {operation}");
            }
        }
    }
}

/// As in Rust, the elements of `[value; n]` are copies, also in a struct or a tuple: a change of one leaves the others.
#[test]
fn fragments_of_a_repeated_value_are_copies() {
    let value = |i: usize, _| i as i32 + 1;
    for (list, first, second) in [
        ("[z; 2]", "all[0]", "all[1]"),
        ("[(z, 1); 2]", "all[0].0", "all[1].0"),
        ("[[z; 1]; 2]", "all[0][0]", "all[1][0]"),
    ] {
        let statements = format!(
            "let z = fragment::<i32>({COLUMN_AND_SHAPE}); copy(x, z); let all = {list}; \
             for v in 0..size(z) {{ {second}[v] = 100 * {first}[v]; }} \
             let y = fragment::<i32>({COLUMN_AND_SHAPE}); \
             for v in 0..size(y) {{ y[v] = {second}[v] + {first}[v]; }}"
        );
        for (i, row) in run(COLUMN_AND_SHAPE, "i32", [32, 1], 32, &statements, value)
            .iter()
            .enumerate()
        {
            assert_eq!(row[0], 101.0 * value(i, 0) as f32, "{list}");
        }
    }
}

/// A fragment whose layout does not tell of a mode of extent 1 is that of a tile with such a mode, for copies and operations.
#[test]
fn a_mode_of_extent_1_may_be_left_out() {
    for copies in [
        "copy(local_tile(a, (32, 1), (0, 0)), z); let y = convert::<f32>(z + x);",
        "copy(local_tile(a, (32, 1), (0, 0)), z); let y = convert::<f32>(x + z);",
        "let s = smem::<i32>((32, 1)); copy(x, s); sync_threads(); copy(s, z); let y = convert::<f32>(x + z);",
    ] {
        let statements = format!("let z = fragment::<i32>({COLUMN}); {copies}");
        let found = run(COLUMN_AND_SHAPE, "i32", [32, 1], 32, &statements, value);
        for (i, row) in found.iter().enumerate() {
            assert_eq!(row[0], 2.0 * value(i, 0) as f32, "{copies}");
        }
    }
}

/// The coordinates of a fragment change their order, and its values stay where they are.
#[test]
fn modes_are_exchanged() {
    for &(held, [rows, columns], threads) in TILES {
        for (element, order) in [("f32", "transpose(x)"), ("bf16", "select(x, 1, 0)")] {
            let statements = format!("let y = {order};");
            let found = run_as(
                held,
                element,
                [rows, columns],
                [columns, rows],
                threads,
                &statements,
                value,
            );
            for (j, row) in found.iter().enumerate() {
                for (i, found) in row.iter().enumerate() {
                    assert_eq!(*found, value(i, j) as f32, "{held} {i} {j}");
                }
            }
            let statements = format!("let t = {order}; let y = x + transpose(t);");
            let found = run(held, element, [rows, columns], threads, &statements, value);
            for (i, row) in found.iter().enumerate() {
                assert_eq!(row[columns - 1], 2.0 * value(i, columns - 1) as f32);
            }
            let text = lowered(held, element, threads, &format!("let y = {order};"));
            let plain = lowered(held, element, threads, "let y = x;");
            let moves = |lowered: &Lowered| lowered.module.to_string().matches("mov.b").count();
            assert_eq!(moves(&text), moves(&plain), "{held}");
        }
    }
    // Of a warp, values move to where a fragment has them.
    let statements = "let y = redistribute(transpose(x), composition(make_identity_layout((8, 16)), layout!((32,4):(4,1))));";
    let found = run_as(OF_A_WARP, "f32", [16, 8], [8, 16], 32, statements, value);
    for (j, row) in found.iter().enumerate() {
        for (i, found) in row.iter().enumerate() {
            assert_eq!(*found, value(i, j) as f32, "{i} {j}");
        }
    }
}

#[test]
fn modes_of_tensors_and_layouts_are_exchanged() {
    let source = "mod kernels { #[kernel(threads = 32)] fn k(#[facts(extent(d, 0) == 8, extent(d, 1) == 4)] d: Global<f32, 2>) {
        assert!(transpose(layout!((4,8):(8,1))) == layout!((8,4):(1,8)));
        assert!(transpose(layout!(Sw<1,0,3> o (4,8):(8,1))) == layout!(Sw<1,0,3> o (8,4):(1,8)));
        let tile = smem::<f32>(layout!((4,8):(8,1)));
        assert!(shape(transpose(tile)) == (8, 4));
        copy(transpose(tile), local_tile(d, (8, 4), (0, 0)));
        copy(tile, transpose(local_tile(d, (8, 4), (0, 0))));
    } }";
    lower(source.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}"));
}

/// Of a fragment of one thread, the index of a value counts in the new order.
#[test]
fn modes_of_one_thread_are_exchanged() {
    let source = "mod kernels { #[kernel(threads = 1)] unsafe fn k(d: Global<f32, 1>) {
        let x = fragment::<f32>(layout!((2,3)));
        for v in 0..6 { x[v] = v as f32; }
        let y = transpose(x);
        y[(2, 1)] = 9.0;
        assert!(x[(1, 2)] == 9.0);
        for v in 0..6 { d[v] = y[v]; }
        let z = fragment::<f32>(layout!((2,3,2)));
        for v in 0..12 { z[v] = v as f32; }
        let z = select(z, 2, 0, 1);
        for i in 0..2 { for j in 0..2 { for k in 0..3 { d[6 + i + 2 * j + 4 * k] = z[(i, j, k)]; } } }
    } }";
    let instance = &lower(source.parse().expect("tokens")).expect("a kernel")[0];
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    let mut memory = GlobalMemory::new();
    let d = memory.alloc(18 * 4, 128).unwrap();
    let reports = memory.alloc(1 << 20, 128).unwrap();
    let args = [d, reports].map(|address| address.to_le_bytes().to_vec());
    let launch = Launch {
        args: &args[..1 + usize::from(!instance.reports.is_empty())],
        block: [1, 1, 1],
        ..Launch::default()
    };
    program
        .launch(&mut memory, "k", &launch)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut found = vec![0; 18 * 4];
    memory.read(d, &mut found).expect("written");
    let found: Vec<f32> = found
        .chunks(4)
        .map(|it| f32::from_le_bytes(it.try_into().expect("four")))
        .collect();
    assert_eq!(found[..6], [0.0, 2.0, 4.0, 1.0, 3.0, 9.0]);
    // (i, j, k) is what (j, k, i) was.
    let expected: Vec<f32> = (0..12)
        .map(|at| (at / 2 % 2 + 2 * (at / 4) + 6 * (at % 2)) as f32)
        .collect();
    assert_eq!(found[6..], expected);
}

#[test]
fn wrong_exchanges_of_modes() {
    for (text, message) in [
        (
            "let y = select(x, 0);",
            "a fragment of (16,8) keeps all its 2 modes, each once, in another order",
        ),
        (
            "let y = select(x, 1, 1);",
            "a fragment of (16,8) keeps all its 2 modes, each once, in another order",
        ),
        (
            "let y = select(x, 1, 2);",
            "a fragment of (16,8) has no mode 2; if the tile has more modes of extent 1, `fragment::<T>(layout, shape)` takes its shape",
        ),
        (
            "let y = transpose(fragment::<f32>(layout!((2,3,4))));",
            "`transpose` exchanges two modes, and this has 3: `select(x, …)` takes the modes in their new order",
        ),
        (
            "let y = transpose(1.0);",
            "`transpose` takes a fragment, a tensor or a layout here, not the number 1.0",
        ),
        (
            "let y = x + transpose(x);",
            "a fragment of (16,8) and one of (8,16) do not fit together: extents are equal, or 1",
        ),
    ] {
        let source = format!(
            "mod kernels {{ #[kernel(threads = 32)] fn k() {{ let x = fragment::<f32>({OF_A_WARP}); fill(x, 0.0); {text} }} }}"
        );
        let error = lower(source.parse().expect("tokens")).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}

#[test]
fn sums_are_reductions() {
    for &(held, [rows, columns], threads) in TILES {
        let barrier = barrier(held, threads);
        let statements = format!("let y = x - x.sum(0{barrier});");
        let found = run(held, "f32", [rows, columns], threads, &statements, value);
        for (j, found) in found[0].iter().enumerate() {
            let expected: i32 = (0..rows).map(|i| value(i, j)).sum();
            assert_eq!(*found, (value(0, j) - expected) as f32, "{held} {j}");
        }
    }
}

#[test]
fn both_modes_are_reduced() {
    for &(held, [rows, columns], threads) in TILES {
        let barrier = barrier(held, threads);
        let places = (0..rows).flat_map(|i| (0..columns).map(move |j| value(i, j)));
        let sum: i32 = places.sum();
        let statements = format!("let y = reduce(reduce(x, 0, add{barrier}), 1, add{barrier});");
        let found = run(held, "i32", [rows, columns], threads, &statements, value);
        assert_eq!(found[0][0], sum as f32, "{held}");
    }
}

/// Reductions in turn use the same scratch, also in a loop.
#[test]
fn reductions_follow_one_another() {
    let most = |j: usize| (0..64).map(|i| value(i, j)).max().unwrap_or(0);
    let sum = |j: usize| (0..64).map(|i| value(i, j)).sum::<i32>();
    for (threads, barrier) in [(128, ""), (256, ", warpgroup() + 1")] {
        let once = format!("let y = x - reduce(x, 0, max{barrier}) + reduce(x, 0, add{barrier});");
        let found = run("wgmma_c(24)", "i32", [64, 24], threads, &once, value);
        for (i, row) in found.iter().enumerate() {
            for (j, found) in row.iter().enumerate() {
                assert_eq!(*found, (value(i, j) - most(j) + sum(j)) as f32);
            }
        }
        let often = format!(
            "let y = x * 1; let mut n = a[(0, 0)] * 0; while n < 3 {{ y += reduce(x, 0, max{barrier}); n += 1; }}"
        );
        let found = run("wgmma_c(24)", "i32", [64, 24], threads, &often, value);
        for (i, row) in found.iter().enumerate() {
            for (j, found) in row.iter().enumerate() {
                assert_eq!(*found, (value(i, j) + 3 * most(j)) as f32);
            }
        }
    }
}

/// The readers of scratch are waited for where it is used again: in the next block, after a branch, in the next iteration of a
/// loop. The last ones are not.
#[test]
fn scratch_is_waited_for_where_it_is_used_again() {
    let most = |j: usize| (0..64).map(|i| value(i, j)).max().unwrap_or(0);
    // The statements, how often they add the greatest value of a column, and the barriers in their text.
    for (statements, times, barriers) in [
        ("y += reduce(x, 0, max);", 1, 1),
        (
            "{ y += reduce(x, 0, max); } { y += reduce(x, 0, max); }",
            2,
            3,
        ),
        ("for _ in 0..3 { y += reduce(x, 0, max); }", 3, 5),
        ("if n < 5 { y += reduce(x, 0, max); }", 0, 1),
        // The scratch of a branch is used again after the block around the `if`.
        (
            "if n > 4 { y += reduce(x, 0, max); } y += reduce(x, 0, max);",
            2,
            2,
        ),
        (
            "{ if n > 4 { y += reduce(x, 0, max); } } y += reduce(x, 0, max);",
            2,
            3,
        ),
        (
            "{ if n > 4 { y += reduce(x, 0, max); } else { y += reduce(x, 0, min); } } y += reduce(x, 0, max);",
            2,
            4,
        ),
        ("while n > 2 { y += reduce(x, 0, max); n -= 1; }", 3, 2),
        (
            "while n > 2 { if n > 4 { y += reduce(x, 0, max); } n -= 1; }",
            1,
            2,
        ),
        (
            "for _ in 2..n { y += reduce(x, 0, max); } y += reduce(x, 0, max);",
            4,
            4,
        ),
        (
            "#[unroll(3)] for _ in 2..n { y += reduce(x, 0, max); }",
            3,
            6,
        ),
        (
            "loop { y += reduce(x, 0, max); n -= 1; if n < 3 { break; } y += reduce(x, 0, max); }",
            5,
            4,
        ),
    ] {
        for (threads, barrier) in [(128, ""), (256, ", warpgroup() + 1")] {
            let statements =
                ["max", "min"]
                    .iter()
                    .fold(statements.to_owned(), |statements, operation| {
                        statements
                            .replace(&format!("{operation})"), &format!("{operation}{barrier})"))
                    });
            let statements = format!("let y = x * 1; let mut n = a[(0, 0)] * 0 + 5; {statements}");
            let found = run("wgmma_c(24)", "i32", [64, 24], threads, &statements, value);
            for (i, row) in found.iter().enumerate() {
                for (j, found) in row.iter().enumerate() {
                    let expected = value(i, j) + times * most(j);
                    assert_eq!(*found, expected as f32, "{statements}");
                }
            }
            let text = lowered("wgmma_c(24)", "i32", threads, &statements)
                .module
                .to_string();
            assert_eq!(text.matches("bar.sync").count(), barriers, "{text}");
        }
    }
}

/// The scratch of reductions is one allocation, beside tensors.
#[test]
fn scratch_is_shared() {
    let source = "mod kernels {
        #[kernel(threads = 128)]
        fn k() {
            { let t = smem::<f32>(128); t[thread()] = 1.0; }
            let x = fragment::<f32>(wgmma_c(64));
            for v in 0..size(x) { x[v] = thread() as f32; }
            for _ in 0..3 { x -= reduce(x, 0, max); }
            { let t = smem::<f32>(128); t[thread()] = x[0]; }
        }
    }";
    let instance = &lower(source.parse().expect("tokens")).expect("a kernel")[0];
    assert_eq!(
        instance.notes,
        [
            "shared memory 0..512, t: f32 at 128:1",
            // 16 values of a thread, and 4 lanes of each of 4 warps.
            "shared memory 512..1536: scratch of `reduce`",
            "shared memory 0..512, in turn with others, t: f32 at 128:1",
        ]
    );
    let text = instance.module.to_string();
    assert_eq!(text.matches("bar.sync").count(), 2 * 3 - 1, "{text}");
    // The parts of four warps in one load.
    assert_eq!(text.matches("ld.shared.v4.f32").count(), 3 * 16, "{text}");
}

#[test]
fn prefixes_along_a_mode() {
    for &(held, [rows, columns], threads) in TILES {
        for element in ["f32", "i32"] {
            for (operation, expected) in OPERATIONS {
                let barrier = barrier(held, threads);
                for (mode, function) in [(0, "scan"), (1, "scan"), (1, "scan_exclusive")] {
                    let statements =
                        format!("let y = {function}(x, {mode}, {operation}{barrier});");
                    let found = run(held, element, [rows, columns], threads, &statements, value);
                    let last = usize::from(function == "scan");
                    for (i, row) in found.iter().enumerate() {
                        for (j, found) in row.iter().enumerate() {
                            let mut down = (0..i + last).map(|i| value(i, j));
                            let mut along = (0..j + last).map(|j| value(i, j));
                            let expected = match mode {
                                0 => expected(&mut down) as f32,
                                _ => expected(&mut along) as f32,
                            };
                            let empty = j + last == 0 && mode == 1 && *operation != "add";
                            let expected = match (empty, element, *operation) {
                                (true, "f32", "max") => f32::NEG_INFINITY,
                                (true, "f32", _) => f32::INFINITY,
                                _ => expected,
                            };
                            assert_eq!(*found, expected, "{held}: {statements} ({i},{j})");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn arithmetic_is_done_for_each_value() {
    let most = |i: usize| (0..24).map(|j| value(i, j)).max().unwrap_or(0);
    // The type of elements, the statements, and the element of y at a coordinate.
    type Row<'a> = (&'a str, &'a str, &'a dyn Fn(usize, usize) -> i32);
    let rows: &[Row] = &[
        ("f32", "let y = x * 2.0 - x;", &value),
        ("f32", "let y = 3.0 * x;", &|i, j| 3 * value(i, j)),
        ("f32", "let y = -x;", &|i, j| -value(i, j)),
        ("i32", "let y = -x + 5;", &|i, j| 5 - value(i, j)),
        ("i32", "let y = x + 0;  x *= 3;", &value),
        ("i32", "let y = x ^ x & 3;", &|i, j| {
            value(i, j) ^ value(i, j) & 3
        }),
        ("f16", "let y = x * x + x;", &|i, j| {
            value(i, j) * value(i, j) + value(i, j)
        }),
        ("bf16", "let y = x + x;", &|i, j| 2 * value(i, j)),
        ("f32", "let y = max(x, x * -1.0);", &|i, j| {
            value(i, j).abs()
        }),
        ("f32", "let y = x - reduce(x, 1, max);", &|i, j| {
            value(i, j) - most(i)
        }),
        ("f32", "let y = reduce(x, 1, max) - x;", &|i, j| {
            most(i) - value(i, j)
        }),
        (
            "f32",
            "let y = fragment::<f32>(x); copy(x, y); y -= reduce(x, 1, max); y *= 2.0;",
            &|i, j| 2 * (value(i, j) - most(i)),
        ),
        ("f32", "let y = x; y += y; y -= y[0];", &|i, j| {
            2 * (value(i, j) - value(i / 8 * 8 / 16 * 16 + i % 8, j % 8 / 2 * 2))
        }),
        (
            "f32",
            "let m = fragment::<f32>(x, 1); copy(reduce(x, 1, max), m); m += 1.0; let y = x + m;",
            &|i, j| value(i, j) + most(i) + 1,
        ),
        (
            "f32",
            "let m = fragment::<f32>(wgmma_c(24), 1); for v in 0..size(m) { m[v] = 1.0; } let y = x * 1.0; y *= max(m, reduce(x, 1, max));",
            &|i, j| value(i, j) * most(i).max(1),
        ),
        // A fragment that is declared by `let mut` has registers of its own.
        (
            "f32",
            "let mut m = fragment::<f32>(x, 1); m.fill(1.0); m = max(m, reduce(x, 1, max)); let y = x + m;",
            &|i, j| value(i, j) + most(i).max(1),
        ),
        (
            "f32",
            "let mut m = x; let old = m; m = m + 1.0; let y = m - old + x;",
            &|i, j| value(i, j) + 1,
        ),
        (
            "f32",
            "let mut m = x; m += 1.0; m[0] = 9.0; let y = x;",
            &value,
        ),
        (
            "f32",
            "let mut m = x; let mut n = x * 2.0; (m, n) = (n, m); let y = m - n;",
            &value,
        ),
        (
            "i32",
            "let mut m = x * 0; let mut n = 0; while n < 3 { m = m + x; n += 1; } let y = m;",
            &|i, j| 3 * value(i, j),
        ),
        (
            "i32",
            "let mut pair = (x, 1i32); pair.0 = x + pair.1; let mut whole = pair; whole.0 *= 2; let y = pair.0 + whole.0;",
            &|i, j| 3 * (value(i, j) + 1),
        ),
        (
            "i32",
            "let mut m = x; let r = &mut m; *r = x * 2; let y = m;",
            &|i, j| 2 * value(i, j),
        ),
        (
            "i32",
            "let mut m = x; let add = |v| { m = m + v; }; add(1); add(2); let y = m;",
            &|i, j| value(i, j) + 3,
        ),
        ("bf16", "let mut m = x; m = m + x; let y = m;", &|i, j| {
            2 * value(i, j)
        }),
        ("f16", "let y = fragment::<f16>(x); y.fill(2.0);", &|_, _| 2),
        (
            "i8",
            "let y = fragment::<i8>(x); fill(y, -3i8);",
            &|_, _| -3,
        ),
    ];
    for (element, statements, expected) in rows {
        let found = run("wgmma_c(24)", element, [64, 24], 128, statements, value);
        for (i, row) in found.iter().enumerate() {
            for (j, found) in row.iter().enumerate() {
                let expected = expected(i, j) as f32;
                assert_eq!(*found, expected, "{statements} of {element} at ({i},{j})");
            }
        }
    }
}

/// A reduction exchanges registers once for each power of two of the lanes that share a row.
#[test]
fn lanes_of_a_row_are_exchanged_by_shuffles() {
    let source = "mod kernels {
        #[kernel(threads = 128)]
        fn k() {
            let x = fragment::<f32>(wgmma_c(64));
            for v in 0..size(x) { x[v] = thread() as f32; }
            let y = reduce(x, 1, max);
            x -= y;
        }
    }";
    let text = lower(source.parse().expect("tokens")).expect("a kernel")[0]
        .module
        .to_string();
    // Two rows of a thread, and four lanes to a row.
    assert_eq!(text.matches("shfl.sync.bfly").count(), 4, "{text}");
    assert_eq!(text.matches("max.f32").count(), 2 * (15 + 2), "{text}");
    assert_eq!(text.matches("sub.rn.f32").count(), 32, "{text}");
}

#[test]
fn functions_are_applied_to_each_value() {
    for &(held, extents, threads) in TILES {
        let check = |statements: &str, expected: &dyn Fn(usize, usize) -> f32| {
            let found = run(held, "f32", extents, threads, statements, value);
            for (i, row) in found.iter().enumerate() {
                for (j, found) in row.iter().enumerate() {
                    assert_eq!(*found, expected(i, j), "{held}: {statements} ({i}, {j})");
                }
            }
        };
        let x = |i, j| value(i, j) as f32;
        check("let y = map(x, |v| v * 2.0);", &|i, j| x(i, j) * 2.0);
        check(
            "let s = 3.0; let y = x.map(|v, (i, j)| if i == j { s } else { v });",
            &|i, j| if i == j { 3.0 } else { x(i, j) },
        );
        // A coordinate is a `u32`, also the one of a mode of extent 1.
        check("let y = map(x, |_, (i, _)| i);", &|i, _| i as f32);
        check(
            "let y = map(x, |_, (i, j)| { let at: u32 = 2 * i + j; at });",
            &|i, j| (2 * i + j) as f32,
        );
        check("let y = map(x, |_| 1.5);", &|_, _| 1.5);
        check("let y = map(x, abs);", &|i, j| x(i, j).abs());
        check("let y = max(x, 0.0);", &|i, j| x(i, j).max(0.0));
    }
}

/// The coordinates of a fragment of one thread, which are all known, are numbers of `u32`, too.
#[test]
fn known_coordinates_have_a_type() {
    let module = |body: &str| {
        let source = format!(
            "mod kernels {{ #[kernel(threads = 32)] fn k() {{
                let x = fragment::<f32>((2, 4)); fill(x, 0.0); {body}
            }} }}"
        );
        lower(source.parse().expect("tokens")).map_err(|error| error.to_string())
    };
    let sum = module("let y = map(x, |_, (i, j)| i + j); let z: u32 = y[0];");
    assert!(sum.is_ok(), "{:?}", sum.err());
    let error = module("let y = map(x, |v, (i, _)| v + i);").err();
    let error = error.expect("a number of `f32` and one of `u32`");
    assert!(
        error.starts_with("cannot apply `+` to a run-time `f32` and the integer 0u32"),
        "{error}"
    );
}

#[test]
fn fragments_are_held_in_another_way() {
    const OF_FOUR_WARPS: &str =
        "composition(make_identity_layout((64, 32)), layout!((128,16):(16,1)))";
    // How the tile is held before and after, its extents, the threads, and what the instructions are.
    let rows: &[(&str, &str, [usize; 2], usize, &str)] = &[
        // The same values, in another order.
        (
            "wgmma_c(32)",
            "composition(wgmma_c(32), layout!((128,((2,2),4)):(1,((256,128),512))))",
            [64, 32],
            128,
            "mov",
        ),
        // Lanes exchange halves.
        (
            "composition(make_identity_layout((32, 2)), layout!((32,2):(1,32)))",
            "composition(make_identity_layout((32, 2)), layout!(((2,2,8),2):((2,1,4),32)))",
            [32, 2],
            32,
            "shfl",
        ),
        ("wgmma_c(32)", OF_FOUR_WARPS, [64, 32], 128, "st.shared"),
        (OF_FOUR_WARPS, "wgmma_c(32)", [64, 32], 128, "ld.shared"),
        (OF_FOUR_WARPS, "wgmma_c(32)", [64, 32], 256, "ld.shared"),
        (
            BY_ROWS_96,
            "composition(make_identity_layout((96, 4)), layout!((96,4):(4,1)))",
            [96, 4],
            96,
            "ld.shared",
        ),
    ];
    for (from, to, extents, threads, instruction) in rows {
        let barrier = if *threads == 256 {
            ", thread() / 128 + 1"
        } else {
            ""
        };
        for element in ["f32", "bf16", "u8"] {
            let statements = format!("let y = redistribute(x, {to}{barrier});");
            let positive = |i, j| value(i, j).abs();
            let found = run(from, element, *extents, *threads, &statements, positive);
            for (i, row) in found.iter().enumerate() {
                for (j, found) in row.iter().enumerate() {
                    assert_eq!(
                        *found,
                        positive(i, j) as f32,
                        "{from} to {to}: {element} ({i},{j})"
                    );
                }
            }
        }
        let source = format!(
            "mod kernels {{ #[kernel(threads = {threads})] fn k() {{
                let x = fragment::<f32>({from});
                for v in 0..size(x) {{ x[v] = thread() as f32; }}
                let y = redistribute(x, {to}{barrier});
                let t = smem::<f32>(({}, {}));
                copy(y, t);
            }} }}",
            extents[0], extents[1]
        );
        let text = lower(source.parse().expect("tokens")).expect("a kernel")[0]
            .module
            .to_string();
        let moves = &text
            [text.find("{\n").expect("a body")..text.find("// copy(y, t)").expect("a comment")];
        for other in ["shfl", "shared"] {
            let wanted = instruction.contains(other) && other != "mov";
            assert_eq!(moves.contains(other), wanted, "{from} to {to}: {moves}");
        }
    }
}

#[test]
fn threads_that_no_power_of_two_divides() {
    let source = "mod kernels { #[kernel(threads = 96)] fn k() {
        let x = fragment::<f32>(composition(make_identity_layout((96, 1)), layout!(((3,32),1):((32,1),0))));
        let y = reduce(x, 0, max);
    } }";
    let error = lower(source.parse().expect("tokens"))
        .err()
        .expect("an error");
    assert_eq!(
        error.to_string(),
        "the layout has 3 threads at a distance of 1, and no power of two divides a warp so"
    );
}

/// To write one of two elements in a register is to read the register: it begins as 0 where nothing else gives it a value, so that the
/// assembler does not keep it for the turns of a loop around.
#[test]
fn registers_of_two_elements_have_a_value_before_one_of_them_is_written() {
    for (statements, zeros) in [
        ("x[0] = 1.0; x[1] = 1.0; x[2] = 1.0;", 2),
        ("fill(x, 1.0);", 0),
        ("fill(x, 1.0); x[0] = 0.0;", 0),
        ("copy_or(local_tile(d, 4, i), x, 0.0);", 0),
        ("if i > 2 { fill(x, 1.0); } x[0] = 1.0;", 2),
    ] {
        let source = format!(
            "mod kernels {{ #[kernel(threads = 1)] unsafe fn k(d: Global<bf16, 1>, n: u32) {{
                for i in 0..n {{ let x = fragment::<bf16>(4); {statements} copy_inside(x, local_tile(d, 4, i)); }}
            }} }}"
        );
        let lowered = lower(source.parse().expect("tokens"))
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
        let text = lowered[0].module.to_string();
        judge(&lowered);
        let is_zero = |line: &&str| line.trim().starts_with("mov.b32 %r") && line.ends_with(", 0;");
        let found: Vec<&str> = text.lines().filter(is_zero).collect();
        assert_eq!(found.len(), zeros, "{statements}: {text}");
    }
}
