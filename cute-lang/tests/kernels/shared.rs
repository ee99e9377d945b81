//! Shared memory: which tensors share bytes, and tensors over others.

use crate::judge;
use cute_emulator::{GlobalMemory, Launch, Program, Schedule};
use cute_lang::kernel::lower::{Lowered, lower};

/// The kernel `k` of some functions.
fn kernel(functions: &str) -> Lowered {
    let source = format!("mod kernels {{ {functions} }}");
    let mut instances =
        lower(source.parse().expect("tokens")).unwrap_or_else(|error| panic!("{error}: {source}"));
    judge(&instances);
    instances.remove(0)
}

/// A kernel of 128 threads with that body, whose parameter is `d`.
fn body(statements: &str) -> Lowered {
    kernel(&format!(
        "#[kernel(threads = 128)] unsafe fn k(d: Global<u32, 1>) {{ let i = thread(); {statements} }}"
    ))
}

/// The first words of `d` after a launch, or the fault.
fn launch(instance: &Lowered, words: usize, seed: u64) -> Result<Vec<u32>, String> {
    let mut memory = GlobalMemory::new();
    let d = memory.alloc(words * 4, 128).unwrap();
    let args = [d.to_le_bytes().to_vec()];
    let launch = Launch {
        block: [instance.threads, 1, 1],
        args: &args,
        dynamic_shared_bytes: instance.smem_bytes,
        schedule: Schedule::from_seed(seed),
        ..Launch::default()
    };
    let program = Program::load(&instance.module.to_string()).expect("PTX");
    let result = program.launch(&mut memory, "k", &launch);
    result.map_err(|error| error.to_string())?;
    let mut found = vec![0; words * 4];
    memory.read(d, &mut found).expect("room");
    let word = |word: &[u8]| u32::from_le_bytes(word.try_into().expect("four bytes"));
    Ok(found.chunks(4).map(word).collect())
}

#[test]
fn memory_is_free_at_the_end_of_a_block() {
    // The statements, and the bytes that they need.
    for (statements, bytes) in [
        (
            "let a = smem::<u32>(128); a[i] = 1; let b = smem::<u32>(128); b[i] = 2;",
            1024,
        ),
        (
            "{ let a = smem::<u32>(128); a[i] = 1; } { let b = smem::<u32>(96); b[i % 96] = 2; }",
            512,
        ),
        (
            "for step in 0..9 { let a = smem::<u32>(128); a[i] = step; }",
            512,
        ),
        (
            "#[unroll(3)] for step in 0..d[0] { let a = smem::<u32>(128); a[i] = step; }",
            512,
        ),
        // The value of a block holds its tensor.
        (
            "let a = { let b = smem::<u32>(128); let c = smem::<u32>(128); c[i] = 1; b }; { let e = smem::<u32>(128); e[i] = 2; } a[i] = 1;",
            1024,
        ),
        (
            "let a = { let b = smem::<u32>((128, 2)); (b[(_, 1)], 1) }; let e = smem::<u32>(128); e[i] = 2; a.0[i] = 1;",
            1536,
        ),
        (
            "let write = { let b = smem::<u32>(128); |x| { b[i] = x; } }; let e = smem::<u32>(128); e[i] = 2; write(1);",
            1024,
        ),
        (
            "let same = |x| { let b = smem::<u32>(128); b[i] = x; }; same(1); same(2);",
            512,
        ),
        // Branches run at once in different warps, and so does what follows.
        (
            "if warp() == 0 { let a = smem::<u32>(128); a[i] = 1; } else { let b = smem::<u32>(128); b[i] = 2; }",
            1024,
        ),
        (
            "match warp() { 0 => { let a = smem::<u32>(128); a[i] = 1; } 1 => { let b = smem::<u32>(128); b[i] = 2; } _ => { let c = smem::<u32>(128); c[i] = 3; } }",
            1536,
        ),
        (
            "if warp() == 0 { let a = smem::<u32>(128); a[i] = 1; } if warp() == 1 { let b = smem::<u32>(128); b[i] = 2; }",
            1024,
        ),
        (
            "{ if warp() == 0 { let a = smem::<u32>(128); a[i] = 1; } } { let b = smem::<u32>(128); b[i] = 2; }",
            512,
        ),
        // In turn within a branch.
        (
            "if warp() == 0 { for step in 0..2 { let a = smem::<u32>(128); a[i] = step; } } else { { let b = smem::<u32>(128); b[i] = 2; } { let b = smem::<u32>(128); b[i] = 2; } }",
            1024,
        ),
        // A condition that is known selects a branch.
        (
            "for x in 0..2 { if x == 0 { let a = smem::<u32>(128); a[i] = 1; } else { let b = smem::<u32>(64); b[i % 64] = 2; } }",
            512,
        ),
        // Barriers are initialised before the kernel starts, so they come where no tensor has been.
        (
            "{ let a = smem::<u32>(128); a[i] = 1; } let ready = mbarriers(2, 1); { let b = smem::<u32>(256); b[i] = 2; }",
            1664,
        ),
    ] {
        assert_eq!(body(statements).smem_bytes, bytes, "{statements}");
    }
    let called = kernel(
        "#[kernel(threads = 128)] fn k() { twice(); twice(); }
         fn twice() { let a = smem::<u32>(128); a[thread()] = 1; once(); }
         fn once() { let b = smem::<u32>(96); b[thread() % 96] = 2; }",
    );
    assert_eq!(called.smem_bytes, 512 + 384);
    let kept = kernel(
        "#[kernel(threads = 128)] fn k() { let a = made(); let b = made(); a[thread()] = 1; b[thread()] = 2; }
         fn made() -> Tensor { smem::<u32>(128) }",
    );
    assert_eq!(kept.smem_bytes, 1024);
}

/// The map of shared memory names each tensor once, and says which take turns.
#[test]
fn the_map_shows_what_takes_turns() {
    let statements = "let ready = mbarriers(1, 1); let kept = smem::<u8>(256); kept[i] = 1;
        for step in 0..4 { let a = smem::<u32>(128); a[i] = step; } { let b = smem::<bf16>((32, 8)); b[(i % 32, 0)] = 1.0; }";
    assert_eq!(
        body(statements).notes,
        [
            "shared memory 0..8, ready: 1 mbarriers, 1 arrivals a phase",
            "shared memory 128..384, kept: u8 at 256:1",
            "shared memory 384..896, a: u32 at 128:1",
            "shared memory 384..896, in turn with others, a: u32 at 128:1",
            "shared memory 384..896, in turn with others, b: bf16 at (32,8):(1,32)",
            "tensor d: u32 at d_ptr, strides (1)",
        ]
    );
}

/// Two tensors in turn: threads write the first, and other threads read it and then write the second.
fn in_turn(between: &str) -> Lowered {
    body(&format!(
        "for step in 0..2 {{
            let a = smem::<u32>(128);
            a[i] = i + step;
            sync_threads();
            d[step * 128 + i] = a[127 - i];
            {between}
        }}"
    ))
}

#[test]
fn a_barrier_orders_tensors_that_take_turns() {
    let ordered = in_turn("sync_threads();");
    assert_eq!(ordered.smem_bytes, 512);
    for seed in 0..4 {
        let found = launch(&ordered, 256, seed).expect("a result");
        for (i, value) in found.iter().enumerate() {
            assert_eq!(*value as usize, 127 - i % 128 + i / 128);
        }
    }
    let races = (0..4).filter_map(|seed| launch(&in_turn(""), 256, seed).err());
    let races: Vec<String> = races.collect();
    assert!(
        races.iter().any(|race| race.contains("races at shared")),
        "{races:?}"
    );
}

#[test]
fn tensors_lie_over_others() {
    // The statements, and the words of `d` for the number of a thread.
    type Row<'a> = (&'a str, u32, &'a dyn Fn(u32) -> u32);
    let rows: &[Row] = &[
        (
            "let a = smem::<u16>((2, 128)); a[(0, i)] = 7u16; a[(1, i)] = convert::<u16>(i); d[i] = recast::<u32>(a)[(0, i)];",
            512,
            &|i| 7 + (i << 16),
        ),
        (
            "let a = smem::<u32>(128); a[i] = 5 + i * 65536; let b = recast::<u16>(a); d[i] = convert::<u32>(b[2 * i]) + convert::<u32>(b[2 * i + 1]);",
            512,
            &|i| 5 + i,
        ),
        // In a swizzled layout, the elements of a chunk of 16 bytes stay together.
        (
            "let a = smem::<u8>(tile_to_shape(smem_atom::<u8>(K, SW128), (64, 128))); let b = a.recast::<u32>();
             b[(i % 64, i / 64)] = i; let x = i - i % 64; d[i] = convert::<u32>(a[(i % 64, x / 16)]);",
            8192,
            &|i| i,
        ),
        (
            "let a = smem::<u32>(128); a[i] = i; let b = overlay::<f32>(a, (64, 2)); b[(i % 64, i / 64)] = 1.0; d[i] = a[i];",
            512,
            &|_| 0x3f80_0000,
        ),
        (
            "let a = smem::<u32>((64, 4)); let b = a[(_, 2)].overlay::<u32>(64); if i < 64 { a[(i, 2)] = i; } sync_threads(); d[i] = b[i % 64];",
            1024,
            &|i| i % 64,
        ),
        (
            "let a = smem::<u32>((64, 4)); let b = a[(_, i / 32)].overlay::<u32>((32, 2)); b[(i % 32, 1)] = i; sync_threads(); d[i] = a[(32 + i % 32, i / 32)];",
            1024,
            &|i| i,
        ),
    ];
    for (statements, bytes, expected) in rows {
        let instance = body(statements);
        assert_eq!(instance.smem_bytes, *bytes, "{statements}");
        let found =
            launch(&instance, 128, 0).unwrap_or_else(|error| panic!("{statements}: {error}"));
        for (i, found) in (0..).zip(found) {
            assert_eq!(found, expected(i), "{statements} {i}");
        }
    }
}

#[test]
fn tensors_that_do_not_lie_over_others() {
    for (statements, expected) in [
        (
            "let a = smem::<u32>(128); let b = overlay::<u64>(a, 65);",
            "u64 at 65:1 takes 520 bytes, but the tensor has 512",
        ),
        (
            "let a = smem::<u32>(128); let b = overlay::<u32>(a, smem_atom::<u32>(K, SW128));",
            "u32 at Sw<3,2,3> o 0 o (8,32):(32,1) takes 1024 bytes, but the tensor has 512",
        ),
        (
            "let a = smem::<u32>((16, 8)); let b = overlay::<u32>(a[(_, 1)], 16);",
            "the tensor begins at byte 64, which need not be a multiple of 128, as u32 at 16:1 needs it over this tensor",
        ),
        (
            "let a = smem::<u32>((16, 8)); let b = overlay::<u32>(a[(_, i / 16)], 16);",
            "the tensor begins at byte 0 plus an offset that is known only at run time, which need not be a multiple of 128, as u32 at 16:1 needs it over this tensor",
        ),
        (
            "let a = smem::<u32>(tile_to_shape(smem_atom::<u32>(K, SW128), (64, 32))); let b = overlay::<u32>(a[(4, _)], 16);",
            "the tensor begins at byte 512, which need not be a multiple of 1024, as u32 at 16:1 needs it over this tensor",
        ),
        (
            "let b = overlay::<u32>(d, 16);",
            "`overlay` takes a tensor in shared memory here, not a tensor in global memory",
        ),
        (
            "let a = smem::<u16>((3, 8)); let b = recast::<u32>(a);",
            "`3:1` does not fill whole groups of 2",
        ),
        (
            "let a = smem::<u16>(layout!((8,4):(1,9))); let b = recast::<u32>(a[(_, i % 4)]);",
            "the tensor begins at an offset that is known only at run time, and need not be a multiple of 4 bytes, as `u32` needs it",
        ),
    ] {
        let source = format!(
            "mod kernels {{ #[kernel(threads = 128)] unsafe fn k(d: Global<u32, 1>) {{ let i = thread(); {statements} }} }}"
        );
        let error = lower(source.parse().expect("tokens")).err();
        let message = error.map(|error| error.to_string());
        assert!(
            message.as_deref().is_some_and(|it| it.contains(expected)),
            "{statements}: {message:?}"
        );
    }
}
