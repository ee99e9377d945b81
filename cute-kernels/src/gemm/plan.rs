//! How a product is computed, once and then many times.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cute_runtime::logging::{Level, log};
use cute_runtime::{Device, Element, ElementType, TensorView, TensorViewMut};

use super::choice::Choice;
use super::input::{GemmInput, most_mn};
use super::instance::Instance;
use super::kernel::kernels;
use super::sums::added;
use super::tile::Tile;
use super::tuned;
use crate::Error;
use crate::extent::{Zeros, is_empty};
use crate::pack::{Kept, Pack};
use crate::parts::config::kernels::Config;
use crate::product::model::Product;
use crate::product::operands::{Form, Matrices, MatricesMut};
use crate::timing::median;
#[cfg(feature = "instantiate")]
use {
    super::instance::can_be_made,
    super::kernel::kernels::gemm_CFG,
    super::made::kernels::gemm_of,
    crate::product::space::space,
    cute_runtime::Instantiate,
    rayon::iter::{IntoParallelRefIterator, ParallelIterator},
};

/// Timed runs of a tile, the most launches in a run, and the microseconds of a run with several launches.
const MEASURED: (usize, f64, f64) = (5, 20.0, 500.0);

/// How many tiles are measured: those of which the model expects the most.
const MOST_MEASURED: usize = 16;

/// How a product is computed: a tile, chosen by a model of the time that each tile would take.
///
/// CTAs compute tiles in waves, one tile for each multiprocessor. A tile takes its stages along K, each the time of its products or of
/// its loads, whichever is longer, and then its store. Rows of a tile outside of the matrix are loaded as zeros, which takes time, too.
/// All together take at least the time in which the memory moves A, B and D. Added to this are the copies of A or B, the start, and an
/// exchange of sums. [`Product`] has the formula, and `docs/performance.md` says how well it does.
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
    /// The types of A, B and D.
    types: [ElementType; 3],
    form: Form,
    product: Product,
    tile: Tile,
    /// The possible tiles, with the expected or measured microseconds of each.
    candidates: Vec<(Tile, f64)>,
    copies: Arc<Mutex<Copies>>,
}

/// The memory of the copies of A and B, kept between launches.
#[derive(Debug, Default)]
struct Copies {
    /// The capture whose launches use the memory. A graph overwrites it whenever it runs.
    capture: Option<u64>,
    kept: [Kept; 2],
    /// The sums of the parts of K.
    sums: Kept,
}

impl Plan {
    /// The plan of D = A · Bᵀ for matrices as [`gemm`](fn@super::gemm) takes them. It depends on their shapes, strides, types and
    /// alignments.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit together, or an extent is larger than 2³¹ − 1.
    pub fn new<A, B, D, const R: usize>(
        device: &Device,
        a: &TensorView<'_, A, R>,
        b: &TensorView<'_, B, R>,
        d: &TensorViewMut<'_, D, R>,
    ) -> Result<Self, Error>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        Self::of::<A, B, D>(device, Form::new(a, b, d, most_mn::<A, B, D>())?)
    }

    /// The plan of a product of this form.
    pub(super) fn of<A, B, D>(device: &Device, form: Form) -> Result<Self, Error>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        let plan = Self::by_tile::<A, B, D>(device, form, Tile::Streamed)?;
        let product = &plan.product;
        let parts = |config| product.parts(config);
        let tiles = Instance::all::<A, B, D>(&form, parts).into_iter();
        let time = |tile: Tile| tile.time(product) + product.copy_time(tile.form(form).copies());
        let candidates = tiles.map(|(tile, _)| (tile, time(tile))).collect();
        plan.choose(
            candidates,
            ("gemm", <A as kernels::gemm_types<B, D>>::MISSING),
        )
    }

    /// The plan of a product of this form by the fastest of some tiles in shared memory, and of others with K in parts: those of a function
    /// that is named with the features which its kernels need.
    pub(super) fn among<T: Element, D: Element>(
        device: &Device,
        form: Form,
        configs: impl Iterator<Item = Config>,
        of_sums: impl Iterator<Item = Config>,
        function: (&'static str, &'static [&'static str]),
    ) -> Result<Self, Error> {
        let mut plan = Self::by_tile::<T, T, D>(device, form, Tile::Streamed)?;
        plan.product.followed = true;
        // The instances of all functions of an epilogue have the same tiles.
        let mut tiles: Vec<Tile> = Vec::new();
        for config in configs.filter(|it| it.by_element != form.by_tma) {
            if !tiles.contains(&Tile::Shared(config)) {
                tiles.push(Tile::Shared(config));
            }
        }
        if !tiles.is_empty() {
            for config in of_sums.filter(|it| !it.by_element && !it.a_mn && !it.b_mn) {
                let parts = plan.product.parts(config).into_iter();
                tiles.extend(parts.map(|parts| Tile::InParts(config, parts)));
            }
        }
        let copies = plan.product.copy_time(form.copies());
        let time = |tile: Tile| (tile, tile.time(&plan.product) + copies);
        let candidates = tiles.into_iter().map(time).collect();
        plan.choose(candidates, function)
    }

    /// The plan by the fastest of these tiles. Every form has one, if the types have instances.
    fn choose(
        self,
        mut candidates: Vec<(Tile, f64)>,
        (function, missing): (&'static str, &'static [&'static str]),
    ) -> Result<Self, Error> {
        candidates.sort_by(|x, y| x.1.total_cmp(&y.1));
        let Some(&(tile, _)) = candidates.first() else {
            return Err(Error::Features {
                function,
                types: self.types.into(),
                missing,
            });
        };
        Ok(Self {
            tile,
            candidates,
            ..self
        })
    }

    /// The plan of a product by a tile that is possible.
    pub(super) fn by_tile<A: Element, B: Element, D: Element>(
        device: &Device,
        form: Form,
        tile: Tile,
    ) -> Result<Self, Error> {
        Ok(Self {
            types: [A::TYPE, B::TYPE, D::TYPE],
            form,
            product: form.product::<A, D>(device)?,
            tile,
            candidates: Vec::new(),
            copies: Arc::default(),
        })
    }

    /// The same product by the fastest tile that does not divide K in memory.
    pub(super) fn without_parts(self) -> Self {
        let mut others = self.candidates.iter().map(|(tile, _)| *tile);
        let tile = others.find(|tile| !matches!(tile, Tile::InParts(..)));
        Self {
            tile: tile.unwrap_or(self.tile),
            ..self
        }
    }

    /// Gives memory for the sums of parts of K.
    pub(super) fn keep_sums(&self, sums: Kept) {
        self.lock().sums = sums;
    }

    /// Takes this memory.
    pub(super) fn take_sums(&self) -> Kept {
        self.lock().sums.take()
    }

    fn lock(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan with the fastest of the 16 tiles of which the model expects the most, for these matrices; with the feature
    /// `instantiate`, also of tiles that are not compiled ahead. Each tile is launched up to 121 times, after one launch that compiles
    /// it. Only the device's time counts. What was found is [remembered](crate::tuned) for this kind of device: the next such plan
    /// launches that tile once and measures nothing, and `gemm` uses the tile, too. A and B may lie in the cache, where the previous
    /// launch has left them. D holds the product afterwards. `Display` shows the measured times.
    ///
    /// On the emulator, whose time says nothing about a GPU, nothing is measured and D is not written: this is [`Plan::new`], by the
    /// remembered tile if there is one. If an extent is 0, nothing is measured either.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit together, an extent is larger than 2³¹ − 1, a tile cannot be compiled, or a launch fails.
    pub fn autotune<A, B, D, const R: usize>(
        device: &Device,
        a: &TensorView<'_, A, R>,
        b: &TensorView<'_, B, R>,
        d: &mut TensorViewMut<'_, D, R>,
    ) -> Result<Self, Error>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        let mut plan = Self::new(device, a, b, d)?;
        if let Some(tile) = tuned::tile(&plan.choice(device))
            && let Ok(tuned) = plan.clone().with_tile(tile)
        {
            if !device.is_emulator() {
                tuned.launch(device, a, b, d)?;
            }
            return Ok(tuned);
        }
        if device.is_emulator() || plan.form.extents.contains(&0) {
            return Ok(plan);
        }
        #[cfg(feature = "instantiate")]
        plan.add_space();
        plan.candidates.truncate(MOST_MEASURED);
        #[cfg(feature = "instantiate")]
        plan.compile(device)?;
        let mut measured = Vec::new();
        for (tile, _) in std::mem::take(&mut plan.candidates) {
            plan.tile = tile;
            measured.push((tile, plan.measure(device, a, b, d)?));
        }
        plan.candidates = measured;
        plan.candidates.sort_by(|x, y| x.1.total_cmp(&y.1));
        plan.tile = plan.candidates[0].0;
        tuned::remember(&plan.choice(device));
        Ok(plan)
    }

    /// Adds the tiles that are not compiled ahead to the candidates.
    #[cfg(feature = "instantiate")]
    fn add_space(&mut self) {
        let is_new = |config: &Config| {
            let tile = Tile::Shared(*config);
            can_be_made(*config, self.types[0], &self.form)
                && !self.candidates.iter().any(|(it, _)| *it == tile)
        };
        let copies = self.product.copy_time(self.form.copies());
        let new = space().into_iter().filter(is_new);
        let new = new.map(|it| (Tile::Shared(it), self.product.time(it) + copies));
        let new: Vec<_> = new.collect();
        self.candidates.extend(new);
        self.candidates.sort_by(|x, y| x.1.total_cmp(&y.1));
    }

    /// The median time of a launch on the device, in microseconds.
    fn measure<A, B, D, const R: usize>(
        &self,
        device: &Device,
        a: &TensorView<'_, A, R>,
        b: &TensorView<'_, B, R>,
        d: &mut TensorViewMut<'_, D, R>,
    ) -> Result<f64, Error>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
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

    /// The possible tiles, the fastest first, each with its expected or measured microseconds.
    pub fn candidates(&self) -> &[(Tile, f64)] {
        &self.candidates
    }

    /// The decision of the plan for this device, to be stored.
    pub fn choice(&self, device: &Device) -> Choice {
        Choice::new(device, self.types, &self.form, self.tile)
    }

    /// The same product by the tile of a choice.
    ///
    /// # Errors
    ///
    /// If the choice is for another product or another kind of device, or these matrices have no instance with its tile.
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

    /// The same product by another tile. With the feature `instantiate`, that may be any tile in shared memory, such as those of
    /// [`space`](crate::product::space::space), except for `f32`: the kernel is made here.
    ///
    /// # Errors
    ///
    /// If there is no instance with this tile for these matrices, or the sizes of the tile do not fit together.
    pub fn with_tile(self, tile: Tile) -> Result<Self, Error> {
        if self.candidates.iter().any(|(it, _)| *it == tile) {
            return Ok(Self { tile, ..self });
        }
        #[cfg(feature = "instantiate")]
        if let Tile::Shared(config) = tile
            && can_be_made(config, self.types[0], &self.form)
        {
            self.make(config)?;
            return Ok(Self { tile, ..self });
        }
        Err(Error::GemmTile {
            tile,
            possible: self.candidates.iter().map(|(tile, _)| *tile).collect(),
        })
    }

    /// Makes the kernel of a tile that is not compiled ahead.
    #[cfg(feature = "instantiate")]
    fn make(&self, config: Config) -> Result<(), Error> {
        self.made(config).image()?;
        Ok(())
    }

    /// The kernel of a tile that is not compiled ahead.
    #[cfg(feature = "instantiate")]
    fn made(&self, config: Config) -> gemm_of {
        let [mut a, mut b, d] = self.types;
        if self.form.transposed != config.swapped {
            (a, b) = (b, a);
        }
        made(config, [a, b, d])
    }

    /// Compiles the kernels of the candidates that are not compiled ahead, side by side.
    #[cfg(feature = "instantiate")]
    fn compile(&self, device: &Device) -> Result<(), Error> {
        let candidates = self.candidates.par_iter();
        candidates.try_for_each(|(tile, _)| {
            if let Tile::Shared(config) = tile
                && !is_compiled(*config)
            {
                self.made(*config).compile(device)?;
            }
            Ok(())
        })
    }

    /// Computes D = A · Bᵀ for matrices with the shapes of the plan. On a GPU the call returns before the product is complete. If
    /// A or B has to be [copied](super::gemm()), the first launch allocates memory for the copy, and so does the first launch of a
    /// [capture](Device::capture). The plan and its clones keep this memory. It is freed with the last of them, behind the
    /// products that use it.
    ///
    /// # Errors
    ///
    /// If the shapes differ from those of the plan, the types and alignments of these matrices have no instance with the plan's
    /// tile, or the launch is refused. Nothing has been launched then.
    pub fn launch<A, B, D, const R: usize>(
        &self,
        device: &Device,
        a: &TensorView<'_, A, R>,
        b: &TensorView<'_, B, R>,
        d: &mut TensorViewMut<'_, D, R>,
    ) -> Result<(), Error>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        let form = Form::new(a, b, d, most_mn::<A, B, D>())?;
        self.check_shapes(&form, a, b, d)?;
        if is_empty(&d.shape()) {
            return Ok(());
        }
        if form.extents[3] == 0 {
            let (a_zeros, b_zeros) = (Zeros::vector(device)?, Zeros::vector(device)?);
            let (a, b) = (a_zeros.like(a)?, b_zeros.like(b)?);
            return Self::new(device, &a, &b, d)?.launch(device, &a, &b, d);
        }
        let instance = |form: Form| Some((form, Instance::new::<A, B, D>(&form, self.tile)?));
        // The plan's tile may need copies, although these matrices do not.
        let copied = || instance(Form::new(a, b, d, 0).ok()?);
        let found = instance(form).or_else(copied);
        let (form, instance) = found.ok_or_else(|| Error::GemmTile {
            tile: self.tile,
            possible: Instance::all::<A, B, D>(&form, |config| self.product.parts(config))
                .into_iter()
                .map(|(tile, _)| tile)
                .collect(),
        })?;
        let form = self.tile.form(form);
        let (a, b) = (a.prepend::<3>()?, b.prepend::<3>()?);
        let d = d.as_view_mut().prepend::<3>()?;
        match form.transposed {
            true => self.start(device, &form, instance, b, a, d.select([0, 2, 1])?),
            false => self.start(device, &form, instance, a, b, d),
        }
    }

    /// Makes everything that a launch needs, and does not run it: its kernels are compiled on a GPU, and memory for copies and for sums of
    /// parts of K is allocated. `launch` makes the launch, by any function of the plan.
    ///
    /// Launches with such matrices then allocate and compile nothing. So they may be made while another library captures the stream into a
    /// graph ([`Stream::from_raw`](cute_runtime::Stream::from_raw)), which forbids both. Such a graph uses the memory of the plan: keep the
    /// plan as long as the graph, and let no other launch of the plan run at the same time as the graph.
    ///
    /// ```
    /// use cute_kernels::{Device, Plan, Tensor, bf16};
    /// let device = Device::default();
    /// let a = Tensor::from_slice(&device, &[bf16::ONE; 64 * 129], [64, 129])?;
    /// let b = Tensor::from_slice(&device, &[bf16::ONE; 32 * 129], [32, 129])?;
    /// let mut d = Tensor::<bf16, 2>::zeros(&device, [64, 32])?;
    /// let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut())?;
    /// plan.prepare(&device, |plan| plan.launch(&device, &a.view(), &b.view(), &mut d.view_mut()))?;
    /// let held = device.memory_held().bytes;
    /// plan.launch(&device, &a.view(), &b.view(), &mut d.view_mut())?;
    /// assert_eq!(device.memory_held().bytes, held);
    /// assert_eq!(d.download()?, [bf16::from_f32(129.0); 64 * 32]);
    /// # Ok::<(), cute_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of `launch`, and those of [`Device::capture`].
    pub fn prepare(
        &self,
        device: &Device,
        launch: impl FnOnce(&Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // A captured launch allocates at once, and its kernels are compiled for the graph.
        device.capture(|| launch(self))?;
        self.lock().capture = None;
        Ok(())
    }

    /// Refuses matrices of other shapes than those of the plan.
    pub(super) fn check_shapes<A: Element, B: Element, D: Element, const R: usize>(
        &self,
        form: &Form,
        a: &TensorView<'_, A, R>,
        b: &TensorView<'_, B, R>,
        d: &TensorViewMut<'_, D, R>,
    ) -> Result<(), Error> {
        let plan = &self.form;
        if (form.extents, form.transposed) == (plan.extents, plan.transposed) {
            return Ok(());
        }
        let [batches, mut m, mut n, k] = plan.extents;
        if plan.transposed {
            (m, n) = (n, m);
        }
        Err(Error::GemmPlan {
            extents: [batches, m, n, k],
            a: a.shape().to_vec(),
            b: b.shape().to_vec(),
            d: d.shape().to_vec(),
        })
    }

    /// The error of a tile without a kernel for the matrices of a launch.
    pub(super) fn impossible(&self) -> Error {
        Error::GemmTile {
            tile: self.tile,
            possible: self.candidates.iter().map(|(tile, _)| *tile).collect(),
        }
    }

    /// Launches an instance, after the copies of A and B that the form asks for.
    fn start<A, B, D>(
        &self,
        device: &Device,
        form: &Form,
        instance: Instance,
        a: Matrices<'_, A>,
        b: Matrices<'_, B>,
        mut d: MatricesMut<'_, D>,
    ) -> Result<(), Error>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        let [batches, m, n, k] = form.extents;
        self.launch_copied(device, form, (a, b), |grid, sums, a, b| {
            match instance {
                Instance::Shared(it) if it.value().swapped => {
                    kernels::gemm::launch(it, device, grid, b, a, &mut d, batches, n, m, k, 1)?;
                }
                Instance::Shared(it) => {
                    kernels::gemm::launch(it, device, grid, a, b, &mut d, batches, m, n, k, 1)?;
                }
                Instance::InParts(it, parts) if it.value().swapped => {
                    added::<B::Sum, D>(device, &mut d, parts, sums, |of| {
                        kernels::gemm::launch(it, device, grid, b, a, of, batches, n, m, k, parts)
                    })?;
                }
                Instance::InParts(it, parts) => {
                    added::<A::Sum, D>(device, &mut d, parts, sums, |of| {
                        kernels::gemm::launch(it, device, grid, a, b, of, batches, m, n, k, parts)
                    })?;
                }
                Instance::Streamed(stream) => stream.launch(device, a, b, d)?,
                #[cfg(feature = "instantiate")]
                Instance::Made(config) if config.swapped => {
                    let made = made(config, [B::TYPE, A::TYPE, D::TYPE]);
                    made.launch(device, grid, b, a, &mut d, batches, n, m, k, 1)?;
                }
                #[cfg(feature = "instantiate")]
                Instance::Made(config) => {
                    let made = made(config, [A::TYPE, B::TYPE, D::TYPE]);
                    made.launch(device, grid, a, b, &mut d, batches, m, n, k, 1)?;
                }
            }
            Ok(())
        })
    }

    /// Calls `launch` with the number of CTAs, with memory for sums, and with A and B as a kernel takes them: copied where the form says so.
    pub(super) fn launch_copied<A: Pack, B: Pack>(
        &self,
        device: &Device,
        form: &Form,
        operands: (Matrices<'_, A>, Matrices<'_, B>),
        launch: impl FnOnce(u32, &mut Kept, &Matrices<'_, A>, &Matrices<'_, B>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.tile.check(&self.product)?;
        let summary = Summary(self);
        log(
            Level::Debug,
            "cute_kernels::product",
            format_args!("{summary}"),
        );
        // Work on a device is done in order, so a copy may be overwritten once the product that reads it has been launched.
        let mut copies = self.lock();
        let capture = device.capture_id();
        if copies.capture != capture {
            *copies = Copies {
                capture,
                ..Copies::default()
            };
        }
        let (grid, Copies { kept, sums, .. }) = (self.tile.ctas(&self.product), &mut *copies);
        form.launch(device, operands, kept, |a, b| launch(grid, sums, a, b))
    }
}

/// Whether tiles of these sizes are compiled ahead for some types.
#[cfg(feature = "instantiate")]
fn is_compiled(config: Config) -> bool {
    gemm_CFG::ALL.iter().any(|it| it.value() == config)
}

/// The kernel of a tile that is not compiled ahead, for A, B and D of these types.
#[cfg(feature = "instantiate")]
fn made(config: Config, [a, b, d]: [ElementType; 3]) -> gemm_of {
    gemm_of {
        A: a,
        B: b,
        D: d,
        CFG: config,
    }
}

/// One line about a plan.
struct Summary<'a>(&'a Plan);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(plan) = self;
        let (form, ctas) = (plan.tile.form(plan.form), plan.tile.ctas(&plan.product));
        let (tile, store) = (plan.tile, form.store());
        write!(f, "{form}: tiles of {tile}, {ctas} CTAs, stored by {store}")?;
        for (name, place) in [("A", form.a), ("B", form.b)] {
            if place.copied {
                write!(f, "; {name} is copied first")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Plan {
    /// One line with the tile and the operands that are copied first, and one for each possible tile with its expected or measured time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Summary(self).fmt(f)?;
        for (tile, time) in &self.candidates {
            write!(f, "\n  {time:8.1} us  {tile}")?;
        }
        Ok(())
    }
}
