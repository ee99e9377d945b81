//! The same memory in larger or smaller elements.

use super::chain::{equal, weighted};
use super::layout::{Mode, SymbolicLayout, product, quotient};
use super::scope::{Answer, Check, Scope};
use super::term::Term;
use super::{SymbolicError, SymbolicErrorKind, undecided};
use crate::composition::Overhang;
use crate::error::{ErrorKind, Place};

type Result<T> = std::result::Result<T, SymbolicError>;

/// The layout in units of `factor` elements.
pub(crate) fn upcast(
    scope: &mut Scope,
    a: &SymbolicLayout,
    factor: &Term,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    let at_factor = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
    scope.require_extent(factor).map_err(at_factor)?;
    if let Some(mode) = a.leaves().find(|mode| !mode.sources.is_empty()) {
        let text = format!(
            "elements of a ragged division cannot be joined: the edge may run through a unit of {}, at the mode of extent {}",
            scope.show(factor),
            scope.show(&mode.extent)
        );
        return Err(SymbolicErrorKind::Refused(text).at(Place::operand(0)));
    }
    let mut leaves = Vec::new();
    let mut group = Vec::new();
    for step in weighted(a)? {
        let (Mode { extent, stride, .. }, place) = (&step.mode, &step.place);
        let divides =
            |scope: &Scope| [(factor, stride), (stride, factor)].map(|(a, b)| scope.divides(a, b));
        // What is open is taken to be a multiple, unless it cannot be.
        let whole = match divides(scope) {
            [Answer::Always, _] | [_, Answer::Never] => true,
            [_, Answer::Always] | [Answer::Never, _] => false,
            [Answer::Maybe, Answer::Maybe] => true,
        };
        let at_stride = |kind: SymbolicErrorKind| kind.at(place.clone());
        if whole {
            scope
                .require(Check::divides(factor, stride))
                .map_err(at_stride)?;
            leaves.push(Mode::new(extent.clone(), quotient(stride, factor)?));
            continue;
        }
        scope.require_positive(stride, place)?;
        scope
            .require(Check::divides(stride, factor))
            .map_err(at_stride)?;
        let share = quotient(factor, stride)?;
        let at_shape = |kind: SymbolicErrorKind| kind.at(place.clone().shape());
        let [fills, fits] = [(&share, extent), (extent, &share)].map(|(a, b)| scope.divides(a, b));
        // So many of its elements are in one unit, and so many units it has.
        let is_inside = fits == Answer::Always && fills != Answer::Always
            || fills == Answer::Never && overhang == Overhang::Strict;
        let (inside, units) = if is_inside {
            let check = Check::divides(extent, &share);
            scope.require(check).map_err(at_shape)?;
            (extent.clone(), Term::ONE)
        } else if overhang == Overhang::Ragged && fills != Answer::Always {
            let units = scope.ceiling(extent, &share).map_err(at_shape)?;
            (share.clone(), units)
        } else {
            let check = Check::divides(&share, extent);
            scope.require(check).map_err(at_shape)?;
            (share.clone(), quotient(extent, &share)?)
        };
        group.push(Mode::new(inside, stride.clone()));
        leaves.push(Mode::new(units, Term::ONE));
    }
    if overhang == Overhang::Strict && !factor.is_one() {
        require_full(scope, group, factor)?;
    }
    a.replace_leaves(leaves.into_iter().map(SymbolicLayout::leaf).collect())
}

/// The layout in units of a `factor`-th of an element.
pub(crate) fn downcast(
    scope: &mut Scope,
    a: &SymbolicLayout,
    factor: &Term,
) -> Result<SymbolicLayout> {
    let at_factor = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
    scope.require_extent(factor).map_err(at_factor)?;
    let mut contiguous = 0;
    let mut leaves = Vec::new();
    for step in weighted(a)? {
        let Mode {
            extent,
            stride,
            sources,
            ..
        } = step.mode;
        let is_contiguous = equal(scope, &stride, &Term::ONE) == Answer::Always;
        let mut mode = match is_contiguous {
            true => Mode::new(product(&extent, factor)?, stride),
            false => {
                // Exactly one mode is contiguous, so that this one must not be.
                if stride.as_constant().is_none() && !factor.is_one() {
                    let two = Term::from(2);
                    let at_stride = |kind: SymbolicErrorKind| kind.at(step.place.clone());
                    scope
                        .require(Check::at_most(&two, &stride))
                        .map_err(at_stride)?;
                }
                Mode::new(extent, product(&stride, factor)?)
            }
        };
        if is_contiguous && !sources.is_empty() {
            let text =
                "elements of a ragged division cannot be split: its edge is between elements";
            return Err(SymbolicErrorKind::Refused(text.to_owned()).at(step.place));
        }
        mode.sources = sources;
        contiguous += usize::from(is_contiguous);
        leaves.push(SymbolicLayout::leaf(mode));
    }
    if contiguous != 1 && !factor.is_one() {
        let place = Place::operand(0).stride();
        return Err(match factor.as_constant() {
            Some(factor) => ErrorKind::NotContiguous { factor }.at(place).into(),
            None => {
                let text = "an element is split only where exactly one mode has stride 1";
                SymbolicErrorKind::Refused(text.to_owned()).at(place)
            }
        });
    }
    a.replace_leaves(leaves)
}

/// The modes inside a unit take each of its elements once.
fn require_full(scope: &mut Scope, mut group: Vec<Mode>, factor: &Term) -> Result<()> {
    let place = Place::operand(0);
    let shown =
        |scope: &Scope, group: Vec<Mode>| SymbolicLayout::from_flat(group).coalesce().show(scope);
    let modes = group.clone();
    let mut block = Term::ONE;
    while let Some(next) = group
        .iter()
        .position(|mode| !mode.is_single() && equal(scope, &mode.stride, &block) == Answer::Always)
    {
        block = product(&block, &group.remove(next).extent)?;
    }
    group.retain(|mode| !mode.is_single());
    match group.first() {
        None if equal(scope, &block, factor) == Answer::Always => Ok(()),
        Some(mode) if mode.stride.as_constant().is_none() => {
            Err(undecided(scope, &mode.stride, &block, place))
        }
        _ => Err(SymbolicErrorKind::Refused(format!(
            "the modes `{}` inside a group of {} do not fill it; `ragged` leaves holes",
            shown(scope, modes),
            scope.show(factor)
        ))
        .at(place)),
    }
}
