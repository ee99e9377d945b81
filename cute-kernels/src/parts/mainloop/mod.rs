//! The main loop of a product: a producer that fills stages of A and B, and two consumers that multiply them.
//!
//! The main loop is a producer and two consumers, and the ways to multiply a stage are files beside them: from shared memory, from
//! registers, with factors. `Config` chooses one; none of them asks which it is.

pub mod consume;
pub mod load;
pub mod promoted;
pub mod registers;
pub mod shared;
pub mod stages;
pub mod turns;

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::mainloop::consume::kernels::consume;
    use crate::parts::mainloop::load::kernels::load;
    use crate::parts::mainloop::stages::kernels::Stages;
    use crate::parts::tiles::kernels::Tiles;

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
        multiply_problems::<T, RA, RB, CFG>(|_| (a, b), tiles, Some(k), 1, 0, scale, store);
    }

    /// The same as `multiply` for a `store` in which a thread holds so many numbers at a time beside its sums.
    pub fn multiply_held<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        a: TmaLoad<T, RA>,
        b: TmaLoad<_, RB>,
        tiles: _,
        k: u32,
        held: u32,
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        let one = |_, _, _| (1.0, 1.0);
        multiply_problems::<T, RA, RB, CFG>(|_| (a, b), tiles, Some(k), 1, held, one, store);
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
        multiply_problems::<T, RA, RB, CFG>(|_| (a, b), tiles, Some(k), parts, 0, one, store);
    }

    /// The same for products of several matrices: `maps(batch)` gives the matrices of a tile. If `k` is `None`, each tile has its
    /// own K, `tile.k`, and there is one part. A thread holds the numbers of `held` at a time beside its sums.
    pub fn multiply_problems<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        maps: impl Fn(u32) -> (_, _),
        tiles: _,
        k: Option<u32>,
        parts: u32,
        held: u32,
        scale: impl Fn(Fragment, (u32, u32, u32), u32) -> (_, _),
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        CFG.check(bits::<T>());
        let (a, b) = maps(0);
        let stages = Stages::<T, CFG>::new(a, b, k, parts);
        if thread() == 0 {
            tma_prefetch_map(a);
            tma_prefetch_map(b);
        }
        // The code above overlaps with the end of the previous grid.
        griddepcontrol_launch_dependents();
        griddepcontrol_wait();
        // Threads with few numbers need only the registers that every thread starts with.
        let numbers = CFG.sums() + held;
        if warpgroup() == 0 {
            if numbers > 128 {
                setmaxnreg_dec(24);
            } else if numbers > 64 {
                setmaxnreg_dec(40);
            }
            load::<T, RA, RB, CFG>(stages, maps, tiles, parts);
        } else {
            if numbers > 128 {
                setmaxnreg_inc(240);
            } else if numbers > 64 {
                setmaxnreg_inc(232);
            }
            consume::<T, CFG>(stages, tiles, scale, store);
        }
    }
}
