//! Coalesce, complement, composition, division and product of layouts of terms.
//!
//! The conditions are those of the operations on numbers. What those compare, these ask the [`Scope`].

use super::layout::{Mode, Source, SymbolicLayout, SymbolicTiler, Tags, product as term_product};
use super::scope::{Answer, Check, Scope};
use super::term::{Sum, Term};
use super::{SymbolicError, SymbolicErrorKind};
use crate::composition::Overhang;
use crate::divide::Form;
use crate::error::{ErrorKind, ModePath, Place};

type Result<T> = std::result::Result<T, SymbolicError>;

/// Joins neighbours `s:d, s':s*d`, and drops extents that are the number 1.
pub(super) fn coalesce(a: &SymbolicLayout) -> SymbolicLayout {
    SymbolicLayout::from_flat(merge(a.leaves().filter(|mode| !mode.is_single()).cloned()))
}

fn merge(modes: impl IntoIterator<Item = Mode>) -> Vec<Mode> {
    let mut merged: Vec<Mode> = Vec::new();
    for mode in modes {
        if let Some(last) = merged.last_mut()
            && (&last.source, &mode.source) == (&None, &None)
            && last.stride.checked_mul(&last.extent).as_ref() == Some(&mode.stride)
            && let Some(extent) = last.extent.checked_mul(&mode.extent)
        {
            last.extent = extent;
        } else {
            merged.push(mode);
        }
    }
    merged
}

/// Extent 1 where the stride is the number 0.
pub(super) fn filter_zeros(a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let leaves = a.leaves().map(|mode| {
        let mut mode = mode.clone();
        if mode.stride.is_zero() {
            mode.extent = Term::ONE;
        }
        SymbolicLayout::leaf(mode)
    });
    a.replace_leaves(leaves.collect())
}

/// The ordered rest of a target, and whether the target was rounded up for it.
pub(super) fn complement(
    scope: &mut Scope,
    a: &SymbolicLayout,
    target: &Term,
    overhang: Overhang,
) -> Result<(SymbolicLayout, bool)> {
    let chain = chain(scope, a)?;
    let at_target = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
    scope.require_extent(target).map_err(at_target)?;
    let rounded =
        overhang == Overhang::Ragged && scope.divides(&chain.block, target) != Answer::Always;
    let count = if rounded {
        scope.ceiling(target, &chain.block).map_err(at_target)?
    } else {
        let check = Check::Divides {
            divisor: chain.block.clone(),
            dividend: target.clone(),
        };
        scope.require(check).map_err(at_target)?;
        quotient(target, &chain.block)?
    };
    Ok((chain.rest(count)?, rounded))
}

/// The modes of a layout in the order of their strides, each stride a multiple of the `block` before it.
struct Chain {
    gaps: Vec<Mode>,
    block: Term,
}

fn chain(scope: &mut Scope, a: &SymbolicLayout) -> Result<Chain> {
    let modes = a.leaves().zip(a.tree().leaf_paths());
    let mut sorted: Vec<(&Mode, Vec<usize>)> = Vec::new();
    for (mode, path) in modes.filter(|(mode, _)| !mode.is_single() && !mode.stride.is_zero()) {
        let place = Place::operand(0).mode(path.clone()).stride();
        require_positive(scope, &mode.stride, &place)?;
        let mut at = sorted.len();
        while at > 0 {
            match order(scope, sorted[at - 1].0, mode) {
                Some(true) => break,
                Some(false) => at -= 1,
                None => {
                    return Err(undecided(
                        scope,
                        &sorted[at - 1].0.stride,
                        &mode.stride,
                        place,
                    ));
                }
            }
        }
        sorted.insert(at, (mode, path));
    }
    let mut chain = Chain {
        gaps: Vec::new(),
        block: Term::ONE,
    };
    for (mode, path) in sorted {
        let place = Place::operand(0).mode(path).stride();
        let check = Check::Divides {
            divisor: chain.block.clone(),
            dividend: mode.stride.clone(),
        };
        scope.require(check).map_err(|kind| kind.at(place))?;
        chain.gaps.push(Mode::new(
            quotient(&mode.stride, &chain.block)?,
            chain.block,
        ));
        chain.block = term_product(&mode.stride, &mode.extent)?;
    }
    Ok(chain)
}

impl Chain {
    /// The gaps, and `count` repetitions of the whole.
    fn rest(mut self, count: Term) -> Result<SymbolicLayout> {
        self.gaps.push(Mode::new(count, self.block));
        self.gaps.retain(|mode| !mode.is_single());
        Ok(SymbolicLayout::from_flat(merge(self.gaps)))
    }
}

/// Whether the first stride comes before the second; `None` where that is not known.
fn order(scope: &Scope, first: &Mode, second: &Mode) -> Option<bool> {
    match scope.at_most(&first.stride, &second.stride) {
        Answer::Always => Some(true),
        Answer::Never => Some(false),
        Answer::Maybe if scope.at_most(&second.stride, &first.stride) == Answer::Always => {
            Some(false)
        }
        Answer::Maybe => None,
    }
}

/// `R(c) = A(B(c))`. Where `bound` is given, coordinates may leave A, and the result says by its sources where.
pub(super) fn compose(
    scope: &mut Scope,
    a: &SymbolicLayout,
    b: &SymbolicLayout,
    overhang: Overhang,
    bound: Option<usize>,
) -> Result<SymbolicLayout> {
    if a.leaves().any(|mode| mode.source.is_some()) {
        let what = "an operation on the result of a ragged division";
        return Err(SymbolicErrorKind::Unsupported(what).at(Place::operand(0)));
    }
    if bound.is_none()
        && let (Some(a), Some(b)) = (a.as_layout(), b.as_layout())
    {
        return SymbolicLayout::lift(&crate::composition::compose(&a?, &b?, overhang)?);
    }
    let target = Target::of(a)?;
    let linear = target.boundaries.is_empty();
    let mut leaves = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut reach = Sum::default();
    for (mode, path) in b.leaves().zip(b.tree().leaf_paths()) {
        let place = Place::operand(1).mode(path);
        if mode.source.is_some() {
            let what = "an operation on the result of a ragged division";
            return Err(SymbolicErrorKind::Unsupported(what).at(place));
        }
        if mode.is_single() || mode.stride.is_zero() {
            leaves.push(SymbolicLayout::leaf(Mode::new(
                mode.extent.clone(),
                Term::ZERO,
            )));
            continue;
        }
        // The sign is of no matter where A is one mode that goes on without end.
        if !linear || overhang == Overhang::Strict {
            require_positive(scope, &mode.stride, &place.clone().stride())?;
        }
        reach = add_reach(reach, mode, &place)?;
        let cut = target.cut(scope, mode, &place)?;
        leaves.push(SymbolicLayout::from_flat(
            cut.iter()
                .map(|piece| target.image(piece, bound))
                .collect::<Result<_>>()?,
        ));
        pieces.extend(cut);
    }
    let at_b = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
    if overhang == Overhang::Strict && !pieces.is_empty() {
        let last = minus_one(&target.size)?;
        scope
            .require(Check::AtMost {
                left: reach,
                right: last,
            })
            .map_err(at_b)?;
    }
    for (i, boundary) in target.boundaries.iter().enumerate() {
        let mut carry = Sum::default();
        for piece in pieces.iter().filter(|piece| piece.segment <= i) {
            carry = add_reach(carry, &piece.mode, &Place::operand(1))?;
        }
        let right = minus_one(boundary)?;
        scope
            .require(Check::AtMost { left: carry, right })
            .map_err(at_b)?;
    }
    b.replace_leaves(leaves)
}

/// A, coalesced: its modes and where one ends and the next begins.
struct Target {
    modes: Vec<Mode>,
    /// Products of the leading extents, one fewer than modes.
    boundaries: Vec<Term>,
    size: Term,
}

/// A part of a mode of B that stays within one mode of A.
struct Piece {
    mode: Mode,
    /// The mode of A. Its stride is a multiple of the boundary below.
    segment: usize,
}

impl Target {
    fn of(a: &SymbolicLayout) -> Result<Self> {
        let mut leaves: Vec<_> = a.leaves().cloned().collect();
        // The last mode has no end, so it stays even where its extent is 1.
        let last = leaves.pop();
        leaves.retain(|mode| !mode.is_single());
        let mut modes = merge(leaves.into_iter().chain(last));
        if modes.is_empty() {
            modes.push(Mode::new(Term::ONE, Term::ZERO));
        }
        let mut boundaries = Vec::new();
        let mut size = Term::ONE;
        for mode in &modes {
            size = term_product(&size, &mode.extent)?;
            boundaries.push(size.clone());
        }
        boundaries.pop();
        Ok(Self {
            modes,
            boundaries,
            size,
        })
    }

    /// Cuts a mode of B where its multiples cross a boundary.
    ///
    /// A stride is taken to divide the next boundary, or to be a multiple of it. The operation on numbers knows a few
    /// modes more, whose strides do neither; here a check refuses them.
    fn cut(&self, scope: &mut Scope, mode: &Mode, place: &Place) -> Result<Vec<Piece>> {
        let (mut extent, mut stride) = (mode.extent.clone(), mode.stride.clone());
        let mut pieces = Vec::new();
        // Each boundary divides the next.
        let mut segment = (0..self.boundaries.len())
            .rev()
            .find(|&i| scope.divides(&self.boundaries[i], &stride) == Answer::Always)
            .map_or(0, |i| i + 1);
        while segment < self.boundaries.len() && !extent.is_one() {
            let boundary = &self.boundaries[segment];
            let end = term_product(&extent, &stride)?;
            if scope.at_most(&end, boundary) == Answer::Always {
                break;
            }
            if scope.divides(&stride, boundary) != Answer::Always {
                match scope.at_most(boundary, &stride) {
                    Answer::Always => {
                        require_aligned(scope, boundary, &stride, place)?;
                        segment += 1;
                        continue;
                    }
                    Answer::Maybe => {
                        return Err(undecided(scope, boundary, &stride, place.clone().stride()));
                    }
                    Answer::Never => {}
                }
                let last = add_reach(
                    Sum::default(),
                    &Mode::new(extent.clone(), stride.clone()),
                    place,
                )?;
                let stays = Check::AtMost {
                    left: last,
                    right: minus_one(boundary)?,
                };
                if scope.answer(&stays) == Answer::Always {
                    break;
                }
                require_aligned(scope, &stride, boundary, place)?;
            }
            // The stride divides the boundary: so many steps lead up to it.
            let steps = quotient(boundary, &stride)?;
            if scope.divides(&steps, &extent) != Answer::Always {
                if scope.at_most(&end, boundary) == Answer::Maybe {
                    return Err(undecided(scope, &end, boundary, place.clone().shape()));
                }
                let check = Check::Divides {
                    divisor: steps.clone(),
                    dividend: extent.clone(),
                };
                scope
                    .require(check)
                    .map_err(|kind| kind.at(place.clone().shape()))?;
            }
            extent = quotient(&extent, &steps)?;
            if !steps.is_one() {
                pieces.push(Piece {
                    mode: Mode::new(steps, stride),
                    segment,
                });
            }
            stride = boundary.clone();
            segment += 1;
        }
        if !extent.is_one() || pieces.is_empty() {
            pieces.push(Piece {
                mode: Mode::new(extent, stride),
                segment,
            });
        }
        Ok(pieces)
    }

    /// A piece with A's stride.
    fn image(&self, piece: &Piece, bound: Option<usize>) -> Result<Mode> {
        let below = match piece.segment {
            0 => Term::ONE,
            i => self.boundaries[i - 1].clone(),
        };
        let steps = quotient(&piece.mode.stride, &below)?;
        Ok(Mode {
            extent: piece.mode.extent.clone(),
            stride: term_product(&self.modes[piece.segment].stride, &steps)?,
            source: bound.map(|bound| Source {
                bound,
                stride: piece.mode.stride.clone(),
            }),
        })
    }
}

/// A stride divides a boundary, or is a multiple of it.
fn require_aligned(
    scope: &mut Scope,
    divisor: &Term,
    dividend: &Term,
    place: &Place,
) -> Result<()> {
    let check = Check::Divides {
        divisor: divisor.clone(),
        dividend: dividend.clone(),
    };
    let kind = match scope.answer(&check) {
        Answer::Never => SymbolicErrorKind::Unsupported(
            "a stride that neither divides the boundaries of the modes it runs along nor is a multiple of them",
        ),
        _ => match scope.require(check) {
            Ok(()) => return Ok(()),
            Err(kind) => kind,
        },
    };
    Err(kind.at(place.clone().stride()))
}

/// `(tile, rest)`, grouped by `form`.
pub(super) fn divide(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    form: Form,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    let logical = by_mode(a, tiler, &mut |mode, tile| {
        divide_whole(scope, mode, tile, overhang)
    })?;
    arrange(&logical, tiler, form)
}

fn divide_whole(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tile: &SymbolicLayout,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    let size = a
        .size()
        .ok_or_else(|| SymbolicErrorKind::Overflow.at(Place::default()))?;
    let repeats = |mode: &&Mode| !mode.is_single() && mode.stride.is_zero();
    if overhang == Overhang::Strict
        && let Some(mode) = tile.leaves().find(repeats)
    {
        let what = "a tile that takes values more than once";
        let kind = match mode.extent.as_constant() {
            Some(extent) => SymbolicErrorKind::Layout(
                ErrorKind::RepeatingTile { extent }.at(Place::operand(1).stride()),
            ),
            None => SymbolicErrorKind::Unsupported(what),
        };
        return Err(kind.at(Place::operand(1).stride()));
    }
    // The complement lies in the size of A: an error about its target is about A.
    let (rest, rounded) =
        complement(scope, tile, &size, overhang).map_err(|error| SymbolicError {
            place: Place {
                operand: 1 - error.place.operand,
                ..error.place
            },
            ..error
        })?;
    let bound = rounded.then(|| scope.add_bound(size));
    let both = SymbolicLayout::concat([tile.clone(), rest])?;
    compose(scope, a, &both, overhang, bound).map_err(|error| {
        // Mode 0 is the tile; nobody wrote the rest.
        let place = match error.place.path.0.split_first() {
            Some((0, path)) => Place {
                path: ModePath(path.to_vec()),
                ..error.place
            },
            _ => Place::operand(1),
        };
        SymbolicError { place, ..error }
    })
}

/// Composition mode by mode, where the tiler has modes; modes of A that it does not reach are dropped.
pub(super) fn compose_by(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    match tiler {
        SymbolicTiler::Keep => Ok(a.clone()),
        SymbolicTiler::Layout(b) => compose(scope, a, b, overhang, None),
        SymbolicTiler::Modes(tilers) => {
            check_rank(a, tilers.len())?;
            let modes = a.modes().into_iter().zip(tilers).enumerate();
            let modes = modes.map(|(i, (mode, tiler))| {
                compose_by(scope, &mode, tiler, overhang).map_err(|error| in_mode(error, i))
            });
            SymbolicLayout::concat(modes.collect::<Result<Vec<_>>>()?)
        }
    }
}

/// `(A, repetitions)`, grouped by `form`.
pub(super) fn product(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    form: Form,
) -> Result<SymbolicLayout> {
    let logical = by_mode(a, tiler, &mut |mode, tile| {
        let copies = repetitions(scope, mode, tile)?;
        SymbolicLayout::concat([mode.clone(), copies])
    })?;
    arrange(&logical, tiler, form)
}

/// Where the copies of A go: the rest of A, without end, composed with B.
fn repetitions(
    scope: &mut Scope,
    a: &SymbolicLayout,
    b: &SymbolicLayout,
) -> Result<SymbolicLayout> {
    // The last mode goes on; any extent stands for that.
    let chain = chain(scope, a)?;
    let mut modes = chain.gaps;
    modes.retain(|mode| !mode.is_single());
    modes.push(Mode::new(Term::ONE, chain.block));
    let rest = SymbolicLayout::from_flat(modes);
    compose(scope, &rest, b, Overhang::Ragged, None)
}

fn by_mode(
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    apply: &mut dyn FnMut(&SymbolicLayout, &SymbolicLayout) -> Result<SymbolicLayout>,
) -> Result<SymbolicLayout> {
    match tiler {
        SymbolicTiler::Keep => Ok(a.clone()),
        SymbolicTiler::Layout(tile) => apply(a, tile),
        SymbolicTiler::Modes(tilers) => {
            check_rank(a, tilers.len())?;
            let mut modes = a.modes();
            for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                *mode = by_mode(mode, tiler, apply).map_err(|error| in_mode(error, i))?;
            }
            SymbolicLayout::concat(modes)
        }
    }
}

fn arrange(logical: &SymbolicLayout, tiler: &SymbolicTiler, form: Form) -> Result<SymbolicLayout> {
    let mut tags = Tags::default();
    let tagged = tags.tag(logical)?;
    Ok(tags.untag(&form.arrange(tagged, &tiler.skeleton())?))
}

fn check_rank(a: &SymbolicLayout, tiler: usize) -> Result<()> {
    if tiler <= a.rank() {
        return Ok(());
    }
    let shape = a.tree().map(|_| 1);
    Err(ErrorKind::TilerRank { tiler, shape }
        .at(Place::operand(1))
        .into())
}

fn in_mode(error: SymbolicError, index: usize) -> SymbolicError {
    let path = [&[index], &error.place.path.0[..]].concat();
    SymbolicError {
        place: Place {
            path: ModePath(path),
            ..error.place
        },
        ..error
    }
}

fn require_positive(scope: &Scope, stride: &Term, place: &Place) -> Result<()> {
    if scope.is_positive(stride) {
        return Ok(());
    }
    if let Some(stride) = stride.as_constant() {
        let error = ErrorKind::NegativeStride { stride }.at(place.clone());
        return Err(error.into());
    }
    Err(undecided(scope, &Term::ONE, stride, place.clone()))
}

/// The facts leave open whether `left <= right`.
fn undecided(scope: &Scope, left: &Term, right: &Term, place: Place) -> SymbolicError {
    let condition = Check::AtMost {
        left: left.into(),
        right: right.into(),
    };
    SymbolicErrorKind::Undecided {
        condition: scope.show_check(&condition),
        opposite: scope.show_opposite(left, right),
    }
    .at(place)
}

fn quotient(dividend: &Term, divisor: &Term) -> Result<Term> {
    dividend
        .checked_div(divisor)
        .ok_or_else(|| SymbolicErrorKind::Overflow.at(Place::default()))
}

/// `sum + (extent - 1) * stride`.
fn add_reach(sum: Sum, mode: &Mode, place: &Place) -> Result<Sum> {
    let end = term_product(&mode.extent, &mode.stride)?;
    sum.add(&end, 1)
        .and_then(|sum| sum.add(&mode.stride, -1))
        .ok_or_else(|| SymbolicErrorKind::Overflow.at(place.clone()))
}

fn minus_one(term: &Term) -> Result<Sum> {
    Sum::from(term)
        .add(&Term::ONE, -1)
        .ok_or_else(|| SymbolicErrorKind::Overflow.at(Place::default()))
}
