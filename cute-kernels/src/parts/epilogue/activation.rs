//! The functions after a product: activations, and numbers to add to an element.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// x, or 0 if x is negative. A NaN stays one.
    pub fn relu(x: f32) -> f32 {
        if x < 0.0 { 0.0 } else { x }
    }

    /// x · Φ(x), where Φ is the distribution function of the normal distribution.
    pub fn gelu(x: f32) -> f32 {
        0.5 * x * (1.0 + erf(x * 0.70710678))
    }

    /// The approximation of `gelu` by the hyperbolic tangent.
    pub fn gelu_tanh(x: f32) -> f32 {
        0.5 * x * (1.0 + tanh(0.79788456 * fma(0.044715 * x * x, x, x)))
    }

    /// x / (1 + e⁻ˣ), also called swish.
    pub fn silu(x: f32) -> f32 {
        x * rcp(1.0 + exp(-x))
    }

    /// SwiGLU, GEGLU and the like: f(acc[i, 2j]) · acc[i, 2j + 1], with half as many columns. The rows of B are gates and gated
    /// numbers in turn, so that a thread has both. Rows are in the order of `wgmma_c`; other orders are refused.
    pub fn gated(acc: Fragment, f: impl Fn(f32) -> f32) -> Fragment {
        let ordered = fragment::<f32>(wgmma_c(2 * size(acc)));
        copy(acc, ordered);
        let acc = ordered;
        let groups = size(acc) / 4;
        let held = fragment::<f32>(layout!(((4,8,4),(2,groups)):((1@1,1@0,16@0),(8@0,4@1))));
        for v in 0..size(held) {
            held[v] = f(acc[2 * v]) * acc[2 * v + 1];
        }
        held
    }

    /// The number to add to a row, from a bias along M. A row outside of the vector has its last number.
    pub fn of_row<T: Element>(bias: Global<T, 1>, (i, _): (u32, u32)) -> f32 {
        convert::<f32>(bias[min(i, extent(bias, 0) - 1)])
    }

    /// The number to add to a column, from a bias along N. A column outside of the vector has its last number.
    pub fn of_column<T: Element>(bias: Global<T, 1>, (_, j): (u32, u32)) -> f32 {
        convert::<f32>(bias[min(j, extent(bias, 0) - 1)])
    }

    /// The number to add to an element, from a matrix C. An element outside of the matrix has the number at its edge.
    pub fn of_element<T: Element>(c: Global<T, 2>, (i, j): (u32, u32)) -> f32 {
        convert::<f32>(c[(min(i, extent(c, 0) - 1), min(j, extent(c, 1) - 1))])
    }
}
