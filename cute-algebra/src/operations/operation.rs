//! What a row of the table of operations says.

use super::args::Args;
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::overhang::Overhang;
use crate::symbolic::{Scope, Term};
use crate::value::Value;
use std::ops::RangeInclusive;

/// An operation of the notation.
pub struct Operation {
    /// Its name, CuTe's where CuTe has it.
    pub name: &'static str,
    /// Its operands: `[…]` may be left out, `…` may be repeated. Alternatives with a capital, `operation` and `copy`
    /// are names that are not values by themselves.
    pub signature: &'static str,
    /// How many operands it takes.
    pub counts: RangeInclusive<usize>,
    /// What it gives.
    pub doc: &'static str,
    /// Whether there is a ragged form.
    pub ragged: bool,
    pub(crate) run: Run,
}

impl Operation {
    /// Whether operand `index` is a name that is not a value by itself, such as `K` or `SM75_U32x4_LDSM_N`.
    pub fn takes_word(&self, index: usize) -> bool {
        let operand = self.signature.split(", ").nth(index).unwrap_or_default();
        let is_alternative = operand.contains(" | ") && operand.starts_with(char::is_uppercase);
        is_alternative || matches!(operand, "operation" | "copy")
    }

    /// The error of a call with `found` operands; it is about the first that is too much, or where one is missing.
    fn wrong_count(&self, found: usize) -> LayoutError {
        ErrorKind::ArgumentCount {
            operation: self.name,
            signature: self.signature,
            counts: self.counts.clone(),
            found,
        }
        .at(Place::operand(found.min(*self.counts.end())))
    }

    /// What to do past the end, if that many operands are right.
    pub(super) fn overhang(&self, operands: usize, ragged: bool) -> Result<Overhang, LayoutError> {
        match ragged {
            _ if !self.counts.contains(&operands) => Err(self.wrong_count(operands)),
            true if !self.ragged => Err(ErrorKind::NotRagged.at(Place::default())),
            true => Ok(Overhang::Ragged),
            false => Ok(Overhang::Strict),
        }
    }
}

/// How an operation is done.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// In the same way on numbers and on run-time integers.
    Both(OnNumbers, AtRunTime),
    /// On numbers only, and why.
    Numbers(OnNumbers, &'static str),
}

type OnNumbers = fn(&mut Args<'_, Numbers>, Overhang) -> Result<Value, LayoutError>;
type AtRunTime = fn(&mut Args<'_, Scope>, Overhang) -> Result<Value<Term>, LayoutError>;
