//! Loops that never end: each is told within seconds, with the lines of the loop.

use super::{Run, module, pointer};
use cute_emulator::{EmulatorError, Limits, Loop};
use std::fs;

/// What loops do. Thread `%r0` has 4 bytes of global memory at `%d1`, 8 at `%d3` and 16 at `%d2`, 8 of shared memory at `%r3` and 16
/// at `%r4`; all threads of a CTA have those at `%d0` and `%r2`.
const KINDS: &[(&str, &str)] = &[
    ("a store", "L: st.global.u32 [%d1], %r0; bra L;"),
    (
        "stores of vectors",
        "L: st.global.v4.u32 [%d2], {%r0, %r0, %r0, %r0}; bra L;",
    ),
    (
        "an update",
        "L: ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1; bra L;",
    ),
    (
        "scattered strong stores",
        "L: add.u32 %r1, %r1, %r7; and.b32 %r1, %r1, 0xffff; mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d4, %d0; st.relaxed.gpu.global.u32 [%d4], %r1; bra L;",
    ),
    (
        "scattered loads",
        "L: add.u32 %r1, %r1, %r7; and.b32 %r8, %r1, 0xffff; mul.wide.u32 %d4, %r8, 4; add.u64 %d4, %d4, %d0; ld.global.u32 %r9, [%d4]; bra L;",
    ),
    ("shared stores", "L: st.shared.u32 [%r3], %r0; bra L;"),
    (
        "shared updates",
        "st.shared.u32 [%r3], %r0; L: ld.shared.u32 %r1, [%r3]; st.shared.u32 [%r3], %r1; bra L;",
    ),
    (
        "local memory",
        ".local .align 4 .b8 stack[64]; L: st.local.u32 [stack], %r0; ld.local.u32 %r1, [stack]; bra L;",
    ),
    ("atomics", "L: atom.global.add.u32 %r1, [%d0], 1; bra L;"),
    ("reductions", "L: red.global.add.u32 [%d1], 1; bra L;"),
    (
        "a lock",
        "L: atom.global.cas.b32 %r1, [%d0], 7, 8; setp.ne.u32 %p0, %r1, 7; @%p0 bra L;",
    ),
    (
        "a lock with acquire and release",
        "L: atom.acq_rel.gpu.global.cas.b32 %r1, [%d0], 7, 8; setp.ne.u32 %p0, %r1, 7; @%p0 bra L;",
    ),
    (
        "releases and acquires",
        "L: st.release.gpu.global.u32 [%d1], %r0; ld.acquire.gpu.global.u32 %r1, [%d1]; bra L;",
    ),
    (
        "shared atomics",
        "st.shared.u32 [%r3], 0; L: atom.shared.cas.b32 %r1, [%r3], 0, 1; bra L;",
    ),
    ("barriers", "L: bar.sync 0; bra L;"),
    (
        "barriers and stores",
        "L: st.shared.u32 [%r3], %r0; bar.sync 0; bra L;",
    ),
    (
        "barriers of warps",
        "L: bar.warp.sync -1; st.global.u32 [%d1], %r0; bra L;",
    ),
    (
        "barriers of clusters",
        "L: barrier.cluster.arrive; barrier.cluster.wait; bra L;",
    ),
    (
        "fences",
        "L: st.global.u32 [%d1], %r0; fence.acq_rel.gpu; bra L;",
    ),
    (
        "arrivals, and a warp that waits",
        "setp.ne.u32 %p0, %r0, 0; @%p0 bra M; mbarrier.init.shared::cta.b64 [%r2], 1; mbarrier.init.shared::cta.b64 [%r2+8], 32; M: bar.sync 0; mov.u32 %r9, 0; setp.gt.u32 %p2, %r0, 31; setp.gt.u32 %p3, %r0, 63; @%p3 bra E; @%p2 bra W; @%p0 bra E; L: mbarrier.arrive.shared::cta.b64 _, [%r2]; X: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+8], %r9; @!%p1 bra X; xor.b32 %r9, %r9, 1; bra L; W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r9; @!%p1 bra W; mbarrier.arrive.shared::cta.b64 _, [%r2+8]; xor.b32 %r9, %r9, 1; bra W; E:",
    ),
    (
        "mbarriers made again",
        "setp.ne.u32 %p0, %r0, 0; @%p0 bra E; L: mbarrier.init.shared::cta.b64 [%r2], 1; mbarrier.inval.shared::cta.b64 [%r2]; bra L; E:",
    ),
    (
        "cp.async",
        "L: cp.async.ca.shared.global [%r4], [%d2], 16; cp.async.commit_group; cp.async.wait_group 0; bra L;",
    ),
    (
        "bulk copies",
        "setp.ne.u32 %p0, %r0, 0; @%p0 bra E; mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster; mov.u32 %r9, 0; L: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+1024], [%d0], 4096, [%r2]; W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r9; @!%p1 bra W; xor.b32 %r9, %r9, 1; bra L; E:",
    ),
    (
        "bulk stores",
        "setp.ne.u32 %p0, %r0, 0; @%p0 bra E; st.shared.v4.u32 [%r2], {%r0, %r0, %r0, %r0}; fence.proxy.async.shared::cta; L: cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bra L; E:",
    ),
    (
        "a loop in a loop",
        "L: mov.u32 %r1, 0; I: st.global.u32 [%d1], %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 10; @%p0 bra I; bra L;",
    ),
    (
        "one warp, while others wait",
        "setp.lt.u32 %p0, %r0, 32; @%p0 bra L; bar.sync 0; bra E; L: st.global.u32 [%d1], %r0; bra L; E:",
    ),
    (
        "lanes on two ways",
        "L: and.b32 %r8, %r0, 7; setp.eq.u32 %p0, %r8, 0; @%p0 bra A; st.shared.u32 [%r3], %r0; bra L; A: st.shared.u32 [%r3], %r0; bra L;",
    ),
    (
        "shuffles",
        "L: shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; st.global.u32 [%d1], %r1; bra L;",
    ),
    (
        "quotients",
        "mov.u64 %d5, 12345; L: add.u64 %d6, %d5, 7; rem.u64 %d5, %d5, %d6; st.global.u64 [%d3], %d5; bra L;",
    ),
    ("a counter", "L: add.u32 %r1, %r1, 1; bra L;"),
    ("nothing", "L: bra L;"),
    (
        "ldmatrix",
        "st.shared.v4.u32 [%r4], {%r0, %r0, %r0, %r0}; bar.warp.sync -1; L: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4]; add.u32 %r1, %r1, 1; bra L;",
    ),
    (
        "mma",
        "mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; L: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r0, %r0, %r0}, {%r0, %r0}, {%f0, %f1, %f2, %f3}; bra L;",
    ),
    ("wgmma", "WGMMA"),
    ("printing", "PRINT"),
    ("malloc", "MALLOC"),
    ("malloc and free", "FREE"),
    ("a function", "CALL"),
];

const START: &str = "
    ld.param.u64 %d0, [data];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %d1, %r1, 16384;
    add.u64 %d0, %d0, %d1;
    mov.u32 %r1, 0;
    mov.u32 %r2, smem;
    mad.lo.u32 %r3, %r0, 8, %r2;
    mad.lo.u32 %r4, %r0, 16, %r2;
    mad.lo.u32 %r7, %r0, 16, 3;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d1, %d1, %d0;
    mul.wide.u32 %d2, %r0, 16;
    add.u64 %d2, %d2, %d0;
    mul.wide.u32 %d3, %r0, 8;
    add.u64 %d3, %d3, %d0;\n";

const FUNCTIONS: &str = "
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.extern .func free (.param .b64 address);
.global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};
.func twice (.param .b64 at) { .reg .b32 %q; .reg .b64 %a; ld.param.b64 %a, [at]; ld.global.u32 %q, [%a]; st.global.u32 [%a], %q; ret; }
";

/// The body of a kind that has no room in the table.
fn body(kind: &str) -> String {
    let allocate = "{ .param .b64 bytes; .param .b64 result; st.param.b64 [bytes], 1; call (result), malloc, (bytes); \
                    ld.param.b64 %d5, [result]; }";
    match kind {
        "WGMMA" => {
            // Of 64 columns, which are zeros in shared memory.
            let registers: Vec<String> = (0..32).map(|i| format!("%f{i}")).collect();
            let zeros: String = registers.iter().map(|it| format!("mov.f32 {it}, 0f00000000; ")).collect();
            format!(
                "st.shared.v4.u32 [%r4], {{0, 0, 0, 0}}; fence.proxy.async.shared::cta; bar.sync 0; cvt.u64.u32 %d20, %r2; \
                 shr.u64 %d20, %d20, 4; or.b64 %d20, %d20, 0x0000000800080000; mov.pred %p5, 1; {zeros} L: \
                 wgmma.fence.sync.aligned; \
                 wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{}}}, %d20, %d20, %p5, 1, 1, 0, 0; \
                 wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; bra L;",
                registers.join(", ")
            )
        }
        "PRINT" => "cvta.global.u64 %d5, text; L: { .param .b64 format; .param .b64 arguments; .param .b32 result; \
                    st.param.b64 [format], %d5; st.param.b64 [arguments], 0; call (result), vprintf, (format, arguments); } bra L;"
            .replace("cvta.global.u64 %d5, text", "mov.u64 %d5, text; cvta.global.u64 %d5, %d5"),
        "MALLOC" => format!("L: {allocate} bra L;"),
        "FREE" => format!(
            "L: {allocate} {{ .param .b64 address; st.param.b64 [address], %d5; call free, (address); }} bra L;"
        ),
        "CALL" => "st.global.u32 [%d1], %r0; L: { .param .b64 at; st.param.b64 [at], %d1; call twice, (at); } bra L;".to_owned(),
        body => body.to_owned(),
    }
}

/// How a kind ends on a grid of CTAs of so many threads.
fn end(body: &str, threads: u32, grid: u32, limits: Limits) -> Result<(), EmulatorError> {
    let mut run = Run::threads(threads);
    run.launch.limits = limits;
    run.launch.grid = [grid, 1, 1];
    let data = run.words(&vec![0; 4096 * grid as usize + 65536]);
    let ptx = module(".param .u64 data", &format!("{START}{body}"));
    let ptx = ptx.replace(".visible .entry", &format!("{FUNCTIONS}.visible .entry"));
    run.go(&ptx, &[pointer(data)]).map(drop)
}

/// The loops that the error names.
#[track_caller]
fn told(ended: Result<(), EmulatorError>, kind: &str) -> Box<[Loop]> {
    match ended {
        Err(EmulatorError::EndlessLoop { loops, .. }) => loops,
        Err(error) => panic!("{kind}: {error}"),
        Ok(()) => panic!("{kind} has ended"),
    }
}

#[test]
fn endless_loops_are_told_with_their_lines() {
    let limits = Limits {
        cluster_steps: 1 << 15,
        ..Limits::default()
    };
    for (kind, text) in KINDS {
        for (threads, grid) in [(128, 1), (256, 4)] {
            let loops = told(end(&body(text), threads, grid, limits), kind);
            assert!(!loops.is_empty(), "{kind}");
            for it in loops {
                assert!(
                    it.times > 0 && it.first.line <= it.branch.line,
                    "{kind}: {it}"
                );
            }
        }
    }
}

/// Of nested loops, the outermost that goes on is named, and none that has ended.
#[test]
fn the_outermost_loop_that_goes_on_is_named() {
    let limits = Limits {
        cluster_steps: 1 << 15,
        ..Limits::default()
    };
    let loops = |outer: &str| {
        let body = format!(
            "A: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra A;\nB: mov.u32 %r1, 0;\n\
             C: st.global.u32 [%d1], %r1;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, {outer};\n@%p0 bra C;\nbra B;"
        );
        let loops = told(end(&body, 32, 1, limits), outer);
        let lines = loops.iter().map(|it| it.branch.line - it.first.line);
        lines.collect::<Vec<u32>>()
    };
    // B to the last branch, and C to its branch.
    assert_eq!(loops("10"), [5]);
    assert_eq!(loops("-1"), [3]);
}

/// With the limits that programs have, each kind takes less than 10 seconds of a core.
#[test]
fn endless_loops_are_told_soon() {
    let nightly = std::env::var_os("CUTE_NIGHTLY").is_some_and(|value| value == "1");
    if !nightly || seconds().is_none() {
        return;
    }
    // All work is that of one thread, whose time is taken.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let (mut all, mut slow) = (Vec::new(), false);
    one.expect("a thread").install(|| {
        for (kind, text) in KINDS {
            for (threads, grid) in [(128, 1), (1024, 1), (1024, 64)] {
                let before = seconds().unwrap_or_default();
                told(end(&body(text), threads, grid, Limits::default()), kind);
                let took = seconds().unwrap_or_default() - before;
                slow |= took > 10.0;
                let took = format!("{took:6.2} s  {kind}, {grid} CTAs of {threads} threads");
                println!("{took}");
                all.push(took);
            }
        }
    });
    assert!(!slow, "{all:#?}");
}

/// The processor time of this thread; `None` where the system does not tell.
fn seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
