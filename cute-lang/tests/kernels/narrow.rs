//! Elements of fewer than 8 bits: what only needs their width takes them, and what needs bytes says why not.

use cute_lang::kernel::lower::lower;

/// The errors of a module.
fn found(module: &str) -> String {
    let found = match lower(module.parse().expect("tokens")) {
        Ok(_) => return "accepted".into(),
        Err(errors) => errors,
    };
    let errors = found.into_iter().map(|error| error.to_string());
    errors.collect::<Vec<_>>().join("\n")
}

/// A kernel with tensors of `u4` in shared memory.
fn kernel(statements: &str) -> String {
    found(&format!(
        "mod kernels {{
            struct S {{ x: u4 }}
            fn generic<T>(x: Tensor<T>) -> Tensor<T> {{ x }}
            fn registers<T>(x: Tensor<T>) {{ let f = fragment::<T>(8); copy(x, f); }}
            #[kernel(threads = 128)]
            unsafe fn k(a: TmaLoad<u8, 2>, d: TmaStore<u8, 2>, g: Global<u8, 1>, m: u32) {{
                let x = smem::<u4>(layout!((64,128):(128,1)));
                let ready = mbarriers(2, 1);
                let bytes = fragment::<u8>(8);
                {statements}
            }}
        }}"
    ))
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(statements, expected)| (statements, expected, kernel(statements)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(statements, expected, found)| {
            format!("{statements}\n  expected: {expected}\n  found:    {found}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn widths_and_whole_bytes_are_enough() {
    check(&[
        (
            "assert!(bits::<u4>() == 4 && bits::<i4>() == 4 && bits::<e2m1>() == 4);",
            "accepted",
        ),
        ("assert!(size(x) == 8192 && bytes(x) == 4096);", "accepted"),
        ("assert!(bytes(smem::<e2m1>(2)) == 1);", "accepted"),
        ("assert!(size(smem::<i4>(3)) == 3);", "accepted"),
        (
            "assert!(recast::<u8>(x).shape() == (64, 64) && bytes(recast::<u8>(x)) == 4096);",
            "accepted",
        ),
        (
            "assert!(recast::<u4>(smem::<f32>(layout!((8,4):(4,1)))).shape() == (8, 32));",
            "accepted",
        ),
        (
            "assert!(recast::<u16>(x[(_, _)]).shape() == (64, 32));",
            "accepted",
        ),
        ("copy(recast::<u8>(x[(3, _)])[0], bytes);", "accepted"),
        (
            "let y = generic(x); let z = generic::<u4>(x); assert!(size(y) == size(z));",
            "accepted",
        ),
        (
            "let y = x[(2, _)]; copy(local_tile(recast::<u8>(y), 8, 0), bytes);",
            "accepted",
        ),
        (
            "let y = local_tile(x, (8, 16), (1, 2)); assert!(bytes(y) == 64); copy(local_tile(recast::<u8>(y), (1, 8), (0, 0)), bytes);",
            "accepted",
        ),
        (
            "let y = overlay::<u4>(smem::<u8>(64), 128); assert!(bytes(y) == 64);",
            "accepted",
        ),
        (
            "let y = overlay::<u8>(x, 4096); copy(y[0], bytes);",
            "accepted",
        ),
        (
            "let y = smem::<u4>(tile_to_shape(smem_atom::<u4>(K, SW128), (64, 256))); assert!(bytes(y) == 8192); assert!(recast::<u8>(y).size() == 8192);",
            "accepted",
        ),
        ("assert!(is_injective(x) && is_dense(x));", "accepted"),
    ]);
}

#[test]
fn a_refusal_names_the_type_and_its_width() {
    check(&[
        ("let y = x[(0, 0)];", ""),
        ("x[(0, 0)] = 1;", ""),
        ("let y = x[(m, _)];", ""),
        ("let y = local_tile(x, (8, 16), (m, 0));", ""),
        ("let y = local_partition(x, layout!(128:1), thread());", ""),
        ("copy(x, bytes);", ""),
        ("copy(bytes, x);", ""),
        ("copy(x, x);", ""),
        ("copy(x, smem::<i4>((64, 128)));", ""),
        ("copy_async(g, x);", ""),
        ("copy_async(x, g);", ""),
        ("copy_async_at(x, x, ready[0], 0);", ""),
        ("reduce_async(x, g, add);", ""),
        ("tma_load(a, x, (0, 0), ready[0]);", ""),
        ("tma_store(x, d, (0, 0));", ""),
        ("tma_reduce(x, d, (0, 0), add);", ""),
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, x, x, false);",
            "",
        ),
        ("atomic_add(x, (0, 0), 1);", ""),
        ("let y = fragment::<u4>(8);", ""),
        ("let y = fragment::<i4>(layout!((128,8):(1@0,1@1)));", ""),
        ("let y = convert::<e2m1>(fragment::<f32>(8));", ""),
        ("let y = convert::<e2m1>(m);", ""),
        ("let y = from_bits::<e2m1>(1);", ""),
        ("let y = e2m1::from_bits(1);", ""),
        ("let y = u4::MAX;", ""),
        ("let y = u4::Accumulator;", ""),
        ("let y = wgmma_a::<u4>(64);", ""),
        ("let y: u4 = 1;", ""),
        ("let y = 1 as u4;", ""),
        ("let y = m as u4;", ""),
        ("let y = 1u4;", ""),
        ("let y = S { x: 1 };", ""),
        ("let y = recast::<u4>(g);", ""),
        ("let y = bytes(smem::<u4>(3));", ""),
        ("let y = overlay::<u8>(smem::<u4>(8)[1], 1);", ""),
        ("let y = overlay::<u8>(smem::<u4>(8)[(1..3)], 1);", ""),
        ("let y = recast::<u8>(smem::<u4>(7));", ""),
        ("let y = conflict_free(x, layout!(128:1));", ""),
        ("let y = matrix_operand(x);", ""),
        ("let y = wgmma_operand(x);", ""),
        ("registers(x);", ""),
        ("println!(\"{}\", x);", ""),
        ("let y = smem::<u4>(1 << 30);", ""),
        ("let y = smem::<u4>(layout!(Sw<1,0,1> o 64:1));", ""),
        (
            "let y = recast::<u8>(smem::<u4>(layout!(Sw<1,0,1> o 64:1)));",
            "",
        ),
        ("let y = reduce(x, 0, add);", ""),
        ("let y = x.fill(0);", ""),
        ("let y = x + x;", ""),
        (
            "let mut y = x; y = recast::<u4>(recast::<u8>(x)); copy(recast::<u8>(y), bytes);",
            "",
        ),
    ]);
}
