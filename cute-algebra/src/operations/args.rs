//! Operands, taken as what an operation wants.

use super::Operation;
use super::table::SIDES;
use crate::analysis::access::{SharedAccess, shared_access, shared_access_of};
use crate::analysis::gmma::{Major, SwizzleMode};
use crate::analysis::injective::Verdict;
use crate::atoms::{CopyAtom, CopySide, MmaAtom, MmaOperand, Partition, TiledCopy, TiledMma};
use crate::composed::ComposedLayout;
use crate::composition::Overhang;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;
use crate::tuple::{Coord, IntTuple, Shape, Tuple};
use crate::value::Value;

/// Operands, taken as what an operation wants.
pub(super) struct Args<'a> {
    pub(super) operands: &'a [Value],
    pub(super) operation: &'a Operation,
}

impl Args<'_> {
    pub(super) fn count(&self) -> usize {
        self.operands.len()
    }

    pub(super) fn wrong_count(&self) -> LayoutError {
        self.operation.wrong_count(self.count())
    }

    pub(super) fn get(&self, index: usize) -> Result<&Value, LayoutError> {
        self.operands.get(index).ok_or_else(|| self.wrong_count())
    }

    pub(super) fn wrong(&self, index: usize, expected: &'static str) -> LayoutError {
        let found = self.operands.get(index).map_or("nothing", Value::kind);
        ErrorKind::Argument { expected, found }.at(Place::operand(index))
    }

    pub(super) fn integer(&self, index: usize) -> Result<i64, LayoutError> {
        match self.get(index)? {
            Value::Int(value) => Ok(*value),
            _ => Err(self.wrong(index, "an integer")),
        }
    }

    /// All operands from `first` on.
    pub(super) fn integers(&self, first: usize) -> Result<Vec<i64>, LayoutError> {
        (first..self.count())
            .map(|index| self.integer(index))
            .collect()
    }

    /// A shape; of a layout, its shape.
    pub(super) fn shape(&self, index: usize) -> Result<Shape, LayoutError> {
        match self.get(index)? {
            Value::Int(extent) => Ok(Tuple::Leaf(*extent)),
            Value::Tuple(shape) => Ok(shape.clone()),
            Value::Layout(layout) => Ok(layout.shape().clone()),
            _ => Err(self.wrong(index, "a tuple of integers")),
        }
    }

    pub(super) fn optional_shape(&self, index: usize) -> Result<Option<IntTuple>, LayoutError> {
        if index < self.count() {
            self.shape(index).map(Some)
        } else {
            Ok(None)
        }
    }

    pub(super) fn coord(&self, index: usize) -> Result<Coord, LayoutError> {
        match self.get(index)? {
            Value::Int(value) => Ok(Tuple::Leaf(Some(*value))),
            Value::Tuple(tuple) => Ok(tuple.to_coord()),
            Value::Coord(coord) => Ok(coord.clone()),
            Value::Tiler(Tiler::Keep) => Ok(Tuple::Leaf(None)),
            _ => Err(self.wrong(index, "a coordinate")),
        }
    }

    /// A layout; a shape stands for its compact layout, leftmost mode fastest.
    pub(super) fn layout(&self, index: usize) -> Result<Layout, LayoutError> {
        match self.get(index)? {
            Value::Layout(layout) => Ok(layout.clone()),
            Value::Int(extent) => Layout::left(*extent).map_err(|error| error.inside(index, &[])),
            Value::Tuple(shape) => {
                Layout::left(shape.clone()).map_err(|error| error.inside(index, &[]))
            }
            _ => Err(self.wrong(index, "a layout")),
        }
    }

    pub(super) fn optional_layout(&self, index: usize) -> Result<Layout, LayoutError> {
        if index < self.count() {
            self.layout(index)
        } else {
            Ok(Layout::unit())
        }
    }

    /// A layout, with or without a swizzle.
    pub(super) fn composed(&self, index: usize) -> Result<ComposedLayout, LayoutError> {
        match self.get(index)? {
            Value::Composed(swizzled) => Ok(swizzled.clone()),
            _ => ComposedLayout::new(Swizzle::IDENTITY, 0, self.layout(index)?)
                .map_err(|error| error.inside(index, &[])),
        }
    }

    /// The layout, underneath a swizzle if there is one.
    pub(super) fn inner(&self, index: usize) -> Result<Layout, LayoutError> {
        match self.get(index)? {
            Value::Composed(swizzled) => Ok(swizzled.layout().clone()),
            _ => self.layout(index),
        }
    }

    /// Acts on the coordinates of a layout, underneath a swizzle if there is one.
    pub(super) fn map(
        &self,
        index: usize,
        act: impl FnOnce(&Layout) -> Result<Layout, LayoutError>,
    ) -> Result<Value, LayoutError> {
        match self.get(index)? {
            Value::Composed(swizzled) => Ok(swizzled.try_map(act)?.into()),
            _ => Ok(act(&self.layout(index)?)?.into()),
        }
    }

    pub(super) fn tiler(&self, index: usize) -> Result<Tiler, LayoutError> {
        let from_coord =
            |coord: &Coord| Tiler::from_coord(coord).map_err(|error| error.inside(index, &[]));
        match self.get(index)? {
            Value::Tiler(tiler) => Ok(tiler.clone()),
            Value::Layout(layout) => Ok(layout.clone().into()),
            Value::Int(extent) => from_coord(&Tuple::Leaf(Some(*extent))),
            Value::Tuple(shape) => from_coord(&shape.to_coord()),
            Value::Coord(coord) => from_coord(coord),
            _ => Err(self.wrong(index, "a tiler")),
        }
    }

    pub(super) fn word(&self, index: usize, expected: &'static str) -> Result<&str, LayoutError> {
        match self.get(index)? {
            Value::Word(word) => Ok(word),
            _ => Err(self.wrong(index, expected)),
        }
    }

    pub(super) fn field(&self, index: usize, names: &[&str]) -> Result<usize, LayoutError> {
        self.one_of(index, "field", names)
    }

    /// Which of the names an operand is.
    pub(super) fn one_of(
        &self,
        index: usize,
        what: &'static str,
        names: &[&str],
    ) -> Result<usize, LayoutError> {
        let found = self.word(index, "a name")?;
        let kind = || ErrorKind::NotOneOf {
            what,
            found: found.to_owned(),
            names: names.join(", "),
        };
        let position = names.iter().position(|name| *name == found);
        position.ok_or_else(|| kind().at(Place::operand(index)))
    }

    pub(super) fn mma_atom(&self, index: usize) -> Result<MmaAtom, LayoutError> {
        let name = self.word(index, "the name of an MMA operation")?;
        name.parse()
            .map_err(|error: LayoutError| error.blame(index))
    }

    pub(super) fn copy_atom(&self, index: usize) -> Result<CopyAtom, LayoutError> {
        let name = self.word(index, "the name of a copy operation")?;
        name.parse()
            .map_err(|error: LayoutError| error.blame(index))
    }

    /// A tiled MMA of three operands from `index` on.
    pub(super) fn tiled_mma(&self, index: usize) -> Result<TiledMma, LayoutError> {
        let (atom, atoms) = (self.mma_atom(index)?, self.layout(index + 1)?);
        TiledMma::new(atom, &atoms, &self.tiler(index + 2)?).map_err(|error| shifted(error, index))
    }

    /// A tiled copy of four operands from `index` on.
    pub(super) fn tiled_copy(&self, index: usize) -> Result<TiledCopy, LayoutError> {
        let (atom, bits) = (self.copy_atom(index)?, self.integer(index + 1)?);
        let (threads, values) = (self.layout(index + 2)?, self.layout(index + 3)?);
        TiledCopy::new(&atom, bits, &threads, &values).map_err(|error| shifted(error, index))
    }

    /// A tiled copy with the threads and values of a tiled MMA, of the first five operands.
    pub(super) fn copy_for(&self, operand: MmaOperand) -> Result<TiledCopy, LayoutError> {
        let (atom, bits) = (self.copy_atom(0)?, self.integer(1)?);
        TiledCopy::for_mma(&atom, bits, &self.tiled_mma(2)?, operand)
    }

    pub(super) fn tiled_copy_field(
        &self,
        copy: &TiledCopy,
        index: usize,
    ) -> Result<Value, LayoutError> {
        let names = ["TiledLayout_TV", "Tiler_MN", "layoutS_TV", "layoutD_TV"];
        Ok(match self.field(index, &names)? {
            0 => copy.tiled_layout_tv().into(),
            1 => copy.tile_shape().into(),
            side => copy.layout_tv(SIDES[side - 2])?.into(),
        })
    }

    pub(super) fn mma_partition(
        &self,
        operand: MmaOperand,
        overhang: Overhang,
    ) -> Result<Value, LayoutError> {
        let (mma, data, thread) = (self.tiled_mma(0)?, self.inner(3)?, self.integer(4)?);
        let partition = mma
            .partition_with(operand, &data, thread, overhang)
            .map_err(|error| shifted(error, 3))?;
        self.partition(3, partition)
    }

    pub(super) fn copy_partition(
        &self,
        copy: &TiledCopy,
        side: CopySide,
        index: usize,
        overhang: Overhang,
    ) -> Result<Value, LayoutError> {
        let (data, thread) = (self.inner(index)?, self.integer(index + 1)?);
        let partition = copy
            .partition_with(side, &data, thread, overhang)
            .map_err(|error| shifted(error, index))?;
        self.partition(index, partition)
    }

    /// A layout and the value where it begins; of swizzled data, a swizzled layout with the offset inside.
    pub(super) fn partition(
        &self,
        index: usize,
        partition: Partition,
    ) -> Result<Value, LayoutError> {
        Ok(match self.get(index)? {
            Value::Composed(data) => vec![partition.swizzled(data)?.into(), 0.into()].into(),
            _ => vec![partition.layout.into(), partition.offset.into()].into(),
        })
    }

    /// What is known of the first operand.
    pub(super) fn verdict(
        &self,
        plain: fn(&Layout) -> Verdict,
        swizzled: fn(&ComposedLayout) -> Verdict,
    ) -> Result<Verdict, LayoutError> {
        match self.get(0)? {
            Value::Composed(composed) => Ok(swizzled(composed)),
            _ => Ok(plain(&self.layout(0)?)),
        }
    }

    /// The first operand, if it has the property.
    pub(super) fn required(
        &self,
        verdict: Verdict,
        property: &'static str,
    ) -> Result<Value, LayoutError> {
        match verdict {
            Verdict::Yes => self.get(0).cloned(),
            Verdict::No(counterexample) => Err(ErrorKind::Refuted {
                property,
                counterexample,
            }
            .at(Place::operand(0))),
            Verdict::Unproved => Err(ErrorKind::Unproved { property }.at(Place::operand(0))),
        }
    }

    pub(super) fn layouts(&self, first: usize) -> Result<Vec<Layout>, LayoutError> {
        (first..self.count())
            .map(|index| self.layout(index))
            .collect()
    }

    /// The patterns from operand 2 on, of the tile that is operand 0.
    pub(super) fn accesses(&self) -> Result<Vec<SharedAccess>, LayoutError> {
        let bits = self.integer(1)?;
        let patterns = self.layouts(2)?.into_iter().enumerate();
        let access = |tv: &Layout| match self.get(0)? {
            Value::XorMap(map) => shared_access_of(&|index| map.at(index), map.size(), bits, tv),
            _ => shared_access(&self.composed(0)?, bits, tv),
        };
        patterns
            .map(|(pattern, tv)| access(&tv).map_err(|error| Self::of_pattern(error, pattern)))
            .collect()
    }

    /// An error about one of the patterns.
    pub(super) fn of_pattern(error: LayoutError, pattern: usize) -> LayoutError {
        error.relocate(|place| match place.operand {
            2 => Place {
                operand: 2 + pattern,
                ..place
            },
            _ => place,
        })
    }

    /// A width of elements.
    pub(super) fn bits(&self, index: usize) -> Result<u32, LayoutError> {
        u32::try_from(self.integer(index)?).map_err(|_| self.wrong(index, "a number of bits"))
    }

    pub(super) fn major(&self, index: usize) -> Result<Major, LayoutError> {
        Ok([Major::K, Major::MN][self.one_of(index, "major mode", &["K", "MN"])?])
    }

    pub(super) fn swizzle_mode(&self, index: usize) -> Result<SwizzleMode, LayoutError> {
        let names = SwizzleMode::ALL.map(SwizzleMode::name);
        Ok(SwizzleMode::ALL[self.one_of(index, "swizzle mode", &names)?])
    }
}

/// The error of a call whose first operand is our operand `index`.
pub(super) fn shifted(error: LayoutError, index: usize) -> LayoutError {
    error.relocate(|place| Place {
        operand: place.operand + index,
        ..place
    })
}
