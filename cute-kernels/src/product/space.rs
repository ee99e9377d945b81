//! All tiles of products: the points of which [`table`](super::table) has those that a search has found.

use crate::parts::config::kernels::{Config, SINGLE};

/// The clusters of CTAs that share B and A.
const CLUSTERS: [(u32, u32); 8] = [
    (1, 1),
    (2, 1),
    (1, 2),
    (4, 1),
    (2, 2),
    (1, 4),
    (4, 2),
    (2, 4),
];

/// The sums of a thread for which registers suffice beside what an epilogue takes.
const MOST_SUMS: u32 = 192;

/// The tiles of products of matrices along K: one side a multiple of 64 and the other of 8, by warpgroups in turns or divided by rows or
/// by columns, as D or as its transpose, in clusters that share A, B or both, or divide K, each with the stages that fit. Tiles that have
/// no use are left out: small ones that two warpgroups divide, and large ones in large clusters.
///
/// ```
/// use cute_kernels::lib::TILES;
/// use cute_kernels::product::space::space;
/// let all = space();
/// assert!(all.len() > 1500);
/// assert!(all.contains(&TILES[0]));
/// ```
pub fn space() -> Vec<Config> {
    let mut found = Vec::new();
    for swapped in [false, true] {
        for (pingpong, by_columns, sides) in [
            (true, false, &[64, 128, 192][..]),
            (false, false, &[128, 256]),
            (false, true, &[64, 128, 192, 256, 320]),
        ] {
            for bm in sides {
                for eighths in 2..=52 {
                    let tile = Config {
                        bm: *bm,
                        bn: 8 * eighths,
                        pingpong,
                        by_columns,
                        swapped,
                        ..SINGLE
                    };
                    if is_useful(tile) {
                        in_clusters(tile, &mut found);
                    }
                }
            }
        }
    }
    found
}

/// Whether the registers hold the sums, and the tile is none that others do better.
fn is_useful(tile: Config) -> bool {
    let Config { bm, bn, .. } = tile;
    let columns = tile.columns_of_warpgroup();
    // Odd eighths make a difference for small tiles, and for those of 1.5 times a power of two.
    let is_fine = bn <= 128 || bn.is_multiple_of(16) || bn == 152 || bn == 168;
    let divides = columns.is_multiple_of(8 * columns.div_ceil(256));
    let sums = tile.rows_of_warpgroup() / 64 * columns / 2;
    is_fine
        && columns >= 16
        && columns.is_multiple_of(8)
        && divides
        && (columns <= 256 || !tile.pingpong)
        && sums <= MOST_SUMS
        && (tile.pingpong || bm * bn >= 128 * 32)
}

/// Adds the tile in all clusters that have a use for it.
fn in_clusters(tile: Config, found: &mut Vec<Config>) {
    let Config { bm, bn, .. } = tile;
    let area = bm * bn;
    for (cluster_m, cluster_n) in CLUSTERS {
        let shares = bn.is_multiple_of(8 * cluster_m) && bm.is_multiple_of(8 * cluster_n);
        let is_large = cluster_m * cluster_n > 2 && area > 128 * 160;
        let is_flat = !tile.pingpong && area < 128 * 64;
        if shares && !is_large && !is_flat {
            let tile = Config {
                cluster_m,
                cluster_n,
                ..tile
            };
            add(tile, found);
        }
    }
    for split in [2, 4, 8] {
        let columns = tile.columns_of_warpgroup();
        let divides = tile.rows_of_warpgroup() == 64 && columns.is_multiple_of(8 * split);
        if !tile.pingpong && divides && area <= 128 * 192 {
            add(Config { split, ..tile }, found);
        }
    }
}

/// Adds the tile with as many stages as fit, if they are three or more, and hold the sums that CTAs exchange.
fn add(tile: Config, found: &mut Vec<Config>) {
    let tile = tile.fitted();
    let sums = tile.bm * tile.bn * 4;
    let holds = tile.split == 1 || sums <= tile.stages * tile.bm.min(tile.bn) * tile.bk;
    if tile.stages >= 3 && holds {
        found.push(tile);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::table::kernels::{TILES, TILES_BY_8};

    #[test]
    fn the_table_is_a_part_of_the_space() {
        let all = space();
        println!("{} tiles", all.len());
        for tile in TILES.into_iter().chain(TILES_BY_8) {
            assert!(all.contains(&tile), "{tile:?}");
        }
        for (i, tile) in all.iter().enumerate() {
            assert!(!all[..i].contains(tile), "{tile:?} is there twice");
        }
    }
}
