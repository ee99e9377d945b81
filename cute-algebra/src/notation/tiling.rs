//! `layout / tiler`, with all that a tiling knows.

use super::NotationError;
use super::eval::{Evaluator, Names, eval, eval_layout, locate, refused, wrong_kind};
use super::expr::{Expr, ExprKind};
use crate::composed::ComposedLayout;
use crate::error::Place;
use crate::swizzle::Swizzle;
use crate::tiling::Tiling;
use crate::value::Value;
use std::ops::Range;

/// The tiling that a division is.
/// ```
/// use cute_algebra::notation;
/// let tokens = notation::lex("ragged (10,5):(1,10) / <4>")?;
/// let tiling = notation::eval_tiling(&notation::parse(&tokens, 26..26)?, &|_| None)?;
/// assert_eq!(tiling.layout().layout().to_string(), "((4),(3,5)):((1),(4,10))");
/// # Ok::<(), notation::NotationError>(())
/// ```
pub fn eval_tiling(expr: &Expr, names: Names<'_>) -> Result<Tiling, NotationError> {
    let (args, ragged) = division(expr)?;
    let [whole, tiler] = args else {
        // It says how many operands there are to be.
        eval(expr, names)?;
        return Err(expected_division(&expr.at));
    };
    let layout = match eval_layout(whole, names)? {
        Value::Layout(layout) => ComposedLayout::new(Swizzle::IDENTITY, 0, layout)
            .map_err(|_| NotationError::new(&whole.at, "expected a layout of integers")),
        Value::Composed(layout) => Ok(layout),
        other => Err(wrong_kind(&whole.at, "a layout", &other)),
    }?;
    let cut = Evaluator { names }.tiler(tiler)?;
    let tiling = match ragged {
        true => Tiling::ragged(&layout, &cut),
        false => Tiling::new(&layout, &cut),
    };
    tiling.map_err(|error| {
        let values = [layout.layout().clone().into(), cut.into()];
        refused(error, expr, "zipped_divide", args, &values)
    })
}

/// Refuses a tiling that is not proved to be disjoint, with two coordinates that share an element if they are found.
/// `expr` is what the tiling was evaluated from.
pub fn require_disjoint(tiling: &Tiling, expr: &Expr) -> Result<(), NotationError> {
    if tiling.is_disjoint() {
        return Ok(());
    }
    let operands = division(expr)?.0;
    let at = |operand: usize| {
        operands
            .get(operand)
            .map_or(expr.at.clone(), |arg| arg.at.clone())
    };
    let message = match tiling.overlap() {
        Some(overlap) if overlap.first == overlap.second => {
            let coordinate = tuple(&overlap.first);
            let message = format!("the tiles are not disjoint: {coordinate} is in them twice");
            return Err(NotationError::new(&at(1), message));
        }
        Some(overlap) => format!(
            "the tiles are not disjoint: {} and {} are both element {}",
            tuple(&overlap.first),
            tuple(&overlap.second),
            overlap.value
        ),
        None => "the tiles are not proved to be disjoint".to_owned(),
    };
    let Some((path, stride, reach)) = small_stride(tiling) else {
        return Err(NotationError::new(&at(0), message));
    };
    let place = Place::operand(0).mode(path).stride();
    let at = operands
        .first()
        .map_or(at(0), |whole| locate(whole, &place));
    Err(NotationError::new(&at, message).help(format!(
        "stride {stride} lies within the reach {reach} of smaller strides; from {} on the tiles are disjoint",
        reach + 1
    )))
}

fn division(expr: &Expr) -> Result<(&[Expr], bool), NotationError> {
    match &expr.kind {
        ExprKind::Call {
            operation,
            args,
            ragged,
            ..
        } if operation == "zipped_divide" => Ok((args, *ragged)),
        _ => Err(expected_division(&expr.at)),
    }
}

fn expected_division(at: &Range<usize>) -> NotationError {
    NotationError::new(at, "expected `layout / tiler`")
        .help("for example `(8,8):(8,1) / <4:1, 2:1>`")
}

/// The first stride of the whole, by size, that is not above the reach of all smaller ones; with that reach.
fn small_stride(tiling: &Tiling) -> Option<(Vec<usize>, i64, i64)> {
    let whole = tiling.whole().layout();
    let modes = whole
        .flat_modes()
        .into_iter()
        .zip(whole.shape().leaf_paths());
    let mut modes: Vec<_> = modes
        .map(|((extent, stride), path)| (extent, stride.value(), path))
        .filter(|(extent, ..)| *extent > 1)
        .collect();
    modes.sort_by_key(|(_, stride, _)| stride.unsigned_abs());
    let mut reach = 0i64;
    for (extent, stride, path) in modes {
        if stride.abs() <= reach {
            return Some((path, stride, reach));
        }
        reach = reach.saturating_add((extent - 1).saturating_mul(stride.abs()));
    }
    None
}

fn tuple(coordinate: &[i64]) -> String {
    let numbers: Vec<_> = coordinate.iter().map(ToString::to_string).collect();
    match &numbers[..] {
        [only] => only.clone(),
        _ => format!("({})", numbers.join(",")),
    }
}
