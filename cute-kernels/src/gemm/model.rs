//! The expected time of a product.

use cute_runtime::{Device, Element};

use super::config::kernels::Config;
use super::streamed::{Stream, is_fp8};
use super::tile::{Sizes, Tile};
use crate::Error;

/// Share of the memory's bandwidth that the model assumes. It is more than 1, since the times of products and memory add up like
/// the sides of a right triangle.
const BANDWIDTH: f64 = 1.03;
/// Factor of the loads of B if several rows of tiles load it, and no CTAs share their loads.
const RELOADED: f64 = 1.3;
/// Relative growth of the memory's time if there were no CTAs; in proportion for multiprocessors without a CTA.
const IDLE: f64 = 0.35;
/// Microseconds from the start of a kernel to its first product, and from its last product to its end.
const START: f64 = 1.8;
/// Microseconds of an exchange of sums between CTAs that divide K: a constant, and a part for a tile of 128 × 128, in proportion
/// to the size of the tile.
const EXCHANGE: (f64, f64) = (1.23, 1.28);
/// Microseconds in which a CTA stores the largest tile without multiplying.
const STORE: f64 = 1.42;
/// Microseconds of TMA for a load, for each row inside of the matrix, and for each row outside, which it fills with zeros.
const LOAD: (f64, f64, f64) = (0.038, 0.0003, 0.0028);
/// Microseconds of the launch of a copy, and the share of the memory's bandwidth that a copy reaches.
const COPY: (f64, f64) = (3.0, 0.65);
/// The most tiles of a product.
const MOST_TILES: u64 = 1 << 31;
/// Factor of the time of a stage if rows straddle cache lines, and no other CTA shares them.
const STRADDLE: f64 = 1.48;

/// Factors of the time of a part in `Streamed`, for up to 8 rows and for more. The second line is for 8-bit floating-point
/// numbers: Hopper's `mma` of warps does not take them, so they become `f16` first.
const STREAMED: [[f64; 2]; 2] = [[1.0, 1.34], [1.92, 2.03]];

/// The numbers of a product on which its time depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    /// Batches, M, N and K.
    pub(super) extents: [u32; 4],
    /// Bytes of an element of A and B, and of D.
    pub(super) bytes: (usize, usize),
    /// Whether the kernel reads A along M, and B along N.
    pub(super) mn: [bool; 2],
    /// Whether each 128-byte row of a stage is one cache line. If rows straddle two lines, the L2 cache moves twice the bytes.
    pub(super) whole_lines: bool,
    /// Whether rows of A and B consist of whole vectors of 16 bytes.
    pub(super) whole_vectors: bool,
    /// Whether A and B have floating-point numbers of 8 bits.
    pub(super) fp8: bool,
    /// Multiprocessors of the device.
    pub(super) multiprocessors: u32,
    /// Peak bandwidth of the device's memory, in bytes per microsecond.
    pub(super) bandwidth: f64,
}

impl Product {
    /// The product of matrices whose rows begin at cache lines.
    pub(super) fn new<T: Element, D>(device: &Device, extents: [u32; 4]) -> Self {
        Self {
            extents,
            bytes: (size_of::<T>(), size_of::<D>()),
            mn: [false; 2],
            whole_lines: true,
            whole_vectors: true,
            fp8: is_fp8::<T>(),
            multiprocessors: device.multiprocessor_count(),
            bandwidth: device.memory_bandwidth() / 1e6,
        }
    }

    /// The tile that is expected to take the least time.
    pub(super) fn fastest<const N: usize>(&self, mut tiles: [Tile; N]) -> Tile {
        tiles.sort_by(|x, y| self.time(*x).total_cmp(&self.time(*y)));
        tiles[0]
    }

    /// CTAs of a launch: a whole number of clusters, and at most one CTA for each multiprocessor. Without tiles in shared memory
    /// there may be more.
    pub(super) fn ctas(&self, tile: Tile) -> u32 {
        let Some(config) = self.config(tile) else {
            return self.stream().ctas.try_into().unwrap_or(u32::MAX);
        };
        let most = u64::from(self.most_clusters(config));
        clusters(config, self.extents).clamp(1, most) as u32 * ctas(config)
    }

    /// Refuses a product whose tiles the kernel cannot count: a CTA adds their number to that of its last tile.
    pub(super) fn check(&self, tile: Tile) -> Result<(), Error> {
        let Some(config) = self.config(tile) else {
            return Ok(());
        };
        let tiles = clusters(config, self.extents).saturating_mul(ctas(config).into());
        match tiles <= MOST_TILES {
            true => Ok(()),
            false => Err(Error::GemmTiles {
                tiles,
                limit: MOST_TILES,
            }),
        }
    }

    /// The sizes of a tile for these matrices, as text.
    pub(super) fn sizes(&self, tile: Tile) -> Sizes {
        Sizes(self.config(tile))
    }

    /// The sizes of a tile for these matrices.
    fn config(&self, tile: Tile) -> Option<Config> {
        tile.along(self.mn, self.bytes.0)
    }

    /// Clusters that run at the same time.
    fn most_clusters(&self, config: Config) -> u32 {
        (self.multiprocessors / ctas(config)).max(1)
    }

    /// The expected microseconds of the product with a tile.
    pub(super) fn time(&self, tile: Tile) -> f64 {
        let [batches, m, n, k] = self.extents.map(f64::from);
        let (input, output) = (self.bytes.0 as f64, self.bytes.1 as f64);
        let memory = |a: f64, b: f64| {
            batches * ((a + b) * k * input + m * n * output) / (BANDWIDTH * self.bandwidth)
        };
        let Some(config) = self.config(tile) else {
            let stream = self.stream();
            let parts = stream.parts(k * input, self.multiprocessors);
            let slower = STREAMED[usize::from(self.fp8)][usize::from(stream.has_many_rows())];
            return START + memory(m, n).hypot(parts * tile.stage_time() * slower);
        };
        let clusters = clusters(config, self.extents) as f64;
        let most = f64::from(self.most_clusters(config));
        let waves = (clusters / most).ceil();
        let ctas = clusters.min(most) * f64::from(ctas(config));
        let busy = (ctas / f64::from(self.multiprocessors)).min(1.0);
        let [_, rows, columns, _] = of_tiles(config, self.extents);
        let loads_of_b = match config.cluster_m == 1 && rows > config.bm {
            true => RELOADED,
            false => 1.0,
        };
        let memory =
            memory(rows.into(), f64::from(columns) * loads_of_b) * (1.0 + IDLE * (1.0 - busy));
        // CTAs that divide K by more than two are at so many places of K that they share few loads from the L2 cache.
        let stage = match config.split > 2 {
            true => (tile.stage_time() * busy).max(Tile::Thin.stage_time()),
            false => tile.stage_time(),
        };
        let stages = (k * input / f64::from(config.bk) / f64::from(config.split)).ceil();
        let (loads, inside, outside) = self.loads(config);
        let loads = loads * LOAD.0 + inside * LOAD.1 + outside * LOAD.2;
        let straddle = match self.whole_lines || config.cluster_m > 1 {
            true => 1.0,
            false => STRADDLE,
        };
        let products = waves * stages * stage.max(loads) * straddle;
        // Warpgroups in turns store while they multiply.
        let stores = match config.pingpong {
            true => 0.0,
            false => f64::from(config.bm * config.bn) / f64::from(128 * 256),
        };
        let exchange = match config.split > 1 {
            true => {
                EXCHANGE.0 + EXCHANGE.1 * f64::from(config.bm * config.bn) / f64::from(128 * 128)
            }
            false => 0.0,
        };
        START + products.hypot(memory) + (waves - 1.0) * (STORE * stores + exchange) + exchange
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

    /// Loads of a stage, their rows inside of A and of B, and rows that TMA fills with zeros.
    fn loads(&self, config: Config) -> (f64, f64, f64) {
        let [_, m, n, _] = of_tiles(config, self.extents);
        let inside = config.bm.min(m) + config.bn.min(n);
        let loads = m.div_ceil(config.rows).min(config.bm / config.rows);
        let loaded = loads * config.rows + config.bn;
        ((loads + 1).into(), inside.into(), (loaded - inside).into())
    }
}

/// CTAs of a cluster.
fn ctas(config: Config) -> u32 {
    config.cluster_m * config.cluster_n * config.split
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
    use crate::gemm::streamed::MOST_ROWS;

    /// A product on an H100 of matrices whose rows along K are whole vectors.
    fn product([m, n, k]: [u32; 3], bytes: (usize, usize), fp8: bool) -> Product {
        Product {
            extents: [1, m, n, k],
            bytes,
            mn: [false; 2],
            whole_lines: (k as usize * bytes.0).is_multiple_of(128),
            whole_vectors: true,
            fp8,
            multiprocessors: 132,
            bandwidth: 3.35e6,
        }
    }

    /// One row by 8192 rows of B of 8193 elements: to copy B takes three times as long as to read it.
    #[test]
    fn copies_take_time() {
        let odd = product([1, 8192, 8192], (4, 4), false);
        let time = odd.copy_time((8192 * 8192, 1));
        assert!((200.0..300.0).contains(&time), "{time}");
        assert_eq!(odd.copy_time((0, 0)), 0.0);
    }

    #[test]
    fn tiles_are_counted_in_32_bits() {
        let large = product([1 << 20, 1 << 20, 64], (4, 4), false);
        assert!(large.check(Tile::Pair).is_ok());
        // Each batch has a pair of tiles.
        let mut batches = product([1, 1, 1], (4, 4), false);
        batches.extents[0] = i32::MAX as u32;
        let error = batches.check(Tile::Pair);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the product has 4294967294 tiles of all batches: at most 2147483648 are possible"
        );
    }

    /// On an H100, these tiles were the fastest, or within 4 % of the fastest, for products of bf16.
    #[test]
    fn the_tile_is_one_that_was_measured_to_be_fast() {
        for ([m, n, k], tile) in [
            ([320, 4096, 4096], Tile::Swapped80),
            ([160, 4096, 4096], Tile::SwappedThin80),
            ([448, 4096, 4096], Tile::Swapped112),
            ([640, 2560, 4096], Tile::Medium112),
            ([448, 8192, 8192], Tile::Pair),
            ([128, 128, 8192], Tile::Thin8),
            ([384, 384, 8192], Tile::Thin4),
            ([64, 1024, 8192], Tile::Thin8),
            ([1792, 1792, 1792], Tile::Broad),
            ([192, 8192, 4096], Tile::Swapped),
            ([96, 5120, 5120], Tile::SwappedThin),
            ([700, 1400, 2800], Tile::ThinPair),
            ([512, 2048, 2048], Tile::Narrow),
            ([384, 6144, 2048], Tile::Oblong),
            ([2560, 2560, 2560], Tile::Broad),
            ([1024, 1024, 8192], Tile::Square2),
            ([2048, 512, 4096], Tile::Square2),
            ([256, 256, 16_384], Tile::Thin8),
            ([2048, 2048, 2048], Tile::Single),
            ([4096, 4096, 4096], Tile::Single),
            ([8192, 8192, 8192], Tile::Wide),
            ([4096, 24_576, 1536], Tile::Wide),
            ([2048, 32_000, 4096], Tile::Wide),
            ([1000, 1000, 1000], Tile::ThinPair),
            ([1024, 1024, 1024], Tile::Narrow),
            ([1536, 1536, 1536], Tile::Oblong),
            ([3072, 3072, 3072], Tile::Wide),
            ([8192, 3000, 5000], Tile::Pair),
            ([1, 4096, 7168], Tile::Streamed),
            ([1, 28_672, 8192], Tile::Streamed),
            ([1, 8192, 8192], Tile::Streamed),
            ([8, 12_288, 4096], Tile::Streamed),
            ([8, 28_672, 8192], Tile::Streamed),
            ([16, 4096, 7168], Tile::Few),
            ([16, 7168, 2048], Tile::Streamed),
            ([16, 8192, 8192], Tile::Few),
            ([64, 7168, 2048], Tile::Small),
            ([64, 8192, 8192], Tile::Thin),
            ([64, 12_288, 4096], Tile::Whole96),
            ([64, 28_672, 8192], Tile::ThinPair),
            ([128, 7168, 2048], Tile::Narrow),
            ([128, 8192, 8192], Tile::Square2),
            ([128, 12_288, 4096], Tile::Medium),
            ([256, 4096, 7168], Tile::Square2),
            ([256, 7168, 2048], Tile::SquarePair),
            ([256, 8192, 8192], Tile::SquarePair),
            ([256, 12_288, 4096], Tile::Wide),
        ] {
            let product = product([m, n, k], (2, 2), false);
            let streams = m.min(n) <= MOST_ROWS;
            // Products of matrices along K have no instances of two of the tiles.
            let possible = |tile: &Tile| match tile {
                Tile::Square | Tile::Whole => false,
                Tile::Streamed => streams,
                _ => true,
            };
            let tiles = Tile::ALL.into_iter().filter(possible);
            let mut times: Vec<_> = tiles.map(|tile| (tile, product.time(tile))).collect();
            times.sort_by(|x, y| x.1.total_cmp(&y.1));
            assert_eq!(times[0].0, tile, "{m} x {n} x {k}: {times:?}");
        }
    }

    /// On an H100, these were the fastest tiles for few rows of e4m3, or within 2 % of the fastest.
    #[test]
    fn few_rows_of_8_bit_floats_go_to_registers_where_that_is_fast() {
        for ([m, n, k], streams) in [
            ([1, 7168, 2048], true),
            ([8, 7168, 2048], true),
            ([16, 7168, 2048], true),
            ([1, 12_288, 4096], true),
            ([8, 12_288, 4096], true),
            ([1, 4096, 7168], true),
            ([1, 28_672, 8192], true),
            ([8, 28_672, 8192], true),
            ([1, 8192, 8192], true),
            ([8, 8192, 8192], true),
            ([8, 4096, 7168], true),
            ([16, 12_288, 4096], false),
            ([16, 4096, 7168], false),
            ([16, 8192, 8192], false),
            ([16, 28_672, 8192], false),
        ] {
            let tile = product([m, n, k], (1, 2), true).fastest(Tile::ALL);
            assert_eq!(tile == Tile::Streamed, streams, "{m} x {n} x {k}: {tile:?}");
        }
    }
}
