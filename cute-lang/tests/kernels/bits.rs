//! Functions of bits give what Rust gives, in registers and of known integers.

use crate::numbers::{FLOATS, INTEGERS, Type, kernel, run};
use std::fmt::Write;

/// A function of `a` and `b`, and its result in Rust as bits. Whether the result is a u32 or of the type of `a`.
struct Row {
    text: &'static str,
    count: bool,
    value: fn(u64, u64) -> u64,
}

macro_rules! rows {
    ($($ty:ident: $bits:ident, $wide:ident;)*) => {
        &[$((stringify!($ty), &[
            rows!(@count $ty, "popc(a)", |a, _| a.count_ones()),
            rows!(@count $ty, "a.count_ones()", |a, _| a.count_ones()),
            rows!(@count $ty, "clz(a)", |a, _| a.leading_zeros()),
            rows!(@count $ty, "a.leading_zeros()", |a, _| a.leading_zeros()),
            rows!(@count $ty, "a.trailing_zeros()", |a, _| a.trailing_zeros()),
            rows!(@same $ty, $bits, "brev(a)", |a, _| a.reverse_bits()),
            rows!(@same $ty, $bits, "a.reverse_bits()", |a, _| a.reverse_bits()),
            rows!(@same $ty, $bits, "mul_hi(a, b)", |a, b| ((a as $wide * b as $wide) >> $ty::BITS) as $ty),
            rows!(@same $ty, $bits, "mul_hi(3, a)", |a, _| ((a as $wide * 3) >> $ty::BITS) as $ty),
            // The field is shifted to the top and back, which extends its sign.
            rows!(@same $ty, $bits, "bfe(a, 2, 5)", |a, _| a << ($ty::BITS - 7) >> ($ty::BITS - 5)),
            rows!(@same $ty, $bits, "bfe(a, 0, 8)", |a, _| a << ($ty::BITS - 8) >> ($ty::BITS - 8)),
            rows!(@same $ty, $bits, "bfe(a, 7, 0)", |_, _| 0),
            rows!(@same $ty, $bits, "bfi(a, b, 3, 4)", |a, b| b & !(15 << 3) | (a & 15) << 3),
            rows!(@same $ty, $bits, "bfi(1, b, 6, 2)", |_, b| b & !(3 << 6) | 1 << 6),
        ] as &[Row])),*]
    };
    (@count $ty:ident, $text:literal, |$a:pat_param, $b:pat_param| $value:expr) => {
        Row {
            text: $text,
            count: true,
            value: |a, b| {
                let value: fn($ty, $ty) -> u32 = |$a, $b| $value;
                value(a as $ty, b as $ty).into()
            },
        }
    };
    (@same $ty:ident, $bits:ident, $text:literal, |$a:pat_param, $b:pat_param| $value:expr) => {
        Row {
            text: $text,
            count: false,
            value: |a, b| {
                let value: fn($ty, $ty) -> $ty = |$a, $b| $value;
                u64::from(value(a as $ty, b as $ty) as $bits)
            },
        }
    };
}

const ROWS: &[(&str, &[Row])] = rows! {
    u8: u8, u16; i8: u8, i16; u16: u16, u32; i16: u16, i32;
    u32: u32, u64; i32: u32, i64; u64: u64, u128; i64: u64, i128;
};

/// Every pair of values of each type, with its functions.
fn cases() -> impl Iterator<Item = (Type, &'static [Row], Vec<(u64, u64)>)> {
    ROWS.iter().map(|(name, rows)| {
        let (ty, _) = INTEGERS
            .iter()
            .find(|(ty, _)| ty.name == *name)
            .expect("a type");
        let values = (ty.values)();
        let pairs = values.iter().flat_map(|a| values.iter().map(|b| (*a, *b)));
        (*ty, *rows, pairs.collect())
    })
}

#[test]
fn in_registers() {
    let (u32, _) = INTEGERS[4];
    for (ty, rows, pairs) in cases() {
        let (name, count) = (ty.name, pairs.len());
        let (a, b): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
        let mut body = "let i = thread(); let a = x[i]; let b = y[i];".to_string();
        for (n, row) in rows.iter().enumerate() {
            let out = if row.count { "counts" } else { "out" };
            write!(body, "{out}[{} + i] = {};", n * count, row.text).expect("a string");
        }
        let params = format!(
            "x: Global<{name}, 1>, y: Global<{name}, 1>, out: Global<{name}, 1>, counts: Global<u32, 1>"
        );
        let kernel =
            kernel(count, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let outputs = [(ty, rows.len() * count), (u32, rows.len() * count)];
        let results = run(&kernel, &[(ty, &a), (ty, &b)], &outputs);
        for (n, row) in rows.iter().enumerate() {
            let results = &results[usize::from(row.count)][n * count..];
            for ((a, b), result) in pairs.iter().zip(results) {
                let expected = (row.value)(*a, *b);
                assert_eq!(*result, expected, "{} of {name} {a:#x}, {b:#x}", row.text);
            }
        }
    }
}

#[test]
fn of_known_integers() {
    let (u32, _) = INTEGERS[4];
    for (ty, rows, pairs) in cases() {
        let (mut body, mut expected) = (String::new(), Vec::new());
        for (n, row) in rows.iter().enumerate() {
            // One pair in seven, since a kernel has a limit of steps.
            for (a, b) in pairs.iter().skip(n % 7).step_by(7) {
                let out = if row.count { "counts" } else { "out" };
                let [x, y] = [*a, *b].map(|value| ty.literal(value).expect("an integer"));
                let text = row.text;
                write!(
                    body,
                    "{{ let a = {x}; let b = {y}; {out}[{}] = {text}; }}",
                    expected.len()
                )
                .expect("a string");
                expected.push((row, *a, *b));
            }
        }
        let params = format!("out: Global<{}, 1>, counts: Global<u32, 1>", ty.name);
        let kernel = kernel(1, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let outputs = [(ty, expected.len()), (u32, expected.len())];
        let results = run(&kernel, &[], &outputs);
        for (i, (row, a, b)) in expected.iter().enumerate() {
            let result = results[usize::from(row.count)][i];
            let (name, text) = (ty.name, row.text);
            assert_eq!(
                result,
                (row.value)(*a, *b),
                "{text} of {name} {a:#x}, {b:#x}"
            );
        }
    }
}

/// Positions and lengths in registers.
#[test]
fn fields_at_run_time() {
    let (u32, _) = INTEGERS[4];
    let body = "let i = thread(); let (at, len) = (i % 16, i / 64 + 1); \
                out[i] = bfe(x[i], at as u64, len as u8); out[256 + i] = bfi(x[i], 0xffffffff, at, len);";
    let kernel = kernel(256, "x: Global<u32, 1>, out: Global<u32, 1>", body).expect("a kernel");
    let x: Vec<u64> = (0..256u32)
        .map(|i| i.wrapping_mul(0x9e37_79b9).into())
        .collect();
    let results = run(&kernel, &[(u32, &x)], &[(u32, 512)]);
    for i in 0..256 {
        let (at, mask) = (i % 16, (1 << (i / 64 + 1)) - 1);
        assert_eq!(results[0][i], x[i] >> at & mask);
        let whole = 0xffff_ffff & !(mask << at) | (x[i] & mask) << at;
        assert_eq!(results[0][256 + i], whole);
    }
}

/// As integers of the same width, by the number or by its place in memory.
#[test]
fn of_floating_point_numbers() {
    for float in FLOATS {
        let width = 8 * float.bytes;
        let (unsigned, _) = *INTEGERS
            .iter()
            .find(|(ty, _)| ty.name == format!("u{width}"))
            .expect("a type");
        let values = (float.values)();
        let count = values.len();
        let body = format!(
            "let i = thread(); out[i] = to_bits(x[i]); out[{count} + i] = recast::<u{width}>(x)[i];"
        );
        let params = format!("x: Global<{}, 1>, out: Global<u{width}, 1>", float.name);
        let kernel = kernel(count, &params, &body).expect("a kernel");
        let results = run(&kernel, &[(*float, &values)], &[(unsigned, 2 * count)]);
        assert_eq!(results[0], [values.clone(), values].concat());
    }
}

#[test]
fn wrong_types() {
    let rows = [
        (
            "popc(1.0)",
            "`popc` takes an integer here, not the number 1.0",
        ),
        (
            "clz(x)",
            "`clz` takes an integer here, not a run-time `f32`",
        ),
        (
            "clz(5)",
            "the result for the integer 5 depends on its number of bits: give it a type, such as `5u32`",
        ),
        (
            "mul_hi(n, 5u8)",
            "mismatched types `u32` and `u8`: convert one with `as u32`",
        ),
        (
            "mul_hi(n, x)",
            "`mul_hi` takes an integer here, not a run-time `f32`",
        ),
        (
            "bfe(n, 30, 4)",
            "4 bits from bit 30 on are not in an integer of 32 bits",
        ),
        (
            "bfi(n, 5u32, 32, 1)",
            "1 bits from bit 32 on are not in an integer of 32 bits",
        ),
        (
            "bfe(n, -1, 4)",
            "the argument `position` of `bfe` is -1; it can be 0 to 32",
        ),
        (
            "to_bits(n)",
            "`to_bits` takes a floating-point number here, not a run-time `u32`",
        ),
        (
            "recast::<u16>(out)[0]",
            "elements of a tensor in global memory become others of 32 bits, as `u32` has, not `u16`, which has 16",
        ),
    ];
    for (text, message) in rows {
        let error = kernel(
            1,
            "x: f32, n: u32, out: Global<u32, 1>",
            &format!("out[0] = {text};"),
        );
        let error = error.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}

/// The bits of floating-point numbers, in registers, of known numbers and of fragments.
#[test]
fn bits_of_floating_point_numbers() {
    for ty in FLOATS {
        let (name, width) = (ty.name, 8 * ty.bytes);
        let (bits, _) = INTEGERS
            .iter()
            .find(|(it, _)| it.name == format!("u{width}"))
            .expect("a type");
        let values = (ty.values)();
        let count = values.len();
        let params = format!(
            "x: Global<{name}, 1>, u: Global<u{width}, 1>, out: Global<u{width}, 1>, back: Global<{name}, 1>"
        );
        let body = format!(
            "let i = thread();
            out[i] = x[i].to_bits(); back[i] = {name}::from_bits(u[i]);
            let f = fragment::<{name}>(layout!((2)));
            f[0] = x[i]; f[1] = x[0];
            let g = to_bits(f);
            out[{count} + i] = g[0];
            let h = from_bits::<{name}>(g);
            back[{count} + i] = h[0];
            out[{} + i] = {name}::to_bits({name}::from_bits(0x3c01)) + ({name}::from_bits(u[i] * 0 + 0x3c01) == {name}::from_bits(0x3c01)) as u{width};
            back[{} + i] = {name}::from_bits({}u{width});",
            2 * count,
            2 * count,
            // A NaN with a payload keeps it.
            u64::MAX >> (65 - width),
        );
        let kernel =
            kernel(count, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let found = run(
            &kernel,
            &[(*ty, &values), (*bits, &values)],
            &[(*bits, 3 * count), (*ty, 3 * count)],
        );
        for found in &found {
            assert_eq!(found[..count], values, "{name}");
            assert_eq!(found[count..2 * count], values, "{name}");
        }
        assert!(
            found[0][2 * count..].iter().all(|it| *it == 0x3c02),
            "{name}"
        );
        assert!(
            found[1][2 * count..]
                .iter()
                .all(|it| *it == u64::MAX >> (65 - width)),
            "{name}"
        );
    }
}

#[test]
fn wrong_bits_of_floating_point_numbers() {
    for (text, message) in [
        (
            "f32::from_bits(n as u16)",
            "mismatched types `u16` and `u32`: convert one with `as u16`",
        ),
        (
            "f32::from_bits(0x100000000)",
            "4294967296 does not fit `u32`",
        ),
        (
            "from_bits::<i32>(n)",
            "`i32` is no type of floating-point numbers that have registers",
        ),
        (
            "f32::from_bits(1.0)",
            "`from_bits` takes an integer here, not the number 1.0",
        ),
        (
            "to_bits(1.0)",
            "the bits of the number 1.0 depend on its type: write `1.0f32`, say",
        ),
    ] {
        let error = kernel(
            1,
            "n: u32, out: Global<f32, 1>",
            &format!("let y = {text};"),
        )
        .err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}
