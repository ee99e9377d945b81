//! The expected time of a product.

use cute_runtime::{Device, Element};

use super::Tile;
use super::config::kernels::Config;
use super::parts::kernels::AT_ONCE;
use super::streamed::{Stream, is_fp8};
use crate::Error;

/// What the model knows of a chip.
#[derive(Clone, Copy, Debug)]
struct Chip {
    /// Microseconds from the start of a kernel to its first product, and from its last store to its end.
    start: f64,
    /// Cycles of a multiprocessor in a microsecond while all of them multiply.
    clock: f64,
    /// Microseconds of a stage for its barriers and the start of its wgmma.
    stage: f64,
    /// The share of the time of a stage that is saved if one multiprocessor alone is at work.
    alone: f64,
    /// Cycles in which wgmma reads 64 rows of A and one column of B from shared memory.
    shared: [f64; 2],
    /// Bytes that the L2 cache delivers to all multiprocessors in a microsecond. Loads that a cluster shares count once.
    l2: f64,
    /// Factor of these bytes if rows straddle cache lines.
    straddle: f64,
    /// Microseconds between a load and its arrival, for a ring that is full of loads; and how many of its stages are not.
    latency: [f64; 2],
    /// Microseconds in which TMA fills a row outside of the matrix with zeros.
    outside: f64,
    /// Exponent with which the times of a stage add up: of wgmma, of the L2 cache, of the latency and of rows outside.
    of_stage: f64,
    /// Microseconds to store a tile of 128 × 256 elements of 16 bits: by warpgroups together, and the last one in turns.
    store: [f64; 2],
    /// Microseconds between tiles of warpgroups in turns.
    turn: f64,
    /// Microseconds of an exchange between CTAs that divide K: a constant, for 128 × 256 sums, and for each doubling of the parts.
    exchange: [f64; 3],
    /// Microseconds for each doubling of a cluster.
    cluster: f64,
    /// The share of the peak bandwidth of the memory that a product reaches.
    memory: f64,
    /// Exponent with which the times of products and of the memory add up, and its growth with each doubling of the stages of a CTA
    /// over 16.
    overlap: [f64; 2],
    /// Microseconds of a kernel that adds up sums of parts, for each group of parts that it loads at once, and the bytes that it moves in
    /// a microsecond.
    add: [f64; 2],
    /// `Streamed`: microseconds to start, of a part of K for up to 8 rows and for more, and of a CTA.
    streamed: [f64; 4],
    /// Share of the memory's bandwidth of `Streamed`.
    streamed_memory: f64,
}

/// An H200, on which these numbers were found: by least squares over the times of 14,900 pairs of products of bf16 and tiles.
const H200: Chip = Chip {
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

/// Factors of the time of a part in `Streamed` of 8-bit floating-point numbers, for up to 8 rows and for more: Hopper's `mma` of warps
/// does not take them, so they become `f16` first.
const STREAMED_FP8: [f64; 2] = [1.92, 1.515];

/// Microseconds of the launch of a copy, and the share of the memory's bandwidth that a copy reaches.
const COPY: (f64, f64) = (3.0, 0.65);

/// A part of K has so many stages, or more.
const LEAST_STAGES: u32 = 8;

/// The most tiles of a product.
const MOST_TILES: u64 = 1 << 31;

/// The numbers of a product on which its time depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    /// Batches, M, N and K.
    pub(super) extents: [u32; 4],
    /// Bytes of an element of A and B, and of D.
    pub(super) bytes: (usize, usize),
    /// Whether each 128-byte row of a stage is one cache line. If rows straddle two lines, the L2 cache moves twice the bytes.
    pub(super) whole_lines: bool,
    /// Whether rows of A and B consist of whole vectors of 16 bytes.
    pub(super) whole_vectors: bool,
    /// Whether A and B have floating-point numbers of 8 bits.
    pub(super) fp8: bool,
    /// Multiprocessors of the device.
    pub(super) multiprocessors: u32,
    /// How many clusters of 1, 2, 4 and 8 CTAs run at the same time.
    pub(super) clusters: [u32; 4],
    /// Peak bandwidth of the device's memory, in bytes per microsecond.
    pub(super) bandwidth: f64,
}

impl Product {
    /// The product of matrices whose rows begin at cache lines.
    pub(super) fn new<T: Element, D>(device: &Device, extents: [u32; 4]) -> Self {
        let multiprocessors = device.multiprocessor_count();
        let most = |log: u32| {
            let ctas = 1 << log;
            // Without an answer of the driver: as if a multiprocessor in sixteen were left over.
            let guess = multiprocessors * 15 / 16 / ctas;
            device.max_active_clusters(ctas).unwrap_or(guess).max(1)
        };
        let clusters = [0, 1, 2, 3].map(most);
        Self {
            extents,
            bytes: (size_of::<T>(), size_of::<D>()),
            whole_lines: true,
            whole_vectors: true,
            fp8: is_fp8::<T>(),
            multiprocessors,
            clusters,
            bandwidth: device.memory_bandwidth() / 1e6,
        }
    }

    /// The instance with the least expected time of those that are `built`, and the CTAs of its launch. If none is, it is one of `all`,
    /// and its launch says which feature it needs.
    ///
    /// # Errors
    ///
    /// If the product has more tiles than a kernel can count.
    pub(super) fn instance<I: Copy>(
        &self,
        built: &[I],
        all: &[I],
        sizes: impl Fn(I) -> Config,
    ) -> Result<(I, u32), Error> {
        let possible = if built.is_empty() { all } else { built };
        let time = |it: &I| self.time(Tile::Shared(sizes(*it)));
        let mut fastest = possible[0];
        for it in possible {
            if time(it) < time(&fastest) {
                fastest = *it;
            }
        }
        let tile = Tile::Shared(sizes(fastest));
        self.check(tile)?;
        Ok((fastest, self.ctas(tile)))
    }

    /// Into how many parts K may be divided for tiles of these sizes: as many as fill the multiprocessors once, if that is several,
    /// and half as many.
    pub(super) fn parts(&self, config: Config) -> Vec<u32> {
        let stages = self.extents[3].div_ceil(config.bk / self.bytes.0 as u32);
        let tiles = clusters(config, self.extents).clamp(1, u64::from(u32::MAX)) as u32;
        let most = (self.most_clusters(config) / tiles).min(stages / LEAST_STAGES);
        if config.split > 1 || most < 2 {
            return Vec::new();
        }
        // All parts have the same number of stages, and none is empty.
        let even = |parts: u32| stages.div_ceil(stages.div_ceil(parts));
        let (all, half) = (even(most), even(most.div_ceil(2)));
        match half >= 2 && half < all {
            true => vec![all, half],
            false => vec![all],
        }
    }

    /// The product that computes the sums of so many parts of K.
    fn of_parts(&self, parts: u32) -> Self {
        let [batches, m, n, k] = self.extents;
        let unit = 128 / self.bytes.0 as u32;
        let k = k.div_ceil(unit).div_ceil(parts) * unit;
        Self {
            extents: [batches.saturating_mul(parts), m, n, k],
            bytes: (self.bytes.0, 4),
            ..*self
        }
    }

    /// CTAs of a launch: a whole number of clusters, and at most one CTA for each multiprocessor. Without tiles in shared memory
    /// there may be more.
    pub(super) fn ctas(&self, tile: Tile) -> u32 {
        match tile {
            Tile::Shared(config) => {
                let most = u64::from(self.most_clusters(config));
                clusters(config, self.extents).clamp(1, most) as u32 * config.ctas()
            }
            Tile::InParts(config, parts) => self.of_parts(parts).ctas(Tile::Shared(config)),
            Tile::Streamed => self.stream().ctas.try_into().unwrap_or(u32::MAX),
        }
    }

    /// Refuses a product whose tiles the kernel cannot count: a CTA adds their number to that of its last tile.
    pub(super) fn check(&self, tile: Tile) -> Result<(), Error> {
        let (config, extents) = match tile {
            Tile::Shared(config) => (config, self.extents),
            Tile::InParts(config, parts) => (config, self.of_parts(parts).extents),
            Tile::Streamed => return Ok(()),
        };
        let tiles = clusters(config, extents).saturating_mul(config.ctas().into());
        match tiles <= MOST_TILES {
            true => Ok(()),
            false => Err(Error::GemmTiles {
                tiles,
                limit: MOST_TILES,
            }),
        }
    }

    /// Clusters that run at the same time.
    fn most_clusters(&self, config: Config) -> u32 {
        self.clusters[config.ctas().next_power_of_two().ilog2() as usize]
    }

    /// The expected microseconds of the product with a tile.
    pub(super) fn time(&self, tile: Tile) -> f64 {
        let (chip, [_, _, _, k]) = (H200, self.extents.map(f64::from));
        let config = match tile {
            Tile::Shared(config) => config,
            Tile::InParts(config, parts) => {
                let sums = self.of_parts(parts);
                return sums.time(Tile::Shared(config)) + self.time_to_add(&chip, parts);
            }
            Tile::Streamed => return self.time_of_stream(&chip),
        };
        let (all, most) = (clusters(config, self.extents), self.most_clusters(config));
        // A product without elements takes the time of a tile.
        let all = all.max(1);
        let waves = all.div_ceil(most.into());
        let last = (all - (waves - 1) * u64::from(most)) as f64;
        let others = (waves - 1) as f64;
        let bytes_of_k = k * self.bytes.0 as f64;
        let stages = (bytes_of_k / f64::from(config.bk) / f64::from(config.split)).ceil();
        let tile = |clusters| stages * self.stage(&chip, config, clusters);
        let area = f64::from(config.bm * config.bn) / f64::from(128 * 256);
        let stored = area * self.bytes.1 as f64 / 2.0;
        let products = if config.pingpong {
            let before = others * (tile(f64::from(most)) + chip.turn);
            before + tile(last) + stored * chip.store[1]
        } else {
            let [constant, of_sums, of_parts] = chip.exchange;
            let exchange = match config.split {
                1 => 0.0,
                parts => constant + of_sums * area + of_parts * f64::from(parts).log2(),
            };
            let end = stored * chip.store[0] + exchange;
            others * (tile(f64::from(most)) + end) + tile(last) + end
        };
        let growth = (stages * waves as f64 / 16.0).log2().max(0.0);
        let overlap = chip.overlap[0] + chip.overlap[1] * growth;
        let both = norm(&[products, self.memory() / chip.memory], overlap);
        chip.start + chip.cluster * f64::from(config.ctas()).log2() + both
    }

    /// The expected microseconds of a stage with so many clusters at work.
    fn stage(&self, chip: &Chip, config: Config, clusters: f64) -> f64 {
        let [_, m, n, _] = of_tiles(config, self.extents);
        let (bm, bn) = (f64::from(config.bm), f64::from(config.bn));
        let ctas = clusters * f64::from(config.ctas());
        let busy = (ctas / f64::from(self.multiprocessors)).min(1.0);
        // The wgmma of a stage, four along K.
        let columns = config.columns_of_warpgroup();
        let parts = columns.div_ceil(256);
        let readers = if config.pingpong { 1 } else { 2 };
        let wgmmas = f64::from(4 * readers * config.rows_of_warpgroup() / 64 * parts);
        let columns = f64::from(columns / parts);
        let [of_a, of_b] = chip.shared;
        let multiplied = wgmmas * columns / 2.0;
        let moved = wgmmas * (of_a + of_b * columns);
        let wgmma =
            (multiplied.max(moved) / chip.clock + chip.stage) * (1.0 - chip.alone * (1.0 - busy));
        let requested = bm / f64::from(config.cluster_n) + bn / f64::from(config.cluster_m);
        let straddle = if self.whole_lines { 1.0 } else { chip.straddle };
        let l2 = straddle * requested * f64::from(config.bk) * ctas / chip.l2;
        let [latency, idle] = chip.latency;
        let latency = latency / (f64::from(config.stages) - idle).max(0.5);
        let loaded_of_a = match config.rows {
            0 => config.bm,
            rows => m.min(config.bm).next_multiple_of(rows),
        };
        let inside = config.bm.min(m) + config.bn.min(n);
        let outside = f64::from(loaded_of_a + config.bn - inside) * chip.outside;
        norm(&[wgmma, l2, latency, outside], chip.of_stage)
    }

    /// The microseconds in which the memory moves A, B and D at its peak.
    fn memory(&self) -> f64 {
        let [batches, m, n, k] = self.extents.map(f64::from);
        let (input, output) = (self.bytes.0 as f64, self.bytes.1 as f64);
        batches * ((m + n) * k * input + m * n * output) / self.bandwidth
    }

    /// The expected microseconds to add up the sums of so many parts of K.
    fn time_to_add(&self, chip: &Chip, parts: u32) -> f64 {
        let [batches, m, n, _] = self.extents.map(f64::from);
        let bytes = batches * m * n * (4.0 * f64::from(parts) + self.bytes.1 as f64);
        chip.add[0] * f64::from(parts.div_ceil(AT_ONCE)) + bytes / chip.add[1]
    }

    /// The expected microseconds of `Streamed`.
    fn time_of_stream(&self, chip: &Chip) -> f64 {
        let (stream, k) = (self.stream(), f64::from(self.extents[3]));
        let [start, few, many, cta] = chip.streamed;
        let has_many = stream.has_many_rows();
        let part = if has_many { many } else { few };
        let slower = if self.fp8 {
            STREAMED_FP8[usize::from(has_many)]
        } else {
            1.0
        };
        let (waves, parts) = stream.waves(k * self.bytes.0 as f64, self.multiprocessors);
        start + self.memory() / chip.streamed_memory + waves * (cta + parts * part * slower)
    }

    /// The expected microseconds for so many elements of A and B in so many copies.
    pub(super) fn copy_time(&self, (elements, copies): (usize, usize)) -> f64 {
        let bytes = 2.0 * elements as f64 * self.bytes.0 as f64;
        copies as f64 * COPY.0 + bytes / (COPY.1 * self.bandwidth)
    }

    /// The CTAs of `Streamed`.
    fn stream(&self) -> Stream {
        Stream::new(self.extents, self.whole_vectors, self.fp8)
    }
}

/// (Σ xᵖ)^(1/p): the largest number for a great p, and the sum for p = 1.
fn norm(numbers: &[f64], p: f64) -> f64 {
    let sum: f64 = numbers.iter().map(|x| x.powf(p)).sum();
    sum.powf(1.0 / p)
}

/// The number of clusters if each CTA of a cluster computes one tile.
fn clusters(config: Config, extents: [u32; 4]) -> u64 {
    let [batches, m, n, _] = of_tiles(config, extents);
    let rows = m.div_ceil(config.bm * config.cluster_m);
    let columns = n.div_ceil(config.bn * config.cluster_n);
    u64::from(batches) * u64::from(rows) * u64::from(columns)
}

/// Batches, M, N and K of the product whose rows are those of the tiles.
fn of_tiles(config: Config, [batches, m, n, k]: [u32; 4]) -> [u32; 4] {
    match config.swapped {
        true => [batches, n, m, k],
        false => [batches, m, n, k],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::config::kernels::{PAIR, SINGLE, TILES};
    use crate::gemm::streamed::MOST_ROWS;

    /// A product of bf16 on an H200.
    fn product([m, n, k]: [u32; 3], bytes: (usize, usize)) -> Product {
        Product {
            extents: [1, m, n, k],
            bytes,
            whole_lines: (k as usize * bytes.0).is_multiple_of(128),
            whole_vectors: true,
            fp8: false,
            multiprocessors: 132,
            clusters: [132, 66, 30, 15],
            bandwidth: 4.8e6,
        }
    }

    /// One row by 8192 rows of B of 8193 elements: to copy B takes three times as long as to read it.
    #[test]
    fn copies_take_time() {
        let odd = product([1, 8192, 8192], (4, 4));
        let time = odd.copy_time((8192 * 8192, 1));
        assert!((150.0..300.0).contains(&time), "{time}");
        assert_eq!(odd.copy_time((0, 0)), 0.0);
    }

    #[test]
    fn tiles_are_counted_in_32_bits() {
        let large = product([1 << 20, 1 << 20, 64], (4, 4));
        assert!(large.check(Tile::Shared(PAIR)).is_ok());
        // Each batch has a pair of tiles.
        let mut batches = product([1, 1, 1], (4, 4));
        batches.extents[0] = i32::MAX as u32;
        let error = batches.check(Tile::Shared(PAIR));
        assert_eq!(
            error.unwrap_err().to_string(),
            "the product has 4294967294 tiles of all batches: at most 2147483648 are possible"
        );
    }

    /// Times measured on an H200, in microseconds: the estimate is within a fifth of them.
    #[test]
    fn estimates_are_near_what_was_measured() {
        for ([m, n, k], config, measured) in [
            ([8192, 8192, 8192], SINGLE, 1500.0),
            ([4096, 4096, 4096], SINGLE, 190.0),
            ([2048, 2048, 2048], SINGLE, 26.0),
        ] {
            let time = product([m, n, k], (2, 2)).time(Tile::Shared(config));
            assert!(
                (time / measured - 1.0).abs() < 0.2,
                "{m} x {n} x {k}: {time}"
            );
        }
    }

    /// A product that fills a tenth of the multiprocessors divides a long K, and one that fills them all does not.
    #[test]
    fn a_long_k_is_divided() {
        let parts = |shape| {
            let product = product(shape, (2, 2));
            let tiles = TILES.into_iter().flat_map(|config| {
                let parts = product.parts(config).into_iter();
                let divided = parts.map(move |parts| Tile::InParts(config, parts));
                divided.chain([Tile::Shared(config)])
            });
            let least = tiles.min_by(|x, y| product.time(*x).total_cmp(&product.time(*y)));
            matches!(least, Some(Tile::InParts(..)))
        };
        assert!(parts([256, 256, 16_384]));
        assert!(!parts([256, 256, 256]));
        assert!(!parts([4096, 4096, 16_384]));
    }

    /// Parts have as many stages as one another, and none lies behind the end of K.
    #[test]
    fn parts_are_even() {
        for k in [64, 1000, 1024, 8200, 16_832, 100_000] {
            let product = product([300, 448, k], (2, 2));
            for config in TILES {
                for parts in product.parts(config) {
                    let stages = k.div_ceil(64);
                    let each = stages.div_ceil(parts);
                    assert!(each * (parts - 1) < stages, "{k} in {parts} parts");
                }
            }
        }
    }

    /// Streams are for a few rows alone.
    #[test]
    fn few_rows_go_to_registers() {
        let least = |shape: [u32; 3]| {
            let product = product(shape, (2, 2));
            let streams = shape[0].min(shape[1]) <= MOST_ROWS;
            let tiles = TILES.into_iter().map(Tile::Shared);
            let tiles = tiles.chain(streams.then_some(Tile::Streamed));
            tiles.min_by(|x, y| product.time(*x).total_cmp(&product.time(*y)))
        };
        assert_eq!(least([1, 1024, 1024]), Some(Tile::Streamed));
        assert_ne!(least([17, 1024, 1024]), Some(Tile::Streamed));
    }
}
