//! `ptx!`: several results, vectors, addresses of elements and barriers, and special registers.

use crate::numbers::{Type, kernel, run, types};
use expect_test::expect;

fn of_name(name: &str) -> Type {
    types().find(|ty| ty.name == name).expect("a type")
}

fn bits(values: &[f32]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits().into()).collect()
}

#[test]
fn vectors_of_global_memory() {
    let body = "let i = thread();
        let (a, b, c, d) = ptx!((f32, f32, f32, f32): \"ld.global.v4.f32\", [x[i * 4]]);
        ptx!(\"st.global.v2.f32\", [out[i * 4]], (d, c));
        ptx!(\"st.global.v2.f32\", [out[i * 4 + 2]], (b + 0.5, 1.5));";
    let kernel = kernel(2, "x: Global<f32, 1>, out: Global<f32, 1>", body).expect("a kernel");
    let x = bits(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let f32 = of_name("f32");
    let results = run(&kernel, &[(f32, &x)], &[(f32, 8)]);
    assert_eq!(results[0], bits(&[4.0, 3.0, 2.5, 1.5, 8.0, 7.0, 6.5, 1.5]));
}

#[test]
fn elements_of_shared_memory_and_barriers() {
    let body = "let i = thread();
        let s = smem::<u32>(tile_to_shape(smem_atom::<u32>(K, SW128), (8, 32)));
        let ready = mbarriers(2, 32);
        s[(i / 4, i % 4)] = i;
        let state = ptx!(u64: \"mbarrier.arrive.shared::cta.b64\", [ready[i / 32]]);
        let mut done = false;
        while !done { done = ptx!(bool: \"mbarrier.try_wait.shared::cta.b64\", [ready[0]], state); }
        let old = ptx!(u32: \"atom.shared.add.u32\", [s[(i / 4, i % 4)]], 100);
        sync_threads();
        let other = 31 - i;
        out[i] = ptx!(u32: \"ld.shared.u32\", [s[(other / 4, other % 4)]]) + old;";
    let kernel = kernel(32, "out: Global<u32, 1>", body).expect("a kernel");
    let results = run(&kernel, &[], &[(of_name("u32"), 32)]);
    assert_eq!(results[0], [131; 32]);
}

#[test]
fn several_results() {
    let body = "let i = thread();
        let (_, leader) = ptx!((_, bool): \"elect.sync\", -1);
        let (less, not_less) = ptx!((bool, bool): \"setp.lt.u32\", i, 7);
        let word = ptx!(u64: \"mov.b64\", (i, i + 1));
        let (low, high) = ptx!((u32, u32): \"mov.b64\", word);
        let (_, top) = ptx!((_, u32): \"mov.b64\", word);
        let lane = ptx!(u32: \"mov.u32\", \"%laneid\");
        let block = ptx!(u32: \"mov.u32\", \"%ctaid.y\");
        ptx!(\"red.global.add.u32\", [out[0]], (leader as u32) + 10 * (less as u32) + 1000 * (not_less as u32));
        out[1 + i] = low + 100 * high + 10000 * top + lane + block;";
    let body = format!("if thread() == 0 {{ out[0] = 0; }} sync_threads(); {body}");
    let kernel = kernel(32, "out: Global<u32, 1>", &body).expect("a kernel");
    let results = run(&kernel, &[], &[(of_name("u32"), 33)]);
    assert_eq!(results[0][0], 1 + 10 * 7 + 1000 * 25);
    for (i, result) in (0u64..).zip(&results[0][1..]) {
        assert_eq!(*result, i + 10100 * (i + 1) + i);
    }
}

/// A tensor that an instruction only reads stays one that the launch takes immutably.
#[test]
fn what_is_written() {
    let body =
        "let v = ptx!(f32: \"ld.global.cg.f32\", [x[0]]); ptx!(\"red.global.add.f32\", [y[0]], v);
        let t = smem::<f32>(4); ptx!(\"cp.async.cg.shared.global\", [t[0]], [x[0]], 16);";
    let kernel = kernel(32, "x: Global<f32, 1>, y: Global<f32, 1>", body).expect("a kernel");
    let written = kernel.params.iter().map(|param| match param.kind {
        cute_lang::kernel::emit::param::ParamKind::Global { written, .. } => written,
        _ => unreachable!("two tensors"),
    });
    assert_eq!(written.collect::<Vec<_>>(), [false, true]);
}

#[test]
fn mistakes() {
    let rows = [
        "let a = ptx!((f32, f32): \"ld.global.f32\", [x[0]]);",
        "let a = ptx!((f32, u32): \"ld.global.v2.f32\", [x[0]]);",
        "let a = ptx!((f32, f32): \"ld.global.v4.f32\", [x[0]]);",
        "let a = ptx!(f32: \"ld.shared.f32\", [x[0]]);",
        "let a = ptx!(f32: \"ld.global.f32\", [s[0]]);",
        "let a = ptx!(f32: \"ld.f32\", [s[0]]);",
        "let a = ptx!(f32: \"ld.global.f32\", [x[(0, 1)]]);",
        "let a = ptx!(f32: \"ld.shared.f32\", [s[_]]);",
        "let a = ptx!(f32: \"ld.shared.f32\", [s[4]]);",
        "let a = ptx!(f32: \"ld.shared.f32\", [n]);",
        "let a = ptx!(f32: \"ld.shared.f32\", [s[0], s[1]]);",
        "let a = ptx!(f32: \"ld.shared.f32\", s[0]);",
        "let a = ptx!(f32: \"ld.shared.f32\", s);",
        "let a = ptx!(u32: \"mov.u32\", \"%landid\");",
        "let a = ptx!(u32: \"mov.u32\", \"smem\");",
        "let a = ptx!(u32: \"mov.u64\", \"%globaltimer\");",
        "let a = ptx!((u32, Tensor): \"mov.b64\", 5);",
        "let (a, b) = ptx!(u32: \"mul.hi.u32\", n, n);",
    ];
    let mut found = String::new();
    for text in rows {
        let body = format!("let s = smem::<f32>(4); {text}");
        let error = kernel(32, "n: u32, x: Global<f32, 1>", &body).err();
        let error = error.map_or("accepted".into(), |error| error.to_string());
        found += &format!("{text}\n    {error}\n");
    }
    expect![[r#"
        let a = ptx!((f32, f32): "ld.global.f32", [x[0]]);
            the instruction takes 2 operands, but 3 are given
        let a = ptx!((f32, u32): "ld.global.v2.f32", [x[0]]);
            operand 1, `{%f0, %r0}`, is a .u32 register; expected a vector of 2 .f32 registers to write
        let a = ptx!((f32, f32): "ld.global.v4.f32", [x[0]]);
            operand 1, `{%f0, %f1}`, has 2 elements; expected a vector of 4 .f32 registers to write
        let a = ptx!(f32: "ld.shared.f32", [x[0]]);
            this address is one of global memory, and `ld.shared.f32` takes a shared one
        let a = ptx!(f32: "ld.global.f32", [s[0]]);
            this address is one of shared memory, and `ld.global.f32` takes a global one
        let a = ptx!(f32: "ld.f32", [s[0]]);
            this address is one of shared memory, and `ld.f32` takes a generic one
        let a = ptx!(f32: "ld.global.f32", [x[(0, 1)]]);
            this coordinate has 2 modes, but this part of `x` has 1
        let a = ptx!(f32: "ld.shared.f32", [s[_]]);
            a coordinate with `_` or a range names several elements, and this takes one: use `copy`
        let a = ptx!(f32: "ld.shared.f32", [s[4]]);
            coordinate 4 is outside of mode 4:1 of `s`, whose size is 4
        let a = ptx!(f32: "ld.shared.f32", [n]);
            an address in brackets is that of an element in shared or global memory, `[x[i]]`, or of a barrier, not of a run-time `u32`
        let a = ptx!(f32: "ld.shared.f32", [s[0], s[1]]);
            an address in brackets is that of one element: `[x[i]]`
        let a = ptx!(f32: "ld.shared.f32", s[0]);
            operand 2, `%f0`, does not fit here; expected a shared address (32 or 64 bits)
        let a = ptx!(f32: "ld.shared.f32", s);
            an operand is a number, a truth value, a tuple of these, an element in brackets, `[x[i]]`, or a special register, `"%laneid"`, not a tensor in shared memory
        let a = ptx!(u32: "mov.u32", "%landid");
            there is no special register `%landid`: did you mean `%laneid` or `%gridid` or `%ntid`?
        let a = ptx!(u32: "mov.u32", "smem");
            there is no special register `smem`
        let a = ptx!(u32: "mov.u64", "%globaltimer");
            operand 1, `%r0`, is a .u32 register; expected a .u64 register to write
        let a = ptx!((u32, Tensor): "mov.b64", 5);
            the type of a result is a number type, `bool` or a tuple of these
        let (a, b) = ptx!(u32: "mul.hi.u32", n, n);
            a pattern of 2 names does not match a run-time `u32`
    "#]].assert_eq(&found);
}
