//! Composition of run-time integers.
//!
//! The conditions are the same as for numbers, but the [`Scope`] decides each comparison. Each stride of B must
//! divide a boundary of A or be a multiple of it, although other compositions may exist.

use super::{Compose, Leaf, Target};
use crate::domain::{Answer, Domain, Numbers, Question, overflow, product, quotient};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Source;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::stride::ScaledBasis;
use crate::symbolic::{Check, Scope, Sum, Term};
use alloc::vec::Vec;

type Result<T> = core::result::Result<T, LayoutError>;

impl Compose for Scope {
    fn through(
        &mut self,
        target: &Target<Term>,
        leaves: &[Leaf<Term>],
        overhang: Overhang,
        bound: Option<usize>,
    ) -> Result<Vec<Layout<Term>>> {
        if bound.is_none()
            && let Some((target, leaves)) = target.to_numbers(leaves)
        {
            let modes = Numbers.through(&target, &leaves, overhang, None)?;
            return Ok(modes.iter().map(Layout::lift).collect());
        }
        let size = target.layout.shape().product().ok_or_else(overflow)?;
        let (mut pieces, mut modes, mut reach) = (Vec::new(), Vec::new(), Sum::default());
        for leaf in target.leaves(leaves) {
            let (extent, stride) = (&leaf.extent, leaf.stride.value());
            // A negative stride is legal where A is a single mode that continues past both ends.
            if !target.boundaries.is_empty() || overhang == Overhang::Strict {
                self.require_positive(&stride, &leaf.place().stride())?;
            }
            reach = add_reach(reach, extent, &stride)?;
            // This is required before the cut. The cut adds checks stronger than needed. After them, this check would
            // count as known and be left out.
            if overhang == Overhang::Strict {
                require_below(self, reach.clone(), &size)?;
            }
            let cut = target.cut(self, leaf)?;
            let images = cut.iter().map(|piece| target.image(piece, leaf, bound));
            modes.push(Layout::from_flat(images.collect::<Result<_>>()?));
            pieces.extend(cut);
        }
        target.require_no_carry(self, &pieces)?;
        Ok(modes)
    }
}

/// A part of a leaf of B that lies within one mode of A.
struct Piece {
    extent: Term,
    stride: Term,
    /// The product of the extents of the parts of this leaf before it.
    after: Term,
    /// The index of the mode of A. The stride is a multiple of the boundary below that mode.
    segment: usize,
}

impl Target<Term> {
    /// The same target and leaves as numbers, if all of their integers are known.
    fn to_numbers(&self, leaves: &[Leaf<Term>]) -> Option<(Target<i64>, Vec<Leaf<i64>>)> {
        let layout = self.layout.to_numbers()?;
        let numbers = leaves.iter().enumerate().map(|(i, leaf)| {
            // A leaf of another target is not used; `1:0` keeps its place.
            let mode = match self.leaves.contains(&i) {
                true => Layout::leaf(leaf.extent.clone(), leaf.stride.clone()).to_numbers()?,
                false => Layout::unit(),
            };
            let (extent, stride) = mode.flat_modes().remove(0);
            let path = leaf.path.clone();
            Some(Leaf {
                path,
                extent,
                stride,
            })
        });
        let numbers = numbers.collect::<Option<Vec<_>>>()?;
        let target = Target::of(layout, 0).ok()?;
        let leaves = self.leaves.clone();
        Some((Target { leaves, ..target }, numbers))
    }

    /// Requires no carry: a sum of coordinates must not cross a boundary unless a part of the sum does.
    fn require_no_carry(&self, scope: &mut Scope, pieces: &[Piece]) -> Result<()> {
        for (i, boundary) in self.boundaries.iter().enumerate() {
            let mut below = pieces.iter().filter(|piece| piece.segment <= i);
            let carry = below.try_fold(Sum::default(), |carry, piece| {
                add_reach(carry, &piece.extent, &piece.stride)
            })?;
            require_below(scope, carry, boundary)?;
        }
        Ok(())
    }

    /// Cuts a mode of B where its multiples cross a boundary.
    ///
    /// Each stride must divide the next boundary or be a multiple of it. Composition of numbers also accepts some
    /// modes whose strides do neither; here they are refused, by a check where the facts do not decide.
    fn cut(&self, scope: &mut Scope, leaf: &Leaf<Term>) -> Result<Vec<Piece>> {
        let place = leaf.place();
        let (mut extent, mut stride) = (leaf.extent.clone(), leaf.stride.value());
        let (mut pieces, mut after) = (Vec::new(), Term::ONE);
        // Each boundary divides the next one.
        let mut segment = (0..self.boundaries.len())
            .rev()
            .find(|&i| scope.is_known(Question::Divides(&self.boundaries[i], &stride)))
            .map_or(0, |i| i + 1);
        while segment < self.boundaries.len() && !extent.is_one() {
            let boundary = &self.boundaries[segment];
            let end = product(&extent, &stride)?;
            if scope.is_known(Question::AtMost(&end, boundary)) {
                break;
            }
            if !scope.is_known(Question::Divides(&stride, boundary)) {
                let is_beyond = Question::AtMost(boundary, &stride);
                if scope.decide(is_beyond, &place.clone().stride())? {
                    require_aligned(scope, boundary, &stride, &place)?;
                    segment += 1;
                    continue;
                }
                let last = add_reach(Sum::default(), &extent, &stride)?;
                let stays = Check::AtMost {
                    left: last,
                    right: Sum::from(boundary)
                        .add(&Term::ONE, -1)
                        .ok_or_else(overflow)?,
                };
                if scope.holds(&stays) == Answer::Always {
                    break;
                }
                require_aligned(scope, &stride, boundary, &place)?;
            }
            // The stride divides the boundary, so the boundary is reached after `steps` steps.
            let steps = quotient(boundary, &stride)?;
            let is_cut_evenly = Question::Divides(&steps, &extent);
            if !scope.is_known(is_cut_evenly) {
                let place = place.clone().shape();
                scope.decide(Question::AtMost(&end, boundary), &place)?;
                scope.require(is_cut_evenly, &place, &|| None)?;
            }
            extent = quotient(&extent, &steps)?;
            if !steps.is_one() {
                pieces.push(Piece {
                    extent: steps.clone(),
                    stride,
                    after: after.clone(),
                    segment,
                });
                after = product(&after, &steps)?;
            }
            stride = boundary.clone();
            segment += 1;
        }
        if !extent.is_one() || pieces.is_empty() {
            pieces.push(Piece {
                extent,
                stride,
                after,
                segment,
            });
        }
        Ok(pieces)
    }

    /// A part of a mode of B, with its stride in A.
    fn image(
        &self,
        piece: &Piece,
        leaf: &Leaf<Term>,
        bound: Option<usize>,
    ) -> Result<(Term, ScaledBasis<Term>)> {
        let below = match piece.segment {
            0 => Term::ONE,
            i => self.boundaries[i - 1].clone(),
        };
        let steps = quotient(&piece.stride, &below)?;
        let (_, outer) = &self.modes[piece.segment];
        let outer = outer.checked_mul(&steps).ok_or_else(overflow)?;
        let inner = leaf.stride.checked_mul(&piece.after).ok_or_else(overflow)?;
        let here = bound.map(|bound| Source {
            bound,
            stride: piece.stride.clone(),
        });
        let sources = [outer.sources(), inner.sources()].concat();
        let image = outer.with_sources(sources.into_iter().chain(here));
        Ok((piece.extent.clone(), image))
    }
}

/// Requires that `divisor` divides `dividend`: one of them is a stride, the other a boundary.
fn require_aligned(
    scope: &mut Scope,
    divisor: &Term,
    dividend: &Term,
    place: &Place,
) -> Result<()> {
    let what = "a stride that neither divides the boundaries of the modes it runs along nor is a multiple of them";
    let refusal = || ErrorKind::Unsupported { what };
    let place = place.clone().stride();
    // A composition may exist nevertheless, so a contradiction of the condition is none of the composition.
    if scope.holds(&Check::divides(divisor, dividend)) == Answer::Never {
        return Err(refusal().at(place));
    }
    scope.require(Question::Divides(divisor, dividend), &place, &|| {
        Some(refusal())
    })
}

fn require_below(scope: &mut Scope, left: Sum, end: &Term) -> Result<()> {
    let right = Sum::from(end).add(&Term::ONE, -1).ok_or_else(overflow)?;
    scope.require_check(Check::AtMost { left, right }, &Place::operand(1), &|| None)
}

/// `sum + (extent - 1) * stride`.
fn add_reach(sum: Sum, extent: &Term, stride: &Term) -> Result<Sum> {
    let end = product(extent, stride)?;
    sum.add(&end, 1)
        .and_then(|sum| sum.add(stride, -1))
        .ok_or_else(overflow)
}
