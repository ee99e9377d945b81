//! Values of a kernel as values of the algebra, and back.

use super::{NumberType, Value};
use cute_algebra::{Coord, IntTuple, Tiler, Tuple};

impl Value {
    /// The value as a value of the algebra; `None` for a value that exists only at run time.
    pub fn to_algebra(&self) -> Option<cute_algebra::Value> {
        Some(match self {
            Value::Int(value, _) => cute_algebra::Value::Int(i64::try_from(*value).ok()?),
            Value::Bool(value) => cute_algebra::Value::Bool(*value),
            Value::Word(word) => cute_algebra::Value::Word((*word).into()),
            Value::Element(element) => cute_algebra::Value::Word(element.name().into()),
            Value::Algebra(value) => value.clone(),
            Value::Wild => Coord::Leaf(None).into(),
            Value::Tuple(elements) => match self.to_coord() {
                Some(coord) => coord.into(),
                None => Tiler::Modes(
                    elements
                        .iter()
                        .map(Value::to_tiler)
                        .collect::<Option<_>>()?,
                )
                .into(),
            },
            _ => return None,
        })
    }

    /// The value as a coordinate, if every leaf is a known integer or `_`.
    pub fn to_coord(&self) -> Option<Coord> {
        Some(match self {
            Value::Int(value, _) => Tuple::Leaf(Some(i64::try_from(*value).ok()?)),
            Value::Wild => Tuple::Leaf(None),
            Value::Tuple(elements) => Tuple::Node(
                elements
                    .iter()
                    .map(Value::to_coord)
                    .collect::<Option<_>>()?,
            ),
            _ => return None,
        })
    }

    fn to_tiler(&self) -> Option<Tiler> {
        Some(match self.to_algebra()? {
            cute_algebra::Value::Int(value) => Tiler::from_shape(&Tuple::Leaf(value)).ok()?,
            cute_algebra::Value::Tuple(shape) => Tiler::from_shape(&shape).ok()?,
            cute_algebra::Value::Layout(layout) => Tiler::Layout(layout),
            cute_algebra::Value::Tiler(tiler) => tiler,
            _ => return None,
        })
    }

    /// A value of the algebra as a value of a kernel.
    pub fn from_algebra(value: cute_algebra::Value) -> Value {
        match value {
            cute_algebra::Value::Int(value) => Value::Int(value.into(), NumberType::Any),
            cute_algebra::Value::Bool(value) => Value::Bool(value),
            cute_algebra::Value::Tuple(tuple) => from_int_tuple(&tuple),
            cute_algebra::Value::List(values) => {
                Value::Tuple(values.into_iter().map(Value::from_algebra).collect())
            }
            value => Value::Algebra(value),
        }
    }
}

fn from_int_tuple(tuple: &IntTuple) -> Value {
    match tuple {
        Tuple::Leaf(value) => Value::Int((*value).into(), NumberType::Any),
        Tuple::Node(modes) => Value::Tuple(modes.iter().map(from_int_tuple).collect()),
    }
}
