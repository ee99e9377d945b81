//! The main loop of a GEMM.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::gemm::config::kernels::Config;
    use crate::mma::kernels::TiledMma;
    use crate::pipeline::kernels::Ring;
    use crate::split::kernels::Split;
    use crate::tile_scheduler::kernels::{Tiles, place};

    /// The tiles of a batch of products.
    pub fn tiles<const CFG: Config>(batches: u32, m: u32, n: u32) -> _ {
        Tiles::<
            { CFG.bm },
            { CFG.bn },
            { CFG.group },
            { CFG.cluster_m },
            { CFG.cluster_n },
            { CFG.split },
        >::new(batches, m, n)
    }

    /// A persistent, warp-specialised product of A and B. Their tensors have two modes, or three for several matrices. The CTA
    /// computes `tiles`, an iterator of `Tile`. `store(acc, consumer, (batch, row, column), end)` gets the accumulators of
    /// warpgroup number `consumer`, 0 or 1: 64 rows of D at this place, up to row `end`. Elements of B have A's type, or another
    /// type that wgmma multiplies by it.
    ///
    /// Warpgroup 0 loads tiles of A and B by TMA into a ring of stages in shared memory, and warpgroups 1 and 2 multiply.
    pub fn multiply<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        a: TmaLoad<T, RA>,
        b: TmaLoad<_, RB>,
        tiles: _,
        k: u32,
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        multiply_scaled::<_, _, _, CFG>(a, b, tiles, k, |_, _, _| (1.0, 1.0), store);
    }

    /// The same with factors for each stage along K, if `CFG.promote`. `scale(acc, (batch, row, column), step)` gives two factors
    /// for stage number `step` and accumulators at this place of D: numbers, or fragments that fit `acc`. It is called a step
    /// ahead, so that loads have a step of time before the product needs them.
    pub fn multiply_scaled<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        a: TmaLoad<T, RA>,
        b: TmaLoad<_, RB>,
        tiles: _,
        k: u32,
        scale: impl Fn(Fragment, (u32, u32, u32), u32) -> (_, _),
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        multiply_problems::<T, RA, RB, CFG>(|_| (a, b), tiles, Some(k), 1, scale, store);
    }

    /// The same as `multiply` with K divided into `parts`: tile `i · parts + p` of a batch is part p of the product of matrix i.
    pub fn multiply_parts<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        a: TmaLoad<T, RA>,
        b: TmaLoad<_, RB>,
        tiles: _,
        k: u32,
        parts: u32,
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        let one = |_, _, _| (1.0, 1.0);
        multiply_problems::<T, RA, RB, CFG>(|_| (a, b), tiles, Some(k), parts, one, store);
    }

    /// The same for products of several matrices: `maps(batch)` gives the matrices of a tile. If `k` is `None`, each tile has its
    /// own K, `tile.k`, and there is one part.
    pub fn multiply_problems<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        maps: impl Fn(u32) -> (_, _),
        tiles: _,
        k: Option<u32>,
        parts: u32,
        scale: impl Fn(Fragment, (u32, u32, u32), u32) -> (_, _),
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        CFG.check(bits::<T>());
        let bk = CFG.bk * 8 / bits::<T>();
        let (a, b) = maps(0);
        let sa = stages(a, CFG.bm, bk, CFG.stages, CFG.a_mn);
        let sb = stages(b, CFG.bn, bk, CFG.stages, CFG.b_mn);
        // wgmma reads elements of 32 bits from shared memory along K alone. Otherwise each warp loads its operands to registers.
        let from_registers = CFG.a_mn && bits::<T>() == 32;
        let warps = if from_registers { 4 } else { 1 };
        let ring = Ring::<{ CFG.stages }, { CFG.cluster_m }, { CFG.cluster_n }>::new(
            CFG.readers() * warps,
        );
        // The rows and columns of a tile for one warpgroup.
        let (rows, columns) = (CFG.rows_each(), CFG.columns_each());
        let split = Split::<T::Accumulator, { CFG.split }, { CFG.columns_each() }>::new();
        // The steps of a part, of all CTAs of a cluster together, and those of this CTA.
        let (same_k, each, steps) = if let Some(k) = k {
            let each = ceil_div(ceil_div(k, bk), parts);
            (true, each, split.steps(each))
        } else {
            assert!(!CFG.pingpong, "tiles in turns have one K");
            (false, 0, 0)
        };
        let few = CFG.rows > 0;
        // The sums of a thread, f32 or i32: half of the columns, and as many again for promotion.
        let sums = rows / 64 * if CFG.promote { columns } else { columns / 2 };
        if thread() == 0 {
            tma_prefetch_map(a);
            tma_prefetch_map(b);
        }
        // The code above overlaps with the end of the previous grid.
        griddepcontrol_launch_dependents();
        griddepcontrol_wait();
        if warpgroup() == 0 {
            // Threads with few accumulators need only the registers that every thread starts with.
            if sums > 128 {
                setmaxnreg_dec(24);
            } else if sums > 64 {
                setmaxnreg_dec(40);
            }
            let mut producer = ring.producer();
            let mut filled = 0u32;
            let mut turn = 0;
            for tile in tiles {
                if thread() == 0 {
                    let (a, b) = maps(tile.batch);
                    let (batch, part) = (tile.batch / parts, tile.batch % parts);
                    let steps = if same_k {
                        steps
                    } else {
                        split.steps(ceil_div(tile.k, bk))
                    };
                    for step in 0..steps {
                        let at = (part * each + split.step(step)) * bk;
                        // TMA takes longer to fill rows with zeros than to load rows, so loads of few rows end with A. The rows
                        // below them in the stage are unused, but defined: the first loads are whole.
                        let rows = if few && filled >= CFG.stages {
                            min(ceil_div(tile.end - tile.row, CFG.rows) * CFG.rows, CFG.bm)
                        } else {
                            CFG.bm
                        };
                        let slot = producer.acquire(rows * CFG.bk + bytes(sb[(_, _, 0)]));
                        let (to_a, to_b) = (sa[(_, _, slot.stage)], sb[(_, _, slot.stage)]);
                        if CFG.a_mn {
                            slot.load(a, place::<RA>(batch, at, tile.row), select(to_a, 1, 0));
                        } else if few {
                            for i in 0..CFG.bm / CFG.rows {
                                if i * CFG.rows < rows {
                                    let first = place::<RA>(batch, tile.row + i * CFG.rows, at);
                                    slot.load(a, first, local_tile(to_a, (CFG.rows, bk), (i, 0)));
                                }
                            }
                        } else {
                            slot.load_for_row(a, (batch, tile.row, at), to_a);
                        }
                        if CFG.b_mn {
                            slot.load(b, place::<RB>(batch, at, tile.column), select(to_b, 1, 0));
                        } else {
                            slot.load_for_column(b, (batch, tile.column, at), to_b);
                        }
                        if few {
                            filled += 1;
                        }
                    }
                    split.pause(turn);
                    turn += 1;
                }
            }
            if CFG.cluster_m * CFG.cluster_n > 1 && thread() == 0 {
                producer.finish();
            }
        } else {
            if sums > 128 {
                setmaxnreg_inc(240);
            } else if sums > 64 {
                setmaxnreg_inc(232);
            }
            let index = warpgroup() - 1;
            let (i, j) = if CFG.pingpong {
                (0, 0)
            } else if CFG.by_columns {
                (0, index)
            } else {
                (index, 0)
            };
            let mma = if from_registers {
                TiledMma::<T::Accumulator, { CFG.rows_each() }, { CFG.columns_each() }>::from_registers(
                    i,
                )
            } else {
                TiledMma::<T::Accumulator, { CFG.rows_each() }, { CFG.columns_each() }>::new(i)
            };
            let acc = mma.fragment_c();
            // The sums of one stage for promotion, else all sums.
            let part = if CFG.promote { mma.fragment_c() } else { acc };
            let mut consumer = ring.consumer();
            let mut turn = 0;
            // A barrier for each warpgroup: the four warps of the other warpgroup arrive after their waits for the stages of a tile.
            let turns = if CFG.pingpong {
                Some(mbarriers(2, 4))
            } else {
                None
            };
            let mut tiles = tiles;
            if CFG.pingpong && index == 1 {
                tiles.next();
                consumer.skip(steps);
            }
            while let Some(tile) = tiles.next() {
                let (row, column) = (tile.row + i * rows, tile.column + j * columns);
                let at = (tile.batch, row, column);
                let steps = if same_k {
                    steps
                } else {
                    split.steps(ceil_div(tile.k, bk))
                };
                let mut previous = 0u32;
                // The factors of the next step, loaded during the step before.
                let (mut x, mut y) = if CFG.promote {
                    fill(acc, 0.0);
                    scale(acc, at, split.step(0))
                } else {
                    (1.0f32, 1.0f32)
                };
                if let Some(turns) = turns {
                    // A wait tells stages of a tile from other stages by a parity of two phases, so all stages before must be
                    // full. Warpgroup 0 has the first turn: its fresh barrier lets parity 1 pass.
                    wait(turns[index], (turn + 1 + index) % 2);
                }
                let part_of_b = |stage| local_tile(sb[(_, _, stage)], (columns, bk), (j, 0));
                if from_registers {
                    // Half of a stage goes to registers while wgmma multiplies the previous half. The assembler allows this if a
                    // wait for the batch that has read the registers comes right before.
                    let half = (rows, bk / 2);
                    let of_a =
                        |stage, i| local_tile(mma.partition_a(sa[(_, _, stage)]), half, (0, i));
                    let of_b = |stage, i| local_tile(part_of_b(stage), (columns, bk / 2), (0, i));
                    let (x0, x1) = (mma.fragment_a::<T>(bk / 2), mma.fragment_a::<T>(bk / 2));
                    let mut stage = consumer.wait();
                    copy(of_a(stage, 0), x0);
                    for step in 0..steps {
                        mma.gemm(acc, x0, of_b(stage, 0), step > 0);
                        wgmma_wait(1);
                        if step > 0 {
                            consumer.release_by_warp(previous);
                        }
                        copy(of_a(stage, 1), x1);
                        mma.gemm(acc, x1, of_b(stage, 1), true);
                        previous = stage;
                        wgmma_wait(1);
                        if step + 1 < steps {
                            stage = consumer.wait();
                            copy(of_a(stage, 0), x0);
                        }
                    }
                } else {
                    for step in 0..steps {
                        let stage = consumer.wait();
                        let a = mma.partition_a(sa[(_, _, stage)]);
                        mma.gemm(part, a, part_of_b(stage), !CFG.promote && step > 0);
                        if CFG.promote {
                            let factor = x * y;
                            (x, y) = scale(acc, at, split.step(step + 1));
                            // Products of the other warpgroup run while this one adds.
                            wgmma_wait(0);
                            consumer.release(stage);
                            copy(fma(part, factor, acc), acc);
                        } else {
                            // One batch of wgmma stays in flight. The batch before it has finished, so its stage can be released.
                            wgmma_wait(1);
                            if step > 0 {
                                consumer.release(previous);
                            }
                            previous = stage;
                        }
                    }
                }
                if let Some(turns) = turns {
                    if lane() == 0 {
                        arrive(turns[1 - index]);
                    }
                    consumer.skip(steps);
                    tiles.next();
                }
                if !CFG.promote {
                    wgmma_wait(0);
                    if from_registers {
                        consumer.release_by_warp(previous);
                    } else {
                        consumer.release(previous);
                    }
                }
                let (part, first) = split.sum(acc, index, turn, sa, sb);
                for block in 0..rows / 64 {
                    let stored = local_tile(part, (64, size(part) * 128 / rows), (block, 0));
                    let at = (tile.batch, row + block * 64, column + first);
                    store(stored, index, at, tile.end);
                }
                split.release(index, turn);
                turn += 1;
            }
        }
    }

    /// Stages of `rows` × `bk` elements of a matrix, contiguous along K, or along the rows if `mn`.
    fn stages<T: Element, const R: u32>(
        _: TmaLoad<T, R>,
        rows: u32,
        bk: u32,
        stages: u32,
        mn: bool,
    ) -> Tensor {
        if mn {
            smem::<T>(tile_to_shape(
                smem_atom::<T>(MN, SW128),
                (rows, bk, stages),
                (1, 0, 2),
            ))
        } else {
            smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (rows, bk, stages)))
        }
    }
}
