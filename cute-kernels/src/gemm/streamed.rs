//! Products of few rows. The load of the larger matrix from memory determines their time.
//!
//! Products of few rows have a kernel without tiles: a ring loads only while a stage is free, and large tiles leave multiprocessors
//! without a tile. Operands of `mma` may have K in any order, so a thread loads vectors of 16 bytes and uses each word as an element of
//! another operand. The matrix of many rows is the operand with 16 rows, so A and B are exchanged if B has few rows. D has a fourth mode
//! of one element, so its strides are free.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};
use kernels::{
    ANY_8, ANY_16, FP8_8, FP8_16, ROWS_8, ROWS_16, Streamed, WARPS, gemm_streamed_CFG as Config,
};

use crate::Error;
use crate::product::model::{Product, is_fp8};
use crate::product::operands::Form;

/// Factors of the time of a part of K of 8-bit floating-point numbers, for up to 8 rows and for more: Hopper's `mma` of warps does not
/// take them, so they become `f16` first.
const OF_FP8: [f64; 2] = [1.92, 1.515];

/// The most rows of the smaller matrix.
pub(super) const MOST_ROWS: u32 = ROWS_16.rows;
/// The most CTAs of a launch.
const MOST_CTAS: u64 = i32::MAX as u64;

/// The CTAs of a product in which A or B has few rows. This matrix is the kernel's A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    config: Config,
    /// The sizes of `config`.
    sizes: Streamed,
    /// How many CTAs there are.
    pub(super) ctas: u64,
}

impl Stream {
    /// The CTAs of A · Bᵀ with these batches, M, N and K, where M or N is at most [`MOST_ROWS`]. `whole_vectors`: all rows of A
    /// and B begin at multiples of 16 bytes and are multiples of 16 bytes long. `fp8`: their elements are floating-point numbers of 8
    /// bits.
    fn new([batches, m, n, _]: [u32; 4], whole_vectors: bool, fp8: bool) -> Self {
        let (few, many) = (m.min(n), m.max(n));
        let (config, sizes) = match (whole_vectors, fp8, few <= ROWS_8.rows) {
            (true, false, true) => (Config::ROWS_8, ROWS_8),
            (true, false, false) => (Config::ROWS_16, ROWS_16),
            (true, true, true) => (Config::FP8_8, FP8_8),
            (true, true, false) => (Config::FP8_16, FP8_16),
            (false, _, true) => (Config::ANY_8, ANY_8),
            (false, _, false) => (Config::ANY_16, ANY_16),
        };
        let ctas = u64::from(batches) * u64::from(many.div_ceil(sizes.columns));
        Self {
            config,
            sizes,
            ctas,
        }
    }

    /// The same for matrices of elements of type T, if A or B has few enough rows, and both are read along K.
    pub(super) fn of_form<T: Element>(form: &Form) -> Option<Self> {
        let [_, m, n, _] = form.extents;
        let possible = m.min(n) <= MOST_ROWS && form.reads_mn() == [false; 2];
        possible.then(|| Self::new(form.extents, form.whole_vectors, is_fp8::<T>()))
    }

    /// The same for a product.
    pub(super) fn of(product: &Product) -> Self {
        Self::new(product.extents, product.whole_vectors, product.fp8)
    }

    /// The expected microseconds.
    pub(super) fn time(&self, product: &Product) -> f64 {
        let chip = &product.gpu.chip;
        let [start, few, many, cta] = chip.streamed;
        let has_many = self.sizes.rows > ROWS_8.rows;
        let part = if has_many { many } else { few };
        let slower = match product.fp8 {
            true => OF_FP8[usize::from(has_many)],
            false => 1.0,
        };
        // A CTA starts when another ends, so this is an average.
        let at_once = f64::from(self.sizes.resident * product.gpu.multiprocessors);
        let waves = (self.ctas as f64 / at_once).max(1.0);
        let bytes = f64::from(product.extents[3]) * product.bytes.0 as f64;
        let parts = (bytes / f64::from(64 * self.sizes.vectors * WARPS)).ceil();
        let memory = product.memory() / chip.streamed_memory;
        start + memory + waves * (cta + parts * part * slower)
    }

    /// Whether there is an instance for these types.
    pub(super) fn has_instance<A, B, D>(&self) -> bool
    where
        A: kernels::gemm_streamed_types<B, D>,
        B: Element,
        D: Element,
    {
        A::INSTANCES.contains(&self.config)
    }

    /// Computes D = A · Bᵀ for batches of matrices. A and B are contiguous along K; D has any strides.
    ///
    /// # Errors
    ///
    /// If there are more CTAs than a grid can have, or the launch is refused. Nothing has been launched then.
    pub(super) fn launch<A, B, D>(
        self,
        device: &Device,
        a: &TensorView<'_, A, 3>,
        b: &TensorView<'_, B, 3>,
        d: TensorViewMut<'_, D, 3>,
    ) -> Result<(), Error>
    where
        A: kernels::gemm_streamed_types<B, D>,
        B: kernels::gemm_streamed_types<A, D>,
        D: Element,
    {
        if self.ctas > MOST_CTAS {
            return Err(Error::GemmTiles {
                tiles: self.ctas,
                limit: MOST_CTAS,
            });
        }
        let (config, grid) = (self.config, self.ctas as u32);
        // The last mode of a tensor must be contiguous. A mode of extent 1 always is.
        let d = d.prepend::<4>()?;
        if a.shape()[1] <= b.shape()[1] {
            let mut d = d.select([1, 2, 3, 0])?;
            kernels::gemm_streamed::launch(config, device, grid, a, b, &mut d)?;
        } else {
            let mut d = d.select([1, 3, 2, 0])?;
            kernels::gemm_streamed::launch(config, device, grid, b, a, &mut d)?;
        }
        Ok(())
    }
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// Warps of a CTA. Each multiplies every `WARPS`-th part of K.
    pub const WARPS: u32 = 8;

    /// Sizes of a product of few rows.
    pub struct Streamed {
        /// Rows of A: 8, or 16.
        pub rows: u32,
        /// Rows of B, and columns of D, of a CTA: a multiple of 16.
        pub columns: u32,
        /// Vectors of 16 bytes that a thread loads of a row before the first is multiplied.
        pub vectors: u32,
        /// Alignment of addresses and lengths of rows, in bytes: 16, or 1 if rows begin anywhere.
        pub unit: u32,
        /// Whether a thread loads the vectors of the next part of K before it multiplies those of this one.
        pub ahead: bool,
        /// Resident CTAs of a multiprocessor. At 4 TB/s, each of 132 multiprocessors receives 30 KiB in a microsecond.
        pub resident: u32,
    }

    /// Up to 8 rows. A thread has 8 vectors of B in flight while it multiplies 8 others: 64 KiB for a multiprocessor.
    pub const ROWS_8: Streamed = Streamed {
        rows: 8,
        columns: 16,
        vectors: 4,
        unit: 16,
        ahead: true,
        resident: 2,
    };

    /// Up to 16 rows. Twice as many rows of B share the loads of A. A multiprocessor has 64 KiB of B in flight.
    pub const ROWS_16: Streamed = Streamed {
        rows: 16,
        columns: 32,
        vectors: 2,
        ..ROWS_8
    };

    /// Up to 8 rows of floating-point numbers of 8 bits. The assembler converts these for `mma`, which leaves no registers for the next part.
    pub const FP8_8: Streamed = Streamed {
        ahead: false,
        resident: 3,
        ..ROWS_8
    };

    /// Up to 16 rows of these.
    pub const FP8_16: Streamed = Streamed {
        ahead: false,
        ..ROWS_16
    };

    /// As `ROWS_8`, but rows begin anywhere. Of each vector two are loaded, and of eight rows at a time. There are no registers for the next
    /// part.
    pub const ANY_8: Streamed = Streamed {
        unit: 1,
        ahead: false,
        ..ROWS_8
    };

    /// Up to 16 rows that begin anywhere.
    pub const ANY_16: Streamed = Streamed { rows: 16, ..ANY_8 };

    impl Streamed {
        /// The length of a row is a multiple of so many elements, if an element has so many bits.
        pub fn multiple(self, bits: u32) -> u32 {
            max(self.unit * 8 / bits, 1)
        }

        /// Elements along K that a warp multiplies at a time, if an element has so many bits.
        fn k(self, bits: u32) -> u32 {
            self.vectors * 512 / bits
        }

        /// A tile of `rows` rows, with its elements along K in the order of the instructions. Four threads load 64 bytes of a row,
        /// one vector of 16 bytes each. The words of a vector are the halves of the thread's operand of one instruction, then of
        /// the next. Elements may have any order in the operands, as long as A and B agree.
        fn order(self, rows: u32, bits: u32) -> _ {
            let (word, vectors) = (32 / bits, self.vectors);
            let (pair, vector, line) = (2 * word, 4 * word, 16 * word);
            let k = layout!((word,4,2,2,vectors):(1,vector,word,pair,line));
            (layout!(rows), k)
        }

        /// The layout from (thread, value) to coordinates (row, k) of `rows` rows, as operands of `height` rows. A thread's values
        /// run over a word, the second eight rows, the second half of K, and the operands along K and along the rows.
        fn held(self, rows: u32, height: u32, bits: u32) -> Layout {
            let (word, steps) = (32 / bits, 2 * self.vectors);
            let (eights, operands) = (height / 8, rows / height);
            let (thread, half, step) = (rows * word, rows * word * 4, rows * word * 8);
            let held = layout!(((4,8),(word,eights,2,steps,operands)):((thread,1),(rows,8,half,step,height)));
            composition(make_identity_layout((rows, self.k(bits))), held)
        }

        /// Loads part number `step` along K of the rows of tile number `tile`. Elements outside of the matrix become 0.
        fn load<T: Element>(
            self,
            x: Global<T, 2>,
            rows: u32,
            (tile, step): (u32, u32),
            to: Fragment,
            hint: _,
        ) {
            let k = self.k(bits::<T>());
            let zero = if bits::<T>() == 8 { 0 } else { 0.0 };
            if self.unit == 16 {
                let from = local_tile(x, (rows, k), (tile, step));
                copy_or(
                    composition(from, self.order(rows, bits::<T>())),
                    to,
                    zero,
                    hint,
                );
            } else {
                // Each row begins at a place of its own between two multiples of 16 bytes, and a copy is of one row for each thread.
                for i in 0..rows / 8 {
                    let from = local_tile(x, (8, k), (tile * (rows / 8) + i, 0));
                    let from = composition(
                        domain_offset((0, step * k), from),
                        self.order(8, bits::<T>()),
                    );
                    copy_or(from, local_tile(to, (8, k), (i, 0)), zero, hint);
                }
            }
        }
    }

    /// The products of a batch of matrices, where A has up to `CFG.rows` rows. A CTA computes `CFG.columns` columns of D, and its
    /// warps divide K. Elements of B go from memory directly to registers, so that as many bytes are in flight as registers hold,
    /// from start to end. D has any strides: its last mode has one element.
    #[kernel(threads = 32 * WARPS, resident = CFG.resident)]
    #[instances(
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
            #[cfg(feature = "f32")] (tf32, tf32, f32),
            #[cfg(feature = "f8-i8")] (i8, i8, i32),
            #[cfg(feature = "mixed")] (i8, u8, i32),
            #[cfg(feature = "mixed")] (u8, i8, i32),
            #[cfg(feature = "mixed")] (u8, u8, i32),
        ],
        CFG in [ROWS_8, ROWS_16, ANY_8, ANY_16],
    )]
    #[instances(
        (A, B, D) in [
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, f32),
            #[cfg(feature = "mixed")] (e4m3, e5m2, bf16),
            #[cfg(feature = "mixed")] (e4m3, e5m2, f32),
            #[cfg(feature = "mixed")] (e5m2, e4m3, bf16),
            #[cfg(feature = "mixed")] (e5m2, e4m3, f32),
            #[cfg(feature = "mixed")] (e5m2, e5m2, bf16),
            #[cfg(feature = "mixed")] (e5m2, e5m2, f32),
        ],
        CFG in [FP8_8, FP8_16, ANY_8, ANY_16],
    )]
    pub fn gemm_streamed<A: Element, B: Element, D: Element, const CFG: Streamed>(
        #[facts(aligned(a, CFG.unit), extent(a, 1) <= CFG.rows, extent(a, 2) % CFG.multiple(bits::<A>()) == 0)]
        a: Global<A, 3>,
        #[facts(aligned(b, CFG.unit), extent(b, 0) == extent(a, 0), extent(b, 2) == extent(a, 2))]
        b: Global<B, 3>,
        #[facts(extent(d, 0) == extent(a, 0), extent(d, 1) == extent(a, 1), extent(d, 2) == extent(b, 1))]
        d: Global<D, 4>,
    ) {
        let (rows, columns) = (CFG.rows, CFG.columns);
        // In an instruction, B is the operand of 16 rows and A the operand of 8.
        let x = fragment::<B>(CFG.held(columns, 16, bits::<B>()));
        let y = fragment::<A>(CFG.held(rows, 8, bits::<A>()));
        let next_x = fragment::<B>(CFG.held(columns, 16, bits::<B>()));
        let next_y = fragment::<A>(CFG.held(rows, 8, bits::<A>()));
        let (tall, wide, pair, eight) = (columns / 16, rows / 8, 2 * columns, 8 * columns);
        let held = layout!(((4,8),(2,2,tall,wide)):((pair,1),(columns,8,16,eight)));
        let acc =
            fragment::<A::Accumulator>(composition(make_identity_layout((columns, rows)), held));
        let tiles = ceil_div(extent(b, 1), columns);
        let (batch, tile) = (block_idx().0 / tiles, block_idx().0 % tiles);
        let (a, b, d) = (a[(batch, _, _)], b[(batch, _, _)], d[(batch, _, _, 0)]);
        fill(acc, 0 as A::Accumulator);
        // The code above overlaps with the end of the previous grid.
        griddepcontrol_launch_dependents();
        griddepcontrol_wait();
        // No other thread loads an element of B, but vectors of rows that begin anywhere overlap. The loads of a warp read 64
        // bytes of each row, and the loads of the next lines follow at once.
        let once = if CFG.unit == 16 {
            (NO_ALLOCATE, L2_256B)
        } else {
            (EVICT_FIRST, L2_256B)
        };
        let mut step = warp();
        if CFG.ahead {
            CFG.load(b, columns, (tile, step), x, once);
            CFG.load(a, rows, (0, step), y, EVICT_LAST);
        }
        while step * CFG.k(bits::<A>()) < extent(a, 1) {
            if CFG.ahead {
                // Load the operands of the next step meanwhile. Past the last part they are 0, without a load.
                CFG.load(b, columns, (tile, step + WARPS), next_x, once);
                CFG.load(a, rows, (0, step + WARPS), next_y, EVICT_LAST);
                mma(acc, x, y);
                step += 2 * WARPS;
                CFG.load(b, columns, (tile, step), x, once);
                CFG.load(a, rows, (0, step), y, EVICT_LAST);
                mma(acc, next_x, next_y);
            } else {
                CFG.load(b, columns, (tile, step), x, once);
                CFG.load(a, rows, (0, step), y, EVICT_LAST);
                mma(acc, x, y);
                step += WARPS;
            }
        }
        // The sums of all warps, in the order of the warps.
        let (pad, each) = (columns + 4, (columns + 4) * rows);
        let sums = smem::<A::Accumulator>(layout!((columns,rows,WARPS):(1,pad,each)));
        copy(acc, sums[(_, _, warp())]);
        sync_threads();
        if warpgroup() == 0 {
            let (of_thread, all) = (columns * rows / 128, columns * rows);
            let held = layout!((128,(of_thread,WARPS)):(1,(128,all)));
            let parts = fragment::<A::Accumulator>(composition(
                make_identity_layout((columns, rows, WARPS)),
                held,
            ));
            copy(sums, parts);
            let to = composition(
                local_tile(d, (rows, columns), (0, tile)),
                layout!((columns,rows,1):(rows,1,0)),
            );
            copy_inside(convert::<D>(reduce(parts, 2, add)), to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_runtime::Tensor;

    #[test]
    fn a_grid_has_no_more_ctas_than_it_can_have() -> Result<(), cute_runtime::Error> {
        let device = Device::emulator();
        let matrix = || Tensor::<f32, 3>::zeros(&device, [1, 1, 1]);
        let (a, b, mut d) = (matrix()?, matrix()?, matrix()?);
        let stream = Stream::new([1 << 28, 4, 256, 8], true, false);
        let error = stream.launch(&device, &a.view(), &b.view(), d.view_mut());
        assert_eq!(
            error.unwrap_err().to_string(),
            "the product has 4294967296 tiles of all batches: at most 2147483647 are possible"
        );
        Ok(())
    }
}
