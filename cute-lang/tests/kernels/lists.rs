//! Parameters that are lists: their PTX, and what nothing proves of an index.

use super::judge;
use cute_lang::kernel::lower::lower;
use expect_test::expect;

/// The PTX of a kernel with these parameters and this body, or its errors.
fn kernel(attribute: &str, params: &str, body: &str) -> Result<String, String> {
    let module = format!(
        "mod kernels {{
            #[kernel(threads = 32, {attribute})]
            fn run({params}) {{ {body} }}
            fn first<const N: u32>(x: [Global<f32, 1>; N]) -> f32 {{ x[0][0] }}
            struct Held<const N: u32> {{ x: [Global<f32, 1>; N] }}
        }}"
    );
    match lower(module.parse().expect("tokens")) {
        Ok(lowered) => {
            judge(&lowered);
            Ok(lowered[0].module.to_string())
        }
        Err(errors) => Err(errors
            .into_iter()
            .map(|error| error.to_string())
            .collect::<Vec<_>>()
            .join("\n")),
    }
}

#[test]
fn the_numbers_of_all_items_lie_one_after_another() {
    let ptx = kernel(
        "",
        "a: [TmaLoad<bf16, 2>; 3], #[facts(x.len() >= 2)] x: [Global<f32, 2>; 5], k: [i32; 4]",
        "let i = block_idx().0;
        if i < a.len() { tma_prefetch_map(a[i]); }
        let j = thread();
        if j < k.len() && j < extent(x[1], 1) { x[1][(0, j)] = k[j] as f32; }",
    );
    let ptx = ptx.expect("a kernel");
    let start = ptx.find("// list").unwrap_or(0);
    let header = ptx[start..].split("{\n").next().unwrap_or_default();
    expect![[r#"
        // list a: a_len of up to 3, each with 128 bytes of a
        // list x: x_len of up to 5, each with 8 bytes of x_ptr, 8 bytes of x_stride0, 4 bytes of x_extent0, 4 bytes of x_extent1
        // tensor x: f32 at x_ptr, strides (x_stride0, 1)
        // list k: k_len of up to 4, each with 4 bytes of k

        .visible .entry run(
            .param .align 64 .b8 a[384],
            .param .u32 a_len,
            .param .align 8 .b8 x_ptr[40],
            .param .align 8 .b8 x_stride0[40],
            .param .align 4 .b8 x_extent0[20],
            .param .align 4 .b8 x_extent1[20],
            .param .u32 x_len,
            .param .align 4 .b8 k[16],
            .param .u32 k_len
        )
        .reqntid 32, 1, 1
    "#]]
    .assert_eq(header);
    let lines = ptx.lines().map(str::trim);
    let marked = lines.filter(|line| line.contains("// item") || line.contains("// x["));
    let marked: String = marked.map(|line| format!("{line}\n")).collect();
    expect![[r#"
        ld.param.u64 %rd3, [%x_ptr_first+8];                    // item 1 of x_ptr
        ld.param.u32 %r1, [%x_extent1_first+4];                 // item 1 of x_extent1
        @%p0 prefetch.tensormap [%rd2];                         // item %block_x of a; if %block_x < %a_len
        // x[1][(0, j)] = k[j] as f32
        ld.param.s32 %r2, [%rd8];                               // item %thread of k
        st.global.f32 [%rd11], %f0;                             // x[1][0, %thread]
    "#]].assert_eq(&marked);
}

/// The assembler takes as many bytes of parameters as the language does.
#[test]
fn a_list_may_have_nearly_all_parameters() {
    let ptx = kernel(
        "",
        "x: [TmaLoad<f32, 2>; 255]",
        "if thread() < x.len() { tma_prefetch_map(x[thread()]); }",
    );
    let ptx = ptx.expect("a kernel");
    assert!(
        ptx.starts_with(".version 8.1") && ptx.contains(".b8 x[32640]"),
        "{ptx}"
    );
    // 8,189 numbers and their count are 32,760 bytes, and a kernel that reports has 8 more.
    let list = "x: [u32; 8189]";
    assert!(kernel("", list, "").is_ok());
    let errors = kernel("", list, "print!(\"{}\", thread());").unwrap_err();
    assert_eq!(
        errors,
        "the parameters up to this one take 32768 bytes, but a kernel has 32764; a tensor map takes 128"
    );
}

/// What proves an index also proves it in functions and structs, and where lists have one length by a fact.
#[test]
fn an_index_is_proven_below_the_length() {
    for (facts, body) in [
        ("", "if n < x.len() { y[thread()] = x[n][0]; }"),
        ("", "for i in 0..x.len() { y[thread()] = x[i][0]; }"),
        ("x.len() >= 3", "y[thread()] = x[2][0];"),
        ("x.len() == 4", "y[thread()] = x[thread() % 4][0];"),
        (
            "x.len() == z.len()",
            "if n < z.len() { y[thread()] = x[n][0]; }",
        ),
        (
            "x.len() <= z.len()",
            "if n < x.len() { y[thread()] = x[n][0] + z[n][0]; }",
        ),
        ("x.len() >= 1", "y[thread()] = first(x);"),
        (
            "x.len() >= 1",
            "let held = Held { x }; y[thread()] = held.x[min(n, held.x.len() - 1)][0];",
        ),
        (
            "extent(x, 0) >= 32, x.len() >= 1",
            "y[thread()] = x[0][thread()];",
        ),
        (
            "x.len() >= 1",
            "let v = x[0]; if n < extent(v, 0) { y[thread()] = v[n]; }",
        ),
    ] {
        let facts = if facts.is_empty() {
            facts.into()
        } else {
            format!(", {facts}")
        };
        let params = format!(
            "#[facts(extent(y, 0) >= 32{facts})] y: Global<f32, 1>, x: [Global<f32, 1>; 4], z: [Global<f32, 1>; 5], n: u32"
        );
        if let Err(errors) = kernel("", &params, body) {
            panic!("{facts} {body}: {errors}");
        }
    }
    // A checked kernel checks the index when it runs.
    let checked = kernel(
        "checked",
        "x: [u32; 4], y: [Global<u32, 1>; 2], n: u32",
        "y[n][0] = x[n];",
    );
    let ptx = checked.expect("a kernel");
    assert_eq!(ptx.matches("trap;").count(), 2, "{ptx}");
}

#[test]
fn errors_say_what_is_missing() {
    let list = "x: [Global<f32, 1>; 4], y: [Global<f32, 1>; 5], a: [TmaLoad<f32, 2>; 4], k: [u32; 4], n: u32";
    for (params, body, expected) in [
        (
            list,
            "let v = k[n];",
            "nothing proves that this access is inside of `k`: put it under a condition by which the index is \
          below `k.len()`, or let the kernel check it when it runs, `#[kernel(…, checked)]`, or make `run` an `unsafe fn`, whose \
          launch relies on its caller",
        ),
        (
            list,
            "let mut i = n; while i < k.len() { let v = k[i]; i += 1; }",
            "nothing proves that this access is inside of `k`: the index reads `i`, a `let mut` variable, whose conditions are not \
             followed: copy it inside of the condition, `let k = i;`",
        ),
        (
            list,
            "let v = x[1];",
            "nothing proves that this access is inside of `x`: state the fact `x.len() > 1`, or put the access under it as a condition, or let the",
        ),
        (
            list,
            "if n < y.len() { let v = x[n]; }",
            "nothing proves that this access is inside of `x`: put it under",
        ),
        (
            list,
            "let v = x[4];",
            "index 4 is outside of `x`, which has at most 4 parameters",
        ),
        (
            list,
            "let v = x[-1];",
            "index -1 is outside of `x`, which has at most 4 parameters",
        ),
        (
            list,
            "let v = x[(n, n)];",
            "the index of a list of parameters is a `u32`, not a tuple of 2",
        ),
        (
            list,
            "let v = x[n as u64];",
            "the index of a list of parameters is a `u32`, not a run-time `u64`",
        ),
        (
            list,
            "tma_prefetch_map(a);",
            "`tma_prefetch_map` takes a `TmaLoad` or a `TmaStore` parameter here, not a list of parameters",
        ),
        (list, "let e = extent(x, 0);", "`extent` takes "),
        (
            list,
            "let e = n.len();",
            "`len` takes a list of parameters or an array here, not a run-time `u32`",
        ),
        (
            list,
            "for v in x { }",
            "a `for` loop runs over a range, an array or an iterator: `for i in a..b`",
        ),
        (
            list,
            "let mut v = x;",
            "`v` is a list of parameters, which cannot change at run time: write `let`, not `let mut`",
        ),
        (
            "x: [Global<f32, 1>; 0]",
            "",
            "the length of a list of parameters is 0; it can be 1 to 32764",
        ),
        (
            "x: [Global<f32, 1>; u32]",
            "",
            "the length of a list of parameters is an integer, not the type `u32`",
        ),
        ("x: [bool; 4]", "", "a number parameter has 32 or 64 bits"),
        (
            "x: [[u32; 2]; 2]",
            "",
            "expected `TmaLoad<T, R>`, `TmaStore<T, R>`, `Store<T, R, TMA>`, `Global<T, R>`, a number type, or a list",
        ),
        (
            "x: [TmaLoad<f32, 2>; 256]",
            "",
            "the parameters up to this one take 32772 bytes, but a kernel has 32764; a tensor map takes 128",
        ),
        (
            "#[facts(extent(x, 0) == n)] x: [Global<f32, 1>; 2], n: u32",
            "",
            "a fact about the tensors of a list has one number of them, and others that are known: `extent(x, 1) % 8 == 0`",
        ),
        (
            "#[facts(n.len() == 2)] x: [u32; 2], n: u32",
            "",
            "`len()` is of a parameter that is a list, not of a run-time `u32`",
        ),
    ] {
        let errors = kernel("", params, body).err().unwrap_or_default();
        assert!(errors.starts_with(expected), "{params} {body}: {errors}");
    }
}
