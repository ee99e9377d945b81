//! How threads hold rows of a matrix, and the choice among these ways.

use cute_runtime::{Constant, Device, Element, TensorView};
use kernels::Rows;

use crate::Error;
use crate::extent::extent;

/// The first way to hold whole rows of x in registers that fits them, `aligned` or not, of those of a kernel, and the grid. `None` if rows
/// are longer than all of them allow.
pub(crate) fn fitting<T: Element, C: Constant<Value = Rows>>(
    x: &TensorView<'_, T, 2>,
    aligned: bool,
) -> Result<Option<(C, u32)>, Error> {
    let [rows, columns] = x.shape();
    let (rows, columns) = (extent(rows)?, extent(columns)?);
    let fits = |it: &Rows| (aligned || it.unit == 1) && columns <= it.longest;
    let mut ways = C::ALL.iter().map(|it| (*it, it.value()));
    let found = ways.find(|(_, way)| fits(way));
    Ok(found.map(|(it, way)| (it, rows.div_ceil(way.threads / way.lanes))))
}

/// The way to hold tiles of the longest rows, of those of a kernel.
pub(crate) fn longest<C: Constant<Value = Rows>>(aligned: bool) -> C {
    let of_kind = |it: &&C| (it.value().unit > 1) == aligned;
    let longest = C::ALL.iter().filter(of_kind);
    let longest = longest.max_by_key(|it| it.value().longest);
    *longest.unwrap_or(&C::ALL[0])
}

/// The way to hold a tile of the long rows of x, and the grid.
pub(crate) fn long<T: Element, C: Constant<Value = Rows>>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    aligned: bool,
) -> Result<(C, u32), Error> {
    let rows = extent(x.shape()[0])?;
    let grid = match aligned {
        // The shared memory of a multiprocessor holds the tiles of one CTA.
        true => rows.min(device.multiprocessor_count()),
        false => rows,
    };
    Ok((longest(aligned), grid))
}

/// Whether all rows start at multiples of 16 bytes and are multiples of 8 elements long.
pub(crate) fn is_aligned<T: Element>(x: &TensorView<'_, T, 2>) -> bool {
    let row = x.strides()[0] as u64 * size_of::<T>() as u64;
    let starts = [x.address(), row].iter().all(|n| n.is_multiple_of(16));
    starts && x.shape()[1].is_multiple_of(8)
}

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// The bits of shared memory that keep tiles.
    const SHARED_BITS: u32 = 229_376 * 8;

    /// Consecutive values that a thread moves together: at least 16 bytes.
    const V: u32 = 8;

    /// A tile of rows, or of a part of a long row, in the registers of a CTA.
    pub struct Rows {
        /// Threads of a CTA.
        pub threads: u32,
        /// Threads that hold a row together.
        pub lanes: u32,
        /// Values of a row that a thread holds.
        pub values: u32,
        /// The length of a row is a multiple of this: 8 if rows begin at multiples of 16 bytes, or 1 if they begin anywhere.
        pub unit: u32,
        /// The most elements of a row.
        pub longest: u32,
    }

    /// Rows that a warp holds.
    pub const ROW_1024: Rows = Rows {
        threads: 128,
        lanes: 32,
        values: 32,
        unit: V,
        longest: 1024,
    };

    /// Rows that two warps hold.
    pub const ROW_1536: Rows = Rows {
        values: 24,
        longest: 1536,
        ..ROW_2048
    };

    /// Rows that two warps hold.
    pub const ROW_2048: Rows = Rows {
        lanes: 64,
        longest: 2048,
        ..ROW_1024
    };

    /// Rows that four warps hold.
    pub const ROW_3072: Rows = Rows {
        values: 24,
        longest: 3072,
        ..ROW_4096
    };

    /// Rows that four warps hold.
    pub const ROW_4096: Rows = Rows {
        lanes: 128,
        longest: 4096,
        ..ROW_1024
    };

    /// Rows that eight warps hold.
    pub const ROW_6144: Rows = Rows {
        values: 24,
        longest: 6144,
        ..ROW_8192
    };

    /// Rows that eight warps hold.
    pub const ROW_8192: Rows = Rows {
        threads: 256,
        lanes: 256,
        longest: 8192,
        ..ROW_1024
    };

    /// Rows that 16 warps hold.
    pub const ROW_12288: Rows = Rows {
        values: 24,
        longest: 12_288,
        ..ROW_16384
    };

    /// Rows that 16 warps hold.
    pub const ROW_16384: Rows = Rows {
        threads: 512,
        lanes: 512,
        longest: 16_384,
        ..ROW_1024
    };

    /// Long rows: a CTA holds one tile of a row at a time.
    pub const ROW_LONG: Rows = Rows {
        threads: 1024,
        lanes: 1024,
        values: 16,
        unit: V,
        longest: 0x7fff_ffff,
    };

    /// As `ROW_1024`, but rows begin anywhere: up to 7 elements before a row are in its tile.
    pub const ANY_1017: Rows = Rows {
        unit: 1,
        longest: 1017,
        ..ROW_1024
    };

    /// As `ROW_2048`, but rows begin anywhere.
    pub const ANY_2041: Rows = Rows {
        unit: 1,
        longest: 2041,
        ..ROW_2048
    };

    /// As `ROW_6144`, but rows begin anywhere.
    pub const ANY_6137: Rows = Rows {
        unit: 1,
        longest: 6137,
        ..ROW_6144
    };

    /// As `ROW_12288`, but rows begin anywhere.
    pub const ANY_12281: Rows = Rows {
        unit: 1,
        longest: 12_281,
        ..ROW_12288
    };

    /// Long rows that begin anywhere: a CTA holds one tile of a row at a time.
    pub const ANY_LONG: Rows = Rows {
        longest: 0x7fff_ffff,
        ..ANY_6137
    };

    /// The ways to hold whole rows in registers, the shortest of each kind first.
    pub const HELD: [Rows; 13] = [
        ROW_1024, ROW_1536, ROW_2048, ROW_3072, ROW_4096, ROW_6144, ROW_8192, ROW_12288, ROW_16384,
        ANY_1017, ANY_2041, ANY_6137, ANY_12281,
    ];

    /// The ways to hold a tile of a long row.
    pub const LONG: [Rows; 2] = [ROW_LONG, ANY_LONG];

    impl Rows {
        /// Rows of the tile.
        pub fn rows(self) -> u32 {
            self.threads / self.lanes
        }

        /// Elements of each row that the tile holds.
        pub fn columns(self) -> u32 {
            self.lanes * self.values
        }

        /// The layout from (thread, value) to coordinates (row, lane, value).
        pub fn held(self) -> Layout {
            let (rows, lanes, values) = (self.rows(), self.lanes, self.values);
            layout!(((lanes,rows),values):((1@1,1@0),1@2))
        }

        /// The tile at a coordinate that counts tiles, as (row, lane, value). It begins `skipped` elements before its columns.
        pub fn tile(self, x: Global, at: _, skipped: u32) -> Global {
            let (rows, columns) = (self.rows(), self.columns());
            let tile = local_tile(x, (rows, columns), at);
            let tile = domain_offset((0, -(skipped as i32)), tile);
            let (v, lanes, steps) = (V, self.lanes, self.values / V);
            let (lane, step) = (rows * v, rows * v * lanes);
            composition(tile, layout!((rows,lanes,(v,steps)):(1,lane,(rows,step))))
        }

        /// Tile number `i` of one row as (1, lane, value).
        pub fn vector(self, x: Global, i: u32, skipped: u32) -> Global {
            let tile = domain_offset(-(skipped as i32), local_tile(x, self.columns(), i));
            let (v, lanes, steps) = (V, self.lanes, self.values / V);
            let step = v * lanes;
            composition(tile, layout!((1,lanes,(v,steps)):(0,v,(1,step))))
        }

        /// The number of elements before the row in a thread's tile: the row's distance above a multiple of 16 bytes. `first` is
        /// the first tile.
        pub fn skipped(self, first: Global, like: Fragment) -> u32 {
            if self.unit == V {
                0
            } else {
                misalignment(first, like)
            }
        }

        /// The number of CTAs that should be on a multiprocessor at the same time, for elements of so many bits. 32,768 elements
        /// of 16 bits are as many bytes in flight as the speed of a copy takes. Registers do not suffice for that with elements of
        /// 32 bits, nor if rows begin anywhere: then 0 leaves the number to ptxas.
        pub fn resident(self, bits: u32) -> u32 {
            if self.unit == V && bits == 16 {
                32_768 / (self.threads * self.values)
            } else {
                0
            }
        }

        /// The number of tiles of a row of so many elements, with skipped elements before it.
        pub fn tiles(self, length: u32) -> u32 {
            ceil_div(length + V - self.unit, self.columns())
        }
    }

    /// The tiles of the long rows of a CTA, one row after another. As many tiles of a row as fit are kept in shared memory. Tiles
    /// of the next rows take their places while this row is written. A thread loads and reads only its own values, so no thread
    /// waits for others. Of rows that begin anywhere, nothing is kept: `cp.async` does not load them.
    pub struct Stream<const CFG: Rows> {
        stages: Tensor,
        /// How many tiles of a row are kept.
        kept: u32,
        /// The stage of the first tile of the current row.
        first: u32,
        /// The next tile to load, and its stage.
        row: u32,
        tile: u32,
        stage: u32,
    }

    impl<const CFG: Rows> Stream<CFG> {
        /// The tiles of the rows of x. The loads of the first tiles begin.
        pub fn new<T: Element>(x: Global<T, 2>) -> Self {
            let (v, lanes, steps, columns) = (V, CFG.lanes, CFG.values / V, CFG.columns());
            let (tile, step) = (columns * bits::<T>(), v * lanes);
            let count = if CFG.unit == V { SHARED_BITS / tile } else { 1 };
            let mut stream = Self {
                stages: smem::<T>(layout!((1,lanes,(v,steps),count):(0,v,(1,step),columns))),
                kept: min(CFG.tiles(extent(x, 1)), count),
                first: 0,
                row: block_idx().0,
                tile: 0,
                stage: 0,
            };
            #[unroll(1)]
            for _ in 0..count {
                stream.load(x);
            }
            stream
        }

        /// Reads a tile of the current row, which begins `skipped` elements before its columns. Each is read twice, first with
        /// `again` = false.
        pub fn read<T: Element>(
            &self,
            x: Global<T, 2>,
            at: (u32, u32),
            skipped: u32,
            again: bool,
            held: Fragment,
        ) {
            if CFG.unit < V {
                copy_or(CFG.tile(x, at, skipped), held, 0.0);
            } else if at.1 < self.kept {
                // As many groups are younger than the tile's own group at its first reading.
                cp_async_wait(self.count() - 1);
                copy(
                    self.stages[(_, _, _, (self.first + at.1) % self.count())],
                    held,
                );
                if !again {
                    cp_async_commit();
                }
            } else {
                copy_or(CFG.tile(x, at, skipped), held, 0.0);
            }
        }

        /// Gives the place of a tile of the current row to the next tile to load.
        pub fn release<T: Element>(&mut self, x: Global<T, 2>, i: u32) {
            if i < self.kept {
                self.load(x);
            }
        }

        /// Goes on to the next row.
        pub fn advance(&mut self) {
            self.first = (self.first + self.kept) % self.count();
        }

        /// Waits, after the last row, for the loads of rows that x does not have. They read nothing, but write zeros.
        pub fn end(&self) {
            if CFG.unit == V {
                cp_async_wait(0);
            }
        }

        fn count(&self) -> u32 {
            size(get(self.stages, 3))
        }

        fn load<T: Element>(&mut self, x: Global<T, 2>) {
            if CFG.unit == V {
                let to = self.stages[(_, _, _, self.stage)];
                copy_async(CFG.tile(x, (self.row, self.tile), 0), to, CFG.held());
                cp_async_commit();
                self.stage = (self.stage + 1) % self.count();
                self.tile += 1;
                if self.tile == self.kept {
                    self.tile = 0;
                    self.row += grid_dim().0;
                }
            }
        }
    }
}
