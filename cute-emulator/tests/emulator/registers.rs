//! Registers that a thread reads before it writes them: each faulty kernel is refused under every schedule, and its repaired twin
//! under none.

use super::events::{check_fine, check_flagged, threads, with};
use super::module;
use cute_emulator::FaultKind;

fn names(register: &'static str) -> impl Fn(&FaultKind) -> bool {
    move |kind| matches!(kind, FaultKind::UnwrittenRegister { register: found } if found == register)
}

/// Half of the lanes write under a predicate, and the others under its negation.
const BOTH_WAYS: &str = "
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 16;
    @%p0 mov.u32 %r1, 5;
    @!%p0 mov.u32 %r1, 6;
    add.u32 %r2, %r1, 1;";

#[test]
fn each_lane_writes_a_register_before_it_reads_it() {
    let ptx = module("", BOTH_WAYS);
    check_fine(&ptx, threads(128));
    check_flagged(
        &with(&ptx, "@!%p0 mov.u32 %r1, 6;", "@%p0 mov.u32 %r1, 6;"),
        threads(128),
        names("%r1"),
    );
    // Lanes that do not read it need not write it.
    let guarded = with(&ptx, "@!%p0 mov.u32 %r1, 6;", "");
    let guarded = with(&guarded, "add.u32 %r2", "@%p0 add.u32 %r2");
    check_fine(&guarded, threads(128));
    check_flagged(
        &with(&guarded, "@%p0 add.u32", "@!%p0 add.u32"),
        threads(128),
        names("%r1"),
    );
    // The guard is a read too.
    check_flagged(
        &with(&ptx, "setp.lt.u32 %p0, %r0, 16;", ""),
        threads(128),
        names("%p0"),
    );
}

/// A loop that writes a register in its first iteration.
const LOOP: &str = "
    mov.u32 %r0, 0;
    bra BODY;
    NEXT:
    add.u32 %r2, %r1, 1;
    BODY:
    mov.u32 %r1, %r0;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p0, %r0, 4;
    @%p0 bra NEXT;";

#[test]
fn a_register_is_written_on_every_path_to_its_read() {
    let ptx = module("", LOOP);
    check_fine(&ptx, threads(128));
    check_flagged(&with(&ptx, "bra BODY;", ""), threads(128), names("%r1"));
}

/// A warpgroup multiplies zeros, and does not add D.
const WGMMA: &str = "
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
    add.f32 %f4, %f0, %f1;";

#[test]
fn a_wgmma_reads_d_only_if_it_adds_it() {
    // Core matrices of 128 bytes, next to one another along K, and 256 bytes apart along M and N.
    let descriptor: u64 = (128 >> 4) << 16 | (256 >> 4) << 32;
    let ptx = module("", &WGMMA.replace("DESCRIPTOR", &descriptor.to_string()));
    check_fine(&ptx, threads(128));
    let adds = with(&ptx, "%d0, %d1, 0, 1", "%d0, %d1, 1, 1");
    check_flagged(&adds, threads(128), names("%f0"));
    let zeros = "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; wgmma.fence";
    check_fine(&with(&adds, "wgmma.fence", zeros), threads(128));
}
