//! One product beside cuBLASLt's, by the fastest of the eight algorithms that its heuristic ranks highest. Both results are
//! compared with float64.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

use cute_kernels::reference::{self, Matrix};
use cute_kernels::timing::{interleave, interleave_all, median};
use cute_kernels::{FusedInput, GemmInput, Plan};
use cute_runtime::{Device, Element};

use crate::captured::Captured;
use crate::cublaslt::{Product, data_type};
use crate::ours::{Alone, Followed, Ours};
use crate::random::{PERIOD, random};
use crate::row::{Measured, Side};
use crate::shapes::{Placed, Shape};

/// Microseconds of one timed run, at least: many products where they are short, so that the resolution of the events is
/// irrelevant.
const RUN: f64 = 500.0;
/// The most products of one timed run.
const MOST: usize = 100;
/// Bytes of all copies of A and B, at least: twice the L2 cache. The products of a run take them in turns, so that none finds its
/// matrices in the cache.
const COLD: usize = 100 << 20;
/// The distance of these copies is rounded to a multiple of so many elements.
const STEP: usize = 256;

/// A tile is measured if it is expected to take at most so many times as long as the fastest.
const SLOWEST: f64 = 2.5;

/// Measures one product of normally distributed numbers: ours, by the tile of the plan or by the fastest of `every_tile`, and cuBLASLt's.
/// A run replays a CUDA graph of products, so that the time between launches counts for neither side.
pub(crate) fn measure<T, D>(
    device: &Device,
    shape: Shape,
    every_tile: bool,
    element: fn(f32) -> T,
) -> Result<Measured, Box<dyn Error>>
where
    T: GemmInput<D> + Into<f64>,
    D: Element + Into<f64>,
{
    measure_as(device, shape, every_tile, element, Alone)
}

/// The same for a product with a bias, followed by GELU.
pub(crate) fn measure_followed<T>(
    device: &Device,
    shape: Shape,
    every_tile: bool,
    element: fn(f32) -> T,
) -> Result<Measured, Box<dyn Error>>
where
    T: FusedInput<T> + Into<f64>,
{
    let bias = device.upload(&random(shape.n, 1, element))?;
    let bias = bias.view(0, [shape.n], [1])?;
    measure_as(device, shape, every_tile, element, Followed { bias })
}

fn measure_as<T, D>(
    device: &Device,
    shape: Shape,
    every_tile: bool,
    element: fn(f32) -> T,
    our: impl Ours<T, D>,
) -> Result<Measured, Box<dyn Error>>
where
    T: Element + Into<f64>,
    D: Element + Into<f64>,
{
    let Shape {
        batches,
        m,
        n,
        k,
        mn: [a_mn, b_mn],
        ..
    } = shape;
    let placed = [
        shape.placed(m, k, a_mn),
        shape.placed(n, k, b_mn),
        shape.placed(m, n, false),
    ];
    let [a_len, b_len, d_len] = placed.map(|placed| batches * placed.len());
    let [a_step, b_step] = [a_len, b_len].map(|len| len.next_multiple_of(STEP));
    let copies = COLD.div_ceil((a_step + b_step) * size_of::<T>()).min(MOST);
    let host_a = random(copies * a_step, 0, element);
    let host_b = random(copies * b_step, PERIOD / 2, element);
    let (buffer_a, buffer_b) = (device.upload(&host_a)?, device.upload(&host_b)?);
    let mut ours = device.zeros::<D>(d_len)?;
    let theirs = device.zeros::<D>(d_len)?;
    let workspace = device.zeros::<u8>(Product::WORKSPACE)?;
    let a = |i| {
        buffer_a.view(
            i % copies * a_step,
            [batches, m, k],
            placed[0].strides(a_mn),
        )
    };
    let b = |i| {
        buffer_b.view(
            i % copies * b_step,
            [batches, n, k],
            placed[1].strides(b_mn),
        )
    };
    let mut d = ours.view_mut(0, [batches, m, n], placed[2].strides(false))?;
    // SAFETY: `device` is device 0 and allocates in its primary context. Either that context or none is current on this
    // thread, so cuBLASLt uses it. The workspace and the bias outlive the product.
    let product = unsafe {
        Product::new(
            &shape,
            data_type(T::TYPE)?,
            data_type(D::TYPE)?,
            workspace.address(),
            our.bias(),
        )
    };
    let product = product.ok().filter(|product| product.algorithms() > 0);

    let mut plan = our.plan(device, &a(0)?, &b(0)?, &d)?;
    let mut our_graph = |plan: &Plan, count: usize| {
        device.capture(|| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|i| Ok(our.launch(plan, device, &a(i)?, &b(i)?, &mut d)?))
        })
    };
    let mut graphs = Vec::new();
    let candidates = plan.candidates();
    for &(tile, expected) in candidates.iter().filter(|_| every_tile) {
        if expected > SLOWEST * candidates[0].1 {
            break;
        }
        let plan = plan.clone().with_tile(tile)?;
        // Compiles the kernel, and allocates what the plan keeps.
        our_graph(&plan, 1)?.launch()?;
        let once = {
            let graph = our_graph(&plan, 1)?;
            time(device, || graph.launch())?
        };
        let count = count(once);
        graphs.push((our_graph(&plan, count)?, count, tile, expected));
    }
    let times = interleave_all(graphs.len(), |i| time(device, || graphs[i].0.launch()))?;
    let tiles = graphs.into_iter().zip(times);
    let tiles: Vec<_> = tiles
        .map(|((_, count, tile, expected), time)| {
            (tile, expected, time.as_secs_f64() * 1e6 / count as f64)
        })
        .collect();
    if let Some((fastest, ..)) = tiles.iter().min_by(|x, y| x.2.total_cmp(&y.2)) {
        plan = plan.with_tile(*fastest)?;
    }
    our_graph(&plan, 1)?.launch()?;
    let their_run = |product: &Product, algorithm: usize, i: usize, stream: u64| {
        let steps = [a_step, b_step].map(|step| (i % copies * step * size_of::<T>()) as u64);
        let [a, b] = [buffer_a.address() + steps[0], buffer_b.address() + steps[1]];
        // SAFETY: the three addresses are of matrices of the product's shapes and types, which outlive the graphs. The stream is
        // the default stream or a captured one.
        unsafe { product.run(algorithm, [a, b, theirs.address()], stream) }
    };
    let their_graph = |product: &Product, algorithm: usize, count: usize| {
        let enqueue = |stream| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|i| Ok(their_run(product, algorithm, i, stream)?))
        };
        // SAFETY: the matrices outlive the graph.
        unsafe { Captured::new(enqueue) }
    };
    let (count, our_time, their_time) = match &product {
        None => {
            let graph = our_graph(&plan, 1)?;
            time(device, || graph.launch())?;
            let count = count(time(device, || graph.launch())?);
            let graph = our_graph(&plan, count)?;
            let times = (0..5)
                .map(|_| time(device, || graph.launch()))
                .collect::<Result<_, _>>()?;
            (count, median(times), None)
        }
        Some(product) => {
            their_run(product, 0, 0, 0)?;
            let once = device.time(|| Ok::<_, Box<dyn Error>>(their_run(product, 0, 0, 0)?))?;
            let trial = count(once).min(10);
            let mut fastest = (Duration::MAX, 0);
            for algorithm in 0..product.algorithms() {
                their_run(product, algorithm, 0, 0)?;
                let graph = their_graph(product, algorithm, trial)?;
                let times = (0..4).map(|_| time(device, || graph.launch())).skip(1);
                let times = times.collect::<Result<Vec<_>, _>>()?;
                fastest = fastest.min((median(times), algorithm));
            }
            let count = count(fastest.0 / trial as u32);
            let graphs = (
                our_graph(&plan, count)?,
                their_graph(product, fastest.1, count)?,
            );
            let (ours, theirs) = interleave(
                || time(device, || graphs.0.launch()),
                || time(device, || graphs.1.launch()),
            )?;
            (count, ours, Some(theirs))
        }
    };

    // The first matrices of the last product.
    let last = (count - 1) % copies;
    let (a, a_row) = along_k(&host_a[last * a_step..], placed[0], a_mn, [m, k]);
    let (b, b_row) = along_k(&host_b[last * b_step..], placed[1], b_mn, [n, k]);
    let matrix = |data, rows, stride| Matrix {
        data,
        rows,
        cols: k,
        stride,
    };
    let side = |time: Duration, d: &[D]| Side {
        speed: shape.operations() * count as f64 / time.as_secs_f64() / 1e12,
        // Tests compare what follows a product.
        error: match our.bias() {
            Some(_) => 0.0,
            None => {
                reference::gemm(
                    matrix(&a[..], m, a_row),
                    matrix(&b[..], n, b_row),
                    Matrix {
                        data: d,
                        rows: m,
                        cols: n,
                        stride: placed[2].ld,
                    },
                )
                .worst
            }
        },
    };
    let mine = side(our_time, &ours.download()?);
    let yours = match their_time {
        Some(time) => Some(side(time, &theirs.download()?)),
        None => None,
    };
    Ok(Measured {
        tile: plan.tile().to_string(),
        tiles,
        ours: mine,
        theirs: yours,
    })
}

/// The time of a launch on the device.
fn time<E: Into<Box<dyn Error>>>(
    device: &Device,
    launch: impl Fn() -> Result<(), E>,
) -> Result<Duration, Box<dyn Error>> {
    device.time(|| launch().map_err(E::into))
}

/// A matrix along K, and the elements between its rows.
fn along_k<T: Copy>(
    host: &[T],
    placed: Placed,
    mn: bool,
    [rows, k]: [usize; 2],
) -> (Cow<'_, [T]>, usize) {
    if !mn {
        return (Cow::Borrowed(host), placed.ld);
    }
    let element = |i: usize| host[i / k + i % k * placed.ld];
    ((0..rows * k).map(element).collect(), k)
}

/// How many products a timed run has, if one takes so long.
fn count(once: Duration) -> usize {
    let once = once.as_secs_f64() * 1e6;
    ((RUN / once) as usize).clamp(4, MOST)
}
