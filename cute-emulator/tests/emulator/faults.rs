//! The faults that are reported, and their lines.

use super::{Run, SEEDS, fault, module, pointer, words_of, words_under};
use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode};
use cute_emulator::{EmulatorError, FaultKind, Launch, LaunchProblem, Program, encode_tensor_map};

#[test]
fn what_is_not_modelled_is_named_with_its_line() {
    let rows = [
        ("brkpt;", "breakpoints"),
        (
            "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%d0, {%r1, %r2, %r3}], [%r4];",
            ".im2col_no_offs",
        ),
    ];
    for (instruction, part) in rows {
        match Program::load(&module("", instruction)) {
            Err(EmulatorError::Unsupported {
                line,
                text,
                message,
                entry,
            }) => {
                // `module` puts eleven lines before the body.
                assert_eq!((line, entry.as_str()), (12, "k"), "{instruction}");
                assert!(message.contains(part), "{message}");
                assert!(
                    text.contains(instruction.split(['.', ';']).next().unwrap()),
                    "{text}"
                );
            }
            other => panic!("{instruction}: {other:?}"),
        }
    }
    let invalid = [
        ("mov.u32 %r99, 0;", "operand 1, `%r99`, is not declared"),
        (
            "mov.u32 %r1, nothing;",
            "operand 2, `nothing`, is not declared",
        ),
        ("bra NOWHERE;", "no label `NOWHERE`"),
        (
            "add.u32 %r1, %r2;",
            "the instruction takes 3 operands, but 2 are given",
        ),
        (
            "setmaxnreg.inc.sync.aligned.u32 241;",
            "`241`, is not an allowed constant",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1}, %d0, %d1, %p0, 1, 1, 0, 0;",
            "has 2 elements; expected a vector of 4",
        ),
        (
            "ld.global.v4.b32 {%r1, %r2}, [%d0];",
            "has 2 elements; expected a vector of 4",
        ),
    ];
    for (instruction, part) in invalid {
        match Program::load(&module("", instruction)) {
            Err(EmulatorError::Invalid {
                entry,
                line,
                text,
                problem,
            }) => {
                assert_eq!((line, entry.as_deref()), (12, Some("k")), "{instruction}");
                assert!(problem.to_string().contains(part), "{problem}");
                assert_eq!(format!("{text};"), instruction);
            }
            other => panic!("{instruction}: {other:?}"),
        }
    }
    let unknown = [
        (
            "frobnicate.b32 %r1, %r2;",
            "12:1: `frobnicate` is not an instruction",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%f0}, %d0, %d1, %p0, 1, 1, 0, 0;",
            "12:1: `.m64n12k16` cannot follow `wgmma.mma_async.sync.aligned`",
        ),
    ];
    for (instruction, part) in unknown {
        match Program::load(&module("", instruction)) {
            Err(EmulatorError::Parse(error)) => {
                assert!(error.to_string().starts_with(part), "{error}");
            }
            other => panic!("{instruction}: {other:?}"),
        }
    }
    assert!(matches!(
        Program::load("nonsense"),
        Err(EmulatorError::Parse(_))
    ));
}

#[test]
fn launches_are_checked() {
    let ptx = module(".param .u32 n", "").replace(" .maxntid 1024\n", "\n.reqntid 64, 1, 1\n");
    let program = Program::load(&ptx).unwrap();
    let args = [vec![0; 4]];
    let good = Launch {
        block: [64, 1, 1],
        args: &args,
        ..Launch::default()
    };
    let mut memory = cute_emulator::GlobalMemory::new();
    program.launch(&mut memory, "k", &good).unwrap();
    let rows = [
        (
            Launch {
                grid: [1, 0, 1],
                ..good.clone()
            },
            "Zero",
        ),
        (
            Launch {
                block: [32, 1, 1],
                ..good.clone()
            },
            "Block",
        ),
        (
            Launch {
                block: [64, 32, 1],
                ..good.clone()
            },
            "TooLarge",
        ),
        (
            Launch {
                dynamic_shared_bytes: 300_000,
                ..good.clone()
            },
            "TooLarge",
        ),
        (
            Launch {
                cluster: [17, 1, 1],
                ..good.clone()
            },
            "TooLarge",
        ),
        (
            Launch {
                cluster: [2, 1, 1],
                ..good.clone()
            },
            "Grid",
        ),
        (
            Launch {
                args: &[],
                ..good.clone()
            },
            "Arguments",
        ),
        (
            Launch {
                args: &[vec![0; 8]],
                ..good.clone()
            },
            "Argument {",
        ),
    ];
    for (launch, name) in rows {
        match program.launch(&mut memory, "k", &launch) {
            Err(EmulatorError::Launch { problem, .. }) => {
                assert!(format!("{problem:?}").starts_with(name), "{problem:?}")
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    let missing = program.launch(&mut memory, "other", &good);
    assert!(matches!(missing, Err(EmulatorError::NoEntry { .. })));
    let problem = LaunchProblem::Arguments {
        given: 1,
        expected: 2,
    };
    assert_eq!(
        problem.to_string(),
        "the launch gives 1 argument, but the entry has 2 parameters"
    );
}

#[test]
fn stray_accesses_name_the_allocation() {
    let mut run = Run::threads(32);
    let out = run.words(&[0; 16]);
    let ptx = module(
        ".param .u64 out",
        "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %d0, %r0, 4, %d0;\nst.global.b32 [%d0], %r0;",
    );
    match run.go(&ptx, &[pointer(out)]) {
        Err(EmulatorError::Fault(fault)) => {
            assert_eq!((fault.site.line, fault.site.lane), (15, Some(16)));
            let FaultKind::Global(error) = &fault.kind else {
                panic!("{fault}")
            };
            let nearest = error.nearest.unwrap();
            assert_eq!((nearest.base, nearest.bytes, nearest.offset), (out, 64, 64));
            assert!(
                fault.to_string().contains("st.global.b32 [%d0], %r0"),
                "{fault}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn single_faults() {
    type Check = fn(&FaultKind) -> bool;
    let rows: [(&str, Check); 9] = [
        ("ld.shared.b32 %r1, [smem];", |kind| {
            matches!(kind, FaultKind::Uninitialised { .. })
        }),
        ("st.shared.b32 [smem+65536], 0;", |kind| {
            matches!(kind, FaultKind::Shared { .. })
        }),
        ("mov.u32 %r2, 16; st.shared.b32 [%r2], 0;", |kind| {
            matches!(kind, FaultKind::Shared { .. })
        }),
        ("st.shared.b32 [smem+2], 0;", |kind| {
            matches!(kind, FaultKind::Misaligned { align: 4, .. })
        }),
        ("ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [smem+8];", |kind| {
            matches!(kind, FaultKind::Misaligned { align: 16, .. })
        }),
        ("mbarrier.arrive.shared::cta.b64 _, [smem];", |kind| {
            matches!(kind, FaultKind::NoBarrier { .. })
        }),
        (
            "mbarrier.init.shared::cta.b64 [smem], 1; mbarrier.arrive.shared::cta.b64 _, [smem], 2;",
            |kind| matches!(kind, FaultKind::Barrier { .. }),
        ),
        ("trap;", |kind| *kind == FaultKind::Trap),
        (
            "mov.u32 %r2, 5; setmaxnreg.inc.sync.aligned.u32 24;",
            |kind| matches!(kind, FaultKind::Operand(_)),
        ),
    ];
    for (body, check) in rows {
        let (kind, _) = fault(words_of(1, body));
        assert!(check(&kind), "{body}: {kind:?}");
    }
}

#[test]
fn races_between_warps() {
    // Without a barrier, warp 1 reads what warp 0 wrote, overwrites it, or overwrites what warp 0 read.
    let (read, write) = ("ld.shared.b32 %r1, [smem];", "st.shared.b32 [smem], 2;");
    for (first, second) in [(write, read), (write, write), (read, write)] {
        let body = format!(
            "
            st.shared.b32 [smem], 0;
            mov.u32 %r1, 0;
            setp.gt.u32 %p0, %r0, 31;
            @%p0 bra SECOND;
            {first}
            bra END;
        SECOND:
            {second}
        END:"
        );
        // Warp 0 initialises the word before the barrier, so only the accesses after it race.
        let body = body
            .replace("mov.u32 %r1, 0;", "bar.sync 0; mov.u32 %r1, 0;")
            .replace(
                "st.shared.b32 [smem], 0;",
                "setp.gt.u32 %p0, %r0, 31; @!%p0 st.shared.b32 [smem], 0;",
            );
        for seed in SEEDS {
            let (kind, _) = fault(words_under(seed, 64, &body));
            assert!(
                matches!(kind, FaultKind::Race { .. }),
                "{first} {second}: {kind:?}"
            );
        }
    }
}

/// In a loop, a barrier between the write and the read leaves the write of the next pass unordered.
#[test]
fn a_race_tells_that_an_access_is_of_the_next_pass() {
    let (write, read) = (
        "@%p0 st.shared.b32 [smem], %r2;",
        "ld.shared.b32 %r1, [smem];",
    );
    let global = (
        "@%p0 st.global.b32 [%d1], %r2;",
        "ld.global.b32 %r1, [%d1];",
    );
    let (all, lanes, some) = ("bar.sync 0;", "bar.warp.sync -1;", "bar.sync 0, 64;");
    // The threads, the lines of the loop, and whether the message speaks of the next pass. The barrier is of all threads or of a warp.
    let rows = [
        (64, [write, all, read, ""], true),
        (64, [read, all, write, ""], true),
        (32, [write, all, read, ""], true),
        (32, [write, lanes, read, ""], true),
        (
            64,
            [
                "@!%p0 bra OVER;",
                "st.shared.b32 [smem], %r2; OVER:",
                all,
                read,
            ],
            true,
        ),
        (64, [global.0, all, global.1, ""], true),
        (32, [global.0, lanes, global.1, ""], true),
        (64, [write, read, all, ""], false),
        (64, [write, some, read, ""], false),
        (
            32,
            [write, "@%p2 bra PAST; bar.warp.sync -1; PAST:", read, ""],
            false,
        ),
        (
            64,
            [write, "@%p2 bra PAST; bar.sync 0; PAST:", read, ""],
            false,
        ),
        (
            64,
            [
                "@%p2 bra READ;",
                write,
                all,
                "READ: ld.shared.b32 %r1, [smem];",
            ],
            false,
        ),
    ];
    for (threads, lines, is_told) in rows {
        let body = format!(
            "
            ld.param.u64 %d1, [out];
            setp.eq.u32 %p0, %r0, 0;
            setp.gt.u32 %p2, %r0, 99;
            @%p0 st.shared.b32 [smem], 0;
            mov.u32 %r2, 0;
            bar.sync 0;
        AGAIN:
            {}
            add.u32 %r2, %r2, 1;
            setp.lt.u32 %p1, %r2, 3;
            @%p1 bra AGAIN;",
            lines.join("\n")
        );
        for seed in SEEDS {
            let Err(EmulatorError::Fault(fault)) = words_under(seed, threads, &body) else {
                panic!("no fault: {body}");
            };
            let told = fault
                .to_string()
                .contains("is that of the next pass of the loop");
            assert_eq!(
                (told, fault.later.is_some()),
                (is_told, is_told),
                "{fault}{body}"
            );
        }
    }
}

/// A kernel that copies 16 rows of 32 bytes into shared memory, then executes `wait` and `after`.
fn copied(wait: &str, after: &str) -> String {
    let body = format!(
        "
        mov.u32 %r0, %tid.x;
        mov.u32 %r2, smem;
        add.u32 %r3, %r2, 4096;
        mov.u32 %r20, 0;
        mov.b64 %d31, map;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%r3], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d31, {{%r20, %r20}}], [%r3];
    READY:
        bar.sync 0;
        {wait}
        {after}"
    );
    module(".param .align 64 .b8 map[128]", &body)
}

const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0; @!%p1 bra WAIT;";

fn go(seed: u64, ptx: &str) -> Result<cute_emulator::Counts, EmulatorError> {
    let mut run = Run::threads(32).seed(seed);
    let map = TensorMap {
        element: ElementType::U16,
        address: run.words(&[7; 16 * 8]),
        extents: vec![16, 16],
        strides: vec![32],
        box_extents: vec![16, 16],
        element_strides: vec![1, 1],
        swizzle: SwizzleMode::None,
        fill: OobFill::Zero,
        l2: L2Promotion::default(),
    };
    run.go(ptx, &[encode_tensor_map(&map).unwrap().to_vec()])
}

#[test]
fn copies_must_be_waited_for() {
    let read = "ld.shared.b32 %r1, [smem+508];";
    for seed in SEEDS {
        go(seed, &copied(WAIT, read)).unwrap();
    }
    let (kind, text) = fault(go(0, &copied("", read)));
    let FaultKind::CopyInFlight { other, .. } = &kind else {
        panic!("{kind:?}")
    };
    assert!(other.text.starts_with("cp.async.bulk.tensor.2d"), "{kind}");
    assert_eq!(format!("{text};"), read);
    // The CTA ends before its copy is complete.
    assert!(matches!(
        fault(go(0, &copied("", ""))).0,
        FaultKind::ExitWithCopy { .. }
    ));
    // 128 bytes that are not a tensor map.
    let garbage = Run::threads(32).go(&copied(WAIT, ""), &[vec![1; 128]]);
    assert!(matches!(fault(garbage).0, FaultKind::Operand(_)));
    // The mbarrier expects fewer bytes than the copy completes.
    let short = copied(WAIT, "").replace("[%r3], 512", "[%r3], 256");
    assert!(matches!(go(0, &short), Err(EmulatorError::Deadlock { .. })));
}

#[test]
fn stores_must_be_fenced_and_waited_for() {
    let store = "
        st.shared.b32 [%r2+4], 5;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @%p0 bra END;
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d31, {%r20, %r20}], [%r2];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 0;
        st.shared.b32 [%r2], 6;
        END:";
    for seed in SEEDS {
        go(seed, &copied(WAIT, store)).unwrap();
    }
    let without = |part: &str| {
        let kernel = copied(WAIT, store);
        assert!(kernel.contains(part));
        fault(go(0, &kernel.replace(part, ""))).0
    };
    let kind = without("fence.proxy.async.shared::cta;");
    let FaultKind::MissingProxyFence { other, .. } = &kind else {
        panic!("{kind:?}")
    };
    assert_eq!(other.text, "st.shared.b32 [%r2+4], 5");
    assert!(matches!(
        without("cp.async.bulk.wait_group.read 0;"),
        FaultKind::StoreInFlight { .. }
    ));
    assert!(matches!(
        without("cp.async.bulk.commit_group;"),
        FaultKind::StoreInFlight { .. }
    ));
    let ended = copied(WAIT, store)
        .replace("cp.async.bulk.wait_group.read 0;", "")
        .replace("st.shared.b32 [%r2], 6;", "");
    assert!(matches!(
        fault(go(0, &ended)).0,
        FaultKind::ExitWithStore { .. }
    ));
}

#[test]
fn deadlocks_list_every_warp() {
    // Warp 0 waits for an mbarrier without arrivals, warp 1 at a named barrier of two warps.
    let body = "
        mov.u32 %r1, 0;
        setp.gt.u32 %p0, %r0, 31;
        @%p0 bra SECOND;
        setp.ne.u32 %p2, %r0, 0;
        @%p2 bra INITIALISED;
        mbarrier.init.shared::cta.b64 [smem], 3;
    INITIALISED:
        bar.warp.sync -1;
    SPIN:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [smem], 0;
        @!%p1 bra SPIN;
    SECOND:
        bar.sync 5, 64;";
    for seed in SEEDS {
        match words_under(seed, 64, body) {
            Err(EmulatorError::Deadlock { threads, .. }) => {
                assert_eq!(threads.len(), 2);
                assert!(
                    threads[0].site.text.starts_with("mbarrier.try_wait"),
                    "{}",
                    threads[0]
                );
                assert!(
                    threads[0].waits_for.contains("waits for 3 of 3 arrivals"),
                    "{}",
                    threads[0]
                );
                assert!(
                    threads[1].site.text.starts_with("bar.sync"),
                    "{}",
                    threads[1]
                );
                assert!(threads[1].waits_for.contains("32 of 64"), "{}", threads[1]);
            }
            other => panic!("{other:?}"),
        }
    }
    // Half of a warp waits at a barrier that needs the whole warp, and so does the other half.
    let divergent = "
        setp.gt.u32 %p0, %r0, 15;
        mov.u32 %r1, 0;
        @%p0 bra OTHER;
        bar.sync 0;
        bra END;
    OTHER:
        bar.sync 1;
    END:";
    let (kind, text) = fault(words_of(32, divergent));
    let message = kind.to_string();
    assert!(matches!(kind, FaultKind::NotTogether(_)), "{message}");
    let other = if text == "bar.sync 0" {
        "bar.sync 1"
    } else {
        "bar.sync 0"
    };
    assert!(message.contains(&format!("(`{other}`)")), "{message}");
}

#[test]
fn a_cta_that_has_ended_is_out_of_reach() {
    let body = "
        mov.u32 %r0, %cluster_ctarank;
        mov.u32 %r2, smem;
        mapa.shared::cluster.u32 %r3, %r2, 0;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 bra END;
        st.shared::cluster.b32 [%r3], 1;
    END:";
    // Whether rank 0 has ended when rank 1 writes depends on the schedule; under at least one of these it has.
    let ended = (0..20).any(|seed| {
        match Run::threads(1)
            .seed(seed)
            .cluster(2)
            .go(&module("", body), &[])
        {
            Ok(_) => false,
            result => matches!(fault(result).0, FaultKind::Ended { rank: 0, .. }),
        }
    });
    assert!(ended);
}

#[test]
fn endless_loops_end_at_the_step_limit() {
    let mut run = Run::threads(32);
    run.launch.limits.steps = 1 << 16;
    match run.go(
        &module("", "LOOP: st.shared.b32 [smem], 1;\nbra LOOP;"),
        &[],
    ) {
        Err(EmulatorError::StepLimit { limit, threads, .. }) => {
            assert_eq!((limit, threads.len()), (1 << 16, 1));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    for seed in SEEDS {
        let run = |seed| go(seed, &copied(WAIT, "ld.shared.b32 %r1, [smem];")).unwrap();
        assert_eq!(run(seed), run(seed));
    }
}

#[test]
fn warps_that_wait_alike_are_one_line_of_the_report() {
    let body = "
        setp.gt.u32 %p0, %r0, 63;
        mov.u32 %r1, 0;
        @%p0 bra END;
        bar.sync 3, 96;
    END:";
    let report = words_of(128, body).unwrap_err().to_string();
    let expected = expect_test::expect![[r#"
        k is deadlocked:
            line 19, CTA (0, 0, 0), warps 0 to 1: waits at barrier 3: 64 of 96 threads have arrived
                bar.sync 3, 96
            under policy Latest, seed 0, 8 resident clusters"#]];
    expected.assert_eq(&report);
}

#[test]
fn faults_name_the_source_and_the_tensor() {
    let said = ".file 1 \"src/k.rs\"\n// shared memory 0..64: barriers\n// shared memory 64..192, tile: f32 at 32:1\n.extern";
    let with = |ptx: String| ptx.replace(".extern", said);
    let message = |ptx: &str| Run::threads(64).go(ptx, &[]).unwrap_err().to_string();
    let read = "mov.u32 %r0, smem;\n.loc 1 20 5\nld.shared.u32 %r1, [%r0+84];\nst.shared.u32 [%r0+84], %r1;";
    assert_eq!(
        message(&with(module("", read))),
        "byte 20 of tile at src/k.rs:20 in k (line 17 of the PTX), CTA (0, 0, 0), warp 1, lane 0:\n    reads shared address \
         0x454, which nobody has written\n    line 17: ld.shared.u32 %r1, [%r0+84]\n    tile: f32 at 32:1\n    under policy Latest, seed 0, 8 resident clusters"
    );
    // Tensors that take turns.
    let other =
        "tile: f32 at 32:1\n// shared memory 64..128, in turn with others, other: u8 at 64:1";
    let turns = with(module("", read)).replace("tile: f32 at 32:1", other);
    let turns = message(&turns);
    assert!(
        turns.starts_with("byte 20 of tile or byte 20 of other at src/k.rs:20 in k"),
        "{turns}"
    );
    assert!(
        turns.contains("    tile: f32 at 32:1\n    other: u8 at 64:1\n"),
        "{turns}"
    );
    // An address outside of all named tensors, and a module that says nothing.
    let outside = message(&with(module("", &read.replace("84", "4"))));
    assert!(
        outside.starts_with("src/k.rs:20 in k (line 17 of the PTX), "),
        "{outside}"
    );
    let silent = message(&module("", &read.replace(".loc 1 20 5\n", "")));
    assert!(
        silent.starts_with("k, line 13, CTA (0, 0, 0), warp "),
        "{silent}"
    );

    let race = "mov.u32 %r0, smem;\nmov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\n.loc 1 7 5\nst.shared.u32 [%r0+68], %r1;";
    let race = message(&with(module("", race)));
    assert!(
        race.starts_with("byte 4 of tile at src/k.rs:7 in k"),
        "{race}"
    );
    // Both instructions are quoted below.
    for part in [
        "with src/k.rs:7 (line 19 of the PTX) of CTA",
        "orders the two\n    line 19: st.shared.u32 [%r0+68], %r1\n    line 19: st.shared.u32 [%r0+68], %r1\n    tile: ",
    ] {
        assert!(race.contains(part), "{race}");
    }

    let stuck = ".loc 1 9 5\nbar.sync 0, 96;";
    let stuck = message(&with(module("", stuck)));
    let place = "\n    src/k.rs:9 (line 16 of the PTX), CTA (0, 0, 0), warps 0 to 1: ";
    assert!(stuck.contains(place), "{stuck}");
}

#[test]
fn the_shared_memory_of_a_cta_is_uninitialised_after_that_of_others() {
    let body = "
        mov.u32 %r2, smem;
        mov.u32 %r3, %ctaid.x;
        setp.eq.u32 %p0, %r3, 63;
        @!%p0 st.shared.b32 [%r2+40000], %r3;
        @%p0 ld.shared.b32 %r4, [%r2+40000];
        @%p0 st.shared.b32 [%r2+40000], %r4;";
    let mut run = Run::threads(1);
    run.launch.grid = [64, 1, 1];
    let (kind, text) = fault(run.go(&module("", body), &[]));
    assert!(matches!(kind, FaultKind::Uninitialised { .. }), "{kind:?}");
    assert!(text.contains("ld.shared"), "{text}");
}

#[test]
fn the_first_lane_outside_of_an_allocation_is_named() {
    let access = |access: &str| {
        let mut run = Run::threads(32);
        let words = run.words(&[0; 20]);
        let body = format!(
            "ld.param.u64 %d0, [words];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %d0, %r0, 4, %d0;\n{access}"
        );
        match run.go(&module(".param .u64 words", &body), &[pointer(words)]) {
            Err(EmulatorError::Fault(fault)) => fault.site.lane,
            other => panic!("a fault is expected, not {other:?}"),
        }
    };
    assert_eq!(access("ld.global.b32 %r1, [%d0];"), Some(20));
    assert_eq!(access("st.global.b32 [%d0], %r0;"), Some(20));
    assert_eq!(access("st.global.b32 [%d0+4], %r0;"), Some(19));
}
