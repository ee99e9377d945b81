//! Attention compared with float64, on lengths near every multiple of a tile.

use std::sync::Once;

use cute_kernels::attention::kernels::{self, attention_CAUSAL, attention_D};
use cute_kernels::reference::normal;
use cute_kernels::{Error, attention};
use cute_runtime::{Device, Tensor, bf16};

use crate::device;

/// Batches and heads, queries, keys, and elements of a row.
#[derive(Clone, Copy, Debug)]
struct Case {
    heads: usize,
    queries: usize,
    keys: usize,
    d: usize,
    causal: bool,
}

/// The inputs and the scale. Scores have a standard deviation of 2, so that a softmax prefers few keys.
fn inputs(case: Case) -> ([Vec<bf16>; 3], f32) {
    let Case {
        heads,
        queries,
        keys,
        d,
        ..
    } = case;
    let (q, kv) = (heads * queries * d, heads * keys * d);
    let scale = 2.0 / (d as f32).sqrt();
    ([normal(1, q), normal(2, kv), normal(3, kv)], scale)
}

/// The result, from tensors with padded rows and a gap between heads, which hold NaN and must not be read or written.
fn compute(device: &Device, case: Case) -> Vec<f64> {
    let Case {
        heads,
        queries,
        keys,
        d,
        causal,
    } = case;
    let ([q, k, v], scale) = inputs(case);
    let stride = d + 8;
    let pad = |values: &[bf16], rows: usize| {
        let mut padded = vec![bf16::NAN; heads * (rows + 1) * stride];
        for (i, row) in values.chunks(d).enumerate() {
            padded[(i / rows * (rows + 1) + i % rows) * stride..][..d].copy_from_slice(row);
        }
        device.upload(&padded).unwrap()
    };
    let (q, k, v) = (pad(&q, queries), pad(&k, keys), pad(&v, keys));
    let mut o = pad(&[], queries);
    let strides = |rows: usize| [(rows + 1) * stride, stride, 1];
    let (of_q, of_k) = ([heads, queries, d], [heads, keys, d]);
    attention(
        device,
        &q.view(0, of_q, strides(queries)).unwrap(),
        &k.view(0, of_k, strides(keys)).unwrap(),
        &v.view(0, of_k, strides(keys)).unwrap(),
        &mut o.view_mut(0, of_q, strides(queries)).unwrap(),
        causal,
        scale,
    )
    .unwrap();
    let o = o.download().unwrap();
    let mut found = Vec::new();
    for (i, row) in o.chunks(stride).enumerate() {
        let written = if i % (queries + 1) < queries { d } else { 0 };
        assert!(
            row[written..].iter().all(|x| x.is_nan()),
            "{case:?}: row {i} written past its end"
        );
        found.extend(row[..written].iter().map(|x| f64::from(*x)));
    }
    found
}

/// For an element of O in float64, the element and the mean of |v| by the same weights.
fn reference(case: Case) -> Vec<(f64, f64)> {
    let Case {
        heads,
        queries,
        keys,
        d,
        causal,
    } = case;
    let ([q, k, v], scale) = inputs(case);
    let row = |x: &[bf16], i: usize| -> Vec<f64> {
        x[i * d..][..d].iter().map(|x| f64::from(*x)).collect()
    };
    let mut expected = Vec::new();
    for i in 0..heads * queries {
        let head = i / queries;
        let seen = if causal {
            keys.min(i % queries + 1)
        } else {
            keys
        };
        let query = row(&q, i);
        let score = |j: usize| -> f64 {
            let key = row(&k, head * keys + j);
            query.iter().zip(key).map(|(x, y)| x * y).sum::<f64>() * f64::from(scale)
        };
        let scores: Vec<f64> = (0..seen).map(score).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let mut result = vec![(0.0, 0.0); d];
        for (j, weight) in weights.iter().enumerate() {
            for (result, v) in result.iter_mut().zip(row(&v, head * keys + j)) {
                result.0 += weight / sum * v;
                result.1 += weight / sum * v.abs();
            }
        }
        expected.extend(result);
    }
    expected
}

/// The weights are rounded to bf16, by at most 2⁻⁸ of themselves, and the result again, by at most 2⁻⁸ of itself. Exponentials
/// and sums in f32 add less than 2⁻¹².
fn check(device: &Device, case: Case, expected: &[(f64, f64)]) {
    let found = compute(device, case);
    for (i, (found, (expected, size))) in found.iter().zip(expected).enumerate() {
        let bound = (expected.abs() + size) / 256.0 + size / 4096.0;
        let error = (found - expected).abs();
        assert!(
            error <= bound,
            "{case:?}: element {} of row {} is {found}, not {expected}: off by {error}, at most {bound}",
            i % case.d,
            i / case.d
        );
    }
}

/// Numbers of queries and keys just below, at and above the multiples of the 64 rows of a warpgroup and the keys of a stage.
const LENGTHS: &[[usize; 2]] = &[
    [1, 1],
    [63, 200],
    [64, 64],
    [65, 63],
    [130, 65],
    [200, 130],
    [200, 200],
    [64, 1],
    [1, 130],
    [193, 385],
];

fn check_lengths(d: usize) {
    let device = device();
    for &[queries, keys] in LENGTHS {
        for causal in [false, true] {
            let case = Case {
                heads: 2,
                queries,
                keys,
                d,
                causal,
            };
            check(&device, case, &reference(case));
        }
    }
}

#[test]
pub(crate) fn attention_of_64_agrees_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| check_lengths(64));
}

#[test]
pub(crate) fn attention_of_128_agrees_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| check_lengths(128));
}

#[test]
fn attention_does_not_notice_the_schedule() {
    let case = Case {
        heads: 1,
        queries: 130,
        keys: 400,
        d: 64,
        causal: true,
    };
    let expected = reference(case);
    for seed in 1..4 {
        check(&Device::emulator_with_seed(seed), case, &expected);
    }
}

/// One CTA computes all tiles in turn, and the result is that of a CTA for each tile.
#[test]
fn attention_does_not_notice_the_number_of_ctas() {
    let device = device();
    for d in [64, 128] {
        for causal in [false, true] {
            let case = Case {
                heads: 3,
                queries: 130,
                keys: 200,
                d,
                causal,
            };
            let ([q, k, v], scale) = inputs(case);
            let (of_q, of_k) = ([3, 130, d], [3, 200, d]);
            let q = Tensor::from_slice(&device, &q, of_q).unwrap();
            let k = Tensor::from_slice(&device, &k, of_k).unwrap();
            let v = Tensor::from_slice(&device, &v, of_k).unwrap();
            let results = [1, 6].map(|grid| {
                let mut o = Tensor::<bf16, 3>::zeros(&device, of_q).unwrap();
                let instance = (
                    match d {
                        64 => attention_D::_64,
                        _ => attention_D::_128,
                    },
                    match causal {
                        false => attention_CAUSAL::_false,
                        true => attention_CAUSAL::_true,
                    },
                );
                kernels::attention::launch(
                    instance.0,
                    instance.1,
                    &device,
                    grid,
                    &q.view(),
                    &k.view(),
                    &v.view(),
                    &mut o.view_mut(),
                    3,
                    130,
                    200,
                    scale,
                )
                .unwrap();
                o.download().unwrap()
            });
            assert!(results[0] == results[1], "{case:?}");
        }
    }
}

/// O of one head, from tensors without gaps.
fn of_one_head(
    device: &Device,
    [q, k, v]: &[Vec<bf16>; 3],
    d: usize,
    causal: bool,
    scale: f32,
) -> Vec<bf16> {
    let tensor =
        |x: &[bf16]| Tensor::<bf16, 3>::from_slice(device, x, [1, x.len() / d, d]).unwrap();
    let (q, k, v) = (tensor(q), tensor(k), tensor(v));
    let mut o = Tensor::<bf16, 3>::zeros(device, q.shape()).unwrap();
    let (q, k, v) = (q.view(), k.view(), v.view());
    attention(device, &q, &k, &v, &mut o.view_mut(), causal, scale).unwrap();
    o.download().unwrap()
}

/// Scores of any size, of which some are as large as the largest. Each is one product, so that no sum of a score is rounded.
#[test]
fn attention_of_large_numbers_agrees_with_float64() {
    let device = device();
    let (queries, keys, d) = (70, 300, 64);
    for (query, factors, scale) in [
        (3e4, [3e4, 3e4, 3e4], 0.125),
        (3e4, [3e4, 2.9e4, -3e4], 0.125),
        (-3e4, [3e4, 2.9e4, 2.8e4], 0.125),
        (1e9, [1.0, 1.0, -1.0], 1.0),
        (1e9, [-1.0, -1.0, -1.0], 0.1),
        (65536.0, [-256.0, -255.0, -254.0], 1.0 / 65536.0),
        (1e19, [1e19, 1e19, -1e19], 1.0),
        (1e19, [-1e19, -1e19, -1e19], 1e-38),
        (1.0, [1.0, 0.5, 1.0], f32::MAX),
        (1.0, [1.0, 0.5, -1e30], 1e-45),
    ] {
        let first = |x: f32, rows: usize| {
            let mut all = vec![bf16::ZERO; rows * d];
            all.iter_mut()
                .step_by(d)
                .for_each(|first| *first = bf16::from_f32(x));
            all
        };
        let q = first(query, queries);
        let mut k = first(0.0, keys);
        for (j, first) in k.iter_mut().step_by(d).enumerate() {
            *first = bf16::from_f32(factors[j * 7 / 5 % 3]);
        }
        let v = normal(3, keys * d);
        let inputs = [q, k, v];
        for causal in [false, true] {
            let o = of_one_head(&device, &inputs, d, causal, scale);
            let [q, k, v] = &inputs;
            for (i, row) in o.chunks(d).enumerate() {
                let seen = if causal { i + 1 } else { keys };
                let score = |j: usize| {
                    let product = q[i * d].to_f64() * k[j * d].to_f64();
                    f64::from(product as f32) * f64::from(scale)
                };
                let top = (0..seen).map(score).fold(f64::MIN, f64::max);
                let weights: Vec<f64> = (0..seen).map(|j| (score(j) - top).exp()).collect();
                let sum: f64 = weights.iter().sum();
                for (column, found) in row.iter().enumerate() {
                    let value = |j: usize| v[j * d + column].to_f64();
                    let parts = weights.iter().enumerate().map(|(j, w)| w / sum * value(j));
                    let (expected, size) = parts.fold((0.0, 0.0), |(sum, size), part: f64| {
                        (sum + part, size + part.abs())
                    });
                    let bound = (expected.abs() + size) / 256.0 + size / 4096.0;
                    assert!(
                        (found.to_f64() - expected).abs() <= bound,
                        "{query:e}, {factors:?}, {scale:e}, causal {causal}: ({i}, {column}) is {found}, not {expected}"
                    );
                }
            }
        }
    }
}

/// NaN and infinities of keys and values that no row of a CTA's tile sees change nothing.
#[test]
fn attention_multiplies_no_value_that_a_tile_does_not_see() {
    for (d, rows) in [(64, 192), (128, 128)] {
        for (queries, keys) in [(1, 130), (130, 200), (200, 300)] {
            let (clean, scale) = inputs(Case {
                heads: 1,
                queries,
                keys,
                d,
                causal: true,
            });
            let expected = of_one_head(&device(), &clean, d, true, scale);
            for first in (0..queries).step_by(rows) {
                let end = queries.min(first + rows);
                let mut dirty = clean.clone();
                for x in &mut dirty[1..] {
                    let hidden = x.chunks_mut(d).skip(end);
                    hidden.enumerate().for_each(|(j, row)| {
                        row.fill([bf16::NAN, bf16::INFINITY, bf16::NEG_INFINITY][j % 3]);
                    });
                }
                let found = of_one_head(&device(), &dirty, d, true, scale);
                assert!(
                    found[..end * d] == expected[..end * d],
                    "{d}: {queries} x {keys}, rows to {end}"
                );
            }
        }
    }
}

#[test]
fn attention_refuses_before_it_launches() {
    let device = Device::emulator();
    let refusal = |q: [usize; 3], k: [usize; 3], v: [usize; 3], scale: f32| {
        let tensor = |shape| Tensor::<bf16, 3>::zeros(&device, shape).unwrap();
        let (of_q, k, v, mut o) = (tensor(q), tensor(k), tensor(v), tensor(q));
        attention(
            &device,
            &of_q.view(),
            &k.view(),
            &v.view(),
            &mut o.view_mut(),
            false,
            scale,
        )
        .unwrap_err()
    };
    let (q, k) = ([2, 3, 64], [2, 5, 64]);
    for (q, k, v) in [
        (q, k, [2, 6, 64]),
        (q, [1, 5, 64], [1, 5, 64]),
        (q, [2, 5, 128], [2, 5, 128]),
        ([2, 3, 96], [2, 5, 96], [2, 5, 96]),
    ] {
        let error = refusal(q, k, v, 1.0);
        assert!(matches!(error, Error::Shapes { .. }), "{error}");
    }
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let error = refusal(q, k, k, scale);
        assert!(matches!(error, Error::AttentionScale { .. }), "{error}");
    }
}
