//! A function of the kernel language means what it means in Rust: the same text is compiled by rustc, lowered and run on
//! the emulator with run-time arguments, and lowered with its arguments known, so that it is computed at expansion.

use crate::judge;
use cute_emulator::{GlobalMemory, Launch, Program};
use cute_lang::kernel::lower::{Lowered, lower};

/// Rust's versions of the builtins that the functions below use.
mod builtins {
    pub(super) use std::cmp::{max, min};

    pub(super) fn ceil_div(a: u32, b: u32) -> u32 {
        a.div_ceil(b)
    }
}
use builtins::{ceil_div, max, min};

/// Arguments that every function is tried with.
const ARGUMENTS: [(u32, u32); 7] = [(0, 1), (1, 1), (5, 3), (3, 5), (12, 4), (7, 7), (40, 6)];

/// Defines functions, and a test that compares them with their lowering. The last function is the one that is called.
macro_rules! same_as_rust {
    ($($test:ident: { $($items:item)* })*) => { $(
        #[test]
        fn $test() {
            $(#[allow(clippy::all, unused, reason = "the subject is what the text means, not how it reads")] $items)*
            check(concat!($(stringify!($items)),*), f);
        }
    )* };
}

same_as_rust! {
    arithmetic: {
        fn f(x: u32, y: u32) -> u32 { (x * 8 + y / 2) % 13 ^ (x << 2 | y) & 0xff - min(x, 9) + max(y, 4) * ceil_div(x, y) }
    }
    quotients_rounded_up_at_the_end_of_the_range: {
        fn f(x: u32, y: u32) -> u32 { ceil_div(x | 0xffff_fff0, y) ^ ceil_div(0xffff_ffff, y | 1) ^ ceil_div(x, 0xffff_ffff) }
    }
    indices_have_the_type_of_their_range: {
        fn f(x: u32, y: u32) -> u32 {
            let mut sum = x;
            for i in 250..=255u8 {
                sum += (!i) as u32;
            }
            sum
        }
    }
    literals_have_the_types_of_their_uses: {
        fn wide(x: u64) -> u64 { x }
        fn f(x: u32, y: u32) -> u32 {
            // In branches of either kind, in `match`, and beside a branch that is left out.
            let kept = if x < 5 { 16777217.0f64 } else { 1.0 };
            let told = if x < 5 { 16777217.0 } else { 1.0f64 };
            let chosen = match x { 0 => 16777217.0, 1 => 16777219.0, _ => kept };
            let beside = match 56 { 0 => 98i8, _ => 75 } << 2;
            // Backward, from a use that follows.
            let mut later = 1;
            later <<= 40;
            let narrow = 200;
            let lost = narrow << 1;
            let other = narrow + (x as u8);
            let third = 0.1 * 3.0;
            let single = third * (y as f32 + 1.0f32);
            let mut down = 1;
            down -= 3;
            let mut fraction = 0.1;
            fraction += 0.2;
            let below = if down < 0 { 1 } else { 0 };
            (kept as u32) ^ (told as u32) ^ (chosen as u32) ^ (beside as u32) ^ ((wide(later) >> 38) as u32)
                ^ (lost as u32) ^ (other as u32) ^ ((single * 1e8) as u32) ^ ((down as f32) as i32 as u32)
                ^ ((fraction * 1e9) as u32) ^ ((fraction == 0.30000000000000004) as u32) ^ below
        }
    }
    branches: {
        fn f(x: u32, y: u32) -> u32 { if x < y { if x == 3 { 1 } else { x } } else if x % 2 == 0 && y > 2 || x == 7 { y * 2 } else { 9 } }
    }
    variables: {
        fn f(x: u32, y: u32) -> u32 {
            let mut a = x;
            let mut b = y;
            let before = a;
            (a, b) = (b, a + 1);
            a += b;
            let between = a;
            a = between * b + before;
            a + between
        }
    }
    order_of_evaluation: {
        fn f(x: u32, y: u32) -> u32 {
            let mut a = x;
            a + { a += y; a } * 2 + { a *= 3; a }
        }
    }
    for_loops: {
        fn f(x: u32, y: u32) -> u32 {
            let mut sum = 0;
            for i in 0..x {
                if i % 3 == 1 { continue; }
                if i > 20 { break; }
                for j in 0..3 { sum += i * j + y; }
            }
            sum
        }
    }
    unrolled_loops: {
        fn f(x: u32, y: u32) -> u32 {
            let mut sum = 0;
            for i in 2..=9 {
                if i == 8 { break; }
                if i % 2 == 0 { continue; }
                if x == i { continue; }
                if sum > 100 * y { break; }
                sum += i * x;
            }
            sum
        }
    }
    labelled_loops: {
        fn f(x: u32, y: u32) -> u32 {
            let mut count = 0;
            'rows: for i in 0..x {
                let mut j = 0;
                while j < y {
                    j += 1;
                    if i * j > 12 { break 'rows; }
                    if i == j { continue 'rows; }
                    count += 1;
                }
                count += 10;
            }
            count
        }
    }
    endless_loops: {
        fn f(x: u32, y: u32) -> u32 {
            let (mut a, mut b) = (x, y);
            loop {
                if b == 0 { break; }
                (a, b) = (b, a % b);
            }
            a
        }
    }
    references: {
        fn advance(stage: &mut u32, phase: &mut u32) {
            *stage += 1;
            if *stage == 4 { *stage = 0; *phase ^= 1; }
        }
        fn twice(n: u32, stage: &mut u32, phase: &mut u32) -> u32 {
            advance(stage, phase);
            advance(&mut *stage, phase);
            n + *stage * 2 + *phase
        }
        fn f(x: u32, y: u32) -> u32 {
            let mut stage = 0;
            let mut phase = y % 2;
            let mut sum = 0;
            for i in 0..x { sum += twice(i, &mut stage, &mut phase); }
            sum * 100 + stage * 10 + phase
        }
    }
    early_returns: {
        fn keep_small(x: &mut u32, limit: u32) {
            if *x <= limit { return; }
            *x = limit;
            if limit > 4 { return; }
            *x += 1;
        }
        fn f(x: u32, y: u32) -> u32 {
            let mut a = x;
            keep_small(&mut a, y);
            let mut b = y;
            keep_small(&mut b, 3);
            a * 10 + b
        }
    }
    generic_functions: {
        fn power<const N: u32>(x: u32) -> u32 {
            let mut result = 1;
            for _ in 0..N { result *= x; }
            result
        }
        fn f(x: u32, y: u32) -> u32 { power::<3>(x) + power::<2>(y) * power::<0>(x) }
    }
    truth_values: {
        fn f(x: u32, y: u32) -> u32 {
            let p = x < y;
            let mut q = !p && x != 5;
            q = q ^ (y == 1) | p & (x > 0);
            if p == q || (p != true) == (q & true) { q = !q; }
            (p || q) as u32 * 4 + q as u32 * 2 + (if q { p } else { !p }) as u32
        }
    }
    signed_integers: {
        fn f(x: u32, y: u32) -> u32 {
            let d = x as i32 - y as i32 * 2;
            let q = -d / 3;
            let r = d % 4;
            ((q + 100) as u32) * 64 + (if r < 0 { -r } else { r + 8 }) as u32
        }
    }
    narrow_integers: {
        fn join(low: u8, high: i8) -> i16 { (high as i16) << 8 | low as i16 }
        fn step(n: &mut u8, by: u8) -> bool { *n = *n / 2 + by; *n % 2 == 1 }
        fn f(x: u32, y: u32) -> u32 {
            let mut a = x as u8 * 6;
            let mut sum: u16 = 0;
            for i in 1..a { sum += (i ^ 5) as u16; if i > 200 { break; } }
            for i in 0..3u8 { a = !a >> i; }
            let low = -(y as i8) - 100;
            let mut n = if low < -104 { a } else { 7u8 };
            while step(&mut n, 9) && n > 20 { n -= 3; }
            (join(n, low) as u16 ^ sum) as u32 + (low / 3) as u32 % 1000 + (sum << 2) as i8 as u8 as u32
        }
    }
    wide_integers: {
        fn f(x: u32, y: u32) -> u32 {
            let a = (x as u64 + 4000000000) * (y as u64 + 3);
            (a >> 3) as u32 ^ (a % 1000003) as u32
        }
    }
    floats: {
        fn f(x: u32, y: u32) -> u32 {
            let mut a = x as f32 * 0.5;
            a = a - y as f32 / 3.0;
            if a < 0.0 { a = -a; }
            (a * 1000.0) as u32
        }
    }
    shadowing: {
        fn f(x: u32, y: u32) -> u32 {
            let x = x + 1;
            let z = { let x = x * 2; x + y };
            let (x, y) = (y, x);
            x * 3 + y + z
        }
    }
    tuples: {
        fn divide(a: u32, b: u32) -> (u32, u32) { (a / b, a % b) }
        fn f(x: u32, y: u32) -> u32 {
            let mut t = divide(x, y);
            t.0 += 1;
            let (q, r) = if x > y { t } else { (y, x) };
            let ((a, b), c) = ((q, r), t.1);
            a * 100 + b * 10 + c
        }
    }
}

/// An instruction that reads its first operand, and does not write it, is not changed to write a variable.
#[test]
fn an_instruction_that_only_reads_is_no_result() {
    let source = "fn f(x: u32) -> u32 { let mut z = { let a = x + 1; ptx!(\"nanosleep.u32\", a); a }; z += 1; z }";
    let module = format!(
        "mod kernels {{ {source} #[kernel(threads = 1)] pub unsafe fn k(x: u32, out: Global<u32, 1>) {{ out[0] = f(x); }} }}"
    );
    let mut instances = lower(module.parse().expect("tokens")).expect("a kernel");
    judge(&instances);
    assert_eq!(run(&instances.remove(0), &[5]), 7);
}

/// Loops compute the same however often their bodies are emitted.
#[test]
fn loops_are_unrolled_in_part() {
    fn f(x: u32, y: u32) -> u32 {
        let mut s = 1u32;
        for i in 0..y % 7 {
            if i == 4 {
                continue;
            }
            if s > 5000 {
                break;
            }
            s = s * 3 + i + x % 5;
        }
        for i in 2..8 {
            s = s.wrapping_mul(5) + i;
        }
        s
    }
    for unroll in ["", "#[unroll(1)]", "#[unroll(2)]", "#[unroll(4)]"] {
        let source = format!(
            "fn f(x: u32, y: u32) -> u32 {{
                let mut s = 1;
                {unroll} for i in 0..y % 7 {{
                    if i == 4 {{ continue; }}
                    if s > 5000 {{ break; }}
                    s = s * 3 + i + x % 5;
                }}
                {unroll} for i in 2..8 {{ s = s * 5 + i; }}
                s
            }}"
        );
        check(&source, f);
    }
    let body = "#[unroll(3)] for i in 0..9 { out[i] = n; }";
    let source = format!(
        "mod kernels {{ #[kernel(threads = 1)] pub unsafe fn k(n: u32, out: Global<u32, 1>) {{ {body} }} }}"
    );
    let instance = lower(source.parse().expect("tokens"))
        .expect("a kernel")
        .remove(0);
    let text = instance.module.to_string();
    assert_eq!(text.matches("st.global").count(), 3, "{text}");
    assert_eq!(text.matches("setp").count(), 1, "{text}");
}

/// Runs `source`, whose last function is `f`, at run time and at expansion.
pub(super) fn check(source: &str, f: fn(u32, u32) -> u32) {
    let run_time = kernel(source, "x: u32, y: u32, out: Global<u32, 1>", "x", "y");
    for (x, y) in ARGUMENTS {
        let expected = f(x, y);
        assert_eq!(
            run(&run_time, &[x, y]),
            expected,
            "f({x}, {y}) at run time:\n{}",
            run_time.module
        );
        let known = kernel(
            source,
            "out: Global<u32, 1>",
            &x.to_string(),
            &y.to_string(),
        );
        assert_eq!(
            run(&known, &[]),
            expected,
            "f({x}, {y}) at expansion:\n{}",
            known.module
        );
    }
}

fn kernel(source: &str, params: &str, x: &str, y: &str) -> Lowered {
    let module = format!(
        "mod kernels {{ {source} #[kernel(threads = 1)] pub unsafe fn k({params}) {{ out[0] = f({x}, {y}); }} }}"
    );
    let mut instances =
        lower(module.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}: {module}"));
    judge(&instances);
    instances.remove(0)
}

fn run(kernel: &Lowered, args: &[u32]) -> u32 {
    let mut memory = GlobalMemory::new();
    let out = memory.alloc(4, 16).unwrap();
    let mut args: Vec<Vec<u8>> = args.iter().map(|arg| arg.to_le_bytes().to_vec()).collect();
    args.push(out.to_le_bytes().to_vec());
    let launch = Launch {
        block: [kernel.threads, 1, 1],
        args: &args,
        ..Launch::default()
    };
    let program =
        Program::load(&kernel.module.to_string()).unwrap_or_else(|error| panic!("{error}"));
    program
        .launch(&mut memory, "k", &launch)
        .unwrap_or_else(|error| panic!("{error}:\n{}", kernel.module));
    let mut bytes = [0; 4];
    memory.read(out, &mut bytes).expect("four bytes");
    u32::from_le_bytes(bytes)
}

/// A parameter may have the name of a value that the language computes before the body.
#[test]
fn parameters_have_names_of_their_own() {
    let kernel = kernel(
        "fn f(x: u32, y: u32) -> u32 { x + y }",
        "thread: u32, lane: u32, out: Global<u32, 1>",
        "thread + lane",
        "thread() + lane()",
    );
    assert_eq!(run(&kernel, &[40, 2]), 42, "{}", kernel.module);
}
