//! Kinds of mistakes in synchronisation of which the emulator does not report all, or not under every schedule.

use cute_ptx::table::Opcode;

use crate::body::is_wait;
use crate::mutation::Mutant;

/// A kind of mutants of synchronisation.
pub(crate) struct Known {
    /// What the emulator does not know.
    pub(crate) reason: &'static str,
    /// Of a hundred mutants of the kind that are not equivalent, how many may be missed.
    pub(crate) most: usize,
    pub(crate) has: fn(&Mutant) -> bool,
}

pub(crate) const KNOWN: &[Known] = &[
    Known {
        reason: "lanes that do not come, and masks without the lanes that do, are no fault",
        most: 80,
        has: |mutant| ["some lanes", "members"].contains(&mutant.rule),
    },
    Known {
        reason: "a wait for an mbarrier acquires, and an arrival releases to the cluster, whatever order and scope they have",
        most: 90,
        has: |mutant| {
            let opcode = mutant.instruction.opcode();
            mutant.rule == "weaker" && (is_wait(opcode) || opcode == Opcode::MbarrierArrive)
        },
    },
    Known {
        reason: "a grid begins after the end of the grid before",
        most: 100,
        has: |mutant| mutant.instruction.opcode() == Opcode::Griddepcontrol,
    },
    Known {
        reason: "two groups of warps share a named barrier, and meet in the right order by luck",
        most: 30,
        has: |mutant| {
            mutant.rule == "other barrier" && mutant.instruction.opcode() == Opcode::BarSync
        },
    },
    Known {
        reason: "a phase of an mbarrier is told from that two phases later by luck, and a CTA of a cluster ends before the last arrival of another",
        most: 30,
        has: |mutant| {
            let opcode = mutant.instruction.opcode();
            let rules = ["left out", "later", "some warps", "other parity"];
            mutant.rule == "not repeated" || is_wait(opcode) && rules.contains(&mutant.rule)
        },
    },
    Known {
        reason: "an mbarrier that no other CTA uses is known to its CTA, also if a relaxed barrier of the cluster follows",
        most: 10,
        has: |mutant| mutant.rule == "later" && mutant.instruction.opcode() == Opcode::MbarrierInit,
    },
    Known {
        reason: "the last stage of a tile is released twice to the own CTA, and not to the other one of the pair",
        most: 20,
        has: |mutant| mutant.rule == "own CTA",
    },
    Known {
        reason: "each warp takes its registers alone",
        most: 60,
        has: |mutant| {
            mutant.rule == "some warps" && mutant.instruction.opcode() == Opcode::Setmaxnreg
        },
    },
    Known {
        reason: "the wgmma.wait_group of a warp counts for its warpgroup",
        most: 10,
        has: |mutant| {
            mutant.rule == "some warps" && mutant.instruction.opcode() == Opcode::WgmmaWaitGroup
        },
    },
];
