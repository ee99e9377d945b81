//! What follows a product before D is stored.

use cute_runtime::{Constant, Element, TensorView, TensorViewMut};

use crate::Error;
use crate::parts::epilogue::activation::kernels::Activation;
use crate::product::operands::{has_whole_vectors, is_whole};

/// What [`gemm_fused`](super::gemm_fused) and [`gemm_gated`](super::gemm_gated) do to the sums of a product, in f32, before they are
/// rounded to elements of D.
///
/// ```
/// use cute_kernels::{Activation, Epilogue, Tensor, TensorView, bf16};
/// # let device = cute_kernels::Device::emulator();
/// let bias = Tensor::from_slice(&device, &[bf16::ONE; 8], [8])?;
/// let residual = Tensor::from_slice(&device, &[bf16::ONE; 2 * 8], [2, 8])?;
/// let (bias, residual) = (bias.view(), residual.view());
/// let epilogue = Epilogue::new()
///     .scale(0.5)
///     .bias(&bias)
///     .residual(1.0, &residual)
///     .activation(Activation::Gelu);
/// # let a = Tensor::from_slice(&device, &[bf16::ONE; 2 * 16], [2, 16])?;
/// # let b = Tensor::from_slice(&device, &[bf16::ONE; 8 * 16], [8, 16])?;
/// # let mut d = Tensor::<bf16, 2>::zeros(&device, [2, 8])?;
/// # cute_kernels::gemm_fused(&device, &a.view(), &b.view(), epilogue, &mut d.view_mut())?;
/// # Ok::<(), cute_kernels::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "an epilogue is an argument of `gemm_fused` and `gemm_gated`"]
pub struct Epilogue<'v, D: Element, const R: usize> {
    pub(super) scale: f32,
    pub(super) bias: Option<TensorView<'v, D, 1>>,
    pub(super) residual: Option<(f32, TensorView<'v, D, R>)>,
    pub(super) activation: Activation,
    pub(super) largest: Option<TensorViewMut<'v, f32, 1>>,
}

impl<D: Element, const R: usize> Default for Epilogue<'_, D, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'v, D: Element, const R: usize> Epilogue<'v, D, R> {
    /// The sums as they are.
    pub fn new() -> Self {
        Self {
            scale: 1.0,
            bias: None,
            residual: None,
            activation: Activation::Identity,
            largest: None,
        }
    }

    /// Multiplies the sums by α.
    pub fn scale(self, alpha: f32) -> Self {
        Self {
            scale: alpha,
            ..self
        }
    }

    /// Adds a number to each column of the product: as many as B has rows.
    pub fn bias(self, bias: &TensorView<'v, D, 1>) -> Self {
        Self {
            bias: Some(*bias),
            ..self
        }
    }

    /// Adds β · C, for a matrix, or matrices, of the shape of D.
    pub fn residual(self, beta: f32, c: &TensorView<'v, D, R>) -> Self {
        Self {
            residual: Some((beta, *c)),
            ..self
        }
    }

    /// Applies a function to each number, after what is added.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Raises `largest[i]` to the largest absolute value of row i, before it is rounded: numbers by which rows can be
    /// [quantised](crate::quantise_rows). They start at 0.
    pub fn absmax(self, largest: TensorViewMut<'v, f32, 1>) -> Self {
        Self {
            largest: Some(largest),
            ..self
        }
    }

    /// Whether threads can load the bias and the rows of C by vectors of 16 bytes, of which the rows consist.
    pub(super) fn has_whole_vectors(&self) -> Result<bool, Error> {
        let bias = self.bias.map(|bias| bias.prepend::<3>()).transpose()?;
        let c = self.residual.map(|(_, c)| c.prepend::<3>()).transpose()?;
        let mut all = [bias, c].into_iter().flatten();
        Ok(all.all(|x| has_whole_vectors(&x) && is_whole::<D>(x.shape()[2])))
    }

    /// Checks the tensors of an epilogue of a product with these batches, M and N.
    ///
    /// # Errors
    ///
    /// If a shape does not fit the product.
    pub(super) fn check(
        &self,
        function: &'static str,
        [batches, m, n]: [usize; 3],
        d: &[usize],
    ) -> Result<(), Error> {
        if let Some(bias) = &self.bias
            && bias.shape() != [n]
        {
            let found = [("bias", &bias.shape()[..]), ("d", d)];
            let needs = "a bias of as many numbers as b has rows";
            return Err(Error::shapes(function, needs, &found));
        }
        if let Some((_, c)) = &self.residual
            && c.shape() != *d
        {
            let found = [("c", &c.shape()[..]), ("d", d)];
            return Err(Error::shapes(function, "c of the shape of d", &found));
        }
        if let Some(largest) = &self.largest
            && (batches != 1 || largest.shape() != [m])
        {
            let found = [("largest", &largest.shape()[..]), ("d", d)];
            let needs = "one matrix, and as many largest values as d has rows";
            return Err(Error::shapes(function, needs, &found));
        }
        Ok(())
    }
}

/// The constant with this function.
pub(super) fn constant<C: Constant<Value = Activation>>(activation: Activation) -> C {
    let mut all = C::ALL.iter().copied();
    let found = all.find(|it| it.value() == activation);
    found.expect("each function has instances")
}
