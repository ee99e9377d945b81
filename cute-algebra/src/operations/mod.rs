//! The table of all operations by name. The notation and the kernel language both use it.

mod args;
mod edit_distance;
mod hopper;
mod maps;
mod operation;
mod table;

pub use edit_distance::edit_distance;
pub use operation::{Group, Operation, Refusal};
pub use table::GROUPS;

use crate::composed::Swizzling;
use crate::composition::Compose;
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::inverse::Invert;
use crate::symbolic::{Scope, Term};
use crate::value::Value;
use alloc::string::ToString;
use alloc::vec::Vec;
use args::Args;
pub(crate) use operation::Run;

/// All operations, group after group.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    GROUPS.iter().flat_map(|group| group.operations)
}

/// The operation of that name; `None` if there is none.
pub fn find(name: &str) -> Option<&'static Operation> {
    all().find(|operation| operation.name == name)
}

/// The result of an operation on numbers. `ragged` selects the form that rounds up as CuTe does.
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

/// A domain of integers on which operations can be called by name.
pub(crate) trait Operations: Compose + Invert + Swizzling {
    /// The result of an operation. `ragged` selects the form that rounds up as CuTe does.
    fn apply(
        &mut self,
        operation: &Operation,
        operands: &[Value<Self::Int>],
        ragged: bool,
    ) -> Result<Value<Self::Int>, LayoutError>;

    /// A value of numbers as a value of this domain.
    fn lift(value: Value) -> Value<Self::Int>;

    /// The same value of numbers, if it contains no run-time integers.
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
        // Above the limit on steps, questions stay open and cause further errors. So the limit is reported first.
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

/// Adds the operation and its operands to the trace of an error, unless they are its last entry already.
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
