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
        reason: "nothing that these launches do needs the order, or needs it between CTAs, of this arrival or wait",
        most: 40,
        has: |mutant| {
            let opcode = mutant.instruction.opcode();
            mutant.rule == "weaker" && (is_wait(opcode) || opcode == Opcode::MbarrierArrive)
        },
    },
    Known {
        reason: "a CTA of a pair does not wait at its end for the arrivals of the other one; or a part of a warpgroup does not wait for its turn, and meets the other part at the next wgmma",
        most: 10,
        has: |mutant| {
            let opcode = mutant.instruction.opcode();
            let rules = ["left out", "some warps"];
            mutant.rule == "not repeated" || is_wait(opcode) && rules.contains(&mutant.rule)
        },
    },
    Known {
        reason: "warps do not wait for the grid before, and read nothing that it has written",
        most: 10,
        has: |mutant| mutant.instruction.opcode() == Opcode::Griddepcontrol,
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
        reason: "the wgmma.wait_group of a warp counts for its warpgroup",
        most: 10,
        has: |mutant| {
            mutant.rule == "some warps" && mutant.instruction.opcode() == Opcode::WgmmaWaitGroup
        },
    },
    Known {
        reason: "the warpgroup whose barrier is taken has come past its own by then",
        most: 1,
        has: |mutant| {
            mutant.rule == "other barrier" && mutant.instruction.opcode() == Opcode::BarSync
        },
    },
];
