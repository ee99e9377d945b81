//! Small launches of the shipped kernels, whose results are exact, so that a correct kernel gives the same bytes under every
//! schedule.

use cute_kernels::attention::kernels::{self, attention_CAUSAL, attention_D};
use cute_kernels::{
    Error, Plan, Tile, gemm_list, histogram, layer_norm, rms_norm, saxpy, softmax, sum, sum_rows,
    transpose,
};
use cute_runtime::{Buffer, Device, Element, Tensor, bf16};

/// A call of a host function.
pub(crate) struct Launch {
    pub(crate) name: &'static str,
    /// Calls it, and returns the bytes of the result and of what lies beside it.
    pub(crate) run: fn(&Device) -> Result<Vec<u8>, Error>,
}

/// More tiles than the emulator has multiprocessors, so that persistent CTAs compute several; more stages of K than their
/// rings have; extents that no tile divides.
pub(crate) const LAUNCHES: &[Launch] = &[
    Launch {
        name: "gemm, stored by TMA",
        run: |device| product(device, Tile::Single, [520, 200, 384], 384, 200),
    },
    Launch {
        name: "gemm, pairs of CTAs",
        run: |device| product(device, Tile::Pair, [900, 200, 328], 328, 200),
    },
    Launch {
        name: "gemm, stored by element",
        run: |device| product(device, Tile::Pair, [900, 200, 200], 200, 201),
    },
    Launch {
        name: "list of products",
        run: |device| listed(device, &[[300, 200, 136], [130, 264, 328], [70, 72, 72]]),
    },
    Launch {
        name: "attention",
        run: |device| scores(device, [5, 260], attention_CAUSAL::_false, 4),
    },
    Launch {
        name: "attention, causal",
        run: |device| scores(device, [2, 400], attention_CAUSAL::_true, 2),
    },
    Launch {
        name: "transpose, stored by TMA",
        run: |device| transposed(device, [72, 40], 72),
    },
    Launch {
        name: "transpose, stored by element",
        run: |device| transposed(device, [72, 40], 73),
    },
    Launch {
        name: "softmax",
        run: |device| {
            let (x, mut y) = (rows(device, 7, 200)?, rows(device, 7, 200)?);
            softmax(device, &x.view(), &mut y.view_mut())?;
            Ok(bytes(&y.download()?))
        },
    },
    Launch {
        name: "softmax of long rows",
        run: |device| {
            let (x, mut y) = (rows(device, 2, 9000)?, rows(device, 2, 9000)?);
            softmax(device, &x.view(), &mut y.view_mut())?;
            Ok(bytes(&y.download()?))
        },
    },
    Launch {
        name: "layer norm",
        run: |device| {
            let (x, mut y) = (rows(device, 7, 1032)?, rows(device, 7, 1032)?);
            let weights = Tensor::from_slice(device, &numbers(1032), [1032])?;
            let (gamma, beta) = (weights.view(), weights.view());
            layer_norm(device, &x.view(), &gamma, &beta, 0.5, &mut y.view_mut())?;
            Ok(bytes(&y.download()?))
        },
    },
    Launch {
        name: "RMS norm",
        run: |device| {
            // Rows of x and of y begin at different bytes modulo 16, but for every fourth.
            let (x, mut y) = (padded(device, 7, 203)?, rows(device, 7, 201)?);
            let x = x.view(0, [7, 201], [203, 1])?;
            let gamma = Tensor::from_slice(device, &numbers(201), [201])?;
            rms_norm(device, &x, &gamma.view(), 0.5, &mut y.view_mut())?;
            Ok(bytes(&y.download()?))
        },
    },
    Launch {
        name: "sum of rows",
        run: |device| {
            let x = rows(device, 7, 9000)?;
            let mut sums = Tensor::<f32, 1>::zeros(device, [7])?;
            sum_rows(device, &x.view(), &mut sums.view_mut())?;
            Ok(bytes(&sums.download()?))
        },
    },
    Launch {
        name: "sum",
        run: |device| {
            let x = Tensor::from_slice(device, &numbers(140_000), [140_000])?;
            let mut total = Tensor::<f32, 1>::zeros(device, [1])?;
            sum(device, &x.view(), &mut total.view_mut())?;
            Ok(bytes(&total.download()?))
        },
    },
    Launch {
        name: "histogram",
        run: |device| {
            let data: Vec<u8> = (0..9000u32).map(|i| (i * i / 7) as u8).collect();
            let data = Tensor::from_slice(device, &data, [9000])?;
            let mut counts = Tensor::<u32, 1>::zeros(device, [256])?;
            histogram(device, &data.view(), &mut counts.view_mut())?;
            Ok(bytes(&counts.download()?))
        },
    },
    Launch {
        name: "saxpy",
        run: |device| {
            let x: Vec<f32> = (0..3001).map(|i| i as f32).collect();
            let x = Tensor::from_slice(device, &x, [3001])?;
            let mut y = Tensor::from_slice(device, &[0.5f32; 3001], [3001])?;
            saxpy(device, 2.0, &x.view(), &mut y.view_mut())?;
            Ok(bytes(&y.download()?))
        },
    },
];

/// A · Bᵀ of small integers, for rows of A and B that are `stride` elements apart and rows of D that are `pitch` apart.
fn product(
    device: &Device,
    tile: Tile,
    [m, n, k]: [usize; 3],
    stride: usize,
    pitch: usize,
) -> Result<Vec<u8>, Error> {
    let (a, b) = (padded(device, m, stride)?, padded(device, n, stride)?);
    let mut d = padded(device, m, pitch)?;
    let (a, b) = (
        a.view(0, [m, k], [stride, 1])?,
        b.view(0, [n, k], [stride, 1])?,
    );
    let mut view = d.view_mut(0, [m, n], [pitch, 1])?;
    let plan = Plan::new(device, &a, &b, &view)?.with_tile(tile)?;
    plan.launch(device, &a, &b, &mut view)?;
    Ok(bytes(&d.download()?))
}

fn listed(device: &Device, shapes: &[[usize; 3]]) -> Result<Vec<u8>, Error> {
    let (mut a, mut b, mut d) = (Vec::new(), Vec::new(), Vec::new());
    for [m, n, k] in shapes {
        a.push(Tensor::new(padded(device, *m, *k)?, [*m, *k], [*k, 1])?);
        b.push(Tensor::new(padded(device, *n, *k)?, [*n, *k], [*k, 1])?);
        d.push(Tensor::new(padded(device, *m, *n)?, [*m, *n], [*n, 1])?);
    }
    let [a, b] = [&a, &b].map(|list| list.iter().map(Tensor::view).collect::<Vec<_>>());
    let mut views: Vec<_> = d.iter_mut().map(Tensor::view_mut).collect();
    gemm_list(device, &a, &b, &mut views)?;
    let all = d.iter().map(|d| Ok(bytes(&d.buffer().download()?)));
    Ok(all.collect::<Result<Vec<_>, Error>>()?.concat())
}

/// Attention by so few CTAs that each computes several tiles, also if it is causal, where the host function has one for each.
fn scores(
    device: &Device,
    [heads, length]: [usize; 2],
    causal: attention_CAUSAL,
    ctas: u32,
) -> Result<Vec<u8>, Error> {
    const D: usize = 64;
    let tensor = |shift: usize| {
        let values = &numbers(heads * length * D + shift)[shift..];
        Tensor::from_slice(device, values, [heads, length, D])
    };
    let (q, k, v, mut o) = (tensor(0)?, tensor(1)?, tensor(2)?, tensor(3)?);
    kernels::attention::launch(
        attention_D::_64,
        causal,
        device,
        ctas,
        &q.view(),
        &k.view(),
        &v.view(),
        &mut o.view_mut(),
        heads as u32,
        length as u32,
        length as u32,
        0.125,
    )?;
    Ok(bytes(&o.download()?))
}

fn transposed(device: &Device, [m, n]: [usize; 2], pitch: usize) -> Result<Vec<u8>, Error> {
    let source = rows(device, m, n)?;
    let mut destination = padded(device, n, pitch)?;
    let mut view = destination.view_mut(0, [n, m], [pitch, 1])?;
    transpose(device, &source.view(), &mut view)?;
    Ok(bytes(&destination.download()?))
}

fn rows(device: &Device, rows: usize, columns: usize) -> Result<Tensor<bf16, 2>, Error> {
    Ok(Tensor::from_slice(
        device,
        &numbers(rows * columns),
        [rows, columns],
    )?)
}

/// Rows with memory behind the last one.
fn padded(device: &Device, rows: usize, stride: usize) -> Result<Buffer<bf16>, Error> {
    Ok(device.upload(&numbers((rows + 1) * stride))?)
}

/// Integers from -3 to 3 without a short period.
fn numbers(count: usize) -> Vec<bf16> {
    let numbers = (0..count as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    numbers
        .map(|x| bf16::from_f32((x % 7) as f32 - 3.0))
        .collect()
}

fn bytes<T: Element>(values: &[T]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.as_bytes().to_vec())
        .collect()
}
