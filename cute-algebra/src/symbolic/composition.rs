//! Composition and what is made of it: division and product.
//!
//! The conditions are those of the operations on numbers. What those compare, these ask the [`Scope`].

use super::chain::{complement, endless};
use super::layout::{Mode, Source, SymbolicLayout, SymbolicTiler, overflow, product, quotient};
use super::scope::{Answer, Check, Scope};
use super::show::show_tuple;
use super::tags::Tags;
use super::term::{Sum, Term};
use super::{SymbolicError, SymbolicErrorKind, undecided};
use crate::composition::Overhang;
use crate::divide::Form;
use crate::error::{ErrorKind, ModePath, Place, tiler_rank};
use crate::product::{Order, blocked};
use crate::tiler::Others;

type Result<T> = std::result::Result<T, SymbolicError>;

/// Composition mode by mode, where the tiler has modes; modes of A that it does not reach are dropped.
pub(crate) fn compose_by(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    let act = &mut |scope: &mut Scope, mode: &_, b: &_| compose(scope, mode, b, overhang, None);
    by_mode(scope, a, tiler, None, Others::Drop, act)
}

/// `(tile, rest)`, grouped by `form`.
pub(crate) fn divide(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    form: Form,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    let act =
        &mut |scope: &mut Scope, mode: &_, tile: &_| divide_whole(scope, mode, tile, overhang);
    by_mode(scope, a, tiler, Some(form), Others::Keep, act)
}

/// `(A, repetitions)`, grouped by `form`.
pub(crate) fn product_by(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    form: Form,
) -> Result<SymbolicLayout> {
    let act = &mut |scope: &mut Scope, mode: &SymbolicLayout, tile: &_| {
        let copies = repetitions(scope, mode, tile)?;
        SymbolicLayout::concat([mode.clone(), copies])
    };
    by_mode(scope, a, tiler, Some(form), Others::Keep, act)
}

/// The product with the modes of both side by side.
pub(crate) fn ranked_product(
    scope: &mut Scope,
    a: &SymbolicLayout,
    b: &SymbolicLayout,
    order: Order,
) -> Result<SymbolicLayout> {
    let mut tags = Tags::default();
    let (a, b) = (tags.tag(a)?, tags.tag(b)?);
    let mut repetitions = tags.on_both(|a, b| repetitions(scope, a, b));
    let product = blocked(&a, &b, order, &mut repetitions)?;
    drop(repetitions);
    Ok(tags.untag(&product))
}

/// An operation on the parts of a layout that a tiler has layouts for, and the result arranged.
fn by_mode(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tiler: &SymbolicTiler,
    form: Option<Form>,
    others: Others,
    act: &mut dyn FnMut(&mut Scope, &SymbolicLayout, &SymbolicLayout) -> Result<SymbolicLayout>,
) -> Result<SymbolicLayout> {
    let mut tags = Tags::default();
    let (tagged, tiler) = (tags.tag(a)?, tags.tag_tiler(tiler)?);
    let mut act = tags.on_both(|mode, tile| act(scope, mode, tile));
    let applied = tiler.apply(&tagged, others, &mut act);
    drop(act);
    let mut result = applied.map_err(|error| with_extents(scope, a, error))?;
    if let Some(form) = form {
        result = form.arrange(result, &tiler)?;
    }
    Ok(tags.untag(&result))
}

/// An error about the shape of a tagged layout, with the shape of the layout.
fn with_extents(scope: &Scope, a: &SymbolicLayout, error: SymbolicError) -> SymbolicError {
    let SymbolicErrorKind::Layout(known) = &error.kind else {
        return error;
    };
    let (&ErrorKind::TilerRank { tiler, .. }, Some(mode)) =
        (known.kind(), a.get(&error.place.path.0))
    else {
        return error;
    };
    let shape = show_tuple(&mode.shape().map(|extent| scope.show(extent)));
    SymbolicErrorKind::Refused(tiler_rank(tiler, &shape, mode.rank())).at(error.place)
}

fn divide_whole(
    scope: &mut Scope,
    a: &SymbolicLayout,
    tile: &SymbolicLayout,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    let size = a.size().ok_or_else(overflow)?;
    let repeats = |mode: &&Mode| !mode.is_single() && mode.stride.is_zero();
    if overhang == Overhang::Strict
        && let Some(mode) = tile.leaves().find(repeats)
    {
        let kind = match mode.extent.as_constant() {
            Some(extent) => ErrorKind::RepeatingTile { extent }
                .at(Place::operand(1).stride())
                .into(),
            None => SymbolicErrorKind::Refused(format!(
                "a tile takes each value once, but a mode of extent {} has stride 0",
                scope.show(&mode.extent)
            )),
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
    let bound = rounded.then(|| scope.add_bound(size.into()));
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

/// Where the copies of A go: the rest of A, without end, composed with B.
fn repetitions(
    scope: &mut Scope,
    a: &SymbolicLayout,
    b: &SymbolicLayout,
) -> Result<SymbolicLayout> {
    b.require_integral(1)?;
    let rest = endless(scope, a)?;
    compose(scope, &rest, b, Overhang::Ragged, None)
}

/// `R(c) = A(B(c))`. Where `bound` is given, coordinates may leave A, and the result says by its sources where.
pub(crate) fn compose(
    scope: &mut Scope,
    a: &SymbolicLayout,
    b: &SymbolicLayout,
    overhang: Overhang,
    bound: Option<usize>,
) -> Result<SymbolicLayout> {
    let is_plain = |layout: &SymbolicLayout| layout.leaves().all(|mode| mode.sources.is_empty());
    if bound.is_none()
        && is_plain(a)
        && is_plain(b)
        && let (Some(a), Some(b)) = (a.as_layout(), b.as_layout())
    {
        let composed = crate::composition::compose(&a?, &b?, overhang)?;
        return Ok(SymbolicLayout::lift(&composed));
    }
    let mut targets: Vec<Target> = Vec::new();
    let mut leaves = Vec::new();
    for (mode, path) in b.leaves().zip(b.tree().leaf_paths()) {
        let place = Place::operand(1).mode(path);
        if mode.is_single() || mode.stride.is_zero() {
            let nowhere = Mode::along(mode.extent.clone(), Term::ZERO, Vec::new());
            let sources = mode.sources.clone();
            leaves.push(SymbolicLayout::leaf(Mode { sources, ..nowhere }));
            continue;
        }
        let known = targets.iter().position(|target| target.path == mode.path);
        let index = match known {
            Some(index) => index,
            None => {
                targets.push(Target::of(scope, a, &mode.path, &place)?);
                targets.len() - 1
            }
        };
        let target = &mut targets[index];
        // The sign is of no matter where A is one mode that goes on without end.
        if !target.boundaries.is_empty() || overhang == Overhang::Strict {
            scope.require_positive(&mode.stride, &place.clone().stride())?;
        }
        target.reach = add_reach(
            std::mem::take(&mut target.reach),
            &mode.extent,
            &mode.stride,
        )?;
        // Before it is cut: what a cut asks for beyond need must not decide whether B stays in A.
        if overhang == Overhang::Strict {
            target.require_reached(scope)?;
        }
        let cut = target.cut(scope, mode, &place)?;
        let images = cut.iter().map(|piece| target.image(piece, mode, bound));
        leaves.push(SymbolicLayout::from_flat(images.collect::<Result<_>>()?));
        target.pieces.extend(cut);
    }
    for target in &targets {
        target.require_no_carry(scope)?;
    }
    b.replace_leaves(leaves)
}

/// A mode of A, coalesced: its modes and where one ends and the next begins; and what of B runs along it.
struct Target {
    path: Vec<usize>,
    modes: Vec<Mode>,
    /// Products of the leading extents, one fewer than modes.
    boundaries: Vec<Term>,
    size: Term,
    pieces: Vec<Piece>,
    /// The largest coordinate.
    reach: Sum,
}

/// A part of a mode of B that stays within one mode of A.
struct Piece {
    extent: Term,
    stride: Term,
    /// The product of the extents of the parts before it.
    after: Term,
    /// The mode of A. Its stride is a multiple of the boundary below.
    segment: usize,
}

impl Target {
    fn of(scope: &Scope, a: &SymbolicLayout, path: &[usize], place: &Place) -> Result<Self> {
        let along = a.get(path).ok_or_else(|| {
            let stride = scope.show_stride(&Term::ONE, path);
            let shape = super::show::show_tuple(&a.shape().map(|extent| scope.show(extent)));
            let text = format!(
                "stride {stride} runs along a coordinate that the shape {shape} does not have"
            );
            SymbolicErrorKind::Refused(text).at(place.clone().stride())
        })?;
        let mut leaves: Vec<_> = along.leaves().cloned().collect();
        // The last mode has no end, so it stays even where its extent is 1.
        let last = leaves.pop();
        leaves.retain(|mode| !mode.is_single());
        let mut modes = super::coalesce::merge(leaves.into_iter().chain(last));
        if modes.is_empty() {
            modes.push(Mode::unit());
        }
        let mut boundaries = Vec::new();
        let mut size = Term::ONE;
        for mode in &modes {
            size = product(&size, &mode.extent)?;
            boundaries.push(size.clone());
        }
        boundaries.pop();
        Ok(Self {
            path: path.to_vec(),
            modes,
            boundaries,
            size,
            pieces: Vec::new(),
            reach: Sum::default(),
        })
    }

    /// No coordinate so far leaves A.
    fn require_reached(&self, scope: &mut Scope) -> Result<()> {
        require_below(scope, self.reach.clone(), &self.size)
    }

    /// No sum of two coordinates crosses a boundary that neither crosses by itself.
    fn require_no_carry(&self, scope: &mut Scope) -> Result<()> {
        for (i, boundary) in self.boundaries.iter().enumerate() {
            let below = self.pieces.iter().filter(|piece| piece.segment <= i);
            let carry = below.into_iter().try_fold(Sum::default(), |carry, piece| {
                add_reach(carry, &piece.extent, &piece.stride)
            })?;
            require_below(scope, carry, boundary)?;
        }
        Ok(())
    }

    /// Cuts a mode of B where its multiples cross a boundary.
    ///
    /// A stride is taken to divide the next boundary, or to be a multiple of it. The operation on numbers knows a few
    /// modes more, whose strides do neither; here a check refuses them.
    fn cut(&self, scope: &mut Scope, mode: &Mode, place: &Place) -> Result<Vec<Piece>> {
        let (mut extent, mut stride) = (mode.extent.clone(), mode.stride.clone());
        let (mut pieces, mut after) = (Vec::new(), Term::ONE);
        // Each boundary divides the next.
        let mut segment = (0..self.boundaries.len())
            .rev()
            .find(|&i| scope.divides(&self.boundaries[i], &stride) == Answer::Always)
            .map_or(0, |i| i + 1);
        while segment < self.boundaries.len() && !extent.is_one() {
            let boundary = &self.boundaries[segment];
            let end = product(&extent, &stride)?;
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
                let last = add_reach(Sum::default(), &extent, &stride)?;
                let stays = Check::AtMost {
                    left: last,
                    right: Sum::from(boundary)
                        .add(&Term::ONE, -1)
                        .ok_or_else(overflow)?,
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

    /// A piece of a mode of B with A's stride.
    fn image(&self, piece: &Piece, mode: &Mode, bound: Option<usize>) -> Result<Mode> {
        let below = match piece.segment {
            0 => Term::ONE,
            i => self.boundaries[i - 1].clone(),
        };
        let steps = quotient(&piece.stride, &below)?;
        let outer = self.modes[piece.segment].stepped(&piece.extent, &steps);
        let mut image = outer.ok_or_else(overflow)?;
        let inner = mode.stepped(&piece.extent, &piece.after);
        image.sources.extend(inner.ok_or_else(overflow)?.sources);
        image.sources.extend(bound.map(|bound| Source {
            bound,
            stride: piece.stride.clone(),
        }));
        Ok(image)
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

fn require_below(scope: &mut Scope, left: Sum, end: &Term) -> Result<()> {
    let right = Sum::from(end).add(&Term::ONE, -1).ok_or_else(overflow)?;
    let check = Check::AtMost { left, right };
    scope
        .require(check)
        .map_err(|kind| kind.at(Place::operand(1)))
}

/// `sum + (extent - 1) * stride`.
fn add_reach(sum: Sum, extent: &Term, stride: &Term) -> Result<Sum> {
    let end = product(extent, stride)?;
    sum.add(&end, 1)
        .and_then(|sum| sum.add(stride, -1))
        .ok_or_else(overflow)
}
