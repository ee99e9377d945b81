//! Products of stages that have factors of their own: the sums of each stage are multiplied and added to a second set of sums, in f32.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::mainloop::stages::kernels::Stages;
    use crate::parts::mma::kernels::TiledMma;
    use crate::parts::ring::kernels::Consumer;

    /// acc = Σ x · y · (A · Bᵀ of a stage) over so many stages, with the factors (x, y) = `scale(acc, at, step)`. They are loaded a step
    /// ahead. `j` is the number of the warpgroup's part of the columns.
    pub fn multiply_promoted<T: Element, const CFG: Config>(
        stages: Stages<T, CFG>,
        consumer: &mut Consumer<{ CFG.stages }, { CFG.cluster_m }, { CFG.cluster_n }>,
        mma: TiledMma,
        (acc, at): (Fragment, (u32, u32, u32)),
        j: u32,
        steps: u32,
        scale: impl Fn(Fragment, (u32, u32, u32), u32) -> (_, _),
    ) {
        let of_b = (CFG.columns_each(), stages.bk());
        let part = mma.fragment_c();
        fill(acc, 0.0);
        let (mut x, mut y) = scale(acc, at, stages.split.step(0));
        for step in 0..steps {
            let stage = consumer.wait();
            let a = mma.partition_a(stages.a[(_, _, stage)]);
            let b = local_tile(stages.b[(_, _, stage)], of_b, (j, 0));
            mma.gemm(part, a, b, false);
            let factor = x * y;
            (x, y) = scale(acc, at, stages.split.step(step + 1));
            // Products of the other warpgroup run while this one adds.
            wgmma_wait(0);
            consumer.release(stage);
            copy(fma(part, factor, acc), acc);
        }
    }
}
