//! The feed-forward part of a transformer in two kernels: H = SwiGLU(X·Wᵀ), where rows of W are gates and gated numbers in turn,
//! and Y = X + scale · H·Vᵀ. Both are the product of `cute_kernels::lib` with an epilogue over whole fragments.

use cute_kernels::reference::normal;
use cute_runtime::{Device, Tensor, bf16};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::{
        NARROW, SQUARE, gated, linear_combination, multiply, silu, store_by_tma, tiles,
    };

    /// h[i, j] = SiLU(x · w[2j]) · (x · w[2j + 1]), where w has `n` rows.
    #[kernel(threads = 384)]
    pub fn swiglu(
        x: TmaLoad<bf16, 2>,
        w: TmaLoad<bf16, 2>,
        h: TmaStore<bf16, 2>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<SQUARE>(1, m, n);
        multiply::<_, _, _, SQUARE>(x, w, tiles, k, |acc, consumer, (batch, row, column), _| {
            store_by_tma(gated(acc, silu), h, consumer, (batch, row, column / 2));
        });
        tma_wait_read(0);
    }

    /// y = x + scale · h · vᵀ.
    #[kernel(threads = 384)]
    pub fn add_product(
        h: TmaLoad<bf16, 2>,
        v: TmaLoad<bf16, 2>,
        x: Global<bf16, 2>,
        y: TmaStore<bf16, 2>,
        m: u32,
        n: u32,
        k: u32,
        scale: f32,
    ) {
        let tiles = tiles::<NARROW>(1, m, n);
        multiply::<_, _, _, NARROW>(h, v, tiles, k, |acc, consumer, at, _| {
            let sum = linear_combination(scale, acc, 1.0, x, at);
            store_by_tma(sum, y, consumer, at);
        });
        tma_wait_read(0);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default();
    // Tokens, numbers of a token, and numbers of a token between the two products.
    let (tokens, model, inner) = (72, 136, 200);
    let (x, w, v) = (
        normal(1, tokens * model),
        normal(2, 2 * inner * model),
        normal(3, model * inner),
    );
    let xt = Tensor::from_slice(&device, &x, [tokens, model])?;
    let wt = Tensor::from_slice(&device, &w, [2 * inner, model])?;
    let vt = Tensor::from_slice(&device, &v, [model, inner])?;
    let mut h = Tensor::<bf16, 2>::zeros(&device, [tokens, inner])?;
    let mut y = Tensor::<bf16, 2>::zeros(&device, [tokens, model])?;
    let [m, n, k] = [tokens, 2 * inner, model].map(|extent| extent as u32);
    kernels::swiglu::launch(
        &device,
        4,
        &xt.view(),
        &wt.view(),
        &mut h.view_mut(),
        m,
        n,
        k,
    )?;
    let scale = 0.01;
    kernels::add_product::launch(
        &device,
        4,
        &h.view(),
        &vt.view(),
        &xt.view(),
        &mut y.view_mut(),
        m,
        k,
        n / 2,
        scale,
    )?;

    let (h, y) = (h.download()?, y.download()?);
    let dot = |a: &[bf16], b: &[bf16]| -> f64 {
        a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
    };
    let error = |found: bf16, exact: f64| {
        assert!(!found.is_nan());
        (found.to_f64() - exact).abs() / exact.abs().max(1.0)
    };
    let mut worst = [0f64; 2];
    for (i, token) in x.chunks(model).enumerate() {
        for (j, rows) in w.chunks(2 * model).enumerate() {
            let (gate, up) = (dot(token, &rows[..model]), dot(token, &rows[model..]));
            let exact = gate / (1.0 + (-gate).exp()) * up;
            worst[0] = worst[0].max(error(h[i * inner + j], exact));
        }
        for (j, row) in v.chunks(inner).enumerate() {
            // From the numbers that the first kernel has rounded.
            let sum = dot(&h[i * inner..][..inner], row);
            let exact = token[j].to_f64() + f64::from(scale) * sum;
            worst[1] = worst[1].max(error(y[i * model + j], exact));
        }
    }
    // Half the distance of neighbours in bf16, and the error of a sum in f32.
    let allowed = 1.0 / 256.0 + 1e-4;
    println!("device    {}", device.name());
    println!("computed  H = SwiGLU(X · Wᵀ), {tokens} × {inner} numbers of bf16 from sums in f32");
    println!(
        "          Y = X + {scale} · H · Vᵀ, {tokens} × {model} numbers of bf16 from sums in f32"
    );
    println!(
        "error     relative, or absolute for results below 1, against float64; rounding allows {allowed:.1e}"
    );
    println!(
        "          {:.1e} is the largest of H, and {:.1e} of Y",
        worst[0], worst[1]
    );
    assert!(worst.iter().all(|worst| *worst <= allowed));
    Ok(())
}
