//! Products of stages that wgmma reads from shared memory.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::mainloop::stages::kernels::Stages;
    use crate::parts::mma::kernels::TiledMma;
    use crate::parts::ring::kernels::Consumer;

    /// acc = A · Bᵀ over so many stages, of which wgmma may still read the last: its number is the result. `j` is the number of the
    /// warpgroup's part of the columns.
    pub fn multiply_shared<T: Element, const CFG: Config>(
        stages: Stages<T, CFG>,
        consumer: &mut Consumer<{ CFG.stages }, { CFG.cluster_m }, { CFG.cluster_n }>,
        mma: TiledMma,
        acc: Fragment,
        j: u32,
        steps: u32,
    ) -> u32 {
        let of_b = (CFG.columns_each(), stages.bk());
        let mut previous = 0u32;
        for step in 0..steps {
            let stage = consumer.wait();
            let a = mma.partition_a(stages.a[(_, _, stage)]);
            let b = local_tile(stages.b[(_, _, stage)], of_b, (j, 0));
            mma.gemm(acc, a, b, step > 0);
            // One batch of wgmma stays in flight. The batch before it has finished, so its stage can be released.
            wgmma_wait(1);
            if step > 0 {
                consumer.release(previous);
            }
            previous = stage;
        }
        previous
    }
}
