//! The releases of strong writes at a location, which strong reads acquire, by location and scope (PTX's memory model). A release or
//! a fence comes before the write, an acquire or a fence after the read. Accesses before the first are ordered before accesses after
//! the second, if both scopes include both threads.

use super::knowledge::Knowledge;
use crate::limits::{OverLimit, hold};
use crate::op::Scope;
use std::collections::HashMap;
use std::ops::Range;

/// The most clocks in all releases of a memory. Each release counts as a few clocks more, for its other fields.
const MOST_CLOCKS: u64 = 1 << 27;
const CLOCKS_OF_A_RELEASE: u64 = 32;

/// A CTA of the grid, and a warp of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// The number of the cluster.
    pub(crate) cluster: u64,
    /// The rank of the CTA in it.
    pub(crate) rank: usize,
    /// The number of the warp in the cluster.
    pub(crate) warp: usize,
}

impl Party {
    /// The smallest scope that includes both.
    pub(crate) fn scope_with(self, other: Party) -> Scope {
        match (self.cluster == other.cluster, self.rank == other.rank) {
            (true, true) => Scope::Cta,
            (true, false) => Scope::Cluster,
            (false, _) => Scope::Gpu,
        }
    }
}

/// A release by a strong write.
#[derive(Clone)]
pub(crate) struct Released {
    pub(crate) scope: Scope,
    /// Whether another warp released it by a `fence.sc`, before a CTA barrier that precedes this write. A reader then acquires it only by
    /// a `fence.sc`, which comes later in the total order of all `fence.sc`.
    pub(crate) sequential: bool,
    pub(crate) knowledge: Knowledge,
}

/// A release, and the party that made it.
pub(crate) struct Release {
    pub(crate) by: Party,
    pub(crate) is: Released,
}

/// The releases at each location of a memory that a read of the current value can acquire.
#[derive(Default)]
pub(crate) struct Releases {
    /// The releases, by the number of the 4-byte word.
    words: HashMap<u64, Vec<Release>>,
    /// The number of clocks in all releases.
    clocks: u64,
}

impl Release {
    fn clocks(&self) -> u64 {
        self.is.knowledge.clocks() + CLOCKS_OF_A_RELEASE
    }
}

impl Releases {
    /// Records a strong write of bytes. An atomic keeps the releases of the value that it read; a store drops them. Returns the number
    /// of releases examined.
    pub(crate) fn write(
        &mut self,
        bytes: Range<u64>,
        by: Party,
        released: &[Released],
        continues: bool,
    ) -> Result<u64, OverLimit> {
        let mut looked_at = 0;
        for word in words(bytes) {
            if !continues && let Some(releases) = self.words.get_mut(&word) {
                releases.retain(|release| {
                    let keeps = release.by == by;
                    self.clocks -= if keeps { 0 } else { release.clocks() };
                    keeps
                });
                if releases.is_empty() {
                    self.words.remove(&word);
                }
            }
            for new in released {
                let releases = self.words.entry(word).or_default();
                looked_at += releases.len() as u64;
                let same = |release: &&mut Release| {
                    let Released {
                        scope, sequential, ..
                    } = release.is;
                    (release.by, scope, sequential) == (by, new.scope, new.sequential)
                };
                match releases.iter_mut().find(same) {
                    Some(release) => {
                        self.clocks -= release.clocks();
                        release.is.knowledge.join(&new.knowledge);
                        self.clocks += release.clocks();
                    }
                    None => {
                        let is = new.clone();
                        let new = Release { by, is };
                        self.clocks += new.clocks();
                        releases.push(new);
                    }
                }
            }
        }
        let what = "clocks of warps that memory keeps for releases";
        hold(what, self.clocks, MOST_CLOCKS)?;
        Ok(looked_at)
    }

    /// The releases that a strong read of bytes sees, each with the smallest scope that includes both threads.
    pub(crate) fn seen(
        &self,
        bytes: Range<u64>,
        by: Party,
        scope: Scope,
    ) -> impl Iterator<Item = (Scope, &Release)> {
        words(bytes)
            .filter(|_| !self.words.is_empty())
            .filter_map(|word| self.words.get(&word))
            .flatten()
            .map(move |release| (by.scope_with(release.by), release))
            .filter(move |(least, release)| *least <= scope && *least <= release.is.scope)
    }
}

fn words(bytes: Range<u64>) -> Range<u64> {
    bytes.start / 4..bytes.end.div_ceil(4)
}

/// The knowledge that fences release through later strong writes. For each scope: the knowledge at the last fence of this or a larger
/// scope.
#[derive(Clone, Default)]
pub(crate) struct Fenced([Option<Knowledge>; Scope::COUNT]);

impl Fenced {
    pub(crate) fn release(&mut self, scope: Scope, knowledge: &Knowledge) {
        self.0[..=scope as usize].fill(Some(knowledge.clone()));
    }

    pub(crate) fn join(&mut self, other: &Fenced) {
        for (known, other) in self.0.iter_mut().zip(&other.0) {
            match (known, other) {
                (Some(known), Some(other)) => known.join(other),
                (known @ None, Some(other)) => *known = Some(other.clone()),
                (_, None) => {}
            }
        }
    }

    /// For this scope and each smaller one.
    fn up_to(&self, scope: Scope) -> impl Iterator<Item = (Scope, Knowledge)> {
        [Scope::Cta, Scope::Cluster, Scope::Gpu]
            .into_iter()
            .zip(&self.0)
            .filter(move |(each, _)| *each <= scope)
            .filter_map(|(each, knowledge)| Some((each, knowledge.clone()?)))
    }
}

/// The fences of a warp, as its strong accesses need them.
#[derive(Default)]
pub(crate) struct Fences {
    released: Fenced,
    /// The same for `fence.sc`, also those of other warps at the CTA's barriers.
    pub(crate) sequential: Fenced,
    /// For each scope, the knowledge that strong reads have seen, with the cluster it came from. A later fence of this or a larger
    /// scope acquires it.
    seen: Seen,
    /// The same for knowledge that only a `fence.sc` acquires.
    seen_sequential: Seen,
}

type Seen = [Vec<(u64, Knowledge)>; Scope::COUNT];

impl Fences {
    /// Called at a fence. Returns the knowledge that it acquires.
    pub(crate) fn acquire(&mut self, scope: Scope, sequential: bool) -> Vec<(u64, Knowledge)> {
        let seen = self.seen[..=scope as usize].iter_mut();
        let mut seen: Vec<_> = seen.flat_map(std::mem::take).collect();
        if sequential {
            let others = self.seen_sequential[..=scope as usize].iter_mut();
            seen.extend(others.flat_map(std::mem::take));
        }
        seen
    }

    /// Called at a fence. Later strong writes release this knowledge.
    pub(crate) fn release(&mut self, scope: Scope, knowledge: &Knowledge) {
        self.released.release(scope, knowledge);
    }

    /// The knowledge released by the last fence of this or a larger scope.
    pub(crate) fn released_at(&self, scope: Scope) -> Option<&Knowledge> {
        self.released.0[scope as usize].as_ref()
    }

    /// The releases of a strong write of this scope.
    pub(crate) fn released(&self, scope: Scope) -> Vec<Released> {
        let all = [(false, &self.released), (true, &self.sequential)];
        let all = all.into_iter().flat_map(|(sequential, fenced)| {
            fenced.up_to(scope).map(move |(scope, knowledge)| Released {
                scope,
                sequential,
                knowledge,
            })
        });
        all.collect()
    }

    /// Called when a strong read has seen the knowledge of a thread of a cluster. `scope` includes both threads.
    pub(crate) fn see(
        &mut self,
        scope: Scope,
        cluster: u64,
        knowledge: &Knowledge,
        sequential: bool,
    ) {
        let seen = match sequential {
            true => &mut self.seen_sequential,
            false => &mut self.seen,
        };
        let seen = &mut seen[scope as usize];
        match seen.iter_mut().find(|(of, _)| *of == cluster) {
            Some((_, known)) => known.join(knowledge),
            None => seen.push((cluster, knowledge.clone())),
        }
    }
}
