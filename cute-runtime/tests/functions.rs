//! The functions of the kernel language whose results are not exact are within the errors that `docs/kernel-language.md`
//! states; all others give the same bits on every device.
//!
//! Every test runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use devices::devices;

use cute_runtime::{Device, Tensor};
use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// Threads of a CTA.
const THREADS: u32 = 256;

#[cute_runtime::kernels]
mod kernels {
    /// Each function of x, and of x and y.
    ///
    /// # Safety
    ///
    /// x and y have `count` elements, and `out` has as many columns and 20 rows.
    #[kernel(threads = 256)]
    pub unsafe fn inexact(x: Global<f32, 1>, y: Global<f32, 1>, out: Global<f32, 2>, count: u32) {
        let i = block_idx().0 * 256 + thread();
        if i < count {
            let (a, b) = (x[i], y[i]);
            out[(0, i)] = exp(a);
            out[(1, i)] = log(a);
            out[(2, i)] = log2(a);
            out[(3, i)] = tanh(a);
            out[(4, i)] = erf(a);
            out[(5, i)] = exp2(a);
            out[(6, i)] = rsqrt(a);
            out[(7, i)] = sqrt_fast(a);
            out[(8, i)] = rsqrt_fast(a);
            out[(9, i)] = rcp_fast(a);
            out[(10, i)] = div_fast(a, b);
            out[(11, i)] = exp2_fast(a);
            out[(12, i)] = exp_fast(a);
            out[(13, i)] = log2_fast(a);
            out[(14, i)] = log_fast(a);
            out[(15, i)] = sin_fast(a);
            out[(16, i)] = cos_fast(a);
            out[(17, i)] = tanh_fast(a);
            out[(18, i)] = sin(a);
            out[(19, i)] = cos(a);
        }
    }

    /// Functions with one result.
    ///
    /// # Safety
    ///
    /// x and y have a multiple of 256 elements, and `out` has as many columns and 24 rows.
    #[kernel(threads = 256)]
    pub unsafe fn exact(x: Global<f32, 1>, y: Global<f32, 1>, out: Global<f32, 2>) {
        let t = thread();
        let i = block_idx().0 * 256 + t;
        let (a, b) = (x[i], y[i]);
        out[(0, i)] = sqrt(a);
        out[(1, i)] = rcp(a);
        out[(2, i)] = fma(a, b, b);
        out[(3, i)] = floor(a);
        out[(4, i)] = ceil(a);
        out[(5, i)] = trunc(a);
        out[(6, i)] = round(a);
        out[(7, i)] = round_ties_even(a);
        out[(8, i)] = copysign(a, b);
        out[(9, i)] = abs(a);
        out[(10, i)] = min(a, b);
        out[(11, i)] = max(a, b);
        out[(12, i)] = clamp(a, -1.5, 2.5);
        out[(13, i)] = shfl_idx(a, (t * 5) % 32);
        out[(14, i)] = shfl_up(a, 3, 16);
        out[(15, i)] = shfl_down(a, t % 32);
        out[(16, i)] = shfl_bfly(b, 5, 8);
        let bits = ptx!(u32: "mov.b32", a);
        let sum = redux_add(bits)
            ^ redux_min(bits)
            ^ vote_ballot(a < b)
            ^ match_any(t % 7)
            ^ popc(vote_ballot(elect()));
        out[(17, i)] = (sum % 65536) as f32;
        let (p, q, r, s) = philox((i, 1, 2, 3), (4, 5));
        out[(18, i)] = ((p ^ q ^ r ^ s) >> 8) as f32;
        let field = bfe(bits, 3, 9) + clz(bits) + trailing_zeros(bits) + brev(bits) % 256;
        out[(19, i)] = field as f32;
        out[(20, i)] = (mul_hi(bits, bfi(bits, i, 4, 20)) >> 8) as f32;
        // Atomic operations, whose results do not depend on the order of the threads.
        let counts = smem::<u32>(4);
        if t < 4 {
            counts[t] = 0;
        }
        sync_threads();
        atomic_add(counts, 0, bits % 1000);
        atomic_max(counts, 1, bits % 1000, RELAXED, CTA);
        atomic_xor(counts, 2, bits % 1000);
        let old = atomic_inc(counts, 3, 99);
        sync_threads();
        out[(21, i)] = (counts[0] + counts[1] + counts[2] + counts[3]) as f32;
        out[(22, i)] = (redux_max(old) <= 99) as u32 as f32;
        out[(23, i)] = (clock64() > 0 && globaltimer() > 0) as u32 as f32;
    }
}

/// Functions of f64.
#[cute_runtime::kernels]
mod double {
    /// Each function of x.
    #[kernel(threads = 256)]
    pub fn functions(
        x: Global<f64, 1>,
        #[facts(extent(out, 0) == 5, extent(out, 1) == extent(x, 0))] out: Global<f64, 2>,
    ) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            out[(0, i)] = exp(x[i]);
            out[(1, i)] = exp2(x[i]);
            out[(2, i)] = log(x[i]);
            out[(3, i)] = log2(x[i]);
            out[(4, i)] = tanh(x[i]);
        }
    }
}

#[test]
fn functions_of_f64_are_within_their_errors() -> Result<(), cute_runtime::Error> {
    let mut numbers = vec![
        0.0,
        1.0,
        0.5,
        0.55,
        709.8,
        -745.2,
        1023.9,
        -1074.6,
        f64::INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::NAN,
    ];
    let mut state = 1u64;
    for step in 0..60_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        numbers.push(match step % 4 {
            0 => f64::from_bits(state),
            1 => unit * 1500.0 - 750.0,
            2 => unit * 2.0,
            _ => unit * 30.0 - 15.0,
        });
    }
    numbers.extend(numbers.clone().iter().map(|x| -x));
    type Row = (&'static str, fn(f64) -> f64, u64);
    let rows: [Row; 5] = [
        ("exp", f64::exp, 1),
        ("exp2", f64::exp2, 1),
        ("log", f64::ln, 1),
        ("log2", f64::log2, 2),
        ("tanh", f64::tanh, 3),
    ];
    for device in devices(1) {
        let x = Tensor::from_slice(&device, &numbers, [numbers.len()])?;
        let mut out = Tensor::<f64, 2>::zeros(&device, [5, numbers.len()])?;
        let grid = numbers.len().div_ceil(256) as u32;
        double::functions::launch(&device, grid, &x.view(), &mut out.view_mut())?;
        let found = out.download()?;
        for ((name, function, limit), found) in rows.iter().zip(found.chunks(numbers.len())) {
            for (x, found) in numbers.iter().zip(found) {
                let value = function(*x);
                let same = value.is_nan() && found.is_nan();
                let apart = match same {
                    true => 0,
                    false => (value.to_bits() as i64).abs_diff(found.to_bits() as i64),
                };
                assert!(apart <= *limit, "{name}({x:e}) is {found:e}, not {value:e}");
            }
        }
    }
    Ok(())
}

/// Tensors in the shared memory of other CTAs.
#[cute_runtime::kernels]
mod peers {
    /// Each CTA of a cluster writes a swizzled tile, and reads that of the next one by vectors, elements and atomic operations.
    #[kernel(threads = 64, cluster = (4, 1, 1))]
    pub fn rotate(
        #[facts(extent(x, 0) % 32 == 0, extent(x, 1) == 64)] x: Global<f32, 2>,
        #[facts(extent(y, 0) == extent(x, 0), extent(y, 1) == 66)] y: Global<f32, 2>,
    ) {
        let tile = smem::<f32>(tile_to_shape(smem_atom::<f32>(K, SW128), (8, 64)));
        let count = smem::<u32>(1);
        let held = fragment::<f32>(layout!(((16,4),(4,2)):((4@1,2@0),(1@1,1@0))));
        let rank = cluster_ctarank();
        let next = (rank + 1) % 4;
        copy_or(local_tile(x, (8, 64), (block_idx().0, 0)), held, 0.0);
        copy(held, tile);
        if thread() == 0 {
            count[0] = 0;
        }
        sync_cluster();
        copy(peer(tile, next), held);
        atomic_add(peer(count, next), 0, thread() + rank, RELAXED, CLUSTER);
        let first = peer(tile, next)[(7, thread())];
        sync_cluster();
        copy_inside(held, local_tile(y, (8, 64), (block_idx().0, 0)));
        let last = shfl_idx(first, 31);
        let row = block_idx().0 * 8;
        if thread() == 0 && row < extent(y, 0) {
            y[(row, 64)] = count[0] as f32;
            y[(row, 65)] = last;
        }
    }
}

#[test]
fn tiles_of_other_ctas_are_read() -> Result<(), cute_runtime::Error> {
    const ROWS: usize = 64;
    let numbers: Vec<f32> = (0..ROWS * 64).map(|i| i as f32).collect();
    for device in devices(2) {
        let x = Tensor::from_slice(&device, &numbers, [ROWS, 64])?;
        let mut y = Tensor::<f32, 2>::zeros(&device, [ROWS, 66])?;
        peers::rotate::launch(&device, ROWS as u32 / 8, &x.view(), &mut y.view_mut())?;
        let found = y.download()?;
        for cta in 0..ROWS / 8 {
            let next = cta / 4 * 4 + (cta + 1) % 4;
            for row in 0..8 {
                let start = (cta * 8 + row) * 66;
                let own = (next * 8 + row) * 64;
                assert_eq!(
                    found[start..start + 64],
                    numbers[own..own + 64],
                    "{cta}, {row}"
                );
            }
            let before = (cta + 3) % 4;
            assert_eq!(found[cta * 8 * 66 + 64], (2016 + 64 * before) as f32);
            assert_eq!(found[cta * 8 * 66 + 65], numbers[(next * 8 + 7) * 64 + 31]);
        }
    }
    Ok(())
}

/// A table that the module brings along.
#[cute_runtime::kernels]
mod tables {
    /// What each value of 4 bits stands for.
    const SQUARES: [f32; 16] = [
        0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0, 81.0, 100.0, 121.0, 144.0, 169.0, 196.0,
        225.0,
    ];

    /// Two values of each byte.
    #[kernel(threads = 256)]
    pub fn dequantise(
        x: Global<u8, 1>,
        #[facts(extent(out, 0) == extent(x, 0), extent(out, 1) == 2)] out: Global<f32, 2>,
    ) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            let byte = x[i] as u32;
            out[(i, 0)] = SQUARES[byte % 16];
            out[(i, 1)] = SQUARES[byte / 16];
        }
    }
}

#[test]
fn tables_are_looked_up() -> Result<(), cute_runtime::Error> {
    let bytes: Vec<u8> = (0..=255).collect();
    let expected: Vec<f32> = bytes
        .iter()
        .flat_map(|byte| [byte % 16, byte / 16].map(|i| f32::from(i).powi(2)))
        .collect();
    for device in devices(2) {
        let x = Tensor::from_slice(&device, &bytes, [256])?;
        for _ in 0..2 {
            let mut out = Tensor::<f32, 2>::zeros(&device, [256, 2])?;
            tables::dequantise::launch(&device, 1, &x.view(), &mut out.view_mut())?;
            assert_eq!(out.download()?, expected);
        }
    }
    Ok(())
}

/// Powers of f32 and of f64.
#[cute_runtime::kernels]
mod powers {
    /// x to the power of y.
    #[kernel(threads = 256)]
    #[instances(T in [f32, f64])]
    pub fn power<T: Element>(
        x: Global<T, 1>,
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<T, 1>,
        #[facts(extent(out, 0) == extent(x, 0))] out: Global<T, 1>,
    ) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            out[i] = pow(x[i], y[i]);
        }
    }

    /// The approximation.
    #[kernel(threads = 256)]
    pub fn power_fast(
        x: Global<f32, 1>,
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
        #[facts(extent(out, 0) == extent(x, 0))] out: Global<f32, 1>,
    ) {
        let i = block_idx().0 * 256 + thread();
        if i < extent(x, 0) {
            out[i] = pow_fast(x[i], y[i]);
        }
    }
}

/// Numbers and exponents: all pairs of special ones, and pairs whose power is a number. Of these, y · log₂ |x| is from −`range` to
/// `range`.
fn pairs(range: f64, special: &[f64]) -> Vec<(f64, f64)> {
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for x in special {
        pairs.extend(special.iter().map(|y| (*x, *y)));
    }
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for step in 0..60_000 {
        let log = match step % 4 {
            0 => (2.0 * random() - 1.0) * range,
            1 => 2.0 * random() - 1.0,
            2 => (2.0 * random() - 1.0) * 1e-4,
            _ => 16.0 * random() - 8.0,
        };
        let x = log.exp2();
        let y = match step % 5 {
            0 => (20.0 * random() - 10.0).round(),
            1 => random() * 4.0 - 2.0,
            _ => (2.0 * random() - 1.0) * range / log,
        };
        pairs.push((
            if step % 5 == 0 && step % 3 == 0 {
                -x
            } else {
                x
            },
            y,
        ));
    }
    pairs
}

const SPECIAL: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    4.0,
    -4.0,
    1.5,
    -1.5,
    1e30,
    -1e30,
    1e-30,
    -1e-30,
    16_777_215.0,
    -16_777_215.0,
    0.999_999_94,
    1.000_000_1,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.5e-45,
    -1.5e-45,
    3e38,
    -3e38,
    127.9,
    -150.3,
    1023.9,
    -1075.5,
    709.8,
];

#[test]
fn powers_are_within_their_errors() -> Result<(), cute_runtime::Error> {
    for device in devices(1) {
        let pairs_of_f32: Vec<(f32, f32)> = pairs(149.0, SPECIAL)
            .iter()
            .map(|(x, y)| (*x as f32, *y as f32))
            .collect();
        let (x, y): (Vec<f32>, Vec<f32>) = pairs_of_f32.into_iter().unzip();
        let count = x.len();
        let grid = count.div_ceil(256) as u32;
        let [a, b] =
            [&x, &y].map(|data| Tensor::from_slice(&device, data, [count]).expect("memory"));
        let mut out = Tensor::<f32, 1>::zeros(&device, [count])?;
        powers::power_f32::launch(&device, grid, &a.view(), &b.view(), &mut out.view_mut())?;
        for ((x, y), found) in x.iter().zip(&y).zip(out.download()?) {
            let value = f64::from(*x).powf((*y).into());
            let error = (f64::from(found) - value).abs() / ulp(value);
            let is_close = match value as f32 {
                nearest if nearest.is_nan() => found.is_nan(),
                nearest if nearest.is_infinite() || value == 0.0 => {
                    found.to_bits() == nearest.to_bits()
                }
                _ => error <= 1.0,
            };
            assert!(
                is_close,
                "pow({x:e}, {y:e}) is {found:e}, not {value:e}: {error} ulp"
            );
        }

        powers::power_fast::launch(&device, grid, &a.view(), &b.view(), &mut out.view_mut())?;
        for ((x, y), found) in x.iter().zip(&y).zip(out.download()?) {
            let (x, y) = (f64::from(*x), f64::from(*y));
            let value = x.powf(y);
            let is_usual = x >= f32::MIN_POSITIVE.into()
                && x.is_finite()
                && y.abs() >= f32::MIN_POSITIVE.into()
                && y.is_finite();
            if !is_usual || value < f32::MIN_POSITIVE.into() || value > f64::from(f32::MAX) * 0.99 {
                continue;
            }
            // Beyond, the error of the logarithm is one of the exponent of the result.
            let exponent = y.abs() * x.log2().abs().max(1.0);
            if exponent > f64::from(1 << 20) {
                continue;
            }
            let limit = 2.0 + 3.5 * exponent;
            let error = (f64::from(found) - value).abs() / ulp(value);
            assert!(
                error <= limit,
                "pow_fast({x:e}, {y:e}) is {found:e}, not {value:e}: {error} ulp, not {limit}"
            );
        }

        let (x, y): (Vec<f64>, Vec<f64>) = pairs(1074.0, SPECIAL).into_iter().unzip();
        let count = x.len();
        let [a, b] =
            [&x, &y].map(|data| Tensor::from_slice(&device, data, [count]).expect("memory"));
        let mut out = Tensor::<f64, 1>::zeros(&device, [count])?;
        powers::power_f64::launch(&device, grid, &a.view(), &b.view(), &mut out.view_mut())?;
        for ((x, y), found) in x.iter().zip(&y).zip(out.download()?) {
            let value = x.powf(*y);
            let apart = match value.is_nan() && found.is_nan() {
                true => 0,
                false => (value.to_bits() as i64).abs_diff(found.to_bits() as i64),
            };
            assert!(apart <= 1, "pow({x:e}, {y:e}) is {found:e}, not {value:e}");
        }
    }
    Ok(())
}

/// A function of x and y in f64, and its largest error at x, given its value.
struct Row {
    name: &'static str,
    value: fn(f64, f64) -> f64,
    error: fn(f64, f64) -> f64,
}

/// The rows of the output of `inexact`.
#[rustfmt::skip]
const INEXACT: &[Row] = &[
    Row { name: "exp", value: |x, _| x.exp(), error: |_, value| 0.87 * ulp(value) },
    Row { name: "log", value: |x, _| x.ln(), error: |_, value| 0.86 * ulp(value) },
    Row { name: "log2", value: |x, _| x.log2(), error: |_, value| 1.6 * ulp(value) },
    Row { name: "tanh", value: |x, _| x.tanh(), error: |_, value| 1.6 * ulp(value) },
    Row { name: "erf", value: |x, _| erf(x), error: |_, value| ulp(value) },
    Row { name: "exp2", value: |x, _| x.exp2(), error: |_, value| 2.0 * ulp(value) },
    Row { name: "rsqrt", value: |x, _| 1.0 / x.sqrt(), error: |_, value| value * 2f64.powf(-22.9) },
    Row { name: "sqrt_fast", value: |x, _| x.sqrt(), error: |_, value| value * 2f64.powi(-23) },
    Row { name: "rsqrt_fast", value: |x, _| 1.0 / x.sqrt(), error: |_, value| value * 2f64.powf(-22.9) },
    Row { name: "rcp_fast", value: |x, _| 1.0 / x, error: |_, value| ulp(value) },
    Row { name: "div_fast", value: div_fast, error: |_, value| 2.0 * ulp(value) },
    Row { name: "exp2_fast", value: |x, _| x.exp2(), error: |_, value| 2.0 * ulp(value) },
    Row { name: "exp_fast", value: |x, _| x.exp(), error: |x, value| (2.0 + (1.173 * x.abs()).floor()) * ulp(value) },
    Row { name: "log2_fast", value: |x, _| x.log2(), error: |x, value| match (0.5..=2.0).contains(&x) {
        true => 2f64.powi(-22),
        false => value.abs() * 2f64.powi(-22),
    } },
    Row { name: "log_fast", value: |x, _| x.ln(), error: |x, value| match (0.5..=2.0).contains(&x) {
        true => 2f64.powf(-21.41),
        false => 3.0 * ulp(value),
    } },
    Row { name: "sin_fast", value: |x, _| x.sin(), error: |x, _| trigonometric(x) },
    Row { name: "cos_fast", value: |x, _| x.cos(), error: |x, _| trigonometric(x) },
    Row { name: "tanh_fast", value: |x, _| x.tanh(), error: |_, value| value.abs() * 2f64.powi(-11) },
    Row { name: "sin", value: |x, _| x.sin(), error: |_, value| 1.6 * ulp(value) },
    Row { name: "cos", value: |x, _| x.cos(), error: |_, value| 1.6 * ulp(value) },
];

/// The distance of the numbers of f32 around a value.
fn ulp(value: f64) -> f64 {
    2f64.powf(value.abs().log2().floor().max(-126.0) - 23.0)
}

fn trigonometric(x: f64) -> f64 {
    match x.abs() / PI {
        0.0..=2.0 => 2f64.powf(-20.5),
        ..=100.0 => 2f64.powf(-14.7),
        _ => 2.0,
    }
}

fn div_fast(x: f64, y: f64) -> f64 {
    match y.abs() > 2f64.powi(126) {
        true => x * (0.0 / y),
        false => x / y,
    }
}

/// The error function by its power series and, where that cancels, by a continued fraction of what is missing to 1.
fn erf(x: f64) -> f64 {
    if x.abs() < 2.0 {
        let (mut power, mut sum) = (x, x);
        for n in 1..80 {
            power *= -x * x / f64::from(n);
            sum += power / f64::from(2 * n + 1);
        }
        return FRAC_2_SQRT_PI * sum;
    }
    let fraction = (1..200)
        .rev()
        .fold(0.0, |rest, n| f64::from(n) / 2.0 / (x.abs() + rest));
    let missing = (-x * x).exp() / (x.abs() + fraction) * FRAC_2_SQRT_PI / 2.0;
    (1.0 - missing).copysign(x)
}

/// Numbers of all magnitudes, infinities, NaNs, and numbers of everyday size.
fn arguments(step: u32) -> Vec<f32> {
    let spread = (0..1 << 16).map(|i: u32| f32::from_bits(i.wrapping_mul(step)));
    let everyday = (0..1 << 13).map(|i: u16| f32::from(i) / 256.0 - 16.0);
    let around_1 = (0x3f7f_f800..0x3f80_0800).map(f32::from_bits);
    let ends = [
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN_POSITIVE,
    ];
    let mut all: Vec<f32> = spread.chain(everyday).chain(around_1).chain(ends).collect();
    all.resize(all.len().next_multiple_of(THREADS as usize), 0.5);
    all
}

/// The rows that a kernel gives for x and y.
fn rows(device: &Device, exact: bool, x: &[f32], y: &[f32]) -> Vec<Vec<f32>> {
    let count = x.len();
    let number = if exact { 24 } else { INEXACT.len() };
    let [x, y] = [x, y].map(|data| Tensor::from_slice(device, data, [count]).expect("memory"));
    let mut out: Tensor<f32, 2> = Tensor::zeros(device, [number, count]).expect("memory");
    let grid = (count as u32).div_ceil(THREADS);
    let launched = match exact {
        // SAFETY: x and y have `count` elements, a multiple of 256, and `out` is as the kernel needs it.
        true => unsafe {
            kernels::exact::launch(device, grid, &x.view(), &y.view(), &mut out.view_mut())
        },
        // SAFETY: as above.
        false => unsafe {
            kernels::inexact::launch(
                device,
                grid,
                &x.view(),
                &y.view(),
                &mut out.view_mut(),
                count as u32,
            )
        },
    };
    launched.expect("a launch");
    let data = out.download().expect("the results");
    data.chunks(count).map(<[f32]>::to_vec).collect()
}

#[test]
fn errors_are_as_stated() {
    let (x, y) = (arguments(65_539), arguments(2_654_435));
    for device in devices(1) {
        for (row, results) in INEXACT.iter().zip(rows(&device, false, &x, &y)) {
            // `tanh` is the approximation that has no `.ftz`.
            let flushes = row.name.ends_with("_fast") && row.name != "tanh_fast";
            let least = f64::from(f32::MIN_POSITIVE);
            let flushed = |value: f64| match flushes && value.abs() < least {
                true => 0f64.copysign(value),
                false => value,
            };
            for ((x, y), result) in x.iter().zip(&y).zip(results) {
                let [x, y] = [*x, *y].map(|x| flushed(x.into()));
                let (value, result) = ((row.value)(x, y), f64::from(result));
                // At the ends of the range, an approximation may be the number, or zero or infinity.
                let small = flushes && value.abs() < least * 1.001 && result == 0.0;
                let large = value.abs() > f64::from(f32::MAX) * 0.999 && result.is_infinite();
                let close = match value {
                    _ if value.is_nan() => result.is_nan(),
                    _ if value.is_infinite() => result == value,
                    0.0 => result == 0.0,
                    _ if small || large => result == 0.0 || (result > 0.0) == (value > 0.0),
                    _ => (result - value).abs() <= (row.error)(x, value),
                };
                let name = row.name;
                assert!(
                    close,
                    "{device:?}: {name} of {x:e}, {y:e}: {result:e}, not {value:e}"
                );
            }
        }
    }
}

#[test]
fn devices_agree() {
    let (x, y) = (arguments(40_503), arguments(69_069));
    let devices = devices(1);
    let expected = rows(&devices[0], true, &x, &y);
    assert_eq!(expected[22], vec![1.0; x.len()]);
    for device in &devices[1..] {
        for (row, (results, expected)) in
            rows(device, true, &x, &y).iter().zip(&expected).enumerate()
        {
            for (i, (result, expected)) in results.iter().zip(expected).enumerate() {
                let same =
                    result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
                assert!(
                    same,
                    "row {row} of {:e}, {:e}: {result:e}, not {expected:e}",
                    x[i], y[i]
                );
            }
        }
    }
}
