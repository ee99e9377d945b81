//! What errors say: the place and the tensor, the CTA of an address, and what mends it.

use super::{Run, module, pointer};
use cute_emulator::EmulatorError;

/// A module whose shared memory holds a tile of 128 bytes and two mbarriers.
fn named(params: &str, body: &str) -> String {
    let names = "// shared memory 0..128, tile: f32 at 32:1\n\
                 // shared memory 128..144, full: 2 mbarriers, 1 arrivals a phase\n.extern";
    module(params, body).replacen(".extern", names, 1)
}

/// The message of the error of a kernel.
fn message(run: &mut Run, ptx: &str, args: &[Vec<u8>]) -> String {
    run.go(ptx, args).unwrap_err().to_string()
}

#[track_caller]
fn check(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in\n{message}");
    }
}

/// CTA 1 uses the shared memory of CTA 0, at `%r3`.
const REMOTE: &str = "
    mov.u32 %r2, smem;
    mov.u32 %r4, 7;
    mov.u32 %r1, %cluster_ctarank;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    setp.eq.u32 %p0, %r1, 1;
    @!%p0 st.shared.b32 [%r2+8], %r4;";

#[test]
fn an_address_in_another_cta_is_told_with_its_rank_and_tensor() {
    for (access, parts) in [
        (
            "@%p0 st.shared::cluster.b32 [%r3+8], %r4;",
            &["byte 8 of tile at k", "races at shared address 0x408"][..],
        ),
        (
            "@%p0 ld.shared::cluster.b32 %r4, [%r3+16];\n@%p0 st.shared.b32 [%r2+16], %r4;",
            &[
                "byte 16 of tile at k",
                "reads shared address 0x410 of CTA rank 0, which nobody has written",
            ],
        ),
        (
            "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3+136];",
            &[
                "full[1] at k",
                "no mbarrier has been initialised at shared address 0x488 of CTA rank 0",
            ],
        ),
        (
            "@%p0 ld.shared::cluster.b32 %r4, [%r3+65536];",
            &["4 bytes at shared address 0x10400 of CTA rank 0 are outside"],
        ),
    ] {
        let body = format!(
            "{REMOTE}\n{access}\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"
        );
        let message = message(&mut Run::threads(32).cluster(2), &named("", &body), &[]);
        check(&message, parts);
    }
}

#[test]
fn a_deadlock_names_the_mbarrier_and_counts_bytes_from_zero() {
    let body = "
        mov.u32 %r2, smem;
        mbarrier.init.shared::cta.b64 [%r2+136], 1;
        mbarrier.complete_tx.shared::cta.b64 [%r2+136], 128;
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r2+136], 0;
        @!%p0 bra WAIT;";
    let message = message(&mut Run::threads(1), &named("", body), &[]);
    check(
        &message,
        &[
            "waits for the mbarrier full[1] to complete the phase of parity 0: its phase 0 (parity 0) waits for 1 of 1 arrivals, \
             and 128 bytes have arrived that it does not expect",
        ],
    );
}

#[test]
fn a_named_barrier_is_no_mbarrier() {
    let body = "setp.lt.u32 %p0, %r0, 32;\n@%p0 bar.sync 1, 64;\n@!%p0 bar.sync 1, 96;";
    let body = format!("mov.u32 %r0, %tid.x;\n{body}");
    let message = message(&mut Run::threads(64), &named("", &body), &[]);
    check(
        &message,
        &["barrier 1 is given ", " by the warps that have arrived"],
    );
    assert!(!message.contains("mbarrier"), "{message}");
}

#[test]
fn the_wait_that_is_missing_depends_on_the_copy() {
    let start = "ld.param.u64 %d0, [data];\nmov.u32 %r2, smem;\n";
    let bulk = "mbarrier.init.shared::cta.b64 [%r2+128], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+128], 64;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 64, [%r2+128];";
    let lane = "cp.async.ca.shared.global [%r2], [%d0], 16;";
    for (copy, wait) in [
        (
            bulk,
            "; first wait for the mbarrier on which it completes\n",
        ),
        (lane, "; first wait for it with cp.async.wait_group\n"),
    ] {
        let body = format!("{start}{copy}\nld.shared.b32 %r1, [%r2+4];");
        let mut run = Run::threads(1);
        let data = run.words(&[1; 32]);
        let ptx = named(".param .u64 data", &body);
        let message = message(&mut run, &ptx, &[pointer(data)]);
        check(
            &message,
            &["byte 4 of tile at k", "may still be writing", wait],
        );
    }
}

#[test]
fn endless_loops_are_reported() {
    let spin = "ld.param.u64 %d0, [flag];\nL: ld.volatile.global.u32 %r1, [%d0];\n\
                setp.eq.u32 %p0, %r1, 0;\n@%p0 bra L;";
    let count = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nbra L;";
    // What repeats itself is found soon; ten million instructions are a second.
    for (body, most) in [("L: bra L;", 1 << 20), (spin, 1 << 20), (count, 10_000_000)] {
        for threads in [1, 256] {
            let mut run = Run::threads(threads);
            let flag = run.words(&[0]);
            let ptx = module(".param .u64 flag", body);
            let ended = run.go(&ptx, &[pointer(flag)]);
            let Err(EmulatorError::EndlessLoop { steps, threads, .. }) = &ended else {
                panic!("{ended:?}");
            };
            assert!(*steps < most && !threads.is_empty(), "{steps} for {body}");
        }
    }
}

#[test]
fn a_loop_that_gets_somewhere_is_not_endless() {
    // Rounds of 180,000 instructions, each of which ends with a store: the limit is on instructions without one.
    let body = "
        ld.param.u64 %d0, [out];
        mov.u32 %r1, 0;
        OUTER: mov.u32 %r2, 0;
        INNER: add.u32 %r2, %r2, 1;
        setp.lt.u32 %p0, %r2, 60000;
        @%p0 bra INNER;
        st.global.u32 [%d0], %r1;
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p0, %r1, 4;
        @%p0 bra OUTER;";
    let mut run = Run::threads(1);
    run.launch.limits.idle_steps = 200_000;
    let out = run.words(&[0]);
    let ptx = module(".param .u64 out", body);
    run.go(&ptx, &[pointer(out)]).unwrap();
    run.launch.limits.idle_steps = 150_000;
    let message = message(&mut run, &ptx, &[pointer(out)]);
    check(
        &message,
        &["it has changed nothing but registers, more than the limit `Limits::idle_steps` of "],
    );
}

#[test]
fn a_loop_that_waits_for_a_warp_that_waits_for_a_copy_is_not_endless() {
    let body = "
        ld.param.u64 %d0, [data];
        mov.u32 %r2, smem;
        mov.u32 %r0, %tid.x;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 bra SPIN;
        setp.ne.u32 %p1, %r0, 32;
        @%p1 bra END;
        mbarrier.init.shared::cta.b64 [%r2+1024], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 512;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 512, [%r2+1024];
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+1024], 0;
        @!%p2 bra WAIT;
        mov.u32 %r3, 1;
        st.release.gpu.global.u32 [%d0+1024], %r3;
        bra END;
        SPIN: ld.acquire.gpu.global.u32 %r1, [%d0+1024];
        setp.eq.u32 %p3, %r1, 0;
        @%p3 bra SPIN;
        END:";
    for seed in super::SEEDS {
        let mut run = Run::threads(64).seed(seed);
        let data = run.words(&[0; 260]);
        run.go(&module(".param .u64 data", body), &[pointer(data)])
            .unwrap();
    }
}
