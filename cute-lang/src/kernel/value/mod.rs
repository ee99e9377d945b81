//! Values of expressions of the kernel language.
//!
//! A kernel is interpreted once per instance. Integers, truth values, tuples, element types and layouts known at expansion are plain data
//! here. All other values stand for something at run time: a [`Scalar`] is a register, a [`Tensor`] is an address and a layout, a
//! [`Fragment`] is a list of registers. A [`Num`] is an integer that is either known or in a register.

mod algebra;
mod barrier;
mod callable;
pub mod element;
mod fragment;
mod global;
mod mask;
mod num;
mod number_type;
mod option;
mod parts;
mod structure;
mod tensor;
pub mod types;

pub use barrier::{Barrier, Barriers};
pub use callable::{Callable, Closure};
pub use element::Element;
pub use fragment::{Distributed, Fragment, Held, packing, word_type};
pub use global::{Coordinates, Global, Modes, TensorId};
pub use mask::Mask;
pub use num::{Num, Scalar};
pub use number_type::{Class, NumberType};
pub use option::{Optional, Truth};
pub use structure::{Struct, StructType};
pub use tensor::{Tensor, TmaTensor};

use cute_ptx::ast::Type;
use std::rc::Rc;
use types::{is_float, is_integer, rust_name};

/// Any value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `()`.
    Unit,
    /// An integer known at expansion.
    Int(i128, NumberType),
    /// A floating-point number known at expansion, rounded to its type if the type is known.
    Float(f64, NumberType),
    /// A truth value known at expansion.
    Bool(bool),
    /// A string literal.
    Str(String),
    /// A word that selects a form, such as `K` or `SW128`.
    Word(&'static str),
    /// An element type.
    Element(Element),
    /// A struct type.
    Type(Rc<StructType>),
    /// `_`: the whole mode.
    Wild,
    /// `a..b`, and the type of the bounds.
    Range(Num, Num, NumberType),
    /// A tuple of rank two or more, or of rank one as `(x,)`.
    Tuple(Vec<Value>),
    /// An array.
    Array(Vec<Value>),
    /// A struct.
    Struct(Struct),
    /// An `Option`.
    Option(Optional),
    /// A closure or a function.
    Callable(Callable),
    /// A layout, swizzled layout, swizzle, tiler or stride. Never an integer, truth value or tuple of integers: [`Value::from_algebra`]
    /// gives these variants of their own.
    Algebra(cute_algebra::Value),
    /// A register.
    Scalar(Scalar),
    /// `&mut x`: the register of the caller's variable.
    Reference(Box<Value>),
    /// A tile of shared memory.
    Tensor(Tensor),
    /// A tensor in global memory, or a part of one.
    Global(Global),
    /// Registers of this thread, or its part of a tile held by several threads.
    Fragment(Fragment),
    /// A truth value for each value of a fragment.
    Mask(Mask),
    /// Several mbarriers.
    Barriers(Barriers),
    /// One mbarrier.
    Barrier(Barrier),
    /// A tensor parameter for TMA.
    TmaTensor(TmaTensor),
    /// The parameter with this index, which is a list.
    List(usize),
}

impl Num {
    /// The number as a value. A known integer gets the type.
    pub fn typed(self, ty: NumberType) -> Value {
        match self {
            Num::Const(value) => Value::Int(value, ty),
            Num::Reg(scalar) => Value::Scalar(scalar),
        }
    }
}

impl From<Num> for Value {
    fn from(num: Num) -> Self {
        num.typed(NumberType::Any)
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        Value::Scalar(scalar)
    }
}

impl Value {
    /// The kind of the value, for messages.
    pub fn kind(&self) -> String {
        match self {
            Value::Unit => "`()`".into(),
            Value::Int(value, ty) => format!("the integer {value}{}", ty.suffix()),
            Value::Float(value, ty) => match (value.is_finite(), ty) {
                (false, NumberType::Is(ty)) => {
                    format!("the number {value} of type `{}`", rust_name(*ty))
                }
                _ => format!("the number {}{}", decimal(*value, *ty), ty.suffix()),
            },
            Value::Bool(value) => format!("`{value}`"),
            Value::Str(_) => "a string".into(),
            Value::Word(word) => format!("`{word}`"),
            Value::Element(element) => format!("the type `{element}`"),
            Value::Type(ty) => format!("the type `{ty}`"),
            Value::Wild => "`_`".into(),
            Value::Range(..) => "a range".into(),
            Value::Tuple(elements) => format!("a tuple of {}", elements.len()),
            Value::Array(elements) => format!("an array of {}", elements.len()),
            Value::Struct(value) => format!("a `{}`", value.ty),
            Value::Option(_) => "an `Option`".into(),
            Value::Callable(Callable::Closure(_)) => "a closure".into(),
            Value::Callable(Callable::Function(_, name)) => format!("the function `{name}`"),
            Value::Algebra(value) => format!("{} `{value}`", value.kind()),
            Value::Scalar(scalar) => format!("a run-time `{}`", rust_name(scalar.ty)),
            Value::Reference(value) => format!("a `&mut` to {}", value.kind()),
            Value::Tensor(tensor) if tensor.peer.is_some() => {
                "a tensor in the shared memory of another CTA".into()
            }
            Value::Tensor(_) => "a tensor in shared memory".into(),
            Value::Global(_) => "a tensor in global memory".into(),
            Value::Fragment(_) => "a fragment".into(),
            Value::Mask(_) => "a fragment of truth values".into(),
            Value::Barriers(_) => "several barriers".into(),
            Value::Barrier(_) => "a barrier".into(),
            Value::TmaTensor(_) => "a tensor map".into(),
            Value::List(_) => "a list of parameters".into(),
        }
    }

    /// The integer, known or in a register. A predicate is none.
    pub fn as_num(&self) -> Option<Num> {
        match self {
            Value::Int(value, _) => Some(Num::Const(*value)),
            Value::Scalar(scalar) if is_integer(scalar.ty) => Some(Num::Reg(scalar.clone())),
            _ => None,
        }
    }

    /// Whether it is an integer or a floating-point number, known or in a register.
    pub fn is_number(&self) -> bool {
        match self {
            Value::Int(..) | Value::Float(..) => true,
            Value::Scalar(scalar) => is_integer(scalar.ty) || is_float(scalar.ty),
            _ => false,
        }
    }

    /// The value without the type of its integer.
    pub fn untyped(self) -> Value {
        match self {
            Value::Int(value, _) => Value::Int(value, NumberType::Any),
            value => value,
        }
    }

    /// The floating-point number, if it is known.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(value, _) => Some(*value),
            _ => None,
        }
    }

    /// The type of the integer, if it has one.
    pub fn integer_type(&self) -> Option<Type> {
        match self {
            Value::Int(_, ty) => ty.known(),
            Value::Scalar(scalar) if is_integer(scalar.ty) => Some(scalar.ty),
            _ => None,
        }
    }
}

/// A floating-point number with as many digits as its type needs.
pub fn decimal(value: f64, ty: NumberType) -> String {
    match ty {
        NumberType::Is(Type::F32) => format!("{:?}", value as f32),
        _ => format!("{value:?}"),
    }
}
