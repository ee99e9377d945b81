//! Independent mistakes are reported together, each once. Errors that follow from them are not reported.

use cute_lang::kernel::lower::lower;
use expect_test::{Expect, expect};

fn check(functions: &str, body: &str, expected: Expect) {
    let module =
        format!("mod kernels {{ {functions} #[kernel(threads = 64)] fn k(n: u32) {{ {body} }} }}");
    let errors = match lower(module.parse().expect("tokens")) {
        Ok(_) => panic!("no error: {module}"),
        Err(errors) => errors,
    };
    let errors: Vec<String> = errors
        .into_iter()
        .map(|error| format!("{error}\n"))
        .collect();
    expected.assert_eq(&errors.concat());
}

#[test]
fn statements_are_looked_at_after_an_error() {
    check(
        "",
        "sync_thread(); let x = n + true; if n { return; } let y = n + 1;",
        expect![[r#"
            cannot find function `sync_thread`: did you mean `sync_threads`?
            cannot apply `+` to a run-time `u32` and `true`
            expected a condition, found a run-time `u32`: a number is compared, `x != 0`
        "#]],
    );
}

/// A name in a layout has the value that it has in the kernel, whatever its letters, also as a tiler and as an operand.
#[test]
fn integers_in_layouts_are_known() {
    check(
        "const ROWS: u32 = 2;",
        "let bm = 4; let tiles = layout!((8,8):(8,1) / <bm,{bm}>); let rows = layout!(logical_product(ROWS, bm));
         let a = layout!(logical_product(tiles, n)); let d = layout!(8:1 / bn);",
        expect![[r#"
            `n` is a run-time integer, but a number is needed here
            `bn` is a run-time integer, but a number is needed here
        "#]],
    );
    for place in ["(8,8):(8,1) / <n,4>", "(8,n):(1,8)"] {
        let body = format!("let a = layout!({place});");
        check(
            "",
            &body,
            expect![[r#"
                `n` is a run-time integer, but a number is needed here
            "#]],
        );
    }
}

/// Kernels with tensors x of two modes, y of one, and u of integers.
fn refused(body: &str) -> Vec<String> {
    let module = format!(
        "mod kernels {{ #[kernel(threads = 64)] fn k(x: Global<f32, 2>, y: Global<f32, 1>, u: Global<u32, 1>, n: u32, f: f32) {{ {body} }} }}"
    );
    match lower(module.parse().expect("tokens")) {
        Ok(_) => panic!("no error: {body}"),
        Err(errors) => errors.into_iter().map(|error| error.to_string()).collect(),
    }
}

fn check_each(cases: &[(&str, &[&str])]) {
    for (body, expected) in cases {
        let found = refused(body);
        assert_eq!(found.len(), expected.len(), "{body}: {found:#?}");
        for (found, expected) in found.iter().zip(*expected) {
            assert!(found.starts_with(expected), "{body}: {found:#?}");
        }
    }
}

/// A number outside of its range is named, with its function.
#[test]
fn ranges_are_named() {
    check_each(&[
        (
            "for step in 0..6 { let s = shfl_bfly(f, 1 << step); }",
            &["the argument `mask` of `shfl_bfly` is 32; it can be 0 to 31"],
        ),
        (
            "let s = shfl_idx(f, 0, 64);",
            &["the argument `width` of `shfl_idx` is 64; it can be 1 to 32"],
        ),
        (
            "#[unroll(100)] for i in 0..n { let s = i; }",
            &["the number of copies by `#[unroll]` is 100; it can be 1 to 64"],
        ),
    ]);
    for (kernel, expected) in [
        (
            "#[kernel(threads = 2048)] fn k() {}",
            "`threads` is 2048; it can be 1 to 1024",
        ),
        (
            "#[kernel(threads = 32, cluster = (0, 1, 1))] fn k() {}",
            "an extent of `cluster` is 0; it can be 1 to 8",
        ),
        (
            "#[kernel(threads = 32)] fn k(x: Global<f32, 6>) {}",
            "the number of modes of a tensor is 6; it can be 1 to 5",
        ),
    ] {
        let module = format!("mod kernels {{ {kernel} }}");
        let error = lower(module.parse().expect("tokens")).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected), "{kernel}");
    }
}

/// An integer beside a floating-point number: the literal that made it one is named too, or the cast.
#[test]
fn integers_beside_floating_point_numbers() {
    let literal =
        "this number makes the variable an integer: for floating-point numbers, write `0.0`";
    check_each(&[
        (
            "let mut sum = 0; sum += f;",
            &[
                "cannot apply `+` to a run-time `i32` and a run-time `f32`",
                literal,
            ],
        ),
        (
            "let mut sum = 0; for i in 0..n { sum = sum + f; }",
            &[
                "cannot apply `+` to a run-time `i32` and a run-time `f32`",
                literal,
            ],
        ),
        (
            "let mut best = 0; if f > best { best = 1; }",
            &[
                "cannot compare a run-time `f32` with a run-time `i32`",
                literal,
            ],
        ),
        (
            "let mut last = 0; last = f;",
            &["expected a `i32`, found a run-time `f32`", literal],
        ),
        (
            "let mean = f / n;",
            &[
                "cannot apply `/` to a run-time `f32` and a run-time `u32`: convert the integer with `as f32`",
            ],
        ),
        (
            "if n < f { sync_threads(); }",
            &[
                "cannot compare a run-time `u32` with a run-time `f32`: convert the integer with `as f32`",
            ],
        ),
        (
            "let sums = fragment::<u32>(4); fill(sums, 0.0);",
            &["expected a value of type `u32`, found the number 0.0: as an integer, it is `0`"],
        ),
        (
            "let sums = fragment::<u32>(4); fill(sums, 0.5);",
            &["expected a value of type `u32`, found the number 0.5"],
        ),
        (
            "let sums = fragment::<f32>(4); fill(sums, 0);",
            &[
                "expected a value of type `f32`, found the integer 0: as a floating-point number, it is `0.0`",
            ],
        ),
    ]);
}

/// Where a number is taken, a tuple, a function or a fragment has a hint to its number.
#[test]
fn the_number_of_other_values() {
    check_each(&[
        (
            "if block_idx() == 0 { sync_warp(); }",
            &[
                "cannot compare a tuple of 3 with the integer 0: its first number is `block_idx().0`",
            ],
        ),
        (
            "let i = n + block_idx() * 64;",
            &[
                "cannot apply `*` to a tuple of 3 and the integer 64: its first number is `block_idx().0`",
            ],
        ),
        (
            "if lane == 0 { sync_warp(); }",
            &["cannot compare the function `lane` with the integer 0: its value is `lane()`"],
        ),
        (
            "for i in 0..warp { sync_warp(); }",
            &["expected an integer, found the function `warp`: its value is `warp()`"],
        ),
        (
            "if elect { sync_warp(); }",
            &["expected a condition, found the function `elect`: its value is `elect()`"],
        ),
        (
            "let v = y[thread];",
            &[
                "a coordinate is an integer, `_` or a tuple of these, not the function `thread`: its value is `thread()`",
            ],
        ),
        (
            "let s = shfl_idx(f, block_idx());",
            &["`shfl_idx` takes an integer here, not a tuple of 3: its first number is `.0`"],
        ),
        (
            "let s = shfl_idx(f, lane);",
            &["`shfl_idx` takes an integer here, not the function `lane`: its value is `lane()`"],
        ),
        (
            "let result = fragment::<f32>(1); y[n] = result;",
            &["expected a value of type `f32`, found a fragment: its first value is `result[0]`"],
        ),
        (
            "let v = x[n, 3];",
            &["a coordinate of several modes is a tuple: write `[(n, 3)]`, not `[n, 3]`"],
        ),
        (
            "let a = [1, 2]; x[a[0] + 1, thread() / 2] = f;",
            &["a coordinate of several modes is a tuple: write `[(a[0] + 1, thread() / 2)]`"],
        ),
    ]);
}

/// A coordinate outside of a tensor in shared memory names the tensor.
#[test]
fn coordinates_name_the_tensor() {
    check_each(&[
        (
            "let partial = smem::<f32>(3); partial[3] = f;",
            &["coordinate 3 is outside of mode 3:1 of `partial`, whose size is 3"],
        ),
        (
            "let tile = smem::<f32>((4, 8)); let row = tile[(4, _)];",
            &["coordinate 4 is outside of mode 4:1 of `tile`, whose size is 4"],
        ),
        (
            "let tile = local_tile(x, (4, 8), (0, 0)); let v = tile[(0, 9)];",
            &["coordinate 9 is outside of mode 8:0 of a tile of `x`, whose size is 8"],
        ),
    ]);
}

/// Coordinates in the wrong order: each is below the extent of the other.
#[test]
fn coordinates_are_exchanged() {
    let within = "let c = block_idx().0; let r = thread(); if r < extent(x, 0) && c < extent(x, 1)";
    let question = "nothing proves that this access is inside of `x`: are the coordinates exchanged? That in mode 0 is below \
                    `extent(x, 1)`, and that in mode 1 below `extent(x, 0)`; if not, its coordinate in mode 0 is below `extent(x, 1)`: state the fact `extent(x, 1) <= extent(x, 0)`";
    for access in ["let v = x[(c, r)];", "x[(c, r)] = f;"] {
        check_each(&[(&format!("{within} {{ {access} }}"), &[question])]);
    }
    check_each(&[(
        "let c = block_idx().0; if c < extent(x, 1) { x[(c, n)] = f; }",
        &[
            "nothing proves that this access is inside of `x`: its coordinate in mode 0 is below `extent(x, 1)`: state the fact",
        ],
    )]);
}

#[test]
fn parameters_have_examples() {
    for (params, expected) in [
        (
            "#[facts(y.len() == n)] y: Global<f32, 1>, n: u32",
            "`len()` is of a parameter that is a list, not of a tensor in global memory: the extent of mode 0 is `extent(y, 0)`",
        ),
        (
            "x: Global<f32>",
            "`Global` takes an element type and the number of modes: `Global<f32, 2>`",
        ),
        (
            "x: Global<bf16>",
            "`Global` takes an element type and the number of modes: `Global<bf16, 2>`",
        ),
        (
            "x: TmaLoad<3>",
            "`TmaLoad` takes an element type and the number of modes: `TmaLoad<f32, 3>`",
        ),
    ] {
        let module = format!("mod kernels {{ #[kernel(threads = 32)] fn k({params}) {{}} }}");
        let error = lower(module.parse().expect("tokens")).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected), "{params}");
    }
}

/// In the `launch` of `scale`, Rust takes an argument `k` for the type of the kernel `k`.
#[test]
fn a_parameter_is_no_instance() {
    check(
        "#[kernel(threads = 32)] fn scale(k: u32) {}",
        "",
        expect![[r#"
            `k` is also the type of an instance: give the parameter another name
        "#]],
    );
}

/// Names of CUDA C++ and CuTe have errors that say what is written here.
#[test]
fn names_from_elsewhere() {
    check(
        "",
        "let i = threadIdx.x; let b = blockIdx.x * blockDim.x; __syncthreads(); let y = __shfl_xor_sync(n, 1); atomicAdd(n, 1);
         for i in (0..4).rev() {} for i in (0..n).step_by(4) {} let e = expf(1.0); let t = make_tensor(n, 4); printf(n);
         let l = make_layout((4, 8)); let m = gemm(n, n, n);",
        expect![[r#"
            cannot find `threadIdx` in this scope: `thread()` is the number of the thread in its CTA, over x, y and z
            cannot find `blockIdx` in this scope: `block_idx()` is a tuple: `block_idx().0` is x
            cannot find function `__syncthreads`: write `sync_threads()`
            cannot find function `__shfl_xor_sync`: write `shfl_bfly(x, mask)`
            cannot find function `atomicAdd`: write `atomic_add(x, coordinate, value)`
            cannot find function `rev`: `for i in 0..n` counts up, and `n - 1 - i` down
            cannot find function `step_by`: `for i in 0..ceil_div(n, 4)` and `4 * i` go by 4
            cannot find function `expf`: functions have no `f` behind their names: `exp`, `max`, `abs`; `exp_fast` is as CUDA's `__expf`
        "#]],
    );
}

/// A loop with a step is written with the range and the step of the `step_by`.
#[test]
fn steps_are_those_of_the_range() {
    check(
        "",
        "for i in (0..n).step_by(128) {} for i in (thread()..n).step_by(128) {} for i in (n / 2..n).step_by(2 * 4) {} for i in (1..=9).step_by(n * 2) {}
         let i = n; for j in (i..n).step_by(i) {} for j in ((1..4)).step_by(2) {} let x = n.step_by(4);",
        expect![[r#"
            cannot find function `step_by`: `for i in 0..ceil_div(n, 128)` and `128 * i` go by 128
            cannot find function `step_by`: `for i in 0..ceil_div(n, 128)`, `let j = thread() + 128 * i;` and `if j < n { … }` go by 128
            cannot find function `step_by`: `for i in 0..ceil_div(n, 2 * 4)`, `let j = (n / 2) + (2 * 4) * i;` and `if j < n { … }` go by 2 * 4
            cannot find function `step_by`: `for i in 0..ceil_div(9 + 1, n * 2)`, `let j = 1 + (n * 2) * i;` and `if j < 9 + 1 { … }` go by n * 2
            cannot find function `step_by`: `for j in 0..ceil_div(n, i)`, `let k = i + i * j;` and `if k < n { … }` go by i
            cannot find function `step_by`: `for i in 0..ceil_div(4, 2)`, `let j = 1 + 2 * i;` and `if j < 4 { … }` go by 2
            cannot find function `step_by`: `for i in 0..ceil_div(n, 4)` and `4 * i` go by 4
        "#]],
    );
    for body in [
        "for i in 0..ceil_div(n, 128) { if 128 * i < n { x[128 * i] = 1.0; } }",
        "for i in 0..ceil_div(n, 128) { let j = thread() + 128 * i; if j < n { x[j] = 1.0; } }",
    ] {
        let module = format!(
            "mod kernels {{ #[kernel(threads = 64)] fn k(#[facts(extent(x, 0) == n)] x: Global<f32, 1>, n: u32) {{ {body} }} }}"
        );
        assert!(lower(module.parse().expect("tokens")).is_ok(), "{body}");
    }
}

#[test]
fn what_follows_from_an_error_is_not_shown() {
    check(
        "",
        "let (a, b) = unknown(n); let c = a + b; let d = layout!((c,4):(4,1)); let e = layout!(a o 4:1); out[0] = missing;",
        expect![[r#"
            cannot find function `unknown`
            cannot find `out` in this scope
        "#]],
    );
    check(
        "",
        "let [a, b] = unknown(n); let c @ (d, &e) = missing(n); let f = a + b + c.0 + d + e;",
        expect![[r#"
            cannot find function `unknown`
            cannot find function `missing`
        "#]],
    );
}

#[test]
fn a_wrong_function_is_wrong_once() {
    check(
        "fn half(x: u32) -> u32 { let y = x / 0; y + 1 }",
        "let a = half(n); let b = half(a) + half(n); break; ",
        expect![[r#"
            division by zero
            `break` and `continue` are in no loop here
        "#]],
    );
}

#[test]
fn a_wrong_iteration_is_wrong_once() {
    check(
        "",
        "for i in 0..100 { let x = i / (i - i); } for j in 0..n { j += 1; }",
        expect![[r#"
            0 / 0 divides by zero
            cannot assign to `j`, which is not declared by `let mut`
        "#]],
    );
}

#[test]
fn there_are_not_too_many() {
    let calls: String = (0..30).map(|i| format!("unknown_{i}(); ")).collect();
    check(
        "",
        &calls,
        expect![[r#"
            cannot find function `unknown_0`
            cannot find function `unknown_1`
            cannot find function `unknown_2`
            cannot find function `unknown_3`
            cannot find function `unknown_4`
            cannot find function `unknown_5`
            cannot find function `unknown_6`
            cannot find function `unknown_7`
        "#]],
    );
}

#[test]
fn instructions_are_held_against_the_table() {
    check(
        "",
        "
            ptx!(\"mul.high.u32\");
            let a = ptx!(u32: \"mul.hi.u32\", n);
            let b = ptx!(u32: \"mul.hi.u32\", n, n == 1);
            let c = ptx!(f32: \"ex2.approx.f32\", n);
            let d = ptx!(Tensor: \"mul.hi.u32\", n, n);
        ",
        expect![[r#"
            `.high` cannot follow `mul`; expected one of .bf16, .bf16x2, .f16, .f16x2, .f32, .f64, .ftz, .hi, .lo, .rm, .rn, .rp, …
            the instruction takes 3 operands, but 2 are given
            operand 3, `%p0`, is a .pred register; expected a .u32 register or constant
            operand 2, `%n`, is a .u32 register; expected a .f32 register or constant
            the type of a result is a number type, `bool` or a tuple of these
        "#]],
    );
}

#[test]
fn functions_that_nobody_calls_are_looked_at() {
    check(
        "
            pub struct Pair<T> { a: T }
            impl<T> Pair<T> {
                fn wrong(&self) -> T { self.a + missing }
                fn path() -> u32 { lib::N + u32::MAX }
            }
            fn name<const N: u32>(rows: u32) -> u32 { rwos * N }
            fn call(x: f32) -> f32 { squrt(x) }
            fn ty(x: Tensr, y: &mut [Pear<f32>; 4]) -> Bolean { x[0] }
            fn syntax(x: u32) -> u32 { let y; match x { n if z > 1 => x?, _ => 'a: { zero } } }
            fn macros(x: u32) { eprintln!(\"{x}\"); print!(\"{} {z}\"); println!(\"{x} {y}\"); }
            fn right<F: Fn(u32) -> u32, T: Element>(x: T, f: F, t: Tensor) -> Option<T> {
                let g = |v, (i, _)| v + i;
                for i in 0..4 { if let Some(y) = Some(i) { t[(y, _)]; } }
                while let Some(z) = None { assert!(g(z, (1, 2)) == f(z)); }
                let tile = smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (64, 64)));
                let tv = mma_atom(SM80_16x8x16_F32F16F16F32_TN, CLayout);
                let Pair { a, .. } = Pair::<T> { a: x };
                Some(map(a, max) as f32)
            }
        ",
        "if 1 == 2 { nonsense(n); }",
        expect![[r#"
            cannot find function `nonsense`
            cannot find `rwos` in this scope: did you mean `rows`?
            cannot find function `squrt`: did you mean `sqrt` or `rsqrt` or `sort`?
            cannot find the type `Tensr`: did you mean `Tensor`?
            cannot find the type `Pear`
            cannot find the type `Bolean`
            a variable takes its value where it is declared: `let x = if … { … } else { … };`
            cannot find `z` in this scope: did you mean `K` or `n` or `x`?
            the kernel language has no `?`: write `let Some(x) = … else { return None; };`
            cannot find `zero` in this scope
            no macro `eprintln!` in kernels: `println!("{}", x)` shows a value while the kernel runs
            the message has 1 `{}`, but the number of arguments is 0
            cannot find `y` in this scope: did you mean `K` or `x`?
            cannot find `missing` in this scope
            cannot find `lib::N`
        "#]],
    );
    // A function with an error that a kernel meets is not looked at again.
    check(
        "fn called(x: u32) -> u32 { missing }",
        "let y = called(n);",
        expect![[r#"
            cannot find `missing` in this scope
        "#]],
    );
}
