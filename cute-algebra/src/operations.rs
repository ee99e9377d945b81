//! One table of all operations by name, for the notation and for the kernel language.

mod args;
mod maps;
mod table;

pub use table::OPERATIONS;

use crate::composition::Overhang;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::symbolic::{SymbolicArgs, SymbolicError, SymbolicValue};
use crate::value::Value;
use args::Args;
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
    run: OnNumbers,
    pub(crate) run_time: RunTime,
}

impl Operation {
    /// Whether operand `index` is a name that is not a value by itself, such as `K` or `SM75_U32x4_LDSM_N`.
    pub fn takes_word(&self, index: usize) -> bool {
        let operand = self.signature.split(", ").nth(index).unwrap_or_default();
        let is_alternative = operand.contains(" | ") && operand.starts_with(char::is_uppercase);
        is_alternative || matches!(operand, "operation" | "copy")
    }

    /// What the signature says of operand `index`.
    pub(crate) fn operand(&self, index: usize) -> &'static str {
        let mut operands = self.signature.split(", ").peekable();
        let mut operand = "";
        for _ in 0..=index {
            match operands.next_if(|next| *next != "…") {
                Some(next) => operand = next,
                None => break,
            }
        }
        operand.trim_matches(['[', ']'])
    }

    /// The error of a call with `found` operands; it is about the first that is too much, or where one is missing.
    pub(crate) fn wrong_count(&self, found: usize) -> LayoutError {
        ErrorKind::ArgumentCount {
            operation: self.name,
            signature: self.signature,
            counts: self.counts.clone(),
            found,
        }
        .at(Place::operand(found.min(*self.counts.end())))
    }
}

type OnNumbers = fn(&Args<'_>, Overhang) -> Result<Value, LayoutError>;

/// What becomes of an operation where operands hold run-time integers.
#[derive(Clone, Copy)]
pub(crate) enum RunTime {
    /// It is done by this.
    Run(fn(&mut SymbolicArgs<'_>, Overhang) -> Result<SymbolicValue, SymbolicError>),
    /// It moves modes and looks at no extent and no stride, so that the form for numbers does it.
    Regroup,
    /// It is of numbers only, and why.
    Needs(&'static str),
}

/// The operation of that name.
pub fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

/// The result of an operation, in its ragged form where `ragged`.
/// ```
/// use cute_algebra::{Layout, operations};
/// let operation = operations::find("size").expect("there is such an operation");
/// let size = operations::apply(operation, &[Layout::left([4, 8])?.into()], false)?;
/// assert_eq!(size.to_string(), "32");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn apply(
    operation: &Operation,
    operands: &[Value],
    ragged: bool,
) -> Result<Value, LayoutError> {
    let args = Args {
        operands,
        operation,
    };
    let result = match ragged {
        _ if !operation.counts.contains(&operands.len()) => Err(args.wrong_count()),
        true if !operation.ragged => Err(ErrorKind::NotRagged.at(Place::default())),
        true => (operation.run)(&args, Overhang::Ragged),
        false => (operation.run)(&args, Overhang::Strict),
    };
    result.map_err(|error| match error.trace().last() {
        Some(frame) if frame.operation == operation.name => error,
        _ => error.during(operation.name, operands.iter().cloned()),
    })
}
