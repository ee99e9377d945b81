//! One table of all operations by name, for the notation and for the kernel language.

mod args;
mod hopper;
mod maps;
mod operation;
mod table;

pub use operation::Operation;
pub use table::OPERATIONS;

use crate::composed::Swizzling;
use crate::composition::Compose;
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::inverse::Invert;
use crate::symbolic::{Scope, Term};
use crate::value::Value;
use args::Args;
pub(crate) use operation::Run;

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
pub(crate) trait Operations: Compose + Invert + Swizzling {
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
                run(&mut Args::new(self, operands), overhang)
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
                    Run::Both(_, run) => run(&mut Args::new(self, operands), overhang),
                    Run::Numbers(_, why) => {
                        let operation = operation.name;
                        Err(ErrorKind::NeedsNumbers { operation, why }.at(Place::default()))
                    }
                });
        // A question that there was no time for is no reason for a refusal.
        let result = self.check_operation().and(result);
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
