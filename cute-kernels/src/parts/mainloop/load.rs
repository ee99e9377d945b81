//! The producer of a product: one thread loads tiles of A and B by TMA.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::mainloop::stages::kernels::Stages;
    use crate::parts::ring::kernels::Slot;
    use crate::parts::tiles::kernels::place;

    /// Fills the stages of all `tiles`. `maps(batch)` gives the matrices of a tile; tile `i · parts + p` of a batch is part p of the
    /// product of matrix i. All threads of a warpgroup call this.
    pub fn load<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        stages: Stages<T, CFG>,
        maps: impl Fn(u32) -> (_, _),
        tiles: _,
        parts: u32,
    ) {
        let mut producer = stages.ring.producer();
        let mut filled = 0u32;
        let mut turn = 0;
        for tile in tiles {
            if thread() == 0 {
                let (a, b) = maps(tile.batch);
                let (batch, part) = (tile.batch / parts, tile.batch % parts);
                let steps = stages.steps_of(tile);
                for step in 0..steps {
                    let at = stages.place(part, step);
                    let rows = rows_of_a::<CFG>(tile, filled);
                    let of_b = bytes(stages.b[(_, _, 0)]);
                    let slot = producer.acquire(rows * CFG.bk + of_b);
                    let (to_a, to_b) = (stages.a[(_, _, slot.stage)], stages.b[(_, _, slot.stage)]);
                    load_a::<_, RA, CFG>(slot, a, (batch, tile.row, at), to_a, rows);
                    load_b::<_, RB, CFG>(slot, b, (batch, tile.column, at), to_b);
                    if CFG.rows > 0 {
                        filled += 1;
                    }
                }
                stages.split.pause(turn);
                turn += 1;
            }
        }
        // The consumers of other CTAs arrive at barriers of this one.
        if CFG.cluster_m * CFG.cluster_n > 1 && thread() == 0 {
            producer.finish();
        }
    }

    /// The rows of A to load. TMA takes longer to fill rows with zeros than to load rows, so loads of few rows end with A. The rows below
    /// them in the stage are unused, but defined: the first loads are whole.
    fn rows_of_a<const CFG: Config>(tile: _, filled: u32) -> u32 {
        if CFG.rows > 0 && filled >= CFG.stages {
            min(ceil_div(tile.end - tile.row, CFG.rows) * CFG.rows, CFG.bm)
        } else {
            CFG.bm
        }
    }

    /// Loads `rows` rows of A at (batch, row, k), as they lie.
    fn load_a<T: Element, const R: u32, const CFG: Config>(
        slot: Slot<{ CFG.cluster_m }, { CFG.cluster_n }>,
        a: TmaLoad<T, R>,
        (batch, row, k): (u32, u32, u32),
        to: Tensor,
        rows: u32,
    ) {
        if CFG.a_mn {
            slot.load(a, place::<R>(batch, k, row), select(to, 1, 0));
        } else if CFG.rows > 0 {
            for i in 0..CFG.bm / CFG.rows {
                if i * CFG.rows < rows {
                    let part = local_tile(to, (CFG.rows, size(get(to, 1))), (i, 0));
                    slot.load(a, place::<R>(batch, row + i * CFG.rows, k), part);
                }
            }
        } else {
            slot.load_for_row(a, (batch, row, k), to);
        }
    }

    /// Loads the rows of B at (batch, column, k), as they lie.
    fn load_b<T: Element, const R: u32, const CFG: Config>(
        slot: Slot<{ CFG.cluster_m }, { CFG.cluster_n }>,
        b: TmaLoad<T, R>,
        (batch, column, k): (u32, u32, u32),
        to: Tensor,
    ) {
        if CFG.b_mn {
            slot.load(b, place::<R>(batch, k, column), select(to, 1, 0));
        } else {
            slot.load_for_column(b, (batch, column, k), to);
        }
    }
}
