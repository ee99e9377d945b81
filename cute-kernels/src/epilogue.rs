//! What becomes of accumulators.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::tile_scheduler::kernels::place;

    /// Stores accumulators of 64 rows, those of warpgroup number `consumer`, at (batch, row, column) of D by TMA, in pieces with rows
    /// of 128 bytes, or, if these do not divide the rows, of 64 or 32.
    pub fn store_by_tma<D: Element, const R: u32>(
        acc: Fragment,
        d: TmaStore<D, R>,
        consumer: u32,
        (batch, row, column): (u32, u32, u32),
    ) {
        let all = 2 * size(acc) * bits::<D>();
        let (swizzle, row_bits) = if all % 1024 == 0 {
            (SW128, 1024)
        } else if all % 512 == 0 {
            (SW64, 512)
        } else {
            (SW32, 256)
        };
        let columns = row_bits / bits::<D>();
        let pieces = size(acc) * 2 / columns;
        let buffers = min(pieces, 2);
        let staging = smem::<D>(tile_to_shape(
            smem_atom::<D>(K, swizzle),
            (64, columns, buffers, 2),
        ));
        for piece in 0..pieces {
            let out = staging[(_, _, piece % buffers, consumer)];
            // This buffer is free once at most one store, that of the other buffer, still reads. If the number of pieces is
            // odd, the last of a tile and the first of the next have the same buffer.
            if warpgroup_thread() == 0 {
                tma_wait_read(if piece == 0 { 1 - pieces % 2 } else { 1 });
            }
            bar_sync(consumer + 1, 128);
            copy(
                convert::<D>(local_tile(acc, (64, columns), (0, piece))),
                out,
            );
            fence_proxy_async();
            bar_sync(consumer + 1, 128);
            if warpgroup_thread() == 0 {
                tma_store(out, d, place::<R>(batch, row, column + piece * columns));
                tma_commit();
            }
        }
    }

    /// Stores those accumulators that lie inside of D, whose rows may have any stride and alignment. `row` is a multiple of 64,
    /// and `column` of the accumulators' columns.
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
