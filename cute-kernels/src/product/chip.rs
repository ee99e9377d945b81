//! What the model of the time of products knows of a GPU.

use cute_runtime::Device;

use crate::Error;

/// A GPU: what its driver says, and the constants of its chip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gpu {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// How many clusters of 1, 2, 4 and 8 CTAs run at the same time. Zero if there is no room for one.
    pub clusters: [u32; 4],
    /// Peak bandwidth of the memory, in bytes per microsecond.
    pub bandwidth: f64,
    /// The constants.
    pub chip: Chip,
}

impl Gpu {
    /// An H200 with 132 multiprocessors.
    pub const H200: Self = Self {
        multiprocessors: 132,
        clusters: [132, 66, 30, 15],
        bandwidth: 4.8e6,
        chip: H200,
    };

    /// The GPU of a device. A chip without constants of its own, and the emulator, have those of an H200.
    ///
    /// # Errors
    ///
    /// If the driver does not say how many clusters run at the same time.
    pub fn of(device: &Device) -> Result<Self, Error> {
        let mut clusters = [1; 4];
        for (log, most) in clusters.iter_mut().enumerate() {
            *most = device.max_active_clusters(1 << log)?;
        }
        Ok(Self {
            multiprocessors: device.multiprocessor_count(),
            clusters,
            bandwidth: device.memory_bandwidth() / 1e6,
            chip: Chip::of(device.name()),
        })
    }
}

/// Constants of a chip. The example `fit` finds those of the GPU at hand, with the features `core`, `instantiate` and `serde`: `fit measure
/// FILE` measures products, and `fit chip FILE` prints the constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chip {
    /// Microseconds from the launch to the first product, and from the last store to the end of the kernel.
    pub start: f64,
    /// Microseconds for each doubling of a cluster: once for a kernel, and once for a tile.
    pub cluster: [f64; 2],
    /// Cycles of wgmma in a microsecond while all multiprocessors multiply.
    pub clock: f64,
    /// The share of the time of wgmma that is saved if one multiprocessor alone is at work.
    pub alone: f64,
    /// The least microseconds of a stage, of one warpgroup and of two: barriers, and the start and the end of wgmma.
    pub stage: [f64; 2],
    /// Nanoseconds in which a multiprocessor loads 128 bytes, and as many more if other CTAs of its cluster receive them, too.
    pub port: [f64; 2],
    /// Bytes that the L2 cache delivers to all multiprocessors in a microsecond, if each is read by one CTA.
    pub l2: f64,
    /// Where s CTAs read the same rows of A, or of B, this takes s to the power of one minus these numbers times as long.
    pub shared: [f64; 2],
    /// Bytes outside of a matrix that TMA fills with zeros in a microsecond, in all multiprocessors.
    pub outside: f64,
    /// Where only a share f of the CTAs has rows outside, these take f to the power of minus this number as long.
    pub concentrated: f64,
    /// Loads of rows that do not begin at multiples of 128 bytes, so that those of a stage lie in two lines of the cache.
    pub straddling: Rows,
    /// Loads of rows of which some begin at odd multiples of 16 bytes.
    pub odd: Rows,
    /// If a share b of the multiprocessors load, b from one half to one, the memory takes 1 + this number · (1/b − 1) times as long.
    pub pairs: f64,
    /// Microseconds of a stage in which 2, 4 and 8 CTAs that share A or B wait for one another.
    pub sync: [f64; 3],
    /// The share of the time of a stage that is added for each stage that a ring has less than six.
    pub shallow: f64,
    /// The share of the memory's time for the first loads of all CTAs that is added: nothing is multiplied meanwhile.
    pub fill: f64,
    /// Where warpgroups take turns, a byte of D costs the L2 cache as much as so many bytes that one CTA reads.
    pub writes: f64,
    /// Microseconds between tiles of warpgroups in turns, and the share of a store that the next tile does not hide.
    pub turn: [f64; 2],
    /// Microseconds to store a tile of 128 × 256 elements of 16 bits, for each piece of a store, and for each further one if there is one
    /// buffer.
    pub store: [f64; 3],
    /// Microseconds in which one warpgroup computes the function of 128 × 256 sums, if one follows.
    pub function: f64,
    /// Microseconds of an exchange between CTAs that divide K, and for 128 × 256 sums that leave a CTA.
    pub exchange: [f64; 2],
    /// The share of the peak bandwidth of the memory that a product reaches.
    pub memory: f64,
    /// Microseconds of a kernel that adds up sums of parts, and for each group of parts that it loads at once; and the bytes that it
    /// moves in a microsecond.
    pub add: [f64; 3],
    /// `Streamed`: microseconds to start, of a part of K for up to 8 rows and for more, and of a CTA.
    pub streamed: [f64; 4],
    /// Share of the memory's bandwidth of `Streamed`.
    pub streamed_memory: f64,
}

/// What loads of rows cost that do not begin at the lines of the L2 cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows {
    /// So many times as much time of the L2 cache as for rows that begin at lines.
    pub requests: f64,
    /// The same for the multiprocessor.
    pub port: f64,
    /// This share of the powers in `shared`. The cache does not merge the requests of several CTAs for the same odd rows.
    pub merged: f64,
}

impl Rows {
    /// Rows that begin at lines.
    const WHOLE: Self = Self {
        requests: 1.0,
        port: 1.0,
        merged: 1.0,
    };
}

impl Chip {
    /// What loads of rows cost that begin at multiples of 128 bytes, or of 32 bytes, or not.
    pub(crate) fn rows(&self, whole_lines: bool, whole_sectors: bool) -> Rows {
        match (whole_lines, whole_sectors) {
            (true, _) => Rows::WHOLE,
            (false, true) => self.straddling,
            (false, false) => self.odd,
        }
    }

    /// The constants of the chip of a device with that name; those of an H200 if there are none.
    fn of(device: &str) -> Self {
        let known = CHIPS.iter().find(|(name, _)| device.contains(name));
        known.map_or(H200, |(_, chip)| *chip)
    }
}

/// The chips that were measured, by a part of the names of their devices.
const CHIPS: [(&str, Chip); 2] = [("H100", H100), ("H200", H200)];

/// An H100 with 80 GiB of HBM3, by the times of 16,497 pairs of products and tiles, of the seeds 1 to 4.
pub const H100: Chip = Chip {
    start: 2.013,
    cluster: [0.0975, 0.0725],
    clock: 1496.0,
    alone: 0.2328,
    stage: [0.1148, 0.1806],
    port: [0.5401, 0.304],
    l2: 7.262e6,
    shared: [0.3758; 2],
    outside: 8.511e6,
    concentrated: 0.4404,
    straddling: Rows::WHOLE,
    odd: Rows {
        requests: 1.3989,
        port: 1.3989,
        merged: 1.0,
    },
    pairs: 0.1727,
    sync: [0.0; 3],
    shallow: 0.0,
    fill: 0.0,
    writes: 0.0,
    turn: [0.0, 0.3878],
    store: [1.503, 0.1175, 0.1484],
    function: 4.3,
    exchange: [0.2012, 7.597],
    memory: 0.9237,
    add: [0.2711, 0.9056, 4.478e6],
    streamed: [1.385, 0.335, 0.536, 0.64],
    streamed_memory: 1.0,
};

/// An H200, by the times of 22,726 pairs of products and tiles, of the seeds 1 to 10.
pub const H200: Chip = Chip {
    start: 1.793,
    cluster: [0.0568, 0.1158],
    clock: 1452.0,
    alone: 0.2188,
    stage: [0.1218, 0.1927],
    port: [0.5082, 0.3325],
    l2: 1.031e7,
    shared: [0.248, 0.3593],
    outside: 4.949e6,
    concentrated: 0.1657,
    straddling: Rows {
        requests: 1.0306,
        port: 1.0231,
        merged: 0.7623,
    },
    odd: Rows {
        requests: 1.0,
        port: 1.5175,
        merged: 0.0,
    },
    pairs: 0.3313,
    sync: [0.01219, 0.008257, 0.02149],
    shallow: 0.01635,
    fill: 0.109,
    writes: 1.223,
    turn: [0.03753, 0.0676],
    store: [1.646, 0.1144, 0.07526],
    function: 4.3,
    exchange: [0.4542, 8.391],
    memory: 1.0,
    add: [0.4247, 0.9036, 8.729e6],
    streamed: [1.385, 0.335, 0.536, 0.64],
    streamed_memory: 1.0,
};
