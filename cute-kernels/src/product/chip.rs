//! What the model of the time of products knows of a chip.

/// What the model knows of a chip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chip {
    /// Microseconds from the start of a kernel to its first product, and from its last store to its end.
    pub(crate) start: f64,
    /// Cycles of a multiprocessor in a microsecond while all of them multiply.
    pub(crate) clock: f64,
    /// Microseconds of a stage for its barriers and the start of its wgmma.
    pub(crate) stage: f64,
    /// The share of the time of a stage that is saved if one multiprocessor alone is at work.
    pub(crate) alone: f64,
    /// Cycles in which wgmma reads 64 rows of A and one column of B from shared memory.
    pub(crate) shared: [f64; 2],
    /// Bytes that the L2 cache delivers to all multiprocessors in a microsecond. Loads that a cluster shares count once.
    pub(crate) l2: f64,
    /// Factor of these bytes if rows straddle cache lines.
    pub(crate) straddle: f64,
    /// Microseconds between a load and its arrival, for a ring that is full of loads; and how many of its stages are not.
    pub(crate) latency: [f64; 2],
    /// Microseconds in which TMA fills a row outside of the matrix with zeros.
    pub(crate) outside: f64,
    /// Exponent with which the times of a stage add up: of wgmma, of the L2 cache, of the latency and of rows outside.
    pub(crate) of_stage: f64,
    /// Microseconds to store a tile of 128 × 256 elements of 16 bits: by warpgroups together, and the last one in turns.
    pub(crate) store: [f64; 2],
    /// Microseconds between tiles of warpgroups in turns.
    pub(crate) turn: f64,
    /// Microseconds of an exchange between CTAs that divide K: a constant, for 128 × 256 sums, and for each doubling of the parts.
    pub(crate) exchange: [f64; 3],
    /// Microseconds for each doubling of a cluster.
    pub(crate) cluster: f64,
    /// The share of the peak bandwidth of the memory that a product reaches.
    pub(crate) memory: f64,
    /// Exponent with which the times of products and of the memory add up, and its growth with each doubling of the stages of a CTA
    /// over 16.
    pub(crate) overlap: [f64; 2],
    /// Microseconds of a kernel that adds up sums of parts, for each group of parts that it loads at once, and the bytes that it moves in
    /// a microsecond.
    pub(crate) add: [f64; 2],
    /// `Streamed`: microseconds to start, of a part of K for up to 8 rows and for more, and of a CTA.
    pub(crate) streamed: [f64; 4],
    /// Share of the memory's bandwidth of `Streamed`.
    pub(crate) streamed_memory: f64,
}

/// An H200, on which these numbers were found: by least squares over the times of 14,900 pairs of products of bf16 and tiles.
pub(crate) const H200: Chip = Chip {
    start: 1.86,
    clock: 1849.0,
    stage: 0.0692,
    alone: 0.277,
    shared: [15.88, 0.345],
    l2: 47.4e6,
    straddle: 3.0,
    latency: [0.195, 2.4],
    outside: 0.001,
    of_stage: 1.5,
    store: [1.826, 1.801],
    turn: 0.285,
    exchange: [0.104, 3.22, 0.309],
    cluster: 0.038,
    memory: 0.935,
    overlap: [1.506, 0.187],
    add: [1.47, 4.18e6],
    streamed: [1.385, 0.335, 0.536, 0.64],
    streamed_memory: 1.0,
};
