//! Operands of the operations that describe Hopper's instructions. They must be known at expansion.

use super::args::Args;
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::hopper::access::{SharedAccess, shared_access, shared_access_of};
use crate::hopper::atoms::{
    CopyAtom, CopySide, MmaAtom, MmaOperand, Partition, TiledCopy, TiledMma,
};
use crate::hopper::wgmma::Major;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::value::Value;
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use cute_chip::SwizzleMode;

/// The sides of a copy, in the order in which the operations name their layouts.
pub(super) const SIDES: [CopySide; 3] = [CopySide::Src, CopySide::Dst, CopySide::Ref];

impl Args<'_, Numbers> {
    pub(super) fn word(&self, index: usize, expected: &'static str) -> Result<&str, LayoutError> {
        match self.get(index)? {
            Value::Word(word) => Ok(word),
            _ => Err(self.wrong(index, expected)),
        }
    }

    pub(super) fn field(&self, index: usize, names: &[&str]) -> Result<usize, LayoutError> {
        self.one_of(index, "field", names)
    }

    /// The position of an operand in a list of names; `what` says in the error what the names are.
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

    /// A tiled MMA, given by three operands from `index` on: operation, atom layout and permutation.
    pub(super) fn tiled_mma(&mut self, index: usize) -> Result<TiledMma, LayoutError> {
        let (atom, atoms) = (self.mma_atom(index)?, self.layout(index + 1)?);
        TiledMma::new(atom, &atoms, &self.tiler(index + 2)?).map_err(|error| shifted(error, index))
    }

    /// A tiled copy, given by four operands from `index` on: operation, element bits, threads and values.
    pub(super) fn tiled_copy(&mut self, index: usize) -> Result<TiledCopy, LayoutError> {
        let (atom, bits) = (self.copy_atom(index)?, self.number(index + 1)?);
        let (threads, values) = (self.layout(index + 2)?, self.layout(index + 3)?);
        TiledCopy::new(&atom, bits, &threads, &values).map_err(|error| shifted(error, index))
    }

    /// A tiled copy with the threads and values of one operand of a tiled MMA. The first five operands give the copy, the
    /// element bits, and the MMA as operation, atom layout and permutation.
    pub(super) fn copy_for(&mut self, operand: MmaOperand) -> Result<TiledCopy, LayoutError> {
        let (atom, bits) = (self.copy_atom(0)?, self.number(1)?);
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
        &mut self,
        operand: MmaOperand,
        overhang: Overhang,
    ) -> Result<Value, LayoutError> {
        let (mma, data, thread) = (self.tiled_mma(0)?, self.inner(3)?, self.number(4)?);
        let partition = mma
            .partition_with(operand, &data, thread, overhang)
            .map_err(|error| shifted(error, 3))?;
        self.partition(3, partition)
    }

    pub(super) fn copy_partition(
        &mut self,
        copy: &TiledCopy,
        side: CopySide,
        index: usize,
        overhang: Overhang,
    ) -> Result<Value, LayoutError> {
        let (data, thread) = (self.inner(index)?, self.number(index + 1)?);
        let partition = copy
            .partition_with(side, &data, thread, overhang)
            .map_err(|error| shifted(error, index))?;
        self.partition(index, partition)
    }

    /// A partition of the data in operand `index`: its layout and the offset where it begins. For swizzled data, a
    /// swizzled layout that contains the offset, and 0.
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

    pub(super) fn layouts(&mut self, first: usize) -> Result<Vec<Layout>, LayoutError> {
        (first..self.count())
            .map(|index| self.layout(index))
            .collect()
    }

    /// The bank conflicts of the access patterns from operand 2 on, on the tile in operand 0. Operand 1 is the element
    /// size in bits.
    pub(super) fn accesses(&mut self) -> Result<Vec<SharedAccess>, LayoutError> {
        let bits = self.number(1)?;
        let patterns = self.layouts(2)?.into_iter().enumerate();
        let mut access = |tv: &Layout| match self.get(0)? {
            Value::XorMap(map) => shared_access_of(&|index| map.at(index), map.size(), bits, tv),
            _ => shared_access(&self.composed(0)?, bits, tv),
        };
        patterns
            .map(|(pattern, tv)| access(&tv).map_err(|error| of_pattern(error, pattern)))
            .collect()
    }

    /// An element size in bits.
    pub(super) fn bits(&self, index: usize) -> Result<u32, LayoutError> {
        u32::try_from(self.number(index)?).map_err(|_| self.wrong(index, "a number of bits"))
    }

    pub(super) fn major(&self, index: usize) -> Result<Major, LayoutError> {
        Ok([Major::K, Major::MN][self.one_of(index, "major mode", &["K", "MN"])?])
    }

    pub(super) fn swizzle_mode(&self, index: usize) -> Result<SwizzleMode, LayoutError> {
        let names = SwizzleMode::ALL.map(SwizzleMode::name);
        Ok(SwizzleMode::ALL[self.one_of(index, "swizzle mode", &names)?])
    }
}

/// The error for a tile that an instruction cannot use, at operand 0.
pub(super) fn refused(error: &dyn fmt::Display) -> LayoutError {
    let refusal = error.to_string();
    ErrorKind::Hardware { refusal }.at(Place::operand(0))
}

/// Moves an error about operand 2 to the operand of access pattern number `pattern`; the first pattern is operand 2.
pub(super) fn of_pattern(error: LayoutError, pattern: usize) -> LayoutError {
    error.relocate(|place| match place.operand {
        2 => Place {
            operand: 2 + pattern,
            ..place
        },
        _ => place,
    })
}

/// Moves an error of a call whose first operand is operand `index` here.
pub(super) fn shifted(error: LayoutError, index: usize) -> LayoutError {
    error.relocate(|place| Place {
        operand: place.operand + index,
        ..place
    })
}
