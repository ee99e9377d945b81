//! An index out of range is an error in every function that takes one: for known indices always, and for others unless a proof, a
//! check while the kernel runs, or the rule of the function says otherwise.

use cute_emulator::{GlobalMemory, Launch, Program};
use cute_lang::kernel::lower::{Lowered, lower};

/// What happens to an index that nothing proves to be in range, in a kernel that is not `checked`.
#[derive(Clone, Copy, PartialEq)]
enum Unproven {
    /// It is an error, also in an `unsafe fn`.
    Refused,
    /// The kernel must be an `unsafe fn`.
    Unsafe,
    /// It is an index of shared memory, which reaches nothing that is not the kernel's.
    Shared,
    /// It must be known, and is an error in checked kernels, too.
    Known,
}
use Unproven::{Known, Refused, Shared, Unsafe};

/// Statements with `$` for the index, and how many values it has.
#[rustfmt::skip] // Rows on one line are easier to compare.
const ROWS: &[(&str, i64, Unproven)] = &[
    ("out[0] = layout!((8,4):(4,1)).at($);", 32, Refused),
    ("out[0] = layout!((8,4):(4,1)).at(($, 3));", 8, Refused),
    ("out[0] = layout!((8,4):(4,1)).at((7, $));", 4, Refused),
    ("out[0] = layout!(Sw<1,0,2> o (8,4):(4,1)).at($);", 32, Refused),
    ("out[0] = layout!((6,5):(1@0,1@1)).at($).0;", 30, Refused),
    ("out[0] = layout!(xor_map((3,2,5,11))).at($);", 16, Refused),
    ("let part = local_partition(tile, layout!((4,8):(8,1)), $);", 32, Refused),
    ("let part = local_partition(local_tile(x, (64, 64), (0, 0)), layout!((4,8):(8,1)), $);", 32, Refused),
    ("let part = local_tile(x, (64, 64), (0, 0))[($, _)];", 64, Unsafe),
    ("let part = local_tile(x, (64, 64), (0, 0))[(_, $)];", 64, Unsafe),
    ("let value = local_tile(x, (64, 64), (0, 0))[($, 0)];", 64, Unsafe),
    ("let part = local_tile(local_tile(x, (64, 64), (0, 0)), (16, 64), ($, 0));", 4, Unsafe),
    ("let part = local_tile(tile, (16, 32), ($, 0));", 4, Shared),
    ("let part = tile[($, _)];", 64, Shared),
    ("let value = tile[(0, $)];", 32, Shared),
    ("let value = tile[$];", 2048, Shared),
    ("let barrier = mbarriers(4, 1)[$];", 4, Shared),
    ("let value = held[$];", 8, Known),
    ("let value = [1, 2, 3][$];", 3, Refused),
    ("let value = [1.5, 2.5, 3.5, 4.5, 5.5][$];", 5, Refused),
    ("let mut a = [n, 2, 3]; let value = a[$];", 3, Refused),
    ("let mut a = [n, 2, 3]; a[$] = 7;", 3, Refused),
    ("let mut a = [[n, 2, 3], [4, 5, 6]]; a[1][$] += 1;", 3, Refused),
    ("let mut a = [[n, 2, 3], [4, 5, 6]]; a[$][1] += 1;", 2, Refused),
    ("let value = (1, 2, 3)[$];", 3, Known),
    ("let value = extent(x, $);", 2, Known),
    ("let value = stride(x, $);", 2, Known),
    ("let place = coordinate(held, $);", 8, Known),
    ("let sums = reduce(held, $, add);", 2, Known),
    ("let part = local_tile(held, (2, 32), ($, 0));", 4, Known),
    ("let mode = get(layout!((8,4):(4,1)), $);", 2, Known),
    ("let mode = get(tile, $);", 2, Known),
    ("let modes = select(tile, $);", 2, Known),
    ("let modes = take(tile, $, 2);", 2, Known),
    ("let index = crd2idx($, layout!((8,4):(4,1)));", 32, Known),
    ("let part = slice(layout!((8,4):(4,1)), ($, 1));", 8, Known),
];

/// The kernel `k`, or its errors.
fn lowered(statements: &str, unsafety: &str, checked: &str) -> Result<Lowered, String> {
    let module = format!(
        "mod kernels {{
            #[kernel(threads = 128{checked})]
            {unsafety} fn k(
                #[facts(extent(x, 0) == 64, extent(x, 1) == 64)] x: Global<f32, 2>,
                #[facts(extent(out, 0) >= 1)] out: Global<u32, 1>,
                n: u32,
                s: i64,
            ) {{
                let tile = smem::<f32>((64, 32));
                let held = fragment::<f32>(layout!((32,(8)):(1@1,(1@0))));
                for i in 0..8 {{ held[i] = 0.0; }}
                {statements}
            }}
        }}"
    );
    match lower(module.parse().expect("tokens")) {
        Ok(mut kernels) => Ok(kernels.remove(0)),
        Err(errors) => Err(errors.to_string()),
    }
}

/// Launches the kernel with this index as `n` and as `s`.
fn launch(kernel: &Lowered, index: i64) -> Result<(), String> {
    let mut memory = GlobalMemory::new();
    let x = memory.alloc(64 * 64 * 4, 128).unwrap();
    let out = memory.alloc(128, 128).unwrap();
    memory.write(x, &[0; 64 * 64 * 4]).expect("room");
    let text = kernel.module.to_string();
    // The arguments by the names of the parameters, of which a kernel has only those that it uses.
    let program = Program::load(&text).expect("PTX");
    let entry = text.split_once(".entry k(").expect("an entry").1;
    let entry = entry.split_once(')').expect("its parameters").0;
    let arguments: Vec<Vec<u8>> = entry
        .split(',')
        .map(
            |param| match param.split_whitespace().last().expect("a name") {
                "x_ptr" => x.to_le_bytes().to_vec(),
                "out_ptr" => out.to_le_bytes().to_vec(),
                "x_stride0" => 64u64.to_le_bytes().to_vec(),
                "x_extent0" | "x_extent1" => 64u32.to_le_bytes().to_vec(),
                "out_extent0" => 32u32.to_le_bytes().to_vec(),
                "n" => (index as u32).to_le_bytes().to_vec(),
                "s" => index.to_le_bytes().to_vec(),
                _ => 0u64.to_le_bytes().to_vec(),
            },
        )
        .collect();
    let launch = Launch {
        block: [kernel.threads, 1, 1],
        args: &arguments,
        dynamic_shared_bytes: kernel.smem_bytes,
        ..Launch::default()
    };
    let result = program.launch(&mut memory, "k", &launch);
    result.map(|_| ()).map_err(|error| error.to_string())
}

const FAR: [i64; 6] = [
    1 << 20,
    1 << 31,
    1 << 32,
    i64::MAX,
    -(1 << 31),
    i64::MIN + 1,
];

#[test]
fn known_indices() {
    for (row, size, _) in ROWS {
        let of = |index: i64| lowered(&row.replace('$', &index.to_string()), "unsafe", "");
        for inside in [0, size - 1] {
            let found = of(inside);
            assert!(found.is_ok(), "{row} at {inside}: {:?}", found.err());
        }
        for outside in [-1, *size, size + 1].into_iter().chain(FAR) {
            assert!(of(outside).is_err(), "{row} at {outside} of {size}");
        }
    }
}

#[test]
fn indices_that_nothing_proves() {
    for (row, size, rule) in ROWS {
        for index in ["n", "s"] {
            let statements = row.replace('$', index);
            let accepted = |unsafety, checked| lowered(&statements, unsafety, checked).is_ok();
            let expected = match rule {
                Refused => [false, false, true],
                Unsafe => [false, true, true],
                Shared => [true, true, true],
                Known => [false, false, false],
            };
            let found = [
                accepted("", ""),
                accepted("unsafe", ""),
                accepted("", ", checked"),
            ];
            assert_eq!(found, expected, "{statements}");
        }
        if *rule != Known {
            let proven = format!("if n < {size} {{ {} }}", row.replace('$', "n"));
            let found = lowered(&proven, "", "");
            assert!(found.is_ok(), "{proven}: {:?}", found.err());
            let modulo = row.replace('$', &format!("(n % {size})"));
            let found = lowered(&modulo, "", "");
            assert!(found.is_ok(), "{modulo}: {:?}", found.err());
            let beyond = format!("if n < {} {{ {} }}", size + 1, row.replace('$', "n"));
            assert_eq!(
                lowered(&beyond, "", "").is_ok(),
                *rule == Shared,
                "{beyond}"
            );
        }
    }
}

/// A check that fails takes a place in the buffer of reports, which these launches do not have.
const REPORT: &str = "[%reports]";

#[test]
fn checks_while_the_kernel_runs() {
    for (row, size, _) in ROWS.iter().filter(|(_, _, rule)| *rule != Known) {
        for (index, far) in [
            ("n", &[1 << 20, 1 << 31, (1 << 32) - 1][..]),
            ("s", &FAR[..]),
        ] {
            let kernel = lowered(&row.replace('$', index), "", ", checked").expect("accepted");
            for inside in [0, size - 1] {
                let error = launch(&kernel, inside).err().unwrap_or_default();
                assert!(
                    !error.contains(REPORT),
                    "{row} at {inside} of {size}: {error}"
                );
            }
            for outside in [*size, size + 1].iter().chain(far) {
                let error = launch(&kernel, *outside).expect_err(row);
                assert!(
                    error.contains(REPORT),
                    "{row} at {outside} of {size}: {error}"
                );
            }
        }
    }
}

/// The thread of a partition is known to be below the threads of the CTA, or by a condition.
#[test]
fn threads_of_partitions() {
    let of = |threads: &str, index: &str| {
        let partition = format!("let part = local_partition(tile, layout!({threads}), {index});");
        lowered(&partition, "", "").map(|_| ())
    };
    assert_eq!(of("(16,8)", "thread()"), Ok(()));
    assert_eq!(of("(4,8)", "lane()"), Ok(()));
    assert_eq!(of("(4,8)", "thread() % 32"), Ok(()));
    let expected = "nothing proves that this index is below 32, the number of threads: put it under a condition by which it is, \
        or let the kernel check it when it runs, `#[kernel(…, checked)]`";
    assert_eq!(of("(4,8)", "thread()"), Err(expected.into()));
    let condition =
        "if thread() < 32 { let part = local_partition(tile, layout!((4,8)), thread()); }";
    assert!(lowered(condition, "", "").is_ok());
}

/// Operations that keep a tensor's elements in place give nothing that reaches outside of it.
#[test]
fn tensors_stay_inside_of_themselves() {
    let of = |statements: &str| lowered(statements, "", "").map(|_| ());
    for accepted in [
        "let y = with_shape(tile, (128, 16));",
        "let y = tile.with_shape(2048);",
        "let y = with_shape(local_tile(x, (64, 64), (0, 0)), (32, 128));",
        "let y = select(tile, 1, 0);",
    ] {
        assert_eq!(of(accepted), Ok(()), "{accepted}");
    }
    for (refused, expected) in [
        (
            "let y = with_shape(tile, (64, 33));",
            "this reaches coordinate 2111, but the size is 2048; nearest: `33`; `ragged` allows the overhang",
        ),
        (
            "let y = select(tile, 1, 1);",
            "`select` gives (32,32):(64,64), which reaches outside of the tensor, whose layout is (64,32):(1,64)",
        ),
        (
            "let y = select(local_tile(x, (64, 64), (0, 0)), 0, 0);",
            "`select` gives (64,64):(1@0,1@0), which reaches outside of the tensor, whose layout is (64,64):(1@0,1@1)",
        ),
    ] {
        let found = of(refused).expect_err(refused);
        assert!(
            found.starts_with(expected) || refused.contains("33"),
            "{refused}: {found}"
        );
    }
}
