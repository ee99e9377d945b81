//! Every operation and every cast of the number types gives what Rust gives: at run time what release builds give, on the
//! emulator, and at expansion the same or an error where Rust has one.

use crate::judge;
use cute_emulator::{Checks, GlobalMemory, Launch, Program};
use cute_lang::kernel::lower::{Lowered, lower};
use std::cmp::Ordering;
use std::fmt::Write;

/// A number of any type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exact {
    Int(i128),
    Float(f64),
}

/// A type of numbers. Values are bits, as they lie in memory.
#[derive(Clone, Copy)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) bytes: usize,
    /// Values at the ends of the range and near them.
    pub(crate) values: fn() -> Vec<u64>,
    pub(crate) exact: fn(u64) -> Exact,
    /// `number as` the type.
    pub(crate) cast: fn(Exact) -> u64,
}

/// An operation on two integers: the result of a release build, as bits, and the result of a debug build, which may be
/// an error.
pub(crate) struct Operation {
    text: &'static str,
    wrapping: fn(u64, u64) -> Option<u64>,
    checked: fn(u64, u64) -> Option<u64>,
}

macro_rules! integers {
    ($($ty:ident: $bits:ident, $neg:tt;)*) => {
        /// The integer types.
        pub(crate) const INTEGERS: &[(Type, &[Operation])] = &[$((
            Type {
                name: stringify!($ty),
                bytes: size_of::<$ty>(),
                values: || {
                    let values: &[$ty] = &[
                        0, 1, 2, 7, 100, $ty::MAX / 3, $ty::MAX / 2, $ty::MAX / 2 + 1, $ty::MAX - 1, $ty::MAX,
                        $ty::MIN, $ty::MIN + 1, $ty::MIN / 2, (0 as $ty).wrapping_sub(1), (0 as $ty).wrapping_sub(100),
                        // One more than halfway between two values of bf16, and of f32.
                        $ty::MAX / 4 + 2 + (($ty::MAX / 4 + 1) as u64 >> 8) as $ty,
                        $ty::MAX / 4 + 2 + (($ty::MAX / 4 + 1) as u64 >> 24) as $ty,
                    ];
                    values.iter().map(|value| u64::from(*value as $bits)).collect()
                },
                exact: |bits| Exact::Int((bits as $ty).into()),
                cast: |number| u64::from(match number {
                    Exact::Int(value) => value as $ty,
                    Exact::Float(value) => value as $ty,
                } as $bits),
            },
            &integers!(@operations $ty, $bits, $neg,
                "a + b": wrapping_add, checked_add;
                "a - b": wrapping_sub, checked_sub;
                "a * b": wrapping_mul, checked_mul;
            ),
        ),)*];
    };
    (@operations $ty:ident, $bits:ident, $neg:tt, $($text:literal: $wrapping:ident, $checked:ident;)*) => {[
        $(integers!(@row $ty, $bits, $text, |a, b| Some(a.$wrapping(b)), |a, b| a.$checked(b)),)*
        integers!(@row $ty, $bits, "a / b", |a, b| (b != 0).then(|| a.wrapping_div(b)), |a, b| a.checked_div(b)),
        integers!(@row $ty, $bits, "a % b", |a, b| (b != 0).then(|| a.wrapping_rem(b)), |a, b| a.checked_rem(b)),
        integers!(@row $ty, $bits, "a << b", |a, b| Some(a.wrapping_shl(b as u32)), |a, b| a.checked_shl(u32::try_from(b).ok()?)),
        integers!(@row $ty, $bits, "a >> b", |a, b| Some(a.wrapping_shr(b as u32)), |a, b| a.checked_shr(u32::try_from(b).ok()?)),
        integers!(@row $ty, $bits, "a << 3", |a, _| Some(a << 3), |a, _| Some(a << 3)),
        integers!(@row $ty, $bits, "a * 4", |a, _| Some(a.wrapping_mul(4)), |a, _| a.checked_mul(4)),
        integers!(@row $ty, $bits, "a / 4", |a, _| Some(a / 4), |a, _| Some(a / 4)),
        integers!(@row $ty, $bits, "a % 4", |a, _| Some(a % 4), |a, _| Some(a % 4)),
        integers!(@row $ty, $bits, "1 + a", |a, _| Some(a.wrapping_add(1)), |a, _| a.checked_add(1)),
        integers!(@row $ty, $bits, "100 - a", |a, _| Some((100 as $ty).wrapping_sub(a)), |a, _| (100 as $ty).checked_sub(a)),
        integers!(@row $ty, $bits, "(a + b) / 2", |a, b| Some(a.wrapping_add(b) / 2), |a, b| Some(a.checked_add(b)? / 2)),
        integers!(@row $ty, $bits, "a & b", |a, b| Some(a & b), |a, b| Some(a & b)),
        integers!(@row $ty, $bits, "a | b", |a, b| Some(a | b), |a, b| Some(a | b)),
        integers!(@row $ty, $bits, "a ^ b", |a, b| Some(a ^ b), |a, b| Some(a ^ b)),
        integers!(@row $ty, $bits, "!a", |a, _| Some(!a), |a, _| Some(!a)),
        integers!(@row $ty, $bits, "min(a, b)", |a, b| Some(a.min(b)), |a, b| Some(a.min(b))),
        integers!(@row $ty, $bits, "max(a, b)", |a, b| Some(a.max(b)), |a, b| Some(a.max(b))),
        integers!(@row $ty, $bits, "if a < b { a } else { b + 1 }",
            |a, b| Some(if a < b { a } else { b.wrapping_add(1) }), |a, b| if a < b { Some(a) } else { b.checked_add(1) }),
        integers!(@row $ty, $bits, "if a < b { 2 } else { a }",
            |a, b| Some(if a < b { 2 } else { a }), |a, b| Some(if a < b { 2 } else { a })),
        integers!(@truth $ty, $bits, "(a < b) as", <),
        integers!(@truth $ty, $bits, "(a <= b) as", <=),
        integers!(@truth $ty, $bits, "(a > b) as", >),
        integers!(@truth $ty, $bits, "(a >= b) as", >=),
        integers!(@truth $ty, $bits, "(a == b) as", ==),
        integers!(@truth $ty, $bits, "(a != b) as", !=),
        integers!(@$neg $ty, $bits),
    ]};
    (@truth $ty:ident, $bits:ident, $text:literal, $op:tt) => {
        integers!(@row $ty, $bits, concat!($text, " ", stringify!($ty)), |a, b| Some((a $op b) as $ty), |a, b| Some((a $op b) as $ty))
    };
    (@signed $ty:ident, $bits:ident) => {
        integers!(@row $ty, $bits, "-a", |a, _| Some(a.wrapping_neg()), |a, _| a.checked_neg())
    };
    (@unsigned $ty:ident, $bits:ident) => {
        integers!(@row $ty, $bits, "a", |a, _| Some(a), |a, _| Some(a))
    };
    (@row $ty:ident, $bits:ident, $text:expr, |$a:tt, $b:tt| $wrapping:expr, |$c:tt, $d:tt| $checked:expr) => {
        Operation {
            text: $text,
            wrapping: |a, b| {
                let f: fn($ty, $ty) -> Option<$ty> = |$a, $b| $wrapping;
                f(a as $ty, b as $ty).map(|result| u64::from(result as $bits))
            },
            checked: |a, b| {
                let f: fn($ty, $ty) -> Option<$ty> = |$c, $d| $checked;
                f(a as $ty, b as $ty).map(|result| u64::from(result as $bits))
            },
        }
    };
}

integers! {
    u8: u8, unsigned; i8: u8, signed; u16: u16, unsigned; i16: u16, signed;
    u32: u32, unsigned; i32: u32, signed; u64: u64, unsigned; i64: u64, signed;
}

macro_rules! floats {
    ($($ty:ty = $name:literal, $bits:ident, |$number:ident| $cast:expr;)*) => {
        /// The floating-point types.
        pub(crate) const FLOATS: &[Type] = &[$(Type {
            name: $name,
            bytes: size_of::<$ty>(),
            values: || FLOAT_VALUES
                .iter()
                .map(|value| {
                    let $number = Exact::Float(*value);
                    let value: $ty = $cast;
                    u64::from(value.to_bits())
                })
                .collect(),
            exact: |bits| Exact::Float(<$ty>::from_bits(bits as $bits).into()),
            cast: |$number| {
                let value: $ty = $cast;
                u64::from(value.to_bits())
            },
        },)*];
    };
}

floats! {
    half::f16 = "f16", u16, |number| half::f16::from_bits(nearest(number, |bits| half::f16::from_bits(bits).into(), 0x7c00, 65536.0));
    half::bf16 = "bf16", u16, |number| half::bf16::from_bits(nearest(number, |bits| half::bf16::from_bits(bits).into(), 0x7f80, 2f64.powi(128)));
    f32 = "f32", u32, |number| match number { Exact::Int(value) => value as f32, Exact::Float(value) => value as f32 };
    f64 = "f64", u64, |number| match number { Exact::Int(value) => value as f64, Exact::Float(value) => value };
}

/// Numbers that are rounded to each type: the ends of the ranges of all types, and points halfway between neighbours.
#[rustfmt::skip]
const FLOAT_VALUES: &[f64] = &[
    0.0, -0.0, 0.5, -0.5, 0.999, 1.0, -1.0, 1.5, 2.5, -2.5, 100.25, 127.0, 127.9, 128.0, -128.0, -128.9, -129.0, 255.0, 255.9,
    256.0, 257.0, 300.0, 32767.0, 32768.0, -32768.0, -32769.0, 65504.0, 65519.9, 65520.0, 65535.0, 65536.0, 1e9,
    2147483647.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967295.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19, 1e30, -1e30,
    3.4e38, 1e300, -1e300, 6e-8, 3e-8, 1e-40, 1e-310, 1.00048828125, 1.001953125, 1.00390625, 1.01171875,
    1.0039062500000002, 1.0004882812500002, 1.0000000596046448, f64::INFINITY, f64::NEG_INFINITY, f64::NAN,
];

/// The bits of the nearest number of 16 bits, ties to even. `infinity` are the bits of infinity, and `beyond` is the
/// value that they would have if they were a number.
fn nearest(number: Exact, value: fn(u16) -> f64, infinity: u16, beyond: f64) -> u16 {
    let (negative, magnitude) = match number {
        Exact::Float(value) if value.is_nan() => return 0x7fff,
        Exact::Float(value) => (value.is_sign_negative(), Exact::Float(value.abs())),
        Exact::Int(value) => (value < 0, Exact::Int(value.abs())),
    };
    let value = |bits| {
        if bits == infinity {
            beyond
        } else {
            value(bits)
        }
    };
    // Finds the greatest number that is at most `magnitude`. Numbers are ordered as their bits are.
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = low.midpoint(high);
        match compare(magnitude, value(middle)) {
            Ordering::Less => high = middle,
            _ => low = middle,
        }
    }
    let bits = match compare(magnitude, (value(low) + value(high)) / 2.0) {
        Ordering::Less => low,
        Ordering::Equal => low + (low & 1),
        Ordering::Greater => high,
    };
    bits | u16::from(negative) << 15
}

/// Compares two numbers, of which the first is not a NaN.
fn compare(number: Exact, other: f64) -> Ordering {
    match number {
        Exact::Float(number) => number.total_cmp(&other),
        Exact::Int(number) => {
            let floor = other.floor();
            let below = if other > floor {
                Ordering::Less
            } else {
                Ordering::Equal
            };
            number.cmp(&(floor as i128)).then(below)
        }
    }
}

/// All types.
pub(crate) fn types() -> impl Iterator<Item = Type> {
    let integers = INTEGERS.iter().map(|(ty, _)| *ty);
    integers.chain(FLOATS.iter().copied())
}

impl Type {
    /// Whether two results are the same. All NaNs count as the same.
    pub(crate) fn same(&self, a: u64, b: u64) -> bool {
        let is_nan = |bits| matches!((self.exact)(bits), Exact::Float(value) if value.is_nan());
        a == b || is_nan(a) && is_nan(b)
    }

    /// The number as a kernel writes it, unless it is infinite or a NaN.
    pub(crate) fn literal(&self, bits: u64) -> Option<String> {
        match (self.exact)(bits) {
            Exact::Int(value) => Some(format!("{value}{}", self.name)),
            Exact::Float(value) => {
                let literal = format!("{value:e}{}", self.name);
                value.is_finite().then_some(literal)
            }
        }
    }
}

pub(crate) fn kernel(threads: usize, params: &str, body: &str) -> Result<Lowered, syn::Error> {
    let module = format!(
        "mod kernels {{ #[kernel(threads = {threads})] pub unsafe fn k({params}) {{ {body} }} }}"
    );
    Ok(lower(module.parse().expect("tokens"))?.remove(0))
}

/// Judges a kernel, and launches it.
pub(crate) fn run(
    kernel: &Lowered,
    inputs: &[(Type, &[u64])],
    outputs: &[(Type, usize)],
) -> Vec<Vec<u64>> {
    judge(std::slice::from_ref(kernel));
    launch(kernel, inputs, outputs)
}

/// Runs a kernel on arrays of these numbers and on output arrays of the given lengths and types, and returns the output
/// arrays.
pub(crate) fn launch(
    kernel: &Lowered,
    inputs: &[(Type, &[u64])],
    outputs: &[(Type, usize)],
) -> Vec<Vec<u64>> {
    let mut memory = GlobalMemory::new();
    let mut addresses = Vec::new();
    for (ty, values) in inputs {
        let values = values.iter().map(|value| value.to_le_bytes());
        let bytes: Vec<u8> = values
            .flat_map(|value| value[..ty.bytes].to_vec())
            .collect();
        let address = memory.alloc(bytes.len(), 16).expect("memory");
        memory.write(address, &bytes).expect("memory");
        addresses.push(address);
    }
    for (ty, count) in outputs {
        addresses.push(memory.alloc(count * ty.bytes, 16).expect("memory"));
    }
    let args: Vec<Vec<u8>> = addresses
        .iter()
        .map(|address| address.to_le_bytes().to_vec())
        .collect();
    let launch = Launch {
        block: [kernel.threads, 1, 1],
        dynamic_shared_bytes: kernel.smem_bytes,
        args: &args,
        // Every pair of values is divided; where Rust has no quotient, nothing is compared.
        checks: Checks {
            division: false,
            ..Checks::default()
        },
        ..Launch::default()
    };
    let text = kernel.module.to_string();
    let program = Program::load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program
        .launch(&mut memory, "k", &launch)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let read = |(address, (ty, count)): (&u64, &(Type, usize))| {
        let bytes = memory.bytes(*address, count * ty.bytes).expect("memory");
        let numbers = bytes.chunks(ty.bytes).map(|bytes| {
            let mut number = [0; 8];
            number[..ty.bytes].copy_from_slice(bytes);
            u64::from_le_bytes(number)
        });
        numbers.collect()
    };
    addresses[inputs.len()..]
        .iter()
        .zip(outputs)
        .map(read)
        .collect()
}

/// Every pair of values.
fn pairs(ty: Type) -> Vec<(u64, u64)> {
    let values = (ty.values)();
    let pairs = values.iter().flat_map(|a| values.iter().map(|b| (*a, *b)));
    pairs.collect()
}

#[test]
fn operations_at_run_time() {
    for (ty, operations) in INTEGERS {
        let pairs = pairs(*ty);
        let count = pairs.len();
        let (a, b): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
        let mut body = "let i = thread(); let a = x[i]; let b = y[i];".to_string();
        for (n, operation) in operations.iter().enumerate() {
            let first = n * count;
            write!(body, "out[{first} + i] = {};", operation.text).expect("a string");
        }
        let name = ty.name;
        let params = format!("x: Global<{name}, 1>, y: Global<{name}, 1>, out: Global<{name}, 1>");
        let kernel =
            kernel(count, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let results = run(
            &kernel,
            &[(*ty, &a), (*ty, &b)],
            &[(*ty, operations.len() * count)],
        );
        for (operation, results) in operations.iter().zip(results[0].chunks(count)) {
            for ((a, b), result) in pairs.iter().zip(results) {
                if let Some(expected) = (operation.wrapping)(*a, *b) {
                    let text = operation.text;
                    assert_eq!(*result, expected, "{text} of {name} {a:#x} and {b:#x}");
                }
            }
        }
    }
}

#[test]
fn operations_at_expansion() {
    for (ty, operations) in INTEGERS {
        known_operations(*ty, operations);
    }
}

fn known_operations(ty: Type, operations: &[Operation]) {
    let params = format!("out: Global<{}, 1>", ty.name);
    let (mut body, mut expected) = (String::new(), Vec::new());
    for operation in operations {
        // One pair in five, since a kernel has a limit of steps. Every value is in a pair on both sides.
        for (a, b) in pairs(ty).into_iter().step_by(5) {
            let [x, y] = [a, b].map(|value| ty.literal(value).expect("finite"));
            let text = format!("{{ let a = {x}; let b = {y}; {} }}", operation.text);
            match (operation.checked)(a, b) {
                Some(result) => {
                    write!(body, "out[{}] = {text};", expected.len()).expect("a string");
                    expected.push((text, result));
                }
                None => {
                    let error = kernel(1, &params, &format!("out[0] = {text};"));
                    assert!(error.is_err(), "{text} has no result");
                }
            }
        }
    }
    let kernel = kernel(1, &params, &body).unwrap_or_else(|error| panic!("{error}"));
    let results = run(&kernel, &[], &[(ty, expected.len())]);
    for ((text, expected), result) in expected.iter().zip(&results[0]) {
        assert_eq!(result, expected, "{text}");
    }
}

#[test]
fn casts_at_run_time() {
    let types: Vec<Type> = types().collect();
    for from in &types {
        let values = (from.values)();
        let mut params = format!("x: Global<{}, 1>", from.name);
        let mut body = "let i = thread(); let a = x[i];".to_string();
        for to in &types {
            let name = to.name;
            write!(params, ", to_{name}: Global<{name}, 1>").expect("a string");
            write!(body, "to_{name}[i] = a as {name};").expect("a string");
        }
        let kernel =
            kernel(values.len(), &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let outputs: Vec<_> = types.iter().map(|ty| (*ty, values.len())).collect();
        let results = run(&kernel, &[(*from, &values)], &outputs);
        for (to, results) in types.iter().zip(results) {
            for (value, result) in values.iter().zip(results) {
                let exact = (from.exact)(*value);
                let expected = (to.cast)(exact);
                let (from, name) = (from.name, to.name);
                assert!(
                    to.same(result, expected),
                    "{exact:?} of {from} as {name}: {result:#x}, not {expected:#x}"
                );
            }
        }
    }
}

#[test]
fn casts_at_expansion() {
    let wide = |ty: &Type| !ty.name.ends_with("f16");
    for to in types().filter(wide) {
        let (mut body, mut expected) = (String::new(), Vec::new());
        for from in types().filter(wide) {
            for value in (from.values)() {
                let Some(literal) = from.literal(value) else {
                    continue;
                };
                let text = format!("{literal} as {}", to.name);
                write!(body, "out[{}] = {text};", expected.len()).expect("a string");
                expected.push((text, (to.cast)((from.exact)(value))));
            }
        }
        let params = format!("out: Global<{}, 1>", to.name);
        let kernel = kernel(1, &params, &body).unwrap_or_else(|error| panic!("{error}"));
        let results = run(&kernel, &[], &[(to, expected.len())]);
        for ((text, expected), result) in expected.iter().zip(&results[0]) {
            assert!(
                to.same(*result, *expected),
                "{text}: {result:#x}, not {expected:#x}"
            );
        }
    }
}

/// Elements of 8 bits keep their sign in fragments and in memory.
#[test]
fn bytes_of_fragments() {
    let (i8, _) = INTEGERS[1];
    let values: Vec<u64> = [0u8, 1, 127, 128, 200, 255].map(u64::from).to_vec();
    let body = "let f = fragment::<i8>(4); let i = thread(); f[1] = x[i]; f[2] = f[1] / 2; f[3] = f[2] - 100; out[i] = f[3];";
    let kernel =
        kernel(values.len(), "x: Global<i8, 1>, out: Global<i8, 1>", body).expect("a kernel");
    let results = run(&kernel, &[(i8, &values)], &[(i8, values.len())]);
    let expected = values
        .iter()
        .map(|value| u64::from((*value as u8 as i8 / 2).wrapping_sub(100) as u8));
    assert_eq!(results[0], expected.collect::<Vec<_>>());
}

/// `ceil_div` is right even if a + b − 1 does not fit the type.
#[test]
fn quotients_rounded_up() {
    let (u8, _) = INTEGERS[0];
    let values: Vec<u64> = (0..=255).collect();
    let body = "let i = thread(); out[i] = ceil_div(x[i], 7) + ceil_div(255u8, 7) + ceil_div(255, x[255 - i] | 1);";
    let kernel = kernel(256, "x: Global<u8, 1>, out: Global<u8, 1>", body).expect("a kernel");
    let results = run(&kernel, &[(u8, &values)], &[(u8, values.len())]);
    let expected = (0u8..=255).map(|x| {
        let sum = x.div_ceil(7).wrapping_add(255u8.div_ceil(7));
        u64::from(sum.wrapping_add(255u8.div_ceil((255 - x) | 1)))
    });
    assert_eq!(results[0], expected.collect::<Vec<_>>());
}

/// A known number that is cast to a narrower floating-point type is rounded to it.
#[test]
fn known_numbers_are_rounded_by_casts() {
    let body = "out[0] = (1.1 as f16) as f32 + (1.1 as bf16) as f32;";
    let kernel = kernel(
        1,
        "out: Global<u32, 1>",
        &body
            .replace("out[0] = ", "let sum = ")
            .replace(';', "; out[0] = (sum * 65536.0) as u32;"),
    )
    .expect("a kernel");
    let sum = half::f16::from_f32(1.1).to_f32() + half::bf16::from_f32(1.1).to_f32();
    let (u32, _) = INTEGERS[4];
    let results = run(&kernel, &[], &[(u32, 1)]);
    assert_eq!(results[0], [(sum * 65536.0) as u64]);
}

/// A result of known integers that does not fit their type is an error at the operation.
#[test]
fn known_integers_that_do_not_fit() {
    let error = |text: &str| {
        kernel(
            1,
            "out: Global<u32, 1>",
            &format!("out[0] = ({text}) as u32;"),
        )
        .err()
        .map(|error| error.to_string())
    };
    let messages = [
        ("255u8 + 1", "256 does not fit `u8`"),
        ("300u8", "300 does not fit `u8`"),
        ("-128i8 - 1", "-129 does not fit `i8`"),
        ("-128i8 / -1", "128 does not fit `i8`"),
        (
            "1u8 << 8",
            "an integer of 8 bits is shifted by 0 to 7, not by 8",
        ),
        (
            "1u8 + 1u16",
            "mismatched types `u8` and `u16`: convert one with `as u8`",
        ),
        (
            "{ let mut x = 1u8; x = 2u16; x }",
            "expected a `u8`, found the integer 2u16",
        ),
        ("{ let x: u8 = 255; x + 1 }", "256 does not fit `u8`"),
        ("-1u8", "-1 does not fit `u8`"),
    ];
    for (text, message) in messages {
        assert_eq!(error(text).as_deref(), Some(message), "{text}");
    }
    for text in [
        "!255u8",
        "300u32 as u8",
        "255 + 1",
        "-128i8",
        "1u64 << thread()",
    ] {
        assert_eq!(error(text), None, "{text}");
    }
}
