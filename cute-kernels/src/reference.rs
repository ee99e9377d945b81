//! Float64 references: what a kernel's result is compared with, and random inputs to compare on.

use half::bf16;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// `n` numbers of mean 0 and deviation 1; the same for the same seed.
pub fn normal(seed: u64, n: usize) -> Vec<bf16> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..n)
        .map(|_| bf16::from_f32(StandardNormal.sample(&mut rng)))
        .collect()
}

/// A row-major matrix on the host.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// Elements; row `i` starts at `i * stride`.
    pub data: &'a [T],
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Elements from one row to the next, at least `cols`.
    pub stride: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A matrix without gaps between its rows.
    pub fn packed(data: &'a [T], rows: usize, cols: usize) -> Matrix<'a, T> {
        Matrix {
            data,
            rows,
            cols,
            stride: cols,
        }
    }

    /// Row `i`.
    fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.stride..][..self.cols]
    }
}

/// How far a product is from its float64 reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// The largest `|d − r| / (|r| + √Σ(a·b)²)` over the elements compared; NaN where an element is NaN.
    ///
    /// The denominator does not vanish with `r`: it is the size that a sum of K terms of random sign would have.
    pub worst: f64,
    /// Where it is: row and column.
    pub at: (usize, usize),
    /// How many elements were compared.
    pub compared: usize,
}

impl Deviation {
    /// Whether the deviation is what rounding explains; false for NaN.
    ///
    /// `unit` is the spacing of the output type relative to 1: 2⁻⁸ for bf16, 2⁻²³ for f32. The tensor core truncates its
    /// running sum once for every instruction of 32 bytes of K (MMA-Sim, arXiv 2511.10909); `instructions` counts them.
    pub fn is_rounding(&self, unit: f64, instructions: usize) -> bool {
        self.worst <= unit + (instructions + 1) as f64 * 2f64.powi(-22)
    }
}

/// Compares `d` with `a · bᵀ`: every element where that costs at most 2³⁰ products, else the borders and a sample.
///
/// # Panics
///
/// When the matrices do not fit together or a slice is shorter than its matrix.
pub fn gemm<T, D>(a: Matrix<T>, b: Matrix<T>, d: Matrix<D>) -> Deviation
where
    T: Copy + Into<f64> + Sync,
    D: Copy + Into<f64> + Sync,
{
    assert!(
        a.cols == b.cols && d.rows == a.rows && d.cols == b.rows,
        "shapes do not fit"
    );
    let everything = a.rows * b.rows * a.cols <= 1 << 30;
    let rows = if everything {
        (0..d.rows).collect()
    } else {
        sample(d.rows)
    };
    let cols = if everything {
        (0..d.cols).collect()
    } else {
        sample(d.cols)
    };

    let none = Deviation {
        worst: 0.0,
        at: (0, 0),
        compared: 0,
    };
    rows.par_iter()
        .map(|&i| {
            let x: Vec<f64> = a.row(i).iter().map(|&x| x.into()).collect();
            cols.iter().fold(none, |found, &j| {
                let (mut sum, mut squares) = (0.0, 0.0);
                for (&x, &y) in x.iter().zip(b.row(j)) {
                    let product = x * y.into();
                    sum += product;
                    squares += product * product;
                }
                let got: f64 = d.row(i)[j].into();
                let scale = sum.abs() + squares.sqrt();
                let worst = if got == sum {
                    0.0
                } else {
                    (got - sum).abs() / scale
                };
                worse(
                    found,
                    Deviation {
                        worst,
                        at: (i, j),
                        compared: 1,
                    },
                )
            })
        })
        .reduce(|| none, worse)
}

/// The worse of two deviations, a NaN being the worst, over the elements of both.
fn worse(a: Deviation, b: Deviation) -> Deviation {
    let first = a.worst.is_nan() || a.worst >= b.worst;
    Deviation {
        compared: a.compared + b.compared,
        ..if first { a } else { b }
    }
}

/// Indices below `n`: both ends, and others spread without a common period.
fn sample(n: usize) -> Vec<usize> {
    const INNER: usize = 192;
    let mut picked: Vec<usize> = (0..n.min(16)).chain(n.saturating_sub(16)..n).collect();
    // The golden ratio's multiples modulo 1 fill the interval evenly.
    picked.extend(
        (0..INNER).map(|i| ((i as f64 * 0.618_033_988_749_894_9).fract() * n as f64) as usize),
    );
    picked.sort_unstable();
    picked.dedup();
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_product_deviates_by_nothing() {
        let (a, b) = ([1f32, 2., 3., 4.], [5f32, 6., 7., 8.]);
        let d = [17f32, 23., 39., 53.];
        let found = gemm(
            Matrix::packed(&a, 2, 2),
            Matrix::packed(&b, 2, 2),
            Matrix::packed(&d, 2, 2),
        );
        assert_eq!(
            found,
            Deviation {
                worst: 0.0,
                at: found.at,
                compared: 4
            }
        );
    }

    #[test]
    fn one_wrong_element_is_found_even_when_it_is_nan() {
        let (a, b) = ([1f32, 2., 3., 4.], [5f32, 6., 7., 8.]);
        for wrong in [22f32, f32::NAN] {
            let d = [17f32, wrong, 39., 53.];
            let found = gemm(
                Matrix::packed(&a, 2, 2),
                Matrix::packed(&b, 2, 2),
                Matrix::packed(&d, 2, 2),
            );
            assert_eq!(found.at, (0, 1));
            assert!(!found.is_rounding(2f64.powi(-23), 1));
        }
    }

    #[test]
    fn sample_keeps_both_ends() {
        let picked = sample(100_000);
        assert!(picked[..16].iter().copied().eq(0..16));
        assert_eq!(picked.last(), Some(&99_999));
        assert!(picked.len() > 200);
    }
}
