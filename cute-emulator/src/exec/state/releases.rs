//! What strong writes release at a location, and what strong reads of it acquire: as PTX's memory model has it, by location
//! and by scope. A release or a fence before the write, and an acquire or a fence after the read, order what is before the one
//! before what is after the other, if the scopes of both have both threads.

use super::knowledge::Knowledge;
use crate::limits::{OverLimit, hold};
use crate::op::Scope;
use std::collections::HashMap;
use std::ops::Range;

/// The most clocks that the releases of a memory have together. A release counts as some clocks more, for what else it has.
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
    /// The least scope that has both.
    pub(crate) fn scope_with(self, other: Party) -> Scope {
        match (self.cluster == other.cluster, self.rank == other.rank) {
            (true, true) => Scope::Cta,
            (true, false) => Scope::Cluster,
            (false, _) => Scope::Gpu,
        }
    }
}

/// What a strong write releases.
#[derive(Clone)]
pub(crate) struct Released {
    pub(crate) scope: Scope,
    /// Whether somebody else has released it by a `fence.sc`, before a barrier of the CTA and this write. Then whoever reads the value
    /// acquires it by a `fence.sc` alone: that cannot come before the other one in the order of all of these.
    pub(crate) sequential: bool,
    pub(crate) knowledge: Knowledge,
}

/// What somebody has released.
pub(crate) struct Release {
    pub(crate) by: Party,
    pub(crate) is: Released,
}

/// The releases at each location of a memory that those who read its value now may acquire.
#[derive(Default)]
pub(crate) struct Releases {
    /// By the number of the word of four bytes.
    words: HashMap<u64, Vec<Release>>,
    /// How many clocks they have.
    clocks: u64,
}

impl Release {
    fn clocks(&self) -> u64 {
        self.is.knowledge.clocks() + CLOCKS_OF_A_RELEASE
    }
}

impl Releases {
    /// Records a strong write of bytes by an atomic, which continues what it has read, or by a store, which does not. The result is
    /// how many releases it has looked at.
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

    /// The releases that a strong read of bytes sees, at a scope that has both threads, with the least such scope.
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

/// What fences have released by later strong writes: for each scope, what was known at the last fence of this scope or a larger one.
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

/// What the fences of a warp make of its strong accesses.
#[derive(Default)]
pub(crate) struct Fences {
    released: Fenced,
    /// The same of `fence.sc`, with those of warps that were at a barrier of the CTA since.
    pub(crate) sequential: Fenced,
    /// For each scope, what strong reads have seen, with the number of the cluster that knew it. A later fence of this scope
    /// or a larger one acquires it.
    seen: Seen,
    /// The same of what a `fence.sc` alone acquires.
    seen_sequential: Seen,
}

type Seen = [Vec<(u64, Knowledge)>; Scope::COUNT];

impl Fences {
    /// Called at a fence: what it acquires.
    pub(crate) fn acquire(&mut self, scope: Scope, sequential: bool) -> Vec<(u64, Knowledge)> {
        let seen = self.seen[..=scope as usize].iter_mut();
        let mut seen: Vec<_> = seen.flat_map(std::mem::take).collect();
        if sequential {
            let others = self.seen_sequential[..=scope as usize].iter_mut();
            seen.extend(others.flat_map(std::mem::take));
        }
        seen
    }

    /// Called at a fence: what later strong writes release.
    pub(crate) fn release(&mut self, scope: Scope, knowledge: &Knowledge) {
        self.released.release(scope, knowledge);
    }

    /// What the last fence of this scope or a larger one has released.
    pub(crate) fn released_at(&self, scope: Scope) -> Option<&Knowledge> {
        self.released.0[scope as usize].as_ref()
    }

    /// What a strong write of this scope releases.
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

    /// Called when a strong read has seen what somebody in a cluster knew, whom this scope has.
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
