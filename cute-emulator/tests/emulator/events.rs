//! Asynchronous reads and the end of a CTA in the order of events: each faulty kernel is refused under every schedule, and its
//! repaired twin under none.

use super::{Run, fault, module, pipeline, pointer};
use cute_emulator::{EmulatorError, FaultKind};

/// Four seeds of each policy.
pub(crate) const SCHEDULES: std::ops::Range<u64> = 0..20;

/// Every schedule lets the kernel run to its end.
pub(crate) fn check_fine(ptx: &str, launch: impl Fn(&str, u64) -> Result<(), EmulatorError>) {
    for seed in SCHEDULES {
        launch(ptx, seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// Every schedule finds a fault of this kind.
pub(crate) fn check_flagged(
    ptx: &str,
    launch: impl Fn(&str, u64) -> Result<(), EmulatorError>,
    kind: impl Fn(&FaultKind) -> bool,
) {
    for seed in SCHEDULES {
        let (found, text) = fault(launch(ptx, seed));
        assert!(kind(&found), "seed {seed}: {found}\n{text}");
    }
}

/// The text with a part replaced, which must be there once.
pub(crate) fn with(text: &str, part: &str, by: &str) -> String {
    assert_eq!(text.matches(part).count(), 1, "{part} in\n{text}");
    text.replace(part, by)
}

/// A stage of a ring is released to the producer after the wgmma that reads it.
#[test]
fn a_stage_is_released_after_the_last_wait() {
    let ptx = pipeline::kernel();
    check_fine(&ptx, pipeline::launch);
    let (wait, arrive) = (
        "wgmma.wait_group.sync.aligned 0;",
        "@%p5 mbarrier.arrive.shared::cta.b64 _, [%r6+40976];",
    );
    let without = with(&with(&ptx, wait, ""), arrive, "");
    let early = with(
        &without,
        "wgmma.commit_group.sync.aligned;",
        &format!("wgmma.commit_group.sync.aligned;\nsetp.eq.u32 %p5, %r0, 0;\n{arrive}\n{wait}"),
    );
    let pending = with(&ptx, wait, "wgmma.wait_group.sync.aligned 1;");
    for faulty in [early, pending] {
        check_flagged(&faulty, pipeline::launch, |kind| {
            matches!(
                kind,
                FaultKind::WgmmaInFlight { .. } | FaultKind::RegisterInFlight { .. }
            )
        });
    }
}

/// A warpgroup multiplies two tiles that its threads have written, and writes B again.
const OVERWRITE: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    mad.lo.u32 %r3, %r0, 16, %r2;
    st.shared.v2.b64 [%r3], {0, 0};
    st.shared.v2.b64 [%r3+2048], {0, 0};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shr.u32 %r4, %r2, 4;
    cvt.u64.u32 %d0, %r4;
    or.b64 %d0, %d0, DESCRIPTOR;
    add.u64 %d1, %d0, 128;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d0, %d1, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    bar.sync 0;
    st.shared.v2.b64 [%r3+2048], {1, 1};";

/// Launches a kernel without parameters.
pub(crate) fn threads(count: u32) -> impl Fn(&str, u64) -> Result<(), EmulatorError> {
    move |ptx, seed| Run::threads(count).seed(seed).go(ptx, &[]).map(drop)
}

#[test]
fn b_is_written_after_the_wait() {
    // Core matrices of 128 bytes, next to one another along K, and 256 bytes apart along M and N.
    let descriptor: u64 = (128 >> 4) << 16 | (256 >> 4) << 32;
    let ptx = module(
        "",
        &OVERWRITE.replace("DESCRIPTOR", &descriptor.to_string()),
    );
    check_fine(&ptx, threads(128));
    let wait = "    wgmma.wait_group.sync.aligned 0;\n";
    let late = with(&ptx, wait, "") + "";
    let late = with(
        &late,
        "st.shared.v2.b64 [%r3+2048], {1, 1};",
        "st.shared.v2.b64 [%r3+2048], {1, 1};\nwgmma.wait_group.sync.aligned 0;",
    );
    let is_wgmma = |kind: &FaultKind| matches!(kind, FaultKind::WgmmaInFlight { .. });
    check_flagged(&late, threads(128), is_wgmma);
    // Without a barrier after its own wait, a warp does not know that the others' wgmma has ended; each has waited for the
    // instruction of the whole warpgroup, though.
    let volatile = with(
        &late,
        "st.shared.v2.b64 [%r3+2048], {1, 1};",
        "st.volatile.shared.v2.b64 [%r3+2048], {1, 1};",
    );
    check_flagged(&volatile, threads(128), is_wgmma);
    // The CTA ends before the wait.
    let end = with(&ptx, wait, "");
    let end = with(
        &end,
        "bar.sync 0;\n    st.shared.v2.b64 [%r3+2048], {1, 1};",
        "",
    );
    check_flagged(&end, threads(128), |kind| {
        matches!(kind, FaultKind::ExitWithWgmma { .. })
    });
}

/// Thread 0 stores shared memory to `out`; then thread 32 writes it.
const STORE: &str = "
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    mad.lo.u32 %r3, %r0, 4, %r2;
    st.shared.b32 [%r3], %r0;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra STORED;
    cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r2], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
STORED:
    bar.sync 0;
    setp.ne.u32 %p1, %r0, 32;
    @%p1 bra END;
    st.shared.b32 [%r2], 7;
END:";

fn store(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let mut run = Run::threads(64).seed(seed);
    let out = run.words(&[0; 64]);
    run.go(ptx, &[pointer(out)])?;
    assert_eq!(run.read_words(out, 64), (0..64).collect::<Vec<u32>>());
    Ok(())
}

#[test]
fn the_source_of_a_store_is_written_after_the_wait() {
    let ptx = module(".param .u64 out", STORE);
    check_fine(&ptx, store);
    let wait = "    cp.async.bulk.wait_group.read 0;\n";
    let is_store = |kind: &FaultKind| matches!(kind, FaultKind::StoreInFlight { .. });
    let late = with(&ptx, wait, "");
    let late = with(
        &late,
        "END:",
        "@!%p0 cp.async.bulk.wait_group.read 0;\nEND:",
    );
    check_flagged(&late, store, is_store);
    // A wait of another thread waits for nothing.
    let other = with(&ptx, wait, "");
    let other = with(
        &other,
        "STORED:\n",
        "STORED:\ncp.async.bulk.wait_group.read 0;\n",
    );
    let other = with(&other, "@%p0 bra STORED;", "");
    let other = with(&other, "cp.async.bulk.global", "@!%p0 cp.async.bulk.global");
    let other = with(&other, "STORED:\ncp.async", "STORED:\n@%p0 cp.async");
    check_flagged(&other, store, is_store);
    // The wait is in order, but the barrier after it is missing.
    let unordered = with(&ptx, "STORED:\n    bar.sync 0;", "STORED:");
    check_flagged(&unordered, store, |kind| {
        matches!(
            kind,
            FaultKind::StoreInFlight { .. } | FaultKind::Race { .. }
        )
    });
    let end = with(&ptx, wait, "");
    let end = with(&end, "    st.shared.b32 [%r2], 7;\n", "");
    check_flagged(&end, store, |kind| {
        matches!(kind, FaultKind::ExitWithStore { .. })
    });
}

/// In each of two CTAs, warp 0 reads three times 512 bytes, which thread 32 of CTA 0 multicasts when both have read.
const MULTICAST: &str = "
    ld.param.u64 %d0, [data];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, smem;
    mov.u32 %r3, 0;
    mapa.shared::cluster.u32 %r5, %r2, 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2+1024], 1;
    mbarrier.init.shared::cta.b64 [%r2+1032], 2;
    fence.mbarrier_init.release.cluster;
READY:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    setp.gt.u32 %p1, %r0, 31;
    @%p1 bra PRODUCER;
CONSUMER:
    and.b32 %r4, %r3, 1;
    @!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 512;
FULL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1024], %r4;
    @!%p2 bra FULL;
    mad.lo.u32 %r6, %r0, 16, %r2;
    ld.shared.v4.b32 {%r7, %r8, %r9, %r10}, [%r6];
    bar.warp.sync -1;
    @!%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5+1032];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p3, %r3, 3;
    @%p3 bra CONSUMER;
    bra END;
PRODUCER:
    setp.ne.u32 %p4, %r0, 32;
    setp.ne.u32 %p5, %r1, 0;
    or.pred %p4, %p4, %p5;
    @%p4 bra END;
PRODUCE:
    and.b32 %r4, %r3, 1;
    xor.b32 %r4, %r4, 1;
EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1032], %r4;
    @!%p2 bra EMPTY;
    mov.u16 %h0, 3;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%d0], 512, [%r2+1024], %h0;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p3, %r3, 3;
    @%p3 bra PRODUCE;
END:
    barrier.cluster.arrive;
    barrier.cluster.wait;";

fn pair(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let mut run = Run::threads(64).seed(seed).cluster(2);
    let data = run.words(&[5; 128]);
    run.go(ptx, &[pointer(data)]).map(drop)
}

#[test]
fn a_multicast_follows_the_reads_in_every_cta() {
    let ptx = module(".param .u64 data", MULTICAST);
    check_fine(&ptx, pair);
    let own = with(&ptx, "[%r5+1032]", "[%r2+1032]");
    let own = with(&own, "[%r2+1032], 2;", "[%r2+1032], 1;");
    check_flagged(&own, pair, |kind| {
        matches!(
            kind,
            FaultKind::Race { .. } | FaultKind::CopyInFlight { .. } | FaultKind::Barrier { .. }
        )
    });
    // The cluster ends without a barrier of its CTAs.
    let end = "END:\n    barrier.cluster.arrive;\n    barrier.cluster.wait;";
    let alone = with(&ptx, end, "END:");
    check_flagged(&alone, pair, |kind| {
        matches!(
            kind,
            FaultKind::ExitWithVisitor { .. }
                | FaultKind::Ended { .. }
                | FaultKind::ExitWithCopy { .. }
        )
    });
}

/// CTA 0 copies shared memory to CTA 1, waits there, and writes the source.
const EXCHANGE: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, smem;
    mapa.shared::cluster.u32 %r5, %r2, 1;
    setp.ne.u32 %p1, %r1, 0;
    st.shared.v4.b32 [%r2], {1, 2, 3, 4};
    mbarrier.init.shared::cta.b64 [%r2+1024], 1;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async.shared::cta;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    @%p1 bra RECEIVE;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+512], [%r2], 16, [%r5+1024];
    bra DONE;
RECEIVE:
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 16;
FULL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1024], 0;
    @!%p2 bra FULL;
    ld.shared.b32 %r3, [%r2+512];
DONE:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    @!%p1 st.shared.b32 [%r2], 9;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;";

#[test]
fn the_source_of_a_copy_to_another_cta_is_written_after_its_arrival() {
    let single = |ptx: &str, seed| {
        let mut run = Run::threads(1).seed(seed).cluster(2);
        run.go(ptx, &[]).map(drop)
    };
    let ptx = module("", EXCHANGE);
    check_fine(&ptx, single);
    let barrier = "DONE:\n    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;";
    check_flagged(&with(&ptx, barrier, "DONE:"), single, |kind| {
        matches!(kind, FaultKind::SourceInFlight { .. })
    });
}

/// A CTA that nobody waits in for its copy ends too early, even if the copy happens to be complete.
#[test]
fn a_copy_arrives_before_the_end() {
    let body = "
        ld.param.u64 %d0, [data];
        mov.u32 %r2, smem;
        mbarrier.init.shared::cta.b64 [%r2+1024], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 512;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 512, [%r2+1024];
    WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r2+1024], 0;
        @!%p0 bra WAIT;";
    let copy = |ptx: &str, seed| {
        let mut run = Run::threads(1).seed(seed);
        let data = run.words(&[5; 128]);
        run.go(ptx, &[pointer(data)]).map(drop)
    };
    let ptx = module(".param .u64 data", body);
    check_fine(&ptx, copy);
    let loop_ = "WAIT:\n        mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r2+1024], 0;\n        @!%p0 bra WAIT;";
    check_flagged(&with(&ptx, loop_, ""), copy, |kind| {
        matches!(kind, FaultKind::ExitWithCopy { .. })
    });
}

/// Each thread copies a word with `cp.async`, and reads that of a thread of the other warp.
const CP_ASYNC: &str = "
    ld.param.u64 %d0, [data];
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    setp.ne.u32 %p0, %r0, 0;
    @!%p0 mbarrier.init.shared::cta.b64 [%r2+1024], 64;
    bar.sync 0;
    mad.lo.u32 %r3, %r0, 4, %r2;
    mad.wide.u32 %d1, %r0, 4, %d0;
    cp.async.ca.shared.global [%r3], [%d1], 4;
    ARRIVE
    xor.b32 %r4, %r0, 32;
    mad.lo.u32 %r4, %r4, 4, %r2;
    ld.shared.b32 %r5, [%r4];";

#[test]
fn copies_of_threads_are_waited_for() {
    let load = |ptx: &str, seed| {
        let mut run = Run::threads(64).seed(seed);
        let data = run.words(&[5; 64]);
        run.go(ptx, &[pointer(data)]).map(drop)
    };
    let kernel = |arrive: &str| module(".param .u64 data", &CP_ASYNC.replace("ARRIVE", arrive));
    let group = "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;";
    check_fine(&kernel(group), load);
    let in_flight = |kind: &FaultKind| matches!(kind, FaultKind::CopyInFlight { .. });
    for faulty in [
        "cp.async.commit_group; bar.sync 0;",
        "cp.async.wait_group 0; bar.sync 0;",
        "cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;",
    ] {
        check_flagged(&kernel(faulty), load, in_flight);
    }
    let unordered = kernel("cp.async.commit_group; cp.async.wait_group 0;");
    let race = |kind: &FaultKind| in_flight(kind) || matches!(kind, FaultKind::Race { .. });
    check_flagged(&unordered, load, race);
    let arrive = "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2+1024];
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+1024], 0;
        @!%p1 bra WAIT;";
    check_fine(&kernel(arrive), load);
    check_flagged(&kernel(&arrive.replace("@!%p1 bra WAIT;", "")), load, race);
}

/// Warps 1 and 2 read what warp 0 has written and writes again.
const READERS: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    shr.u32 %r1, %r0, 5;
    setp.ne.u32 %p0, %r0, 0;
    @!%p0 st.shared.b32 [%r2], 5;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 ld.shared.b32 %r3, [%r2];
    setp.ne.u32 %p2, %r1, 1;
    SYNCHRONISE
    @!%p0 st.shared.b32 [%r2], 6;";

/// All readers of a byte count, not only the last.
#[test]
fn a_write_follows_every_read() {
    let kernel = |sync: &str| module("", &READERS.replace("SYNCHRONISE", sync));
    check_fine(&kernel("bar.sync 1, 96;"), threads(96));
    for one in [
        "@!%p2 bra END; bar.sync 1, 64;",
        "setp.eq.u32 %p2, %r1, 2; @%p2 bra END; bar.sync 1, 64;",
    ] {
        let ptx = with(&kernel(one), "6;", "6;\nEND:");
        check_flagged(&ptx, threads(96), |kind| {
            matches!(kind, FaultKind::Race { .. })
        });
    }
}

/// A thread copies 16 bytes by `cp.async`, and uses them or not.
const LANE_COPY: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    ld.param.u64 %d0, [x];
    mad.lo.u32 %r3, %r0, 16, %r2;
    mad.wide.u32 %d1, %r0, 16, %d0;
    cp.async.cg.shared.global [%r3], [%d1], 16;
    cp.async.commit_group;
    WAIT";

#[test]
fn a_cta_ends_after_its_cp_async() {
    let launch = |ptx: &str, seed| {
        let mut run = Run::threads(64).seed(seed);
        let x = run.words(&[0; 4 * 64]);
        run.go(ptx, &[pointer(x)]).map(drop)
    };
    let ptx = |wait: &str| module(".param .u64 x", &LANE_COPY.replace("WAIT", wait));
    let exits = |kind: &FaultKind| matches!(kind, FaultKind::ExitWithCopy { .. });
    for wait in ["cp.async.wait_group 0;", "cp.async.wait_all;"] {
        check_fine(&ptx(wait), launch);
    }
    check_flagged(&ptx(""), launch, exits);
    check_flagged(&ptx("cp.async.wait_group 1;"), launch, exits);
    // An mbarrier for which somebody waits, or nobody.
    let arrives = "
        setp.ne.u32 %p0, %r0, 0;
        @!%p0 mbarrier.init.shared::cta.b64 [%r2+4096], 64;
        bar.sync 0;
        cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2+4096];
        WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+4096], 0;
        @!%p1 bra WAIT;";
    check_fine(&ptx(arrives), launch);
    check_flagged(&ptx(&arrives.replace("@!%p1 bra WAIT;", "")), launch, exits);
    let nobody = &arrives[..arrives.find("WAIT").unwrap()];
    check_flagged(&ptx(nobody), launch, exits);
    // A thread that has ended may have another one wait for its copies.
    let others = "setp.gt.u32 %p2, %r0, 31;\n@%p2 bra END;\nWAIT:";
    let waits = arrives
        .replace("WAIT:", others)
        .replace("bra WAIT;", "bra WAIT;\nEND:");
    check_fine(&ptx(&waits), launch);
}

/// A copy brings fewer bytes than its mbarrier expects, and nobody waits for them.
#[test]
fn a_cta_ends_when_all_bytes_have_come() {
    let launch = |ptx: &str, seed| {
        let mut run = Run::threads(1).seed(seed);
        let x = run.words(&[0; 16]);
        run.go(ptx, &[pointer(x)]).map(drop)
    };
    let body = "
        ld.param.u64 %d0, [x];
        mov.u32 %r2, smem;
        mbarrier.init.shared::cta.b64 [%r2], 1;
        mbarrier.init.shared::cta.b64 [%r2+8], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%d0], 16, [%r2];
        WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
        @!%p1 bra WAIT;
        NEXT";
    let ptx = |next: &str| module(".param .u64 x", &body.replace("NEXT", next));
    let is_short = |kind: &FaultKind| matches!(kind, FaultKind::Barrier { problem, .. } if problem.contains("16 bytes"));
    check_fine(&ptx(""), launch);
    check_flagged(
        &ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+8], 16;"),
        launch,
        is_short,
    );
    check_flagged(
        &ptx("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2+8], 16;"),
        launch,
        is_short,
    );
    check_flagged(
        &ptx(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+8], 16;\nmbarrier.inval.shared::cta.b64 [%r2+8];",
        ),
        launch,
        is_short,
    );
    check_fine(
        &ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+8], 0;"),
        launch,
    );
}

/// A bulk copy overwrites what threads have written, which takes a proxy fence as well as an order.
#[test]
fn a_copy_overwrites_what_threads_have_written() {
    let body = "
        ld.param.u64 %d0, [x];
        mov.u32 %r0, %tid.x;
        mov.u32 %r2, smem;
        setp.ne.u32 %p0, %r0, 0;
        setp.ne.u32 %p1, %r0, 32;
        mad.lo.u32 %r3, %r0, 4, %r2;
        st.shared.b32 [%r3+64], %r0;
        @!%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
        FENCE
        bar.sync 0;
        @%p1 bra WAIT;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%d0], 16, [%r2];
        WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
        @!%p2 bra WAIT;";
    let launch = |ptx: &str, seed| {
        let mut run = Run::threads(64).seed(seed);
        let x = run.words(&[0; 4]);
        run.go(ptx, &[pointer(x)]).map(drop)
    };
    let ptx = |fence: &str| module(".param .u64 x", &body.replace("FENCE", fence));
    check_fine(&ptx("fence.proxy.async.shared::cta;"), launch);
    check_flagged(
        &ptx("fence.mbarrier_init.release.cluster;"),
        launch,
        |kind| matches!(kind, FaultKind::MissingProxyFence { .. }),
    );
    // The copy goes elsewhere.
    let elsewhere = with(
        &ptx("fence.mbarrier_init.release.cluster;"),
        "[%r2+64], [%d0]",
        "[%r2+1024], [%d0]",
    );
    check_fine(&elsewhere, launch);
    let unordered = with(&ptx("fence.proxy.async.shared::cta;"), "bar.sync 0;", "");
    check_flagged(&unordered, launch, |kind| {
        matches!(
            kind,
            FaultKind::Race { .. } | FaultKind::NoBarrier { .. } | FaultKind::Barrier { .. }
        )
    });
}
