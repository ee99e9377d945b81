//! The product beside cuBLASLt's, by the fastest of the eight algorithms that its heuristic ranks highest. Both results are
//! compared with float64.

use std::error::Error;
use std::time::Duration;

use cudarc::cublaslt::sys::{self, cudaDataType_t};
use cute_kernels::GemmInput;
use cute_kernels::reference::{self, Matrix, normal};
use cute_runtime::{Device, Element, ElementType, Tensor, bf16, e4m3, f16};

use crate::cublaslt::Product;
use crate::{ROUNDS, interleave, median};

/// Products of one timed run, enough to make the resolution of the events irrelevant.
const BATCH: u32 = 4;
/// The shape of the products of other types than bf16.
const OF_TYPES: [usize; 3] = [8192, 8192, 8192];
/// Shapes where none are given: M, N, K.
const SHAPES: [[usize; 3]; 7] = [
    [2048, 2048, 2048],
    [4096, 4096, 4096],
    [8192, 8192, 8192],
    [4096, 4096, 7168],
    [4096, 7168, 2048],
    [8192, 28672, 4096],
    [8192, 3000, 5000],
];

/// Prints a row for each shape, given as `M,N,K` or by default.
pub(crate) fn table(device: &Device, shapes: &[String]) -> Result<(), Box<dyn Error>> {
    // SAFETY: the call only loads the library, which runs NVIDIA's own initialisers. They have no requirements.
    if !unsafe { sys::is_culib_present() } {
        println!("no cuBLASLt here: nothing to compare with");
        return Ok(());
    }
    println!("TFLOP/s, median of {ROUNDS} interleaved runs of {BATCH}");
    println!(
        "{:>22} {:>5} {:>5} {:>8} {:>8} {:>6} {:>9} {:>9}",
        "M x N x K", "A, B", "D", "ours", "cuBLASLt", "ratio", "error", "its error"
    );
    for shape in parse(shapes)? {
        compare::<bf16, bf16>(device, shape, bf16::from_f32)?;
        compare::<bf16, f32>(device, shape, bf16::from_f32)?;
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
    if shapes.is_empty() {
        return Ok(SHAPES.to_vec());
    }
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

/// Measures one shape with normally distributed numbers as elements, and prints its row.
fn compare<T, D>(
    device: &Device,
    [m, n, k]: [usize; 3],
    element: fn(f32) -> T,
) -> Result<(), Box<dyn Error>>
where
    T: GemmInput<D> + Into<f64>,
    D: Element + Into<f64>,
{
    let random = |seed, n| -> Vec<T> {
        let numbers = normal(seed, n).into_iter();
        numbers.map(|number| element(number.to_f32())).collect()
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

    let mut run_ours = || {
        device.time(|| -> Result<(), Box<dyn Error>> {
            (0..BATCH).try_for_each(|_| {
                Ok(cute_kernels::gemm(
                    device,
                    &a.view(),
                    &b.view(),
                    &mut ours.view_mut(),
                )?)
            })
        })
    };
    let run_theirs = |algorithm: usize| {
        device.time(|| -> Result<(), Box<dyn Error>> {
            (0..BATCH).try_for_each(|_| {
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
    for _ in 0..3 {
        run_ours()?;
    }
    let mut fastest = (Duration::MAX, 0);
    for algorithm in 0..product.algorithms() {
        run_theirs(algorithm)?;
        let times = (0..3)
            .map(|_| run_theirs(algorithm))
            .collect::<Result<Vec<_>, _>>()?;
        fastest = fastest.min((median(times), algorithm));
    }
    let (our_time, their_time) = interleave(run_ours, || run_theirs(fastest.1))?;

    let operations = 2.0 * m as f64 * n as f64 * k as f64 * f64::from(BATCH);
    let rate = |time: Duration| operations / time.as_secs_f64() / 1e12;
    let error = |d: &Tensor<D, 2>| -> Result<f64, cute_runtime::Error> {
        let d = d.download()?;
        let [a, b] = [Matrix::packed(&host_a, m, k), Matrix::packed(&host_b, n, k)];
        Ok(reference::gemm(a, b, Matrix::packed(&d, m, n)).worst)
    };
    let (mine, yours) = (rate(our_time), rate(their_time));
    println!(
        "{:>22} {:>5} {:>5} {mine:>8.1} {yours:>8.1} {:>6.3} {:>9.2e} {:>9.2e}",
        format!("{m} x {n} x {k}"),
        T::TYPE,
        D::TYPE,
        mine / yours,
        error(&ours)?,
        error(&theirs)?,
    );
    Ok(())
}
