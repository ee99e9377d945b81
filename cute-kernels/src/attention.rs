//! Attention: O = softmax(scale · Q · Kᵀ) · V, bf16 in and out.

use cute_runtime::{Device, TensorView, TensorViewMut, bf16};
use kernels::{attention_CAUSAL, attention_D};

use crate::Error;
use crate::extent::{Zeros, extent, is_empty};

/// O = softmax(`scale` · Q · Kᵀ) · V for each of B batches and heads: Q and O have shape (B, M, D), and K and V have shape
/// (B, N, D), with D 64 or 128 and their last mode contiguous.
///
/// The softmax is over the keys, of which there are N. If `causal`, query i sees keys 0 to i only: the diagonal starts at the top
/// left, also where M and N differ, as in `scaled_dot_product_attention` of PyTorch with `is_causal`. Products are summed up in
/// f32, and the softmax is computed in f32 and rounded to bf16 before it is multiplied by V. Scores may have any size up to the
/// largest f32. A score of −∞ has the weight 0, and a row that sees a score of +∞ or NaN is NaN.
///
/// Rows of K that a query does not see have no effect. Rows of V that it does not see may have one, if they hold a NaN or an
/// infinity. A CTA computes 192 rows of O, or 128 for D = 128, and leaves out the rows of V that none of these sees. It multiplies
/// the other rows of V by the weights. A weight is 0 for a key that is not seen, and 0 times a NaN or an infinity is NaN. The
/// memory-efficient path of PyTorch does the same with other tiles, and its math path multiplies all rows of V.
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
/// If the shapes do not fit together, an extent is larger than 2³¹ − 1, the scale is not positive and finite, the grid
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
    // The instance, and the queries of a tile. There is one tile for each CTA. The result is right for any number of CTAs.
    let instance = match d {
        64 => Some((attention_D::_64, 192)),
        128 => Some((attention_D::_128, 128)),
        _ => None,
    };
    let fits = k.shape() == [heads, keys, d] && v.shape() == k.shape() && o.shape() == q.shape();
    let (Some((d, rows)), true) = (instance, fits) else {
        let found = [
            ("q", &q.shape()[..]),
            ("k", &k.shape()),
            ("v", &v.shape()),
            ("o", &o.shape()),
        ];
        let needs = "q and o of shape (B, M, D), and k and v of (B, N, D), with D 64 or 128";
        return Err(Error::shapes("attention", needs, &found));
    };
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::AttentionScale { scale });
    }
    if is_empty(&o.shape()) {
        return Ok(());
    }
    if keys == 0 {
        // Without keys O is 0, as it is for one value of 0.
        let zeros = Zeros::new(device, q.shape()[2])?;
        let one = zeros.view([heads, 1, q.shape()[2]])?;
        return attention(device, &zeros.like(q)?, &one, &one, o, causal, scale);
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
    // Tiles of a causal attention take different times. So each is a CTA, which starts when another ends.
    let most = match causal {
        attention_CAUSAL::_true => limit,
        attention_CAUSAL::_false => device.multiprocessor_count(),
    };
    let grid = (ctas as u32).min(most);
    // A scale above the largest f32 chooses the largest score, as the largest f32 does.
    let scale = f64::from(scale) * std::f64::consts::LOG2_E;
    let scale = scale.min(f32::MAX.into()) as f32;
    kernels::attention::launch(
        d, causal, device, grid, q, k, v, o, heads, queries, keys, scale,
    )?;
    Ok(())
}

/// The kernel and its instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::mma::kernels::TiledMma;
    use crate::parts::ring::kernels::Ring;

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
        Config {
            consumers: if d == 64 { 3 } else { 2 },
            keys: if d == 64 || causal { 128 } else { 176 },
            registers: if d == 64 { (32, 160) } else { (24, 240) },
        }
    }

    /// Stages of the rings of keys and of values.
    pub const STAGES: u32 = 2;

    const NEG_INFINITY: f32 = f32::NEG_INFINITY;

    /// CTA number i of n computes the tiles i, i + n, i + 2n, … of O. Warpgroup 0 loads by TMA, and each other computes 64 rows.
    /// `scale` is for exponents of 2.
    #[kernel(threads = 128 * (1 + config(D, CAUSAL).consumers))]
    #[instances(cfg(feature = "core"), D in [64, 128], CAUSAL in [false, true])]
    pub fn attention<const D: u32, const CAUSAL: bool>(
        q: TmaLoad<bf16, 3>,
        k: TmaLoad<bf16, 3>,
        v: TmaLoad<bf16, 3>,
        o: TmaStore<bf16, 3>,
        heads: u32,
        queries: u32,
        keys: u32,
        scale: f32,
    ) {
        let cfg = config(D, CAUSAL);
        let (rows, atom) = (64 * cfg.consumers, smem_atom::<bf16>(K, SW128));
        let sq = smem::<bf16>(tile_to_shape(atom, (rows, D, 1)));
        let sk = smem::<bf16>(tile_to_shape(atom, (cfg.keys, D, STAGES)));
        let atom = smem_atom::<bf16>(MN, SW128);
        let sv = smem::<bf16>(tile_to_shape(atom, (D, cfg.keys, STAGES), (1, 0, 2)));
        let q_ring = Ring::<1, 1, 1>::new(cfg.consumers);
        let k_ring = Ring::<{ STAGES }, 1, 1>::new(cfg.consumers);
        let v_ring = Ring::<{ STAGES }, 1, 1>::new(cfg.consumers);

        let tiles = ceil_div(queries, rows);
        // Head, first query and number of visible keys of a tile. The last tiles of each head come first: if causal, they take
        // longest.
        let place = |tile| {
            let first = (tiles - 1 - tile % tiles) * rows;
            let last = if CAUSAL {
                min(first + rows, queries)
            } else {
                keys
            };
            (tile / tiles, first, min(keys, last))
        };
        let mut tile = block_idx().0;
        if warpgroup() == 0 {
            setmaxnreg_dec(cfg.registers.0);
            if thread() == 0 {
                let (mut qs, mut ks) = (q_ring.producer(), k_ring.producer());
                let mut vs = v_ring.producer();
                while tile < heads * tiles {
                    let (head, first, seen) = place(tile);
                    for step in 0..ceil_div(seen, cfg.keys) {
                        ks.load(k, (head, step * cfg.keys, 0), sk);
                        // Q comes after the first keys, which need not wait until the previous tile is stored.
                        if step == 0 {
                            qs.load(q, (head, first, 0), sq);
                        }
                        vs.load(v, (head, step * cfg.keys, 0), select(sv, 1, 0, 2));
                    }
                    tile += grid_dim().0;
                }
            }
        } else {
            setmaxnreg_inc(cfg.registers.1);
            let index = warpgroup() - 1;
            let (all, one) = (named_barriers(1), named_barriers(cfg.consumers));
            // The products for the scores and for O.
            let qk = TiledMma::<f32, 64, { cfg.keys }>::new(index);
            let pv = TiledMma::<f32, 64, D>::new(index);
            let (s, acc) = (qk.fragment_c(), pv.fragment_c());
            let mine = qk.partition_a(sq[(_, _, 0)]);
            let (mut qs, mut ks) = (q_ring.consumer(), k_ring.consumer());
            let mut vs = v_ring.consumer();
            // The largest score so far and the sum of the exponentials, for each row.
            let (m, l) = (fragment::<f32>(s, 1), fragment::<f32>(s, 1));
            while tile < heads * tiles {
                let (head, first, seen) = place(tile);
                let steps = ceil_div(seen, cfg.keys);
                let row = first + 64 * index;
                let visible = |i| if CAUSAL { min(keys, row + i + 1) } else { keys };
                // The start is finite, so that its difference from a score of −∞ is no NaN.
                fill(m, f32::MIN);
                fill(l, 0.0);
                qs.wait();
                let stage = ks.wait();
                qk.gemm(s, mine, sk[(_, _, stage)], false);
                wgmma_wait(0);
                ks.release(stage);
                mask(s, 0, visible);
                let p = convert::<bf16>(softmax(s, m, l, scale).0);
                for step in 1..steps {
                    // The next scores are computed along with the products of the previous values.
                    let stage = ks.wait();
                    qk.gemm(s, mine, sk[(_, _, stage)], false);
                    let before = vs.wait();
                    pv.gemm(acc, p, sv[(_, _, before)], step > 1);
                    wgmma_wait(1);
                    ks.release(stage);
                    mask(s, step * cfg.keys, visible);
                    let (x, old) = softmax(s, m, l, scale);
                    wgmma_wait(0);
                    vs.release(before);
                    acc *= old;
                    copy(convert::<bf16>(x), p);
                }
                let before = vs.wait();
                // For keys past the end TMA has loaded zeros. Between the last visible key and the end it has loaded other keys.
                let end = seen - (steps - 1) * cfg.keys;
                if CAUSAL && seen < keys && end < cfg.keys {
                    clear_columns(sv[(_, _, before)], end, cfg.consumers * 128);
                    fence_proxy_async();
                    bar_sync(all, cfg.consumers * 128);
                }
                pv.gemm(acc, p, sv[(_, _, before)], steps > 1);
                wgmma_wait(0);
                vs.release(before);
                acc *= rcp_fast(l);
                // Once the products are complete in one warp, all warps have read Q, so O takes its place.
                copy(convert::<bf16>(acc), mine);
                fence_proxy_async();
                bar_sync(one + index, 128);
                if warpgroup_thread() == 0 {
                    tma_store(mine, o, (head, row, 0));
                    tma_commit();
                    tma_wait_read(0);
                }
                qs.release(0);
                tile += grid_dim().0;
            }
        }
    }

    /// Sets the scores of keys that a row does not see to −∞. Row i sees `visible(i)` keys, and `first` is the key of column 0.
    fn mask(s: Fragment, first: u32, visible: impl Fn(u32) -> u32) {
        if first + 2 * size(s) > visible(0) {
            let sees = |i, j| first + j < visible(i);
            let seen = map(s, |x, (i, j)| if sees(i, j) { x } else { NEG_INFINITY });
            copy(seen, s);
        }
    }

    /// Sets the columns of a tile from `first` on to 0, by `threads` threads of the last warpgroups. These columns are the values
    /// of keys that no row of a tile of O sees. Their weights are 0, and 0 times a NaN or an infinity would be NaN.
    fn clear_columns(v: Tensor, first: u32, threads: u32) {
        let (vectors, columns) = (size(get(v, 0)) / 8, size(get(v, 1)));
        let zero = fragment::<bf16>((8, 1));
        fill(zero, 0.0);
        let mut i = first * vectors + thread() - 128;
        while i < columns * vectors {
            copy(
                zero,
                zipped_divide(v, (8, 1))[(_, (i % vectors, i / vectors))],
            );
            i += threads;
        }
    }

    /// The exponentials of more scores, and the factor for the sums so far. Updates `m`, the largest scores, and `l`, the sums.
    fn softmax(s: Fragment, m: Fragment, l: Fragment, scale: f32) -> (Fragment, Fragment) {
        let top = max(m, reduce(s, 1, max));
        let old = exp2_fast((m - top) * scale);
        // The difference comes first: it is 0 for the largest score, and rounded as a small number, however large the scores are.
        let p = exp2_fast((s - top) * scale);
        l *= old;
        l += reduce(p, 1, add);
        copy(top, m);
        (p, old)
    }
}
