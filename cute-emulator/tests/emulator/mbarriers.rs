//! mbarriers are objects: each misuse is refused under every schedule, and its repaired twin under none.

use super::events::{check_fine, check_flagged, threads, with};
use super::{Run, module, pointer};
use cute_emulator::{EmulatorError, FaultKind};

/// A kernel whose faulty line is marked, the line that repairs it, and how the message begins or goes on.
type Misuse = (&'static str, &'static str, &'static str, &'static str);

/// The threads initialise an mbarrier; then, the first line of each row or, to repair it, the second.
const MISUSES: &[Misuse] = &[
    (
        "initialised twice",
        "@!%p0 mbarrier.init.shared::cta.b64 [%r2], 1;",
        "@!%p0 mbarrier.inval.shared::cta.b64 [%r2]; @!%p0 mbarrier.init.shared::cta.b64 [%r2], 1;",
        "initialised a second time",
    ),
    (
        "initialised by many threads",
        "mbarrier.init.shared::cta.b64 [%r2+8], 1;",
        "@!%p0 mbarrier.init.shared::cta.b64 [%r2+8], 1;",
        "initialised a second time",
    ),
    (
        "overwritten",
        "@!%p0 st.shared.b32 [%r2+4], 0;",
        "@!%p0 st.shared.b32 [%r2+8], 0;",
        "as data",
    ),
    (
        "overwritten by an atomic",
        "@!%p0 red.shared.add.u32 [%r2], 1;",
        "@!%p0 st.shared.b32 [%r2+8], 0; @!%p0 red.shared.add.u32 [%r2+8], 1;",
        "as data",
    ),
    (
        "read as data",
        "ld.shared.b64 %d1, [%r2];",
        "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r2], 1;",
        "as data",
    ),
    (
        "read as volatile data",
        "ld.volatile.shared.b64 %d1, [%r2];",
        "",
        "as data",
    ),
    (
        "a count of no threads",
        "mov.u32 %r3, 0; @!%p0 mbarrier.init.shared::cta.b64 [%r2+8], %r3;",
        "@!%p0 mbarrier.init.shared::cta.b64 [%r2+8], 1;",
        "the count 0 is not in 1 to 1048575",
    ),
    (
        "a count of too many threads",
        "mov.u32 %r3, 1048576; @!%p0 mbarrier.init.shared::cta.b64 [%r2+8], %r3;",
        "mov.u32 %r3, 1048575; @!%p0 mbarrier.init.shared::cta.b64 [%r2+8], %r3;",
        "the count 1048576 is not in 1 to 1048575",
    ),
    (
        "an arrival of no threads",
        "mov.u32 %r3, 0; @!%p0 mbarrier.arrive.shared::cta.b64 %d1, [%r2], %r3;",
        "@!%p0 mbarrier.arrive.shared::cta.b64 %d1, [%r2], 1;",
        "0 threads arrive",
    ),
    (
        "an arrival of more threads than are pending",
        "@!%p0 mbarrier.arrive.shared::cta.b64 %d1, [%r2], 65;",
        "@!%p0 mbarrier.arrive.shared::cta.b64 %d1, [%r2], 64;",
        "65 threads arrive, but the pending count of phase 0 is 64",
    ),
    (
        "too many threads drop out",
        "@!%p0 mbarrier.arrive_drop.shared::cta.b64 %d1, [%r2], 65;",
        "@!%p0 mbarrier.arrive_drop.shared::cta.b64 %d1, [%r2], 64;",
        "65 threads drop out, but the expected count is 64",
    ),
    (
        "more bytes than the transaction count holds",
        "mov.u32 %r3, 1048576; @!%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], %r3;",
        "@!%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 1048575; @!%p0 mbarrier.complete_tx.shared::cta.b64 [%r2], 1048575;",
        "the transaction count becomes 1048576",
    ),
    (
        "a phase of two warps, of which each arrives as if it were alone",
        "@!%p0 mbarrier.init.shared::cta.b64 [%r2+8], 32; bar.sync 0; mbarrier.arrive.shared::cta.b64 %d1, [%r2+8];",
        "@!%p0 mbarrier.init.shared::cta.b64 [%r2+8], 64; bar.sync 0; mbarrier.arrive.shared::cta.b64 %d1, [%r2+8];",
        "phase 0 is complete, but not in the order of events before this arrival in phase 1",
    ),
    (
        "used after it was invalidated",
        "@!%p0 mbarrier.inval.shared::cta.b64 [%r2]; bar.sync 0; mbarrier.arrive.shared::cta.b64 %d1, [%r2];",
        "mbarrier.arrive.shared::cta.b64 %d1, [%r2];",
        "no mbarrier has been initialised",
    ),
];

#[test]
fn misuses_are_refused() {
    let kernel = |line: &str| {
        let body = format!(
            "mov.u32 %r0, %tid.x;\nmov.u32 %r2, smem;\nsetp.ne.u32 %p0, %r0, 0;\n\
             @!%p0 mbarrier.init.shared::cta.b64 [%r2], 64;\nbar.sync 0;\n{line}"
        );
        module("", &body)
    };
    for (name, faulty, repaired, message) in MISUSES {
        check_fine(&kernel(repaired), threads(64));
        check_flagged(&kernel(faulty), threads(64), |kind| {
            let text = kind.to_string();
            assert!(text.contains(message), "{name}: {text}");
            true
        });
    }
}

/// Thread 0 of CTA 0 multicasts to both CTAs of a cluster, and each CTA waits.
const MULTICAST: &str = "
    ld.param.u64 %d0, [data];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, smem;
    mov.u16 %h0, 3;
    setp.ne.u32 %p0, %r0, 0;
    setp.ne.u32 %p1, %r1, 0;
    mbarrier.init.shared::cta.b64 [%r2+1024], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 512;
    @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%d0], 512, [%r2+1024], %h0;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1024], 0;
    @!%p2 bra WAIT;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;";

fn pair(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let mut run = Run::threads(1).seed(seed).cluster(2);
    let data = run.words(&[5; 128]);
    run.go(ptx, &[pointer(data)]).map(drop)
}

#[test]
fn a_multicast_goes_to_mbarriers_that_expect_it() {
    let ptx = module(".param .u64 data", MULTICAST);
    check_fine(&ptx, pair);
    let expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 512;\n";
    let wait = "WAIT:\n    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1024], 0;\n    @!%p2 bra WAIT;";
    // CTA 1 neither expects the bytes nor waits for them.
    let nothing = with(&ptx, expect, &format!("@!%p1 {expect}    @%p1 bra DONE;\n"));
    let nothing = with(&nothing, wait, &format!("{wait}\nDONE:"));
    check_flagged(&nothing, pair, |kind| {
        kind.to_string()
            .contains("512 bytes have arrived that it does not expect")
            || matches!(kind, FaultKind::ExitWithCopy { .. })
    });
    // The mask has a CTA that the cluster has not.
    check_flagged(
        &with(&ptx, "mov.u16 %h0, 3;", "mov.u16 %h0, 7;"),
        pair,
        |kind| {
            kind.to_string()
                .contains("the multicast mask contains CTA rank 2")
        },
    );
    // The mbarrier of CTA 1 is elsewhere.
    let elsewhere = with(
        &ptx,
        "    mbarrier.init.shared::cta.b64 [%r2+1024], 1;",
        "    @!%p1 mbarrier.init.shared::cta.b64 [%r2+1024], 1;\n    @%p1 mbarrier.init.shared::cta.b64 [%r2+1032], 1;",
    );
    check_flagged(&elsewhere, pair, |kind| {
        matches!(kind, FaultKind::NoBarrier { .. })
    });
}

/// A wait of `.cta` scope orders what threads of the CTA have done, and the copies that they have started.
#[test]
fn the_scope_of_a_wait_reaches_the_cta_that_copies() {
    let ptx = module(".param .u64 data", MULTICAST);
    let read = "@!%p2 bra WAIT;\nld.shared.u32 %r4, [%r2];";
    let ptx = with(&ptx, "@!%p2 bra WAIT;", read);
    let of_scope = |ptx: &str, scope: &str| {
        with(
            ptx,
            "try_wait.parity",
            &format!("try_wait.parity.acquire.{scope}"),
        )
    };
    check_fine(&of_scope(&ptx, "cluster"), pair);
    check_flagged(&of_scope(&ptx, "cta"), pair, |kind| {
        matches!(kind, FaultKind::CopyInFlight { .. })
    });
    // Each CTA copies for itself.
    let own = "add.u32 %r5, %r1, 1;\ncvt.u16.u32 %h0, %r5;";
    let own = with(&with(&ptx, "mov.u16 %h0, 3;", own), "@!%p1 cp", "cp");
    check_fine(&of_scope(&own, "cta"), pair);
}

/// More bytes arrive than are expected: the phase never completes.
#[test]
fn bytes_that_nobody_expects_are_told() {
    let ptx = module(".param .u64 data", MULTICAST);
    let short = with(&ptx, "[%r2+1024], 512;\n", "[%r2+1024], 256;\n");
    for seed in super::events::SCHEDULES {
        let error = pair(&short, seed).unwrap_err().to_string();
        assert!(
            error.contains("256 bytes have arrived that it does not expect"),
            "seed {seed}: {error}"
        );
    }
}

/// A CTA writes the shared memory of another one, which waits for it.
const REMOTE: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, smem;
    setp.ne.u32 %p0, %r0, 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2+1024], 1;
    fence.mbarrier_init.release.cluster;
    READY:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    @%p0 bra END;
    @!%p1 bra WAIT;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    st.shared::cluster.u32 [%r3], 7;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3+1024];
    bra END;
    WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2+1024], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r4, [%r2];
    END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;";

#[test]
fn the_scope_of_a_wait_reaches_the_cta_that_arrives() {
    let launch = |ptx: &str, seed| {
        let mut run = Run::threads(32).cluster(2).seed(seed);
        run.go(ptx, &[]).map(drop)
    };
    let ptx = module("", REMOTE);
    check_fine(&ptx, launch);
    let narrow = with(&ptx, ".acquire.cluster", ".acquire.cta");
    check_flagged(&narrow, launch, |kind| {
        matches!(kind, FaultKind::Race { .. })
    });
}

/// Warp 1 reads what warp 0 has written, after an arrival of one and a wait of the other.
const ORDERS: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    READY:
    bar.sync 0;
    setp.gt.u32 %p1, %r0, 31;
    @%p1 bra READ;
    @%p0 bra END;
    st.shared.b32 [%r2+64], 5;
    BEFORE
    mbarrier.arrive.release.cta.shared::cta.b64 _, [%r2];
    bra END;
    READ:
    mbarrier.WAIT.parity.acquire.cta.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra READ;
    AFTER
    ld.shared.b32 %r3, [%r2+64];
    END:
    add.u32 %r4, %r0, 1;";

#[test]
fn relaxed_waits_and_arrivals_order_no_data() {
    for wait in ["try_wait", "test_wait"] {
        let with_fences = |before: &str, after: &str| {
            let body = ORDERS.replace("BEFORE", before).replace("AFTER", after);
            module("", &body.replace("WAIT", wait))
        };
        let relaxed_arrival = |ptx: &str| with(ptx, ".release.cta", ".relaxed.cta");
        let relaxed_wait = |ptx: &str| with(ptx, ".acquire.cta", ".relaxed.cta");
        let is_race = |kind: &FaultKind| {
            matches!(
                kind,
                FaultKind::Race { .. } | FaultKind::Uninitialised { .. }
            )
        };
        let ptx = with_fences("", "");
        check_fine(&ptx, threads(64));
        check_flagged(&relaxed_arrival(&ptx), threads(64), is_race);
        check_flagged(&relaxed_wait(&ptx), threads(64), is_race);
        check_flagged(&relaxed_wait(&relaxed_arrival(&ptx)), threads(64), is_race);
        // "A fence, and a later relaxed write" releases, and "a relaxed read, and a later fence" acquires.
        for fence in ["fence.acq_rel.cta;", "fence.sc.gpu;", "membar.cta;"] {
            check_fine(&relaxed_arrival(&with_fences(fence, "")), threads(64));
            check_fine(&relaxed_wait(&with_fences("", fence)), threads(64));
            check_fine(
                &relaxed_wait(&relaxed_arrival(&with_fences(fence, fence))),
                threads(64),
            );
            check_flagged(&relaxed_wait(&with_fences(fence, "")), threads(64), is_race);
            check_flagged(
                &relaxed_arrival(&with_fences("", fence)),
                threads(64),
                is_race,
            );
        }
    }
}

/// A thread waits for bytes that a copy has brought.
#[test]
fn a_relaxed_wait_is_none_for_the_bytes_of_a_copy() {
    let body = "
        mov.u32 %r2, smem;
        ld.param.u64 %d0, [x];
        mbarrier.init.shared::cta.b64 [%r2], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%d0], 16, [%r2];
        READ:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r2], 0;
        @!%p2 bra READ;
        AFTER
        ld.shared.b32 %r3, [%r2+64];
        st.global.b32 [%d0], %r3;
        ACQUIRE:
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0;
        @!%p2 bra ACQUIRE;";
    let launch = |ptx: &str, seed| {
        let mut run = Run::threads(1).seed(seed);
        let x = run.words(&[0; 4]);
        run.go(ptx, &[pointer(x)]).map(drop)
    };
    let ptx = |fence: &str| module(".param .u64 x", &body.replace("AFTER", fence));
    check_fine(&ptx(""), launch);
    let relaxed = |fence| with(&ptx(fence), ".acquire.cta", ".relaxed.cta");
    check_flagged(&relaxed(""), launch, |kind| {
        matches!(
            kind,
            FaultKind::CopyInFlight { .. } | FaultKind::GlobalSourceInFlight { .. }
        )
    });
    check_fine(&relaxed("fence.acq_rel.cta;"), launch);
}

/// Two threads take turns by two mbarriers, and write nothing: that a phase is complete is known after relaxed waits, too.
#[test]
fn relaxed_waits_tell_that_a_phase_is_complete() {
    let body = "
        mov.u32 %r0, %tid.x;
        mov.u32 %r2, smem;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%r2], 1;
        mbarrier.init.shared::cta.b64 [%r2+8], 1;
        fence.mbarrier_init.release.cluster;
        READY:
        bar.sync 0;
        and.b32 %r5, %r0, 31;
        setp.ne.u32 %p1, %r5, 0;
        @%p1 bra END;
        setp.gt.u32 %p1, %r0, 31;
        mov.u32 %r6, 0;
        @%p1 bra OTHER;
        ONE:
        mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r2];
        WAIT:
        mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [%r2+8], %r6;
        @!%p2 bra WAIT;
        xor.b32 %r6, %r6, 1;
        add.u32 %r7, %r7, 1;
        setp.lt.u32 %p3, %r7, 5;
        @%p3 bra ONE;
        bra END;
        OTHER:
        mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [%r2], %r6;
        @!%p2 bra OTHER;
        mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r2+8];
        xor.b32 %r6, %r6, 1;
        add.u32 %r7, %r7, 1;
        setp.lt.u32 %p3, %r7, 5;
        @%p3 bra OTHER;
        END:
        add.u32 %r4, %r0, 1;";
    let ptx = module(
        "",
        &body.replace("mov.u32 %r6, 0;", "mov.u32 %r6, 0;\nmov.u32 %r7, 0;"),
    );
    check_fine(&ptx, threads(64));
}

/// A barrier of the CTA orders the initialisation of an mbarrier, and no fence does.
#[test]
fn the_fence_of_an_initialisation_may_be_left_to_the_cta() {
    let body = "
        mov.u32 %r0, %tid.x;
        mov.u32 %r2, smem;
        ld.param.u64 %d0, [x];
        setp.ne.u32 %p0, %r0, 0;
        setp.ne.u32 %p1, %r0, 32;
        @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%r2], 1;
        FENCE
        READY:
        bar.sync 0;
        @%p1 bra WAIT;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%d0], 16, [%r2];
        WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
        @!%p2 bra WAIT;";
    let launch = |strict: bool| {
        move |ptx: &str, seed: u64| {
            let mut run = Run::threads(64).seed(seed);
            run.launch.checks.strict = strict;
            let x = run.words(&[0; 4]);
            run.go(ptx, &[pointer(x)]).map(drop)
        }
    };
    let ptx = |fence: &str| module(".param .u64 x", &body.replace("FENCE", fence));
    let announced = |kind: &FaultKind| matches!(kind, FaultKind::Barrier { problem, .. } if problem.contains("fence.mbarrier_init"));
    for strict in [true, false] {
        check_fine(&ptx("fence.mbarrier_init.release.cluster;"), launch(strict));
        check_fine(&ptx("fence.proxy.async.shared::cta;"), launch(strict));
    }
    check_flagged(&ptx(""), launch(true), announced);
    check_fine(&ptx(""), launch(false));
    // Without the barrier of the CTA, nothing orders them.
    let unordered = with(&ptx(""), "bar.sync 0;", "");
    check_flagged(&unordered, launch(false), |kind| {
        matches!(kind, FaultKind::Race { .. } | FaultKind::NoBarrier { .. })
    });
}
