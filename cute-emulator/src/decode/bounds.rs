//! Facts about addresses before a kernel runs: their sums, and the variable from whose name each is computed.

use super::operands::Arg;
use crate::op::{Address, Function, Instruction, Op, Reg, Uses, Variable};
use cute_ptx::table::Opcode;
use std::sync::Arc;

/// The most passes over the instructions in the search for the sources of addresses.
const MOST_PASSES: usize = 32;

/// The addresses with an offset among the operands.
pub(super) fn sums(args: &[Arg]) -> Box<[Address]> {
    let addresses = args.iter().filter_map(|arg| match arg {
        Arg::Address(address) | Arg::Tile(address, _) => Some(*address),
        _ => None,
    });
    addresses.filter(|address| address.offset != 0).collect()
}

/// The source of a register's value, over all its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// No write has been found yet.
    Nothing,
    /// A number that is no address of a variable.
    Number,
    /// The address of the variable with this number, plus numbers.
    Variable(usize),
    /// Several addresses, or something else.
    Several,
}

impl Source {
    fn or(self, other: Source) -> Source {
        match (self, other) {
            (Source::Nothing, known) | (known, Source::Nothing) => known,
            (a, b) if a == b => a,
            _ => Source::Several,
        }
    }

    /// The source of a sum.
    fn plus(self, other: Source) -> Source {
        match (self, other) {
            (Source::Nothing, _) | (_, Source::Nothing) => Source::Nothing,
            (known, Source::Number) | (Source::Number, known) => known,
            _ => Source::Several,
        }
    }

    fn minus(self, other: Source) -> Source {
        match (self, other) {
            (Source::Variable(a), Source::Variable(b)) if a == b => Source::Number,
            (_, Source::Variable(_)) => Source::Several,
            _ => self.plus(other),
        }
    }

    /// The source of a product, or of another result that is no address.
    fn times(self, other: Source) -> Source {
        match self.plus(other) {
            Source::Variable(_) => Source::Several,
            other => other,
        }
    }
}

/// Notes the variable in shared memory for each access whose address is computed from the variable's name by moves and sums alone.
pub(super) fn find_variables(
    instructions: &mut [Instruction],
    uses: &[Uses],
    variables: &[(Reg, Arc<Variable>)],
    rows: usize,
) {
    // A single variable has no neighbour, and dynamic shared memory has no end.
    if variables.iter().all(|(_, it)| it.range.end == u64::MAX) {
        return;
    }
    let mut written = vec![false; rows];
    let writes = uses.iter().flat_map(|uses| &uses.writes);
    writes.for_each(|row| written[*row as usize] = true);
    let start = |written: &bool| {
        if *written {
            Source::Nothing
        } else {
            Source::Number
        }
    };
    let mut sources: Vec<Source> = written.iter().map(start).collect();
    for (number, (row, _)) in variables.iter().enumerate() {
        sources[*row as usize] = Source::Variable(number);
    }
    let mut changed = true;
    for _ in 0..MOST_PASSES {
        changed = false;
        for (instruction, uses) in instructions.iter().zip(uses) {
            let source = result(instruction, uses, &sources);
            for row in &uses.writes {
                let known = &mut sources[*row as usize];
                let joined = known.or(source);
                changed |= joined != *known;
                *known = joined;
            }
        }
        if !changed {
            break;
        }
    }
    if changed {
        return;
    }
    for instruction in instructions {
        let Some((address, bytes)) = access(&instruction.op) else {
            continue;
        };
        if let Source::Variable(number) = sources[address.base as usize] {
            let variable = variables[number].1.clone();
            let bounds = instruction.bounds.get_or_insert_default();
            bounds.variable = Some((address, variable, bytes));
        }
    }
}

/// The source of an instruction's result, from its sources.
fn result(instruction: &Instruction, uses: &Uses, sources: &[Source]) -> Source {
    let of = |row: Reg| sources[row as usize];
    let opcode = instruction.mnemonic.map(|it| it.opcode());
    let compute = match &instruction.op {
        Op::Compute(compute) => compute,
        Op::MapRank { address, .. } => return of(*address),
        // Loaded values and counters are taken as numbers, not addresses.
        Op::Load { .. } | Op::Atomic(_) | Op::Compare(_) => return Source::Number,
        _ => {
            let reads = uses.reads.iter().map(|row| of(*row));
            return reads.fold(Source::Number, Source::times);
        }
    };
    let [a, b, c, _] = compute.src.map(of);
    let count = match compute.function {
        Function::F1(_) => 1,
        Function::F2(_) => 2,
        Function::F3(_) => 3,
        Function::F4(_) => 4,
    };
    match (opcode, count) {
        (Some(Opcode::Mov | Opcode::Cvt | Opcode::Cvta | Opcode::CvtaTo), 1) => a,
        (Some(Opcode::Add | Opcode::And | Opcode::Or | Opcode::Xor), 2) => a.plus(b),
        (Some(Opcode::Sub), 2) => a.minus(b),
        (Some(Opcode::Min | Opcode::Max), 2) => a.or(b),
        (Some(Opcode::Selp), 3) => a.or(b),
        (Some(Opcode::Mad), 3) => a.times(b).plus(c),
        _ => {
            let sources = compute.src[..count].iter().map(|row| of(*row));
            sources.fold(Source::Number, Source::times)
        }
    }
}

/// The address of an access to memory, and its bytes in each lane.
fn access(op: &Op) -> Option<(Address, u64)> {
    const ROW_OF_A_MATRIX: u64 = 16;
    let (address, bytes) = match op {
        Op::Load {
            access,
            dst,
            address,
        } => (address, u64::from(access.bytes) * dst.len() as u64),
        Op::Store {
            access,
            src,
            address,
        } => (address, u64::from(access.bytes) * src.len() as u64),
        Op::Atomic(atomic) => {
            let bytes = u64::from(atomic.access.bytes) * atomic.src.len() as u64;
            (&atomic.address, bytes)
        }
        Op::CopyAsync { to, bytes, .. } => (to, u64::from(*bytes)),
        // The other lanes have no rows.
        Op::LoadMatrix { dst, address, .. } if dst.len() == 4 => (address, ROW_OF_A_MATRIX),
        Op::StoreMatrix { src, address, .. } if src.len() == 4 => (address, ROW_OF_A_MATRIX),
        _ => return None,
    };
    Some((*address, bytes))
}
