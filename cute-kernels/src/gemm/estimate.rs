//! What is expected of a product by a tile: its time, its CTAs, and whether a kernel can count its tiles.

use super::streamed::Stream;
use super::sums;
use super::tile::Tile;
use crate::Error;
use crate::product::model::Product;

impl Tile {
    /// The expected microseconds of a product with this tile: infinitely many if the device has no room for its cluster.
    pub fn time(self, product: &Product) -> f64 {
        match self {
            Self::Shared(config) => product.time(config),
            Self::InParts(config, parts) => {
                product.of_parts(parts).time(config) + sums::time(product, parts)
            }
            Self::Streamed => Stream::of(product).time(product),
        }
    }

    /// The CTAs of the launch.
    pub(super) fn ctas(self, product: &Product) -> u32 {
        match self {
            Self::Shared(config) => product.ctas(config),
            Self::InParts(config, parts) => product.of_parts(parts).ctas(config),
            Self::Streamed => Stream::of(product).ctas.try_into().unwrap_or(u32::MAX),
        }
    }

    /// Refuses a product of more tiles than the kernel can count.
    pub(super) fn check(self, product: &Product) -> Result<(), Error> {
        match self {
            Self::Shared(config) => product.check(config),
            Self::InParts(config, parts) => product.of_parts(parts).check(config),
            Self::Streamed => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::streamed::MOST_ROWS;
    use crate::product::model::tests::product;
    use crate::product::table::kernels::TILES;

    /// The tile with the least expected time.
    fn least(product: &Product, tiles: impl Iterator<Item = Tile>) -> Option<Tile> {
        tiles.min_by(|x, y| x.time(product).total_cmp(&y.time(product)))
    }

    /// A product that fills a tenth of the multiprocessors divides a long K, and one that fills them all does not.
    #[test]
    fn a_long_k_is_divided() {
        let is_divided = |shape| {
            let product = product(shape, (2, 2));
            let tiles = TILES.into_iter().flat_map(|config| {
                let parts = product.parts(config).into_iter();
                let divided = parts.map(move |parts| Tile::InParts(config, parts));
                divided.chain([Tile::Shared(config)])
            });
            matches!(least(&product, tiles), Some(Tile::InParts(..)))
        };
        assert!(is_divided([256, 256, 16_384]));
        assert!(!is_divided([256, 256, 256]));
        assert!(!is_divided([4096, 4096, 16_384]));
    }

    /// Streams are for a few rows alone.
    #[test]
    fn few_rows_go_to_registers() {
        let chosen = |shape: [u32; 3]| {
            let product = product(shape, (2, 2));
            let streams = shape[0].min(shape[1]) <= MOST_ROWS;
            let tiles = TILES.into_iter().map(Tile::Shared);
            least(&product, tiles.chain(streams.then_some(Tile::Streamed)))
        };
        assert_eq!(chosen([1, 1024, 1024]), Some(Tile::Streamed));
        assert_ne!(chosen([17, 1024, 1024]), Some(Tile::Streamed));
    }
}
