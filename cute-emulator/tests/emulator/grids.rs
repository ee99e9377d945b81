//! Grids that begin before the ones before have ended: what they access too early is refused under every schedule.

use super::{fault, pointer};
use cute_emulator::{EmulatorError, FaultKind, GlobalMemory, Launch, Limits, Program, Schedule};

const WAIT: &str = "griddepcontrol.wait;";
const LOAD: &str = "ld.global.b32 %r1, [%d0];";
const STORE: &str = "st.global.b32 [%d1], %r1;";

/// A grid of two CTAs of 64 threads. Of two arrays with an element for each thread, `%d0` and `%d1` are the thread's elements.
fn grid(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n\
         mov.u32 %r0, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 64, %r0;\n\
         ld.param.u64 %d0, [x];\nld.param.u64 %d1, [y];\nmad.wide.u32 %d0, %r3, 4, %d0;\nmad.wide.u32 %d1, %r3, 4, %d1;\n\
         setp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p1, %r0, 32;\n{body}\nret;\n}}\n"
    )
}

/// Launches grids one after the other, and returns how the last one ends. Each overlaps with the ones before if its text has a wait,
/// or `#` in its place. The first one writes x.
fn launch(bodies: &[&str], seed: u64) -> Result<(), EmulatorError> {
    launch_within(Limits::default(), bodies, seed)
}

fn launch_within(limits: Limits, bodies: &[&str], seed: u64) -> Result<(), EmulatorError> {
    let mut memory = GlobalMemory::new();
    let [x, y] = [memory.alloc(512, 256)?, memory.alloc(512, 256)?];
    memory.write(y, &[0; 512])?;
    let args = [pointer(x), pointer(y)];
    let fill = format!("mov.u32 %r1, 7;\n{}", STORE.replace("%d1", "%d0"));
    let mut ended = Ok(());
    for body in [&*fill].iter().chain(bodies) {
        ended?;
        if *body == "the host" {
            memory.synchronize();
        }
        let program = Program::load(&grid(&body.replace("the host", "").replace('#', "")))?;
        let launch = Launch {
            grid: [2, 1, 1],
            block: [64, 1, 1],
            args: &args,
            overlaps: body.contains(WAIT) || body.contains('#'),
            schedule: Schedule::from_seed(seed),
            limits,
            ..Launch::default()
        };
        ended = program.launch(&mut memory, "k", &launch).map(drop);
    }
    ended
}

#[test]
fn a_grid_waits_before_it_uses_what_others_use() {
    let after = format!("{WAIT}{LOAD}{STORE}");
    let before = format!("#{LOAD}{STORE}");
    let read_x = format!("{WAIT}{LOAD}{STORE}");
    let write_y = format!("#mov.u32 %r1, 1;{STORE}");
    let no_use = "mov.u32 %r1, 1;";
    let one_waits = format!("@%p0 {WAIT} bar.sync 0;{LOAD}{STORE}");
    let unheard = format!("@%p0 {WAIT}{LOAD}{STORE}");
    let lane = format!("@%p0 {WAIT} bar.warp.sync -1; bar.sync 0;{LOAD}{STORE}");
    let half = format!("@%p1 {WAIT}{LOAD}{STORE}");
    let half_alone = format!("@%p1 {WAIT} @%p1 {LOAD} @%p1 {STORE}");
    let late = format!("{LOAD}{WAIT}{STORE}");
    let fine: &[&[&str]] = &[
        &[&after],
        &[&after, &after, &after],
        &[&one_waits],
        &[&lane],
        &[&half_alone],
        // Without the attribute, a grid begins when all others have ended, and so does the host.
        &[&before.replace('#', "")],
        &["the host", &before],
        &[&write_y],
        // The grid in between waits, so that it ends after the first one.
        &[WAIT, &after],
        &[no_use, &after],
    ];
    for (row, bodies) in fine.iter().enumerate() {
        for seed in 0..10 {
            launch(bodies, seed).unwrap_or_else(|error| panic!("row {row}, seed {seed}: {error}"));
        }
    }
    let faulty: &[(&[&str], usize, bool)] = &[
        (&[&before], 1, false),
        (&[&unheard], 1, false),
        (&[&half], 1, false),
        (&[&late], 1, false),
        // A write of what the grid before reads or writes.
        (&[&read_x, &write_y], 1, false),
        (&[&write_y, &write_y], 1, false),
        (&[&after, &write_y.replace("%d1", "%d0")], 1, false),
        // A grid that waits for nothing orders nothing before it.
        (&["#", &before], 2, false),
        (&["#", &after], 2, true),
        (&["#", "#", &after], 3, true),
        (&[WAIT, &before], 2, false),
    ];
    for (row, (bodies, launches, after_wait)) in faulty.iter().enumerate() {
        for seed in 0..10 {
            let (kind, text) = fault(launch(bodies, seed));
            let FaultKind::GridRace(race) = &kind else {
                panic!("row {row}, seed {seed}: {kind}\n{text}");
            };
            let (before, waited) = (&race.before, &race.waited);
            assert_eq!(
                (before, waited),
                (launches, after_wait),
                "row {row}, seed {seed}: {kind}"
            );
        }
    }
}

#[test]
fn the_error_names_both_launches() {
    let (kind, _) = fault(launch(&[&format!("#{LOAD}")], 0));
    let message = kind.to_string();
    for part in [
        "at the same time as line 19 (`st.global.b32 [%d0], %r1`) of k, the launch before",
        "the thread does not know that griddepcontrol.wait has been executed",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

/// The records of the oldest grids are forgotten where there is no room for all.
#[test]
fn what_is_remembered_is_bounded() {
    let write_y = format!("#mov.u32 %r1, 1;{STORE}");
    let read_x = format!("#{LOAD}");
    let launches = |limits| launch_within(limits, &[&write_y, &read_x], 0);
    let (kind, _) = fault(launches(Limits::default()));
    assert!(matches!(kind, FaultKind::GridRace(_)), "{kind}");
    // A page of records, which x and y have one of each.
    let few = Limits {
        recorded_bytes: 4096,
        ..Limits::default()
    };
    launches(few).unwrap_or_else(|error| panic!("{error}"));
}
