//! From a tile and the types of the operands to the instance of the kernel.

use cute_runtime::{Device, Element, Error, TensorView, TensorViewMut, bf16, e4m3, f16};

use super::Tile;
use super::product::kernels::{
    gemm, gemm_CFG, gemm_small, gemm_small_CFG, gemm_types, gemm_unaligned, gemm_unaligned_CFG,
    gemm_unaligned_types,
};

/// What an instance is launched with.
pub struct Operands<'a, 'v, 'w, T: Element, D: Element> {
    /// The device of the matrices.
    pub device: &'a Device,
    /// CTAs.
    pub grid: u32,
    /// A, of M × K elements.
    pub a: &'a TensorView<'v, T, 2>,
    /// B, of N × K elements.
    pub b: &'a TensorView<'v, T, 2>,
    /// D, of M × N elements.
    pub d: &'a mut TensorViewMut<'w, D, 2>,
    /// M, N and K.
    pub extents: [u32; 3],
}

/// Element types of A and B whose products [`gemm`](fn@super::gemm) rounds to `D`.
pub trait GemmInput<D: Element>: Element {
    /// The tiles for which there are instances that store D by TMA. D that TMA cannot store has `Tile::Pair`.
    const TILES: &'static [Tile];

    /// Launches the instance for one of these tiles.
    ///
    /// # Errors
    ///
    /// If the launch is refused.
    fn launch(
        tile: Tile,
        by_tma: bool,
        operands: Operands<'_, '_, '_, Self, D>,
    ) -> Result<(), Error>;
}

/// The tiles for all types.
const LARGE: &[Tile] = &[Tile::Single, Tile::Pair];

macro_rules! inputs {
    ($($input:ty => $output:ty: $tiles:expr, $launch:ident;)*) => {
        $(impl GemmInput<$output> for $input {
            const TILES: &'static [Tile] = $tiles;

            fn launch(
                tile: Tile,
                by_tma: bool,
                operands: Operands<'_, '_, '_, Self, $output>,
            ) -> Result<(), Error> {
                $launch!(tile, by_tma, operands)
            }
        })*
    };
}

macro_rules! large {
    ($tile:expr, $by_tma:expr, $operands:expr) => {
        launch_large($tile, $by_tma, $operands)
    };
}

macro_rules! all {
    ($tile:expr, $by_tma:expr, $operands:expr) => {{
        let config = match $tile {
            Tile::Wide => gemm_small_CFG::WIDE,
            Tile::Square => gemm_small_CFG::SQUARE,
            Tile::Narrow => gemm_small_CFG::NARROW,
            Tile::Thin => gemm_small_CFG::THIN,
            Tile::Few => gemm_small_CFG::FEW,
            Tile::Single | Tile::Pair => return launch_large($tile, $by_tma, $operands),
        };
        let Operands {
            device,
            grid,
            a,
            b,
            d,
            extents: [m, n, k],
        } = $operands;
        gemm_small::launch(config, device, grid, a, b, d, m, n, k)
    }};
}

inputs! {
    bf16 => bf16: &Tile::ALL, all;
    f16 => f16: &Tile::ALL, all;
    bf16 => f32: LARGE, large;
    f16 => f32: LARGE, large;
    f32 => f32: LARGE, large;
    e4m3 => bf16: LARGE, large;
    e4m3 => f32: LARGE, large;
    i8 => i32: LARGE, large;
}

fn launch_large<T, D>(
    tile: Tile,
    by_tma: bool,
    operands: Operands<'_, '_, '_, T, D>,
) -> Result<(), Error>
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
        extents: [m, n, k],
    } = operands;
    if !by_tma {
        let config = gemm_unaligned_CFG::PAIR;
        return gemm_unaligned::launch(config, device, grid, a, b, d, m, n, k);
    }
    let config = match tile {
        Tile::Single => gemm_CFG::SINGLE,
        _ => gemm_CFG::PAIR,
    };
    gemm::launch(config, device, grid, a, b, d, m, n, k)
}
