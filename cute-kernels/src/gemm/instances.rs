//! The instances of the kernel for some types and matrices.

use cute_runtime::Element;

use super::Tile;
use super::config::kernels::Config;
use super::form::Form;
use super::input::GemmInput;
use super::product::kernels::{gemm_CFG, gemm_types, gemm_unaligned_CFG, gemm_unaligned_types};
use super::streamed::Stream;

/// An instance for some types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instance {
    /// It stores D by TMA.
    ByTma(gemm_CFG),
    /// The same for D of sums, of parts of K.
    InParts(gemm_CFG, u32),
    /// It stores D by elements.
    ByElement(gemm_unaligned_CFG),
    /// It loads no tiles, and stores D by elements.
    Streamed(Stream),
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
            let lists = match exchanged {
                false => (
                    <A as gemm_types<B, D>>::INSTANCES,
                    <A as gemm_types<B, A::Sum>>::INSTANCES,
                    <A as gemm_unaligned_types<B, D>>::INSTANCES,
                ),
                true => (
                    <B as gemm_types<A, D>>::INSTANCES,
                    <B as gemm_types<A, B::Sum>>::INSTANCES,
                    <B as gemm_unaligned_types<A, D>>::INSTANCES,
                ),
            };
            let (by_tma, of_sums, by_element) = lists;
            if form.by_tma {
                let all = by_tma.iter().map(|it| (it.value(), Self::ByTma(*it)));
                let all = all.filter(|(it, _)| takes(*it, exchanged, form));
                found.extend(all.map(|(config, it)| (Tile::Shared(config), it)));
            } else {
                let all = by_element
                    .iter()
                    .map(|it| (it.value(), Self::ByElement(*it)));
                let all = all.filter(|(it, _)| takes(*it, exchanged, form));
                found.extend(all.map(|(config, it)| (Tile::Shared(config), it)));
            }
            for it in of_sums
                .iter()
                .filter(|it| takes(it.value(), exchanged, form))
            {
                let config = it.value();
                let parts = parts(config).into_iter();
                found.extend(
                    parts.map(|parts| (Tile::InParts(config, parts), Self::InParts(*it, parts))),
                );
            }
        }
        let stream = form
            .stream::<A>()
            .filter(Stream::has_instance::<A, B, D>)
            .map(|stream| (Tile::Streamed, Self::Streamed(stream)));
        found.extend(stream);
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
        all.find_map(|(it, instance)| (it == tile).then_some(instance))
    }
}

/// Whether a kernel of these sizes computes a product of this form, if it gets A and B in the order of the arguments, or `exchanged`.
fn takes(config: Config, exchanged: bool, form: &Form) -> bool {
    let [a, b] = form.reads_mn();
    let lie = if config.swapped { [b, a] } else { [a, b] };
    (form.transposed != config.swapped) == exchanged && [config.a_mn, config.b_mn] == lie
}
