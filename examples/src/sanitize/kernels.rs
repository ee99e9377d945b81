//! The kernels of `cute-kernels` that the command runs, each with a few shapes.

use cute_kernels::{
    Activation, BlockScaledInput, Epilogue, Error, GemmInput, LinearInput, Plan, ScaledInput, Tile,
    attention, gemm, gemm_block_scaled, gemm_fused, gemm_gated, gemm_grouped, gemm_linear,
    gemm_list, gemm_scaled, gemm_update, histogram, layer_norm, quantise_rows, rms_norm, saxpy,
    softmax, sum, sum_rows, transpose,
};
use cute_runtime::{Device, Element, Tensor, bf16, e4m3, e5m2, f16};

use super::case::{Case, Failure, Outcome};

/// A host function and the shapes on which it runs.
struct Kernel {
    name: &'static str,
    /// The names of the extents of a shape.
    extents: &'static str,
    shapes: &'static [&'static [usize]],
    /// Calls it with exact numbers, and returns the bytes of the result.
    run: fn(&Device, &[usize]) -> Result<Vec<u8>, Error>,
}

const KERNELS: &[Kernel] = &[
    Kernel {
        name: "gemm",
        extents: "m,n,k",
        // One CTA for a tile; pairs of CTAs; stores by element; one tile.
        shapes: &[
            &[520, 200, 384],
            &[600, 200, 328],
            &[300, 201, 192],
            &[64, 64, 64],
        ],
        run: |device, shape| product::<bf16, bf16>(device, shape, true, bf16::from_f32),
    },
    Kernel {
        name: "gemm_f16",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<f16, f16>(device, shape, true, f16::from_f32),
    },
    Kernel {
        name: "gemm_f32",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<f32, f32>(device, shape, true, |x| x),
    },
    Kernel {
        name: "gemm_e4m3",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<e4m3, bf16>(device, shape, true, e4m3::from_f32),
    },
    Kernel {
        name: "gemm_i8",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<i8, i32>(device, shape, true, |x| x as i8),
    },
    // A along M and B along N: read so by wgmma, or copied first.
    Kernel {
        name: "gemm_along_mn",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<bf16, bf16>(device, shape, false, bf16::from_f32),
    },
    Kernel {
        name: "gemm_copied",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<e4m3, f32>(device, shape, false, e4m3::from_f32),
    },
    Kernel {
        name: "gemm_e5m2",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<e5m2, f32>(device, shape, true, e5m2::from_f32),
    },
    // Vectors, for up to 8 rows and for up to 16, and rows that begin anywhere.
    Kernel {
        name: "gemm_streamed",
        extents: "m,n,k",
        shapes: &[
            &[5, 70, 1352],
            &[13, 70, 328],
            &[6, 33, 331],
            &[11, 33, 331],
        ],
        run: streamed,
    },
    Kernel {
        name: "gemm_grouped",
        extents: "rows,n,k",
        shapes: &[&[300, 144, 136], &[135, 71, 99]],
        run: grouped,
    },
    Kernel {
        name: "gemm_list",
        extents: "m,n,k",
        shapes: &[&[140, 136, 72], &[70, 71, 99]],
        run: products,
    },
    Kernel {
        name: "gemm_u8",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| product::<u8, i32>(device, shape, true, |x| x as u8),
    },
    Kernel {
        name: "gemm_scaled",
        extents: "batches,m,n,k",
        shapes: SCALED,
        run: |device, shape| scaled::<e4m3, e4m3, bf16>(device, shape, e4m3s()),
    },
    Kernel {
        name: "gemm_scaled_f16",
        extents: "batches,m,n,k",
        shapes: SCALED,
        run: |device, shape| {
            scaled::<e5m2, e4m3, f16>(device, shape, (e5m2::from_f32, e4m3::from_f32))
        },
    },
    Kernel {
        name: "gemm_scaled_i8",
        extents: "batches,m,n,k",
        shapes: SCALED,
        run: |device, shape| scaled::<i8, i8, bf16>(device, shape, (|x| x as i8, |x| x as i8)),
    },
    Kernel {
        name: "gemm_scaled_u8",
        extents: "batches,m,n,k",
        shapes: SCALED,
        run: |device, shape| scaled::<u8, i8, f32>(device, shape, (|x| x as u8, |x| x as i8)),
    },
    Kernel {
        name: "gemm_block_scaled",
        extents: "batches,m,n,k",
        shapes: SCALED,
        run: |device, shape| block_scaled::<e4m3, e4m3, bf16>(device, shape, e4m3s()),
    },
    Kernel {
        name: "gemm_block_scaled_f32",
        extents: "batches,m,n,k",
        shapes: SCALED,
        run: |device, shape| {
            block_scaled::<e4m3, e5m2, f32>(device, shape, (e4m3::from_f32, e5m2::from_f32))
        },
    },
    Kernel {
        name: "gemm_fused",
        extents: "m,n,k",
        shapes: GEMM,
        run: followed,
    },
    Kernel {
        name: "gemm_linear",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| {
            added::<bf16, bf16>(device, shape, false, (bf16::from_f32, bf16::from_f32))
        },
    },
    Kernel {
        name: "gemm_linear_e4m3",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| added::<e4m3, f32>(device, shape, false, (e4m3::from_f32, |x| x)),
    },
    Kernel {
        name: "gemm_linear_f32",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| added::<f32, f32>(device, shape, false, (|x| x, |x| x)),
    },
    Kernel {
        name: "gemm_update",
        extents: "m,n,k",
        shapes: GEMM,
        run: |device, shape| {
            added::<bf16, bf16>(device, shape, true, (bf16::from_f32, bf16::from_f32))
        },
    },
    Kernel {
        name: "quantise_rows",
        extents: "rows,columns",
        shapes: &[&[9, 1040], &[3, 201]],
        run: |device, shape| {
            let (x, largest) = (rows(device, shape)?, tensor(device, [shape[0]], |_| 3.0)?);
            let mut y = zeros::<i8, 2>(device, [shape[0], shape[1]])?;
            let mut scales = zeros::<f32, 1>(device, [shape[0]])?;
            let (mut to, mut of_rows) = (y.view_mut(), scales.view_mut());
            quantise_rows(device, &x.view(), &largest.view(), &mut to, &mut of_rows)?;
            bytes(&y)
        },
    },
    Kernel {
        name: "attention",
        extents: "heads,length",
        shapes: &[&[3, 260], &[5, 128], &[1, 65]],
        run: |device, shape| scores(device, shape, 64, false),
    },
    Kernel {
        name: "attention_causal",
        extents: "heads,length",
        shapes: &[&[3, 330], &[5, 128], &[1, 65]],
        run: |device, shape| scores(device, shape, 64, true),
    },
    Kernel {
        name: "attention_128",
        extents: "heads,length",
        shapes: &[&[3, 260], &[1, 65]],
        run: |device, shape| scores(device, shape, 128, true),
    },
    Kernel {
        name: "transpose",
        extents: "m,n",
        shapes: &[&[72, 40], &[73, 40], &[200, 136]],
        run: |device, shape| {
            let mut to = zeros::<bf16, 2>(device, [shape[1], shape[0]])?;
            let from = bf16s(device, [shape[0], shape[1]])?;
            transpose(device, &from.view(), &mut to.view_mut())?;
            bytes(&to)
        },
    },
    Kernel {
        name: "softmax",
        extents: "rows,columns",
        shapes: &[&[7, 200], &[3, 201], &[2, 9000]],
        run: |device, shape| {
            let (x, mut y) = (rows(device, shape)?, rows(device, shape)?);
            softmax(device, &x.view(), &mut y.view_mut())?;
            bytes(&y)
        },
    },
    Kernel {
        name: "layer_norm",
        extents: "rows,columns",
        shapes: &[&[7, 1032], &[3, 201], &[2, 9000]],
        run: |device, shape| {
            let (x, mut y) = (rows(device, shape)?, rows(device, shape)?);
            let weights = bf16s(device, [shape[1]])?;
            let (gamma, beta) = (weights.view(), weights.view());
            layer_norm(device, &x.view(), &gamma, &beta, 0.5, &mut y.view_mut())?;
            bytes(&y)
        },
    },
    Kernel {
        name: "rms_norm",
        extents: "rows,columns",
        shapes: &[&[7, 1032], &[3, 201], &[2, 9000]],
        run: |device, shape| {
            let (x, mut y) = (rows(device, shape)?, rows(device, shape)?);
            let gamma = bf16s(device, [shape[1]])?;
            rms_norm(device, &x.view(), &gamma.view(), 0.5, &mut y.view_mut())?;
            bytes(&y)
        },
    },
    Kernel {
        name: "sum_rows",
        extents: "rows,columns",
        shapes: &[&[7, 1000], &[3, 201], &[2, 9000]],
        run: |device, shape| {
            let (x, mut sums) = (rows(device, shape)?, zeros::<f32, 1>(device, [shape[0]])?);
            sum_rows(device, &x.view(), &mut sums.view_mut())?;
            bytes(&sums)
        },
    },
    Kernel {
        name: "sum",
        extents: "n",
        shapes: &[&[9000], &[20_000], &[140_000]],
        run: |device, shape| {
            let (x, mut total) = (bf16s(device, [shape[0]])?, zeros::<f32, 1>(device, [1])?);
            sum(device, &x.view(), &mut total.view_mut())?;
            bytes(&total)
        },
    },
    Kernel {
        name: "histogram",
        extents: "n",
        shapes: &[&[9000], &[9001], &[70_000]],
        run: |device, shape| {
            let data: Vec<u8> = (0..shape[0]).map(|i| (i * i / 7) as u8).collect();
            let data = Tensor::from_slice(device, &data, [shape[0]])?;
            let mut counts = zeros::<u32, 1>(device, [256])?;
            histogram(device, &data.view(), &mut counts.view_mut())?;
            bytes(&counts)
        },
    },
    Kernel {
        name: "saxpy",
        extents: "n",
        shapes: &[&[3001], &[4096]],
        run: |device, shape| {
            let x: Vec<f32> = (0..shape[0]).map(|i| i as f32).collect();
            let x = Tensor::from_slice(device, &x, [shape[0]])?;
            let mut y = zeros::<f32, 1>(device, [shape[0]])?;
            saxpy(device, 2.0, &x.view(), &mut y.view_mut())?;
            bytes(&y)
        },
    },
];

/// Shapes of products: one that TMA takes, and one whose rows it does not.
const GEMM: &[&[usize]] = &[&[264, 144, 208], &[135, 70, 99]];

/// The same in batches.
const SCALED: &[&[usize]] = &[&[1, 264, 144, 208], &[3, 70, 45, 99]];

/// A line for each kernel, with the extents of its shapes.
pub(super) fn list() -> impl Iterator<Item = String> {
    KERNELS.iter().map(|kernel| {
        let shapes: Vec<String> = kernel.shapes.iter().map(|shape| shown(shape)).collect();
        format!(
            "  {:21} {}: {}",
            kernel.name,
            kernel.extents,
            shapes.join("; ")
        )
    })
}

/// The cases of a kernel, or of all: of its own shapes, unless others are given.
pub(super) fn cases(name: &str, shapes: &[Vec<usize>]) -> Result<Vec<Case>, String> {
    let kernels: Vec<&Kernel> = KERNELS
        .iter()
        .filter(|kernel| kernel.name == name || name == "all")
        .collect();
    if kernels.is_empty() {
        return Err(format!("no kernel is called {name}; --help lists them"));
    }
    let mut cases = Vec::new();
    for kernel in kernels {
        let own = || kernel.shapes.iter().map(|shape| shape.to_vec()).collect();
        let shapes: Vec<Vec<usize>> = if shapes.is_empty() {
            own()
        } else {
            shapes.to_vec()
        };
        for shape in shapes {
            let wanted = kernel.extents.split(',').count();
            if shape.len() != wanted {
                let (name, extents, given) = (kernel.name, kernel.extents, shape.len());
                return Err(format!(
                    "a shape of {name} has {wanted} extents, {extents}; --shape has {given}"
                ));
            }
            cases.push(case(kernel, shape));
        }
    }
    Ok(cases)
}

fn case(kernel: &'static Kernel, shape: Vec<usize>) -> Case {
    Case {
        kernel: kernel.name.to_owned(),
        shape: shown(&shape),
        run: Box::new(move |options| {
            let device = Device::emulator_with(options);
            let result = (kernel.run)(&device, &shape);
            Outcome {
                result: result.map_err(|error| failure(&error)),
                counts: device.take_counts().unwrap_or_default(),
                trace: device.take_trace(),
            }
        }),
    }
}

fn failure(error: &Error) -> Failure {
    let reason = match error {
        Error::Runtime(cute_runtime::Error::Emulator { error, .. }) => Some(error),
        _ => None,
    };
    Failure::new(error.to_string(), reason)
}

/// `520 x 200 x 384`.
fn shown(shape: &[usize]) -> String {
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    extents.join(" x ")
}

/// A · Bᵀ, of matrices along K or along M and N.
fn product<T: GemmInput<D>, D: Element>(
    device: &Device,
    shape: &[usize],
    along_k: bool,
    from: fn(f32) -> T,
) -> Result<Vec<u8>, Error> {
    let [m, n, k] = [shape[0], shape[1], shape[2]];
    let matrix = |rows: usize| {
        let shape = if along_k { [rows, k] } else { [k, rows] };
        tensor(device, shape, from)
    };
    let (a, b, mut d) = (matrix(m)?, matrix(n)?, zeros::<D, 2>(device, [m, n])?);
    let modes = if along_k { [0, 1] } else { [1, 0] };
    let (a, b) = (a.view().select(modes)?, b.view().select(modes)?);
    gemm(device, &a, &b, &mut d.view_mut())?;
    bytes(&d)
}

/// A · Bᵀ for an A of few rows, by the tile for few rows.
fn streamed(device: &Device, shape: &[usize]) -> Result<Vec<u8>, Error> {
    let [m, n, k] = [shape[0], shape[1], shape[2]];
    let (a, b) = (bf16s(device, [m, k])?, bf16s(device, [n, k])?);
    let mut d = zeros::<bf16, 2>(device, [m, n])?;
    let plan = Plan::new(device, &a.view(), &b.view(), &d.view_mut())?;
    let plan = plan.with_tile(Tile::Streamed)?;
    plan.launch(device, &a.view(), &b.view(), &mut d.view_mut())?;
    bytes(&d)
}

/// The rows of A, in an empty group and two others, by a matrix of each.
fn grouped(device: &Device, shape: &[usize]) -> Result<Vec<u8>, Error> {
    let [m, n, k] = [shape[0], shape[1], shape[2]];
    let (a, b) = (bf16s(device, [m, k])?, bf16s(device, [3, n, k])?);
    let ends = Tensor::from_slice(device, &[0, m as i32 / 3, m as i32], [3])?;
    let mut d = zeros::<bf16, 2>(device, [m, n])?;
    let (a, b, ends) = (a.view(), b.view(), ends.view());
    gemm_grouped(device, &a, &b, &ends, &mut d.view_mut())?;
    bytes(&d)
}

/// Two products, the second of half of the extents.
fn products(device: &Device, shape: &[usize]) -> Result<Vec<u8>, Error> {
    let halves = [1, 2].map(|by| [shape[0] / by, shape[1] / by, shape[2] / by]);
    let (mut a, mut b, mut d) = (Vec::new(), Vec::new(), Vec::new());
    for [m, n, k] in halves {
        a.push(bf16s(device, [m, k])?);
        b.push(bf16s(device, [n, k])?);
        d.push(zeros::<bf16, 2>(device, [m, n])?);
    }
    let [a, b] = [&a, &b].map(|list| list.iter().map(Tensor::view).collect::<Vec<_>>());
    let mut views: Vec<_> = d.iter_mut().map(Tensor::view_mut).collect();
    gemm_list(device, &a, &b, &mut views)?;
    let all = d.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
    Ok(all.concat())
}

/// Functions from a number to an element of A and of B, or of D.
type From<A, B> = (fn(f32) -> A, fn(f32) -> B);

fn e4m3s() -> From<e4m3, e4m3> {
    (e4m3::from_f32, e4m3::from_f32)
}

/// A · Bᵀ with a scale for each row of A, and one for each matrix of B.
fn scaled<A, B, D>(device: &Device, shape: &[usize], from: From<A, B>) -> Result<Vec<u8>, Error>
where
    A: ScaledInput<D, B>,
    B: ScaledInput<D, A>,
    D: Element,
{
    let [batches, m, n, k] = [shape[0], shape[1], shape[2], shape[3]];
    let a = tensor(device, [batches, m, k], from.0)?;
    let b = tensor(device, [batches, n, k], from.1)?;
    let rows = tensor(device, [batches, m], |x| x)?;
    let all = tensor(device, [batches, 1], |x| x)?;
    let mut d = zeros::<D, 3>(device, [batches, m, n])?;
    let (a, b, rows, all) = (a.view(), b.view(), rows.view(), all.view());
    gemm_scaled(device, &a, &rows, &b, &all, &mut d.view_mut())?;
    bytes(&d)
}

/// A · Bᵀ with scales of 1 × 128 and 128 × 128 elements.
fn block_scaled<A, B, D>(
    device: &Device,
    shape: &[usize],
    from: From<A, B>,
) -> Result<Vec<u8>, Error>
where
    A: BlockScaledInput<D, B>,
    B: BlockScaledInput<D, A>,
    D: Element,
{
    let [batches, m, n, k] = [shape[0], shape[1], shape[2], shape[3]];
    let a = tensor(device, [batches, m, k], from.0)?;
    let b = tensor(device, [batches, n, k], from.1)?;
    let scales = |rows| tensor(device, [batches, rows, k.div_ceil(128)], |x| x);
    let (scale_a, scale_b) = (scales(m)?, scales(n.div_ceil(128))?);
    let mut d = zeros::<D, 3>(device, [batches, m, n])?;
    gemm_block_scaled(
        device,
        &a.view(),
        &scale_a.view(),
        &b.view(),
        &scale_b.view(),
        &mut d.view_mut(),
    )?;
    bytes(&d)
}

/// silu(2 · A · Bᵀ - C + bias), and its first half as gates of the second.
fn followed(device: &Device, shape: &[usize]) -> Result<Vec<u8>, Error> {
    let [m, n, k] = [shape[0], shape[1], shape[2]];
    let tensor = |shape| tensor(device, shape, bf16::from_f32);
    let (a, b, c) = (tensor([m, k])?, tensor([n, k])?, tensor([m, n])?);
    let (a, b, c) = (a.view(), b.view(), c.view());
    let bias = Tensor::from_slice(device, &vec![bf16::ONE; n], [n])?;
    let (bias, mut d) = (bias.view(), zeros::<bf16, 2>(device, [m, n])?);
    let epilogue = Epilogue::new().scale(2.0).bias(&bias).residual(-1.0, &c);
    let epilogue = epilogue.activation(Activation::Silu);
    gemm_fused(device, &a, &b, epilogue, &mut d.view_mut())?;
    let half = n / 2;
    let mut gated = zeros::<bf16, 2>(device, [m, half])?;
    let (b, epilogue) = (
        b.slice(0, 0..2 * half)?,
        Epilogue::new().activation(Activation::Silu),
    );
    gemm_gated(device, &a, &b, epilogue, &mut gated.view_mut())?;
    Ok([bytes(&d)?, bytes(&gated)?].concat())
}

/// 2 · A · Bᵀ - C, beside C or in its place.
fn added<T: LinearInput<D>, D: Element>(
    device: &Device,
    shape: &[usize],
    in_place: bool,
    (from, to): From<T, D>,
) -> Result<Vec<u8>, Error> {
    let [m, n, k] = [shape[0], shape[1], shape[2]];
    let (a, b) = (tensor(device, [m, k], from)?, tensor(device, [n, k], from)?);
    let mut c = tensor(device, [m, n], to)?;
    let (a, b) = (a.view(), b.view());
    if in_place {
        gemm_update(device, 2.0, &a, &b, -1.0, &mut c.view_mut())?;
        return bytes(&c);
    }
    let mut d = zeros::<D, 2>(device, [m, n])?;
    gemm_linear(device, 2.0, &a, &b, -1.0, &c.view(), &mut d.view_mut())?;
    bytes(&d)
}

/// Attention with rows of `width`.
fn scores(device: &Device, shape: &[usize], width: usize, causal: bool) -> Result<Vec<u8>, Error> {
    let tensor = || bf16s(device, [shape[0], shape[1], width]);
    let (q, k, v, mut o) = (tensor()?, tensor()?, tensor()?, tensor()?);
    let (q, k, v) = (q.view(), k.view(), v.view());
    attention(device, &q, &k, &v, &mut o.view_mut(), causal, 0.125)?;
    bytes(&o)
}

fn rows(device: &Device, shape: &[usize]) -> Result<Tensor<bf16, 2>, Error> {
    bf16s(device, [shape[0], shape[1]])
}

fn bf16s<const R: usize>(device: &Device, shape: [usize; R]) -> Result<Tensor<bf16, R>, Error> {
    tensor(device, shape, bf16::from_f32)
}

/// Integers from -3 to 3 without a short period, whose sums are exact.
fn tensor<T: Element, const R: usize>(
    device: &Device,
    shape: [usize; R],
    from: fn(f32) -> T,
) -> Result<Tensor<T, R>, Error> {
    let numbers = (0..shape.iter().product::<usize>() as u64)
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40)
        .map(|x| from((x % 7) as f32 - 3.0));
    Ok(Tensor::from_slice(
        device,
        &numbers.collect::<Vec<_>>(),
        shape,
    )?)
}

fn zeros<T: Element, const R: usize>(
    device: &Device,
    shape: [usize; R],
) -> Result<Tensor<T, R>, Error> {
    Ok(Tensor::zeros(device, shape)?)
}

fn bytes<T: Element, const R: usize>(tensor: &Tensor<T, R>) -> Result<Vec<u8>, Error> {
    let values = tensor.download()?;
    Ok(values
        .iter()
        .flat_map(|value| value.as_bytes().to_vec())
        .collect())
}
