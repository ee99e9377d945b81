//! Threads and their instructions, to which asynchronous work is attributed.

/// A thread of a cluster: the rank of its CTA, its warp and its lane.
pub(crate) type Thread = (usize, u32, usize);

/// The instruction that started asynchronous work, and the thread that executed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The index of the instruction in the entry.
    pub(crate) instruction: usize,
    /// The rank of the thread's CTA in the cluster.
    pub(crate) rank: usize,
    /// The number of the thread's warp in the CTA.
    pub(crate) warp: u32,
    pub(crate) lane: usize,
    /// How many steps the launch had made, which [`Limits::most_steps`](crate::limits::Limits::most_steps) bounds.
    pub(crate) started: u32,
}

impl Origin {
    pub(crate) fn thread(&self) -> Thread {
        (self.rank, self.warp, self.lane)
    }
}
