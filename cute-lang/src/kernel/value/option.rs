//! `Some(…)` and `None`.

use super::Value;
use super::num::Scalar;

/// An `Option`. Whether it holds a value may be known only when the kernel runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Optional {
    /// Whether it is `Some`.
    pub is_some: Truth,
    /// The value, if it can be `Some`.
    pub value: Option<Box<Value>>,
}

/// A truth value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Known at expansion.
    Known(bool),
    /// In a predicate.
    Predicate(Scalar),
}

impl Truth {
    /// A truth value from a value.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Known(*value)),
            Value::Scalar(scalar) if scalar.ty == cute_ptx::ast::Type::Pred => {
                Some(Self::Predicate(scalar.clone()))
            }
            _ => None,
        }
    }
}

impl From<Truth> for Value {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::Known(value) => Value::Bool(value),
            Truth::Predicate(scalar) => Value::Scalar(scalar),
        }
    }
}
