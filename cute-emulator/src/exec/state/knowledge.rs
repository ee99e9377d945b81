//! Vector clocks: what each warp may rely on.

use std::rc::Rc;

/// For each warp of the cluster, and last for its copies into shared memory, up to which of their moments somebody knows
/// what they did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Knowledge {
    /// Its writes are ordered before.
    pub(crate) seen: Rc<Vec<u32>>,
    /// Its writes are ordered before, and a proxy fence lies in between: the asynchronous proxy sees them too.
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

    /// Bytes that it takes on the host.
    pub(crate) fn bytes(&self) -> u64 {
        Knowledge::bytes_among(self.seen.len().saturating_sub(1))
    }

    /// Bytes of what is known among so many warps.
    pub(crate) fn bytes_among(warps: usize) -> u64 {
        2 * (size_of::<u32>() * (warps + 1)) as u64
    }

    /// Up to which landing the copies are known.
    pub(crate) fn landed(&self) -> u32 {
        self.seen.last().copied().unwrap_or(0)
    }

    /// Knows the copies up to this landing.
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
