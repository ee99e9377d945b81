//! How a CTA holds rows of a matrix, and the choice among these ways.

use cute_runtime::{Element, TensorView};
use kernels::{CTA, WARP};

use crate::Error;
use crate::extent::extent;

/// The first of three configurations, for rows of up to 1024 elements, of up to 8192 and of more, that fits, and its grid.
pub(crate) fn choose<T: Element, C>(
    x: &TensorView<'_, T, 2>,
    [warp, cta, long]: [C; 3],
) -> Result<(C, u32), Error> {
    let [rows, columns] = x.shape();
    let (rows, columns) = (extent(rows)?, extent(columns)?);
    Ok(match columns {
        _ if columns <= WARP.longest => (warp, rows.div_ceil(WARP.threads / 32)),
        _ if columns <= CTA.longest => (cta, rows),
        _ => (long, rows),
    })
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

    /// Rows of up to 1024 elements, four in a CTA.
    pub const WARP: Rows = Rows {
        threads: 128,
        warps: 1,
        columns: 1024,
        longest: 1024,
    };

    /// Rows of up to 8192 elements, one in a CTA.
    pub const CTA: Rows = Rows {
        threads: 256,
        warps: 8,
        columns: 8192,
        longest: 8192,
    };

    /// Rows of any length, one in a CTA, which reads it several times.
    pub const LONG: Rows = Rows {
        longest: 0x7fff_ffff,
        ..CTA
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
