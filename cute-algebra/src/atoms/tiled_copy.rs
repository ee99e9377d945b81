//! A copy operation repeated over threads and over a tile.

use super::tiled_mma::halves;
use super::{CopyAtom, CopySide, MmaOperand, Partition, TiledMma};
use crate::coalesce::coalesce;
use crate::composition::{Overhang, compose};
use crate::divide::{Form, divide};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::inverse::right_inverse;
use crate::layout::Layout;
use crate::product::raked_product;
use crate::tiler::Tiler;
use crate::tuple::{Coord, Shape, Tuple};

/// A copy operation, repeated over the threads and values of a layout from (thread, value) to the elements of a tile:
/// CuTe's `TiledCopy`.
/// ```
/// use cute_algebra::{CopySide, Layout, TiledCopy};
/// // 16 × 8 threads, each with 8 elements of a row.
/// let threads = Layout::right([16, 8])?;
/// let copy = TiledCopy::new(&"UniversalCopy<uint128_t>".parse()?, 16, &threads, &Layout::right([1, 8])?)?;
/// assert_eq!(copy.tile_shape().to_string(), "(16,64)");
/// let mine = copy.partition(CopySide::Src, &Layout::right([64, 64])?, 9)?;
/// assert_eq!(mine.layout.to_string(), "((8,1),4,1):((1,0),1024,0)");
/// assert_eq!(mine.offset.to_string(), "72");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledCopy {
    /// In elements.
    atom: CopyAtom,
    layout_tv: Layout,
    tile_shape: Shape,
}

impl TiledCopy {
    /// From a layout of threads and one of the values of a thread, both from coordinates: `make_tiled_copy`.
    pub fn new(
        atom: &CopyAtom,
        element_bits: i64,
        threads: &Layout,
        values: &Layout,
    ) -> Result<Self, LayoutError> {
        let tile = raked_product(threads, values).map_err(|error| error.blame(2))?;
        let inverse = right_inverse(&tile).map_err(|error| error.blame(2))?;
        let by = Layout::left([threads.size(), values.size()])?;
        let layout_tv = compose(&inverse, &by, Overhang::Strict).map_err(|error| error.blame(2))?;
        let extents = tile.modes().into_iter().map(|mode| mode.size());
        Self::of_tv(
            atom,
            element_bits,
            layout_tv,
            extents.map(Tuple::Leaf).collect(),
        )
    }

    /// With the threads and values of an operand of a tiled MMA: `make_tiled_copy_A`, `_B` and `_C`.
    pub fn for_mma(
        atom: &CopyAtom,
        element_bits: i64,
        mma: &TiledMma,
        operand: MmaOperand,
    ) -> Result<Self, LayoutError> {
        let extents = operand.modes().map(|mode| mma.tile_shape()[mode]);
        Self::of_tv(atom, element_bits, mma.layout_tv(operand)?, extents.into())
    }

    /// From (thread, value), in the order of the operation's registers, to the elements of a tile of that shape, the
    /// first mode fastest.
    pub fn of_tv(
        atom: &CopyAtom,
        element_bits: i64,
        layout_tv: Layout,
        tile_shape: Shape,
    ) -> Result<Self, LayoutError> {
        let atom = atom.in_elements(element_bits)?;
        let both = halves(&layout_tv)
            .into_iter()
            .zip(halves(atom.layout(CopySide::Ref)));
        for (what, (tiled, own)) in ["threads", "values"].into_iter().zip(both) {
            let (tiled, own) = (tiled.size(), own.size());
            if tiled % own != 0 {
                let kind = ErrorKind::AtomShare {
                    what,
                    tiled,
                    atom: own,
                };
                return Err(kind.at(Place::operand(2)));
            }
        }
        Ok(Self {
            atom,
            layout_tv,
            tile_shape,
        })
    }

    /// From (thread, value), in the order of the operation's registers, to the elements of the tile: CuTe's
    /// `TiledLayout_TV`.
    pub fn tiled_layout_tv(&self) -> &Layout {
        &self.layout_tv
    }

    /// The tile: CuTe's `Tiler_MN`.
    pub fn tile_shape(&self) -> &Shape {
        &self.tile_shape
    }

    /// From (thread, (value of an operation, operation)) at one end to the elements of the tile.
    pub fn layout_tv(&self, side: CopySide) -> Result<Layout, LayoutError> {
        compose(
            &Layout::left(self.tile_shape.clone())?,
            &self.thread_values(side)?,
            Overhang::Strict,
        )
    }

    /// What a thread copies at one end, of data stored as `data`.
    pub fn partition(
        &self,
        side: CopySide,
        data: &Layout,
        thread: i64,
    ) -> Result<Partition, LayoutError> {
        self.partition_with(side, data, thread, Overhang::Strict)
    }

    pub(crate) fn partition_with(
        &self,
        side: CopySide,
        data: &Layout,
        thread: i64,
        overhang: Overhang,
    ) -> Result<Partition, LayoutError> {
        let tiler = Tiler::from_shape(&self.tile_shape)?;
        let [tile, rest] = halves(&divide(data, &tiler, Form::Zipped, overhang)?);
        let handed = compose(&tile, &self.thread_values(side)?, Overhang::Strict)?;
        let [threads, values] = halves(&handed);
        if !(0..threads.size()).contains(&thread) {
            let threads = threads.size();
            return Err(ErrorKind::NoThread { thread, threads }.at(Place::operand(1)));
        }
        Ok(Partition {
            layout: Layout::concat([vec![values], rest.modes()].concat())?,
            offset: threads.crd2idx(&Coord::Leaf(Some(thread)))?,
        })
    }

    /// `(thread, (value of an operation, operation))` at one end to the elements of the tile, coalesced.
    fn thread_values(&self, side: CopySide) -> Result<Layout, LayoutError> {
        let reference = self.atom.layout(CopySide::Ref);
        let [threads, values] = halves(reference).map(|mode| mode.size());
        let of_atom = Tiler::from_shape(&[threads, values].into())?;
        let [atom, rest] = halves(&divide(
            &self.layout_tv,
            &of_atom,
            Form::Zipped,
            Overhang::Strict,
        )?);
        // From (thread, value) at this end to (thread, value) in registers.
        let to_registers = compose(
            &right_inverse(reference)?,
            self.atom.layout(side),
            Overhang::Strict,
        )?;
        let [atom_threads, atom_values] = halves(&compose(&atom, &to_registers, Overhang::Strict)?);
        let [rest_threads, rest_values] = halves(&rest);
        Layout::concat([
            coalesce(&Layout::concat([atom_threads, rest_threads])?),
            Layout::concat([coalesce(&atom_values), coalesce(&rest_values)])?,
        ])
    }
}
