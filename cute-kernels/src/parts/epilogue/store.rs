//! Stores of the accumulators of 64 rows of a product, all at once.
//!
//! How D is stored is a constant of an instance, so a kernel for rows that begin anywhere is no second function: a parameter `Store<D, 3,
//! { !CFG.by_element }>` is a `TmaStore` or a `Global`.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::tiles::kernels::place;

    /// Stores accumulators of 64 rows, those of warpgroup number `consumer`, at (batch, row, column) of the product as `CFG` says: by TMA,
    /// their transpose if `swapped`, or element by element. `epilogue(piece, (batch, row, column), first)` returns what is
    /// stored of a piece at this place, which begins at column `first` of the accumulators.
    pub fn store_tile<D: Element, const R: u32, const TMA: bool, const CFG: Config>(
        acc: Fragment,
        epilogue: impl Fn(Fragment, (u32, u32, u32), u32) -> Fragment,
        d: Store<D, R, TMA>,
        consumer: u32,
        at: (u32, u32, u32),
    ) {
        if CFG.by_element {
            let columns = 2 * size(acc) / fewest_pieces::<D>(size(acc) / 4, CFG.d_bytes);
            for piece in 0..2 * size(acc) / columns {
                let first = piece * columns;
                let at = (at.0, at.1, at.2 + first);
                let part = local_tile(acc, (64, columns), (0, piece));
                store_by_element(epilogue(part, at, first), d, at);
            }
        } else if CFG.swapped {
            store_transposed_by_tma(acc, epilogue, d, consumer, at, CFG.d_bytes);
        } else {
            store_pieces_by_tma(acc, epilogue, d, consumer, at, CFG.d_bytes);
        }
    }

    /// The same for D of which tiles begin at any row and end at row `end`, by threads: by vectors of 16 bytes, or element by element.
    pub fn store_rows<D: Element, const CFG: Config>(
        acc: Fragment,
        d: Global<D, 2>,
        consumer: u32,
        (row, column): (u32, u32),
        end: u32,
    ) {
        if CFG.by_element {
            store_by_element(acc, d[(row..end, _)], (0, 0, column));
        } else {
            store_by_vector(acc, d[(row..end, _)], consumer, column);
        }
    }

    /// Waits for what `store_tile` has begun. A CTA must not end while TMA still reads its shared memory.
    pub fn finish_stores<const CFG: Config>() {
        if !CFG.by_element {
            tma_wait_read(0);
        }
    }

    /// Stores accumulators of 64 rows, those of warpgroup number `consumer`, at (batch, row, column) of D by TMA, in pieces with rows
    /// of 128 bytes, or, if these do not divide the rows, of 64, 32 or 16. Rows have a multiple of 16 bytes.
    pub fn store_by_tma<D: Element, const R: u32>(
        acc: Fragment,
        d: TmaStore<D, R>,
        consumer: u32,
        at: (u32, u32, u32),
    ) {
        store_pieces_by_tma(acc, |piece, _, _| piece, d, consumer, at, 256);
    }

    /// The same with an epilogue for each piece. This takes fewer registers than one epilogue for all accumulators, if it reads
    /// numbers of columns. `epilogue(piece, (batch, row, column), first)` returns the piece to store at this place, which begins at
    /// column `first` of the accumulators. The warpgroup has shared memory for `d_bytes` bytes of each row. If these hold a row, it is one piece; else two of the fewest equal pieces take
    /// turns in them. Large pieces take less time than small ones.
    pub fn store_pieces_by_tma<D: Element, const R: u32>(
        acc: Fragment,
        epilogue: impl Fn(Fragment, (u32, u32, u32), u32) -> Fragment,
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
                let (first, part) = (piece * columns, local_tile(acc, (64, columns), (0, piece)));
                let part = epilogue(part, (batch, row, column + first), first);
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
        if eighths <= most {
            1
        } else {
            divisor_from(eighths, ceil_div(2 * eighths, most))
        }
    }

    /// The least divisor of a number that is `least` or more.
    fn divisor_from(number: u32, least: u32) -> u32 {
        if number % least == 0 {
            least
        } else {
            divisor_from(number, least + 1)
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
    /// warpgroup has shared memory for `d_bytes` times 64 bytes. `epilogue(piece, (batch, row, column), first)` returns what is
    /// stored of a piece at this place, which begins at column `first` of the accumulators.
    pub fn store_transposed_by_tma<D: Element, const R: u32>(
        acc: Fragment,
        epilogue: impl Fn(Fragment, (u32, u32, u32), u32) -> Fragment,
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
                let (first, part) = (piece * each, local_tile(acc, (64, each), (0, piece)));
                let part = epilogue(part, (batch, row, column + first), first);
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
        let first = named_barriers(2);
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
            bar_sync(first + consumer, 128);
            copy(part, out);
            fence_proxy_async();
            bar_sync(first + consumer, 128);
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
        let first = named_barriers(2);
        for piece in 0..size(acc) * 2 / columns {
            // All threads have read the piece before.
            bar_sync(first + consumer, 128);
            let part = local_tile(acc, (64, columns), (0, piece));
            copy(convert::<D>(part), out);
            bar_sync(first + consumer, 128);
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
