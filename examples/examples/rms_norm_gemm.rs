//! An RMS norm and a matrix product in one kernel: y = RMSNorm(x) · Wᵀ, where the weights of the norm are already multiplied into W.
//! On a GPU it is timed beside `cute_kernels::rms_norm` followed by `cute_kernels::gemm`. `docs/rms-norm.md` tells how it works.
//!
//! ```text
//! cargo run --release --example rms_norm_gemm
//! ```

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use cute_kernels::reference::{Matrix, Product, normal};
use cute_kernels::timing::{ROUNDS, interleave};
use cute_runtime::{Device, Graph, Tensor, TensorView, TensorViewMut, bf16};
use kernels::rms_norm_gemm_CFG as Config;

/// The kernel, and its sizes.
#[cute_runtime::kernels]
pub mod kernels {
    use cute_kernels::lib::{Ring, TiledMma, Tiles, store_by_tma};

    /// Columns of x and of W in a stage: rows of 128 bytes.
    const BK: u32 = 64;

    /// Sizes of the kernel.
    pub struct Config {
        /// Rows of a CTA's tile of y. Each 64 of them have a warpgroup that multiplies.
        pub bm: u32,
        /// Columns of this tile.
        pub bn: u32,
        /// Stages of the ring.
        pub stages: u32,
        /// Rows of tiles that are computed at the same time.
        pub group: u32,
        /// CTAs of a cluster, whose tiles lie below one another: each loads a part of the rows of W for all of them.
        pub ctas: u32,
    }

    impl Config {
        /// Threads of a CTA: the warpgroup that loads, and those that multiply.
        pub fn threads(&self) -> u32 {
            128 + self.bm / 64 * 128
        }
    }

    /// The largest tile.
    pub const LARGE: Config = Config {
        bm: 128,
        bn: 256,
        stages: 4,
        group: 16,
        ctas: 1,
    };

    /// Half of the largest tile.
    pub const MIDDLE: Config = Config {
        bn: 128,
        stages: 6,
        ..LARGE
    };

    /// A quarter of the largest tile.
    pub const NARROW: Config = Config {
        bn: 64,
        stages: 8,
        ..LARGE
    };

    /// An eighth of the largest tile, in pairs.
    pub const SMALL: Config = Config {
        bm: 64,
        bn: 64,
        stages: 12,
        group: 8,
        ctas: 2,
    };

    /// y[i, j] = Σₖ x[i, k] · w[j, k] / √(mean of the squares of row i of x + epsilon), for x of m × k and w of n × k elements.
    #[kernel(threads = CFG.threads(), cluster = (CFG.ctas, 1, 1))]
    #[instances(CFG in [LARGE, MIDDLE, NARROW, SMALL])]
    pub fn rms_norm_gemm<const CFG: Config>(
        x: TmaLoad<bf16, 2>,
        w: TmaLoad<bf16, 2>,
        y: TmaStore<bf16, 2>,
        m: u32,
        n: u32,
        k: u32,
        epsilon: f32,
    ) {
        let sx = smem::<bf16>(tile_to_shape(
            smem_atom::<bf16>(K, SW128),
            (CFG.bm, BK, CFG.stages),
        ));
        let sw = smem::<bf16>(tile_to_shape(
            smem_atom::<bf16>(K, SW128),
            (CFG.bn, BK, CFG.stages),
        ));
        // Each warp that multiplies releases a stage for itself: the end of one warp's wgmma does not say that another warp has
        // read its numbers.
        let warps = CFG.bm / 64 * 4;
        let ring = Ring::<{ CFG.stages }, { CFG.ctas }, 1>::new(warps);
        let tiles =
            Tiles::<{ CFG.bm }, { CFG.bn }, { CFG.group }, { CFG.ctas }, 1, 1>::new(1, m, n);
        let steps = ceil_div(k, BK);
        if thread() == 0 {
            tma_prefetch_map(x);
            tma_prefetch_map(w);
            tma_prefetch_map(y);
        }
        // The code above overlaps with the end of the previous grid.
        griddepcontrol_launch_dependents();
        griddepcontrol_wait();
        // A thread that multiplies has 128 sums of products with the largest tile, and 64 or fewer with the others.
        let moves_registers = CFG.bn == 256;
        if warpgroup() == 0 {
            if moves_registers {
                setmaxnreg_dec(40);
            }
            let mut producer = ring.producer();
            for tile in tiles {
                if thread() == 0 {
                    for step in 0..steps {
                        let slot = producer.acquire(bytes(sx[(_, _, 0)]) + bytes(sw[(_, _, 0)]));
                        let (to_x, to_w) = (sx[(_, _, slot.stage)], sw[(_, _, slot.stage)]);
                        slot.load(x, (tile.row, step * BK), to_x);
                        slot.load_for_column(w, (0, tile.column, step * BK), to_w);
                    }
                }
            }
            if CFG.ctas > 1 && thread() == 0 {
                producer.finish();
            }
        } else {
            if moves_registers {
                setmaxnreg_inc(232);
            }
            let index = warpgroup() - 1;
            let mma = TiledMma::<f32, 64, { CFG.bn }>::new(index);
            let acc = mma.fragment_c();
            // The numbers of a stage that this thread squares, in 2 of the 64 rows.
            let part = mma.fragment_a::<bf16>(BK);
            // The four threads that have these rows have a column of sums each.
            let squares = fragment::<f32>(layout!(((4,8,4),2):((1@1,1@0,16@0),8@0)));
            let mut consumer = ring.consumer();
            for tile in tiles {
                fill(squares, 0.0);
                let mut previous = 0u32;
                for step in 0..steps {
                    let stage = consumer.wait();
                    let rows = mma.partition_a(sx[(_, _, stage)]);
                    mma.gemm(acc, rows, sw[(_, _, stage)], step > 0);
                    // The tensor cores multiply this stage, and the threads square its rows.
                    copy(rows, part);
                    add_squares(part, squares);
                    // One batch of wgmma stays in flight. The batch before it has finished, so its stage can be released.
                    wgmma_wait(1);
                    if step > 0 {
                        consumer.release_by_warp(previous);
                    }
                    previous = stage;
                }
                wgmma_wait(0);
                consumer.release_by_warp(previous);
                let mean = div_fast(reduce(squares, 1, add), k as f32);
                // In place: there are no registers for as many other sums.
                acc *= rsqrt(mean + epsilon);
                store_by_tma(acc, y, index, (0, tile.row + index * 64, tile.column));
            }
            // A CTA must not end while TMA still reads its shared memory.
            tma_wait_read(0);
        }
    }

    /// Adds the square of each value of this thread to the sum of its row. Values 0 and 1 are in its upper row, 2 and 3 in its lower
    /// row, and so on.
    fn add_squares(part: Fragment, squares: Fragment) {
        let x = convert::<f32>(part);
        for v in 0..size(x) {
            let row = v / 2 % 2;
            squares[row] = fma(x[v], x[v], squares[row]);
        }
    }
}

/// M, N and K: many rows, few rows, and what takes the emulator a second.
const SHAPES: [[usize; 3]; 6] = [
    [4096, 4096, 4096],
    [8192, 2048, 4096],
    [8192, 6144, 2048],
    [2048, 8192, 8192],
    [512, 4096, 4096],
    [128, 4096, 4096],
];
const SMALL_SHAPES: [[usize; 3]; 2] = [[200, 264, 136], [64, 72, 520]];
const EPSILON: f32 = 1e-5;

/// Products of one timed run.
const RUNS: usize = 20;
/// Bytes of all copies of x and of W, at least: twice the L2 cache. Runs take them in turns, so that none finds its own in the cache.
const COLD: usize = 100 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let every_tile = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--every-tile") => true,
        Some(other) => {
            return Err(format!("{other} is unknown: --every-tile takes all tiles").into());
        }
    };
    let device = Device::default();
    let timed = !device.is_emulator();
    let shapes = if timed {
        &SHAPES[..]
    } else {
        &SMALL_SHAPES[..]
    };
    println!("device    {}", device.name());
    println!("computed  y = RMSNorm(x) · Wᵀ, of bf16 from sums in f32");
    println!("error     relative to the size of a result, against float64");
    if timed {
        println!(
            "time      medians of {ROUNDS} runs of {RUNS} products, beside rms_norm and gemm of cute_kernels"
        );
    } else {
        println!("time      only on a GPU");
    }
    println!("\n{}", Row::HEADER);
    for &[m, n, k] in shapes {
        let problem = Problem::new(&device, m, n, k)?;
        let chosen = choose(m, n, device.multiprocessor_count());
        for config in Config::ALL {
            // The emulator has time for all of them.
            if every_tile || !timed || config == chosen {
                let row = problem.measure(config, timed)?;
                println!("{row}");
                row.check()?;
            }
        }
    }
    Ok(())
}

/// y = x · wᵀ with each row divided by √(mean of the squares of the row of x + epsilon). The tensors have the shapes (M, K), (N, K) and
/// (M, N). Rows of all three are multiples of 16 bytes long, which the launch checks.
fn rms_norm_gemm(
    device: &Device,
    config: Config,
    x: &TensorView<'_, bf16, 2>,
    w: &TensorView<'_, bf16, 2>,
    epsilon: f32,
    y: &mut TensorViewMut<'_, bf16, 2>,
) -> Result<(), Box<dyn Error>> {
    let ([m, k], [n, _]) = (x.shape(), w.shape());
    if w.shape() != [n, k] || y.shape() != [m, n] {
        let shapes = [x.shape(), w.shape(), y.shape()];
        return Err(
            format!("x, w and y of the shapes {shapes:?} are not (M, K), (N, K), (M, N)").into(),
        );
    }
    let [m, n, k] = [u32::try_from(m)?, u32::try_from(n)?, u32::try_from(k)?];
    let sizes = config.value();
    let tiles = m.div_ceil(sizes.bm * sizes.ctas) * sizes.ctas * n.div_ceil(sizes.bn);
    let most = device.multiprocessor_count() / sizes.ctas * sizes.ctas;
    let grid = tiles.min(most);
    kernels::rms_norm_gemm::launch(config, device, grid, x, w, y, m, n, k, epsilon)?;
    Ok(())
}

/// The tile with which an M × N product should be fastest: by the number of tiles that a multiprocessor computes one after another, and
/// the time of a stage in microseconds, as `docs/performance.md` lists it for `cute_kernels::gemm`.
fn choose(m: usize, n: usize, multiprocessors: u32) -> Config {
    let time = |config: &Config| {
        let (sizes, stage) = (
            config.value(),
            match config {
                Config::LARGE => 0.624,
                Config::MIDDLE => 0.366,
                Config::NARROW => 0.231,
                Config::SMALL => 0.142,
            },
        );
        let tiles = m.div_ceil(sizes.bm as usize) * n.div_ceil(sizes.bn as usize);
        tiles.div_ceil(multiprocessors as usize) as f64 * stage
    };
    let [first, ..] = Config::ALL;
    Config::ALL.into_iter().fold(
        first,
        |best, it| if time(&it) < time(&best) { it } else { best },
    )
}

/// What is multiplied, and what the product should be.
struct Problem<'a> {
    device: &'a Device,
    shape: [usize; 3],
    /// Copies of x, of W, and of W with its columns multiplied by the weights of the norm.
    x: Vec<Tensor<bf16, 2>>,
    w: Vec<Tensor<bf16, 2>>,
    weighted: Vec<Tensor<bf16, 2>>,
    /// The weights of the norm.
    g: Tensor<bf16, 1>,
    expected: Product,
}

impl<'a> Problem<'a> {
    fn new(device: &'a Device, m: usize, n: usize, k: usize) -> Result<Self, Box<dyn Error>> {
        let (x, w) = (normal(1, m * k), normal(2, n * k));
        // Powers of two, so that W is multiplied without rounding, and both ways compute from the same numbers.
        let g: Vec<bf16> = (0..k)
            .map(|k| bf16::from_f32([0.5, 1.0, 2.0][k % 3]))
            .collect();
        let weighted: Vec<bf16> = w.iter().enumerate().map(|(i, w)| w * g[i % k]).collect();
        let normalised = x.chunks(k).flat_map(|row| {
            let squares: f64 = row.iter().map(|x| x.to_f64().powi(2)).sum();
            let rms = (squares / k as f64 + f64::from(EPSILON)).sqrt();
            row.iter().map(move |x| x.to_f64() / rms)
        });
        let normalised: Vec<f64> = normalised.collect();
        let expected = Product::new(
            Matrix::packed(&normalised, m, k),
            Matrix::packed(&weighted, n, k),
        );
        let copies = if device.is_emulator() {
            1
        } else {
            COLD.div_ceil((m + n) * k * size_of::<bf16>())
        };
        let upload = |host: &[bf16], rows| -> Result<Vec<_>, cute_runtime::Error> {
            (0..copies)
                .map(|_| Tensor::from_slice(device, host, [rows, k]))
                .collect()
        };
        Ok(Self {
            device,
            shape: [m, n, k],
            x: upload(&x, m)?,
            w: upload(&w, n)?,
            weighted: upload(&weighted, n)?,
            g: Tensor::from_slice(device, &g, [k])?,
            expected,
        })
    }

    /// The error of the fused kernel, and the median times of both ways, which run in turns.
    fn measure(&self, config: Config, timed: bool) -> Result<Row, Box<dyn Error>> {
        let [m, n, _] = self.shape;
        let mut y = Tensor::<bf16, 2>::zeros(self.device, [m, n])?;
        let mut fused = |i: usize| {
            let i = i % self.x.len();
            rms_norm_gemm(
                self.device,
                config,
                &self.x[i].view(),
                &self.weighted[i].view(),
                EPSILON,
                &mut y.view_mut(),
            )
        };
        fused(0)?;
        let times = if timed {
            Some(self.times(&mut fused)?)
        } else {
            None
        };
        Ok(Row {
            shape: self.shape,
            config,
            worst: self.worst(&y)?,
            allowed: self.allowed(),
            times,
        })
    }

    /// The median times of the fused kernel, and of a norm followed by a product.
    fn times(
        &self,
        mut fused: impl FnMut(usize) -> Result<(), Box<dyn Error>>,
    ) -> Result<(Duration, Duration), Box<dyn Error>> {
        let [m, n, k] = self.shape;
        let mut normalised = Tensor::<bf16, 2>::zeros(self.device, [m, k])?;
        let mut y = Tensor::<bf16, 2>::zeros(self.device, [m, n])?;
        let mut pair = |i: usize| -> Result<(), Box<dyn Error>> {
            let i = i % self.x.len();
            let mut z = normalised.view_mut();
            cute_kernels::rms_norm(
                self.device,
                &self.x[i].view(),
                &self.g.view(),
                EPSILON,
                &mut z,
            )?;
            cute_kernels::gemm(
                self.device,
                &z.as_view(),
                &self.w[i].view(),
                &mut y.view_mut(),
            )?;
            Ok(())
        };
        // The first launches compile the kernels.
        fused(0)?;
        pair(0)?;
        // Graphs, so that the host's time between launches counts for neither side.
        let fused = self.device.capture(|| (0..RUNS).try_for_each(&mut fused))?;
        let pair = self.device.capture(|| (0..RUNS).try_for_each(&mut pair))?;
        let run = |graph: &Graph| -> Result<Duration, cute_runtime::Error> {
            Ok(self.device.time(|| graph.launch())? / RUNS as u32)
        };
        let times = interleave(|| run(&fused), || run(&pair))?;
        // The normalised numbers are rounded, too.
        let (worst, allowed) = (self.worst(&y)?, 2.0 * self.allowed());
        match worst <= allowed {
            true => Ok(times),
            false => Err(format!("the norm and the product have an error of {worst}").into()),
        }
    }

    /// The largest error of a result, and how large rounding may make it, relative to the size of an element as
    /// `reference::Deviation` has it. The error is NaN if an element is.
    fn worst(&self, y: &Tensor<bf16, 2>) -> Result<f64, cute_runtime::Error> {
        let [m, n, _] = self.shape;
        let y = y.download()?;
        Ok(self.expected.compare(Matrix::packed(&y, m, n)).worst)
    }

    fn allowed(&self) -> f64 {
        // The rounding of the result, and those of the sums: one for each instruction of wgmma, which takes 16 products, those of the
        // squares, and a few more.
        let [_, _, k] = self.shape;
        let roundings = k.div_ceil(16) + k.div_ceil(32) + 4;
        2f64.powi(-7) + roundings as f64 * 2f64.powi(-22)
    }
}

/// A line of the table.
struct Row {
    shape: [usize; 3],
    config: Config,
    /// The largest error, and how large rounding may make it, relative to the size of an element: see `reference::Deviation`.
    worst: f64,
    allowed: f64,
    /// Of the fused kernel, and of the norm followed by the product.
    times: Option<(Duration, Duration)>,
}

impl Row {
    const HEADER: &'static str = "\
| M × N × K | tile | error | rounding allows | one kernel | norm, then product | ratio |
|---|---|---|---|---|---|---|";

    /// An error if the result is not right.
    fn check(&self) -> Result<(), Box<dyn Error>> {
        match self.worst <= self.allowed {
            true => Ok(()),
            false => Err("the error is larger than rounding allows".into()),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ([m, n, k], sizes) = (self.shape, self.config.value());
        write!(f, "| {m} × {n} × {k} | {} × {} ", sizes.bm, sizes.bn)?;
        write!(f, "| {:.4} | {:.4} ", self.worst, self.allowed)?;
        let Some((fused, pair)) = self.times else {
            return write!(f, "| | | |");
        };
        let [fused, pair] = [fused, pair].map(|time| time.as_secs_f64());
        let speed = |time: f64| 2.0 * (m * n * k) as f64 / time / 1e12;
        for time in [fused, pair] {
            write!(f, "| {:.1} µs, {:.0} TFLOP/s ", time * 1e6, speed(time))?;
        }
        write!(f, "| {:.3} |", pair / fused)
    }
}
