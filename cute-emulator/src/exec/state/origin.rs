//! Threads and their instructions, by which asynchronous work is known.

/// A thread of a cluster: the rank of its CTA, its warp and its lane.
pub(crate) type Thread = (usize, u32, usize);

/// An instruction of a thread, to which asynchronous work is attributed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) instruction: usize,
    /// The rank of its CTA in the cluster.
    pub(crate) rank: usize,
    /// The warp in the CTA.
    pub(crate) warp: u32,
    pub(crate) lane: usize,
}

impl Origin {
    pub(crate) fn thread(&self) -> Thread {
        (self.rank, self.warp, self.lane)
    }
}
