//! The product beside cuBLASLt's, by the fastest of the eight algorithms that its heuristic ranks highest. Both results are
//! compared with float64.

use std::error::Error;
use std::time::Duration;

use cudarc::cublaslt::sys::{self, cudaDataType_t};
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{GemmInput, Plan};
use cute_runtime::{Device, Element, ElementType, Tensor, bf16, e4m3, f16};

use crate::cublaslt::Product;
use crate::{ROUNDS, interleave, median};

/// Microseconds of one timed run, at least: many products where they are short, so that the resolution of the events and the
/// time of the first launch are irrelevant.
const RUN: f64 = 500.0;
/// The most products of one timed run.
const MOST: u32 = 100;
/// After how many elements a matrix repeats them: a prime number.
const PERIOD: usize = 15_485_863;
/// The shape of the products of other types than bf16.
const OF_TYPES: [usize; 3] = [8192, 8192, 8192];
/// Rows of A of the products with few of them, and their N and K.
const FEW: ([usize; 6], [[usize; 2]; 5]) = (
    [1, 8, 16, 64, 128, 256],
    [
        [4096, 7168],
        [7168, 2048],
        [8192, 8192],
        [12_288, 4096],
        [28_672, 8192],
    ],
);
/// Classes of shapes where none are given: M, N, K.
const CLASSES: [(&str, &[[usize; 3]]); 3] = [
    (
        "large",
        &[
            [2048, 2048, 2048],
            [4096, 4096, 4096],
            [8192, 8192, 8192],
            [16_384, 16_384, 16_384],
            [4096, 24_576, 1536],
            [8192, 28_672, 4096],
            [8192, 4096, 28_672],
            [2048, 32_000, 4096],
        ],
    ),
    (
        "middle",
        &[
            [1000, 1000, 1000],
            [1024, 1024, 1024],
            [1536, 1536, 1536],
            [3072, 3072, 3072],
        ],
    ),
    ("odd", &[[8192, 3000, 5000], [4099, 4101, 4096]]),
];

/// Prints a row for each shape, given as `M,N,K` or by default.
pub(crate) fn table(device: &Device, shapes: &[String]) -> Result<(), Box<dyn Error>> {
    // SAFETY: the call only loads the library, which runs NVIDIA's own initialisers. They have no requirements.
    if !unsafe { sys::is_culib_present() } {
        println!("no cuBLASLt here: nothing to compare with");
        return Ok(());
    }
    println!("TFLOP/s, median of {ROUNDS} interleaved runs");
    println!(
        "{:>22} {:>5} {:>5} {:>8} {:>8} {:>6} {:>9} {:>9}  tile",
        "M x N x K", "A, B", "D", "ours", "cuBLASLt", "ratio", "error", "its error"
    );
    let few = FEW.0.map(|m| FEW.1.map(|[n, k]| [m, n, k])).concat();
    let mut classes = CLASSES.to_vec();
    classes.push(("few rows", &few));
    let given = parse(shapes)?;
    if !given.is_empty() {
        classes = vec![("given", &given)];
    }
    for (name, shapes) in classes {
        let mut product = 1.0;
        for &shape in shapes {
            product *= compare::<bf16, bf16>(device, shape, bf16::from_f32)?;
        }
        let mean = f64::powf(product, 1.0 / shapes.len() as f64);
        println!("{name}: geometric mean of the ratios {mean:.3}");
    }
    if shapes.is_empty() {
        compare::<f16, f16>(device, OF_TYPES, f16::from_f32)?;
        compare::<f16, f32>(device, OF_TYPES, f16::from_f32)?;
        compare::<f32, f32>(device, OF_TYPES, |x| x)?;
        compare::<e4m3, bf16>(device, OF_TYPES, e4m3::from_f32)?;
        compare::<e4m3, f32>(device, OF_TYPES, e4m3::from_f32)?;
        compare::<i8, i32>(device, OF_TYPES, |x| (x * 50.0) as i8)?;
    }
    Ok(())
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

fn parse(shapes: &[String]) -> Result<Vec<[usize; 3]>, Box<dyn Error>> {
    shapes
        .iter()
        .map(|shape| {
            let extents = shape
                .split(',')
                .map(str::parse)
                .collect::<Result<Vec<usize>, _>>()?;
            <[usize; 3]>::try_from(extents).map_err(|_| format!("`{shape}` is not M,N,K").into())
        })
        .collect()
}

/// Measures one shape with normally distributed numbers as elements, prints its row and returns the ratio.
fn compare<T, D>(
    device: &Device,
    [m, n, k]: [usize; 3],
    element: fn(f32) -> T,
) -> Result<f64, Box<dyn Error>>
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
    let (host_a, host_b) = (random(1, m * k), random(2, n * k));
    let a = Tensor::from_slice(device, &host_a, [m, k])?;
    let b = Tensor::from_slice(device, &host_b, [n, k])?;
    let mut ours = Tensor::<D, 2>::zeros(device, [m, n])?;
    let theirs = Tensor::<D, 2>::zeros(device, [m, n])?;
    let workspace = device.zeros::<u8>(Product::WORKSPACE)?;
    // SAFETY: `device` is device 0 and allocates in its primary context. Either that context or none is current on this
    // thread, so cuBLASLt uses it. The workspace outlives the product.
    let product = unsafe {
        Product::new(
            (m, n, k),
            data_type(T::TYPE)?,
            data_type(D::TYPE)?,
            workspace.address(),
        )?
    };

    let plan = Plan::new(device, &a.view(), &b.view(), &ours.view_mut())?;
    let mut run_ours = |count: u32| {
        device.time(|| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|_| {
                Ok(plan.launch(device, &a.view(), &b.view(), &mut ours.view_mut())?)
            })
        })
    };
    let run_theirs = |algorithm: usize, count: u32| {
        device.time(|| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|_| {
                let (a, b, d) = (
                    a.buffer().address(),
                    b.buffer().address(),
                    theirs.buffer().address(),
                );
                // SAFETY: the three addresses are those of packed matrices of the product's shapes and types.
                unsafe { product.run(algorithm, a, b, d) }.map_err(Into::into)
            })
        })
    };

    // Warm up, and find the fastest of cuBLASLt's algorithms for this shape.
    run_ours(3)?;
    let mut fastest = (Duration::MAX, 0);
    for algorithm in 0..product.algorithms() {
        run_theirs(algorithm, 3)?;
        let times = (0..3)
            .map(|_| run_theirs(algorithm, 10))
            .collect::<Result<Vec<_>, _>>()?;
        fastest = fastest.min((median(times), algorithm));
    }
    let once = fastest.0.as_secs_f64() * 1e6 / 10.0;
    let count = ((RUN / once) as u32).clamp(4, MOST);
    let (our_time, their_time) = interleave(|| run_ours(count), || run_theirs(fastest.1, count))?;

    let operations = 2.0 * m as f64 * n as f64 * k as f64 * f64::from(count);
    let rate = |time: Duration| operations / time.as_secs_f64() / 1e12;
    let error = |d: &Tensor<D, 2>| -> Result<f64, cute_runtime::Error> {
        let d = d.download()?;
        let [a, b] = [Matrix::packed(&host_a, m, k), Matrix::packed(&host_b, n, k)];
        Ok(reference::gemm(a, b, Matrix::packed(&d, m, n)).worst)
    };
    let (mine, yours) = (rate(our_time), rate(their_time));
    println!(
        "{:>22} {:>5} {:>5} {mine:>8.1} {yours:>8.1} {:>6.3} {:>9.2e} {:>9.2e}  {}",
        format!("{m} x {n} x {k}"),
        T::TYPE,
        D::TYPE,
        mine / yours,
        error(&ours)?,
        error(&theirs)?,
        plan.tile(),
    );
    Ok(mine / yours)
}
