//! Phases of mbarriers and generations of named barriers that one schedule tells apart and another one mixes up: each faulty kernel
//! is refused under every schedule, and its repaired twin under none.

use super::events::{SCHEDULES, check_fine, threads, with};
use super::module;
use cute_emulator::EmulatorError;

/// Warp 0 fills a ring of one stage four times and waits for the last release; warp 1 takes what is in it. The ring holds no data, so that
/// nothing but the order of the phases can be wrong.
const RING: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    mov.u32 %r4, 0;
    mov.u32 %r5, 1;
    mov.u32 %r6, 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2], 32;
    mbarrier.init.shared::cta.b64 [%r2+8], 32;
READY:
    bar.sync 0;
    setp.gt.u32 %p1, %r0, 31;
    @%p1 bra TAKE;
FILL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+8], %r5;
    @!%p2 bra FILL;
    mbarrier.arrive.shared::cta.b64 _, [%r2];
    xor.b32 %r5, %r5, 1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, 4;
    @%p3 bra FILL;
LAST:
    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2+8], %r5;
    @!%p5 bra LAST;
    bra END;
TAKE:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r2], %r6;
    @!%p4 bra TAKE;
    mbarrier.arrive.shared::cta.b64 _, [%r2+8];
    xor.b32 %r6, %r6, 1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, 4;
    @%p3 bra TAKE;
END:";

/// Two warpgroups take turns by two barriers of 256 threads, and each has a barrier of its own.
const TURNS: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r4, 0;
    shr.u32 %r1, %r0, 7;
    add.u32 %r1, %r1, 1;
    mov.u32 %r2, 3;
    sub.u32 %r2, %r2, %r1;
    add.u32 %r5, %r1, 2;
    setp.eq.u32 %p0, %r1, 1;
    @%p0 bra NEXT;
    bar.arrive %r2, 256;
NEXT:
    bar.sync %r1, 256;
    bar.sync %r5, 128;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 3;
    setp.eq.and.u32 %p2, %r4, 3, %p0;
    or.pred %p3, %p1, %p2;
    @!%p3 bra END;
    bar.arrive %r2, 256;
    @%p1 bra NEXT;
END:";

/// Every schedule reports a fault or a deadlock.
fn check_reported(what: &str, ptx: &str, launch: impl Fn(&str, u64) -> Result<(), EmulatorError>) {
    for seed in SCHEDULES {
        match launch(ptx, seed) {
            Err(EmulatorError::Fault(_) | EmulatorError::Deadlock { .. }) => {}
            Err(error) => panic!("{what}, seed {seed}: {error}"),
            Ok(()) => panic!("{what} ends under seed {seed}"),
        }
    }
}

#[test]
fn phases_are_known_when_parities_are_waited_for() {
    let ring = module("", RING);
    check_fine(&ring, threads(64));
    let fill = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+8], %r5;";
    let take = "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r2], %r6;";
    let last = "mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2+8], %r5;";
    let first = |wait: &str| {
        let unless = "setp.eq.u32 %p6, %r4, 0;\n@%p6 bra SKIP;";
        format!("{unless}\n{wait}\nbra WENT;\nSKIP: mov.pred %p4, 1;\nWENT:")
    };
    let rows = [
        (
            "a filler that does not repeat its wait",
            with(&ring, "@!%p2 bra FILL;", ""),
        ),
        (
            "a taker that does not repeat its wait",
            with(&ring, "@!%p4 bra TAKE;", ""),
        ),
        (
            "a filler that does not wait",
            with(&with(&ring, fill, ""), "@!%p2 bra FILL;", ""),
        ),
        (
            "a taker that does not wait for phase 0",
            with(&ring, take, &first(take)),
        ),
        (
            "a last wait for the other parity",
            with(&ring, last, &format!("xor.b32 %r5, %r5, 1;\n{last}")),
        ),
        (
            "a taker that releases before it waits",
            with(
                &with(&ring, "mbarrier.arrive.shared::cta.b64 _, [%r2+8];", ""),
                "TAKE:",
                "TAKE:\nmbarrier.arrive.shared::cta.b64 _, [%r2+8];\nAGAIN:",
            )
            .replace("bra TAKE;\n    xor", "bra AGAIN;\n    xor"),
        ),
    ];
    for (what, faulty) in rows {
        check_reported(what, &faulty, threads(64));
    }
}

/// Warps 1 and 2 each take two rounds. The second one begins with phase 2, which has the parity of phase 0.
#[test]
fn a_phase_is_not_told_by_its_parity_alone() {
    let handed_over = with(
        &with(RING, "@%p1 bra TAKE;\nFILL:", "@%p1 bra FIRST;\nFILL:"),
        "TAKE:\n",
        "FIRST:\n    setp.gt.u32 %p6, %r0, 63;\n    mov.u32 %r7, 2;\n    @!%p6 bra TAKE;\n    bar.sync 1, 64;\n    mov.u32 %r4, 2;\n    \
         mov.u32 %r7, 4;\nTAKE:\n",
    );
    let handed_over = with(
        &handed_over,
        "setp.lt.u32 %p3, %r4, 4;\n    @%p3 bra TAKE;",
        "setp.lt.u32 %p3, %r4, %r7;\n    @%p3 bra TAKE;\n    @%p6 bra END;\n    bar.sync 1, 64;",
    );
    let fine = module("", &handed_over);
    check_fine(&fine, threads(96));
    let unordered = fine.replace("bar.sync 1, 64;", "");
    check_reported(
        "a second taker that comes too early",
        &unordered,
        threads(96),
    );
}

#[test]
fn warpgroups_that_share_a_barrier_are_ordered() {
    let turns = module("", TURNS);
    check_fine(&turns, threads(256));
    let rows = [
        (
            "a second arrival in a turn",
            with(
                &turns,
                "@!%p3 bra END;",
                "@!%p3 bra END;\n    bar.arrive %r2, 256;",
            ),
        ),
        (
            "an arrival before the turn",
            with(&turns, "NEXT:\n", "NEXT:\n    bar.arrive %r2, 256;\n"),
        ),
    ];
    for (what, faulty) in rows {
        check_reported(what, &faulty, threads(256));
    }
    // One after the other they may use the same barrier, but not at the same time.
    check_fine(
        &with(&turns, "add.u32 %r5, %r1, 2;", "mov.u32 %r5, 3;"),
        threads(256),
    );
    let apart = turns
        .replace("bar.sync %r1, 256;", "")
        .replace("bar.arrive %r2, 256;", "");
    check_fine(&apart, threads(256));
    check_reported(
        "one barrier for two warpgroups",
        &with(&apart, "add.u32 %r5, %r1, 2;", "mov.u32 %r5, 3;"),
        threads(256),
    );
}
