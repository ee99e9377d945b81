//! Vector clocks: which accesses of other warps are ordered before the next access of a warp.
//!
//! Each warp has a clock, which advances whenever the warp releases something to others: at barriers, arrivals, fences and
//! atomics. The record of a byte's last writer and reader holds that warp's clock at the access. The access is ordered
//! before those of another warp once the other warp knows a clock that is at least as late. The bulk copies into shared
//! memory of a cluster have one clock together, which counts those that are complete.

use std::rc::Rc;

/// For each warp of the cluster, and last for the cluster's copies into shared memory: the latest clock that is known. It is
/// held by a warp, by a barrier on behalf of the warps that arrived, or by an asynchronous operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Knowledge {
    /// Accesses up to this clock are ordered before those of the holder.
    pub(crate) seen: Rc<Vec<u32>>,
    /// Writes up to this clock are ordered before those of the holder by a proxy fence: the async proxy may read them.
    pub(crate) fenced: Rc<Vec<u32>>,
}

impl Knowledge {
    pub(crate) fn new(warps: usize) -> Knowledge {
        let none = Rc::new(vec![0; warps + 1]);
        Knowledge {
            seen: none.clone(),
            fenced: none,
        }
    }

    /// The bytes that it takes on the host.
    pub(crate) fn bytes(&self) -> u64 {
        Knowledge::bytes_among(self.seen.len().saturating_sub(1))
    }

    /// The bytes that it takes on the host in a cluster of this many warps.
    pub(crate) fn bytes_among(warps: usize) -> u64 {
        2 * (size_of::<u32>() * (warps + 1)) as u64
    }

    /// The latest known clock of the copies.
    pub(crate) fn landed(&self) -> u32 {
        self.seen.last().copied().unwrap_or(0)
    }

    /// Learns the copies up to this clock.
    pub(crate) fn learn_landing(&mut self, clock: u32) {
        if let Some(landed) = Rc::make_mut(&mut self.seen).last_mut() {
            *landed = (*landed).max(clock);
        }
    }

    pub(crate) fn join(&mut self, other: &Knowledge) {
        join(&mut self.seen, &other.seen);
        join(&mut self.fenced, &other.fenced);
    }
}

fn join(into: &mut Rc<Vec<u32>>, from: &Rc<Vec<u32>>) {
    if Rc::ptr_eq(into, from)
        || into
            .iter()
            .zip(from.iter())
            .all(|(into, from)| into >= from)
    {
        return;
    }
    for (into, from) in Rc::make_mut(into).iter_mut().zip(from.iter()) {
        *into = (*into).max(*from);
    }
}
