//! The order in which CTAs compute the tiles of matrices.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// The tiles of BM × BN elements of a batch of m × n matrices that a persistent CTA computes: its own number, and on by the
    /// number of CTAs. SPLIT neighbouring CTAs compute the same tiles.
    ///
    /// Tiles are numbered matrix by matrix, within a matrix in bands of GROUP tile rows, and column by column within a band, so that tiles that are computed
    /// at the same time share rows of A and of B in the L2 cache.
    pub struct Tiles<
        const BM: u32,
        const BN: u32,
        const GROUP: u32,
        const CTAS: u32,
        const SPLIT: u32,
    > {
        batches: u32,
        m: u32,
        n: u32,
        next: u32,
    }

    /// A tile.
    pub struct Tile {
        /// The number of its matrix.
        pub batch: u32,
        /// Its first row in the matrix.
        pub row: u32,
        /// Its first column in the matrix.
        pub column: u32,
        /// Whether the CTAs of the cluster compute tiles with the same columns. GROUP is even, so two CTAs do, except in a
        /// last band of odd height.
        pub same_columns: bool,
    }

    impl<const BM: u32, const BN: u32, const GROUP: u32, const CTAS: u32, const SPLIT: u32>
        Tiles<BM, BN, GROUP, CTAS, SPLIT>
    {
        /// The tiles of this CTA.
        pub fn new(batches: u32, m: u32, n: u32) -> Self {
            Self {
                batches,
                m,
                n,
                next: block_idx().0 / SPLIT,
            }
        }

        /// Row and column, in tiles, of tile number `tile` of a matrix.
        fn coordinate(&self, tile: u32) -> (u32, u32) {
            let rows = ceil_div(self.m, BM);
            let band = GROUP * ceil_div(self.n, BN);
            let first = tile / band * GROUP;
            let height = min(rows - first, GROUP);
            let within = tile % band;
            (first + within % height, within / height)
        }
    }

    impl<const BM: u32, const BN: u32, const GROUP: u32, const CTAS: u32, const SPLIT: u32> Iterator
        for Tiles<BM, BN, GROUP, CTAS, SPLIT>
    {
        type Item = Tile;

        /// The next tile, as long as the cluster has one. If the number of tiles of a matrix is odd, the second CTA of the last
        /// pair has a tile outside of the matrix: its loads give zeros, and it stores nothing.
        fn next(&mut self) -> Option<Tile> {
            let each = ceil_div(ceil_div(self.m, BM) * ceil_div(self.n, BN), CTAS) * CTAS;
            let (batch, tile) = (self.next / each, self.next % each);
            if batch < self.batches {
                let (row, column) = self.coordinate(tile);
                let same_columns = if CTAS == 1 {
                    true
                } else {
                    column == self.coordinate(tile ^ 1).1
                };
                self.next += grid_dim().0 / SPLIT;
                Some(Tile {
                    batch,
                    row: row * BM,
                    column: column * BN,
                    same_columns,
                })
            } else {
                None
            }
        }
    }

    /// The coordinate of an element of a matrix, (row, column), or of one of several matrices, (batch, row, column), where a tensor
    /// has R modes.
    pub fn place<const R: u32>(batch: u32, row: u32, column: u32) -> _ {
        if R == 2 {
            (row, column)
        } else {
            (batch, row, column)
        }
    }
}
