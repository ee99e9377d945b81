//! Decoded operands: their names become rows of the register file.

use crate::op::{Address, Reg};

/// The error is a message about a feature that is not modelled.
pub(super) type Result<T> = std::result::Result<T, String>;

/// A decoded operand.
#[derive(Debug)]
pub(super) enum Arg {
    /// A register, a constant, a special register, or the address of a variable.
    Row(Reg),
    /// A vector.
    Rows(Box<[Reg]>),
    /// `d|p`: a destination and a predicate.
    Pair([Reg; 2]),
    Address(Address),
    /// A tensor map and coordinates.
    Tile(Address, Box<[Reg]>),
    /// An integer that must be a constant, such as the number of pending groups of a wait.
    Int(i128),
    /// A label, or a `_` for an unused operand.
    Nothing,
}

impl Arg {
    pub(super) fn row(self) -> Result<Reg> {
        match self {
            Arg::Row(row) => Ok(row),
            other => other.unexpected("a register"),
        }
    }

    /// The elements of a vector, or a single row as a vector of one.
    pub(super) fn rows(self) -> Result<Box<[Reg]>> {
        match self {
            Arg::Row(row) => Ok([row].into()),
            Arg::Rows(rows) => Ok(rows),
            other => other.unexpected("registers"),
        }
    }

    /// The registers of an operand that is no address.
    pub(super) fn registers(&self) -> &[Reg] {
        match self {
            Arg::Row(row) => std::slice::from_ref(row),
            Arg::Rows(rows) => rows,
            Arg::Pair(pair) => pair,
            Arg::Address(_) | Arg::Tile(..) | Arg::Int(_) | Arg::Nothing => &[],
        }
    }

    /// A destination, and the predicate of `d|p` if there is one.
    pub(super) fn pair(self) -> Result<(Reg, Option<Reg>)> {
        match self {
            Arg::Row(row) => Ok((row, None)),
            Arg::Pair([first, second]) => Ok((first, Some(second))),
            other => other.unexpected("a destination"),
        }
    }

    pub(super) fn address(self) -> Result<Address> {
        match self {
            Arg::Address(address) => Ok(address),
            other => other.unexpected("an address"),
        }
    }

    pub(super) fn int(self) -> Result<i128> {
        match self {
            Arg::Int(value) => Ok(value),
            other => other.unexpected("a number"),
        }
    }

    fn unexpected<T>(self, expected: &str) -> Result<T> {
        Err(format!("expected {expected}, found {self:?}"))
    }
}

/// The operands as an array, if there are `N`.
pub(super) fn take<const N: usize>(args: Vec<Arg>) -> Result<[Arg; N]> {
    let found = args.len();
    args.try_into()
        .map_err(|_| format!("expected {N} operands, found {found}"))
}

/// The operand of a `wait_group`: the number of groups that may stay pending.
pub(super) fn pending(args: Vec<Arg>) -> Result<u64> {
    let [value] = take(args)?;
    let value = value.int()?;
    u64::try_from(value).map_err(|_| format!("the number of pending groups, {value}, is negative"))
}
