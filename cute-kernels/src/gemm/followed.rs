//! Element types whose products are followed by something.

use cute_runtime::Element;

use super::fused::kernels::{finish_parts_types, gemm_fused_types};
use super::gated::kernels::gemm_gated_types;
use super::kernel::kernels::gemm_types;
use super::sums::Sums;
use crate::pack::Pack;

/// Element types of A and B whose products [`gemm_fused`](super::gemm_fused) and [`gemm_gated`](super::gemm_gated) round to `D`: `bf16` to `bf16`, and `f16` to
/// `f16`.
pub trait FusedInput<D: Element>:
    Pack
    + Sums<Sum: finish_parts_types<D>>
    + gemm_types<Self, <Self as Sums>::Sum>
    + gemm_fused_types<D>
    + gemm_gated_types<D>
{
}

impl<T, D: Element> FusedInput<D> for T where
    T: Pack
        + Sums<Sum: finish_parts_types<D>>
        + gemm_types<T, <T as Sums>::Sum>
        + gemm_fused_types<D>
        + gemm_gated_types<D>
{
}
