//! Comparisons of fragments, and `select`.

use crate::fragments::{OF_A_WARP, run, value};
use crate::numbers::{Exact, kernel, run as compute, types};
use cute_lang::kernel::lower::lower;

/// A fragment `y` of integers computed from `x`, and the same of one element and its row's greatest one.
type Row = (&'static str, fn(i32, i32) -> i32);

/// `#` behind a number of the fragment's type makes it a literal of that type.
const ROWS: &[Row] = &[
    ("select(x < 0#, -x, x)", |x, _| x.abs()),
    ("select(0# <= x, x, 0#)", |x, _| x.max(0)),
    ("select(x == most, 100#, x)", |x, most| {
        if x == most { 100 } else { x }
    }),
    ("select(most != x, x, most + 1#)", |x, most| {
        if x == most { most + 1 } else { x }
    }),
    (
        "select((x > -5#) & (x < 5#), 1#, select(x < 0#, -1#, 0#))",
        |x, _| match x {
            -4..5 => 1,
            x if x < 0 => -1,
            _ => 0,
        },
    ),
    (
        "select((x < -5#) | (x > 5#) ^ (x > 10#), x, most)",
        |x, most| {
            if (x < -5) | (x > 5) ^ (x > 10) {
                x
            } else {
                most
            }
        },
    ),
    ("select(!(x < 3#), x, -most)", |x, most| {
        if x >= 3 { x } else { -most }
    }),
    ("select((x < 0#) == (x < -7#), x, 0#)", |x, _| {
        if (x < 0) == (x < -7) { x } else { 0 }
    }),
    (
        "select((x < 0#) & (a[(0, 0)] == a[(0, 0)]), 1#, 2#)",
        |x, _| if x < 0 { 1 } else { 2 },
    ),
    ("select(a[(0, 0)] < -100, x, most)", |_, most| most),
    ("select(true, x, most)", |x, _| x),
    ("select(select(x < 0#, x < -7#, x > 7#), x, 0#)", |x, _| {
        if x.abs() > 7 { x } else { 0 }
    }),
    ("map(x, |v| select(v < 0#, 0#, v))", |x, _| x.max(0)),
    ("select(map(x, |v| v * v < 50#), 0#, x)", |x, _| {
        if x * x < 50 { 0 } else { x }
    }),
];

#[test]
fn each_value_is_selected() {
    for (text, expected) in ROWS {
        for element in ["i32", "f32", "i16", "f16", "bf16", "f64"] {
            let is_float = element.contains('f');
            let wide = if is_float { "f32" } else { "i32" };
            let literal = if is_float { ".0" } else { "" };
            let text = text.replace('#', &format!("{literal}{element}"));
            // Rust has no literals of 16-bit floating-point numbers.
            let text = text.replace(".0f16", ".0").replace(".0bf16", ".0");
            let statements = format!(
                "let x = convert::<{wide}>(x); let most = convert::<{element}>(reduce(x, 1, max)); let x = convert::<{element}>(x); let y = {text};",
            );
            let found = run(OF_A_WARP, "f32", [16, 8], 32, &statements, value);
            for (i, row) in found.iter().enumerate() {
                let most = (0..8).map(|j| value(i, j)).max().expect("a row");
                for (j, found) in row.iter().enumerate() {
                    let expected = expected(value(i, j), most);
                    assert_eq!(
                        *found,
                        expected as f32,
                        "{element}: {text} of {}",
                        value(i, j)
                    );
                }
            }
        }
    }
}

/// The index of a row's largest element, as the error of `argmax` writes it.
#[test]
fn the_place_of_the_largest_is_selected() {
    for element in ["f32", "i32"] {
        let statements = format!(
            "let x = convert::<{element}>(x); let m = reduce(x, 1, max);
             let y = reduce(select(x == m, map(x, |_, (_, j)| j), u32::MAX), 1, min);"
        );
        let found = run(OF_A_WARP, "f32", [16, 8], 32, &statements, value);
        for (i, row) in found.iter().enumerate() {
            let most = (0..8).map(|j| value(i, j)).max();
            let first = (0..8).find(|j| Some(value(i, *j)) == most);
            assert_eq!(row[0], first.expect("a row") as f32, "{element}: row {i}");
        }
    }
}

/// Of numbers, `select` is what `if` is in Rust, also of NaNs, and both sides are computed.
#[test]
fn numbers_are_selected() {
    for name in ["f32", "f64", "i32", "u8", "u64"] {
        let ty = types().find(|ty| ty.name == name).expect("a type");
        let values = (ty.values)();
        let count = values.len();
        let params = format!("x: Global<{name}, 1>, out: Global<{name}, 1>");
        let body = "let i = thread(); let v = x[i]; let w = x[0]; out[i] = select(v < w, v, w); let p = select(v < w, v == w, v > w); if p { out[i] = select(p, w, v); }";
        let kernel = kernel(count, &params, body).unwrap_or_else(|error| panic!("{error}"));
        let found = compute(&kernel, &[(ty, &values)], &[(ty, count)]);
        for (value, found) in values.iter().zip(&found[0]) {
            let (v, w) = ((ty.exact)(*value), (ty.exact)(values[0]));
            let less = match (v, w) {
                (Exact::Int(v), Exact::Int(w)) => v < w,
                (Exact::Float(v), Exact::Float(w)) => v < w,
                _ => unreachable!("numbers of one type"),
            };
            let more = match (v, w) {
                (Exact::Int(v), Exact::Int(w)) => v > w,
                (Exact::Float(v), Exact::Float(w)) => v > w,
                _ => unreachable!("numbers of one type"),
            };
            let expected = if less { *value } else { values[0] };
            let expected = if !less && more { values[0] } else { expected };
            assert!(ty.same(*found, expected), "{name} {value:#x}: {found:#x}");
        }
    }
}

/// Truth values of a fragment are read one by one.
#[test]
fn truth_values_are_read() {
    let statements = "let low = x < -7; let mut count = 0; for v in 0..size(low) { if low[v] { count += 1; } } let y = x * 0 + count;";
    let found = run(BY_ROWS, "i32", [32, 4], 32, statements, value);
    for (i, row) in found.iter().enumerate() {
        let expected = (0..4).filter(|j| value(i, *j) < -7).count();
        assert_eq!(row[..], [expected as f32; 4], "{i}");
    }
}

/// Each thread holds a row.
const BY_ROWS: &str = "composition(make_identity_layout((32, 4)), layout!((32,4):(1,32)))";

/// No branch stands in what is selected.
#[test]
fn values_are_selected_without_branches() {
    let source = "mod kernels { #[kernel(threads = 32)] unsafe fn k(d: Global<f32, 1>) {
        let x = fragment::<f32>(layout!((4)));
        for v in 0..4 { x[v] = d[v]; }
        let y = select(x < 0.0, 0.0, x);
        for v in 0..4 { d[v] = y[v]; }
    } }";
    let instance = &lower(source.parse().expect("tokens")).expect("a kernel")[0];
    let text = instance.module.to_string();
    assert_eq!(text.matches("selp.f32").count(), 4, "{text}");
    assert_eq!(text.matches("bra").count(), 0, "{text}");
}

#[test]
fn wrong_selections() {
    let rows = [
        (
            "if x < 0.0 { }",
            "expected a condition, found a fragment of truth values: `select(condition, x, y)` chooses for each value, and `&`, `|` and `!` combine conditions of fragments",
        ),
        (
            "let y = x < 0.0 && x > 1.0;",
            "expected a condition, found a fragment of truth values: `select(condition, x, y)` chooses for each value, and `&`, `|` and `!` combine conditions of fragments",
        ),
        (
            "let y = select(x < 0.0, 1, x);",
            "expected a `f32`, found an integer",
        ),
        (
            "let y = select(x < 0.0, x);",
            "`select(condition, x, y)` takes 3 arguments",
        ),
        (
            "let y = select(x < 0.0, (1.0, 2.0), x);",
            "`select` takes a number, a truth value or a fragment here, not a tuple of 2: `if` chooses between others",
        ),
        (
            "let y = select(x < z, x, 0.0);",
            "a fragment of (4) and one of (3) do not fit together: extents are equal, or 1",
        ),
        (
            "let y = select(x < 0.0, n, x);",
            "mismatched types `f64` and `f32`: convert one with `as f64`",
        ),
        (
            "let y = (x < 0.0) + (x < 1.0);",
            "cannot apply `+` to a run-time `bool` and a run-time `bool`",
        ),
        (
            "let mut y = x < 0.0;",
            "`y` is a fragment of truth values, which cannot change at run time: write `let`, not `let mut`",
        ),
        (
            "let y = (x < 0.0)[4];",
            "index 4 is outside of a fragment of 4 values",
        ),
        (
            "let y = -(x < 0.0);",
            "cannot apply `-` to a fragment of truth values",
        ),
        ("let y = !x;", "cannot apply `!` to a fragment"),
        (
            "let y = x < (1, 2);",
            "cannot compare a run-time `f32` with a tuple of 2",
        ),
    ];
    for (text, message) in rows {
        let source = format!(
            "mod kernels {{ #[kernel(threads = 32)] fn k(n: f64) {{
                let x = fragment::<f32>(layout!((4))); fill(x, 0.0);
                let z = fragment::<f32>(layout!((3))); fill(z, 0.0);
                {text}
            }} }}"
        );
        let error = lower(source.parse().expect("tokens")).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}
