//! What an expression of the kernel language evaluates to.
//!
//! A kernel is interpreted once per instance. Integers, truth values, tuples, element types and layouts are known
//! while that happens and are plain data here; everything else stands for something that exists when the kernel runs:
//! a [`Scalar`] is a register, a tensor is an address and a layout, a fragment is a list of registers. An integer that
//! may be either is a [`Num`], on which [`Builder`](super::builder::Builder) does arithmetic: it folds constants and
//! emits instructions for the rest.

use super::barrier::{Barrier, Barriers};
use super::fragment::Fragment;
use super::tensor::{Global, Tensor};
use super::tma::TmaTensor;
use cute_algebra::{Coord, IntTuple, Tiler, Tuple};
use cute_ptx::ast::{Operand, Type};

/// Any value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `()`.
    Unit,
    /// An integer known at expansion, and its type where one is written: `5u8`, `x as u8`. One without a type is of any type
    /// that holds it.
    Int(i128, Option<Type>),
    /// A floating-point number known at expansion.
    Float(f64),
    /// A truth value known at expansion.
    Bool(bool),
    /// A string literal.
    Str(String),
    /// A word that selects something, such as `K` or `SW128`.
    Word(&'static str),
    /// An element type.
    Element(Element),
    /// `_`: the whole mode.
    Wild,
    /// `a..b`.
    Range(Num, Num),
    /// A tuple of rank two or more, or of rank one as `(x,)`.
    Tuple(Vec<Value>),
    /// A layout, swizzled layout, swizzle, tiler or stride. Never an integer, truth value or tuple of integers:
    /// [`Value::from_algebra`] makes those variants of their own.
    Algebra(cute_algebra::Value),
    /// A register.
    Scalar(Scalar),
    /// `&mut x`: the register of the caller's variable.
    Reference(Box<Value>),
    /// A tile of shared memory.
    Tensor(Tensor),
    /// A tensor parameter that is accessed element by element.
    Global(Global),
    /// Registers of this thread, or its part of a tile held by several threads.
    Fragment(Fragment),
    /// Several mbarriers.
    Barriers(Barriers),
    /// One mbarrier.
    Barrier(Barrier),
    /// A tensor parameter that is accessed by TMA.
    TmaTensor(TmaTensor),
}

/// A virtual register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its name, with `%`.
    pub name: String,
    /// How its bits are read: `u32` rather than `b32`.
    pub ty: Type,
    /// Whether it is a `let mut` variable, which later statements may change. Whoever keeps such a value past the
    /// expression in which it was read keeps a copy: [`Builder::snapshot`](super::builder::Builder::snapshot).
    pub variable: bool,
}

/// An integer known at expansion, or a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Num {
    /// Known.
    Const(i128),
    /// In a register.
    Reg(Scalar),
}

/// The type of a tensor's elements.
pub use cute_hopper::ElementType as Element;

/// The type of that name, if tensors hold its elements.
pub fn element_type(name: &str) -> Option<Element> {
    Element::from_name(name).filter(|element| element.rust().is_some())
}

impl Scalar {
    /// The register as an operand.
    pub fn operand(&self) -> Operand {
        Operand::Name(self.name.clone())
    }
}

impl Num {
    /// The integer, where it is known.
    pub fn constant(&self) -> Option<i128> {
        match self {
            Num::Const(value) => Some(*value),
            Num::Reg(_) => None,
        }
    }

    /// Its operand: an immediate or a register.
    pub fn operand(&self) -> Operand {
        match self {
            Num::Const(value) => Operand::Int(*value),
            Num::Reg(scalar) => scalar.operand(),
        }
    }
}

impl From<i128> for Num {
    fn from(value: i128) -> Self {
        Num::Const(value)
    }
}

impl From<i64> for Num {
    fn from(value: i64) -> Self {
        Num::Const(value.into())
    }
}

impl From<u32> for Num {
    fn from(value: u32) -> Self {
        Num::Const(value.into())
    }
}

impl From<usize> for Num {
    fn from(value: usize) -> Self {
        // `usize` has at most 64 bits.
        Num::Const(value as i128)
    }
}

impl From<Scalar> for Num {
    fn from(scalar: Scalar) -> Self {
        Num::Reg(scalar)
    }
}

impl Num {
    /// The value, of that type where it is known and has one.
    pub fn typed(self, ty: Option<Type>) -> Value {
        match self {
            Num::Const(value) => Value::Int(value, ty),
            Num::Reg(scalar) => Value::Scalar(scalar),
        }
    }
}

impl From<Num> for Value {
    fn from(num: Num) -> Self {
        num.typed(None)
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        Value::Scalar(scalar)
    }
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> String {
        match self {
            Value::Unit => "`()`".into(),
            Value::Int(value, ty) => format!("the integer {value}{}", ty.map_or("", rust_name)),
            Value::Float(value) => format!("the number {value}"),
            Value::Bool(value) => format!("`{value}`"),
            Value::Str(_) => "a string".into(),
            Value::Word(word) => format!("`{word}`"),
            Value::Element(element) => format!("the type `{element}`"),
            Value::Wild => "`_`".into(),
            Value::Range(..) => "a range".into(),
            Value::Tuple(elements) => format!("a tuple of {}", elements.len()),
            Value::Algebra(value) => format!("{} `{value}`", value.kind()),
            Value::Scalar(scalar) => format!("a run-time `{}`", rust_name(scalar.ty)),
            Value::Reference(value) => format!("a `&mut` to {}", value.kind()),
            Value::Tensor(_) => "a tensor in shared memory".into(),
            Value::Global(_) => "a tensor in global memory".into(),
            Value::Fragment(_) => "a fragment".into(),
            Value::Barriers(_) => "several barriers".into(),
            Value::Barrier(_) => "a barrier".into(),
            Value::TmaTensor(_) => "a tensor map".into(),
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

    /// The type of the integer, where it has one.
    pub fn integer_type(&self) -> Option<Type> {
        match self {
            Value::Int(_, ty) => *ty,
            Value::Scalar(scalar) if is_integer(scalar.ty) => Some(scalar.ty),
            _ => None,
        }
    }

    /// The value in the algebra's terms: `None` for what exists only when the kernel runs.
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

    /// The coordinate, where every leaf is a known integer or `_`.
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

    /// The value that an operation of the algebra gave.
    pub fn from_algebra(value: cute_algebra::Value) -> Value {
        match value {
            cute_algebra::Value::Int(value) => Value::Int(value.into(), None),
            cute_algebra::Value::Bool(value) => Value::Bool(value),
            cute_algebra::Value::Tuple(tuple) => from_int_tuple(&tuple),
            cute_algebra::Value::List(values) => {
                Value::Tuple(values.into_iter().map(Value::from_algebra).collect())
            }
            value => Value::Algebra(value),
        }
    }

    /// How many values there are in a tuple, with those in the tuples in it, and how deep they nest.
    pub fn extent(&self) -> (usize, usize) {
        let Value::Tuple(values) = self else {
            return (1, 0);
        };
        let parts = values.iter().map(Value::extent);
        parts.fold((0, 1), |(size, depth), (inner, deep)| {
            (size + inner, depth.max(deep + 1))
        })
    }

    /// Calls `f` on every register in the value.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        match self {
            Value::Scalar(scalar) => f(scalar),
            Value::Range(start, end) => {
                for bound in [start, end] {
                    if let Num::Reg(scalar) = bound {
                        f(scalar);
                    }
                }
            }
            Value::Tuple(elements) => elements
                .iter_mut()
                .for_each(|element| element.for_each_scalar_mut(f)),
            Value::Tensor(tensor) => tensor.for_each_scalar_mut(f),
            Value::Barrier(barrier) => barrier.for_each_scalar_mut(f),
            // A reference aliases on purpose, and so does a fragment: it *is* its registers.
            Value::Reference(_) | Value::Fragment(_) => {}
            Value::Unit
            | Value::Int(..)
            | Value::Float(_)
            | Value::Bool(_)
            | Value::Str(_)
            | Value::Word(_) => {}
            Value::Element(_)
            | Value::Wild
            | Value::Barriers(_)
            | Value::Algebra(_)
            | Value::Global(_)
            | Value::TmaTensor(_) => {}
        }
    }
}

fn from_int_tuple(tuple: &IntTuple) -> Value {
    match tuple {
        Tuple::Leaf(value) => Value::Int((*value).into(), None),
        Tuple::Node(modes) => Value::Tuple(modes.iter().map(from_int_tuple).collect()),
    }
}

/// Whether registers of this type hold integers.
pub fn is_integer(ty: Type) -> bool {
    is_signed(ty) || matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64)
}

/// Whether registers of this type hold signed integers.
pub fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

/// Whether registers of this type hold floating-point numbers.
pub fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
}

/// The type by which instructions compute with registers of this type. PTX computes with 16 bits at least: a register of an
/// 8-bit type has 16, and holds the value with zeros or its sign above.
pub fn instruction_type(ty: Type) -> Type {
    match ty {
        Type::U8 => Type::U16,
        Type::S8 => Type::S16,
        ty => ty,
    }
}

/// The least and the greatest integer of a type.
pub fn range(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    match is_signed(ty) {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// The integer that `value as ty` is.
pub fn wrap(value: i128, ty: Type) -> i128 {
    let bits = ty.bits();
    let low = value & ((1 << bits) - 1);
    if is_signed(ty) && low >> (bits - 1) == 1 {
        low - (1 << bits)
    } else {
        low
    }
}

/// The Rust name of a register's type.
pub fn rust_name(ty: Type) -> &'static str {
    match ty {
        Type::Pred => "bool",
        Type::S8 => "i8",
        Type::S16 => "i16",
        Type::S32 => "i32",
        Type::S64 => "i64",
        ty => ty.name(),
    }
}

/// The register type of that Rust name.
pub fn register_type(name: &str) -> Option<Type> {
    match name {
        "bool" => Some(Type::Pred),
        name => element_type(name).map(Type::of),
    }
}
