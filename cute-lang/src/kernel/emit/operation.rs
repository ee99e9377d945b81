//! Operations and comparisons of integers.

use crate::kernel::value::types::{is_float, single_type};
use cute_ptx::ast::Type;
use cute_ptx::claims::Order;
use cute_ptx::table::choice::{Comparison, Half, Rounding};
use cute_ptx::table::{Found, Mnemonic, op};

/// An operation on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Op {
    /// The instruction for integers of a type, and of bits for predicates, too.
    pub fn on_integers(self, ty: Type) -> Found {
        let bits = ty.untyped();
        match self {
            Op::Add => Mnemonic::new(op::Add, ty),
            Op::Sub => Mnemonic::new(op::Sub, ty),
            Op::Mul => Mnemonic::new(op::Mul, (Half::Lo, ty)),
            Op::Div => Mnemonic::new(op::Div, ty),
            Op::Rem => Mnemonic::new(op::Rem, ty),
            Op::And => Mnemonic::new(op::And, bits),
            Op::Or => Mnemonic::new(op::Or, bits),
            Op::Xor => Mnemonic::new(op::Xor, bits),
            Op::Shl => Mnemonic::new(op::Shl, bits),
            Op::Shr => Mnemonic::new(op::Shr, ty),
            Op::Min => Mnemonic::new(op::Min, ty),
            Op::Max => Mnemonic::new(op::Max, ty),
        }
    }

    /// The instruction for floating-point numbers of a type, or pairs of them; `None` if there is none. Without `.rn`, ptxas may fuse a
    /// product and a sum, unlike Rust.
    pub fn on_floats(self, ty: Type) -> Option<Found> {
        let rounded = (Rounding::Rn, ty);
        match self {
            _ if !is_float(single_type(ty)) => None,
            Op::Add => Some(Mnemonic::new(op::Add, rounded)),
            Op::Sub => Some(Mnemonic::new(op::Sub, rounded)),
            Op::Mul => Some(Mnemonic::new(op::Mul, rounded)),
            Op::Div => matches!(ty, Type::F32 | Type::F64).then(|| Mnemonic::new(op::Div, rounded)),
            Op::Min => Some(Mnemonic::new(op::Min, ty)),
            Op::Max => Some(Mnemonic::new(op::Max, ty)),
            Op::Rem | Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr => None,
        }
    }
}

impl Cmp {
    /// Whether `a cmp b`.
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Cmp::Eq => a == b,
            Cmp::Ne => a != b,
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
            Cmp::Gt => a > b,
            Cmp::Ge => a >= b,
        }
    }

    /// As claims have it, with the symbol that Rust writes.
    pub fn order(self) -> Order {
        match self {
            Cmp::Eq => Order::Equal,
            Cmp::Ne => Order::Different,
            Cmp::Lt => Order::Less,
            Cmp::Le => Order::LessOrEqual,
            Cmp::Gt => Order::Greater,
            Cmp::Ge => Order::GreaterOrEqual,
        }
    }

    /// The modifier of `setp` for it.
    pub fn modifier(self) -> Comparison {
        match self {
            Cmp::Eq => Comparison::Eq,
            Cmp::Ne => Comparison::Ne,
            Cmp::Lt => Comparison::Lt,
            Cmp::Le => Comparison::Le,
            Cmp::Gt => Comparison::Gt,
            Cmp::Ge => Comparison::Ge,
        }
    }
}

/// The exact result for known integers, or the reason why there is none.
pub fn fold(op: Op, a: i128, b: i128) -> Result<i128, &'static str> {
    let shift = || {
        u32::try_from(b)
            .ok()
            .filter(|&amount| amount < 127)
            .ok_or("shifts by an amount out of 0..127")
    };
    let result = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        Op::Div | Op::Rem if b == 0 => return Err("divides by zero"),
        Op::Div => a.checked_div(b),
        Op::Rem => a.checked_rem(b),
        Op::And => Some(a & b),
        Op::Or => Some(a | b),
        Op::Xor => Some(a ^ b),
        Op::Shl => 1i128
            .checked_shl(shift()?)
            .and_then(|factor| a.checked_mul(factor)),
        Op::Shr => Some(a >> shift()?),
        Op::Min => Some(a.min(b)),
        Op::Max => Some(a.max(b)),
    };
    result.ok_or("overflows 128 bits")
}

/// How messages write the operation.
pub fn symbol(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::Min => "min",
        Op::Max => "max",
    }
}

/// The comparison with its operands exchanged.
pub fn mirror(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Lt => Cmp::Gt,
        Cmp::Le => Cmp::Ge,
        Cmp::Gt => Cmp::Lt,
        Cmp::Ge => Cmp::Le,
        cmp => cmp,
    }
}
