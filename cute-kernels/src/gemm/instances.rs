//! From a tile and the types of the operands to the instance of the kernel.

use cute_runtime::{Device, Element, Error, TensorView, TensorViewMut, bf16, e4m3, f16};

use super::Tile;
use super::product::kernels::{
    gemm, gemm_16bit, gemm_16bit_CFG, gemm_CFG, gemm_few, gemm_few_CFG, gemm_types, gemm_unaligned,
    gemm_unaligned_CFG, gemm_unaligned_types,
};
use crate::pack::Pack;

/// What an instance is launched with. Tensors have the modes (batch, row, column), or (batch, column, row) of an operand that is
/// contiguous along M or N.
pub struct Operands<'a, 'v, 'w, T: Element, D: Element> {
    /// The device of the matrices.
    pub device: &'a Device,
    /// CTAs.
    pub grid: u32,
    /// A, of M × K elements.
    pub a: &'a TensorView<'v, T, 3>,
    /// B, of N × K elements.
    pub b: &'a TensorView<'v, T, 3>,
    /// D, of M × N elements.
    pub d: &'a mut TensorViewMut<'w, D, 3>,
    /// Batches, M, N and K.
    pub extents: [u32; 4],
}

/// An instance of the product for some types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The tile.
    pub tile: Tile,
    /// Whether A is contiguous along M, not K.
    pub a_mn: bool,
    /// Whether B is contiguous along N, not K.
    pub b_mn: bool,
    /// Whether D is stored by TMA.
    pub by_tma: bool,
}

/// Element types of A and B whose products [`gemm`](fn@super::gemm) rounds to `D`.
pub trait GemmInput<D: Element>: Pack {
    /// The tiles for which there are instances that store D by TMA, of A and B along K. D that TMA cannot store has `Tile::Pair`.
    const TILES: &'static [Tile];
    /// The tiles for which there are instances of A along M or B along N, which store D by TMA.
    const ALONG_MN: &'static [Tile];

    /// Launches an instance with one of these tiles.
    ///
    /// # Errors
    ///
    /// If the launch is refused.
    fn launch(instance: Instance, operands: Operands<'_, '_, '_, Self, D>) -> Result<(), Error>;
}

/// The tiles for all types.
const LARGE: &[Tile] = &[Tile::Single, Tile::Pair];

/// These, and those for few rows.
const FEW: &[Tile] = &[
    Tile::Single,
    Tile::Pair,
    Tile::Square,
    Tile::Medium,
    Tile::Narrow,
    Tile::Thin,
    Tile::Few,
    Tile::Whole,
    Tile::Whole96,
];

macro_rules! inputs {
    ($($input:ty => $output:ty: $tiles:expr, $along_mn:expr, $launch:ident;)*) => {
        $(impl GemmInput<$output> for $input {
            const TILES: &'static [Tile] = $tiles;
            const ALONG_MN: &'static [Tile] = $along_mn;

            fn launch(
                instance: Instance,
                operands: Operands<'_, '_, '_, Self, $output>,
            ) -> Result<(), Error> {
                $launch!(instance, operands)
            }
        })*
    };
}

macro_rules! large {
    ($instance:expr, $operands:expr) => {
        launch_large($instance, $operands)
    };
}

macro_rules! few {
    ($instance:expr, $operands:expr) => {{
        use gemm_few_CFG::*;
        let config = match $instance.tile {
            Tile::Square => SQUARE,
            Tile::Medium => MEDIUM,
            Tile::Narrow => NARROW,
            Tile::Thin => THIN,
            Tile::Few => FEW,
            Tile::Whole => WHOLE,
            Tile::Whole96 => WHOLE_96,
            _ => return launch_large($instance, $operands),
        };
        let Operands {
            device,
            grid,
            a,
            b,
            d,
            extents: [batches, m, n, k],
        } = $operands;
        gemm_few::launch(config, device, grid, a, b, d, batches, m, n, k)
    }};
}

macro_rules! all {
    ($instance:expr, $operands:expr) => {{
        use gemm_16bit_CFG::*;
        let Instance {
            tile, a_mn, b_mn, ..
        } = $instance;
        let config = match (tile, a_mn, b_mn) {
            (Tile::Wide, ..) => WIDE,
            (Tile::Oblong, ..) => OBLONG,
            (Tile::Medium, ..) => MEDIUM,
            (Tile::Narrow, ..) => NARROW,
            (Tile::Thin, ..) => THIN,
            (Tile::Few, ..) => FEW,
            (Tile::Whole, ..) => WHOLE,
            (Tile::Whole96, ..) => WHOLE_96,
            (Tile::Square, false, false) => SQUARE,
            (Tile::Square, true, false) => SQUARE_NN,
            (Tile::Square, true, true) => SQUARE_NT,
            (Tile::Square, false, true) => SQUARE_TT,
            (_, true, false) => SINGLE_NN,
            (_, true, true) => SINGLE_NT,
            (_, false, true) => SINGLE_TT,
            (Tile::Single | Tile::Pair, false, false) => return launch_large($instance, $operands),
        };
        let Operands {
            device,
            grid,
            a,
            b,
            d,
            extents: [batches, m, n, k],
        } = $operands;
        gemm_16bit::launch(config, device, grid, a, b, d, batches, m, n, k)
    }};
}

inputs! {
    bf16 => bf16: &Tile::ALL, &[Tile::Single, Tile::Square], all;
    f16 => f16: &Tile::ALL, &[Tile::Single, Tile::Square], all;
    bf16 => f32: FEW, &[], few;
    f16 => f32: LARGE, &[], large;
    f32 => f32: LARGE, &[], large;
    e4m3 => bf16: LARGE, &[], large;
    e4m3 => f32: LARGE, &[], large;
    i8 => i32: LARGE, &[], large;
}

fn launch_large<T, D>(instance: Instance, operands: Operands<'_, '_, '_, T, D>) -> Result<(), Error>
where
    T: gemm_types<D> + gemm_unaligned_types<D>,
    D: Element,
{
    let Operands {
        device,
        grid,
        a,
        b,
        d,
        extents: [batches, m, n, k],
    } = operands;
    if !instance.by_tma {
        let config = gemm_unaligned_CFG::PAIR;
        return gemm_unaligned::launch(config, device, grid, a, b, d, batches, m, n, k);
    }
    let config = match instance.tile {
        Tile::Single => gemm_CFG::SINGLE,
        _ => gemm_CFG::PAIR,
    };
    gemm::launch(config, device, grid, a, b, d, batches, m, n, k)
}
