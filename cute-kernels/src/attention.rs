//! Attention: O = softmax(scale · Q · Kᵀ) · V, bf16 in and out.

use cute_runtime::{Device, TensorView, TensorViewMut, bf16};
use kernels::{attention_CAUSAL, attention_D};

use crate::Error;
use crate::extent::extent;

/// O[b] = softmax(`scale` · Q[b] · K[b]ᵀ) · V[b] for each b, which counts batches and heads: Q and O have shape (B, M, D), and K
/// and V have shape (B, N, D), with D 64 or 128 and their last mode contiguous.
///
/// The softmax is over the keys, of which there are N. If `causal`, query i sees keys 0 to i only: the diagonal starts at the top
/// left, also where M and N differ, as in `scaled_dot_product_attention` of PyTorch with `is_causal`. Products are summed up in
/// f32, and the softmax is computed in f32 and rounded to bf16 before it is multiplied by V.
///
/// B, M and N are arbitrary, up to 2³¹ − 1. All rows must start at multiples of 16 bytes, as TMA demands. On a GPU the call
/// returns before O is complete.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let q = Tensor::<bf16, 3>::zeros(&device, [1, 2, 64])?;
/// let k = Tensor::<bf16, 3>::zeros(&device, [1, 3, 64])?;
/// // Equal scores: a row of O is the mean of the rows of V.
/// let v: Vec<bf16> = (0..3 * 64).map(|i| bf16::from_f32((i / 64) as f32)).collect();
/// let v = Tensor::from_slice(&device, &v, [1, 3, 64])?;
/// let mut o = Tensor::<bf16, 3>::zeros(&device, [1, 2, 64])?;
/// cute_kernels::attention(&device, &q.view(), &k.view(), &v.view(), &mut o.view_mut(), false, 0.125)?;
/// assert_eq!(o.download()?, [bf16::ONE; 2 * 64]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes do not fit together, an extent is 0 or larger than 2³¹ − 1, the scale is not positive and finite, the grid
/// would have more than 2³¹ − 1 CTAs, or TMA cannot address an argument. Nothing has been launched then.
pub fn attention(
    device: &Device,
    q: &TensorView<'_, bf16, 3>,
    k: &TensorView<'_, bf16, 3>,
    v: &TensorView<'_, bf16, 3>,
    o: &mut TensorViewMut<'_, bf16, 3>,
    causal: bool,
    scale: f32,
) -> Result<(), Error> {
    let ([heads, queries, d], [_, keys, _]) = (q.shape(), k.shape());
    let instance = match d {
        64 => Some((attention_D::_64, 192)),
        128 => Some((attention_D::_128, 128)),
        _ => None,
    };
    let fits = k.shape() == [heads, keys, d] && v.shape() == k.shape() && o.shape() == q.shape();
    let (Some((d, rows)), true) = (instance, fits) else {
        return Err(Error::AttentionShapes {
            q: q.shape(),
            k: k.shape(),
            v: v.shape(),
            o: o.shape(),
        });
    };
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::AttentionScale { scale });
    }
    let (heads, queries, keys) = (extent(heads)?, extent(queries)?, extent(keys)?);
    let ctas = u64::from(heads) * u64::from(queries.div_ceil(rows));
    let limit = i32::MAX as u32;
    if ctas > limit.into() {
        return Err(Error::AttentionGrid { ctas, limit });
    }
    let causal = match causal {
        true => attention_CAUSAL::_true,
        false => attention_CAUSAL::_false,
    };
    // An empty tensor is refused by the launch, which names it.
    let grid = (ctas as u32).max(1);
    let scale = scale * std::f32::consts::LOG2_E;
    kernels::attention::launch(d, causal, device, grid, q, k, v, o, queries, keys, scale)?;
    Ok(())
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::pipeline::kernels::Ring;

    /// Sizes of an attention.
    pub struct Config {
        /// Warpgroups that compute, 64 queries each.
        pub consumers: u32,
        /// Keys of a stage.
        pub keys: u32,
        /// Registers of each thread of the warpgroup that loads, and of those that compute.
        pub registers: (u32, u32),
    }

    /// The sizes for rows of `d` elements.
    pub fn config(d: u32, causal: bool) -> Config {
        if d == 64 {
            Config {
                consumers: 3,
                keys: 128,
                registers: (32, 160),
            }
        } else {
            Config {
                consumers: 2,
                keys: if causal { 128 } else { 176 },
                registers: (24, 240),
            }
        }
    }

    /// Stages of the rings of keys and of values.
    pub const STAGES: u32 = 2;

    pub const NEG_INFINITY: f32 = -1.0 / 0.0;

    /// A CTA computes 64 rows of O with each of its warpgroups but the first, which loads Q once and K and V in tiles of keys.
    /// `scale` is that of the exponents of 2.
    #[kernel(threads = 128 * (1 + config(D, CAUSAL).consumers))]
    #[instances(D in [64, 128], CAUSAL in [false, true])]
    pub fn attention<const D: u32, const CAUSAL: bool>(
        q: TmaLoad<bf16, 3>,
        k: TmaLoad<bf16, 3>,
        v: TmaLoad<bf16, 3>,
        o: TmaStore<bf16, 3>,
        queries: u32,
        keys: u32,
        scale: f32,
    ) {
        let cfg = config(D, CAUSAL);
        let sq = smem::<bf16>(tile_to_shape(
            smem_atom::<bf16>(K, SW128),
            (64, D, cfg.consumers),
        ));
        let sk = smem::<bf16>(tile_to_shape(
            smem_atom::<bf16>(K, SW128),
            (cfg.keys, D, STAGES),
        ));
        let sv = smem::<bf16>(tile_to_shape(
            smem_atom::<bf16>(MN, SW128),
            (D, cfg.keys, STAGES),
            (1, 0, 2),
        ));
        let ready = mbarriers(1, 1);
        let key_ring = Ring::<{ STAGES }, 1>::new(cfg.consumers);
        let value_ring = Ring::<{ STAGES }, 1>::new(cfg.consumers);

        // Tiles of one head are neighbours, and the last ones, which see most keys if causal, start first.
        let tiles = ceil_div(queries, 64 * cfg.consumers);
        let head = block_idx().0 / tiles;
        let first = (tiles - 1 - block_idx().0 % tiles) * 64 * cfg.consumers;
        let seen = if CAUSAL {
            min(keys, first + 64 * cfg.consumers)
        } else {
            keys
        };
        let steps = ceil_div(seen, cfg.keys);
        if warpgroup() == 0 {
            setmaxnreg_dec(cfg.registers.0);
            if thread() == 0 {
                expect_tx(ready[0], bytes(sq));
                for i in 0..cfg.consumers {
                    tma_load(q, (head, first + 64 * i, 0), sq[(_, _, i)], ready[0]);
                }
                let mut key_stages = key_ring.producer();
                let mut value_stages = value_ring.producer();
                for step in 0..steps {
                    let slot = key_stages.acquire(bytes(sk[(_, _, 0)]));
                    slot.load(k, (head, step * cfg.keys, 0), sk[(_, _, slot.stage)]);
                    let slot = value_stages.acquire(bytes(sv[(_, _, 0)]));
                    slot.load(
                        v,
                        (head, step * cfg.keys, 0),
                        select(sv[(_, _, slot.stage)], 1, 0),
                    );
                }
            }
        } else {
            setmaxnreg_inc(cfg.registers.1);
            let index = warpgroup() - 1;
            let row = first + 64 * index;
            let tile = sq[(_, _, index)];
            let mut key_stages = key_ring.consumer();
            let mut value_stages = value_ring.consumer();
            let s = fragment::<f32>(wgmma_c(cfg.keys));
            let sum = fragment::<f32>(wgmma_c(D));
            // Of each row, the largest score so far, and the sum of exponentials.
            let (m, l) = (fragment::<f32>(s, 1), fragment::<f32>(s, 1));
            for i in 0..size(m) {
                m[i] = NEG_INFINITY;
                l[i] = 0.0;
            }
            // The number of keys that the i-th row sees.
            let visible = |i| if CAUSAL { min(keys, row + i + 1) } else { keys };

            wait(ready[0], 0);
            let stage = key_stages.wait();
            wgmma_fence();
            wgmma(s, tile, sk[(_, _, stage)], false);
            wgmma_commit();
            wgmma_wait(0);
            key_stages.release(stage);
            mask(s, 0, visible);
            let (weights, _) = softmax(s, m, l, scale);
            let p = convert::<bf16>(weights);
            for step in 1..steps {
                // The scores of these keys, and at the same time the values of the keys before.
                let stage = key_stages.wait();
                wgmma_fence();
                wgmma(s, tile, sk[(_, _, stage)], false);
                wgmma_commit();
                let before = value_stages.wait();
                wgmma_fence();
                wgmma(sum, p, sv[(_, _, before)], step > 1);
                wgmma_commit();
                wgmma_wait(1);
                key_stages.release(stage);
                mask(s, step * cfg.keys, visible);
                let (weights, old) = softmax(s, m, l, scale);
                wgmma_wait(0);
                value_stages.release(before);
                sum *= old;
                copy(convert::<bf16>(weights), p);
            }
            let before = value_stages.wait();
            wgmma_fence();
            wgmma(sum, p, sv[(_, _, before)], steps > 1);
            wgmma_commit();
            wgmma_wait(0);
            sum *= rcp_fast(l);

            // All warps have read Q, so O can take its place.
            bar_sync(index + 1, 128);
            copy(convert::<bf16>(sum), tile);
            fence_proxy_async();
            bar_sync(index + 1, 128);
            if warpgroup_thread() == 0 {
                tma_store(tile, o, (head, row, 0));
                tma_commit();
                tma_wait_read(0);
            }
        }
    }

    /// Sets scores to −∞ whose keys a row does not see. `visible(i)` is the number of keys that row i sees, and `first` is the
    /// key of the first column.
    fn mask(s: Fragment, first: u32, visible: impl Fn(u32) -> u32) {
        if first + 2 * size(s) > visible(0) {
            copy(
                map(s, |x, (i, j)| {
                    if first + j < visible(i) {
                        x
                    } else {
                        NEG_INFINITY
                    }
                }),
                s,
            );
        }
    }

    /// One step of a softmax: the exponentials of the scores, and the factor for all that has been summed up before. `m`, the
    /// largest scores so far, and `l`, the sums, are updated.
    fn softmax(s: Fragment, m: Fragment, l: Fragment, scale: f32) -> (Fragment, Fragment) {
        let top = max(m, reduce(s, 1, max));
        let old = exp2_fast((m - top) * scale);
        let p = exp2_fast(fma(s, scale, -top * scale));
        l *= old;
        l += reduce(p, 1, add);
        copy(top, m);
        (p, old)
    }
}
