//! The expected time of a product.
//!
//! The tile of a GEMM is chosen by a model of its time, in closed form with constants of an H100 and of an H200 (`product/chip.rs`, which
//! the example `fit` measures), not by a list of shapes or a time for each tile. CTAs that divide K add up their sums in a fixed order,
//! and so does the kernel that adds up parts of K in memory (`gemm/sums.rs`), so all launches give the same bits.

use cute_runtime::{Constant, Device, Element, ElementType};

use super::chip::{Chip, Gpu};
use crate::Error;
use crate::parts::config::kernels::Config;
use crate::parts::config::pieces;

/// Microseconds of the launch of a copy, and the share of the memory's bandwidth that a copy reaches.
const COPY: (f64, f64) = (3.0, 0.65);

/// Cycles in which wgmma reads 64 rows of A and one column of B from shared memory.
const OPERANDS: [f64; 2] = [16.0, 0.28];

/// A part of K has so many stages, or more.
const LEAST_STAGES: u32 = 8;

/// The most tiles of a product.
const MOST_TILES: u64 = 1 << 31;

/// The numbers of a product on which its time depends.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Batches, M, N and K.
    pub extents: [u32; 4],
    /// Bytes of an element of A and B, and of D.
    pub bytes: (usize, usize),
    /// Whether rows of A and B begin at multiples of 128 bytes, the lines of the L2 cache.
    pub whole_lines: bool,
    /// Whether rows of A and B begin at multiples of 32 bytes, the sectors of the L2 cache.
    pub whole_sectors: bool,
    /// Whether rows of A and B consist of whole vectors of 16 bytes.
    pub whole_vectors: bool,
    /// Whether A and B have floating-point numbers of 8 bits.
    pub fp8: bool,
    /// Whether a function of the sums follows before D is stored.
    pub followed: bool,
    /// The GPU that computes it.
    pub gpu: Gpu,
}

impl Product {
    /// The product of matrices whose rows begin at multiples of 128 bytes.
    ///
    /// # Errors
    ///
    /// If the driver does not say how many clusters run at the same time.
    pub fn new<T: Element, D>(device: &Device, extents: [u32; 4]) -> Result<Self, Error> {
        Ok(Self {
            extents,
            bytes: (size_of::<T>(), size_of::<D>()),
            whole_lines: true,
            whole_sectors: true,
            whole_vectors: true,
            fp8: is_fp8::<T>(),
            followed: false,
            gpu: Gpu::of(device)?,
        })
    }

    /// A product of bf16, with rows of K elements: without a device, for programs that compare times.
    pub fn of_bf16(extents: [u32; 4], gpu: Gpu) -> Self {
        let bytes_of_k = extents[3] * 2;
        Self {
            extents,
            bytes: (2, 2),
            whole_lines: bytes_of_k.is_multiple_of(128),
            whole_sectors: bytes_of_k.is_multiple_of(32),
            whole_vectors: bytes_of_k.is_multiple_of(16),
            fp8: false,
            followed: false,
            gpu,
        }
    }

    /// The instance with the least expected time of those that are `built`, and the CTAs of its launch: one that stores D `by_element`, or
    /// none. If none is built, it is one of all, and its launch says which feature it needs.
    ///
    /// # Errors
    ///
    /// If the product has more tiles than a kernel can count.
    pub(crate) fn instance<C: Constant<Value = Config>>(
        &self,
        built: &[C],
        by_element: bool,
    ) -> Result<(C, u32), Error> {
        let fastest = self.fastest(built, by_element);
        let fastest = fastest.or_else(|| self.fastest(C::ALL, by_element));
        let fastest = fastest.expect("a kernel has instances that store D by element, and others");
        let config = fastest.value();
        self.check(config)?;
        Ok((fastest, self.ctas(config)))
    }

    /// The instance with the least expected time of those that store D `by_element`, or of the others.
    fn fastest<C: Constant<Value = Config>>(&self, of: &[C], by_element: bool) -> Option<C> {
        let of_kind = of.iter().filter(|it| it.value().by_element == by_element);
        let timed = of_kind.map(|it| (self.time(it.value()), *it));
        let fastest = timed.min_by(|(x, _), (y, _)| x.total_cmp(y));
        fastest.map(|(_, it)| it)
    }

    /// Into how many parts K may be divided for tiles of these sizes: as many as fill the multiprocessors once, if that is several,
    /// and half as many.
    pub(crate) fn parts(&self, config: Config) -> Vec<u32> {
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
    pub(crate) fn of_parts(&self, parts: u32) -> Self {
        let [batches, m, n, k] = self.extents;
        let unit = 128 / self.bytes.0 as u32;
        let k = k.div_ceil(unit).div_ceil(parts) * unit;
        Self {
            extents: [batches.saturating_mul(parts), m, n, k],
            bytes: (self.bytes.0, 4),
            followed: false,
            ..*self
        }
    }

    /// CTAs of a launch: a whole number of clusters, and at most one CTA for each multiprocessor.
    pub(crate) fn ctas(&self, config: Config) -> u32 {
        // A cluster for which the device has no room: its launch says so.
        let most = u64::from(self.most_clusters(config)).max(1);
        clusters(config, self.extents).clamp(1, most) as u32 * config.ctas()
    }

    /// Refuses a product whose tiles the kernel cannot count: a CTA adds their number to that of its last tile.
    pub(crate) fn check(&self, config: Config) -> Result<(), Error> {
        let tiles = clusters(config, self.extents).saturating_mul(config.ctas().into());
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
        // No device has a cluster of more than 8 CTAs, nor one of none.
        match config.ctas() {
            0 => 0,
            ctas => {
                let log = ctas.next_power_of_two().ilog2() as usize;
                self.gpu.clusters.get(log).copied().unwrap_or_default()
            }
        }
    }

    /// The expected microseconds of the product with a tile: infinitely many if the device has no room for its cluster.
    pub fn time(&self, config: Config) -> f64 {
        let chip = &self.gpu.chip;
        let Some(work) = Work::new(self, chip, config) else {
            return f64::INFINITY;
        };
        let doublings = f64::from(config.ctas()).log2();
        let store = self.store(chip, config);
        let of_stages =
            |active, writes| work.stages * self.stage(chip, config, &work, (active, writes));
        // While a warpgroup multiplies, the other one stores its tile.
        let full = of_stages(work.most, if config.pingpong { work.writes } else { 0.0 });
        let before_next = chip.cluster[1] * doublings
            + match config.pingpong {
                true => (full + chip.turn[0] + chip.turn[1] * store).max((full + store) / 2.0),
                false => full + store,
            };
        let products = (work.waves - 1.0) * before_next + of_stages(work.last, 0.0) + store;
        let both = norm(6.0, &[products, self.memory() / chip.memory]);
        let fill = chip.fill * work.first_bytes / self.gpu.bandwidth;
        chip.start + chip.cluster[0] * doublings + both + fill
    }

    /// The expected microseconds of a stage of a CTA with so many clusters at work, each CTA of which takes so many microseconds of the L2
    /// cache for stores.
    fn stage(&self, chip: &Chip, config: Config, work: &Work, (active, writes): (f64, f64)) -> f64 {
        let ctas = active * f64::from(config.ctas());
        let multiprocessors = f64::from(self.gpu.multiprocessors);
        let busy = (ctas / multiprocessors).min(1.0);
        // The wgmma of a stage, four along K.
        let columns = config.columns_of_warpgroup();
        let parts = columns.div_ceil(256);
        let readers = if config.pingpong { 1 } else { 2 };
        let wgmmas = f64::from(4 * readers * config.rows_of_warpgroup() / 64 * parts);
        let width = f64::from(columns / parts);
        let cycles = wgmmas * (width / 2.0).max(OPERANDS[0] + OPERANDS[1] * width);
        let products = cycles / chip.clock * (1.0 - chip.alone * (1.0 - busy));
        let products = products.max(chip.stage[readers as usize - 1]);
        // Where some multiprocessors of all pairs are at work, and not both.
        let pairs = match ctas > multiprocessors / 2.0 {
            true => 1.0 + chip.pairs * (1.0 / busy - 1.0),
            false => 1.0,
        };
        let memory = ctas * work.new_bytes * pairs / self.gpu.bandwidth;
        let loads = ctas * (work.requests + writes) + work.port;
        let sync = match config.cluster_m * config.cluster_n {
            0 | 1 => 0.0,
            sharing => chip.sync[(sharing.ilog2() as usize - 1).min(2)],
        };
        let few = f64::from(6u32.saturating_sub(config.stages));
        (norm(8.0, &[products, norm(4.0, &[loads, memory])]) + sync) * (1.0 + chip.shallow * few)
    }

    /// The expected microseconds to store a tile.
    fn store(&self, chip: &Chip, config: Config) -> f64 {
        let split = f64::from(config.split);
        let area = f64::from(config.bm * config.bn) / f64::from(128 * 256);
        let eighths = (config.columns_of_warpgroup() / config.split / 8).max(1);
        let most = config.d_bytes / (8 * self.bytes.1 as u32);
        let (pieces, _) = pieces(eighths, most.max(2));
        let steps = f64::from(config.rows_of_warpgroup() / 64 * pieces);
        let [of_area, piece, further] = chip.store;
        let warpgroups = if config.pingpong { 1.0 } else { 2.0 };
        let function = if self.followed { chip.function } else { 0.0 };
        let of_area = of_area * self.bytes.1 as f64 / 2.0 + function / warpgroups;
        let mut store = of_area * area / split + piece * steps;
        if pieces == 1 {
            store += further * (steps - 1.0);
        }
        if config.split > 1 {
            let [once, sums] = chip.exchange;
            store += once + sums * area * (1.0 - 1.0 / split);
        }
        store
    }

    /// The microseconds in which the memory moves A, B and D at its peak.
    pub(crate) fn memory(&self) -> f64 {
        let [batches, m, n, k] = self.extents.map(f64::from);
        let (input, output) = (self.bytes.0 as f64, self.bytes.1 as f64);
        batches * ((m + n) * k * input + m * n * output) / self.gpu.bandwidth
    }

    /// The expected microseconds for so many elements of A and B in so many copies.
    pub(crate) fn copy_time(&self, (elements, copies): (usize, usize)) -> f64 {
        let bytes = 2.0 * elements as f64 * self.bytes.0 as f64;
        copies as f64 * COPY.0 + bytes / (COPY.1 * self.gpu.bandwidth)
    }
}

/// Whether elements are floating-point numbers of 8 bits.
pub(crate) fn is_fp8<T: Element>() -> bool {
    matches!(T::TYPE, ElementType::E4M3 | ElementType::E5M2)
}

/// (Σ xᵖ)^(1/p): the largest number for a great p, and the sum for p = 1.
fn norm(p: f64, numbers: &[f64]) -> f64 {
    let sum: f64 = numbers.iter().map(|x| x.powf(p)).sum();
    sum.powf(1.0 / p)
}

/// What the CTAs of a product have to do with a tile.
struct Work {
    /// Clusters at once, of all waves but the last, and of that one.
    most: f64,
    last: f64,
    waves: f64,
    /// The stages of a tile.
    stages: f64,
    /// For the loads of a CTA in a stage, microseconds of the L2 cache, if it serves no other CTA, and of the multiprocessor.
    requests: f64,
    port: f64,
    /// Bytes of a stage of a CTA that come from memory, and of all stages that all CTAs load at first.
    new_bytes: f64,
    first_bytes: f64,
    /// Microseconds of the L2 cache for what a CTA stores of a tile in a stage of the next one, if it serves no other CTA.
    writes: f64,
}

impl Work {
    /// `None` if the device has no room for a cluster.
    fn new(product: &Product, chip: &Chip, config: Config) -> Option<Self> {
        let most = f64::from(product.most_clusters(config));
        if most == 0.0 || config.bm < 64 || config.bn < 8 || config.bk == 0 {
            return None;
        }
        let [batches, m, n, k] = of_tiles(config, product.extents).map(|it| f64::from(it.max(1)));
        let (bm, bn) = (f64::from(config.bm), f64::from(config.bn));
        let (below, beside) = (f64::from(config.cluster_m), f64::from(config.cluster_n));
        let (split, ctas) = (f64::from(config.split), f64::from(config.ctas()));
        // Clusters along M and N.
        let (high, wide) = ((m / (bm * below)).ceil(), (n / (bn * beside)).ceil());
        let all = batches * high * wide;
        let waves = (all / most).ceil();
        let stages = (k * product.bytes.0 as f64 / f64::from(config.bk)).ceil();
        let stages = (stages / split).ceil();

        // Of a stage, rows of A and B that a CTA loads, and those of them that are inside, on average.
        let of_a = match config.rows {
            0 => bm,
            rows => bm.min((m / f64::from(rows)).ceil() * f64::from(rows)),
        };
        let (a, b) = (of_a / beside, bn / below);
        let (a_inside, b_inside) = (m / (high * below * beside), n / (wide * below * beside));
        // The tiles that are computed at the same time are a block of a matrix, or several: all of them share these rows.
        let active = all.min(most);
        let at_once = active * below * beside;
        let (rows, columns) = block(at_once / batches, (high * below, wide * beside), config);
        let blocks = (at_once / (rows * columns)).max(1.0);
        let rows_of = chip.rows(product.whole_lines, product.whole_sectors);
        let share = |ctas: f64, power: f64| ctas.max(1.0).powf(-power * rows_of.merged);
        let [of_a_rows, of_b_rows] = chip.shared;
        let inside = a_inside * share(columns / beside, of_a_rows)
            + b_inside * share(rows / below, of_b_rows);
        let spread = |clusters: f64, is_whole: bool| match is_whole {
            true => 1.0,
            false => clusters.powf(chip.concentrated),
        };
        let outside = (a - a_inside) * spread(high, high * below * bm == m)
            + (b - b_inside) * spread(wide, wide * beside * bn == n);
        let line = f64::from(config.bk);
        let shared = if beside > 1.0 { bm } else { 0.0 } + if below > 1.0 { bn } else { 0.0 };
        let of_wave = line
            * blocks
            * split
            * (rows * bm.min(m / (high * below)) + columns * bn.min(n / (wide * beside)));
        let of_all = batches * (m + n) * k * product.bytes.0 as f64;
        let new_bytes = (of_all / (all * ctas * stages)).max(of_wave / (active * ctas));
        Some(Self {
            most,
            last: all - (waves - 1.0) * most,
            waves,
            stages,
            requests: line * (rows_of.requests * inside / chip.l2 + outside / chip.outside),
            port: (chip.port[0] * rows_of.port * (a + b) + chip.port[1] * shared) / 1e3,
            new_bytes,
            first_bytes: active * ctas * new_bytes * f64::from(config.stages).min(stages),
            writes: chip.writes * bm * bn * product.bytes.1 as f64 / (stages * chip.l2),
        })
    }
}

/// Rows and columns, in tiles, of the block that so many tiles of one matrix are: in bands of `group` rows of clusters.
fn block(tiles: f64, (high, wide): (f64, f64), config: Config) -> (f64, f64) {
    let tiles = tiles.max(1.0);
    let band = f64::from(config.group * config.cluster_m);
    let mut rows = match high * wide <= tiles {
        true => high,
        false => high.min(band),
    };
    let columns = (tiles / rows).max(1.0).min(wide);
    if rows * columns < tiles {
        rows = high.min(tiles / columns);
    }
    (rows, columns)
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
pub(crate) mod tests {
    use super::*;
    use crate::parts::config::kernels::{PAIR, SINGLE};
    use crate::product::table::kernels::TILES;

    /// A product of bf16 on an H200.
    pub(crate) fn product([m, n, k]: [u32; 3], bytes: (usize, usize)) -> Product {
        Product {
            extents: [1, m, n, k],
            bytes,
            whole_lines: (k as usize * bytes.0).is_multiple_of(128),
            whole_sectors: (k as usize * bytes.0).is_multiple_of(32),
            whole_vectors: true,
            fp8: false,
            followed: false,
            gpu: Gpu::H200,
        }
    }

    /// To copy 8192 rows of 8192 elements of 4 bytes takes 175 µs at 4.8 TB/s, and nothing if nothing is copied.
    #[test]
    fn copies_take_time() {
        let odd = product([1, 8192, 8192], (4, 4));
        let time = odd.copy_time((8192 * 8192, 1));
        assert!((170.0..180.0).contains(&time), "{time}");
        assert_eq!(odd.copy_time((0, 0)), 0.0);
    }

    #[test]
    fn tiles_are_counted_in_32_bits() {
        let large = product([1 << 20, 1 << 20, 64], (4, 4));
        assert!(large.check(PAIR).is_ok());
        // Each batch has a pair of tiles.
        let mut batches = product([1, 1, 1], (4, 4));
        batches.extents[0] = i32::MAX as u32;
        let error = batches.check(PAIR);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the product has 4294967294 tiles of all batches: at most 2147483648 are possible"
        );
    }

    /// Times measured on an H200, in microseconds: the estimate is within a fifth of them.
    #[test]
    fn estimates_are_near_what_was_measured() {
        for ([m, n, k], config, measured) in [
            ([5311, 12_688, 7296], SINGLE, 1515.9),
            ([5311, 12_688, 7296], PAIR, 1509.0),
            ([480, 16_960, 16_960], SINGLE, 595.3),
            ([480, 16_960, 16_960], PAIR, 567.3),
            ([878, 2496, 7552], PAIR, 83.8),
        ] {
            let time = product([m, n, k], (2, 2)).time(config);
            assert!(
                (time / measured - 1.0).abs() < 0.2,
                "{m} x {n} x {k}: {time}"
            );
        }
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

    /// A part of a GPU may have no room for a cluster of 8 CTAs.
    #[test]
    fn a_cluster_without_room_is_the_last_choice() {
        let mut product = product([8192, 8192, 8192], (2, 2));
        product.gpu.clusters = [16, 7, 2, 0];
        for config in TILES {
            assert_eq!(product.time(config).is_finite(), config.ctas() < 8);
            assert!(product.ctas(config) >= config.ctas());
        }
    }
}
