//! Mutants that no schedule and no hardware can tell from the kernel.

use cute_ptx::table::Opcode;

use crate::launches::Launch;
use crate::mutation::Mutant;

/// Why the mutant is equivalent to the kernel; `None` if it is not known to be.
pub(crate) fn reason(_launch: &Launch, mutant: &Mutant) -> Option<&'static str> {
    EQUIVALENT
        .iter()
        .find(|row| (row.holds)(mutant))
        .map(|row| row.reason)
}

struct Row {
    reason: &'static str,
    holds: fn(&Mutant) -> bool,
}

const EQUIVALENT: &[Row] = &[Row {
    reason: "the number of registers changes the speed alone",
    holds: |mutant| mutant.instruction.opcode() == Opcode::Setmaxnreg,
}];
