//! Whatever the source says, the answer is PTX or an error; never a panic, a hang or the end of the stack.

use crate::library::module;
use cute_lang::kernel::lower::lower;
use proc_macro2::{Group, TokenStream, TokenTree};

/// What `lower` says of a kernel with this body.
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

/// Every module that differs from a good one by a token that is missing or said twice.
#[test]
fn sources_with_one_mistake() {
    let good = module("transpose.rs");
    let tokens = count(&good);
    assert!(tokens > 300, "{tokens} tokens");
    for at in 0..tokens {
        for copies in [0, 2] {
            let mut index = 0;
            let broken = edit(&good, at, copies, &mut index);
            // Either answer will do; some of these are good kernels.
            let _ = lower(broken);
        }
    }
}

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
}

/// What is below the limit fits the stack of a thread.
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
    assert!(
        errors("for i in 0..4000 { for j in 0..4000 { sync_threads(); } }")
            .contains("lines of PTX")
    );
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
