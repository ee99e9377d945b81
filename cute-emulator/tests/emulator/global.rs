//! Global memory: each faulty kernel is refused under every schedule, and its repaired twin under none.

use super::events::{SCHEDULES, check_fine, check_flagged, with};
use super::{Run, fault, module, pointer};
use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode};
use cute_emulator::{EmulatorError, FaultKind, encode_tensor_map};

/// Launches a kernel of `ctas` CTAs of `threads` threads with 256 words, all 0, at `x` and as many at `y`.
fn arrays(ctas: u32, threads: u32) -> impl Fn(&str, u64) -> Result<(), EmulatorError> {
    move |ptx, seed| {
        let mut run = Run::threads(threads).seed(seed);
        run.launch.grid = [ctas, 1, 1];
        let (x, y) = (run.words(&[0; 256]), run.words(&[0; 256]));
        run.go(ptx, &[pointer(x), pointer(y)]).map(drop)
    }
}

/// The same with clusters of two CTAs.
fn clusters(ctas: u32, threads: u32) -> impl Fn(&str, u64) -> Result<(), EmulatorError> {
    move |ptx, seed| {
        let mut run = Run::threads(threads).seed(seed);
        run.launch.grid = [ctas, 1, 1];
        run.launch.cluster = [2, 1, 1];
        let (x, y) = (run.words(&[0; 256]), run.words(&[0; 256]));
        run.go(ptx, &[pointer(x), pointer(y)]).map(drop)
    }
}

/// A kernel with the addresses of `x` and `y` in `%d0` and `%d1`, `%tid.x` in `%r0`, `%ctaid.x` in `%r1`, the number of the warp
/// in `%r2`, `%p0` where the thread is not the first of its CTA, and `smem` in `%r3`.
fn kernel(body: &str) -> String {
    let start = "
    ld.param.u64 %d0, [x];
    ld.param.u64 %d1, [y];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    shr.u32 %r2, %r0, 5;
    setp.ne.u32 %p0, %r0, 0;
    mov.u32 %r3, smem;";
    module(".param .u64 x, .param .u64 y", &format!("{start}{body}"))
}

fn is_race(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::GlobalRace { .. })
}

/// The message of a fault, which names the fix.
fn check_message(
    ptx: &str,
    launch: impl Fn(&str, u64) -> Result<(), EmulatorError>,
    parts: &[&str],
) {
    for seed in SCHEDULES {
        let (found, _) = fault(launch(ptx, seed));
        let text = found.to_string();
        for part in parts {
            assert!(text.contains(part), "seed {seed}: {part}\n{text}");
        }
    }
}

/// Thread 0 writes a word, and warp 1 reads it.
#[test]
fn a_barrier_orders_the_warps_of_a_cta() {
    let ptx = kernel(
        "
    @!%p0 st.global.b32 [%d0], 7;
    bar.sync 0;
    setp.eq.u32 %p1, %r2, 1;
    @%p1 ld.global.b32 %r4, [%d0];",
    );
    check_fine(&ptx, arrays(1, 64));
    let faulty = with(&ptx, "bar.sync 0;", "");
    check_flagged(&faulty, arrays(1, 64), is_race);
    check_message(
        &faulty,
        arrays(1, 64),
        &["CTA (0, 0, 0), warp", "no barrier orders the two"],
    );
}

/// CTA 0 writes a word that CTA 1 reads: the flag at `y` orders the two.
const FLAG: &str = "
    @%p0 bra END;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READER;
    st.global.b32 [%d0], 7;
    fence.acq_rel.gpu;
    st.relaxed.gpu.global.b32 [%d1], 1;
    bra END;
READER:
    ld.relaxed.gpu.global.b32 %r4, [%d1];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra READER;
    fence.acq_rel.gpu;
    ld.global.b32 %r5, [%d0];
END:";

#[test]
fn a_flag_orders_ctas() {
    let ptx = kernel(FLAG);
    check_fine(&ptx, arrays(2, 32));
    let released = "fence.acq_rel.gpu;\n    st.relaxed.gpu";
    let acquired = "@%p2 bra READER;\n    fence.acq_rel.gpu;";
    for faulty in [
        with(&ptx, released, "st.relaxed.gpu"),
        with(&ptx, acquired, "@%p2 bra READER;"),
        with(&ptx, released, "fence.acq_rel.cta;\n    st.relaxed.gpu"),
        with(&ptx, acquired, "@%p2 bra READER;\n    membar.cta;"),
    ] {
        check_flagged(&faulty, arrays(2, 32), is_race);
    }
    check_message(
        &with(&ptx, released, "st.relaxed.gpu"),
        arrays(2, 32),
        &[
            "st.global.b32",
            "CTA (0, 0, 0), warp 0, lane 0",
            "a release and an acquire of scope .gpu",
        ],
    );
    // A release and an acquire say it without fences, and atomics too.
    let release = with(&ptx, released, "st.release.gpu");
    let short = with(&release, acquired, "@%p2 bra READER;");
    let short = with(&short, "ld.relaxed.gpu", "ld.acquire.gpu");
    check_fine(&short, arrays(2, 32));
    check_flagged(
        &with(&short, "ld.acquire", "ld.relaxed"),
        arrays(2, 32),
        is_race,
    );
    check_flagged(
        &with(&short, "st.release", "st.relaxed"),
        arrays(2, 32),
        is_race,
    );
    let atomic = with(
        &short,
        "st.release.gpu.global.b32 [%d1], 1",
        "red.release.gpu.global.or.b32 [%d1], 1",
    );
    check_fine(&atomic, arrays(2, 32));
    // The flag of a plain store races itself, and one of a smaller scope as well.
    check_flagged(
        &with(&short, "st.release.gpu", "st"),
        arrays(2, 32),
        is_race,
    );
    let narrow = with(&short, "st.release.gpu", "st.release.cta");
    check_flagged(&narrow, arrays(2, 32), is_race);
    check_message(&narrow, arrays(2, 32), &["use .gpu"]);
    // Of a cluster, its scope is enough.
    let cluster = short.replace(".gpu", ".cluster");
    check_fine(&cluster, clusters(2, 32));
    check_flagged(&cluster, arrays(2, 32), is_race);
}

/// What a flag passes on is what its writer knew: also what it learnt from a third CTA, but not what came later.
#[test]
fn flags_pass_on_what_their_writers_know() {
    let ptx = kernel(
        "
    @%p0 bra END;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra SECOND;
    setp.eq.u32 %p1, %r1, 2;
    @%p1 bra THIRD;
    st.global.b32 [%d0], 7;
    st.release.gpu.global.b32 [%d1], 1;
    bra END;
SECOND:
    ld.acquire.gpu.global.b32 %r4, [%d1];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra SECOND;
    st.release.gpu.global.b32 [%d1+4], 1;
    bra END;
THIRD:
    ld.acquire.gpu.global.b32 %r4, [%d1+4];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra THIRD;
    ld.global.b32 %r5, [%d0];
END:",
    );
    check_fine(&ptx, arrays(3, 32));
    let late = with(
        &with(&ptx, "st.global.b32 [%d0], 7;", ""),
        "st.release.gpu.global.b32 [%d1], 1;",
        "st.release.gpu.global.b32 [%d1], 1;\nst.global.b32 [%d0], 7;",
    );
    check_flagged(&late, arrays(3, 32), is_race);
}

/// The last CTA that counts itself sums what all have written.
#[test]
fn the_last_cta_reads_what_all_have_written() {
    let ptx = kernel(
        "
    @%p0 bra END;
    mad.wide.u32 %d2, %r1, 4, %d0;
    st.global.b32 [%d2], %r1;
    membar.gl;
    atom.global.add.u32 %r4, [%d1], 1;
    membar.gl;
    setp.ne.u32 %p1, %r4, 15;
    @%p1 bra END;
    mov.u32 %r5, 0;
SUM:
    mad.wide.u32 %d2, %r5, 4, %d0;
    ld.global.b32 %r6, [%d2];
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, 16;
    @%p2 bra SUM;
END:",
    );
    check_fine(&ptx, arrays(16, 32));
    let without = ptx.replacen("membar.gl;", "", 1);
    check_flagged(&without, arrays(16, 32), is_race);
    let plain = with(
        &ptx,
        "atom.global.add.u32 %r4, [%d1], 1;",
        "ld.global.u32 %r4, [%d1];\nadd.u32 %r7, %r4, 1;\nst.global.u32 [%d1], %r7;",
    );
    check_flagged(&plain, arrays(16, 32), is_race);
    check_message(&plain, arrays(16, 32), &["use atom or red"]);
    check_fine(
        &with(&ptx, "atom.global.add", "atom.acq_rel.gpu.global.add").replace("membar.gl;", ""),
        arrays(16, 32),
    );
}

/// Two CTAs write one word, and two write halves of it.
#[test]
fn writes_of_two_ctas_race() {
    let ptx = kernel(
        "
    cvt.u16.u32 %h0, %r1;
    @!%p0 st.global.b16 [%d0], %h0;",
    );
    check_flagged(&ptx, arrays(2, 32), is_race);
    let halves = kernel(
        "
    mad.wide.u32 %d2, %r1, 2, %d0;
    cvt.u16.u32 %h0, %r1;
    @!%p0 st.global.b16 [%d2], %h0;",
    );
    check_fine(&halves, arrays(8, 32));
    check_flagged(&with(&halves, "%r1, 2", "%r1, 0"), arrays(8, 32), is_race);
}

/// Threads may write one word together if they write the same value, but nobody may read it before all have.
#[test]
fn equal_values_may_be_written_together() {
    let ptx = kernel("\nst.global.b32 [%d0], %r1;");
    check_fine(&ptx, arrays(1, 96));
    check_flagged(
        &with(&ptx, "[%d0], %r1;", "[%d0], %r2;"),
        arrays(1, 96),
        is_race,
    );
    check_flagged(&ptx, arrays(2, 32), is_race);
    let read = kernel(
        "
    mov.u32 %r4, 5;
    st.global.b32 [%d0], %r4;
    bar.sync 0;
    ld.global.b32 %r5, [%d0];",
    );
    check_fine(&read, arrays(1, 96));
    check_flagged(
        &with(&read, "bar.sync 0;", "bar.warp.sync -1;"),
        arrays(1, 96),
        is_race,
    );
    check_flagged(&read, arrays(2, 96), is_race);
}

/// A read that another CTA's write follows is a race, whichever comes first; all readers count.
#[test]
fn every_reader_counts() {
    let ptx = kernel(
        "
    ld.global.b32 %r4, [%d0];
    setp.ne.u32 %p1, %r1, 5;
    or.pred %p1, %p0, %p1;
    @%p1 bra END;
    st.global.b32 [%d0+64], 1;
END:",
    );
    check_fine(&ptx, arrays(8, 64));
    check_flagged(&with(&ptx, "[%d0+64]", "[%d0]"), arrays(8, 64), is_race);
}

/// Memory that is allocated, and not written.
#[test]
fn unwritten_memory_is_not_read() {
    let launch = |ptx: &str, seed: u64| {
        let mut run = Run::threads(32).seed(seed);
        let x = run.memory.alloc(4096, 256)?;
        run.memory.write(x + 32, &[0; 32])?;
        run.go(ptx, &[pointer(x), pointer(x)]).map(drop)
    };
    let is_unwritten = |kind: &FaultKind| matches!(kind, FaultKind::GlobalUninitialised { .. });
    let read = |offset: u32| kernel(&format!("ld.global.v2.b32 {{%r4, %r5}}, [%d0+{offset}];"));
    for offset in [32, 40, 56] {
        check_fine(&read(offset), launch);
    }
    for offset in [0, 24, 64, 1024] {
        check_flagged(&read(offset), launch, is_unwritten);
    }
    let own = kernel(
        "
    mad.wide.u32 %d0, %r0, 4, %d0;
    st.global.b32 [%d0+1024], %r0;
    ld.global.b32 %r4, [%d0+1024];",
    );
    check_fine(&own, launch);
    check_flagged(
        &with(
            &own,
            "ld.global.b32 %r4, [%d0+1024]",
            "ld.global.b32 %r4, [%d0+2048]",
        ),
        launch,
        is_unwritten,
    );
    let atomic = kernel("@!%p0 red.global.add.u32 [%d0], 1;");
    check_flagged(&atomic, launch, is_unwritten);
    // Another warp writes it, before or after the read.
    let both = |ptx: &str, seed: u64| {
        let mut run = Run::threads(64).seed(seed);
        let x = run.memory.alloc(4096, 256)?;
        run.go(ptx, &[pointer(x), pointer(x)]).map(drop)
    };
    let exchange = kernel(
        "
    mad.wide.u32 %d1, %r0, 4, %d0;
    st.global.b32 [%d1], %r0;
    bar.sync 0;
    xor.b32 %r1, %r0, 32;
    mad.wide.u32 %d1, %r1, 4, %d0;
    ld.global.b32 %r4, [%d1];",
    );
    check_fine(&exchange, both);
    check_flagged(&with(&exchange, "bar.sync 0;", ""), both, is_race);
    let bulk = kernel("
    @%p0 bra END;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 32;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+1024], [%d0+32], 32, [%r3];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
END:");
    check_fine(&bulk, launch);
    check_flagged(&with(&bulk, "[%d0+32]", "[%d0+48]"), launch, is_unwritten);
}

/// A second launch may read what a first one has written, without any flag.
#[test]
fn launches_are_ordered() {
    let first = kernel(
        "
    mad.wide.u32 %d0, %r0, 4, %d0;
    st.global.b32 [%d0], %r1;",
    );
    let second = kernel("ld.global.nc.b32 %r4, [%d0+64];");
    for seed in SCHEDULES {
        let mut run = Run::threads(32).seed(seed);
        let x = run.memory.alloc(128, 256).unwrap();
        run.go(&first, &[pointer(x), pointer(x)]).unwrap();
        run.launch.grid = [9, 1, 1];
        run.go(&second, &[pointer(x), pointer(x)]).unwrap();
    }
}

/// A thread writes 32 bytes, which another one copies into shared memory.
const COPY: &str = "
    @!%p0 st.global.v4.b32 [%d0], {1, 2, 3, 4};
    fence.proxy.async.global;
    @!%p0 mbarrier.init.shared::cta.b64 [%r3], 1;
    @!%p0 fence.mbarrier_init.release.cluster;
    bar.sync 0;
    setp.ne.u32 %p1, %r0, 32;
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 32;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+1024], [%d0], 32, [%r3];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
    @!%p0 st.global.b32 [%d0], 9;";

#[test]
fn a_copy_reads_what_a_proxy_fence_has_passed() {
    let ptx = kernel(COPY);
    check_fine(&ptx, arrays(1, 64));
    check_fine(
        &with(&ptx, "fence.proxy.async.global;", "fence.proxy.async;"),
        arrays(1, 64),
    );
    // The thread that starts the copy may execute the fence as well.
    let fence = "fence.proxy.async.global;\n";
    let reader = with(
        &with(&ptx, fence, ""),
        "    mbarrier.arrive.expect_tx",
        "    fence.proxy.async.global;\nmbarrier.arrive.expect_tx",
    );
    check_fine(&reader, arrays(1, 64));
    let is_fence = |kind: &FaultKind| matches!(kind, FaultKind::GlobalProxyFence { .. });
    check_flagged(&with(&ptx, fence, ""), arrays(1, 64), is_fence);
    check_flagged(
        &with(&ptx, fence, "fence.proxy.async.shared::cta;"),
        arrays(1, 64),
        is_fence,
    );
    check_message(
        &with(&ptx, fence, ""),
        arrays(1, 64),
        &["st.global.v4.b32", "fence.proxy.async.global"],
    );
}

/// The source of a copy is written after its arrival.
#[test]
fn the_source_of_a_copy_is_written_after_its_arrival() {
    let ptx = kernel(COPY);
    let wait = "WAIT:\n    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n    @!%p2 bra WAIT;\n    @!%p0 st.global.b32 [%d0], 9;";
    let early = "WAIT:\n@!%p1 st.global.b32 [%d0], 9;\nAGAIN:\n    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n    @!%p2 bra AGAIN;";
    check_flagged(&with(&ptx, wait, early), arrays(1, 64), |kind| {
        matches!(kind, FaultKind::GlobalSourceInFlight { .. })
    });
}

/// The threads write a box, which thread 0 copies into shared memory.
const BOX: &str = "
    ld.param.u64 %d0, [x];
    mov.u64 %d1, map;
    mov.u32 %r0, %tid.x;
    mov.u32 %r3, smem;
    setp.ne.u32 %p0, %r0, 0;
    mad.wide.u32 %d2, %r0, 4, %d0;
    st.global.b32 [%d2], %r0;
    fence.proxy.async;
    bar.sync 0;
    @%p0 bra END;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+1024], [%d1, {0, 2}], [%r3];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
END:";

#[test]
fn a_box_reads_what_a_proxy_fence_has_passed() {
    let launch = |ptx: &str, seed: u64| {
        let mut run = Run::threads(64).seed(seed);
        let x = run.words(&[0; 256]);
        let map = TensorMap {
            element: ElementType::U16,
            address: x,
            extents: vec![16, 8],
            strides: vec![32],
            box_extents: vec![16, 4],
            element_strides: vec![1, 1],
            swizzle: SwizzleMode::None,
            fill: OobFill::Zero,
            l2: L2Promotion::default(),
        };
        let map = encode_tensor_map(&map).unwrap().to_vec();
        run.go(ptx, &[pointer(x), map]).map(drop)
    };
    let ptx = module(".param .u64 x, .param .align 64 .b8 map[128]", BOX);
    check_fine(&ptx, launch);
    check_flagged(&with(&ptx, "fence.proxy.async;", ""), launch, |kind| {
        matches!(kind, FaultKind::GlobalProxyFence { .. })
    });
    check_flagged(&with(&ptx, "bar.sync 0;", ""), launch, is_race);
}

/// Thread 0 stores shared memory to `x`, and then reads it, as does warp 1.
const TARGET: &str = "
    mad.lo.u32 %r4, %r0, 4, %r3;
    st.shared.b32 [%r4], %r0;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p0 bra STORED;
    cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r3], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
STORED:
    bar.sync 0;
    mad.wide.u32 %d2, %r0, 4, %d0;
    ld.global.b32 %r5, [%d2];";

#[test]
fn the_target_of_a_bulk_store_is_read_after_its_wait() {
    let ptx = kernel(TARGET);
    check_fine(&ptx, arrays(1, 64));
    let is_store = |kind: &FaultKind| matches!(kind, FaultKind::TargetInFlight { .. });
    let wait = "cp.async.bulk.wait_group 0;";
    let read = with(&ptx, wait, "cp.async.bulk.wait_group.read 0;");
    check_flagged(&read, arrays(1, 64), is_store);
    check_message(&read, arrays(1, 64), &["wait_group, without .read,"]);
    let later = with(&ptx, wait, "cp.async.bulk.wait_group 1;");
    check_flagged(&later, arrays(1, 64), is_store);
    let unordered = with(&ptx, "STORED:\n    bar.sync 0;", "STORED:");
    check_flagged(&unordered, arrays(1, 64), |kind| {
        is_store(kind) || is_race(kind)
    });
    // Reductions of several CTAs add up, and stores do not.
    let sums = with(
        &ptx,
        "STORED:\n    bar.sync 0;\n    mad.wide.u32 %d2, %r0, 4, %d0;\n    ld.global.b32 %r5, [%d2];",
        "STORED:",
    );
    let reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0]";
    let store = "cp.async.bulk.global.shared::cta.bulk_group [%d0]";
    check_fine(&with(&sums, store, reduce), arrays(4, 64));
    check_flagged(&sums, arrays(4, 64), |kind| is_store(kind) || is_race(kind));
}

/// Reads through the read-only cache see no write of the launch, ordered or not.
#[test]
fn the_read_only_cache_is_for_what_nobody_writes() {
    let ptx = kernel(
        "
    mad.wide.u32 %d2, %r0, 4, %d0;
    st.global.b32 [%d2], 7;
    bar.sync 0;
    ld.global.b32 %r4, [%d0];
    ld.global.nc.b32 %r5, [%d1];",
    );
    check_fine(&ptx, arrays(1, 64));
    let cached = with(&ptx, "ld.global.b32", "ld.global.nc.b32");
    check_flagged(&cached, arrays(1, 64), |kind| {
        matches!(kind, FaultKind::ReadOnly { .. })
    });
    check_message(
        &cached,
        arrays(1, 64),
        &["st.global.b32", "use ld without .nc"],
    );
}

/// Every thread adds to one word by a load, an addition and a store.
#[test]
fn updates_are_not_lost() {
    let add = "red.global.add.u32 [%d0], 1;";
    let ptx = kernel(add);
    check_fine(&ptx, arrays(4, 64));
    let plain = "ld.global.u32 %r4, [%d0];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%d0], %r4;";
    let lost = with(&ptx, add, plain);
    check_flagged(&lost, arrays(4, 1), is_race);
    check_message(
        &lost,
        arrays(4, 1),
        &["one of the two changes is lost; use atom or red"],
    );
    check_flagged(&lost, arrays(1, 64), is_race);
    check_flagged(&lost, arrays(1, 32), is_race);
    // An atomic beside a plain access.
    let beside = kernel("@%p0 red.global.add.u32 [%d0], 1;\n@!%p0 ld.global.u32 %r4, [%d0];");
    check_flagged(&beside, arrays(1, 64), is_race);
}

#[test]
fn the_barrier_of_a_cluster_orders_its_ctas() {
    let ptx = kernel(
        "
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 st.global.b32 [%d0], 7;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    @%p1 ld.global.b32 %r4, [%d0];",
    );
    check_fine(&ptx, clusters(2, 32));
    let barrier = "barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;";
    let faulty = with(&ptx, barrier, "");
    check_flagged(&faulty, clusters(2, 32), is_race);
    check_message(
        &faulty,
        clusters(2, 32),
        &["no barrier.cluster, mbarrier or flag"],
    );
}

/// Without the checks these kernels run to their end.
#[test]
fn the_checks_can_be_left_out() {
    for body in [
        "ld.global.b32 %r4, [%d1];",
        "st.global.b32 [%d0], %r0;",
        "ld.global.b32 %r4, [%d0];\nst.global.b32 [%d0], %r4;",
    ] {
        let ptx = kernel(body);
        let launch = |checks: bool| {
            let mut run = Run::threads(64);
            run.launch.checks.global = checks;
            let (x, y) = (run.words(&[0; 4]), run.memory.alloc(16, 16).unwrap());
            run.go(&ptx, &[pointer(x), pointer(y)])
        };
        launch(false).unwrap();
        fault(launch(true));
    }
}

/// The pages whose accesses are recorded are limited.
#[test]
fn records_are_limited() {
    let ptx = kernel(
        "
    mad.wide.u32 %d2, %r1, 4096, %d0;
    @!%p0 ld.global.b32 %r4, [%d2];",
    );
    let mut run = Run::threads(32);
    run.launch.grid = [16, 1, 1];
    run.launch.limits.recorded_bytes = 16 << 12;
    let x = run.words(&[0; 1 << 16]);
    run.go(&ptx, &[pointer(x), pointer(x)]).unwrap();
    run.launch.limits.recorded_bytes -= 1;
    let (kind, _) = fault(run.go(&ptx, &[pointer(x), pointer(x)]));
    assert!(matches!(kind, FaultKind::OverLimit(_)), "{kind}");
}

/// CTAs count themselves by a relaxed atomic, and the last one sets the counter back by a plain store.
#[test]
fn what_an_atomic_has_observed_is_before_what_follows() {
    let ptx = kernel(
        "
    @%p0 bra END;
    atom.relaxed.gpu.global.add.u32 %r4, [%d1], 1;
    setp.ne.u32 %p1, %r4, 15;
    @%p1 bra END;
    st.global.b32 [%d1], 0;
    ld.global.b32 %r5, [%d1];
END:",
    );
    check_fine(&ptx, arrays(16, 32));
    // Not the last one alone sets it back.
    check_flagged(&with(&ptx, "%r4, 15;", "%r4, 3;"), arrays(16, 32), is_race);
    // A counter that nobody has read, and one whose value another store has replaced.
    let unread = with(
        &ptx,
        "atom.relaxed.gpu.global.add.u32 %r4,",
        "red.relaxed.gpu.global.add.u32",
    );
    let unread = with(
        &unread,
        "setp.ne.u32 %p1, %r4, 15;",
        "setp.ne.u32 %p1, %r1, 15;",
    );
    check_flagged(
        &unread.replace(
            "red.relaxed.gpu.global.add.u32 [%d1], 1;",
            "st.relaxed.gpu.global.b32 [%d1], 1;",
        ),
        arrays(16, 32),
        is_race,
    );
    // It orders that access alone, and not what is before it.
    let data = with(
        &ptx,
        "atom.relaxed",
        "mad.wide.u32 %d2, %r1, 4, %d0;\n    st.global.b32 [%d2], 1;\n    atom.relaxed",
    );
    check_fine(&data, arrays(16, 32));
    check_flagged(
        &with(
            &data,
            "ld.global.b32 %r5, [%d1];",
            "ld.global.b32 %r5, [%d0];",
        ),
        arrays(16, 32),
        is_race,
    );
}

/// All threads of CTA 0 write and execute a fence, and after a barrier one of them sets a flag.
#[test]
fn a_sequential_fence_is_before_a_flag_behind_a_barrier() {
    let ptx = kernel(
        "
    mov.u32 %r6, %tid.x;
    mad.wide.u32 %d2, %r6, 4, %d0;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra READER;
    st.global.b32 [%d2], 7;
    membar.gl;
    bar.sync 0;
    @%p0 bra END;
    st.relaxed.gpu.global.b32 [%d1], 1;
    bra END;
READER:
    @%p0 bra READ;
    ld.relaxed.gpu.global.b32 %r4, [%d1];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra READER;
    fence.sc.gpu;
READ:
    bar.sync 0;
    ld.global.b32 %r5, [%d2];
END:",
    );
    check_fine(&ptx, arrays(2, 64));
    for (part, by) in [
        ("membar.gl;", ""),
        ("membar.gl;", "membar.cta;"),
        ("fence.sc.gpu;", ""),
        ("fence.sc.gpu;", "fence.sc.cta;"),
        // Only fences of this kind have one order.
        ("membar.gl;", "fence.acq_rel.gpu;"),
        ("fence.sc.gpu;", "fence.acq_rel.gpu;"),
    ] {
        check_flagged(&with(&ptx, part, by), arrays(2, 64), is_race);
    }
    check_fine(&with(&ptx, "membar.gl;", "fence.sc.gpu;"), arrays(2, 64));
    // The fence of the thread that sets the flag, behind the barrier, is a release.
    let behind = with(
        &with(&ptx, "membar.gl;", ""),
        "st.relaxed.gpu",
        "fence.acq_rel.gpu;\n    st.relaxed.gpu",
    );
    check_fine(&behind, arrays(2, 64));
}
