//! Functions that join threads: exchanges between the lanes of a warp, atomic operations, clocks, and random numbers.

use crate::numbers::{Type, kernel, run, types};
use cute_lang::kernel::lower::lower;
use std::fmt::Write;

fn of_name(name: &str) -> Type {
    types().find(|ty| ty.name == name).expect("a type")
}

/// Different bits for each index, but no NaN in any type.
fn numbers(ty: Type, count: usize) -> Vec<u64> {
    let bits =
        |i: usize| (i as u64 + 1).wrapping_mul(0x0123_4567_89ab_cdef) & 0x3fff_ffff_3fff_3f7f;
    let mask = u64::MAX >> (64 - 8 * ty.bytes);
    (0..count).map(|i| bits(i) & mask).collect()
}

/// The lane whose value `lane` gets.
fn source(mode: &str, lane: usize, by: usize, width: usize) -> usize {
    let first = lane / width * width;
    let from = match mode {
        "idx" => Some(first + by % width),
        "up" => lane.checked_sub(by),
        "down" => Some(lane + by),
        _ => Some(lane ^ by),
    };
    let inside = match mode {
        // A butterfly may reach into the segments before.
        "bfly" => 0..first + width,
        _ => first..first + width,
    };
    from.filter(|from| inside.contains(from)).unwrap_or(lane)
}

#[test]
fn shuffles() {
    const ROWS: &[(&str, &str, usize, usize)] = &[
        ("idx", "3", 3, 32),
        ("idx", "b", 5, 8),
        ("up", "1", 1, 32),
        ("up", "b, 16", 5, 16),
        ("down", "b", 5, 32),
        ("down", "2, 4", 2, 4),
        ("bfly", "16", 16, 32),
        ("bfly", "b, 8", 5, 8),
    ];
    for name in [
        "i8", "u16", "f16", "bf16", "u32", "i32", "f32", "u64", "i64", "f64",
    ] {
        let ty = of_name(name);
        let x = numbers(ty, 64);
        let mut body = "let i = thread(); let a = x[i]; let b = i / 64 + 5;".to_string();
        for (n, (mode, arguments, _, width)) in ROWS.iter().enumerate() {
            let width = if *arguments == "b" && *width == 8 {
                ", 8"
            } else {
                ""
            };
            write!(
                body,
                "out[{} + i] = shfl_{mode}(a, {arguments}{width});",
                64 * n
            )
            .expect("a string");
        }
        let params = format!("x: Global<{name}, 1>, out: Global<{name}, 1>");
        let kernel = kernel(64, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let results = run(&kernel, &[(ty, &x)], &[(ty, 64 * ROWS.len())]);
        for ((mode, arguments, by, width), results) in ROWS.iter().zip(results[0].chunks(64)) {
            for (i, result) in results.iter().enumerate() {
                let from = i / 32 * 32 + source(mode, i % 32, *by, *width);
                assert_eq!(
                    *result, x[from],
                    "shfl_{mode}({arguments}) of {name} in {i}"
                );
            }
        }
    }
}

#[test]
fn shuffles_of_truth_values_and_known_numbers() {
    let body = "let i = thread(); let p = shfl_bfly(i % 3 == 0, 1); \
                out[i] = (p as u32) + 10 * shfl_idx(4, i) + 100 * (shfl_up(true, 1) as u32);";
    let kernel = kernel(32, "out: Global<u32, 1>", body).expect("a kernel");
    let results = run(&kernel, &[], &[(of_name("u32"), 32)]);
    let expected = (0..32).map(|i| u64::from((i ^ 1) % 3 == 0) + 140);
    assert_eq!(results[0], expected.collect::<Vec<u64>>());
}

#[test]
fn votes_matches_and_reductions() {
    /// A text, and its value in a thread.
    type Row = (&'static str, fn(usize) -> u32);
    let rows: &[Row] = &[
        ("vote_any(i == 40) as u32", |i| u32::from(i >= 32)),
        ("vote_all(i < 40) as u32", |i| u32::from(i < 32)),
        ("vote_ballot(i % 2 == 1)", |_| 0xaaaa_aaaa),
        ("vote_ballot(true)", |_| u32::MAX),
        ("vote_ballot(false)", |_| 0),
        ("vote_any(false) as u32 + vote_all(true) as u32", |_| 1),
        ("match_any(i % 4)", |i| 0x1111_1111 << (i % 4)),
        ("match_any(((i % 4) as u64) << 60)", |i| {
            0x1111_1111 << (i % 4)
        }),
        ("match_any((i % 4) as u8)", |i| 0x1111_1111 << (i % 4)),
        ("match_any(i % 4 == 0)", |i| match i % 4 {
            0 => 0x1111_1111,
            _ => 0xeeee_eeee,
        }),
        ("redux_add(i)", |i| if i < 32 { 496 } else { 1520 }),
        ("redux_max(i)", |i| if i < 32 { 31 } else { 63 }),
        ("redux_min(40 - i as i32) as u32", |i| {
            if i < 32 { 9 } else { -23_i32 as u32 }
        }),
        ("redux_and(i | 8)", |i| if i < 32 { 8 } else { 40 }),
        ("redux_or(i as i32 * 2) as u32", |i| {
            if i < 32 { 62 } else { 126 }
        }),
        ("redux_xor(i)", |_| 0),
        ("activemask()", |_| u32::MAX),
        ("popc(vote_ballot(elect()))", |_| 1),
    ];
    let mut body = "let i = thread();".to_string();
    for (n, (text, _)) in rows.iter().enumerate() {
        write!(body, "out[{} + i] = {text};", 64 * n).expect("a string");
    }
    let kernel = kernel(64, "out: Global<u32, 1>", &body).unwrap_or_else(|error| panic!("{error}"));
    let results = run(&kernel, &[], &[(of_name("u32"), 64 * rows.len())]);
    for ((text, expected), results) in rows.iter().zip(results[0].chunks(64)) {
        for (i, result) in results.iter().enumerate() {
            assert_eq!(*result, u64::from(expected(i)), "{text} in {i}");
        }
    }
}

/// In a CTA of less than a warp, its threads are the members.
#[test]
fn part_of_a_warp() {
    let body = "let i = thread(); out[i] = redux_add(i) + vote_ballot(true) + shfl_bfly(i, 1);";
    let kernel = kernel(8, "out: Global<u32, 1>", body).expect("a kernel");
    let results = run(&kernel, &[], &[(of_name("u32"), 8)]);
    assert_eq!(results[0], [284, 283, 286, 285, 288, 287, 290, 289]);
}

/// Each operation on an element of shared and of global memory, by 128 threads: what is in the element afterwards.
#[test]
fn atomics() {
    let rows: &[(&str, &str, &str, f64)] = &[
        ("u32", "add", "i", 8128.0 + 64.0),
        ("i32", "add", "60 - i as i32", -448.0 + 64.0),
        ("u64", "add", "i as u64", 8128.0 + 64.0),
        ("i64", "add", "60 - i as i64", -448.0 + 64.0),
        ("f32", "add", "0.5", 128.0),
        ("f64", "add", "i as f64", 8192.0),
        ("f16", "add", "1.0", 192.0),
        ("bf16", "add", "1.0", 192.0),
        ("u32", "min", "i + 3", 3.0),
        ("i32", "min", "3 - i as i32", -124.0),
        ("u64", "max", "i as u64", 127.0),
        ("i64", "max", "i as i64 * 3", 381.0),
        ("u32", "and", "127 - (1 << (i % 4))", 64.0),
        ("i32", "or", "1 << (i % 4) as i32", 79.0),
        ("u64", "xor", "i as u64 / 2 * 2 + 1", 64.0),
        ("u32", "inc", "100", 91.0),
        ("u32", "dec", "100", 37.0),
        ("u32", "exch", "7", 7.0),
        ("f32", "exch", "7.0", 7.0),
        ("i64", "exch", "-7", -7.0),
    ];
    for (name, op, value, expected) in rows {
        let ty = of_name(name);
        let body = format!(
            "let i = thread(); let s = smem::<{name}>((2, 2)); \
             if i == 0 {{ s[(1, 0)] = 64 as {name}; out[1] = 64 as {name}; }} sync_threads(); \
             atomic_{op}(s, (1, i / 128), {value}, RELAXED, CTA); atomic_{op}(out, i / 128 + 1, {value}); \
             sync_threads(); if i == 0 {{ out[0] = s[(1, 0)]; }}"
        );
        let kernel = kernel(128, &format!("out: Global<{name}, 1>"), &body)
            .unwrap_or_else(|error| panic!("{error}: {body}"));
        let text = kernel.module.to_string();
        let reduces = !matches!(*op, "exch");
        assert_eq!(text.contains("red.relaxed.cta.shared"), reduces, "{text}");
        assert_eq!(text.contains("atom."), !reduces, "{text}");
        let results = run(&kernel, &[], &[(ty, 2)]);
        let expected = (ty.cast)(crate::numbers::Exact::Float(*expected));
        assert_eq!(results[0], [expected; 2], "atomic_{op} of {name}");
    }
}

/// The old values: each thread of a sum gets another one, and one thread of a compare-and-swap succeeds.
#[test]
fn atomics_return_the_old_value() {
    for name in ["u16", "u32", "i64", "f16", "f32", "f64"] {
        let ty = of_name(name);
        let zero = if name.starts_with('f') { "0.0" } else { "0" };
        let body = format!(
            "let i = thread(); if i == 0 {{ lock[0] = {zero}; count[0] = 0; count[1] = 0; }} sync_threads(); \
             let old = atomic_cas(lock, 0, {zero}, (i + 1) as {name}, ACQUIRE, GPU); \
             if old == {zero} {{ atomic_add(count, 0, 1); }} \
             out[atomic_add(count, 1, 1, ACQ_REL, CLUSTER)] = i; \
             atomic_cas(lock, 0, (i + 1) as {name}, {zero}, RELEASE);"
        );
        let params = format!("lock: Global<{name}, 1>, count: Global<u32, 1>, out: Global<u32, 1>");
        let kernel = kernel(64, &params, &body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let text = kernel.module.to_string();
        assert!(text.contains("atom.acquire.gpu.global.cas.b"), "{text}");
        assert!(
            text.contains("atom.acq_rel.cluster.global.add.u32"),
            "{text}"
        );
        let u32 = of_name("u32");
        let results = run(&kernel, &[], &[(ty, 1), (u32, 2), (u32, 64)]);
        assert!(results[1][0] >= 1, "{name}");
        assert_eq!(results[1][1], 64);
        let mut order = results[2].clone();
        order.sort_unstable();
        assert_eq!(order, (0..64).collect::<Vec<u64>>());
    }
}

#[test]
fn clocks_and_dependent_grids() {
    let body = "griddepcontrol_wait(); let (a, b, c) = (clock(), clock64(), globaltimer()); \
                nanosleep(100); nanosleep(n); out[0] = (clock() > a) as u32 + (clock64() > b) as u32 + (globaltimer() > c) as u32; \
                griddepcontrol_launch_dependents();";
    let kernel = kernel(1, "out: Global<u32, 1>, n: u32", body).expect("a kernel");
    let text = kernel.module.to_string();
    for instruction in [
        "griddepcontrol.wait;",
        "griddepcontrol.launch_dependents;",
        "nanosleep.u32 100;",
        "nanosleep.u32 %n;",
    ] {
        assert!(text.contains(instruction), "{instruction}: {text}");
    }
    let body = body.replace("nanosleep(n);", "");
    let kernel = crate::numbers::kernel(1, "out: Global<u32, 1>", &body).expect("a kernel");
    assert_eq!(run(&kernel, &[], &[(of_name("u32"), 1)])[0], [3]);
}

/// The known answers of Random123 (`kat_vectors`), from a counter and a key in registers, known, and partly known.
#[test]
fn random_numbers() {
    let rows: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
        (
            [0; 4],
            [0; 2],
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        ),
        (
            [u32::MAX; 4],
            [u32::MAX; 2],
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
        ),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    let u32 = of_name("u32");
    for ([x, y, z, w], [k, l], expected) in rows {
        let body = format!(
            "let a = philox((x[0], x[1], x[2], x[3]), (x[4], x[5])); \
             let b = philox(({x}, {y}, {z}, {w}u32), ({k}, {l})); \
             let c = philox((x[0], {y}, {z}, {w}), ({k}, {l})); \
             for i in 0..4 {{ out[i] = a[i]; out[4 + i] = b[i]; out[8 + i] = c[i]; }}"
        );
        let kernel = kernel(1, "x: Global<u32, 1>, out: Global<u32, 1>", &body)
            .unwrap_or_else(|error| panic!("{error}: {body}"));
        let inputs: Vec<u64> = [x, y, z, w, k, l].map(u64::from).to_vec();
        let results = run(&kernel, &[(u32, &inputs)], &[(u32, 12)]);
        for results in results[0].chunks(4) {
            assert_eq!(results, expected.map(u64::from));
        }
    }
}

#[test]
fn mistakes() {
    let rows = [
        (
            32,
            "let t = smem::<i8>(4); atomic_add(t, 0, 1);",
            "`atomic_add` takes elements of type u32, i32, u64, i64, f16, bf16, f32 or f64, not `i8`",
        ),
        (
            32,
            "atomic_min(f, 0, 1.0);",
            "`atomic_min` takes elements of type u32, i32, u64 or i64, not `f32`",
        ),
        (
            32,
            "atomic_inc(f, 0, 1.0);",
            "`atomic_inc` takes elements of type u32, not `f32`",
        ),
        (
            32,
            "atomic_add(fragment::<u32>(4), 0, 1);",
            "`atomic_add` takes a tensor in shared or global memory here, not a fragment",
        ),
        (
            32,
            "atomic_add(f, 0, 1);",
            "expected a value of type `f32`, found the integer 1: as a floating-point number, it is `1.0`",
        ),
        (
            32,
            "atomic_add(f, 0, 1.0, GPU, RELAXED);",
            "`atomic_add` takes an order, `RELAXED`, `ACQUIRE`, `RELEASE` or `ACQ_REL`, and then a scope, `CTA`, `CLUSTER`, `GPU` or `SYS`, here, not `RELAXED`",
        ),
        (
            32,
            "let t = smem::<u32>((4, 4)); atomic_add(t, (0, _), 1);",
            "a coordinate with `_` or a range names several elements, and this takes one: use `copy`",
        ),
        (
            48,
            "let x = shfl_up(n, 1);",
            "48 threads are not a multiple of a warp, 32 threads",
        ),
        (
            32,
            "let x = shfl_up(n, 32);",
            "the argument `delta` of `shfl_up` is 32; it can be 0 to 31",
        ),
        (
            32,
            "let x = shfl_up(n, 1, 12);",
            "12 lanes are not a power of two",
        ),
        (
            32,
            "let x = shfl_up((n, n), 1);",
            "`shfl_up` takes a number or a truth value here, not a tuple of 2",
        ),
        (
            32,
            "let x = vote_any(n);",
            "`vote_any` takes a truth value here, not a run-time `u32`",
        ),
        (
            32,
            "let x = redux_add(n as f32);",
            "`redux_add` takes a run-time u32 or i32 here, not a run-time `f32`",
        ),
        (
            32,
            "let x = match_any((n, n));",
            "`match_any` takes a number or a truth value here, not a tuple of 2",
        ),
        (
            32,
            "nanosleep(2000000);",
            "the argument `nanoseconds` of `nanosleep` is 2000000; it can be 0 to 1000000",
        ),
        (
            32,
            "let x = philox((n, n, n), (0, 1));",
            "`philox` takes a tuple of 4 numbers of type u32 here, not a tuple of 3",
        ),
        (
            32,
            "let x = philox((n, n, n, n), (0, 1.5));",
            "expected a tuple of 2 numbers of type u32, found the number 1.5 among them",
        ),
    ];
    for (threads, text, message) in rows {
        let error = kernel(threads, "n: u32, f: Global<f32, 1>", text).err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}

/// Atomic operations and instructions access global memory as an index does.
#[test]
fn accesses_of_global_memory_need_an_unsafe_kernel() {
    for body in [
        "atomic_add(f, thread(), 1.0);",
        "let v = ptx!(f32: \"ld.global.f32\", [f[0]]);",
    ] {
        let module = format!(
            "mod kernels {{ #[kernel(threads = 32)] fn k(f: Global<f32, 1>) {{ {body} }} }}"
        );
        let error = cute_lang::kernel::lower::lower(module.parse().expect("tokens")).err();
        let error = error.expect("an error").to_string();
        let expected = "nothing proves that this access is inside of `f`";
        assert!(error.starts_with(expected), "{body}: {error}");
    }
}

#[test]
fn resident_ctas_are_a_directive() {
    let ptx = |resident: &str| {
        let source = format!(
            "mod kernels {{
                const N: u32 = 4;
                #[kernel(threads = 256{resident})]
                fn k() {{}}
            }}"
        );
        let lowered = lower(source.parse().expect("tokens"));
        lowered.map(|mut lowered| lowered.remove(0).module.to_string())
    };
    for (resident, expected) in [
        ("", None),
        (", resident = 0", None),
        (", resident = 2 * N", Some(".minnctapersm 8")),
    ] {
        let text = ptx(resident).expect("a kernel");
        let found = text.lines().find(|line| line.contains("minnctapersm"));
        assert_eq!(found, expected, "{resident}");
    }
    for (resident, expected) in [
        // A multiprocessor has room for 64 warps.
        (", resident = 9", "`resident` is 9; it can be 0 to 8"),
        (
            ", resident = 1.5",
            "`resident` is an integer, not the number 1.5",
        ),
        (", resident = N, resident = N", "`resident` is given twice"),
    ] {
        let error = ptx(resident).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{resident}: {error}");
    }
}

/// Numbers of barriers come from the highest down, so that parts of a kernel do not meet at those of others, or at written ones.
#[test]
fn named_barriers_are_given_once() {
    let module = "mod kernels {
        #[kernel(threads = 256)]
        fn k() {
            let (pair, one) = (named_barriers(2), named_barriers(1));
            bar_sync(pair + warpgroup(), 128);
            bar_sync(one, 256);
            bar_sync(1, 256);
        }
    }";
    let lowered = lower(module.parse().expect("tokens")).expect("a kernel");
    let text = lowered[0].module.to_string();
    for expected in ["%warpgroup, 14;", "bar.sync 13, 256;", "bar.sync 1, 256;"] {
        assert!(text.contains(expected), "no `{expected}` in {text}");
    }
}
