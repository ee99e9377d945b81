//! Arithmetic on fragments, and reductions of them.

use crate::judge;
use cute_emulator::{GlobalMemory, Launch, Program};
use cute_lang::kernel::lower::lower;

/// Runs statements that compute a fragment `y` from a fragment `x` of that tile, and gives the elements of y by row and
/// column. The element of x in row i and column j is `value(i, j)`.
fn run(
    held: &str,
    element: &str,
    [rows, columns]: [usize; 2],
    threads: usize,
    statements: &str,
    value: fn(usize, usize) -> i32,
) -> Vec<Vec<f32>> {
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
    let instance = lower(source.parse().expect("tokens"))
        .unwrap_or_else(|error| panic!("{statements}: {error}"))
        .remove(0);
    let mut memory = GlobalMemory::new();
    let bytes = rows * columns * 4;
    let (a, d) = (
        memory.alloc(bytes, 128).unwrap(),
        memory.alloc(bytes, 128).unwrap(),
    );
    let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let values = places.flat_map(|(i, j)| value(i, j).to_le_bytes());
    memory.write(a, &values.collect::<Vec<u8>>()).expect("room");
    let stride = (columns as u64).to_le_bytes().to_vec();
    let args = [
        a.to_le_bytes().to_vec(),
        stride.clone(),
        d.to_le_bytes().to_vec(),
        stride,
    ];
    let launch = Launch {
        block: [threads as u32, 1, 1],
        args: &args,
        ..Launch::default()
    };
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    program
        .launch(&mut memory, "k", &launch)
        .unwrap_or_else(|error| panic!("{statements}: {error}"));
    let mut found = vec![0; bytes];
    memory.read(d, &mut found).expect("written");
    judge(&[instance]);
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let row = |row: &[u8]| row.chunks(4).map(number).collect();
    found.chunks(columns * 4).map(row).collect()
}

/// A number without pattern, from -20 to 20.
fn value(i: usize, j: usize) -> i32 {
    ((i * 37 + 11) * (j * 53 + 7) % 41) as i32 - 20
}

const OF_A_WARP: &str =
    "composition(make_identity_layout((16, 8)), mma_atom(SM80_16x8x16_F32F16F16F32_TN, CLayout))";

/// The tiles that are reduced: how they are held, their extents, and the number of threads.
const TILES: &[(&str, [usize; 2], usize)] = &[
    ("wgmma_c(24)", [64, 24], 128),
    (OF_A_WARP, [16, 8], 32),
    // Two warps hold the same tile.
    (OF_A_WARP, [16, 8], 64),
];

#[test]
fn rows_are_reduced() {
    for &(held, extents, threads) in TILES {
        for element in ["f32", "i32"] {
            for (operation, expected) in [
                (
                    "add",
                    (|row| row.sum()) as fn(&mut dyn Iterator<Item = i32>) -> i32,
                ),
                ("max", |row| row.max().unwrap_or(0)),
                ("min", |row| row.min().unwrap_or(0)),
            ] {
                let statements = format!("let y = reduce(x, 1, {operation});");
                let found = run(held, element, extents, threads, &statements, value);
                for (i, row) in found.iter().enumerate() {
                    let expected = expected(&mut (0..extents[1]).map(|j| value(i, j)));
                    assert_eq!(row[0], expected as f32, "{held} {operation} {i}");
                    // The emulator's memory is NaN where nothing was written.
                    assert!(
                        row[1..].iter().all(|x| x.is_nan()),
                        "{held} {operation} {i}"
                    );
                }
            }
        }
    }
}

#[test]
fn columns_are_reduced() {
    let found = run(
        OF_A_WARP,
        "f32",
        [16, 8],
        32,
        "let y = reduce(x, 0, max);",
        value,
    );
    for (j, largest) in found[0].iter().enumerate() {
        let expected = (0..16).map(|i| value(i, j)).max();
        assert_eq!(Some(*largest as i32), expected, "{j}");
    }
    let both = "let y = reduce(reduce(x, 0, add), 1, add);";
    let found = run(OF_A_WARP, "i32", [16, 8], 32, both, value);
    let expected: i32 = (0..16).flat_map(|i| (0..8).map(move |j| value(i, j))).sum();
    assert_eq!(found[0][0], expected as f32);
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
        check("let y = map(x, |_| 1.5);", &|_, _| 1.5);
        check("let y = map(x, abs);", &|i, j| x(i, j).abs());
        check("let y = max(x, 0.0);", &|i, j| x(i, j).max(0.0));
    }
}
