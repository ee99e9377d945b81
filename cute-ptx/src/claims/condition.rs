//! Comparisons of registers and numbers.

use super::Malformed;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Several comparisons, of which all hold (`&&`), or at least one (`||`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition<R = String> {
    /// Whether one true comparison suffices.
    pub any: bool,
    /// The comparisons: one or more.
    pub comparisons: Vec<Comparison<R>>,
}

/// `%r3 + 8 < %n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison<R = String> {
    /// The left side.
    pub left: Sum<R>,
    /// How the sides compare.
    pub order: Order,
    /// The right side.
    pub right: Sum<R>,
}

/// How the two sides of a comparison compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `==`
    Equal,
    /// `!=`
    Different,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// The sum of a register, if there is one, and a known number: `%r3 + 8`, `s32 %r3`, `8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum<R = String> {
    /// Whether the register is a signed number of 32 bits.
    pub signed: bool,
    /// The register.
    pub register: Option<R>,
    /// The number.
    pub number: i128,
}

impl Order {
    /// Each order with its symbol.
    const ALL: [(&str, Order); 6] = [
        ("==", Order::Equal),
        ("!=", Order::Different),
        ("<", Order::Less),
        ("<=", Order::LessOrEqual),
        (">", Order::Greater),
        (">=", Order::GreaterOrEqual),
    ];

    /// The symbol, as in Rust.
    pub fn symbol(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, order)| *order == self);
        found.map_or("", |(symbol, _)| symbol)
    }
}

impl Condition {
    /// Whether a text begins like one: with a register or a number.
    pub(super) fn begins(text: &str) -> bool {
        let text = text.strip_prefix("s32 ").unwrap_or(text);
        text.starts_with(|c: char| c == '%' || c.is_ascii_digit())
    }
}

impl<R> Condition<R> {
    /// The same condition, with other names of its registers.
    pub fn map<S>(&self, name: &mut impl FnMut(&R) -> S) -> Condition<S> {
        let comparisons = self.comparisons.iter();
        let comparisons = comparisons.map(|comparison| Comparison {
            left: comparison.left.map(name),
            order: comparison.order,
            right: comparison.right.map(name),
        });
        Condition {
            any: self.any,
            comparisons: comparisons.collect(),
        }
    }
}

impl<R: Display> Display for Condition<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for comparison in &self.comparisons {
            write!(f, "{separator}{comparison}")?;
            separator = if self.any { " || " } else { " && " };
        }
        Ok(())
    }
}

impl FromStr for Condition {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let any = text.contains(" || ");
        let comparisons = text.split(if any { " || " } else { " && " });
        Ok(Self {
            any,
            comparisons: comparisons.map(str::parse).collect::<Result<_, _>>()?,
        })
    }
}

impl<R: Display> Display for Comparison<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.order.symbol(), self.right)
    }
}

impl FromStr for Comparison {
    type Err = Malformed;

    /// A register that is signed and one that is not are not compared.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let read = || {
            let (left, order, right) = Order::ALL.iter().find_map(|(symbol, order)| {
                let (left, right) = text.split_once(&format!(" {symbol} "))?;
                Some((left, *order, right))
            })?;
            let (left, right): (Sum, Sum) = (left.parse().ok()?, right.parse().ok()?);
            let of_registers = left.register.is_some() && right.register.is_some();
            (!of_registers || left.signed == right.signed).then_some(Self { left, order, right })
        };
        read().ok_or_else(|| Malformed {
            text: text.to_owned(),
            like: "a condition, such as `%i + 1 < %n`",
        })
    }
}

impl<R> Sum<R> {
    /// A register, and a known number that is added to it.
    pub fn new(register: R, number: i128) -> Self {
        Self {
            signed: false,
            register: Some(register),
            number,
        }
    }

    /// A known number.
    pub fn known(number: i128) -> Self {
        Self {
            signed: false,
            register: None,
            number,
        }
    }

    /// The same sum, with another name of its register.
    pub fn map<S>(&self, name: &mut impl FnMut(&R) -> S) -> Sum<S> {
        Sum {
            signed: self.signed,
            register: self.register.as_ref().map(name),
            number: self.number,
        }
    }
}

impl<R: Display> Display for Sum<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.signed { "s32 " } else { "" };
        match &self.register {
            None => write!(f, "{sign}{}", self.number),
            Some(register) if self.number == 0 => write!(f, "{sign}{register}"),
            Some(register) => write!(f, "{sign}{register} + {}", self.number),
        }
    }
}

impl FromStr for Sum {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let malformed = || Malformed {
            text: text.to_owned(),
            like: "a sum, such as `%i + 8`",
        };
        let (signed, sum) = match text.strip_prefix("s32 ") {
            Some(sum) => (true, sum),
            None => (false, text),
        };
        let (register, number) = match sum.split_once(" + ") {
            Some((register, number)) => (Some(register), number.parse().map_err(|_| malformed())?),
            None => match sum.parse() {
                Ok(number) => (None, number),
                Err(_) => (Some(sum), 0),
            },
        };
        let is_register = |name: &str| {
            let rest = name.strip_prefix('%').unwrap_or_default();
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_$.".contains(c))
        };
        match register.is_none_or(is_register) {
            true => Ok(Self {
                signed,
                register: register.map(str::to_owned),
                number,
            }),
            false => Err(malformed()),
        }
    }
}
