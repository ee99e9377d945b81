//! Conversions between values of run-time integers and values of numbers.

use super::term::{Sum, Term};
use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::stride::ScaledBasis;
use crate::tiler::Tiler;
use crate::value::Value;

impl Value<Term> {
    /// The same value with constant terms.
    pub fn lift(value: &Value) -> Self {
        match value {
            Value::Int(value) => Self::Int((*value).into()),
            Value::Bool(value) => Self::Bool(*value),
            Value::Tuple(tuple) => Self::Tuple(tuple.map(|&value| value.into())),
            Value::Coord(coord) => Self::Coord(coord.map(|leaf| leaf.map(Sum::from))),
            Value::Stride(stride) => Self::Stride(
                stride.map(|leaf| ScaledBasis::along(leaf.value().into(), leaf.path())),
            ),
            Value::Layout(layout) => Self::Layout(Layout::lift(layout)),
            Value::Swizzle(swizzle) => Self::Swizzle(*swizzle),
            Value::Composed(composed) => Self::Composed(ComposedLayout::lift(composed)),
            Value::XorMap(map) => Self::XorMap(map.clone()),
            Value::Tiler(tiler) => Self::Tiler(Tiler::lift(tiler)),
            Value::Word(word) => Self::Word(word.clone()),
            Value::List(values) => Self::List(values.iter().map(Self::lift).collect()),
        }
    }

    /// The same value of numbers, if it contains no run-time integers.
    pub fn to_numbers(&self) -> Option<Value> {
        let number = |sum: &Sum| sum.as_constant().ok_or(());
        Some(match self {
            Self::Int(sum) => Value::Int(sum.as_constant()?),
            Self::Bool(value) => Value::Bool(*value),
            Self::Tuple(tuple) => Value::Tuple(tuple.try_map(number).ok()?),
            Self::Coord(coord) => {
                let numbers = coord.try_map(|leaf| leaf.as_ref().map(number).transpose());
                Value::Coord(numbers.ok()?)
            }
            Self::Stride(stride) => {
                let numbers = stride.try_map(|leaf| {
                    let value = leaf.value().as_constant().ok_or(())?;
                    Ok::<_, ()>(ScaledBasis::along(value, leaf.path()))
                });
                Value::Stride(numbers.ok()?)
            }
            Self::Layout(layout) => Value::Layout(layout.to_numbers()?),
            Self::Swizzle(swizzle) => Value::Swizzle(*swizzle),
            Self::Composed(composed) => {
                let (offset, layout) = (composed.offset(), composed.layout().to_numbers()?);
                let numbers =
                    ComposedLayout::new(composed.swizzle(), offset.as_constant()?, layout);
                Value::Composed(numbers.ok()?)
            }
            Self::XorMap(map) => Value::XorMap(map.clone()),
            Self::Tiler(tiler) => Value::Tiler(tiler.to_numbers()?),
            Self::Word(word) => Value::Word(word.clone()),
            Self::List(values) => {
                Value::List(values.iter().map(Self::to_numbers).collect::<Option<_>>()?)
            }
        })
    }
}

impl Tiler<Term> {
    /// The same tiler with constant terms.
    pub fn lift(tiler: &Tiler) -> Self {
        match tiler {
            Tiler::Keep => Self::Keep,
            Tiler::Layout(layout) => Self::Layout(Layout::lift(layout)),
            Tiler::Modes(tilers) => Self::Modes(tilers.iter().map(Self::lift).collect()),
        }
    }

    fn to_numbers(&self) -> Option<Tiler> {
        Some(match self {
            Self::Keep => Tiler::Keep,
            Self::Layout(layout) => Tiler::Layout(layout.to_numbers()?),
            Self::Modes(tilers) => {
                Tiler::Modes(tilers.iter().map(Self::to_numbers).collect::<Option<_>>()?)
            }
        })
    }
}

impl ComposedLayout<Term> {
    /// The same swizzled layout with constant terms.
    pub fn lift(composed: &ComposedLayout) -> Self {
        let (offset, layout) = (composed.offset(), Layout::lift(composed.layout()));
        Self::assembled(composed.swizzle(), offset.into(), layout)
    }
}
