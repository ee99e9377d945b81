//! Values that PTX leaves undefined: each kernel in which something depends on one is refused under every schedule, and its twin in
//! which nothing does under none.

use super::events::{check_fine, check_flagged, with};
use super::{Run, SEEDS, module, pointer, words_under};
use cute_emulator::{EmulatorError, FaultKind, Inactive};

/// Launches a kernel of `threads` threads with as many words at `x`.
fn threads(threads: u32) -> impl Fn(&str, u64) -> Result<(), EmulatorError> {
    move |ptx, seed| {
        let mut run = Run::threads(threads).seed(seed);
        let x = run.words(&vec![0; threads as usize]);
        run.go(ptx, &[pointer(x)]).map(drop)
    }
}

fn kernel(body: &str) -> String {
    let start = "ld.param.u64 %d0, [x];\nmov.u32 %r0, %tid.x;\nmov.u32 %r9, %laneid;\nmov.u32 %r8, smem;\n\
                 mad.wide.u32 %d1, %r0, 4, %d0;";
    module(".param .u64 x", &format!("{start}\n{body}"))
}

fn inactive(why: fn(&Inactive) -> bool) -> impl Fn(&FaultKind) -> bool {
    move |kind| matches!(kind, FaultKind::UndefinedValue(value) if why(&value.why))
}

/// A sum over the lanes, of which only the first lane's is right.
const TREE: &str = "
    SHUFFLE_16
    shfl.sync.down.b32 %r2, %r1, 8, 31, MASK;
    add.u32 %r1, %r1, %r2;
    shfl.sync.down.b32 %r2, %r1, 4, 31, MASK;
    add.u32 %r1, %r1, %r2;
    shfl.sync.down.b32 %r2, %r1, 2, 31, MASK;
    add.u32 %r1, %r1, %r2;
    shfl.sync.down.b32 %r2, %r1, 1, 31, MASK;
    add.u32 %r1, %r1, %r2;";

fn tree(first: bool, mask: &str) -> String {
    let shuffle = "shfl.sync.down.b32 %r2, %r1, 16, 31, MASK;\nadd.u32 %r1, %r1, %r2;";
    TREE.replace("SHUFFLE_16", if first { shuffle } else { "" })
        .replace("MASK", mask)
}

#[test]
fn half_of_a_warp_adds_up_its_lanes() {
    let body = format!(
        "mov.u32 %r1, %r0;\nsetp.gt.u32 %p0, %r0, 15;\n@%p0 bra END;\n{}\nEND:",
        tree(false, "0xffff")
    );
    for seed in SEEDS {
        // Lane 0 has the sum of 0 to 15. The others hold what may be anything, and keep it for themselves.
        let stored = format!("{body}\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 mov.u32 %r1, 0;");
        assert_eq!(words_under(seed, 32, &stored).unwrap()[0], 120);
    }
    let first = kernel(&format!(
        "{body}\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 st.global.b32 [%d1], %r1;"
    ));
    check_fine(&first, threads(32));
    check_flagged(
        &with(&first, "@%p1 st.global", "@!%p0 st.global"),
        threads(32),
        inactive(|why| matches!(why, Inactive::NoMember)),
    );
    // Lane 0 reads lane 16, too.
    let whole = body.replace(&tree(false, "0xffff"), &tree(true, "0xffff"));
    let whole = kernel(&format!(
        "{whole}\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 st.global.b32 [%d1], %r1;"
    ));
    check_flagged(
        &whole,
        threads(32),
        inactive(|why| matches!(why, Inactive::NoMember)),
    );
}

/// Threads past the end of an array return before the lanes add up.
#[test]
fn lanes_that_have_returned_are_not_read() {
    let ptx = kernel(&format!(
        "mov.u32 %r1, %r0;
         setp.ge.u32 %p0, %r0, 40;
         @%p0 bra END;
         {}
         setp.eq.u32 %p1, %r9, 0;
         @%p1 st.global.b32 [%d1], %r1;
         END:",
        tree(true, "-1")
    ));
    check_flagged(
        &ptx,
        threads(64),
        inactive(|why| matches!(why, Inactive::Ended(_))),
    );
    check_fine(&with(&ptx, "%r0, 40;", "%r0, 32;"), threads(64));
    // The last warp of the CTA has 16 threads.
    let all = with(&ptx, "%r0, 40;", "%r0, 64;");
    check_fine(&all, threads(64));
    check_flagged(
        &all,
        threads(48),
        inactive(|why| matches!(why, Inactive::NotLaunched)),
    );
}

/// What is read from a lane that takes no part, in each place where something depends on it.
#[test]
fn an_undefined_value_is_used() {
    let shuffle = "setp.lt.u32 %p0, %r9, 16;\n@!%p0 bra END;\nnot.pred %p4, %p0;\nshfl.sync.idx.b32 %r1|%p1, %r0, 20, 31, 0xffff;";
    let rows = [
        ("st.global.b32 [%d1], %r1;", "st.global.b32 [%d1], %r0;"),
        ("st.shared.b32 [%r8], %r1;", ""),
        (
            "mad.wide.u32 %d2, %r1, 4, %d0;\nld.global.b32 %r3, [%d2];",
            "mad.wide.u32 %d2, %r1, 4, %d0;",
        ),
        (
            "setp.eq.u32 %p2, %r1, 3;\n@%p2 bra END;",
            "setp.eq.u32 %p2, %r1, 3;",
        ),
        ("setp.eq.u32 %p2, %r1, 3;\n@%p2 add.u32 %r0, %r0, 1;", ""),
        (
            "shfl.sync.idx.b32 %r2, %r0, %r1, 31, 0xffff;",
            "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffff;",
        ),
        (
            "mov.b32 {%h0, %h1}, %r1;\nst.global.b16 [%d1], %h1;",
            "mov.b32 {%h0, %h1}, %r1;",
        ),
        ("div.u32 %r2, 7, %r1;", ""),
        ("red.global.add.u32 [%d0], %r1;", ""),
        (
            "selp.b32 %r2, %r0, %r1, %p0;\nselp.b32 %r2, %r0, %r1, %p4;\nst.global.b32 [%d1], %r2;",
            "selp.b32 %r2, %r1, %r0, %p4;\nselp.b32 %r2, %r0, %r1, %p0;\nst.global.b32 [%d1], %r2;",
        ),
        // False and anything is false.
        (
            "setp.eq.u32 %p2, %r1, 3;\nand.pred %p3, %p2, %p0;\n@%p3 bra END;",
            "setp.eq.u32 %p2, %r1, 3;\nand.pred %p3, %p2, %p4;\n@%p3 bra END;",
        ),
        (
            "setp.eq.u32 %p2, %r1, 3;\nor.pred %p3, %p4, %p2;\n@%p3 bra END;",
            "setp.eq.u32 %p2, %r1, 3;\nor.pred %p3, %p0, %p2;\n@%p3 bra END;",
        ),
        (
            "setp.eq.and.u32 %p2, %r1, 3, %p0;\n@%p2 bra END;",
            "setp.eq.and.u32 %p2, %r1, 3, !%p0;\n@%p2 bra END;",
        ),
        (
            "setp.eq.or.u32 %p2, %r1, 3, !%p0;\n@%p2 bra END;",
            "setp.eq.or.u32 %p2, %r1, 3, %p0;\n@%p2 bra END;",
        ),
        (
            "add.u32 %r1, %r1, 1;\nst.global.b32 [%d1], %r1;",
            "mov.u32 %r1, 1;\nst.global.b32 [%d1], %r1;",
        ),
    ];
    for (faulty, repaired) in rows {
        let ptx = |body: &str| kernel(&format!("{shuffle}\n{body}\nEND:"));
        check_flagged(&ptx(faulty), threads(32), inactive(|_| true));
        check_fine(&ptx(repaired), threads(32));
    }
}

/// The merge of two sorted halves, which loads the word behind a half and compares it, whether that matters or not.
const MERGE: &str = "
    setp.gt.u32 %p0, %r0, 15;
    not.pred %p4, %p0;
    mad.lo.u32 %r1, %r0, 4, %r8;
    @!%p0 st.shared.b32 [%r1], %r0;
    bar.sync 0;
    ld.shared.b32 %r2, [%r1];
    ld.shared.b32 %r3, [%r8];
    setp.lt.u32 %p1, %r2, %r3;
    setp.lt.and.u32 %p2, %r2, %r3, !%p0;
    and.pred %p1, %p1, %p4;
    or.pred %p1, %p1, %p2;
    selp.b32 %r4, %r2, %r3, %p1;
    st.global.b32 [%d1], %r4;";

#[test]
fn a_word_that_nobody_has_written_may_be_read_for_nothing() {
    let ptx = kernel(MERGE);
    let uninitialised = |kind: &FaultKind| matches!(kind, FaultKind::Uninitialised { .. });
    check_fine(&ptx, threads(32));
    check_flagged(
        &with(&ptx, "and.pred %p1, %p1, %p4;", ""),
        threads(32),
        uninitialised,
    );
    check_flagged(
        &with(&ptx, "%r2, %r3, !%p0;", "%r2, %r3, %p0;"),
        threads(32),
        uninitialised,
    );
    check_flagged(
        &with(&ptx, "selp.b32 %r4, %r2, %r3", "selp.b32 %r4, %r3, %r2"),
        threads(32),
        uninitialised,
    );
    // It stays a read, with which a write of another warp races.
    let written = "
        setp.gt.u32 %p0, %r0, 31;
        @%p0 bra WRITE;
        ld.shared.b32 %r2, [%r8];
        bra END;
        WRITE:
        bar.sync 1, 32;
        @%p0 st.shared.b32 [%r8], 1;
        END:";
    let race = |seed| {
        let mut run = Run::threads(64).seed(seed);
        let x = run.words(&[0; 64]);
        run.go(&kernel(written), &[pointer(x)])
    };
    let raced = super::events::SCHEDULES.filter(|seed| match race(*seed) {
        Err(EmulatorError::Fault(fault)) => matches!(fault.kind, FaultKind::Race { .. }),
        other => panic!("{other:?}"),
    });
    assert_eq!(raced.count(), 20);
}

/// `selp` moves one of two registers, of which the other one may not be written.
#[test]
fn only_the_selected_operand_is_read() {
    let ptx = kernel(
        "setp.lt.u32 %p0, %r9, 16;
         @%p0 mov.u32 %r1, 5;
         selp.b32 %r2, %r1, %r0, %p0;
         not.pred %p4, %p0;
         selp.b32 %r3, %r0, %r1, %p4;
         st.global.v2.b32 [%d0], {%r8, %r8};",
    );
    let ptx = with(
        &ptx,
        "st.global.v2.b32 [%d0], {%r8, %r8};",
        "add.u32 %r4, %r2, %r3;",
    );
    check_fine(&ptx, threads(32));
    let unwritten = |kind: &FaultKind| matches!(kind, FaultKind::UnwrittenRegister { register } if register == "%r1");
    check_flagged(
        &with(
            &ptx,
            "selp.b32 %r2, %r1, %r0, %p0;",
            "selp.b32 %r2, %r0, %r1, %p0;",
        ),
        threads(32),
        unwritten,
    );
    check_flagged(
        &with(&ptx, "%r0, %r1, %p4;", "%r0, %r1, %p0;"),
        threads(32),
        unwritten,
    );
    check_flagged(
        &with(&ptx, "@%p0 mov.u32 %r1, 5;", "@!%p0 mov.u32 %r1, 5;"),
        threads(32),
        unwritten,
    );
    // The condition is read.
    let unwritten = |kind: &FaultKind| matches!(kind, FaultKind::UnwrittenRegister { register } if register == "%p0");
    check_flagged(
        &with(
            &ptx,
            "setp.lt.u32 %p0, %r9, 16;",
            "setp.lt.u32 %p1, %r9, 16;",
        )
        .replace("@%p0 mov", "@%p1 mov"),
        threads(32),
        unwritten,
    );
}

/// Lanes that exchange at two instructions of the same kind keep apart what is undefined in the registers of each.
#[test]
fn undefined_values_stay_with_their_lanes() {
    let ptx = kernel(
        "setp.lt.u32 %p0, %r9, 16;
         mov.u32 %r1, %r0;
         mov.u32 %r5, %r0;
         @%p0 bra THEN;
         shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff0000;
         shfl.sync.bfly.b32 %r3, %r5, 16, 31, -1;
         mov.u32 %r1, %r0;
         bra END;
         THEN:
         shfl.sync.bfly.b32 %r4, %r1, 16, 31, -1;
         st.global.b32 [%d1], %r4;
         END:
         st.global.b32 [%d1], %r1;",
    );
    check_fine(&ptx, threads(32));
    // What lane 16 gives is undefined.
    check_flagged(
        &with(&ptx, "%r3, %r5, 16", "%r3, %r1, 16"),
        threads(32),
        inactive(|why| matches!(why, Inactive::NoMember)),
    );
}
