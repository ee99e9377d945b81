//! Atomics and plain accesses to shared memory: each faulty kernel is refused under every schedule, and its repaired twin under
//! none.

use super::events::{check_fine, check_flagged, threads, with};
use super::module;
use cute_emulator::FaultKind;

fn is_race(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::Race { .. } | FaultKind::LaneRace { .. })
}

/// One warp clears a counter, every thread counts, and every thread reads the sum.
const COUNTER: &str = "
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 st.shared.u32 [smem], 0;
    bar.sync 1;
    red.shared.add.u32 [smem], 1;
    bar.sync 2;
    ld.shared.u32 %r1, [smem];
    bar.sync 3;
    @%p0 st.shared.u32 [smem], 0;";

#[test]
fn an_atomic_and_a_plain_access_of_another_warp_race() {
    let ptx = module("", COUNTER);
    check_fine(&ptx, threads(128));
    let uninitialised = |kind: &FaultKind| matches!(kind, FaultKind::Uninitialised { .. });
    for barrier in ["bar.sync 1;", "bar.sync 2;", "bar.sync 3;"] {
        check_flagged(&with(&ptx, barrier, ""), threads(128), is_race);
    }
    let never_cleared = ptx.replacen("@%p0 st.shared.u32 [smem], 0;", "", 1);
    check_flagged(&never_cleared, threads(128), uninitialised);
}

/// An atomic after a plain read of another warp.
#[test]
fn an_atomic_is_ordered_after_plain_reads() {
    let ptx = module("", COUNTER);
    let counts = with(
        &ptx,
        "bar.sync 3;\n    @%p0 st.shared.u32 [smem], 0;",
        "bar.sync 3;\nred.shared.add.u32 [smem], 1;",
    );
    check_fine(&counts, threads(128));
    check_flagged(&with(&counts, "bar.sync 3;", ""), threads(128), is_race);
}

/// Strong stores and loads of a flag do not race, and order the data that the flag publishes.
#[test]
fn strong_accesses_do_not_race_with_each_other() {
    let body = "
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 32;
    setp.ne.u32 %p1, %r0, 0;
    @!%p1 st.shared.u32 [smem], 0;
    bar.sync 1;
    @%p0 bra WRITER;
    READER:
    ld.acquire.cta.shared.u32 %r1, [smem];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra READER;
    ld.shared.u32 %r2, [smem+4];
    bra END;
    WRITER:
    @%p1 bra END;
    st.shared.u32 [smem+4], 7;
    st.release.cta.shared.u32 [smem], 1;
    END:";
    let ptx = module("", body);
    check_fine(&ptx, threads(128));
    let plain = with(&ptx, "st.release.cta.shared.u32", "st.shared.u32");
    check_flagged(&plain, threads(128), is_race);
}

/// Two warps store one value to one word, and a third one reads it.
const ALIKE: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r3, smem;
    setp.gt.u32 %p0, %r0, 63;
    mov.u32 %r1, 7;
    @%p0 bra READ;
    st.shared.b32 [%r3], %r1;
    bar.arrive 1, 96;
    bra END;
    READ:
    bar.sync 1, 96;
    ld.shared.b32 %r2, [%r3];
    st.shared.b32 [%r3+4], %r2;
    END:
    add.u32 %r2, %r0, 1;";

#[test]
fn warps_may_store_equal_values() {
    let ptx = module("", ALIKE);
    let is_race = |kind: &FaultKind| {
        matches!(
            kind,
            FaultKind::Race { .. } | FaultKind::Uninitialised { .. }
        )
    };
    check_fine(&ptx, threads(96));
    check_flagged(
        &with(&ptx, "mov.u32 %r1, 7;", "shr.u32 %r1, %r0, 5;"),
        threads(96),
        is_race,
    );
    // By two instructions they are two accesses.
    let two = with(
        &ptx,
        "st.shared.b32 [%r3], %r1;",
        "setp.gt.u32 %p1, %r0, 31;\n@%p1 st.shared.b32 [%r3], %r1;\n@!%p1 st.shared.b32 [%r3], 7;",
    );
    check_flagged(&two, threads(96), is_race);
    // The reader has to be ordered after both, and so has a writer of another value.
    for after_one in [
        ptx.replace("1, 96;", "1, 64;").replace(
            "bar.arrive",
            "setp.gt.u32 %p1, %r0, 31;\n@%p1 bra END;\nbar.arrive",
        ),
        ptx.replace("1, 96;", "1, 64;").replace(
            "bar.arrive",
            "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra END;\nbar.arrive",
        ),
    ] {
        check_flagged(&after_one, threads(96), is_race);
        let writes = with(
            &after_one,
            "ld.shared.b32 %r2, [%r3];\n",
            "add.u32 %r5, %r1, 1;\nst.shared.b32 [%r3], %r5;\n",
        );
        let writes = with(&writes, "st.shared.b32 [%r3+4], %r2;", "");
        check_flagged(&writes, threads(96), is_race);
    }
    // The next round is another value, behind a barrier.
    let again = with(
        &ptx,
        "END:\n",
        "END:\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\n@!%p0 st.shared.b32 [%r3], %r1;\nbar.sync 0;\nld.shared.b32 %r4, [%r3];\n",
    );
    check_fine(&again, threads(96));
    check_flagged(
        &with(&again, "bar.sync 0;\nadd", "add"),
        threads(96),
        is_race,
    );
}
