//! One product beside cuBLASLt's, by the fastest of the eight algorithms that its heuristic ranks highest. Both results are
//! compared with float64.

use std::error::Error;
use std::time::Duration;

use cudarc::cublaslt::sys::cudaDataType_t;
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::timing::{interleave, median};
use cute_kernels::{GemmInput, Plan};
use cute_runtime::{Device, Element, ElementType, bf16, e4m3, f16};
use serde_json::{Value, json};

use crate::cublaslt::Product;
use crate::shapes::{Shape, Types};

/// Microseconds of one timed run, at least: many products where they are short, so that the resolution of the events and the
/// time of the first launch are irrelevant.
const RUN: f64 = 500.0;
/// The most products of one timed run.
const MOST: u32 = 100;
/// After how many elements a matrix repeats them: a prime number.
const PERIOD: usize = 15_485_863;

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
) -> Result<Row, Box<dyn Error>> {
    use ElementType::{BF16, E4M3, F16, F32, I8, I32};
    let measure = match types {
        (BF16, BF16) => measure::<bf16, bf16>(device, shape, bf16::from_f32),
        (BF16, F32) => measure::<bf16, f32>(device, shape, bf16::from_f32),
        (F16, F16) => measure::<f16, f16>(device, shape, f16::from_f32),
        (F16, F32) => measure::<f16, f32>(device, shape, f16::from_f32),
        (F32, F32) => measure::<f32, f32>(device, shape, |x| x),
        (E4M3, BF16) => measure::<e4m3, bf16>(device, shape, e4m3::from_f32),
        (E4M3, F32) => measure::<e4m3, f32>(device, shape, e4m3::from_f32),
        (I8, I32) => measure::<i8, i32>(device, shape, |x| (x * 50.0) as i8),
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
fn data_type(element: ElementType) -> Result<cudaDataType_t, String> {
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

/// Measures one product of normally distributed numbers: the tile of ours, ours, and cuBLASLt's.
fn measure<T, D>(
    device: &Device,
    shape: Shape,
    element: fn(f32) -> T,
) -> Result<(String, Side, Option<Side>), Box<dyn Error>>
where
    T: GemmInput<D> + Into<f64>,
    D: Element + Into<f64>,
{
    // Large matrices repeat their numbers.
    let random = |seed, n: usize| -> Vec<T> {
        let numbers = normal(seed, n.min(PERIOD)).into_iter();
        let numbers: Vec<T> = numbers.map(|number| element(number.to_f32())).collect();
        numbers.iter().copied().cycle().take(n).collect()
    };
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
    let (host_a, host_b) = (random(1, a_len), random(2, b_len));
    let (buffer_a, buffer_b) = (device.upload(&host_a)?, device.upload(&host_b)?);
    let mut ours = device.zeros::<D>(d_len)?;
    let theirs = device.zeros::<D>(d_len)?;
    let workspace = device.zeros::<u8>(Product::WORKSPACE)?;
    let a = buffer_a.view(0, [batches, m, k], placed[0].strides(a_mn))?;
    let b = buffer_b.view(0, [batches, n, k], placed[1].strides(b_mn))?;
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

    let plan = Plan::new(device, &a, &b, &d)?;
    let mut run_ours = |count: u32| {
        device.time(|| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|_| Ok(plan.launch(device, &a, &b, &mut d)?))
        })
    };
    // Warm up.
    run_ours(3)?;
    let (count, our_time, their_time) = match &product {
        None => {
            let count = count(run_ours(1)?);
            let times = (0..5).map(|_| run_ours(count)).collect::<Result<_, _>>()?;
            (count, median(times), None)
        }
        Some(product) => {
            let run_theirs = |algorithm: usize, count: u32| {
                device.time(|| -> Result<(), Box<dyn Error>> {
                    (0..count).try_for_each(|_| {
                        let (a, b) = (buffer_a.address(), buffer_b.address());
                        // SAFETY: the three addresses are those of matrices of the product's shapes and types.
                        unsafe { product.run(algorithm, a, b, theirs.address()) }
                            .map_err(Into::into)
                    })
                })
            };
            let mut fastest = (Duration::MAX, 0);
            for algorithm in 0..product.algorithms() {
                run_theirs(algorithm, 3)?;
                let times = (0..3)
                    .map(|_| run_theirs(algorithm, 10))
                    .collect::<Result<Vec<_>, _>>()?;
                fastest = fastest.min((median(times), algorithm));
            }
            let count = count(fastest.0 / 10);
            let (ours, theirs) = interleave(|| run_ours(count), || run_theirs(fastest.1, count))?;
            (count, ours, Some(theirs))
        }
    };

    let [packed_a, packed_b] = [(&host_a, placed[0], a_mn, m), (&host_b, placed[1], b_mn, n)].map(
        |(host, placed, mn, rows)| {
            let [_, row, column] = placed.strides(mn);
            let element = |i: usize| host[i / k * row + i % k * column];
            (0..rows * k).map(element).collect::<Vec<T>>()
        },
    );
    let side = |time: Duration, d: &[D]| Side {
        speed: shape.operations() * f64::from(count) / time.as_secs_f64() / 1e12,
        error: reference::gemm(
            Matrix::packed(&packed_a, m, k),
            Matrix::packed(&packed_b, n, k),
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
    Ok((plan.tile().to_string(), mine, yours))
}

/// How many products a timed run has, if one takes so long.
fn count(once: Duration) -> u32 {
    let once = once.as_secs_f64() * 1e6;
    ((RUN / once) as u32).clamp(4, MOST)
}
