//! The element types of products.

use cute_runtime::Element;

use super::product::kernels::{gemm_CFG, gemm_types, gemm_unaligned_types};
use super::streamed::kernels::gemm_streamed_types;
use crate::pack::Pack;

/// Element types of A whose products by elements of B [`gemm`](fn@super::gemm) rounds to `D`. Elements of B have the same type, or
/// one that is given.
pub trait GemmInput<D: Element, B: Element = Self>:
    Pack + gemm_types<B, D> + gemm_unaligned_types<B, D> + gemm_streamed_types<B, D>
{
}

impl<A, B: Element, D: Element> GemmInput<D, B> for A where
    A: Pack + gemm_types<B, D> + gemm_unaligned_types<B, D> + gemm_streamed_types<B, D>
{
}

/// How many of A along M and B along N the kernels read.
pub(super) fn most_mn<A: GemmInput<D, B>, B: Element, D: Element>() -> usize {
    let has = |config| <A as gemm_types<B, D>>::INSTANCES.contains(&config);
    match (has(gemm_CFG::SINGLE_NT), has(gemm_CFG::SINGLE_NN)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    }
}
