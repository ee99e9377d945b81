//! How threads hold rows of a matrix, and the choice among these ways.

use cute_runtime::{Device, Element, TensorView};
use kernels::{
    ROW_1024, ROW_1536, ROW_2048, ROW_3072, ROW_4096, ROW_6144, ROW_8192, ROW_12288, ROW_16384,
};

use crate::Error;
use crate::extent::extent;

/// Which instance of a kernel fits rows, with its grid.
pub(crate) enum Choice<C> {
    /// Of the kernel that holds rows in registers, this value of `CFG: Rows`.
    Held(C, u32),
    /// The kernel for long rows.
    Long(u32),
}

/// The choice for the rows of x, which are `aligned` or not. `configurations` are in the order of their lengths.
pub(crate) fn choose<T: Element, C: Copy>(
    device: &Device,
    x: &TensorView<'_, T, 2>,
    aligned: bool,
    configurations: [C; 9],
) -> Result<Choice<C>, Error> {
    let [rows, columns] = x.shape();
    let (rows, columns) = (extent(rows)?, extent(columns)?);
    let all = [
        ROW_1024, ROW_1536, ROW_2048, ROW_3072, ROW_4096, ROW_6144, ROW_8192, ROW_12288, ROW_16384,
    ];
    let slack = if aligned { 0 } else { 7 };
    let fitting = all.iter().position(|it| columns + slack <= it.longest);
    Ok(match fitting {
        Some(i) => Choice::Held(
            configurations[i],
            rows.div_ceil(all[i].threads / all[i].lanes),
        ),
        // The shared memory of a multiprocessor holds the tiles of one CTA.
        None if aligned => Choice::Long(rows.min(device.multiprocessor_count())),
        None => Choice::Long(rows),
    })
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

    /// A tile of rows, or of a part of a long row, in the registers of a CTA.
    pub struct Rows {
        /// Threads of a CTA.
        pub threads: u32,
        /// Threads that hold a row together.
        pub lanes: u32,
        /// Values of a row that a thread holds.
        pub values: u32,
        /// Consecutive values that are moved together: 8, which have at least 16 bytes, or 1.
        pub v: u32,
        /// The most elements of a row.
        pub longest: u32,
    }

    /// Rows of up to 1024 elements, each held by a warp.
    pub const ROW_1024: Rows = Rows {
        threads: 128,
        lanes: 32,
        values: 32,
        v: 8,
        longest: 1024,
    };

    /// Rows of up to 1536 elements, each held by two warps.
    pub const ROW_1536: Rows = Rows {
        values: 24,
        longest: 1536,
        ..ROW_2048
    };

    /// Rows of up to 2048 elements, each held by two warps.
    pub const ROW_2048: Rows = Rows {
        lanes: 64,
        longest: 2048,
        ..ROW_1024
    };

    /// Rows of up to 3072 elements, each held by four warps.
    pub const ROW_3072: Rows = Rows {
        values: 24,
        longest: 3072,
        ..ROW_4096
    };

    /// Rows of up to 4096 elements, each held by four warps.
    pub const ROW_4096: Rows = Rows {
        lanes: 128,
        longest: 4096,
        ..ROW_1024
    };

    /// Rows of up to 6144 elements, each held by eight warps.
    pub const ROW_6144: Rows = Rows {
        values: 24,
        longest: 6144,
        ..ROW_8192
    };

    /// Rows of up to 8192 elements, each held by eight warps.
    pub const ROW_8192: Rows = Rows {
        threads: 256,
        lanes: 256,
        longest: 8192,
        ..ROW_1024
    };

    /// Rows of up to 12,288 elements, each held by 16 warps.
    pub const ROW_12288: Rows = Rows {
        values: 24,
        longest: 12_288,
        ..ROW_16384
    };

    /// Rows of up to 16,384 elements, each held by 16 warps.
    pub const ROW_16384: Rows = Rows {
        threads: 512,
        lanes: 512,
        longest: 16_384,
        ..ROW_1024
    };

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

        /// The tile at a coordinate that counts tiles, as (row, lane, value). It begins `skipped` elements before its columns do.
        pub fn tile(self, x: Global, at: _, skipped: u32) -> Global {
            let (rows, columns) = (self.rows(), self.columns());
            let tile = local_tile(x, (rows, columns), at);
            let tile = domain_offset((0, -(skipped as i32)), tile);
            let (v, lanes, steps) = (self.v, self.lanes, self.values / self.v);
            let (lane, step) = (rows * v, rows * v * lanes);
            composition(tile, layout!((rows,lanes,(v,steps)):(1,lane,(rows,step))))
        }

        /// Tile number `i` of one row as (1, lane, value).
        pub fn vector(self, x: Global, i: u32, skipped: u32) -> Global {
            let tile = domain_offset(-(skipped as i32), local_tile(x, self.columns(), i));
            let (v, lanes, steps) = (self.v, self.lanes, self.values / self.v);
            let step = v * lanes;
            composition(tile, layout!((1,lanes,(v,steps)):(0,v,(1,step))))
        }

        /// How many elements before its row the tile of a thread begins: 0 if rows are multiples of `unit` = 8 elements long, else as many
        /// as the row begins above a multiple of 16 bytes. `first` is the first tile.
        pub fn skipped(self, first: Global, like: Fragment, unit: u32) -> u32 {
            if unit == 8 {
                0
            } else {
                misalignment(first, like)
            }
        }

        /// How many tiles have a row of so many elements.
        pub fn tiles(self, length: u32) -> u32 {
            ceil_div(length, self.columns())
        }
    }

    /// How a CTA holds a tile of a long row, if rows are multiples of 8 elements long.
    pub const LONG_8: Rows = Rows {
        threads: 1024,
        lanes: 1024,
        values: 16,
        v: 8,
        longest: 0x7fff_ffff,
    };

    /// How a CTA holds a tile of another long row.
    pub const LONG_1: Rows = Rows {
        threads: 256,
        lanes: 256,
        values: 32,
        v: 1,
        ..LONG_8
    };

    /// The tiles of the long rows of a CTA, one row after another. As many tiles of a row as fit are kept in shared memory. Their
    /// places get the tiles of the next rows while this row is written. A thread loads and reads its own values only, so that
    /// none waits for others. If values are moved one by one, which `cp.async` does not, nothing is kept.
    pub struct Stream<const CFG: Rows> {
        stages: Tensor,
        /// How many tiles of a row are kept.
        kept: u32,
        /// The stage of the first tile of the current row.
        first: u32,
        /// The tile that is loaded next, and its stage.
        row: u32,
        tile: u32,
        stage: u32,
    }

    impl<const CFG: Rows> Stream<CFG> {
        /// The tiles of the rows of x, of which the first begin to load.
        pub fn new<T: Element>(x: Global<T, 2>) -> Self {
            let (lanes, v, steps, columns) = (CFG.lanes, CFG.v, CFG.values / CFG.v, CFG.columns());
            let (tile, step) = (columns * bits::<T>(), v * lanes);
            let count = if v == 1 { 1 } else { SHARED_BITS / tile };
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

        /// Reads a tile of the current row. Each is read twice, first with `again` = false.
        pub fn read<T: Element>(
            &self,
            x: Global<T, 2>,
            at: (u32, u32),
            again: bool,
            held: Fragment,
        ) {
            if CFG.v == 1 {
                copy_or(CFG.tile(x, at, 0), held, 0.0);
            } else if at.1 < self.kept {
                // As many groups are younger than that of a tile at its first reading.
                cp_async_wait(self.count() - 1);
                copy(
                    self.stages[(_, _, _, (self.first + at.1) % self.count())],
                    held,
                );
                if !again {
                    cp_async_commit();
                }
            } else {
                copy_or(CFG.tile(x, at, 0), held, 0.0);
            }
        }

        /// Gives the place of a tile of the current row to the next that is loaded.
        pub fn release<T: Element>(&mut self, x: Global<T, 2>, i: u32) {
            if i < self.kept {
                self.load(x);
            }
        }

        /// Goes on to the next row.
        pub fn advance(&mut self) {
            self.first = (self.first + self.kept) % self.count();
        }

        fn count(&self) -> u32 {
            size(get(self.stages, 3))
        }

        fn load<T: Element>(&mut self, x: Global<T, 2>) {
            if CFG.v > 1 {
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
