//! Numbers of rows, columns and blocks beside the accumulators of 64 rows of a product, all at once.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::epilogue::activation::kernels::{of_column, of_element, of_row};

    /// The numbers of a vector for the rows of accumulators, of which the first is row `row` of D. A row outside of the vector has
    /// the last number, so a vector of one number gives it to all rows.
    pub fn of_rows<T: Element>(x: Global<T, 1>, acc: Fragment, row: u32) -> Fragment {
        let held = fragment::<f32>(acc, 1);
        for v in 0..size(held) {
            let (i, j) = coordinate(held, v);
            held[v] = of_row(x, (row + i, j));
        }
        held
    }

    /// The numbers of a vector for the columns of accumulators, of which the first is column `column` of D. A column outside of
    /// the vector has the last number, so a vector of one number gives it to all columns.
    pub fn of_columns<T: Element>(x: Global<T, 1>, acc: Fragment, column: u32) -> Fragment {
        let held = fragment::<f32>(acc, 0);
        for v in 0..size(held) {
            let (i, j) = coordinate(held, v);
            held[v] = of_column(x, (i, column + j));
        }
        held
    }

    /// The two factors of the products of block number `step` along K, for accumulators that begin at (row, column) and lie in one
    /// block of 128 columns: numbers of `x` for each block along K and each row, and one of `y` for a block of columns and along K.
    pub fn of_blocks(
        x: Global<f32, 2>,
        y: Global<f32, 2>,
        acc: Fragment,
        (row, column): (u32, u32),
        step: u32,
    ) -> (Fragment, f32) {
        let held = fragment::<f32>(acc, 1);
        for v in 0..size(held) {
            let (i, _) = coordinate(held, v);
            held[v] = of_element(x, (step, row + i));
        }
        (held, of_element(y, (column / 128, step)))
    }

    /// α · acc + β · C, for accumulators that begin at (batch, row, column). `row` is a multiple of 64, and `column` a multiple of
    /// the accumulators' columns. As in BLAS, C is not read if β is 0, and a NaN in the accumulators has no effect if α is 0.
    pub fn linear_combination<T: Element, const R: u32>(
        alpha: f32,
        acc: Fragment,
        beta: f32,
        c: Global<T, R>,
        (batch, row, column): (u32, u32, u32),
    ) -> Fragment {
        let c = if R == 2 { c } else { c[(batch, _, _)] };
        let (added, columns) = (fragment::<T>(acc), size(acc) * 2);
        fill(added, 0.0);
        if beta != 0.0 {
            copy_or(
                local_tile(c, (64, columns), (row / 64, column / columns)),
                added,
                0.0,
            );
        }
        if alpha == 0.0 {
            fill(acc, 0.0);
        }
        fma(acc, alpha, convert::<f32>(added) * beta)
    }

    /// Raises the number of each row in `largest` to the largest absolute value in this row of accumulators. They begin at (row, column) of
    /// a matrix of n columns. Rows outside of `largest` and columns from n on are left out. Numbers that start at 0 are the largest
    /// absolute values of whole rows once all tiles are computed: of the accumulators, before they are rounded to elements of D.
    ///
    /// It may also be called for each piece of accumulators that `store_pieces_by_tma` stores. This takes fewer registers if the
    /// epilogue reads numbers of columns.
    ///
    /// For numbers that are not negative, the maximum of the bits is the maximum of the numbers, in any order of the tiles. A NaN
    /// is left out, too, so a row of NaNs keeps its number.
    pub fn absmax_of_rows(
        acc: Fragment,
        largest: Global<f32, 1>,
        (row, column): (u32, u32),
        n: u32,
    ) {
        let inside = map(acc, |x, (_, j)| if column + j < n { abs(x) } else { 0.0 });
        let found = max(reduce(inside, 1, max), 0.0);
        let bits = recast::<u32>(largest);
        // Four threads have a row, and know its number.
        if thread() % 4 == 0 {
            for v in 0..size(found) {
                let (i, _) = coordinate(found, v);
                if row + i < extent(largest, 0) {
                    atomic_max(bits, row + i, to_bits(found[v]));
                }
            }
        }
    }
}
