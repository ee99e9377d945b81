//! Bits of a register that may differ between threads.

use super::group::Group;
use cute_chip::threads::{WARP, WARPGROUP};
use cute_ptx::special::Register;
use cute_ptx::table::Mnemonic;
use std::fmt::{self, Display, Formatter};

/// The bits of a register that may differ between two threads of one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Varies {
    /// For each group of [`Group::ALL`], the bits. A bit that may differ in a group may differ in the larger ones.
    bits: [u64; 4],
    /// The bits of the lane number that the register depends on, within one warp.
    lanes: u8,
    /// For each group with such bits, why.
    causes: [Cause; 4],
}

/// Why threads may have other values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cause {
    /// Something that the kernel asks for, or has done.
    Of(&'static str),
    /// An instruction gives each of them a result of its own.
    Result(Mnemonic),
}

impl From<&'static str> for Cause {
    fn from(text: &'static str) -> Self {
        Cause::Of(text)
    }
}

/// As in "it depends on …".
impl Display for Cause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Of(text) => f.write_str(text),
            Cause::Result(mnemonic) => write!(f, "the result of `{mnemonic}`"),
        }
    }
}

/// All bits of a lane's number.
const LANES: u8 = WARP as u8 - 1;

impl Varies {
    /// It is the same in all threads of the cluster.
    pub(super) const NOT: Varies = Varies {
        bits: [0; 4],
        lanes: 0,
        causes: [Cause::Of(""); 4],
    };

    /// Any two lanes may have different values. Messages tell the cause: "it depends on …".
    pub(super) fn by_lane(cause: impl Into<Cause>) -> Self {
        Varies {
            bits: [u64::MAX; 4],
            lanes: LANES,
            causes: [cause.into(); 4],
        }
    }

    /// Threads of a group of this kind may differ; threads of a smaller group are equal.
    pub(super) fn in_group(group: Group, cause: impl Into<Cause>) -> Self {
        let mut varies = Self::by_lane(cause);
        let smaller = Group::ALL.iter().take_while(|it| **it < group);
        smaller.for_each(|it| varies.agree(*it));
        varies
    }

    /// A component of a special register, in a kernel with these numbers of threads per CTA and CTAs per cluster.
    pub(super) fn special(
        register: Register,
        axis: usize,
        threads: u32,
        cluster: [u32; 3],
    ) -> Self {
        let number = |size: u32| u64::from(size.next_power_of_two()) - 1;
        let of = |bits: [u64; 4], cause: &'static str| {
            let varies = Varies {
                bits,
                ..Self::by_lane(cause)
            };
            varies.settled()
        };
        match register {
            Register::Tid if axis == 0 => {
                let all = number(threads);
                let [lane, thread] = [WARP, WARPGROUP].map(|size| all & number(size));
                of([lane, thread, all, all], "`thread()`")
            }
            Register::Laneid => of([number(WARP); 4], "`lane()`"),
            // Clusters begin at multiples of their extents.
            Register::Ctaid => {
                let extent = cluster[axis.min(2)];
                let bits = match extent.is_power_of_two() {
                    true => number(extent),
                    false => u64::MAX,
                };
                of([0, 0, 0, bits], "`block_idx()`")
            }
            Register::ClusterCtaid | Register::ClusterCtarank if cluster != [1, 1, 1] => {
                Self::in_group(Group::Cluster, "`cluster_ctarank()`")
            }
            Register::LanemaskEq
            | Register::LanemaskLe
            | Register::LanemaskLt
            | Register::LanemaskGe
            | Register::LanemaskGt => Self::by_lane("a mask of lanes"),
            // A thread may be moved to another multiprocessor between two reads.
            Register::Warpid | Register::Smid => Self::by_lane("where the thread runs"),
            Register::Clock
            | Register::ClockHi
            | Register::Clock64
            | Register::Globaltimer
            | Register::GlobaltimerLo
            | Register::GlobaltimerHi => Self::by_lane("the clock"),
            _ => Self::NOT,
        }
    }

    /// Whether threads of a group may have other values.
    pub(super) fn is_in(&self, group: Group) -> bool {
        self.bits[group as usize] != 0
    }

    /// The bits in which threads of a group may differ.
    #[cfg(test)]
    pub(super) fn bits_in(&self, group: Group) -> u64 {
        self.bits[group as usize]
    }

    /// Why threads of a group may have other values.
    pub(super) fn cause(&self, group: Group) -> Cause {
        self.causes[group as usize]
    }

    /// The same with another reason.
    pub(super) fn because(mut self, cause: impl Into<Cause>) -> Self {
        self.causes = [cause.into(); 4];
        self
    }

    /// The threads of each group of this kind have the same value.
    pub(super) fn agree(&mut self, group: Group) {
        self.bits[group as usize] = 0;
        if group == Group::Warp {
            self.lanes = 0;
        }
    }

    /// Lanes that differ only in these bits of their numbers have the same value.
    pub(super) fn without_lanes(mut self, lanes: u8) -> Self {
        self.lanes &= !lanes;
        self.settled()
    }

    /// As this one; if it depends on one bit of the lane number, it may depend on all.
    pub(super) fn in_all_lanes(mut self) -> Self {
        if self.lanes != 0 {
            self.lanes = LANES;
        }
        self
    }

    /// Adds the differences of another value. Returns whether any is new.
    pub(super) fn join(&mut self, other: &Varies) -> bool {
        let joined = self.with(other, |a, b| a | b);
        let is_new = joined.bits != self.bits || joined.lanes != self.lanes;
        *self = joined;
        is_new
    }

    /// The differences of a function of this value, by a map of the bits that differ.
    pub(super) fn map(&self, bits: impl Fn(u64) -> u64) -> Self {
        self.with(self, |a, _| bits(a))
    }

    /// The differences of a function of two values, by the bits that differ in each.
    pub(super) fn with(&self, other: &Varies, bits: impl Fn(u64, u64) -> u64) -> Self {
        let mut result = *self;
        for group in 0..4 {
            result.bits[group] = bits(self.bits[group], other.bits[group]);
            if self.bits[group] == 0 {
                result.causes[group] = other.causes[group];
            }
        }
        result.lanes |= other.lanes;
        result.settled()
    }

    /// All bits, if any may differ.
    pub(super) fn spread(&self) -> Self {
        self.map(|bits| if bits == 0 { 0 } else { u64::MAX })
    }

    /// The result of an operation of all threads of a group on this value. It is the same in all of them.
    pub(super) fn gathered(&self, group: Group) -> Self {
        let mut gathered = self.spread();
        let parts = Group::ALL.into_iter().filter(|part| *part <= group);
        parts.for_each(|part| gathered.agree(part));
        gathered
    }

    /// A value does not depend on the lane exactly if it is the same in all lanes.
    fn settled(mut self) -> Self {
        if self.bits[0] == 0 || self.lanes == 0 {
            self.agree(Group::Warp);
        }
        self
    }
}
