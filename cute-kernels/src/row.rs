//! How a CTA holds rows of a matrix, and the choice among these ways.

use cute_runtime::{Element, TensorView};
use kernels::{ROW_1024, ROW_2048, ROW_4096, ROW_8192, ROW_ANY, Rows};

use crate::Error;
use crate::extent::extent;

/// Which of a kernel's values of `CFG: Rows` and of `V` fit the rows of x, and the grid. `configurations` are in the order of
/// their lengths, and the values of `V` are 8, for rows that have vectors, and 1.
pub(crate) fn choose<T: Element, C: Copy, V>(
    x: &TensorView<'_, T, 2>,
    vectors: bool,
    configurations: [C; 5],
    [eight, one]: [V; 2],
) -> Result<(C, V, u32), Error> {
    let [rows, columns] = x.shape();
    let (rows, columns) = (extent(rows)?, extent(columns)?);
    let all = [ROW_1024, ROW_2048, ROW_4096, ROW_8192, ROW_ANY];
    let fitting = all.iter().take_while(|it| it.longest < columns).count();
    let Rows { threads, warps, .. } = all[fitting];
    let grid = rows.div_ceil(threads / (32 * warps));
    Ok((
        configurations[fitting],
        if vectors { eight } else { one },
        grid,
    ))
}

/// Whether all rows start at multiples of 16 bytes and are multiples of 8 elements long, so that a thread can move 8
/// consecutive elements at a time.
pub(crate) fn has_vectors<T: Element>(x: &TensorView<'_, T, 2>) -> bool {
    let row = x.strides()[0] as u64 * size_of::<T>() as u64;
    let aligned = [x.address(), row].iter().all(|n| n.is_multiple_of(16));
    aligned && x.shape()[1].is_multiple_of(8)
}

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// A tile of rows, or of a part of a long row, in the registers of a CTA.
    pub struct Rows {
        /// Threads of the CTA.
        pub threads: u32,
        /// Warps that hold a row together.
        pub warps: u32,
        /// Elements of a row that are held at a time.
        pub columns: u32,
        /// The most elements of a row.
        pub longest: u32,
    }

    /// Rows of up to 1024 elements, each held by a warp.
    pub const ROW_1024: Rows = Rows {
        threads: 128,
        warps: 1,
        columns: 1024,
        longest: 1024,
    };

    /// Rows of up to 2048 elements, each held by two warps.
    pub const ROW_2048: Rows = Rows {
        warps: 2,
        columns: 2048,
        longest: 2048,
        ..ROW_1024
    };

    /// Rows of up to 4096 elements, each held by four warps.
    pub const ROW_4096: Rows = Rows {
        warps: 4,
        columns: 4096,
        longest: 4096,
        ..ROW_1024
    };

    /// Rows of up to 8192 elements, each held by eight warps.
    pub const ROW_8192: Rows = Rows {
        threads: 256,
        warps: 8,
        columns: 8192,
        longest: 8192,
    };

    /// Rows of any length, which eight warps read several times.
    pub const ROW_ANY: Rows = Rows {
        longest: 0x7fff_ffff,
        ..ROW_8192
    };

    impl Rows {
        /// The extents of the tile.
        pub fn tile(self) -> Shape {
            (self.threads / (32 * self.warps), self.columns)
        }

        /// The layout from (thread, value) to the elements of the tile. Each thread has elements of one row, `v` consecutive ones
        /// at a time.
        pub fn held(self, v: u32) -> Layout {
            let (rows, lanes) = (self.tile().0, 32 * self.warps);
            let steps = self.columns / (lanes * v);
            let (lane, step) = (rows * v, rows * v * lanes);
            let held = layout!(((lanes,rows),(v,steps)):((lane,1),(rows,step)));
            composition(make_identity_layout(self.tile()), held)
        }

        /// How many tiles have a row of so many elements.
        pub fn tiles(self, length: u32) -> u32 {
            if self.is_whole() {
                1
            } else {
                ceil_div(length, self.columns)
            }
        }

        /// Whether a tile holds whole rows.
        pub fn is_whole(self) -> bool {
            self.longest == self.columns
        }
    }
}
