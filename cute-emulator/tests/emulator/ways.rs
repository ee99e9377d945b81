//! Threads take the ways that the PTX says: each that does not is refused under every schedule, and its repaired twin under none.

use super::events::{check_fine, check_flagged};
use super::{Run, module, pointer};
use cute_emulator::{Checks, EmulatorError, Program};

/// A kernel in which `%r0` is the thread of 32, `%r1` is 8, `%d1` is the address of the thread's number in `out`, and `%p0` tells
/// whether the thread is below 8.
fn kernel(body: &str) -> String {
    let start = "
        ld.param.u64 %d0, [out];
        mov.u32 %r0, %tid.x;
        mov.u32 %r1, 8;
        mad.wide.u32 %d1, %r0, 4, %d0;
        setp.lt.u32 %p0, %r0, 8;";
    module(".param .u64 out", &format!("{start}\n{body}"))
}

fn run<'a>(seed: u64) -> (Run<'a>, [Vec<u8>; 1]) {
    let mut run = Run::threads(32).seed(seed);
    let out = run.words(&[0; 32]);
    (run, [pointer(out)])
}

fn launch(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let (mut run, args) = run(seed);
    run.go(ptx, &args).map(drop)
}

/// What is wrong, the lines, what is to be replaced there, by what, and a part of the message.
const MISTAKES: &[(&str, &str, &str, &str, &str)] = &[
    (
        "a guard left out",
        "@%p0 st.global.u32 [%d1], 1; // if %r0 < %r1",
        "@%p0 ",
        "",
        "executes what the PTX says is for threads with `%r0 < %r1`, but this one has 8 < 8",
    ),
    (
        "a guard negated",
        "@%p0 st.global.u32 [%d1], 1; // _; if %r0 < %r1",
        "@%p0",
        "@!%p0",
        "skips what the PTX says is for threads with `%r0 < %r1`, but this one has 0 < 8",
    ),
    (
        "another comparison",
        "setp.ge.u32 %p1, %r0, 31;\n@%p1 st.global.u32 [%d1], 1; // if %r0 >= 31",
        "setp.ge",
        "setp.gt",
        "skips what the PTX says is for threads with `%r0 >= 31`, but this one has 31 >= 31",
    ),
    (
        "another bound, and a guard that holds in no thread",
        "setp.eq.u32 %p1, %r0, 5;\n@%p1 st.global.u32 [%d1], 1; // if %r0 == 5",
        "%r0, 5",
        "%r0, 32",
        "skips what the PTX says is for threads with `%r0 == 5`, but this one has 5 == 5",
    ),
    (
        "a branch left out",
        "@!%p0 bra END; // if %r0 >= 8\n// where %r0 < 8\nst.global.u32 [%d1], 1;\nEND:",
        "@!%p0 bra END;",
        "",
        "gets to a line that the PTX says is for threads with `%r0 < 8`, but this one has 8 < 8",
    ),
    (
        "a branch always taken",
        "@!%p0 bra END; // if %r0 >= 8\n// where %r0 < 8\nst.global.u32 [%d1], 1;\nEND:",
        "@!%p0 ",
        "",
        "executes what the PTX says is for threads with `%r0 >= 8`, but this one has 0 >= 8",
    ),
    (
        "a loop with one iteration",
        "mov.u32 %r2, 0;\n\
         NEXT: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra NEXT; // if %r2 < %r1\n\
         // where %r2 >= %r1\nEND: st.global.u32 [%d1], %r2;",
        "@%p1 bra NEXT;",
        "",
        "goes on to a line that the PTX says is for threads with `%r2 >= %r1`, but this one has 1 >= 8",
    ),
    (
        "an end left out",
        "@%p0 exit; // if %r0 < 8\n// where %r0 >= 8\nst.global.u32 [%d1], 1;",
        "@%p0 exit;",
        "",
        "threads with `%r0 >= 8`, but this one has 0 >= 8",
    ),
    (
        "one of two comparisons",
        "setp.gt.and.u32 %p1, %r0, 2, %p0;\n@%p1 st.global.u32 [%d1], 1; // if %r0 > 2 && %r0 < 8",
        "setp.gt.and.u32 %p1, %r0, 2, %p0",
        "setp.gt.u32 %p1, %r0, 2",
        "threads with `%r0 > 2 && %r0 < 8`, but this one has 8 > 2 && 8 < 8",
    ),
    (
        "none of two comparisons",
        "setp.eq.or.u32 %p1, %r0, 9, %p0;\n@%p1 st.global.u32 [%d1], 1; // if %r0 == 9 || %r0 < 8",
        "@%p1 ",
        "",
        "threads with `%r0 == 9 || %r0 < 8`, but this one has 8 == 9 || 8 < 8",
    ),
    (
        "a signed number",
        "sub.u32 %r2, %r0, 4;\nsetp.lt.s32 %p1, %r2, 0;\n@%p1 st.global.u32 [%d1], 1; // if s32 %r2 < 0",
        "setp.lt",
        "setp.le",
        "threads with `s32 %r2 < 0`, but this one has 0 < 0",
    ),
];

#[test]
fn threads_take_the_ways_that_the_ptx_says() {
    for (name, right, part, mistake, message) in MISTAKES {
        println!("{name}");
        check_fine(&kernel(right), launch);
        let faulty = kernel(&right.replacen(part, mistake, 1));
        check_flagged(&faulty, launch, |kind| kind.to_string().contains(message));
        let (mut run, args) = run(0);
        run.launch.checks = Checks {
            ways: false,
            ..Checks::default()
        };
        run.go(&faulty, &args).unwrap();
    }
}

#[test]
fn a_wgmma_adds_where_the_ptx_says() {
    // A has 2 KiB at the beginning of shared memory, B 256 bytes after it.
    let (a, b) = (64_u64 << 16 | 8 << 32, 8_u64 << 16 | 8 << 32);
    let kernel = |compared: &str| {
        let d = "%f0, %f1, %f2, %f3";
        kernel(&format!(
            "mov.u32 %r2, smem;\nshl.b32 %r3, %r0, 4;\nadd.u32 %r3, %r3, %r2;\nmov.u32 %r4, 0;\n\
             st.shared.v4.b32 [%r3], {{%r4, %r4, %r4, %r4}};\nst.shared.v4.b32 [%r3+2048], {{%r4, %r4, %r4, %r4}};\n\
             fence.proxy.async.shared::cta;\nbar.sync 0;\n\
             shr.u32 %r4, %r2, 4;\ncvt.u64.u32 %d1, %r4;\nor.b64 %d2, %d1, {a};\nadd.u64 %d3, %d1, 128;\nor.b64 %d3, %d3, {b};\n\
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
             setp.gt.u32 %p1, %r1, {compared};\nwgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{{d}}}, %d2, %d3, %p1, 1, 1, 0, 0; // adds if %r1 > 5\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
        ))
    };
    let launch = |ptx: &str, seed: u64| {
        let (mut run, args) = run(seed);
        run.launch.block = [128, 1, 1];
        run.go(ptx, &args).map(drop)
    };
    check_fine(&kernel("5"), launch);
    let message = "does not add to D, which the PTX says is for threads with `%r1 > 5`, but this one has 8 > 5";
    check_flagged(&kernel("8"), launch, |kind| kind.to_string() == message);
    let message =
        "adds to D, which the PTX says is for threads with `%r1 > 9`, but this one has 8 > 9";
    let other = kernel("5").replace("adds if %r1 > 5", "adds if %r1 > 9");
    check_flagged(&other, launch, |kind| kind.to_string() == message);
}

/// Threads that jump to a label are not those that come from the line before it.
#[test]
fn a_comment_before_a_label_is_of_those_that_come_from_above() {
    check_fine(
        &kernel(
            "@%p0 bra END;\nst.global.u32 [%d1], 1;\n// where %r0 >= 8\nEND: st.global.u32 [%d1], 2;",
        ),
        launch,
    );
    let below = kernel("@%p0 bra END;\nEND:\n// where %r0 >= 8\nst.global.u32 [%d1], 2;");
    check_flagged(&below, launch, |kind| kind.to_string().contains("gets to"));
}

#[test]
fn other_comments_claim_nothing() {
    for comment in ["if", "if the thread is below 8", "adds if it must"] {
        let guarded = format!("@%p0 st.global.u32 [%d1], 1; // {comment}");
        check_fine(&kernel(&guarded), launch);
        let alone = comment.replacen("if", "where", 1);
        check_fine(
            &kernel(&format!("// {alone}\nst.global.u32 [%d1], 1;")),
            launch,
        );
    }
}

/// What begins like a condition and is none, or names what is not there, is refused with its line.
#[test]
fn conditions_that_cannot_be_read_are_refused() {
    let like = "begins like a condition, such as `%i + 1 < %n`, and is none";
    for (comment, message) in [
        ("if %r0", like),
        ("if %r0 < ", like),
        ("if %r0 < x", like),
        ("if %r0 < 4 && %r0", like),
        ("if s32 %r0 < %r1", like),
        ("if %r99 < 8", "the claim `%r99 < 8`: "),
    ] {
        let guarded = format!("@%p0 st.global.u32 [%d1], 1; // {comment}");
        let alone = comment.replacen("if", "where", 1);
        let alone = format!("// {alone}\nst.global.u32 [%d1], 1;");
        for body in [guarded, alone] {
            let error = Program::load(&kernel(&body)).map(|_| ());
            let error = error.expect_err(comment).to_string();
            assert!(error.contains(message), "{body}: {error}");
            assert!(error.contains("line "), "{body}: {error}");
        }
    }
    let error = Program::load(&agreement("mov.u32 %r1, 0;", "grid")).map(|_| ());
    let error = error.expect_err("no such group").to_string();
    assert!(
        error.contains("begins like a claim about threads, such as `uniform %r5 in warp`"),
        "{error}"
    );
}

/// A kernel of 256 threads in which each thread has a number of its own in `%r1`, and the claim is made twice.
fn agreement(number: &str, group: &str) -> String {
    module(
        ".param .u64 out",
        &format!(
            "mov.u32 %r0, %tid.x;
             mov.u32 %r3, 0;
             AGAIN: add.u32 %r3, %r3, 1;
             {number}
             // uniform %r1 in {group}
             HERE: setp.lt.u32 %p0, %r3, 2;
             @%p0 bra AGAIN;"
        ),
    )
}

/// A number, the groups in which it is the same, and those in which it is not, each with a part of the message.
type Number<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);

const AGREEMENTS: &[Number] = &[
    ("mov.u32 %r1, %ctaid.x;", &["warp", "warpgroup", "CTA"], &[]),
    ("mov.u32 %r1, %r3;", &["warp", "warpgroup", "CTA"], &[]),
    (
        "shr.u32 %r1, %r0, 7;",
        &["warp", "warpgroup"],
        &[(
            "CTA",
            "which the PTX says is the same in the whole CTA, but warp ",
        )],
    ),
    (
        "shr.u32 %r1, %r0, 5;",
        &["warp"],
        &[
            ("warpgroup", "came here as often, 1 time"),
            ("CTA", "came here as often, 1 time"),
        ],
    ),
    (
        "shr.u32 %r1, %r0, 4;",
        &[],
        &[
            (
                "warp",
                "which the PTX says is the same in the whole warp, but lane 0 has ",
            ),
            ("CTA", "lane 16"),
        ],
    ),
    (
        "setp.eq.u32 %p1, %r3, 2;\nmov.u32 %r1, 5;\n@%p1 shr.u32 %r1, %r0, 5;",
        &["warp"],
        &[("CTA", "came here as often, 2 times")],
    ),
];

#[test]
fn threads_agree_where_the_ptx_says_so() {
    for (number, same, different) in AGREEMENTS {
        for seed in 0..4 {
            let launch = |group: &str, checks: bool| {
                let mut run = Run::threads(256).seed(seed);
                if !checks {
                    run.launch.checks = Checks {
                        ways: false,
                        ..Checks::default()
                    };
                }
                let out = run.words(&[0; 32]);
                let args = [pointer(out)];
                run.go(&agreement(number, group), &args).map(drop)
            };
            for group in *same {
                launch(group, true).unwrap_or_else(|error| panic!("{number} {group}: {error}"));
            }
            for (group, message) in *different {
                let error = launch(group, true).expect_err("an error").to_string();
                assert!(error.contains(message), "{number} {group}: {error}");
                launch(group, false).expect("no check");
            }
        }
    }
}

/// A claim in front of a label is of the threads that come from above.
#[test]
fn a_claim_is_not_of_those_that_jump_behind_it() {
    let body = "setp.lt.u32 %p1, %r0, 4;
        mov.u32 %r2, %r0;
        @%p1 bra END;
        mov.u32 %r2, 7;
        // uniform %r2 in warp
        END: st.global.u32 [%d1], %r2;";
    launch(&kernel(body), 0).expect("no error");
    let faulty = body.replace("mov.u32 %r2, 7", "add.u32 %r2, %r0, 1");
    let error = launch(&kernel(&faulty), 0).expect_err("an error");
    assert!(error.to_string().contains("%r2"), "{error}");
}
