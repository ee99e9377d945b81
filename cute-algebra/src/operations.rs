//! One table of all operations by name, for the notation and for the kernel language.

mod args;
mod hardware;
mod maps;
mod table;

pub use table::OPERATIONS;

use crate::composed::Swizzling;
use crate::composition::Compose;
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::overhang::Overhang;
use crate::symbolic::{Scope, Term};
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
    fn overhang(&self, operands: usize, ragged: bool) -> Result<Overhang, LayoutError> {
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
    Numbers.apply(operation, operands, ragged)
}

/// A domain that operations by name are done in.
pub(crate) trait Operations: Compose + Swizzling {
    /// The result of an operation, in its ragged form where `ragged`.
    fn apply(
        &mut self,
        operation: &Operation,
        operands: &[Value<Self::Int>],
        ragged: bool,
    ) -> Result<Value<Self::Int>, LayoutError>;

    /// The same value of these integers.
    fn lift(value: Value) -> Value<Self::Int>;

    /// The same value of numbers, if it is one.
    fn to_numbers(value: &Value<Self::Int>) -> Option<Value>;
}

impl Operations for Numbers {
    fn apply(
        &mut self,
        operation: &Operation,
        operands: &[Value],
        ragged: bool,
    ) -> Result<Value, LayoutError> {
        let result = operation
            .overhang(operands.len(), ragged)
            .and_then(|overhang| {
                let (Run::Both(run, _) | Run::Numbers(run, _)) = operation.run;
                run(&mut Args::new(self, operation, operands), overhang)
            });
        result.map_err(|error| named(error, operation, operands))
    }

    fn lift(value: Value) -> Value {
        value
    }

    fn to_numbers(value: &Value) -> Option<Value> {
        Some(value.clone())
    }
}

impl Operations for Scope {
    fn apply(
        &mut self,
        operation: &Operation,
        operands: &[Value<Term>],
        ragged: bool,
    ) -> Result<Value<Term>, LayoutError> {
        let numbers: Option<Vec<_>> = operands.iter().map(Self::to_numbers).collect();
        if let Some(numbers) = numbers {
            return Ok(Self::lift(Numbers.apply(operation, &numbers, ragged)?));
        }
        let result =
            operation
                .overhang(operands.len(), ragged)
                .and_then(|overhang| match operation.run {
                    Run::Both(_, run) => run(&mut Args::new(self, operation, operands), overhang),
                    Run::Numbers(_, why) => {
                        let operation = operation.name;
                        Err(ErrorKind::NeedsNumbers { operation, why }.at(Place::default()))
                    }
                });
        result.map_err(|error| named(error, operation, operands))
    }

    fn lift(value: Value) -> Value<Term> {
        Value::lift(&value)
    }

    fn to_numbers(value: &Value<Term>) -> Option<Value> {
        value.to_numbers()
    }
}

/// The error of an operation, with its operands, unless it says already what it is of.
fn named<I: Integer>(
    error: LayoutError,
    operation: &Operation,
    operands: &[Value<I>],
) -> LayoutError {
    match error.trace().last() {
        Some(frame) if frame.operation == operation.name => error,
        _ => error.during(operation.name, operands.iter().map(Value::to_string)),
    }
}
