//! The element types of products.

use cute_runtime::Element;

use super::kernel::kernels::gemm_types;
use super::streamed::kernels::gemm_streamed_types;
use super::sums::Sums;
use super::sums::kernels::add_parts_types;
use crate::pack::Pack;
use crate::parts::config::kernels::{Config, SINGLE};

/// Element types of A whose products by elements of B [`gemm`](fn@super::gemm) rounds to `D`. Elements of B have the same type, or
/// one that is given.
pub trait GemmInput<D: Element, B: Element = Self>:
    Pack
    + Sums<Sum: add_parts_types<D>>
    + gemm_types<B, D>
    + gemm_types<B, <Self as Sums>::Sum>
    + gemm_streamed_types<B, D>
{
}

impl<A, B: Element, D: Element> GemmInput<D, B> for A where
    A: Pack
        + Sums<Sum: add_parts_types<D>>
        + gemm_types<B, D>
        + gemm_types<B, <A as Sums>::Sum>
        + gemm_streamed_types<B, D>
{
}

/// How many of A along M and B along N the kernels read.
pub(super) fn most_mn<A: GemmInput<D, B>, B: Element, D: Element>() -> usize {
    let has = |a_mn, b_mn| {
        let wanted = Config {
            a_mn,
            b_mn,
            ..SINGLE
        };
        let mut instances = <A as gemm_types<B, D>>::INSTANCES.iter();
        instances.any(|it| it.value() == wanted)
    };
    match (has(true, true), has(true, false)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    }
}
