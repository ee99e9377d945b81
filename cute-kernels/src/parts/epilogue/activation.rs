//! The functions after a product: activations, and numbers to add to an element.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// A function of each number of a product.
    #[derive(PartialEq, Eq)]
    pub enum Activation {
        /// x.
        Identity,
        /// x, or 0 if x is negative.
        Relu,
        /// x · Φ(x), where Φ is the distribution function of the normal distribution.
        Gelu,
        /// The approximation of `Gelu` by the hyperbolic tangent.
        GeluTanh,
        /// x / (1 + e⁻ˣ), also called swish.
        Silu,
    }

    /// The function of a number that is rounded to 16 bits afterwards.
    pub fn activate<const F: Activation>(x: f32) -> f32 {
        match F {
            Activation::Identity => x,
            Activation::Relu => relu(x),
            Activation::Gelu => gelu_fast(x),
            Activation::GeluTanh => gelu_tanh_fast(x),
            Activation::Silu => silu_fast(x),
        }
    }

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

    /// `gelu` with a relative error of 2⁻¹⁶ or less, in half of the instructions. For z = |x|, Φ(−z) · exp(z² / 2) is a polynomial in
    /// 1 / (1 + 0.3 · z), fitted to the least relative error.
    pub fn gelu_fast(x: f32) -> f32 {
        let z = abs(x);
        let t = rcp_fast(fma(z, 0.3, 1.0));
        let mut sum = fma(t, -0.077930932, 0.21854779);
        sum = fma(sum, t, -0.019824648);
        sum = fma(sum, t, 0.14575231);
        sum = fma(sum, t, 0.11334736);
        sum = fma(sum, t, 0.12011155);
        let below = sum * t * exp2_fast(z * z * -0.72134752);
        // Of a negative number, 0 − z · Φ(−z); of another, z − z · Φ(−z).
        fma(-z, below, max(x, 0.0))
    }

    /// `gelu_tanh` with a relative error of 2⁻¹⁸ or less for x from −6 on: 0.5 · (1 + tanh u) is 1 / (1 + exp(−2u)).
    pub fn gelu_tanh_fast(x: f32) -> f32 {
        x * rcp_fast(1.0 + exp2_fast(x * fma(x * x, -0.10294324, -2.3022082)))
    }

    /// `silu` with a relative error of 2⁻²⁰ or less for x from −6 on.
    pub fn silu_fast(x: f32) -> f32 {
        x * rcp_fast(1.0 + exp2_fast(x * -1.442695))
    }

    /// SwiGLU, GEGLU and the like: f(acc[i, 2j]) · acc[i, 2j + 1], with half as many columns. The rows of B are gates and gated
    /// numbers in turn, so that a thread has both. Rows are in the order of `wgmma_c`; other orders are refused.
    pub fn gated(acc: Fragment, f: impl Fn(f32) -> f32) -> Fragment {
        let ordered = fragment::<f32>(wgmma_c(2 * size(acc)));
        copy(acc, ordered);
        let acc = ordered;
        let held = halves(acc);
        for v in 0..size(held) {
            held[v] = f(acc[2 * v]) * acc[2 * v + 1];
        }
        held
    }

    /// Registers for half of the columns of accumulators: what `gated` returns.
    pub fn halves(acc: Fragment) -> Fragment {
        let groups = size(acc) / 4;
        fragment::<f32>(layout!(((4,8,4),(2,groups)):((1@1,1@0,16@0),(8@0,4@1))))
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
