//! One product beside cuBLASLt's, by the fastest of the eight algorithms that its heuristic ranks highest. Both results are
//! compared with float64.

use std::borrow::Cow;
use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use cudarc::cublaslt::sys::cudaDataType_t;
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::timing::{interleave, median};
use cute_kernels::{GemmInput, Plan};
use cute_runtime::{Device, Element, ElementType, Graph, bf16, e4m3, f16};
use serde_json::{Value, json};

use crate::cublaslt::Product;
use crate::grouped;
use crate::shapes::{Placed, Shape, Types};

/// Microseconds of one timed run, at least: many products where they are short, so that the resolution of the events is
/// irrelevant.
const RUN: f64 = 500.0;
/// The most products of one timed run.
const MOST: usize = 100;
/// After how many elements a matrix repeats them: a prime number.
const PERIOD: usize = 15_485_863;
/// Bytes of all copies of A and B, at least: twice the L2 cache. The products of a run take them in turns, so that none finds its own
/// there.
const COLD: usize = 100 << 20;
/// Elements to whose multiples the distance of these copies is rounded.
const STEP: usize = 256;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// TFLOP/s.
    pub(crate) speed: f64,
    /// The largest error, as `reference::gemm` defines it.
    pub(crate) error: f64,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) class: String,
    pub(crate) shape: Shape,
    pub(crate) types: Types,
    pub(crate) tile: String,
    pub(crate) ours: Side,
    /// None where cuBLASLt has no algorithm.
    pub(crate) theirs: Option<Side>,
}

impl Row {
    /// The speed of ours over that of cuBLASLt.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.theirs.map(|theirs| self.ours.speed / theirs.speed)
    }

    pub(crate) fn json(&self) -> Value {
        let side = |side: Side| json!({ "tflops": side.speed, "error": side.error });
        json!({
            "class": self.class,
            "shape": self.shape.to_string(),
            "majors": self.shape.majors(),
            "input": self.types.0.to_string(),
            "output": self.types.1.to_string(),
            "tile": self.tile,
            "ours": side(self.ours),
            "cublaslt": self.theirs.map(side),
            "ratio": self.ratio(),
        })
    }
}

/// Measures one product.
pub(crate) fn compare(
    device: &Device,
    class: &str,
    shape: Shape,
    types: Types,
    autotune: bool,
) -> Result<Row, Box<dyn Error>> {
    use ElementType::{BF16, E4M3, F16, F32, I8, I32};
    let measure = match types {
        (BF16, BF16) if shape.groups.is_some() => grouped::measure(device, shape, bf16::from_f32),
        (F16, F16) if shape.groups.is_some() => grouped::measure(device, shape, f16::from_f32),
        (BF16, BF16) => measure::<bf16, bf16>(device, shape, autotune, bf16::from_f32),
        (BF16, F32) => measure::<bf16, f32>(device, shape, autotune, bf16::from_f32),
        (F16, F16) => measure::<f16, f16>(device, shape, autotune, f16::from_f32),
        (F16, F32) => measure::<f16, f32>(device, shape, autotune, f16::from_f32),
        (F32, F32) => measure::<f32, f32>(device, shape, autotune, |x| x),
        (E4M3, BF16) => measure::<e4m3, bf16>(device, shape, autotune, e4m3::from_f32),
        (E4M3, F32) => measure::<e4m3, f32>(device, shape, autotune, e4m3::from_f32),
        (I8, I32) => measure::<i8, i32>(device, shape, autotune, |x| (x * 50.0) as i8),
        (input, output) => Err(format!("there is no product of {input} into {output}").into()),
    };
    let (tile, ours, theirs) = measure?;
    Ok(Row {
        class: class.to_owned(),
        shape,
        types,
        tile,
        ours,
        theirs,
    })
}

/// cuBLASLt's name of an element type.
pub(crate) fn data_type(element: ElementType) -> Result<cudaDataType_t, String> {
    Ok(match element {
        ElementType::BF16 => cudaDataType_t::CUDA_R_16BF,
        ElementType::F16 => cudaDataType_t::CUDA_R_16F,
        ElementType::F32 => cudaDataType_t::CUDA_R_32F,
        ElementType::E4M3 => cudaDataType_t::CUDA_R_8F_E4M3,
        ElementType::I8 => cudaDataType_t::CUDA_R_8I,
        ElementType::I32 => cudaDataType_t::CUDA_R_32I,
        other => return Err(format!("no product of {other} is compared")),
    })
}

/// Measures one product of normally distributed numbers: the tile of ours, ours, and cuBLASLt's. A run replays a CUDA graph of
/// products, so that the time between launches counts for neither side.
fn measure<T, D>(
    device: &Device,
    shape: Shape,
    autotune: bool,
    element: fn(f32) -> T,
) -> Result<(String, Side, Option<Side>), Box<dyn Error>>
where
    T: GemmInput<D> + Into<f64>,
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
    // thread, so cuBLASLt uses it. The workspace outlives the product.
    let product = unsafe {
        Product::new(
            &shape,
            data_type(T::TYPE)?,
            data_type(D::TYPE)?,
            workspace.address(),
        )
    };
    let product = product.ok().filter(|product| product.algorithms() > 0);

    let plan = match autotune {
        true => Plan::autotune(device, &a(0)?, &b(0)?, &mut d)?,
        false => Plan::new(device, &a(0)?, &b(0)?, &d)?,
    };
    let tile = match autotune {
        true => plan.to_string(),
        false => plan.tile().to_string(),
    };
    // Compiles the kernel, and allocates what the plan keeps.
    plan.launch(device, &a(0)?, &b(0)?, &mut d)?;
    let mut our_graph = |count: usize| {
        device.capture(|_| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|i| Ok(plan.launch(device, &a(i)?, &b(i)?, &mut d)?))
        })
    };
    let their_run = |product: &Product, algorithm: usize, i: usize, stream: u64| {
        let steps = [a_step, b_step].map(|step| (i % copies * step * size_of::<T>()) as u64);
        let [a, b] = [buffer_a.address() + steps[0], buffer_b.address() + steps[1]];
        // SAFETY: the three addresses are those of matrices of the product's shapes and types. They outlive the graphs, and the
        // stream is the default stream or one that is captured.
        unsafe { product.run(algorithm, [a, b, theirs.address()], stream) }
    };
    let their_graph = |product: &Product, algorithm: usize, count: usize| {
        device.capture(|stream| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|i| Ok(their_run(product, algorithm, i, stream)?))
        })
    };
    let time = |graph: &Graph| device.time(|| Ok::<_, Box<dyn Error>>(graph.launch()?));
    let (count, our_time, their_time) = match &product {
        None => {
            let graph = our_graph(1)?;
            time(&graph)?;
            let count = count(time(&graph)?);
            let graph = our_graph(count)?;
            let times = (0..5).map(|_| time(&graph)).collect::<Result<_, _>>()?;
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
                let times = (0..4).map(|_| time(&graph)).skip(1);
                let times = times.collect::<Result<Vec<_>, _>>()?;
                fastest = fastest.min((median(times), algorithm));
            }
            let count = count(fastest.0 / trial as u32);
            let graphs = (our_graph(count)?, their_graph(product, fastest.1, count)?);
            let (ours, theirs) = interleave(|| time(&graphs.0), || time(&graphs.1))?;
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
        error: reference::gemm(
            matrix(&a[..], m, a_row),
            matrix(&b[..], n, b_row),
            Matrix {
                data: d,
                rows: m,
                cols: n,
                stride: placed[2].ld,
            },
        )
        .worst,
    };
    let mine = side(our_time, &ours.download()?);
    let yours = match their_time {
        Some(time) => Some(side(time, &theirs.download()?)),
        None => None,
    };
    Ok((tile, mine, yours))
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

/// `len` normally distributed numbers as elements, from number `first` on. They repeat.
pub(crate) fn random<T: Copy>(len: usize, first: usize, element: fn(f32) -> T) -> Vec<T> {
    static NUMBERS: OnceLock<Vec<bf16>> = OnceLock::new();
    let numbers = NUMBERS.get_or_init(|| normal(1, PERIOD));
    let numbers = numbers.iter().cycle().skip(first);
    let period: Vec<T> = numbers
        .take(len.min(PERIOD))
        .map(|number| element(number.to_f32()))
        .collect();
    let mut all = Vec::with_capacity(len);
    while all.len() < len {
        all.extend_from_slice(&period[..period.len().min(len - all.len())]);
    }
    all
}

/// How many products a timed run has, if one takes so long.
fn count(once: Duration) -> usize {
    let once = once.as_secs_f64() * 1e6;
    ((RUN / once) as usize).clamp(4, MOST)
}
