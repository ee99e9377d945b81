//! The expected time of a product.

use cute_runtime::{Constant, Device, Element, ElementType};

use super::chip::{Chip, H200};
use crate::Error;
use crate::parts::config::kernels::Config;

/// Microseconds of the launch of a copy, and the share of the memory's bandwidth that a copy reaches.
const COPY: (f64, f64) = (3.0, 0.65);

/// A part of K has so many stages, or more.
const LEAST_STAGES: u32 = 8;

/// The most tiles of a product.
const MOST_TILES: u64 = 1 << 31;

/// The numbers of a product on which its time depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    /// Batches, M, N and K.
    pub(crate) extents: [u32; 4],
    /// Bytes of an element of A and B, and of D.
    pub(crate) bytes: (usize, usize),
    /// Whether each 128-byte row of a stage is one cache line. If rows straddle two lines, the L2 cache moves twice the bytes.
    pub(crate) whole_lines: bool,
    /// Whether rows of A and B consist of whole vectors of 16 bytes.
    pub(crate) whole_vectors: bool,
    /// Whether A and B have floating-point numbers of 8 bits.
    pub(crate) fp8: bool,
    /// Multiprocessors of the device.
    pub(crate) multiprocessors: u32,
    /// How many clusters of 1, 2, 4 and 8 CTAs run at the same time. Zero if the device has no room for one.
    pub(crate) clusters: [u32; 4],
    /// Peak bandwidth of the device's memory, in bytes per microsecond.
    pub(crate) bandwidth: f64,
}

impl Product {
    /// The product of matrices whose rows begin at cache lines.
    ///
    /// # Errors
    ///
    /// If the driver does not say how many clusters run at the same time.
    pub(crate) fn new<T: Element, D>(device: &Device, extents: [u32; 4]) -> Result<Self, Error> {
        let mut clusters = [1; 4];
        for (log, most) in clusters.iter_mut().enumerate() {
            *most = device.max_active_clusters(1 << log)?;
        }
        Ok(Self {
            extents,
            bytes: (size_of::<T>(), size_of::<D>()),
            whole_lines: true,
            whole_vectors: true,
            fp8: is_fp8::<T>(),
            multiprocessors: device.multiprocessor_count(),
            clusters,
            bandwidth: device.memory_bandwidth() / 1e6,
        })
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
        let possible = if built.is_empty() { C::ALL } else { built };
        let of_kind = possible
            .iter()
            .filter(|it| it.value().by_element == by_element);
        let timed = of_kind.map(|it| (self.time(it.value()), *it));
        let fastest = timed.min_by(|(x, _), (y, _)| x.total_cmp(y));
        let fastest = fastest.map_or(possible[0], |(_, it)| it);
        let config = fastest.value();
        self.check(config)?;
        Ok((fastest, self.ctas(config)))
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
        self.clusters[config.ctas().next_power_of_two().ilog2() as usize]
    }

    /// The expected microseconds of the product with a tile: infinitely many if the device has no room for its cluster.
    pub(crate) fn time(&self, config: Config) -> f64 {
        let (chip, [_, _, _, k]) = (H200, self.extents.map(f64::from));
        let (all, most) = (clusters(config, self.extents), self.most_clusters(config));
        if most == 0 {
            return f64::INFINITY;
        }
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
    pub(crate) fn memory(&self) -> f64 {
        let [batches, m, n, k] = self.extents.map(f64::from);
        let (input, output) = (self.bytes.0 as f64, self.bytes.1 as f64);
        batches * ((m + n) * k * input + m * n * output) / self.bandwidth
    }

    /// The expected microseconds for so many elements of A and B in so many copies.
    pub(crate) fn copy_time(&self, (elements, copies): (usize, usize)) -> f64 {
        let bytes = 2.0 * elements as f64 * self.bytes.0 as f64;
        copies as f64 * COPY.0 + bytes / (COPY.1 * self.bandwidth)
    }
}

/// Whether elements are floating-point numbers of 8 bits.
pub(crate) fn is_fp8<T: Element>() -> bool {
    matches!(T::TYPE, ElementType::E4M3 | ElementType::E5M2)
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
        product.clusters = [16, 7, 2, 0];
        for config in TILES {
            assert_eq!(product.time(config).is_finite(), config.ctas() < 8);
            assert!(product.ctas(config) >= config.ctas());
        }
    }
}
