//! What comes from the modes in the order of their strides: complement, inverses, compact orders.

use super::layout::{Mode, SymbolicLayout, overflow, product, quotient};
use super::scope::{Answer, Check, Scope};
use super::term::Term;
use super::{SymbolicError, SymbolicErrorKind, undecided};
use crate::composition::Overhang;
use crate::error::Place;

type Result<T> = std::result::Result<T, SymbolicError>;

/// The ordered rest of a target, and whether the target was rounded up for it.
pub(crate) fn complement(
    scope: &mut Scope,
    a: &SymbolicLayout,
    target: &Term,
    overhang: Overhang,
) -> Result<(SymbolicLayout, bool)> {
    let chain = Chain::of(scope, a)?;
    let at_target = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
    scope.require_extent(target).map_err(at_target)?;
    let rounded =
        overhang == Overhang::Ragged && scope.divides(&chain.block, target) != Answer::Always;
    let count = if rounded {
        scope.ceiling(target, &chain.block).map_err(at_target)?
    } else {
        let check = Check::divides(&chain.block, target);
        scope.require(check).map_err(at_target)?;
        quotient(target, &chain.block)?
    };
    let mut gaps = chain.gaps;
    gaps.push(Mode::new(count, chain.block));
    Ok((SymbolicLayout::from_flat(gaps).coalesce(), rounded))
}

/// The holes of a layout below its span.
pub(crate) fn complement_within(scope: &mut Scope, a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let chain = Chain::of(scope, a)?;
    Ok(SymbolicLayout::from_flat(chain.gaps).coalesce())
}

/// The complement for a target of any size: its last mode goes on, whatever its extent is.
pub(crate) fn endless(scope: &mut Scope, a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let chain = Chain::of(scope, a)?;
    let mut modes = chain.gaps;
    modes.retain(|mode| !mode.is_single());
    modes.push(Mode::new(Term::ONE, chain.block));
    Ok(SymbolicLayout::from_flat(modes))
}

/// R with `A(R(i)) = i`, as large as the contiguous part of A.
pub(crate) fn right_inverse(scope: &mut Scope, a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let mut rest = steps(a)?;
    rest.retain(|step| !step.mode.stride.is_zero());
    let mut blocks = vec![Term::ONE];
    let mut inverse = Vec::new();
    while let Some(block) = blocks.last() {
        let mut next: Option<usize> = None;
        for (i, step) in rest.iter().enumerate() {
            if equal(scope, &step.mode.stride, block) != Answer::Always {
                continue;
            }
            // Of two modes with one stride, the smaller one goes on to the next.
            next = match next {
                Some(known) => {
                    let known_extent = &rest[known].mode.extent;
                    match precedes(scope, known_extent, &step.mode.extent, &step.place)? {
                        true => Some(known),
                        false => Some(i),
                    }
                }
                None => Some(i),
            };
        }
        let Some(next) = next else { break };
        let step = rest.remove(next);
        blocks.push(product(block, &step.mode.extent)?);
        inverse.push(Mode::new(step.mode.extent, step.weight));
    }
    // Nor would another mode have gone on somewhere.
    for step in &rest {
        for block in blocks.iter().rev() {
            if equal(scope, &step.mode.stride, block) == Answer::Maybe {
                let place = step.place.clone();
                return Err(unequal(scope, &step.mode.stride, block, place));
            }
        }
    }
    Ok(SymbolicLayout::from_flat(inverse).coalesce())
}

/// L with `L(A(i)) = i`; where A repeats values through strides 0, `A(L(A(i))) = A(i)`.
pub(crate) fn left_inverse(scope: &mut Scope, a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let steps = sorted(scope, a)?;
    if steps.is_empty() {
        // Zero everywhere, and then so is the inverse; CuTe keeps the size.
        return Ok(a.coalesce());
    }
    let mut inverse = Vec::new();
    let (mut extent, mut stride, mut weight) = (Term::ONE, Term::ONE, Term::ZERO);
    for step in steps {
        let reach = product(&stride, &extent)?;
        let at_stride = |kind: SymbolicErrorKind| kind.at(step.place.clone());
        let check = Check::divides(&stride, &step.mode.stride);
        scope.require(check).map_err(at_stride)?;
        let check = Check::at_most(&reach, &step.mode.stride);
        scope.require(check).map_err(at_stride)?;
        let digits = quotient(&step.mode.stride, &stride)?;
        inverse.push(Mode::new(digits, weight));
        (extent, stride, weight) = (step.mode.extent, step.mode.stride, step.weight);
    }
    inverse.push(Mode::new(extent, weight));
    Ok(SymbolicLayout::from_flat(inverse).coalesce())
}

/// The coordinates that strides 0 make irrelevant.
pub(crate) fn nullspace(scope: &Scope, a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let mut modes = Vec::new();
    for step in weighted(a)? {
        if is_zero(scope, &step.mode.stride, &step.place)? {
            modes.push(Mode::new(step.mode.extent, step.weight));
        }
    }
    Ok(SymbolicLayout::from_flat(modes))
}

/// Coordinates along which both count up by 1.
pub(crate) fn max_common_layout(
    scope: &mut Scope,
    a: &SymbolicLayout,
    b: &SymbolicLayout,
) -> Result<SymbolicLayout> {
    let a = right_inverse(scope, a)?;
    let b = right_inverse(scope, b).map_err(|error| error.inside(1))?;
    let mut common = Vec::new();
    // Coalesced layouts agree as long as their modes do, and on the shorter one of two modes with one stride.
    for (a, b) in a.leaves().zip(b.leaves()) {
        let is = |answer: Answer, left: &Term, right: &Term| match answer {
            Answer::Maybe => Err(unequal(scope, left, right, Place::operand(1))),
            answer => Ok(answer == Answer::Always),
        };
        let same = |left: &Term, right: &Term| is(equal(scope, left, right), left, right);
        if !same(&a.stride, &b.stride)? {
            break;
        }
        let is_longer = !precedes(scope, &a.extent, &b.extent, &Place::operand(1))?;
        common.push(if is_longer { b.clone() } else { a.clone() });
        if !same(&a.extent, &b.extent)? {
            break;
        }
    }
    Ok(SymbolicLayout::from_flat(common))
}

/// Which leaf comes first, second, … in the order of the strides, as far as leaves with extent 1 and stride 0 let one say.
pub(crate) fn ranking(scope: &Scope, a: &SymbolicLayout) -> Result<Vec<usize>> {
    let mut ranking: Vec<usize> = Vec::new();
    let steps = weighted(a)?;
    for (i, step) in steps.iter().enumerate() {
        let mut at = ranking.len();
        while at > 0 {
            let before = &steps[ranking[at - 1]].mode;
            if precedes(scope, &before.stride, &step.mode.stride, &step.place)? {
                break;
            }
            at -= 1;
        }
        ranking.insert(at, i);
    }
    Ok(ranking)
}

/// A leaf of a layout, and where.
pub(super) struct Step {
    pub(super) mode: Mode,
    /// The stride that its coordinate has in the 1-D coordinate of the whole.
    pub(super) weight: Term,
    pub(super) place: Place,
}

/// The modes with positive strides, which all but 0 have to be, in their order.
pub(crate) fn sorted(scope: &mut Scope, a: &SymbolicLayout) -> Result<Vec<Step>> {
    let mut sorted: Vec<Step> = Vec::new();
    for step in steps(a)? {
        if step.mode.stride.is_zero() {
            continue;
        }
        scope.require_positive(&step.mode.stride, &step.place)?;
        let mut at = sorted.len();
        while at > 0
            && !precedes(
                scope,
                &sorted[at - 1].mode.stride,
                &step.mode.stride,
                &step.place,
            )?
        {
            at -= 1;
        }
        sorted.insert(at, step);
    }
    Ok(sorted)
}

/// The leaves but those of extent 1.
pub(crate) fn steps(a: &SymbolicLayout) -> Result<Vec<Step>> {
    let mut steps = weighted(a)?;
    steps.retain(|step| !step.mode.is_single());
    Ok(steps)
}

/// All leaves.
pub(crate) fn weighted(a: &SymbolicLayout) -> Result<Vec<Step>> {
    a.require_integral(0)?;
    let mut weight = Term::ONE;
    let modes = a.leaves().zip(a.tree().leaf_paths());
    modes
        .map(|(mode, path)| {
            let place = Place::operand(0).mode(path).stride();
            let next = product(&weight, &mode.extent)?;
            Ok(Step {
                mode: mode.clone(),
                weight: std::mem::replace(&mut weight, next),
                place,
            })
        })
        .collect()
}

/// The modes in the order of their strides, each stride a multiple of the `block` before it.
struct Chain {
    /// Quotients of a stride by the block before it, and those blocks.
    gaps: Vec<Mode>,
    /// The last stride times its extent.
    block: Term,
}

impl Chain {
    fn of(scope: &mut Scope, a: &SymbolicLayout) -> Result<Self> {
        let mut chain = Self {
            gaps: Vec::new(),
            block: Term::ONE,
        };
        for step in sorted(scope, a)? {
            let check = Check::divides(&chain.block, &step.mode.stride);
            scope.require(check).map_err(|kind| kind.at(step.place))?;
            let gap = quotient(&step.mode.stride, &chain.block)?;
            chain.gaps.push(Mode::new(gap, chain.block));
            chain.block = product(&step.mode.stride, &step.mode.extent)?;
        }
        Ok(chain)
    }
}

/// Whether a stride is 0, where that can be said.
pub(crate) fn is_zero(scope: &Scope, stride: &Term, place: &Place) -> Result<bool> {
    if let Some(stride) = stride.as_constant() {
        return Ok(stride == 0);
    }
    match equal(scope, stride, &Term::ZERO) {
        Answer::Always => Ok(true),
        Answer::Never => Ok(false),
        Answer::Maybe => Err(undecided(scope, &Term::ONE, stride, place.clone())),
    }
}

/// Whether the first is at most the second, where that can be said.
pub(crate) fn precedes(scope: &Scope, first: &Term, second: &Term, place: &Place) -> Result<bool> {
    match scope.at_most(first, second) {
        Answer::Always => Ok(true),
        Answer::Never => Ok(false),
        Answer::Maybe if scope.at_most(second, first) == Answer::Always => Ok(false),
        Answer::Maybe => Err(undecided(scope, first, second, place.clone())),
    }
}

/// Whether both are the same number.
pub(crate) fn equal(scope: &Scope, left: &Term, right: &Term) -> Answer {
    scope.equal(&left.into(), &right.into())
}

/// The facts leave open whether both are the same.
fn unequal(scope: &Scope, left: &Term, right: &Term, place: Place) -> SymbolicError {
    let (left, right, sign) = match scope.at_most(left, right) {
        Answer::Always => (left, right, '<'),
        _ => (left, right, '>'),
    };
    let (left, right) = (scope.show(left), scope.show(right));
    SymbolicErrorKind::Undecided {
        condition: format!("{left} == {right}"),
        opposite: format!("{left} {sign} {right}"),
    }
    .at(place)
}

impl Scope {
    /// Refuses a stride that may be 0 or negative.
    pub(super) fn require_positive(&self, stride: &Term, place: &Place) -> Result<()> {
        if self.is_positive(stride) {
            return Ok(());
        }
        if let Some(stride) = stride.as_constant() {
            let error = crate::error::ErrorKind::NegativeStride { stride }.at(place.clone());
            return Err(error.into());
        }
        Err(undecided(self, &Term::ONE, stride, place.clone()))
    }
}

/// The product of the extents.
pub(crate) fn size(a: &SymbolicLayout) -> Result<Term> {
    a.size().ok_or_else(overflow)
}
