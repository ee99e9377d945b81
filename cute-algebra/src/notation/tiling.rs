//! From `layout / tiler` to a [`Tiling`], and the errors of tilings that are not disjoint.

use super::error::NotationError;
use super::eval::{Evaluator, eval, eval_layout, locate, refused, wrong_kind};
use super::expr::{Expr, ExprKind, Names, Sign};
use crate::composed::ComposedLayout;
use crate::domain::Numbers;
use crate::error::Place;
use crate::layout::Layout;
use crate::tiling::Tiling;
use crate::value::Value;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// The tiling that an expression `layout / tiler` describes.
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
        // Evaluating a `zipped_divide` with a wrong number of operands gives the error that names the right number.
        eval(expr, names)?;
        return Err(expected_division(&expr.at));
    };
    let layout = match eval_layout(whole, names)? {
        Value::Layout(layout) => ComposedLayout::plain(layout)
            .map_err(|_| NotationError::new(&whole.at, "expected a layout of integers")),
        Value::Composed(layout) => Ok(layout),
        other => Err(wrong_kind(&whole.at, "a layout", &other)),
    }?;
    let cut = Evaluator::of_numbers(names).tiler(tiler)?;
    let tiling = match ragged {
        true => Tiling::ragged(&layout, &cut),
        false => Tiling::new(&layout, &cut),
    };
    tiling.map_err(|error| {
        let values = [layout.layout().clone().into(), cut.into()];
        refused::<Numbers>(error, expr, "zipped_divide", args, &values)
    })
}

/// An error where a tiling is not proved to be disjoint. It names two coordinates that share an element, if they are
/// found. `expr` is the expression that the tiling was evaluated from.
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
            let message =
                format!("the tiles are not disjoint: coordinate {coordinate} is in them twice");
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
    let Some(small) = small_stride(tiling.whole().layout()) else {
        return Err(NotationError::new(&at(0), message));
    };
    let place = Place::operand(0).mode(small.path.clone()).stride();
    let at = operands
        .first()
        .map_or(at(0), |whole| locate(whole, &place));
    Err(NotationError::new(&at, message).help(small.to_string()))
}

pub(super) fn division(expr: &Expr) -> Result<(&[Expr], bool), NotationError> {
    match &expr.kind {
        ExprKind::Call {
            operation,
            args,
            ragged,
            ..
        } if operation == "zipped_divide" => Ok((args, *ragged)),
        ExprKind::Arithmetic(Sign::Over, sides) => Ok((&sides[..], false)),
        _ => Err(expected_division(&expr.at)),
    }
}

pub(super) fn expected_division(at: &Range<usize>) -> NotationError {
    NotationError::new(at, "expected `layout / tiler`")
        .help("for example `(8,8):(8,1) / <4:1, 2:1>`")
}

/// A stride that is not larger than the sum of `(extent - 1) * |stride|` over all smaller strides.
struct SmallStride {
    path: Vec<usize>,
    stride: i64,
    reach: i64,
    /// A stride to replace it by, so that every stride is larger than that sum over the smaller ones.
    enough: Option<i64>,
}

/// The smallest stride of a layout that is not larger than the reach of the smaller ones.
fn small_stride(whole: &Layout) -> Option<SmallStride> {
    let leaves = whole
        .flat_modes()
        .into_iter()
        .zip(whole.shape().leaf_paths());
    let mut modes: Vec<(i64, i64, Vec<usize>)> = leaves
        .map(|((extent, stride), path)| (extent, stride.value(), path))
        .filter(|(extent, ..)| *extent > 1)
        .collect();
    modes.sort_by_key(|(_, stride, _)| stride.unsigned_abs());
    let reach = |modes: &[(i64, i64, Vec<usize>)]| {
        let reaches = modes
            .iter()
            .map(|(extent, stride, _)| (extent - 1).saturating_mul(stride.saturating_abs()));
        reaches.fold(0, i64::saturating_add)
    };
    let small = (0..modes.len()).find(|&i| modes[i].1.saturating_abs() <= reach(&modes[..i]))?;
    let (extent, stride, path) = modes.remove(small);
    let below = reach(&modes[..small]);
    let are_above = |own: i64| {
        let above = |i: usize| modes[i].1.saturating_abs() > reach(&modes[..i]).saturating_add(own);
        (small..modes.len()).all(above)
    };
    // Take one more than the reach of the smaller strides, if the larger strides stay large enough. Else take one more
    // than the reach of all others.
    let next = below.saturating_add(1);
    let enough = match (are_above((extent - 1).saturating_mul(next)), are_above(0)) {
        (true, _) => Some(next),
        (false, true) => Some(reach(&modes).saturating_add(1)),
        (false, false) => None,
    };
    Some(SmallStride {
        path,
        stride,
        reach: below,
        enough: enough.map(|enough| if stride < 0 { -enough } else { enough }),
    })
}

impl fmt::Display for SmallStride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stride {
            0 => f.write_str("stride 0 repeats each element")?,
            stride => write!(
                f,
                "stride {stride} lies within the reach {} of smaller strides",
                self.reach
            )?,
        }
        match self.enough {
            Some(enough) => write!(f, "; with {enough} instead no element is repeated"),
            None => Ok(()),
        }
    }
}

fn tuple(coordinate: &[i64]) -> String {
    let numbers: Vec<_> = coordinate.iter().map(ToString::to_string).collect();
    match &numbers[..] {
        [only] => only.clone(),
        _ => format!("({})", numbers.join(",")),
    }
}
