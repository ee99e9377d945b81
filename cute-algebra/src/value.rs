//! What the notation evaluates to, and what operations take and give.

use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::stride::Stride;
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;
use crate::tuple::{Coord, IntTuple};
use crate::xor_map::XorMap;
use std::fmt;

/// Any operand or result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// An integer: also a shape, a coordinate and a tiler of rank 1.
    Int(i64),
    /// Yes or no.
    Bool(bool),
    /// A tuple of integers: also a coordinate, and a tiler that is a shape.
    Tuple(IntTuple),
    /// A tuple with at least one `_`: a coordinate.
    Coord(Coord),
    /// A stride in a coordinate space, or a tuple with one.
    Stride(Stride),
    /// A layout.
    Layout(Layout),
    /// A swizzle.
    Swizzle(Swizzle),
    /// A swizzle after a layout.
    Composed(ComposedLayout),
    /// A map of bits that is neither a layout nor a swizzle.
    XorMap(XorMap),
    /// A tiler by mode, or `_`, which is a coordinate too.
    Tiler(Tiler),
    /// A name that is not a value by itself, such as an element type or a major mode.
    Word(String),
    /// Several values.
    List(Vec<Value>),
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "an integer",
            Self::Bool(_) => "a truth value",
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
}

macro_rules! value_from {
    ($($variant:ident($kind:ty)),*) => {$(
        impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}
value_from!(
    Int(i64),
    Bool(bool),
    Layout(Layout),
    Swizzle(Swizzle),
    Composed(ComposedLayout),
    List(Vec<Value>)
);

impl From<IntTuple> for Value {
    fn from(tuple: IntTuple) -> Self {
        match tuple {
            IntTuple::Leaf(leaf) => Self::Int(leaf),
            IntTuple::Node(_) => Self::Tuple(tuple),
        }
    }
}

impl From<Stride> for Value {
    fn from(stride: Stride) -> Self {
        let mut integers = true;
        let tuple: IntTuple = stride.map(|leaf| {
            integers &= leaf.as_integer().is_some();
            leaf.value()
        });
        match integers {
            true => tuple.into(),
            false => Self::Stride(stride),
        }
    }
}

impl From<Coord> for Value {
    fn from(coord: Coord) -> Self {
        match coord {
            Coord::Leaf(None) => Self::Tiler(Tiler::Keep),
            coord => coord.to_int_tuple().map_or(Self::Coord(coord), Self::from),
        }
    }
}

impl From<Tiler> for Value {
    fn from(tiler: Tiler) -> Self {
        match tiler {
            Tiler::Layout(layout) => Self::Layout(layout),
            tiler => Self::Tiler(tiler),
        }
    }
}

macro_rules! value_from_reference {
    ($($kind:ty),*) => {$(
        impl From<&$kind> for Value {
            fn from(value: &$kind) -> Self {
                value.clone().into()
            }
        }
    )*};
}
value_from_reference!(IntTuple, Coord, Layout, ComposedLayout, Tiler);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
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
