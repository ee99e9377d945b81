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

/// What somebody knew whose writes have released it.
pub(crate) struct Release {
    pub(crate) by: Party,
    pub(crate) scope: Scope,
    pub(crate) knowledge: Knowledge,
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
        self.knowledge.clocks() + CLOCKS_OF_A_RELEASE
    }
}

impl Releases {
    /// Records a strong write of bytes by an atomic, which continues what it has read, or by a store, which does not. The result is
    /// how many releases it has looked at.
    pub(crate) fn write(
        &mut self,
        bytes: Range<u64>,
        by: Party,
        released: &[(Scope, Knowledge)],
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
            for (scope, knowledge) in released {
                let releases = self.words.entry(word).or_default();
                looked_at += releases.len() as u64;
                let same = |release: &&mut Release| (release.by, release.scope) == (by, *scope);
                match releases.iter_mut().find(same) {
                    Some(release) => {
                        self.clocks -= release.clocks();
                        release.knowledge.join(knowledge);
                        self.clocks += release.clocks();
                    }
                    None => {
                        let knowledge = knowledge.clone();
                        let scope = *scope;
                        let new = Release {
                            by,
                            scope,
                            knowledge,
                        };
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
            .filter(move |(least, release)| *least <= scope && *least <= release.scope)
    }
}

fn words(bytes: Range<u64>) -> Range<u64> {
    bytes.start / 4..bytes.end.div_ceil(4)
}

/// What the fences of a warp make of its strong accesses.
#[derive(Default)]
pub(crate) struct Fences {
    /// For each scope, what the warp knew at its last fence of this scope or a larger one. Later strong writes release it.
    released: [Option<Knowledge>; Scope::COUNT],
    /// For each scope, what strong reads have seen, with the number of the cluster that knew it. A later fence of this scope
    /// or a larger one acquires it.
    seen: [Vec<(u64, Knowledge)>; Scope::COUNT],
}

impl Fences {
    /// Called at a fence: what it acquires.
    pub(crate) fn acquire(&mut self, scope: Scope) -> Vec<(u64, Knowledge)> {
        let seen = &mut self.seen[..=scope as usize];
        seen.iter_mut().flat_map(std::mem::take).collect()
    }

    /// Called at a fence: what later strong writes release.
    pub(crate) fn release(&mut self, scope: Scope, knowledge: &Knowledge) {
        self.released[..=scope as usize].fill(Some(knowledge.clone()));
    }

    /// What the last fence of this scope or a larger one has released.
    pub(crate) fn released_at(&self, scope: Scope) -> Option<&Knowledge> {
        self.released[scope as usize].as_ref()
    }

    /// What a strong write of this scope releases.
    pub(crate) fn released(&self, scope: Scope) -> Vec<(Scope, Knowledge)> {
        [Scope::Cta, Scope::Cluster, Scope::Gpu]
            .into_iter()
            .zip(&self.released)
            .filter(|(each, _)| *each <= scope)
            .filter_map(|(each, knowledge)| Some((each, knowledge.clone()?)))
            .collect()
    }

    /// Called when a strong read has seen what somebody in a cluster knew, whom this scope has.
    pub(crate) fn see(&mut self, scope: Scope, cluster: u64, knowledge: &Knowledge) {
        let seen = &mut self.seen[scope as usize];
        match seen.iter_mut().find(|(of, _)| *of == cluster) {
            Some((_, known)) => known.join(knowledge),
            None => seen.push((cluster, knowledge.clone())),
        }
    }
}
