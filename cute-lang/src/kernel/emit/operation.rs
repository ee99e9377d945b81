//! Operations and comparisons of integers.

use cute_ptx::claims::Order;
use cute_ptx::table::{Modifier, Opcode};

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
    /// The opcode of the operation.
    pub fn opcode(self) -> Opcode {
        match self {
            Op::Add => Opcode::Add,
            Op::Sub => Opcode::Sub,
            Op::Mul => Opcode::Mul,
            Op::Div => Opcode::Div,
            Op::Rem => Opcode::Rem,
            Op::And => Opcode::And,
            Op::Or => Opcode::Or,
            Op::Xor => Opcode::Xor,
            Op::Shl => Opcode::Shl,
            Op::Shr => Opcode::Shr,
            Op::Min => Opcode::Min,
            Op::Max => Opcode::Max,
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
    pub fn modifier(self) -> Modifier {
        match self {
            Cmp::Eq => Modifier::Eq,
            Cmp::Ne => Modifier::Ne,
            Cmp::Lt => Modifier::Lt,
            Cmp::Le => Modifier::Le,
            Cmp::Gt => Modifier::Gt,
            Cmp::Ge => Modifier::Ge,
        }
    }
}

/// The exact result for known integers, or the reason why there is none.
pub fn fold(op: Op, a: i128, b: i128) -> std::result::Result<i128, &'static str> {
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
