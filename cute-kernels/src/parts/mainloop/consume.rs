//! The consumers of a product: two warpgroups multiply the stages of their tiles, and hand over the sums.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::mainloop::promoted::kernels::multiply_promoted;
    use crate::parts::mainloop::registers::kernels::multiply_registers;
    use crate::parts::mainloop::shared::kernels::multiply_shared;
    use crate::parts::mainloop::stages::kernels::Stages;
    use crate::parts::mainloop::turns::kernels::Turns;
    use crate::parts::mma::kernels::TiledMma;

    /// Multiplies the stages of all `tiles`, and calls `store` with the sums of 64 rows at a time. Warpgroups 1 and 2 call this.
    pub fn consume<T: Element, const CFG: Config>(
        stages: Stages<T, CFG>,
        tiles: _,
        scale: impl Fn(Fragment, (u32, u32, u32), u32) -> (_, _),
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        let index = warpgroup() - 1;
        let (i, j) = part_of_tile::<CFG>(index);
        let (rows, columns) = (CFG.rows_each(), CFG.columns_each());
        let from_registers = CFG.from_registers(bits::<T>());
        let mma = if from_registers {
            TiledMma::<T::Accumulator, { CFG.rows_each() }, { CFG.columns_each() }>::from_registers(
                i,
            )
        } else {
            TiledMma::<T::Accumulator, { CFG.rows_each() }, { CFG.columns_each() }>::new(i)
        };
        let acc = mma.fragment_c();
        let mut consumer = stages.ring.consumer();
        let mut turn = 0;
        let turns = Turns::<{ CFG.pingpong }>::new(index);
        let mut tiles = tiles;
        turns.start(&mut tiles, &mut consumer, stages.steps);
        while let Some(tile) = tiles.next() {
            let at = (tile.batch, tile.row + i * rows, tile.column + j * columns);
            let steps = stages.steps_of(tile);
            turns.wait(turn);
            let read = if CFG.promote {
                multiply_promoted(stages, &mut consumer, mma, (acc, at), j, steps, scale);
                None
            } else if from_registers {
                Some(multiply_registers(
                    stages,
                    &mut consumer,
                    mma,
                    acc,
                    j,
                    steps,
                ))
            } else {
                Some(multiply_shared(stages, &mut consumer, mma, acc, j, steps))
            };
            turns.pass(&mut tiles, &mut consumer, steps);
            if let Some(last) = read {
                wgmma_wait(0);
                if from_registers {
                    consumer.release_by_warp(last);
                } else {
                    consumer.release(last);
                }
            }
            let (part, first) = stages.split.sum(acc, index, turn, stages.a, stages.b);
            for block in 0..rows / 64 {
                let stored = local_tile(part, (64, size(part) * 128 / rows), (block, 0));
                let at = (at.0, at.1 + block * 64, at.2 + first);
                store(stored, index, at, tile.end);
            }
            stages.split.release(index, turn);
            turn += 1;
        }
    }
    /// The numbers of the parts of the rows and of the columns of a tile that a warpgroup has.
    fn part_of_tile<const CFG: Config>(index: u32) -> (u32, u32) {
        if CFG.pingpong {
            (0, 0)
        } else if CFG.by_columns {
            (0, index)
        } else {
            (index, 0)
        }
    }
}
