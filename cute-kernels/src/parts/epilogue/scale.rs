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

    /// The numbers of a bias for accumulators that are tile number `index` of so many columns of D: 0 if there is no bias. There is one,
    /// with one row, or none.
    pub fn bias_of_columns<D: Element>(
        acc: Fragment,
        bias: [Global<D, 2>; 1],
        columns: u32,
        index: u32,
    ) -> Fragment {
        let added = fragment::<D>(acc, 0);
        fill(added, 0.0);
        if bias.len() > 0 {
            copy_or(local_tile(bias[0], (1, columns), (0, index)), added, 0.0);
        }
        added
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
        let tile = (64, size(acc) * 2);
        let at = (batch, number_of_tile(tile, (row, column)));
        let added = scaled_tile(beta, c, acc, tile, at);
        if alpha == 0.0 {
            fill(acc, 0.0);
        }
        fma(acc, alpha, added)
    }

    /// The number of the tile of this shape that begins at (row, column).
    pub fn number_of_tile(tile: (u32, u32), (row, column): (u32, u32)) -> (u32, u32) {
        (row / tile.0, column / tile.1)
    }

    /// β · C at the places of accumulators, which are tile number `at` of this shape. C is not read if β is 0.
    pub fn scaled_tile<T: Element, const R: u32>(
        beta: f32,
        c: Global<T, R>,
        acc: Fragment,
        tile: (u32, u32),
        (batch, at): (u32, (u32, u32)),
    ) -> Fragment {
        let c = if R == 2 { c } else { c[(batch, _, _)] };
        let added = fragment::<T>(acc);
        fill(added, 0.0);
        if beta != 0.0 {
            copy_or(local_tile(c, tile, at), added, 0.0);
        }
        convert::<f32>(added) * beta
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
        let found = reduce(absolute_inside(acc, column, n), 1, max);
        // Four threads have a row, and know its number.
        if thread() % 4 == 0 {
            raise(found, largest, row);
        }
    }

    /// The same for accumulators that are transposed, in the order of `wgmma_c`: each warp has 16 columns of a row.
    pub fn absmax_of_transposed_rows(
        acc: Fragment,
        largest: Global<f32, 1>,
        (row, column): (u32, u32),
        n: u32,
    ) {
        let inside = absolute_inside(acc, column, n);
        let found = fragment::<f32>(acc, 1);
        for v in 0..size(found) {
            // Two numbers of a thread, and eight lanes, have the row.
            let first = v % 2 + v / 2 * 4;
            let mut x = max(inside[first], inside[first + 2]);
            for step in 2..5 {
                x = max(x, shfl_bfly(x, 1 << step));
            }
            found[v] = x;
        }
        if lane() < 4 {
            raise(found, largest, row);
        }
    }

    /// The same for numbers of which each warp has a row.
    pub fn absmax_of_warps(
        x: Fragment,
        largest: Global<f32, 1>,
        (row, column): (u32, u32),
        n: u32,
    ) {
        let found = reduce(absolute_inside(x, column, n), 1, max);
        if lane() == 0 {
            raise(found, largest, row);
        }
    }

    /// The absolute values, or 0 in columns from n on.
    fn absolute_inside(acc: Fragment, column: u32, n: u32) -> Fragment {
        map(acc, |x, (_, j)| if column + j < n { abs(x) } else { 0.0 })
    }

    /// Raises the numbers of rows.
    fn raise(found: Fragment, largest: Global<f32, 1>, row: u32) {
        let bits = recast::<u32>(largest);
        let last = extent(largest, 0) - 1;
        for v in 0..size(found) {
            let (i, _) = coordinate(found, v);
            // A row outside gives 0 to the last one, which changes nothing: a branch for each row takes more registers.
            let number = if row + i <= last {
                max(found[v], 0.0)
            } else {
                0.0
            };
            atomic_max(bits, min(row + i, last), to_bits(number));
        }
    }
}
