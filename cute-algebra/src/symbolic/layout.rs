//! Conversions between layouts of run-time integers and layouts of numbers.

use super::scope::Scope;
use super::term::Term;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::stride::{ScaledBasis, Stride};
use crate::tuple::Shape;

impl Layout<Term> {
    /// The same layout with constant terms.
    pub fn lift(layout: &Layout) -> Self {
        let shape = layout.shape().map(|&extent| Term::from(extent));
        let stride = layout
            .stride()
            .map(|stride| ScaledBasis::along(stride.value().into(), stride.path()));
        Self::assembled(shape, stride)
    }

    /// The layout of numbers, if all extents and strides are constants. Sources of ragged divisions are dropped.
    pub(crate) fn to_numbers(&self) -> Option<Layout> {
        let mut strides = self.stride().leaves();
        match strides.all(|stride| stride.sources().is_empty()) {
            true => self.with_numbers(&Term::as_constant)?.ok(),
            false => None,
        }
    }

    /// The layout for these values of the atoms by index; `None` where a leaf is not an integer or does not fit 64 bits.
    pub fn evaluate(&self, atoms: &[i64]) -> Option<Result<Layout, LayoutError>> {
        self.with_numbers(&|term| i64::try_from(term.evaluate(atoms)?).ok())
    }

    fn with_numbers(
        &self,
        number: &dyn Fn(&Term) -> Option<i64>,
    ) -> Option<Result<Layout, LayoutError>> {
        let shape: Shape = self
            .shape()
            .try_map(|extent| number(extent).ok_or(()))
            .ok()?;
        let stride = self.stride().try_map(|stride| {
            let value = number(&stride.value()).ok_or(())?;
            Ok::<_, ()>(ScaledBasis::along(value, stride.path()))
        });
        let stride: Stride = stride.ok()?;
        Some(Layout::new(shape, stride))
    }

    /// The same layout without the [sources](crate::Source) of ragged divisions.
    pub fn without_sources(&self) -> Self {
        let stride = self.stride().map(|stride| stride.clone().with_sources([]));
        Self::assembled(self.shape().clone(), stride)
    }

    /// An error where the size or the span of the layout does not fit 64 bits for any values of the atoms. Where it
    /// depends on the values, the code that replaces the atoms by numbers has to check it.
    pub(crate) fn check_overflow(&self, scope: &Scope) -> Result<(), LayoutError> {
        let fits = |quantity, least: Option<i128>| match least {
            Some(least) if least <= i64::MAX.into() => Ok(()),
            _ => Err(ErrorKind::Overflow { quantity }.at(Place::default())),
        };
        fits(
            "size",
            self.shape()
                .product()
                .and_then(|size| scope.least_positive(&size)),
        )?;
        // A stride of unknown sign adds nothing to the lower bound.
        let modes = self.flat_modes();
        let mut modes = modes
            .into_iter()
            .filter(|(_, stride)| scope.is_positive(&stride.value()));
        let reach = modes.try_fold(1, |reach: i128, (extent, stride)| {
            let steps = scope.least_positive(&extent)? - 1;
            reach.checked_add(steps.checked_mul(scope.least_positive(&stride.value())?)?)
        });
        fits("cosize", reach)
    }
}
