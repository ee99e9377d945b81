//! A copy operation repeated over threads and over a tile.

use super::tiled_mma::halves;
use super::{CopyAtom, CopySide, MmaOperand, Partition, TiledMma};
use crate::coalesce::coalesce;
use crate::composition::compose;
use crate::divide::{Form, divide_by_derived};
use crate::domain::{Domain, Numbers};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::inverse::right_inverse;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::product::raked_product;
use crate::stride::ScaledBasis;
use crate::tiler::Tiler;
use crate::tuple::{Coord, Shape, Tuple};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// A copy operation, repeated over threads and values: CuTe's `TiledCopy`. A layout from (thread, value) to the
/// elements of a tile says where.
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
///
/// Which thread reads and writes which element:
///
#[doc = include_str!("../../../docs/tiled_copy.svg")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledCopy {
    /// The operation, with its layouts in elements.
    atom: CopyAtom,
    layout_tv: Layout,
    tile_shape: Shape,
}

impl TiledCopy {
    /// A tiled copy from a layout of the threads and a layout of each thread's values, both over coordinates of the
    /// tile: CuTe's `make_tiled_copy`.
    pub fn new(
        atom: &CopyAtom,
        element_bits: i64,
        threads: &Layout,
        values: &Layout,
    ) -> Result<Self, LayoutError> {
        let tile = raked_product(threads, values).map_err(|error| error.blame(2))?;
        let inverse = right_inverse(&tile).map_err(|error| error.blame(2))?;
        let by = Layout::left([threads.size(), values.size()])?;
        let layout_tv = compose(&mut Numbers, &inverse, &by, Overhang::Strict)
            .map_err(|error| error.blame(2))?;
        let extents = tile.modes().into_iter().map(|mode| mode.size());
        Self::of_tv(
            atom,
            element_bits,
            layout_tv,
            extents.map(Tuple::Leaf).collect(),
        )
    }

    /// A tiled copy with the threads and values of an operand of a tiled MMA: CuTe's `make_tiled_copy_A`, `_B` and
    /// `_C`.
    pub fn for_mma(
        atom: &CopyAtom,
        element_bits: i64,
        mma: &TiledMma,
        operand: MmaOperand,
    ) -> Result<Self, LayoutError> {
        let extents = operand.modes().map(|mode| mma.tile_shape()[mode]);
        Self::of_tv(atom, element_bits, mma.layout_tv(operand)?, extents.into())
    }

    /// A tiled copy. `layout_tv` maps (thread, value) to the elements of a tile of shape `tile_shape`, the first mode
    /// fastest. The values are in the order of the operation's registers.
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

    /// The layout from (thread, value) to the elements of the tile: CuTe's `TiledLayout_TV`. The values are in the
    /// order of the operation's registers.
    pub fn tiled_layout_tv(&self) -> &Layout {
        &self.layout_tv
    }

    /// The operation, with its layouts in elements.
    pub fn atom(&self) -> &CopyAtom {
        &self.atom
    }

    /// The shape of the tile: CuTe's `Tiler_MN`.
    pub fn tile_shape(&self) -> &Shape {
        &self.tile_shape
    }

    /// The layout from (thread, (value of an operation, operation)) on one side of the copy to the elements of the
    /// tile.
    pub fn layout_tv(&self, side: CopySide) -> Result<Layout, LayoutError> {
        compose(
            &mut Numbers,
            &Layout::left(self.tile_shape.clone())?,
            &self.thread_values(side)?,
            Overhang::Strict,
        )
    }

    /// The part of `data` that one thread copies, on one side of the copy.
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
        let [tile, rest] = halves(&divide_by_derived(
            &mut Numbers,
            data,
            &tiler,
            Form::Zipped,
            overhang,
        )?);
        let handed = compose(
            &mut Numbers,
            &tile,
            &self.thread_values(side)?,
            Overhang::Strict,
        )?;
        let [threads, values] = halves(&handed);
        Numbers.require_index("thread", &thread, &threads.size(), &Place::operand(1))?;
        Ok(Partition {
            layout: Layout::concat([vec![values], rest.modes()].concat())?,
            offset: threads.crd2idx(&Coord::Leaf(Some(thread)))?,
        })
    }

    /// The registers of a thread in the order in which the copy takes them: CuTe's `retile_S` and `retile_D`. The
    /// first mode of `fragment` is the thread's values of one tile; the others are the tiles along each mode of the
    /// data, as [`TiledMma::partition_shape`] has them.
    /// ```
    /// use cute_algebra::{CopySide, Layout, MmaOperand, TiledCopy, TiledMma};
    /// let mma = TiledMma::new(
    ///     "SM80_16x8x16_F32F16F16F32_TN".parse()?,
    ///     &Layout::left([2, 2, 1])?,
    ///     &cute_algebra::Tiler::from_shape(&[32, 32, 16].into())?,
    /// )?;
    /// let copy = TiledCopy::for_mma(&"SM90_U32x4_STSM_N".parse()?, 16, &mma, MmaOperand::C)?;
    /// let accumulators = Layout::left(mma.partition_shape(MmaOperand::C, &[128, 128].into())?)?;
    /// assert_eq!(accumulators.to_string(), "((2,2),4,8):((1,2),4,16)");
    /// assert_eq!(copy.retile(&accumulators)?.to_string(), "(((4,2),1),4,4):(((1,16),0),4,32)");
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn retile(&self, fragment: &Layout) -> Result<Layout, LayoutError> {
        let [_, values] = halves(&self.layout_tv);
        let held = fragment.mode(0).map_or(1, |mode| mode.size());
        if fragment.rank() <= self.tile_shape.rank() {
            let (expected, found) = (
                format!("values and {} modes of tiles", self.tile_shape.rank()),
                fragment.shape().to_string(),
            );
            return Err(ErrorKind::Profile { expected, found }.at(Place::operand(0)));
        }
        // The first mode of the fragment holds the first values of the tile; the later ones lie along its other
        // modes.
        let split = divide_by_derived(
            &mut Numbers,
            &values,
            &Layout::new(held, 1)?.into(),
            Form::Zipped,
            Overhang::Strict,
        )?;
        let [_, others] = halves(&split);
        let blocks = Blocks::new(&others, &self.tile_shape)?;
        let order = Layout::concat([Layout::new(held, 1)?, blocks.order(held)?])?;
        let [_, of_atom] = halves(self.atom.layout(CopySide::Ref)).map(|mode| mode.size());
        let by_operation = divide_by_derived(
            &mut Numbers,
            &order,
            &Layout::new(of_atom, 1)?.into(),
            Form::Zipped,
            Overhang::Strict,
        )?;
        let tile: Shape = [held]
            .into_iter()
            .chain(blocks.extents)
            .map(Tuple::Leaf)
            .collect();
        let tiler = Tiler::from_shape(&tile)?;
        let [tile, rest] = halves(&divide_by_derived(
            &mut Numbers,
            fragment,
            &tiler,
            Form::Zipped,
            Overhang::Strict,
        )?);
        let values = compose(&mut Numbers, &tile, &by_operation, Overhang::Strict)?;
        Layout::concat([vec![values], rest.modes().into_iter().skip(1).collect()].concat())
    }

    /// [`layout_tv`](Self::layout_tv) with the tile's elements as integers, coalesced.
    fn thread_values(&self, side: CopySide) -> Result<Layout, LayoutError> {
        let reference = self.atom.layout(CopySide::Ref);
        let [threads, values] = halves(reference).map(|mode| mode.size());
        let of_atom = Tiler::from_shape(&[threads, values].into())?;
        let [atom, rest] = halves(&divide_by_derived(
            &mut Numbers,
            &self.layout_tv,
            &of_atom,
            Form::Zipped,
            Overhang::Strict,
        )?);
        // From (thread, value) on this side to (thread, value) in registers.
        let to_registers = compose(
            &mut Numbers,
            &right_inverse(reference)?,
            self.atom.layout(side),
            Overhang::Strict,
        )?;
        let [atom_threads, atom_values] = halves(&compose(
            &mut Numbers,
            &atom,
            &to_registers,
            Overhang::Strict,
        )?);
        let [rest_threads, rest_values] = halves(&rest);
        Layout::concat([
            coalesce(&Layout::concat([atom_threads, rest_threads])?),
            Layout::concat([coalesce(&atom_values), coalesce(&rest_values)])?,
        ])
    }
}

/// Where the values of a thread after those of the first atom lie in the tile, in blocks of one atom.
struct Blocks {
    /// Number of blocks along each mode of the tile.
    extents: Vec<i64>,
    /// For each mode of the values: its extent, the mode of the tile that it runs along, and the number of blocks
    /// before its first step there.
    modes: Vec<(i64, usize, i64)>,
}

impl Blocks {
    /// The blocks of a layout from values to elements of a tile.
    fn new(values: &Layout, tile_shape: &Shape) -> Result<Self, LayoutError> {
        let coordinates = compose(
            &mut Numbers,
            &Layout::identity(tile_shape.clone())?,
            values,
            Overhang::Strict,
        )?;
        let modes: Vec<_> = coordinates
            .flat_modes()
            .into_iter()
            .filter(|(extent, _)| *extent > 1)
            .collect();
        if let Some((_, stride)) = modes.iter().find(|(_, stride)| stride.is_zero()) {
            let kind = ErrorKind::NotIntegral {
                stride: stride.to_string(),
            };
            return Err(kind.at(Place::operand(0)));
        }
        let along = |mode: usize| {
            let modes = modes.iter();
            modes.filter(move |(_, stride)| stride.path().first().copied().unwrap_or(0) == mode)
        };
        let before = |(_, stride): &(i64, ScaledBasis)| {
            let mode = stride.path().first().copied().unwrap_or(0);
            let smaller = along(mode).filter(|(_, other)| other.value() < stride.value());
            (mode, smaller.map(|(extent, _)| extent).product())
        };
        Ok(Self {
            extents: (0..tile_shape.rank())
                .map(|mode| along(mode).map(|(extent, _)| extent).product())
                .collect(),
            modes: modes
                .iter()
                .map(|mode| {
                    let (along, blocks) = before(mode);
                    (mode.0, along, blocks)
                })
                .collect(),
        })
    }

    /// The layout from values to registers. Each block has `held` registers, and blocks along the first mode come
    /// first.
    fn order(&self, held: i64) -> Result<Layout, LayoutError> {
        let modes = self.modes.iter().map(|&(extent, along, before)| {
            let smaller: i64 = self.extents[..along].iter().product();
            Layout::leaf(extent, held * smaller * before)
        });
        match self.modes.is_empty() {
            true => Ok(Layout::unit()),
            false => Layout::concat(modes),
        }
    }
}
