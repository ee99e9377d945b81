//! Warpgroups that multiply in turns: while one stores its tile, the other multiplies the next.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::ring::kernels::Consumer;

    /// The turns of two warpgroups, if PINGPONG. Otherwise both have every tile, and no function here does anything.
    pub struct Turns<const PINGPONG: bool> {
        /// A barrier for each warpgroup: the four warps of the other arrive after their waits for the stages of a tile.
        barriers: Option<Barriers>,
        /// The number of this warpgroup.
        index: u32,
    }

    impl<const PINGPONG: bool> Turns<PINGPONG> {
        /// The turns of warpgroup number `index`, 0 or 1.
        pub fn new(index: u32) -> Self {
            let barriers = if PINGPONG {
                Some(mbarriers(2, 4))
            } else {
                None
            };
            Self { barriers, index }
        }

        /// Leaves the first tile, with so many stages, to warpgroup 0.
        pub fn start<const S: u32, const CM: u32, const CN: u32>(
            &self,
            tiles: &mut _,
            consumer: &mut Consumer<S, CM, CN>,
            steps: u32,
        ) {
            if PINGPONG && self.index == 1 {
                tiles.next();
                consumer.skip(steps);
            }
        }

        /// Waits for this warpgroup's turn. `turn` counts its tiles before.
        pub fn wait(&self, turn: u32) {
            if let Some(barriers) = self.barriers {
                // A wait tells stages of a tile from other stages by a parity of two phases, so all stages before must be full.
                // Warpgroup 0 has the first turn: its fresh barrier lets parity 1 pass.
                wait(barriers[self.index], (turn + 1 + self.index) % 2);
            }
        }

        /// Gives the turn to the other warpgroup, after the last wait for a stage, and leaves it the next tile.
        pub fn pass<const S: u32, const CM: u32, const CN: u32>(
            &self,
            tiles: &mut _,
            consumer: &mut Consumer<S, CM, CN>,
            steps: u32,
        ) {
            if let Some(barriers) = self.barriers {
                if lane() == 0 {
                    arrive(barriers[1 - self.index]);
                }
                consumer.skip(steps);
                tiles.next();
            }
        }
    }
}
