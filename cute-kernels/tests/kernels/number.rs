//! Floating-point elements of matrices that tests fill.

use cute_runtime::{Element, bf16, f16};

/// An element type that rounds.
pub(crate) trait Number: Element + Into<f64> {
    /// The distance from 1 to the next number.
    const UNIT: f64;
    /// The nearest number of the type.
    fn of(number: f32) -> Self;
}

impl Number for bf16 {
    const UNIT: f64 = 1.0 / 128.0;
    fn of(number: f32) -> Self {
        bf16::from_f32(number)
    }
}

impl Number for f16 {
    const UNIT: f64 = 1.0 / 1024.0;
    fn of(number: f32) -> Self {
        f16::from_f32(number)
    }
}

impl Number for f32 {
    const UNIT: f64 = 1.0 / 8_388_608.0;
    fn of(number: f32) -> Self {
        number
    }
}
