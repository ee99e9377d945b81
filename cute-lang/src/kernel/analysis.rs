//! Questions about a tensor in shared memory: what the algebra says of its layout, swizzle included, and of the width of
//! its elements. They are answered at expansion and leave no instruction.

use super::builder::Builder;
use super::builtins::{Call, operate_on};
use super::tensor::Tensor;
use super::value::Value;
use cute_algebra::Value as Algebra;
use cute_algebra::operations::Operation;
use cute_hopper::shared::WIDEST_ACCESS;
use syn::Result;

/// How an operation looks at a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    /// The layout alone.
    Layout,
    /// The layout, and the bits of an element, wherever the tensor begins.
    Elements,
    /// The same, where the tensor's beginning matters.
    Addresses,
}

/// The operations that ask, and whether they give the tensor itself, if all is well.
#[rustfmt::skip] // A table is read by its rows.
const QUESTIONS: &[(&str, Question, bool)] = &[
    ("alignment", Question::Layout, false),
    ("bank_conflicts", Question::Addresses, false),
    ("bijective", Question::Layout, true),
    ("conflict_free", Question::Addresses, true),
    ("dense", Question::Layout, true),
    ("injective", Question::Layout, true),
    ("is_bijective", Question::Layout, false),
    ("is_dense", Question::Layout, false),
    ("is_injective", Question::Layout, false),
    ("matrix_operand", Question::Elements, false),
    ("vector_width", Question::Layout, false),
    ("wgmma_operand", Question::Elements, false),
];

/// The answer, if the operation is a question.
pub(super) fn ask(
    b: &mut Builder,
    operation: &Operation,
    call: &Call,
    tensor: &Tensor,
) -> Result<Option<Value>> {
    let Some((_, question, gives_back)) =
        QUESTIONS.iter().find(|(name, ..)| *name == operation.name)
    else {
        return Ok(None);
    };
    let layout = match tensor.layout.as_layout() {
        Some(plain) => Algebra::from(plain),
        None => Algebra::from(&tensor.layout),
    };
    let mut operands = vec![layout];
    if *question != Question::Layout {
        operands.push(Algebra::Int(tensor.element.bits().into()));
    }
    if *question == Question::Addresses && !same_for_all(b, tensor) {
        return Err(call.error_at(
            0,
            "where this part of the tensor begins is known when the kernel runs, and that may change which banks it is in",
        ));
    }
    let answer = operate_on(operation, operands, call)?;
    Ok(Some(match gives_back {
        true => Value::Tensor(tensor.clone()),
        false => answer,
    }))
}

/// Whether lanes meet in banks alike wherever the tensor begins: what is added at run time moves whole vectors, and shares
/// no bit with what differs among lanes, so that the swizzle of the sum is the two swizzles' sum.
fn same_for_all(b: &Builder, tensor: &Tensor) -> bool {
    let dynamic = b.possible_bits(&tensor.dynamic) as i64;
    let reach = tensor.layout.offset() + tensor.layout.layout().cosize();
    let bytes = reach
        .saturating_mul(tensor.width())
        .max(WIDEST_ACCESS.into());
    let span = (bytes as u64).checked_next_power_of_two().unwrap_or(0);
    dynamic & span.wrapping_sub(1) as i64 == 0
}
