//! Values at coordinates, spans, and the orders on shapes.

use super::chain::{complement, is_zero};
use super::layout::{SymbolicLayout, SymbolicTiler, overflow};
use super::scope::{Answer, Check, Scope};
use super::show::show_tuple;
use super::tags::regrouped;
use super::term::{Sum, Term};
use super::{SymbolicArgs, SymbolicError, SymbolicErrorKind, SymbolicValue};
use crate::composition::Overhang;
use crate::coordinate::{Integers, split};
use crate::error::{ErrorKind, ModePath, Place};
use crate::tuple::Tuple;

type Result<T> = std::result::Result<T, SymbolicError>;

/// Coordinates that are sums of run-time integers.
impl Integers for Scope {
    type Int = Sum;
    type Error = SymbolicError;

    fn size(&mut self, shape: &Tuple<Sum>) -> Result<Sum> {
        let size = shape
            .leaves()
            .try_fold(Sum::from(1), |size, extent| size.times(extent));
        size.ok_or_else(overflow)
    }

    fn div_rem(&mut self, index: &Sum, by: &Sum) -> Result<(Sum, Sum)> {
        let at_shape = |kind: SymbolicErrorKind| kind.at(Place::default());
        let by = self.term(by).map_err(at_shape)?;
        self.require_extent(&by).map_err(at_shape)?;
        Scope::div_rem(self, index, &by).map_err(|kind| kind.at(Place::operand(1)))
    }

    fn sum(&mut self, terms: &[(Sum, Sum)]) -> Option<Sum> {
        let mut products = terms.iter().map(|(a, b)| a.times(b));
        products.try_fold(Sum::default(), |sum, product| sum.plus(&product?))
    }

    fn show(&self, tuple: &Tuple<Sum>) -> String {
        show_tuple(&tuple.map(|sum| self.show_sum(sum)))
    }
}

/// The value at a coordinate: an integer for the whole or any mode, or a tuple for its modes.
pub(crate) fn crd2idx(
    scope: &mut Scope,
    a: &SymbolicLayout,
    coord: &Tuple<Option<Sum>>,
) -> Result<Tuple<Sum>> {
    coord.check_limits().map_err(|error| error.blame(1))?;
    if let Some((_, path)) = coord
        .leaves()
        .zip(coord.leaf_paths())
        .find(|(leaf, _)| leaf.is_none())
    {
        return Err(ErrorKind::Underscore
            .at(Place::operand(1).mode(path))
            .into());
    }
    let coord = coord.map(|leaf| leaf.clone().unwrap_or_default());
    let shape = a.shape().map(|extent| extent.into());
    let split = split(scope, &shape, &coord, &ModePath::default())?;
    let terms = a.leaves().zip(split.leaves());
    let terms = terms
        .map(|(mode, digit)| Some((mode.path.as_slice(), digit.times(&(&mode.stride).into())?)));
    sum_along(terms.collect::<Option<Vec<_>>>().ok_or_else(overflow)?)
}

/// The span along each coordinate; the span where values are integers.
pub(crate) fn coshape(scope: &Scope, a: &SymbolicLayout) -> Result<Tuple<Sum>> {
    let mut reaches = Vec::new();
    for (mode, path) in a.leaves().zip(a.tree().leaf_paths()) {
        if mode.is_single() || mode.stride.is_zero() {
            reaches.push((mode.path.as_slice(), Sum::default()));
            continue;
        }
        let sign = match scope.at_most(&Term::ZERO, &mode.stride) {
            Answer::Always => 1,
            Answer::Never => -1,
            Answer::Maybe => {
                let place = Place::operand(0).mode(path).stride();
                return Err(super::undecided(scope, &Term::ZERO, &mode.stride, place));
            }
        };
        let end = mode.extent.checked_mul(&mode.stride);
        let reach = end.and_then(|end| Sum::default().add(&end, sign)?.add(&mode.stride, -sign));
        reaches.push((mode.path.as_slice(), reach.ok_or_else(overflow)?));
    }
    let last = sum_along(reaches)?;
    let mut fits = true;
    let spans = last.map(|reach| {
        let span = reach.clone().add(&Term::ONE, 1);
        fits &= span.is_some();
        span.unwrap_or_default()
    });
    fits.then_some(spans).ok_or_else(overflow)
}

/// The product of the spans.
pub(crate) fn cosize(scope: &mut Scope, a: &SymbolicLayout) -> Result<Sum> {
    let spans = coshape(scope, a)?;
    scope.size(&spans)
}

/// The natural coordinate of a value of a compact layout.
pub(crate) fn idx2crd_stride(
    scope: &mut Scope,
    a: &SymbolicLayout,
    index: &Sum,
) -> Result<Tuple<Sum>> {
    let mut coords = Vec::new();
    for step in super::chain::weighted(a)? {
        coords.push(if is_zero(scope, &step.mode.stride, &step.place)? {
            Sum::default()
        } else {
            scope.require_positive(&step.mode.stride, &step.place)?;
            let at_index = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
            let (quotient, _) = scope.div_rem(index, &step.mode.stride).map_err(at_index)?;
            let (_, digit) = scope
                .div_rem(&quotient, &step.mode.extent)
                .map_err(at_index)?;
            digit
        });
    }
    let mut coords = coords.into_iter();
    Ok(a.tree().map(|_| coords.next().unwrap_or_default()))
}

/// Whether coordinates of the first shape are coordinates of the second.
pub(crate) fn compatible(scope: &mut Scope, a: &Tuple<Sum>, b: &Tuple<Sum>) -> Result<bool> {
    match (a, b) {
        (Tuple::Leaf(extent), b) => {
            let size = scope.size(b)?;
            match scope.equal(extent, &size) {
                Answer::Always => Ok(true),
                Answer::Never => Ok(false),
                Answer::Maybe => {
                    let (left, right) = (scope.show_sum(extent), scope.show_sum(&size));
                    let open = SymbolicErrorKind::Open(format!("{left} == {right}"));
                    Err(open.at(Place::default()))
                }
            }
        }
        (Tuple::Node(_), Tuple::Leaf(_)) => Ok(false),
        (Tuple::Node(a), Tuple::Node(b)) if a.len() == b.len() => {
            let mut answer = Ok(true);
            for (a, b) in a.iter().zip(b) {
                match compatible(scope, a, b) {
                    // What is never so decides, whatever is open elsewhere.
                    Ok(false) => return Ok(false),
                    Ok(true) => {}
                    Err(open) => answer = Err(open),
                }
            }
            answer
        }
        (Tuple::Node(_), Tuple::Node(_)) => Ok(false),
    }
}

/// Whether an operation has a result whatever the run-time integers are, or for none of them; an error where that is open.
pub(crate) fn settled(
    scope: &Scope,
    operation: impl FnOnce(&mut Scope) -> Result<()>,
) -> Result<bool> {
    let mut trial = scope.clone();
    match operation(&mut trial) {
        Ok(()) => match trial.checks().get(scope.checks().len()) {
            None => Ok(true),
            Some(check) => {
                let open = SymbolicErrorKind::Open(trial.show_check(check));
                Err(open.at(Place::default()))
            }
        },
        Err(SymbolicError {
            kind: SymbolicErrorKind::Undecided { condition, .. },
            place,
        }) => Err(SymbolicErrorKind::Open(condition).at(place)),
        Err(_) => Ok(false),
    }
}

/// Sums along each coordinate, as a tuple where there are coordinates.
fn sum_along<'a>(terms: impl IntoIterator<Item = (&'a [usize], Sum)>) -> Result<Tuple<Sum>> {
    let mut total = Tuple::Leaf(Sum::default());
    for (path, term) in terms {
        total = add_along(&total, path, &term)?;
    }
    Ok(total)
}

fn add_along(total: &Tuple<Sum>, path: &[usize], term: &Sum) -> Result<Tuple<Sum>> {
    let mixed = || {
        let text =
            "the strides run along a coordinate and along a part of it, and so cannot be added";
        SymbolicErrorKind::Refused(text.to_owned()).at(Place::default())
    };
    match (total, path) {
        (Tuple::Leaf(sum), []) => Ok(Tuple::Leaf(sum.clone().plus(term).ok_or_else(overflow)?)),
        (Tuple::Node(_), []) if *term == Sum::default() => Ok(total.clone()),
        (Tuple::Node(_), []) => Err(mixed()),
        (Tuple::Leaf(sum), _) if *sum != Sum::default() => Err(mixed()),
        (_, [index, rest @ ..]) => {
            let mut modes = match total {
                Tuple::Node(modes) => modes.clone(),
                Tuple::Leaf(_) => Vec::new(),
            };
            let zero = Tuple::Leaf(Sum::default());
            modes.resize((index + 1).max(modes.len()), zero);
            modes[*index] = add_along(&modes[*index], rest, term)?;
            Ok(Tuple::Node(modes))
        }
    }
}

/// A check that is open, as an answer that is not given.
pub(crate) fn answered(scope: &Scope, check: &Check, place: Place) -> Result<bool> {
    match scope.answer(check) {
        Answer::Always => Ok(true),
        Answer::Never => Ok(false),
        Answer::Maybe => Err(SymbolicErrorKind::Open(scope.show_check(check)).at(place)),
    }
}

/// Whether each mode of a tiler divides that of a shape.
pub(crate) fn evenly_divides(
    scope: &Scope,
    shape: &Tuple<Term>,
    tiler: &SymbolicTiler,
) -> Result<bool> {
    match tiler {
        SymbolicTiler::Keep => Ok(true),
        SymbolicTiler::Layout(tile) => {
            let size = shape
                .leaves()
                .try_fold(Term::ONE, |size, extent| size.checked_mul(extent));
            let size = size.ok_or_else(overflow)?;
            let has_rest = settled(scope, |scope| {
                complement(scope, tile, &size, Overhang::Strict).map(drop)
            })?;
            // A mode that happens to have extent 1 would have no say.
            let moving = tile.leaves().filter(|mode| !mode.is_single());
            for mode in moving.filter(|_| !has_rest) {
                answered(
                    scope,
                    &Check::at_most(&2.into(), &mode.extent),
                    Place::operand(1),
                )?;
            }
            Ok(has_rest)
        }
        SymbolicTiler::Modes(tilers) => {
            let modes = shape.modes();
            let mut answer = Ok(tilers.len() <= modes.len());
            for (mode, tiler) in modes.iter().zip(tilers) {
                match evenly_divides(scope, mode, tiler) {
                    Ok(false) => return Ok(false),
                    Ok(true) => {}
                    Err(open) => answer = answer.and(Err(open)),
                }
            }
            answer
        }
    }
}

/// What is left of the first operand where a coordinate has `_`, and the value where that begins.
pub(crate) fn slice(
    args: &mut SymbolicArgs<'_>,
    coord: &Tuple<Option<Sum>>,
) -> Result<(SymbolicValue, Tuple<Sum>)> {
    let hollow = coord.map(|leaf| leaf.as_ref().map(|_| 0));
    let pick = |layout: &SymbolicLayout| regrouped(layout, |a| crate::slice::slice(a, &hollow));
    let whole = args.inner(0)?;
    let starting_at =
        |scope: &mut Scope, sliced: SymbolicLayout| fixed_sources(scope, &whole, sliced, coord);
    let sliced = starting_at(args.scope, pick(&whole)?)?;
    if let Some(swizzled) = args.swizzled(0)? {
        // Where it begins is inside, under the swizzle.
        let sliced = swizzled.starting_at(args.scope, coord, sliced)?;
        return Ok((sliced.simplest(), Tuple::Leaf(Sum::default())));
    }
    let origin = coord.map(|leaf| Some(leaf.clone().unwrap_or_default()));
    let offset = crd2idx(args.scope, &whole, &origin)?;
    Ok((sliced.into(), offset))
}

/// The sources of what is left of a ragged division, once the coordinates of the other modes are fixed: the bound is by so
/// much closer.
fn fixed_sources(
    scope: &mut Scope,
    whole: &SymbolicLayout,
    sliced: SymbolicLayout,
    coord: &Tuple<Option<Sum>>,
) -> Result<SymbolicLayout> {
    let mut moved: Vec<(usize, usize)> = Vec::new();
    let origin = coord.map(|leaf| leaf.clone().unwrap_or_default());
    let shape = whole.shape().map(|extent| extent.into());
    let digits = split(scope, &shape, &origin, &ModePath::default())?;
    for bound in 0..scope.bounds().len() {
        let mut position = Sum::default();
        for (mode, digit) in whole.leaves().zip(digits.leaves()) {
            for source in mode.sources.iter().filter(|source| source.bound == bound) {
                let part = digit.times(&(&source.stride).into()).ok_or_else(overflow)?;
                position = position.plus(&part).ok_or_else(overflow)?;
            }
        }
        if position != Sum::default() {
            let closer = scope.bounds()[bound].clone().minus(&position);
            moved.push((bound, scope.add_bound(closer.ok_or_else(overflow)?)));
        }
    }
    let leaves = sliced.leaves().map(|mode| {
        let mut mode = mode.clone();
        for source in &mut mode.sources {
            if let Some((_, closer)) = moved.iter().find(|(bound, _)| *bound == source.bound) {
                source.bound = *closer;
            }
        }
        SymbolicLayout::leaf(mode)
    });
    sliced.replace_leaves(leaves.collect())
}
