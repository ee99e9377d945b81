//! Kernels to PTX: what the language means, seen in what it becomes.

use cute_lang::kernel::lower::lower;
use expect_test::{Expect, expect};

/// The body of the only kernel of a module, without declarations.
fn body(source: &str) -> String {
    let module = format!("mod kernels {{ {source} }}");
    match lower(module.parse().expect("tokens")) {
        Ok(instances) => {
            let text = instances[0].module.to_string();
            let body = text.split_once("\n{\n").expect("a body").1;
            let lines = body.lines().filter(|line| !line.trim_start().starts_with(".reg") && !line.is_empty());
            let lines: Vec<&str> = lines.take_while(|line| *line != "}").collect();
            lines.join("\n") + "\n"
        }
        Err(error) => {
            let errors: Vec<String> = error.into_iter().map(|error| format!("error: {error}\n")).collect();
            errors.concat()
        }
    }
}

fn check(source: &str, expected: Expect) {
    expected.assert_eq(&body(source));
}

/// The body of a kernel with parameters m, n and out, a shared tensor that keeps results alive.
fn check_statements(statements: &str, expected: Expect) {
    check(&format!("#[kernel(threads = 64)] fn k(m: u32, n: u32) {{ let out = smem::<u32>(layout!(64:1)); {statements} }}"), expected);
}

#[test]
fn known_integers_leave_nothing() {
    check_statements("let a = (3 + 4) * 2; let b = if a > 10 { a } else { 0 }; out[0] = b;", expect![[r#"
        error: `smem` takes a layout here, not the integer 64
    "#]]);
}

/// The instances of the kernel module in a file of the crate of kernels.
fn library(file: &str) -> Vec<cute_lang::kernel::lower::Lowered> {
    use quote::ToTokens;
    let path = format!("{}/../cute-kernels/src/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file = syn::parse_file(&text).expect("Rust");
    let module = file.items.into_iter().find_map(|item| match item {
        syn::Item::Mod(item) if item.ident == "kernels" => Some(item),
        _ => None,
    });
    let module = module.expect("a module of kernels");
    lower(module.to_token_stream()).unwrap_or_else(|error| {
        let errors: Vec<String> = error.into_iter().map(|error| error.to_string()).collect();
        panic!("{path}: {}", errors.join("\n"))
    })
}

#[test]
fn library_transpose() {
    for instance in library("transpose.rs") {
        println!("{}", instance.module);
    }
}

#[test]
fn library_gemm() {
    for instance in library("gemm.rs") {
        println!("{}", instance.module);
    }
}
