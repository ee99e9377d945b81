//! The instances of the kernel for some types and matrices.

use cute_runtime::Element;
#[cfg(feature = "instantiate")]
use cute_runtime::ElementType;

use super::input::GemmInput;
use super::kernel::kernels::{gemm_CFG, gemm_types};
use super::streamed::Stream;
use super::tile::Tile;
use crate::parts::config::kernels::Config;
use crate::product::operands::Form;

/// An instance for some types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instance {
    /// It computes D.
    Shared(gemm_CFG),
    /// It computes the sums of so many parts of K.
    InParts(gemm_CFG, u32),
    /// It loads no tiles.
    Streamed(Stream),
    /// It computes D by a tile that is not compiled ahead.
    #[cfg(feature = "instantiate")]
    Made(Config),
}

impl Instance {
    /// The instances for matrices of this form, each with its tile. `parts(config)` says into how many parts K may be divided.
    pub(super) fn all<A, B, D>(form: &Form, parts: impl Fn(Config) -> Vec<u32>) -> Vec<(Tile, Self)>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        let mut found = Vec::new();
        // A kernel gets A and B in the order of the arguments, or exchanged.
        for exchanged in [false, true] {
            let (of_d, of_sums) = match exchanged {
                false => (
                    <A as gemm_types<B, D>>::INSTANCES,
                    <A as gemm_types<B, A::Sum>>::INSTANCES,
                ),
                true => (
                    <B as gemm_types<A, D>>::INSTANCES,
                    <B as gemm_types<A, B::Sum>>::INSTANCES,
                ),
            };
            let of_d = of_d.iter().map(|it| (*it, it.value()));
            let of_d = of_d.filter(|(_, config)| config.by_element != form.by_tma);
            let of_d = of_d.filter(|(_, config)| takes(*config, exchanged, form));
            found.extend(of_d.map(|(it, config)| (Tile::Shared(config), Self::Shared(it))));
            // TMA stores the sums.
            let of_sums = of_sums.iter().map(|it| (*it, it.value()));
            let of_sums = of_sums.filter(|(_, config)| !config.by_element);
            for (it, config) in of_sums.filter(|(_, config)| takes(*config, exchanged, form)) {
                let parts = parts(config).into_iter();
                found.extend(
                    parts.map(|parts| (Tile::InParts(config, parts), Self::InParts(it, parts))),
                );
            }
        }
        let stream = Stream::of_form::<A>(form).filter(Stream::has_instance::<A, B, D>);
        found.extend(stream.map(|stream| (Tile::Streamed, Self::Streamed(stream))));
        found
    }

    /// The instance with a tile, if there is one.
    pub(super) fn new<A, B, D>(form: &Form, tile: Tile) -> Option<Self>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        let parts = |config| match tile {
            Tile::InParts(wanted, parts) if wanted == config => vec![parts],
            _ => Vec::new(),
        };
        let mut all = Self::all::<A, B, D>(form, parts).into_iter();
        let found = all.find_map(|(it, instance)| (it == tile).then_some(instance));
        #[cfg(feature = "instantiate")]
        let found = found.or(match tile {
            Tile::Shared(config) if can_be_made(config, A::TYPE, form) => Some(Self::Made(config)),
            _ => None,
        });
        found
    }
}

/// Whether the kernel of a tile that is not compiled ahead takes matrices of this form, with elements of this type. The compiled kernels
/// read `f32` as tf32; a kernel that is made has the type f32 itself, which wgmma does not multiply. Wgmma of integers has 8, 16, 24 or 32
/// columns, or a multiple of 16.
#[cfg(feature = "instantiate")]
pub(super) fn can_be_made(config: Config, element: ElementType, form: &Form) -> bool {
    let exchanged = form.transposed != config.swapped;
    let columns = config.columns_of_warpgroup();
    let width = columns / columns.div_ceil(256).max(1);
    let is_integer = matches!(element, ElementType::I8 | ElementType::U8);
    element != ElementType::F32
        && (!is_integer || width <= 32 || width.is_multiple_of(16))
        && config.by_element != form.by_tma
        && takes(config, exchanged, form)
}

/// Whether a kernel of these sizes computes a product of this form, if it gets A and B in the order of the arguments, or `exchanged`.
fn takes(config: Config, exchanged: bool, form: &Form) -> bool {
    let [a, b] = form.reads_mn();
    let lie = if config.swapped { [b, a] } else { [a, b] };
    (form.transposed != config.swapped) == exchanged && [config.a_mn, config.b_mn] == lie
}
