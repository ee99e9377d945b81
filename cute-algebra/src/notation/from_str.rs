//! `FromStr` for all kinds of values. All use the grammar of the notation.

use super::error::NotationError;
use super::eval::{eval, eval_layout, wrong_kind};
use super::expr::Expr;
use super::parse::parse;
use super::tiling::eval_tiling;
use super::token::lex;
use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::stride::Stride;
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;
use crate::tiling::Tiling;
use crate::tuple::{Coord, IntTuple};
use crate::value::Value;
use alloc::string::ToString;
use core::str::FromStr;

/// The value of an expression given as text. It can use no names. Positions in the error count bytes of the text.
///
/// ```
/// use cute_algebra::notation::eval_str;
/// assert_eq!(eval_str("composition((6,2):(8,2), (4,3):(3,1))")?.to_string(), "((2,2),3):((24,2),8)");
/// assert_eq!(eval_str("(4,8):(1,)").unwrap_err().at, 6..10);
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
pub fn eval_str(text: &str) -> Result<Value, NotationError> {
    eval(&parse_str(text)?, &|_| None)
}

fn parse_str(text: &str) -> Result<Expr, NotationError> {
    parse(&lex(text)?, text.len()..text.len())
}

impl FromStr for Value {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        eval_str(text)
    }
}

impl FromStr for Layout {
    type Err = NotationError;

    /// A shape without a stride stands for its compact layout, in which the leftmost mode varies fastest.
    fn from_str(text: &str) -> Result<Self, NotationError> {
        let expr = parse_str(text)?;
        match eval_layout(&expr, &|_| None)? {
            Value::Layout(layout) => Ok(layout),
            other => Err(wrong_kind(&expr.at, "a layout", &other)),
        }
    }
}

impl FromStr for Tiler {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let expr = parse_str(text)?;
        let coord = match eval(&expr, &|_| None)? {
            Value::Tiler(tiler) => return Ok(tiler),
            Value::Layout(layout) => return Ok(Tiler::Layout(layout)),
            Value::Int(extent) => Coord::Leaf(Some(extent)),
            Value::Tuple(shape) => shape.to_coord(),
            Value::Coord(coord) => coord,
            other => return Err(wrong_kind(&expr.at, "a tiler", &other)),
        };
        Tiler::from_coord(&coord).map_err(|error| NotationError::new(&expr.at, error.to_string()))
    }
}

impl FromStr for Tiling {
    type Err = NotationError;

    /// `layout / tiler`; `ragged` before it lets tiles hang over the end.
    fn from_str(text: &str) -> Result<Self, NotationError> {
        eval_tiling(&parse_str(text)?, &|_| None)
    }
}

/// Implements `FromStr` for types that are contained in one or two kinds of values.
macro_rules! from_str {
    ($($kind:ty, $wanted:literal: $($pattern:pat => $value:expr),+;)*) => {$(
        impl FromStr for $kind {
            type Err = NotationError;

            fn from_str(text: &str) -> Result<Self, NotationError> {
                let expr = parse_str(text)?;
                match eval(&expr, &|_| None)? {
                    $($pattern => Ok($value),)+
                    other => Err(wrong_kind(&expr.at, $wanted, &other)),
                }
            }
        }
    )*};
}
from_str! {
    IntTuple, "a tuple of integers": Value::Int(leaf) => IntTuple::Leaf(leaf), Value::Tuple(tuple) => tuple;
    Stride, "a stride":
        Value::Int(leaf) => leaf.into(),
        Value::Tuple(tuple) => (&tuple).into(),
        Value::Stride(stride) => stride;
    Coord, "a coordinate":
        Value::Int(leaf) => Coord::Leaf(Some(leaf)),
        Value::Tuple(tuple) => tuple.to_coord(),
        Value::Tiler(Tiler::Keep) => Coord::Leaf(None),
        Value::Coord(coord) => coord;
    Swizzle, "a swizzle": Value::Swizzle(swizzle) => swizzle;
    ComposedLayout, "a swizzled layout": Value::Composed(composed) => composed;
}
