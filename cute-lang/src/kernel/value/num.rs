//! Registers, and integers that are known or in a register.

use super::number_type::Class;
use crate::kernel::ir::{Operand, Register};
use cute_ptx::ast::Type;

/// A virtual register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The register.
    pub register: Register,
    /// The type of the bits, such as `u32`, not the declared type, such as `b32`.
    pub ty: Type,
    /// The class of numbers that determines the type, if no use has determined it yet.
    pub class: Option<Class>,
    /// Whether it is a `let mut` variable, which later statements may change. Code that keeps the value longer than one expression must
    /// keep a copy, by `Builder::snapshot`.
    pub variable: bool,
    /// The number of the `let` that gave another name to a fragment with this register, or 0.
    pub renamed: u32,
}

/// An integer known at expansion, or a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Num {
    /// Known.
    Const(i128),
    /// In a register.
    Reg(Scalar),
}

impl Scalar {
    /// A register of a type that is no variable.
    pub fn new(register: Register, ty: Type) -> Self {
        Self {
            register,
            ty,
            class: None,
            variable: false,
            renamed: 0,
        }
    }

    /// The register as an operand, by its name.
    pub fn operand(&self) -> Operand {
        match self.renamed {
            0 => Operand::Register(self.register),
            number => Operand::Renamed(self.register, number),
        }
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

    /// The operand: an immediate or a register.
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
