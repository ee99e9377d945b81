//! The order of warps, and the moments of asynchronous work.

use super::random::Random;
use super::state::cluster::Cluster;
use super::state::warp::Warp;
use crate::launch::Policy;

/// One in this many choices ignores priorities, since a warp may wait in a loop for another warp.
const EXCEPTIONS: usize = 32;
/// A warp loses its priority after one in this many of its turns.
const DEMOTIONS: usize = 16;
/// The least priority of a warp that starts. A warp that loses its priority gets a lower one.
const FIRST_PRIORITY: u64 = 1 << 32;

/// The moment of asynchronous work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    /// When a thread waits for it, or nothing else can happen.
    Latest,
    /// At a random moment before that.
    Random,
    /// At once.
    Earliest,
}

/// The order of a launch.
pub(crate) struct Order {
    policy: Policy,
    /// The priority for the next warp that loses its own: below all others.
    lowest: u64,
}

impl Order {
    pub(crate) fn new(policy: Policy) -> Order {
        Order {
            policy,
            lowest: FIRST_PRIORITY - 1,
        }
    }

    pub(crate) fn delay(&self) -> Delay {
        match self.policy {
            Policy::Latest => Delay::Latest,
            Policy::Earliest => Delay::Earliest,
            Policy::Random | Policy::Priorities | Policy::Starvation => Delay::Random,
        }
    }

    /// Gives priorities to the warps of a new cluster.
    pub(crate) fn begin(&self, cluster: &mut Cluster, random: &mut Random) {
        match self.policy {
            Policy::Latest | Policy::Random | Policy::Earliest => {}
            Policy::Priorities => {
                let priorities =
                    |warp: &mut Warp| warp.priority = random.next().max(FIRST_PRIORITY);
                cluster.warps.iter_mut().for_each(priorities);
            }
            Policy::Starvation => {
                cluster.warps.iter_mut().for_each(|warp| warp.priority = 1);
                let starved = random.below(cluster.warps.len());
                cluster.warps[starved].priority = 0;
            }
        }
    }

    /// Chooses one of the warps that can run. Each is given with its priority.
    pub(crate) fn choose<T: Copy>(&self, runnable: &[(u64, T)], random: &mut Random) -> T {
        let highest = runnable.iter().map(|(priority, _)| *priority).max();
        let all = runnable
            .iter()
            .all(|(priority, _)| Some(*priority) == highest);
        if all || random.one_in(EXCEPTIONS) {
            return runnable[random.below(runnable.len())].1;
        }
        let first: Vec<&(u64, T)> = runnable
            .iter()
            .filter(|(priority, _)| Some(*priority) == highest)
            .collect();
        first[random.below(first.len())].1
    }

    /// Called after a turn of a warp.
    pub(crate) fn after_turn(&mut self, warp: &mut Warp, random: &mut Random) {
        if self.policy == Policy::Priorities && random.one_in(DEMOTIONS) {
            warp.priority = self.lowest;
            self.lowest = self.lowest.saturating_sub(1);
        }
    }
}
