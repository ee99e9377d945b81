//! The operands and results of operations, which are also the values of expressions of the notation.

use crate::composed::ComposedLayout;
use crate::integer::{Integer, Leaf};
use crate::layout::Layout;
use crate::stride::Stride;
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;
use crate::tuple::Tuple;
use crate::xor_map::XorMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Any operand or result of an operation, of numbers or of run-time integers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<I: Integer = i64> {
    /// An integer, which can also be a shape, a coordinate or a tiler of rank 1.
    Int(I::Sum),
    /// The answer of operations such as `is_injective`.
    Bool(bool),
    /// A tuple of integers, which can also be a shape, a coordinate or a tiler.
    Tuple(Tuple<I::Sum>),
    /// A coordinate: a tuple with at least one `_`.
    Coord(Tuple<Option<I::Sum>>),
    /// A stride in a coordinate space such as `1@0`, or a tuple that contains one.
    Stride(Stride<I>),
    /// A layout without a swizzle. A shape alone is [`Self::Tuple`] or [`Self::Int`].
    Layout(Layout<I>),
    /// A swizzle `Sw<B,M,S>` by itself.
    Swizzle(Swizzle),
    /// A swizzle and an offset applied to the values of a layout.
    Composed(ComposedLayout<I>),
    /// A map that exclusive-ors one number for each bit of the coordinate, and is neither a layout nor a swizzle.
    XorMap(XorMap),
    /// A tiler `<...>` with one part for each mode, or `_`, which can also be a coordinate.
    Tiler(Tiler<I>),
    /// A name that an operation takes or gives, such as the major mode `K`.
    Word(String),
    /// Several results of one operation.
    List(Vec<Value<I>>),
}

impl<I: Integer> Value<I> {
    /// The kind of the value with its article, for messages: "a layout".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Int(sum) if I::number(sum).is_none() => "a run-time integer",
            Self::Int(_) => "an integer",
            Self::Bool(_) => "a truth value",
            Self::Tuple(tuple) if !tuple.leaves().all(|sum| I::number(sum).is_some()) => {
                "a tuple of run-time integers"
            }
            Self::Tuple(_) => "a tuple of integers",
            Self::Coord(_) => "a coordinate",
            Self::Stride(_) => "a stride",
            Self::Layout(_) => "a layout",
            Self::Swizzle(_) => "a swizzle",
            Self::Composed(_) => "a swizzled layout",
            Self::XorMap(_) => "a map of bits",
            Self::Tiler(_) => "a tiler",
            Self::Word(_) => "a word",
            Self::List(_) => "a list",
        }
    }

    /// A tuple as a value; a single leaf becomes an integer.
    pub(crate) fn of_sums(tuple: Tuple<I::Sum>) -> Self {
        match tuple {
            Tuple::Leaf(leaf) => Self::Int(leaf),
            Tuple::Node(_) => Self::Tuple(tuple),
        }
    }

    /// A coordinate as the simplest value: `_` alone, integers without `_`, or else a coordinate.
    pub(crate) fn of_coord(coord: Tuple<Option<I::Sum>>) -> Self {
        match coord {
            Tuple::Leaf(None) => Self::Tiler(Tiler::Keep),
            coord => coord
                .to_int_tuple()
                .map_or(Self::Coord(coord), Self::of_sums),
        }
    }

    /// A flat tuple of these numbers.
    pub(crate) fn integers(values: &[i64]) -> Self {
        Self::Tuple(
            values
                .iter()
                .map(|&value| Tuple::Leaf(value.into()))
                .collect(),
        )
    }

    /// A swizzled layout as a value; a plain layout if the swizzle changes nothing and the offset is 0.
    pub(crate) fn simplest(swizzled: ComposedLayout<I>) -> Self {
        match swizzled.as_layout() {
            Some(layout) => layout.into(),
            None => swizzled.into(),
        }
    }
}

impl<I: Integer> From<i64> for Value<I> {
    fn from(value: i64) -> Self {
        Self::Int(value.into())
    }
}

impl<I: Integer> From<Tuple<I>> for Value<I> {
    fn from(tuple: Tuple<I>) -> Self {
        Self::of_sums(tuple.map(|leaf| leaf.clone().into()))
    }
}

impl<I: Integer> From<Tuple<Option<I>>> for Value<I> {
    fn from(coord: Tuple<Option<I>>) -> Self {
        Self::of_coord(coord.map(|leaf| leaf.clone().map(I::Sum::from)))
    }
}

impl<I: Integer> From<Stride<I>> for Value<I> {
    fn from(stride: Stride<I>) -> Self {
        match stride.try_map(|leaf| leaf.as_integer().ok_or(())) {
            Ok(integers) => integers.into(),
            Err(()) => Self::Stride(stride),
        }
    }
}

impl<I: Integer> From<Tiler<I>> for Value<I> {
    fn from(tiler: Tiler<I>) -> Self {
        match tiler {
            Tiler::Layout(layout) => Self::Layout(layout),
            tiler => Self::Tiler(tiler),
        }
    }
}

macro_rules! value_from {
    ($($variant:ident($kind:ty)),*) => {$(
        impl<I: Integer> From<$kind> for Value<I> {
            fn from(value: $kind) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}
value_from!(
    Bool(bool),
    Layout(Layout<I>),
    Swizzle(Swizzle),
    Composed(ComposedLayout<I>),
    List(Vec<Value<I>>)
);

macro_rules! value_from_reference {
    ($($kind:ty),*) => {$(
        impl<I: Integer> From<&$kind> for Value<I> {
            fn from(value: &$kind) -> Self {
                value.clone().into()
            }
        }
    )*};
}
value_from_reference!(Tuple<I>, Layout<I>, ComposedLayout<I>, Tiler<I>);

impl<I: Integer> fmt::Display for Value<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt_operand(f),
            Self::Bool(value) => value.fmt(f),
            Self::Tuple(value) => value.fmt(f),
            Self::Coord(value) => value.fmt(f),
            Self::Stride(value) => value.fmt(f),
            Self::Layout(value) => value.fmt(f),
            Self::Swizzle(value) => value.fmt(f),
            Self::Composed(value) => value.fmt(f),
            Self::XorMap(value) => value.fmt(f),
            Self::Tiler(value) => value.fmt(f),
            Self::Word(value) => value.fmt(f),
            Self::List(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}
