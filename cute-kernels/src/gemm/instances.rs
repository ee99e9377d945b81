//! From a tile to the instance of the kernel.

use cute_runtime::Element;

use super::Tile;
use super::form::Form;
use super::product::kernels::{gemm_CFG, gemm_types, gemm_unaligned_CFG, gemm_unaligned_types};
use crate::pack::Pack;

/// Element types of A whose products by elements of B [`gemm`](fn@super::gemm) rounds to `D`. Elements of B have the same type, or
/// one that is given.
pub trait GemmInput<D: Element, B: Element = Self>:
    Pack + gemm_types<B, D> + gemm_unaligned_types<B, D>
{
}

impl<A, B: Element, D: Element> GemmInput<D, B> for A where
    A: Pack + gemm_types<B, D> + gemm_unaligned_types<B, D>
{
}

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
    pub(super) fn new<A, B, D>(form: &Form, tile: Tile) -> Option<Self>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        if !form.by_tma {
            return (tile == Tile::Pair).then_some(Self::ByElement(gemm_unaligned_CFG::PAIR));
        }
        let config = config(tile, form.a.reads_mn(), form.b.reads_mn())?;
        let instances = match form.transposed {
            true => <B as gemm_types<A, D>>::INSTANCES,
            false => <A as gemm_types<B, D>>::INSTANCES,
        };
        instances.contains(&config).then_some(Self::ByTma(config))
    }
}

/// Whether there are instances for A along M and B along N.
pub(super) fn take_mn<A: GemmInput<D, B>, B: Element, D: Element>() -> bool {
    <A as gemm_types<B, D>>::INSTANCES.contains(&gemm_CFG::SINGLE_NT)
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
