//! What the warpgroups of a product share: the stages of A and B, and how many of them a tile takes.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::ring::kernels::Ring;
    use crate::parts::split::kernels::Split;

    /// The stages of a CTA's tiles of A and B, with elements of type T.
    pub struct Stages<T: Element, const CFG: Config> {
        /// The rows of A, elements along K, and stages.
        pub a: Tensor,
        /// The rows of B, elements along K, and stages.
        pub b: Tensor,
        /// Who may fill and who may read a stage.
        pub ring: Ring<{ CFG.stages }, { CFG.cluster_m }, { CFG.cluster_n }>,
        /// The CTAs that divide K.
        pub split: Split<T::Accumulator, { CFG.split }, { CFG.columns_each() }>,
        /// Whether all tiles have the same K.
        same_k: bool,
        /// If they have: the steps along K of a part, of all CTAs of a cluster together.
        each: u32,
        /// And those of this CTA.
        pub steps: u32,
    }

    impl<T: Element, const CFG: Config> Stages<T, CFG> {
        /// Stages for products of elements of A and B. If `k` is `None`, each tile has its own K; else K has so many parts.
        pub fn new<const RA: u32, const RB: u32>(
            a: TmaLoad<T, RA>,
            b: TmaLoad<_, RB>,
            k: Option<u32>,
            parts: u32,
        ) -> Self {
            let bk = CFG.bk * 8 / bits::<T>();
            let sa = shared(a, CFG.bm, bk, CFG.stages, CFG.a_mn);
            let sb = shared(b, CFG.bn, bk, CFG.stages, CFG.b_mn);
            let warps = if CFG.from_registers(bits::<T>()) {
                4
            } else {
                1
            };
            let ring = Ring::<{ CFG.stages }, { CFG.cluster_m }, { CFG.cluster_n }>::new(
                CFG.readers() * warps,
            );
            let split = Split::<T::Accumulator, { CFG.split }, { CFG.columns_each() }>::new();
            let (same_k, each, steps) = if let Some(k) = k {
                let each = ceil_div(ceil_div(k, bk), parts);
                (true, each, split.steps(each))
            } else {
                assert!(!CFG.pingpong, "tiles in turns have one K");
                (false, 0, 0)
            };
            Self {
                a: sa,
                b: sb,
                ring,
                split,
                same_k,
                each,
                steps,
            }
        }

        /// Elements along K of a stage.
        pub fn bk(&self) -> u32 {
            size(get(self.a, 1))
        }

        /// How many stages a tile takes.
        pub fn steps_of(&self, tile: _) -> u32 {
            if self.same_k {
                self.steps
            } else {
                self.split.steps(ceil_div(tile.k, self.bk()))
            }
        }

        /// Where stage number `step` of part number `part` begins along K.
        pub fn place(&self, part: u32, step: u32) -> u32 {
            (part * self.each + self.split.step(step)) * self.bk()
        }
    }

    /// Stages of `rows` × `bk` elements of a matrix, contiguous along K, or along the rows if `mn`.
    fn shared<T: Element, const R: u32>(
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
