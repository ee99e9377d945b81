//! Operands of instructions.

use super::Register;

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A register by the name that the `let` with this number has given to its fragment. Only an instruction that is being appended has
    /// such operands.
    Renamed(Register, u32),
    /// A special register (`%tid.x`), a variable, a parameter or a label.
    Symbol(String),
    /// An integer constant.
    Int(i128),
    /// A single-precision constant by its bits.
    F32(u32),
    /// A double-precision constant by its bits.
    F64(u64),
    /// A vector: `{a, b, …}`.
    Vector(Vec<Operand>),
    /// An address: `[base]` or `[base+offset]`.
    Address {
        /// A register, a symbol or an integer.
        base: Box<Operand>,
        /// The number of bytes added to the base.
        offset: i64,
    },
    /// Coordinates in a tensor: `[map, {c0, c1, …}]`.
    Tensor {
        /// A register that holds the generic address of the tensor map.
        map: Box<Operand>,
        /// The coordinates in elements, innermost dimension first.
        coords: Vec<Operand>,
    },
    /// Two destinations as one operand: `d|p`.
    Pair(Box<Operand>, Box<Operand>),
    /// A destination whose value is discarded: `_`.
    Sink,
}

impl Operand {
    /// The register, if it is one.
    pub fn register(&self) -> Option<Register> {
        match self {
            Operand::Register(register) | Operand::Renamed(register, _) => Some(*register),
            _ => None,
        }
    }

    /// Calls `f` with every register in the operand, and with the number of the `let` that has renamed it, or 0.
    pub fn for_each_name(&self, f: &mut impl FnMut(Register, u32)) {
        match self {
            Operand::Register(register) => f(*register, 0),
            Operand::Renamed(register, by) => f(*register, *by),
            operand => {
                for part in operand.parts() {
                    part.for_each_name(f);
                }
            }
        }
    }

    /// Calls `f` with every register in the operand.
    pub fn for_each_register(&self, f: &mut impl FnMut(Register)) {
        self.for_each_name(&mut |register, _| f(register));
    }

    /// Replaces the numbers of `let`s: the operand has registers alone.
    pub fn forget_names(&mut self) {
        match self {
            Operand::Renamed(register, _) => *self = Operand::Register(*register),
            Operand::Vector(parts) => parts.iter_mut().for_each(Operand::forget_names),
            Operand::Address { base, .. } => base.forget_names(),
            Operand::Tensor { map, coords } => {
                map.forget_names();
                coords.iter_mut().for_each(Operand::forget_names);
            }
            Operand::Pair(first, second) => {
                first.forget_names();
                second.forget_names();
            }
            Operand::Register(_)
            | Operand::Symbol(_)
            | Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Sink => {}
        }
    }

    /// The operands of which it consists, in order.
    fn parts(&self) -> Vec<&Operand> {
        match self {
            Operand::Vector(parts) => parts.iter().collect(),
            Operand::Address { base, .. } => vec![base],
            Operand::Tensor { map, coords } => [&**map].into_iter().chain(coords).collect(),
            Operand::Pair(first, second) => vec![first, second],
            Operand::Register(_)
            | Operand::Renamed(..)
            | Operand::Symbol(_)
            | Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Sink => Vec::new(),
        }
    }
}
