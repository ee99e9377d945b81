//! The order in which CTAs compute the tiles of matrices.
//!
//! The tiles of a CTA are an argument of `multiply`, an iterator: `Tiles` of a batch, or `Groups` of rows, whose ends are in device
//! memory. A group may begin at any row, and a TMA store cannot end at any row. So D of groups is stored by vectors (`store_by_vector`),
//! in a range of rows.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// The tiles of BM × BN elements of a batch of m × n matrices that a persistent CTA computes. The CTAs of a cluster have
    /// neighbouring tiles: CM below one another, and CN such columns side by side. Or SPLIT CTAs of a cluster have the same tile, and
    /// CM and CN are 1. Cluster i of c takes blocks of tiles i, i + c, i + 2c, ….
    ///
    /// Blocks are numbered matrix by matrix, within a matrix in bands of GROUP rows of blocks, and column by column within a band,
    /// so that tiles that are computed at the same time share rows of A and of B in the L2 cache.
    pub struct Tiles<
        const BM: u32,
        const BN: u32,
        const GROUP: u32,
        const CM: u32,
        const CN: u32,
        const SPLIT: u32,
    > {
        batches: u32,
        m: u32,
        n: u32,
        next: u32,
    }

    /// A tile.
    pub struct Tile {
        /// The number of the matrix.
        pub batch: u32,
        /// The first row of the tile in the matrix.
        pub row: u32,
        /// The row at which the matrix ends.
        pub end: u32,
        /// The first column of the tile in the matrix.
        pub column: u32,
    }

    impl<
        const BM: u32,
        const BN: u32,
        const GROUP: u32,
        const CM: u32,
        const CN: u32,
        const SPLIT: u32,
    > Tiles<BM, BN, GROUP, CM, CN, SPLIT>
    {
        /// The tiles of this CTA.
        pub fn new(batches: u32, m: u32, n: u32) -> Self {
            Self {
                batches,
                m,
                n,
                next: block_idx().0 / (CM * CN * SPLIT),
            }
        }
    }

    impl<
        const BM: u32,
        const BN: u32,
        const GROUP: u32,
        const CM: u32,
        const CN: u32,
        const SPLIT: u32,
    > Iterator for Tiles<BM, BN, GROUP, CM, CN, SPLIT>
    {
        type Item = Tile;

        /// The next tile, as long as the cluster has one. Tiles of the last blocks may lie outside of the matrix: their loads give
        /// zeros, and they store nothing.
        fn next(&mut self) -> Option<Tile> {
            let each = ceil_div(self.m, BM * CM) * ceil_div(self.n, BN * CN);
            let (batch, block) = (self.next / each, self.next % each);
            if batch < self.batches {
                let (row, column) =
                    coordinate::<{ BM * CM }, { BN * CN }, GROUP>(self.m, self.n, block);
                let (row, column) = if CM * CN == 1 {
                    (row, column)
                } else {
                    let rank = cluster_ctarank();
                    (row * CM + rank % CM, column * CN + rank / CM)
                };
                self.next += grid_dim().0 / (CM * CN * SPLIT);
                Some(Tile {
                    batch,
                    row: row * BM,
                    end: self.m,
                    column: column * BN,
                })
            } else {
                None
            }
        }
    }

    /// The tiles of BM × BN elements of groups of rows, each with a matrix B of its own, that a persistent CTA computes: CTA i of
    /// n takes tiles i, i + n, …. Group e has the rows from the end of the previous group up to `ends[e]`, which only the device
    /// knows. An end before the previous end counts as the previous end, and an end beyond m as m.
    ///
    /// Tiles are numbered group by group, and within a group as those of `Tiles`. A group begins with a new tile, so the rows of a
    /// tile begin anywhere. An epilogue that divides the rows into tiles of 64, such as `linear_combination` and
    /// `store_by_element`, needs the tensor from the tile's first row on, `d[(tile.row..tile.end, _)]`, and row 0.
    pub struct Groups<const BM: u32, const BN: u32, const GROUP: u32> {
        ends: Global,
        m: u32,
        n: u32,
        /// The number of ends read so far. The last of them is the end of the current group.
        read: u32,
        /// Where the current group begins and ends.
        first: u32,
        end: u32,
        /// The number of the next tile, counted from the first of the current group.
        next: u32,
    }

    impl<const BM: u32, const BN: u32, const GROUP: u32> Groups<BM, BN, GROUP> {
        /// The tiles of this CTA.
        pub fn new(ends: Global<i32, 1>, m: u32, n: u32) -> Self {
            Self {
                ends,
                m,
                n,
                read: 0,
                first: 0,
                end: 0,
                next: block_idx().0,
            }
        }

        /// How many tiles the current group has.
        fn tiles(&self) -> u32 {
            ceil_div(self.end - self.first, BM) * ceil_div(self.n, BN)
        }
    }

    impl<const BM: u32, const BN: u32, const GROUP: u32> Iterator for Groups<BM, BN, GROUP> {
        type Item = Tile;

        /// The next tile. All lanes of a warp call this together.
        fn next(&mut self) -> Option<Tile> {
            loop {
                let group = self.read;
                if self.next >= self.tiles() && group < extent(self.ends, 0) {
                    self.next -= self.tiles();
                    self.read += 1;
                    self.first = self.end;
                    // The assembler does not know that all lanes read the same value, but it knows this of the result of a shuffle.
                    let end = shfl_idx(self.ends[group], 0);
                    self.end = clamp(end, self.first as i32, self.m as i32) as u32;
                } else {
                    break;
                }
            }
            if self.next < self.tiles() {
                let rows = self.end - self.first;
                let (row, column) = coordinate::<BM, BN, GROUP>(rows, self.n, self.next);
                self.next += grid_dim().0;
                Some(Tile {
                    batch: self.read - 1,
                    row: self.first + row * BM,
                    end: self.end,
                    column: column * BN,
                })
            } else {
                None
            }
        }
    }

    /// A tile of one of several products.
    pub struct ProblemTile {
        /// The number of the product.
        pub batch: u32,
        /// The first row of the tile in the matrix.
        pub row: u32,
        /// The row at which the matrix ends.
        pub end: u32,
        /// The first column of the tile in the matrix.
        pub column: u32,
        /// The K of the product.
        pub k: u32,
    }

    /// The tiles of BM × BN elements of a list of matrices of any shapes, each a product of its own K, that a persistent CTA computes:
    /// its own number, and on by the number of CTAs. Tiles are numbered matrix by matrix, and within a matrix as those of `Tiles`.
    pub struct Problems<const BM: u32, const BN: u32, const GROUP: u32, const MOST: u32> {
        d: [Global; MOST],
        k: [u32; MOST],
        /// The matrix of the next tile.
        problem: u32,
        /// The number of the next tile, counted from the first of that matrix.
        next: u32,
    }

    impl<const BM: u32, const BN: u32, const GROUP: u32, const MOST: u32>
        Problems<BM, BN, GROUP, MOST>
    {
        /// The tiles of this CTA. There are as many `k` as matrices, by a fact of the kernel.
        pub fn new(d: [Global; MOST], k: [u32; MOST]) -> Self {
            Self {
                d,
                k,
                problem: 0,
                next: block_idx().0,
            }
        }
    }

    impl<const BM: u32, const BN: u32, const GROUP: u32, const MOST: u32> Iterator
        for Problems<BM, BN, GROUP, MOST>
    {
        type Item = ProblemTile;

        /// The next tile.
        fn next(&mut self) -> Option<ProblemTile> {
            loop {
                let problem = self.problem;
                if problem < self.d.len() {
                    let d = self.d[problem];
                    let tiles = ceil_div(extent(d, 0), BM) * ceil_div(extent(d, 1), BN);
                    if self.next < tiles {
                        break;
                    }
                    self.next -= tiles;
                    self.problem += 1;
                } else {
                    break;
                }
            }
            let problem = self.problem;
            if problem < self.d.len() {
                let (m, n) = (extent(self.d[problem], 0), extent(self.d[problem], 1));
                let (row, column) = coordinate::<BM, BN, GROUP>(m, n, self.next);
                self.next += grid_dim().0;
                Some(ProblemTile {
                    batch: problem,
                    row: row * BM,
                    end: m,
                    column: column * BN,
                    k: self.k[problem],
                })
            } else {
                None
            }
        }
    }

    /// Row and column, in tiles, of tile number `tile` of an m × n matrix.
    fn coordinate<const BM: u32, const BN: u32, const GROUP: u32>(
        m: u32,
        n: u32,
        tile: u32,
    ) -> (u32, u32) {
        let rows = ceil_div(m, BM);
        let band = GROUP * ceil_div(n, BN);
        let first = tile / band * GROUP;
        let height = min(rows - first, GROUP);
        let within = tile % band;
        (first + within % height, within / height)
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
