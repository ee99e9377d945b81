//! Complement: the ordered layout that fills the gaps of another one.

use crate::ascending::ascending;
use crate::coalesce::coalesced;
use crate::domain::{Domain, Numbers, Question, product, quotient};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::{Overhang, nearest_multiples};
use crate::rule::Rule;
use crate::stride::ScaledBasis;
use alloc::vec;
use alloc::vec::Vec;

/// The ordered layout that fills the gaps of A: `(A, complement(A, target))` takes each value in `0..target` once,
/// and the complement increases.
///
/// Modes of A with stride 0 repeat values. So the complement is taken of [`filter`](crate::filter) of A.
///
/// It exists exactly if, in ascending order of the other strides, each is a multiple of the previous stride times
/// its extent, and the last stride times its extent divides the target.
/// ```
/// use cute_algebra::{Layout, complement};
/// let a = Layout::new([2, 2], [1, 6])?;
/// assert_eq!(complement(&a, 24)?.to_string(), "(3,2):(2,12)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn complement(a: &Layout, target: i64) -> Result<Layout, LayoutError> {
    let complement = complement_in(&mut Numbers, a, &target, Overhang::Strict);
    let (rest, _) = complement.during("complement", [a, &target])?;
    Ok(rest)
}

/// The complement in the smallest possible target. It fills the gaps of A below the cosize of A.
///
/// Refused where, in ascending order, a stride of A is not a multiple of the previous stride times its extent.
/// ```
/// use cute_algebra::{Layout, complement_within};
/// let a: Layout = "(4,2):(2,16)".parse()?;
/// assert_eq!(complement_within(&a)?.to_string(), "(2,2):(1,8)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complement_within(a: &Layout) -> Result<Layout, LayoutError> {
    holes(&mut Numbers, a).during("complement", [a])
}

/// [`complement_within`] for any domain.
pub(crate) fn holes<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    Chain::of(d, a, Gaps::Filled)?.rest(D::Int::ONE)
}

/// The complement, and whether the target was rounded up for it, as a ragged complement does.
pub(crate) fn complement_in<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
    target: &D::Int,
    overhang: Overhang,
) -> Result<(Layout<D::Int>, bool), LayoutError> {
    d.require_extent(target, &Place::operand(1))?;
    let chain = Chain::of(d, a, Gaps::Filled)?;
    let (place, fills) = (Place::operand(1), Question::Divides(&chain.block, target));
    let is_rounded = overhang == Overhang::Ragged && !d.is_known(fills);
    let count = match is_rounded {
        true => d.ceiling(target, &chain.block, &place)?,
        false => {
            let refusal = || {
                let (block, target) = (chain.block.as_constant()?, target.as_constant()?);
                let nearest = nearest_multiples(target, block);
                Some(ErrorKind::Target {
                    block,
                    target,
                    nearest,
                })
            };
            d.require(fills, &place, &refusal)?;
            quotient(target, &chain.block)?
        }
    };
    Ok((chain.rest(count)?, is_rounded))
}

/// The rules for a complement of numbers, up to the first broken rule. Without `target`, it is the smallest possible
/// one.
pub(crate) fn rules(a: &Layout, target: Option<i64>, overhang: Overhang) -> Vec<Rule> {
    let Ok(ascending) = ascending(&Numbers, a) else {
        return Vec::new();
    };
    let modes = ascending
        .iter()
        .map(|step| (step.extent, step.stride))
        .collect();
    let mut rules = vec![Rule::Ascending { modes }];
    let mut previous = (1, 1);
    for step in ascending {
        let block = previous.0 * previous.1;
        if step.stride % block != 0 {
            return rules;
        }
        rules.push(Rule::Gap {
            stride: step.stride,
            previous,
        });
        previous = (step.extent, step.stride);
    }
    if let Some(target) = target
        && (target % (previous.0 * previous.1) == 0 || overhang == Overhang::Ragged)
    {
        rules.push(Rule::Fills {
            target,
            last: previous,
        });
    }
    rules
}

/// The condition on each stride and the block below it. The block is the previous stride times its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// A whole number of blocks: the stride is a multiple of the block.
    Filled,
    /// At least one block: the stride is at least the block.
    Roomy,
}

/// The leaves of a layout in ascending order of strides. Each stride is at least the `block` before it, the
/// previous stride times its extent.
pub(crate) struct Chain<I: Integer> {
    /// For each stride, how many blocks fit below it, and the block as the stride between them.
    pub(crate) gaps: Vec<(I, ScaledBasis<I>)>,
    /// The last stride times its extent; 1 where no leaf moves.
    pub(crate) block: I,
}

impl<I: Integer> Chain<I> {
    pub(crate) fn of<D: Domain<Int = I>>(
        d: &mut D,
        a: &Layout<I>,
        gaps_are: Gaps,
    ) -> Result<Self, LayoutError> {
        let (mut gaps, mut block, mut previous) = (Vec::new(), I::ONE, (I::ONE, I::ONE));
        for step in ascending(d, a)? {
            let refusal = || {
                let (stride, unit) = (step.stride.as_constant()?, block.as_constant()?);
                let previous = (previous.0.as_constant()?, previous.1.as_constant()?);
                let nearest = nearest_multiples(stride, unit);
                Some(match gaps_are {
                    Gaps::Filled => ErrorKind::Gap {
                        previous,
                        stride,
                        nearest,
                    },
                    Gaps::Roomy => ErrorKind::Interleaved { previous, stride },
                })
            };
            let room = match (block.as_constant(), step.stride.as_constant()) {
                (Some(block), Some(stride)) if gaps_are == Gaps::Roomy && block <= stride => {
                    (stride / block).into()
                }
                _ => {
                    let fills = Question::Divides(&block, &step.stride);
                    d.require(fills, &step.place, &refusal)?;
                    quotient(&step.stride, &block)?
                }
            };
            gaps.push((room, block.into()));
            block = product(&step.stride, &step.extent)?;
            previous = (step.extent, step.stride);
        }
        Ok(Self { gaps, block })
    }

    /// The gaps, followed by `count` repetitions of the whole layout at multiples of its block.
    fn rest(mut self, count: I) -> Result<Layout<I>, LayoutError> {
        self.gaps.push((count, self.block.into()));
        coalesced(self.gaps).validated()
    }
}
