//! Launches and copies on several streams: two accesses that conflict are refused if no event orders them, in whatever order they run.

use super::{fault, module, pointer};
use cute_emulator::{
    EmulatorError, FaultKind, GlobalMemory, HostWork, Launch, Limits, Observed, Point, Program,
    Schedule, StreamRace, Work,
};

const READ: &str = "ld.global.b32 %r1, [%d0];";
const WRITE: &str = "st.global.b32 [%d0], %r0;";
/// The other half of each thread's bytes.
const WRITE_REST: &str = "st.global.b32 [%d0+4], %r0;";
const WRITE_LAST_BYTE: &str = "st.global.b8 [%d0+3], %r0;";
const WAIT: &str = "griddepcontrol.wait;";

/// The seeds of schedules. A fault is one under each.
const SEEDS: std::ops::Range<u64> = 0..20;

type Result = std::result::Result<(), EmulatorError>;

/// A device with an array of 8 bytes for each of 32 threads.
struct Device {
    memory: GlobalMemory,
    array: u64,
    seed: u64,
    limits: Limits,
}

impl Device {
    fn new(seed: u64) -> Device {
        let mut memory = GlobalMemory::new();
        let array = memory.alloc(256, 256).unwrap();
        memory.write(array, &[0; 256]).unwrap();
        for stream in 1..4 {
            memory.add_stream(stream);
        }
        let limits = Limits::default();
        Device {
            memory,
            array,
            seed,
            limits,
        }
    }

    /// Launches a kernel in which `%d0` is the address of a thread's 8 bytes. It overlaps with those before on its stream if it begins
    /// with `#`.
    fn launch(&mut self, stream: u64, body: &str) -> Result {
        let overlaps = body.starts_with('#');
        let body = format!(
            "ld.param.u64 %d0, [x];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %d0, %r0, 8, %d0;\n{}",
            body.trim_start_matches('#')
        );
        let launch = Launch {
            block: [32, 1, 1],
            args: &[pointer(self.array)],
            overlaps,
            schedule: Schedule::from_seed(self.seed),
            limits: self.limits,
            ..Launch::default()
        };
        let program = Program::load(&module(".param .u64 x", &body))?;
        let observed = &mut Observed::default();
        program.launch_on(&mut self.memory, stream, "k", &launch, observed)
    }

    fn copy_to_host(&mut self, stream: u64) -> Result {
        self.memory.read_on(stream, self.array, &mut [0; 256])
    }

    fn copy_from_host(&mut self, stream: u64) -> Result {
        self.memory.write_on(stream, self.array, &[0; 256])
    }

    fn others(&mut self, stream: u64) -> Result {
        self.memory.others_on(stream, self.array, 256)
    }

    /// A stream waits for all that another has so far.
    fn order(&mut self, first: u64, then: u64) {
        let point = self.memory.record(first);
        self.memory.wait(then, &point);
    }
}

type Scenario<'a> = &'a dyn Fn(&mut Device) -> Result;

fn check_fine(what: &str, scenario: Scenario<'_>) {
    for seed in SEEDS {
        scenario(&mut Device::new(seed)).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

/// The race with which a scenario ends: the same under all schedules.
fn race(what: &str, scenario: Scenario<'_>) -> StreamRace {
    let races = SEEDS.map(|seed| match scenario(&mut Device::new(seed)) {
        Err(EmulatorError::StreamRace { race, .. }) => *race,
        Err(EmulatorError::Fault(fault)) => match fault.kind {
            FaultKind::StreamRace(race) => *race,
            kind => panic!("{what}: {kind}"),
        },
        ended => panic!("{what}: {ended:?}"),
    });
    let races: Vec<StreamRace> = races.collect();
    for race in &races {
        let found = (race.stream, race.other_stream, &race.other);
        let first = (races[0].stream, races[0].other_stream, &races[0].other);
        assert_eq!(found, first, "{what}");
    }
    races[0].clone()
}

/// Checks that a scenario ends with a race of work on these streams: the earlier one first.
fn check_race(what: &str, streams: (u64, u64), scenario: Scenario<'_>) {
    let race = race(what, scenario);
    assert_eq!((race.other_stream, race.stream), streams, "{what}: {race}");
}

#[test]
fn two_streams_need_an_event_where_one_writes() {
    for (first, second) in [(WRITE, WRITE), (WRITE, READ), (READ, WRITE)] {
        let what = format!("{first} {second}");
        for streams in [(0, 1), (1, 0), (1, 2)] {
            check_race(&what, streams, &|device| {
                device.launch(streams.0, first)?;
                device.launch(streams.1, second)
            });
            check_fine(&what, &|device| {
                device.launch(streams.0, first)?;
                device.order(streams.0, streams.1);
                device.launch(streams.1, second)
            });
        }
        check_fine(&what, &|device| {
            device.launch(1, first)?;
            device.launch(1, second)
        });
    }
    check_fine("two reads", &|device| {
        device.launch(1, READ)?;
        device.launch(2, READ)
    });
}

#[test]
fn an_event_orders_what_is_before_it_and_after_its_wait() {
    check_race("recorded too early", (1, 2), &|device| {
        let early = device.memory.record(1);
        device.launch(1, WRITE)?;
        device.memory.wait(2, &early);
        device.launch(2, READ)
    });
    check_race("recorded before the last write", (1, 2), &|device| {
        device.launch(1, WRITE)?;
        let early = device.memory.record(1);
        device.launch(1, WRITE)?;
        device.memory.wait(2, &early);
        device.launch(2, READ)
    });
    check_race("waited for too late", (1, 2), &|device| {
        device.launch(1, WRITE)?;
        let point = device.memory.record(1);
        let read = device.launch(2, READ);
        device.memory.wait(2, &point);
        read
    });
    check_race("the other way round", (1, 2), &|device| {
        device.launch(1, WRITE)?;
        device.order(2, 1);
        device.launch(2, READ)
    });
    check_fine("more than needed", &|device| {
        device.launch(1, WRITE)?;
        device.launch(1, READ)?;
        let point = device.memory.record(1);
        device.memory.wait(2, &point.clone());
        device.memory.wait(2, &point);
        device.launch(2, READ)?;
        device.launch(2, WRITE)
    });
    check_fine("an older event after a newer one", &|device| {
        let older = device.memory.record(1);
        device.launch(1, WRITE)?;
        device.order(1, 2);
        device.memory.wait(2, &older);
        device.launch(2, READ)
    });
    check_race("a write back before the reads", (2, 1), &|device| {
        device.launch(1, WRITE)?;
        device.order(1, 2);
        device.launch(2, READ)?;
        device.launch(1, WRITE)
    });
}

#[test]
fn order_passes_through_other_streams() {
    check_fine("by a third stream", &|device| {
        device.launch(1, WRITE)?;
        device.order(1, 3);
        device.order(3, 2);
        device.launch(2, READ)
    });
    check_fine("by work of a third stream", &|device| {
        device.launch(1, WRITE)?;
        device.order(1, 3);
        device.launch(3, READ)?;
        device.order(3, 2);
        device.launch(2, WRITE)
    });
    check_race("in the wrong order", (1, 2), &|device| {
        device.launch(1, WRITE)?;
        device.order(3, 2);
        device.order(1, 3);
        device.launch(2, READ)
    });
    // The third stream's read is not before the event of the first one.
    check_race("by a part of the order", (3, 2), &|device| {
        device.launch(1, WRITE)?;
        device.order(1, 3);
        device.launch(3, READ)?;
        device.order(1, 2);
        device.launch(2, WRITE)
    });
}

#[test]
fn what_the_host_enqueues_is_after_what_it_has_waited_for() {
    check_fine("for everything", &|device| {
        device.launch(1, WRITE)?;
        device.launch(3, WRITE_REST)?;
        device.memory.synchronize();
        device.launch(2, WRITE)?;
        // A stream that is new.
        device.launch(9, WRITE_REST)
    });
    check_fine("for a point", &|device| {
        device.launch(1, WRITE)?;
        let point = device.memory.record(1);
        device.memory.synchronize_with(&point);
        device.launch(2, WRITE)?;
        device.order(2, 9);
        device.launch(9, WRITE)
    });
    check_fine("for another stream that has waited", &|device| {
        device.launch(1, WRITE)?;
        device.order(1, 3);
        let point = device.memory.record(3);
        device.memory.synchronize_with(&point);
        device.launch(2, WRITE)
    });
    check_race("for too little", (1, 2), &|device| {
        device.launch(1, WRITE)?;
        let point = device.memory.record(1);
        device.launch(1, WRITE)?;
        device.memory.synchronize_with(&point);
        device.launch(2, READ)
    });
    check_race("for another stream", (1, 2), &|device| {
        device.launch(1, WRITE)?;
        let point = device.memory.record(3);
        device.memory.synchronize_with(&point);
        device.launch(2, READ)
    });
    check_race("before", (1, 2), &|device| {
        device.memory.synchronize();
        device.launch(1, WRITE)?;
        device.launch(2, READ)
    });
    // The host's wait is part of the points that come later.
    check_fine("in a point", &|device| {
        device.launch(1, WRITE)?;
        device.memory.synchronize();
        device.launch(2, WRITE)?;
        device.order(2, 1);
        device.launch(1, READ)
    });
}

#[test]
fn bytes_count_and_not_allocations() {
    check_fine("other words", &|device| {
        device.launch(1, WRITE)?;
        device.launch(2, WRITE_REST)
    });
    let race = race("one byte", &|device| {
        device.launch(1, &format!("{READ} {WRITE_REST}"))?;
        device.launch(2, WRITE_LAST_BYTE)
    });
    assert_eq!(race.address % 8, 3, "{race}");
    let Work::Kernel { entry, instruction } = &race.other else {
        panic!("{race}");
    };
    assert_eq!(entry, "k");
    assert_eq!(instruction.text, "ld.global.b32 %r1, [%d0]");
}

/// Two atomics do not race, whatever their order. An atomic of a CTA's scope is plain for other grids.
#[test]
fn atomics_of_two_streams_do_not_race() {
    let add = "red.relaxed.gpu.global.add.u32 [%d0], 1;";
    let add_in_cta = "red.relaxed.cta.global.add.u32 [%d0], 1;";
    let strong = "ld.relaxed.gpu.global.b32 %r1, [%d0];";
    for (first, second) in [(add, add), (add, strong), (strong, add)] {
        check_fine(first, &|device| {
            device.launch(1, first)?;
            device.launch(2, second)
        });
    }
    for (first, second) in [
        (add, add_in_cta),
        (add_in_cta, add),
        (add, READ),
        (READ, add),
        (WRITE, add),
        (add, WRITE),
        (WRITE, strong),
        (strong, WRITE),
    ] {
        check_race(&format!("{first} {second}"), (1, 2), &|device| {
            device.launch(1, first)?;
            device.launch(2, second)
        });
    }
}

#[test]
fn grids_overlap_with_those_of_their_stream() {
    let early = format!("#{READ}");
    let after = format!("#{WAIT}{READ}");
    let grid_race = |what: &str, scenario: Scenario<'_>| {
        for seed in SEEDS {
            let (kind, _) = fault(scenario(&mut Device::new(seed)));
            let FaultKind::GridRace(race) = kind else {
                panic!("{what}: {kind}");
            };
            assert_eq!(race.before, 1, "{what}");
        }
    };
    grid_race("with another stream in between", &|device| {
        device.launch(1, WRITE)?;
        device.launch(2, WRITE_REST)?;
        device.launch(1, &early)
    });
    // Also atomics, which do not race on two streams.
    grid_race("with an atomic", &|device| {
        let add = "#red.relaxed.gpu.global.add.u32 [%d0], 1;";
        device.launch(1, add)?;
        device.launch(1, add)
    });
    check_fine("griddepcontrol.wait", &|device| {
        device.launch(1, WRITE)?;
        device.launch(2, WRITE_REST)?;
        device.launch(1, &after)
    });
    // It waits for the previous grid of its own stream only.
    check_race("griddepcontrol.wait", (1, 2), &|device| {
        device.launch(2, "")?;
        device.launch(1, WRITE)?;
        device.launch(2, &after)
    });
    check_fine("a wait for an event of its own stream", &|device| {
        device.launch(1, WRITE)?;
        device.order(1, 1);
        device.launch(1, &early)
    });
    // An event is after all grids of its stream, also after those that a grid has not waited for.
    check_fine("an event after grids that overlap", &|device| {
        device.launch(1, WRITE)?;
        device.launch(1, "#")?;
        device.order(1, 2);
        device.launch(2, &early)
    });
    check_race("an event before a grid that overlaps", (1, 2), &|device| {
        device.launch(1, "")?;
        let point = device.memory.record(1);
        device.launch(1, &format!("#{WRITE}"))?;
        device.memory.wait(2, &point);
        device.launch(2, READ)
    });
    // A grid begins after the wait of its stream, and so do those that overlap with it.
    check_fine("an event before grids that overlap", &|device| {
        device.launch(1, WRITE)?;
        device.order(1, 2);
        device.launch(2, "")?;
        device.launch(2, &early)
    });
    check_fine("a copy does not overlap", &|device| {
        device.launch(1, "")?;
        device.copy_from_host(1)?;
        device.launch(1, &early)
    });
}

#[test]
fn copies_race_with_other_streams() {
    type Copy = fn(&mut Device, u64) -> Result;
    let copies: [(HostWork, Copy, bool); 3] = [
        (HostWork::Others, Device::others, true),
        (HostWork::CopyToHost, Device::copy_to_host, false),
        (HostWork::CopyFromHost, Device::copy_from_host, true),
    ];
    for (work, copy, copy_writes) in copies {
        for (body, writes) in [(READ, false), (WRITE, true)] {
            let what = format!("{work} and {body}");
            let first: Scenario<'_> = &|device| {
                copy(device, 1)?;
                device.launch(2, body)
            };
            let second: Scenario<'_> = &|device| {
                device.launch(1, body)?;
                copy(device, 2)
            };
            if !copy_writes && !writes {
                check_fine(&what, first);
                check_fine(&what, second);
                continue;
            }
            check_race(&what, (1, 2), second);
            let race = race(&what, first);
            assert_eq!((race.other_stream, race.stream), (1, 2), "{what}");
            assert_eq!(race.other, Work::Host(work), "{what}");
            check_fine(&what, &|device| {
                copy(device, 1)?;
                device.order(1, 2);
                device.launch(2, body)?;
                copy(device, 2)?;
                device.order(2, 3);
                device.launch(3, body)
            });
        }
    }
    check_race("two copies", (1, 2), &|device| {
        device.copy_from_host(1)?;
        device.copy_to_host(2)
    });
    check_fine("two copies to the host", &|device| {
        device.copy_to_host(1)?;
        device.copy_to_host(2)
    });
    check_fine("other bytes", &|device| {
        device.memory.write_on(1, device.array, &[1; 3])?;
        device.memory.write_on(2, device.array + 3, &[2; 5])?;
        device.memory.read_on(3, device.array + 8, &mut [])
    });
    // A copy that is refused does not happen, nor does one outside of memory.
    let mut device = Device::new(0);
    device.memory.write_on(1, device.array, &[1; 4]).unwrap();
    let refused = device.memory.write_on(2, device.array + 3, &[2; 4]);
    assert!(matches!(refused, Err(EmulatorError::StreamRace { .. })));
    let outside = device.memory.read_on(1, device.array + 250, &mut [0; 8]);
    assert!(matches!(outside, Err(EmulatorError::Memory(_))));
    let mut bytes = [9; 5];
    device.memory.read(device.array, &mut bytes).unwrap();
    assert_eq!(bytes, [1, 1, 1, 1, 0]);
}

#[test]
fn a_free_is_after_all_uses() {
    for body in [READ, WRITE] {
        check_race(body, (1, 2), &|device| {
            device.launch(1, body)?;
            device.memory.free_on(2, device.array)
        });
        check_fine(body, &|device| {
            device.launch(1, body)?;
            device.order(1, 2);
            device.memory.free_on(2, device.array)
        });
        check_fine(body, &|device| {
            device.launch(1, body)?;
            device.memory.free_on(1, device.array)
        });
    }
    check_fine("of another allocation", &|device| {
        let other = device.memory.alloc(8, 8)?;
        device.launch(1, WRITE)?;
        device.memory.free_on(2, other)
    });
    let mut device = Device::new(0);
    let free = device.memory.free_bytes();
    device.launch(1, WRITE).unwrap();
    device.memory.free_on(2, device.array).unwrap_err();
    assert_eq!(device.memory.free_bytes(), free);
    device.memory.free_on(1, device.array).unwrap();
    assert!(device.memory.free_bytes() > free);
    let again = device.memory.free_on(1, device.array);
    assert!(matches!(again, Err(EmulatorError::Free(_))));
}

#[test]
fn the_errors_name_both_sides() {
    let mut device = Device::new(0);
    device.launch(1, WRITE).unwrap();
    let address = device.array;
    let race = |this, other, line| {
        format!(
            "races at global address {address:#x} with {line} on stream {other}: this is on stream {this}, and no event orders the two; \
             stream {this} has to wait first for an event that stream {other} records after that"
        )
    };
    let store = "line 15 (`st.global.b32 [%d0], %r0`) of k";
    let (kind, text) = fault(device.launch(2, READ));
    assert_eq!(kind.to_string(), race(2, 1, store));
    assert_eq!(kind.global_address(), Some(address));
    assert_eq!(text, "ld.global.b32 %r1, [%d0]");
    let error = device.copy_to_host(2).unwrap_err().to_string();
    assert_eq!(error, format!("a copy to the host {}", race(2, 1, store)));
    let error = device.memory.free_on(2, address).unwrap_err().to_string();
    assert_eq!(error, format!("a free {}", race(2, 1, store)));

    let mut device = Device::new(0);
    device.copy_from_host(3).unwrap();
    let (kind, _) = fault(device.launch(0, READ));
    assert_eq!(kind.to_string(), race(0, 3, "a copy from the host"));
}

/// Of each stream, the oldest launches are forgotten, and so are those for which there is no room.
#[test]
fn what_is_remembered_is_bounded() {
    let after = |others: u64, stream| {
        let mut device = Device::new(0);
        device.launch(1, WRITE)?;
        for _ in 0..others {
            device.launch(stream, "")?;
        }
        device.launch(2, READ)
    };
    let (kind, _) = fault(after(15, 1));
    assert!(matches!(kind, FaultKind::StreamRace(_)), "{kind}");
    after(16, 1).unwrap();
    // Other streams do not displace it.
    let (kind, _) = fault(after(40, 3));
    assert!(matches!(kind, FaultKind::StreamRace(_)), "{kind}");

    let within = |recorded_bytes| {
        let mut device = Device::new(0);
        device.limits.recorded_bytes = recorded_bytes;
        device.launch(1, WRITE)?;
        let first = device.array;
        device.array = device.memory.alloc(256, 256)?;
        device.launch(3, WRITE)?;
        device.array = first;
        device.launch(2, WRITE)
    };
    // Two launches have a page of records each.
    let (kind, _) = fault(within(8192));
    assert!(matches!(kind, FaultKind::StreamRace(_)), "{kind}");
    within(4096).unwrap();
}

/// Only a second stream makes the device remember more than the last launch.
#[test]
fn a_second_stream_is_announced_before_what_it_may_race_with() {
    let launches = |announced: bool| {
        let mut device = Device::new(0);
        device.memory = GlobalMemory::new();
        device.array = device.memory.alloc(256, 256)?;
        device.memory.write(device.array, &[0; 256])?;
        if announced {
            device.memory.add_stream(7);
        }
        device.launch(0, WRITE)?;
        device.launch(0, WRITE_REST)?;
        device.launch(7, READ)?;
        let point: Point = device.memory.record(7);
        device.memory.wait(0, &point);
        device.launch(7, WRITE_REST)
    };
    for announced in [false, true] {
        let (kind, text) = fault(launches(announced));
        assert!(matches!(kind, FaultKind::StreamRace(_)), "{kind}");
        assert_eq!(text.starts_with("ld"), announced, "{text}");
    }
}
