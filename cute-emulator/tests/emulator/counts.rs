//! Counts and traces of launches.

use super::{Run, module, pointer};
use cute_emulator::{Class, Counts, EmulatorError, Launch, Limits, Observed, Program, Trace};
use serde_json::Value;

/// Two warps wait for a copy of 512 bytes, meet, and read a column of shared memory.
const COPY: &str = "
    ld.param.u64 %d0, [data];
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2+1024], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 512, [%r2+1024];
READY:
    bar.sync 0;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+1024], 0;
    @!%p1 bra WAIT;
    rem.u32 %r3, %r0, 4;
    mad.lo.u32 %r3, %r3, 128, %r2;
    ld.shared.b32 %r4, [%r3];
    mad.wide.u32 %d1, %r0, 8, %d0;
    st.global.b32 [%d1], %r4;";

/// What a launch of the kernel shows under a schedule.
fn observed(seed: u64) -> Observed {
    limited(seed, Limits::default().steps).unwrap()
}

/// The same with a limit of steps.
fn limited(seed: u64, steps: u64) -> Result<Observed, EmulatorError> {
    let mut run = Run::threads(64).seed(seed);
    let data = run.words(&[5; 128]);
    let name = "// shared memory 1024..1032, full: 1 mbarriers, 1 arrivals a phase\n.extern";
    let ptx = module(".param .u64 data", COPY).replacen(".extern", name, 1);
    let program = Program::load(&ptx).unwrap();
    let mut observed = Observed {
        trace: Some(Trace::new()),
        ..Observed::default()
    };
    let launch = Launch {
        args: &[pointer(data)],
        limits: Limits {
            steps,
            ..run.launch.limits
        },
        ..run.launch
    };
    program
        .launch_observed(&mut run.memory, "k", &launch, &mut observed)
        .map(|()| observed)
}

#[test]
fn the_limit_of_steps_holds_for_what_is_executed_and_what_is_charged() {
    for seed in super::SEEDS {
        let Counts { steps, charged, .. } = observed(seed).counts;
        assert!(charged > steps, "{charged} are charged beside {steps}");
        assert!(limited(seed, steps + charged).is_ok());
        let error = limited(seed, steps).unwrap_err();
        assert!(matches!(error, EmulatorError::StepLimit { .. }), "{error}");
    }
}

#[test]
fn work_and_traffic_are_counted() {
    for seed in super::SEEDS {
        let Counts {
            launches,
            steps,
            instructions,
            global,
            shared,
            copied_in,
            copied_out,
            waits,
            ..
        } = observed(seed).counts;
        let classes = Class::ALL.map(|class| instructions[class]);
        assert_eq!(classes.iter().sum::<u64>(), steps);
        assert_eq!((launches, instructions[Class::Copy]), (1, 1));
        assert_eq!(instructions[Class::Memory], 3 * 2);
        // Lanes are 8 bytes apart, so that 32 of them touch 8 sectors.
        assert_eq!((global.read, global.written), (0, 4 * 64));
        assert_eq!((global.requests, global.sectors), (2, 16));
        // Four words of bank 0, each of which eight lanes share.
        assert_eq!((shared.read, shared.bank_conflicts), (4 * 64, 2 * 3));
        assert_eq!((copied_in, copied_out), (512, 0));
        let meeting = waits["barrier 0"];
        assert_eq!(meeting.count, 1);
        if seed == 0 {
            // The copy arrives when nothing else can happen.
            assert_eq!(waits["mbarrier full[0]"].count, 2, "{waits:?}");
        }
    }
}

#[test]
fn counts_of_launches_add_up() {
    let one = observed(0).counts;
    let mut three = Counts::default();
    for _ in 0..3 {
        three += &one;
    }
    assert_eq!((three.launches, three.steps), (3, 3 * one.steps));
    assert_eq!(three.waits["barrier 0"].count, 3);
    let table = three.to_string();
    for line in [
        "global memory      0 bytes read, 768 written; 6 requests of 8.0 sectors",
        "shared memory      768 bytes read, 0 written; 6 requests, 18 bank conflicts",
        "bulk copies        1536 bytes to shared memory, 0 from it",
        "6 at mbarrier full[0]",
    ] {
        assert!(table.contains(line), "{line}\n{table}");
    }
}

#[test]
fn products_are_counted() {
    let zeros: String = (0..6).map(|i| format!("mov.u32 %r{i}, 0;\n")).collect();
    let sums: String = (0..4)
        .map(|i| format!("mov.f32 %f{i}, 0f00000000;\n"))
        .collect();
    let product = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 \
                   {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};";
    let ptx = module("", &format!("{zeros}{sums}{product}"));
    let counts = Run::threads(64).go(&ptx, &[]).unwrap();
    assert_eq!(counts.matrix_flops, 2 * 2 * 16 * 8 * 16);
    assert_eq!(counts.instructions[Class::Matrix], 2);
}

#[test]
fn a_trace_has_rows_of_warps_barriers_and_copies() {
    for seed in super::SEEDS {
        let trace = observed(seed).trace.unwrap();
        let json: Value = serde_json::from_str(&trace.to_string()).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let names = |what: &str| -> Vec<&str> {
            let with = events.iter().filter(|event| event["name"] == what);
            with.map(|event| event["args"]["name"].as_str().unwrap())
                .collect()
        };
        assert_eq!(names("process_name"), ["CTA (0, 0, 0)"]);
        for row in ["warp 0", "warp 1", "mbarrier full[0]"] {
            assert!(names("thread_name").contains(&row), "{row}: {events:?}");
        }
        let count = |name: &str, phase: &str| {
            let same = |event: &&Value| event["name"] == name && event["ph"] == phase;
            events.iter().filter(same).count()
        };
        let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
        assert_eq!((count(copy, "b"), count(copy, "e")), (1, 1));
        assert_eq!(count("phase 0", "X"), 1);
        assert_eq!(count("waits: barrier 0", "X"), 1);
        check_rows(events);
    }
}

/// An error unless the slices of a row follow one another.
fn check_rows(events: &[Value]) {
    let mut slices: Vec<_> = (events.iter().filter(|event| event["ph"] == "X"))
        .map(|event| {
            let number = |name: &str| event[name].as_u64().unwrap();
            (number("pid"), number("tid"), number("ts"), number("dur"))
        })
        .collect();
    slices.sort();
    for pair in slices.windows(2) {
        let ((pid, tid, start, length), next) = (pair[0], pair[1]);
        if (pid, tid) == (next.0, next.1) {
            assert!(start + length <= next.2, "{pair:?}");
        }
    }
}

#[test]
fn the_picture_of_a_trace_has_a_row_for_each_warp_barrier_and_copy() {
    for seed in super::SEEDS {
        let svg = observed(seed).trace.unwrap().to_svg();
        assert_eq!(svg, observed(seed).trace.unwrap().to_svg());
        for row in ["warp 0", "warp 1", "mbarrier full[0]", "copy"] {
            let label = format!("text-anchor=\"end\">{row}</text>");
            assert_eq!(svg.matches(&label).count(), 1, "{row}: {svg}");
        }
        for title in [
            "waits: barrier 0, steps ",
            "phase 0, steps ",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes, steps ",
        ] {
            assert_eq!(svg.matches(title).count(), 1, "{title}: {svg}");
        }
        assert!(!svg.contains("more rows"), "{svg}");
    }
}

#[test]
fn a_picture_of_many_warps_says_what_it_leaves_out() {
    let mut observed = Observed {
        trace: Some(Trace::new()),
        ..Observed::default()
    };
    assert!(Trace::new().to_svg().contains("time in steps"));
    // 30 warps in two CTAs, which meet nowhere.
    let mut run = Run::threads(480).cluster(2);
    let program = Program::load(&module("", "mov.u32 %r0, %tid.x;")).unwrap();
    program
        .launch_observed(&mut run.memory, "k", &run.launch, &mut observed)
        .unwrap();
    let svg = observed.trace.unwrap().to_svg();
    assert!(svg.contains("6 more rows are not drawn: a picture has at most 24."));
    assert!(svg.contains("CTA (1, 0, 0)"));
    assert_eq!(svg.matches(">warp 14</text>").count(), 1);
    assert_eq!(svg.matches(">warp 8</text>").count(), 2);
    assert_eq!(svg.matches(">warp 9</text>").count(), 1);
}

#[test]
fn a_launch_that_fails_is_observed() {
    let mut observed = Observed {
        trace: Some(Trace::new()),
        ..Observed::default()
    };
    let mut run = Run::threads(32);
    let program = Program::load(&module("", "bar.sync 0;\ntrap;")).unwrap();
    let failed = program.launch_observed(&mut run.memory, "k", &run.launch, &mut observed);
    assert_eq!(failed.unwrap_err().steps(), observed.counts.steps);
    assert_eq!(observed.counts.instructions[Class::Synchronisation], 1);
    assert!(!observed.trace.unwrap().is_empty());
}
