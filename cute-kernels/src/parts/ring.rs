//! Rings of stages in shared memory: one thread fills them by TMA, and warpgroups empty them.
//!
//! An arrival at another CTA's barrier releases no stores. `mbarrier.arrive.release.cluster` waits for all memory accesses of the thread,
//! and costs a third of a GEMM's speed on an H100. A consumer only has to signal that it has read a stage, and the reads are complete
//! after wgmma's wait and the loads. Waits acquire at cluster scope, at no cost.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::tiles::kernels::place;

    /// A ring of STAGES stages in each CTA of a cluster of CM × CN, where CTA r is number r % CM of column r / CM. Barrier `full[i]`
    /// counts the bytes that arrive in stage i. Barrier `empty[i]` counts the consumers, warpgroups or warps, that have read it, of
    /// all CTAs of the same row and column: a producer loads for those.
    pub struct Ring<const STAGES: u32, const CM: u32, const CN: u32> {
        full: Barriers,
        empty: Barriers,
    }

    impl<const STAGES: u32, const CM: u32, const CN: u32> Ring<STAGES, CM, CN> {
        /// A ring that `consumers` of each CTA read.
        pub fn new(consumers: u32) -> Self {
            Self {
                full: mbarriers(STAGES, 1),
                empty: mbarriers(STAGES, consumers * (CM + CN - 1)),
            }
        }

        /// The side that fills the stages. One thread of the CTA may have it.
        pub fn producer(&self) -> Producer<STAGES, CM, CN> {
            // All stages are empty at first: a wait for parity 1 of a fresh barrier passes at once.
            Producer {
                full: self.full,
                empty: self.empty,
                at: Position { stage: 0, phase: 1 },
            }
        }

        /// The side that reads the stages.
        pub fn consumer(&self) -> Consumer<STAGES, CM, CN> {
            Consumer {
                full: self.full,
                empty: self.empty,
                at: Position { stage: 0, phase: 0 },
            }
        }
    }

    /// A stage, and the parity of the phase of its barriers.
    struct Position<const STAGES: u32> {
        stage: u32,
        phase: u32,
    }

    impl<const STAGES: u32> Position<STAGES> {
        /// Moves on to the next stage. The parity flips each time the ring starts again.
        fn advance(&mut self) {
            self.stage += 1;
            if self.stage == STAGES {
                self.stage = 0;
                self.phase ^= 1;
            }
        }
    }

    /// The side of a ring that fills its stages.
    pub struct Producer<const STAGES: u32, const CM: u32, const CN: u32> {
        full: Barriers,
        empty: Barriers,
        at: Position<STAGES>,
    }

    impl<const STAGES: u32, const CM: u32, const CN: u32> Producer<STAGES, CM, CN> {
        /// Waits until the next stage is empty. The caller then loads `bytes` bytes into it.
        pub fn acquire(&mut self, bytes: u32) -> Slot<CM, CN> {
            let stage = self.at.stage;
            wait(self.empty[stage], self.at.phase);
            expect_tx(self.full[stage], bytes);
            self.at.advance();
            Slot {
                stage,
                full: self.full[stage],
            }
        }

        /// Waits until all stages are empty. A CTA of a cluster must not end before that: the consumers of other CTAs arrive at its
        /// barriers.
        pub fn finish(&mut self) {
            for _ in 0..STAGES {
                wait(self.empty[self.at.stage], self.at.phase);
                self.at.advance();
            }
        }

        /// Waits until the next stage is empty, and loads the tile of `from` at a coordinate into this stage of `to`, whose
        /// last mode counts stages.
        pub fn load<T: Element, const R: u32>(&mut self, from: TmaLoad<T, R>, at: _, to: Tensor) {
            let slot = self.acquire(bytes(to[(_, _, 0)]));
            slot.load(from, at, to[(_, _, slot.stage)]);
        }
    }

    /// A stage that is being filled.
    pub struct Slot<const CM: u32, const CN: u32> {
        /// The index of the stage in the ring.
        pub stage: u32,
        full: Barrier,
    }

    impl<const CM: u32, const CN: u32> Slot<CM, CN> {
        /// Loads the tile of `from` at a coordinate, such as (row, column), into `to`.
        pub fn load<T: Element, const R: u32>(&self, from: TmaLoad<T, R>, at: _, to: Tensor) {
            tma_load(from, at, to, self.full);
        }

        /// Like `load`, at (batch, row, column), for the CTAs side by side in the cluster, which all load the same tile: each loads a
        /// part of the rows for all of them.
        pub fn load_for_row<T: Element, const R: u32>(
            &self,
            from: TmaLoad<T, R>,
            at: (u32, u32, u32),
            to: Tensor,
        ) {
            if CN == 1 {
                self.load_part::<_, _, 1>(from, at, to, 0, 0);
            } else {
                let rank = cluster_ctarank();
                // CTAs r, r + CM, …
                let first = ((1 << (CM * CN)) - 1) / ((1 << CM) - 1);
                self.load_part::<_, _, CN>(from, at, to, rank / CM, first << (rank % CM));
            }
        }

        /// The same for the CTAs below one another.
        pub fn load_for_column<T: Element, const R: u32>(
            &self,
            from: TmaLoad<T, R>,
            at: (u32, u32, u32),
            to: Tensor,
        ) {
            if CM == 1 {
                self.load_part::<_, _, 1>(from, at, to, 0, 0);
            } else {
                let rank = cluster_ctarank();
                let first = (1 << CM) - 1;
                self.load_part::<_, _, CM>(from, at, to, rank % CM, first << (rank / CM * CM));
            }
        }

        /// Loads part number `part` of PARTS of a tile to the same place in all CTAs of a mask.
        fn load_part<T: Element, const R: u32, const PARTS: u32>(
            &self,
            from: TmaLoad<T, R>,
            (batch, row, column): (u32, u32, u32),
            to: Tensor,
            part: u32,
            ctas: u32,
        ) {
            if PARTS == 1 {
                tma_load(from, place::<R>(batch, row, column), to, self.full);
            } else {
                let (rows, columns) = (size(get(to, 0)) / PARTS, size(get(to, 1)));
                let tile = local_tile(to, (rows, columns), (part, 0));
                let at = place::<R>(batch, row + part * rows, column);
                tma_load(from, at, tile, self.full, ctas);
            }
        }
    }

    /// The side of a ring that reads its stages.
    pub struct Consumer<const STAGES: u32, const CM: u32, const CN: u32> {
        full: Barriers,
        empty: Barriers,
        at: Position<STAGES>,
    }

    impl<const STAGES: u32, const CM: u32, const CN: u32> Consumer<STAGES, CM, CN> {
        /// Waits until the next stage is full, and gives its index.
        pub fn wait(&mut self) -> u32 {
            let stage = self.at.stage;
            wait(self.full[stage], self.at.phase);
            self.at.advance();
            stage
        }

        /// Skips so many stages, which other consumers read.
        pub fn skip(&mut self, stages: u32) {
            let stage = self.at.stage + stages;
            self.at.stage = stage % STAGES;
            self.at.phase ^= stage / STAGES % 2;
        }

        /// Tells the producer of each CTA of the cluster that this warpgroup has read a stage. All its threads call this.
        pub fn release(&self, stage: u32) {
            self.release_by(warpgroup_thread(), stage);
        }

        /// The same for a ring whose consumers are warps.
        pub fn release_by_warp(&self, stage: u32) {
            self.release_by(lane(), stage);
        }

        /// Arrives at the barrier of CTA number `thread`, if it loads for this CTA.
        fn release_by(&self, thread: u32, stage: u32) {
            if CM * CN == 1 {
                if thread == 0 {
                    arrive(self.empty[stage]);
                }
            } else if thread < CM * CN {
                let rank = cluster_ctarank();
                if CN == 1 || CM == 1 || thread % CM == rank % CM || thread / CM == rank / CM {
                    arrive_at(self.empty[stage], thread);
                }
            }
        }
    }
}
