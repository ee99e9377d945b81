//! The body of a kernel, and what its registers and lines are for.

use std::collections::HashSet;
use std::ops::Range;

use cute_ptx::ast::{Inst, Line, Operand};
use cute_ptx::table::{Modifier, Opcode};

/// The body of a kernel, and what its registers are for.
pub(crate) struct Body<'a> {
    pub(crate) lines: &'a [Line],
    /// Registers of which addresses, coordinates and matrix descriptors are computed.
    pub(crate) addresses: HashSet<&'a str>,
    /// Registers of which conditions are computed.
    pub(crate) conditions: HashSet<&'a str>,
    /// Predicates that tell whether a phase of an mbarrier is complete.
    pub(crate) waits: HashSet<&'a str>,
}

impl<'a> Body<'a> {
    pub(crate) fn new(lines: &'a [Line]) -> Self {
        let mut body = Body {
            lines,
            addresses: HashSet::new(),
            conditions: HashSet::new(),
            waits: HashSet::new(),
        };
        let (mut addresses, mut conditions) = (HashSet::new(), HashSet::new());
        for (_, inst) in body.instructions() {
            for operand in &inst.operands {
                if let Operand::Address { .. } | Operand::Tensor { .. } = operand {
                    operand.for_each_name(&mut |name| _ = addresses.insert(name));
                }
            }
            match inst.mnemonic.opcode() {
                Opcode::WgmmaMmaAsync => {
                    inst.for_each_source(&mut |name| _ = addresses.insert(name))
                }
                Opcode::Setp => inst.for_each_source(&mut |name| _ = conditions.insert(name)),
                opcode if is_wait(opcode) => {
                    inst.for_each_written(&mut |name| _ = body.waits.insert(name));
                }
                _ => {}
            }
        }
        body.addresses = body.sources_of(addresses);
        body.conditions = body.sources_of(conditions);
        body
    }

    pub(crate) fn instructions(&self) -> impl Iterator<Item = (usize, &'a Inst)> + use<'a> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(at, line)| match line {
            Line::Inst(inst) => Some((at, inst)),
            _ => None,
        })
    }

    /// The lines of a wait for an mbarrier, from the label to the branch back to it, or the line of another instruction alone.
    pub(crate) fn whole(&self, at: usize) -> Range<usize> {
        let label = |at: usize| match self.lines.get(at) {
            Some(Line::Label(name)) => Some(name),
            _ => None,
        };
        let back = |at: usize| match self.lines.get(at) {
            Some(Line::Inst(inst)) if inst.mnemonic.opcode() == Opcode::Bra => {
                match &inst.operands[..] {
                    [Operand::Name(name)] => Some(name),
                    _ => None,
                }
            }
            _ => None,
        };
        match (at.checked_sub(1).and_then(label), back(at + 1)) {
            (Some(label), Some(back)) if label == back => at - 1..at + 2,
            _ => at..at + 1,
        }
    }

    /// The instructions from a line on that follow one another up to a label or a branch.
    pub(crate) fn block(&self, from: usize) -> impl Iterator<Item = (usize, &'a Inst)> + use<'a> {
        let lines = self.lines[from..].iter().enumerate();
        let block = lines.take_while(|(_, line)| match line {
            Line::Inst(inst) => !leaves(inst.mnemonic.opcode()),
            Line::Label(_) => false,
            _ => true,
        });
        block.filter_map(move |(at, line)| match line {
            Line::Inst(inst) => Some((from + at, inst)),
            _ => None,
        })
    }

    /// The instructions before a line that follow one another from a label or a branch, the last first.
    pub(crate) fn block_before(
        &self,
        to: usize,
    ) -> impl Iterator<Item = (usize, &'a Inst)> + use<'a> {
        let lines = self.lines[..to].iter().enumerate().rev();
        let block = lines.take_while(|(_, line)| match line {
            Line::Inst(inst) => !leaves(inst.mnemonic.opcode()),
            Line::Label(_) => false,
            _ => true,
        });
        block.filter_map(|(at, line)| match line {
            Line::Inst(inst) => Some((at, inst)),
            _ => None,
        })
    }

    /// These registers, and all of which integer arithmetic computes them.
    fn sources_of(&self, mut registers: HashSet<&'a str>) -> HashSet<&'a str> {
        loop {
            let before = registers.len();
            for (_, inst) in self.instructions() {
                let mut wanted = false;
                inst.for_each_written(&mut |name| wanted |= registers.contains(name));
                if wanted && INTEGER.contains(&inst.mnemonic.opcode()) {
                    inst.for_each_source(&mut |name| _ = registers.insert(name));
                }
            }
            if registers.len() == before {
                return registers;
            }
        }
    }
}

/// Instructions that compute addresses and bounds.
const INTEGER: &[Opcode] = &[
    Opcode::Add,
    Opcode::Sub,
    Opcode::Mul,
    Opcode::Mad,
    Opcode::Shl,
    Opcode::Shr,
    Opcode::And,
    Opcode::Or,
    Opcode::Xor,
    Opcode::Bfe,
    Opcode::Mov,
    Opcode::Cvt,
    Opcode::Div,
    Opcode::Rem,
];

/// Instructions that wait, signal, or order accesses.
const SYNCHRONISATION: &[Opcode] = &[
    Opcode::BarSync,
    Opcode::BarArrive,
    Opcode::BarRed,
    Opcode::BarWarpSync,
    Opcode::BarrierSync,
    Opcode::BarrierArrive,
    Opcode::BarrierClusterArrive,
    Opcode::BarrierClusterWait,
    Opcode::Membar,
    Opcode::Fence,
    Opcode::FenceProxyAlias,
    Opcode::FenceProxyAsync,
    Opcode::FenceProxyTensormap,
    Opcode::FenceMbarrierInit,
    Opcode::Griddepcontrol,
    Opcode::MbarrierInit,
    Opcode::MbarrierArrive,
    Opcode::MbarrierTx,
    Opcode::MbarrierTestWait,
    Opcode::MbarrierTryWait,
    Opcode::CpAsyncCommitGroup,
    Opcode::CpAsyncWaitGroup,
    Opcode::CpAsyncWaitAll,
    Opcode::CpAsyncMbarrierArrive,
    Opcode::CpAsyncBulkCommitGroup,
    Opcode::CpAsyncBulkWaitGroup,
    Opcode::WgmmaFence,
    Opcode::WgmmaCommitGroup,
    Opcode::WgmmaWaitGroup,
    Opcode::Setmaxnreg,
];

pub(crate) fn is_synchronisation(inst: &Inst) -> bool {
    SYNCHRONISATION.contains(&inst.mnemonic.opcode())
}

pub(crate) fn is_wait(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::MbarrierTestWait | Opcode::MbarrierTryWait)
}

pub(crate) fn leaves(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Bra | Opcode::Ret | Opcode::Exit)
}

/// Whether it accesses memory, or orders accesses.
pub(crate) fn accesses_memory(inst: &Inst) -> bool {
    let mut operands = inst.operands.iter();
    let accesses =
        operands.any(|it| matches!(it, Operand::Address { .. } | Operand::Tensor { .. }));
    let parameter = inst.mnemonic.get("space") == Some(Modifier::Param);
    (accesses || is_synchronisation(inst) || inst.mnemonic.opcode() == Opcode::WgmmaMmaAsync)
        && !parameter
}
