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
    /// The instance with a tile for matrices of this form, if these types have it.
    pub(super) fn new<A, B, D>(form: &Form, tile: Tile) -> Option<Self>
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
        D: Element,
    {
        if tile == Tile::Streamed {
            let has = |stream: &Stream| stream.has_instance::<A, B, D>();
            return form.stream::<A>().filter(has).map(Self::Streamed);
        }
        let config = tile.along(form.reads_mn(), size_of::<A>())?;
        // Whether the kernel's A is B.
        let exchanged = form.transposed != config.swapped;
        if form.by_tma {
            let instances = match exchanged {
                true => <B as gemm_types<A, D>>::INSTANCES,
                false => <A as gemm_types<B, D>>::INSTANCES,
            };
            let instance = instances.iter().find(|it| it.value() == config);
            instance.copied().map(Self::ByTma)
        } else {
            let instances = match exchanged {
                true => <B as gemm_unaligned_types<A, D>>::INSTANCES,
                false => <A as gemm_unaligned_types<B, D>>::INSTANCES,
            };
            let instance = instances.iter().find(|it| it.value() == config);
            instance.copied().map(Self::ByElement)
        }
    }

    /// The tiles with instances for matrices of this form.
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
