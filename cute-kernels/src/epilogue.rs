//! Epilogues: operations on the accumulators of 64 rows of a product, all at once.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::activation::kernels::{of_column, of_element, of_row};
    use crate::tile_scheduler::kernels::place;

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

    /// SwiGLU, GEGLU and the like: f(acc[i, 2j]) · acc[i, 2j + 1], with half as many columns. The rows of B are gates and gated
    /// numbers in turn, so that a thread has both. Rows are in the order of `wgmma_c`; other orders are refused.
    pub fn gated(acc: Fragment, f: impl Fn(f32) -> f32) -> Fragment {
        let ordered = fragment::<f32>(wgmma_c(2 * size(acc)));
        copy(acc, ordered);
        let acc = ordered;
        let groups = size(acc) / 4;
        let held = fragment::<f32>(layout!(((4,8,4),(2,groups)):((1@1,1@0,16@0),(8@0,4@1))));
        for v in 0..size(held) {
            held[v] = f(acc[2 * v]) * acc[2 * v + 1];
        }
        held
    }

    /// Stores accumulators of 64 rows, those of warpgroup number `consumer`, at (batch, row, column) of D by TMA, in pieces with rows
    /// of 128 bytes, or, if these do not divide the rows, of 64, 32 or 16. Rows have a multiple of 16 bytes.
    pub fn store_by_tma<D: Element, const R: u32>(
        acc: Fragment,
        d: TmaStore<D, R>,
        consumer: u32,
        at: (u32, u32, u32),
    ) {
        store_pieces_by_tma(acc, |piece, _| piece, d, consumer, at, 256);
    }

    /// The same with an epilogue for each piece. This takes fewer registers than one epilogue for all accumulators, if it reads
    /// numbers of columns. `epilogue(piece, (batch, row, column))` returns the piece to store at this place. The warpgroup has
    /// shared memory for `d_bytes` bytes of each row. If these hold a row, it is one piece; else two of the fewest equal pieces take
    /// turns in them. Large pieces take less time than small ones.
    pub fn store_pieces_by_tma<D: Element, const R: u32>(
        acc: Fragment,
        epilogue: impl Fn(Fragment, (u32, u32, u32)) -> Fragment,
        d: TmaStore<D, R>,
        consumer: u32,
        (batch, row, column): (u32, u32, u32),
        d_bytes: u32,
    ) {
        let all = 2 * size(acc) * bits::<D>();
        assert!(
            all % 128 == 0,
            "a row of accumulators has {all} bits, which is no multiple of 128"
        );
        let columns = 2 * size(acc);
        let pieces = fewest_pieces::<D>(columns / 8, d_bytes);
        let columns = columns / pieces;
        let buffers = min(pieces, 2);
        let staging = smem::<D>(rows_of_vectors::<D>(columns, buffers));
        by_turns(
            pieces,
            buffers,
            consumer,
            |piece, buffer| {
                let at = (batch, row, column + piece * columns);
                let part = epilogue(local_tile(acc, (64, columns), (0, piece)), at);
                (convert::<D>(part), staging[(_, _, buffer, consumer)])
            },
            |piece, buffer| {
                let at = place::<R>(batch, row, column + piece * columns);
                tma_store(staging[(_, _, buffer, consumer)], d, at);
            },
        );
    }

    /// The fewest equal pieces of rows of eight times `eighths` columns of which two fit `d_bytes`, or the only one does.
    fn fewest_pieces<D: Element>(eighths: u32, d_bytes: u32) -> u32 {
        let most = d_bytes / bits::<D>();
        assert!(
            most >= 2,
            "`d_bytes` is {d_bytes}, which do not hold two pieces of eight columns"
        );
        pieces_from(eighths, most, 1)
    }

    /// The same, of `pieces` or more, for up to `most` eighths.
    fn pieces_from(eighths: u32, most: u32, pieces: u32) -> u32 {
        if eighths % pieces == 0 && eighths / pieces * min(pieces, 2) <= most {
            pieces
        } else {
            pieces_from(eighths, most, pieces + 1)
        }
    }

    /// Shared memory for 64 rows of `columns` elements in some buffers of both warpgroups. Eight rows of the same 16 bytes lie in
    /// different banks: rows of an odd number of vectors of 16 bytes do by themselves, others are swizzled.
    fn rows_of_vectors<D: Element>(columns: u32, buffers: u32) -> Layout {
        let vectors = columns * bits::<D>() / 128;
        if vectors % 2 == 1 {
            let all = 64 * columns;
            layout!((64,columns,buffers,2):(columns,1,all,buffers*all))
        } else {
            let swizzle = if vectors % 8 == 0 {
                SW128
            } else if vectors % 4 == 0 {
                SW64
            } else {
                SW32
            };
            tile_to_shape(smem_atom::<D>(K, swizzle), (64, columns, buffers, 2))
        }
    }

    /// Stores the transpose of accumulators of 64 rows, those of warpgroup number `consumer`, by TMA at (batch, column, row) of D. The
    /// warpgroup has shared memory for `d_bytes` times 64 bytes.
    pub fn store_transposed_by_tma<D: Element, const R: u32>(
        acc: Fragment,
        d: TmaStore<D, R>,
        consumer: u32,
        (batch, row, column): (u32, u32, u32),
        d_bytes: u32,
    ) {
        let columns = 2 * size(acc);
        let pieces = fewest_pieces::<D>(columns / 8, d_bytes);
        let each = columns / pieces;
        let buffers = min(pieces, 2);
        let staging = smem::<D>(tile_to_shape(
            smem_atom::<D>(K, SW128),
            (each, 64, buffers, 2),
        ));
        by_turns(
            pieces,
            buffers,
            consumer,
            |piece, buffer| {
                let part = local_tile(acc, (64, each), (0, piece));
                let out = staging[(_, _, buffer, consumer)];
                (convert::<D>(part), select(out, 1, 0))
            },
            |piece, buffer| {
                let at = place::<R>(batch, column + piece * each, row);
                tma_store(staging[(_, _, buffer, consumer)], d, at);
            },
        );
    }

    /// Stores pieces by TMA through buffers in turns: `piece(piece, buffer)` returns a piece and its place in shared memory, and
    /// `store(piece, buffer)` stores it from there. Warpgroup number `consumer` calls this, with the same numbers for each tile.
    fn by_turns(
        pieces: u32,
        buffers: u32,
        consumer: u32,
        piece: impl Fn(u32, u32) -> (Fragment, Tensor),
        store: impl Fn(u32, u32),
    ) {
        for i in 0..pieces {
            // This buffer is free once no store still reads but those after the one that had it last, which for the first pieces
            // is one of the tile before.
            let after = if i < buffers {
                i + (pieces - 1 - i) % buffers
            } else {
                buffers - 1
            };
            let (part, out) = piece(i, i % buffers);
            if warpgroup_thread() == 0 {
                tma_wait_read(after);
            }
            bar_sync(consumer + 1, 128);
            copy(part, out);
            fence_proxy_async();
            bar_sync(consumer + 1, 128);
            if warpgroup_thread() == 0 {
                store(i, i % buffers);
                tma_commit();
            }
        }
    }

    /// Stores those accumulators of 64 rows, of warpgroup number `consumer`, that lie inside of d at row 0 and `column`, by
    /// vectors of 16 bytes. Rows of d begin at multiples of 16 bytes and are multiples of 16 bytes long. Pieces with rows of 128
    /// bytes go through shared memory, since a thread's accumulators are not side by side. So rows of accumulators are a multiple
    /// of 128 bytes, and `column` is one of their columns.
    pub fn store_by_vector<D: Element>(acc: Fragment, d: Global<D, 2>, consumer: u32, column: u32) {
        let (columns, v) = (1024 / bits::<D>(), 128 / bits::<D>());
        let all = 2 * size(acc);
        assert!(
            all % columns == 0,
            "a row has {all} accumulators, which is no multiple of {columns}"
        );
        let staging = smem::<D>(tile_to_shape(smem_atom::<D>(K, SW128), (64, columns, 2)));
        let out = staging[(_, _, consumer)];
        // Eight threads have a row of a piece, and all of them 16 rows.
        let (vector, rows) = (64 * v, 4);
        let held = layout!(((8,16),(v,rows)):((vector,1),(64,16)));
        let held = composition(make_identity_layout((64, columns)), held);
        for piece in 0..size(acc) * 2 / columns {
            // All threads have read the piece before.
            bar_sync(consumer + 1, 128);
            let part = local_tile(acc, (64, columns), (0, piece));
            copy(convert::<D>(part), out);
            bar_sync(consumer + 1, 128);
            let vectors = fragment::<D>(held);
            copy(out, vectors);
            let at = (0, column / columns + piece);
            copy_inside(vectors, local_tile(d, (64, columns), at));
        }
    }

    /// Stores the accumulators that lie inside of D. Rows of D may have any stride and alignment. `row` is a multiple of 64, and
    /// `column` a multiple of the accumulators' columns.
    pub fn store_by_element<D: Element, const R: u32>(
        acc: Fragment,
        d: Global<D, R>,
        (batch, row, column): (u32, u32, u32),
    ) {
        let d = if R == 2 { d } else { d[(batch, _, _)] };
        let tile = (64, size(acc) * 2);
        let at = (row / 64, column / tile.1);
        copy_inside(convert::<D>(acc), local_tile(d, tile, at));
    }
}
