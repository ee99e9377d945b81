//! Layouts of terms: from numbers, and to numbers.

use super::scope::Scope;
use super::term::Term;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::stride::{ScaledBasis, Stride};
use crate::tuple::Shape;

impl Layout<Term> {
    /// A layout of numbers.
    pub fn lift(layout: &Layout) -> Self {
        let shape = layout.shape().map(|&extent| Term::from(extent));
        let stride = layout
            .stride()
            .map(|stride| ScaledBasis::along(stride.value().into(), stride.path()));
        Self::assembled(shape, stride)
    }

    /// The layout of numbers, if it is one by itself: where it comes from is of no matter.
    pub(crate) fn to_numbers(&self) -> Option<Layout> {
        let mut strides = self.stride().leaves();
        match strides.all(|stride| stride.sources().is_empty()) {
            true => self.with_numbers(&Term::as_constant)?.ok(),
            false => None,
        }
    }

    /// The layout for these values of the atoms; `None` where a leaf is no integer or does not fit.
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

    /// The same layout without the places where steps lead in modes that ragged divisions have divided.
    pub fn without_sources(&self) -> Self {
        let stride = self.stride().map(|stride| stride.clone().with_sources([]));
        Self::assembled(self.shape().clone(), stride)
    }

    /// Refuses a layout of which the size or the span fits 64 bits for no values of the atoms. Where it depends on them,
    /// whoever puts numbers in their place finds out.
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
        // Of strides of unknown sign, nothing is known.
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
