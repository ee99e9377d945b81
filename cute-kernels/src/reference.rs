//! Results in float64 for comparison with results of kernels, and random inputs.

use half::bf16;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// `n` normally distributed numbers of mean 0 and standard deviation 1. The same seed gives the same numbers.
///
/// ```
/// use cute_kernels::reference::normal;
/// let numbers = normal(1, 10_000);
/// let mean = numbers.iter().map(|x| x.to_f64()).sum::<f64>() / 10_000.0;
/// assert!(mean.abs() < 0.05);
/// assert_eq!(numbers, normal(1, 10_000));
/// ```
pub fn normal(seed: u64, n: usize) -> Vec<bf16> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..n)
        .map(|_| bf16::from_f32(StandardNormal.sample(&mut rng)))
        .collect()
}

/// A row-major matrix on the host.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// The elements: row `i` starts at `i * stride`.
    pub data: &'a [T],
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Elements from the start of one row to the start of the next; at least `cols`.
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

    fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.stride..][..self.cols]
    }
}

/// How far a product is from its float64 reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// The largest `|d − r| / (|r| + √Σ(a·b)²)` over the compared elements, for an element `d` and its reference `r`. NaN if
    /// a compared element is NaN.
    ///
    /// The root keeps the denominator from vanishing where terms cancel and `r` is near 0: it is the typical size of a sum of
    /// these terms with random signs.
    pub worst: f64,
    /// Row and column of the element with the largest deviation.
    pub at: (usize, usize),
    /// How many elements were compared.
    pub compared: usize,
}

impl Deviation {
    /// Whether rounding alone can explain the deviation: whether it is at most `unit + (instructions + 1) · 2⁻²²`. False for
    /// NaN.
    ///
    /// `unit` is the distance from 1 to the next number of the output type: 2⁻⁷ for bf16, 2⁻²³ for f32. `instructions` is the
    /// number of tensor-core instructions along K, one for every 32 bytes of a row: each truncates the running sum once
    /// (MMA-Sim, arXiv 2511.10909).
    pub fn is_rounding(&self, unit: f64, instructions: usize) -> bool {
        self.worst <= unit + (instructions + 1) as f64 * 2f64.powi(-22)
    }
}

/// Compares `d` with `a · bᵀ`. All elements are compared if that takes at most 2³⁰ products, else those of the first and last
/// 16 rows and columns and of about 192 other rows and columns.
///
/// ```
/// use cute_kernels::reference::{self, Matrix, normal};
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let (m, n, k) = (3, 5, 64);
/// let (a, b) = (normal(1, m * k), normal(2, n * k));
/// let device_a = Tensor::from_slice(&device, &a, [m, k])?;
/// let device_b = Tensor::from_slice(&device, &b, [n, k])?;
/// let mut d = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
/// cute_kernels::gemm(&device, &device_a.view(), &device_b.view(), &mut d.view_mut())?;
///
/// let d = d.download()?;
/// let (a, b) = (Matrix::packed(&a, m, k), Matrix::packed(&b, n, k));
/// let found = reference::gemm(a, b, Matrix::packed(&d, m, n));
/// println!("the largest error is {:.1e}", found.worst);
/// // D is of bf16, and an instruction adds 16 products.
/// assert!(found.is_rounding(2f64.powi(-7), k / 16));
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Panics
///
/// If the shapes of the matrices do not fit together, or if a slice is shorter than its matrix.
pub fn gemm<A, B, D>(a: Matrix<A>, b: Matrix<B>, d: Matrix<D>) -> Deviation
where
    A: Copy + Into<f64> + Sync,
    B: Copy + Into<f64> + Sync,
    D: Copy + Into<f64> + Sync,
{
    Product::new(a, b).compare(d)
}

/// A product in float64, for comparison with the results of several kernels.
#[derive(Clone, Debug)]
pub struct Product {
    /// Numbers of rows and columns of the product.
    shape: (usize, usize),
    /// The known rows, and the known columns.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// For each known element, the value and the typical size of such a sum with random signs; row by row.
    elements: Vec<(f64, f64)>,
}

impl Product {
    /// `a · bᵀ`: all elements if that takes at most 2³⁰ products, else those of the first and last 16 rows and columns and of about
    /// 192 other rows and columns.
    ///
    /// # Panics
    ///
    /// If the shapes of the matrices do not fit together, or if a slice is shorter than its matrix.
    pub fn new<A, B>(a: Matrix<A>, b: Matrix<B>) -> Self
    where
        A: Copy + Into<f64> + Sync,
        B: Copy + Into<f64> + Sync,
    {
        assert!(a.cols == b.cols, "a must be (M, K) and b (N, K)");
        let everything = a.rows * b.rows * a.cols <= 1 << 30;
        let known = |n| {
            if everything {
                (0..n).collect()
            } else {
                sample(n)
            }
        };
        let (rows, columns): (Vec<usize>, Vec<usize>) = (known(a.rows), known(b.rows));
        let float = |row: &[B]| row.iter().map(|&y| y.into()).collect();
        let b_rows: Vec<Vec<f64>> = columns.par_iter().map(|&j| float(b.row(j))).collect();
        let elements = rows.par_iter().flat_map_iter(|&i| {
            let x: Vec<f64> = a.row(i).iter().map(|&x| x.into()).collect();
            let element = move |y: &Vec<f64>| {
                let (mut sum, mut squares) = (0.0, 0.0);
                for (x, y) in x.iter().zip(y) {
                    let product = x * y;
                    sum += product;
                    squares += product * product;
                }
                (sum, squares.sqrt())
            };
            b_rows.iter().map(element)
        });
        Self {
            shape: (a.rows, b.rows),
            elements: elements.collect(),
            rows,
            columns,
        }
    }

    /// How far a matrix is from the known elements.
    ///
    /// # Panics
    ///
    /// If the matrix has another shape, or its slice is shorter than it.
    pub fn compare<D: Copy + Into<f64> + Sync>(&self, d: Matrix<D>) -> Deviation {
        assert!((d.rows, d.cols) == self.shape, "d must be (M, N)");
        let none = Deviation {
            worst: 0.0,
            at: (0, 0),
            compared: 0,
        };
        let known = self.elements.par_chunks(self.columns.len().max(1));
        let compared = self.rows.par_iter().zip(known).map(|(&i, known)| {
            let pairs = self.columns.iter().zip(known);
            pairs.fold(none, |found, (&j, &(sum, root))| {
                let got: f64 = d.row(i)[j].into();
                let worst = match got == sum {
                    true => 0.0,
                    false => (got - sum).abs() / (sum.abs() + root),
                };
                let found_here = Deviation {
                    worst,
                    at: (i, j),
                    compared: 1,
                };
                worse(found, found_here)
            })
        });
        compared.reduce(|| none, worse)
    }
}

/// The larger of two deviations, where NaN is the largest, with the number of elements of both.
fn worse(a: Deviation, b: Deviation) -> Deviation {
    let first = a.worst.is_nan() || a.worst >= b.worst;
    Deviation {
        compared: a.compared + b.compared,
        ..if first { a } else { b }
    }
}

/// Indices below `n`: the first and last 16, and up to 192 others, spread so that no period of the kernel is missed.
fn sample(n: usize) -> Vec<usize> {
    const INNER: usize = 192;
    let mut picked: Vec<usize> = (0..n.min(16)).chain(n.saturating_sub(16)..n).collect();
    // Multiples of the golden ratio modulo 1 are spread evenly over the interval.
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
