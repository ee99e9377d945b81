//! The columns of the table of operations.

use super::args::Args;
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::overhang::Overhang;
use crate::symbolic::{Scope, Term};
use crate::value::Value;
use core::ops::RangeInclusive;

/// Operations that a reader looks for together.
pub struct Group {
    /// A word.
    pub name: &'static str,
    /// What the operations do: "cut a layout into tiles".
    pub doc: &'static str,
    /// The operations, from simple to special.
    pub operations: &'static [Operation],
}

/// An operation of the notation.
pub struct Operation {
    /// The name in the notation: CuTe's name if CuTe has the operation.
    pub name: &'static str,
    /// The operands. An operand in `[…]` may be left out, and the operand before `…` may be repeated. A list of
    /// alternatives with capital letters, `operation` and `copy` stand for names without a value, such as `K`.
    pub signature: &'static str,
    /// The allowed numbers of operands; up to `usize::MAX` where there is no limit.
    pub counts: RangeInclusive<usize>,
    /// What the result is, without a verb: "the number of coordinates".
    pub doc: &'static str,
    /// An example with small numbers.
    pub example: &'static str,
    /// When operands of the right kinds are an error; `None` if only numbers that are too large are.
    pub refusal: Option<Refusal>,
    /// The names of the results, where there are several; empty for a single result.
    pub results: &'static [&'static str],
    /// Whether there is a ragged form. It rounds up as CuTe does.
    pub ragged: bool,
    pub(crate) run: Run,
}

/// When an operation is an error.
pub struct Refusal {
    /// The condition, as a clause: "there is no such mode".
    pub when: &'static str,
    /// A call that is an error for this reason.
    pub example: &'static str,
}

/// A row of the table, for an operation without a ragged form.
pub(super) const fn row(
    name: &'static str,
    signature: &'static str,
    counts: RangeInclusive<usize>,
    doc: &'static str,
    example: &'static str,
    run: Run,
) -> Operation {
    Operation {
        name,
        signature,
        counts,
        doc,
        example,
        refusal: None,
        results: &[],
        ragged: false,
        run,
    }
}

/// A row of the table, for an operation with a ragged form.
pub(super) const fn ragged_row(
    name: &'static str,
    signature: &'static str,
    counts: RangeInclusive<usize>,
    doc: &'static str,
    example: &'static str,
    run: Run,
) -> Operation {
    Operation {
        ragged: true,
        ..row(name, signature, counts, doc, example, run)
    }
}

impl Operation {
    /// The same operation with the condition under which it is an error, and a call that is one.
    pub(super) const fn refuses(self, when: &'static str, example: &'static str) -> Self {
        Self {
            refusal: Some(Refusal { when, example }),
            ..self
        }
    }

    /// The same operation with names of its results.
    pub(super) const fn gives(self, results: &'static [&'static str]) -> Self {
        Self { results, ..self }
    }

    /// Whether operand `index`, counted from 0, is a name without a value, such as `K` or `SM75_U32x4_LDSM_N`.
    pub fn takes_word(&self, index: usize) -> bool {
        let operand = self.signature.split(", ").nth(index).unwrap_or_default();
        let is_alternative = operand.contains(" | ") && operand.starts_with(char::is_uppercase);
        is_alternative || matches!(operand, "operation" | "copy")
    }

    /// The error of a call with `found` operands. Its place is the first operand that is too many, or the first missing
    /// one.
    fn wrong_count(&self, found: usize) -> LayoutError {
        ErrorKind::ArgumentCount {
            operation: self.name,
            signature: self.signature,
            counts: self.counts.clone(),
            found,
        }
        .at(Place::operand(found.min(*self.counts.end())))
    }

    /// How the operation treats coordinates past the end. An error if the number of operands is wrong, or if the
    /// operation has no ragged form.
    pub(super) fn overhang(&self, operands: usize, ragged: bool) -> Result<Overhang, LayoutError> {
        match ragged {
            _ if !self.counts.contains(&operands) => Err(self.wrong_count(operands)),
            true if !self.ragged => Err(ErrorKind::NotRagged.at(Place::default())),
            true => Ok(Overhang::Ragged),
            false => Ok(Overhang::Strict),
        }
    }
}

/// The code of an operation.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// Code for numbers and code for run-time integers.
    Both(OnNumbers, AtRunTime),
    /// Code for numbers only, and the reason why it needs numbers, for the error message.
    Numbers(OnNumbers, &'static str),
}

type OnNumbers = fn(&mut Args<'_, Numbers>, Overhang) -> Result<Value, LayoutError>;
type AtRunTime = fn(&mut Args<'_, Scope>, Overhang) -> Result<Value<Term>, LayoutError>;
