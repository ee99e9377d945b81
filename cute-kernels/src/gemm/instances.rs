//! From a tile to the instance of the kernel.

use cute_runtime::Element;

use super::Tile;
use super::form::Form;
use super::product::kernels::{gemm_CFG, gemm_types, gemm_unaligned_CFG, gemm_unaligned_types};
use crate::pack::Pack;

/// Element types of A and B whose products [`gemm`](fn@super::gemm) rounds to `D`.
pub trait GemmInput<D: Element>: Pack + gemm_types<D> + gemm_unaligned_types<D> {}

impl<T, D: Element> GemmInput<D> for T where T: Pack + gemm_types<D> + gemm_unaligned_types<D> {}

/// An instance for some types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instance {
    /// It stores D by TMA.
    ByTma(gemm_CFG),
    /// It stores D by elements.
    ByElement(gemm_unaligned_CFG),
}

impl Instance {
    /// The instance with a tile for matrices that lie so, if these types have it.
    pub(super) fn new<T: GemmInput<D>, D: Element>(form: &Form, tile: Tile) -> Option<Self> {
        if !form.by_tma {
            return (tile == Tile::Pair).then_some(Self::ByElement(gemm_unaligned_CFG::PAIR));
        }
        let config = config(tile, form.a.reads_mn(), form.b.reads_mn())?;
        <T as gemm_types<D>>::INSTANCES
            .contains(&config)
            .then_some(Self::ByTma(config))
    }
}

/// Whether there are instances for A along M and B along N.
pub(super) fn take_mn<T: GemmInput<D>, D: Element>() -> bool {
    <T as gemm_types<D>>::INSTANCES.contains(&gemm_CFG::SINGLE_NT)
}

/// The sizes of a tile, for A along M if `a_mn` and B along N if `b_mn`.
fn config(tile: Tile, a_mn: bool, b_mn: bool) -> Option<gemm_CFG> {
    use gemm_CFG::*;
    Some(match (tile, a_mn, b_mn) {
        (Tile::Single, false, false) => SINGLE,
        (Tile::Single, true, false) => SINGLE_NN,
        (Tile::Single, true, true) => SINGLE_NT,
        (Tile::Single, false, true) => SINGLE_TT,
        (Tile::Square, false, false) => SQUARE,
        (Tile::Square, true, false) => SQUARE_NN,
        (Tile::Square, true, true) => SQUARE_NT,
        (Tile::Square, false, true) => SQUARE_TT,
        (_, true, _) | (_, _, true) => return None,
        (Tile::Pair, ..) => PAIR,
        (Tile::Wide, ..) => WIDE,
        (Tile::Oblong, ..) => OBLONG,
        (Tile::Medium, ..) => MEDIUM,
        (Tile::Narrow, ..) => NARROW,
        (Tile::Thin, ..) => THIN,
        (Tile::Few, ..) => FEW,
        (Tile::Whole, ..) => WHOLE,
        (Tile::Whole96, ..) => WHOLE_96,
    })
}
