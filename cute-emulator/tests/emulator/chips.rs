//! Launches are held to the limits of the chip that the module is for.

use cute_emulator::{EmulatorError, GlobalMemory, Launch, LaunchProblem, Program};

/// The problem of a launch of an entry that does nothing, of a module for this target.
fn problem(target: &str, launch: &Launch<'_>) -> Option<LaunchProblem> {
    let ptx = format!(
        ".version 7.8\n.target {target}\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n.shared .b8 fixed[1024];\n\
         .visible .entry k()\n{{\n.reg .b32 %r;\nmov.u32 %r, fixed;\nret;\n}}\n"
    )
    .replace(".version 7.8\n.target sm_90a", ".version 8.0\n.target sm_90a");
    let program = Program::load(&ptx).unwrap_or_else(|error| panic!("{target}: {error}"));
    match program.launch(&mut GlobalMemory::new(), "k", launch) {
        Ok(_) => None,
        Err(EmulatorError::Launch { problem, .. }) => Some(problem),
        Err(other) => panic!("{target}: {other}"),
    }
}

fn too_large(what: &'static str, value: u64, limit: u64) -> Option<LaunchProblem> {
    Some(LaunchProblem::TooLarge { what, value, limit })
}

/// A KiB of the shared memory is static. A target without a row, `sm_89`, is held to the limits of `sm_90a`.
#[test]
fn shared_memory_is_that_of_the_chip() {
    for (target, kib) in [
        ("sm_80", 162),
        ("sm_89", 226),
        ("sm_90", 226),
        ("sm_90a", 226),
    ] {
        let launch = |bytes| Launch {
            dynamic_shared_bytes: bytes,
            ..Launch::default()
        };
        assert_eq!(problem(target, &launch(kib << 10)), None, "{target}");
        let (more, limit) = ((kib << 10) + 1, u64::from(kib << 10));
        let expected = too_large("bytes of dynamic shared memory", more.into(), limit);
        assert_eq!(problem(target, &launch(more)), expected, "{target}");
    }
}

#[test]
fn clusters_are_those_of_the_chip() {
    for (target, most) in [("sm_80", 1), ("sm_89", 16), ("sm_90", 16), ("sm_90a", 16)] {
        let launch = |ctas| Launch {
            grid: [ctas, 1, 1],
            cluster: [ctas, 1, 1],
            ..Launch::default()
        };
        assert_eq!(problem(target, &launch(most)), None, "{target}");
        let expected = too_large("CTAs per cluster", u64::from(most) + 1, most.into());
        assert_eq!(problem(target, &launch(most + 1)), expected, "{target}");
    }
}
