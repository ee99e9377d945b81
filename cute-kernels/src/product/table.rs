//! The tiles of products that are compiled ahead. A new tile is one row here.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::{Config, NARROW, PAIR, SINGLE, SQUARE, THIN};

    /// Two warpgroups have half of the rows of a tile each.
    const BY_ROWS: Config = SINGLE;

    /// The same for Dᵀ.
    const BY_ROWS_SWAPPED: Config = Config {
        swapped: true,
        ..BY_ROWS
    };

    /// Two warpgroups have half of the columns of a tile each.
    const BY_COLUMNS: Config = Config {
        by_columns: true,
        ..SINGLE
    };

    /// The same for Dᵀ.
    const BY_COLUMNS_SWAPPED: Config = Config {
        swapped: true,
        ..BY_COLUMNS
    };

    /// Two warpgroups have tiles in turns.
    const PINGPONG: Config = Config {
        pingpong: true,
        ..SINGLE
    };

    /// The same for Dᵀ.
    const PINGPONG_SWAPPED: Config = Config {
        swapped: true,
        ..PINGPONG
    };

    /// A quarter of the largest tile by each warpgroup in turn.
    const NARROW_PINGPONG: Config = Config {
        bn: 64,
        stages: 8,
        ..PINGPONG
    };

    /// The tiles of products of matrices along K that are compiled ahead for all types: wgmma of integers has 8, 16, 24 and 32 columns,
    /// or a multiple of 16. docs/performance.md says how they were found.
    #[rustfmt::skip]
    pub const TILES: [Config; 51] = [
        Config { bm: 64, bn: 64, stages: 13, group: 4, cluster_m: 2, cluster_n: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 96, stages: 10, d_bytes: 192, ..PINGPONG },
        Config { bm: 64, bn: 96, stages: 10, cluster_n: 4, d_bytes: 192, ..PINGPONG },
        Config { bm: 64, bn: 96, stages: 10, group: 4, cluster_m: 2, d_bytes: 192, ..PINGPONG },
        Config { bm: 64, bn: 128, stages: 8, ..PINGPONG },
        Config { bm: 64, bn: 144, stages: 7, cluster_n: 2, d_bytes: 192, ..PINGPONG },
        Config { bm: 64, bn: 160, stages: 7, cluster_n: 2, d_bytes: 160, ..PINGPONG },
        Config { bm: 128, bn: 96, stages: 7, cluster_n: 2, d_bytes: 192, ..PINGPONG },
        Config { bm: 64, bn: 192, stages: 6, group: 2, cluster_m: 4, ..PINGPONG },
        Config { bm: 128, bn: 80, stages: 7, cluster_n: 4, d_bytes: 160, ..PINGPONG },
        Config { bm: 128, bn: 128, stages: 6, ..PINGPONG },
        Config { bm: 64, bn: 128, stages: 8, group: 2, cluster_m: 4, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 176, stages: 4, group: 4, cluster_m: 2, d_bytes: 352, ..PINGPONG },
        Config { bm: 64, bn: 80, stages: 11, d_bytes: 160, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 112, stages: 5, d_bytes: 224, ..PINGPONG },
        Config { bm: 64, bn: 16, stages: 16, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 64, stages: 13, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 32, stages: 16, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 48, stages: 15, d_bytes: 96, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 96, stages: 10, group: 2, cluster_m: 4, d_bytes: 192, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 112, stages: 8, cluster_n: 2, d_bytes: 224, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 144, stages: 7, d_bytes: 192, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 16, stages: 12, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 32, stages: 10, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 96, stages: 7, cluster_n: 2, d_bytes: 192, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 48, stages: 9, group: 4, cluster_m: 2, d_bytes: 96, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 128, stages: 6, cluster_n: 2, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 112, stages: 6, d_bytes: 224, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 144, stages: 5, d_bytes: 192, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 160, stages: 5, d_bytes: 160, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 192, stages: 4, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 32, stages: 7, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 80, stages: 6, cluster_n: 2, d_bytes: 160, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 112, stages: 6, cluster_n: 4, d_bytes: 224, ..BY_ROWS },
        Config { bm: 128, bn: 208, stages: 4, cluster_n: 2, d_bytes: 416, ..BY_ROWS },
        Config { bm: 64, bn: 96, stages: 10, split: 2, d_bytes: 96, ..BY_COLUMNS },
        Config { bm: 128, bn: 288, stages: 3, cluster_n: 2, d_bytes: 384, ..BY_ROWS },
        Config { bm: 256, bn: 96, stages: 4, d_bytes: 192, ..BY_ROWS },
        Config { bm: 256, bn: 128, stages: 4, group: 4, cluster_m: 2, ..BY_ROWS },
        Config { bm: 128, bn: 32, stages: 10, split: 4, d_bytes: 64, ..BY_ROWS_SWAPPED },
        Config { bm: 128, bn: 112, stages: 6, d_bytes: 224, ..BY_ROWS_SWAPPED },
        Config { bm: 128, bn: 80, stages: 7, split: 2, d_bytes: 160, ..BY_ROWS_SWAPPED },
        Config { bm: 128, bn: 160, stages: 5, cluster_n: 2, d_bytes: 160, ..BY_COLUMNS },
        Config { bm: 64, bn: 64, stages: 13, split: 4, d_bytes: 64, ..BY_COLUMNS_SWAPPED },
        Config { bm: 256, bn: 112, stages: 4, cluster_n: 2, d_bytes: 224, ..BY_ROWS_SWAPPED },
        Config { bm: 64, bn: 192, stages: 6, split: 4, d_bytes: 192, ..BY_COLUMNS },
        Config { bm: 64, bn: 160, stages: 7, d_bytes: 160, ..BY_COLUMNS_SWAPPED },
        Config { bm: 256, bn: 128, stages: 4, cluster_n: 2, d_bytes: 128, ..BY_COLUMNS_SWAPPED },
        Config { bm: 64, bn: 176, stages: 6, d_bytes: 352, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 176, stages: 4, d_bytes: 352, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 64, stages: 13, split: 2, d_bytes: 64, ..BY_COLUMNS_SWAPPED },
    ];

    /// More of them, for floating-point numbers, whose wgmma has any multiple of 8 columns.
    #[rustfmt::skip]
    pub const TILES_BY_8: [Config; 20] = [
        Config { bm: 64, bn: 40, stages: 16, cluster_n: 4, d_bytes: 80, ..PINGPONG },
        Config { bm: 320, bn: 144, stages: 3, d_bytes: 144, ..BY_COLUMNS_SWAPPED },
        Config { bm: 192, bn: 120, stages: 5, d_bytes: 240, ..PINGPONG },
        Config { bm: 128, bn: 144, stages: 6, d_bytes: 144, ..BY_COLUMNS_SWAPPED },
        Config { bm: 64, bn: 40, stages: 16, d_bytes: 80, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 72, stages: 12, d_bytes: 144, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 104, stages: 9, d_bytes: 208, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 152, stages: 5, d_bytes: 304, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 104, stages: 5, cluster_n: 2, d_bytes: 208, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 104, stages: 6, d_bytes: 208, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 168, stages: 5, d_bytes: 224, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 72, stages: 6, cluster_n: 2, d_bytes: 144, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 88, stages: 5, cluster_n: 2, d_bytes: 176, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 120, stages: 5, d_bytes: 240, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 120, stages: 5, cluster_n: 2, d_bytes: 240, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 104, stages: 6, cluster_n: 2, d_bytes: 208, ..BY_ROWS_SWAPPED },
        Config { bm: 128, bn: 120, stages: 6, d_bytes: 240, ..BY_ROWS_SWAPPED },
        Config { bm: 192, bn: 144, stages: 4, cluster_n: 2, d_bytes: 144, ..BY_COLUMNS },
        Config { bm: 128, bn: 72, stages: 8, cluster_n: 4, d_bytes: 144, ..BY_ROWS_SWAPPED },
        Config { bm: 192, bn: 176, stages: 4, cluster_n: 2, d_bytes: 176, ..BY_COLUMNS_SWAPPED },
    ];

    /// The tiles for pairs of types that are rarely multiplied.
    pub const COMMON: [Config; 4] = [SINGLE, PAIR, NARROW_PINGPONG, THIN];

    /// The tiles of products with what follows them. A thread needs registers for what is added beside its sums, so it has up to 144 sums,
    /// and a row is stored in pieces of up to 32 columns.
    #[rustfmt::skip]
    pub const FUSED: [Config; 33] = [
        Config { bm: 128, bn: 96, stages: 7, cluster_n: 2, d_bytes: 128, ..PINGPONG },
        Config { bm: 128, bn: 112, stages: 6, cluster_n: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 96, stages: 10, d_bytes: 128, ..PINGPONG },
        Config { bm: 128, bn: 128, stages: 6, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 16, stages: 16, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 32, stages: 16, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 64, stages: 13, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 96, stages: 10, group: 2, cluster_m: 4, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 144, stages: 6, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 16, stages: 12, d_bytes: 64, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 112, stages: 6, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 56, stages: 14, d_bytes: 112, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 160, stages: 5, group: 4, cluster_m: 2, d_bytes: 128, ..BY_ROWS },
        Config { bm: 128, bn: 72, stages: 8, cluster_n: 4, d_bytes: 128, ..BY_ROWS },
        Config { bm: 128, bn: 64, stages: 8, cluster_n: 4, d_bytes: 128, ..BY_ROWS },
        Config { bm: 128, bn: 32, stages: 10, split: 4, d_bytes: 64, ..BY_ROWS_SWAPPED },
        Config { bm: 128, bn: 160, stages: 5, group: 4, cluster_m: 2, d_bytes: 128, ..BY_ROWS_SWAPPED },
        Config { bm: 64, bn: 160, stages: 7, group: 2, cluster_m: 4, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 128, stages: 8, split: 4, d_bytes: 128, ..BY_COLUMNS_SWAPPED },
        Config { bm: 128, bn: 192, stages: 5, d_bytes: 128, ..BY_COLUMNS_SWAPPED },
        Config { by_element: true, ..NARROW },
        Config { bm: 128, bn: 120, stages: 6, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 40, stages: 16, d_bytes: 80, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 144, stages: 6, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 160, stages: 7, cluster_n: 2, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 72, stages: 12, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 208, stages: 6, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 192, bn: 160, stages: 4, cluster_n: 2, d_bytes: 128, ..BY_COLUMNS },
        Config { bm: 192, bn: 192, stages: 4, cluster_n: 2, d_bytes: 128, ..BY_COLUMNS },
        Config { bm: 64, bn: 96, stages: 10, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 128, bn: 64, stages: 8, cluster_n: 4, d_bytes: 128, ..PINGPONG_SWAPPED },
        Config { bm: 64, bn: 80, stages: 11, cluster_n: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 96, stages: 10, cluster_n: 4, d_bytes: 128, ..PINGPONG },
    ];

    /// The tiles of gated products, whose pairs of columns are columns of a tile.
    #[rustfmt::skip]
    pub const GATED: [Config; 13] = [
        Config { bm: 64, bn: 64, stages: 13, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 80, stages: 11, cluster_n: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 96, stages: 10, cluster_n: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 96, stages: 10, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 112, stages: 9, cluster_n: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 128, stages: 8, cluster_n: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 64, bn: 160, stages: 7, group: 2, cluster_m: 4, d_bytes: 128, ..PINGPONG },
        Config { bm: 128, bn: 128, stages: 6, d_bytes: 128, ..PINGPONG },
        Config { bm: 128, bn: 176, stages: 5, d_bytes: 128, ..BY_ROWS },
        Config { bm: 128, bn: 192, stages: 5, d_bytes: 128, ..BY_ROWS },
        Config { bm: 64, bn: 128, stages: 8, split: 4, d_bytes: 128, ..BY_COLUMNS },
        Config { bm: 128, bn: 160, stages: 5, d_bytes: 128, ..BY_COLUMNS },
        Config { by_element: true, ..NARROW },
    ];

    /// The tiles for D that TMA cannot store.
    pub const BY_ELEMENT: [Config; 3] = [
        Config {
            by_element: true,
            ..PAIR
        },
        Config {
            by_element: true,
            ..NARROW_PINGPONG
        },
        Config {
            by_element: true,
            ..THIN
        },
    ];

    /// The tiles for matrices along M or N, of elements of 16 bits.
    pub const MAJORS: [Config; 13] = [
        Config {
            a_mn: true,
            ..SINGLE
        },
        Config {
            a_mn: true,
            b_mn: true,
            ..SINGLE
        },
        Config {
            b_mn: true,
            ..SINGLE
        },
        Config { a_mn: true, ..PAIR },
        Config {
            a_mn: true,
            ..SQUARE
        },
        Config {
            a_mn: true,
            b_mn: true,
            ..SQUARE
        },
        Config {
            b_mn: true,
            ..SQUARE
        },
        Config {
            a_mn: true,
            ..NARROW_PINGPONG
        },
        Config {
            a_mn: true,
            b_mn: true,
            ..NARROW_PINGPONG
        },
        Config {
            b_mn: true,
            ..NARROW_PINGPONG
        },
        Config { a_mn: true, ..THIN },
        Config {
            a_mn: true,
            b_mn: true,
            ..THIN
        },
        Config { b_mn: true, ..THIN },
    ];

    /// The tiles for one matrix along M or N, of elements of 32 bits: the kernel's A. So rows of B along N are rows of the tile.
    pub const ONE_MAJOR: [Config; 8] = [
        Config {
            a_mn: true,
            ..SINGLE
        },
        Config { a_mn: true, ..PAIR },
        Config {
            a_mn: true,
            bn: 144,
            ..SINGLE
        },
        Config {
            a_mn: true,
            ..NARROW_PINGPONG
        },
        Config {
            a_mn: true,
            swapped: true,
            ..SINGLE
        },
        Config {
            a_mn: true,
            swapped: true,
            ..PAIR
        },
        Config {
            a_mn: true,
            swapped: true,
            bn: 144,
            ..SINGLE
        },
        Config {
            a_mn: true,
            swapped: true,
            ..NARROW_PINGPONG
        },
    ];
}

#[cfg(test)]
mod tests {
    use super::kernels::{TILES, TILES_BY_8};
    use crate::parts::config::kernels::Config;

    #[test]
    fn tiles_have_the_stages_that_fit_and_occur_once() {
        let all: Vec<Config> = TILES.into_iter().chain(TILES_BY_8).collect();
        for (i, tile) in all.iter().enumerate() {
            assert_eq!(*tile, tile.fitted());
            assert!(!all[..i].contains(tile), "{tile:?} stands twice");
        }
    }
}
