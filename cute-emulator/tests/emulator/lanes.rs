//! Lanes of a warp that exchange data through memory: each faulty kernel is refused under every schedule, and its repaired twin
//! under none.

use super::events::{check_fine, check_flagged, with};
use super::{Run, module, pointer};
use cute_emulator::{EmulatorError, FaultKind};

/// Launches a kernel of one warp with 64 words at `x`.
fn warp(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let mut run = Run::threads(32).seed(seed);
    let x = run.words(&[0; 64]);
    run.go(ptx, &[pointer(x)]).map(drop)
}

/// A kernel in which `MEMORY` is the state space, and `ADDRESS` the address of its words; `OWN` is the address of the lane's word,
/// and `NEXT` that of the next lane.
fn kernels(body: &str) -> [String; 2] {
    let shared = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r3, smem;
    mad.lo.u32 %r4, %r0, 4, %r3;
    xor.b32 %r6, %r0, 1;
    mad.lo.u32 %r5, %r6, 4, %r3;";
    let global = "
    mov.u32 %r0, %tid.x;
    ld.param.u64 %d0, [x];
    mad.wide.u32 %d1, %r0, 4, %d0;
    xor.b32 %r6, %r0, 1;
    mad.wide.u32 %d2, %r6, 4, %d0;";
    let named = |start: &str, memory: &str, [address, own, next]: [&str; 3]| {
        let body = body.replace("MEMORY", memory).replace("ADDRESS", address);
        let body = body.replace("OWN", own).replace("NEXT", next);
        module(".param .u64 x", &format!("{start}{body}"))
    };
    [
        named(shared, "shared", ["%r3", "%r4", "%r5"]),
        named(global, "global", ["%d0", "%d1", "%d2"]),
    ]
}

fn is_race(kind: &FaultKind) -> bool {
    match kind {
        FaultKind::LaneRace { .. } | FaultKind::GlobalRace { .. } => kind.to_string().contains(
            "neither sync_threads() (bar.sync) nor sync_warp() (bar.warp.sync) orders the two",
        ),
        _ => false,
    }
}

/// Each lane writes a word, reads that of its neighbour, and writes its own again.
#[test]
fn lanes_exchange_words_with_a_barrier() {
    let body = "
    st.MEMORY.b32 [OWN], %r0;
    bar.warp.sync -1;
    ld.MEMORY.b32 %r7, [NEXT];
    bar.warp.sync 0xffffffff;
    st.MEMORY.b32 [OWN], %r7;
    ld.MEMORY.b32 %r7, [OWN];";
    for ptx in kernels(body) {
        check_fine(&ptx, warp);
        check_flagged(&with(&ptx, "bar.warp.sync -1;", ""), warp, is_race);
        check_flagged(&with(&ptx, "bar.warp.sync 0xffffffff;", ""), warp, is_race);
        // A vote or a shuffle is no barrier of memory, and neither is one of other lanes.
        for other in [
            "vote.sync.any.pred %p1, 1, -1;",
            "shfl.sync.idx.b32 %r8, %r0, 0, 31, -1;",
            "setp.gt.u32 %p1, %r0, 15;\n@%p1 bar.warp.sync 0xffff0000;",
        ] {
            check_flagged(&with(&ptx, "bar.warp.sync -1;", other), warp, is_race);
        }
        let other = "bar.sync 0;";
        check_fine(&with(&ptx, "bar.warp.sync -1;", other), warp);
    }
}

/// `sync_warp()` alone is advised without a condition only where the CTA has no other warp.
#[test]
fn the_barrier_of_the_warp_is_enough_in_a_cta_of_one() {
    let body = "
    st.MEMORY.b32 [OWN], %r0;
    ld.MEMORY.b32 %r7, [NEXT];";
    for ptx in kernels(body) {
        for (threads, has_condition) in [(32, false), (64, true)] {
            let launch = |ptx: &str, seed| {
                let mut run = Run::threads(threads).seed(seed);
                let x = run.words(&[0; 64]);
                run.go(ptx, &[pointer(x)]).map(drop)
            };
            let condition = "; sync_warp() is enough only if no other warp accesses these bytes";
            check_flagged(&ptx, launch, |kind| {
                is_race(kind) && kind.to_string().contains(condition) == has_condition
            });
        }
    }
}

/// The halves of a warp synchronise by themselves.
#[test]
fn a_barrier_is_for_the_lanes_of_its_mask() {
    let body = "
    setp.gt.u32 %p1, %r0, 15;
    st.MEMORY.b32 [OWN], %r0;
    @%p1 bar.warp.sync 0xffff0000;
    @!%p1 bar.warp.sync 0x0000ffff;
    ld.MEMORY.b32 %r7, [NEXT];";
    for ptx in kernels(body) {
        check_fine(&ptx, warp);
        let across = with(&ptx, "xor.b32 %r6, %r0, 1;", "xor.b32 %r6, %r0, 16;");
        check_flagged(&across, warp, is_race);
    }
    // What a lane has learnt of another one, it passes on.
    let body = "
    setp.eq.u32 %p1, %r0, 0;
    setp.le.u32 %p2, %r0, 1;
    sub.u32 %r8, %r0, 1;
    setp.le.u32 %p3, %r8, 1;
    setp.eq.u32 %p4, %r0, 2;
    @%p1 st.MEMORY.b32 [ADDRESS], 5;
    @%p2 bar.warp.sync 3;
    @%p3 bar.warp.sync 6;
    @%p4 ld.MEMORY.b32 %r7, [ADDRESS];";
    for ptx in kernels(body) {
        check_fine(&ptx, warp);
        check_flagged(&with(&ptx, "@%p2 bar.warp.sync 3;", ""), warp, is_race);
        check_flagged(&with(&ptx, "@%p3 bar.warp.sync 6;", ""), warp, is_race);
    }
}

/// One lane writes a word which all lanes read, and then one which all have read.
#[test]
fn one_lane_writes_for_all() {
    let body = "
    setp.eq.u32 %p1, %r0, 3;
    @%p1 st.MEMORY.b32 [ADDRESS], 5;
    bar.warp.sync -1;
    ld.MEMORY.b32 %r7, [ADDRESS];
    bar.warp.sync 0xffffffff;
    @%p1 st.MEMORY.b32 [ADDRESS], 6;";
    for ptx in kernels(body) {
        check_fine(&ptx, warp);
        check_flagged(&with(&ptx, "bar.warp.sync -1;", ""), warp, |kind| {
            is_race(kind)
        });
        check_flagged(&with(&ptx, "bar.warp.sync 0xffffffff;", ""), warp, is_race);
    }
}

/// Lanes may write one word together if they write the same value.
#[test]
fn lanes_write_equal_values() {
    for ptx in kernels("mov.u32 %r7, 1;\nst.MEMORY.b32 [ADDRESS], %r7;") {
        check_fine(&ptx, warp);
        check_flagged(
            &with(&ptx, "mov.u32 %r7, 1;", "mov.u32 %r7, %r0;"),
            warp,
            is_race,
        );
    }
}

/// `ldmatrix` and `stmatrix` move what other lanes have, too.
#[test]
fn matrices_are_of_all_lanes() {
    let body = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r3, smem;
    mad.lo.u32 %r4, %r0, 16, %r3;
    st.shared.v4.b32 [%r4], {1, 2, 3, 4};
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];
    bar.warp.sync 0xffffffff;
    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r5, %r6, %r7, %r8};";
    let ptx = module(".param .u64 x", body);
    check_fine(&ptx, warp);
    check_flagged(&with(&ptx, "bar.warp.sync -1;", ""), warp, is_race);
    check_flagged(&with(&ptx, "bar.warp.sync 0xffffffff;", ""), warp, is_race);
}

/// Lanes that wait for an mbarrier at which another lane has arrived know what that lane has written.
#[test]
fn an_mbarrier_orders_lanes() {
    let body = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r3, smem;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
    bar.warp.sync -1;
    @%p1 st.shared.b32 [%r3+64], 5;
    @%p1 mbarrier.arrive.shared::cta.b64 _, [%r3];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
    ld.shared.b32 %r4, [%r3+64];";
    let ptx = module(".param .u64 x", body);
    check_fine(&ptx, warp);
    let early = with(&ptx, "    ld.shared.b32 %r4, [%r3+64];", "");
    let early = with(&early, "WAIT:\n", "ld.shared.b32 %r4, [%r3+64];\nWAIT:\n");
    check_flagged(&early, warp, is_race);
}
