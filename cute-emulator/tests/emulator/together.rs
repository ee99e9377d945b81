//! Instructions that lanes execute together: each faulty kernel is refused under every schedule, and its repaired twin under none.

use super::events::{check_fine, check_flagged, threads, with};
use super::{module, words_under};
use cute_emulator::{Absence, FaultKind, MemberMask};

/// The kernel with the number of the thread in `%r0`, and that of the lane in `%r9`.
fn kernel(body: &str) -> String {
    let start = "mov.u32 %r0, %tid.x;\nmov.u32 %r9, %laneid;\nmov.u32 %r8, 1;\nmov.u32 %r7, smem;";
    module("", &format!("{start}\n{body}"))
}

fn is_absence(wanted: fn(&Absence) -> bool) -> impl Fn(&FaultKind) -> bool {
    move |kind| matches!(kind, FaultKind::NotTogether(it) if wanted(&it.absence))
}

fn any(_: &Absence) -> bool {
    true
}

/// Instructions that are `.aligned`, each with what has to come before.
const ALIGNED: [&str; 9] = [
    "bar.sync 0;",
    "bar.sync 1, 64;",
    "bar.arrive 1, 64;",
    "barrier.sync.aligned 0;",
    "bar.red.popc.u32 %r10, 0, %p31;",
    "barrier.cluster.arrive.aligned;",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r8, %r8, %r8, %r8}, {%r8, %r8}, {0f00000000, 0f00000000, 0f00000000, 0f00000000};",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r8;",
    "wgmma.fence.sync.aligned;",
];

#[test]
fn all_threads_of_a_warp_execute_what_is_aligned() {
    for instruction in ALIGNED {
        let start =
            "setp.eq.u32 %p31, %r0, %r0;\nsetp.lt.u32 %p0, %r9, 16;\nsetp.gt.u32 %p1, %r0, 31;";
        // Whole warps may leave it out, and lanes that part before it meet again.
        let skipped =
            |guard: &str| kernel(&format!("{start}\n{guard} bra END;\n{instruction}\nEND:"));
        let ended = |guard: &str| kernel(&format!("{start}\n{guard} exit;\n{instruction}"));
        let guarded = |guard: &str| kernel(&format!("{start}\n{guard} {instruction}"));
        let meets =
            format!("@%p0 bra ON;\nadd.u32 %r1, %r0, 1;\nadd.u32 %r1, %r1, 1;\nON:\n{instruction}");
        // A barrier that counts 64 threads needs both warps.
        let (whole, both) = (["@%p1"], instruction.contains("64"));
        check_fine(&kernel(&format!("{start}\n{meets}")), threads(64));
        for guard in whole.iter().filter(|_| !both) {
            check_fine(&skipped(guard), threads(64));
            check_fine(&ended(guard), threads(64));
        }
        if !both {
            check_fine(&guarded("@!%p1"), threads(64));
        }
        // One lane is enough.
        for part in ["setp.lt.u32 %p0, %r9, 16;", "setp.eq.u32 %p0, %r9, 31;"] {
            let to = |text: String| with(&text, "setp.lt.u32 %p0, %r9, 16;", part);
            for guard in ["@%p0", "@!%p0"] {
                check_flagged(&to(skipped(guard)), threads(64), is_absence(any));
                check_flagged(
                    &to(ended(guard)),
                    threads(64),
                    is_absence(|it| matches!(it, Absence::Ended(_))),
                );
                check_flagged(
                    &to(guarded(guard)),
                    threads(64),
                    is_absence(|it| matches!(it, Absence::Skipped)),
                );
            }
        }
    }
}

/// Odd threads alone reach the barrier, in the last warp.
#[test]
fn half_of_the_last_warp_does_not_synchronise() {
    let ptx = kernel(
        "and.b32 %r1, %r0, 1;
         setp.eq.u32 %p0, %r1, 0;
         setp.lt.u32 %p1, %r0, 32;
         @%p1 bra SYNC;
         @%p0 bra END;
         SYNC:
         bar.sync 0;
         END:
         add.u32 %r1, %r1, 1;",
    );
    check_flagged(&ptx, threads(64), is_absence(any));
    check_flagged(&ptx, threads(40), is_absence(any));
    check_fine(&with(&ptx, "@%p0 bra END;", ""), threads(64));
    // The threads that a CTA does not have are not missing.
    check_fine(&with(&ptx, "@%p0 bra END;", ""), threads(40));
}

/// Each lane has its turn in a loop, and synchronises in it.
const TURNS: &str = "
    mov.u32 %r1, 0;
    NEXT:
    setp.ne.u32 %p0, %r1, %r9;
    @%p0 bra OTHERS;
    INSTRUCTION
    OTHERS:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra NEXT;";

#[test]
fn turns_of_lanes_are_no_barrier() {
    let ptx = |instruction: &str| kernel(&TURNS.replace("INSTRUCTION", instruction));
    for instruction in [
        "bar.sync 0;",
        "barrier.sync.aligned 0;",
        "wgmma.fence.sync.aligned;",
    ] {
        let passed = is_absence(|it| matches!(it, Absence::Passed { .. }));
        check_flagged(&ptx(instruction), threads(64), passed);
        // Outside of the condition all lanes execute it in each turn.
        let repaired = with(&ptx(instruction), instruction, "");
        let repaired = with(&repaired, "OTHERS:", &format!("OTHERS:\n{instruction}"));
        check_fine(&repaired, threads(64));
    }
    // A barrier that is not aligned waits until all lanes of the warp have come to it, and so does a vote.
    check_fine(&ptx("barrier.sync 0;"), threads(64));
    check_fine(&ptx("vote.sync.any.pred %p2, %p0, -1;"), threads(64));
    check_fine(&ptx("bar.warp.sync -1;"), threads(64));
}

/// Each lane leaves the loop after another number of rounds.
#[test]
fn a_loop_of_different_lengths_is_no_place_for_a_barrier() {
    let ptx = kernel(
        "mov.u32 %r1, 0;
         NEXT:
         bar.sync 0;
         add.u32 %r1, %r1, 1;
         setp.le.u32 %p1, %r1, %r9;
         @%p1 bra NEXT;",
    );
    check_flagged(&ptx, threads(64), is_absence(any));
    check_fine(
        &with(
            &ptx,
            "setp.le.u32 %p1, %r1, %r9;",
            "setp.lt.u32 %p1, %r1, 5;",
        ),
        threads(64),
    );
    let after = with(
        &with(&ptx, "bar.sync 0;", ""),
        "@%p1 bra NEXT;",
        "@%p1 bra NEXT;\nbar.sync 0;",
    );
    check_fine(&after, threads(64));
}

/// A condition of two parts, which lanes fulfil in different ways, but all of them do.
#[test]
fn ways_may_meet_inside_of_a_condition() {
    let ptx = kernel(
        "setp.lt.u32 %p0, %r9, 7;
         setp.ge.u32 %p1, %r9, 7;
         @%p0 bra THEN;
         add.u32 %r1, %r9, 1;
         @!%p1 bra END;
         THEN:
         bar.sync 0;
         END:
         add.u32 %r1, %r9, 1;",
    );
    check_fine(&ptx, threads(64));
    check_flagged(
        &with(&ptx, "setp.ge.u32 %p1, %r9, 7;", "setp.ge.u32 %p1, %r9, 8;"),
        threads(64),
        is_absence(any),
    );
}

/// The two ways of a branch have a barrier each.
#[test]
fn barriers_on_two_ways_are_not_one() {
    let ptx = |instruction: &str| {
        kernel(&format!(
            "setp.lt.u32 %p0, %r9, 16;
             @%p0 bra THEN;
             {instruction}
             bra END;
             THEN:
             {instruction}
             END:
             add.u32 %r1, %r9, 1;"
        ))
    };
    let waiting = |kind: &FaultKind| {
        is_absence(|it| matches!(it, Absence::Waiting(_)))(kind)
            && kind.to_string().contains("line")
    };
    check_flagged(&ptx("bar.sync 0;"), threads(64), waiting);
    check_flagged(
        &ptx(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r8, %r8, %r8, %r8}, {%r8, %r8}, {0f00000000, 0f00000000, 0f00000000, 0f00000000};",
        ),
        threads(64),
        waiting,
    );
    // By warps they are.
    let by_warp = with(
        &ptx("bar.sync 0;"),
        "setp.lt.u32 %p0, %r9, 16;",
        "setp.lt.u32 %p0, %r0, 32;",
    );
    check_fine(&by_warp, threads(64));
    // What is not aligned waits for "the same qualifiers and same membermask value", wherever that is.
    for instruction in [
        "barrier.sync 0;",
        "bar.warp.sync -1;",
        "vote.sync.any.pred %p2, %p0, -1;",
        "shfl.sync.bfly.b32 %r2, %r0, 16, 31, -1;",
    ] {
        check_fine(&ptx(instruction), threads(64));
    }
}

/// Exchanges at two instructions have the operands of each.
#[test]
fn lanes_exchange_at_two_instructions() {
    let body = "
        mov.u32 %r5, %laneid;
        setp.lt.u32 %p0, %r5, 16;
        add.u32 %r3, %r0, 100;
        @%p0 bra THEN;
        shfl.sync.bfly.b32 %r1, %r3, 16, 31, -1;
        vote.sync.ballot.b32 %r4, 0, -1;
        bra END;
        THEN:
        shfl.sync.bfly.b32 %r6, %r0, 16, 31, -1;
        vote.sync.ballot.b32 %r4, 1, -1;
        mov.u32 %r1, %r6;
        END:
        add.u32 %r1, %r1, %r4;";
    let expected: Vec<u32> = (0..32)
        .map(|lane| {
            0xffff
                + if lane < 16 {
                    lane + 16 + 100
                } else {
                    lane - 16
                }
        })
        .collect();
    for seed in super::SEEDS {
        assert_eq!(words_under(seed, 32, body).unwrap(), expected);
    }
}

/// Exchanges and barriers with a member mask in `%r1`.
const MASKED: [&str; 7] = [
    "shfl.sync.bfly.b32 %r2, %r0, 1, 31, %r1;",
    "vote.sync.any.pred %p2, %p31, %r1;",
    "vote.sync.ballot.b32 %r2, %p31, %r1;",
    "match.any.sync.b32 %r2, %r0, %r1;",
    "redux.sync.add.u32 %r2, %r0, %r1;",
    "elect.sync %r2|%p2, %r1;",
    "bar.warp.sync %r1;",
];

#[test]
fn a_lane_is_in_its_own_mask() {
    for instruction in MASKED {
        let ptx = kernel(&format!(
            "setp.eq.u32 %p31, %r0, %r0;\nmov.u32 %r1, -1;\n{instruction}"
        ));
        check_fine(&ptx, threads(64));
        for mask in ["1", "0", "0xfffffffe", "0x7fffffff"] {
            let faulty = with(&ptx, "mov.u32 %r1, -1;", &format!("mov.u32 %r1, {mask};"));
            check_flagged(&faulty, threads(64), |kind| {
                matches!(
                    kind,
                    FaultKind::MemberMask(
                        MemberMask::WithoutItself { .. } | MemberMask::Differs { .. }
                    )
                )
            });
        }
    }
}

#[test]
fn the_lanes_of_a_mask_have_the_same_mask() {
    for instruction in MASKED {
        let start = "setp.eq.u32 %p31, %r0, %r0;\nsetp.lt.u32 %p0, %r9, 16;";
        // Two groups of lanes with masks of their own.
        let ptx = kernel(&format!(
            "{start}\nselp.b32 %r1, 0x0000ffff, 0xffff0000, %p0;\n{instruction}"
        ));
        check_fine(&ptx, threads(64));
        let differs =
            |kind: &FaultKind| matches!(kind, FaultKind::MemberMask(MemberMask::Differs { .. }));
        let all = with(
            &ptx,
            "0x0000ffff, 0xffff0000, %p0",
            "0xffffffff, 0xffff0000, %p0",
        );
        check_flagged(&all, threads(64), differs);
        let others = with(
            &ptx,
            "0x0000ffff, 0xffff0000, %p0",
            "0x0000ffff, 0xffffffff, %p0",
        );
        check_flagged(&others, threads(64), |kind| {
            matches!(kind, FaultKind::MemberMask(_))
        });
        // A part of a warp exchanges by itself.
        let half = kernel(&format!(
            "{start}\nmov.u32 %r1, 0xffff;\n@!%p0 bra END;\n{instruction}\nEND:"
        ));
        check_fine(&half, threads(64));
        check_fine(
            &with(&half, "@!%p0 bra END;\n", "@!%p0 exit;\n"),
            threads(64),
        );
    }
}

#[test]
fn groups_of_a_warp_vote_for_themselves() {
    let body = "
        setp.lt.u32 %p0, %r0, 8;
        selp.b32 %r2, 0x000000ff, 0xffffff00, %p0;
        vote.sync.all.pred %p1, %p0, %r2;
        redux.sync.add.u32 %r3, 1, %r2;
        selp.b32 %r1, 100, 200, %p1;
        add.u32 %r1, %r1, %r3;";
    let expected: Vec<u32> = (0..32)
        .map(|lane| if lane < 8 { 108 } else { 224 })
        .collect();
    for seed in super::SEEDS {
        assert_eq!(words_under(seed, 32, body).unwrap(), expected);
    }
}

/// A member that has ended counts for what "all non-exited threads" execute, and not for `bar.warp.sync` and `elect.sync`.
#[test]
fn members_that_have_ended() {
    for instruction in MASKED {
        let ptx = kernel(&format!(
            "setp.eq.u32 %p31, %r0, %r0;\nsetp.lt.u32 %p0, %r9, 16;\nmov.u32 %r1, -1;\n@!%p0 exit;\n{instruction}"
        ));
        let strict = instruction.starts_with("elect") || instruction.starts_with("bar.warp");
        match strict {
            true => check_flagged(
                &ptx,
                threads(64),
                is_absence(|it| matches!(it, Absence::Ended(_))),
            ),
            false => check_fine(&ptx, threads(64)),
        }
        check_fine(&ptx, |ptx, seed| {
            let mut run = super::Run::threads(64).seed(seed);
            run.launch.checks.strict = false;
            run.go(ptx, &[]).map(drop)
        });
        // Those that the CTA does not have are not missing.
        check_fine(&with(&ptx, "@!%p0 exit;", ""), threads(48));
    }
}

/// Lanes that wait for a lane which never comes, with both places.
#[test]
fn a_member_never_comes() {
    let ptx = kernel(
        "setp.eq.u32 %p0, %r9, 0;
         @%p0 bra OTHER;
         bar.warp.sync -1;
         bra END;
         OTHER:
         bar.warp.sync 1;
         vote.sync.any.pred %p1, %p0, -1;
         END:
         add.u32 %r1, %r9, 1;",
    );
    check_flagged(&ptx, threads(32), |kind| {
        is_absence(|it| matches!(it, Absence::Waiting(_)))(kind) && kind.to_string().contains("(`")
    });
    check_fine(
        &with(
            &ptx,
            "vote.sync.any.pred %p1, %p0, -1;",
            "bar.warp.sync -1;",
        ),
        threads(32),
    );
}
