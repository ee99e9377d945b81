//! From a tile to the instance of the kernel.

use cute_runtime::Element;

use super::Tile;
use super::form::Form;
use super::input::GemmInput;
use super::product::kernels::{gemm_CFG, gemm_types, gemm_unaligned_CFG, gemm_unaligned_types};
use super::streamed::Stream;

/// An instance for some types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instance {
    /// It stores D by TMA.
    ByTma(gemm_CFG),
    /// It stores D by elements.
    ByElement(gemm_unaligned_CFG),
    /// It loads no tiles, and stores D by elements.
    Streamed(Stream),
}

impl Instance {
    /// The instance with a tile for matrices that lie so, if these types have it.
    pub(super) fn new<A, B, D>(form: &Form, tile: Tile) -> Option<Self>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        if tile == Tile::Streamed {
            return form.stream::<A>().map(Self::Streamed);
        }
        // Whether the kernel's A is B.
        let exchanged = form.transposed != tile.is_swapped();
        if !form.by_tma {
            let config = unaligned(tile)?;
            let instances = match exchanged {
                true => <B as gemm_unaligned_types<A, D>>::INSTANCES,
                false => <A as gemm_unaligned_types<B, D>>::INSTANCES,
            };
            return instances
                .contains(&config)
                .then_some(Self::ByElement(config));
        }
        let config = config(tile, form.a.reads_mn(), form.b.reads_mn())?;
        let instances = match exchanged {
            true => <B as gemm_types<A, D>>::INSTANCES,
            false => <A as gemm_types<B, D>>::INSTANCES,
        };
        instances.contains(&config).then_some(Self::ByTma(config))
    }

    /// The tiles for which there are instances for matrices that lie so.
    pub(super) fn tiles<A, B, D>(form: &Form) -> impl Iterator<Item = Tile>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        let tiles = Tile::ALL.into_iter();
        tiles.filter(|&tile| Self::new::<A, B, D>(form, tile).is_some())
    }
}

/// The sizes of a tile, for A along M if `a_mn` and B along N if `b_mn`.
fn config(tile: Tile, a_mn: bool, b_mn: bool) -> Option<gemm_CFG> {
    use gemm_CFG::*;
    Some(match (tile, a_mn, b_mn) {
        (Tile::Single, false, false) => SINGLE,
        (Tile::Single, true, false) => SINGLE_NN,
        (Tile::Single, true, true) => SINGLE_NT,
        (Tile::Single, false, true) => SINGLE_TT,
        (Tile::Pair, true, false) => PAIR_NN,
        (Tile::Square, true, false) => SQUARE_NN,
        (Tile::Square, true, true) => SQUARE_NT,
        (Tile::Square, false, true) => SQUARE_TT,
        (Tile::Narrow, true, false) => NARROW_NN,
        (Tile::Narrow, true, true) => NARROW_NT,
        (Tile::Narrow, false, true) => NARROW_TT,
        (Tile::Thin, false, false) => THIN,
        (Tile::Thin, true, false) => THIN_NN,
        (Tile::Thin, true, true) => THIN_NT,
        (Tile::Thin, false, true) => THIN_TT,
        (Tile::Few, false, true) => FEW_TT,
        (Tile::Whole, false, true) => WHOLE_TT,
        (_, true, _) | (_, _, true) => return None,
        (Tile::Pair, ..) => PAIR,
        (Tile::Wide, ..) => WIDE,
        (Tile::Oblong, ..) => OBLONG,
        (Tile::SquarePair, ..) => SQUARE_PAIR,
        (Tile::Medium, ..) => MEDIUM,
        (Tile::Narrow, ..) => NARROW_IN_TURNS,
        (Tile::Small, ..) => SMALL,
        (Tile::Few, ..) => FEW,
        (Tile::Square2, ..) => SQUARE_2,
        (Tile::Whole96, ..) => WHOLE_96,
        (Tile::ThinPair, ..) => THIN_PAIR,
        (Tile::Swapped, ..) => SWAPPED,
        (Tile::SwappedThin, ..) => SWAPPED_THIN,
        (Tile::Square | Tile::Whole | Tile::Streamed, ..) => return None,
    })
}

/// The sizes of a tile whose elements are stored one by one.
fn unaligned(tile: Tile) -> Option<gemm_unaligned_CFG> {
    use gemm_unaligned_CFG::*;
    match tile {
        Tile::Pair => Some(PAIR),
        Tile::Narrow => Some(NARROW_IN_TURNS),
        Tile::Thin => Some(THIN),
        _ => None,
    }
}
