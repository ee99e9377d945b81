//! Inverses of layouts of run-time integers.

use super::{Invert, Modes};
use crate::ascending::Step;
use crate::domain::Numbers;
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::stride::ScaledBasis;
use crate::symbolic::{Scope, Term};
use alloc::vec::Vec;

/// Negative strides and searches need numbers, because facts about names say too little.
impl Invert for Scope {
    fn prolong(
        &mut self,
        a: &Layout<Term>,
        inverse: Modes<Term>,
        others: &[Step<Term>],
    ) -> Modes<Term> {
        let number = |(extent, stride): &(Term, ScaledBasis<Term>)| {
            Some((extent.as_constant()?, stride.value().as_constant()?.into()))
        };
        let numbers = || {
            let inverse = inverse.iter().map(number).collect::<Option<Vec<_>>>()?;
            let modes = Numbers.prolong(&a.to_numbers()?, inverse, &to_numbers(others)?);
            let lift = |(extent, stride): (i64, ScaledBasis)| {
                (extent.into(), Term::from(stride.value()).into())
            };
            Some(modes.into_iter().map(lift).collect())
        };
        numbers().unwrap_or(inverse)
    }

    fn search(
        &mut self,
        steps: &[Step<Term>],
        refusal: LayoutError,
    ) -> Result<Layout<Term>, LayoutError> {
        match to_numbers(steps) {
            Some(steps) => Ok(Layout::lift(&Numbers.search(&steps, refusal)?)),
            None => Err(refusal),
        }
    }
}

/// The leaves as numbers, if all of their integers are known.
fn to_numbers(steps: &[Step<Term>]) -> Option<Vec<Step<i64>>> {
    let number = |step: &Step<Term>| {
        Some(Step {
            extent: step.extent.as_constant()?,
            stride: step.stride.as_constant()?,
            weight: step.weight.as_constant()?,
            place: step.place.clone(),
        })
    };
    steps.iter().map(number).collect()
}
