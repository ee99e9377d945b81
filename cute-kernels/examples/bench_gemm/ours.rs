//! Our side of a comparison: a product alone, or one with a bias and GELU.

use cute_kernels::{Activation, Epilogue, Error, FusedInput, GemmInput, Plan};
use cute_runtime::{Device, Element, TensorView, TensorViewMut};

type View<'v, T> = TensorView<'v, T, 3>;

type ViewMut<'v, D> = TensorViewMut<'v, D, 3>;

/// How our product is planned and launched.
pub(crate) trait Ours<T: Element, D: Element> {
    fn plan(
        &self,
        device: &Device,
        a: &View<'_, T>,
        b: &View<'_, T>,
        d: &ViewMut<'_, D>,
    ) -> Result<Plan, Error>;

    fn launch(
        &self,
        plan: &Plan,
        device: &Device,
        a: &View<'_, T>,
        b: &View<'_, T>,
        d: &mut ViewMut<'_, D>,
    ) -> Result<(), Error>;

    /// The address of a bias.
    fn bias(&self) -> Option<u64>;
}

/// A product alone.
pub(crate) struct Alone;

impl<T: GemmInput<D>, D: Element> Ours<T, D> for Alone {
    fn plan(
        &self,
        device: &Device,
        a: &View<'_, T>,
        b: &View<'_, T>,
        d: &ViewMut<'_, D>,
    ) -> Result<Plan, Error> {
        Plan::new(device, a, b, d)
    }

    fn launch(
        &self,
        plan: &Plan,
        device: &Device,
        a: &View<'_, T>,
        b: &View<'_, T>,
        d: &mut ViewMut<'_, D>,
    ) -> Result<(), Error> {
        plan.launch(device, a, b, d)
    }

    fn bias(&self) -> Option<u64> {
        None
    }
}

/// A product with a bias and GELU.
pub(crate) struct Followed<'v, T: Element> {
    pub(crate) bias: TensorView<'v, T, 1>,
}

impl<T: Element> Followed<'_, T> {
    fn epilogue(&self) -> Epilogue<'_, T, 3> {
        let epilogue = Epilogue::new().bias(&self.bias);
        epilogue.activation(Activation::GeluTanh)
    }
}

impl<T: FusedInput<T>> Ours<T, T> for Followed<'_, T> {
    fn plan(
        &self,
        device: &Device,
        a: &View<'_, T>,
        b: &View<'_, T>,
        d: &ViewMut<'_, T>,
    ) -> Result<Plan, Error> {
        Plan::fused(device, a, b, &self.epilogue(), d)
    }

    fn launch(
        &self,
        plan: &Plan,
        device: &Device,
        a: &View<'_, T>,
        b: &View<'_, T>,
        d: &mut ViewMut<'_, T>,
    ) -> Result<(), Error> {
        plan.launch_fused(device, a, b, self.epilogue(), d)
    }

    fn bias(&self) -> Option<u64> {
        Some(self.bias.address())
    }
}
