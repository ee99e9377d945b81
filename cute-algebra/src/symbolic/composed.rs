//! A swizzle after a layout of terms.

use super::coordinate::{cosize, crd2idx};
use super::layout::{SymbolicLayout, overflow, product};
use super::property::{gcd, vector_width};
use super::recast::{downcast, upcast};
use super::scope::{Answer, Check, Scope};
use super::term::{Sum, Term};
use super::{SymbolicError, SymbolicErrorKind, SymbolicValue, undecided};
use crate::composed::ComposedLayout;
use crate::composition::Overhang;
use crate::error::Place;
use crate::swizzle::Swizzle;
use crate::tuple::Tuple;

type Result<T> = std::result::Result<T, SymbolicError>;

/// A swizzle after a layout of terms and an offset: `Sw o offset o layout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicComposed {
    /// The swizzle.
    pub swizzle: Swizzle,
    /// What is added to the values before they are swizzled.
    pub offset: Sum,
    /// The layout, into the integers.
    pub layout: SymbolicLayout,
}

impl SymbolicComposed {
    /// The swizzled layout; refused for a layout into a coordinate space.
    pub(crate) fn new(swizzle: Swizzle, offset: Sum, layout: SymbolicLayout) -> Result<Self> {
        if !layout.is_integral() {
            let text = "a swizzle is of integers, not of coordinates".to_owned();
            return Err(SymbolicErrorKind::Refused(text).at(Place::operand(1)));
        }
        Ok(Self {
            swizzle,
            offset,
            layout,
        })
    }

    /// A swizzled layout of numbers.
    pub(crate) fn lift(composed: &ComposedLayout) -> Self {
        Self {
            swizzle: composed.swizzle(),
            offset: composed.offset().into(),
            layout: SymbolicLayout::lift(composed.layout()),
        }
    }

    /// A plain layout where there is nothing to swizzle.
    pub(crate) fn simplest(self) -> SymbolicValue {
        match self.swizzle.is_identity() && self.offset == Sum::default() {
            true => SymbolicValue::Layout(self.layout),
            false => SymbolicValue::Composed(self),
        }
    }

    /// Acts on the coordinates.
    pub(crate) fn map(
        &self,
        act: impl FnOnce(&SymbolicLayout) -> Result<SymbolicLayout>,
    ) -> Result<Self> {
        Self::new(self.swizzle, self.offset.clone(), act(&self.layout)?)
    }

    /// The value at a coordinate.
    pub(crate) fn crd2idx(&self, scope: &mut Scope, coord: &Tuple<Option<Sum>>) -> Result<Sum> {
        let index = self.shifted(scope, coord)?;
        let at_coord = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
        scope.swizzled(self.swizzle, &index).map_err(at_coord)
    }

    /// The layout from a coordinate on: `layout` is what is left of it.
    pub(crate) fn starting_at(
        &self,
        scope: &mut Scope,
        coord: &Tuple<Option<Sum>>,
        layout: SymbolicLayout,
    ) -> Result<Self> {
        let coord = coord.map(|leaf| Some(leaf.clone().unwrap_or_default()));
        Self::new(self.swizzle, self.shifted(scope, &coord)?, layout)
    }

    fn shifted(&self, scope: &mut Scope, coord: &Tuple<Option<Sum>>) -> Result<Sum> {
        match crd2idx(scope, &self.layout, coord)? {
            Tuple::Leaf(index) => index.plus(&self.offset).ok_or_else(overflow),
            Tuple::Node(_) => Err(overflow()),
        }
    }

    /// What every value is below: the span, up to the end of the block that the swizzle moves values in.
    pub(crate) fn cosize(&self, scope: &mut Scope) -> Result<Sum> {
        let span = cosize(scope, &self.layout)?;
        let span = span.plus(&self.offset).ok_or_else(overflow)?;
        let mut block = Term::ONE;
        for (source, target) in self.swizzle.pairs() {
            let reached = Check::AtMost {
                left: Sum::from(1i64 << source)
                    .add(&Term::ONE, 1)
                    .ok_or_else(overflow)?,
                right: span.clone(),
            };
            match scope.answer(&reached) {
                Answer::Always => {
                    let end = 1i64.checked_shl(source.max(target) + 1);
                    let end = end.filter(|&end| end > 0).ok_or_else(overflow)?;
                    let end = Term::from(end);
                    if scope.at_most(&block, &end) == Answer::Always {
                        block = end;
                    }
                }
                Answer::Never => {}
                Answer::Maybe => {
                    let least = Term::from((1i64 << source) + 1);
                    let span = scope
                        .term(&span)
                        .map_err(|kind| kind.at(Place::operand(0)))?;
                    return Err(undecided(scope, &least, &span, Place::operand(0)));
                }
            }
        }
        if block.is_one() {
            return Ok(span);
        }
        let at_layout = |kind: SymbolicErrorKind| kind.at(Place::operand(0));
        let span = scope.term(&span).map_err(at_layout)?;
        let blocks = scope.ceiling(&span, &block).map_err(at_layout)?;
        Ok(product(&blocks, &block)?.into())
    }

    pub(crate) fn vector_width(&self, scope: &mut Scope) -> Result<Term> {
        let width = vector_width(scope, &self.layout)?;
        self.whole(scope, &width)
    }

    /// The part of a number of elements that the offset and the swizzle leave whole.
    pub(crate) fn whole(&self, scope: &mut Scope, block: &Term) -> Result<Term> {
        let offset = scope
            .term(&self.offset)
            .map_err(|kind| kind.at(Place::operand(0)))?;
        let whole = gcd(scope, block, &offset)?;
        match self.swizzle.is_identity() {
            true => Ok(whole),
            false => gcd(scope, &whole, &(1i64 << self.swizzle.base()).into()),
        }
    }

    pub(crate) fn upcast(
        &self,
        scope: &mut Scope,
        factor: i64,
        overhang: Overhang,
    ) -> Result<Self> {
        let swizzle = self.swizzle.upcast(factor)?;
        let layout = upcast(scope, &self.layout, &factor.into(), overhang)?;
        let mut offset = Sum::default();
        for term in self.offset.terms() {
            let check = Check::divides(&factor.into(), &term);
            scope
                .require(check)
                .map_err(|kind| kind.at(Place::operand(0)))?;
            let part = term.checked_div(&factor.into()).ok_or_else(overflow)?;
            offset = offset.add(&part, 1).ok_or_else(overflow)?;
        }
        Self::new(swizzle, offset, layout)
    }

    pub(crate) fn downcast(&self, scope: &mut Scope, factor: i64) -> Result<Self> {
        let offset = self.offset.times(&factor.into()).ok_or_else(overflow)?;
        let layout = downcast(scope, &self.layout, &factor.into())?;
        Self::new(self.swizzle.downcast(factor)?, offset, layout)
    }
}
