//! The largest absolute values of a product's rows, and matrices that are quantised by them.

use std::sync::Once;

use cute_kernels::quantise::kernels::quantise_rows_types;
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, Quantised, quantise_rows};
use cute_ptxas::Ptxas;
use cute_runtime::{Device, Element, Kernel, Tensor, bf16, e4m3, e5m2, f16};

use crate::device;

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::{
        Config, NARROW, SINGLE, SQUARE, THIN, absmax_of_rows, multiply, of_columns, store_by_tma,
        store_pieces_by_tma, tiles,
    };

    /// D = A · Bᵀ + a number for each column, and the largest absolute values of its rows, matrix by matrix.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instances(CFG in [SINGLE, NARROW, THIN])]
    pub fn absmax<const CFG: Config>(
        a: TmaLoad<bf16, 3>,
        b: TmaLoad<bf16, 3>,
        columns: Global<f32, 1>,
        d: TmaStore<f32, 3>,
        #[facts(extent(largest, 1) == m)] largest: Global<f32, 2>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, at, _| {
            let of_matrix = largest[(min(at.0, extent(largest, 0) - 1), _)];
            let sums = |piece, (_, row, column), _| {
                let sums = piece + of_columns(columns, piece, column);
                absmax_of_rows(sums, of_matrix, (row, column), n);
                sums
            };
            store_pieces_by_tma(acc, sums, d, consumer, at, 256);
        });
        tma_wait_read(0);
    }

    /// D = A · Bᵀ with the largest absolute values of its rows, of all accumulators at once.
    #[kernel(threads = 384)]
    #[instances(CFG in [SINGLE, SQUARE])]
    pub fn absmax_at_once<const CFG: Config>(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        d: TmaStore<bf16, 2>,
        largest: Global<f32, 1>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<CFG>(1, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, (batch, row, column), _| {
            absmax_of_rows(acc, largest, (row, column), n);
            store_by_tma(acc, d, consumer, (batch, row, column));
        });
        tma_wait_read(0);
    }
}

/// The largest absolute value of numbers that are no NaN.
fn largest<T: Copy + Into<f64>>(row: &[T]) -> f64 {
    row.iter().map(|&x| x.into().abs()).fold(0.0, f64::max)
}

/// D and the largest values of its rows, of which the first have these numbers.
fn run(
    device: &Device,
    config: kernels::absmax_CFG,
    [batches, m, n, k]: [usize; 4],
    (a, b, columns): (&[bf16], &[bf16], &[f32]),
    first: f32,
) -> Result<(Vec<f32>, Vec<f32>), Error> {
    let at = Tensor::from_slice(device, a, [batches, m, k])?;
    let bt = Tensor::from_slice(device, b, [batches, n, k])?;
    let columns = Tensor::from_slice(device, columns, [n])?;
    let mut d = Tensor::<f32, 3>::zeros(device, [batches, m, n])?;
    let mut found = Tensor::from_slice(device, &vec![first; batches * m], [batches, m])?;
    kernels::absmax::launch(
        config,
        device,
        4,
        &at.view(),
        &bt.view(),
        &columns.view(),
        &mut d.view_mut(),
        &mut found.view_mut(),
        batches as u32,
        m as u32,
        n as u32,
        k as u32,
    )?;
    Ok((d.download()?, found.download()?))
}

/// Extents that no tile divides: rows and columns outside of D would have the largest values of all, since the last column's number is
/// added there, too.
#[test]
fn rows_have_their_largest_absolute_values() -> Result<(), Error> {
    let device = device();
    for extents in [[1, 70, 132, 72], [3, 200, 300, 40]] {
        let [batches, m, n, k] = extents;
        let (a, b) = (normal(1, batches * m * k), normal(2, batches * n * k));
        let mut columns: Vec<f32> = normal(3, n).iter().map(|x| x.to_f32()).collect();
        columns[n - 1] = 0.0;
        for config in kernels::absmax_CFG::ALL {
            let (d, found) = run(&device, config, extents, (&a, &b, &columns), 0.0)?;
            let rows: Vec<f64> = d.chunks(n).map(largest).collect();
            assert_eq!(found, rows.iter().map(|x| *x as f32).collect::<Vec<_>>());
            for batch in 0..batches {
                let d = &d[batch * m * n..][..m * n];
                let sums = d.iter().enumerate().map(|(at, x)| x - columns[at % n]);
                let found = reference::gemm(
                    Matrix::packed(&a[batch * m * k..][..m * k], m, k),
                    Matrix::packed(&b[batch * n * k..][..n * k], n, k),
                    Matrix::packed(&sums.collect::<Vec<f32>>(), m, n),
                );
                assert!(found.is_rounding(1e-5, 5), "{found:?}");
            }
            // What was there is raised, not replaced.
            let (_, found) = run(&device, config, extents, (&a, &b, &columns), 20.0)?;
            let raised = rows.iter().map(|x| x.max(20.0) as f32);
            assert_eq!(found, raised.collect::<Vec<_>>());
        }
        // The last column's number is the largest by far, outside of D as well as inside.
        columns[n - 1] = -1e6;
        let config = kernels::absmax_CFG::NARROW;
        let (d, found) = run(&device, config, extents, (&a, &b, &columns), 0.0)?;
        let rows = d.chunks(n).map(|row| largest(row) as f32);
        assert_eq!(found, rows.collect::<Vec<_>>());
    }
    Ok(())
}

/// Numbers of columns outside of D are what `of_columns` gives there: that of the last column, which is added to no sum.
#[test]
fn columns_outside_do_not_count() -> Result<(), Error> {
    let device = device();
    let (m, n, k) = (8, 4, 8);
    // The last column is -100 + 100.
    let a = vec![bf16::ONE; m * k];
    let mut b = vec![bf16::ZERO; n * k];
    b[(n - 1) * k] = bf16::from_f32(-100.0);
    let columns = [1.0, 2.0, -3.0, 100.0];
    for config in kernels::absmax_CFG::ALL {
        let (_, found) = run(&device, config, [1, m, n, k], (&a, &b, &columns), 0.0)?;
        assert_eq!(found, [3.0; 8]);
    }
    Ok(())
}

#[test]
fn a_nan_is_no_largest_value() -> Result<(), Error> {
    let device = device();
    let (m, n, k) = (8, 4, 8);
    let mut a = vec![bf16::ONE; m * k];
    let mut b = vec![bf16::ONE; n * k];
    // All of row 2, and a column of all rows.
    a[2 * k] = bf16::NAN;
    b[k] = bf16::NAN;
    // A row with an infinite number.
    a[5 * k] = bf16::NEG_INFINITY;
    let (d, found) = run(
        &device,
        kernels::absmax_CFG::NARROW,
        [1, m, n, k],
        (&a, &b, &[0.0; 4]),
        0.0,
    )?;
    assert!(d[2 * n].is_nan() && d[1].is_nan());
    assert_eq!(found, [8.0, 8.0, 0.0, 8.0, 8.0, f32::INFINITY, 8.0, 8.0]);
    Ok(())
}

/// The largest tile leaves few registers for an epilogue.
#[test]
fn largest_values_take_no_spills() {
    let Some(ptxas) = Ptxas::find() else {
        return;
    };
    for ptx in [
        kernels::absmax_SINGLE::PTX,
        kernels::absmax_NARROW::PTX,
        kernels::absmax_THIN::PTX,
        kernels::absmax_at_once_SINGLE::PTX,
        kernels::absmax_at_once_SQUARE::PTX,
    ] {
        let report = ptxas.assemble(ptx, "sm_90a").unwrap();
        assert!(report.complaints().is_empty(), "{:?}", report.complaints());
    }
}

/// Tiles come in another order under each schedule.
#[test]
fn largest_values_do_not_notice_the_schedule() -> Result<(), Error> {
    let extents = [2, 130, 300, 72];
    let [batches, m, n, k] = extents;
    let (a, b) = (normal(1, batches * m * k), normal(2, batches * n * k));
    let columns = vec![0.0; n];
    for config in kernels::absmax_CFG::ALL {
        let found = |seed| {
            let device = Device::emulator_with_seed(seed);
            run(&device, config, extents, (&a, &b, &columns), 0.0)
        };
        let expected = found(1)?;
        for seed in 2..4 {
            assert!(found(seed)? == expected, "seed {seed}");
        }
    }
    Ok(())
}

/// Elements of Y.
trait Quantum: Quantised + Into<f64> {
    /// How far a quotient may be rounded, if it has this absolute value.
    fn half(quotient: f64) -> f64;
}

/// Half of the last place of a number with so many bits after the point, and at least that of the smallest normal one.
fn half(quotient: f64, fraction: i32, least: i32) -> f64 {
    let exponent = quotient.abs().log2().floor().max(least.into());
    (exponent - f64::from(fraction) - 1.0).exp2()
}

impl Quantum for e4m3 {
    fn half(quotient: f64) -> f64 {
        half(quotient, 3, -6)
    }
}

impl Quantum for e5m2 {
    fn half(quotient: f64) -> f64 {
        half(quotient, 2, -14)
    }
}

impl Quantum for i8 {
    fn half(_: f64) -> f64 {
        0.5
    }
}

/// A matrix with rows of `pads` more elements than those of X and of Y.
fn check<X, Y>(
    device: &Device,
    [m, n]: [usize; 2],
    pads: [usize; 2],
    from: fn(f32) -> X,
    guard: Y,
) -> Result<(), Error>
where
    X: Element + Into<f64> + quantise_rows_types<Y>,
    Y: Quantum + PartialEq,
{
    let [ldx, ldy] = pads.map(|pad| n + pad);
    let mut x: Vec<X> = normal(5, m * ldx)
        .iter()
        .map(|x| from(x.to_f32()))
        .collect();
    // Row 0 has no largest value.
    x[..n].fill(from(0.0));
    let mut rows: Vec<f32> = x.chunks(ldx).map(|row| largest(&row[..n]) as f32).collect();
    // An element of the last row is beyond its largest value.
    rows[m - 1] *= 0.75;
    let buffer = device.upload(&x)?;
    let most = Tensor::from_slice(device, &rows, [m])?;
    let mut to = device.upload(&vec![guard; m * ldy])?;
    let mut scales = Tensor::<f32, 1>::zeros(device, [m])?;
    quantise_rows(
        device,
        &buffer.view(0, [m, n], [ldx, 1])?,
        &most.view(),
        &mut to.view_mut(0, [m, n], [ldy, 1])?,
        &mut scales.view_mut(),
    )?;
    let (y, scales) = (to.download()?, scales.download()?);
    for i in 0..m {
        assert_eq!(scales[i], rows[i] / Y::LARGEST, "scale {i}");
        for j in 0..n {
            let (x, found): (f64, f64) = (x[i * ldx + j].into(), y[i * ldy + j].into());
            let quotient = match scales[i] {
                0.0 => 0.0,
                scale => (x as f32 / scale).clamp(-Y::LARGEST, Y::LARGEST).into(),
            };
            let error = (found - quotient).abs();
            assert!(
                error <= Y::half(quotient),
                "({i}, {j}) of {m} x {n}, {} to {}: {found}, not {quotient}",
                X::TYPE,
                Y::TYPE
            );
        }
        assert!(y[i * ldy + n..][..ldy - n].iter().all(|y| *y == guard));
    }
    Ok(())
}

#[test]
pub(crate) fn rows_are_quantised() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| each_row_is_quantised().unwrap());
}

fn each_row_is_quantised() -> Result<(), Error> {
    fn types<Y: Quantum + PartialEq>(device: &Device, guard: Y) -> Result<(), Error>
    where
        bf16: quantise_rows_types<Y>,
        f16: quantise_rows_types<Y>,
        f32: quantise_rows_types<Y>,
    {
        // Rows of any stride, some of several tiles.
        for (shape, pads) in [([3, 7], [0, 0]), ([17, 1040], [0, 16]), ([9, 2053], [3, 1])] {
            check(device, shape, pads, bf16::from_f32, guard)?;
            check(device, shape, pads, f16::from_f32, guard)?;
            check(device, shape, pads, |x| x, guard)?;
        }
        Ok(())
    }
    let device = device();
    types(&device, e4m3::from_bits(0x2a))?;
    types(&device, e5m2::from_bits(0x2a))?;
    types(&device, 0x2ai8)
}

#[test]
fn what_is_not_a_number_is_quantised() -> Result<(), Error> {
    let device = device();
    let x = Tensor::from_slice(&device, &[f32::NAN, 2.0, -1e-45, 0.0], [2, 2])?;
    let largest = Tensor::from_slice(&device, &[2.0, 1e-45], [2])?;
    let mut scales = Tensor::<f32, 1>::zeros(&device, [2])?;
    let mut y = Tensor::<e4m3, 2>::zeros(&device, [2, 2])?;
    quantise_rows(
        &device,
        &x.view(),
        &largest.view(),
        &mut y.view_mut(),
        &mut scales.view_mut(),
    )?;
    let found = y.download()?;
    assert!(found[0].to_f32().is_nan());
    assert_eq!(
        found[1..].iter().map(|y| y.to_f32()).collect::<Vec<_>>(),
        [448.0, 0.0, 0.0]
    );
    assert_eq!(scales.download()?, [2.0 / 448.0, 0.0]);
    let mut y = Tensor::<i8, 2>::zeros(&device, [2, 2])?;
    quantise_rows(
        &device,
        &x.view(),
        &largest.view(),
        &mut y.view_mut(),
        &mut scales.view_mut(),
    )?;
    assert_eq!(y.download()?, [0, 127, 0, 0]);
    Ok(())
}
