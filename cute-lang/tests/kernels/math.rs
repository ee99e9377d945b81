//! Functions of floating-point numbers that give what Rust gives, and approximations in 16 bits. A test of `cute-runtime`
//! measures the errors of the other functions.

use crate::numbers::{Exact, Type, kernel, run, types};
use std::fmt::Write;

/// An accurate function of `x`, `y` and `z`, and what it is in Rust.
struct Accurate {
    text: &'static str,
    types: &'static [&'static str],
    single: fn(f32, f32, f32) -> f32,
    double: fn(f64, f64, f64) -> f64,
}

macro_rules! accurate {
    ($($text:literal, $types:expr, |$x:pat_param, $y:pat_param, $z:pat_param| $value:expr;)*) => {
        &[$(Accurate {
            text: $text,
            types: $types,
            single: |$x, $y, $z| $value,
            double: |$x, $y, $z| $value,
        }),*]
    };
}

const ALL: &[&str] = &["f16", "bf16", "f32", "f64"];
const ROUNDED: &[&str] = &["f16", "f32", "f64"];
const WIDE: &[&str] = &["f32", "f64"];

const ACCURATE: &[Accurate] = accurate! {
    "sqrt(x)", WIDE, |x, _, _| x.sqrt();
    "rcp(x)", WIDE, |x, _, _| 1.0 / x;
    "fma(x, y, z)", ALL, |x, y, z| x.mul_add(y, z);
    "fma(x, 0.5, -3.0)", ALL, |x, _, _| x.mul_add(0.5, -3.0);
    "x.mul_add(y, z)", ALL, |x, y, z| x.mul_add(y, z);
    "powi(x, 3)", WIDE, |x, _, _| x.powi(3);
    "x.powi(0) + x.powi(1)", WIDE, |x, _, _| 1.0 + x;
    "x.powi(-2) + y.powi(13)", WIDE, |x, y, _| x.powi(-2) + y.powi(13);
    "f64::max(x as f64, 2.0) as f32", &["f32"], |x, _, _| x.max(2.0);
    "select(is_nan(x), y, select(is_infinite(z), 1.0, 2.0))", ALL, |x, y, z| if x.is_nan() { y } else if z.is_infinite() { 1.0 } else { 2.0 };
    "if is_finite(x) { y } else { z }", ALL, |x, y, z| if x.is_finite() { y } else { z };
    "floor(x)", ROUNDED, |x, _, _| x.floor();
    "ceil(x)", ROUNDED, |x, _, _| x.ceil();
    "trunc(x)", ROUNDED, |x, _, _| x.trunc();
    "round_ties_even(x)", ROUNDED, |x, _, _| x.round_ties_even();
    "round(x)", WIDE, |x, _, _| x.round();
    "copysign(x, y)", WIDE, |x, y, _| x.copysign(y);
    "abs(x)", ALL, |x, _, _| x.abs();
    "min(x, y)", ALL, |x, y, _| if x == y && x.is_sign_negative() { x } else { y.min(x) };
    "max(x, y)", ALL, |x, y, _| if x == y && x.is_sign_positive() { x } else { y.max(x) };
    "x.max(2.0)", ALL, |x, _, _| x.max(2.0);
    "clamp(x, -1.5, 2.5)", ALL, |x, _, _| x.clamp(-1.5, 2.5);
};

/// The error function by its power series and, where that cancels, by a continued fraction of what is missing to 1.
fn erf(x: f64) -> f64 {
    if x.abs() < 2.0 {
        let (mut power, mut sum) = (x, x);
        for n in 1..80 {
            power *= -x * x / f64::from(n);
            sum += power / f64::from(2 * n + 1);
        }
        return std::f64::consts::FRAC_2_SQRT_PI * sum;
    }
    let fraction = (1..200)
        .rev()
        .fold(0.0, |rest, n| f64::from(n) / 2.0 / (x.abs() + rest));
    let missing = (-x * x).exp() / (x.abs() + fraction) * std::f64::consts::FRAC_2_SQRT_PI / 2.0;
    (1.0 - missing).copysign(x)
}

/// Values of a type: the ends of its range, numbers of everyday size, and arbitrary bits.
fn values(ty: Type) -> Vec<u64> {
    let mut values = (ty.values)();
    values.extend((-160..160).map(|i| (ty.cast)(Exact::Float(f64::from(i) / 8.0))));
    let mut state = 1_u64;
    values.resize_with(640, || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 7 & (u64::MAX >> (64 - 8 * ty.bytes))
    });
    values
}

fn float(ty: Type, bits: u64) -> f64 {
    match (ty.exact)(bits) {
        Exact::Float(value) => value,
        Exact::Int(_) => unreachable!("a type of floating-point numbers"),
    }
}

fn of_name(name: &str) -> Type {
    types().find(|ty| ty.name == name).expect("a type")
}

/// The results of functions of these values, in turn.
fn results(ty: Type, texts: &[&str], x: &[u64]) -> Vec<Vec<u64>> {
    let count = x.len();
    let [y, z] = [(7, 3), (13, 5)].map(|(step, first)| {
        (0..count)
            .map(|i| x[(step * i + first) % count])
            .collect::<Vec<_>>()
    });
    let name = ty.name;
    let params = format!(
        "vx: Global<{name}, 1>, vy: Global<{name}, 1>, vz: Global<{name}, 1>, out: Global<{name}, 1>"
    );
    let mut body = "let i = thread(); let x = vx[i]; let y = vy[i]; let z = vz[i];".to_string();
    for (n, text) in texts.iter().enumerate() {
        write!(body, "out[{} + i] = {text};", n * count).expect("a string");
    }
    let kernel = kernel(count, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
    let outputs = [(ty, texts.len() * count)];
    let results = run(&kernel, &[(ty, x), (ty, &y), (ty, &z)], &outputs);
    results[0].chunks(count).map(<[u64]>::to_vec).collect()
}

#[test]
fn accurate_functions_give_what_rust_gives() {
    for name in ALL {
        let ty = of_name(name);
        let rows = ACCURATE.iter().filter(|row| row.types.contains(name));
        let rows: Vec<_> = rows.collect();
        let texts: Vec<_> = rows.iter().map(|row| row.text).collect();
        let x = values(ty);
        let count = x.len();
        for (row, results) in rows.iter().zip(results(ty, &texts, &x)) {
            for (i, result) in results.iter().enumerate() {
                let arguments = [x[i], x[(7 * i + 3) % count], x[(13 * i + 5) % count]];
                let [a, b, c] = arguments.map(|bits| float(ty, bits));
                let expected = match *name {
                    "f32" => (row.single)(a as f32, b as f32, c as f32).into(),
                    _ => (row.double)(a, b, c),
                };
                let expected = (ty.cast)(Exact::Float(expected));
                assert!(
                    ty.same(*result, expected),
                    "{} of {name} {a:e}, {b:e}, {c:e}: {result:#x}, not {expected:#x}",
                    row.text
                );
            }
        }
    }
}

/// The assembler takes the code of all functions of f32 that are not exact.
#[test]
fn approximations_assemble() {
    let functions = [
        "exp",
        "log",
        "log2",
        "tanh",
        "erf",
        "sin",
        "cos",
        "exp2",
        "rsqrt",
        "sqrt_fast",
        "rsqrt_fast",
        "rcp_fast",
        "exp2_fast",
        "exp_fast",
        "log2_fast",
        "log_fast",
        "sin_fast",
        "cos_fast",
        "tanh_fast",
    ];
    let mut body = "let x = out[0];".to_string();
    for (i, function) in functions.iter().enumerate() {
        write!(body, "out[{i}] = {function}(x);").expect("a string");
    }
    body += "out[99] = div_fast(x, 3.0) + pow(x, 1.3) + pow_fast(x, 0.7) + powi(x, -7);";
    let kernel = kernel(1, "out: Global<f32, 1>", &body).unwrap_or_else(|error| panic!("{error}"));
    crate::judge(&[kernel]);
}

#[test]
fn approximations_of_16_bits() {
    for (name, digits) in [("f16", 9.9), ("bf16", 7.0)] {
        let ty = of_name(name);
        let x = values(ty);
        let results = results(ty, &["exp2_fast(x)", "tanh_fast(x)"], &x);
        let functions = [f64::exp2, f64::tanh];
        for (results, function) in results.iter().zip(functions) {
            for (x, result) in x.iter().zip(results) {
                let (x, result) = (float(ty, *x), float(ty, *result));
                let value = function(x);
                let close = match value {
                    _ if value.is_nan() => result.is_nan(),
                    _ if result.is_infinite() => value > 65_000.0,
                    // f16 has subnormal results, and bf16 has zeros in their place.
                    _ => {
                        (result - value).abs() <= value.abs() * 2f64.powf(-digits) + 2f64.powi(-24)
                    }
                };
                assert!(close, "{name} of {x:e}: {result:e}, not {value:e}");
            }
        }
    }
}

/// f64 has no approximation: 1 / √x is the quotient of the root.
#[test]
fn reciprocal_roots_of_64_bits() {
    let ty = of_name("f64");
    let x = values(ty);
    for (x, result) in x.iter().zip(&results(ty, &["rsqrt(x)"], &x)[0]) {
        let expected = (1.0 / float(ty, *x).sqrt()).to_bits();
        assert!(ty.same(*result, expected), "{x:#x}: {result:#x}");
    }
}

#[test]
fn functions_of_known_numbers() {
    let ty = of_name("f64");
    let rows: &[(&str, f64)] = &[
        ("sqrt(2.0)", 2f64.sqrt()),
        ("rsqrt(4.0)", 0.5),
        ("rcp(3.0)", 1.0 / 3.0),
        ("fma(0.1, 10.0, -1.0)", 0.1f64.mul_add(10.0, -1.0)),
        (
            "pow(1.5, 0.7) + 2.0.powf(-0.5)",
            1.5f64.powf(0.7) + 2f64.powf(-0.5),
        ),
        (
            "pow_fast(1.5, 0.7) + powi(1.1, 3)",
            1.5f64.powf(0.7) + 1.1f64.powi(3),
        ),
        ("mul_add(0.1, 10.0, -1.0)", 0.1f64.mul_add(10.0, -1.0)),
        (
            "if is_nan(0.0 / 0.0) && is_infinite(-1.0 / 0.0) && is_finite(1e300) { 1.0 } else { 2.0 }",
            1.0,
        ),
        ("exp2(0.3)", 0.3f64.exp2()),
        ("exp(1.5) + log(10.0)", 1.5f64.exp() + 10f64.ln()),
        ("tanh(0.7) + log2(10.0)", 0.7f64.tanh() + 10f64.log2()),
        ("erf(0.0) + erf(7.0) - erf(-7.0)", 2.0),
        ("exp_fast(1.5)", 1.5f64.exp()),
        (
            "log_fast(10.0) + log2_fast(10.0)",
            10f64.ln() + 10f64.log2(),
        ),
        ("sin_fast(1.0) * cos_fast(1.0)", 1f64.sin() * 1f64.cos()),
        ("sin(1.0) * cos(1.0)", 1f64.sin() * 1f64.cos()),
        ("tanh_fast(0.7)", 0.7f64.tanh()),
        ("div_fast(1.0, 3.0)", 1.0 / 3.0),
        ("round(-2.5) + round_ties_even(2.5)", -1.0),
        ("floor(-0.5) + ceil(0.5) + trunc(1.9)", 1.0),
        ("abs(-3.5)", 3.5),
        ("copysign(2.0, -0.0)", -2.0),
        ("min(1.0, -0.0) + max(2.0, 3.0)", 3.0),
        ("clamp(7.0, 0.0, 1.0)", 1.0),
    ];
    let mut body = String::new();
    for (i, (text, _)) in rows.iter().enumerate() {
        write!(body, "out[{i}] = {text};").expect("a string");
    }
    let kernel = kernel(1, "out: Global<f64, 1>", &body).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kernel.module.to_string().matches("sqrt.").count(), 0);
    let results = run(&kernel, &[], &[(ty, rows.len())]);
    for ((text, expected), result) in rows.iter().zip(&results[0]) {
        assert_eq!(*result, expected.to_bits(), "{text}");
    }
}

#[test]
fn known_error_function() {
    let ty = of_name("f64");
    let x: Vec<f64> = (-60..60).map(|i| f64::from(i) / 9.0).collect();
    let texts = x
        .iter()
        .enumerate()
        .map(|(i, x)| format!("out[{i}] = erf({x:?});"));
    let kernel = kernel(1, "out: Global<f64, 1>", &texts.collect::<String>()).expect("a kernel");
    let results = run(&kernel, &[], &[(ty, x.len())]);
    for (x, result) in x.iter().zip(&results[0]) {
        let (result, expected) = (f64::from_bits(*result), erf(*x));
        assert!(
            (result - expected).abs() < 1e-14,
            "{x}: {result}, not {expected}"
        );
    }
}

#[test]
fn integers() {
    let ty = of_name("i8");
    let x: Vec<u64> = (0..256).collect();
    let texts = [
        "abs(x)",
        "clamp(x, -3, 5)",
        "x.clamp(min(y, z), max(y, z))",
        "abs(-128i8 + 1)",
    ];
    let results = results(ty, &texts, &x);
    let at = |i: usize| i as u8 as i8;
    for i in 0..256 {
        let (x, y, z) = (at(i), at((7 * i + 3) % 256), at((13 * i + 5) % 256));
        let expected = [
            x.wrapping_abs(),
            x.clamp(-3, 5),
            x.clamp(y.min(z), y.max(z)),
            127,
        ];
        for (results, expected) in results.iter().zip(expected) {
            assert_eq!(results[i] as u8 as i8, expected, "{x}, {y}, {z}");
        }
    }
}

#[test]
fn wrong_types() {
    let params = "x: f32, y: f64, n: u32, out: Global<f32, 1>";
    let rows = [
        (
            "sqrt(n)",
            "`sqrt` takes a number of type f32 or f64 here, not a run-time `u32`",
        ),
        (
            "sqrt(2)",
            "`sqrt` takes a number of type f32 or f64 here, not the integer 2",
        ),
        (
            "sin_fast(y)",
            "`sin_fast` takes a number of type f32 here, not a run-time `f64`",
        ),
        (
            "floor(convert::<bf16>(x))",
            "`floor` takes a number of type f16, f32 or f64, not of `bf16`: compute with `x as f32`, and convert the result by `as bf16`",
        ),
        (
            "fma(x, y, x)",
            "mismatched types `f32` and `f64`: convert one with `as f32`",
        ),
        (
            "max(x, 1)",
            "`max` takes an integer or a number of type f16, bf16, f32 or f64 here, not the integer 1",
        ),
        (
            "max(n, 1.0)",
            "`max` takes an integer here, not the number 1.0",
        ),
        ("clamp(n, 3, 2)", "3 is greater than 2"),
        ("clamp(n as i8, 0, 200)", "200 does not fit `i8`"),
        (
            "abs(n)",
            "`abs` takes a signed integer or a floating-point number here, not a run-time `u32`",
        ),
        ("abs(-128i8)", "128 does not fit `i8`"),
        (
            "min(x == 0.0, true)",
            "`min` takes an integer or a number of type f16, bf16, f32 or f64 here, not a run-time `bool`",
        ),
        (
            "powi(x, n)",
            "`powi` takes an integer that is known at expansion here, not a run-time `u32`: write `pow(x, n as f32)`",
        ),
        (
            "powi(n, 2)",
            "`powi` takes a number of type f32 or f64 here, not a run-time `u32`",
        ),
        ("powi(x, 3000000000)", "3000000000 does not fit `i32`"),
        (
            "pow(x, 2)",
            "`pow` takes a number of type f32 or f64 here, not the integer 2",
        ),
        (
            "pow_fast(x, y)",
            "`pow_fast` takes a number of type f32 here, not a run-time `f64`",
        ),
        (
            "select(is_nan(n), x, x)",
            "`is_nan` takes a floating-point number here, not a run-time `u32`",
        ),
        (
            "f32::sqrt(y)",
            "mismatched types `f64` and `f32`: convert one with `as f64`",
        ),
        ("sqrt()", "`sqrt(x)` takes 1 argument, not 0"),
    ];
    for (text, message) in rows {
        let error = kernel(1, params, &format!("out[0] = {text};")).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}
