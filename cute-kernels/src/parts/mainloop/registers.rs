//! Products of stages of which A goes to registers first: wgmma reads elements of 32 bits from shared memory along K alone.
//!
//! Each warp releases a stage that it loads to registers: the end of one warp's wgmma does not imply that another warp has finished its
//! loads, as the emulator found.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::mainloop::stages::kernels::Stages;
    use crate::parts::mma::kernels::TiledMma;
    use crate::parts::ring::kernels::Consumer;

    /// acc = A · Bᵀ over so many stages, of which wgmma may still read the last: its number is the result. `j` is the number of the
    /// warpgroup's part of the columns.
    ///
    /// Half of a stage goes to registers while wgmma multiplies the previous half. The assembler allows this if a wait for the batch that
    /// has read the registers comes right before.
    pub fn multiply_registers<T: Element, const CFG: Config>(
        stages: Stages<T, CFG>,
        consumer: &mut Consumer<{ CFG.stages }, { CFG.cluster_m }, { CFG.cluster_n }>,
        mma: TiledMma,
        acc: Fragment,
        j: u32,
        steps: u32,
    ) -> u32 {
        let bk = stages.bk();
        let (rows, columns) = (CFG.rows_each(), CFG.columns_each());
        let of_a = |stage, i| {
            let all = mma.partition_a(stages.a[(_, _, stage)]);
            local_tile(all, (rows, bk / 2), (0, i))
        };
        let of_b = |stage, i| {
            let all = local_tile(stages.b[(_, _, stage)], (columns, bk), (j, 0));
            local_tile(all, (columns, bk / 2), (0, i))
        };
        let (x0, x1) = (mma.fragment_a::<T>(bk / 2), mma.fragment_a::<T>(bk / 2));
        let mut previous = 0u32;
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
        previous
    }
}
