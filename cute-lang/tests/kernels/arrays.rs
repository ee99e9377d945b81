//! Elements of arrays whose index is known only when the kernel runs.

use crate::judge;
use crate::numbers::{Exact, Type, kernel, run, types};
use cute_lang::kernel::lower::lower;

fn of_name(name: &str) -> Type {
    types().find(|ty| ty.name == name).expect("a type")
}

/// The number `i` of an array, which differs from its neighbours.
fn element(i: usize) -> u64 {
    (i as u64 * 37 + 11) % 101
}

/// The bits of small integers in a type.
fn bits(ty: Type, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let numbers = numbers.into_iter();
    numbers
        .map(|number| (ty.cast)(Exact::Int(number.into())))
        .collect()
}

/// The numbers as an array of literals.
fn literals(ty: Type, numbers: impl IntoIterator<Item = u64>) -> String {
    let suffix = match ty.name {
        name if name.starts_with(['u', 'i']) => name,
        _ => ".0",
    };
    let numbers = numbers
        .into_iter()
        .map(|number| format!("{number}{suffix}"));
    format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
}

const LENGTHS: [usize; 9] = [1, 2, 3, 4, 5, 8, 13, 16, 64];
const THREADS: usize = 64;

/// Known elements, as constants and as variables, and elements in registers.
#[test]
fn elements_are_read() {
    for ty in types() {
        let name = ty.name;
        for length in LENGTHS {
            let numbers = (0..length).map(element);
            let list = literals(ty, numbers.clone());
            let params =
                format!("x: Global<{name}, 1>, at: Global<u32, 1>, out: Global<{name}, 1>");
            let held: Vec<String> = (0..length).map(|i| format!("x[{i}]")).collect();
            let body = format!(
                "let i = at[thread()] % {length};
                let known: [{name}; {length}] = {list};
                out[thread()] = known[i];
                let held = [{}];
                out[{THREADS} + thread()] = held[i];
                let mut changed = held;
                changed[0] = x[{}];
                out[{} + thread()] = changed[i];",
                held.join(", "),
                length - 1,
                2 * THREADS
            );
            let kernel =
                kernel(THREADS, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
            let text = kernel.module.to_string();
            assert_eq!(text.contains("table$0["), length > 4, "{text}");
            assert!(!text.contains("bra"), "{text}");
            let at: Vec<u64> = (0..THREADS as u64).map(|i| i * 7).collect();
            let given = bits(ty, numbers.clone());
            let u32 = of_name("u32");
            let found = run(&kernel, &[(ty, &given), (u32, &at)], &[(ty, 3 * THREADS)]);
            judge(&[kernel]);
            for (thread, at) in at.iter().enumerate() {
                let at = *at as usize % length;
                let first = if at == 0 { length - 1 } else { at };
                let found = [0, 1, 2].map(|row| found[0][row * THREADS + thread]);
                assert_eq!(
                    found,
                    [given[at], given[at], given[first]],
                    "{name}; {length}, {at}"
                );
            }
        }
    }
}

/// What a text gives in Rust.
type Expected = fn(u32, u32) -> u32;

/// The same text in Rust.
macro_rules! same {
    (|$i:ident, $n:ident| $($text:tt)*) => {{
        #[allow(clippy::all, unused, reason = "The text is that of a kernel")]
        fn expected($i: u32, $n: u32) -> u32 { $($text)* }
        (stringify!($($text)*), expected as Expected)
    }};
}

/// Rust has indices of `usize`, and kernels those of any integer.
#[test]
fn elements_are_written() {
    let rows: &[(&str, Expected)] = &[
        same! { |i, n| let mut a = [n, 2, 3, 4]; a[(i % 4) as usize] = 9; a[0] + 10 * a[1] + 100 * a[2] + 1000 * a[3] },
        same! { |i, n| let mut a = [n, 2, 3]; a[(i % 3) as usize] += i; a[0] + 10 * a[1] + 100 * a[2] },
        same! { |i, n| let mut a = [[n, 2, 3], [4, 5, 6]]; a[(i % 2) as usize][(n % 3) as usize] = 9; a[0][0] + 2 * a[0][1] + 4 * a[0][2] + 8 * a[1][0] + 16 * a[1][1] + 32 * a[1][2] },
        same! { |i, n| let mut a = [[n, 2, 3], [4, 5, 6]]; a[(i % 2) as usize] = [n + 1, 8, 9]; a[0][0] + 2 * a[0][1] + 4 * a[0][2] + 8 * a[1][0] + 16 * a[1][1] + 32 * a[1][2] },
        same! { |i, n| let mut a = [(n, 2), (3, 4)]; a[(i % 2) as usize].1 -= 1; a[0].0 + 2 * a[0].1 + 4 * a[1].0 + 8 * a[1].1 },
        same! { |i, n| let mut a = [n, 2, 3, 4]; let k = (i % 4) as usize; let l = (n % 4) as usize; a[k] = a[l] + 1; a[l] = a[k] * 2; a[0] + 10 * a[1] + 100 * a[2] + 1000 * a[3] },
        same! { |i, n| let mut a = [n > 3, true, false]; a[(i % 3) as usize] = n > i; a[0] as u32 + 2 * a[1] as u32 + 4 * a[2] as u32 },
        same! { |i, n| let mut a = [0u32; 8]; let mut k = 0; while k < n { a[((k * i) % 8) as usize] += k; k += 1; } let mut s = 0; for k in 0..8 { s = 3 * s + a[k]; } s },
        same! { |i, n| let t: [u32; 6] = [1, 1, 2, 3, 5, 8]; let k = (i % 6) as usize; t[k] + 10 * [true, false, true, true, false, false][k] as u32 },
        same! { |i, n| let t: [u32; 6] = [1, 1, 2, 3, 5, 8]; t[(n as i32 & 3) as usize] + t[(i as u8 & 1) as usize] + t[(i as i8 & 4) as usize] + t[(n as u64 % 6) as usize] },
        same! { |i, n| let t: [[u32; 3]; 2] = [[1, 2, 3], [4, 5, 6]]; t[(i % 2) as usize][(n % 3) as usize] },
        same! { |i, n| let a = [(1, [2, 3]), (4, [5, n])]; let (x, y) = a[(i % 2) as usize]; x + 10 * y[0] + 100 * y[(n % 2) as usize] },
        same! { |i, n| let mut a = [n, 1, 2]; let k = (i % 3) as usize; let b = if i < 20 { a[k] = 7; a[0] } else { a[k] }; b + 10 * a[1] + 100 * a[2] },
    ];
    let u32 = of_name("u32");
    for (text, expected) in rows {
        let text = text.replace(" as usize", "");
        let body = format!("let (i, n) = (thread(), u[thread()]); out[thread()] = {{ {text} }};");
        let kernel = kernel(THREADS, "u: Global<u32, 1>, out: Global<u32, 1>", &body)
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        let n: Vec<u64> = (0..THREADS as u64).map(|i| i * 5 % 9).collect();
        let found = run(&kernel, &[(u32, &n)], &[(u32, THREADS)]);
        judge(&[kernel]);
        for (i, n) in n.iter().enumerate() {
            assert_eq!(
                found[0][i],
                u64::from(expected(i as u32, *n as u32)),
                "{text} of {i}, {n}"
            );
        }
    }
}

/// Tables of the same numbers are one.
#[test]
fn tables_are_shared() {
    let source = "mod kernels {
        const A: [f32; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
        #[kernel(threads = 4)]
        unsafe fn k(d: Global<f32, 1>) {
            let b: [f32; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
            d[thread()] = A[thread()] * b[thread()];
        }
    }";
    let instance = &lower(source.parse().expect("tokens")).expect("a kernel")[0];
    let text = instance.module.to_string();
    assert_eq!(text.matches(".global .align").count(), 1, "{text}");
    assert!(
        text.contains(".global .align 4 .f32 table$0[5] = {"),
        "{text}"
    );
}

#[test]
fn wrong_indices() {
    let rows = [
        (
            "let y = [1, 2, 3][n];",
            "nothing proves that this index is below 3, the number of elements: put it under a condition by which it is, or let the kernel check it when it runs, `#[kernel(…, checked)]`",
        ),
        (
            "let y = [1, 2, 3][x];",
            "the index of an array is an integer, not a run-time `f32`",
        ),
        (
            "let y = [x; 65][n % 65];",
            "an array of 65 elements in registers takes as many instructions for each element that is chosen when the kernel runs, and 64 is the limit: a tensor in shared memory, `smem`, has addresses",
        ),
        (
            "let mut a = [0.0; 65]; a[n % 65] = x;",
            "an assignment chooses among at most 64 elements when the kernel runs, since each takes an instruction: a tensor in shared memory, `smem`, has addresses",
        ),
        (
            "let mut a = [[0.0; 9]; 9]; a[n % 9][n % 9] = x;",
            "an assignment chooses among at most 64 elements when the kernel runs, since each takes an instruction: a tensor in shared memory, `smem`, has addresses",
        ),
        (
            "let t = [smem::<f32>(4), smem::<f32>(4)]; let y = t[n % 2];",
            "an index that is known only when the kernel runs chooses among numbers, or among truth values, and an element is a tensor in shared memory",
        ),
        (
            "let y = [x, true][n % 2];",
            "an index that is known only when the kernel runs chooses among numbers, or among truth values, and an element is `true`",
        ),
        (
            "let a = [1.0, x]; a[n % 2] = x;",
            "cannot assign to `a[n % 2]`, which is not declared by `let mut`",
        ),
        (
            "let mut a = [1.0, x]; change(&mut a[n % 2]);",
            "this element is chosen when the kernel runs, so no `&mut` names it: change a copy, `let mut x = a[i];`, and assign it, `a[i] = x;`",
        ),
        (
            "let mut a = [1.0, x]; a[n % 2] = n;",
            "expected a `f32`, found a run-time `u32`",
        ),
        (
            "let mut a = [(1.0, x), (x, x)]; a[n % 2] = x;",
            "cannot assign a run-time `f32` to a tuple of 2",
        ),
        (
            "let mut a = [n > 3, true]; a[n % 2] &= n > 4;",
            "no operator changes a truth value that is chosen when the kernel runs: assign it, `a[i] = a[i] & x`",
        ),
        (
            "let y = (1, 2)[n];",
            "`index` takes an integer known at expansion here, not a run-time `u32`",
        ),
    ];
    for (text, message) in rows {
        let source = format!(
            "mod kernels {{
                fn change(x: &mut f32) {{ *x = 1.0; }}
                #[kernel(threads = 32)] fn k(n: u32, x: f32) {{ {text} }}
            }}"
        );
        let error = lower(source.parse().expect("tokens")).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}
