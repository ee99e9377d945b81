//! For every source, the answer is PTX or an error, and never a panic, a hang or a stack overflow.

use crate::random::{Random, seeds};
use crate::shipped::module;
use cute_lang::kernel::lower::lower;
use proc_macro2::{Group, TokenStream, TokenTree};

/// The errors of a kernel with this body.
fn errors(statements: &str) -> String {
    errors_of(&format!(
        "mod kernels {{ #[kernel(threads = 32)] pub fn k(n: u32) {{ {statements} }} }}"
    ))
}

fn errors_of(module: &str) -> String {
    match module.parse::<TokenStream>().map(lower) {
        Ok(Ok(_)) => String::new(),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Every module that differs from a good one by a token that is missing or doubled.
#[test]
fn sources_with_one_mistake() {
    for good in [module("transpose.rs"), STRUCTS.parse().expect("tokens")] {
        assert!(lower(good.clone()).is_ok());
        let tokens = count(&good);
        assert!(tokens > 200, "{tokens} tokens");
        for at in 0..tokens {
            for copies in [0, 2] {
                let mut index = 0;
                let broken = edit(&good, at, copies, &mut index);
                // Either answer is right, since some of these are good kernels.
                let _ = lower(broken);
            }
        }
    }
}

/// A module with each kind of item and expression that structs and closures bring.
const STRUCTS: &str = "
    mod kernels {
        struct Steps<const N: u32> { at: u32, list: [u32; 2] }
        impl<const N: u32> Steps<N> {
            fn new(at: u32) -> Self { Self { at, list: [N; 2] } }
            fn more(&mut self, f: impl Fn(u32) -> u32) -> u32 { self.at += f(self.list[1]); self.at }
        }
        impl<const N: u32> Iterator for Steps<N> {
            type Item = (u32, u32);
            fn next(&mut self) -> Option<(u32, u32)> {
                if self.at < N { self.at += 1; Some((self.at, 2)) } else { None }
            }
        }
        const START: u32 = 1;
        fn pick<T>(a: T, b: T) -> T { a }
        #[kernel(threads = 32)]
        #[instance(k8: N = 8)]
        pub unsafe fn k<const N: u32>(x: Global<u32, 1>, n: u32) {
            let mut steps = Steps::<N>::new(n);
            let y = steps.more(|v| v + n);
            for (i, j) in &mut steps { x[i] = j; }
            x[0] = match y { START => 1, 2 | 3 => 2, m if true => m, _ => 4 };
            if let Some((a, _)) = steps.next() { x[pick(a, 1)] = 5; }
        }
    }
";

fn count(tokens: &TokenStream) -> usize {
    let inner = |token: TokenTree| match token {
        TokenTree::Group(group) => count(&group.stream()),
        _ => 0,
    };
    tokens
        .clone()
        .into_iter()
        .map(|token| 1 + inner(token))
        .sum()
}

/// The tokens, of which number `at` occurs `copies` times.
fn edit(tokens: &TokenStream, at: usize, copies: usize, index: &mut usize) -> TokenStream {
    let mut edited = TokenStream::new();
    for token in tokens.clone() {
        let times = if *index == at { copies } else { 1 };
        *index += 1;
        let token = match token {
            TokenTree::Group(group) => {
                let inner = edit(&group.stream(), at, copies, index);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            token => token,
        };
        edited.extend(std::iter::repeat_n(token, times));
    }
    edited
}

#[test]
fn deep_nesting() {
    let deep = |open: &str, inner: &str, close: &str| {
        let source = format!(
            "let x = {}{inner}{};",
            open.repeat(10_000),
            close.repeat(10_000)
        );
        assert!(
            errors(&source).contains("nest more than 256 deep"),
            "{open}{inner}{close}"
        );
    };
    deep("(", "n", ")");
    deep("{", "n", "}");
    deep("!", "n", "");
    deep("&mut ", "n", "");
    deep("return ", "n", "");
    deep("", "n", " + n");
    deep("", "n", " as u32");
    deep("", "n", ".min(n)");
    deep("if n == 0 { n } else ", "{ n }", "");
    deep("((n + n + n) + ", "n", ")");
    deep("(", "n", " + n)");
    deep("f(n, ", "n", ")");
    deep("", "n", "(0)");
    deep("", "n", "[0]");
    deep("", "n", "(0)[0]");
}

/// Values that grow without many steps or deep nesting have limits of their own.
#[test]
fn large_values() {
    let doubled = format!("let a = (1, 1); {}", "let a = (a, a); ".repeat(60));
    assert!(errors(&doubled).contains("a tuple has at most 4096 values"));
    let nested = format!("let a = 1; {}", "let a = (a,); ".repeat(100));
    assert!(errors(&nested).contains("nested 64 deep"));
    let copied = format!(
        "let a = (1, 1); {} for i in 0..4096 {{ let b = a; }}",
        "let a = (a, a); ".repeat(10)
    );
    assert!(errors(&copied).contains("steps to expand"));
    let digits = format!("let a = {};", "9".repeat(100_000));
    assert_eq!(
        errors(&digits),
        "a number of 100000 characters: the limit is 1024"
    );
    // A string literal has no such limit.
    assert_eq!(
        errors(&format!("assert!(true, \"{}\");", "9".repeat(2000))),
        ""
    );
    let tensors: Vec<String> = (0..300).map(|i| format!("t{i}: TmaLoad<f32, 2>")).collect();
    assert_eq!(
        errors_of(&format!(
            "mod kernels {{ #[kernel(threads = 32)] fn k({}) {{}} }}",
            tensors.join(", ")
        )),
        "the parameters up to this one take 32768 bytes, but a kernel has 32764; a tensor map takes 128"
    );
}

/// As many variables of one name as an unrolled loop makes. The time to find a name does not grow with their number.
#[test]
fn variables_of_one_name() {
    assert_eq!(errors("for i in 0..4096 { let mut x = n + 1; }"), "");
}

/// Names that Rust allows and PTX does not.
#[test]
fn names_that_ptx_has_not() {
    for module in [
        "mod kernels { #[kernel(threads = 32)] pub fn r#fn(r#type: u32) { let mut r#loop = r#type + 1; } }",
        "mod kernels { #[kernel(threads = 32)] pub fn k(größe: u32) { let mut länge = größe + 1; } }",
        "mod kernels { #[kernel(threads = 32)] pub fn k(WARP_SZ: u32, mov: u32, mov_: u32) { let mut x = WARP_SZ + mov * mov_; } }",
        "mod kernels { #[kernel(threads = 32)] pub unsafe fn k(x: Global<u32, 2>, x_ptr: u64, x_stride0: u64) { x[(0, 0)] = (x_ptr + x_stride0) as u32; } }",
        "mod kernels { #[kernel(threads = 32)] pub unsafe fn k(x_ptr: u64, x: Global<u32, 1>) { x[0] = x_ptr as u32; } }",
        "mod kernels { #[kernel(threads = 32)] pub fn k(mov: TmaLoad<u32, 1>) { let t = smem::<u32>(layout!(32:1)); let b = mbarriers(1, 1); tma_load(mov, (0,), t, b[0]); } }",
    ] {
        assert_eq!(errors_of(module), "", "{module}");
    }
    assert_eq!(
        errors_of("mod kernels { #[kernel(threads = 32)] pub fn ké() {} }"),
        "`ké` cannot be the name of an entry in PTX: use another, of ASCII letters, digits and `_`"
    );
}

/// Nesting below the limit fits the stack of a thread.
#[test]
fn nesting_below_the_limit() {
    let fits = |open: &str, inner: &str, close: &str, times: usize| {
        let source = format!(
            "let x = {}{inner}{};",
            open.repeat(times),
            close.repeat(times)
        );
        assert_eq!(errors(&source), "", "{open}{inner}{close}");
    };
    fits("(", "n", ")", 200);
    fits("", "n", " + n", 200);
    fits("{ ", "n", " }", 100);
    fits("!", "n", "", 200);
    fits("if n == 0 { n } else ", "{ n }", "", 50);
    fits("ceil_div(n, ", "n", ")", 200);
}

#[test]
fn endless_work() {
    assert!(
        errors("for i in 0..4000 { for j in 0..4000 { let x = i * j; } }")
            .contains("steps to expand")
    );
    // An iteration with an empty body counts as a step, too.
    let empty = "for i in 0..4096 { for j in 0..4096 { for k in 0..4096 { } } }";
    assert!(errors(empty).contains("steps to expand"));
    // An operation of the algebra counts as several steps.
    let layouts = "for i in 0..4096 { let a = composition(layout!((8,8):(8,1)), layout!(8:8)); }";
    assert!(errors(layouts).contains("steps to expand"));
    let functions: String = (1..31)
        .map(|i| format!("fn f{i}(a: _) -> _ {{ f{}(a); f{}(a) }} ", i - 1, i - 1))
        .collect();
    let module = format!(
        "mod kernels {{ fn f0(a: _) -> _ {{ a }} {functions} #[kernel(threads = 32)] fn k(n: u32) {{ f30(n); }} }}"
    );
    assert!(errors_of(&module).contains("steps to expand"));
    let copies = "let t = smem::<f32>(layout!(128:2)); let x = fragment::<f32>(128); for i in 0..2000 { copy(t, x); }";
    assert!(errors(copies).contains("lines of PTX"));
    assert!(errors("for i in 0..340282366920938463463374607431768211455 {}").contains("too large"));
    assert!(
        errors("let x = 170141183460469231731687303715884105727 + 1;")
            .contains("overflows 128 bits")
    );
    assert!(errors("let x = 1 << 100 << 100;").contains("overflows 128 bits"));
    assert!(
        errors("let x = (0 - 170141183460469231731687303715884105727 - 1) / (0 - 1);")
            .contains("overflows")
    );
    let calls = "fn a(x: u32) -> u32 { b(x) + b(x) } fn b(x: u32) -> u32 { a(x) + a(x) }";
    let module =
        format!("mod kernels {{ {calls} #[kernel(threads = 32)] fn k(n: u32) {{ a(n); }} }}");
    assert!(errors_of(&module).contains("cannot recurse"));
    let module =
        "mod kernels { const A: u32 = B; const B: u32 = A; #[kernel(threads = A)] fn k() {} }";
    assert!(errors_of(module).contains("deep"));
}

/// Every function of one or two numbers ends for every kind of floating-point number that is known.
#[test]
fn functions_of_known_numbers_end() {
    const NUMBERS: &[&str] = &[
        "NAN",
        "INFINITY",
        "NEG_INFINITY",
        "MAX",
        "MIN_POSITIVE",
        "EPSILON",
    ];
    let mut lines = Vec::new();
    for name in cute_lang::kernel::builtins::names() {
        for ty in ["f32", "f64"] {
            for first in NUMBERS {
                lines.push(format!("let r = {name}({ty}::{first});"));
                for second in NUMBERS {
                    lines.push(format!("let r = {name}({ty}::{first}, {ty}::{second});"));
                }
            }
        }
    }
    for line in lines {
        let module = format!("mod kernels {{ #[kernel(threads = 32)] pub fn k() {{ {line} }} }}");
        drop(errors_of(&module));
    }
}

/// Every function of the language with arguments of all kinds.
#[test]
fn functions_with_any_arguments() {
    const ARGUMENTS: &[&str] = &[
        "0",
        "1",
        "2",
        "-1",
        "7",
        "32",
        "4096",
        "9223372036854775807",
        "-9223372036854775808",
        "170141183460469231731687303715884105727",
        "0.0",
        "1.5f32",
        "f32::NAN",
        "true",
        "n",
        "n as i32",
        "h",
        "n as f64",
        "n == 1",
        "(0, 0)",
        "(0, 1)",
        "(1, -1)",
        "(8, 4)",
        "(0, n)",
        "(_, 0)",
        "((1, 2), 3)",
        "_",
        "0..4",
        "n..4",
        "[1, 2]",
        "[n, n]",
        "Some(n)",
        "None",
        "layout!((8,4))",
        "layout!((8,4):(0,1))",
        "layout!((8,4):(1@1,1@0))",
        "layout!((32,1):(1@0,0))",
        "layout!((4,4):(-4,1))",
        "layout!(<2,2>)",
        "layout!(Sw<2,0,2>)",
        "layout!(Sw<2,0,2> o (8,4):(4,1))",
        "g",
        "t",
        "s",
        "a",
        "x",
        "y",
        "z",
        "m",
        "bars",
        "bars[0]",
        "local_tile(g, (8, 4), (0, n))",
        "g[(0, _)]",
        "local_tile(s, (2, 2), (0, 0))",
        "f32",
        "bf16",
        "add",
        "max",
        "K",
        "SW128",
        "CTA",
        "wgmma_c(8)",
        "|v| v",
        "\"text\"",
        "x == y",
        "()",
    ];
    const TYPES: &[&str] = &[
        "", "::<f32>", "::<bf16>", "::<e4m3>", "::<u8>", "::<4>", "::<0>", "::<K>",
    ];
    let names: std::collections::BTreeSet<&str> = cute_lang::kernel::builtins::names().collect();
    let names: Vec<&str> = names.into_iter().collect();
    for seed in seeds(20_000, 100_000) {
        let mut random = Random::new(seed);
        let name = random.pick(&names);
        // Mostly as many arguments as it takes, with a type where it takes one.
        let signature = cute_lang::kernel::builtins::find(name).map(|it| it.signature);
        let wanted = signature.and_then(|it| it.rsplit_once('('));
        let wanted = wanted.map_or(2, |(_, arguments)| arguments.split(", ").count());
        let count = if random.once_in(6) {
            random.below(5)
        } else {
            wanted
        };
        let arguments: Vec<&str> = (0..count).map(|_| random.pick(ARGUMENTS)).collect();
        let types = match signature.is_some_and(|it| it.contains("::<")) {
            takes if random.once_in(8) == takes => "",
            _ => random.pick(TYPES),
        };
        let call = format!("{name}{types}({})", arguments.join(", "));
        let module = format!(
            "mod kernels {{ #[kernel(threads = 32)] pub unsafe fn k(g: Global<f32, 2>, t: TmaLoad<f32, 2>, a: Global<u32, 1>, n: u32, h: f32) {{
                let s = smem::<f32>((8, 4));
                let bars = mbarriers(2, 1);
                let x = fragment::<f32>(layout!((32,2):(1@0,1@1)));
                let y = fragment::<f32>(layout!((32,2):(1@0,1@1)));
                let z = fragment::<bf16>((2, 2));
                let m = x == y;
                let result = {call};
            }} }}"
        );
        let answer = std::panic::catch_unwind(|| drop(errors_of(&module)));
        assert!(answer.is_ok(), "CUTE_SEED={seed}: {call}");
    }
}
