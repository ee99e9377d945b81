//! Addresses that overflow, and variables of shared memory that are overrun: each faulty kernel is refused under every schedule, and
//! its repaired twin under none.

use super::events::{check_fine, check_flagged, with};
use super::{Run, module, pointer};
use cute_emulator::{EmulatorError, FaultKind};

fn launch(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let mut run = Run::threads(32).seed(seed);
    let x = run.words(&[0; 128]);
    run.go(ptx, &[pointer(x)]).map(drop)
}

/// A kernel with three arrays of 32 words in shared memory, which is all written.
fn arrays(body: &str) -> String {
    let start = "
        .shared .align 16 .b8 before[128];
        .shared .align 16 .b8 a[128];
        .shared .align 16 .b8 after[128];
        ld.param.u64 %d0, [x];
        mov.u32 %r0, %tid.x;
        mov.u32 %r1, a;
        mad.lo.u32 %r2, %r0, 4, %r1;
        shl.b32 %r3, %r0, 2;
        mov.u32 %r4, before;
        add.u32 %r5, %r4, %r3;
        st.shared.b32 [%r5], %r0;
        mov.u32 %r4, after;
        mov.u32 %r6, after;
        add.u32 %r6, %r3, %r6;
        st.shared.b32 [%r6], %r0;
        st.shared.b32 [%r2], %r0;
        bar.sync 0;";
    let start = start.replace("        mov.u32 %r4, after;\n", "");
    module(".param .u64 x", &format!("{start}\n{body}"))
}

/// Accesses that are inside of `a`, and the offset with which they are not.
const ACCESSES: [(&str, &str, &str); 14] = [
    ("ld.shared.b32 %r10, [a+124];", "+124", "+128"),
    (
        "ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [a+112];",
        "+112",
        "+128",
    ),
    ("st.shared.b32 [%r2], %r0;", "[%r2]", "[%r2+4]"),
    ("st.shared.b32 [%r2], %r0;", "[%r2]", "[%r2+-4]"),
    (
        "add.u32 %r10, %r1, %r3;\nld.shared.b32 %r11, [%r10];",
        "[%r10]",
        "[%r10+64]",
    ),
    (
        "sub.u32 %r13, 124, %r3;\nadd.u32 %r10, %r13, %r1;\nld.shared.b32 %r11, [%r10];",
        "124,",
        "128,",
    ),
    (
        "cvt.u64.u32 %d1, %r2;\ncvta.shared.u64 %d1, %d1;\nld.b32 %r11, [%d1];",
        "[%d1];",
        "[%d1+4];",
    ),
    (
        "cvt.u64.u32 %d1, %r2;\ncvta.shared.u64 %d2, %d1;\nst.b32 [%d2], %r0;",
        "[%d2]",
        "[%d2+4]",
    ),
    ("atom.shared.add.u32 %r10, [a+124], 1;", "+124", "+128"),
    ("red.shared.add.u32 [%r2], 1;", "[%r2]", "[%r2+4]"),
    (
        "cp.async.ca.shared.global [%r2], [%d0], 4;\ncp.async.wait_all;",
        "[%r2]",
        "[%r2+4]",
    ),
    (
        "setp.lt.u32 %p0, %r0, 16;\nselp.b32 %r10, %r2, %r1, %p0;\nld.shared.b32 %r11, [%r10];",
        "[%r10]",
        "[%r10+-4]",
    ),
    (
        "xor.b32 %r10, %r2, 64;\nld.shared.b32 %r11, [%r10];",
        "%r2, 64",
        "%r2, 256",
    ),
    // A pointer that advances in a loop.
    (
        "mov.u32 %r10, %r1;\nmov.u32 %r12, 0;\nNEXT:\nld.shared.b32 %r11, [%r10];\nadd.u32 %r10, %r10, 4;\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p0, %r12, 32;\n@%p0 bra NEXT;",
        "%r12, 32",
        "%r12, 33",
    ),
];

#[test]
fn a_variable_is_not_overrun_into_its_neighbour() {
    for (access, inside, outside) in ACCESSES {
        let ptx = arrays(access);
        check_fine(&ptx, launch);
        let faulty = arrays(&with(access, inside, outside));

        check_flagged(
            &faulty,
            launch,
            |kind| matches!(kind, FaultKind::OutsideBytes { tensor, .. } if tensor == "a"),
        );
    }
}

/// What is computed from two names may be anywhere.
#[test]
fn an_address_of_two_variables_is_of_neither() {
    check_fine(
        &arrays(
            "setp.lt.u32 %p0, %r0, 16;
             selp.b32 %r10, %r1, %r4, %p0;
             ld.shared.b32 %r11, [%r10+4];
             mov.u32 %r12, a;
             sub.u32 %r13, %r4, %r12;
             add.u32 %r14, %r2, %r13;
             ld.shared.b32 %r15, [%r14];",
        ),
        launch,
    );
}

#[test]
fn an_address_is_a_number_of_its_width() {
    let overflows = |kind: &FaultKind| matches!(kind, FaultKind::AddressOverflow { .. });
    let rows = [
        // A negative index becomes one that wraps around.
        (
            "mov.u32 %r10, smem;\nmov.u32 %r11, 0;\nst.shared.b32 [%r10], 1;\nsub.u32 %r12, %r11, 4;\nst.shared.b32 [%r12+1028], 1;",
            "[%r12+1028]",
            "[%r10+4]",
        ),
        (
            "mov.u32 %r10, smem;\nst.shared.b32 [%r10+-2048], 1;",
            "[%r10+-2048]",
            "[%r10]",
        ),
        (
            "mov.u64 %d1, -16;\nadd.u64 %d1, %d1, %d0;\nmov.u64 %d2, -8;\nld.global.b32 %r10, [%d2+16];",
            "[%d2+16]",
            "[%d0+16]",
        ),
        (
            "mov.u32 %r10, smem;\nmov.u32 %r12, -64;\natom.shared.add.u32 %r11, [%r12+1088], 1;",
            "atom.shared.add.u32 %r11, [%r12+1088], 1;",
            "@%p1 st.shared.b32 [%r10], 1;\natom.shared.add.u32 %r11, [%r10], 1;",
        ),
        (
            "mov.u32 %r10, smem;\nmov.u32 %r12, -64;\n@%p1 mbarrier.init.shared::cta.b64 [%r12+1088], 1;",
            "[%r12+1088]",
            "[%r10]",
        ),
    ];
    for (body, faulty, repaired) in rows {
        let ptx = |body: &str| {
            let start = "ld.param.u64 %d0, [x];\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 0;";
            let body = body.replace("atom.shared", "@%p1 atom.shared");
            module(".param .u64 x", &format!("{start}\n{body}"))
        };
        check_flagged(&ptx(body), launch, overflows);
        check_fine(&ptx(&with(body, faulty, repaired)), launch);
    }
}
