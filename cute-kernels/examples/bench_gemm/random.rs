//! The numbers in the multiplied matrices.

use std::sync::OnceLock;

use cute_kernels::reference::normal;
use cute_runtime::bf16;

/// A matrix repeats the numbers after so many elements: a prime number.
pub(crate) const PERIOD: usize = 15_485_863;

/// `len` normally distributed numbers as elements, from number `first` on. They repeat.
pub(crate) fn random<T: Copy>(len: usize, first: usize, element: fn(f32) -> T) -> Vec<T> {
    static NUMBERS: OnceLock<Vec<bf16>> = OnceLock::new();
    let numbers = NUMBERS.get_or_init(|| normal(1, PERIOD));
    let numbers = numbers.iter().cycle().skip(first);
    let period: Vec<T> = numbers
        .take(len.min(PERIOD))
        .map(|number| element(number.to_f32()))
        .collect();
    let mut all = Vec::with_capacity(len);
    while all.len() < len {
        all.extend_from_slice(&period[..period.len().min(len - all.len())]);
    }
    all
}
