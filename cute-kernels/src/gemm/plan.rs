//! The choice of a tile by the time that it is expected to take, or that it was measured to take.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cute_runtime::{Device, Element, ElementType, TensorView, TensorViewMut};

use super::choice::Choice;
use super::form::Form;
use super::instances::{GemmInput, Instance, Operands};
use super::tile::Tile;
use crate::Error;
use crate::pack::Kept;
use crate::timing::median;

/// Timed runs of a tile, the most launches of one, and the microseconds that a run takes if it has several.
const MEASURED: (usize, f64, f64) = (5, 20.0, 500.0);

/// Bytes that the memory delivers in a microsecond.
const BANDWIDTH: f64 = 4.0e6;
/// Microseconds from the start of a kernel to its first product, and from its last product to its end.
const START: f64 = 4.0;
/// Microseconds of an exchange of sums between CTAs that divide K.
const EXCHANGE: f64 = 1.5;
/// Microseconds in which a CTA stores the largest tile and multiplies nothing.
const STORE: f64 = 2.0;
/// Microseconds that TMA takes for a load, for a row of it inside of its matrix, and for one outside, which it fills with zeros.
const LOAD: (f64, f64, f64) = (0.045, 0.0004, 0.0033);
/// By how much longer a stage takes if its rows straddle cache lines, and no other CTA shares them.
const STRADDLE: f64 = 1.4;

/// How a product is computed: a tile, chosen by a model of the time that each tile would take.
///
/// CTAs compute tiles in waves, one for each multiprocessor. A wave takes the stages along K times the time of a stage, which is
/// measured for each tile, or that of its loads. A stage of a tile that the matrix does not fill takes as long as another, and
/// so does the last wave. Products and the memory's bandwidth add up like the sides of a right triangle, since both work at the
/// same time. To that comes what the start, the stores of all waves but the last and an exchange of sums take.
///
/// ```
/// use cute_kernels::{Plan, Tile};
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(&device, [rows, columns]);
/// let (a, b, mut d) = (matrix(16, 256)?, matrix(512, 256)?, matrix(16, 512)?);
/// let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut())?;
/// println!("{plan}");
/// for _ in 0..3 {
///     plan.launch(&device, &a.view(), &b.view(), &mut d.view_mut())?;
/// }
/// # Ok::<(), cute_kernels::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The types of A and B, and of D.
    types: (ElementType, ElementType),
    form: Form,
    multiprocessors: u32,
    tile: Tile,
    /// The tiles that are possible, with the microseconds that each takes, as expected or as measured.
    candidates: Vec<(Tile, f64)>,
    /// The memory of the copies of A and B, from launch to launch.
    copies: Arc<Mutex<[Kept; 2]>>,
}

impl Plan {
    /// The plan of D = A · Bᵀ for matrices as [`gemm`](fn@super::gemm) takes them. Their shapes, strides, types and alignments
    /// count.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit together, or an extent is larger than 2³¹ − 1.
    pub fn new<T: GemmInput<D>, D: Element, const R: usize>(
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        d: &TensorViewMut<'_, D, R>,
    ) -> Result<Self, Error> {
        let form = Form::new(a, b, d)?;
        let product = Product {
            extents: form.extents,
            bytes: (size_of::<T>() as f64, size_of::<D>() as f64),
            whole_lines: form.whole_lines,
            multiprocessors: device.multiprocessor_count(),
        };
        let tiles = form.tiles::<T, D>().iter();
        let mut candidates: Vec<(Tile, f64)> =
            tiles.map(|&tile| (tile, product.time(tile))).collect();
        candidates.sort_by(|x, y| x.1.total_cmp(&y.1));
        Ok(Self {
            types: (T::TYPE, D::TYPE),
            form,
            multiprocessors: product.multiprocessors,
            tile: candidates[0].0,
            candidates,
            copies: Arc::default(),
        })
    }

    /// The plan with the tile that is the fastest for these matrices, of all that are possible: each is launched up to 121 times, after
    /// one launch that compiles it. The device's time counts, without the host's; A and B may lie in the cache, where the launch
    /// before has left them. D holds the product afterwards. `Display` shows what was measured.
    ///
    /// The emulator's time says nothing about a GPU, so there it is [`Plan::new`], and D is not written.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit together, an extent is larger than 2³¹ − 1, or a launch fails.
    pub fn autotune<T: GemmInput<D>, D: Element, const R: usize>(
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        d: &mut TensorViewMut<'_, D, R>,
    ) -> Result<Self, Error> {
        let mut plan = Self::new(device, a, b, d)?;
        if device.is_emulator() {
            return Ok(plan);
        }
        for i in 0..plan.candidates.len() {
            plan.tile = plan.candidates[i].0;
            plan.candidates[i].1 = plan.measure(device, a, b, d)?;
        }
        plan.candidates.sort_by(|x, y| x.1.total_cmp(&y.1));
        plan.tile = plan.candidates[0].0;
        Ok(plan)
    }

    /// The median of the microseconds that a launch takes on the device.
    fn measure<T: GemmInput<D>, D: Element, const R: usize>(
        &self,
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        d: &mut TensorViewMut<'_, D, R>,
    ) -> Result<f64, Error> {
        let (runs, most, enough) = MEASURED;
        // Compiles the kernel, and allocates what the plan keeps.
        self.launch(device, a, b, d)?;
        let once = device.time(|| self.launch(device, a, b, d))?;
        let launches = (enough / (once.as_secs_f64() * 1e6)).clamp(1.0, most) as u32;
        let graph =
            device.capture(|| (0..launches).try_for_each(|_| self.launch(device, a, b, d)))?;
        graph.launch()?;
        let times = (0..runs).map(|_| device.time(|| graph.launch()));
        let times = times.collect::<Result<_, cute_runtime::Error>>()?;
        Ok(median(times).as_secs_f64() * 1e6 / f64::from(launches))
    }

    /// The tile.
    pub fn tile(&self) -> Tile {
        self.tile
    }

    /// What the plan has decided for this device, to be kept.
    pub fn choice(&self, device: &Device) -> Choice {
        Choice::new(device, self.types, &self.form, self.tile)
    }

    /// The same product by the tile of a choice.
    ///
    /// # Errors
    ///
    /// If the choice is one for another product or another kind of device, or there is no instance with its tile for these matrices.
    pub fn with_choice(self, device: &Device, choice: &Choice) -> Result<Self, Error> {
        let chosen = self.choice(device);
        if (&chosen.device, &chosen.product) != (&choice.device, &choice.product) {
            return Err(Error::GemmChoice {
                expected: (chosen.product, chosen.device),
                found: (choice.product.clone(), choice.device.clone()),
            });
        }
        self.with_tile(choice.tile)
    }

    /// The same product by another tile.
    ///
    /// # Errors
    ///
    /// If there is no instance with this tile for these matrices.
    pub fn with_tile(self, tile: Tile) -> Result<Self, Error> {
        match self.candidates.iter().any(|(it, _)| *it == tile) {
            true => Ok(Self { tile, ..self }),
            false => Err(Error::GemmTile {
                tile,
                possible: self.candidates.iter().map(|(tile, _)| *tile).collect(),
            }),
        }
    }

    /// Computes D = A · Bᵀ for matrices with the shapes of the plan. On a GPU the call returns before the product is complete. If A or
    /// B has to be [copied](super::gemm()), the first launch allocates memory for that. The plan and its clones keep it, and the
    /// last of them waits for the device before it frees it.
    ///
    /// # Errors
    ///
    /// If the shapes are others than those of the plan, there is no instance with the tile of the plan for the types and the
    /// alignments of these matrices, or the launch is refused. Nothing has been launched then.
    pub fn launch<T: GemmInput<D>, D: Element, const R: usize>(
        &self,
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        d: &mut TensorViewMut<'_, D, R>,
    ) -> Result<(), Error> {
        let form = Form::new(a, b, d)?;
        if (form.extents, form.transposed) != (self.form.extents, self.form.transposed) {
            let plan = &self.form;
            let [batches, mut m, mut n, k] = plan.extents;
            if plan.transposed {
                (m, n) = (n, m);
            }
            return Err(Error::GemmPlan {
                extents: [batches, m, n, k],
                a: a.shape().to_vec(),
                b: b.shape().to_vec(),
                d: d.shape().to_vec(),
            });
        }
        let possible = form.tiles::<T, D>();
        if !possible.contains(&self.tile) {
            return Err(Error::GemmTile {
                tile: self.tile,
                possible: possible.to_vec(),
            });
        }
        let (mut a, mut b) = (a.prepend::<3>()?, b.prepend::<3>()?);
        let mut d = d.as_view_mut().prepend::<3>()?;
        if form.transposed {
            (a, b) = (b, a);
            d = d.select([0, 2, 1])?;
        }
        // Work on a device is done in order, so a copy may be overwritten once the product that reads it has been launched.
        let mut kept = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let a_copy = form.a.copy(device, a, &mut kept[0])?;
        let b_copy = form.b.copy(device, b, &mut kept[1])?;
        let instance = Instance {
            tile: self.tile,
            a_mn: form.a.reads_mn(),
            b_mn: form.b.reads_mn(),
            by_tma: form.by_tma,
        };
        let operands = Operands {
            device,
            grid: self.grid(),
            a: &form.a.view(a, &a_copy)?,
            b: &form.b.view(b, &b_copy)?,
            d: &mut d,
            extents: form.extents,
        };
        <T as GemmInput<D>>::launch(instance, operands)?;
        *kept = [a_copy, b_copy].map(|copy| copy.map(|copy| copy as Box<dyn Any + Send>));
        Ok(())
    }

    /// CTAs of the launch: a whole number of clusters, and at most one CTA for each multiprocessor.
    fn grid(&self) -> u32 {
        let config = self.tile.config();
        let ctas = config.ctas * config.split;
        let most = (self.multiprocessors / ctas).max(1);
        let clusters = clusters(self.tile, self.form.extents);
        clusters.clamp(1, most.into()) as u32 * ctas
    }
}

impl fmt::Display for Plan {
    /// One line that names the tile, one for each tile that is possible, with the time that it is expected or was measured to take, and
    /// one for each operand that is copied.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Form { a, b, .. } = self.form;
        write!(
            f,
            "{}: tiles of {}, {} CTAs, stored by {}",
            self.form,
            self.tile,
            self.grid(),
            self.form.store()
        )?;
        for (tile, time) in &self.candidates {
            write!(f, "\n  {time:8.1} us  {tile}")?;
        }
        for (name, place) in [("A", a), ("B", b)] {
            if place.copied {
                write!(f, "\n  {name} is copied to rows that TMA can load")?;
            }
        }
        Ok(())
    }
}

/// What the time of a product depends on.
pub(super) struct Product {
    /// Batches, M, N and K.
    pub(super) extents: [u32; 4],
    /// Bytes of an element of A and B, and of D.
    pub(super) bytes: (f64, f64),
    /// Whether each 128-byte row of a stage is one cache line. If rows straddle two lines, the L2 cache moves twice the bytes.
    pub(super) whole_lines: bool,
    pub(super) multiprocessors: u32,
}

impl Product {
    /// The microseconds that the product is expected to take by a tile.
    pub(super) fn time(&self, tile: Tile) -> f64 {
        let config = tile.config();
        let [batches, m, n, k] = self.extents.map(f64::from);
        let ctas = config.ctas * config.split;
        let clusters = clusters(tile, self.extents) as f64;
        let waves = (clusters / f64::from((self.multiprocessors / ctas).max(1))).ceil();
        let stages = (k * self.bytes.0 / f64::from(config.bk) / f64::from(config.split)).ceil();
        let (loads, inside, outside) = self.loads(tile);
        let loads = loads * LOAD.0 + inside * LOAD.1 + outside * LOAD.2;
        let straddle = match self.whole_lines || config.ctas > 1 {
            true => 1.0,
            false => STRADDLE,
        };
        let products = waves * stages * tile.stage_time().max(loads) * straddle;
        let bytes = (m * k + n * k) * self.bytes.0 + m * n * self.bytes.1;
        let memory = batches * bytes / BANDWIDTH;
        let area = f64::from(config.bm * config.bn) / f64::from(128 * 256);
        let exchange = if config.split > 1 { EXCHANGE } else { 0.0 };
        START + products.hypot(memory) + (waves - 1.0) * (STORE * area + exchange) + exchange
    }

    /// Loads of a stage, rows of them that are inside of A and of B, and rows that TMA fills with zeros.
    fn loads(&self, tile: Tile) -> (f64, f64, f64) {
        let config = tile.config();
        let [_, m, n, _] = self.extents;
        let inside = config.bm.min(m) + config.bn.min(n);
        let loads = m.div_ceil(config.rows).min(config.bm / config.rows);
        let loaded = loads * config.rows + config.bn;
        ((loads + 1).into(), inside.into(), (loaded - inside).into())
    }
}

/// How many clusters of CTAs would compute one tile of each CTA of them.
fn clusters(tile: Tile, [batches, m, n, _]: [u32; 4]) -> u64 {
    let config = tile.config();
    let tiles = u64::from(m.div_ceil(config.bm)) * u64::from(n.div_ceil(config.bn));
    u64::from(batches) * tiles.div_ceil(config.ctas.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On an H200, these tiles were the fastest, or within 8 % of the fastest, for products of bf16.
    #[test]
    fn the_tile_is_one_that_was_measured_to_be_fast() {
        for ([m, n, k], tile) in [
            ([1000, 1000, 1000], Tile::Narrow),
            ([1024, 1024, 1024], Tile::Narrow),
            ([1536, 1536, 1536], Tile::Oblong),
            ([2048, 2048, 2048], Tile::Single),
            ([3072, 3072, 3072], Tile::Wide),
            ([8192, 8192, 8192], Tile::Single),
            ([4096, 24_576, 1536], Tile::Single),
            ([5000, 5000, 5000], Tile::Pair),
            ([8192, 3000, 5000], Tile::Pair),
            ([1, 4096, 7168], Tile::Few),
            ([1, 7168, 2048], Tile::Few),
            ([1, 8192, 8192], Tile::Few),
            ([16, 12_288, 4096], Tile::Whole96),
            ([16, 28_672, 8192], Tile::Whole),
            ([64, 8192, 8192], Tile::Thin),
            ([64, 7168, 2048], Tile::Thin),
            ([64, 4096, 7168], Tile::Thin),
            ([128, 7168, 2048], Tile::Narrow),
            ([128, 8192, 8192], Tile::Narrow),
            ([128, 12_288, 4096], Tile::Medium),
            ([128, 28_672, 8192], Tile::Single),
            ([256, 4096, 4096], Tile::Narrow),
            ([256, 4096, 7168], Tile::Narrow),
            ([256, 7168, 2048], Tile::Square),
            ([256, 8192, 8192], Tile::Square),
            ([256, 12_288, 4096], Tile::Wide),
            ([256, 28_672, 8192], Tile::Single),
        ] {
            let product = Product {
                extents: [1, m, n, k],
                bytes: (2.0, 2.0),
                whole_lines: k.is_multiple_of(64),
                multiprocessors: 132,
            };
            let mut times = Tile::ALL.map(|tile| (tile, product.time(tile)));
            times.sort_by(|x, y| x.1.total_cmp(&y.1));
            assert_eq!(times[0].0, tile, "{m} x {n} x {k}: {times:?}");
        }
    }
}
