//! The threads that execute an operation together.

use crate::kernel::ir::{Inst, Operand};
use cute_chip::threads::{WARP, WARPGROUP};
use cute_ptx::claims;
use cute_ptx::table::{self, Kind, Together};

/// Groups of threads of a CTA or cluster, from the smallest. A thread is in one group of each kind, and this group is a part of its group
/// of the next kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The lanes of a warp.
    Warp,
    /// The threads of a warpgroup.
    Warpgroup,
    /// The threads of a CTA.
    Cta,
    /// The threads of a cluster.
    Cluster,
}

impl From<claims::Group> for Group {
    fn from(group: claims::Group) -> Self {
        match group {
            claims::Group::Warp => Self::Warp,
            claims::Group::Warpgroup => Self::Warpgroup,
            claims::Group::Cta => Self::Cta,
        }
    }
}

impl Group {
    /// All, from the fewest threads on.
    pub const ALL: [Group; 4] = [Group::Warp, Group::Warpgroup, Group::Cta, Group::Cluster];

    /// The smallest group with the same threads, given the threads of a CTA and the CTAs of a cluster.
    pub(super) fn least(self, threads: u32, ctas: u32) -> Self {
        let is_whole = |group| match group {
            Group::Cluster => ctas == 1,
            Group::Cta => threads <= WARPGROUP,
            Group::Warpgroup => threads <= WARP,
            Group::Warp => false,
        };
        let mut groups = Self::ALL.into_iter().rev().filter(|it| *it <= self);
        groups.find(|it| !is_whole(*it)).unwrap_or(self)
    }

    /// As claims write it.
    pub fn name(self) -> &'static str {
        match self {
            Group::Warp => "warp",
            Group::Warpgroup => "warpgroup",
            Group::Cta => "CTA",
            Group::Cluster => "cluster",
        }
    }

    /// The threads, for messages: `the lanes of a warp`.
    pub(super) fn threads(self) -> String {
        let kind = if self == Group::Warp {
            "lanes"
        } else {
            "threads"
        };
        format!("the {kind} of a {}", self.name())
    }
}

/// The threads that execute an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// All threads of a group.
    All(Group),
    /// The lanes of a mask, known or in a register. They are not known to be all lanes.
    Listed(Option<u32>),
}

/// The threads of a CTA with `threads` threads that execute the instruction together; `None` if each executes it independently.
///
/// | instruction | group |
/// |---|---|
/// | `shfl`, `vote`, `match`, `redux`, `elect`, `bar.warp.sync` | the lanes of the member mask |
/// | `ldmatrix`, `stmatrix`, `movmatrix`, `mma`, `wmma` | the warp |
/// | `wgmma`, `setmaxnreg` | the warpgroup |
/// | `bar` of all threads of the CTA | the CTA |
/// | `bar` of a number of threads | the warp: which warps come, the number does not say |
/// | `barrier.cluster` | the cluster |
pub(super) fn members(inst: &Inst, threads: u32) -> Option<Members> {
    match (inst.mnemonic.group(), inst.mnemonic.together()) {
        (Some(table::Group::Cluster), _) => Some(Members::All(Group::Cluster)),
        (Some(table::Group::Cta), _) => Some(Members::All(match is_of_cta(inst, threads) {
            true => Group::Cta,
            false => Group::Warp,
        })),
        (Some(table::Group::Warpgroup), _) => Some(Members::All(Group::Warpgroup)),
        (None, Together::No) => None,
        (None, Together::Warp) => Some(Members::All(Group::Warp)),
        (None, Together::Members) => {
            let lanes = u32::MAX >> (WARP - threads.min(WARP));
            Some(match inst.operands.last() {
                Some(Operand::Int(mask)) if *mask as u32 & lanes == lanes => {
                    Members::All(Group::Warp)
                }
                Some(Operand::Int(mask)) => Members::Listed(Some(*mask as u32)),
                _ => Members::Listed(None),
            })
        }
    }
}

/// Whether the barrier waits for all threads of the CTA: it has no count, or the count of all threads.
fn is_of_cta(inst: &Inst, threads: u32) -> bool {
    let kinds = inst.mnemonic.kinds(inst.operands.len());
    let operands = inst.operands.iter().zip(kinds.unwrap_or_default());
    let mut numbers = operands.filter(|(_, kind)| matches!(kind, Kind::Use { .. }));
    // The number of the barrier comes first.
    let count = numbers.nth(1);
    count.is_none_or(|(count, _)| *count == Operand::Int(threads.into()))
}
