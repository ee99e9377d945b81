//! Left and right inverses, and the coordinates with value 0.

mod longest;
mod run_time;
mod search;

use crate::ascending::{Step, ascending, moving};
use crate::coalesce::{coalesce, coalesced, merge};
use crate::domain::{Answer, Domain, Numbers, Question, product, quotient};
use crate::error::{During, ErrorKind, LayoutError, NoInverse, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::nearest_multiples;
use crate::stride::ScaledBasis;
use alloc::vec;
use alloc::vec::Vec;
use search::Found;

pub use search::LEFT_INVERSE_VALUES;

/// R with `A(R(i)) = i` for every `i < size(R)`: the longest such layout, if A is injective.
///
/// The first modes of R invert the contiguous leaves of A: in ascending order, each stride is the product of the
/// extents before it. Without a stride 1, they are `1:0`. If no stride is negative, these modes are all of R, because
/// no other leaf reaches the next value. With negative strides, a sum of several leaves can reach the next value, and
/// R is extended while it stays a layout.
/// ```
/// use cute_algebra::{Layout, right_inverse};
/// let a = Layout::new([4, 8], [8, 1])?;
/// assert_eq!(right_inverse(&a)?.to_string(), "(8,4):(4,1)");
/// // 5 is the coordinate (2,1), where the value is -2 + 3.
/// let a: Layout = "(3,8):(-1,3)".parse()?;
/// assert_eq!(right_inverse(&a)?.to_string(), "2:5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn right_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    right_inverse_in(&mut Numbers, a).during("right_inverse", [a])
}

/// L with `L(A(i)) = i`; where A repeats values through strides 0, `A(L(A(i))) = A(i)`.
///
/// No stride of A may be negative, since a layout has no values below 0. If each stride, in ascending order, is a
/// multiple of the previous stride and at least that times its extent, then the digits of a value with respect to
/// the strides are the coordinates. Otherwise all layouts are searched, for up to [`LEFT_INVERSE_VALUES`] values of
/// A. A refusal says whether there is no left inverse or the search took too long.
/// ```
/// use cute_algebra::{Layout, left_inverse};
/// let a = Layout::new([4, 3], [3, 24])?;
/// assert_eq!(left_inverse(&a)?.to_string(), "(3,8,3):(0,1,4)");
/// let a = Layout::new([2, 2], [9, 12])?;
/// assert_eq!(left_inverse(&a)?.to_string(), "(3,3,3):(0,1,1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn left_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    left_inverse_in(&mut Numbers, a).during("left_inverse", [a])
}

/// The coordinates of A along its strides 0: `A(N(i)) = 0` for every i.
///
/// If the other strides all have the same sign, A is 0 nowhere else.
/// ```
/// use cute_algebra::{Layout, nullspace};
/// let a: Layout = "(4,3,2):(0,1,0)".parse()?;
/// assert_eq!(nullspace(&a)?.to_string(), "(4,2):(1,12)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn nullspace(a: &Layout) -> Result<Layout, LayoutError> {
    nullspace_in(&Numbers, a).during("nullspace", [a])
}

/// A domain whose layouts can be inverted.
pub(crate) trait Invert: Domain {
    /// Extends the right inverse of the contiguous leaves of A by modes along `others`.
    fn prolong(
        &mut self,
        a: &Layout<Self::Int>,
        inverse: Modes<Self::Int>,
        others: &[Step<Self::Int>],
    ) -> Modes<Self::Int>;

    /// The left inverse for leaves that [`along_chain`] refuses with the error `refusal`.
    fn search(
        &mut self,
        steps: &[Step<Self::Int>],
        refusal: LayoutError,
    ) -> Result<Layout<Self::Int>, LayoutError>;
}

type Modes<I> = Vec<(I, ScaledBasis<I>)>;

impl Invert for Numbers {
    fn prolong(&mut self, a: &Layout, inverse: Modes<i64>, others: &[Step<i64>]) -> Modes<i64> {
        match others.iter().any(|step| step.stride < 0) {
            true => longest::prolong(a, inverse, others),
            false => inverse,
        }
    }

    fn search(&mut self, steps: &[Step<i64>], refusal: LayoutError) -> Result<Layout, LayoutError> {
        Err(refusal.with_inverse(match search::left_inverse(steps) {
            Found::Inverse(inverse) => return Ok(inverse),
            Found::Collision => NoInverse::Collision,
            Found::Nothing => NoInverse::Never,
            Found::Unknown => NoInverse::Unknown,
        }))
    }
}

pub(crate) fn right_inverse_in<D: Invert>(
    d: &mut D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let (contiguous, others) = contiguous(d, a)?;
    let modes = d.prolong(a, inverse_of(contiguous), &others);
    Ok(Layout::from_flat(merge(modes)))
}

/// The right inverse of the contiguous part of a layout alone.
pub(crate) fn contiguous_inverse<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let (contiguous, _) = contiguous(d, a)?;
    Ok(Layout::from_flat(merge(inverse_of(contiguous))))
}

fn inverse_of<I: Integer>(contiguous: Vec<Step<I>>) -> Modes<I> {
    let modes = contiguous.into_iter();
    modes
        .map(|step| (step.extent, step.weight.into()))
        .collect()
}

/// The contiguous leaves in ascending order of strides, and all other leaves with more than one value.
type Contiguous<I> = (Vec<Step<I>>, Vec<Step<I>>);

pub(crate) fn contiguous<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
) -> Result<Contiguous<D::Int>, LayoutError> {
    let (mut contiguous, mut others) = (Vec::new(), moving(a)?);
    let mut blocks = vec![D::Int::ONE];
    while let Some(block) = blocks.last() {
        let mut next: Option<usize> = None;
        for (i, step) in others.iter().enumerate() {
            if !d.is_known(Question::Equal(&step.stride, block)) {
                continue;
            }
            // If two leaves have the next stride, the one with the smaller extent is taken, since the other one may
            // have the stride that follows.
            let is_smaller = match next {
                None => true,
                Some(next) => !d.precedes(&others[next].extent, &step.extent, &step.place)?,
            };
            if is_smaller {
                next = Some(i);
            }
        }
        let Some(next) = next else { break };
        let step = others.remove(next);
        blocks.push(product(block, &step.extent)?);
        contiguous.push(step);
    }
    // If the facts leave open whether another leaf has one of these strides, the contiguous part is not known.
    for step in &others {
        for block in blocks.iter().rev() {
            let question = Question::Equal(&step.stride, block);
            if d.answer(question) == Answer::Maybe {
                return Err(d.undecided(question, &step.place));
            }
        }
    }
    Ok((contiguous, others))
}

pub(crate) fn left_inverse_in<D: Invert>(
    d: &mut D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let steps = ascending(d, a)?;
    if steps.is_empty() {
        // All values are 0, so the inverse is 0 too. CuTe keeps the size.
        return Ok(coalesce(a));
    }
    match along_chain(d, &steps) {
        Ok(modes) => coalesced(modes).validated(),
        Err(refusal) => d.search(&steps, refusal),
    }
}

/// The left inverse for leaves where each stride is a multiple of the previous one and at least that times its
/// extent. The digits of a value with respect to the strides are the coordinates: the digit between two strides
/// belongs to the smaller one.
pub(crate) fn along_chain<D: Domain>(
    d: &mut D,
    steps: &[Step<D::Int>],
) -> Result<Modes<D::Int>, LayoutError> {
    let mut inverse = Vec::new();
    let (mut extent, mut stride) = (D::Int::ONE, D::Int::ONE);
    let mut weight = D::Int::ZERO;
    for step in steps {
        let reach = product(&stride, &extent)?;
        let refusal = || {
            let (unit, reach) = (stride.as_constant()?, reach.as_constant()?);
            let stride = step.stride.as_constant()?;
            Some(ErrorKind::Overlap {
                previous: (extent.as_constant()?, unit),
                stride,
                nearest: nearest_multiples(stride, unit).map(|nearest| nearest.max(reach)),
                inverse: NoInverse::Unknown,
            })
        };
        d.require(
            Question::Divides(&stride, &step.stride),
            &step.place,
            &refusal,
        )?;
        d.require(
            Question::AtMost(&reach, &step.stride),
            &step.place,
            &refusal,
        )?;
        inverse.push((quotient(&step.stride, &stride)?, weight.into()));
        (extent, stride, weight) = (
            step.extent.clone(),
            step.stride.clone(),
            step.weight.clone(),
        );
    }
    inverse.push((extent, weight.into()));
    Ok(inverse)
}

pub(crate) fn nullspace_in<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    let mut weight = D::Int::ONE;
    let mut modes = Vec::new();
    for ((extent, stride), path) in a.leaves().zip(a.shape().leaf_paths()) {
        if d.is_zero(&stride.value(), &Place::operand(0).mode(path).stride())? {
            modes.push((extent.clone(), weight.clone().into()));
        }
        weight = product(&weight, extent)?;
    }
    Ok(Layout::from_flat(modes))
}
