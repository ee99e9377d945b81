//! Divergence, exchanges, barriers and clusters.

use super::events::{check_fine, check_flagged, threads, with};
use super::{Run, SEEDS, fault, module, pointer, words_of, words_under};
use cute_emulator::{EmulatorError, FaultKind};

#[test]
fn divergent_loops_and_branches() {
    // The number of Collatz steps from tid + 1 to 1.
    let body = "
        add.u32 %r2, %r0, 1;
        mov.u32 %r1, 0;
    LOOP:
        setp.eq.u32 %p0, %r2, 1;
        @%p0 bra DONE;
        add.u32 %r1, %r1, 1;
        and.b32 %r3, %r2, 1;
        setp.eq.u32 %p1, %r3, 0;
        @%p1 bra EVEN;
        mad.lo.u32 %r2, %r2, 3, 1;
        bra LOOP;
    EVEN:
        shr.u32 %r2, %r2, 1;
        bra LOOP;
    DONE:";
    let steps = |mut n: u32| {
        let mut steps = 0;
        while n != 1 {
            n = if n.is_multiple_of(2) {
                n / 2
            } else {
                3 * n + 1
            };
            steps += 1;
        }
        steps
    };
    let expected: Vec<u32> = (1..=48).map(steps).collect();
    for seed in SEEDS {
        assert_eq!(words_under(seed, 48, body).unwrap(), expected);
    }
}

#[test]
fn lanes_exchange_after_divergence() {
    // Odd lanes reach the shuffle later, and it waits for them.
    let body = "
        and.b32 %r2, %r0, 1;
        setp.eq.u32 %p0, %r2, 0;
        mov.u32 %r3, %r0;
        @%p0 bra JOIN;
        add.u32 %r3, %r3, 100;
        add.u32 %r3, %r3, 100;
    JOIN:
        shfl.sync.bfly.b32 %r1, %r3, 1, 31, -1;";
    let expected: Vec<u32> = (0..32)
        .map(|lane| {
            if lane % 2 == 0 {
                lane + 1 + 200
            } else {
                lane - 1
            }
        })
        .collect();
    for seed in SEEDS {
        assert_eq!(words_under(seed, 32, body).unwrap(), expected);
    }
}

#[test]
fn shuffles_and_votes() {
    let lanes = |f: fn(u32) -> u32| (0..32).map(f).collect::<Vec<_>>();
    let rows: [(&str, Vec<u32>); 8] = [
        (
            "shfl.sync.up.b32 %r1, %r0, 1, 0, -1;",
            lanes(|l| l.saturating_sub(1)),
        ),
        (
            "shfl.sync.down.b32 %r1, %r0, 4, 31, -1;",
            lanes(|l| if l + 4 < 32 { l + 4 } else { l }),
        ),
        (
            "shfl.sync.idx.b32 %r1, %r0, 3, 0x181f, -1;",
            lanes(|l| l / 8 * 8 + 3),
        ),
        (
            "shfl.sync.down.b32 %r2|%p0, %r0, 30, 31, -1; selp.b32 %r1, 1, 0, %p0;",
            lanes(|l| u32::from(l < 2)),
        ),
        (
            "setp.lt.u32 %p0, %r0, 3; vote.sync.ballot.b32 %r1, %p0, -1;",
            lanes(|_| 7),
        ),
        ("redux.sync.add.u32 %r1, %r0, -1;", lanes(|_| 496)),
        (
            "elect.sync %r2|%p0, -1; selp.b32 %r1, 1, 0, %p0;",
            lanes(|l| u32::from(l == 0)),
        ),
        ("mov.u32 %r1, %lanemask_lt;", lanes(|l| (1 << l) - 1)),
    ];
    for (body, expected) in rows {
        assert_eq!(words_of(32, body).unwrap(), expected, "{body}");
    }
}

#[test]
fn barriers_order_shared_memory() {
    // Each thread t of n reads what thread n - 1 - t wrote.
    let body = "
        shl.b32 %r2, %r0, 2;
        mov.u32 %r3, smem;
        add.u32 %r4, %r3, %r2;
        st.shared.b32 [%r4], %r0;
        bar.sync 0;
        sub.u32 %r5, 508, %r2;
        add.u32 %r4, %r3, %r5;
        ld.shared.b32 %r1, [%r4];";
    let expected: Vec<u32> = (0..128).rev().collect();
    for seed in SEEDS {
        assert_eq!(words_under(seed, 128, body).unwrap(), expected);
    }
}

#[test]
fn named_barriers_count_warps() {
    // Warp 0 arrives and warp 1 waits; the other warps have ended.
    let body = "
        mov.u32 %r1, 0;
        setp.gt.u32 %p0, %r0, 63;
        @%p0 bra END;
        setp.gt.u32 %p1, %r0, 31;
        @%p1 bra CONSUMER;
        st.shared.b32 [smem], 77;
        bar.arrive 3, 64;
        bra END;
    CONSUMER:
        bar.sync 3, 64;
        ld.shared.b32 %r1, [smem];
    END:";
    for seed in SEEDS {
        let words = words_under(seed, 128, body).unwrap();
        assert!((0..128).all(|i| words[i] == if (32..64).contains(&i) { 77 } else { 0 }));
    }
}

/// A ring of buffers that warp 0 writes and warp 1 reads, with a full and an empty mbarrier for each.
const RING: &str = "
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [smem], 1;
    mbarrier.init.shared::cta.b64 [smem+8], 1;
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
    mov.u32 %r1, 0;
    mov.u32 %r10, 0;
    and.b32 %r11, %r0, 31;
    setp.ne.u32 %p5, %r11, 0;
    @%p5 bra END;
    setp.eq.u32 %p1, %r0, 32;
    @%p1 bra CONSUME;
PRODUCE:
    not.b32 %r12, %r10;
    and.b32 %r12, %r12, 1;
WAIT_EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [smem+8], %r12;
    @!%p2 bra WAIT_EMPTY;
    st.shared.b32 [smem+16], %r10;
    mbarrier.arrive.shared::cta.b64 _, [smem];
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, 10;
    @%p3 bra PRODUCE;
    bra END;
CONSUME:
    and.b32 %r12, %r10, 1;
WAIT_FULL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], %r12;
    @!%p2 bra WAIT_FULL;
    ld.shared.b32 %r13, [smem+16];
    mad.lo.u32 %r1, %r1, 3, %r13;
    mbarrier.arrive.shared::cta.b64 %d5, [smem+8];
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, 10;
    @%p3 bra CONSUME;
END:";

#[test]
fn mbarriers_make_a_ring() {
    let expected = (0..10).fold(0, |sum, i| 3 * sum + i);
    for seed in SEEDS {
        assert_eq!(words_under(seed, 64, RING).unwrap()[32], expected);
    }
}

/// Each CTA stores its rank in the next CTA's shared memory, and after the cluster barrier reads its own.
const NEIGHBOURS: &str = "
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %cluster_ctarank;
    mov.u32 %r1, %cluster_nctarank;
    add.u32 %r2, %r0, 1;
    rem.u32 %r2, %r2, %r1;
    mov.u32 %r3, smem;
    mapa.shared::cluster.u32 %r4, %r3, %r2;
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    add.u32 %r5, %r0, 10;
    st.shared::cluster.b32 [%r4], %r5;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.b32 %r6, [smem];
    mad.wide.u32 %d0, %r0, 4, %d0;
    st.global.b32 [%d0], %r6;";

fn neighbours(ptx: &str, seed: u64) -> Result<Vec<u32>, EmulatorError> {
    let mut run = Run::threads(1).seed(seed).cluster(4);
    let out = run.words(&[0; 4]);
    run.go(ptx, &[pointer(out)])?;
    Ok(run.read_words(out, 4))
}

#[test]
fn clusters_reach_each_other() {
    for seed in SEEDS {
        let found = neighbours(&module(".param .u64 out", NEIGHBOURS), seed);
        assert_eq!(found.unwrap(), [13, 10, 11, 12]);
    }
}

#[test]
fn a_relaxed_arrival_orders_what_fences_have_released_alone() {
    let launch = |ptx: &str, seed| neighbours(ptx, seed).map(drop);
    let ptx = module(".param .u64 out", NEIGHBOURS);
    let arrive = "barrier.cluster.arrive.aligned;";
    let relaxed = with(&ptx, arrive, "barrier.cluster.arrive.relaxed.aligned;");
    check_flagged(&relaxed, launch, |kind| {
        matches!(
            kind,
            FaultKind::Race { .. } | FaultKind::ExitWithVisitor { .. }
        )
    });
    for (scope, is_fine) in [("cluster", true), ("gpu", true), ("cta", false)] {
        let fence = format!("fence.acq_rel.{scope};\n    barrier.cluster.arrive.relaxed.aligned;");
        let fenced = with(&ptx, arrive, &fence);
        match is_fine {
            true => check_fine(&fenced, launch),
            false => check_flagged(&fenced, launch, |_| true),
        }
    }
}

/// Rank 0 waits until every other CTA has written its word and arrived at rank 0's mbarrier.
const REMOTE: &str = "
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %cluster_ctarank;
    mov.u32 %r2, smem;
    mbarrier.init.shared::cta.b64 [%r2], 2;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra WAIT;
    shl.b32 %r4, %r0, 2;
    add.u32 %r4, %r3, %r4;
    st.shared::cluster.b32 [%r4+8], %r0;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
    bra END;
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r2], 0;
    @!%p1 bra WAIT;
    ld.shared.b32 %r5, [%r2+16];
    ld.shared.b32 %r7, [%r2+12];
    st.global.v2.b32 [%d0], {%r7, %r5};
END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;";

#[test]
fn arrivals_from_other_ctas() {
    for seed in SEEDS {
        let go = |body: &str| {
            let mut run = Run::threads(1).seed(seed).cluster(3);
            let out = run.words(&[0; 2]);
            let result = run.go(&module(".param .u64 out", body), &[pointer(out)]);
            result.map(|_| run.read_words(out, 2))
        };
        assert_eq!(go(REMOTE).unwrap(), [1, 2]);
        // A release to the own CTA tells another one nothing.
        let narrow = go(&REMOTE.replace("arrive.release.cluster", "arrive.release.cta"));
        assert!(matches!(fault(narrow).0, FaultKind::Race { .. }));
        // Without the fence, other CTAs must not use the mbarrier.
        let unfenced = go(&REMOTE.replace("fence.mbarrier_init.release.cluster;", ""));
        assert!(matches!(fault(unfenced).0, FaultKind::Barrier { .. }));
    }
}

#[test]
fn registers_move_between_warpgroups() {
    // 384 threads start with 168 registers each. For 240, two warpgroups need all that the third releases by going down
    // to 24.
    let body = |small: u32| {
        format!(
            "
        setp.gt.u32 %p0, %r0, 127;
        @%p0 bra LARGE;
        setmaxnreg.dec.sync.aligned.u32 {small};
        bra END;
    LARGE:
        setmaxnreg.inc.sync.aligned.u32 240;
    END:
        mov.u32 %r1, 1;"
        )
    };
    for seed in SEEDS {
        assert_eq!(words_under(seed, 384, &body(24)).unwrap(), vec![1; 384]);
        match words_under(seed, 384, &body(32)) {
            Err(EmulatorError::Deadlock { threads, .. }) => {
                assert!(
                    threads[0].waits_for.contains("2304 registers"),
                    "{}",
                    threads[0]
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn matrices_load_and_store() {
    // Transposed by the store and by the load, the matrix stays the same. A lane's fragment has row lane/4 and columns
    // 2·(lane%4) and 2·(lane%4) + 1.
    let body = "
        mov.u32 %r3, smem;
        shl.b32 %r4, %r0, 4;
        add.u32 %r5, %r3, %r4;
        shl.b32 %r6, %r0, 1;
        add.u32 %r7, %r6, 1;
        shl.b32 %r7, %r7, 16;
        or.b32 %r8, %r6, %r7;
        stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r8};
        bar.warp.sync -1;
        ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r5];";
    let words = words_of(32, body).unwrap();
    for (lane, word) in words.iter().enumerate() {
        let (row, column) = (lane as u32 / 4, lane as u32 % 4 * 2);
        // Element (r, c) is 8r + c.
        let element = |r: u32, c: u32| 8 * r + c;
        assert_eq!(*word, element(column, row) | element(column + 1, row) << 16);
    }
}

/// `setmaxnreg` in a kernel of two warpgroups, of which the second gives registers to the first.
const REGISTERS: &str = "
    mov.u32 %r0, %tid.x;
    setp.gt.u32 %p0, %r0, 127;
    setp.gt.u32 %p1, %r0, 31;
    @%p0 bra SMALL;
    setmaxnreg.inc.sync.aligned.u32 256;
    bar.sync 1, 128;
    setmaxnreg.dec.sync.aligned.u32 248;
    bra END;
    SMALL:
    setmaxnreg.dec.sync.aligned.u32 40;
    END:
    add.u32 %r1, %r0, 1;";

#[test]
fn all_warps_of_a_warpgroup_set_their_registers() {
    let ptx = module("", REGISTERS);
    let is_other = |kind: &FaultKind| matches!(kind, FaultKind::OtherRegisters(_));
    check_fine(&ptx, threads(256));
    for (instruction, others) in [
        (
            "setmaxnreg.inc.sync.aligned.u32 256;",
            "setp.lt.u32 %p2, %r0, 96;",
        ),
        (
            "setmaxnreg.dec.sync.aligned.u32 248;",
            "setp.lt.u32 %p2, %r0, 32;",
        ),
        (
            "setmaxnreg.dec.sync.aligned.u32 40;",
            "setp.gt.u32 %p2, %r0, 159;",
        ),
    ] {
        // Three warps of four, or one.
        let some = with(&ptx, instruction, &format!("@%p2 {instruction}"));
        let some = with(&some, "setp.gt.u32 %p1, %r0, 31;", others);
        check_flagged(&some, threads(256), is_other);
        // A warp has one of its own.
        let own = format!("@%p2 bra OWN;\n{instruction}\nbra BOTH;\nOWN:\n{instruction}\nBOTH:");
        let own = with(&ptx, instruction, &own);
        let own = with(&own, "setp.gt.u32 %p1, %r0, 31;", others);
        check_flagged(&own, threads(256), is_other);
    }
    check_flagged(&with(&ptx, "bar.sync 1, 128;", ""), threads(256), is_other);
}

/// A warp that has 255 registers a thread has 256 of the file.
#[test]
fn registers_are_taken_in_units() {
    let ptx = |count: u32| {
        let body = format!("setmaxnreg.inc.sync.aligned.u32 {count};\nmov.u32 %r1, 1;");
        move |threads| words_under(0, threads, &body)
    };
    for threads in [128, 256] {
        assert_eq!(ptx(256)(threads).unwrap(), vec![1; threads as usize]);
    }
    assert!(matches!(ptx(176)(384), Err(EmulatorError::Deadlock { .. })));
}

/// What rank 0 does in the shared memory of rank 1, and whether that needs an mbarrier there.
const REMOTE_USES: [(&str, bool); 7] = [
    ("st.shared::cluster.b32 [%r4+64], %r0;", false),
    ("st.b32 [%d2+64], %r0;", false),
    ("ld.shared::cluster.b32 %r5, [%r4+64];", false),
    ("atom.shared::cluster.add.u32 %r5, [%r4+64], 1;", false),
    (
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];",
        true,
    ),
    (
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4+64], %r0, [%r4];",
        true,
    ),
    (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3+64], [%d0], 16, [%r3], %h1;",
        true,
    ),
];

#[test]
fn a_cluster_has_started_before_a_cta_uses_another_one() {
    for (instruction, by_mbarrier) in REMOTE_USES {
        let body = format!(
            "ld.param.u64 %d0, [out];
             mov.u32 %r0, %cluster_ctarank;
             mov.u32 %r3, smem;
             mov.u16 %h1, 2;
             mapa.shared::cluster.u32 %r4, %r3, 1;
             cvta.shared.u64 %d1, %r3;
             mov.u64 %d1, smem;
             cvta.shared.u64 %d1, %d1;
             mapa.u64 %d2, %d1, 1;
             setp.eq.u32 %p0, %r0, 0;
             mbarrier.init.shared::cta.b64 [%r3], 1;
             fence.mbarrier_init.release.cluster;
             st.shared.b32 [%r3+64], 0;
             barrier.cluster.arrive.aligned;
             barrier.cluster.wait.aligned;
             @%p0 {instruction}
             barrier.cluster.arrive.aligned;
             barrier.cluster.wait.aligned;"
        );
        let body = body.replace("cvta.shared.u64 %d1, %r3;", "");
        let launch = |ptx: &str, seed| {
            let mut run = Run::threads(1).seed(seed).cluster(2);
            let out = run.words(&[0; 4]);
            run.go(ptx, &[pointer(out)]).map(drop)
        };
        let ptx = module(".param .u64 out", &body);
        let barrier = "barrier.cluster.arrive.aligned;\n             barrier.cluster.wait.aligned;\n             @%p0";
        let without = with(&ptx, barrier, "@%p0");
        if !instruction.contains("bulk") && !instruction.contains("async") {
            check_fine(&ptx, launch);
        }
        check_flagged(&without, launch, |kind| match by_mbarrier {
            // Rank 1 may not have initialised it, either.
            true => matches!(
                kind,
                FaultKind::NotStarted { .. } | FaultKind::NoBarrier { .. }
            ),
            false => matches!(kind, FaultKind::NotStarted { .. }),
        });
        // A relaxed barrier tells that the other CTA has started, and nothing of what it has done.
        if instruction.starts_with("st.shared") {
            let relaxed = with(&ptx, "st.shared.b32 [%r3+64], 0;", "");
            let relaxed = with(
                &relaxed,
                barrier,
                &barrier.replace("arrive", "arrive.relaxed"),
            );
            check_fine(&relaxed, launch);
        }
    }
}
